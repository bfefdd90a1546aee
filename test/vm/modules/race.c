// SPDX-License-Identifier: GPL-2.0 OR BSL-1.0
// Two threads write the same variable, which only KCSAN notices.
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

static unsigned long shared;

static int race_thread(void *unused)
{
	while (!kthread_should_stop()) {
		shared++;
		cond_resched();
	}
	return 0;
}

static int __init race_init(void)
{
	struct task_struct *thread[2];
	int i;

	for (i = 0; i < 2; i++)
		thread[i] = kthread_run(race_thread, NULL, "race-%d", i);
	msleep(3000);
	for (i = 0; i < 2; i++)
		if (!IS_ERR(thread[i]))
			kthread_stop(thread[i]);
	return 0;
}

static void __exit race_exit(void)
{
}

module_init(race_init);
module_exit(race_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module with a data race");
