// SPDX-License-Identifier: GPL-2.0
/*
 * Many cycles of the protocol: the producer publishes a number, the consumer
 * wants to see each. Whoever has nothing to do sleeps. A wake-up that is lost
 * shows as a sleep of ten seconds.
 *
 * wake [-n CYCLES] [-f FENCE] [TEST]
 *   CYCLES: how often each side sleeps in each test, about; 50000 by default
 *   FENCE that is left out: 1 the waker's, 2 the sleeper's. With two processors
 *   that run at the same time, this loses a wake-up sooner or later.
 */

#include "uring.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>

#define R SYSIPC_KICK_READ
#define W SYSIPC_KICK_WRITE
#define TAIL_WORD 512
#define HEAD_WORD 640
#define DEADLINE 10000

enum way { BY_POLL, BY_SELECT, BY_EPOLL, BY_EPOLL_ET, BY_ASIO, BY_URING, BY_URING_MULTI };

static const char *const way_names[] = {
	"poll", "select", "epoll", "epoll ET", "epoll ET with MOD", "io_uring",
	"io_uring multishot",
};

static unsigned long cycles = 50000;
static int missing_fence;
static unsigned long *woken; /* of all tests, which are processes of their own */

struct end_point {
	int fd;
	int side;
	enum way way;
	int epoll;
	struct uring uring;
	bool polling; /* a multishot poll is pending */
	char *own, *peer;
	uint64_t armed[2]; /* own words */
	uint64_t kicked[2]; /* the peer's, as last kicked */
	unsigned long sleeps, kicks, spurious;
	uint64_t random;
	uint64_t window;
	bool sync;
};

static const size_t words[2] = { READ_WORD, WRITE_WORD };

static void full_fence(int which)
{
	if (which == missing_fence)
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static uint64_t load(void *segment, size_t offset)
{
	return __atomic_load_n((uint64_t *)(void *)((char *)segment + offset), __ATOMIC_ACQUIRE);
}

static void store(void *segment, size_t offset, uint64_t value)
{
	__atomic_store_n((uint64_t *)(void *)((char *)segment + offset), value, __ATOMIC_RELEASE);
}

static void dawdle(struct end_point *e)
{
	volatile int i;

	e->random ^= e->random << 13;
	e->random ^= e->random >> 7;
	e->random ^= e->random << 17;
	for (i = (int)(e->random % 64) * (int)(e->random >> 20 & 15); i > 0; i--)
		;
}

static bool attach_epoll(struct end_point *e)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT };

	if (e->way != BY_EPOLL)
		ev.events |= EPOLLET;
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	return e->epoll >= 0 && epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->fd, &ev) == 0;
}

static bool attach(struct end_point *e, int fd, int side, enum way way)
{
	memset(e, 0, sizeof(*e));
	e->fd = fd;
	e->side = side;
	e->way = way;
	e->random = 88172645463325252ULL + (uint64_t)side;
	e->own = map_own(fd, 1);
	e->peer = map_peer(fd, 1);
	if (e->own == MAP_FAILED || e->peer == MAP_FAILED)
		return false;
	return way >= BY_URING ? uring_open(&e->uring) : attach_epoll(e);
}

static void wake_peer(struct end_point *e, int which, bool sync)
{
	uint64_t w;

	full_fence(1);
	w = load(e->peer, words[which]);
	if (!(w & 1) || w == e->kicked[which])
		return;
	e->kicked[which] = w;
	e->kicks++;
	ioctl(e->fd, SYSIPC_IOC_KICK,
	      (which ? W : R) | (sync ? (unsigned long)SYSIPC_KICK_SYNC : 0));
}

static bool wait_uring(struct end_point *e, short events)
{
	struct io_uring_cqe cqe;

	uring_queue_poll(&e->uring, e->fd, events, 0, 0);
	return uring_wait(&e->uring, DEADLINE, &cqe) && cqe.res > 0;
}

/* Edges, as with EPOLLET. What has come since the wait before is one wake-up. */
static bool wait_multishot(struct end_point *e)
{
	struct io_uring_cqe cqe;

	if (!e->polling)
		uring_queue_poll(&e->uring, e->fd, POLLIN | POLLOUT, IORING_POLL_ADD_MULTI, 0);
	if (!uring_wait(&e->uring, DEADLINE, &cqe))
		return false;
	do {
		if (cqe.res <= 0)
			return false;
		e->polling = cqe.flags & IORING_CQE_F_MORE;
	} while (uring_take(&e->uring, &cqe));
	return true;
}

/* Waits for the descriptor; false after ten seconds. */
static bool wait_fd(struct end_point *e, int which, bool again)
{
	short events = which ? POLLOUT : POLLIN;
	struct pollfd p = { .fd = e->fd, .events = events };
	struct timeval tv = { DEADLINE / 1000, 0 };
	struct epoll_event ev;
	fd_set set;

	switch (e->way) {
	case BY_POLL:
		return poll(&p, 1, DEADLINE) == 1;
	case BY_SELECT:
		FD_ZERO(&set);
		FD_SET(e->fd, &set);
		return select(e->fd + 1, which ? NULL : &set, which ? &set : NULL, NULL, &tv) == 1;
	case BY_ASIO:
		/* Edges, asked for anew whenever a wait begins. The word that is not armed
		 * is then reported, too; the wait goes on after that.
		 */
		ev.events = EPOLLIN | EPOLLOUT | EPOLLET;
		if (!again && epoll_ctl(e->epoll, EPOLL_CTL_MOD, e->fd, &ev))
			return false;
		return epoll_wait(e->epoll, &ev, 1, DEADLINE) == 1;
	case BY_EPOLL:
		/* The other word is not armed and would be reported, again and again. */
		ev.events = (uint32_t)events;
		if (epoll_ctl(e->epoll, EPOLL_CTL_MOD, e->fd, &ev))
			return false;
		return epoll_wait(e->epoll, &ev, 1, DEADLINE) == 1;
	case BY_URING:
		return wait_uring(e, events);
	case BY_URING_MULTI:
		return wait_multishot(e);
	default:
		return epoll_wait(e->epoll, &ev, 1, DEADLINE) == 1;
	}
}

/* Until the peer's word at offset is not value. */
static bool wait_change(struct end_point *e, int which, size_t offset, uint64_t value)
{
	unsigned int tries = 0;

	while (load(e->peer, offset) == value) {
		store(e->own, words[which], ++e->armed[which]);
		full_fence(2);
		if (load(e->peer, offset) == value) {
			e->sleeps++;
			if (!wait_fd(e, which, tries > 0)) {
				struct sysipc_info info = info_of(e->fd);

				ktap_note("lost: side %d, %s word %llu, peer's %llu is %llu, "
					  "state %u", e->side, which ? "write" : "read",
					  (unsigned long long)e->armed[which],
					  (unsigned long long)value,
					  (unsigned long long)load(e->peer, offset), info.state);
				return false;
			}
			if (tries++)
				e->spurious++;
		}
		store(e->own, words[which], ++e->armed[which]);
		/* An edge of an earlier kick may wake us some times, but not for ever. */
		if (tries > 1000)
			return false;
	}
	return true;
}

static bool produce(struct end_point *e, unsigned long count)
{
	uint64_t tail = 0, head = 0;

	while (tail < count) {
		while (tail - head >= e->window) {
			if (!wait_change(e, 1, HEAD_WORD, head))
				return false;
			head = load(e->peer, HEAD_WORD);
		}
		dawdle(e);
		store(e->own, TAIL_WORD, ++tail);
		wake_peer(e, 0, e->sync && tail - head >= e->window);
	}
	while (head < count) {
		if (!wait_change(e, 1, HEAD_WORD, head))
			return false;
		head = load(e->peer, HEAD_WORD);
	}
	return true;
}

static bool consume(struct end_point *e, unsigned long count)
{
	uint64_t head = 0;

	while (head < count) {
		if (!wait_change(e, 0, TAIL_WORD, head))
			return false;
		dawdle(e);
		if (load(e->peer, TAIL_WORD) < head + 1)
			return false;
		store(e->own, HEAD_WORD, ++head);
		wake_peer(e, 1, e->sync && load(e->peer, TAIL_WORD) == head);
	}
	return true;
}

static bool take_part(struct end_point *e, unsigned long count)
{
	bool ok = e->side ? consume(e, count) : produce(e, count);

	__atomic_add_fetch(woken, e->sleeps - e->spurious, __ATOMIC_RELAXED);
	return ok;
}

struct consumer {
	struct end_point e;
	unsigned long count;
	bool ok;
};

static void *consumer_main(void *arg)
{
	struct consumer *c = arg;

	c->ok = take_part(&c->e, c->count);
	return NULL;
}

static bool have_uring(void)
{
	struct uring u;

	if (!uring_open(&u))
		return false;
	uring_close(&u);
	return true;
}

static void run_cycles(enum way way, bool processes, uint64_t window, bool sync)
{
	/* Nobody sleeps before the window is full, or empty. */
	struct consumer c = { .count = cycles * window };
	struct end_point e;
	int fd[2], status = 0;
	double start = now();
	pthread_t thread;
	pid_t pid = 0;

	if (way >= BY_URING && !have_uring())
		SKIP("no io_uring");
	make_channel(1, fd);
	if (processes) {
		pid = fork();
		REQUIRE(pid >= 0);
		if (!pid) {
			close(fd[0]);
			REQUIRE(attach(&c.e, fd[1], 1, way));
			c.e.sync = sync;
			CHECK(take_part(&c.e, c.count));
			_exit(ktap_failures ? 1 : 0);
		}
		close(fd[1]);
	} else {
		REQUIRE(attach(&c.e, fd[1], 1, way));
		c.e.sync = sync;
		REQUIRE(pthread_create(&thread, NULL, consumer_main, &c) == 0);
	}
	REQUIRE(attach(&e, fd[0], 0, way));
	e.window = window;
	e.sync = sync;
	CHECK(take_part(&e, c.count));
	if (processes) {
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	} else {
		pthread_join(thread, NULL);
		CHECK(c.ok);
	}
	ktap_note("%s, %s, window %llu: %lu numbers in %.1f s, producer slept %lu times, "
		  "%lu for nothing, kicked %lu times", way_names[way],
		  processes ? "processes" : "threads", (unsigned long long)window, c.count,
		  now() - start, e.sleeps, e.spurious, e.kicks);
}

static void test_poll(void)
{
	run_cycles(BY_POLL, true, 1, false);
}

static void test_poll_sync(void)
{
	run_cycles(BY_POLL, true, 1, true);
}

static void test_poll_stream(void)
{
	run_cycles(BY_POLL, false, 4, false);
}

static void test_select(void)
{
	run_cycles(BY_SELECT, false, 2, false);
}

static void test_epoll(void)
{
	run_cycles(BY_EPOLL, true, 2, false);
}

static void test_edge(void)
{
	run_cycles(BY_EPOLL_ET, true, 1, false);
}

static void test_asio(void)
{
	run_cycles(BY_ASIO, true, 1, true);
}

static void test_asio_stream(void)
{
	run_cycles(BY_ASIO, false, 16, false);
}

static void test_uring(void)
{
	run_cycles(BY_URING, true, 1, false);
}

static void test_uring_stream(void)
{
	run_cycles(BY_URING, false, 4, true);
}

static void test_uring_multishot(void)
{
	run_cycles(BY_URING_MULTI, true, 1, false);
}

static const struct ktap_test tests[] = {
	{ "poll", test_poll, 1800 },
	{ "poll_sync", test_poll_sync, 1800 },
	{ "poll_stream", test_poll_stream, 1800 },
	{ "select", test_select, 1800 },
	{ "epoll", test_epoll, 1800 },
	{ "edge", test_edge, 1800 },
	{ "asio", test_asio, 1800 },
	{ "asio_stream", test_asio_stream, 1800 },
	{ "uring", test_uring, 1800 },
	{ "uring_stream", test_uring_stream, 1800 },
	{ "uring_multishot", test_uring_multishot, 1800 },
};

int main(int argc, char **argv)
{
	int option, status;

	while ((option = getopt(argc, argv, "n:f:")) != -1) {
		if (option == 'n')
			cycles = strtoul(optarg, NULL, 0);
		else if (option == 'f')
			missing_fence = atoi(optarg);
		else
			return 2;
	}
	woken = mmap(NULL, sizeof(*woken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	REQUIRE((void *)woken != MAP_FAILED);
	status = ktap_run(tests, LENGTH(tests), optind < argc ? argv[optind] : NULL);
	ktap_note("%lu sleeps that a kick ended", *woken);
	return status;
}
