// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once, on the same descriptors, for a while; and at random.
 *
 * race [-t SECONDS] [-s SEED] [TEST]
 *   SECONDS for each test, 10 by default; SEED of the random tests
 *
 * That nothing breaks is for the kernel's log to say: boot with slub_debug=FZPU
 * and panic_on_warn=1. What is checked here is that all is given back, and that
 * no call gives a result that it cannot have.
 */

#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

static double seconds = 10;
static uint64_t seed;

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static volatile bool stop;

/* The descriptors that all threads use, while others close and replace them. */
enum { SLOTS = 8, PAGES = 4 };

static volatile int slots[SLOTS];

struct worker {
	void (*run)(struct worker *w);
	uint64_t random;
	unsigned long rounds;
	pthread_t thread;
};

static int any_slot(struct worker *w)
{
	return slots[next(&w->random) % SLOTS];
}

/* What a call on a descriptor that may be closed or any other file can say. */
static bool expected_error(int error)
{
	switch (error) {
	case EBADF:
	case EINVAL:
	case ENOTTY:
	case EPERM:
	case EPIPE:
	case ENOMEM:
	case ENODEV:
	case EACCES:
	case EEXIST:
	case ENOENT:
		return true;
	}
	return false;
}

static void check_result(long result, const char *what)
{
	int error = errno;

	if (result == -1 && !expected_error(error)) {
		CHECK(!"an errno that can be");
		ktap_note("%s: errno %d", what, error);
	}
}

static void make(struct worker *w)
{
	struct sysipc_create arg = arguments((1 + next(&w->random) % PAGES) * page(),
					     (1 + next(&w->random) % PAGES) * page());
	int device = open_device(), i, old;

	if (ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0)
		for (i = 0; i < 2; i++) {
			old = __atomic_exchange_n(&slots[next(&w->random) % SLOTS], arg.fd[i],
						  __ATOMIC_SEQ_CST);
			if (old > 2)
				close(old);
		}
	else
		check_result(-1, "create");
	close(device);
}

/* Closes what may be a number that another thread is just being given. */
static void close_guessed(struct worker *w)
{
	int fd = 30 + (int)(next(&w->random) % 12);

	close(fd);
	sched_yield();
}

static void call(struct worker *w)
{
	struct sysipc_info info = { .size = sizeof(info) };
	int fd = any_slot(w);

	switch (next(&w->random) % 8) {
	case 0:
		check_result(ioctl(fd, SYSIPC_IOC_INFO, &info), "info");
		break;
	case 1:
		if (next(&w->random) % 8 == 0)
			check_result(ioctl(fd, SYSIPC_IOC_SHUTDOWN), "shutdown");
		break;
	default:
		check_result(ioctl(fd, SYSIPC_IOC_KICK, next(&w->random) % 8), "kick");
	}
}

static void map(struct worker *w)
{
	size_t from = next(&w->random) % PAGES, count = 1 + next(&w->random) % PAGES;
	bool peer = next(&w->random) % 2;
	int prot = peer ? PROT_READ : PROT_READ | PROT_WRITE;
	off_t offset = (off_t)(from * page() + (peer ? SYSIPC_MMAP_PEER : 0));
	char *p = mmap(NULL, count * page(), prot, MAP_SHARED, any_slot(w), offset);
	size_t i;

	if (p == MAP_FAILED) {
		check_result(-1, "mmap");
		return;
	}
	for (i = 0; i < count; i++)
		if (peer)
			(void)*(volatile char *)(p + i * page());
		else
			*word_at(p, i * page() + (next(&w->random) % page() & ~7UL)) =
				next(&w->random);
	if (next(&w->random) % 2)
		madvise(p, page(), MADV_DONTNEED);
	(void)*(volatile char *)p;
	if (count > 1 && next(&w->random) % 2) {
		/* Never the same page twice: it may be another thread's by then. */
		munmap(p + page(), page());
		munmap(p, page());
		if (count > 2)
			munmap(p + 2 * page(), (count - 2) * page());
		return;
	}
	munmap(p, count * page());
}

static void scribble(struct worker *w)
{
	char *p = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED, any_slot(w), 0);
	int i;

	if (p == MAP_FAILED)
		return;
	for (i = 0; i < 1000; i++)
		*word_at(p, i % 2 ? READ_WORD : WRITE_WORD) = next(&w->random);
	munmap(p, page());
}

static void wait_some(struct worker *w)
{
	struct pollfd p[3];
	int i, n;

	for (i = 0; i < 3; i++) {
		p[i].fd = any_slot(w);
		p[i].events = (short)(next(&w->random) & (POLLIN | POLLOUT | POLLRDHUP));
	}
	n = poll(p, 3, (int)(next(&w->random) % 3));
	CHECK(n >= 0);
	for (i = 0; i < 3; i++)
		CHECK(!(p[i].revents & ~(p[i].events | POLLHUP | POLLNVAL)));
}

static void wait_epoll(struct worker *w)
{
	static const uint32_t kinds[] = { 0, EPOLLET, EPOLLONESHOT, EPOLLEXCLUSIVE };
	int ep = epoll_create1(EPOLL_CLOEXEC), i;
	struct epoll_event ev[4];

	if (ep < 0)
		return;
	for (i = 0; i < 6; i++) {
		ev[0].events = EPOLLIN | EPOLLOUT | kinds[next(&w->random) % 4];
		epoll_ctl(ep, next(&w->random) % 3 ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, any_slot(w),
			  ev);
		epoll_wait(ep, ev, 4, (int)(next(&w->random) % 2));
	}
	close(ep);
}

static void pass(struct worker *w)
{
	int sock[2], fd;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock))
		return;
	if (send_fd(sock[0], any_slot(w)) && next(&w->random) % 2) {
		fd = receive_fd(sock[1]);
		if (fd >= 0)
			close(fd);
	}
	close(sock[0]);
	close(sock[1]);
}

static void fork_some(struct worker *w)
{
	pid_t pid;

	sleep_ms(5);
	pid = fork();
	if (!pid) {
		map(w);
		call(w);
		if (next(&w->random) % 2)
			raise(SIGKILL);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void read_fdinfo(struct worker *w)
{
	char path[64], text[1024];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", any_slot(w));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	CHECK(read(fd, text, sizeof(text)) >= 0 || errno == ENOENT || errno == EBADF);
	close(fd);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		w->run(w);
		w->rounds++;
	}
	return NULL;
}

static void run_workers(struct worker *workers, int count)
{
	unsigned long rounds = 0;
	int i;

	for (i = 0; i < SLOTS; i++)
		slots[i] = -1;
	ktap_note("seed %llu", (unsigned long long)seed);
	for (i = 0; i < count; i++) {
		workers[i].random = seed * 2654435761u + (uint64_t)i * 0x9e3779b97f4a7c15ULL + 1;
		REQUIRE(pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) == 0);
	}
	sleep_ms((long)(seconds * 1000));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < count; i++) {
		CHECK_EQ(pthread_join(workers[i].thread, NULL), 0);
		if (!workers[i].rounds)
			ktap_note("worker %d did nothing", i);
		rounds += workers[i].rounds;
	}
	for (i = 0; i < SLOTS; i++)
		if (slots[i] > 2)
			close(slots[i]);
	for (i = 3; i < 256; i++)
		close(i);
	ktap_note("%lu rounds", rounds);
	nothing_left();
}

static void test_all(void)
{
	struct worker workers[] = {
		{ make }, { make }, { call }, { call }, { map }, { map }, { scribble },
		{ wait_some }, { wait_epoll }, { pass }, { fork_some }, { read_fdinfo },
	};

	run_workers(workers, LENGTH(workers));
}

/* Few threads and the narrowest windows. */
static void test_map_or_close(void)
{
	struct worker workers[] = { { make }, { map }, { map } };

	run_workers(workers, LENGTH(workers));
}

static void test_poll_or_close(void)
{
	struct worker workers[] = { { make }, { wait_epoll }, { wait_some }, { call }, { scribble } };

	run_workers(workers, LENGTH(workers));
}

static void block_low_numbers(void)
{
	int device = open_device();

	/* So that the numbers that are guessed are the next free ones. */
	while (dup(device) < 29)
		;
}

static void test_close_guessed(void)
{
	struct worker workers[] = { { make }, { make }, { close_guessed }, { call } };

	block_low_numbers();
	run_workers(workers, LENGTH(workers));
}

/* The arguments change while the driver reads them. */
static struct sysipc_create shared_arg;

static void flip(struct worker *w)
{
	volatile struct sysipc_create *arg = &shared_arg;

	arg->size = next(&w->random) % 4 ? sizeof(*arg) : (uint32_t)next(&w->random);
	arg->segment_bytes[next(&w->random) % 2] =
		next(&w->random) % 4 ? page() : next(&w->random);
	arg->read_word = next(&w->random) % 4 ? READ_WORD : (uint32_t)next(&w->random);
	arg->flags = next(&w->random) % 4 == 0;
}

static void create_flipped(struct worker *w)
{
	int device = open_device(), i;

	for (i = 0; i < 100; i++) {
		long result = ioctl(device, SYSIPC_IOC_CREATE, &shared_arg);
		int error = errno;

		(void)w;
		if (result == 0) {
			close(shared_arg.fd[0]);
			close(shared_arg.fd[1]);
		} else if (error != EINVAL && error != E2BIG && error != EFBIG) {
			CHECK(!"an errno that can be");
			ktap_note("errno %d", error);
		}
	}
	close(device);
}

static void test_flipped_arguments(void)
{
	struct worker workers[] = { { flip }, { create_flipped } };

	shared_arg = arguments(page(), page());
	run_workers(workers, LENGTH(workers));
}

/* One thread that does random things, to be repeated from its seed. */
static void test_fuzz(void)
{
	static const unsigned long commands[] = {
		SYSIPC_IOC_QUERY, SYSIPC_IOC_CREATE, SYSIPC_IOC_INFO, SYSIPC_IOC_KICK,
		SYSIPC_IOC_KICK, SYSIPC_IOC_KICK, SYSIPC_IOC_SHUTDOWN,
	};
	enum { FDS = 16, MAPS = 32 };
	int fds[FDS], device = open_device(), i;
	struct {
		char *at;
		size_t bytes;
	} maps[MAPS];
	uint64_t r = seed * 2654435761u + 12345;
	double end = now() + seconds;
	unsigned long count = 0, created = 0, mapped = 0;

	ktap_note("seed %llu", (unsigned long long)seed);
	for (i = 0; i < FDS; i++)
		fds[i] = -1;
	memset(maps, 0, sizeof(maps));
	while (now() < end) {
		int f = (int)(next(&r) % FDS), m = (int)(next(&r) % MAPS);
		struct sysipc_create arg = arguments((1 + next(&r) % 8) * page(),
						     (1 + next(&r) % 8) * page());
		static union {
			uint64_t words[1024]; /* more than the page that a size may say */
			struct sysipc_create create;
		} buffer;
		size_t bytes, offset;
		struct pollfd p;

		for (i = 0; i < 8 && fds[f] < 0; i++)
			f = (int)(next(&r) % FDS);
		count++;
		switch (next(&r) % 10) {
		case 0: /* a channel, mostly */
			if (next(&r) % 4 == 0)
				((uint32_t *)(void *)&arg)[next(&r) % (sizeof(arg) / 4)] =
					(uint32_t)next(&r) >> next(&r) % 32;
			if (ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0) {
				int g = (int)(next(&r) % FDS);

				created++;
				if (fds[f] >= 0)
					close(fds[f]);
				fds[f] = arg.fd[0];
				if (fds[g] >= 0)
					close(fds[g]);
				fds[g] = arg.fd[1];
			}
			break;
		case 1: /* any ioctl with any argument */
			for (i = 0; i < 16; i++)
				buffer.words[i] = next(&r) >> next(&r) % 64;
			buffer.create.segment_bytes[0] %= 1 << 20;
			buffer.create.segment_bytes[1] %= 1 << 20;
			ioctl(next(&r) % 4 ? fds[f] : device,
			      commands[next(&r) % LENGTH(commands)], &buffer);
			break;
		case 2:
		case 3:
			ioctl(fds[f], SYSIPC_IOC_KICK, next(&r) % 9);
			break;
		case 4: /* any mapping */
			if (maps[m].at)
				munmap(maps[m].at, maps[m].bytes);
			bytes = (1 + next(&r) % 9 % (1 + next(&r) % 9)) * page();
			offset = next(&r) % 10 % (1 + next(&r) % 10) * page();
			i = (int)(next(&r) % 16) ? PROT_READ : (int)(next(&r) % 8);
			if (next(&r) % 2)
				i |= PROT_WRITE;
			maps[m].at = mmap(NULL, bytes, i, next(&r) % 16 ? MAP_SHARED : MAP_PRIVATE,
					  fds[f],
					  (off_t)(offset + (next(&r) % 2 ? SYSIPC_MMAP_PEER : 0)));
			maps[m].bytes = bytes;
			if (maps[m].at == MAP_FAILED)
				maps[m].at = NULL;
			else
				mapped++;
			break;
		case 5: /* something with a mapping */
			if (!maps[m].at)
				break;
			offset = next(&r) % (maps[m].bytes / page()) * page();
			switch (next(&r) % 6) {
			case 0:
				/* A hole, and then what is behind it. */
				munmap(maps[m].at + offset, page());
				munmap(maps[m].at + offset, maps[m].bytes - offset);
				maps[m].bytes = offset;
				if (!offset)
					maps[m].at = NULL;
				break;
			case 1:
				mprotect(maps[m].at + offset, page(), (int)(next(&r) % 8));
				break;
			case 2:
				mremap(maps[m].at + offset, page(), 2 * page(), 0);
				break;
			default:
				madvise(maps[m].at + offset, page(), (int)(next(&r) % 26));
			}
			break;
		case 6: /* writes, by the kernel, which does not mind what it may not */
			if (maps[m].at) {
				i = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
				buffer.words[0] = next(&r);
				(void)!pwrite(i, &buffer, 8, (off_t)(uintptr_t)maps[m].at +
								     (next(&r) % 2 ? READ_WORD :
										     WRITE_WORD));
				close(i);
			}
			break;
		case 7:
			p.fd = fds[f];
			p.events = (short)next(&r);
			poll(&p, 1, 0);
			break;
		case 8:
			if (next(&r) % 4 == 0 && fds[f] >= 0) {
				close(fds[f]);
				fds[f] = -1;
			}
			break;
		default:
			if (next(&r) % 16 == 0)
				ioctl(fds[f], SYSIPC_IOC_SHUTDOWN);
		}
		/* What a random create made is not known to us. */
		if (count % 1024 == 0)
			for (i = 3; i < 256; i++) {
				int g;

				for (g = 0; g < FDS && fds[g] != i; g++)
					;
				if (g == FDS && i != device)
					close(i);
			}
	}
	for (i = 3; i < 1024; i++)
		close(i);
	ktap_note("%lu calls, %lu channels, %lu mappings", count, created, mapped);
	/* The mappings go with the process: the next test sees to that. */
}

static void test_nothing_left(void)
{
	nothing_left();
}

static const struct ktap_test tests[] = {
	{ "all", test_all, 100000 },
	{ "map_or_close", test_map_or_close, 100000 },
	{ "poll_or_close", test_poll_or_close, 100000 },
	{ "close_guessed", test_close_guessed, 100000 },
	{ "flipped_arguments", test_flipped_arguments, 100000 },
	{ "fuzz", test_fuzz, 100000 },
	{ "fuzz_left_nothing", test_nothing_left },
};

int main(int argc, char **argv)
{
	int option;

	seed = (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
	while ((option = getopt(argc, argv, "t:s:")) != -1) {
		if (option == 't')
			seconds = strtod(optarg, NULL);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	return ktap_run(tests, LENGTH(tests), optind < argc ? argv[optind] : NULL);
}
