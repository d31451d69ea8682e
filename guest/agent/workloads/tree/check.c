// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - the step tree-check: everything of a generated tree is there,
 * nothing else, and every byte is right.
 *
 * Each name that is found must be one of those that the generator gives to that
 * directory.  Names are different, so if there are also as many as there should
 * be, none is missing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/tree/params.h"
#include "workloads/tree/read.h"
#include "workloads/tree/run.h"

struct checking {
	struct tree_run *run;
	struct tree_params params;
	struct content_source source;
	struct shape_counts planned;
	struct walk walk;
	struct shape_directory *levels;
	struct tree_reader reader;
	unsigned char *wanted;	/* as large as the reader's buffer */
};

/* --- files --------------------------------------------------------------- */

static int differs(struct checking *c, uint64_t position,
		   struct ffs_error *error)
{
	char path[WALK_PATH_BYTES];

	return ffs_fail(error, EBADMSG,
		"%s differs from what was written, first at byte %llu",
		walk_path(&c->walk, path), (unsigned long long)position);
}

static int wrong_size(struct checking *c, const struct shape_file *file,
		      const char *how, struct ffs_error *error)
{
	char path[WALK_PATH_BYTES];

	return ffs_fail(error, EBADMSG,
			"%s is %s than the %llu bytes written",
			walk_path(&c->walk, path), how,
			(unsigned long long)file->bytes);
}

static int compare(struct checking *c, const struct shape_file *file,
		   uint64_t position, size_t bytes, struct ffs_error *error)
{
	const struct content content = { &c->source, file->key, file->bytes };
	const unsigned char *found = c->reader.buffer;
	size_t i = 0;

	content_fill(&content, position, c->wanted, bytes);
	if (!memcmp(found, c->wanted, bytes))
		return 0;
	while (found[i] == c->wanted[i])
		i++;
	return differs(c, position + i, error);
}

static int check_contents(struct checking *c, int fd,
			  const struct shape_file *file,
			  struct ffs_error *error)
{
	uint64_t position = 0;

	for (;;) {
		ssize_t n = tree_read(&c->reader, fd, TREE_READ_BYTES);

		if (n < 0)
			return walk_fail(&c->walk, errno, "read", error);
		if (!n && position < file->bytes)
			return wrong_size(c, file, "shorter", error);
		if (!n)
			return 0;
		if ((uint64_t)n > file->bytes - position)
			return wrong_size(c, file, "longer", error);
		if (compare(c, file, position, (size_t)n, error))
			return -1;
		position += (uint64_t)n;
	}
}

static int check_file(struct checking *c, uint64_t number,
		      struct ffs_error *error)
{
	struct shape_file file;
	int result, fd;

	shape_file_at(&c->params.shape, &c->levels[c->walk.level], number,
		      &file);
	fd = tree_open(&c->walk);
	if (fd < 0)
		return walk_fail(&c->walk, errno, "open", error);
	result = check_contents(c, fd, &file, error);
	close(fd);
	return result;
}

/* --- names --------------------------------------------------------------- */

static int check_entry(struct checking *c, struct ffs_error *error)
{
	const struct shape_directory *directory = &c->levels[c->walk.level];
	const char *name = c->walk.name;
	char path[WALK_PATH_BYTES];
	uint64_t number;

	if (c->walk.type == DT_REG) {
		number = shape_file_number(name);
		if (number && number <= directory->files)
			return check_file(c, number, error);
	} else if (c->walk.type == DT_DIR) {
		number = shape_directory_number(name);
		if (number && number <= directory->directories)
			return 0;
	}
	return ffs_fail(error, EBADMSG,
		"%s is not of the tree: surplus, or of another kind than it was",
		walk_path(&c->walk, path));
}

/* Name one of the entries that the directory should have. */
static int name_missing(struct checking *c,
			const struct shape_directory *directory,
			struct ffs_error *error)
{
	char name[TREE_NAME_BYTES], path[WALK_PATH_BYTES];
	uint64_t i, all = directory->files + directory->directories;
	struct stat ignored;

	for (i = 1; i <= all; i++) {
		if (i <= directory->files)
			shape_file_name(name, i);
		else
			shape_directory_name(name, i - directory->files);
		if (fstatat(c->walk.fd, name, &ignored, AT_SYMLINK_NOFOLLOW))
			break;
	}
	return ffs_fail(error, EBADMSG,
		"%s in %s is missing: %llu of %llu entries are there", name,
		walk_path(&c->walk, path),
		(unsigned long long)c->walk.entries, (unsigned long long)all);
}

/* A directory whose names have been read. */
static int check_directory(struct checking *c, struct ffs_error *error)
{
	size_t level = c->walk.level;
	struct shape_directory *directory = &c->levels[level];

	if (!level)
		shape_root(&c->params.shape, directory);
	else
		shape_child(&c->params.shape, directory - 1,
			    shape_directory_number(c->walk.name), directory);
	if (c->walk.entries < directory->files + directory->directories)
		return name_missing(c, directory, error);
	return 0;
}

static int check_tree(struct checking *c, struct ffs_error *error)
{
	for (;;) {
		int event = walk_next(&c->walk, error);

		if (event == WALK_END)
			return 0;
		if (event < 0) {
			/* Only the top can be missing: others were listed. */
			if (error->errnum == ENOENT)
				error->errnum = EBADMSG;
			return -1;
		}
		if ((event == WALK_ENTER && check_directory(c, error)) ||
		    (event == WALK_ENTRY && check_entry(c, error)))
			return -1;
	}
}

/* --- the step ------------------------------------------------------------ */

static int reserve(struct checking *c, struct ffs_error *error)
{
	const struct walk_options options = {
		.entries_first = true, .latencies = c->run->latencies,
	};

	if (tree_reader_init(&c->reader, c->run, error) ||
	    walk_reserve(&c->walk, c->run->dir, &options, error))
		return -1;
	/* A directory of the deepest level has none below it. */
	c->levels = calloc(c->planned.depth + 1, sizeof(*c->levels));
	c->wanted = malloc(TREE_READ_BYTES);
	if (!c->levels || !c->wanted)
		return ffs_fail(error, ENOMEM, "no memory to check %s",
				c->run->dir);
	memset(c->wanted, 1, TREE_READ_BYTES);
	return content_source_init(&c->source, &c->params.contents, error);
}

int tree_check(struct tree_run *run, struct ffs_error *error)
{
	struct checking c = { .run = run };
	int result = -1;

	if (!tree_params_read(&c.params, run->step, error) &&
	    !shape_count(&c.params.shape, &c.planned, error) &&
	    !reserve(&c, error) && !tree_begin(run, error)) {
		result = check_tree(&c, error);
		tree_stop(run);
		run->counts = c.walk.counts;
		run->counts.bytes = run->measure.phase.bytes_read;
	}
	walk_free(&c.walk);
	content_source_free(&c.source);
	tree_reader_free(&c.reader);
	free(c.levels);
	free(c.wanted);
	return result;
}
