// SPDX-License-Identifier: GPL-2.0
/* The module, its parameters, and /dev/sysipc: SYSIPC_IOC_QUERY and _CREATE. */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>

#include "sysipc.h"

static unsigned long max_segment_bytes = 256UL << 20;
module_param(max_segment_bytes, ulong, 0644);
MODULE_PARM_DESC(max_segment_bytes, "largest segment (default 256 MiB, at most 4 GiB)");

static unsigned long max_user_bytes = 512UL << 20;
module_param(max_user_bytes, ulong, 0644);
MODULE_PARM_DESC(max_user_bytes,
		 "all channels created by one user, without CAP_SYS_RESOURCE (default 512 MiB)");

unsigned int sysipc_max_mappings = 4096;
module_param_named(max_mappings, sysipc_max_mappings, uint, 0644);
MODULE_PARM_DESC(max_mappings, "memory mappings of one channel (default 4096)");

/* Zero when nothing is in use; anything else before rmmod is a leak. */
atomic64_t sysipc_live_channels;
atomic64_t sysipc_live_pages;

static int sysipc_counter_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read((atomic64_t *)kp->arg));
}

static int sysipc_counter_set(const char *val, const struct kernel_param *kp)
{
	return -EPERM;
}

static const struct kernel_param_ops sysipc_counter_ops = {
	.set = sysipc_counter_set,
	.get = sysipc_counter_get,
};
module_param_cb(live_channels, &sysipc_counter_ops, &sysipc_live_channels, 0444);
MODULE_PARM_DESC(live_channels, "read only: channels that exist");
module_param_cb(live_pages, &sysipc_counter_ops, &sysipc_live_pages, 0444);
MODULE_PARM_DESC(live_pages, "read only: pages that existing channels hold");

u64 sysipc_max_segment(void)
{
	return min_t(u64, READ_ONCE(max_segment_bytes), SYSIPC_SEGMENT_CEILING) & PAGE_MASK;
}

u64 sysipc_max_user(void)
{
	return READ_ONCE(max_user_bytes);
}

/* Reads the leading size of a caller's struct. */
int sysipc_get_size(const void __user *uarg, u32 min, u32 *size)
{
	if (get_user(*size, (const u32 __user *)uarg))
		return -EFAULT;
	if (*size < min)
		return -EINVAL;
	return *size > PAGE_SIZE ? -E2BIG : 0;
}

/* Writes a struct whose first member is its u32 size to a caller who has room for usize. */
int sysipc_put_struct(void __user *uarg, void *src, u32 ksize, u32 usize)
{
	u32 size = min(ksize, usize);

	*(u32 *)src = size;
	if (copy_to_user(uarg, src, size) || clear_user(uarg + size, usize - size))
		return -EFAULT;
	return 0;
}

static long sysipc_query(void __user *uarg)
{
	struct sysipc_query out = {
		.abi = SYSIPC_ABI,
		.max_segment_bytes = sysipc_max_segment(),
		.max_user_bytes = sysipc_max_user(),
	};
	u32 size;
	int err;

	err = sysipc_get_size(uarg, SYSIPC_QUERY_SIZE_V0, &size);
	return err ?: sysipc_put_struct(uarg, &out, sizeof(out), size);
}

static int sysipc_check_create(const struct sysipc_create *arg)
{
	int i;

	if (arg->flags || memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	if (arg->read_word == arg->write_word || (arg->read_word | arg->write_word) % sizeof(u64))
		return -EINVAL;
	for (i = 0; i < 2; i++) {
		u64 bytes = arg->segment_bytes[i];

		if (!bytes || !PAGE_ALIGNED(bytes))
			return -EINVAL;
		/* Both are multiples of 8 in a page-sized multiple, so they fit whole. */
		if (arg->read_word >= bytes || arg->write_word >= bytes)
			return -EINVAL;
	}
	if (max(arg->segment_bytes[0], arg->segment_bytes[1]) > sysipc_max_segment())
		return -EFBIG;
	return 0;
}

static long sysipc_create(struct sysipc_create __user *uarg)
{
	struct sysipc_create arg;
	struct sysipc_channel *ch;
	struct file *file[2] = {};
	s32 fd[2] = { -1, -1 };
	u32 size;
	int err, i;

	err = sysipc_get_size(uarg, SYSIPC_CREATE_SIZE_V0, &size);
	if (!err)
		err = copy_struct_from_user(&arg, sizeof(arg), uarg, size);
	if (!err)
		err = sysipc_check_create(&arg);
	if (err)
		return err;

	ch = sysipc_channel_create(&arg);
	if (IS_ERR(ch))
		return PTR_ERR(ch);

	for (i = 0; i < 2; i++) {
		fd[i] = get_unused_fd_flags(O_CLOEXEC);
		if (fd[i] < 0) {
			err = fd[i];
			goto fail;
		}
		file[i] = sysipc_endpoint_file(&ch->side[i]);
		if (IS_ERR(file[i])) {
			err = PTR_ERR(file[i]);
			file[i] = NULL;
			goto fail;
		}
	}
	if (copy_to_user(uarg->fd, fd, sizeof(fd))) {
		err = -EFAULT;
		goto fail;
	}

	/* From here on another thread may close them: nothing may touch them or fail. */
	fd_install(fd[0], file[0]);
	fd_install(fd[1], file[1]);
	sysipc_channel_put(ch);
	return 0;

fail:
	for (i = 0; i < 2; i++) {
		if (file[i])
			fput(file[i]);
		if (fd[i] >= 0)
			put_unused_fd(fd[i]);
	}
	sysipc_channel_put(ch);
	return err;
}

static long sysipc_device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *uarg = (void __user *)arg;

	switch (cmd) {
	case SYSIPC_IOC_QUERY:
		return sysipc_query(uarg);
	case SYSIPC_IOC_CREATE:
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		return sysipc_create(uarg);
	}
	return -ENOTTY;
}

static const struct file_operations sysipc_device_fops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.unlocked_ioctl = sysipc_device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice sysipc_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "sysipc",
	.fops = &sysipc_device_fops,
	.mode = 0660,
};

static int __init sysipc_init(void)
{
	int err = sysipc_channel_init();

	if (err)
		return err;
	err = misc_register(&sysipc_device);
	if (err)
		sysipc_channel_exit();
	return err;
}

static void __exit sysipc_exit(void)
{
	misc_deregister(&sysipc_device);
	sysipc_channel_exit();
}

module_init(sysipc_init);
module_exit(sysipc_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("the sysipc_asio authors");
MODULE_DESCRIPTION("Shared memory between two processes, with pollable wake-ups");
MODULE_VERSION("1.0");
