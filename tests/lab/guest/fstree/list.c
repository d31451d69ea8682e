// SPDX-License-Identifier: GPL-2.0-only
/*
 * list.c - one JSON object per line for everything below a directory: what
 * stat(2) says, the extended attributes, a sum of the contents.
 *
 * Bytes of names and targets that are not harmless are percent-encoded. What
 * cannot be read is part of the listing: "error" with the name of the error,
 * "unreadable" with the positions of the pages of a file that gave one (they
 * count as zeros in the sum). Of files above LARGE_BYTES only the first and
 * the last WINDOW_BYTES are read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fstree.h"

#define PAGE_BYTES	4096
#define WINDOW_BYTES	(1 << 20)
#define LARGE_BYTES	(64LL << 20)
#define PATH_BYTES	16384

static void put_text(FILE *out, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	for (; *c; c++)
		if (*c <= ' ' || *c >= 127 || strchr("%\"\\", *c))
			fprintf(out, "%%%02x", *c);
		else
			putc(*c, out);
}

static void put_error(FILE *out, const char *key, int error)
{
	fprintf(out, ", \"%s\": \"%s\"", key, strerrorname_np(error));
}

/* ---- contents ---- */

/* Pages from @from to @to; those that cannot be read are told and count as 0. */
static uint32_t sum_range(FILE *out, int fd, off_t from, off_t to, uint32_t crc,
			  const char **separator)
{
	char page[PAGE_BYTES];
	ssize_t got, wanted;

	for (; from < to; from += PAGE_BYTES) {
		wanted = to - from < PAGE_BYTES ? to - from : PAGE_BYTES;
		memset(page, 0, sizeof(page));
		got = pread(fd, page, wanted, from);
		if (got != wanted) {
			fprintf(out, "%s[%lld, \"%s\"]", *separator,
				(long long)from,
				got < 0 ? strerrorname_np(errno) : "short");
			*separator = ", ";
			memset(page, 0, sizeof(page));
		}
		crc = crc32_add(crc, page, wanted);
	}
	return crc;
}

static void put_contents(FILE *out, const char *path, off_t size)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW);
	const char *separator = "";
	uint32_t crc = 0;

	if (fd < 0) {
		put_error(out, "error", errno);
		return;
	}
	fputs(", \"unreadable\": [", out);
	if (size <= LARGE_BYTES) {
		crc = sum_range(out, fd, 0, size, crc, &separator);
	} else {
		crc = sum_range(out, fd, 0, WINDOW_BYTES, crc, &separator);
		crc = sum_range(out, fd, size - WINDOW_BYTES, size, crc,
				&separator);
	}
	fprintf(out, "], \"crc\": %u", crc);
	close(fd);
}

/* ---- extended attributes ---- */

static void put_xattr(FILE *out, const char *path, const char *name)
{
	unsigned char value[PAGE_BYTES * 4];
	ssize_t bytes = lgetxattr(path, name, value, sizeof(value)), i;

	putc('"', out);
	put_text(out, name);
	if (bytes < 0)
		fprintf(out, "\": \"%s", strerrorname_np(errno));
	else
		fputs("\": \"", out);
	for (i = 0; i < bytes; i++)
		fprintf(out, "%02x", value[i]);
	putc('"', out);
}

static void put_xattrs(FILE *out, const char *path)
{
	char names[PAGE_BYTES * 4];
	ssize_t bytes = llistxattr(path, names, sizeof(names));
	const char *name = names;

	if (bytes < 0) {
		put_error(out, "xattr_error", errno);
		return;
	}
	fputs(", \"xattrs\": {", out);
	for (; name < names + bytes; name += strlen(name) + 1) {
		if (name != names)
			fputs(", ", out);
		put_xattr(out, path, name);
	}
	putc('}', out);
}

/* ---- names ---- */

static void put_target(FILE *out, const char *path)
{
	char target[PATH_BYTES];
	ssize_t bytes = readlink(path, target, sizeof(target) - 1);

	if (bytes < 0) {
		put_error(out, "error", errno);
		return;
	}
	target[bytes] = 0;
	fputs(", \"target\": \"", out);
	put_text(out, target);
	putc('"', out);
}

static bool put_node(FILE *out, const char *path, const char *shown)
{
	struct stat s;

	fputs("{\"path\": \"", out);
	put_text(out, shown);
	putc('"', out);
	if (lstat(path, &s)) {
		put_error(out, "error", errno);
		fputs("}\n", out);
		return false;
	}
	fprintf(out, ", \"ino\": %llu, \"mode\": %u, \"nlink\": %u",
		(unsigned long long)s.st_ino, s.st_mode,
		(unsigned int)s.st_nlink);
	fprintf(out, ", \"uid\": %u, \"gid\": %u, \"size\": %lld", s.st_uid,
		s.st_gid, (long long)s.st_size);
	fprintf(out, ", \"atime\": %lld, \"mtime\": %lld, \"ctime\": %lld",
		(long long)s.st_atime, (long long)s.st_mtime,
		(long long)s.st_ctime);
	fprintf(out, ", \"major\": %u, \"minor\": %u", major(s.st_rdev),
		minor(s.st_rdev));
	if (S_ISREG(s.st_mode))
		put_contents(out, path, s.st_size);
	if (S_ISLNK(s.st_mode))
		put_target(out, path);
	put_xattrs(out, path);
	if (S_ISDIR(s.st_mode) && access(path, R_OK))
		put_error(out, "error", errno);
	fputs("}\n", out);
	return S_ISDIR(s.st_mode);
}

/* @path has room for PATH_BYTES; what is below the root is shown from @root on. */
static int list_below(FILE *out, char *path, size_t root)
{
	size_t length = strlen(path);
	struct dirent *entry;
	int status = 0;
	DIR *dir;

	if (!put_node(out, path, path[root] ? path + root : "/"))
		return 0;
	dir = opendir(path);
	if (!dir) {
		fprintf(stderr, "fstree: %s: %s\n", path, strerror(errno));
		return 1;
	}
	while (!status) {
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			break;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(path + length, PATH_BYTES - length, "/%s",
			 entry->d_name);
		status = list_below(out, path, root);
		path[length] = 0;
	}
	if (errno)
		fprintf(stderr, "fstree: %s: %s\n", path, strerror(errno));
	status |= errno != 0;
	closedir(dir);
	return status;
}

int list_tree(const char *directory, const char *file)
{
	char *path = malloc(PATH_BYTES);
	FILE *out = fopen(file, "w");
	int status;

	if (!path || !out) {
		fprintf(stderr, "fstree: %s: %s\n", file, strerror(errno));
		return 1;
	}
	snprintf(path, PATH_BYTES, "%s", directory);
	status = list_below(out, path, strlen(directory));
	if (fclose(out)) {
		fprintf(stderr, "fstree: %s: %s\n", file, strerror(errno));
		status = 1;
	}
	free(path);
	return status;
}
