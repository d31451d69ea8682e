/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - system calls of a timed loop, put off and made together.
 *
 * In the lab a round trip to the kernel costs the host some microseconds
 * whatever the call does, which is most of what a benchmark of small files
 * costs.  The lab's kernel can execute an array of calls in one round trip
 * (kernel/patches, "queued system calls"): to the guest each is as if it had
 * been made by itself, and ends at the same virtual nanosecond.  So a loop
 * whose calls do not depend on what the ones before returned puts them off, has
 * them made, and looks at results and times afterwards.
 *
 * On every other kernel, a board's, ->together is false: whoever puts calls off
 * has them made as soon as an operation is complete, and they are made one by
 * one, each followed by a reading of the clock.
 *
 * A call that is interrupted is made again, one that transferred less than it
 * should is continued; its time is that of all of it.  The first call that
 * fails ends the queue, and no later one is made; so does a result that the
 * caller has to look at first, which is no failure: calls_end_unless_zero().
 */
#ifndef FFSAGENT_CALLS_H
#define FFSAGENT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/error.h"

/* As the kernel has it; the first argument may be given as an open file. */
struct call {
	uint32_t number;
	uint32_t flags;
	uint64_t args[5];
	int64_t result;
	uint64_t t_end_ns;
};

struct calls {
	struct call *queue;	/* [room] */
	uint32_t *tags;		/* [room]: the caller's */
	uint64_t *asked;	/* [room]: bytes to be transferred */
	size_t n, room;
	char *texts;		/* of paths */
	size_t texts_used, texts_room;
	int fd;			/* what was opened last, by calls made */
	bool opens;		/* a call in the queue opens a file */
	bool together;		/* the kernel takes them all at once */
};

/* Room for what needs no more than a few calls, on the stack. */
#define CALLS_FEW 4
struct calls_few {
	_Alignas(64) struct call queue[CALLS_FEW];
	uint32_t tags[CALLS_FEW];
	uint64_t asked[CALLS_FEW];
};

/* For the descriptor of a call: the file that the last calls_open() opens. */
#define CALLS_OPENED (-1000)

/**
 * calls_reserve() - allocate and touch room for @room calls.
 * @text_bytes: for the paths of all of them; 0 if the caller keeps these.
 */
int calls_reserve(struct calls *calls, size_t room, size_t text_bytes,
		  struct ffs_error *error);
void calls_free(struct calls *calls);

/** calls_use() - the room of @few, instead of calls_reserve(). */
void calls_use(struct calls *calls, struct calls_few *few);

/**
 * calls_full() - whether there is no room for @n more calls, with one path of
 * @text_bytes (4,095 at most) with its end, or none.
 */
bool calls_full(const struct calls *calls, size_t n, size_t text_bytes);

/** calls_text() - a copy of @text that stays until calls_clear(). */
const char *calls_text(struct calls *calls, const char *text);

/*
 * Put off one call; there must be room.  Texts and buffers must stay as they
 * are until it is made.  calls_read() to calls_pwrite() transfer all @bytes.
 */
void calls_open(struct calls *calls, uint32_t tag, int at, const char *path,
		int flags);
void calls_close(struct calls *calls, uint32_t tag, int fd);
void calls_read(struct calls *calls, uint32_t tag, int fd, void *data,
		size_t bytes);
void calls_write(struct calls *calls, uint32_t tag, int fd, const void *data,
		 size_t bytes);
void calls_pread(struct calls *calls, uint32_t tag, int fd, void *data,
		 size_t bytes, uint64_t offset);
void calls_pwrite(struct calls *calls, uint32_t tag, int fd, const void *data,
		  size_t bytes, uint64_t offset);
/* Up to @bytes, as one read() gives them. */
void calls_read_some(struct calls *calls, uint32_t tag, int fd, void *data,
		     size_t bytes);
void calls_fsync(struct calls *calls, uint32_t tag, int fd);
void calls_unlink(struct calls *calls, uint32_t tag, int at, const char *path);
void calls_lstat(struct calls *calls, uint32_t tag, int at, const char *path,
		 struct stat *stat);
void calls_fadvise(struct calls *calls, uint32_t tag, int fd, int advice);
void calls_ioctl(struct calls *calls, uint32_t tag, int fd,
		 unsigned long request, void *argument);
/* What getdents64() gives at once. */
void calls_list(struct calls *calls, uint32_t tag, int fd, void *listing,
		size_t bytes);
void calls_mount(struct calls *calls, uint32_t tag, const char *source,
		 const char *target, const char *type, unsigned long flags,
		 const char *options);
void calls_unmount(struct calls *calls, uint32_t tag, const char *target);
/* What memory holds at this point of the queue; only if ->together. */
void calls_copy(struct calls *calls, uint32_t tag, void *to, const void *from,
		size_t bytes);

/** calls_end_unless_zero() - the queue ends at what was put off last if that
 * gives anything but 0. */
void calls_end_unless_zero(struct calls *calls);

/**
 * calls_run() - make them all, or up to the one that ends the queue.
 * @done: how many were made, without the one that failed.
 *
 * The results of a call that was continued and of a close() that was
 * interrupted are as if that had not happened.  If a call fails, a file that it
 * leaves open and that is closed later in the queue is closed.
 *
 * Return: 0, or the errno of call @done: EBADMSG if a file ends before what is
 * to be read of it does, EIO if nothing can be written.
 */
int calls_run(struct calls *calls, size_t *done);

/** calls_is_by_name() - whether a call is given a path, not an open file. */
bool calls_is_by_name(const struct calls *calls, size_t index);

/** calls_path() - of the file that a call in the queue is about, or "". */
const char *calls_path(const struct calls *calls, size_t index);

/** calls_clear() - forget them, after their results have been looked at. */
void calls_clear(struct calls *calls);

#endif
