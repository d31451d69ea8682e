// SPDX-License-Identifier: GPL-2.0-only
/*
 * steps.c - see steps.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/caches.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/process.h"
#include "flash/image.h"
#include "flash/monitor.h"
#include "flash/mtd.h"
#include "flash/ubi.h"
#include "measure/measure.h"
#include "steps/memory.h"
#include "steps/steps.h"
#include "workloads/ffsmark/ffsmark.h"
#include "workloads/micro/micro.h"
#include "workloads/micro/prepare.h"
#include "workloads/tree/tree.h"

#define CAPTURE_LIMIT ((size_t)1 << 20)
#define NS_PER_MS 1000000u

typedef int (*step_function)(const struct plan_step *step,
			     struct run_state *state, struct ffs_error *error);

/* The part of a step that takes its time; @result is the step's own. */
typedef int (*timed_part)(const struct plan_step *step, void *result,
			  struct ffs_error *error);

/*
 * Do the timed part of a step that has a key "phase", as a phase of that name
 * if there is one.
 */
static int timed(timed_part part, const struct plan_step *step, void *result,
		 const struct run_state *state, struct ffs_error *error)
{
	const char *phase = step_text(step, "phase");
	struct measure *m;
	int status = -1;

	if (!*phase)
		return part(step, result, error);
	m = calloc(1, sizeof(*m));
	if (!m)
		return ffs_fail(error, ENOMEM, "no memory for phase %s", phase);
	if (!measure_begin(m, state->monitor, error)) {
		status = part(step, result, error);
		measure_stop(m);
		status = measure_end(m, state->monitor, status, error);
		measure_record(m, MEASURE_WORKLOAD, phase, NULL, state->sink);
		measure_free(m);
	}
	free(m);
	return status;
}

static int step_insmod(const struct plan_step *step, struct run_state *state,
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

static int step_rmmod(const struct plan_step *step, struct run_state *state,
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

static int step_monitor(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	const char *mtd = step_text(step, "mtd");

	if (monitor_attach(mtd, error) || mtd_record(mtd, state->sink, error))
		return -1;
	state->watched.mtd = mtd;
	state->watched.chip = step_text(step, "chip");
	state->monitor = &state->watched;
	return 0;
}

static int step_trace(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	return monitor_trace(state->monitor->mtd, step_number(step, "on"), error);
}

static int step_erase(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	(void)state;
	return mtd_erase(step_text(step, "mtd"), error);
}

static int write_image(const struct plan_step *step, void *result,
		       struct ffs_error *error)
{
	return image_write(step_text(step, "mtd"), step_text(step, "path"),
			   step_number(step, "oob"), result, error);
}

static int step_write_image(const struct plan_step *step,
			    struct run_state *state, struct ffs_error *error)
{
	struct image_written written;

	if (timed(write_image, step, &written, state, error))
		return -1;
	image_record(&written, step_text(step, "path"), state->sink);
	return 0;
}

static int attach_ubi(const struct plan_step *step, void *result,
		      struct ffs_error *error)
{
	int ubi = (int)step_number(step, "ubi");
	int block = (int)step_number(step, "block");

	(void)result;
	if (ubi_attach(step_text(step, "mtd"), ubi,
		       (int)step_number(step, "vid_hdr_offset"),
		       (int)step_number(step, "max_beb_per1024"), error))
		return -1;
	return block < 0 ? 0 : ubi_make_block(ubi, block, error);
}

static int step_ubi_attach(const struct plan_step *step,
			   struct run_state *state, struct ffs_error *error)
{
	return timed(attach_ubi, step, NULL, state, error);
}

static int make_volume(const struct plan_step *step, void *result,
		       struct ffs_error *error)
{
	(void)result;
	return ubi_make_volume((int)step_number(step, "ubi"),
			       step_text(step, "name"),
			       (int)step_number(step, "volume"),
			       step_number(step, "size"), error);
}

static int step_ubi_mkvol(const struct plan_step *step,
			  struct run_state *state, struct ffs_error *error)
{
	return timed(make_volume, step, NULL, state, error);
}

static int detach_ubi(const struct plan_step *step, void *result,
		      struct ffs_error *error)
{
	(void)result;
	return ubi_detach((int)step_number(step, "ubi"), error);
}

static int step_ubi_detach(const struct plan_step *step,
			   struct run_state *state, struct ffs_error *error)
{
	return timed(detach_ubi, step, NULL, state, error);
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

static int mount_it(const struct plan_step *step, void *result,
		    struct ffs_error *error)
{
	const char *type = step_text(step, "type");
	const char *source = step_text(step, "source");
	const char *target = step_text(step, "target");

	(void)result;
	if (mount(source, target, type, mount_flags(step_text(step, "flags")),
		  step_text(step, "options")))
		return ffs_fail(error, errno, "cannot mount %s '%s' on %s%s",
				type, source, target,
				errno == ENODEV ? " (this kernel does not know the file system: load its module)" :
				errno == EINVAL ? " (a wrong option, or no such file system on it; the kernel log says more)" : "");
	return 0;
}

static int step_mount(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	if (make_directories(step_text(step, "target"), error) ||
	    timed(mount_it, step, NULL, state, error))
		return -1;
	/* Of a host's directory it would be the host's: no two runs alike. */
	state->space_wanted = strcmp(step_text(step, "type"), "hostfs") != 0;
	return 0;
}

static int unmount_it(const struct plan_step *step, void *result,
		      struct ffs_error *error)
{
	const char *target = step_text(step, "target");

	(void)result;
	if (umount(target))
		return ffs_fail(error, errno, "cannot unmount %s%s", target,
				errno == EBUSY ? " (a file or directory of it is in use)" :
				errno == EINVAL ? " (nothing is mounted there)" : "");
	return 0;
}

static int step_umount(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	return timed(unmount_it, step, NULL, state, error);
}

static int sync_it(const struct plan_step *step, void *result,
		   struct ffs_error *error)
{
	(void)result;
	return sync_filesystem(step_text(step, "target"), error);
}

static int step_sync(const struct plan_step *step, struct run_state *state,
		     struct ffs_error *error)
{
	return timed(sync_it, step, NULL, state, error);
}

static int drop_caches(const struct plan_step *step, void *result,
		       struct ffs_error *error)
{
	(void)step;
	(void)result;
	return caches_drop(CACHES_ALL, error);
}

static int step_drop_caches(const struct plan_step *step,
			    struct run_state *state, struct ffs_error *error)
{
	return timed(drop_caches, step, NULL, state, error);
}

static int step_sleep(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	(void)state;
	return clock_sleep_ns((uint64_t)step_number(step, "ms") * NS_PER_MS,
			      error);
}

/*
 * File systems format in the background: JFFS2 writes a clean marker into every
 * erased block, UBI an erase counter.  Until that is done a workload on an
 * empty file system would be charged for it.
 */
static int settle(const struct plan_step *step, void *monitor,
		  struct ffs_error *error)
{
	static const char *const watched[] = {
		"read_calls", "write_calls", "erase_calls",
	};
	int64_t quiet_ms = step_number(step, "quiet_ms"), waited_ms = 0;
	struct flash_snapshot now = { 0 };
	uint64_t before = UINT64_MAX, requests = 0;
	int result = 0;

	if (!monitor)
		return ffs_fail(error, 0,
			"settle needs the flash monitor: put a monitor step before it");
	while (!result && requests != before) {
		size_t i;

		if (waited_ms > step_number(step, "max_ms")) {
			result = ffs_fail(error, ETIMEDOUT,
				"the flash was still busy after %lld ms",
				(long long)waited_ms);
			break;
		}
		before = requests;
		requests = 0;
		result = clock_sleep_ns((uint64_t)quiet_ms * NS_PER_MS, error);
		waited_ms += quiet_ms;
		if (!result)
			result = snapshot_take_counters(&now, monitor, error);
		for (i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
			requests += snapshot_counter(&now, watched[i]);
	}
	snapshot_free(&now);
	return result;
}

static int step_settle(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	return timed(settle, step, (void *)state->monitor, state, error);
}

static int step_memory(const struct plan_step *step, struct run_state *state,
		       struct ffs_error *error)
{
	struct memory memory;
	int result = memory_read(&memory, error);

	if (!result)
		memory_record(&memory, step->label, state->sink);
	memory_free(&memory);
	return result;
}

static int step_snapshot(const struct plan_step *step, struct run_state *state,
			 struct ffs_error *error)
{
	struct flash_snapshot snapshot = { 0 };
	int result = snapshot_after(&snapshot, state->monitor, error);

	if (!result)
		snapshot_record(&snapshot, step->label, state->sink);
	snapshot_free(&snapshot);
	return result;
}

static int step_capture(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	const char *path = step_text(step, "path");
	char *text = file_read(path, CAPTURE_LIMIT, NULL, error);

	if (!text)
		return -1;
	record_begin(state->sink, "file");
	record_string(state->sink, "path", path);
	record_string(state->sink, "text", text);
	record_end(state->sink);
	free(text);
	return 0;
}

static int step_ffsmark(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	struct ffsmark_location location = {
		.path = (char *)step_text(step, "dir"),
		.weight = 1,
	};
	struct ffsmark_params params = {
		.locations = &location,
		.n_locations = 1,
		.number = (uint32_t)step_number(step, "number"),
		.subdirectories = (uint32_t)step_number(step, "subdirectories"),
		.size_min = (uint32_t)step_number(step, "size_min"),
		.size_max = (uint32_t)step_number(step, "size_max"),
		.transactions = (uint32_t)step_number(step, "transactions"),
		.read_bytes = (uint32_t)step_number(step, "read_bytes"),
		.write_bytes = (uint32_t)step_number(step, "write_bytes"),
		.bias_read = (int)step_number(step, "bias_read"),
		.bias_create = (int)step_number(step, "bias_create"),
		.text = step_number(step, "text"),
		.buffering = step_number(step, "buffering"),
		.valid_percent = (unsigned int)step_number(step, "valid_percent"),
		.invalid_percent = (unsigned int)step_number(step, "invalid_percent"),
		.drop_caches = step_number(step, "drop_caches"),
		.seed = (uint64_t)step_number(step, "seed"),
		.verify = step_number(step, "verify"),
		.full = step_number(step, "full"),
	};
	struct ffsmark_outputs outputs = {
		.sink = state->sink,
		.monitor = state->monitor,
	};
	struct ffsmark_result *result = calloc(1, sizeof(*result));
	int status;

	if (!result)
		return ffs_fail(error, ENOMEM, "no memory for the workload");
	status = ffsmark_run(&params, &outputs, result, error);
	ffsmark_result_free(result);
	free(result);
	return status;
}

static int step_prepare(const struct plan_step *step, struct run_state *state,
			struct ffs_error *error)
{
	struct prepare_params params;

	prepare_params_read(&params, step);
	return prepare_run(&params, state->monitor, state->sink, error);
}

static int step_micro(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	struct micro_params params;

	micro_params_read(&params, step);
	return micro_run(&params, state->monitor, state->sink, error);
}

static int step_tree(const struct plan_step *step, struct run_state *state,
		     struct ffs_error *error)
{
	return tree_step(step, state->monitor, state->sink, error);
}

static int step_exec(const struct plan_step *step, struct run_state *state,
		     struct ffs_error *error)
{
	(void)state;
	return process_run(step_text(step, "path"), step_text(step, "args"),
			   error);
}

static int step_shell(const struct plan_step *step, struct run_state *state,
		      struct ffs_error *error)
{
	return process_shell(step_text(step, "path"), state->is_init, error);
}

static const struct {
	const char *verb;
	step_function function;
} functions[] = {
	{ "insmod", step_insmod },
	{ "rmmod", step_rmmod },
	{ "monitor", step_monitor },
	{ "trace", step_trace },
	{ "erase", step_erase },
	{ "write-image", step_write_image },
	{ "ubi-attach", step_ubi_attach },
	{ "ubi-mkvol", step_ubi_mkvol },
	{ "ubi-detach", step_ubi_detach },
	{ "mount", step_mount },
	{ "umount", step_umount },
	{ "sync", step_sync },
	{ "drop-caches", step_drop_caches },
	{ "sleep", step_sleep },
	{ "settle", step_settle },
	{ "snapshot", step_snapshot },
	{ "memory", step_memory },
	{ "capture", step_capture },
	{ "ffsmark", step_ffsmark },
	{ "prepare", step_prepare },
	{ "micro", step_micro },
	{ "tree-create", step_tree },
	{ "tree-list", step_tree },
	{ "tree-find", step_tree },
	{ "tree-delete", step_tree },
	{ "tree-copy", step_tree },
	{ "tree-check", step_tree },
	{ "tree-digest", step_tree },
	{ "tree-warm", step_tree },
	{ "exec", step_exec },
	{ "shell", step_shell },
};

int step_execute(const struct plan_step *step, struct run_state *state,
		 struct ffs_error *error)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].verb, step->verb->name))
			return functions[i].function(step, state, error);
	return ffs_fail(error, ENOSYS, "no function executes '%s'",
			step->verb->name);
}
