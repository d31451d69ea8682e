// SPDX-License-Identifier: GPL-2.0-only
/*
 * mount.c - the steps about a mounted file system as a whole: mount, mount-overlay,
 * umount, sync, drop-caches.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "core/caches.h"
#include "core/files.h"
#include "measure/space.h"
#include "plan/verbs.h"
#include "steps/step.h"

static int make_target(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	(void)state;
	return make_directories(step_text(step, "target"), error);
}

static unsigned long mount_flags(const char *list)
{
	unsigned long flags = 0;

	while (*list) {
		size_t length = strcspn(list, ",");

		flags |= plan_mount_flag(list, length);
		list += length + (list[length] == ',');
	}
	return flags;
}

static int mount_it(const struct plan_step *step, struct run_state *state,
		    struct ffs_error *error)
{
	const char *type = step_text(step, "type");
	const char *source = step_text(step, "source");
	const char *target = step_text(step, "target");

	(void)state;
	if (mount(source, target, type, mount_flags(step_text(step, "flags")),
		  step_text(step, "options")))
		return ffs_fail(error, errno, "cannot mount %s '%s' on %s%s",
				type, source, target,
				errno == ENODEV ? " (this kernel does not know the file system: load its module)" :
				errno == EINVAL ? " (a wrong option, or no such file system on it; the kernel log says more)" : "");
	return 0;
}

/*
 * The two directories of the upper file system are made here, and so in the
 * phase: the first mount of a product makes them too.
 */
static int mount_overlay(const struct plan_step *step, struct run_state *state,
			 struct ffs_error *error)
{
	const char *lower = step_text(step, "lower");
	const char *upper = step_text(step, "upper");
	const char *target = step_text(step, "target");
	char top[256], work[256], options[1024];

	(void)state;
	if (snprintf(top, sizeof(top), "%s/upper", upper) >= (int)sizeof(top) ||
	    snprintf(work, sizeof(work), "%s/work", upper) >= (int)sizeof(work) ||
	    snprintf(options, sizeof(options),
		     "lowerdir=%s,upperdir=%s,workdir=%s", lower, top,
		     work) >= (int)sizeof(options))
		return ffs_fail(error, ENAMETOOLONG, "a path of the overlay");
	if (make_directories(top, error) || make_directories(work, error))
		return -1;
	if (mount("overlay", target, "overlay",
		  mount_flags(step_text(step, "flags")), options))
		return ffs_fail(error, errno, "cannot mount %s over %s on %s%s",
				upper, lower, target,
				errno == ENODEV ? " (load the module overlay)" :
				errno == EINVAL ? " (a file system that cannot be the upper one; the kernel log says more)" : "");
	return 0;
}

static void record_space(const struct plan_step *step, struct run_state *state)
{
	const char *label = *step->label ? step->label : step->verb->name;
	struct ffs_error ignored;
	struct space space;

	if (!space_read(&space, step_text(step, "target"), &ignored))
		space_record(&space, label, state->sink);
}

static void report_space(const struct plan_step *step, struct run_state *state)
{
	/* Of a host's directory it would be the host's: no two runs alike. */
	if (strcmp(step_text(step, "type"), "hostfs"))
		record_space(step, state);
}

static int unmount_it(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	const char *target = step_text(step, "target");

	(void)state;
	if (umount(target))
		return ffs_fail(error, errno, "cannot unmount %s%s", target,
				errno == EBUSY ? " (a file or directory of it is in use)" :
				errno == EINVAL ? " (nothing is mounted there)" : "");
	return 0;
}

static int sync_it(const struct plan_step *step, struct run_state *state,
		   struct ffs_error *error)
{
	(void)state;
	return sync_filesystem(step_text(step, "target"), error);
}

static int drop_caches(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	(void)step;
	(void)state;
	return caches_drop(CACHES_ALL, error);
}

const struct verb_spec mount_verbs[] = {
	{
		.name = "mount",
		.flags = VERB_PHASE,
		.before = make_target,
		.run = mount_it,
		.after = report_space,
		.keys = {
			{ "type", KEY_NAME, NULL, 0, 0, NULL },
			{ "source", KEY_NAME, NULL, 0, 0, NULL },
			{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "options", KEY_TEXT, "", 0, 0, NULL },
			{ "flags", KEY_MOUNT_FLAGS, "", 0, 0, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "mount-overlay",
		.flags = VERB_PHASE,
		.before = make_target,
		.run = mount_overlay,
		.after = record_space,
		.keys = {
			{ "lower", KEY_PATH, NULL, 0, 0, NULL },
			{ "upper", KEY_PATH, NULL, 0, 0, NULL },
			{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
			{ "flags", KEY_MOUNT_FLAGS, "", 0, 0, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "umount",
		.flags = VERB_PHASE,
		.run = unmount_it,
		.keys = {
			{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "sync",
		.flags = VERB_PHASE,
		.run = sync_it,
		.keys = {
			{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
			PLAN_PHASE_KEY,
		},
	},
	{
		.name = "drop-caches",
		.flags = VERB_PHASE,
		.run = drop_caches,
		.keys = {
			PLAN_PHASE_KEY,
		},
	},
	{ .name = NULL },
};
