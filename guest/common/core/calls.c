// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - see calls.h.
 *
 * make_one_by_one() does what the kernel does with a queue, so that both go the
 * same way through the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/calls.h"
#include "core/clock.h"

/* The lab's: arch/um/include/shared/skas/calls.h, arch/um/kernel/skas/calls.c. */
#define NR_RUN_CALLS 4095
#define CALL_OPENED 1	/* the first argument is what was opened last */
#define CALL_OPENS 2
#define CALL_WHOLE 4	/* transfers args[2] bytes */
#define CALL_ZERO 8	/* any other result ends the queue */
#define CALL_ALIGNMENT 64
#define PAGE_BYTES 4096

_Static_assert(sizeof(struct call) == CALL_ALIGNMENT,
	       "the kernel knows a call of this size");

/* Calls have the numbers of x86-64, the lab's; elsewhere they are names. */
enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_CLOSE = 3,
	NR_IOCTL = 16,
	NR_PREAD = 17,
	NR_PWRITE = 18,
	NR_FSYNC = 74,
	NR_MOUNT = 165,
	NR_UNMOUNT = 166,
	NR_LIST = 217,
	NR_OPENAT = 257,
	NR_LSTATAT = 262,
	NR_UNLINKAT = 263,
	NR_FADVISE = 221,
	NR_COPY = 4096,		/* not a system call */
};

/*
 * A test of the lab changes the digit in the built program, which changes
 * nothing else of it.
 */
static const volatile char together[] = "ffsagent.calls.together=1";

/* --- memory -------------------------------------------------------------- */

static bool kernel_takes_them(void)
{
#ifdef __x86_64__
	/* Asked once, a round trip, and whatever the digit is: the page that
	 * it is kept in is written at the same time. */
	static int answer = -1;

	/* Only a kernel with the page of time can be the lab's. */
	if (ffs_time_page && answer < 0)
		answer = !syscall(NR_RUN_CALLS, NULL, 0, sizeof(struct call));
	return answer > 0 && together[sizeof(together) - 2] == '1';
#else
	return false;
#endif
}

void calls_use(struct calls *calls, struct calls_few *few)
{
	memset(calls, 0, sizeof(*calls));
	/* The kernel does not bring its page for the queue. */
	memset(few->queue, 0, sizeof(few->queue));
	calls->fd = -1;
	calls->together = kernel_takes_them();
	calls->room = CALLS_FEW;
	calls->queue = few->queue;
	calls->tags = few->tags;
	calls->asked = few->asked;
}

int calls_reserve(struct calls *calls, size_t room, size_t text_bytes,
		  struct ffs_error *error)
{
	memset(calls, 0, sizeof(*calls));
	calls->fd = -1;
	calls->together = kernel_takes_them();
	calls->room = room;
	calls->texts_room = (text_bytes + PAGE_BYTES - 1) / PAGE_BYTES *
			    PAGE_BYTES;
	calls->queue = aligned_alloc(CALL_ALIGNMENT,
				     room * sizeof(*calls->queue));
	calls->tags = malloc(room * sizeof(*calls->tags));
	calls->asked = malloc(room * sizeof(*calls->asked));
	if (text_bytes)
		calls->texts = aligned_alloc(PAGE_BYTES, calls->texts_room);
	if (!calls->queue || !calls->tags || !calls->asked ||
	    (text_bytes && !calls->texts)) {
		calls_free(calls);
		return ffs_fail(error, ENOMEM, "no memory for %zu calls", room);
	}
	/* Touched now: the kernel does not bring pages for the queue, and no
	 * page fault falls into a timed phase. */
	memset(calls->queue, 1, room * sizeof(*calls->queue));
	memset(calls->tags, 1, room * sizeof(*calls->tags));
	memset(calls->asked, 1, room * sizeof(*calls->asked));
	if (text_bytes)
		memset(calls->texts, 1, calls->texts_room);
	return 0;
}

void calls_free(struct calls *calls)
{
	free(calls->queue);
	free(calls->tags);
	free(calls->asked);
	free(calls->texts);
	memset(calls, 0, sizeof(*calls));
}

/*
 * In one page and not at its start: the kernel copies a path page by page, and
 * each begins with a piece, which may be empty.
 */
static size_t text_start(const struct calls *calls, size_t bytes)
{
	size_t start = calls->texts_used, in_page = start % PAGE_BYTES;

	if (in_page && in_page + bytes <= PAGE_BYTES)
		return start;
	return (start + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + 1;
}

bool calls_full(const struct calls *calls, size_t n, size_t text_bytes)
{
	return calls->n + n > calls->room ||
	       (text_bytes && text_start(calls, text_bytes) + text_bytes >
			      calls->texts_room);
}

const char *calls_text(struct calls *calls, const char *text)
{
	size_t bytes = strlen(text) + 1, start = text_start(calls, bytes);
	char *copy = calls->texts + start;

	memcpy(copy, text, bytes);
	calls->texts_used = start + bytes;
	return copy;
}

void calls_clear(struct calls *calls)
{
	size_t i;

	for (i = 0; i < calls->n; i++)
		if (calls->queue[i].flags & CALL_OPENS)
			calls->fd = (int)calls->queue[i].result;
	calls->n = 0;
	calls->texts_used = 0;
	calls->opens = false;
}

/* --- putting off --------------------------------------------------------- */

static struct call *add(struct calls *calls, uint32_t number, uint32_t tag,
			int fd)
{
	struct call *call = &calls->queue[calls->n];

	memset(call, 0, sizeof(*call));
	call->number = number;
	if (fd != CALLS_OPENED)
		call->args[0] = (uint64_t)(int64_t)fd;
	else if (calls->opens)
		call->flags = CALL_OPENED;
	else
		call->args[0] = (uint64_t)(int64_t)calls->fd;
	calls->tags[calls->n] = tag;
	calls->asked[calls->n] = 0;
	calls->n++;
	return call;
}

static struct call *add_named(struct calls *calls, uint32_t number,
			      uint32_t tag, int at, const char *path)
{
	struct call *call = add(calls, number, tag, at);

	call->args[1] = (uintptr_t)path;
	return call;
}

static struct call *add_transfer(struct calls *calls, uint32_t number,
				 uint32_t tag, int fd, const void *data,
				 size_t bytes)
{
	struct call *call = add(calls, number, tag, fd);

	call->flags |= CALL_WHOLE;
	call->args[1] = (uintptr_t)data;
	call->args[2] = bytes;
	calls->asked[calls->n - 1] = bytes;
	return call;
}

void calls_open(struct calls *calls, uint32_t tag, int at, const char *path,
		int flags)
{
	struct call *call = add_named(calls, NR_OPENAT, tag, at, path);

	call->flags |= CALL_OPENS;
	call->args[2] = (uint64_t)(flags | O_CLOEXEC);
	call->args[3] = 0644;
	calls->opens = true;
}

void calls_close(struct calls *calls, uint32_t tag, int fd)
{
	add(calls, NR_CLOSE, tag, fd);
}

void calls_read(struct calls *calls, uint32_t tag, int fd, void *data,
		size_t bytes)
{
	add_transfer(calls, NR_READ, tag, fd, data, bytes);
}

void calls_write(struct calls *calls, uint32_t tag, int fd, const void *data,
		 size_t bytes)
{
	add_transfer(calls, NR_WRITE, tag, fd, data, bytes);
}

void calls_read_some(struct calls *calls, uint32_t tag, int fd, void *data,
		     size_t bytes)
{
	struct call *call = add(calls, NR_READ, tag, fd);

	call->args[1] = (uintptr_t)data;
	call->args[2] = bytes;
}

void calls_pread(struct calls *calls, uint32_t tag, int fd, void *data,
		 size_t bytes, uint64_t offset)
{
	add_transfer(calls, NR_PREAD, tag, fd, data, bytes)->args[3] = offset;
}

void calls_pwrite(struct calls *calls, uint32_t tag, int fd, const void *data,
		  size_t bytes, uint64_t offset)
{
	add_transfer(calls, NR_PWRITE, tag, fd, data, bytes)->args[3] = offset;
}

void calls_fsync(struct calls *calls, uint32_t tag, int fd)
{
	add(calls, NR_FSYNC, tag, fd);
}

void calls_unlink(struct calls *calls, uint32_t tag, int at, const char *path)
{
	add_named(calls, NR_UNLINKAT, tag, at, path);
}

void calls_lstat(struct calls *calls, uint32_t tag, int at, const char *path,
		 struct stat *stat)
{
	struct call *call = add_named(calls, NR_LSTATAT, tag, at, path);

	call->args[2] = (uintptr_t)stat;
	call->args[3] = AT_SYMLINK_NOFOLLOW;
}

void calls_fadvise(struct calls *calls, uint32_t tag, int fd, int advice)
{
	add(calls, NR_FADVISE, tag, fd)->args[3] = (uint64_t)advice;
}

void calls_ioctl(struct calls *calls, uint32_t tag, int fd,
		 unsigned long request, void *argument)
{
	struct call *call = add(calls, NR_IOCTL, tag, fd);

	call->args[1] = request;
	call->args[2] = (uintptr_t)argument;
}

void calls_list(struct calls *calls, uint32_t tag, int fd, void *listing,
		size_t bytes)
{
	struct call *call = add(calls, NR_LIST, tag, fd);

	call->args[1] = (uintptr_t)listing;
	call->args[2] = bytes;
}

void calls_mount(struct calls *calls, uint32_t tag, const char *source,
		 const char *target, const char *type, unsigned long flags,
		 const char *options)
{
	struct call *call = add(calls, NR_MOUNT, tag, 0);

	call->args[0] = (uintptr_t)source;
	call->args[1] = (uintptr_t)target;
	call->args[2] = (uintptr_t)type;
	call->args[3] = flags;
	call->args[4] = (uintptr_t)options;
}

void calls_unmount(struct calls *calls, uint32_t tag, const char *target)
{
	add(calls, NR_UNMOUNT, tag, 0)->args[0] = (uintptr_t)target;
}

void calls_end_unless_zero(struct calls *calls)
{
	calls->queue[calls->n - 1].flags |= CALL_ZERO;
}

void calls_copy(struct calls *calls, uint32_t tag, void *to, const void *from,
		size_t bytes)
{
	struct call *call = add(calls, NR_COPY, tag, 0);

	call->args[0] = (uintptr_t)to;
	call->args[1] = (uintptr_t)from;
	call->args[2] = bytes;
}

/* --- making them --------------------------------------------------------- */

static int64_t make(const struct call *call, int fd)
{
	const char *path = (const char *)(uintptr_t)call->args[1];
	void *data = (void *)(uintptr_t)call->args[1];
	size_t bytes = (size_t)call->args[2];

	switch (call->number) {
	case NR_LIST:
		return syscall(SYS_getdents64, fd, data, bytes);
	case NR_MOUNT:
		return mount((const char *)(uintptr_t)call->args[0], path,
			     (const char *)(uintptr_t)call->args[2],
			     call->args[3],
			     (const void *)(uintptr_t)call->args[4]);
	case NR_UNMOUNT:
		return umount((const char *)(uintptr_t)call->args[0]);
	case NR_READ:
		return read(fd, data, bytes);
	case NR_WRITE:
		return write(fd, data, bytes);
	case NR_PREAD:
		return pread(fd, data, bytes, (off_t)call->args[3]);
	case NR_PWRITE:
		return pwrite(fd, data, bytes, (off_t)call->args[3]);
	case NR_CLOSE:
		return close(fd);
	case NR_FSYNC:
		return fsync(fd);
	case NR_OPENAT:
		return openat(fd, path, (int)call->args[2],
			      (mode_t)call->args[3]);
	case NR_IOCTL:
		return ioctl(fd, call->args[1],
			     (void *)(uintptr_t)call->args[2]);
	case NR_FADVISE:
		errno = posix_fadvise(fd, 0, 0, (int)call->args[3]);
		return errno ? -1 : 0;
	case NR_UNLINKAT:
		return unlinkat(fd, path, (int)call->args[2]);
	case NR_LSTATAT:
		return fstatat(fd, path, (void *)(uintptr_t)call->args[2],
			       (int)call->args[3]);
	}
	errno = ENOSYS;
	return -1;
}

static bool is_short(const struct call *call)
{
	return call->result < 0 || ((call->flags & CALL_WHOLE) &&
				    (uint64_t)call->result != call->args[2]);
}

static bool ends_queue(const struct call *call)
{
	return is_short(call) || ((call->flags & CALL_ZERO) && call->result);
}

/* Return: how many were made; the last of them may have failed. */
static long make_one_by_one(struct call *queue, size_t n)
{
	int opened = -1;
	size_t i;

	for (i = 0; i < n; i++) {
		struct call *call = &queue[i];
		int fd = call->flags & CALL_OPENED ? opened :
						     (int)call->args[0];

		call->result = make(call, fd);
		if (call->result < 0)
			call->result = -errno;
		call->t_end_ns = clock_now_ns();
		if (call->flags & CALL_OPENS)
			opened = (int)call->result;
		if (ends_queue(call))
			return (long)i + 1;
	}
	return (long)n;
}

static long make_some(const struct calls *calls, size_t from)
{
	size_t n = calls->n - from;

	if (!calls->together)
		return make_one_by_one(calls->queue + from, n);
	return syscall(NR_RUN_CALLS, calls->queue + from, n,
		       sizeof(struct call));
}

/* The file that a call is about, if it has been opened. */
static int opened_before(const struct calls *calls, size_t index)
{
	while (index--)
		if (calls->queue[index].flags & CALL_OPENS)
			return (int)calls->queue[index].result;
	return calls->fd;
}

/* A queue that begins at @from does not know what was opened before. */
static void begin_at(struct calls *calls, size_t from)
{
	int fd = opened_before(calls, from);
	size_t i;

	for (i = from; i < calls->n; i++) {
		struct call *call = &calls->queue[i];

		if (call->flags & CALL_OPENED) {
			call->flags &= ~(uint32_t)CALL_OPENED;
			call->args[0] = (uint64_t)(int64_t)fd;
		}
		if (call->flags & CALL_OPENS)
			return;
	}
}

/* Return: whether it is to be made again, for what is left of it. */
static bool go_on_with(struct call *call)
{
	uint64_t n = (uint64_t)call->result;

	if (call->result == -EINTR)
		return true;
	if (call->result <= 0)
		return false;
	call->args[1] += n;
	call->args[2] -= n;
	call->args[3] += n;	/* the offset, if it has one */
	return true;
}

/* To be made again. No errno: a call that does not wait may end with EAGAIN of its own. */
#define GO_ON (-1)

/* Return: 0 once the call is done, GO_ON, or its errno. */
static int look_at(struct call *call)
{
	bool reads = call->number == NR_READ || call->number == NR_PREAD;

	/* Linux frees the descriptor even when close() is interrupted. */
	if (call->number == NR_CLOSE && call->result == -EINTR)
		call->result = 0;
	if (!is_short(call))
		return 0;
	if (go_on_with(call))
		return GO_ON;
	if (call->result < 0)
		return (int)-call->result;
	return reads ? EBADMSG : EIO;
}

/* What call @failed left open is closed if the queue would have closed it. */
static void close_what_is_open(const struct calls *calls, size_t failed)
{
	size_t i;

	for (i = failed; i < calls->n; i++) {
		if (calls->queue[i].flags & CALL_OPENS)
			return;
		if (calls->queue[i].number == NR_CLOSE && i > failed) {
			close(opened_before(calls, failed));
			return;
		}
	}
}

/* Return: 0, or the errno of call @done. */
static int run_queue(struct calls *calls, size_t *done)
{
	bool ended = false;
	int failed = 0;

	*done = 0;
	while (*done < calls->n && !ended) {
		long made = make_some(calls, *done);
		struct call *last;

		if (made <= 0)
			return made ? errno : EIO;
		*done += (size_t)made;
		last = &calls->queue[*done - 1];
		failed = look_at(last);
		ended = failed ? failed != GO_ON : ends_queue(last);
		*done -= failed != 0;
		begin_at(calls, *done);
	}
	return failed;
}

int calls_run(struct calls *calls, size_t *done)
{
	int failed = run_queue(calls, done);
	size_t i;

	if (failed)
		close_what_is_open(calls, *done);
	/* Of a call that was continued, the result is that of its last part. */
	for (i = 0; i < *done; i++)
		if (calls->queue[i].flags & CALL_WHOLE)
			calls->queue[i].result = (int64_t)calls->asked[i];
	return failed;
}

bool calls_is_by_name(const struct calls *calls, size_t index)
{
	uint32_t number = calls->queue[index].number;

	return number == NR_OPENAT || number == NR_UNLINKAT ||
	       number == NR_LSTATAT;
}

const char *calls_path(const struct calls *calls, size_t index)
{
	do {
		if (calls_is_by_name(calls, index))
			return (const char *)(uintptr_t)
				calls->queue[index].args[1];
	} while (index--);
	return "";
}
