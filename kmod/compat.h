/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that the driver builds for: 5.15 and later. */
#ifndef SYSIPC_COMPAT_H
#define SYSIPC_COMPAT_H

#include <linux/mm.h>

/* Since 6.3 vm_flags is written through functions only. Kbuild looks for them. */
static inline void sysipc_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				       unsigned long clear)
{
#ifdef SYSIPC_HAVE_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

#endif
