/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sysipc: shared memory between two processes, with one pollable descriptor
 * for each of them.
 *
 * A channel has two endpoints, 0 and 1. Endpoint i owns segment i: through its
 * descriptor segment i can be mapped for reading and writing and the other
 * segment for reading only. In each segment the driver knows two 64-bit words,
 * both written by the owner only:
 *
 *  the read word	odd: the owner sleeps until the peer has sent something
 *  the write word	odd: the owner sleeps until the peer has freed space
 *
 * A word must never take the same odd value twice. To sleep, the owner makes
 * its word odd, executes a full memory barrier, looks once more whether there
 * is something to do, and polls. To wake it, the peer does its work, executes
 * a full memory barrier, loads the word, and calls SYSIPC_IOC_KICK if it is odd
 * and the peer has not kicked that value before.
 *
 * poll(2) on an endpoint reports
 *
 *  EPOLLIN|EPOLLRDNORM		unless the own read word is odd and has another
 *				value than when it was last kicked
 *  EPOLLOUT|EPOLLWRNORM	the same for the own write word
 *  EPOLLHUP|EPOLLRDHUP		together with all of the above, once either side
 *				was shut down or the peer's descriptor was
 *				released: closed everywhere, and unmapped
 *
 * Layout, byte order and meaning of everything else in the segments are the
 * business of the two processes.
 *
 * The structs have the same layout for 32-bit and 64-bit processes. Each starts
 * with its size. A caller passes sizeof() of the struct it was compiled with:
 *
 *  shorter than the first version (SYSIPC_*_SIZE_V0)	EINVAL
 *  longer than a page					E2BIG
 *  longer than the driver's, with unknown input that is not zero	E2BIG
 *
 * On output, size is the number of bytes that the driver filled; what the
 * caller has beyond that is set to zero. Command numbers keep the size of the
 * first version of their struct when the struct grows.
 *
 * Any ioctl may fail with ENOTTY (unknown command) and EFAULT (bad pointer), and
 * has then had no effect.
 */
#ifndef _UAPI_LINUX_SYSIPC_H
#define _UAPI_LINUX_SYSIPC_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes only if old programs would break, which is not planned. */
#define SYSIPC_ABI 1

#define SYSIPC_IOC_TYPE 0xC6

#define SYSIPC_QUERY_SIZE_V0 32
#define SYSIPC_CREATE_SIZE_V0 56
#define SYSIPC_INFO_SIZE_V0 64

/**
 * struct sysipc_query - what the driver can do and allows
 * @size: in: sizeof(struct sysipc_query); out: bytes filled
 * @abi: out: SYSIPC_ABI of the driver
 * @features: out: bits for what was added later; none so far
 * @max_segment_bytes: out: largest segment that SYSIPC_IOC_CREATE accepts
 * @max_user_bytes: out: how much one user's channels may take together
 */
struct sysipc_query {
	__u32 size;
	__u32 abi;
	__u64 features;
	__u64 max_segment_bytes;
	__u64 max_user_bytes;
};

/**
 * struct sysipc_create - parameters and result of SYSIPC_IOC_CREATE
 * @size: in: sizeof(struct sysipc_create); not changed
 * @flags: in: must be 0
 * @segment_bytes: in: size of the segment of endpoint 0 and of endpoint 1; a
 *	multiple of the page size, not 0
 * @read_word: in: byte offset of the read word, the same in both segments; a
 *	multiple of 8, inside both segments
 * @write_word: in: the same for the write word; not equal to @read_word
 * @fd: out: descriptors of endpoint 0 and endpoint 1, O_RDWR and close-on-exec;
 *	not looked at on input, meaningless after a failure
 * @reserved: in: must be 0
 */
struct sysipc_create {
	__u32 size;
	__u32 flags;
	__u64 segment_bytes[2];
	__u32 read_word;
	__u32 write_word;
	__s32 fd[2];
	__u64 reserved[2];
};

/* struct sysipc_info.state */
#define SYSIPC_STATE_PEER_GONE 0x1 /* the peer's descriptor was released */
#define SYSIPC_STATE_PEER_SHUT 0x2 /* the peer called SYSIPC_IOC_SHUTDOWN */
#define SYSIPC_STATE_SELF_SHUT 0x4 /* this side called SYSIPC_IOC_SHUTDOWN */

/**
 * struct sysipc_info - what SYSIPC_IOC_INFO says about an endpoint
 * @size: in: sizeof(struct sysipc_info); out: bytes filled
 * @side: out: 0 or 1
 * @segment_bytes: out: size of the own segment, then of the peer's; in this
 *	order on both sides
 * @read_word: out: as given to SYSIPC_IOC_CREATE
 * @write_word: out: as given to SYSIPC_IOC_CREATE
 * @state: out: SYSIPC_STATE_* bits
 * @reserved: out: 0
 * @id: out: number of the channel, the same on both sides; unique until the
 *	driver is unloaded
 * @kicks: out: how often this side kicked the peer, each word by itself
 * @waits: out: how many poll calls on this side found nothing to report
 */
struct sysipc_info {
	__u32 size;
	__u32 side;
	__u64 segment_bytes[2];
	__u32 read_word;
	__u32 write_word;
	__u32 state;
	__u32 reserved;
	__u64 id;
	__u64 kicks;
	__u64 waits;
};

/* Argument of SYSIPC_IOC_KICK */
#define SYSIPC_KICK_READ 0x1  /* wake the peer that waits for its read word */
#define SYSIPC_KICK_WRITE 0x2 /* wake the peer that waits for its write word */
#define SYSIPC_KICK_SYNC 0x4  /* hint: the caller is about to sleep itself */

/*
 * mmap(2) offsets: the own segment starts at 0, the peer's at SYSIPC_MMAP_PEER.
 * (32-bit programs need a 64-bit off_t, that is, mmap64 or mmap2.)
 *
 * Any page-aligned part of one segment may be mapped, any number of times up to
 * the driver's limit for a channel. A mapping keeps the endpoint open as a
 * descriptor does, is not inherited by fork(2), does not grow, and is not part
 * of core dumps. The segments start zeroed and live until both endpoints have
 * been released.
 *
 *  EINVAL	not inside one segment; MAP_PRIVATE
 *  EPERM	PROT_EXEC; PROT_WRITE of the peer's segment
 *  ENOMEM	too many mappings of this channel, or out of memory
 *
 * mprotect(2) to anything that mmap would have refused gives EACCES.
 */
#define SYSIPC_MMAP_OWN ((__u64)0)
#define SYSIPC_MMAP_PEER ((__u64)1 << 40)

/**
 * DOC: SYSIPC_IOC_QUERY
 *
 * On /dev/sysipc. Fills a struct sysipc_query.
 *
 *  EINVAL	size too small
 *  E2BIG	size larger than a page
 */
#define SYSIPC_IOC_QUERY \
	_IOC(_IOC_READ | _IOC_WRITE, SYSIPC_IOC_TYPE, 0, SYSIPC_QUERY_SIZE_V0)

/**
 * DOC: SYSIPC_IOC_CREATE
 *
 * On /dev/sysipc. Makes a channel and returns both its endpoints, as
 * socketpair(2) does. Whoever has the descriptor of an endpoint may use it; no
 * access to the device is needed for that.
 *
 *  EINVAL	size too small; flags or reserved not 0; a segment's size 0 or not
 *		a multiple of the page size; a word misaligned or outside either
 *		segment; both words the same
 *  E2BIG	size larger than a page; non-zero bytes beyond the known struct
 *  EFBIG	a segment larger than max_segment_bytes
 *  EDQUOT	the channels that this user has created would take more than
 *		max_user_bytes (not applied with CAP_SYS_RESOURCE)
 *  ENOMEM	out of memory, also of the memory cgroup; the user would have more
 *		locked memory than RLIMIT_MEMLOCK (not applied with CAP_IPC_LOCK)
 *  EMFILE	no two descriptors left below RLIMIT_NOFILE
 *  ENFILE	no more open files in the system
 *  EBADF	the device was not opened for writing
 *  EINTR	killed meanwhile
 */
#define SYSIPC_IOC_CREATE \
	_IOC(_IOC_READ | _IOC_WRITE, SYSIPC_IOC_TYPE, 1, SYSIPC_CREATE_SIZE_V0)

/**
 * DOC: SYSIPC_IOC_INFO
 *
 * On an endpoint. Fills a struct sysipc_info. Works in every state.
 *
 *  EINVAL	size too small
 *  E2BIG	size larger than a page
 */
#define SYSIPC_IOC_INFO \
	_IOC(_IOC_READ | _IOC_WRITE, SYSIPC_IOC_TYPE, 16, SYSIPC_INFO_SIZE_V0)

/**
 * DOC: SYSIPC_IOC_KICK
 *
 * On an endpoint; the argument is an integer, SYSIPC_KICK_* bits. Makes the
 * value that each of the named words of the peer has now count as kicked, and
 * wakes whoever polls the peer's endpoint for it.
 *
 *  EINVAL	neither SYSIPC_KICK_READ nor SYSIPC_KICK_WRITE; unknown bits
 *  EPIPE	either side was shut down, or the peer is gone
 */
#define SYSIPC_IOC_KICK _IO(SYSIPC_IOC_TYPE, 17)

/**
 * DOC: SYSIPC_IOC_SHUTDOWN
 *
 * On an endpoint; takes no argument. Ends this side for good, as if its
 * descriptor had been released: both sides' polls report EPOLLHUP from now on,
 * both sides' kicks fail with EPIPE. Mappings stay. A second call does nothing.
 * Never fails.
 */
#define SYSIPC_IOC_SHUTDOWN _IO(SYSIPC_IOC_TYPE, 18)

#if defined(__cplusplus)
#if __cplusplus >= 201103L
#define __SYSIPC_ASSERT(expr) static_assert(expr, #expr)
#endif
#elif defined(__STDC_VERSION__)
#if __STDC_VERSION__ >= 201112L
#define __SYSIPC_ASSERT(expr) _Static_assert(expr, #expr)
#endif
#endif
#ifdef __SYSIPC_ASSERT
__SYSIPC_ASSERT(sizeof(struct sysipc_query) == 32);
__SYSIPC_ASSERT(sizeof(struct sysipc_create) == 56);
__SYSIPC_ASSERT(sizeof(struct sysipc_info) == 64);
#undef __SYSIPC_ASSERT
#endif

#endif /* _UAPI_LINUX_SYSIPC_H */
