/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests that report in KTAP. Each runs in a process of its own, which is killed
 * when it takes too long.
 */
#ifndef KTAP_H
#define KTAP_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KTAP_FAIL 1
#define KTAP_SKIP 4

struct ktap_test {
	const char *name;
	void (*run)(void);
	unsigned int seconds; /* 0: a minute */
};

static int ktap_failures;

static inline void ktap_note(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("# %s\n", text);
	fflush(stdout);
}

/* Remembers a failure and goes on. */
#define CHECK(expr)                                                             \
	({                                                                      \
		int ktap_ok = !!(expr);                                         \
		if (!ktap_ok) {                                                 \
			int ktap_errno = errno;                                 \
			__atomic_add_fetch(&ktap_failures, 1, __ATOMIC_RELAXED); \
			ktap_note("%s:%d: %s (errno %d)", __FILE__, __LINE__, #expr, \
				  ktap_errno);                                  \
		}                                                               \
		ktap_ok;                                                        \
	})

#define CHECK_EQ(value, expected)                                               \
	({                                                                      \
		long long ktap_v = (long long)(value), ktap_e = (long long)(expected); \
		int ktap_ok = ktap_v == ktap_e;                                 \
		if (!ktap_ok) {                                                 \
			__atomic_add_fetch(&ktap_failures, 1, __ATOMIC_RELAXED); \
			ktap_note("%s:%d: %s is %lld, not %s = %lld", __FILE__, __LINE__, \
				  #value, ktap_v, #expected, ktap_e);           \
		}                                                               \
		ktap_ok;                                                        \
	})

/* An expression that is to fail with this errno, as system calls do. */
#define CHECK_ERR(expr, code)                                                   \
	({                                                                      \
		errno = 0;                                                      \
		long long ktap_r = (long long)(expr);                           \
		int ktap_errno = errno, ktap_ok = ktap_r == -1 && ktap_errno == (code); \
		if (!ktap_ok) {                                                 \
			__atomic_add_fetch(&ktap_failures, 1, __ATOMIC_RELAXED); \
			ktap_note("%s:%d: %s = %lld, errno %d, not " #code, __FILE__, \
				  __LINE__, #expr, ktap_r, ktap_errno);         \
		}                                                               \
		ktap_ok;                                                        \
	})

/* What the test cannot do without. */
#define REQUIRE(expr)                                                           \
	do {                                                                    \
		if (!CHECK(expr))                                               \
			exit(KTAP_FAIL);                                        \
	} while (0)

#define SKIP(...)                                                               \
	do {                                                                    \
		ktap_note(__VA_ARGS__);                                         \
		exit(ktap_failures ? KTAP_FAIL : KTAP_SKIP);                    \
	} while (0)

/* KTAP_SLOW in the environment: how many times the usual time is all right. */
static inline unsigned int ktap_slowness(void)
{
	const char *slow = getenv("KTAP_SLOW");

	return slow && atoi(slow) > 0 ? (unsigned int)atoi(slow) : 1;
}

/* Runs those whose name contains only, or all. The result is the exit status. */
static inline int ktap_run(const struct ktap_test *tests, int count, const char *only)
{
	int i, status, number = 0, failed = 0, planned = 0;

	for (i = 0; i < count; i++)
		planned += !only || strstr(tests[i].name, only);
	printf("KTAP version 1\n1..%d\n", planned);
	for (i = 0; i < count; i++) {
		pid_t pid;

		if (only && !strstr(tests[i].name, only))
			continue;
		fflush(stdout);
		pid = fork();
		if (pid < 0) {
			printf("Bail out! fork: %s\n", strerror(errno));
			return KTAP_FAIL;
		}
		if (!pid) {
			alarm((tests[i].seconds ? tests[i].seconds : 60) * ktap_slowness());
			tests[i].run();
			fflush(stdout);
			exit(ktap_failures ? KTAP_FAIL : 0);
		}
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		number++;
		if (WIFSIGNALED(status))
			printf("# ended by signal %d%s\n", WTERMSIG(status),
			       WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
			printf("ok %d %s\n", number, tests[i].name);
		} else if (WIFEXITED(status) && WEXITSTATUS(status) == KTAP_SKIP) {
			printf("ok %d %s # SKIP\n", number, tests[i].name);
		} else {
			printf("not ok %d %s\n", number, tests[i].name);
			failed++;
		}
		fflush(stdout);
	}
	printf("# %d of %d failed\n", failed, planned);
	return failed ? KTAP_FAIL : 0;
}

#endif
