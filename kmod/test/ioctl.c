// SPDX-License-Identifier: GPL-2.0
/* Every argument an ioctl can have, and every error it can give. */

#include "common.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <termios.h>

/* The result of CREATE; closes what it made. */
static int try_create(int device, struct sysipc_create arg)
{
	if (ioctl(device, SYSIPC_IOC_CREATE, &arg))
		return errno;
	close(arg.fd[0]);
	close(arg.fd[1]);
	return 0;
}

static int try_bytes(int device, uint64_t bytes0, uint64_t bytes1)
{
	return try_create(device, arguments(bytes0, bytes1));
}

/* Two pages; the second is read-only, not accessible, or not there. */
enum second { READ_ONLY, NO_ACCESS, UNMAPPED };

static char *two_pages(enum second second)
{
	char *p = mmap(NULL, 2 * page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(p != MAP_FAILED);
	if (second == UNMAPPED)
		REQUIRE(munmap(p + page(), page()) == 0);
	else
		REQUIRE(mprotect(p + page(), page(), second == READ_ONLY ? PROT_READ : PROT_NONE) ==
			0);
	return p;
}

static void test_query(void)
{
	int device = open_device();
	struct sysipc_query q = { .size = sizeof(q), .abi = ~0U, .features = ~0ULL };

	REQUIRE(ioctl(device, SYSIPC_IOC_QUERY, &q) == 0);
	CHECK_EQ(q.size, sizeof(q));
	CHECK_EQ(q.abi, SYSIPC_ABI);
	CHECK_EQ(q.features, 0);
	CHECK_EQ(q.max_segment_bytes, get_param("max_segment_bytes"));
	CHECK_EQ(q.max_user_bytes, get_param("max_user_bytes"));
}

static void out_struct(int fd, unsigned long cmd, unsigned int size0)
{
	static const unsigned int small[] = { 0, 1, 4, 8 };
	static const unsigned int large[] = { 4097, 1U << 31, ~0U };
	char *buffer = two_pages(UNMAPPED), *read_only = two_pages(READ_ONLY);
	unsigned int i, size;

	for (i = 0; i < (unsigned int)LENGTH(small); i++) {
		memcpy(buffer, &small[i], 4);
		CHECK_ERR(ioctl(fd, cmd, buffer), EINVAL);
	}
	size = size0 - 1;
	memcpy(buffer, &size, 4);
	CHECK_ERR(ioctl(fd, cmd, buffer), EINVAL);
	for (i = 0; page() == 4096 && i < (unsigned int)LENGTH(large); i++) {
		memcpy(buffer, &large[i], 4);
		CHECK_ERR(ioctl(fd, cmd, buffer), E2BIG);
	}
	/* A later struct: what the driver does not know becomes zero. */
	for (size = size0; size <= 4096; size = size < size0 + 9 ? size + 1 : size + 997) {
		memset(buffer, 0xaa, page());
		memcpy(buffer, &size, 4);
		if (!CHECK_EQ(ioctl(fd, cmd, buffer), 0))
			continue;
		memcpy(&i, buffer, 4);
		CHECK_EQ(i, size0);
		for (i = size0; i < size; i++)
			if (!CHECK_EQ(buffer[i], 0))
				break;
		CHECK(size == page() || buffer[size] == (char)0xaa);
	}
	CHECK_ERR(ioctl(fd, cmd, NULL), EFAULT);
	CHECK_ERR(ioctl(fd, cmd, buffer + page()), EFAULT);
	CHECK_ERR(ioctl(fd, cmd, buffer + page() - 2), EFAULT);
	memcpy(buffer + page() - 8, &size0, 4);
	CHECK_ERR(ioctl(fd, cmd, buffer + page() - 8), EFAULT);
	memcpy(read_only + page() - 8, &size0, 4);
	CHECK_ERR(ioctl(fd, cmd, read_only + page() - 8), EFAULT);
}

static void test_query_struct(void)
{
	out_struct(open_device(), SYSIPC_IOC_QUERY, SYSIPC_QUERY_SIZE_V0);
}

static void test_info_struct(void)
{
	int fd[2];

	make_channel(1, fd);
	out_struct(fd[0], SYSIPC_IOC_INFO, SYSIPC_INFO_SIZE_V0);
}

static void test_create(void)
{
	int device = open_device(), i;
	struct sysipc_create arg = arguments(page(), 3 * page()), before;
	struct sysipc_info info[2];

	arg.read_word = 8;
	arg.write_word = 0;
	before = arg;
	REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
	CHECK(arg.fd[0] >= 0 && arg.fd[1] >= 0 && arg.fd[0] != arg.fd[1]);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(fcntl(arg.fd[i], F_GETFD), FD_CLOEXEC);
		CHECK_EQ(fcntl(arg.fd[i], F_GETFL) & O_ACCMODE, O_RDWR);
		info[i] = info_of(arg.fd[i]);
		CHECK_EQ(info[i].size, sizeof(info[i]));
		CHECK_EQ(info[i].side, i);
		CHECK_EQ(info[i].segment_bytes[i], page());
		CHECK_EQ(info[i].segment_bytes[!i], 3 * page());
		CHECK_EQ(info[i].read_word, 8);
		CHECK_EQ(info[i].write_word, 0);
		CHECK_EQ(info[i].state, 0);
		CHECK_EQ(info[i].reserved, 0);
		CHECK_EQ(info[i].kicks, 0);
		CHECK_EQ(info[i].waits, 0);
	}
	CHECK_EQ(info[0].id, info[1].id);
	CHECK_EQ(get_param("live_channels"), 1);
	CHECK_EQ(get_param("live_pages"), 4);
	/* Nothing but the descriptors has changed. */
	memcpy(before.fd, arg.fd, sizeof(arg.fd));
	CHECK(!memcmp(&before, &arg, sizeof(arg)));
	close(arg.fd[0]);
	close(arg.fd[1]);

	arg.fd[0] = 123456;
	REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
	CHECK(info_of(arg.fd[0]).id != info[0].id);
}

static void sizes(uint64_t limit)
{
	const uint64_t p = page();
	const uint64_t table[] = {
		0, 1, 8, p - 1, p, p + 1, 2 * p, 7 * p, 8 * p, 9 * p, limit - p, limit - 1, limit,
		limit + 1, limit + p, (1ULL << 31) - 1, 1ULL << 31, (1ULL << 32) - p, 1ULL << 32,
		(1ULL << 32) + p, (1ULL << 40), (1ULL << 40) + p, 1ULL << 44, (1ULL << 63) - p,
		1ULL << 63, (1ULL << 63) + p, ~0ULL, ~0ULL - 7, ~0ULL - p + 1,
	};
	int device = open_device(), i, before = count_fds();

	for (i = 0; i < LENGTH(table); i++) {
		int expected = !table[i] || table[i] % p ? EINVAL : table[i] > limit ? EFBIG : 0;

		if (!CHECK_EQ(try_bytes(device, table[i], p), expected) ||
		    !CHECK_EQ(try_bytes(device, p, table[i]), expected) ||
		    !CHECK_EQ(try_bytes(device, table[i], table[i]), expected))
			ktap_note("with size %#llx", (unsigned long long)table[i]);
	}
	CHECK_EQ(count_fds(), before);
	nothing_left();
}

static void test_create_sizes(void)
{
	unsigned long long saved = get_param("max_segment_bytes");

	REQUIRE(set_param("max_segment_bytes", 1 << 20));
	sizes(1 << 20);
	/* The parameter need not be a multiple of the page size. */
	set_param("max_segment_bytes", (1 << 20) + 100);
	sizes(1 << 20);
	set_param("max_segment_bytes", saved);
}

static void test_create_no_size_allowed(void)
{
	unsigned long long saved = get_param("max_segment_bytes");
	struct sysipc_query q = { .size = sizeof(q) };
	int device = open_device();

	REQUIRE(set_param("max_segment_bytes", 0));
	CHECK_EQ(try_bytes(device, page(), page()), EFBIG);
	set_param("max_segment_bytes", page() - 1);
	CHECK_EQ(try_bytes(device, page(), page()), EFBIG);
	/* A parameter that is too large is cut. */
	set_param("max_segment_bytes", ~0ULL);
	CHECK_EQ(ioctl(device, SYSIPC_IOC_QUERY, &q), 0);
	CHECK(q.max_segment_bytes <= 4ULL << 30);
	CHECK_EQ(try_bytes(device, q.max_segment_bytes + page(), page()), EFBIG);
	set_param("max_segment_bytes", saved);
}

static void test_create_words(void)
{
	const uint32_t p = (uint32_t)page();
	const struct {
		uint32_t read, write;
		uint64_t bytes0, bytes1;
		int expected;
	} table[] = {
		{ 0, 8, p, p, 0 },
		{ 8, 0, p, p, 0 },
		{ p - 8, p - 16, p, p, 0 },
		{ 0, 0, p, p, EINVAL },
		{ 128, 128, p, p, EINVAL },
		{ 1, 8, p, p, EINVAL },
		{ 4, 8, p, p, EINVAL },
		{ 7, 8, p, p, EINVAL },
		{ 8, 1, p, p, EINVAL },
		{ 8, 4, p, p, EINVAL },
		{ p, 8, p, p, EINVAL },
		{ 8, p, p, p, EINVAL },
		{ p - 4, 8, p, p, EINVAL },
		{ 8, p, 2 * p, 2 * p, 0 },
		{ 8, p, 2 * p, p, EINVAL },
		{ 8, p, p, 2 * p, EINVAL },
		{ p, 8, p, 2 * p, EINVAL },
		{ p + 8, 2 * p - 8, 2 * p, 2 * p, 0 },
		{ 1U << 31, 8, p, p, EINVAL },
		{ ~7U, 8, p, p, EINVAL },
		{ 8, ~7U, p, p, EINVAL },
		{ ~0U, 8, p, p, EINVAL },
		{ 8, ~0U, p, p, EINVAL },
	};
	int device = open_device(), i;

	for (i = 0; i < LENGTH(table); i++) {
		struct sysipc_create arg = arguments(table[i].bytes0, table[i].bytes1);

		arg.read_word = table[i].read;
		arg.write_word = table[i].write;
		if (!CHECK_EQ(try_create(device, arg), table[i].expected))
			ktap_note("with line %d of the table", i);
	}
}

static void test_create_reserved(void)
{
	int device = open_device(), i;
	struct sysipc_create arg;

	for (i = 0; i < 32; i++) {
		arg = arguments(page(), page());
		arg.flags = 1U << i;
		CHECK_EQ(try_create(device, arg), EINVAL);
	}
	for (i = 0; i < 128; i++) {
		arg = arguments(page(), page());
		arg.reserved[i / 64] = 1ULL << i % 64;
		CHECK_EQ(try_create(device, arg), EINVAL);
	}
	nothing_left();
}

static void test_create_struct(void)
{
	int device = open_device();
	struct sysipc_create good = arguments(page(), page());
	char *buffer = calloc(1, 2 * page());
	unsigned int i, size;

	REQUIRE(buffer != NULL);
	memcpy(buffer, &good, sizeof(good));
	for (size = 0; size < sizeof(good); size++) {
		memcpy(buffer, &size, 4);
		CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, buffer), EINVAL);
	}
	for (size = sizeof(good); size <= page(); size = size < 80 ? size + 1 : size + 803) {
		struct sysipc_create *out = (struct sysipc_create *)(void *)buffer;

		memcpy(buffer, &size, 4);
		if (CHECK_EQ(ioctl(device, SYSIPC_IOC_CREATE, buffer), 0)) {
			close(out->fd[0]);
			close(out->fd[1]);
		}
		for (i = sizeof(good); i < size; i = i < 80 ? i + 1 : i + 401) {
			buffer[i] = 1;
			CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, buffer), E2BIG);
			buffer[i] = 0;
		}
		buffer[size - 1] = 1;
		CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, buffer),
			  size == sizeof(good) ? EINVAL : E2BIG);
		buffer[size - 1] = 0;
		/* What is behind the struct is nobody's business. */
		buffer[size] = 1;
		if (CHECK_EQ(ioctl(device, SYSIPC_IOC_CREATE, buffer), 0)) {
			close(out->fd[0]);
			close(out->fd[1]);
		}
		buffer[size] = 0;
	}
	for (size = (unsigned int)page() + 1; size; size *= 2) {
		memcpy(buffer, &size, 4);
		CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, buffer), E2BIG);
		if (size > 1U << 30)
			break;
	}
	size = ~0U;
	memcpy(buffer, &size, 4);
	CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, buffer), E2BIG);
	nothing_left();
}

static void test_create_pointers(void)
{
	int device = open_device(), before, how;
	struct sysipc_create good = arguments(page(), page());
	size_t cut;

	before = count_fds();
	CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, NULL), EFAULT);
	CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, (void *)8), EFAULT);
	CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, (void *)~0UL), EFAULT);
	for (how = READ_ONLY; how <= UNMAPPED; how++) {
		char *p = two_pages(how), *at;

		CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, p + page()), how == READ_ONLY ? EINVAL :
									       EFAULT);
		/* The descriptors themselves are what cannot be written. */
		for (cut = 4; cut < sizeof(good); cut += 4) {
			at = p + page() - cut;
			if (how == READ_ONLY)
				REQUIRE(mprotect(p + page(), page(), PROT_READ | PROT_WRITE) == 0);
			memcpy(at, &good, how == READ_ONLY ? sizeof(good) : cut);
			if (how == READ_ONLY)
				REQUIRE(mprotect(p + page(), page(), PROT_READ) == 0);
			if (how == READ_ONLY && cut >= offsetof(struct sysipc_create, reserved)) {
				if (CHECK_EQ(ioctl(device, SYSIPC_IOC_CREATE, at), 0)) {
					int fd[2];

					memcpy(fd, at + offsetof(struct sysipc_create, fd),
					       sizeof(fd));
					close(fd[0]);
					close(fd[1]);
				}
			} else {
				CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, at), EFAULT);
			}
			CHECK_EQ(count_fds(), before);
		}
	}
	nothing_left();
}

static void test_unknown_commands(void)
{
	int fd[2], device = open_device(), before = count_fds();
	unsigned int nr, dir, size;
	char buffer[4096] = { 0 };

	make_channel(1, fd);
	for (nr = 0; nr < 256; nr++)
		for (dir = 0; dir < 4; dir++)
			for (size = 0; size <= 64; size += 4) {
				unsigned long cmd = _IOC(dir, SYSIPC_IOC_TYPE, nr, size);

				if (cmd != SYSIPC_IOC_QUERY && cmd != SYSIPC_IOC_CREATE)
					CHECK_ERR(ioctl(device, cmd, buffer), ENOTTY);
				if (cmd != SYSIPC_IOC_INFO && cmd != SYSIPC_IOC_KICK &&
				    cmd != SYSIPC_IOC_SHUTDOWN)
					CHECK_ERR(ioctl(fd[1], cmd, buffer), ENOTTY);
			}
	CHECK_ERR(ioctl(fd[0], TCGETS, buffer), ENOTTY);
	CHECK_ERR(ioctl(device, 0, buffer), ENOTTY);
	CHECK_ERR(ioctl(fd[0], ~0U, buffer), ENOTTY);
	CHECK_EQ(info_of(fd[0]).state, 0);
	CHECK_EQ(count_fds(), before + 2);
}

static void test_kick_arguments(void)
{
	const unsigned long read = SYSIPC_KICK_READ, write = SYSIPC_KICK_WRITE,
			    sync = SYSIPC_KICK_SYNC;
	unsigned int bit;
	int fd[2];

	make_channel(1, fd);
	CHECK_ERR(ioctl(fd[0], SYSIPC_IOC_KICK, 0UL), EINVAL);
	CHECK_ERR(ioctl(fd[0], SYSIPC_IOC_KICK, sync), EINVAL);
	for (bit = 3; bit < 8 * sizeof(long); bit++) {
		CHECK_ERR(ioctl(fd[0], SYSIPC_IOC_KICK, 1UL << bit), EINVAL);
		CHECK_ERR(ioctl(fd[0], SYSIPC_IOC_KICK, 1UL << bit | read), EINVAL);
		CHECK_ERR(ioctl(fd[0], SYSIPC_IOC_KICK, 1UL << bit | read | write | sync), EINVAL);
	}
	CHECK_ERR(ioctl(fd[0], SYSIPC_IOC_KICK, ~0UL), EINVAL);
	CHECK_EQ(info_of(fd[0]).kicks, 0);
	CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_KICK, read), 0);
	CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_KICK, write), 0);
	CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_KICK, read | sync), 0);
	CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_KICK, write | sync), 0);
	CHECK_EQ(info_of(fd[0]).kicks, 4);
	CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_KICK, read | write), 0);
	CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_KICK, read | write | sync), 0);
	CHECK_EQ(info_of(fd[0]).kicks, 8);
	CHECK_EQ(info_of(fd[1]).kicks, 0);
}

static void test_shutdown(void)
{
	int side, fd[2];

	for (side = 0; side < 2; side++) {
		make_channel(1, fd);
		CHECK_EQ(ioctl(fd[side], SYSIPC_IOC_SHUTDOWN), 0);
		CHECK_EQ(info_of(fd[side]).state, SYSIPC_STATE_SELF_SHUT);
		CHECK_EQ(info_of(fd[!side]).state, SYSIPC_STATE_PEER_SHUT);
		CHECK_ERR(ioctl(fd[side], SYSIPC_IOC_KICK, SYSIPC_KICK_READ), EPIPE);
		CHECK_ERR(ioctl(fd[!side], SYSIPC_IOC_KICK, SYSIPC_KICK_WRITE), EPIPE);
		CHECK_ERR(ioctl(fd[side], SYSIPC_IOC_KICK, 0UL), EINVAL);
		CHECK_EQ(ioctl(fd[side], SYSIPC_IOC_SHUTDOWN, 77), 0);
		CHECK_EQ(info_of(fd[side]).state, SYSIPC_STATE_SELF_SHUT);
		CHECK_EQ(ioctl(fd[!side], SYSIPC_IOC_SHUTDOWN), 0);
		CHECK_EQ(info_of(fd[side]).state,
			 SYSIPC_STATE_SELF_SHUT | SYSIPC_STATE_PEER_SHUT);
		close(fd[!side]);
		CHECK_EQ(info_of(fd[side]).state, SYSIPC_STATE_SELF_SHUT | SYSIPC_STATE_PEER_SHUT |
							  SYSIPC_STATE_PEER_GONE);
		close(fd[side]);
	}
	nothing_left();
}

static void test_peer_gone(void)
{
	int side, fd[2];

	for (side = 0; side < 2; side++) {
		make_channel(1, fd);
		close(fd[!side]);
		CHECK_EQ(info_of(fd[side]).state, SYSIPC_STATE_PEER_GONE);
		CHECK_ERR(ioctl(fd[side], SYSIPC_IOC_KICK, SYSIPC_KICK_READ), EPIPE);
		CHECK_ERR(ioctl(fd[side], SYSIPC_IOC_KICK, SYSIPC_KICK_WRITE | SYSIPC_KICK_SYNC),
			  EPIPE);
		CHECK_ERR(ioctl(fd[side], SYSIPC_IOC_KICK, 8UL), EINVAL);
		CHECK_EQ(ioctl(fd[side], SYSIPC_IOC_SHUTDOWN), 0);
		close(fd[side]);
	}
	nothing_left();
}

static void test_no_descriptors(void)
{
	int device = open_device(), free_fd, left, before;
	struct rlimit limit;

	REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	free_fd = dup(device);
	REQUIRE(free_fd >= 0);
	close(free_fd);
	for (left = 0; left <= 2; left++) {
		before = count_fds();
		limit.rlim_cur = (rlim_t)(free_fd + left);
		REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
		CHECK_EQ(try_bytes(device, page(), page()), left < 2 ? EMFILE : 0);
		limit.rlim_cur = limit.rlim_max;
		REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
		CHECK_EQ(count_fds(), before);
		/* Not only closed, but free to be used. */
		CHECK_EQ(dup(device), free_fd);
		close(free_fd);
	}
	nothing_left();
}

static void set_memlock(rlim_t pages)
{
	struct rlimit limit = { pages * page(), pages * page() };

	REQUIRE(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
}

static void test_memlock(void)
{
	struct sysipc_create arg = arguments(page(), page());
	int device = open_device();

	IN_CHILD({
		set_memlock(0);
		CHECK_EQ(try_bytes(device, page(), page()), 0); /* CAP_IPC_LOCK */
		drop_privileges(1001);
		CHECK_EQ(try_bytes(device, page(), page()), ENOMEM);
	});
	IN_CHILD({
		int i;

		set_memlock(5);
		drop_privileges(1001);
		REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
		CHECK_EQ(try_bytes(device, 2 * page(), 2 * page()), ENOMEM);
		CHECK_EQ(try_bytes(device, 3 * page(), page()), ENOMEM);
		CHECK_EQ(try_bytes(device, 2 * page(), page()), 0);
		/* What fails or ends is given back. */
		for (i = 0; i < 100; i++) {
			CHECK_EQ(try_bytes(device, 2 * page(), 2 * page()), ENOMEM);
			CHECK_EQ(try_bytes(device, page(), page()), 0);
		}
		close(arg.fd[0]);
		CHECK_EQ(try_bytes(device, 2 * page(), 2 * page()), ENOMEM);
		close(arg.fd[1]);
		CHECK_EQ(try_bytes(device, 3 * page(), 2 * page()), 0);
		CHECK_EQ(try_bytes(device, 3 * page(), 3 * page()), ENOMEM);
	});
	/* It is the user's, not the process's. */
	IN_CHILD({
		set_memlock(5);
		drop_privileges(1001);
		REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
		IN_CHILD(CHECK_EQ(try_bytes(device, 2 * page(), 2 * page()), ENOMEM));
	});
	IN_CHILD({
		set_memlock(5);
		drop_privileges(1002);
		CHECK_EQ(try_bytes(device, 2 * page(), 3 * page()), 0);
	});
	nothing_left();
}

static void test_max_user(void)
{
	unsigned long long saved = get_param("max_user_bytes");
	struct sysipc_create arg = arguments(page(), page());
	int device = open_device();

	REQUIRE(set_param("max_user_bytes", 5 * page() + 1));
	IN_CHILD({
		int i;

		CHECK_EQ(try_bytes(device, 3 * page(), 3 * page()), 0); /* CAP_SYS_RESOURCE */
		drop_privileges(1001);
		CHECK_EQ(try_bytes(device, 3 * page(), 3 * page()), EDQUOT);
		REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
		for (i = 0; i < 100; i++) {
			CHECK_EQ(try_bytes(device, 2 * page(), 2 * page()), EDQUOT);
			CHECK_EQ(try_bytes(device, page(), 2 * page()), 0);
		}
		close(arg.fd[1]);
		CHECK_EQ(try_bytes(device, 2 * page(), 2 * page()), EDQUOT);
		close(arg.fd[0]);
		CHECK_EQ(try_bytes(device, 3 * page(), 2 * page()), 0);
	});
	IN_CHILD({
		drop_privileges(1001);
		REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
		IN_CHILD(CHECK_EQ(try_bytes(device, 2 * page(), 2 * page()), EDQUOT));
		/* The creator pays, whoever uses it. */
		close(arg.fd[0]);
	});
	IN_CHILD({
		drop_privileges(1002);
		CHECK_EQ(try_bytes(device, 3 * page(), 2 * page()), 0);
	});
	set_param("max_user_bytes", 0);
	IN_CHILD({
		drop_privileges(1002);
		CHECK_EQ(try_bytes(device, page(), page()), EDQUOT);
	});
	set_param("max_user_bytes", saved);
	nothing_left();
}

/* Many users at once, so that their records meet in the driver's table. */
static void test_many_users(void)
{
	enum { USERS = 200 };
	int device = open_device(), gate[2], ready[2], i, status, bad = 0;
	struct sysipc_create arg = arguments(page(), page());
	pid_t pid[USERS];
	char byte;

	REQUIRE(pipe(gate) == 0 && pipe(ready) == 0);
	for (i = 0; i < USERS; i++) {
		pid[i] = fork();
		REQUIRE(pid[i] >= 0);
		if (!pid[i]) {
			close(gate[1]);
			drop_privileges(2000 + i);
			status = ioctl(device, SYSIPC_IOC_CREATE, &arg) != 0;
			if (write(ready[1], "", 1) != 1 || read(gate[0], &byte, 1) != 0)
				status = 1;
			_exit(status);
		}
	}
	for (i = 0; i < USERS; i++)
		CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(get_param("live_channels"), USERS);
	close(gate[1]);
	for (i = 0; i < USERS; i++) {
		waitpid(pid[i], &status, 0);
		bad += status != 0;
	}
	CHECK_EQ(bad, 0);
	nothing_left();
}

static void test_permissions(void)
{
	int read_only = open(DEVICE, O_RDONLY);
	struct sysipc_query q = { .size = sizeof(q) };

	REQUIRE(read_only >= 0);
	CHECK_EQ(try_bytes(read_only, page(), page()), EBADF);
	CHECK_EQ(ioctl(read_only, SYSIPC_IOC_QUERY, &q), 0);
	IN_CHILD({
		drop_privileges(12345);
		CHECK_ERR(open(DEVICE, O_RDWR), EACCES);
		CHECK_ERR(open(DEVICE, O_RDONLY), EACCES);
	});
}

/* What the file system offers for descriptors in general. */
static void test_other_calls(void)
{
	int fd[2], device = open_device();
	char path[64], byte = 0;

	make_channel(1, fd);
	CHECK_ERR(read(fd[0], &byte, 1), EINVAL);
	CHECK_ERR(write(fd[0], &byte, 1), EINVAL);
	CHECK_ERR(read(device, &byte, 1), EINVAL);
	CHECK_ERR(write(device, &byte, 1), EINVAL);
	CHECK_ERR(lseek(fd[0], 0, SEEK_CUR), ESPIPE);
	CHECK_ERR(lseek(device, 0, SEEK_CUR), ESPIPE);
	CHECK_ERR(ftruncate(fd[0], 0), EINVAL);
	CHECK(fallocate(fd[0], 0, 0, 4096) == -1);
	CHECK_ERR(mmap(NULL, page(), PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED ? -1 : 0,
		  ENODEV);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	CHECK_ERR(open(path, O_RDONLY), ENXIO);
	CHECK_ERR(open(path, O_RDWR), ENXIO);
#ifdef SYS_pidfd_getfd
	{
		int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
		int copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd[0], 0);

		REQUIRE(copy >= 0);
		CHECK_EQ(info_of(copy).id, info_of(fd[0]).id);
		CHECK_EQ(info_of(copy).side, 0);
		/* The same file: it is not gone before both are closed. */
		close(fd[0]);
		CHECK_EQ(info_of(fd[1]).state, 0);
		close(copy);
		CHECK_EQ(info_of(fd[1]).state, SYSIPC_STATE_PEER_GONE);
	}
#endif
}

static void test_fdinfo(void)
{
	static const char *const lines[] = {
		"sysipc-id:", "sysipc-side:\t1\n", "sysipc-own-bytes:\t8192\n",
		"sysipc-peer-bytes:\t8192\n", "sysipc-read-word:\t128 5 0\n",
		"sysipc-write-word:\t256 7 7\n", "sysipc-state:\t peer-gone self-shut\n",
		"sysipc-kicks:\t3\n", "sysipc-waits:\t2\n", "sysipc-mappings:\t1\n",
	};
	char path[64], text[2048] = "";
	int fd[2], i;
	FILE *file;
	char *own;

	if (page() != 4096)
		SKIP("written for pages of 4 KiB");
	make_channel(2, fd);
	own = map_own(fd[1], 2);
	REQUIRE(own != MAP_FAILED);
	*word_at(own, READ_WORD) = 5;
	*word_at(own, WRITE_WORD) = 7;
	CHECK_EQ(poll_now(fd[1], POLLIN | POLLOUT), 0);
	CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_KICK, SYSIPC_KICK_WRITE), 0);
	CHECK_EQ(poll_now(fd[1], POLLIN | POLLOUT), POLLOUT);
	CHECK_EQ(poll_now(fd[1], POLLIN), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(ioctl(fd[1], SYSIPC_IOC_KICK, SYSIPC_KICK_READ), 0);
	close(fd[0]);
	ioctl(fd[1], SYSIPC_IOC_SHUTDOWN);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd[1]);
	file = fopen(path, "r");
	REQUIRE(file != NULL);
	CHECK(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	for (i = 0; i < LENGTH(lines); i++)
		if (!CHECK(strstr(text, lines[i]) != NULL))
			ktap_note("missing: %s", lines[i]);
}

static void test_counters_cannot_be_set(void)
{
	CHECK(!set_param("live_channels", 5));
	CHECK(!set_param("live_pages", 5));
	nothing_left();
}

static const struct ktap_test tests[] = {
	{ "query", test_query },
	{ "query_struct", test_query_struct },
	{ "create", test_create },
	{ "create_sizes", test_create_sizes },
	{ "create_no_size_allowed", test_create_no_size_allowed },
	{ "create_words", test_create_words },
	{ "create_reserved", test_create_reserved },
	{ "create_struct", test_create_struct },
	{ "create_pointers", test_create_pointers },
	{ "info_struct", test_info_struct },
	{ "unknown_commands", test_unknown_commands },
	{ "kick_arguments", test_kick_arguments },
	{ "shutdown", test_shutdown },
	{ "peer_gone", test_peer_gone },
	{ "no_descriptors", test_no_descriptors },
	{ "memlock", test_memlock },
	{ "max_user", test_max_user },
	{ "many_users", test_many_users },
	{ "permissions", test_permissions },
	{ "other_calls", test_other_calls },
	{ "fdinfo", test_fdinfo },
	{ "counters", test_counters_cannot_be_set },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, LENGTH(tests), argc > 1 ? argv[1] : NULL);
}
