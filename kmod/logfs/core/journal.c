// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits. One is all that a mount needs: the open segments with what is not yet programmed of
 * them, every alias, the inode of the inode file, and some counts. Each commit has all of it
 * anew, so the newest one alone counts. Its last entry says where the others are; it is
 * written when they are on flash.
 *
 * A commit ends with a write unit. If it does not fit into the segment, the next segment of
 * the journal is erased and the whole commit goes there: so the segment of the newest commit
 * holds all of it, and the one before stays whole until then.
 */

#include "area.h"
#include "cache.h"
#include "data.h"
#include "flash.h"
#include "journal.h"
#include "segments.h"

#define ALIASES_AN_ENTRY	(LOGFS_BLOCK_BYTES / \
				 (u32)sizeof(struct logfs_alias_media))

u32 logfs_journal_room(const struct logfs_device *dev)
{
	const u32 levels = logfs_total_levels(&dev->super);
	const u32 areas = levels * (dev->unit_bytes + 48);
	const u32 others = 2 * dev->unit_bytes + 1024;
	u32 aliases;

	if (areas + others >= dev->segment_bytes)
		return 0;
	/* Their entries' headers and gaps are less than one more for each 128. */
	aliases = (dev->segment_bytes - areas - others) / 33;
	return min_t(u32, aliases, LOGFS_MOST_ALIASES);
}

/* ---- bytes ---- */

static int program(struct logfs_device *dev)
{
	struct logfs_journal *j = &dev->journal;
	const u32 at = (j->used - 1) & ~(dev->unit_bytes - 1);
	const u64 base = logfs_segment_place(dev, dev->super.journal[j->slot]);

	dev->stats.journal_bytes += dev->unit_bytes;
	return logfs_flash_program(dev, base + at, j->unit);
}

/* @from NULL: zeros. */
static int put(struct logfs_device *dev, const void *from, u32 bytes)
{
	struct logfs_journal *j = &dev->journal;
	u32 within, n;
	int err;

	INVARIANT(bytes <= dev->segment_bytes - j->used,
		  "%u bytes at %u of a segment of the journal", bytes, j->used);
	for (; bytes; bytes -= n) {
		within = j->used & (dev->unit_bytes - 1);
		n = min_t(u32, bytes, dev->unit_bytes - within);
		if (from)
			memcpy(j->unit + within, from, n);
		else
			memset(j->unit + within, 0, n);
		if (from)
			from += n;
		j->used += n;
		if (within + n < dev->unit_bytes)
			continue;
		err = program(dev);
		if (err)
			return err;
	}
	return 0;
}

/* -EOVERFLOW: it does not fit into the segment. */
static int put_entry(struct logfs_device *dev, u16 type, const void *payload,
		     u32 bytes, bool may_pack)
{
	struct logfs_journal *j = &dev->journal;
	const u64 base = logfs_segment_place(dev, dev->super.journal[j->slot]);
	struct logfs_journal_entry e = {
		.type = type,
		.stored_bytes = bytes,
		.unpacked_bytes = bytes,
	};
	struct logfs_journal_header_media m;
	u32 packed = may_pack ? logfs_pack(dev, payload, bytes, dev->packed,
					   bytes) : 0;
	u32 all, rest;
	int err;

	if (packed) {
		e.compression = LOGFS_COMPRESSION_ZLIB;
		e.stored_bytes = packed;
		payload = dev->packed;
	}
	all = logfs_journal_entry_bytes(e.stored_bytes);
	if (all > dev->segment_bytes - j->used ||
	    j->n_places == LOGFS_COMMIT_ENTRIES)
		return -EOVERFLOW;
	if (type != LOGFS_JOURNAL_COMMIT)
		j->places[j->n_places++] = base + j->used;
	logfs_journal_encode(&e, payload, &m);
	rest = all - sizeof(m) - e.stored_bytes;
	err = put(dev, &m, sizeof(m));
	if (!err)
		err = put(dev, payload, e.stored_bytes);
	return err ? err : put(dev, NULL, rest);
}

/* ---- entries ---- */

static int put_areas(struct logfs_device *dev)
{
	u8 *payload = dev->journal.payload;
	struct logfs_area area;
	const struct logfs_open *open;
	u32 level, bytes, filled;
	int err;

	for (level = 0; level < LOGFS_GC_LEVELS; level++) {
		open = &dev->open[level];
		if (!open->segno)
			continue;
		area.segno = open->segno;
		area.used_bytes = open->used;
		area.level = level;
		logfs_area_encode(&area, (void *)payload);
		bytes = logfs_area_bytes(&dev->super, open->used);
		filled = open->used - open->programmed;
		if (filled) {
			payload += sizeof(struct logfs_area_media);
			memcpy(payload, open->unit, filled);
			memset(payload + filled, 0xff,
			       dev->unit_bytes - filled);
			payload = dev->journal.payload;
		}
		err = put_entry(dev, LOGFS_JOURNAL_AREA, payload, bytes, true);
		if (err)
			return err;
	}
	return 0;
}

static int put_some_aliases(struct logfs_device *dev, u32 *n)
{
	const u32 bytes = *n * sizeof(struct logfs_alias_media);

	*n = 0;
	return put_entry(dev, LOGFS_JOURNAL_ALIASES, dev->journal.payload,
			 bytes, true);
}

static int put_aliases(struct logfs_device *dev)
{
	struct logfs_block *block;
	struct logfs_alias alias;
	u32 i, n = 0;
	int bucket, err;

	hash_for_each(dev->blocks, bucket, block, hash) {
		alias.ino = block->ino;
		alias.level = block->level;
		alias.bix = block->bix;
		for (i = 0; i < block->n_changes; i++) {
			alias.child = block->changes[i].child;
			alias.value = be64_to_cpu(block->changes[i].value);
			logfs_alias_put(dev->journal.payload, n++, &alias);
			if (n < ALIASES_AN_ENTRY)
				continue;
			err = put_some_aliases(dev, &n);
			if (err)
				return err;
		}
	}
	return n ? put_some_aliases(dev, &n) : 0;
}

static int put_anchor(struct logfs_device *dev)
{
	const __be64 *words = dev->master.words;
	struct logfs_anchor anchor = { .last_ino = dev->last_ino };
	struct logfs_anchor_media m;
	struct logfs_inode i;
	int err = logfs_inode_decode((const void *)words, &i);

	if (err)
		return err;
	anchor.size = i.size;
	anchor.used_bytes = i.used_bytes;
	anchor.height = i.height;
	memcpy(anchor.pointer, i.pointer, sizeof(anchor.pointer));
	logfs_anchor_encode(&anchor, &m);
	return put_entry(dev, LOGFS_JOURNAL_ANCHOR, &m, sizeof(m), false);
}

static int put_counts(struct logfs_device *dev)
{
	const struct logfs_dynamic dynamic = {
		.gec = dev->gec,
		.sweeper = dev->sweeper,
		.rename_dir = dev->rename_dir,
		.rename_bix = dev->rename_bix,
		.victim_ino = dev->victim_ino,
		.used_bytes = dev->used_bytes,
		.generation = dev->generation,
	};
	struct logfs_erase_counts_media counts;
	struct logfs_dynamic_media m;
	int err;

	logfs_erase_counts_encode(dev->journal.ec, &counts);
	err = put_entry(dev, LOGFS_JOURNAL_ERASE_COUNTS, &counts,
			sizeof(counts), true);
	if (err)
		return err;
	logfs_dynamic_encode(&dynamic, &m);
	return put_entry(dev, LOGFS_JOURNAL_DYNAMIC, &m, sizeof(m), true);
}

static int put_commit(struct logfs_device *dev)
{
	struct logfs_journal *j = &dev->journal;
	u32 i;
	int err;

	for (i = 0; i < j->n_places; i++)
		logfs_commit_put(j->payload, i, j->places[i]);
	err = put_entry(dev, LOGFS_JOURNAL_COMMIT, j->payload,
			j->n_places * sizeof(u64), true);
	if (err)
		return err;
	return put(dev, NULL, -j->used & (dev->unit_bytes - 1));
}

static int put_all(struct logfs_device *dev)
{
	int err;

	dev->journal.n_places = 0;
	err = put_areas(dev);
	if (!err)
		err = put_aliases(dev);
	if (!err)
		err = put_anchor(dev);
	if (!err)
		err = put_counts(dev);
	if (err)
		return err;
	mtd_sync(dev->mtd);
	err = put_commit(dev);
	if (!err)
		mtd_sync(dev->mtd);
	return err;
}

/* ---- segments ---- */

static u32 next_slot(const struct logfs_device *dev, u32 slot)
{
	do {
		slot = (slot + 1) % LOGFS_JOURNAL_SEGMENTS;
	} while (!dev->super.journal[slot]);
	return slot;
}

static int begin_segment(struct logfs_device *dev, u32 slot)
{
	struct logfs_journal *j = &dev->journal;
	const u32 segno = dev->super.journal[slot];
	struct logfs_segment header = {
		.type = LOGFS_SEGMENT_JOURNAL,
		.segno = segno,
	};
	int err = logfs_flash_erase(dev, segno);

	if (err)
		return err;
	header.ec = ++j->ec[slot];
	header.gec = ++dev->gec;
	memset(j->unit, 0, dev->unit_bytes);
	logfs_segment_encode(&header, (void *)j->unit);
	j->slot = slot;
	j->used = LOGFS_JOURNAL_FIRST;
	dev->stats.journal_segments++;
	return 0;
}

/* The whole commit into another segment; the one that has the last is not touched. */
static int move_on(struct logfs_device *dev)
{
	struct logfs_journal *j = &dev->journal;
	const u32 last = j->slot;
	u32 slot;
	int err = -EIO;

	for (slot = next_slot(dev, last); slot != last;
	     slot = next_slot(dev, slot)) {
		if (j->failed[slot])
			continue;
		err = begin_segment(dev, slot);
		if (!err)
			err = put_all(dev);
		if (!err || err == -EOVERFLOW)
			return err;
		j->failed[slot] = true;
		pr_warn("logfs: %s: segment %u of the journal cannot be written (%d)\n",
			dev->mtd->name, dev->super.journal[slot], err);
	}
	return err;
}

static int write_commit(struct logfs_device *dev)
{
	struct logfs_journal *j = &dev->journal;
	const bool fits = j->used < dev->segment_bytes;
	int err = fits ? put_all(dev) : -EOVERFLOW;

	if (!err)
		return 0;
	if (err != -EOVERFLOW)
		j->failed[j->slot] = true;
	return move_on(dev);
}

static void check_ready(const struct logfs_device *dev)
{
	const struct logfs_left *left;

	list_for_each_entry(left, &dev->left, list)
		INVARIANT(left->is_empty, "segment %u was left, a commit would lose it",
			  left->open.segno);
	INVARIANT(dev->n_aliases + dev->n_changed <= logfs_journal_room(dev),
		  "%u aliases and %u segments are more than a commit has room for",
		  dev->n_aliases, dev->n_changed);
}

int logfs_journal_commit(struct logfs_device *dev)
{
	int err;

	logfs_assert_locked(dev);
	if (INVARIANTS)
		check_ready(dev);
	err = logfs_segments_book(dev);
	if (!err)
		err = write_commit(dev);
	if (!err)
		err = logfs_segments_booked(dev);
	if (err) {
		logfs_fail(dev, "a commit failed", err);
		return err;
	}
	dev->stats.commits++;
	dev->dirty = false;
	return 0;
}
