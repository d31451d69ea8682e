// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - see check.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/sectors.h"
#include "series/acts.h"
#include "series/check.h"

#define SECTORS (SLOT_BYTES_MAX / SECTOR_BYTES)

/* What was found under a name; @data is read once more for each. */
struct seen {
	bool there, directory;
	int errnum;		/* of looking or reading */
	ino_t inode;
	nlink_t links;		/* but for that of SLOT_NEW, where it may be */
	size_t bytes;
	bool unreadable[SECTORS];
	bool any_unreadable;
	unsigned char data[SLOT_BYTES_MAX];
};

/* --- looking -------------------------------------------------------------- */

static void read_sectors(int fd, struct seen *seen)
{
	size_t at;

	for (at = 0; at < seen->bytes; at += SECTOR_BYTES) {
		size_t bytes = seen->bytes - at < SECTOR_BYTES ?
				       seen->bytes - at : SECTOR_BYTES;

		if (pread(fd, seen->data + at, bytes, (off_t)at) ==
		    (ssize_t)bytes)
			continue;
		seen->unreadable[at / SECTOR_BYTES] = true;
		seen->any_unreadable = true;
	}
}

static void read_file(int root, const char *name, struct seen *seen)
{
	int fd = openat(root, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0) {
		seen->errnum = errno;
		return;
	}
	if (pread(fd, seen->data, seen->bytes, 0) != (ssize_t)seen->bytes)
		read_sectors(fd, seen);
	close(fd);
}

static void look(int root, const char *name, struct seen *seen)
{
	struct stat stat;

	memset(seen, 0, offsetof(struct seen, data));
	if (fstatat(root, name, &stat, AT_SYMLINK_NOFOLLOW)) {
		seen->errnum = errno == ENOENT ? 0 : errno;
		return;
	}
	seen->there = true;
	seen->directory = S_ISDIR(stat.st_mode);
	seen->inode = stat.st_ino;
	seen->links = stat.st_nlink;
	seen->bytes = S_ISREG(stat.st_mode) ? (size_t)stat.st_size : 0;
	if (S_ISREG(stat.st_mode) && seen->bytes <= SLOT_BYTES_MAX)
		read_file(root, name, seen);
}

/* --- comparing ------------------------------------------------------------ */

static bool is_exactly(const struct seen *seen, const struct body *body)
{
	return seen->there == body->there && !seen->errnum &&
	       !seen->any_unreadable && seen->bytes == body->bytes &&
	       !memcmp(seen->data, body->data, seen->bytes);
}

/* Bytes of a body, zeros behind its end. */
static unsigned char byte_of(const struct body *body, size_t at)
{
	return at < body->bytes ? body->data[at] : 0;
}

static size_t like(const struct seen *seen, const struct body *body, size_t at,
		   size_t end)
{
	while (at < end && seen->data[at] == byte_of(body, at))
		at++;
	return at;
}

/* One body up to some byte, the other from there. */
static bool is_divided(const struct seen *seen, const struct body *one,
		       const struct body *other, size_t at, size_t end)
{
	return like(seen, other, like(seen, one, at, end), end) == end;
}

/* Size and sectors are each of one body or the other, or divided between them. */
static bool is_between(const struct seen *seen, const struct slot *slot,
		       bool torn)
{
	const struct body *now = &slot->now, *next = &slot->next;
	size_t low = now->bytes < next->bytes ? now->bytes : next->bytes;
	size_t high = now->bytes < next->bytes ? next->bytes : now->bytes;
	size_t at, end;

	if (!seen->there || seen->errnum || seen->bytes < low ||
	    seen->bytes > high)
		return false;
	for (at = 0; at < seen->bytes; at = end) {
		end = at + SECTOR_BYTES < seen->bytes ? at + SECTOR_BYTES :
							seen->bytes;
		if (seen->unreadable[at / SECTOR_BYTES]) {
			if (!torn)
				return false;
			continue;
		}
		if (!is_divided(seen, next, now, at, end) &&
		    !is_divided(seen, now, next, at, end))
			return false;
	}
	return true;
}

static bool is_atomic(enum change change)
{
	return change == CHANGE_REPLACE || change == CHANGE_REMOVE ||
	       change == CHANGE_MAKE;
}

/* Which of the bodies must be there; NULL if it is open. */
static const struct body *must_be(const struct slot *slot,
				  const struct cut_made *cut)
{
	if (slot->change == CHANGE_NONE || cut->operations < slot->first)
		return &slot->now;
	return cut->operations >= slot->durable ? &slot->next : NULL;
}

static bool is_allowed(const struct slot *slot, const struct seen *seen,
		       const struct cut_made *cut)
{
	const struct body *only = must_be(slot, cut);

	/* What has been taken away durably is known again. */
	if (slot->doubtful && only != &slot->next)
		return true;
	if (seen->there && seen->directory != slot->directory)
		return false;
	if (only)
		return is_exactly(seen, only);
	if (is_exactly(seen, &slot->now) || is_exactly(seen, &slot->next))
		return true;
	return !is_atomic(slot->change) && is_between(seen, slot, cut->torn);
}

/* The explorer's word for what is wrong. */
static const char *outcome_of(const struct slot *slot, const struct seen *seen,
			      const struct cut_made *cut)
{
	const struct body *only = must_be(slot, cut);
	const struct body *want = only ? only : &slot->next;

	if (seen->errnum || seen->any_unreadable)
		return "unreadable";
	if (seen->there && seen->directory != slot->directory)
		return "wrong-kind";
	if (!seen->there)
		return "name-lost";
	if (only && !only->there)
		return "name-kept";
	if (only == &slot->next && is_exactly(seen, &slot->now))
		return "stale-data";
	if (seen->bytes < want->bytes &&
	    like(seen, want, 0, seen->bytes) == seen->bytes)
		return "synced-data-lost";
	return "corrupt-contents";
}

/* --- all names ------------------------------------------------------------- */

/* "wrong CYCLE OUTCOME NAME", without the line's end. */
static unsigned int wrong(struct text *out, const struct cut_made *cut,
			  const char *outcome, const char *name)
{
	text_string(out, "wrong ");
	text_number(out, cut->cycle);
	text_add(out, " ", 1);
	text_string(out, outcome);
	text_add(out, " ", 1);
	text_name(out, name, strlen(name));
	return 1;
}

/* What the call was, where it stands in the log, and sizes. */
static unsigned int wrong_slot(struct text *out, const struct cut_made *cut,
			       const char *outcome, const struct slot *slot,
			       const struct seen *seen)
{
	bool changed = slot->change != CHANGE_NONE;

	wrong(out, cut, outcome, slot->name);
	put_number(out, "found", seen->there, seen->bytes);
	put_number(out, "before", slot->now.there, slot->now.bytes);
	if (changed)
		put_number(out, change_name(slot->change), slot->next.there,
			  slot->next.bytes);
	put_number(out, "first", changed, slot->first);
	put_number(out, "last", changed, slot->last);
	put_number(out, "durable", changed && slot->durable != NEVER,
		  slot->durable);
	text_add(out, "\n", 1);
	return 1;
}

/* What is there is what the next cut is compared with. */
static void adopt(struct slot *slot, const struct seen *seen)
{
	slot->doubtful = seen->errnum || seen->any_unreadable ||
			 seen->bytes > SLOT_BYTES_MAX ||
			 (seen->there && (seen->directory != slot->directory ||
					  (!seen->directory && seen->links != 1)));
	slot->now.there = seen->there;
	slot->now.bytes = slot->doubtful ? 0 : seen->bytes;
	memcpy(slot->now.data, seen->data, slot->now.bytes);
	slot->change = CHANGE_NONE;
}

static unsigned int check_one(struct slot *slot, int root, ino_t both,
			      struct seen *seen, const struct cut_made *cut,
			      struct text *out)
{
	unsigned int found = 0;
	bool was_doubtful = slot->doubtful;

	look(root, slot->name, seen);
	if (both && seen->inode == both)
		seen->links--;
	if (!is_allowed(slot, seen, cut))
		found += wrong_slot(out, cut, outcome_of(slot, seen, cut), slot,
				    seen);
	else if (!was_doubtful && seen->there && !seen->directory &&
		 seen->links != 1)
		found += wrong_slot(out, cut, "bad-links", slot, seen);
	adopt(slot, seen);
	return found;
}

/* --- names that are nobody's ------------------------------------------------ */

static bool is_known(const struct slots *slots, const struct checker *checker,
		     const char *name)
{
	size_t i;

	if (!strcmp(name, ".") || !strcmp(name, "..") ||
	    !strcmp(name, SLOT_NEW) ||
	    (checker->own_name && !strcmp(name, checker->own_name)) ||
	    (slots->acts && acts_owns(slots->acts, name)))
		return true;
	for (i = 0; i < SLOTS; i++)
		if (!strcmp(name, slots->slot[i].name))
			return true;
	return false;
}

/* Return: whether it was told of before; a cut can bring back what was removed. */
static bool was_told(struct checker *checker, const char *name)
{
	size_t i;

	for (i = 0; i < checker->strays; i++)
		if (!strcmp(checker->stray[i], name))
			return true;
	if (checker->strays < STRAYS_MAX)
		strcpy(checker->stray[checker->strays++], name);
	return false;
}

static unsigned int check_names(const struct slots *slots,
				struct checker *checker, int root,
				const struct cut_made *cut, struct text *out)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	unsigned int found = 0;
	struct dirent *entry;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		found = wrong(out, cut, "unreadable", ".");
		text_add(out, "\n", 1);
		return found;
	}
	while ((entry = readdir(directory))) {
		if (is_known(slots, checker, entry->d_name))
			continue;
		if (!was_told(checker, entry->d_name)) {
			found += wrong(out, cut, "unknown-name", entry->d_name);
			text_add(out, "\n", 1);
		}
		if (unlinkat(root, entry->d_name, 0))
			(void)unlinkat(root, entry->d_name, AT_REMOVEDIR);
	}
	closedir(directory);
	return found;
}

unsigned int slots_check(struct slots *slots, struct checker *checker, int root,
			 const struct cut_made *cut, struct text *out)
{
	static struct seen seen;
	unsigned int found = 0;
	ino_t both = 0;
	size_t i;

	look(root, SLOT_NEW, &seen);
	if (checker->two_names && seen.there && !seen.errnum)
		both = seen.inode;
	for (i = 0; i < SLOTS; i++)
		found += check_one(&slots->slot[i], root, both, &seen, cut,
				   out);
	if (slots->acts && slots->acts->moving)
		found += moves_check(&slots->acts->moves, root, cut, out);
	return found + check_names(slots, checker, root, cut, out);
}
