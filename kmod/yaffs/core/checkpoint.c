// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checkpoint: the state in memory, written to flash at unmount (and at sync), so
 * that the next mount reads some pages instead of the tags of all.
 *
 * It is valid as long as nothing else is written or erased; before the first change
 * its blocks are erased, the first one first, so that what a power cut leaves of it
 * has no beginning. It takes empty blocks, and only such as are beyond the reserve: a
 * full partition goes without. In the plain layout these are the lowest ones, and a mount
 * goes through all tags before them. In the segregated layout it begins with that which a
 * mount comes to first (yaffs_ckpt_place_after()). Where erases are counted it leaves out
 * blocks that are worn more than the mean: many a checkpoint is written with little
 * between them, and all would wear the same block.
 *
 * The stream: validity, device, blocks, bitmaps, objects with their indices, validity,
 * a sum. The blocks that it is written to appear in it as the empty blocks they were. Lost
 * pages have no place in the plain format: a mount must find them by scan. In the segregated
 * layout (docs/yaffs2-segregated.md) indices are on flash already.
 */

#include <linux/mm.h>

#include "blocks.h"
#include "checkpoint.h"
#include "mount.h"
#include "pages.h"

/* ---- parts of the stream ---- */

static u32 bitmap_bytes(const struct yaffs_device *dev)
{
	return DIV_ROUND_UP(dev->pages_per_block, 8);
}

static int put_validity(struct yaffs_ckpt_stream *s, u32 head)
{
	struct yaffs_ckpt_validity_media m = {
		.bytes = cpu_to_le32(sizeof(m)),
		.magic = cpu_to_le32(YAFFS_MAGIC),
		.version = cpu_to_le32(yaffs_ckpt_version(s->dev)),
		.head = cpu_to_le32(head),
	};

	return yaffs_ckpt_put(s, &m, sizeof(m));
}

static u32 count_unlinked(struct yaffs_device *dev)
{
	struct yaffs_object *obj;
	unsigned long id;
	u32 n = 0;

	xa_for_each(&dev->objects, id, obj)
		n += obj->unlinked && !obj->deleted;
	return n;
}

/* The plain format has place for one stream. */
static int put_counters(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	const struct yaffs_stream *stream = &dev->streams[0];
	struct yaffs_ckpt_device_media m = {
		.bytes = cpu_to_le32(sizeof(m)),
		.erased_blocks = cpu_to_le32(dev->space.erased_blocks),
		.alloc_block = cpu_to_le32(stream->block ? stream->block :
							   U32_MAX),
		.alloc_page = cpu_to_le32(stream->page),
		.free_chunks = cpu_to_le32(dev->space.free_chunks),
		.unlinked_files = cpu_to_le32(count_unlinked(dev)),
		.seq = cpu_to_le32(dev->seq),
	};

	return yaffs_ckpt_put(s, &m, sizeof(m));
}

static int put_streams(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	const struct yaffs_stream *stream =
		&dev->streams[YAFFS_STREAM_METADATA];
	struct yaffs_ckpt_streams_media m = {
		.bytes = cpu_to_le32(sizeof(m)),
		.alloc_block = cpu_to_le32(stream->block ? stream->block :
							   U32_MAX),
		.alloc_page = cpu_to_le32(stream->page),
		.ids_end = cpu_to_le32(dev->ids.end),
		.horizon = cpu_to_le64(yaffs_map_horizon(dev, NULL)),
	};
	u32 i;

	for (i = 0; i < YAFFS_IDS_PARTS; i++)
		m.ids_block[i] = cpu_to_le32(dev->ids.block[i]);
	return yaffs_ckpt_put(s, &m, sizeof(m));
}

static int put_blocks(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	struct yaffs_ckpt_block_media m;
	struct yaffs_block b;
	u32 block;
	int err = 0;

	for (block = 1; block <= dev->n_blocks && !err; block++) {
		b = dev->blocks[block];
		if (b.state == YAFFS_BLOCK_COLLECTING)
			b.state = YAFFS_BLOCK_FULL;
		if (b.state == YAFFS_BLOCK_EMPTY)
			b.prioritised = b.suspect;
		yaffs_ckpt_block_pack(&b, &m);
		err = yaffs_ckpt_put(s, &m, sizeof(m));
	}
	return err;
}

/* Bits of one block, low bit first, beginning with a byte. */
static void pack_bitmap(const struct yaffs_device *dev, u32 block, u8 *to)
{
	u32 first = block * dev->pages_per_block, i;

	if (first % 8 == 0 && dev->pages_per_block % 8 == 0) {
		for (i = 0; i < dev->pages_per_block / 8; i++)
			to[i] = dev->live[(first + 8 * i) / BITS_PER_LONG] >>
				((first + 8 * i) % BITS_PER_LONG);
		return;
	}
	memset(to, 0, bitmap_bytes(dev));
	for (i = 0; i < dev->pages_per_block; i++)
		if (test_bit(first + i, dev->live))
			to[i / 8] |= 1 << (i % 8);
}

static int put_bitmaps(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	u8 bits[DIV_ROUND_UP(YAFFS_MAX_PAGES_PER_BLOCK, 8)];
	u32 block;
	int err = 0;

	for (block = 1; block <= dev->n_blocks && !err; block++) {
		pack_bitmap(dev, block, bits);
		err = yaffs_ckpt_put(s, bits, bitmap_bytes(dev));
	}
	return err;
}

/* ---- objects ---- */

struct leaf_writer {
	struct yaffs_ckpt_stream *stream;
	u32 bits;
};

static int put_leaf(void *context, u32 first_id, const u32 *chunks)
{
	struct leaf_writer *w = context;
	__le32 first = cpu_to_le32(first_id);
	u8 leaf[YAFFS_CKPT_LEAF_BYTES];
	int err;

	if (!memchr_inv(chunks, 0, YAFFS_LEAF_ENTRIES * sizeof(*chunks)))
		return 0;
	yaffs_ckpt_leaf_pack(chunks, w->bits, leaf);
	err = yaffs_ckpt_put(w->stream, &first, sizeof(first));
	if (!err)
		err = yaffs_ckpt_put(w->stream, leaf, sizeof(leaf));
	return err;
}

static int put_leaves(struct yaffs_ckpt_stream *s, struct yaffs_object *obj)
{
	struct leaf_writer w = {
		.stream = s,
		.bits = yaffs_ckpt_leaf_bits(s->dev->n_blocks,
					     s->dev->pages_per_block),
	};
	__le32 end = cpu_to_le32(YAFFS_CKPT_LEAVES_END);
	int err = yaffs_index_leaves(&obj->file.index, put_leaf, &w);

	return err ? err : yaffs_ckpt_put(s, &end, sizeof(end));
}

/* Segregated layout: the index itself is on flash already. */
static int put_pieces(struct yaffs_ckpt_stream *s, struct yaffs_object *obj)
{
	__le32 end = cpu_to_le32(YAFFS_CKPT_LEAVES_END);
	struct yaffs_ckpt_piece_media m = {};
	struct yaffs_piece *piece;
	u32 number = 0;
	int err;

	yaffs_for_each_piece(piece, obj, number) {
		if (!piece->chunk)
			continue;
		m.number = cpu_to_le32(piece->number);
		m.chunk = cpu_to_le32(piece->chunk);
		m.flags = cpu_to_le32(YAFFS_MAP_INDEX |
				      (piece->lost ? YAFFS_MAP_LOST : 0));
		err = yaffs_ckpt_put(s, &m, sizeof(m));
		if (err)
			return err;
	}
	return yaffs_ckpt_put(s, &end, sizeof(end));
}

static int put_object(struct yaffs_ckpt_stream *s, struct yaffs_object *obj)
{
	struct yaffs_ckpt_object_media m;
	struct yaffs_ckpt_object o = {
		.id = obj->id,
		.parent_id = obj->parent ? obj->parent->id : 0,
		.hdr_chunk = obj->hdr_chunk,
		.type = obj->type,
		.unlinked = obj->unlinked,
		.fake = obj->fake && !obj->hdr_chunk,
		.rename_allowed = !obj->fake,
		.unlink_allowed = !obj->fake,
	};
	int err;

	if (obj->type == YAFFS_TYPE_FILE) {
		o.size = obj->file.stored_size;
		o.data_chunks = obj->file.data_chunks;
	} else if (obj->type == YAFFS_TYPE_HARDLINK) {
		o.size = obj->hardlink.target_id;
	}
	yaffs_ckpt_object_pack(&o, &m);
	err = yaffs_ckpt_put(s, &m, sizeof(m));
	if (err || obj->type != YAFFS_TYPE_FILE)
		return err;
	return yaffs_is_segregated(s->dev) ? put_pieces(s, obj) :
					     put_leaves(s, obj);
}

static int put_objects(struct yaffs_ckpt_stream *s)
{
	struct yaffs_ckpt_object_media end;
	struct yaffs_object **order;
	u32 i;
	int err = 0;

	order = yaffs_objects_by_bucket(s->dev);
	if (!order)
		return -ENOMEM;
	for (i = 0; i < s->dev->n_objects && !err; i++)
		if (!order[i]->deleted)
			err = put_object(s, order[i]);
	kvfree(order);
	if (err)
		return err;
	yaffs_ckpt_object_end(&end);
	return yaffs_ckpt_put(s, &end, sizeof(end));
}

/* ---- the whole ---- */

static int put_all(struct yaffs_ckpt_stream *s)
{
	__le32 word;
	int err;

	err = put_validity(s, 1);
	if (!err)
		err = put_counters(s);
	if (!err && yaffs_is_segregated(s->dev))
		err = put_streams(s);
	if (!err)
		err = put_blocks(s);
	if (!err)
		err = put_bitmaps(s);
	if (!err)
		err = put_objects(s);
	if (!err)
		err = put_validity(s, 0);
	if (err)
		return err;
	word = cpu_to_le32(yaffs_ckpt_stream_word(s));
	err = yaffs_ckpt_put(s, &word, sizeof(word));
	return err ? err : yaffs_ckpt_put_end(s);
}

/*
 * Erased blocks that it leaves. In the segregated layout the collector works with fewer, so
 * more are seldom there; the checkpoint's own become free before anything is written.
 */
static u32 kept_blocks(const struct yaffs_device *dev)
{
	return yaffs_is_segregated(dev) ? YAFFS_STREAMS : yaffs_reserved_blocks(dev);
}

static bool will_do(struct yaffs_device *dev, u32 block, bool spare_worn)
{
	return dev->blocks[block].state == YAFFS_BLOCK_EMPTY &&
	       !(spare_worn && yaffs_view_is_worn(&dev->policy->view, block)) &&
	       !yaffs_block_is_foreign(dev, block);
}

/* From @first upwards, as a reader goes; false if there are too few. */
static bool choose_from(struct yaffs_ckpt_stream *s, u32 first, u32 wanted,
			bool spare_worn)
{
	struct yaffs_device *dev = s->dev;
	u32 block;

	s->n_blocks = 0;
	for (block = first; block <= dev->n_blocks && s->n_blocks < wanted; block++)
		if (will_do(dev, block, spare_worn))
			s->blocks[s->n_blocks++] = block;
	return s->n_blocks == wanted;
}

static bool choose_quickly_found(struct yaffs_ckpt_stream *s, u32 wanted,
				 bool spare_worn)
{
	struct yaffs_device *dev = s->dev;
	u32 first = 0;

	while ((first = yaffs_ckpt_place_after(first, dev->n_blocks)))
		if (will_do(dev, first, spare_worn) &&
		    choose_from(s, first, wanted, spare_worn))
			return true;
	return false;
}

static bool choose_blocks(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	u32 wanted = yaffs_checkpoint_blocks(dev);

	if (wanted > s->max_blocks ||
	    dev->space.erased_blocks < kept_blocks(dev) + wanted)
		return false;
	if (!yaffs_is_segregated(dev))
		return choose_from(s, 1, wanted, false);
	return (dev->erases && choose_quickly_found(s, wanted, true)) ||
	       choose_quickly_found(s, wanted, false);
}

/* The blocks belong to the checkpoint from now on, whether it is good or not. */
static void claim_blocks(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	u32 i;

	for (i = 0; i < s->n_blocks; i++) {
		INVARIANT(dev->blocks[s->blocks[i]].state == YAFFS_BLOCK_EMPTY,
			  "the checkpoint lies on block %u of state %u", s->blocks[i],
			  dev->blocks[s->blocks[i]].state);
		dev->blocks[s->blocks[i]].state = YAFFS_BLOCK_CHECKPOINT;
		dev->space.erased_blocks--;
		dev->space.free_chunks -= dev->pages_per_block;
		dev->ckpt_blocks++;
	}
}

static int write_stream(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	int err = put_all(s);

	if (err && s->at < s->n_blocks && err != -ENOMEM && err != -ENOSPC)
		dev->blocks[s->blocks[s->at]].needs_retiring = true;
	claim_blocks(s);
	if (err) {
		yaffs_checkpoint_invalidate(dev);
		return err;
	}
	dev->ckpt_valid = true;
	dev->stats.checkpoints_written++;
	return 0;
}

/* Without the first one it is no checkpoint: the collector may erase the others. */
static void leave_to_collector(struct yaffs_device *dev, u32 block)
{
	struct yaffs_block *b = &dev->blocks[block];

	memset(b, 0, sizeof(*b));
	b->state = YAFFS_BLOCK_FULL;
	b->seq = YAFFS_SEQ_LOWEST;
	dev->policy->ops->dirtied(dev->policy, block);
}

/* What was left to it; a new checkpoint must not meet pages of an old one. */
static void erase_stale(struct yaffs_device *dev)
{
	struct yaffs_block *b;
	u32 block;

	for (block = 1; block <= dev->n_blocks; block++) {
		b = &dev->blocks[block];
		if (b->state == YAFFS_BLOCK_FULL && !b->pages_in_use &&
		    b->seq == YAFFS_SEQ_LOWEST)
			yaffs_block_recycle(dev, block);
	}
}

int yaffs_checkpoint_write(struct yaffs_device *dev, bool urgent)
{
	struct yaffs_ckpt_stream s;
	int err;

	yaffs_assert_locked(dev);
	if (dev->ckpt_valid || dev->read_only || !yaffs_checkpoint_possible(dev) ||
	    (dev->has_lost_pages && !yaffs_is_segregated(dev)) ||
	    (!urgent && dev->policy->ops->urgency(dev->policy)) ||
	    yaffs_horizon_flush(dev))
		return 0;
	yaffs_checkpoint_invalidate(dev);	/* what is left of an older one */
	erase_stale(dev);
	err = yaffs_ckpt_stream_init(&s, dev);
	if (!err && choose_blocks(&s))
		err = write_stream(&s);
	yaffs_ckpt_stream_free(&s);
	if (err)
		pr_info("yaffs2: %s: no checkpoint written (%d)\n",
			dev->mtd->name, err);
	return 0;
}

void yaffs_checkpoint_invalidate(struct yaffs_device *dev)
{
	bool has_beginning = true;
	u32 block;

	yaffs_assert_locked(dev);
	if (!dev->ckpt_blocks || dev->read_only)
		return;
	dev->ckpt_blocks = 0;
	dev->stats.checkpoints_invalidated += dev->ckpt_valid;
	dev->ckpt_valid = false;
	for (block = 1; block <= dev->n_blocks; block++)
		if (dev->blocks[block].state == YAFFS_BLOCK_CHECKPOINT) {
			dev->space.free_chunks += dev->pages_per_block;
			if (has_beginning || !dev->bound.ns)
				yaffs_block_recycle(dev, block);
			else
				leave_to_collector(dev, block);
			has_beginning = false;
		}
	dev->events->wants_collection(dev);
}
