// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the journal to the state of the last commit.
 *
 * The segment of the journal that was begun last has the newest commit, if any was finished in
 * it; else the one begun before. Within a segment the last commit counts of which every entry
 * is whole. A commit that power did not last for leaves units behind it that are not erased,
 * or torn: nothing is programmed there any more, the next commit begins another segment.
 *
 * Units of a segment are programmed in order, so where they end is found by halving, and the
 * last commit is looked for from there. So a mount takes no longer if the segment is fuller.
 * What is found is tried once more from its first entry on, since entries may hold bytes of
 * files that look like a commit, and only who comes from an entry passes over these.
 *
 * The same is so with open segments: if the next unit of one is not erased, something was
 * programmed after the commit. Then it is left (area.c). That is seen to when something is to
 * be written, for a mount has no need of it.
 */

#include <linux/stat.h>
#include <linux/vmalloc.h>

#include "area.h"
#include "cache.h"
#include "data.h"
#include "flash.h"
#include "journal.h"

/**
 * struct found - a segment of the journal
 * @slot: which
 * @bytes: its contents, from @from on; what could not be read is zero
 * @from: what is before was not needed yet
 * @end: where the first erased unit is
 */
struct found {
	u32 slot;
	u8 *bytes;
	u32 from;
	u32 end;
};

/* All from @from on is there after that. */
static int read_from(struct logfs_device *dev, struct found *f, u32 from)
{
	const u64 base = logfs_segment_place(dev, dev->super.journal[f->slot]);
	int err;

	while (f->from > from) {
		f->from -= dev->unit_bytes;
		err = logfs_flash_read(dev, base + f->from, f->bytes + f->from,
				       dev->unit_bytes);
		if (err == -EBADMSG)
			memset(f->bytes + f->from, 0, dev->unit_bytes);
		else if (err)
			return err;
	}
	return 0;
}

/* ---- one commit ---- */

static int unpack(struct logfs_device *dev, const u8 *payload,
		  const struct logfs_journal_entry *e)
{
	const u32 room = dev->unit_bytes + LOGFS_BLOCK_BYTES;

	if (e->unpacked_bytes > room)
		return -EUCLEAN;
	if (e->compression)
		return logfs_unpack(dev, payload, e->stored_bytes,
				    dev->journal.payload, e->unpacked_bytes);
	memcpy(dev->journal.payload, payload, e->stored_bytes);
	return 0;
}

static int apply_dynamic(struct logfs_device *dev, u32 bytes)
{
	struct logfs_dynamic d;
	int err = logfs_dynamic_decode(dev->journal.payload, bytes, &d);

	if (err)
		return err;
	dev->gec = max_t(u64, dev->gec, d.gec);
	dev->wear_gec = dev->gec;
	dev->sweeper = d.sweeper < dev->super.n_segments ? d.sweeper : 0;
	dev->rename_dir = d.rename_dir;
	dev->rename_bix = d.rename_bix;
	dev->victim_ino = d.victim_ino;
	dev->used_bytes = d.used_bytes;
	dev->generation = d.generation;
	return 0;
}

static int apply_anchor(struct logfs_device *dev, u32 bytes)
{
	struct logfs_inode i = { .mode = S_IFREG };
	struct logfs_anchor a;
	int err = logfs_anchor_decode(dev->journal.payload, bytes, &a);

	if (err)
		return err;
	if (a.height >= dev->super.ifile_levels)
		return -EUCLEAN;
	i.height = a.height;
	i.used_bytes = a.used_bytes;
	i.size = a.size;
	memcpy(i.pointer, a.pointer, sizeof(i.pointer));
	logfs_inode_encode(&i, (void *)dev->master.words);
	dev->last_ino = max_t(u64, a.last_ino, LOGFS_RESERVED_INOS);
	return 0;
}

/* What an inode must not become by a word. */
static bool is_sound(const struct logfs_device *dev,
		     const struct logfs_alias *a)
{
	struct logfs_inode i = {};

	if (a->ino != LOGFS_INO_INODES || a->level)
		return true;
	return !logfs_inode_set_word(&i, a->child, a->value) &&
	       i.height <= dev->super.iblock_levels;
}

static int apply_aliases(struct logfs_device *dev, u32 bytes)
{
	const u32 n = logfs_aliases(bytes);
	struct logfs_alias a;
	u32 i;
	int err;

	for (i = 0; i < n; i++) {
		err = logfs_alias_get(dev->journal.payload, i, &a);
		if (err || !is_sound(dev, &a))
			return -EUCLEAN;
		logfs_cache_set(dev, logfs_cache_add(dev, a.ino, a.level,
						     a.bix),
				a.child, a.value);
	}
	return n ? 0 : -EUCLEAN;
}

static int apply_area(struct logfs_device *dev, u32 bytes)
{
	struct logfs_area area;
	struct logfs_open *open;
	int err = logfs_area_decode(&dev->super, dev->journal.payload, bytes,
				    &area);

	if (err)
		return err;
	open = &dev->open[area.level];
	if (open->segno || !area.segno || logfs_area_has(dev, area.segno))
		return -EUCLEAN;
	open->segno = area.segno;
	open->used = area.used_bytes;
	open->programmed = area.used_bytes & ~(dev->unit_bytes - 1);
	if (area.unit)
		memcpy(open->unit, area.unit, dev->unit_bytes);
	return 0;
}

static int apply(struct logfs_device *dev, const u8 *payload,
		 const struct logfs_journal_entry *e, u32 *seen)
{
	const u32 bytes = e->unpacked_bytes;
	int err = unpack(dev, payload, e);

	if (err)
		return err;
	*seen |= 1U << e->type;
	switch (e->type) {
	case LOGFS_JOURNAL_DYNAMIC:
		return apply_dynamic(dev, bytes);
	case LOGFS_JOURNAL_ANCHOR:
		return apply_anchor(dev, bytes);
	case LOGFS_JOURNAL_ERASE_COUNTS:
		return logfs_erase_counts_decode(dev->journal.payload, bytes,
						 dev->journal.ec);
	case LOGFS_JOURNAL_ALIASES:
		return apply_aliases(dev, bytes);
	case LOGFS_JOURNAL_AREA:
		return apply_area(dev, bytes);
	default:
		return -EUCLEAN;
	}
}

/*
 * Calls apply() for each entry, or, with @seen NULL, only sees that they are whole. *@first is
 * where the first of them begins.
 */
static int each_entry(struct logfs_device *dev, struct found *f, u32 at,
		      u32 *seen, u32 *first)
{
	const u64 base = logfs_segment_place(dev, dev->super.journal[f->slot]);
	struct logfs_journal_header_media *m = (void *)(f->bytes + at);
	u64 *places = dev->journal.places;
	struct logfs_journal_entry e;
	u32 i, n, entry_at;
	int err = logfs_journal_decode(f->bytes + at, f->end - at, &e);

	if (!err)
		err = unpack(dev, (u8 *)(m + 1), &e);
	n = err ? 0 : logfs_commit_entries(e.unpacked_bytes);
	if (!n || n > LOGFS_COMMIT_ENTRIES)
		return -EUCLEAN;
	memcpy(places, dev->journal.payload, n * sizeof(*places));
	*first = at;
	for (i = 0; i < n; i++) {
		err = logfs_commit_get((u8 *)places, i, base, f->end,
				       &entry_at);
		if (!err)
			err = read_from(dev, f, entry_at);
		if (!err)
			err = logfs_journal_decode(f->bytes + entry_at,
						   f->end - entry_at, &e);
		if (!err && seen)
			err = apply(dev, f->bytes + entry_at + sizeof(*m), &e,
				    seen);
		if (err)
			return err;
		*first = min(*first, entry_at);
	}
	return 0;
}

/* ---- segments of the journal ---- */

/*
 * The first unit, which has the header, is programmed; of others the first page tells. A file
 * may have a page of ones, which is in an entry as it is if there was no memory to compress it:
 * such a page looks erased, but no whole unit does, for none is without a header of an entry.
 */
static void find_end(struct logfs_device *dev, struct found *f)
{
	const u64 base = logfs_segment_place(dev, dev->super.journal[f->slot]);
	u32 low = 0, high = dev->segment_bytes / dev->unit_bytes, middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (logfs_flash_is_erased(dev, base +
					  middle * dev->unit_bytes,
					  dev->page_bytes))
			high = middle;
		else
			low = middle;
	}
	f->end = high * dev->unit_bytes;
	while (f->end < dev->segment_bytes &&
	       !logfs_flash_is_erased(dev, base + f->end, dev->unit_bytes))
		f->end += dev->unit_bytes;
	f->from = f->end;
}

/* The last commit from @from on that is before @end, for who begins to look at @from. */
static int last_commit(const struct found *f, u32 from, u32 end, u32 *at,
		       struct logfs_journal_entry *e)
{
	const u32 before = max_t(u32, from, LOGFS_JOURNAL_FIRST) -
			   LOGFS_JOURNAL_FIRST;
	int err = logfs_journal_last_commit(f->bytes + before, end - before,
					    at, e);

	if (!err)
		*at += before;
	return err;
}

/* All its entries are whole, and who goes from entry to entry meets it. */
static bool is_whole(struct logfs_device *dev, struct found *f, u32 at, u32 end)
{
	struct logfs_journal_entry e;
	u32 first, met;

	return !each_entry(dev, f, at, NULL, &first) &&
	       !last_commit(f, first, end, &met, &e) && met == at;
}

static int find_commit(struct logfs_device *dev, struct found *f, u32 *at,
		       struct logfs_journal_entry *e)
{
	u32 end = f->end, from = end;
	int err;

	while (from) {
		from -= dev->unit_bytes;
		err = read_from(dev, f, from);
		if (err)
			return err;
		while (!last_commit(f, from, end, at, e)) {
			if (is_whole(dev, f, *at, end))
				return 0;
			end = *at;
		}
	}
	return -ENODATA;
}

static int replay_segment(struct logfs_device *dev, struct found *f)
{
	struct logfs_journal *j = &dev->journal;
	struct logfs_journal_entry e;
	u32 at, end, first, seen = 0;
	int err = find_commit(dev, f, &at, &e);

	if (err)
		return err;
	end = at + logfs_journal_entry_bytes(e.stored_bytes);
	err = each_entry(dev, f, at, &seen, &first);
	if (err)
		return err;
	if (!(seen & 1U << LOGFS_JOURNAL_ANCHOR) ||
	    !(seen & 1U << LOGFS_JOURNAL_DYNAMIC))
		return -EUCLEAN;
	j->slot = f->slot;
	j->used = (end + dev->unit_bytes - 1) & ~(dev->unit_bytes - 1);
	if (j->used < f->end)
		j->used = dev->segment_bytes;
	return 0;
}

static int try_segment(struct logfs_device *dev, u32 slot)
{
	struct found f = {
		.slot = slot,
		.bytes = vmalloc(dev->segment_bytes),
	};
	int err;

	if (!f.bytes)
		return -ENOMEM;
	find_end(dev, &f);
	err = replay_segment(dev, &f);
	vfree(f.bytes);
	return err;
}

/* 0: it has no header. */
static u64 read_gec(struct logfs_device *dev, u32 slot)
{
	const u32 segno = dev->super.journal[slot];
	struct logfs_segment_header_media m;
	struct logfs_segment s;

	if (logfs_flash_read(dev, logfs_segment_place(dev, segno), &m,
			     sizeof(m)) ||
	    logfs_segment_decode(&m, &s) ||
	    s.type != LOGFS_SEGMENT_JOURNAL || s.segno != segno)
		return 0;
	dev->journal.ec[slot] = s.ec;
	dev->gec = max_t(u64, dev->gec, s.gec);
	return s.gec;
}

/* Slots that nothing was written to; a format begins with the first. */
static bool is_untouched(struct logfs_device *dev)
{
	bool first = true;
	u32 slot;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS; slot++) {
		if (!dev->super.journal[slot])
			continue;
		if (!first &&
		    !logfs_flash_is_erased(dev, logfs_segment_place(dev,
						dev->super.journal[slot]),
					   dev->unit_bytes))
			return false;
		first = false;
	}
	return true;
}

void logfs_settle_areas(struct logfs_device *dev)
{
	struct logfs_open *open;
	u32 level;
	u64 next;

	for (level = 0; level < LOGFS_GC_LEVELS; level++) {
		open = &dev->open[level];
		if (!open->segno || open->programmed == dev->segment_bytes)
			continue;
		next = logfs_segment_place(dev, open->segno) +
		       open->programmed;
		if (logfs_flash_is_erased(dev, next, dev->unit_bytes))
			continue;
		if (open->used > open->programmed)
			logfs_area_leave(dev, level, false);
		else
			logfs_changed(dev, open->segno);
		open->segno = 0;
	}
}

int logfs_replay(struct logfs_device *dev, bool *is_new)
{
	u64 gec[LOGFS_JOURNAL_SEGMENTS] = {};
	u32 slot, best, tried = 0;
	int err = -ENODATA;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS; slot++)
		if (dev->super.journal[slot])
			gec[slot] = read_gec(dev, slot);
	for (; err == -ENODATA; tried++) {
		for (best = 0, slot = 1; slot < LOGFS_JOURNAL_SEGMENTS; slot++)
			if (gec[slot] > gec[best])
				best = slot;
		if (!gec[best])
			break;
		gec[best] = 0;
		err = try_segment(dev, best);
	}
	*is_new = err == -ENODATA && is_untouched(dev);
	if (err)
		return err;
	/* One that was begun later is in the way. */
	if (tried > 1)
		dev->journal.used = dev->segment_bytes;
	dev->dirty = false;
	return 0;
}
