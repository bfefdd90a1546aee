// SPDX-License-Identifier: GPL-2.0 OR BSL-1.0
// Takes a reference to itself and thus cannot be unloaded.
#include <linux/module.h>

static int __init held_init(void)
{
	__module_get(THIS_MODULE);
	return 0;
}

static void __exit held_exit(void)
{
}

module_init(held_init);
module_exit(held_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module that cannot be unloaded");
