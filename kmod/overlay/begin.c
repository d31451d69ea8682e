// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where overlayfs and the files below it, two parts of a kernel that has them,
 * are one module: it begins with both.
 */
#include <linux/init.h>
#include <linux/module.h>

int begin_backing_files(void);
int begin_overlayfs(void);

static int __init begin(void)
{
	int err = begin_backing_files();

	return err ? err : begin_overlayfs();
}
module_init(begin);
