// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping, waking, and the end of the peer.
 *
 * poll [-n CYCLES] [-f FENCE] [TEST]
 *   CYCLES of each of the cycles_* tests, 1000000 by default
 *   FENCE that these leave out: 1 the waker's, 2 the sleeper's. With two processors
 *   that run at the same time, they lose a wake-up sooner or later.
 */

#include "common.h"

#include <linux/aio_abi.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

static unsigned long cycles = 1000000;
static int missing_fence;

/* A channel with both own segments mapped: this process is both sides. */
struct pair {
	int fd[2];
	char *own[2];
};

static void make_pair(struct pair *pair)
{
	int i;

	make_channel(1, pair->fd);
	for (i = 0; i < 2; i++) {
		pair->own[i] = map_own(pair->fd[i], 1);
		REQUIRE(pair->own[i] != MAP_FAILED);
	}
}

static void arm(struct pair *pair, int side, uint64_t read, uint64_t write)
{
	*word_at(pair->own[side], READ_WORD) = read;
	*word_at(pair->own[side], WRITE_WORD) = write;
}

static void kick(struct pair *pair, int side, unsigned long which)
{
	CHECK_EQ(ioctl(pair->fd[side], SYSIPC_IOC_KICK, which), 0);
}

#define ALL (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)
#define IN (POLLIN | POLLRDNORM)
#define OUT (POLLOUT | POLLWRNORM)
#define END (ALL | POLLHUP | POLLRDHUP)
#define R SYSIPC_KICK_READ
#define W SYSIPC_KICK_WRITE

static void test_readiness(void)
{
	struct pair p;
	int side;

	make_pair(&p);
	for (side = 0; side < 2; side++) {
		int fd = p.fd[side], other = !side;

		CHECK_EQ(poll_now(fd, ALL | POLLRDHUP | POLLPRI), ALL);
		arm(&p, side, 1, 0);
		CHECK_EQ(poll_now(fd, ALL), OUT);
		arm(&p, side, 0, 1);
		CHECK_EQ(poll_now(fd, ALL), IN);
		arm(&p, side, 1, 1);
		CHECK_EQ(poll_now(fd, ALL), 0);
		/* The other one's words and kicks are another matter. */
		CHECK_EQ(poll_now(p.fd[other], ALL), ALL);
		kick(&p, side, R | W);
		CHECK_EQ(poll_now(fd, ALL), 0);

		kick(&p, other, R);
		CHECK_EQ(poll_now(fd, ALL), IN);
		CHECK_EQ(poll_now(fd, ALL), IN); /* stays so */
		kick(&p, other, W);
		CHECK_EQ(poll_now(fd, ALL), ALL);
		arm(&p, side, 3, 1);
		CHECK_EQ(poll_now(fd, ALL), OUT);
		arm(&p, side, 4, 3);
		CHECK_EQ(poll_now(fd, ALL), IN);

		/* A kick of a word that is not armed does not count for the next value. */
		arm(&p, side, 6, 6);
		kick(&p, other, R | W);
		CHECK_EQ(poll_now(fd, ALL), ALL);
		arm(&p, side, 7, 7);
		CHECK_EQ(poll_now(fd, ALL), 0);
		kick(&p, other, R | W | SYSIPC_KICK_SYNC);
		CHECK_EQ(poll_now(fd, ALL), ALL);

		/* All 64 bits count, and the extremes are nothing special. */
		arm(&p, side, 7 | 1ULL << 63, 7 | 1ULL << 32);
		CHECK_EQ(poll_now(fd, ALL), 0);
		arm(&p, side, ~0ULL, ~0ULL);
		CHECK_EQ(poll_now(fd, ALL), 0);
		kick(&p, other, R | W);
		CHECK_EQ(poll_now(fd, ALL), ALL);
		arm(&p, side, ~0ULL - 1, 1ULL << 63);
		CHECK_EQ(poll_now(fd, ALL), ALL);
		arm(&p, side, 0, 0);
	}
}

static void test_words_at_the_end(void)
{
	struct sysipc_create arg = arguments(3 * page(), 3 * page());
	int device = open_device();
	char *own;

	arg.read_word = (uint32_t)(3 * page() - 8);
	arg.write_word = (uint32_t)(2 * page());
	REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
	own = map_own(arg.fd[1], 3);
	REQUIRE(own != MAP_FAILED);
	CHECK_EQ(poll_now(arg.fd[1], ALL), ALL);
	*word_at(own, arg.read_word) = 1;
	CHECK_EQ(poll_now(arg.fd[1], ALL), OUT);
	*word_at(own, arg.write_word) = 1;
	CHECK_EQ(poll_now(arg.fd[1], ALL), 0);
	CHECK_EQ(ioctl(arg.fd[0], SYSIPC_IOC_KICK, W), 0);
	CHECK_EQ(poll_now(arg.fd[1], ALL), OUT);
}

static void test_counters(void)
{
	struct pair p;
	struct pollfd both;
	int i;

	make_pair(&p);
	CHECK_EQ(poll_now(p.fd[0], ALL), ALL);
	CHECK_EQ(info_of(p.fd[0]).waits, 0);
	arm(&p, 0, 1, 0);
	CHECK_EQ(poll_now(p.fd[0], POLLIN), 0);
	CHECK_EQ(info_of(p.fd[0]).waits, 1);
	CHECK_EQ(poll_now(p.fd[0], POLLOUT), POLLOUT);
	CHECK_EQ(info_of(p.fd[0]).waits, 1);
	for (i = 0; i < 10; i++)
		kick(&p, 1, R);
	CHECK_EQ(info_of(p.fd[1]).kicks, 10);
	CHECK_EQ(info_of(p.fd[0]).kicks, 0);
	arm(&p, 0, 3, 3);
	both.fd = p.fd[0];
	both.events = ALL;
	CHECK_EQ(poll(&both, 1, 50), 0);
	CHECK(info_of(p.fd[0]).waits >= 2);
	CHECK_EQ(info_of(p.fd[1]).waits, 0);
}

/* ------------------------------------------------------------------------- */
/* One who sleeps, in each of the ways there are. */

enum how { BY_POLL, BY_SELECT, BY_EPOLL, BY_EPOLL_ET, BY_EPOLL_ONESHOT, BY_EPOLL_EXCLUSIVE, HOWS,
	   BY_ASIO = HOWS };

static const char *const how_names[HOWS + 1] = {
	"poll", "select", "epoll", "epoll ET", "epoll ONESHOT", "epoll EXCLUSIVE",
	"epoll ET with MOD",
};

struct sleeper {
	int fd;
	enum how how;
	short events; /* POLLIN, POLLOUT */
	int timeout;
	int epoll; /* -1: one of its own */
	/* results */
	int revents;
	double when;
	pthread_t thread;
	volatile int done;
};

static int wait_once(struct sleeper *s)
{
	struct epoll_event ev = { .events = (uint32_t)s->events };
	struct pollfd p = { .fd = s->fd, .events = s->events };
	struct timeval tv = { s->timeout / 1000, s->timeout % 1000 * 1000 };
	fd_set in, out;
	int ep, n;

	switch (s->how) {
	case BY_POLL:
		n = poll(&p, 1, s->timeout);
		return n > 0 ? p.revents : n;
	case BY_SELECT:
		FD_ZERO(&in);
		FD_ZERO(&out);
		if (s->events & POLLIN)
			FD_SET(s->fd, &in);
		if (s->events & POLLOUT)
			FD_SET(s->fd, &out);
		n = select(s->fd + 1, &in, &out, NULL, &tv);
		if (n <= 0)
			return n;
		return (FD_ISSET(s->fd, &in) ? POLLIN : 0) | (FD_ISSET(s->fd, &out) ? POLLOUT : 0);
	default:
		break;
	}
	if (s->how == BY_EPOLL_ET)
		ev.events |= EPOLLET;
	if (s->how == BY_EPOLL_ONESHOT)
		ev.events |= EPOLLONESHOT;
	if (s->how == BY_EPOLL_EXCLUSIVE)
		ev.events |= EPOLLEXCLUSIVE;
	ep = epoll_create1(EPOLL_CLOEXEC);
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, s->fd, &ev))
		return -1;
	n = epoll_wait(ep, &ev, 1, s->timeout);
	close(ep);
	return n > 0 ? (int)ev.events : n;
}

static void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	s->revents = wait_once(s);
	s->when = now();
	s->done = 1;
	return NULL;
}

/* Starts it, and waits until it sleeps. */
static void go_to_sleep(struct sleeper *s)
{
	uint64_t waits = info_of(s->fd).waits;
	double end = now() + 5;

	s->done = 0;
	REQUIRE(pthread_create(&s->thread, NULL, sleeper_main, s) == 0);
	while (info_of(s->fd).waits == waits && now() < end)
		sleep_ms(1);
	CHECK(info_of(s->fd).waits > waits);
	sleep_ms(20);
	CHECK(!s->done);
}

static int join(struct sleeper *s)
{
	CHECK_EQ(pthread_join(s->thread, NULL), 0);
	return s->revents;
}

static void test_wakes(void)
{
	struct pair p;
	uint64_t w = 1;
	int how;

	make_pair(&p);
	for (how = 0; how < HOWS; how++) {
		struct sleeper s = { .fd = p.fd[0], .how = (enum how)how, .timeout = 10000 };
		int before = ktap_failures;

		s.events = POLLIN;
		w += 2;
		arm(&p, 0, w, w);
		go_to_sleep(&s);
		kick(&p, 1, R);
		CHECK_EQ(join(&s), POLLIN);

		s.events = POLLOUT;
		w += 2;
		arm(&p, 0, w, w);
		go_to_sleep(&s);
		kick(&p, 1, W | SYSIPC_KICK_SYNC);
		CHECK_EQ(join(&s), POLLOUT);

		s.events = POLLIN | POLLOUT;
		w += 2;
		arm(&p, 0, w, w);
		go_to_sleep(&s);
		kick(&p, 1, W);
		CHECK_EQ(join(&s), POLLOUT);
		if (ktap_failures > before)
			ktap_note("by %s", how_names[how]);
	}
}

/* Neither data, nor other kicks, nor an even word without a kick. */
static void test_does_not_wake(void)
{
	struct pair p;
	uint64_t w = 1;
	int how;

	make_pair(&p);
	for (how = 0; how < HOWS; how++) {
		struct sleeper s = { .fd = p.fd[0], .how = (enum how)how, .timeout = 300 };
		int before = ktap_failures;

		s.events = POLLIN;
		w += 2;
		arm(&p, 0, w, w);
		go_to_sleep(&s);
		*word_at(p.own[1], 0) += 1;
		*word_at(p.own[1], READ_WORD) += 1;
		kick(&p, 1, W); /* for the other word */
		kick(&p, 0, R | W); /* for the other side */
		CHECK_EQ(join(&s), 0);

		s.events = POLLOUT;
		w += 2;
		arm(&p, 0, w, w);
		go_to_sleep(&s);
		kick(&p, 1, R);
		CHECK_EQ(join(&s), 0);
		if (ktap_failures > before)
			ktap_note("by %s", how_names[how]);
	}
}

/* A combined kick reaches two exclusive waiters who want different things. */
static void test_combined_kick(void)
{
	struct pair p;
	int round;

	make_pair(&p);
	for (round = 0; round < 4; round++) {
		struct sleeper s[2] = {
			{ .fd = p.fd[0], .how = BY_EPOLL_EXCLUSIVE, .timeout = 5000 },
			{ .fd = p.fd[0], .how = BY_EPOLL_EXCLUSIVE, .timeout = 5000 },
		};

		s[0].events = round % 2 ? POLLIN : POLLOUT;
		s[1].events = round % 2 ? POLLOUT : POLLIN;
		arm(&p, 0, 2 * round + 1, 2 * round + 1);
		go_to_sleep(&s[0]);
		go_to_sleep(&s[1]);
		kick(&p, 1, R | W);
		CHECK_EQ(join(&s[0]), s[0].events);
		CHECK_EQ(join(&s[1]), s[1].events);
	}
}

static int wait_epoll(int ep, int timeout)
{
	struct epoll_event ev[2];
	int n = epoll_wait(ep, ev, 2, timeout);

	CHECK(n >= 0 && n <= 1);
	return n > 0 ? (int)ev[0].events : n;
}

static void control(int ep, int op, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };

	CHECK_EQ(epoll_ctl(ep, op, fd, &ev), 0);
}

static void test_epoll_level(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct pair p;

	make_pair(&p);
	arm(&p, 0, 1, 1);
	control(ep, EPOLL_CTL_ADD, p.fd[0], EPOLLIN | EPOLLOUT);
	CHECK_EQ(wait_epoll(ep, 0), 0);
	kick(&p, 1, R);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN);
	kick(&p, 1, W);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN | EPOLLOUT);
	arm(&p, 0, 3, 3);
	CHECK_EQ(wait_epoll(ep, 50), 0);
	kick(&p, 1, W);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLOUT);
	ioctl(p.fd[1], SYSIPC_IOC_SHUTDOWN);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN | EPOLLOUT | EPOLLHUP);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN | EPOLLOUT | EPOLLHUP);
}

static void test_epoll_edge(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), i;
	const uint32_t both = EPOLLIN | EPOLLOUT | EPOLLET;
	struct pair p;

	make_pair(&p);
	control(ep, EPOLL_CTL_ADD, p.fd[0], both);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN | EPOLLOUT);
	CHECK_EQ(wait_epoll(ep, 50), 0);
	for (i = 0; i < 10; i++) {
		arm(&p, 0, 4 * i + 1, 4 * i + 1);
		CHECK_EQ(wait_epoll(ep, 0), 0);
		kick(&p, 1, R);
		CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN);
		CHECK_EQ(wait_epoll(ep, 10), 0);
		/* What Asio does: ask again, and be told at once if it is so already. */
		control(ep, EPOLL_CTL_MOD, p.fd[0], both);
		CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN);
		arm(&p, 0, 4 * i + 3, 4 * i + 3);
		control(ep, EPOLL_CTL_MOD, p.fd[0], both);
		CHECK_EQ(wait_epoll(ep, 10), 0);
		kick(&p, 1, W);
		control(ep, EPOLL_CTL_MOD, p.fd[0], both);
		CHECK_EQ(wait_epoll(ep, 5000), EPOLLOUT);
	}
	arm(&p, 0, 101, 101);
	ioctl(p.fd[1], SYSIPC_IOC_SHUTDOWN);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN | EPOLLOUT | EPOLLHUP);
	CHECK_EQ(wait_epoll(ep, 10), 0);
}

static void test_epoll_oneshot(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	const uint32_t once = EPOLLIN | EPOLLONESHOT;
	struct pair p;

	make_pair(&p);
	arm(&p, 0, 1, 0);
	control(ep, EPOLL_CTL_ADD, p.fd[0], once);
	CHECK_EQ(wait_epoll(ep, 10), 0);
	kick(&p, 1, R);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN);
	kick(&p, 1, R);
	CHECK_EQ(wait_epoll(ep, 10), 0);
	control(ep, EPOLL_CTL_MOD, p.fd[0], once);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN);
	arm(&p, 0, 3, 0);
	control(ep, EPOLL_CTL_MOD, p.fd[0], once);
	CHECK_EQ(wait_epoll(ep, 10), 0);
	kick(&p, 1, R);
	CHECK_EQ(wait_epoll(ep, 5000), EPOLLIN);
}

/* Two epolls with EPOLLEXCLUSIVE: a kick wakes at least one, the end both. */
static void test_epoll_exclusive(void)
{
	struct pair p;
	int round;

	make_pair(&p);
	for (round = 0; round < 2; round++) {
		struct sleeper s[2] = {
			{ .fd = p.fd[0], .how = BY_EPOLL_EXCLUSIVE, .events = POLLIN },
			{ .fd = p.fd[0], .how = BY_EPOLL_EXCLUSIVE, .events = POLLIN },
		};

		s[0].timeout = s[1].timeout = round ? 10000 : 300;
		arm(&p, 0, 2 * round + 1, 0);
		go_to_sleep(&s[0]);
		go_to_sleep(&s[1]);
		if (round == 0) {
			kick(&p, 1, R);
			CHECK((join(&s[0]) == POLLIN) + (join(&s[1]) == POLLIN) >= 1);
		} else {
			ioctl(p.fd[1], SYSIPC_IOC_SHUTDOWN);
			CHECK_EQ(join(&s[0]), POLLIN | POLLHUP);
			CHECK_EQ(join(&s[1]), POLLIN | POLLHUP);
		}
	}
}

/* ------------------------------------------------------------------------- */
/* The end */

enum end { END_CLOSE, END_SHUTDOWN, END_OWN_SHUTDOWN, END_EXIT, END_KILL, END_EXEC, ENDS };

static const char *const end_names[ENDS] = { "close", "shutdown", "own shutdown", "exit",
					     "kill -9", "exec" };

/* A process that has side 1, with a mapping, and waits to be ended. */
static pid_t start_holder(int fd[2], int to_child[2])
{
	int ready[2];
	char byte;
	pid_t pid;

	REQUIRE(pipe2(to_child, O_CLOEXEC) == 0 && pipe2(ready, O_CLOEXEC) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		close(fd[0]);
		close(to_child[1]);
		if (map_own(fd[1], 1) == MAP_FAILED || map_peer(fd[1], 1) == MAP_FAILED)
			_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		if (read(to_child[0], &byte, 1) != 1)
			_exit(1);
		if (byte == 'x') {
			/* What it had is gone, but it lives on. */
			execl("/proc/self/exe", "poll", "--wait", NULL);
			_exit(1);
		}
		_exit(0);
	}
	close(fd[1]);
	REQUIRE(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	close(to_child[0]);
	return pid;
}

static void test_hang_up(void)
{
	int how, end, status;

	for (end = 0; end < ENDS; end++)
		for (how = 0; how < HOWS; how++) {
			struct sleeper s = { .how = (enum how)how, .timeout = 10000 };
			int fd[2], to_child[2], before = ktap_failures, expected;
			pid_t pid = 0;
			double start;
			char *own;

			make_channel(1, fd);
			if (end >= END_EXIT)
				pid = start_holder(fd, to_child);
			own = map_own(fd[0], 1);
			REQUIRE(own != MAP_FAILED);
			*word_at(own, READ_WORD) = *word_at(own, WRITE_WORD) = 1;
			s.fd = fd[0];
			s.events = end % 2 ? POLLIN : POLLOUT;
			expected = s.events | (how == BY_SELECT ? 0 : POLLHUP);
			go_to_sleep(&s);
			start = now();
			if (end == END_CLOSE)
				close(fd[1]);
			else if (end == END_SHUTDOWN)
				CHECK_EQ(ioctl(fd[1], SYSIPC_IOC_SHUTDOWN), 0);
			else if (end == END_OWN_SHUTDOWN)
				CHECK_EQ(ioctl(fd[0], SYSIPC_IOC_SHUTDOWN), 0);
			else if (end == END_EXIT)
				CHECK_EQ(write(to_child[1], "", 1), 1);
			else if (end == END_KILL)
				CHECK_EQ(kill(pid, SIGKILL), 0);
			else
				CHECK_EQ(write(to_child[1], "x", 1), 1);
			CHECK_EQ(join(&s), expected);
			CHECK(s.when - start < 5);
			CHECK_EQ(poll_now(fd[0], ALL | POLLRDHUP), END);
			CHECK_EQ(poll_now(fd[0], 0), POLLHUP);
			if (end == END_SHUTDOWN || end == END_OWN_SHUTDOWN) {
				CHECK_EQ(poll_now(fd[1], ALL | POLLRDHUP), END);
				close(fd[1]);
			}
			if (end == END_EXEC)
				CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
			if (pid) {
				close(to_child[1]);
				kill(pid, SIGKILL);
				waitpid(pid, &status, 0);
			}
			close(fd[0]);
			munmap(own, page());
			if (ktap_failures > before)
				ktap_note("%s, waiting by %s", end_names[end], how_names[how]);
		}
	nothing_left();
}

/* Four things that each keep side 1 open, given up in every order. */
static void test_references(void)
{
	int order;

	for (order = 0; order < 256; order++) {
		const int step[4] = { order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6 };
		int fd[2], copy, sock[2], i;
		char *map;

		if ((1 << step[0] | 1 << step[1] | 1 << step[2] | 1 << step[3]) != 15)
			continue;
		make_channel(1, fd);
		copy = dup(fd[1]);
		map = order & 1 ? map_own(fd[1], 1) : map_peer(fd[1], 1);
		REQUIRE(copy >= 0 && map != MAP_FAILED);
		REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, sock) == 0);
		REQUIRE(send_fd(sock[0], fd[1]));
		for (i = 0; i < 4; i++) {
			CHECK_EQ(poll_now(fd[0], ALL | POLLRDHUP), ALL);
			CHECK_EQ(info_of(fd[0]).state, 0);
			if (step[i] == 0)
				close(fd[1]);
			else if (step[i] == 1)
				close(copy);
			else if (step[i] == 2)
				munmap(map, page());
			else if (order & 2)
				close(receive_fd(sock[1])); /* taken and closed */
			else
				close(sock[1]); /* thrown away unread */
		}
		for (i = 0; i < 500 && !(poll_now(fd[0], 0) & POLLHUP); i++)
			sleep_ms(10);
		CHECK_EQ(poll_now(fd[0], ALL | POLLRDHUP), END);
		CHECK_EQ(info_of(fd[0]).state, SYSIPC_STATE_PEER_GONE);
		close(fd[0]);
		close(sock[0]);
		if (order & 2)
			close(sock[1]);
	}
	nothing_left();
}

/* Both sides polled by two epolls; everything closed or removed in every order. */
static void test_close_orders(void)
{
	int order;

	for (order = 0; order < 256; order++) {
		const int step[4] = { order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6 };
		int ep[2], i, side;
		struct pair p;

		if ((1 << step[0] | 1 << step[1] | 1 << step[2] | 1 << step[3]) != 15)
			continue;
		make_pair(&p);
		arm(&p, 0, 1, 1);
		arm(&p, 1, 1, 1);
		for (i = 0; i < 2; i++) {
			ep[i] = epoll_create1(EPOLL_CLOEXEC);
			for (side = 0; side < 2; side++)
				control(ep[i], EPOLL_CTL_ADD, p.fd[side],
					EPOLLIN | (i ? EPOLLET : 0));
		}
		for (side = 0; side < 2; side++)
			munmap(p.own[side], page());
		for (i = 0; i < 4; i++) {
			struct epoll_event ev[4];

			if (step[i] < 2)
				close(p.fd[step[i]]);
			else if (order & 1)
				close(ep[step[i] - 2]);
			else
				for (side = 0; side < 2; side++)
					epoll_ctl(ep[step[i] - 2], EPOLL_CTL_DEL, p.fd[side], ev);
			if (!(order & 1))
				epoll_wait(ep[0], ev, 4, 0);
		}
		for (i = 0; i < 2; i++)
			close(ep[i]);
	}
	nothing_left();
}

/* A child that inherited the descriptor keeps the side open. */
static void test_fork_survives(void)
{
	int fd[2], gate[2];
	pid_t pid;
	char byte;

	make_channel(1, fd);
	REQUIRE(pipe(gate) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		close(gate[1]);
		close(fd[0]);
		_exit(read(gate[0], &byte, 1) != 0);
	}
	close(fd[1]);
	sleep_ms(50);
	CHECK_EQ(poll_now(fd[0], ALL), ALL);
	close(gate[1]);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK_EQ(poll_now(fd[0], ALL | POLLRDHUP), END);
}

/* Polls that are not a thread's: they outlive the call that began them. */
static void test_aio_poll(void)
{
	int round;

	for (round = 0; round < 6; round++) {
		aio_context_t context = 0;
		struct iocb iocb = { .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = POLLIN };
		struct iocb *list[1] = { &iocb };
		struct timespec limit = { 5, 0 };
		struct io_event event;
		struct pair p;

		make_pair(&p);
		arm(&p, 0, 1, 1);
		if (syscall(SYS_io_setup, 4, &context))
			SKIP("no aio");
		iocb.aio_fildes = (uint32_t)p.fd[0];
		if (syscall(SYS_io_submit, context, 1, list) != 1)
			SKIP("no polling by aio");
		if (round == 0)
			kick(&p, 1, R);
		else if (round == 1)
			ioctl(p.fd[1], SYSIPC_IOC_SHUTDOWN);
		else if (round == 2)
			ioctl(p.fd[0], SYSIPC_IOC_SHUTDOWN);
		munmap(p.own[0], page());
		munmap(p.own[1], page());
		if (round != 4)
			close(p.fd[0]);
		if (round != 5)
			close(p.fd[1]);
		if (round <= 4) {
			CHECK_EQ(syscall(SYS_io_getevents, context, 1, 1, &event, &limit), 1);
			CHECK(event.res & POLLIN);
		}
		syscall(SYS_io_destroy, context);
		if (round == 4)
			close(p.fd[0]);
		if (round == 5)
			close(p.fd[1]);
	}
	nothing_left();
}

/* ------------------------------------------------------------------------- */
/*
 * Many cycles of the protocol: the producer publishes a number, the consumer
 * wants to see each. Whoever has nothing to do sleeps. A wake-up that is lost
 * shows as a sleep of ten seconds.
 */

#define TAIL_WORD 512
#define HEAD_WORD 640
#define DEADLINE 10000

struct end_point {
	int fd;
	int side;
	enum how how;
	int epoll;
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

static bool attach(struct end_point *e, int fd, int side, enum how how)
{
	uint32_t both = EPOLLIN | EPOLLOUT | EPOLLET;
	struct epoll_event ev = { .events = both };

	memset(e, 0, sizeof(*e));
	e->fd = fd;
	e->side = side;
	e->how = how;
	e->random = 88172645463325252ULL + (uint64_t)side;
	e->own = map_own(fd, 1);
	e->peer = map_peer(fd, 1);
	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (how == BY_EPOLL)
		ev.events = EPOLLIN | EPOLLOUT;
	return e->own != MAP_FAILED && e->peer != MAP_FAILED && e->epoll >= 0 &&
	       epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &ev) == 0;
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

/* Waits for the descriptor; false after ten seconds. */
static bool wait_fd(struct end_point *e, int which, bool again)
{
	short events = which ? POLLOUT : POLLIN;
	struct pollfd p = { .fd = e->fd, .events = events };
	struct timeval tv = { DEADLINE / 1000, 0 };
	struct epoll_event ev;
	fd_set set;

	switch (e->how) {
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

struct consumer {
	struct end_point e;
	unsigned long count;
	bool ok;
};

static void *consumer_main(void *arg)
{
	struct consumer *c = arg;

	c->ok = consume(&c->e, c->count);
	return NULL;
}

static void run_cycles(enum how how, bool processes, uint64_t window, bool sync)
{
	struct consumer c = { .count = cycles };
	struct end_point e;
	int fd[2], status = 0;
	double start = now();
	pthread_t thread;
	pid_t pid = 0;

	make_channel(1, fd);
	if (processes) {
		pid = fork();
		REQUIRE(pid >= 0);
		if (!pid) {
			close(fd[0]);
			REQUIRE(attach(&c.e, fd[1], 1, how));
			c.e.sync = sync;
			CHECK(consume(&c.e, cycles));
			_exit(ktap_failures ? 1 : 0);
		}
		close(fd[1]);
	} else {
		REQUIRE(attach(&c.e, fd[1], 1, how));
		c.e.sync = sync;
		REQUIRE(pthread_create(&thread, NULL, consumer_main, &c) == 0);
	}
	REQUIRE(attach(&e, fd[0], 0, how));
	e.window = window;
	e.sync = sync;
	CHECK(produce(&e, cycles));
	if (processes) {
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	} else {
		pthread_join(thread, NULL);
		CHECK(c.ok);
	}
	ktap_note("%s, %s, window %llu: %lu cycles in %.1f s, producer slept %lu times, "
		  "%lu for nothing, kicked %lu times", how_names[how],
		  processes ? "processes" : "threads", (unsigned long long)window, cycles,
		  now() - start, e.sleeps, e.spurious, e.kicks);
}

static void test_cycles_poll(void)
{
	run_cycles(BY_POLL, true, 1, false);
}

static void test_cycles_poll_sync(void)
{
	run_cycles(BY_POLL, true, 1, true);
}

static void test_cycles_poll_stream(void)
{
	run_cycles(BY_POLL, false, 4, false);
}

static void test_cycles_select(void)
{
	run_cycles(BY_SELECT, false, 2, false);
}

static void test_cycles_epoll(void)
{
	run_cycles(BY_EPOLL, true, 2, false);
}

static void test_cycles_edge(void)
{
	run_cycles(BY_EPOLL_ET, true, 1, false);
}

static void test_cycles_asio(void)
{
	run_cycles(BY_ASIO, true, 1, true);
}

static void test_cycles_asio_stream(void)
{
	run_cycles(BY_ASIO, false, 16, false);
}

static const struct ktap_test tests[] = {
	{ "readiness", test_readiness },
	{ "words_at_the_end", test_words_at_the_end },
	{ "counters", test_counters },
	{ "wakes", test_wakes },
	{ "does_not_wake", test_does_not_wake },
	{ "combined_kick", test_combined_kick },
	{ "epoll_level", test_epoll_level },
	{ "epoll_edge", test_epoll_edge },
	{ "epoll_oneshot", test_epoll_oneshot },
	{ "epoll_exclusive", test_epoll_exclusive },
	{ "hang_up", test_hang_up },
	{ "references", test_references },
	{ "close_orders", test_close_orders },
	{ "fork_survives", test_fork_survives },
	{ "aio_poll", test_aio_poll },
	{ "cycles_poll", test_cycles_poll, 1800 },
	{ "cycles_poll_sync", test_cycles_poll_sync, 1800 },
	{ "cycles_poll_stream", test_cycles_poll_stream, 1800 },
	{ "cycles_select", test_cycles_select, 1800 },
	{ "cycles_epoll", test_cycles_epoll, 1800 },
	{ "cycles_edge", test_cycles_edge, 1800 },
	{ "cycles_asio", test_cycles_asio, 1800 },
	{ "cycles_asio_stream", test_cycles_asio_stream, 1800 },
};

int main(int argc, char **argv)
{
	int option;

	if (argc > 1 && !strcmp(argv[1], "--wait")) {
		pause();
		return 0;
	}
	while ((option = getopt(argc, argv, "n:f:")) != -1) {
		if (option == 'n')
			cycles = strtoul(optarg, NULL, 0);
		else if (option == 'f')
			missing_fence = atoi(optarg);
		else
			return 2;
	}
	return ktap_run(tests, LENGTH(tests), optind < argc ? argv[optind] : NULL);
}
