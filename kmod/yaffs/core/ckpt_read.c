// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a checkpoint. It is taken as a whole or not at all: whatever is wrong with
 * it, memory is cleared and the flash is scanned. Sums protect it from accidents, not
 * from a wrong writer. So everything that later code relies on is checked: chunk
 * numbers in range, each live, and none in two places.
 *
 * Counters that follow from the blocks are counted, not taken.
 */

#include <linux/mm.h>

#include "alloc.h"
#include "checkpoint.h"
#include "mount.h"
#include "nand.h"

struct reader {
	struct yaffs_ckpt_stream s;
	struct yaffs_device *dev;
	unsigned long *taken;		/* chunks that belong to something */
	u32 leaf_bits;
	u32 alloc_block[YAFFS_STREAMS];
	u32 alloc_page[YAFFS_STREAMS];
	u32 ids_block[YAFFS_IDS_PARTS];
};

static int get_validity(struct reader *r, u32 head)
{
	struct yaffs_ckpt_validity_media m;
	int err = yaffs_ckpt_get(&r->s, &m, sizeof(m));

	if (err)
		return err;
	return le32_to_cpu(m.bytes) == sizeof(m) &&
	       le32_to_cpu(m.magic) == YAFFS_MAGIC &&
	       le32_to_cpu(m.version) == yaffs_ckpt_version(r->dev) &&
	       le32_to_cpu(m.head) == head ? 0 : -EUCLEAN;
}

static int take_stream(struct reader *r, u32 stream, u32 block, u32 page)
{
	if (block == U32_MAX)
		block = 0;
	if (block > r->dev->n_blocks || page > r->dev->pages_per_block)
		return -EUCLEAN;
	r->alloc_block[stream] = block;
	r->alloc_page[stream] = page;
	return 0;
}

static int get_counters(struct reader *r)
{
	struct yaffs_ckpt_device_media m;
	int err = yaffs_ckpt_get(&r->s, &m, sizeof(m));

	if (err)
		return err;
	if (le32_to_cpu(m.bytes) != sizeof(m))
		return -EUCLEAN;
	r->dev->seq = le32_to_cpu(m.seq);
	if (r->dev->seq < YAFFS_SEQ_LOWEST || r->dev->seq >= YAFFS_SEQ_END)
		return -EUCLEAN;
	return take_stream(r, YAFFS_STREAM_DATA, le32_to_cpu(m.alloc_block),
			   le32_to_cpu(m.alloc_page));
}

static int get_streams(struct reader *r)
{
	struct yaffs_ckpt_streams_media m;
	u32 i;
	int err = yaffs_ckpt_get(&r->s, &m, sizeof(m));

	if (err)
		return err;
	if (le32_to_cpu(m.bytes) != sizeof(m))
		return -EUCLEAN;
	r->dev->seen_horizon = le64_to_cpu(m.horizon);
	r->dev->ids.end = le32_to_cpu(m.ids_end);
	for (i = 0; i < YAFFS_IDS_PARTS; i++)
		r->ids_block[i] = le32_to_cpu(m.ids_block[i]);
	return take_stream(r, YAFFS_STREAM_METADATA,
			   le32_to_cpu(m.alloc_block),
			   le32_to_cpu(m.alloc_page));
}

/* ---- blocks ---- */

/* States as they can be between operations. */
static int take_state(struct reader *r, u32 block)
{
	struct yaffs_device *dev = r->dev;
	struct yaffs_block *b = &dev->blocks[block];
	bool bad = yaffs_nand_is_bad(dev, block);

	b->metadata &= yaffs_is_segregated(dev);
	switch (b->state) {
	case YAFFS_BLOCK_DEAD:
		/* Pages of a dead block are neither live nor free. */
		return b->pages_in_use ? -EUCLEAN : 0;
	case YAFFS_BLOCK_EMPTY:
	case YAFFS_BLOCK_CHECKPOINT:
		if (b->pages_in_use || bad)
			return -EUCLEAN;
		b->state = YAFFS_BLOCK_EMPTY;
		b->suspect = b->prioritised;
		b->prioritised = false;
		dev->space.erased_blocks++;
		break;
	case YAFFS_BLOCK_ALLOCATING:
		if (block != r->alloc_block[b->metadata])
			b->state = YAFFS_BLOCK_FULL;
		break;
	case YAFFS_BLOCK_FULL:
	case YAFFS_BLOCK_DIRTY:
	case YAFFS_BLOCK_COLLECTING:
		b->state = YAFFS_BLOCK_FULL;
		break;
	default:
		return -EUCLEAN;
	}
	if (bad || (b->state != YAFFS_BLOCK_EMPTY && b->seq > dev->seq))
		return -EUCLEAN;
	if (b->prioritised)
		dev->policy->ops->prioritised(dev->policy, block);
	dev->space.free_chunks += dev->pages_per_block - b->pages_in_use;
	return 0;
}

static int pin_blocks(struct reader *r)
{
	struct yaffs_device *dev = r->dev;
	u32 part, block;

	for (part = 0; part < YAFFS_IDS_PARTS; part++) {
		block = r->ids_block[part];
		if (!block)
			continue;
		if (block > dev->n_blocks || !dev->blocks[block].metadata ||
		    dev->blocks[block].state != YAFFS_BLOCK_FULL)
			return -EUCLEAN;
		yaffs_ids_pin(dev, part, block);
	}
	return 0;
}

static int begin_streams(struct reader *r)
{
	struct yaffs_device *dev = r->dev;
	u32 i, block;

	for (i = 0; i < dev->options.policy->n_streams; i++) {
		block = r->alloc_block[i];
		if (!block)
			continue;
		if (dev->blocks[block].state != YAFFS_BLOCK_ALLOCATING)
			return -EUCLEAN;
		dev->streams[i].block = block;
		dev->streams[i].page = r->alloc_page[i];
		yaffs_summary_begin(dev, &dev->streams[i]);
	}
	return 0;
}

static int get_blocks(struct reader *r)
{
	struct yaffs_device *dev = r->dev;
	struct yaffs_ckpt_block_media m;
	u32 block;
	int err;

	for (block = 1; block <= dev->n_blocks; block++) {
		err = yaffs_ckpt_get(&r->s, &m, sizeof(m));
		if (!err)
			err = yaffs_ckpt_block_unpack(&m, dev->pages_per_block,
						      &dev->blocks[block]);
		if (!err)
			err = take_state(r, block);
		if (err)
			return err;
	}
	err = pin_blocks(r);
	return err ? err : begin_streams(r);
}

/* Marks a block's live pages; their number. Whole bytes of the bitmap if they fit. */
static u32 take_bitmap(struct yaffs_device *dev, u32 block, const u8 *bits)
{
	u32 first = block * dev->pages_per_block, live = 0, i;

	if (dev->pages_per_block % 8 == 0) {
		for (i = 0; i < dev->pages_per_block / 8; i++) {
			bitmap_set_value8(dev->live, bits[i], first + 8 * i);
			live += hweight8(bits[i]);
		}
		return live;
	}
	for (i = 0; i < dev->pages_per_block; i++)
		if (bits[i / 8] & (1 << (i % 8))) {
			__set_bit(first + i, dev->live);
			live++;
		}
	return live;
}

static int get_bitmaps(struct reader *r)
{
	struct yaffs_device *dev = r->dev;
	u8 bits[DIV_ROUND_UP(YAFFS_MAX_PAGES_PER_BLOCK, 8)];
	struct yaffs_block *b;
	u32 block;
	int err;

	for (block = 1; block <= dev->n_blocks; block++) {
		err = yaffs_ckpt_get(&r->s, bits,
				     DIV_ROUND_UP(dev->pages_per_block, 8));
		if (err)
			return err;
		b = &dev->blocks[block];
		if (b->pages_in_use &&
		    take_bitmap(dev, block, bits) != b->pages_in_use)
			return -EUCLEAN;
	}
	return 0;
}

/* ---- objects ---- */

/* A chunk that an object claims: live, and nobody else's. */
static int take_chunk(struct reader *r, u32 chunk)
{
	if (!yaffs_chunk_valid(r->dev, chunk) ||
	    !yaffs_chunk_is_live(r->dev, chunk) ||
	    __test_and_set_bit(chunk, r->taken))
		return -EUCLEAN;
	return 0;
}

static int take_leaf(struct reader *r, struct yaffs_object *obj, u32 first,
		     const u8 *leaf)
{
	u32 chunks[YAFFS_LEAF_ENTRIES], i;
	int err;

	if (first % YAFFS_LEAF_ENTRIES || first > YAFFS_MAX_CHUNK_ID)
		return -EUCLEAN;
	yaffs_ckpt_leaf_unpack(leaf, r->leaf_bits, chunks);
	if (!memchr_inv(chunks, 0, sizeof(chunks)))
		return 0;
	err = yaffs_index_prepare(r->dev, &obj->file.index, first);
	if (err)
		return err;
	for (i = 0; i < YAFFS_LEAF_ENTRIES; i++) {
		if (!chunks[i])
			continue;
		err = first + i ? take_chunk(r, chunks[i]) : -EUCLEAN;
		if (err)
			return err;
		if (yaffs_index_set(&obj->file.index, first + i, chunks[i]))
			return -EUCLEAN;
		obj->file.data_chunks++;
	}
	return 0;
}

static int get_leaves(struct reader *r, struct yaffs_object *obj)
{
	u8 leaf[YAFFS_CKPT_LEAF_BYTES];
	__le32 first;
	int err;

	for (;;) {
		err = yaffs_ckpt_get(&r->s, &first, sizeof(first));
		if (err)
			return err;
		if (le32_to_cpu(first) == YAFFS_CKPT_LEAVES_END)
			return 0;
		err = yaffs_ckpt_get(&r->s, leaf, sizeof(leaf));
		if (!err)
			err = take_leaf(r, obj, le32_to_cpu(first), leaf);
		if (err)
			return err;
	}
}

/* Segregated layout: what they say is read when it is asked for. */
static int get_pieces(struct reader *r, struct yaffs_object *obj)
{
	u32 most = yaffs_piece_number(r->dev, YAFFS_MAX_CHUNK_ID);
	struct yaffs_ckpt_piece_media m;
	struct yaffs_piece *piece;
	int err;

	for (;;) {
		err = yaffs_ckpt_get(&r->s, &m.number, sizeof(m.number));
		if (err)
			return err;
		if (le32_to_cpu(m.number) == YAFFS_CKPT_LEAVES_END)
			return 0;
		err = yaffs_ckpt_get(&r->s, &m.chunk,
				     sizeof(m) - sizeof(m.number));
		if (!err && le32_to_cpu(m.number) > most)
			err = -EUCLEAN;
		if (!err)
			err = take_chunk(r, le32_to_cpu(m.chunk));
		if (err)
			return err;
		piece = yaffs_map_make_piece(obj, le32_to_cpu(m.number));
		if (!piece)
			return -ENOMEM;
		if (piece->chunk)
			return -EUCLEAN;
		yaffs_piece_set_chunk(piece, le32_to_cpu(m.chunk));
		if (le32_to_cpu(m.flags) & YAFFS_MAP_LOST)
			r->dev->has_lost_pages = true;
	}
}

static struct yaffs_object *object_for(struct reader *r,
				       const struct yaffs_ckpt_object *o)
{
	struct yaffs_object *obj;

	if (o->id >= YAFFS_ID_FIRST)
		return yaffs_object_new(r->dev, o->id, o->type);
	/* The four that exist already, each once. */
	obj = yaffs_object_find(r->dev, o->id);
	if (!obj || !obj->fake || obj->type != o->type || obj->seen)
		return ERR_PTR(-EUCLEAN);
	obj->seen = true;
	return obj;
}

static int take_object(struct reader *r, const struct yaffs_ckpt_object *o)
{
	struct yaffs_object *obj = object_for(r, o);
	int err;

	if (IS_ERR(obj))
		return PTR_ERR(obj);
	if (o->hdr_chunk) {
		err = take_chunk(r, o->hdr_chunk);
		if (err)
			return err;
		obj->hdr_chunk = o->hdr_chunk;
		obj->loaded = false;
	}
	if (!obj->fake || obj == r->dev->lost_found)
		obj->parent_id = o->parent_id;
	if (obj->type == YAFFS_TYPE_HARDLINK)
		obj->hardlink.target_id = o->size;
	if (obj->type != YAFFS_TYPE_FILE)
		return 0;
	if (o->size > r->dev->max_file_bytes)
		return -EUCLEAN;
	obj->file.size = o->size;
	obj->file.stored_size = o->size;
	if (!yaffs_is_segregated(r->dev))
		return get_leaves(r, obj);
	obj->file.data_chunks = o->data_chunks;
	return get_pieces(r, obj);
}

static int get_objects(struct reader *r)
{
	struct yaffs_ckpt_object_media m;
	struct yaffs_ckpt_object o;
	int ret;

	for (;;) {
		ret = yaffs_ckpt_get(&r->s, &m, sizeof(m));
		if (!ret)
			ret = yaffs_ckpt_object_unpack(&m, &o);
		if (ret <= 0)
			return ret;
		ret = take_object(r, &o);
		if (ret)
			return ret;
	}
}

/* ---- the whole ---- */

static int get_sum(struct reader *r)
{
	u32 expected = yaffs_ckpt_stream_word(&r->s);
	__le32 word;
	int err = yaffs_ckpt_get(&r->s, &word, sizeof(word));

	return err ? err : le32_to_cpu(word) == expected ? 0 : -EUCLEAN;
}

/* Its blocks were empty when it was written; now they hold it. */
static int claim_blocks(struct reader *r)
{
	struct yaffs_device *dev = r->dev;
	struct yaffs_block *b;
	u32 i;

	for (i = 0; i < r->s.n_blocks; i++) {
		b = &dev->blocks[r->s.blocks[i]];
		if (b->state != YAFFS_BLOCK_EMPTY)
			return -EUCLEAN;
		b->state = YAFFS_BLOCK_CHECKPOINT;
		dev->space.erased_blocks--;
		dev->space.free_chunks -= dev->pages_per_block;
		dev->ckpt_blocks++;
	}
	return 0;
}

static int get_all(struct reader *r)
{
	int err;

	err = get_validity(r, 1);
	if (!err)
		err = get_counters(r);
	if (!err && yaffs_is_segregated(r->dev))
		err = get_streams(r);
	if (!err)
		err = get_blocks(r);
	if (!err)
		err = get_bitmaps(r);
	if (!err)
		err = get_objects(r);
	if (!err)
		err = get_validity(r, 0);
	if (!err)
		err = get_sum(r);
	if (!err)
		err = claim_blocks(r);
	return err;
}

int yaffs_checkpoint_read(struct yaffs_device *dev)
{
	struct reader r = {
		.dev = dev,
		.leaf_bits = yaffs_ckpt_leaf_bits(dev->n_blocks,
						  dev->pages_per_block),
	};
	u32 chunks = (dev->n_blocks + 1) * dev->pages_per_block;
	int err;

	if (!dev->options.checkpoint_read ||
	    dev->n_blocks < YAFFS_CKPT_MIN_BLOCKS)
		return -ENODATA;
	r.taken = kvcalloc(BITS_TO_LONGS(chunks), sizeof(long), GFP_KERNEL);
	err = yaffs_ckpt_stream_init(&r.s, dev);
	if (!err && !r.taken)
		err = -ENOMEM;
	if (!err)
		err = get_all(&r);
	if (!err)
		dev->ckpt_valid = true;
	yaffs_ckpt_stream_free(&r.s);
	kvfree(r.taken);
	return err;
}
