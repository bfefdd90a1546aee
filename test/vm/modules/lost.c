// SPDX-License-Identifier: GPL-2.0 OR BSL-1.0
// Loses memory from kmalloc, which only kmemleak notices.
#include <linux/module.h>
#include <linux/slab.h>

static int __init lost_init(void)
{
	void *object;
	int i;

	/* Several: a stale register or stack slot can still point to one. */
	for (i = 0; i < 16; i++) {
		object = kzalloc(200, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(object);
	}
	return 0;
}

static void __exit lost_exit(void)
{
}

module_init(lost_init);
module_exit(lost_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module that loses memory");
