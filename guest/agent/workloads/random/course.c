// SPDX-License-Identifier: GPL-2.0-only
/*
 * course.c - the course of a history: mount, run, compare, unmount.
 *
 * Without a type of file system it uses the directory as it is, which must be
 * empty but for lost+found.  With ->verify_only and otherwise the same options
 * the history is run on the model alone, and what an earlier run left on the file
 * system is compared with it; times are then known only where the history set
 * them.  The options of the mount may differ there if their number is the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/files.h"
#include "workloads/random/ops_tree.h"

#define CALLS_MAX ((size_t)256 << 20)

static void start_model(struct history *h)
{
	model_init(&h->model);
	h->model.root->links += h->opt.root_links;
	h->log_next = 0;
}

/* The root as a history finds it: of a known owner and mode, empty. */
static void begin(struct history *h)
{
	char path[PATH_BYTES];
	struct statvfs space;

	h->begun_ns = h->live ? clock_ns() : 0;
	node_path(h, h->model.root, SCRATCH, path);
	CALL(h, 0, chmod(h->opt.dir, 0755));
	CALL(h, 0, chown(h->opt.dir, 0, 0));
	CALL(h, 0, mkdir(path, 0700));
	touch(h, h->model.root, MODIFIED | CHANGED);
	if (!h->live)
		return;
	CALL(h, 0, statvfs(h->opt.dir, &space));
	h->first_free = space.f_bfree * space.f_frsize;
	compare_tree(h);
}

/* Caches are dropped, or it is mounted again. */
static void forget_memory(struct history *h)
{
	enum after after = h->opt.after;

	if (after == AFTER_BOTH)
		after = rng_below(&h->draws.rng, 3) ? AFTER_REMOUNT : AFTER_DROP;
	run_named(h, after == AFTER_REMOUNT ? "remount" : "drop-caches");
}

/* Compared as memory has it, and once more as the flash has it. */
static void end_round(struct history *h)
{
	run_named(h, "compare");
	if (h->opt.after != AFTER_NOTHING) {
		forget_memory(h);
		run_named(h, "compare");
	}
	run_named(h, "round");
}

static void draw_all(struct history *h)
{
	for (h->op = 1; h->op <= h->opt.operations; h->op++) {
		run_operation(h);
		if (h->op % h->opt.compare_every == 0)
			end_round(h);
	}
	h->op = h->opt.operations;
}

/*
 * The lines of the whole history, run on the model alone.  So an execution of all of
 * them does nothing else before than one that leaves some out.
 */
static char *lines_of(struct history *h)
{
	char *mounted = h->mount_data;
	bool live = h->live;

	h->mount_data = NULL;
	h->live = false;
	h->draws.told = true;
	draw_all(h);
	handles_close_all(h);
	remove_everything(h);
	start_model(h);
	h->draws.told = false;
	h->live = live;
	free(h->mount_data);
	h->mount_data = mounted;
	h->op = 0;
	h->report->operations = 0;
	return h->draws.text;
}

static char *read_lines(struct history *h)
{
	struct ffs_error error;
	char *text = file_read(h->opt.calls, CALLS_MAX, NULL, &error);

	if (!text)
		fail(h, NULL, "%s", error.message);
	return text;
}

/* Whether line @number is in the ranges of @list, as in "0-7,12-12", from where
 * it stands on. */
static bool is_left_out(const char **list, uint64_t number)
{
	unsigned long long first, last;

	while (sscanf(*list, "%llu-%llu", &first, &last) == 2) {
		if (number <= last)
			return number >= first;
		*list += strcspn(*list, ",");
		*list += **list == ',';
	}
	return false;
}

static void run(struct history *h)
{
	char *text = h->opt.calls ? read_lines(h) : lines_of(h);
	const char *without = h->opt.without, *name;
	char *next = text, *line;
	uint64_t number = 0;

	while ((line = strsep(&next, "\n")) && *line) {
		if (is_left_out(&without, number++))
			continue;
		name = draws_open_line(h, line);
		if (!run_named(h, name))
			fail(h, NULL, "there is no call '%s'", name);
		draws_close_line(h);
	}
	free(text);
	/* A descriptor dies with the program, and a file without a name. */
	handles_close_all(h);
}

static void delete_all(struct history *h)
{
	struct statvfs space;
	uint64_t after;
	int fd = -1;

	h->begun_ns = h->live ? clock_ns() : 0;
	remove_everything(h);
	if (!h->live)
		return;
	compare_tree(h);
	CALL(h, 0, fd = open(h->opt.dir, O_RDONLY | O_CLOEXEC));
	CALL(h, 0, syncfs(fd));
	CALL(h, 0, close(fd));
	CALL(h, 0, statvfs(h->opt.dir, &space));
	after = space.f_bfree * space.f_frsize;
	if (after + space.f_blocks * space.f_frsize / 16 < h->first_free)
		fail(h, NULL, "all is deleted, free bytes: expected %llu, found %llu",
		     (unsigned long long)h->first_free,
		     (unsigned long long)after);
}

static void live_history(struct history *h)
{
	h->live = true;
	mount_first(h);
	begin(h);
	run(h);
	compare_tree(h);
	if (h->opt.delete_all)
		delete_all(h);
	mount_last(h);
}

/* The history on the model, then the file system as it is, or is mounted. */
static void verify_history(struct history *h)
{
	mount_first(h);
	begin(h);
	run(h);
	if (h->opt.delete_all)
		delete_all(h);
	h->live = true;
	h->op = h->opt.operations;
	if (h->opt.type) {
		mkdir(h->opt.dir, 0755);
		CALL(h, 0, mount(h->opt.source, h->opt.dir, h->opt.type,
				 h->opt.mount_flags, h->mount_data));
		h->mounted = true;
	}
	compare_tree(h);
	mount_last(h);
}

void history_run(struct history *h)
{
	h->buffer = allocate(BUFFER_BYTES);
	h->other = allocate(BUFFER_BYTES);
	rng_seed(&h->draws.rng, h->opt.seed);
	rng_seed(&h->aux, ~h->opt.seed);
	start_model(h);
	umask(0);
	if (h->opt.tell_calls)
		h->draws.text = lines_of(h);
	else if (h->opt.verify_only)
		verify_history(h);
	else
		live_history(h);
}
