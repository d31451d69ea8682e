// SPDX-License-Identifier: GPL-2.0-only
/*
 * create.c - the step tree-create: make a tree of the shape that the plan
 * describes.
 *
 * Contents are made in memory before a file is opened, a reserve at a time, and
 * so are outside its latency; of a file larger than the reserve they are made
 * between its writes.  The calls for small files are put off until the reserve
 * is full or a directory is next.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "measure/timed.h"
#include "measure/space.h"
#include "workloads/tree/descent.h"
#include "workloads/tree/params.h"
#include "workloads/tree/run.h"

#define RESERVE_BYTES ((uint64_t)256 << 10)
/* Where in the reserve a file begins: how many pages it lies in is its own. */
#define SLOT_BYTES ((uint64_t)4096)
#define CALLS 256
#define CALLS_TEXT_BYTES ((size_t)4 << 10)

struct open_directory {
	struct shape_directory directory;
	uint64_t next;		/* sub-directory */
};

struct creation {
	struct tree_run *run;
	struct tree_params params;
	uint64_t write_bytes;
	bool sync;
	struct content_source source;
	struct shape_counts planned;
	struct descent descent;
	struct open_directory *levels;
	size_t n_levels;
	unsigned char *reserve;
	uint64_t reserve_bytes;	/* a multiple of write_bytes and of a slot */
	uint64_t reserve_used;
	char name[TREE_NAME_BYTES];	/* of the file that was put off last */
	struct timed_calls timed;
};

/* --- messages ------------------------------------------------------------ */

/*
 * What the file system says is free: some run out of inodes first.  A few may be left
 * that it keeps for itself.
 */
static const char *full_hint(const char *dir, char *buffer, size_t bytes)
{
	struct ffs_error ignored;
	struct space space;

	if (space_read(&space, dir, &ignored))
		return " (the partition is full; a smaller tree, or a larger partition)";
	if (space.files && space.files_free <= space.files / 512)
		snprintf(buffer, bytes,
			 " (it has no more inodes: %llu of %llu are free; a smaller tree)",
			 (unsigned long long)space.files_free,
			 (unsigned long long)space.files);
	else
		snprintf(buffer, bytes,
			 " (the partition is full: %llu bytes available; a smaller tree, or a larger partition)",
			 (unsigned long long)space.available_bytes);
	return buffer;
}

/* @name: in the directory that is open last. */
static int fail_at(const struct creation *c, int errnum, const char *what,
		   const char *name, struct ffs_error *error)
{
	const struct walk_counts *done = &c->run->counts;
	const char *hint = "";
	char buffer[160];

	if (errnum == EEXIST)
		hint = " (left over from an earlier run? remove it)";
	else if (errnum == ENOSPC)
		hint = full_hint(c->run->dir, buffer, sizeof(buffer));
	if (!c->n_levels)
		return ffs_fail(error, errnum, "cannot %s %.200s%s", what,
				name, hint);
	return ffs_fail(error, errnum,
		"cannot %s %s at level %zu of %.100s, after %llu of %llu files and %llu of %llu directories%s",
		what, name, c->n_levels, c->run->dir,
		(unsigned long long)done->files,
		(unsigned long long)c->planned.files,
		(unsigned long long)done->directories,
		(unsigned long long)c->planned.directories, hint);
}

/* --- files --------------------------------------------------------------- */

/* Make the calls that were put off. */
static int flush(struct creation *c, struct ffs_error *error)
{
	struct timed_failure failure;
	int result = timed_run(&c->timed, &failure);
	struct phase *phase = &c->run->measure.phase;

	phase->bytes_written = c->timed.bytes_written;
	phase->files_created =
		c->run->latencies[LATENCY_CREATE].histogram.count;
	c->run->counts.files = phase->files_created;
	c->run->counts.bytes = phase->bytes_written;
	if (!result)
		return 0;
	return fail_at(c, failure.errnum, failure.by_name ? "create" : "write",
		       *failure.path ? failure.path : c->name, error);
}

/* And what was put off into the reserve is not needed any more. */
static int empty_reserve(struct creation *c, struct ffs_error *error)
{
	if (flush(c, error))
		return -1;
	c->reserve_used = 0;
	return 0;
}

static int make_room(struct creation *c, size_t text_bytes,
		     struct ffs_error *error)
{
	return calls_full(&c->timed.calls, 1, text_bytes) ? flush(c, error) : 0;
}

/* Contents from @offset on, all that there is room for. */
static const unsigned char *fill_reserve(struct creation *c,
					 const struct shape_file *file,
					 uint64_t offset, uint64_t *bytes)
{
	const struct content content = { &c->source, file->key, file->bytes };
	unsigned char *start = c->reserve + c->reserve_used;
	uint64_t left = file->bytes - offset;

	*bytes = c->reserve_bytes - c->reserve_used;
	if (*bytes > left)
		*bytes = left;
	content_fill(&content, offset, start, (size_t)*bytes);
	c->reserve_used += (*bytes + SLOT_BYTES - 1) / SLOT_BYTES * SLOT_BYTES;
	return start;
}

static int put_off_writes(struct creation *c, const unsigned char *data,
			  uint64_t bytes, struct ffs_error *error)
{
	while (bytes) {
		uint64_t n = bytes < c->write_bytes ? bytes : c->write_bytes;

		if (make_room(c, 0, error))
			return -1;
		calls_write(&c->timed.calls,
			    TIMED_REQUEST(LATENCY_REQUEST_WRITE), CALLS_OPENED,
			    data, (size_t)n);
		data += n;
		bytes -= n;
	}
	return 0;
}

/* Open, write, sync, close. */
static int put_off_file(struct creation *c, const struct shape_file *file,
			struct ffs_error *error)
{
	struct calls *calls = &c->timed.calls;
	uint64_t offset = 0, bytes;
	const unsigned char *data = fill_reserve(c, file, 0, &bytes);

	calls_open(calls, TIMED_PART, descent_fd(&c->descent),
		   calls_text(calls, c->name), O_WRONLY | O_CREAT | O_EXCL);
	for (;;) {
		if (put_off_writes(c, data, bytes, error))
			return -1;
		offset += bytes;
		if (offset == file->bytes)
			break;
		if (empty_reserve(c, error))
			return -1;
		data = fill_reserve(c, file, offset, &bytes);
	}
	if (make_room(c, 0, error))
		return -1;
	if (c->sync) {
		calls_fsync(calls, TIMED_PART, CALLS_OPENED);
		if (make_room(c, 0, error))
			return -1;
	}
	calls_close(calls, TIMED_WHOLE(LATENCY_CREATE), CALLS_OPENED);
	return 0;
}

static int create_file(struct creation *c, uint64_t number,
		       struct ffs_error *error)
{
	const struct open_directory *top = &c->levels[c->n_levels - 1];
	struct shape_file file;

	shape_file_at(&c->params.shape, &top->directory, number, &file);
	/* A file has all of the reserve that it needs. */
	if (c->reserve_used + file.bytes > c->reserve_bytes &&
	    empty_reserve(c, error))
		return -1;
	if (make_room(c, TREE_NAME_BYTES, error))
		return -1;
	shape_file_name(c->name, number);
	if (put_off_file(c, &file, error))
		return -1;
	return c->timed.calls.together ? 0 : empty_reserve(c, error);
}

/* --- directories --------------------------------------------------------- */

static int create_files(struct creation *c, struct ffs_error *error)
{
	const struct shape_directory *directory =
		&c->levels[c->n_levels - 1].directory;
	uint64_t entries = directory->files + directory->directories, i;

	if (entries > c->run->counts.largest_directory)
		c->run->counts.largest_directory = entries;
	for (i = 1; i <= directory->files; i++)
		if (create_file(c, i, error))
			return -1;
	return flush(c, error);
}

/* Make the directory of the level that is to come, and go into it. */
static int create_directory(struct creation *c, const char *name,
			    struct ffs_error *error)
{
	int at = c->n_levels ? descent_fd(&c->descent) : AT_FDCWD;
	uint64_t start = clock_now_ns(), end;
	int result = mkdirat(at, name, 0755);

	end = clock_now_ns();
	if (result)
		return fail_at(c, errno, "make directory", name, error);
	latency_add_at(&c->run->latencies[LATENCY_MKDIR], start, end);
	c->run->counts.directories++;
	if (c->n_levels > c->run->counts.depth)
		c->run->counts.depth = c->n_levels;
	if (descent_enter(&c->descent, name))
		return fail_at(c, errno, "open directory", name, error);
	c->n_levels++;
	return create_files(c, error);
}

static int create_tree(struct creation *c, struct ffs_error *error)
{
	const struct tree_shape *shape = &c->params.shape;
	char name[TREE_NAME_BYTES];

	shape_root(shape, &c->levels[0].directory);
	c->levels[0].next = 1;
	if (create_directory(c, c->run->dir, error))
		return -1;
	while (c->n_levels) {
		struct open_directory *top = &c->levels[c->n_levels - 1];

		if (top->next > top->directory.directories) {
			if (descent_leave(&c->descent))
				return fail_at(c, errno, "go back up from",
					       "a directory", error);
			c->n_levels--;
			continue;
		}
		shape_child(shape, &top->directory, top->next,
			    &top[1].directory);
		top[1].next = 1;
		shape_directory_name(name, top->next++);
		if (create_directory(c, name, error))
			return -1;
	}
	return 0;
}

/* --- the step ------------------------------------------------------------ */

static int reserve(struct creation *c, struct ffs_error *error)
{
	uint64_t unit = c->write_bytes;
	size_t levels = (size_t)c->planned.depth + 2;

	c->reserve_bytes = unit > RESERVE_BYTES ? unit :
			   RESERVE_BYTES / unit * unit;
	c->reserve = malloc(c->reserve_bytes);
	c->levels = malloc(levels * sizeof(*c->levels));
	if (!c->reserve || !c->levels)
		return ffs_fail(error, ENOMEM,
			"no memory for %llu levels and writes of %llu bytes",
			(unsigned long long)levels, (unsigned long long)unit);
	/* Touched now, so that no page fault falls into the phase; not with
	 * zeros, for which a compiler would ask for untouched memory. */
	memset(c->reserve, 1, c->reserve_bytes);
	memset(c->levels, 1, levels * sizeof(*c->levels));
	if (descent_reserve(&c->descent, levels, error) ||
	    timed_reserve(&c->timed, CALLS, CALLS_TEXT_BYTES,
			  c->run->latencies, error))
		return -1;
	return content_source_init(&c->source, &c->params.contents, error);
}

int tree_create(struct tree_run *run, struct ffs_error *error)
{
	struct creation c = {
		.run = run,
		.write_bytes = (uint64_t)step_number(run->step, "write_bytes"),
		.sync = step_number(run->step, "sync"),
	};
	int result = -1;

	if (!tree_params_read(&c.params, run->step, error) &&
	    !shape_count(&c.params.shape, &c.planned, error) &&
	    !reserve(&c, error) && !tree_begin(run, error)) {
		result = create_tree(&c, error);
		tree_stop(run);
	}
	timed_free(&c.timed);
	descent_free(&c.descent);
	content_source_free(&c.source);
	free(c.levels);
	free(c.reserve);
	return result;
}
