// SPDX-License-Identifier: GPL-2.0
/* Mapping a side's own segment, and its peer's for reading only. */

#include <linux/fs.h>
#include <linux/mm.h>

#include "compat.h"
#include "sysipc.h"

#define PEER_PGOFF ((unsigned long)(SYSIPC_MMAP_PEER >> PAGE_SHIFT))

static struct sysipc_segment *find_segment(struct sysipc_side *side, unsigned long *pgoff)
{
	if (*pgoff < PEER_PGOFF)
		return &side->seg;
	*pgoff -= PEER_PGOFF;
	return &sysipc_peer(side)->seg;
}

/* The mappings of a channel are counted so that no page's reference count overflows. */
static void sysipc_vma_open(struct vm_area_struct *vma)
{
	struct sysipc_side *side = vma->vm_private_data;

	atomic_inc(&side->ch->mappings);
}

static void sysipc_vma_close(struct vm_area_struct *vma)
{
	struct sysipc_side *side = vma->vm_private_data;

	atomic_dec(&side->ch->mappings);
}

/* mmap inserts all pages: this is for what MADV_DONTNEED has dropped since. */
static vm_fault_t sysipc_fault(struct vm_fault *vmf)
{
	unsigned long pgoff = vmf->pgoff;
	struct sysipc_segment *seg = find_segment(vmf->vma->vm_private_data, &pgoff);

	if (pgoff >= seg->nr_pages)
		return VM_FAULT_SIGBUS;
	get_page(seg->pages[pgoff]);
	vmf->page = seg->pages[pgoff];
	return 0;
}

static const struct vm_operations_struct sysipc_vm_ops = {
	.open = sysipc_vma_open,
	.close = sysipc_vma_close,
	.fault = sysipc_fault,
};

int sysipc_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct sysipc_side *side = file->private_data;
	unsigned long nr_pages = vma_pages(vma);
	unsigned long pgoff = vma->vm_pgoff;
	struct sysipc_segment *seg = find_segment(side, &pgoff);
	unsigned long clear = VM_MAYEXEC;
	int err;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (pgoff >= seg->nr_pages || nr_pages > seg->nr_pages - pgoff)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (seg != &side->seg) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		clear |= VM_MAYWRITE;
	}

	if (atomic_inc_return(&side->ch->mappings) > READ_ONCE(sysipc_max_mappings)) {
		err = -ENOMEM;
		goto fail;
	}
	/*
	 * Not copied on fork: a child that went on using the mapping would be a
	 * second writer where there may be only one. Not expanded: there is
	 * nothing beyond. Not dumped: it may be large, and is not ours alone.
	 */
	sysipc_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP | VM_MIXEDMAP, clear);
	err = vm_insert_pages(vma, vma->vm_start, seg->pages + pgoff, &nr_pages);
	if (err)
		goto fail;
	/* Only now: on failure the kernel unmaps by itself, and shall not call close. */
	vma->vm_private_data = side;
	vma->vm_ops = &sysipc_vm_ops;
	return 0;

fail:
	atomic_dec(&side->ch->mappings);
	return err;
}
