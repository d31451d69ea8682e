// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas: the open segment of each GC level, to which objects are appended.
 *
 * Only whole write units are programmed, each as soon as it is full. What is less stays in
 * memory, and each commit saves it in the journal: so a commit need not fill up pages, and no
 * page is programmed twice. An object never crosses the end of a segment; if it does not fit,
 * the segment is closed and the least worn free one is erased and opened.
 *
 * If programming fails, the segment is left: what is in memory of it stays readable, the
 * object at hand goes to another segment, and whatever is valid in the left one follows before
 * the next commit (gc.c). Segments are left at a mount, too, if something was programmed after
 * the last commit: nobody knows whether that was whole, so nothing is programmed behind it.
 *
 * That there is a free segment was seen to before the operation (gc.c).
 */

#include "area.h"
#include "flash.h"

bool logfs_area_has(const struct logfs_device *dev, u32 segno)
{
	const struct logfs_left *left;
	u32 level;

	/* Nothing is open there: it is the first superblock's, and 0 says that none is. */
	if (!segno)
		return false;
	for (level = 0; level < LOGFS_GC_LEVELS; level++)
		if (dev->open[level].segno == segno)
			return true;
	list_for_each_entry(left, &dev->left, list)
		if (left->open.segno == segno)
			return true;
	return false;
}

void logfs_area_free_left(struct logfs_left *left)
{
	kfree(left->open.unit);
	kfree(left);
}

void logfs_area_leave(struct logfs_device *dev, u32 gc_level, bool is_bad)
{
	struct logfs_open *open = &dev->open[gc_level];
	struct logfs_left *left = kzalloc(sizeof(*left), LOGFS_GFP);

	logfs_changed(dev, open->segno);
	left->open = *open;
	left->level = gc_level;
	left->is_bad = is_bad;
	left->open.unit = kmemdup(open->unit, dev->unit_bytes, LOGFS_GFP);
	list_add_tail(&left->list, &dev->left);
	open->segno = 0;
}

static int program(struct logfs_device *dev, struct logfs_open *open)
{
	const u64 place = logfs_segment_place(dev, open->segno) +
			  open->programmed;
	int err = logfs_flash_program(dev, place, open->unit);

	INVARIANT(open->programmed < dev->segment_bytes,
		  "segment %u is programmed beyond its end", open->segno);
	if (!err)
		open->programmed += dev->unit_bytes;
	return err;
}

/*
 * Behind the last object stays what an erase leaves. To the last commit the segment is open;
 * it must stay so on flash until the next, even if nothing in it is valid.
 */
static void close_segment(struct logfs_device *dev, u32 gc_level)
{
	struct logfs_open *open = &dev->open[gc_level];
	u32 filled = open->used - open->programmed;

	logfs_changed(dev, open->segno);
	if (filled) {
		memset(open->unit + filled, 0xff, dev->unit_bytes - filled);
		if (program(dev, open)) {
			logfs_area_leave(dev, gc_level, true);
			return;
		}
	}
	open->segno = 0;
}

static void begin(struct logfs_device *dev, u32 gc_level,
		  const struct logfs_candidate *c)
{
	struct logfs_open *open = &dev->open[gc_level];
	struct logfs_changed *changed = logfs_changed(dev, c->segno);
	struct logfs_segment header = {
		.type = LOGFS_SEGMENT_OBJECTS,
		.level = gc_level,
		.segno = c->segno,
		.ec = min_t(u32, c->ec + 1, LOGFS_ENTRY_MAX_EC),
		.gec = ++dev->gec,
	};

	INVARIANT(!open->segno && !logfs_area_has(dev, c->segno),
		  "segment %u is opened, and %u is open", c->segno, open->segno);
	changed->is_opened = true;
	changed->ec = header.ec;
	changed->level = gc_level;
	open->segno = c->segno;
	open->programmed = 0;
	open->used = sizeof(struct logfs_segment_header_media);
	logfs_segment_encode(&header, (void *)open->unit);
}

static int open_segment(struct logfs_device *dev, u32 gc_level)
{
	struct logfs_candidate c;

	while (dev->free.n) {
		c = dev->free.at[0];
		logfs_lists_del(dev, c.segno);
		if (!logfs_flash_erase(dev, c.segno)) {
			begin(dev, gc_level, &c);
			return 0;
		}
		logfs_changed(dev, c.segno)->is_bad = true;
		logfs_flash_note_bad(dev);
		logfs_flash_mark_bad(dev, c.segno);
	}
	logfs_fail(dev, "there is no free segment to write to", -ENOSPC);
	return -ENOSPC;
}

/* Bytes go to the unit; @used is for the caller to set when all are there. */
static int put(struct logfs_device *dev, struct logfs_open *open, u32 *at,
	       const void *from, u32 bytes)
{
	u32 within, n;
	int err;

	for (; bytes; bytes -= n, from += n, *at += n) {
		within = *at & (dev->unit_bytes - 1);
		n = min_t(u32, bytes, dev->unit_bytes - within);
		memcpy(open->unit + within, from, n);
		if (within + n < dev->unit_bytes)
			continue;
		err = program(dev, open);
		if (err)
			return err;
	}
	return 0;
}

int logfs_area_append(struct logfs_device *dev, u32 gc_level,
		      const struct logfs_object_header_media *m,
		      const void *payload, u32 payload_bytes, u64 *place)
{
	struct logfs_open *open = &dev->open[gc_level];
	const u32 bytes = sizeof(*m) + payload_bytes;
	u32 at;
	int err;

	logfs_assert_locked(dev);
	if (!dev->writable && dev->failed)
		return -EROFS;
	for (;;) {
		if (open->segno && open->used + bytes > dev->segment_bytes)
			close_segment(dev, gc_level);
		if (!open->segno) {
			err = open_segment(dev, gc_level);
			if (err)
				return err;
		}
		at = open->used;
		*place = logfs_segment_place(dev, open->segno) + at;
		if (!put(dev, open, &at, m, sizeof(*m)) &&
		    !put(dev, open, &at, payload, payload_bytes))
			break;
		logfs_area_leave(dev, gc_level, true);
	}
	INVARIANT(at == open->used + bytes && at <= dev->segment_bytes &&
		  open->programmed == (at & ~(dev->unit_bytes - 1)),
		  "segment %u: an object of %u bytes at %u ends at %u, and %u bytes are programmed",
		  open->segno, bytes, open->used, at, open->programmed);
	open->used = at;
	logfs_book(dev, *place, bytes);
	dev->stats.objects_written[gc_level]++;
	dev->stats.object_bytes += bytes;
	return 0;
}

int logfs_area_write(struct logfs_device *dev, u32 gc_level,
		     const struct logfs_object *o, const void *payload,
		     u64 *place)
{
	struct logfs_object_header_media m;

	logfs_object_encode(o, payload, &m);
	return logfs_area_append(dev, gc_level, &m, payload, o->stored_bytes,
				 place);
}

/* An object of @bytes at @place would be within a segment. */
static bool is_place(const struct logfs_device *dev, u64 place, u32 bytes)
{
	const u32 at = (u32)place & (dev->segment_bytes - 1);

	return place < dev->mtd->size &&
	       at >= sizeof(struct logfs_segment_header_media) &&
	       bytes <= dev->segment_bytes - at;
}

int logfs_object_header(struct logfs_device *dev, u64 place, logfs_reader *read,
			struct logfs_object_header_media *m,
			struct logfs_object *o)
{
	int err;

	if (!is_place(dev, place, sizeof(*m)))
		return -EUCLEAN;
	err = read(dev, place, m, sizeof(*m));
	if (err && err != -EBADMSG)
		return err;
	err = logfs_object_decode(m, o);
	if (err || !is_place(dev, place, sizeof(*m) + o->stored_bytes))
		return err == -ENODATA ? err : -EUCLEAN;
	return 0;
}

/*
 * The payload is in the same unit, or it follows: so that is read first, as a whole. That a page
 * of it is beyond ECC need not concern this object: its CRCs tell.
 */
int logfs_object_read(struct logfs_device *dev, u64 place, logfs_reader *read,
		      struct logfs_object *o, void *payload)
{
	u8 begin[LOGFS_OBJECT_HEADER_BYTES + 8];
	struct logfs_object_header_media *m = (void *)begin;
	const u32 at = (u32)place & (dev->segment_bytes - 1);
	int err;

	if (!is_place(dev, place, sizeof(*m)))
		return -EUCLEAN;
	err = read(dev, place, begin,
		   min_t(u32, sizeof(begin), dev->segment_bytes - at));
	if (err && err != -EBADMSG)
		return err;
	if (logfs_object_decode(m, o) ||
	    !is_place(dev, place, sizeof(*m) + o->stored_bytes))
		return err ? err : -EUCLEAN;
	err = read(dev, place + sizeof(*m), payload, o->stored_bytes);
	if (err && err != -EBADMSG)
		return err;
	return logfs_object_intact(o, payload) ? 0 : -EBADMSG;
}
