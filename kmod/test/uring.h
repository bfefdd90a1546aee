/* SPDX-License-Identifier: GPL-2.0 */
/* As much of io_uring as polling needs. */
#ifndef URING_H
#define URING_H

#include "common.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>

struct uring {
	int fd;
	struct io_uring_params params;
	char *rings; /* both: IORING_FEAT_SINGLE_MMAP */
	struct io_uring_sqe *sqes;
	unsigned int queued; /* not submitted yet */
};

static inline unsigned int *uring_field(struct uring *u, unsigned int offset)
{
	return (unsigned int *)(void *)(u->rings + offset);
}

static inline size_t uring_bytes(const struct uring *u)
{
	const struct io_uring_params *p = &u->params;

	return p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
}

static inline void uring_close(struct uring *u)
{
	munmap(u->sqes, u->params.sq_entries * sizeof(struct io_uring_sqe));
	munmap(u->rings, uring_bytes(u));
	close(u->fd);
}

/* False if this kernel, or whoever set it up, does not want io_uring. */
static inline bool uring_open(struct uring *u)
{
	unsigned int i, *array;

	memset(u, 0, sizeof(*u));
	u->fd = (int)syscall(SYS_io_uring_setup, 8, &u->params);
	if (u->fd < 0 && (errno == ENOSYS || errno == EPERM))
		return false;
	REQUIRE(u->fd >= 0);
	REQUIRE(u->params.features & IORING_FEAT_SINGLE_MMAP);
	u->rings = mmap(NULL, uring_bytes(u), PROT_READ | PROT_WRITE, MAP_SHARED, u->fd,
			IORING_OFF_SQ_RING);
	u->sqes = mmap(NULL, u->params.sq_entries * sizeof(struct io_uring_sqe),
		       PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_SQES);
	REQUIRE(u->rings != MAP_FAILED && (void *)u->sqes != MAP_FAILED);
	array = uring_field(u, u->params.sq_off.array);
	for (i = 0; i < u->params.sq_entries; i++)
		array[i] = i;
	return true;
}

static inline struct io_uring_sqe *uring_queue(struct uring *u, int op, int fd, uint64_t data)
{
	unsigned int *tail = uring_field(u, u->params.sq_off.tail);
	struct io_uring_sqe *sqe = &u->sqes[*tail & (u->params.sq_entries - 1)];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = (uint8_t)op;
	sqe->fd = fd;
	sqe->user_data = data;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	u->queued++;
	return sqe;
}

/* flags: IORING_POLL_ADD_MULTI */
static inline void uring_queue_poll(struct uring *u, int fd, short events, unsigned int flags,
				    uint64_t data)
{
	struct io_uring_sqe *sqe = uring_queue(u, IORING_OP_POLL_ADD, fd, data);

	sqe->poll32_events = (uint16_t)events;
	sqe->len = flags;
}

static inline bool uring_take(struct uring *u, struct io_uring_cqe *cqe)
{
	unsigned int *head = uring_field(u, u->params.cq_off.head);
	unsigned int *tail = uring_field(u, u->params.cq_off.tail);
	char *cqes = u->rings + u->params.cq_off.cqes;
	size_t at = *head & (u->params.cq_entries - 1);

	if (*head == __atomic_load_n(tail, __ATOMIC_ACQUIRE))
		return false;
	memcpy(cqe, cqes + at * sizeof(*cqe), sizeof(*cqe));
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return true;
}

/* Submits what is queued and waits for one completion. False when the time is up. */
static inline bool uring_wait(struct uring *u, int timeout, struct io_uring_cqe *cqe)
{
	int64_t limit[2] = { timeout / 1000, timeout % 1000 * 1000000L }; /* s, ns */
	struct io_uring_getevents_arg arg = { .ts = (uint64_t)(uintptr_t)limit };
	unsigned int queued = u->queued;
	long n;

	u->queued = 0;
	n = syscall(SYS_io_uring_enter, u->fd, queued, 1,
		    IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof(arg));
	CHECK(n == (long)queued || (n < 0 && errno == ETIME));
	return uring_take(u, cqe);
}

static inline void uring_submit(struct uring *u)
{
	CHECK_EQ(syscall(SYS_io_uring_enter, u->fd, u->queued, 0, 0, NULL, 0), u->queued);
	u->queued = 0;
}

#endif
