// SPDX-License-Identifier: GPL-2.0 OR BSL-1.0
// Writes through a null pointer.
#include <linux/module.h>

static int *vm_oops_target;

static int __init vm_oops_init(void)
{
	WRITE_ONCE(*READ_ONCE(vm_oops_target), 1);
	return 0;
}

static void __exit vm_oops_exit(void)
{
}

module_init(vm_oops_init);
module_exit(vm_oops_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module that oopses");
