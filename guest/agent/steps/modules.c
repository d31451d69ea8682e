// SPDX-License-Identifier: GPL-2.0-only
/*
 * modules.c - the steps insmod and rmmod.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plan/verbs.h"
#include "steps/step.h"

static int insert_module(const struct plan_step *step, struct run_state *state,
			 struct ffs_error *error)
{
	const char *path = step_text(step, "path");
	int failed = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	(void)state;
	if (fd < 0)
		return ffs_fail(error, errno, "cannot open module %s", path);
	/* glibc has no wrapper. */
	if (syscall(SYS_finit_module, fd, step_text(step, "args"), 0))
		failed = errno;
	close(fd);
	if (failed)
		return ffs_fail(error, failed, "cannot load module %s%s", path,
				failed == ENOEXEC ? " (built for another kernel?)" :
				failed == EINVAL ? " (a wrong parameter? the kernel log says which)" :
				failed == ENOENT ? " (a symbol it needs is missing: load the module that has it first)" : "");
	return 0;
}

static int remove_module(const struct plan_step *step, struct run_state *state,
			 struct ffs_error *error)
{
	const char *name = step_text(step, "name");

	(void)state;
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		return ffs_fail(error, errno, "cannot unload module %s%s", name,
				errno == EWOULDBLOCK ? " (it is in use: unmount, detach, unload what uses it first)" :
				errno == ENOENT ? " (it is not loaded)" : "");
	return 0;
}

const struct verb_spec module_verbs[] = {
	{
		.name = "insmod",
		.run = insert_module,
		.keys = {
			{ "path", KEY_PATH, NULL, 0, 0, NULL },
			{ "args", KEY_TEXT, "", 0, 0, NULL },
		},
	},
	{
		.name = "rmmod",
		.run = remove_module,
		.keys = {
			{ "name", KEY_NAME, NULL, 0, 0, NULL },
		},
	},
	{ .name = NULL },
};
