// SPDX-License-Identifier: GPL-2.0
/* Channels: their memory, and who is charged with it. */

#include <linux/capability.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "sysipc.h"

/*
 * Pages are mapped one by one, so higher orders only save calls. 8 pages are
 * what the allocator still hands out without much ado.
 */
#define SYSIPC_MAX_ORDER 3

static struct kmem_cache *channel_cache;
static atomic64_t last_id;

/* What one user's channels hold. Exists while that is not zero. */
struct sysipc_usage {
	struct hlist_node node;
	kuid_t uid;
	unsigned long pages;
};

#define USAGE_BITS 6
static struct hlist_head usage_table[1 << USAGE_BITS];
static DEFINE_MUTEX(usage_lock);

static struct hlist_head *usage_bucket(kuid_t uid)
{
	return &usage_table[hash_32(__kuid_val(uid), USAGE_BITS)];
}

static struct sysipc_usage *usage_find(kuid_t uid)
{
	struct sysipc_usage *usage;

	lockdep_assert_held(&usage_lock);
	hlist_for_each_entry(usage, usage_bucket(uid), node)
		if (uid_eq(usage->uid, uid))
			return usage;
	return NULL;
}

static int charge_user(struct sysipc_channel *ch, unsigned long pages)
{
	unsigned long limit = sysipc_max_user() >> PAGE_SHIFT;
	struct sysipc_usage *usage, *spare;
	int err = 0;

	/* Not under the lock: nobody shall wait while this one is short of memory. */
	spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	if (!spare)
		return -ENOMEM;

	mutex_lock(&usage_lock);
	usage = usage_find(ch->user->uid);
	if ((pages > limit || (usage && usage->pages > limit - pages)) &&
	    !capable(CAP_SYS_RESOURCE)) {
		err = -EDQUOT;
		goto out;
	}
	if (!usage) {
		usage = spare;
		spare = NULL;
		usage->uid = ch->user->uid;
		hlist_add_head(&usage->node, usage_bucket(usage->uid));
	}
	usage->pages += pages;
	ch->user_pages = pages;
out:
	mutex_unlock(&usage_lock);
	kfree(spare);
	return err;
}

static void uncharge_user(struct sysipc_channel *ch)
{
	struct sysipc_usage *usage;

	if (!ch->user_pages)
		return;
	mutex_lock(&usage_lock);
	usage = usage_find(ch->user->uid);
	if (!WARN_ON_ONCE(!usage)) {
		usage->pages -= ch->user_pages;
		if (!usage->pages) {
			hlist_del(&usage->node);
			kfree(usage);
		}
	}
	mutex_unlock(&usage_lock);
}

/*
 * The pages cannot be swapped out, so they count as locked memory of the user.
 * Not at all if he may lock what he wants: a privileged process shall not eat up
 * the limit of an unprivileged one with the same user id.
 */
static int charge_locked(struct sysipc_channel *ch, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long old = atomic_long_read(&ch->user->locked_vm);

	if (capable(CAP_IPC_LOCK))
		return 0;
	do {
		if (pages > limit || old > (long)(limit - pages))
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&ch->user->locked_vm, &old, old + pages));
	ch->locked_pages = pages;
	return 0;
}

static void free_segment(struct sysipc_segment *seg)
{
	unsigned long i;

	for (i = 0; i < seg->nr_pages; i++) {
		__free_page(seg->pages[i]);
		cond_resched();
	}
	atomic64_sub(seg->nr_pages, &sysipc_live_pages);
	kvfree(seg->pages);
}

static struct page *alloc_chunk(unsigned int *order)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	struct page *page;

	for (; *order; --*order) {
		page = alloc_pages(gfp | __GFP_NORETRY, *order);
		if (page) {
			split_page(page, *order);
			return page;
		}
	}
	return alloc_page(gfp | __GFP_RETRY_MAYFAIL);
}

/* On failure the caller frees what there is. */
static int alloc_segment(struct sysipc_segment *seg, unsigned long nr_pages)
{
	unsigned int order = SYSIPC_MAX_ORDER;

	seg->pages = kvmalloc_array(nr_pages, sizeof(*seg->pages),
				    GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!seg->pages)
		return -ENOMEM;
	while (seg->nr_pages < nr_pages) {
		struct page *page;
		unsigned long i;

		if (fatal_signal_pending(current))
			return -EINTR;
		while (nr_pages - seg->nr_pages < 1UL << order)
			order--;
		page = alloc_chunk(&order);
		if (!page)
			return -ENOMEM;
		for (i = 0; i < 1UL << order; i++)
			seg->pages[seg->nr_pages++] = page + i;
		atomic64_add(1L << order, &sysipc_live_pages);
		cond_resched();
	}
	return 0;
}

static void free_channel(struct sysipc_channel *ch)
{
	int i;

	for (i = 0; i < 2; i++)
		free_segment(&ch->side[i].seg);
	if (ch->locked_pages)
		atomic_long_sub(ch->locked_pages, &ch->user->locked_vm);
	uncharge_user(ch);
	free_uid(ch->user);
	kmem_cache_free(channel_cache, ch);
	atomic64_dec(&sysipc_live_channels);
}

static const u64 *word_address(const struct sysipc_segment *seg, u32 offset)
{
	/* GFP_KERNEL memory, so it has an address. */
	return page_address(seg->pages[offset >> PAGE_SHIFT]) + offset_in_page(offset);
}

struct sysipc_channel *sysipc_channel_create(const struct sysipc_create *arg)
{
	unsigned long nr_pages[2] = {
		arg->segment_bytes[0] >> PAGE_SHIFT,
		arg->segment_bytes[1] >> PAGE_SHIFT,
	};
	struct sysipc_channel *ch;
	int err, i;

	ch = kmem_cache_zalloc(channel_cache, GFP_KERNEL);
	if (!ch)
		return ERR_PTR(-ENOMEM);
	atomic64_inc(&sysipc_live_channels);
	kref_init(&ch->kref);
	ch->user = get_uid(current_user());
	ch->read_word = arg->read_word;
	ch->write_word = arg->write_word;

	err = charge_user(ch, nr_pages[0] + nr_pages[1]);
	if (!err)
		err = charge_locked(ch, nr_pages[0] + nr_pages[1]);
	for (i = 0; i < 2 && !err; i++) {
		struct sysipc_side *side = &ch->side[i];

		init_waitqueue_head(&side->wq);
		side->ch = ch;
		side->index = i;
		err = alloc_segment(&side->seg, nr_pages[i]);
		if (err)
			break;
		side->arm[SYSIPC_READ].word = word_address(&side->seg, ch->read_word);
		side->arm[SYSIPC_WRITE].word = word_address(&side->seg, ch->write_word);
	}
	if (err) {
		free_channel(ch);
		return ERR_PTR(err);
	}
	ch->id = atomic64_inc_return(&last_id);
	return ch;
}

static void release_channel(struct kref *kref)
{
	free_channel(container_of(kref, struct sysipc_channel, kref));
}

void sysipc_channel_put(struct sysipc_channel *ch)
{
	kref_put(&ch->kref, release_channel);
}

int __init sysipc_channel_init(void)
{
	channel_cache = KMEM_CACHE(sysipc_channel, SLAB_ACCOUNT | SLAB_HWCACHE_ALIGN);
	return channel_cache ? 0 : -ENOMEM;
}

void sysipc_channel_exit(void)
{
	WARN_ON(atomic64_read(&sysipc_live_channels) || atomic64_read(&sysipc_live_pages));
	kmem_cache_destroy(channel_cache);
}
