/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: messages, and what every source of the kernel has. */
#ifndef USER_LINUX_KERNEL_H
#define USER_LINUX_KERNEL_H

#include <linux/types.h>

#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

/* The test's: it prints what it likes. @level: 'e'rror, 'w'arning, 'n'otice, 'i'nformation. */
void kernel_message(char level, const char *format, ...);

#define pr_err(...)		kernel_message('e', __VA_ARGS__)
#define pr_err_ratelimited(...)	kernel_message('e', __VA_ARGS__)
#define pr_warn(...)		kernel_message('w', __VA_ARGS__)
#define pr_notice(...)		kernel_message('n', __VA_ARGS__)
#define pr_info(...)		kernel_message('i', __VA_ARGS__)

#endif
