// SPDX-License-Identifier: GPL-2.0-only
/*
 * space.c - see space.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "core/files.h"
#include "measure/space.h"

/* A line of /proc/meminfo reads: MemFree:   1234 kB */
static uint64_t meminfo_bytes(const char *text, const char *name)
{
	const char *line = text ? strstr(text, name) : NULL;

	return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

int space_read(struct space *space, const char *path, struct ffs_error *error)
{
	struct statfs fs;
	char *text;
	int result;

	do
		result = statfs(path, &fs);
	while (result && errno == EINTR);
	if (result)
		return ffs_fail(error, errno, "cannot ask for the space of %s",
				path);
	/* Linux before 2.6.36 left f_frsize at 0. */
	if (!fs.f_frsize)
		fs.f_frsize = fs.f_bsize;
	space->total_bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_frsize;
	space->free_bytes = (uint64_t)fs.f_bfree * (uint64_t)fs.f_frsize;
	space->available_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_frsize;
	space->files = (uint64_t)fs.f_files;
	space->files_free = (uint64_t)fs.f_ffree;
	text = file_read("/proc/meminfo", 1 << 16, NULL, NULL);
	space->page_cache_bytes = meminfo_bytes(text, "\nBuffers:") +
				  meminfo_bytes(text, "\nCached:");
	space->mem_free_bytes = meminfo_bytes(text, "\nMemFree:");
	free(text);
	return 0;
}

void space_record(const struct space *space, const char *label,
		  struct record_sink *sink)
{
	record_begin(sink, "space");
	record_string(sink, "label", label);
	record_number(sink, "total_bytes", space->total_bytes);
	record_number(sink, "free_bytes", space->free_bytes);
	record_number(sink, "available_bytes", space->available_bytes);
	record_number(sink, "files", space->files);
	record_number(sink, "files_free", space->files_free);
	record_number(sink, "page_cache_bytes", space->page_cache_bytes);
	record_number(sink, "mem_free_bytes", space->mem_free_bytes);
	record_end(sink);
}
