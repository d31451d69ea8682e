// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_file.c - writing, reading and cutting files.
 *
 * A write is issued as one call, as one call with several buffers, or in small
 * pieces, forwards or backwards: a cache of chunks merges and evicts them
 * differently.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "workloads/random/target.h"

enum manner { WHOLE, VECTOR, FORWARDS, BACKWARDS, MANNERS };

static const char *const manner_name[] = { "whole", "in a vector",
					  "in pieces", "in pieces backwards" };

static void write_piece(struct history *h, const struct target *target,
			const unsigned char *data, size_t bytes, uint64_t at)
{
	ssize_t done;

	if (!h->live)
		return;
	done = pwrite(target->fd, data, bytes, at);
	if (done != (ssize_t)bytes)
		fail(h, target->node,
		     "pwrite() at %llu: expected %zu, found %zd (%s)",
		     (unsigned long long)at, bytes, done,
		     errno_name(done < 0 ? errno : 0));
}

static void write_vector(struct history *h, const struct target *target,
			 size_t bytes, uint64_t at)
{
	size_t first = rng_below(&h->aux, bytes + 1);
	size_t second = rng_below(&h->aux, bytes - first + 1);
	struct iovec part[] = {
		{ h->buffer, first },
		{ h->buffer + first, second },
		{ h->buffer + first + second, bytes - first - second },
	};
	ssize_t done = pwritev(target->fd, part, 3, at);

	if (done != (ssize_t)bytes)
		fail(h, target->node,
		     "pwritev() at %llu: expected %zu, found %zd (%s)",
		     (unsigned long long)at, bytes, done,
		     errno_name(done < 0 ? errno : 0));
}

static void write_pieces(struct history *h, const struct target *target,
			 size_t bytes, uint64_t at, bool backwards)
{
	size_t piece = rng_between(&h->aux, 1, 3000), done, part, start;

	if (bytes / piece > 200)
		piece = bytes / 200;
	for (done = 0; done < bytes; done += part) {
		part = bytes - done < piece ? bytes - done : piece;
		start = backwards ? bytes - done - part : done;
		write_piece(h, target, h->buffer + start, part, at + start);
	}
}

/* Writes h->buffer to the file system and to the model. */
static void write_range(struct history *h, struct target *target, uint64_t at,
			size_t bytes, enum manner manner)
{
	if (h->live && manner == VECTOR)
		write_vector(h, target, bytes, at);
	else if (h->live && manner != WHOLE)
		write_pieces(h, target, bytes, at, manner == BACKWARDS);
	else
		write_piece(h, target, h->buffer, bytes, at);
	content_write(&h->model, target->node, at, h->buffer, bytes);
	touch(h, target->node, MODIFIED | CHANGED);
}

static int write_flags(struct history *h)
{
	static const int flags[] = { O_SYNC, O_DSYNC, O_APPEND };

	return chance(h, 10) ? flags[draw_below(h, 3)] : 0;
}

void op_write(struct history *h)
{
	int flags = write_flags(h);
	enum manner manner = draw_below(h, MANNERS);
	struct target target;
	uint64_t at, bytes;
	bool append;

	if (!target_pick(h, &target, O_RDWR | flags))
		return;
	at = choose_offset(h, target.node);
	bytes = choose_length(h);
	if (at == target.node->size && at > h->opt.file_max)
		at = draw_below(h, target.node->size);
	append = target.handle ? target.handle->append : flags == O_APPEND;
	if (append) {
		at = target.node->size;
		if (manner == BACKWARDS)
			manner = FORWARDS;
	}
	if (bytes) {
		describe(h, target.node, NULL, "write %s at %llu bytes %llu %s%s%s",
			 target_name(h, &target), (unsigned long long)at,
			 (unsigned long long)bytes, manner_name[manner],
			 append ? ", O_APPEND" : "",
			 flags && !append && !target.handle ? ", synchronous" : "");
		fill_data(h, h->buffer, bytes);
		write_range(h, &target, at, bytes, manner);
	}
	target_done(h, &target);
}

/*
 * The same range again and again: what was written before becomes garbage,
 * which the file system must collect while other data stays.
 */
void op_churn(struct history *h)
{
	unsigned int i, times = draw_between(h, 5, 30);
	bool synchronous = chance(h, 40);
	struct target target;
	uint64_t at, bytes;

	if (!target_pick(h, &target, O_RDWR))
		return;
	if (target.node->size && !(target.handle && target.handle->append)) {
		at = draw_below(h, target.node->size);
		bytes = draw_between(h, 1, 48 * 1024);
		if (bytes > target.node->size - at)
			bytes = target.node->size - at;
		if (bytes > bytes_left(h))
			bytes = bytes_left(h) / 2;
		describe(h, target.node, NULL,
			 "overwrite %s at %llu bytes %llu, %u times%s",
			 target_name(h, &target), (unsigned long long)at,
			 (unsigned long long)bytes, times,
			 synchronous ? ", fsync" : "");
		for (i = 0; i < times && bytes; i++) {
			fill_data(h, h->buffer, bytes);
			write_range(h, &target, at, bytes,
				    draw_below(h, MANNERS));
			if (synchronous)
				CALL(h, 0, fsync(target.fd));
		}
	}
	target_done(h, &target);
}

void op_read(struct history *h)
{
	struct target target;
	uint64_t at, bytes, wanted;

	if (!target_pick(h, &target, O_RDONLY))
		return;
	at = choose_offset(h, target.node);
	bytes = draw_between(h, 1, 64 * 1024);
	wanted = at < target.node->size ? target.node->size - at : 0;
	if (wanted > bytes)
		wanted = bytes;
	describe(h, target.node, NULL, "read %s at %llu bytes %llu",
		 target_name(h, &target), (unsigned long long)at,
		 (unsigned long long)bytes);
	if (h->live) {
		ssize_t done;

		/* Not what the page cache knows, but what is below it. */
		if (rng_below(&h->aux, 2))
			posix_fadvise(target.fd, 0, 0, POSIX_FADV_DONTNEED);
		done = pread(target.fd, h->other, bytes, at);

		if (done != (ssize_t)wanted)
			fail(h, target.node,
			     "pread(): expected %llu, found %zd (%s)",
			     (unsigned long long)wanted, done,
			     errno_name(done < 0 ? errno : 0));
		compare_range(h, target.node, at, h->other, done, "read");
	}
	target_done(h, &target);
}

void op_truncate(struct history *h)
{
	bool by_path = chance(h, 40);
	struct target target;
	uint64_t size;
	bool same;

	if (!target_pick(h, &target, O_RDWR))
		return;
	size = choose_size(h, target.node);
	same = size == target.node->size;
	by_path = by_path && target.entry;
	describe(h, target.node, NULL, "%s %s from %llu to %llu",
		 by_path ? "truncate" : "ftruncate", target_name(h, &target),
		 (unsigned long long)target.node->size,
		 (unsigned long long)size);
	if (by_path)
		CALL(h, 0, truncate(target.path, size));
	else
		CALL(h, 0, ftruncate(target.fd, size));
	content_truncate(&h->model, target.node, size);
	if (by_path && same)
		touch_perhaps(h, target.node, MODIFIED | CHANGED);
	else if (by_path)
		touch_unless_lax(h, target.node, MODIFIED | CHANGED);
	else
		touch(h, target.node, MODIFIED | CHANGED);
	target_done(h, &target);
}

/* A few bytes that the file system may still have in a cache of its own. */
static void write_around(struct history *h, struct target *target, uint64_t at)
{
	uint64_t start = at > 100 ? at - 100 : 0;

	if (bytes_left(h) < 4 * PAGE)
		return;
	fill_data(h, h->buffer, 300);
	write_range(h, target, start, 300, WHOLE);
}

/*
 * Written, cut, then longer again at once: what was cut off must not come
 * back, neither from memory nor from the flash.
 */
void op_cut_and_extend(struct history *h)
{
	bool extend_by_write = chance(h, 50), append;
	struct target target;
	uint64_t cut, size;

	if (!target_pick(h, &target, O_RDWR))
		return;
	cut = draw_below(h, target.node->size + 1);
	size = cut + draw_between(h, 500, 24 * 1024);
	append = target.handle && target.handle->append;
	extend_by_write = extend_by_write && !append;
	describe(h, target.node, NULL, "ftruncate %s from %llu to %llu, then %s %llu",
		 target_name(h, &target),
		 (unsigned long long)target.node->size, (unsigned long long)cut,
		 extend_by_write ? "write at" : "ftruncate to",
		 (unsigned long long)size);
	if (!append && chance(h, 70))
		write_around(h, &target, cut);
	CALL(h, 0, ftruncate(target.fd, cut));
	content_truncate(&h->model, target.node, cut);
	if (!append && chance(h, 50))
		write_around(h, &target, cut + draw_below(h, 130));
	if (extend_by_write) {
		h->buffer[0] = 'e';
		write_range(h, &target, size, 1, WHOLE);
	} else {
		CALL(h, 0, ftruncate(target.fd, size));
		content_truncate(&h->model, target.node, size);
		touch(h, target.node, MODIFIED | CHANGED);
	}
	if (h->live) {
		if (rng_below(&h->aux, 2))
			posix_fadvise(target.fd, 0, 0, POSIX_FADV_DONTNEED);
		compare_contents(h, target.node, target.fd);
	}
	target_done(h, &target);
}

void op_open(struct history *h)
{
	struct entry *entry = pick_entry(h, KIND_FILE);
	struct handle *handle = handle_free(h);
	bool append = chance(h, 20), cut = chance(h, 12);
	char path[PATH_BYTES];
	int fd = -1;

	if (!entry)
		return;
	if (!handle) {
		handle = pick_handle(h);
		if (!handle)
			handle = &h->handle[0];
		handle_close(h, handle);
	}
	entry_path(h, entry, path);
	describe(h, entry->node, NULL, "open %s%s%s",
		 show_path(h, entry->dir, entry->name),
		 append ? " O_APPEND" : "", cut ? " O_TRUNC" : "");
	CALL(h, 0, fd = open(path, O_RDWR | O_CLOEXEC |
			     (append ? O_APPEND : 0) | (cut ? O_TRUNC : 0)));
	if (cut) {
		content_truncate(&h->model, entry->node, 0);
		touch(h, entry->node, MODIFIED | CHANGED);
	}
	handle_open(h, handle, entry->node, fd, append);
}

void op_close(struct history *h)
{
	struct handle *handle = pick_handle(h);

	if (!handle)
		return;
	describe(h, handle->node, NULL, "close%s",
		 handle->node->links ? "" : ", the last use of the file");
	handle_close(h, handle);
}

static void sync_directory(struct history *h)
{
	struct node *dir = pick_dir(h);
	char path[PATH_BYTES];
	int fd = -1;

	node_path(h, dir, NULL, path);
	describe(h, dir, NULL, "fsync a directory");
	CALL(h, 0, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	CALL(h, 0, fsync(fd));
	CALL(h, 0, close(fd));
}

void sync_all(struct history *h)
{
	int fd = -1;

	describe(h, NULL, NULL, "syncfs");
	CALL(h, 0, fd = open(h->opt.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	CALL(h, 0, syncfs(fd));
	CALL(h, 0, close(fd));
}

void op_sync(struct history *h)
{
	unsigned int kind = draw_below(h, 100);
	struct target target;

	if (kind < 15) {
		sync_all(h);
		return;
	}
	if (kind < 30 || !target_pick(h, &target, O_RDWR)) {
		sync_directory(h);
		return;
	}
	describe(h, target.node, NULL, "%s %s",
		 kind < 65 ? "fsync" : "fdatasync", target_name(h, &target));
	if (kind < 65)
		CALL(h, 0, fsync(target.fd));
	else
		CALL(h, 0, fdatasync(target.fd));
	target_done(h, &target);
}
