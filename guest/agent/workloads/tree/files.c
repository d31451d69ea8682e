// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - the step tree-read: files of a list, one after the other, as the
 * programs of a boot read them.
 *
 * A line of the list is a path below the directory, and after a tab how many
 * bytes are read of the file; without it all of them.  Symbolic links lead
 * where they would if the directory was the root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clock.h"
#include "workloads/tree/read.h"
#include "workloads/tree/run.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

struct listed {
	char *path;
	uint64_t bytes;
};

struct reading {
	struct tree_reader reader;
	char *text;
	struct listed *files;
	size_t n;
	int dir;
};

/* Return: 0, or -1 if @line is not of a list. */
static int parse_line(char *line, struct listed *file)
{
	char *tab = strchr(line, '\t'), *end = NULL;

	file->path = line + strspn(line, "/");
	file->bytes = UINT64_MAX;
	if (tab) {
		*tab = '\0';
		errno = 0;
		file->bytes = strtoull(tab + 1, &end, 10);
		if (end == tab + 1 || *end || errno)
			return -1;
	}
	return *file->path ? 0 : -1;
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static int parse_list(struct reading *r, const char *list,
		      struct ffs_error *error)
{
	char *rest, *line;

	r->text = strdup(list);
	r->files = calloc(count_lines(list), sizeof(*r->files));
	if (!r->text || !r->files)
		return ffs_fail(error, ENOMEM, "no memory for the list");
	rest = r->text;
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		if (parse_line(line, &r->files[r->n]))
			return ffs_fail(error, EINVAL,
					"line %zu of the list is not a path, or a path, a tab and a number",
					r->n + 1);
		r->n++;
	}
	return 0;
}

static int begin(struct reading *r, struct tree_run *run,
		 struct ffs_error *error)
{
	if (parse_list(r, step_text(run->step, "files"), error) ||
	    tree_reader_init(&r->reader, run, error))
		return -1;
	r->dir = open(run->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->dir < 0)
		return ffs_fail(error, errno, "cannot open %s", run->dir);
	return 0;
}

static int open_below(int dir, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	/* Of Linux 5.6: before, an absolute link leads out of the directory. */
	if (fd < 0 && errno == ENOSYS)
		fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	return (int)fd;
}

/* Return: 0 or an errno. */
static int read_file(struct reading *r, int fd, uint64_t left)
{
	struct tree_run *run = r->reader.run;
	ssize_t n = 1;

	while (n > 0 && left) {
		n = tree_read(&r->reader, fd, left < TREE_READ_BYTES ?
					      (size_t)left : TREE_READ_BYTES);
		if (n < 0)
			return errno;
		left -= (uint64_t)n;
		run->counts.bytes += (uint64_t)n;
	}
	/* At its end tree_read() has counted it. */
	if (!left)
		run->measure.phase.files_read++;
	run->counts.files++;
	return 0;
}

static int read_one(struct reading *r, const struct listed *file,
		    struct ffs_error *error)
{
	struct tree_run *run = r->reader.run;
	uint64_t start = clock_now_ns();
	int fd = open_below(r->dir, file->path), failed;

	if (fd < 0)
		return ffs_fail(error, errno, "cannot open %s/%s of the list",
				run->dir, file->path);
	failed = read_file(r, fd, file->bytes);
	close(fd);
	if (failed)
		return ffs_fail(error, failed, "cannot read %s/%s", run->dir,
				file->path);
	latency_add_at(&run->latencies[LATENCY_READ], start, clock_now_ns());
	return 0;
}

int tree_read_files(struct tree_run *run, struct ffs_error *error)
{
	struct reading r = { .dir = -1 };
	int result = begin(&r, run, error);
	size_t i;

	if (!result)
		result = tree_begin(run, error);
	if (!result) {
		for (i = 0; i < r.n && !result; i++)
			result = read_one(&r, &r.files[i], error);
		tree_stop(run);
	}
	if (r.dir >= 0)
		close(r.dir);
	tree_reader_free(&r.reader);
	free(r.files);
	free(r.text);
	return result;
}
