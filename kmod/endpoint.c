// SPDX-License-Identifier: GPL-2.0
/* Endpoints: sleeping, waking, and the end. */

#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>

#include "sysipc.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define SYSIPC_POLL_HUP                                                         \
	(EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM | EPOLLHUP | EPOLLRDHUP)

static const __poll_t word_events[SYSIPC_WORDS] = {
	[SYSIPC_READ] = EPOLLIN | EPOLLRDNORM,
	[SYSIPC_WRITE] = EPOLLOUT | EPOLLWRNORM,
};

/* The word is only ever compared: whatever user space puts there does no harm. */
static bool is_asleep(const struct sysipc_arm *arm)
{
	u64 word = READ_ONCE(*arm->word);

	return word & 1 && word != READ_ONCE(arm->kicked);
}

static __poll_t sysipc_poll(struct file *file, poll_table *pt)
{
	struct sysipc_side *side = file->private_data;
	__poll_t events = 0;
	int i;

	poll_wait(file, &side->wq, pt);
	/*
	 * Either the loads below see what a kick stored, or the kick sees us in
	 * the queue. Kernels before 6.14 do not promise that of poll_wait(), and
	 * no kernel does when there is no table, which is how epoll polls again.
	 * Pairs with the barriers in kick_word() and end_side().
	 */
	smp_mb();
	if (READ_ONCE(side->ch->state))
		return SYSIPC_POLL_HUP;
	for (i = 0; i < SYSIPC_WORDS; i++)
		if (!is_asleep(&side->arm[i]))
			events |= word_events[i];
	if (!(events & poll_requested_events(pt))) {
		atomic64_inc(&side->waits);
		trace_sysipc_wait(side, (__force u32)poll_requested_events(pt));
	}
	return events;
}

static void kick_word(struct sysipc_side *side, enum sysipc_word which, bool sync)
{
	struct sysipc_side *peer = sysipc_peer(side);
	struct sysipc_arm *arm = &peer->arm[which];
	void *key = poll_to_key(word_events[which]);
	unsigned long flags;
	u64 word;

	/* Loaded under the lock, so that of two kicks the later has the newer value. */
	spin_lock_irqsave(&peer->wq.lock, flags);
	word = READ_ONCE(*arm->word);
	/*
	 * The barrier is for epoll_ctl(EPOLL_CTL_MOD): it stores the new events,
	 * executes a barrier and polls, while our wake-up loads the events. Either
	 * it sees this kick, or the wake-up sees the new events.
	 */
	smp_store_mb(arm->kicked, word);
	WRITE_ONCE(side->kicks, side->kicks + 1);
	if (sync)
		__wake_up_locked_sync_key(&peer->wq, TASK_INTERRUPTIBLE, key);
	else
		__wake_up_locked_key(&peer->wq, TASK_INTERRUPTIBLE, key);
	spin_unlock_irqrestore(&peer->wq.lock, flags);
	trace_sysipc_kick(side, which, word, sync);
}

static long sysipc_kick(struct sysipc_side *side, unsigned long which)
{
	const unsigned long words = SYSIPC_KICK_READ | SYSIPC_KICK_WRITE;

	if (!(which & words) || which & ~(words | SYSIPC_KICK_SYNC))
		return -EINVAL;
	if (READ_ONCE(side->ch->state))
		return -EPIPE;
	/* One by one: a waiter for only one of them shall not use up both. */
	if (which & SYSIPC_KICK_READ)
		kick_word(side, SYSIPC_READ, which & SYSIPC_KICK_SYNC);
	if (which & SYSIPC_KICK_WRITE)
		kick_word(side, SYSIPC_WRITE, which & SYSIPC_KICK_SYNC);
	return 0;
}

/* Marks the side as shut or gone, and tells all who wait. */
static void end_side(struct sysipc_side *side, unsigned int bit)
{
	void *key = poll_to_key(SYSIPC_POLL_HUP);

	/* A full barrier, too. */
	if (test_and_set_bit(bit + side->index, &side->ch->state))
		return;
	__wake_up(&sysipc_peer(side)->wq, TASK_NORMAL, 0, key);
	__wake_up(&side->wq, TASK_NORMAL, 0, key);
}

static u32 state_of(struct sysipc_side *side)
{
	unsigned long state = READ_ONCE(side->ch->state);
	unsigned int self = side->index, peer = !self;

	return (state & BIT(SYSIPC_GONE_BIT + peer) ? SYSIPC_STATE_PEER_GONE : 0) |
	       (state & BIT(SYSIPC_SHUT_BIT + peer) ? SYSIPC_STATE_PEER_SHUT : 0) |
	       (state & BIT(SYSIPC_SHUT_BIT + self) ? SYSIPC_STATE_SELF_SHUT : 0);
}

static void fill_info(struct sysipc_side *side, struct sysipc_info *info)
{
	*info = (struct sysipc_info){
		.side = side->index,
		.segment_bytes[0] = (u64)side->seg.nr_pages << PAGE_SHIFT,
		.segment_bytes[1] = (u64)sysipc_peer(side)->seg.nr_pages << PAGE_SHIFT,
		.read_word = side->ch->read_word,
		.write_word = side->ch->write_word,
		.state = state_of(side),
		.id = side->ch->id,
		.kicks = READ_ONCE(side->kicks),
		.waits = atomic64_read(&side->waits),
	};
}

static long sysipc_info(struct sysipc_side *side, void __user *uarg)
{
	struct sysipc_info info;
	u32 size;
	int err;

	err = sysipc_get_size(uarg, SYSIPC_INFO_SIZE_V0, &size);
	if (err)
		return err;
	fill_info(side, &info);
	return sysipc_put_struct(uarg, &info, sizeof(info), size);
}

static long sysipc_endpoint_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct sysipc_side *side = file->private_data;

	switch (cmd) {
	case SYSIPC_IOC_KICK:
		return sysipc_kick(side, arg);
	case SYSIPC_IOC_INFO:
		return sysipc_info(side, (void __user *)arg);
	case SYSIPC_IOC_SHUTDOWN:
		end_side(side, SYSIPC_SHUT_BIT);
		return 0;
	}
	return -ENOTTY;
}

static int sysipc_release(struct inode *inode, struct file *file)
{
	struct sysipc_side *side = file->private_data;

	end_side(side, SYSIPC_GONE_BIT);
	sysipc_channel_put(side->ch);
	return 0;
}

static void sysipc_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct sysipc_side *side = file->private_data;
	struct sysipc_info info;

	fill_info(side, &info);
	seq_printf(m, "sysipc-id:\t%llu\n", info.id);
	seq_printf(m, "sysipc-side:\t%u\n", info.side);
	seq_printf(m, "sysipc-own-bytes:\t%llu\n", info.segment_bytes[0]);
	seq_printf(m, "sysipc-peer-bytes:\t%llu\n", info.segment_bytes[1]);
	seq_printf(m, "sysipc-read-word:\t%u %llu %llu\n", info.read_word,
		   READ_ONCE(*side->arm[SYSIPC_READ].word),
		   READ_ONCE(side->arm[SYSIPC_READ].kicked));
	seq_printf(m, "sysipc-write-word:\t%u %llu %llu\n", info.write_word,
		   READ_ONCE(*side->arm[SYSIPC_WRITE].word),
		   READ_ONCE(side->arm[SYSIPC_WRITE].kicked));
	seq_printf(m, "sysipc-state:\t%s%s%s\n",
		   info.state & SYSIPC_STATE_PEER_GONE ? " peer-gone" : "",
		   info.state & SYSIPC_STATE_PEER_SHUT ? " peer-shut" : "",
		   info.state & SYSIPC_STATE_SELF_SHUT ? " self-shut" : "");
	seq_printf(m, "sysipc-kicks:\t%llu\n", info.kicks);
	seq_printf(m, "sysipc-waits:\t%llu\n", info.waits);
	seq_printf(m, "sysipc-mappings:\t%d\n", atomic_read(&side->ch->mappings));
}

static const struct file_operations sysipc_endpoint_fops = {
	.owner = THIS_MODULE,
	.release = sysipc_release,
	.poll = sysipc_poll,
	.mmap = sysipc_mmap,
	.unlocked_ioctl = sysipc_endpoint_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = sysipc_show_fdinfo,
};

/* Takes a reference of the channel for the file. */
struct file *sysipc_endpoint_file(struct sysipc_side *side)
{
	struct file *file = anon_inode_getfile("[sysipc]", &sysipc_endpoint_fops, side, O_RDWR);

	if (!IS_ERR(file))
		kref_get(&side->ch->kref);
	return file;
}
