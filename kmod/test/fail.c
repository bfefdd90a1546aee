// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every user copy of a call fails once. Needs a kernel with
 * fault injection (FAILSLAB, FAIL_PAGE_ALLOC, FAULT_INJECTION_USERCOPY); else skipped.
 */

#include "common.h"

#define DEBUG "/sys/kernel/debug/"

static int nth_fd = -1;
static int fd[2]; /* a channel's endpoints, where the call needs one */

static bool write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	close(file);
	return ok;
}

static void prepare(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		SKIP("no fault injection in this kernel");
	/* Else only what may not sleep fails, and only several pages at once. */
	CHECK(write_text(DEBUG "failslab/ignore-gfp-wait", "N"));
	CHECK(write_text(DEBUG "fail_page_alloc/ignore-gfp-wait", "N"));
	CHECK(write_text(DEBUG "fail_page_alloc/min-order", "0"));
}

static void set_nth(int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", n);

	/* The failure that is due may hit this very call. */
	while (write(nth_fd, text, (size_t)length) != length)
		;
}

/* Whether the n-th has come. */
static bool fired(void)
{
	char text[16] = "";

	while (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		;
	return atoi(text) == 0;
}

/* call() gives 0, or -1 and errno, and leaves nothing if it failed. */
static void fail_each(const char *name, int (*call)(void), void (*undo)(void))
{
	int fds = count_fds(), failed = 0, n;
	unsigned long long channels = get_param("live_channels"), pages = get_param("live_pages");

	for (n = 1; n < 5000; n++) {
		int result, error;
		bool hit;

		set_nth(n);
		errno = 0;
		result = call();
		error = errno;
		hit = fired();
		set_nth(0);
		if (result == 0)
			undo();
		else if (!CHECK(error == ENOMEM || error == EFAULT || error == ENFILE ||
				error == EMFILE))
			ktap_note("%s, failure %d: errno %d", name, n, error);
		failed += result != 0;
		if (!CHECK_EQ(count_fds(), fds))
			break;
		if (!hit)
			break;
	}
	ktap_note("%s: %d points of failure, %d of them failed the call", name, n - 1, failed);
	CHECK(n < 5000);
	/* Files are released a little later. */
	for (n = 0; n < 500 && (get_param("live_channels") != channels ||
				get_param("live_pages") != pages); n++)
		sleep_ms(10);
	CHECK_EQ(get_param("live_channels"), channels);
	CHECK_EQ(get_param("live_pages"), pages);
}

static void nothing(void)
{
}

static int device;
static struct sysipc_create created;

static int create(void)
{
	created = arguments(3 * page(), 17 * page());
	return ioctl(device, SYSIPC_IOC_CREATE, &created);
}

static void close_created(void)
{
	close(created.fd[0]);
	close(created.fd[1]);
}

static void test_create(void)
{
	prepare();
	device = open_device();
	fail_each("CREATE", create, close_created);
}

static int query(void)
{
	struct sysipc_query q = { .size = sizeof(q) };

	return ioctl(device, SYSIPC_IOC_QUERY, &q);
}

static void test_query(void)
{
	prepare();
	device = open_device();
	fail_each("QUERY", query, nothing);
}

static int info(void)
{
	struct sysipc_info i = { .size = sizeof(i) };

	return ioctl(fd[0], SYSIPC_IOC_INFO, &i);
}

static void test_info(void)
{
	make_channel(1, fd);
	prepare();
	fail_each("INFO", info, nothing);
}

static void *mapped;

static int map(void)
{
	mapped = map_own(fd[0], 600); /* more than one page table */
	return mapped == MAP_FAILED ? -1 : 0;
}

static void unmap(void)
{
	munmap(mapped, 600 * page());
}

static void test_mmap(void)
{
	make_channel(600, fd);
	prepare();
	fail_each("mmap", map, unmap);
	/* Whatever was mapped halfway is gone. */
	CHECK_EQ(map(), 0);
	unmap();
}

static int poll_both(void)
{
	struct pollfd p[2] = { { .fd = fd[0], .events = POLLIN }, { .fd = fd[1], .events = POLLOUT } };

	return poll(p, 2, 0) < 0 ? -1 : 0;
}

static void test_poll(void)
{
	make_channel(1, fd);
	prepare();
	fail_each("poll", poll_both, nothing);
}

static int kick(void)
{
	return ioctl(fd[0], SYSIPC_IOC_KICK, SYSIPC_KICK_READ | SYSIPC_KICK_WRITE);
}

static void test_kick(void)
{
	make_channel(1, fd);
	prepare();
	fail_each("KICK", kick, nothing);
}

static const struct ktap_test tests[] = {
	{ "create", test_create, 300 }, { "query", test_query },
	{ "info", test_info },		{ "mmap", test_mmap, 300 },
	{ "poll", test_poll },		{ "kick", test_kick },
	{ "nothing_left", nothing_left },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, LENGTH(tests), argc > 1 ? argv[1] : NULL);
}
