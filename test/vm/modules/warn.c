// SPDX-License-Identifier: GPL-2.0 OR BSL-1.0
// Warns when loaded.
#include <linux/module.h>

static int __init warn_init(void)
{
	WARN(1, "a warning\n");
	return 0;
}

static void __exit warn_exit(void)
{
}

module_init(warn_init);
module_exit(warn_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module that warns");
