// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops_map.c - files changed and read through memory, and copied by the kernel.
 *
 * A shared mapping is always of whole pages.  With --clean-tail what is stored
 * in the last one behind the end of the file must never show, also if the file
 * is extended before it was written back; many file systems fail there.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "workloads/random/target.h"

struct window {
	uint64_t at;		/* in the file */
	uint64_t bytes;
	uint64_t start;		/* of the mapping, a page boundary */
	unsigned char *memory;
};

static bool choose_window(struct history *h, const struct node *file,
			  struct window *window, uint64_t longest)
{
	if (!file->size)
		return false;
	window->at = draw_below(h, file->size);
	window->bytes = draw_between(h, 1, 40 * 1024);
	if (window->bytes > file->size - window->at)
		window->bytes = file->size - window->at;
	if (window->bytes > longest)
		window->bytes = longest;
	window->start = window->at - window->at % PAGE;
	return window->bytes;
}

static void map_window(struct history *h, const struct target *target,
		       struct window *window, int protection, int sharing)
{
	size_t length = window->at - window->start + window->bytes;

	window->memory = mmap(NULL, length, protection, sharing, target->fd,
			      window->start);
	if (window->memory == MAP_FAILED)
		fail(h, target->node, "mmap(): expected success, found %s",
		     errno_name(errno));
}

static void store(struct history *h, const struct target *target,
		  struct window *window)
{
	size_t length = window->at - window->start + window->bytes;
	uint64_t end;

	if (!h->live)
		return;
	map_window(h, target, window, PROT_READ | PROT_WRITE, MAP_SHARED);
	memcpy(window->memory + (window->at - window->start), h->buffer,
	       window->bytes);
	end = window->at + window->bytes;
	if (h->opt.clean_tail && end == target->node->size && end % PAGE)
		memset(window->memory + length, 'T', PAGE - end % PAGE);
	if (rng_below(&h->aux, 3))
		CALL(h, 0, msync(window->memory, length,
				 rng_below(&h->aux, 4) ? MS_SYNC : MS_ASYNC));
	CALL(h, 0, munmap(window->memory, length));
}

/* A file system that maps nothing for writing says EINVAL. */
static void store_refused(struct history *h, const struct target *target)
{
	void *memory;

	if (!h->live)
		return;
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      target->fd, 0);
	if (memory != MAP_FAILED || errno != EINVAL)
		fail(h, target->node, "mmap(): expected EINVAL, found %s",
		     memory == MAP_FAILED ? errno_name(errno) : "success");
}

void op_map_write(struct history *h)
{
	struct target target;
	struct window window;

	if (!target_pick(h, &target, O_RDWR))
		return;
	if (h->opt.no_mmap_write) {
		describe(h, target.node, NULL, "mmap %s, to be refused",
			 target_name(h, &target));
		store_refused(h, &target);
	} else if (choose_window(h, target.node, &window, bytes_left(h))) {
		describe(h, target.node, NULL,
			 "write %s at %llu bytes %llu through a mapping",
			 target_name(h, &target),
			 (unsigned long long)window.at,
			 (unsigned long long)window.bytes);
		fill_data(h, h->buffer, window.bytes);
		store(h, &target, &window);
		content_write(&h->model, target.node, window.at, h->buffer,
			      window.bytes);
		touch(h, target.node, MODIFIED | CHANGED);
	}
	target_done(h, &target);
}

void op_map_read(struct history *h)
{
	struct target target;
	struct window window;

	if (!target_pick(h, &target, O_RDONLY))
		return;
	if (choose_window(h, target.node, &window, BUFFER_BYTES)) {
		describe(h, target.node, NULL,
			 "read %s at %llu bytes %llu through a mapping",
			 target_name(h, &target),
			 (unsigned long long)window.at,
			 (unsigned long long)window.bytes);
		if (h->live) {
			size_t head = window.at - window.start;

			/* Shared is as good as for writing on such a file. */
			map_window(h, &target, &window, PROT_READ,
				   h->opt.no_mmap_write || head % 2 ?
				   MAP_PRIVATE : MAP_SHARED);
			compare_range(h, target.node, window.at,
				      window.memory + head, window.bytes,
				      "mapping");
			CALL(h, 0, munmap(window.memory, head + window.bytes));
		}
	}
	target_done(h, &target);
}

static void copy_live(struct history *h, const struct target *from,
		      const struct target *to, uint64_t in, uint64_t out,
		      uint64_t bytes, bool by_range)
{
	off64_t at = in, there = out;
	uint64_t left = bytes;

	if (!by_range)
		CALL(h, 0, lseek(to->fd, out, SEEK_SET));
	while (left) {
		ssize_t done = by_range ?
			copy_file_range(from->fd, &at, to->fd, &there, left, 0) :
			sendfile(to->fd, from->fd, &at, left);

		if (done <= 0)
			fail(h, to->node, "%s(): expected %llu, found %zd (%s)",
			     by_range ? "copy_file_range" : "sendfile",
			     (unsigned long long)left, done,
			     errno_name(done < 0 ? errno : 0));
		left -= done;
	}
}

void op_copy(struct history *h)
{
	bool by_range = chance(h, 50), same;
	struct target from, to;
	struct window window;
	uint64_t out;

	if (!target_pick(h, &from, O_RDONLY))
		return;
	if (target_pick(h, &to, O_RDWR)) {
		out = choose_offset(h, to.node);
		same = from.node == to.node || (to.handle && to.handle->append);
		if (!same && choose_window(h, from.node, &window,
					   bytes_left(h) / 2)) {
			describe(h, to.node, from.node,
				 "%s to %s at %llu from #%u at %llu bytes %llu",
				 by_range ? "copy_file_range" : "sendfile",
				 target_name(h, &to), (unsigned long long)out,
				 from.node->id, (unsigned long long)window.at,
				 (unsigned long long)window.bytes);
			if (h->live)
				copy_live(h, &from, &to, window.at, out,
					  window.bytes, by_range);
			content_read(from.node, window.at, h->buffer,
				     window.bytes);
			content_write(&h->model, to.node, out, h->buffer,
				      window.bytes);
			touch(h, to.node, MODIFIED | CHANGED);
		}
		target_done(h, &to);
	}
	target_done(h, &from);
}
