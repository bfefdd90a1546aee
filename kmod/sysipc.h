/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the driver share. The ABI is in <linux/sysipc.h>.
 *
 * Life times: a mapping holds its endpoint's file, a file holds the channel, a
 * page table entry holds its page. Nothing else refers to a channel, so
 * whatever a file operation touches outlives it. Everything in a channel but the
 * fields marked below is constant from creation on; there is no lock around it.
 */
#ifndef SYSIPC_H
#define SYSIPC_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cred.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/sched/user.h>
#include <linux/sysipc.h>
#include <linux/types.h>
#include <linux/wait.h>

#ifndef CONFIG_64BIT
#error "sysipc compares 64-bit words that another CPU writes: 64-bit kernels only"
#endif

/* Whatever the module parameters say. Keeps all sizes far from any overflow. */
#define SYSIPC_SEGMENT_CEILING (4ULL << 30)

enum sysipc_word { SYSIPC_READ, SYSIPC_WRITE, SYSIPC_WORDS };

/* One 64-bit word of a segment that its owner arms before it sleeps. */
struct sysipc_arm {
	const u64 *word; /* in the segment: user space may write it at any time */
	u64 kicked; /* its value at the last kick; written under side.wq.lock */
};

struct sysipc_segment {
	struct page **pages;
	unsigned long nr_pages;
};

/* The bits of sysipc_channel.state; add the number of the side. */
#define SYSIPC_SHUT_BIT 0
#define SYSIPC_GONE_BIT 2

struct sysipc_channel;

/* One endpoint; file->private_data points to it. */
struct sysipc_side {
	wait_queue_head_t wq; /* who polls this side */
	struct sysipc_arm arm[SYSIPC_WORDS];
	u64 kicks; /* by this side; written under the peer's wq.lock */
	atomic64_t waits;
	struct sysipc_channel *ch;
	unsigned int index;
	struct sysipc_segment seg; /* owned by this side */
} ____cacheline_aligned_in_smp;

struct sysipc_channel {
	struct kref kref;
	u64 id;
	u32 read_word;
	u32 write_word;
	unsigned long state; /* grows only, by test_and_set_bit() */
	atomic_t mappings; /* VMAs of both sides */
	struct user_struct *user; /* the creator, charged with all pages */
	unsigned long user_pages; /* charged to max_user_bytes */
	unsigned long locked_pages; /* charged to RLIMIT_MEMLOCK */
	struct sysipc_side side[2];
};

static inline struct sysipc_side *sysipc_peer(struct sysipc_side *side)
{
	return &side->ch->side[!side->index];
}

/* main.c */
extern unsigned int sysipc_max_mappings;
extern atomic64_t sysipc_live_channels;
extern atomic64_t sysipc_live_pages;
u64 sysipc_max_segment(void);
u64 sysipc_max_user(void);
int sysipc_get_size(const void __user *uarg, u32 min, u32 *size);
int sysipc_put_struct(void __user *uarg, void *src, u32 ksize, u32 usize);

/* channel.c */
int __init sysipc_channel_init(void);
void sysipc_channel_exit(void);
struct sysipc_channel *sysipc_channel_create(const struct sysipc_create *arg);
void sysipc_channel_put(struct sysipc_channel *ch);

/* endpoint.c */
struct file *sysipc_endpoint_file(struct sysipc_side *side);

/* mmap.c */
int sysipc_mmap(struct file *file, struct vm_area_struct *vma);

#endif
