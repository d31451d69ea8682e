// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checkpoint's stream of bytes, cut into pages. Each page begins with sums over
 * all bytes before it, so that a stale or foreign page is noticed; the tags give its
 * number, and where to look for the next block.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "blocks.h"
#include "checkpoint.h"
#include "nand.h"

static u32 room(const struct yaffs_ckpt_stream *s)
{
	return s->dev->chunk_bytes - sizeof(struct yaffs_ckpt_page_media);
}

static u8 *body(const struct yaffs_ckpt_stream *s)
{
	return s->buffer + sizeof(struct yaffs_ckpt_page_media);
}

int yaffs_ckpt_stream_init(struct yaffs_ckpt_stream *s, struct yaffs_device *dev)
{
	memset(s, 0, sizeof(*s));
	s->dev = dev;
	s->max_blocks = yaffs_ckpt_max_blocks(dev);
	s->blocks = kvmalloc_array(s->max_blocks, sizeof(*s->blocks),
				   GFP_NOFS);
	s->buffer = kmalloc(dev->page_bytes, GFP_NOFS);
	return s->blocks && s->buffer ? 0 : -ENOMEM;
}

void yaffs_ckpt_stream_free(struct yaffs_ckpt_stream *s)
{
	kvfree(s->blocks);
	kfree(s->buffer);
}

/* Sums what was written or read since the last time: whole pages cost little. */
static void catch_up(struct yaffs_ckpt_stream *s)
{
	yaffs_ckpt_sum_add(&s->sum, body(s) + s->summed, s->used - s->summed);
	s->summed = s->used;
}

u32 yaffs_ckpt_stream_word(struct yaffs_ckpt_stream *s)
{
	catch_up(s);
	return yaffs_ckpt_sum_word(&s->sum);
}

/* ---- to flash ---- */

/* A block that this mount did not erase may hold something all the same. */
static int make_blank(struct yaffs_device *dev, u32 block)
{
	return yaffs_block_is_blank(dev, block) ? 0 :
						  yaffs_nand_erase(dev, block);
}

static int stream_put_page(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	struct yaffs_ckpt_page_media *header = (void *)s->buffer;
	struct yaffs_tags tags = {
		.seq = YAFFS_SEQ_CHECKPOINT,
		.chunk_id = s->page + 1,
		.n_bytes = dev->chunk_bytes,
		.segregated = yaffs_is_segregated(dev),
	};
	struct yaffs_tags_media m;
	u32 block;
	int err;

	if (s->page_in_block == dev->pages_per_block) {
		s->page_in_block = 0;
		s->at++;
	}
	if (s->at >= s->n_blocks)
		return -ENOSPC;
	block = s->blocks[s->at];
	tags.obj_id = s->at + 1 < s->n_blocks ? s->blocks[s->at + 1] : block + 1;
	if (!s->page_in_block) {
		err = make_blank(dev, block);
		if (err)
			return err;
	}
	header->page = cpu_to_le32(s->page);
	memset(body(s) + s->used, 0, room(s) - s->used);
	yaffs_tags_pack(&tags, &m);
	err = yaffs_nand_write(dev, block * dev->pages_per_block +
				    s->page_in_block, s->buffer, &m);
	if (err)
		return err;
	dev->stats.checkpoint_writes++;
	catch_up(s);
	s->page_in_block++;
	s->page++;
	s->used = 0;
	s->summed = 0;
	return 0;
}

/* The header speaks of the bytes before the page: it is made when the page begins. */
static void begin_page(struct yaffs_ckpt_stream *s)
{
	struct yaffs_ckpt_page_media *header = (void *)s->buffer;

	header->version = cpu_to_le32(yaffs_ckpt_version(s->dev));
	header->sum = cpu_to_le32(s->sum.sum);
	header->xor = cpu_to_le32(s->sum.xor);
}

int yaffs_ckpt_put(struct yaffs_ckpt_stream *s, const void *bytes, u32 n)
{
	const u8 *from = bytes;
	u32 now;
	int err;

	while (n) {
		if (!s->used)
			begin_page(s);
		now = min(n, room(s) - s->used);
		memcpy(body(s) + s->used, from, now);
		s->used += now;
		from += now;
		n -= now;
		if (s->used == room(s)) {
			err = stream_put_page(s);
			if (err)
				return err;
		}
	}
	return 0;
}

int yaffs_ckpt_put_end(struct yaffs_ckpt_stream *s)
{
	return s->used ? stream_put_page(s) : 0;
}

/* ---- from flash ---- */

/* Whether a block begins with a page of a checkpoint; of that the tags. */
static bool holds_checkpoint(struct yaffs_device *dev, u32 block,
			     struct yaffs_tags *tags)
{
	if (yaffs_nand_is_bad(dev, block) ||
	    yaffs_nand_read(dev, block * dev->pages_per_block, NULL, tags))
		return false;
	/* A scan would ask the same. */
	yaffs_note_first(&dev->first[block], tags);
	return dev->first[block].seq == YAFFS_SEQ_CHECKPOINT &&
	       tags->segregated == yaffs_is_segregated(dev);
}

static bool begins_checkpoint(struct yaffs_device *dev, u32 block)
{
	struct yaffs_tags tags;

	return !dev->first[block].seq && holds_checkpoint(dev, block, &tags) &&
	       tags.chunk_id == 1;
}

/* Where this module begins one, and by turns from below: other writers take the lowest. */
static u32 find_beginning(struct yaffs_device *dev)
{
	u32 place = 0, low;

	for (low = 1; low <= dev->n_blocks; low++) {
		place = yaffs_ckpt_place_after(place, dev->n_blocks);
		if (begins_checkpoint(dev, place))
			return place;
		if (begins_checkpoint(dev, low))
			return low;
	}
	return 0;
}

/* Not before @from. */
static u32 find_forward(struct yaffs_device *dev, u32 from)
{
	struct yaffs_tags tags;
	u32 block;

	for (block = max(from, 1U); block <= dev->n_blocks; block++)
		if (holds_checkpoint(dev, block, &tags))
			return block;
	return 0;
}

static int find_block(struct yaffs_ckpt_stream *s)
{
	u32 block = 0;

	if (!s->n_blocks && yaffs_is_segregated(s->dev))
		block = find_beginning(s->dev);
	else if (s->n_blocks < s->max_blocks)
		block = find_forward(s->dev, s->hint);
	if (!block)
		return -ENODATA;
	s->at = s->n_blocks;
	s->blocks[s->n_blocks++] = block;
	s->page_in_block = 0;
	return 0;
}

static int stream_get_page(struct yaffs_ckpt_stream *s)
{
	struct yaffs_device *dev = s->dev;
	const struct yaffs_ckpt_page_media *header = (void *)s->buffer;
	struct yaffs_tags tags;
	int err;

	if (!s->n_blocks || s->page_in_block == dev->pages_per_block) {
		err = find_block(s);
		if (err)
			return err;
	}
	err = yaffs_nand_read(dev, s->blocks[s->at] * dev->pages_per_block +
				   s->page_in_block, s->buffer, &tags);
	if (err)
		return err;
	if (!tags.used || tags.seq != YAFFS_SEQ_CHECKPOINT ||
	    tags.chunk_id != s->page + 1 ||
	    le32_to_cpu(header->version) != yaffs_ckpt_version(dev) ||
	    le32_to_cpu(header->page) != s->page ||
	    le32_to_cpu(header->sum) != s->sum.sum ||
	    le32_to_cpu(header->xor) != s->sum.xor)
		return -EUCLEAN;
	/* Only forward: a hint that points back would make a loop. */
	s->hint = max(tags.obj_id, s->blocks[s->at] + 1);
	s->page_in_block++;
	s->page++;
	return 0;
}

int yaffs_ckpt_get(struct yaffs_ckpt_stream *s, void *bytes, u32 n)
{
	u8 *to = bytes;
	u32 now;
	int err;

	while (n) {
		if (!s->page || s->used == room(s)) {
			catch_up(s);
			s->used = 0;
			s->summed = 0;
			err = stream_get_page(s);
			if (err)
				return err;
		}
		now = min(n, room(s) - s->used);
		memcpy(to, body(s) + s->used, now);
		s->used += now;
		to += now;
		n -= now;
	}
	return 0;
}
