// SPDX-License-Identifier: GPL-2.0-only
/*
 * verify.c - see verify.h.
 *
 * Of each entry below a directory there are two FNV-1a hashes (64 bits): one of type,
 * mode, owner, size, device number and extended attributes, one of the contents of a
 * file or the target of a link.  The entries are sorted by path, so two lists are
 * compared in one pass.  Times are left out: file systems keep them more or less
 * exactly, as their formats say.
 *
 * A file of more than VERIFY_WHOLE_BYTES is read at its beginning and end alone: it
 * has holes, and reading them takes the host minutes.  Sizes of directories differ
 * from mount to mount.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/files.h"
#include "workloads/tree/read.h"
#include "workloads/tree/walk.h"
#include "workloads/userland/verify.h"

#define VERIFY_WHOLE_BYTES ((off_t)256 << 20)
#define VERIFY_END_BYTES ((off_t)32 << 20)
#define LIST_BYTES ((size_t)256 << 20)
#define XATTR_BYTES ((size_t)64 << 10)
#define NAMED 5		/* entries that a message names */
#define TOLD_BYTES 300

#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

struct entry {
	char *path;
	uint64_t attributes, contents;
	int errnum;		/* it cannot be read */
};

struct entries {
	struct entry *entry;
	size_t n, room;
};

struct reading {
	struct walk walk;
	struct entries found;
	unsigned char *data;	/* TREE_READ_BYTES */
	char *names, *value;	/* XATTR_BYTES each */
};

/* Entries that a message is about: the first ones by name, and how many. */
struct told {
	char text[TOLD_BYTES];
	size_t used, n;
};

static uint64_t fnv(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *in = data;
	size_t i;

	for (i = 0; i < bytes; i++)
		hash = (hash ^ in[i]) * FNV_PRIME;
	return hash;
}

__attribute__((format(printf, 2, 3)))
static void tell(struct told *told, const char *format, ...)
{
	size_t room = sizeof(told->text) - told->used;
	va_list values;
	int length;

	if (told->n++ >= NAMED || room < 2)
		return;
	va_start(values, format);
	length = vsnprintf(told->text + told->used, room, format, values);
	va_end(values);
	told->used += length < (int)room ? (size_t)length : room - 1;
}

/* --- one entry ----------------------------------------------------------- */

/* The sum of all: no order is promised. Those without any, or a place for them, have 0. */
static int hash_xattrs(struct reading *r, const char *path, uint64_t *sum)
{
	ssize_t bytes = llistxattr(path, r->names, XATTR_BYTES), n;
	const char *name;

	*sum = 0;
	if (bytes < 0)
		return errno == ENOTSUP || errno == ENOSYS ? 0 : -1;
	for (name = r->names; name < r->names + bytes; name += strlen(name) + 1) {
		n = lgetxattr(path, name, r->value, XATTR_BYTES);
		if (n < 0)
			return -1;
		*sum += fnv(fnv(FNV_OFFSET, name, strlen(name) + 1), r->value,
			    (size_t)n);
	}
	return 0;
}

static int hash_attributes(struct reading *r, uint64_t *hash)
{
	const struct stat *st = &r->walk.stat;
	uint64_t what[] = {
		st->st_mode, st->st_uid, st->st_gid, 0, 0, 0,
	};
	char path[64 + NAME_MAX];

	if (S_ISREG(st->st_mode))
		what[3] = (uint64_t)st->st_size;
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		what[4] = st->st_rdev;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", r->walk.fd,
		 r->walk.name);
	if (hash_xattrs(r, path, &what[5]))
		return -1;
	*hash = fnv(FNV_OFFSET, what, sizeof(what));
	return 0;
}

static int hash_part(struct reading *r, int fd, off_t from, off_t end,
		     uint64_t *hash)
{
	while (from < end) {
		ssize_t n = pread(fd, r->data, TREE_READ_BYTES, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			break;
		*hash = fnv(*hash, r->data, (size_t)n);
		from += n;
	}
	return 0;
}

static int hash_file(struct reading *r, uint64_t *hash)
{
	off_t size = r->walk.stat.st_size;
	int fd = tree_open(&r->walk), result;

	if (fd < 0)
		return -1;
	if (size <= VERIFY_WHOLE_BYTES)
		result = hash_part(r, fd, 0, size, hash);
	else
		result = hash_part(r, fd, 0, VERIFY_END_BYTES, hash) ||
			 hash_part(r, fd, size - VERIFY_END_BYTES, size, hash);
	if (result) {
		result = errno;
		close(fd);
		errno = result;
		return -1;
	}
	close(fd);
	return 0;
}

static int hash_contents(struct reading *r, uint64_t *hash)
{
	char target[PATH_MAX];
	ssize_t n;

	*hash = FNV_OFFSET;
	if (r->walk.type == DT_REG)
		return hash_file(r, hash);
	if (r->walk.type != DT_LNK)
		return 0;
	n = readlinkat(r->walk.fd, r->walk.name, target, sizeof(target));
	if (n < 0)
		return -1;
	*hash = fnv(*hash, target, (size_t)n);
	return 0;
}

/* --- the tree ------------------------------------------------------------ */

/* The whole path, below the top; NULL: no memory. */
static char *path_of(const struct walk *walk)
{
	size_t bytes = strlen(walk->name) + 1, i, used = 0;
	char *path;

	for (i = 1; i < walk->n_levels; i++)
		bytes += strlen(walk->names + walk->levels[i].own + 1) + 1;
	path = malloc(bytes);
	for (i = 1; path && i < walk->n_levels; i++)
		used += (size_t)sprintf(path + used, "%s/",
					walk->names + walk->levels[i].own + 1);
	return path ? strcpy(path + used, walk->name) - used : NULL;
}

static struct entry *new_entry(struct entries *all)
{
	size_t room = all->room ? 2 * all->room : 256;
	struct entry *entry;

	if (all->n == all->room) {
		entry = realloc(all->entry, room * sizeof(*entry));
		if (!entry)
			return NULL;
		all->entry = entry;
		all->room = room;
	}
	entry = &all->entry[all->n++];
	*entry = (struct entry) { 0 };
	return entry;
}

static int add_entry(struct reading *r, struct ffs_error *error)
{
	struct entry *entry = new_entry(&r->found);

	if (entry)
		entry->path = path_of(&r->walk);
	if (!entry || !entry->path)
		return ffs_fail(error, ENOMEM, "no memory for the list of files");
	if (hash_attributes(r, &entry->attributes) ||
	    hash_contents(r, &entry->contents))
		entry->errnum = errno;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path,
		      ((const struct entry *)b)->path);
}

/* A directory that cannot be read ends the walk: the message has its name. */
static int read_entries(struct reading *r, struct ffs_error *error)
{
	for (;;) {
		int event = walk_next(&r->walk, error);

		if (event < 0) {
			error->errnum = EBADMSG;
			return -1;
		}
		if (event == WALK_END)
			break;
		if (event == WALK_ENTRY && add_entry(r, error))
			return -1;
	}
	if (r->found.n)
		qsort(r->found.entry, r->found.n, sizeof(*r->found.entry), by_path);
	return 0;
}

static int read_tree(struct reading *r, const char *dir, struct ffs_error *error)
{
	const struct walk_options options = { .stat = true };

	r->data = malloc(TREE_READ_BYTES);
	r->names = malloc(XATTR_BYTES);
	r->value = malloc(XATTR_BYTES);
	if (!r->data || !r->names || !r->value)
		return ffs_fail(error, ENOMEM, "no memory to read %s", dir);
	return walk_reserve(&r->walk, dir, &options, error) ||
	       read_entries(r, error) ? -1 : 0;
}

static void free_entries(struct entries *all)
{
	while (all->n)
		free(all->entry[--all->n].path);
	free(all->entry);
}

static void free_reading(struct reading *r)
{
	walk_free(&r->walk);
	free_entries(&r->found);
	free(r->data);
	free(r->names);
	free(r->value);
}

/* --- the list ------------------------------------------------------------ */

#define LINE "%016" PRIx64 " %016" PRIx64 " "

static int write_list(const struct entries *all, const char *path,
		      struct ffs_error *error)
{
	FILE *file = fopen(path, "we");
	size_t i;

	if (!file)
		return ffs_fail(error, errno, "cannot write %s", path);
	for (i = 0; i < all->n; i++) {
		const struct entry *entry = &all->entry[i];

		fprintf(file, LINE "%s%c", entry->attributes, entry->contents,
			entry->path, 0);
	}
	if (fclose(file))
		return ffs_fail(error, errno, "cannot write %s", path);
	return 0;
}

static int read_list(struct entries *all, const char *path,
		     struct ffs_error *error)
{
	size_t bytes;
	char *text = file_read(path, LIST_BYTES, &bytes, error), *at = text;

	while (at && at < text + bytes) {
		struct entry *entry = new_entry(all);
		int length = 0;

		if (!entry || sscanf(at, "%" SCNx64 " %" SCNx64 "%n",
				     &entry->attributes, &entry->contents,
				     &length) != 2 ||
		    !(entry->path = strdup(at + length + 1))) {
			free(text);
			return ffs_fail(error, entry ? EINVAL : ENOMEM,
					"cannot read the list %s", path);
		}
		at += strlen(at) + 1;
	}
	free(text);
	return at ? 0 : -1;
}

/* --- what is said -------------------------------------------------------- */

static int report_unreadable(const struct entries *all, const char *when,
			     struct ffs_error *error)
{
	struct told told = { .text = "" };
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->entry[i].errnum)
			tell(&told, "%s%.80s (%s)", told.n ? ", " : "",
			     all->entry[i].path,
			     ffs_errno_name(all->entry[i].errnum));
	if (!told.n)
		return 0;
	ffs_fail(error, 0, "%zu of %zu names cannot be read %s: %s%s", told.n,
		 all->n, when, told.text, told.n > NAMED ? ", ..." : "");
	error->errnum = EBADMSG;
	return -1;
}

static void compare_entry(const struct entry *before, const struct entry *after,
			  struct told *told)
{
	const char *comma = told->n ? ", " : "";

	if (!after)
		tell(told, "%s%.80s is gone", comma, before->path);
	else if (!before)
		tell(told, "%s%.80s has come", comma, after->path);
	else if (before->contents != after->contents)
		tell(told, "%s%.80s has other contents", comma, after->path);
	else if (before->attributes != after->attributes)
		tell(told, "%s%.80s has other attributes", comma, after->path);
}

static int compare(const struct entries *before, const struct entries *after,
		   struct ffs_error *error)
{
	struct told told = { .text = "" };
	size_t b = 0, a = 0;

	while (b < before->n || a < after->n) {
		const struct entry *old = b < before->n ? &before->entry[b] : NULL;
		const struct entry *now = a < after->n ? &after->entry[a] : NULL;
		int order = !old ? 1 : !now ? -1 : by_path(old, now);

		compare_entry(order <= 0 ? old : NULL, order >= 0 ? now : NULL,
			      &told);
		b += order <= 0;
		a += order >= 0;
	}
	if (!told.n)
		return 0;
	ffs_fail(error, 0, "after an unmount and a mount %zu of %zu names differ: %s%s",
		 told.n, before->n, told.text, told.n > NAMED ? ", ..." : "");
	error->errnum = EBADMSG;
	return -1;
}

/* A directory on the file system of the one above it is no mount point. */
static int check_mounted(const char *dir, struct ffs_error *error)
{
	char above[PATH_MAX];
	struct stat here, there;

	snprintf(above, sizeof(above), "%s/..", dir);
	if (stat(dir, &here) || stat(above, &there))
		return ffs_fail(error, errno, "cannot look at %s", dir);
	if (here.st_dev == there.st_dev)
		return ffs_fail(error, ENOENT,
				"nothing is mounted on %s: the program unmounted it, and did not mount it again",
				dir);
	return 0;
}

int verify_tree(const char *dir, const char *list, bool compare_it,
		struct ffs_error *error)
{
	struct reading r = { .data = NULL };
	struct entries before = { NULL, 0, 0 };
	int result = -1;

	if (check_mounted(dir, error))
		return -1;
	if (!read_tree(&r, dir, error) &&
	    !report_unreadable(&r.found, compare_it ? "after an unmount and a mount" :
			       "at the end", error)) {
		if (!compare_it)
			result = write_list(&r.found, list, error);
		else if (!read_list(&before, list, error))
			result = compare(&before, &r.found, error);
	}
	free_entries(&before);
	free_reading(&r);
	return result;
}
