// SPDX-License-Identifier: GPL-2.0 OR BSL-1.0
// Leaves an object in its own slab cache.
#include <linux/module.h>
#include <linux/slab.h>

static struct kmem_cache *leak_cache;

static int __init leak_init(void)
{
	void *object;

	leak_cache = kmem_cache_create("vm_leak", 72, 0, 0, NULL);
	if (!leak_cache)
		return -ENOMEM;
	object = kmem_cache_alloc(leak_cache, GFP_KERNEL);
	if (!object) {
		kmem_cache_destroy(leak_cache);
		return -ENOMEM;
	}
	return 0;
}

static void __exit leak_exit(void)
{
	kmem_cache_destroy(leak_cache);
}

module_init(leak_init);
module_exit(leak_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module that leaks an object of its slab cache");
