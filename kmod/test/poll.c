// SPDX-License-Identifier: GPL-2.0
/*
 * When an endpoint is ready, who is woken, and the end of the peer.
 *
 * poll [TEST]
 */

#include "uring.h"

#include <linux/aio_abi.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>

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

enum how { BY_POLL, BY_SELECT, BY_EPOLL, BY_EPOLL_ET, BY_EPOLL_ONESHOT, BY_EPOLL_EXCLUSIVE, HOWS };

static const char *const how_names[HOWS] = {
	"poll", "select", "epoll", "epoll ET", "epoll ONESHOT", "epoll EXCLUSIVE",
};

struct sleeper {
	int fd;
	enum how how;
	short events; /* POLLIN, POLLOUT */
	int timeout;
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
		struct sleeper s = { .fd = p.fd[0], .how = (enum how)how, .timeout = 10000 };
		int before = ktap_failures;

		s.events = POLLIN;
		w += 2;
		arm(&p, 0, w, w);
		go_to_sleep(&s);
		*word_at(p.own[1], 0) += 1;
		*word_at(p.own[1], READ_WORD) += 1;
		kick(&p, 1, W); /* for the other word */
		kick(&p, 0, R | W); /* for the other side */
		sleep_ms(100);
		CHECK(!s.done);
		kick(&p, 1, R);
		CHECK_EQ(join(&s), POLLIN);

		s.events = POLLOUT;
		w += 2;
		arm(&p, 0, w, w);
		go_to_sleep(&s);
		kick(&p, 1, R);
		sleep_ms(100);
		CHECK(!s.done);
		kick(&p, 1, W);
		CHECK_EQ(join(&s), POLLOUT);
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
			{ .fd = p.fd[0], .how = BY_EPOLL_EXCLUSIVE, .events = POLLIN, .timeout = 10000 },
			{ .fd = p.fd[0], .how = BY_EPOLL_EXCLUSIVE, .events = POLLIN, .timeout = 10000 },
		};

		arm(&p, 0, 2 * round + 1, 0);
		go_to_sleep(&s[0]);
		go_to_sleep(&s[1]);
		if (round == 0) {
			double end = now() + 5;

			kick(&p, 1, R);
			while (!s[0].done && !s[1].done && now() < end)
				sleep_ms(1);
			CHECK(s[0].done || s[1].done);
			kick(&p, 1, R); /* for the other, if the first was for one only */
			CHECK_EQ(join(&s[0]), POLLIN);
			CHECK_EQ(join(&s[1]), POLLIN);
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
/* io_uring */

static void make_uring(struct uring *u)
{
	if (!uring_open(u))
		SKIP("no io_uring");
}

static void expect(struct uring *u, uint64_t data, int res, unsigned int flags)
{
	struct io_uring_cqe cqe;

	if (!CHECK(uring_wait(u, 5000, &cqe)))
		return;
	CHECK_EQ(cqe.user_data, data);
	CHECK_EQ(cqe.res, res);
	CHECK_EQ(cqe.flags, flags);
}

static void expect_nothing(struct uring *u)
{
	struct io_uring_cqe cqe;

	if (!CHECK(!uring_wait(u, 50, &cqe)))
		ktap_note("data %llu, result %d", (unsigned long long)cqe.user_data, cqe.res);
}

/* Two completions, in any order: the poll's and that of its removal. */
static void remove_poll(struct uring *u, uint64_t data)
{
	struct io_uring_cqe cqe[2];
	int i;

	uring_queue(u, IORING_OP_POLL_REMOVE, -1, ~data)->addr = data;
	for (i = 0; i < 2; i++) {
		REQUIRE(uring_wait(u, 5000, &cqe[i]));
		CHECK_EQ(cqe[i].res, cqe[i].user_data == data ? -ECANCELED : 0);
		CHECK_EQ(cqe[i].flags, 0);
	}
	CHECK_EQ(cqe[0].user_data, ~cqe[1].user_data);
}

static void test_uring(void)
{
	struct uring u;
	struct pair p;

	make_uring(&u);
	make_pair(&p);
	uring_queue_poll(&u, p.fd[0], POLLIN, 0, 1);
	expect(&u, 1, POLLIN, 0); /* not armed */

	arm(&p, 0, 1, 1);
	uring_queue_poll(&u, p.fd[0], POLLIN, 0, 2);
	expect_nothing(&u);
	kick(&p, 1, W);
	expect_nothing(&u);
	kick(&p, 1, R);
	expect(&u, 2, POLLIN, 0);
	kick(&p, 1, R);
	expect_nothing(&u);

	/* Two that want different things, and two that want the same. */
	arm(&p, 0, 3, 3);
	uring_queue_poll(&u, p.fd[0], POLLIN, 0, 3);
	uring_queue_poll(&u, p.fd[0], POLLOUT, 0, 4);
	expect_nothing(&u);
	kick(&p, 1, W);
	expect(&u, 4, POLLOUT, 0);
	uring_queue_poll(&u, p.fd[0], POLLIN, 0, 3);
	expect_nothing(&u);
	kick(&p, 1, R | SYSIPC_KICK_SYNC);
	expect(&u, 3, POLLIN, 0);
	expect(&u, 3, POLLIN, 0);
	expect_nothing(&u);
}

/* POLLRDHUP is asked for: not every kernel reports it otherwise. */
static void test_uring_end(void)
{
	struct uring u;
	struct pair p;
	int end;

	make_uring(&u);
	for (end = 0; end < 3; end++) {
		make_pair(&p);
		arm(&p, 0, 1, 1);
		uring_queue_poll(&u, p.fd[0], POLLIN | POLLRDHUP, 0, 1);
		expect_nothing(&u);
		if (end == 2) {
			munmap(p.own[1], page());
			close(p.fd[1]);
		} else {
			CHECK_EQ(ioctl(p.fd[end], SYSIPC_IOC_SHUTDOWN), 0);
		}
		expect(&u, 1, POLLIN | POLLHUP | POLLRDHUP, 0);
		uring_queue_poll(&u, p.fd[0], POLLOUT | POLLRDHUP, 0, 2);
		expect(&u, 2, POLLOUT | POLLHUP | POLLRDHUP, 0);
	}
}

/* One request, and a completion for each kick. */
static void test_uring_multishot(void)
{
	const unsigned int more = IORING_CQE_F_MORE;
	struct uring u;
	struct pair p;
	uint64_t w;

	make_uring(&u);
	make_pair(&p);
	arm(&p, 0, 1, 1);
	uring_queue_poll(&u, p.fd[0], POLLIN | POLLOUT, IORING_POLL_ADD_MULTI, 1);
	expect_nothing(&u);
	for (w = 3; w < 20; w += 2) {
		arm(&p, 0, w, w);
		expect_nothing(&u);
		kick(&p, 1, w & 2 ? R : W);
		expect(&u, 1, w & 2 ? POLLIN : POLLOUT, more);
	}
	remove_poll(&u, 1);
	kick(&p, 1, R | W);
	expect_nothing(&u);
}

static void test_uring_remove(void)
{
	struct uring u;
	struct pair p;
	int i;

	make_uring(&u);
	make_pair(&p);
	arm(&p, 0, 1, 1);
	uring_queue_poll(&u, p.fd[0], POLLIN, 0, 1);
	expect_nothing(&u);
	remove_poll(&u, 1);
	uring_queue(&u, IORING_OP_POLL_REMOVE, -1, 3)->addr = 1;
	expect(&u, 3, -ENOENT, 0);
	kick(&p, 1, R | W);
	ioctl(p.fd[1], SYSIPC_IOC_SHUTDOWN);
	expect_nothing(&u);
	for (i = 0; i < 2; i++) {
		munmap(p.own[i], page());
		close(p.fd[i]);
	}
	nothing_left(); /* while the ring is still there */
}

static void uring_leave_pending(bool descriptors_first, unsigned int flags)
{
	struct uring u;
	struct pair p;
	int i;

	make_uring(&u);
	make_pair(&p);
	arm(&p, 0, 1, 1);
	uring_queue_poll(&u, p.fd[0], POLLIN, flags, 1);
	uring_submit(&u);
	for (i = 0; i < 2; i++)
		munmap(p.own[i], page());
	if (!descriptors_first)
		uring_close(&u);
	close(p.fd[0]);
	if (descriptors_first) {
		/* The request holds the file. */
		CHECK_EQ(poll_now(p.fd[1], POLLIN), POLLIN);
		uring_close(&u);
	}
	for (i = 0; i < 500 && !(poll_now(p.fd[1], 0) & POLLHUP); i++)
		sleep_ms(10);
	CHECK_EQ(poll_now(p.fd[1], 0), POLLHUP);
	close(p.fd[1]);
	nothing_left();
}

static void uring_exit_pending(bool killed)
{
	struct uring u;
	struct pair p;
	int status;
	pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (!pid) {
		make_uring(&u);
		make_pair(&p);
		arm(&p, 0, 1, 1);
		uring_queue_poll(&u, p.fd[0], POLLIN, 0, 1);
		uring_submit(&u);
		if (killed)
			kill(getpid(), SIGKILL);
		_exit(ktap_failures ? 1 : 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, killed ? SIGKILL : 0);
	nothing_left();
}

/* Whoever goes away with a poll that is pending leaves nothing behind. */
static void test_uring_pending(void)
{
	struct uring u;
	int round;

	make_uring(&u); /* or skip here, not in a child */
	uring_close(&u);
	for (round = 0; round < 4; round++)
		uring_leave_pending(round & 1, round & 2 ? IORING_POLL_ADD_MULTI : 0);
	uring_exit_pending(false);
	uring_exit_pending(true);
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
	{ "uring", test_uring },
	{ "uring_end", test_uring_end },
	{ "uring_multishot", test_uring_multishot },
	{ "uring_remove", test_uring_remove },
	{ "uring_pending", test_uring_pending },
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--wait")) {
		pause();
		return 0;
	}
	return ktap_run(tests, LENGTH(tests), argc > 1 ? argv[1] : NULL);
}
