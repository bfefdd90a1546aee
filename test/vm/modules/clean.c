// SPDX-License-Identifier: GPL-2.0 OR BSL-1.0
// Nothing wrong here.
#include <linux/module.h>

static int __init clean_init(void)
{
	pr_info("loaded\n");
	return 0;
}

static void __exit clean_exit(void)
{
}

module_init(clean_init);
module_exit(clean_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module without faults");
