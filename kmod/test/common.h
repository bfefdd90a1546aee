/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of the driver share. */
#ifndef COMMON_H
#define COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sysipc.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "ktap.h"

#define DEVICE "/dev/sysipc"
#define PARAMETERS "/sys/module/sysipc/parameters/"
#define READ_WORD 128
#define WRITE_WORD 256
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef volatile uint64_t word_t;

static inline size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static inline double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static inline void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static inline unsigned long long get_param(const char *name)
{
	char path[256];
	unsigned long long value = ~0ULL;
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "r");
	if (!file)
		return value;
	if (fscanf(file, "%llu", &value) != 1)
		value = ~0ULL;
	fclose(file);
	return value;
}

static inline bool set_param(const char *name, unsigned long long value)
{
	char path[256];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "w");
	if (!file)
		return false;
	ok = fprintf(file, "%llu\n", value) > 0;
	return !fclose(file) && ok;
}

static inline int open_device(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		ktap_note(DEVICE ": %s", strerror(errno));
		exit(errno == ENOENT ? KTAP_SKIP : KTAP_FAIL);
	}
	return fd;
}

static inline struct sysipc_create arguments(uint64_t bytes0, uint64_t bytes1)
{
	struct sysipc_create arg;

	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.segment_bytes[0] = bytes0;
	arg.segment_bytes[1] = bytes1;
	arg.read_word = READ_WORD;
	arg.write_word = WRITE_WORD;
	arg.fd[0] = arg.fd[1] = -1;
	return arg;
}

/* A channel with this many pages on each side. */
static inline void make_channel(size_t pages, int fd[2])
{
	struct sysipc_create arg = arguments(pages * page(), pages * page());
	int device = open_device();

	REQUIRE(ioctl(device, SYSIPC_IOC_CREATE, &arg) == 0);
	close(device);
	fd[0] = arg.fd[0];
	fd[1] = arg.fd[1];
}

static inline void *map_own(int fd, size_t pages)
{
	return mmap(NULL, pages * page(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static inline void *map_peer(int fd, size_t pages)
{
	return mmap(NULL, pages * page(), PROT_READ, MAP_SHARED, fd, (off_t)SYSIPC_MMAP_PEER);
}

static inline word_t *word_at(void *segment, size_t offset)
{
	return (word_t *)(void *)((char *)segment + offset);
}

static inline struct sysipc_info info_of(int fd)
{
	struct sysipc_info info;

	memset(&info, 0xff, sizeof(info));
	info.size = sizeof(info);
	CHECK_EQ(ioctl(fd, SYSIPC_IOC_INFO, &info), 0);
	return info;
}

static inline short poll_now(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	CHECK(poll(&p, 1, 0) >= 0);
	return p.revents;
}

static inline int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	REQUIRE(dir != NULL);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Becomes an ordinary user for good. What is open stays so. */
static inline void drop_privileges(uid_t uid)
{
	REQUIRE(setgroups(0, NULL) == 0);
	REQUIRE(setresgid(uid, uid, uid) == 0);
	REQUIRE(setresuid(uid, uid, uid) == 0);
}

/* Runs part of a test in a child; its failures are failures of the test. */
#define IN_CHILD(...)                                                           \
	do {                                                                    \
		int child_status = 0;                                           \
		pid_t child_pid;                                                \
		fflush(stdout);                                                 \
		child_pid = fork();                                             \
		REQUIRE(child_pid >= 0);                                        \
		if (!child_pid) {                                               \
			ktap_failures = 0;                                      \
			__VA_ARGS__;                                            \
			fflush(stdout);                                         \
			_exit(ktap_failures ? 1 : 0);                           \
		}                                                               \
		REQUIRE(waitpid(child_pid, &child_status, 0) == child_pid);     \
		CHECK_EQ(child_status, 0);                                      \
	} while (0)

/* Files are released a little after they are closed. */
static inline bool all_released(void)
{
	double end = now() + 5;

	do {
		if (!get_param("live_channels") && !get_param("live_pages"))
			return true;
		sleep_ms(10);
	} while (now() < end);
	return false;
}

static inline void nothing_left(void)
{
	CHECK(all_released());
	CHECK_EQ(get_param("live_channels"), 0);
	CHECK_EQ(get_param("live_pages"), 0);
}

/* Sends or receives one descriptor. */
static inline bool send_fd(int sock, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	memset(&control, 0, sizeof(control));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == 1;
}

static inline int receive_fd(int sock)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

#endif
