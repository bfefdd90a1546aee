// SPDX-License-Identifier: GPL-2.0
/* What can be mapped, what cannot, and how long it lives. */

#include "common.h"

#include <setjmp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define PEER ((off_t)SYSIPC_MMAP_PEER)
#define RW (PROT_READ | PROT_WRITE)

static void *try_map(int fd, size_t pages, int prot, int flags, off_t offset)
{
	void *p = mmap(NULL, pages * page(), prot, flags, fd, offset);

	return p == MAP_FAILED ? (void *)-1 : p;
}

/* The errno of a mapping; unmaps what it made. */
static int map_error(int fd, size_t pages, int prot, int flags, off_t offset)
{
	void *p = mmap(NULL, pages * page(), prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return errno;
	CHECK_EQ(munmap(p, pages * page()), 0);
	return 0;
}

static unsigned int mappings_of(int fd)
{
	char path[64], line[128];
	unsigned int count = ~0U;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	REQUIRE(file != NULL);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "sysipc-mappings: %u", &count);
	fclose(file);
	return count;
}

/* Distinguishable contents for every page. */
static uint64_t pattern(size_t segment, size_t index)
{
	return 0x5eed000000000000ULL + ((uint64_t)segment << 32) + index;
}

static void fill(void *segment, size_t number, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		*word_at(segment, i * page()) = pattern(number, i);
}

static bool filled(void *segment, size_t number, size_t from, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++)
		if (*word_at(segment, i * page()) != pattern(number, from + i)) {
			ktap_note("page %zu of segment %zu holds %#llx", from + i, number,
				  (unsigned long long)*word_at(segment, i * page()));
			return false;
		}
	return true;
}

static volatile sig_atomic_t faults;
static sigjmp_buf after_fault;

static void on_fault(int number)
{
	faults++;
	siglongjmp(after_fault, number);
}

/* The signal that an access gives, or 0. */
static int access_signal(void *address, bool write)
{
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER }, old[2];
	volatile int result;

	sigaction(SIGSEGV, &act, &old[0]);
	sigaction(SIGBUS, &act, &old[1]);
	result = sigsetjmp(after_fault, 1);
	if (!result) {
		volatile char *byte = address;
		char value = *byte;

		if (write)
			*byte = value;
	}
	sigaction(SIGSEGV, &old[0], NULL);
	sigaction(SIGBUS, &old[1], NULL);
	return result;
}

static void test_shared(void)
{
	size_t pages[2] = { 5, 19 }, i;
	int device = open_device(), side;
	struct sysipc_create arg = arguments(pages[0] * page(), pages[1] * page());
	char *own[2], *peer[2];

	REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
	for (side = 0; side < 2; side++) {
		own[side] = map_own(arg.fd[side], pages[side]);
		peer[side] = map_peer(arg.fd[side], pages[!side]);
		REQUIRE(own[side] != MAP_FAILED && peer[side] != MAP_FAILED);
	}
	for (side = 0; side < 2; side++)
		for (i = 0; i < pages[side] * page(); i++)
			if (!CHECK_EQ(own[side][i], 0))
				break;
	for (side = 0; side < 2; side++)
		fill(own[side], (size_t)side, pages[side]);
	for (side = 0; side < 2; side++) {
		CHECK(filled(own[side], (size_t)side, 0, pages[side]));
		CHECK(filled(peer[side], (size_t)!side, 0, pages[!side]));
	}
	CHECK_EQ(mappings_of(arg.fd[0]), 4);
}

/* Memory that others have used comes zeroed. */
static void test_zeroed(void)
{
	int fd[2], round;
	size_t i, n = 32 * page();

	for (round = 0; round < 20; round++) {
		char *p;

		make_channel(32, fd);
		p = map_own(fd[round % 2], 32);
		REQUIRE(p != MAP_FAILED);
		for (i = 0; i < n && !p[i]; i++)
			;
		CHECK_EQ(i, n);
		memset(p, 0xa5, n);
		munmap(p, n);
		close(fd[0]);
		close(fd[1]);
	}
	nothing_left();
}

static void test_ranges(void)
{
	const size_t n0 = 4, n1 = 9;
	int device = open_device(), side;
	struct sysipc_create arg = arguments(n0 * page(), n1 * page());
	const off_t p = (off_t)page();

	REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
	for (side = 0; side < 2; side++) {
		size_t own = side ? n1 : n0, peer = side ? n0 : n1, from, count;
		int fd = arg.fd[side];

		for (from = 0; from <= own + 2; from++)
			for (count = 1; count <= own + 2; count++)
				CHECK_EQ(map_error(fd, count, RW, MAP_SHARED, (off_t)from * p),
					 from < own && from + count <= own ? 0 : EINVAL);
		for (from = 0; from <= peer + 2; from++)
			for (count = 1; count <= peer + 2; count++)
				CHECK_EQ(map_error(fd, count, PROT_READ, MAP_SHARED,
						   PEER + (off_t)from * p),
					 from < peer && from + count <= peer ? 0 : EINVAL);
		CHECK_EQ(map_error(fd, 1, PROT_READ, MAP_SHARED, PEER - p), EINVAL);
		CHECK_EQ(map_error(fd, 2, PROT_READ, MAP_SHARED, PEER - p), EINVAL);
		CHECK_EQ(map_error(fd, 1, PROT_READ, MAP_SHARED, 2 * PEER), EINVAL);
		CHECK_EQ(map_error(fd, 1, PROT_READ, MAP_SHARED, PEER / 2), EINVAL);
		CHECK_EQ(map_error(fd, 1, PROT_READ, MAP_SHARED, PEER | 1), EINVAL);
		CHECK_EQ(map_error(fd, 0, PROT_READ, MAP_SHARED, 0), EINVAL);
		CHECK_EQ(map_error(fd, 1 << 18, PROT_READ, MAP_SHARED, 0), EINVAL);
#if __SIZEOF_LONG__ == 8
		{
			static const int bits[] = { 31, 32, 41, 43, 44, 51, 52, 62 };
			int i;

			for (i = 0; i < LENGTH(bits); i++) {
				CHECK_EQ(map_error(fd, 1, PROT_READ, MAP_SHARED, 1L << bits[i]),
					 EINVAL);
				CHECK(map_error(fd, 2, PROT_READ, MAP_SHARED, (1L << bits[i]) - p));
			}
			/* The kernel itself refuses what runs over the end of all offsets. */
			CHECK(map_error(fd, 1, PROT_READ, MAP_SHARED, -p));
			CHECK(map_error(fd, 2, PROT_READ, MAP_SHARED, -p));
			CHECK(map_error(fd, 1, PROT_READ, MAP_SHARED, INT64_MIN));
			CHECK(map_error(fd, 1UL << 33, PROT_READ, MAP_SHARED, 0));
		}
#endif
	}
	CHECK_EQ(mappings_of(arg.fd[0]), 0);
}

static void test_modes(void)
{
	int fd[2], side;

	make_channel(2, fd);
	for (side = 0; side < 2; side++) {
		int f = fd[side];

		CHECK_EQ(map_error(f, 1, PROT_READ, MAP_PRIVATE, 0), EINVAL);
		CHECK_EQ(map_error(f, 1, RW, MAP_PRIVATE, 0), EINVAL);
		CHECK_EQ(map_error(f, 1, PROT_READ, MAP_PRIVATE, PEER), EINVAL);
		CHECK_EQ(map_error(f, 1, RW, MAP_PRIVATE, PEER), EINVAL);
		CHECK_EQ(map_error(f, 1, PROT_READ | PROT_EXEC, MAP_SHARED, 0), EPERM);
		CHECK_EQ(map_error(f, 1, RW | PROT_EXEC, MAP_SHARED, 0), EPERM);
		CHECK_EQ(map_error(f, 1, PROT_EXEC, MAP_SHARED, 0), EPERM);
		CHECK_EQ(map_error(f, 1, PROT_READ | PROT_EXEC, MAP_SHARED, PEER), EPERM);
		CHECK_EQ(map_error(f, 1, RW, MAP_SHARED, PEER), EPERM);
		CHECK_EQ(map_error(f, 1, PROT_WRITE, MAP_SHARED, PEER), EPERM);
		CHECK_EQ(map_error(f, 1, PROT_WRITE, MAP_SHARED, PEER + (off_t)page()), EPERM);
		CHECK_EQ(map_error(f, 2, PROT_NONE, MAP_SHARED, 0), 0);
		CHECK_EQ(map_error(f, 2, PROT_NONE, MAP_SHARED, PEER), 0);
		CHECK_EQ(map_error(f, 2, PROT_READ, MAP_SHARED, 0), 0);
		CHECK_EQ(map_error(f, 2, PROT_WRITE, MAP_SHARED, 0), 0);
		CHECK_EQ(map_error(f, 2, RW, MAP_SHARED | MAP_POPULATE, 0), 0);
		CHECK_EQ(map_error(f, 2, PROT_READ, MAP_SHARED | MAP_POPULATE, PEER), 0);
	}
	CHECK_EQ(mappings_of(fd[0]), 0);
}

static void test_mprotect(void)
{
	char *own, *peer, *none;
	int fd[2];

	make_channel(3, fd);
	own = map_own(fd[0], 3);
	peer = map_peer(fd[0], 3);
	none = try_map(fd[0], 3, PROT_NONE, MAP_SHARED, PEER);
	REQUIRE(own != MAP_FAILED && peer != MAP_FAILED && none != MAP_FAILED);
	CHECK_ERR(mprotect(own, page(), RW | PROT_EXEC), EACCES);
	CHECK_ERR(mprotect(own, page(), PROT_READ | PROT_EXEC), EACCES);
	CHECK_ERR(mprotect(peer, page(), RW), EACCES);
	CHECK_ERR(mprotect(peer, page(), PROT_WRITE), EACCES);
	CHECK_ERR(mprotect(peer, page(), PROT_READ | PROT_EXEC), EACCES);
	CHECK_ERR(mprotect(none, page(), RW), EACCES);
	CHECK_ERR(mprotect(none, page(), PROT_EXEC), EACCES);
	CHECK_EQ(mprotect(none, page(), PROT_READ), 0);
	CHECK_EQ(access_signal(none, false), 0);
	CHECK_EQ(access_signal(none, true), SIGSEGV);
	CHECK_EQ(access_signal(peer, true), SIGSEGV);
	CHECK_EQ(access_signal(own, true), 0);
	/* In the middle: three mappings now, and one again. */
	fill(own, 0, 3);
	CHECK_EQ(mprotect(own + page(), page(), PROT_READ), 0);
	CHECK_EQ(access_signal(own + page(), true), SIGSEGV);
	CHECK_EQ(mprotect(own + page(), page(), RW), 0);
	CHECK_EQ(access_signal(own + page(), true), 0);
	CHECK(filled(own, 0, 0, 3));
	munmap(own, 3 * page());
	munmap(peer, 3 * page());
	munmap(none, 3 * page());
	CHECK_EQ(mappings_of(fd[0]), 0);
}

/* The ways of writing that do not ask the page tables. */
static void test_other_writers(void)
{
	int fd[2], mem = open("/proc/self/mem", O_RDWR), pipes[2];
	uint64_t value = 42;
	char *own, *peer;
	struct iovec local = { &value, 8 }, remote;

	make_channel(1, fd);
	own = map_own(fd[1], 1);
	peer = map_peer(fd[0], 1);
	REQUIRE(mem >= 0 && own != MAP_FAILED && peer != MAP_FAILED);
	*word_at(own, 0) = 7;
	CHECK_EQ(pread(mem, &value, 8, (off_t)(uintptr_t)peer), 8);
	CHECK_EQ(value, 7);
	value = 42;
	CHECK(pwrite(mem, &value, 8, (off_t)(uintptr_t)peer) < 0);
	CHECK_EQ(*word_at(own, 0), 7);
	CHECK_EQ(pwrite(mem, &value, 8, (off_t)(uintptr_t)own + 8), 8);
	CHECK_EQ(*word_at(peer, 8), 42);

	remote.iov_base = peer;
	remote.iov_len = 8;
	CHECK(process_vm_writev(getpid(), &local, 1, &remote, 1, 0) < 0);
	errno = 0;
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 8)
		CHECK_EQ(value, 7);
	else
		CHECK_EQ(errno, ENOSYS); /* the kernel may not have it */

	/* read(2) into it, and write(2) and vmsplice(2) out of it. */
	REQUIRE(pipe(pipes) == 0);
	CHECK_EQ(write(pipes[1], peer, 8), 8);
	CHECK_ERR(read(pipes[0], peer, 8), EFAULT);
	CHECK_EQ(*word_at(own, 0), 7);
	close(pipes[0]);
	close(pipes[1]);
	REQUIRE(pipe(pipes) == 0);
	remote.iov_base = own;
	CHECK_EQ(vmsplice(pipes[1], &remote, 1, 0), 8);
	/* The page stays for as long as the pipe has it. */
	munmap(own, page());
	munmap(peer, page());
	close(fd[0]);
	close(fd[1]);
	nothing_left();
	CHECK_EQ(read(pipes[0], &value, 8), 8);
	CHECK_EQ(value, 7);
}

static int remap_error(void *old, size_t old_size, size_t size, int flags)
{
	return mremap(old, old_size, size, flags) == MAP_FAILED ? errno : 0;
}

static void test_mremap(void)
{
	size_t n = 4;
	char *own, *peer, *moved, *target;
	int fd[2];

	make_channel(n, fd);
	own = map_own(fd[0], n);
	peer = map_peer(fd[1], n);
	REQUIRE(own != MAP_FAILED && peer != MAP_FAILED);
	fill(own, 0, n);
	CHECK_EQ(remap_error(own, n * page(), (n + 1) * page(), MREMAP_MAYMOVE), EFAULT);
	CHECK_EQ(remap_error(own, page(), 2 * page(), MREMAP_MAYMOVE), EFAULT);
	CHECK_EQ(remap_error(own, 0, page(), MREMAP_MAYMOVE), EFAULT);
	CHECK_EQ(remap_error(own, 0, n * page(), MREMAP_MAYMOVE), EFAULT);
	CHECK_EQ(remap_error(peer, 0, n * page(), MREMAP_MAYMOVE), EFAULT);
	CHECK_EQ(remap_error(own, n * page(), n * page(), MREMAP_MAYMOVE | MREMAP_DONTUNMAP), EINVAL);
	CHECK(filled(own, 0, 0, n));
	CHECK_EQ(mappings_of(fd[0]), 2);

	/* Moving all of it, or the middle. */
	target = mmap(NULL, 16 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(target != MAP_FAILED);
	moved = mremap(own, n * page(), n * page(), MREMAP_MAYMOVE | MREMAP_FIXED, target);
	REQUIRE(moved == target);
	CHECK(filled(moved, 0, 0, n));
	CHECK(filled(peer, 0, 0, n));
	CHECK_EQ(access_signal(own, false), SIGSEGV);
	CHECK_EQ(mappings_of(fd[0]), 2);
	own = moved;
	moved = mremap(own + page(), page(), page(), MREMAP_MAYMOVE | MREMAP_FIXED,
		       target + 8 * page());
	REQUIRE(moved == target + 8 * page());
	CHECK(filled(moved, 0, 1, 1));
	CHECK(filled(own, 0, 0, 1));
	CHECK(filled(own + 2 * page(), 0, 2, 2));
	CHECK_EQ(access_signal(own + page(), false), SIGSEGV);
	CHECK_EQ(madvise(moved, page(), MADV_DONTNEED), 0);
	CHECK(filled(moved, 0, 1, 1));
	CHECK_EQ(mappings_of(fd[0]), 4);

	/* Shrinking is unmapping. */
	moved = mremap(own + 2 * page(), 2 * page(), page(), 0);
	CHECK(moved == own + 2 * page());
	CHECK_EQ(access_signal(own + 3 * page(), false), SIGSEGV);
	munmap(target, 16 * page());
	munmap(peer, n * page());
	CHECK_EQ(mappings_of(fd[0]), 0);
}

static void test_partial_unmap(void)
{
	size_t n = 16, i;
	char *own, *peer;
	int fd[2];

	make_channel(n, fd);
	own = map_own(fd[0], n);
	peer = map_peer(fd[1], n);
	REQUIRE(own != MAP_FAILED && peer != MAP_FAILED);
	fill(own, 0, n);
	for (i = 1; i < n; i += 2)
		CHECK_EQ(munmap(own + i * page(), page()), 0);
	for (i = 0; i < n; i++)
		CHECK_EQ(access_signal(own + i * page(), true), i % 2 ? SIGSEGV : 0);
	CHECK(filled(peer, 0, 0, n));
	CHECK_EQ(mappings_of(fd[0]), 1 + n / 2);
	CHECK_EQ(munmap(own, n * page()), 0);
	CHECK_EQ(mappings_of(fd[0]), 1);
	/* Page by page, the peer's way round. */
	for (i = 0; i < n; i++)
		CHECK_EQ(munmap(peer + (n - 1 - i) * page(), page()), 0);
	CHECK_EQ(mappings_of(fd[0]), 0);
}

/* What the library does with its rings. */
static void test_twice_in_a_row(void)
{
	size_t head = 2, ring = 8, i;
	char *space;
	int fd[2], side;

	make_channel(head + ring, fd);
	for (side = 0; side < 2; side++) {
		off_t base = side ? PEER : 0;
		int prot = side ? PROT_READ : RW;

		space = mmap(NULL, (head + 2 * ring) * page(), PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		REQUIRE(space != MAP_FAILED);
		CHECK(mmap(space, (head + ring) * page(), prot, MAP_SHARED | MAP_FIXED, fd[side],
			   base) == space);
		CHECK(mmap(space + (head + ring) * page(), ring * page(), prot,
			   MAP_SHARED | MAP_FIXED, fd[side],
			   base + (off_t)(head * page())) == space + (head + ring) * page());
		if (!side)
			fill(space, 0, head + ring);
		CHECK(filled(space, 0, 0, head + ring));
		CHECK(filled(space + (head + ring) * page(), 0, head, ring));
		if (!side) {
			for (i = 0; i < 2 * page(); i++)
				space[(head + ring - 1) * page() + i] = (char)i;
			CHECK(!memcmp(space + head * page(), space + (head + ring) * page(),
				      ring * page()));
			fill(space, 0, head + ring);
		}
	}
}

static void test_dontneed(void)
{
	size_t n = 16, i;
	char *own, *peer;
	int fd[2];

	make_channel(n, fd);
	own = map_own(fd[0], n);
	peer = mmap(NULL, (n - 3) * page(), PROT_READ, MAP_SHARED, fd[1],
		    PEER + 3 * (off_t)page());
	REQUIRE(own != MAP_FAILED && peer != MAP_FAILED);
	fill(own, 0, n);
	CHECK_EQ(madvise(own, n * page(), MADV_DONTNEED), 0);
	CHECK_EQ(madvise(peer, (n - 3) * page(), MADV_DONTNEED), 0);
	CHECK(filled(peer, 0, 3, n - 3));
	CHECK(filled(own, 0, 0, n));
	for (i = 0; i < n; i++) {
		CHECK_EQ(madvise(own + i * page(), page(), MADV_DONTNEED), 0);
		/* The first access may be a write, too. */
		if (i % 2)
			*word_at(own, i * page() + 8) = i;
		CHECK(filled(own + i * page(), 0, i, 1));
	}
	/* Writing through what was faulted in is shared, not copied. */
	CHECK_EQ(madvise(own, n * page(), MADV_DONTNEED), 0);
	*word_at(own, 5 * page()) = 99;
	CHECK_EQ(*word_at(peer, 2 * page()), 99);
	/* These give the memory away, make it fork, or dump it: not ours. */
	CHECK(madvise(own, page(), MADV_REMOVE) < 0);
	CHECK(madvise(own, page(), MADV_FREE) < 0);
	CHECK(madvise(own, page(), MADV_WIPEONFORK) < 0);
	CHECK(madvise(own, page(), MADV_DODUMP) < 0);
	CHECK_EQ(*word_at(own, 5 * page()), 99);
	/* Neither pageout nor locking harms. */
	madvise(own, n * page(), MADV_PAGEOUT);
	madvise(own, n * page(), MADV_COLD);
	mlock(own, n * page());
	munlock(own, n * page());
	CHECK_EQ(*word_at(own, 5 * page()), 99);
}

static void test_fork(void)
{
	char *own, *peer;
	int fd[2];

	make_channel(2, fd);
	own = map_own(fd[0], 2);
	peer = map_peer(fd[1], 2);
	REQUIRE(own != MAP_FAILED && peer != MAP_FAILED);
	fill(own, 0, 2);
	IN_CHILD({
		CHECK_EQ(access_signal(own, false), SIGSEGV);
		CHECK_EQ(access_signal(peer, false), SIGSEGV);
		CHECK_EQ(mappings_of(fd[0]), 2);
		/* But it can map again what it has a descriptor of. */
		peer = map_peer(fd[1], 2);
		REQUIRE(peer != MAP_FAILED);
		CHECK(filled(peer, 0, 0, 2));
	});
	CHECK_EQ(mappings_of(fd[0]), 2);
	CHECK(filled(own, 0, 0, 2));
	/* Older kernels let a process insist; then it has to be harmless. */
	if (madvise(own, 2 * page(), MADV_DOFORK) == 0) {
		IN_CHILD({
			CHECK(filled(own, 0, 0, 2));
			CHECK_EQ(mappings_of(fd[0]), 3);
		});
	}
	CHECK_EQ(mappings_of(fd[0]), 2);
}

static void test_thousand(void)
{
	enum { COUNT = 1000 };
	static char *p[COUNT];
	int fd[2], i;

	make_channel(4, fd);
	for (i = 0; i < COUNT; i++) {
		p[i] = i % 2 ? map_peer(fd[1], 4) : map_own(fd[0], 4);
		REQUIRE(p[i] != MAP_FAILED);
	}
	CHECK_EQ(mappings_of(fd[1]), COUNT);
	fill(p[0], 0, 4);
	for (i = 0; i < COUNT; i++)
		CHECK(filled(p[i], 0, 0, 4));
	close(fd[0]);
	close(fd[1]);
	for (i = 0; i < COUNT; i++) {
		CHECK(filled(p[i], 0, 0, 4));
		munmap(p[i], 4 * page());
	}
	nothing_left();
}

static void test_cap(void)
{
	unsigned long long saved = get_param("max_mappings"), i, cap = saved;
	int fd[2], round;
	char **p = calloc(cap + 1, sizeof(*p));

	REQUIRE(p != NULL && saved >= 4096 && saved < 65000);
	make_channel(1, fd);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < cap; i++) {
			p[i] = i % 3 ? map_peer(fd[i % 2], 1) : map_own(fd[i % 2], 1);
			REQUIRE(p[i] != MAP_FAILED);
		}
		CHECK_EQ(mappings_of(fd[0]), cap);
		CHECK_EQ(map_error(fd[0], 1, RW, MAP_SHARED, 0), ENOMEM);
		CHECK_EQ(map_error(fd[1], 1, PROT_READ, MAP_SHARED, PEER), ENOMEM);
		CHECK_EQ(mappings_of(fd[0]), cap);
		munmap(p[0], page());
		p[0] = map_own(fd[0], 1);
		CHECK(p[0] != MAP_FAILED);
		for (i = 0; i < cap; i++)
			munmap(p[i], page());
		CHECK_EQ(mappings_of(fd[0]), 0);
		cap = 10;
		REQUIRE(set_param("max_mappings", cap));
	}
	set_param("max_mappings", 0);
	CHECK_EQ(map_error(fd[0], 1, RW, MAP_SHARED, 0), ENOMEM);
	set_param("max_mappings", saved);
	CHECK_EQ(map_error(fd[0], 1, RW, MAP_SHARED, 0), 0);
}

/* init_on_free would show zeroes, and slub_debug other patterns. */
static void test_lifetime(void)
{
	size_t n = 64, much = (64 << 20) / ktap_slowness(), i;
	char *own, *peer, *rest;
	int fd[2], order;

	for (order = 0; order < 4; order++) {
		make_channel(n, fd);
		own = map_own(fd[0], n);
		peer = map_peer(fd[1], n);
		REQUIRE(own != MAP_FAILED && peer != MAP_FAILED);
		fill(own, 0, n);
		close(fd[order & 1]);
		close(fd[!(order & 1)]);
		sleep_ms(20);
		CHECK_EQ(get_param("live_channels"), 1);
		CHECK(filled(own, 0, 0, n));
		if (order & 2) {
			munmap(own, n * page());
			rest = peer;
		} else {
			munmap(peer, n * page());
			rest = own;
		}
		sleep_ms(20);
		/* Others use memory meanwhile. */
		for (i = 0; i < 4; i++) {
			char *other = mmap(NULL, much, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (other != MAP_FAILED) {
				memset(other, 0xee, much);
				munmap(other, much);
			}
		}
		CHECK_EQ(get_param("live_channels"), 1);
		CHECK(filled(rest, 0, 0, n));
		CHECK_EQ(madvise(rest, n * page(), MADV_DONTNEED), 0);
		CHECK(filled(rest, 0, 0, n));
		munmap(rest, n * page());
		nothing_left();
	}
}

/* The module cannot go while only a mapping is left. */
static void test_module_in_use(void)
{
	int fd[2];
	char *own;

	make_channel(1, fd);
	own = map_own(fd[0], 1);
	REQUIRE(own != MAP_FAILED);
	close(fd[0]);
	close(fd[1]);
	CHECK_ERR(syscall(SYS_delete_module, "sysipc", O_NONBLOCK), EAGAIN);
	CHECK_EQ(access_signal(own, true), 0);
}

/* Every size up to some orders, and some around them. */
static void test_all_sizes(void)
{
	size_t n;
	int fd[2];

	for (n = 1; n <= 70; n++) {
		char *own, *peer;

		make_channel(n, fd);
		own = map_own(fd[1], n);
		peer = map_peer(fd[0], n);
		REQUIRE(own != MAP_FAILED && peer != MAP_FAILED);
		CHECK_EQ(get_param("live_pages"), 2 * n);
		fill(own, 1, n);
		CHECK(filled(peer, 1, 0, n));
		/* Pages go back one by one and in any order. */
		close(fd[1]);
		munmap(own + n / 2 * page(), page());
		close(fd[0]);
		CHECK(filled(peer, 1, 0, n));
		munmap(own, n * page());
		munmap(peer, n * page());
		nothing_left();
	}
}

/* As large as a library of today asks for, if there is memory. */
static void test_large(void)
{
	size_t n = (64 << 20) / page();
	struct sysipc_create arg = arguments(n * page(), page());
	int device = open_device();
	char *own;

	if (ioctl(device, SYSIPC_IOC_CREATE, &arg)) {
		if (errno == ENOMEM)
			SKIP("no memory");
		CHECK(!"created");
		return;
	}
	own = map_own(arg.fd[0], n);
	REQUIRE(own != MAP_FAILED);
	fill(own, 0, n);
	CHECK(filled(own, 0, 0, n));
	munmap(own, n * page());
	close(arg.fd[0]);
	close(arg.fd[1]);
	nothing_left();
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

#define CGROUP "/tmp/sysipc-cgroup"

/* In a cgroup with a little memory: what fails there is given back. */
static void test_no_memory(void)
{
	size_t n = (16 << 20) / page();
	struct sysipc_create arg = arguments(n * page(), n * page());
	int device = open_device(), fd[2], status, i;
	pid_t pid;

	mkdir(CGROUP, 0700);
	if (mount("none", CGROUP, "cgroup2", 0, NULL))
		SKIP("no cgroup2");
	write_file(CGROUP "/cgroup.subtree_control", "+memory");
	mkdir(CGROUP "/sysipc", 0700);
	if (!write_file(CGROUP "/sysipc/memory.max", "3000000")) {
		rmdir(CGROUP "/sysipc");
		umount(CGROUP);
		SKIP("no memory cgroups");
	}
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		/* Refused, or killed for lack of memory: both will do. */
		REQUIRE(write_file(CGROUP "/sysipc/cgroup.procs", "0"));
		for (i = 0; i < 20; i++)
			CHECK_ERR(ioctl(device, SYSIPC_IOC_CREATE, &arg), ENOMEM);
		_exit(ktap_failures ? 1 : 0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0);
	nothing_left();

	/* Page tables are charged, too: mmap fails between two pages. */
	make_channel(n, fd);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		REQUIRE(write_file(CGROUP "/sysipc/cgroup.procs", "0"));
		for (i = 0; i < 1000; i++)
			if (map_own(fd[i % 2], n) == MAP_FAILED)
				_exit(errno == ENOMEM ? 0 : 1);
		_exit(2);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0);
	ktap_note("mapping: status %d", status);
	CHECK_EQ(mappings_of(fd[0]), 0);
	CHECK_EQ(get_param("live_channels"), 1);
	close(fd[0]);
	close(fd[1]);
	nothing_left();
	rmdir(CGROUP "/sysipc");
	umount(CGROUP);
	rmdir(CGROUP);
}

static const struct ktap_test tests[] = {
	{ "shared", test_shared },
	{ "zeroed", test_zeroed },
	{ "ranges", test_ranges },
	{ "modes", test_modes },
	{ "mprotect", test_mprotect },
	{ "other_writers", test_other_writers },
	{ "mremap", test_mremap },
	{ "partial_unmap", test_partial_unmap },
	{ "twice_in_a_row", test_twice_in_a_row },
	{ "dontneed", test_dontneed },
	{ "fork", test_fork },
	{ "thousand", test_thousand },
	{ "cap", test_cap },
	{ "lifetime", test_lifetime },
	{ "module_in_use", test_module_in_use },
	{ "all_sizes", test_all_sizes },
	{ "large", test_large },
	{ "no_memory", test_no_memory },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, LENGTH(tests), argc > 1 ? argv[1] : NULL);
}
