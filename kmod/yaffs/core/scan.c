// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mount by scan: the state of the file system from the tags of its pages.
 *
 * First each block is asked for its sequence number. Then blocks are read from the
 * newest to the oldest, and in each the pages from the last to the first: whatever
 * is met first is the newest, and what is met again is dead. A block's tags come
 * from its summary if it has a valid one.
 *
 * An object is defined by its newest header. Older headers of a file still count for
 * one thing: one with the shrink mark says that data older than itself, from its size
 * on, are dead. Tags with extended information spare reading the header itself; its
 * name and attributes are read when somebody asks (lazy loading).
 *
 * Nothing on flash is believed further than it can be checked: ids, types and chunk
 * numbers in range, parents that are directories, no cycles (recover.c).
 *
 * A partition without any valid tag is an empty file system, unless its pages hold
 * something: then it was most likely written with the other tag mode, and mounting it
 * would destroy it.
 */

#include <linux/mm.h>
#include <linux/sched.h>

#include "alloc.h"
#include "mount.h"
#include "nand.h"
#include "scan.h"

/* ---- which blocks ---- */

/*
 * Whether a block can have this number. Three wrong bits pass the tags' ECC for one: a
 * power cut left the first page of a checkpoint with 0x821 for 0x21.
 */
static bool is_sequence(u32 seq)
{
	return (seq >= YAFFS_SEQ_LOWEST && seq < YAFFS_SEQ_END) ||
	       seq == YAFFS_SEQ_CHECKPOINT || seq == YAFFS_SEQ_BAD_BLOCK;
}

/*
 * What the tags of a block's first page say. If these are damaged, those of a later one tell
 * it. YAFFS_SEQ_ERASED: nothing written; 0: nothing readable.
 */
static void find_first(struct yaffs_device *dev, u32 block,
		       struct yaffs_first *first)
{
	u32 chunk = block * dev->pages_per_block;
	struct yaffs_tags tags;
	u32 page;

	*first = dev->first[block];
	if (first->seq == YAFFS_SEQ_ERASED || is_sequence(first->seq))
		return;
	for (page = 0; page < dev->pages_per_block; page++) {
		if (yaffs_nand_read(dev, chunk + page, NULL, &tags))
			continue;
		yaffs_note_first(first, &tags);
		if (!tags.used && page)
			first->seq = 0;
		if (!tags.used || is_sequence(tags.seq))
			return;
	}
	first->seq = 0;
}

static void set_aside(struct yaffs_device *dev, u32 block)
{
	struct yaffs_block *b = &dev->blocks[block];

	b->state = YAFFS_BLOCK_FULL;
	b->seq = YAFFS_SEQ_LOWEST;
	dev->space.free_chunks += dev->pages_per_block;
}

static void classify(struct yaffs_scan *scan, u32 block)
{
	struct yaffs_device *dev = scan->dev;
	struct yaffs_block *b = &dev->blocks[block];
	struct yaffs_first first;

	b->state = YAFFS_BLOCK_DEAD;
	if (yaffs_nand_is_bad(dev, block))
		return;
	find_first(dev, block, &first);
	if (first.seq == YAFFS_SEQ_BAD_BLOCK)
		return;
	if (first.seq == YAFFS_SEQ_ERASED) {
		b->state = YAFFS_BLOCK_EMPTY;
		dev->space.erased_blocks++;
		dev->space.free_chunks += dev->pages_per_block;
	} else if (!first.seq ||
		   first.segregated != yaffs_is_segregated(dev)) {
		/* Damaged beyond reading: nothing of it can be live. Or the other layout. */
		set_aside(dev, block);
		scan->foreign += first.seq != 0;
	} else if (first.seq == YAFFS_SEQ_CHECKPOINT) {
		b->state = YAFFS_BLOCK_CHECKPOINT;
		dev->ckpt_blocks++;
	} else {
		b->state = YAFFS_BLOCK_NEEDS_SCAN;
		b->seq = first.seq;
		b->metadata = first.metadata;
		dev->seq = max(dev->seq, first.seq);
		dev->space.free_chunks += dev->pages_per_block;
		scan->order[scan->n++] = block;
	}
}

/* By most of the blocks: the tags of some may be damaged. */
static int check_layout(const struct yaffs_scan *scan)
{
	const struct yaffs_device *dev = scan->dev;

	if (scan->foreign <= scan->n + dev->ckpt_blocks)
		return 0;
	pr_err("yaffs2: %s has the %s layout: mount it %s layout=segregated\n",
	       dev->mtd->name,
	       yaffs_is_segregated(dev) ? "plain" : "segregated",
	       yaffs_is_segregated(dev) ? "without" : "with");
	return -EUCLEAN;
}

/*
 * One page whose tags lack their ECC was torn by a power cut. Two in a block were
 * written so, and would be lost if they were passed over.
 */
static int check_ecc(struct yaffs_device *dev, u32 before)
{
	if (dev->tags_without_ecc < before + 2)
		return 0;
	pr_err("yaffs2: %s has tags without ECC: mount it with tags-ecc-off\n",
	       dev->mtd->name);
	return -EUCLEAN;
}

static int classify_blocks(struct yaffs_scan *scan)
{
	struct yaffs_device *dev = scan->dev;
	u32 block, before;
	int err = 0;

	for (block = 1; block <= dev->n_blocks && !err; block++) {
		before = dev->tags_without_ecc;
		classify(scan, block);
		err = check_ecc(dev, before);
		cond_resched();
	}
	return err ? err : check_layout(scan);
}

/* ---- pages with data ---- */

static int scan_data(struct yaffs_device *dev, u32 chunk,
		     const struct yaffs_tags *tags)
{
	u64 start = (u64)(tags->chunk_id - 1) * dev->chunk_bytes;
	u64 end = start + min(tags->n_bytes, dev->chunk_bytes);
	struct yaffs_object *obj = yaffs_object_find(dev, tags->obj_id);
	int err;

	if (!obj) {
		if (tags->obj_id < YAFFS_ID_FIRST)
			return 0;
		obj = yaffs_object_new(dev, tags->obj_id, YAFFS_TYPE_FILE);
		if (IS_ERR(obj))
			return PTR_ERR(obj);
		obj->parent_id = 0;
	}
	if (obj->type != YAFFS_TYPE_FILE || start >= obj->file.shrink_limit ||
	    yaffs_index_get(&obj->file.index, tags->chunk_id))
		return 0;
	err = yaffs_index_prepare(dev, &obj->file.index, tags->chunk_id);
	if (err)
		return err;
	yaffs_index_set(&obj->file.index, tags->chunk_id, chunk);
	obj->file.data_chunks++;
	dev->has_lost_pages |= tags->n_bytes == YAFFS_LOST_BYTES;
	yaffs_chunk_live(dev, chunk);
	if (!obj->hdr_chunk)
		obj->file.size = max(obj->file.size, end);
	else if (end > obj->file.size)
		obj->tail = true;
	return 0;
}

/* ---- pages with headers ---- */

/* What a header says, from its tags if that is enough. */
struct scan_header {
	u32 type;
	u32 parent_id;
	u64 size;
	u32 link_target;
	u32 shadowed_id;
	bool is_shrink;
	int err;	/* the page cannot be read */
};

/* In the segregated layout the page of a file's newest header has the index. */
static bool has_map(const struct yaffs_tags *tags, bool is_newest)
{
	return tags->segregated && tags->type == YAFFS_TYPE_FILE && is_newest &&
	       !yaffs_is_grave(tags->parent_id);
}

static bool tags_suffice(struct yaffs_device *dev, const struct yaffs_tags *tags,
			 bool is_newest)
{
	return dev->options.lazy_loading && tags->extended && !tags->shadows &&
	       !has_map(tags, is_newest) &&
	       tags->obj_id != YAFFS_ID_ROOT &&
	       tags->obj_id != YAFFS_ID_LOST_FOUND;
}

static int read_header(struct yaffs_device *dev, u32 chunk,
		       const struct yaffs_tags *tags, bool is_newest,
		       struct scan_header *s)
{
	struct yaffs_header h;
	int err;

	if (tags->extended) {
		*s = (struct scan_header) {
			.type = tags->type,
			.parent_id = tags->parent_id,
			.size = tags->size,
			.link_target = tags->link_target,
			.is_shrink = tags->is_shrink,
		};
		if (tags_suffice(dev, tags, is_newest))
			return 0;
	}
	err = yaffs_nand_read(dev, chunk, dev->hdr_page, NULL);
	if (!err)
		err = yaffs_header_decode((void *)dev->hdr_page,
					  dev->max_file_bytes, &h);
	if (err) {
		/* The tags alone still say where the object belongs. */
		s->err = err;
		return tags->extended ? 0 : err;
	}
	if (!tags->extended)
		*s = (struct scan_header) {
			.type = h.type,
			.parent_id = h.parent_id,
			.size = h.size,
			.link_target = h.link_target,
		};
	if (yaffs_is_segregated(dev))
		s->size = h.size;	/* tags have 32 bits of it */
	s->shadowed_id = h.shadowed_id;
	s->is_shrink |= h.is_shrink;
	return 0;
}

/* Older data beyond the header's size are dead. */
static void limit_file(struct yaffs_object *obj, const struct scan_header *s)
{
	u64 size = yaffs_is_grave(s->parent_id) ? 0 : s->size;

	obj->file.shrink_limit = min(obj->file.shrink_limit, size);
}

static int shadow(struct yaffs_device *dev, u32 id)
{
	struct yaffs_object *obj;

	if (id < YAFFS_ID_FIRST || id > YAFFS_MAX_OBJECT_ID ||
	    yaffs_object_find(dev, id))
		return 0;
	obj = yaffs_object_new(dev, id, YAFFS_TYPE_FILE);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	obj->parent_id = YAFFS_ID_UNLINKED;
	obj->file.shrink_limit = 0;
	obj->loaded = true;
	return 0;
}

/* The newest header of an object. */
static void define(struct yaffs_object *obj, u32 chunk,
		   const struct scan_header *s)
{
	obj->hdr_chunk = chunk;
	obj->parent_id = s->parent_id;
	obj->loaded = false;
	yaffs_chunk_live(obj->dev, chunk);
	if (obj->type == YAFFS_TYPE_HARDLINK)
		obj->hardlink.target_id = s->link_target;
	if (obj->type != YAFFS_TYPE_FILE)
		return;
	if (!yaffs_is_grave(s->parent_id))
		obj->file.size = max(obj->file.size, s->size);
	obj->file.stored_size = obj->file.size;
}

static bool has_room_for(u32 id, u32 type)
{
	/* The four fixed objects are directories; other low ids have no header. */
	return id >= YAFFS_ID_FIRST ||
	       ((id == YAFFS_ID_ROOT || id == YAFFS_ID_LOST_FOUND) &&
		type == YAFFS_TYPE_DIRECTORY);
}

int yaffs_scan_header(struct yaffs_scan *scan, u32 chunk,
		      const struct yaffs_tags *tags)
{
	struct yaffs_device *dev = scan->dev;
	struct yaffs_object *obj = yaffs_object_find(dev, tags->obj_id);
	struct yaffs_block *b = &dev->blocks[yaffs_block_of(dev, chunk)];
	struct scan_header s;
	bool limits;
	int err;

	if (read_header(dev, chunk, tags, !obj || !obj->hdr_chunk, &s) ||
	    !has_room_for(tags->obj_id, s.type))
		return 0;
	if (!obj) {
		obj = yaffs_object_new(dev, tags->obj_id, s.type);
		if (IS_ERR(obj))
			return PTR_ERR(obj);
	}
	/* A deletion also keeps older headers of the object from coming back. */
	limits = s.is_shrink || yaffs_is_grave(s.parent_id);
	if (limits)
		b->has_shrink = true;
	if (obj->type == YAFFS_TYPE_FILE && s.type == YAFFS_TYPE_FILE &&
	    (limits || !obj->hdr_chunk))
		limit_file(obj, &s);
	if (obj->hdr_chunk || obj->type != s.type ||
	    obj->parent_id == YAFFS_ID_UNLINKED)
		return 0;
	define(obj, chunk, &s);
	err = has_map(tags, true) ?
		yaffs_scan_map(scan, obj, dev->hdr_page, s.err) : 0;
	if (err)
		return err;
	return s.shadowed_id ? shadow(dev, s.shadowed_id) : 0;
}

static int scan_page(struct yaffs_scan *scan, u32 chunk,
		     const struct yaffs_tags *tags)
{
	if (tags->chunk_id)
		return scan_data(scan->dev, chunk, tags);
	return yaffs_scan_header(scan, chunk, tags);
}

/* ---- one block ---- */

/* Tags of a page from the summary, or from the page. False: nothing of use. */
static bool tags_of(struct yaffs_scan *scan, bool summary, u32 block, u32 page,
		    struct yaffs_tags *tags)
{
	struct yaffs_device *dev = scan->dev;
	u32 chunk = block * dev->pages_per_block + page;
	u32 seq = dev->blocks[block].seq;
	struct yaffs_tags_media m;
	int err;

	if (summary && scan->entries[page].obj_id) {
		yaffs_summary_tags(&scan->entries[page], seq,
				   yaffs_is_segregated(dev), &m);
		return !yaffs_tags_unpack(&m, tags) && tags->used;
	}
	err = yaffs_nand_read(dev, chunk, NULL, tags);
	/*
	 * A page whose data cannot be read keeps its place: reading it must fail,
	 * not show older contents.
	 */
	if (err && !(err == -EBADMSG && dev->options.inband_tags))
		return false;
	return tags->used && tags->seq == seq;
}

/*
 * The last page that was programmed in a block, if that may have failed or lost its
 * power: its tags can be whole and its data not. Then it was never reported as
 * written, and what it was to replace is still there. A block that was finished with
 * a summary has no such page. (A page that was good once and went bad since cannot be
 * told from it, if it is the last of such a block.)
 */
static bool is_torn(struct yaffs_device *dev, u32 chunk)
{
	return yaffs_nand_read(dev, chunk, dev->check_page, NULL) == -EBADMSG;
}

int yaffs_scan_block(struct yaffs_scan *scan, u32 block)
{
	struct yaffs_device *dev = scan->dev;
	struct yaffs_block *b = &dev->blocks[block];
	u32 first = block * dev->pages_per_block;
	u32 page = dev->pages_per_block, before;
	struct yaffs_tags tags;
	bool summary, last_seen;
	int err = 0;

	b->state = YAFFS_BLOCK_SCANNING;
	summary = !yaffs_summary_read(dev, block, b->seq, scan->entries,
				      dev->check_page);
	if (summary && scan->summary)
		err = scan->summary(scan, block, dev->check_page);
	last_seen = summary;
	/* A torn summary is read once more below, and is one page all the same. */
	before = dev->tags_without_ecc;
	if (summary)
		page -= dev->summary_pages;
	while (page-- && !err) {
		if (!tags_of(scan, summary, block, page, &tags))
			continue;
		if (!last_seen && is_torn(dev, first + page))
			dev->stats.data_torn++;
		else if (tags.obj_id != YAFFS_ID_SUMMARY)
			err = scan->page(scan, first + page, &tags);
		last_seen = true;
	}
	b->state = YAFFS_BLOCK_FULL;
	if (!err)
		err = check_ecc(dev, before);
	/* A summary that speaks of live pages is one itself. */
	b->has_summary = summary;
	for (page = 0; summary && b->pages_in_use &&
	     page < dev->summary_pages; page++)
		yaffs_chunk_live(dev, first + dev->pages_per_block - 1 - page);
	return err;
}

/* ---- all ---- */

/* The last bytes of other pages could pass for in-band tags. */
static bool is_wrong_mode(struct yaffs_scan *scan)
{
	struct yaffs_device *dev = scan->dev;

	if (!scan->n)
		return yaffs_nand_wrong_mode(dev, YAFFS_BLOCK_EMPTY) ||
		       yaffs_nand_wrong_mode(dev, YAFFS_BLOCK_FULL) ||
		       yaffs_nand_wrong_mode(dev, YAFFS_BLOCK_DEAD);
	return dev->options.inband_tags &&
	       yaffs_nand_wrong_mode(dev, YAFFS_BLOCK_NEEDS_SCAN);
}

/* On a partition in use, the last erase may not have come to its end. */
static void suspect_empty_blocks(struct yaffs_device *dev)
{
	u32 block;

	for (block = 1; block <= dev->n_blocks; block++)
		if (dev->blocks[block].state == YAFFS_BLOCK_EMPTY)
			dev->blocks[block].suspect = true;
}

static int scan_blocks(struct yaffs_scan *scan)
{
	struct yaffs_device *dev = scan->dev;
	u32 i;
	int err;

	err = classify_blocks(scan);
	if (err)
		return err;
	if (is_wrong_mode(scan)) {
		pr_err("yaffs2: %s holds data, but no YAFFS2 tags: written %s inband-tags? Or erase it\n",
		       dev->mtd->name,
		       dev->options.inband_tags ? "without" : "with");
		return -EUCLEAN;
	}
	dev->found_erased = !scan->n && !dev->ckpt_blocks && !dev->found_torn;
	if (!dev->found_erased)
		suspect_empty_blocks(dev);
	yaffs_blocks_sort(dev, scan->order, scan->n);
	if (yaffs_is_segregated(dev))
		return yaffs_scan_segregated(scan);
	scan->page = scan_page;
	for (i = 0; i < scan->n && !err; i++) {
		err = yaffs_scan_block(scan, scan->order[i]);
		cond_resched();
	}
	return err;
}

int yaffs_scan(struct yaffs_device *dev)
{
	struct yaffs_scan scan = { .dev = dev };
	int err = -ENOMEM;

	scan.order = kvmalloc_array(dev->n_blocks, sizeof(*scan.order),
				    GFP_KERNEL);
	scan.entries = kcalloc(dev->pages_per_block, sizeof(*scan.entries),
			       GFP_KERNEL);
	if (scan.order && scan.entries)
		err = scan_blocks(&scan);
	kfree(scan.entries);
	kvfree(scan.order);
	return err;
}
