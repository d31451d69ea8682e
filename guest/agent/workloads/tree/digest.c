// SPDX-License-Identifier: GPL-2.0-only
/*
 * digest.c - the step tree-digest: one number for everything below a
 * directory, whatever the order in which it comes.
 *
 * The sum, modulo 2^64, of one FNV-1a hash (Fowler, Noll, Vo; 64 bits) of each
 * entry: its path, permissions, type, owner, group, and contents, target or
 * device number (docs/plan-format.md, section 9).  The hash of the path of a
 * directory is kept while it is open, so a deep tree costs no more.
 *
 * It finds what is lost, surplus or damaged; it is no protection against intent.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "workloads/tree/read.h"
#include "workloads/tree/run.h"
#include "workloads/tree/shape.h"

#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

struct digestion {
	struct tree_run *run;
	struct walk walk;
	struct tree_reader reader;
	/* By level: of the path of the directory and a slash. */
	uint64_t paths[TREE_DEPTH_MAX + 2];
	uint64_t sum;
};

static uint64_t fnv(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *in = data;
	size_t i;

	for (i = 0; i < bytes; i++)
		hash = (hash ^ in[i]) * FNV_PRIME;
	return hash;
}

static char letter_of(unsigned char type)
{
	switch (type) {
	case DT_DIR:
		return 'd';
	case DT_REG:
		return 'f';
	case DT_LNK:
		return 'l';
	case DT_CHR:
		return 'c';
	case DT_BLK:
		return 'b';
	case DT_FIFO:
		return 'p';
	default:
		return 's';
	}
}

/* Path, attributes, and a NUL behind each of the two. */
static uint64_t hash_head(const struct digestion *d)
{
	const struct walk *walk = &d->walk;
	unsigned int mode = walk->stat.st_mode & 07777;
	char text[64];
	int length;

	if (walk->type == DT_LNK)
		mode = 0;
	length = snprintf(text, sizeof(text), "%u %c %u %u", mode,
			  letter_of(walk->type), walk->stat.st_uid,
			  walk->stat.st_gid);
	return fnv(fnv(d->paths[walk->level], walk->name,
		       strlen(walk->name) + 1), text, (size_t)length + 1);
}

static int hash_file(struct digestion *d, uint64_t *hash,
		     struct ffs_error *error)
{
	int fd = tree_open(&d->walk);
	ssize_t n;

	if (fd < 0)
		return walk_fail(&d->walk, errno, "open", error);
	while ((n = tree_read(&d->reader, fd, TREE_READ_BYTES)) > 0)
		*hash = fnv(*hash, d->reader.buffer, (size_t)n);
	if (n < 0)
		walk_fail(&d->walk, errno, "read", error);
	close(fd);
	return n < 0 ? -1 : 0;
}

static int hash_link(struct digestion *d, uint64_t *hash,
		     struct ffs_error *error)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(d->walk.fd, d->walk.name, target,
			       sizeof(target));

	if (n < 0)
		return walk_fail(&d->walk, errno, "read link", error);
	*hash = fnv(*hash, target, (size_t)n);
	return 0;
}

static uint64_t hash_device(const struct digestion *d, uint64_t hash)
{
	dev_t device = d->walk.stat.st_rdev;
	char text[32];
	int length = snprintf(text, sizeof(text), "%u:%u", major(device),
			      minor(device));

	return fnv(hash, text, (size_t)length);
}

static int add_entry(struct digestion *d, struct ffs_error *error)
{
	unsigned char type = d->walk.type;
	uint64_t hash = hash_head(d);

	if (type == DT_REG && hash_file(d, &hash, error))
		return -1;
	if (type == DT_LNK && hash_link(d, &hash, error))
		return -1;
	if (type == DT_CHR || type == DT_BLK)
		hash = hash_device(d, hash);
	d->sum += hash;
	return 0;
}

static void add_path(struct digestion *d)
{
	const struct walk *walk = &d->walk;

	if (!walk->level) {
		d->paths[0] = FNV_OFFSET;
		return;
	}
	d->paths[walk->level] =
		fnv(fnv(d->paths[walk->level - 1], walk->name,
			strlen(walk->name)), "/", 1);
}

static int digest_tree(struct digestion *d, struct ffs_error *error)
{
	for (;;) {
		int event = walk_next(&d->walk, error);

		if (event < 0)
			return -1;
		if (event == WALK_END)
			return 0;
		if (event == WALK_ENTER)
			add_path(d);
		if (event == WALK_ENTRY && add_entry(d, error))
			return -1;
	}
}

static int compare(struct digestion *d, struct ffs_error *error)
{
	struct tree_run *run = d->run;
	const char *expect = step_text(run->step, "expect");

	snprintf(run->digest, sizeof(run->digest), "%016" PRIx64, d->sum);
	if (!*expect || !strcmp(expect, run->digest))
		return 0;
	return ffs_fail(error, EBADMSG,
		"the digest of %.200s is %s, and %s was expected: something below it is lost, surplus or damaged",
		run->dir, run->digest, expect);
}

int tree_digest(struct tree_run *run, struct ffs_error *error)
{
	const struct walk_options options = {
		.stat = true,
		.exclude = step_text(run->step, "exclude"),
		.latencies = run->latencies,
	};
	struct digestion *d = calloc(1, sizeof(*d));
	int result = -1;

	if (!d)
		return ffs_fail(error, ENOMEM, "no memory for the digest");
	d->run = run;
	if (!tree_reader_init(&d->reader, run, error) &&
	    !walk_reserve(&d->walk, run->dir, &options, error) &&
	    !tree_begin(run, error)) {
		result = digest_tree(d, error);
		tree_stop(run);
		run->counts = d->walk.counts;
		if (!result)
			result = compare(d, error);
	}
	walk_free(&d->walk);
	tree_reader_free(&d->reader);
	free(d);
	return result;
}
