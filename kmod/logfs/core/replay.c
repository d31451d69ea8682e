// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the journal to the state of the last commit.
 *
 * The segment of the journal that was begun last has the newest commit, if any was finished in
 * it; else the one begun before. Within a segment the last commit counts of which every entry
 * is whole. A commit that power did not last for leaves units behind it that are not erased,
 * or torn: nothing is programmed there any more, the next commit begins another segment.
 *
 * What power has torn is the last that was programmed in the journal. If other damage hides the
 * newest commit, the one before is of no use for going on: what it says is valid may have been
 * erased since. That is known if the damaged commit says that it was finished, or if there is
 * something behind it; then the partition can be read, as it was, and no more. A segment whose
 * header is damaged is as old as the last commit in it.
 *
 * Units of a segment are programmed in order, so where they end is found by halving, and the
 * last commit is looked for from there. So a mount takes no longer if the segment is fuller.
 * Files may contain what looks like a commit, and only who comes from entry to entry passes over
 * it. So what was found must be met again from its first entry on; when that fails, or if there
 * is damage, all of the segment is looked at.
 *
 * If the next unit of an open segment is not erased, something was programmed after the commit.
 * Then it is left (area.c). That is seen to when something is to be written, for a mount has no
 * need of it.
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
 * @damaged: behind the last unit that could not be read, but for the last of all; 0: none
 * @first: where the first entry begins of the commit that was looked at last
 */
struct found {
	u32 slot;
	u8 *bytes;
	u32 from;
	u32 end;
	u32 damaged;
	u32 first;
};

/* All from @from on is there after that. */
static int read_from(struct logfs_device *dev, struct found *f, u32 from)
{
	const u64 base = logfs_segment_place(dev, dev->super.journal[f->slot]);
	u32 behind;
	int err;

	while (f->from > from) {
		behind = f->from;
		f->from -= dev->unit_bytes;
		err = logfs_flash_read(dev, base + f->from, f->bytes + f->from,
				       dev->unit_bytes);
		if (err && err != -EBADMSG)
			return err;
		if (!err)
			continue;
		memset(f->bytes + f->from, 0, dev->unit_bytes);
		if (behind < f->end)
			f->damaged = max_t(u32, f->damaged, behind);
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
	if (INVARIANTS)
		dev->used_bytes_committed = d.used_bytes;
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

/* What is done with an entry of a commit. */
typedef int (*use_entry)(struct logfs_device *dev, const u8 *payload,
			 const struct logfs_journal_entry *e, void *arg);

/* @arg: the types that were seen. */
static int apply(struct logfs_device *dev, const u8 *payload,
		 const struct logfs_journal_entry *e, void *arg)
{
	const u32 bytes = e->unpacked_bytes;
	u32 *seen = arg;
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
 * Calls @use for each entry, or, with NULL, only sees that they are whole. -EUCLEAN: this is no
 * commit, for bytes of a file can look like one. -EBADMSG: it is, but not whole.
 */
static int each_entry(struct logfs_device *dev, struct found *f, u32 at,
		      use_entry use, void *arg)
{
	const u64 base = logfs_segment_place(dev, dev->super.journal[f->slot]);
	struct logfs_journal_header_media *m = (void *)(f->bytes + at);
	u64 *places = dev->journal.places;
	struct logfs_journal_entry e;
	u32 i, n, entry_at;
	int err = logfs_journal_decode(f->bytes + at, f->end - at, &e);

	if (!err)
		err = unpack(dev, (u8 *)(m + 1), &e);
	if (err)
		return err;
	n = logfs_commit_entries(e.unpacked_bytes);
	if (!n || n > LOGFS_COMMIT_ENTRIES)
		return -EUCLEAN;
	memcpy(places, dev->journal.payload, n * sizeof(*places));
	f->first = at;
	for (i = 0; i < n; i++) {
		err = logfs_commit_get((u8 *)places, i, base, f->end,
				       &entry_at);
		if (!err)
			err = read_from(dev, f, entry_at);
		if (err)
			return err;
		if (logfs_journal_decode(f->bytes + entry_at, f->end - entry_at,
					 &e))
			return -EBADMSG;
		f->first = min_t(u32, f->first, entry_at);
		if (use)
			err = use(dev, f->bytes + entry_at + sizeof(*m), &e,
				  arg);
		if (err)
			return err;
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

static int look_into(struct logfs_device *dev, u32 slot, struct found *f)
{
	*f = (struct found){
		.slot = slot,
		.bytes = vzalloc(dev->segment_bytes),
	};
	if (!f->bytes)
		return -ENOMEM;
	find_end(dev, f);
	return 0;
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

/* -ENODATA: it is not the nearest one to the end, or that is not sure. */
static int find_nearest(struct logfs_device *dev, struct found *f, u32 *at,
			struct logfs_journal_entry *e)
{
	u32 from = f->end, met;
	int err;

	while (from && !f->damaged) {
		from -= dev->unit_bytes;
		err = read_from(dev, f, from);
		if (err)
			return err;
		if (last_commit(f, from, f->end, at, e))
			continue;
		if (!each_entry(dev, f, *at, NULL, NULL) && !f->damaged &&
		    !last_commit(f, f->first, f->end, &met, e) && met == *at)
			return 0;
		break;
	}
	return -ENODATA;
}

/*
 * The last commit that is whole, and where it ends. @was_later: there is a later one that was
 * finished. -ENODATA: there is none.
 */
static int find_commit(struct logfs_device *dev, struct found *f, u32 *at,
		       u32 *end, bool *was_later)
{
	struct logfs_journal_entry e;
	int err = find_nearest(dev, f, at, &e);

	if (!err) {
		*end = *at + logfs_journal_entry_bytes(e.stored_bytes);
		return 0;
	}
	if (err == -ENODATA)
		err = read_from(dev, f, 0);
	if (err)
		return err;
	*at = f->end;
	do {
		err = last_commit(f, 0, *at, at, &e);
		*end = err ? 0 :
			     *at + logfs_journal_entry_bytes(e.stored_bytes);
		*was_later |= f->damaged > *end;
		if (!err)
			err = each_entry(dev, f, *at, NULL, NULL);
		*was_later |= err == -EBADMSG;
	} while (err == -EUCLEAN || err == -EBADMSG);
	return err;
}

static int replay_segment(struct logfs_device *dev, struct found *f,
			  bool *was_later)
{
	struct logfs_journal *j = &dev->journal;
	u32 at, end, seen = 0;
	int err = find_commit(dev, f, &at, &end, was_later);

	if (!err)
		err = each_entry(dev, f, at, apply, &seen);
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

static int try_segment(struct logfs_device *dev, u32 slot, bool *was_later)
{
	struct found f;
	int err = look_into(dev, slot, &f);

	if (!err)
		err = replay_segment(dev, &f, was_later);
	vfree(f.bytes);
	return err;
}

/* @arg: the global erase count. */
static int read_dynamic(struct logfs_device *dev, const u8 *payload,
			const struct logfs_journal_entry *e, void *arg)
{
	struct logfs_dynamic d;
	u64 *gec = arg;
	int err;

	if (e->type != LOGFS_JOURNAL_DYNAMIC)
		return 0;
	err = unpack(dev, payload, e);
	if (!err && !logfs_dynamic_decode(dev->journal.payload,
					  e->unpacked_bytes, &d))
		*gec = d.gec;
	return err;
}

/*
 * Of a segment that has no header: as its last commit has it. If there is none it is older than
 * all others, which are looked at before it.
 */
static int gec_of_commit(struct logfs_device *dev, u32 slot, u64 *gec)
{
	struct found f;
	bool was_later = false;
	u32 at, end;
	int err = look_into(dev, slot, &f);

	*gec = 1;
	if (!err)
		err = find_commit(dev, &f, &at, &end, &was_later);
	if (!err)
		err = each_entry(dev, &f, at, read_dynamic, gec);
	vfree(f.bytes);
	return err == -ENODATA ? 0 : err;
}

/* When a segment was begun. 0: there is nothing in it. */
static int read_gec(struct logfs_device *dev, u32 slot, u64 *gec)
{
	const u32 segno = dev->super.journal[slot];
	struct logfs_segment_header_media m;
	struct logfs_segment s;
	int err = logfs_flash_read(dev, logfs_segment_place(dev, segno), &m,
				   sizeof(m));

	*gec = 0;
	if (!err)
		err = logfs_segment_decode(&m, &s);
	if (err && err != -EBADMSG && err != -EUCLEAN)
		return err == -ENODATA ? 0 : err;
	if (err || s.type != LOGFS_SEGMENT_JOURNAL || s.segno != segno)
		return gec_of_commit(dev, slot, gec);
	dev->journal.ec[slot] = s.ec;
	dev->gec = max_t(u64, dev->gec, s.gec);
	*gec = s.gec;
	return 0;
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

/* The one begun last of those with a commit. @tried: how many were looked at. */
static int replay_newest(struct logfs_device *dev, u32 *tried, bool *was_later)
{
	u64 gec[LOGFS_JOURNAL_SEGMENTS] = {};
	u32 slot, best;
	int err = 0;

	for (slot = 0; slot < LOGFS_JOURNAL_SEGMENTS && !err; slot++)
		if (dev->super.journal[slot])
			err = read_gec(dev, slot, &gec[slot]);
	if (err)
		return err;
	for (*tried = 0, err = -ENODATA; err == -ENODATA; ++*tried) {
		for (best = 0, slot = 1; slot < LOGFS_JOURNAL_SEGMENTS; slot++)
			if (gec[slot] > gec[best])
				best = slot;
		if (!gec[best])
			break;
		gec[best] = 0;
		err = try_segment(dev, best, was_later);
	}
	return err;
}

int logfs_replay(struct logfs_device *dev, bool *was_later)
{
	u32 tried = 0;
	int err;

	*was_later = false;
	err = replay_newest(dev, &tried, was_later);
	if (err)
		return err;
	if (*was_later) {
		pr_err("logfs: %s: the last commit is damaged: what there is to be read is older, and partly gone; copy what you need, and check the partition\n",
		       dev->mtd->name);
		dev->failed = true;
	}
	/* One that was begun later is in the way. */
	if (tried > 1)
		dev->journal.used = dev->segment_bytes;
	dev->dirty = false;
	return 0;
}
