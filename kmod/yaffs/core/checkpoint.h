/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between checkpoint.c, which writes checkpoints, ckpt_read.c, which reads them, and
 * ckpt_stream.c, the stream of bytes that both work on.
 */
#ifndef YAFFS_CHECKPOINT_H
#define YAFFS_CHECKPOINT_H

#include "device.h"

/**
 * struct yaffs_ckpt_stream - the stream, at one end of which is the flash
 * @blocks: that hold it, in order
 * @n_blocks: of them; when reading: as far as known
 * @at: index of the block at hand
 * @page_in_block: next page of it
 * @page: next page of the stream, from 0
 * @used: bytes of the buffer's stream part that are written or read already
 * @summed: of them, those that @sum contains
 * @hint: reading: where to look for the next block
 * @buffer: one page
 * @sum: over the bytes so far, see yaffs_ckpt_stream_word()
 */
struct yaffs_ckpt_stream {
	struct yaffs_device *dev;
	u32 *blocks;
	u32 n_blocks;
	u32 max_blocks;
	u32 at;
	u32 page_in_block;
	u32 page;
	u32 used;
	u32 summed;
	u32 hint;
	u8 *buffer;
	struct yaffs_ckpt_sum sum;
};

static inline u32 yaffs_ckpt_version(const struct yaffs_device *dev)
{
	return yaffs_is_segregated(dev) ? YAFFS_CKPT_VERSION_SEGREGATED :
					  YAFFS_CKPT_VERSION;
}

/* The most blocks that a reader looks for. */
static inline u32 yaffs_ckpt_max_blocks(const struct yaffs_device *dev)
{
	return dev->n_blocks / 16 + 2;
}

int yaffs_ckpt_stream_init(struct yaffs_ckpt_stream *s, struct yaffs_device *dev);
void yaffs_ckpt_stream_free(struct yaffs_ckpt_stream *s);

/* The sum over all bytes so far, as it ends the stream. */
u32 yaffs_ckpt_stream_word(struct yaffs_ckpt_stream *s);

/* To flash: @blocks and @n_blocks are set by the caller. */
int yaffs_ckpt_put(struct yaffs_ckpt_stream *s, const void *bytes, u32 n);
int yaffs_ckpt_put_end(struct yaffs_ckpt_stream *s);

/* From flash: finds the blocks itself. -ENODATA: no checkpoint; -EUCLEAN. */
int yaffs_ckpt_get(struct yaffs_ckpt_stream *s, void *bytes, u32 n);

#endif
