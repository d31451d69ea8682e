// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block summaries: the tags of a block's pages once more, together, in its last
 * pages. A scan reads them instead of the OOB of every page: one page read for a
 * block rather than one for each page.
 *
 * The tags are collected in memory while the block is written. If that began in an
 * earlier mount, the first entries are zero, and the reader takes those from the OOB.
 * A block that is given up early has no summary.
 */

#include "alloc.h"
#include "nand.h"

/* Entries: one for each page but those of the summary itself. */
static u32 entries(const struct yaffs_device *dev)
{
	return dev->pages_per_block - dev->summary_pages;
}

bool yaffs_summary_page(const struct yaffs_device *dev, u32 page)
{
	return page >= entries(dev);
}

static u32 entries_bytes(const struct yaffs_device *dev)
{
	return entries(dev) * sizeof(struct yaffs_summary_entry_media);
}

void yaffs_summary_begin(const struct yaffs_device *dev,
			 struct yaffs_stream *stream)
{
	if (stream->summary)
		memset(stream->summary, 0, entries_bytes(dev));
}

static u32 bytes_per_page(const struct yaffs_device *dev)
{
	return dev->chunk_bytes - sizeof(struct yaffs_summary_header_media);
}

u32 yaffs_summary_end(const struct yaffs_device *dev)
{
	return sizeof(struct yaffs_summary_header_media) + entries_bytes(dev) -
	       (dev->summary_pages - 1) * bytes_per_page(dev);
}

u32 yaffs_summary_room(const struct yaffs_device *dev)
{
	return dev->summary_pages ? dev->chunk_bytes - yaffs_summary_end(dev) : 0;
}

/* @ids: the part of the ids that it has, too. */
static int write_page(struct yaffs_device *dev,
		      const struct yaffs_stream *stream, u32 page, u32 part,
		      const struct yaffs_summary_header_media *header, u32 *ids)
{
	u32 from = part * bytes_per_page(dev);
	u32 bytes = min(entries_bytes(dev) - from, bytes_per_page(dev));
	u32 chunk = stream->block * dev->pages_per_block + page;
	struct yaffs_tags tags = {
		.seq = dev->blocks[stream->block].seq,
		.obj_id = YAFFS_ID_SUMMARY,
		.chunk_id = part + 1,
		.n_bytes = sizeof(*header) + bytes,
		.segregated = yaffs_is_segregated(dev),
		.metadata = dev->blocks[stream->block].metadata,
	};
	struct yaffs_tags_media m;
	u8 *to = dev->check_page;
	int err;

	memcpy(to, header, sizeof(*header));
	memcpy(to + sizeof(*header), (u8 *)stream->summary + from, bytes);
	memset(to + sizeof(*header) + bytes, 0xff,
	       dev->chunk_bytes - sizeof(*header) - bytes);
	if (tags.metadata && dev->ids.per_part && part + 1 == dev->summary_pages)
		*ids = yaffs_ids_fill(dev, to + sizeof(*header) + bytes);
	else if (dev->erases && part + 1 == dev->summary_pages)
		yaffs_wear_fill(dev, to + sizeof(*header) + bytes,
				yaffs_summary_room(dev));
	yaffs_tags_pack(&tags, &m);
	err = yaffs_nand_write(dev, chunk, to, &m);
	if (err)
		return err;
	dev->stats.summary_writes++;
	yaffs_chunk_live(dev, chunk);
	return 0;
}

static void write_summary(struct yaffs_device *dev, struct yaffs_stream *stream)
{
	u32 first = entries(dev), block = stream->block;
	struct yaffs_block *b = &dev->blocks[block];
	struct yaffs_summary_header_media header;
	u32 part, ids = YAFFS_IDS_PARTS;

	yaffs_summary_header(block, b->seq,
			     yaffs_summary_sum(stream->summary, entries(dev)),
			     &header);
	for (part = 0; part < dev->summary_pages; part++) {
		stream->page = first + part + 1;
		if (!write_page(dev, stream, first + part, part, &header, &ids))
			continue;
		/* The block is worn; its contents are good without a summary. */
		dev->stats.write_failures++;
		b->needs_retiring = true;
		yaffs_block_prioritise(dev, block);
		while (part--)
			yaffs_chunk_dead(dev, block * dev->pages_per_block +
					      first + part);
		return;
	}
	b->has_summary = true;
	if (ids < YAFFS_IDS_PARTS)
		yaffs_ids_pin(dev, ids, block);
}

void yaffs_summary_add(struct yaffs_device *dev, struct yaffs_stream *stream,
		       u32 page, const struct yaffs_tags_media *tags)
{
	if (!yaffs_summary_pages_of(dev, dev->blocks[stream->block].metadata))
		return;
	yaffs_summary_entry(tags, &stream->summary[page]);
	if (page + 1 == entries(dev))
		write_summary(dev, stream);
}

/* One page of a summary; its tags must be what they were written as. */
static int read_part(struct yaffs_device *dev, u32 block, u32 seq, u32 part,
		     struct yaffs_summary_entry_media *to, u8 *page)
{
	u32 chunk = block * dev->pages_per_block + entries(dev) + part;
	u32 from = part * bytes_per_page(dev);
	u32 bytes = min(entries_bytes(dev) - from, bytes_per_page(dev));
	const struct yaffs_summary_header_media *header = (void *)page;
	struct yaffs_tags tags;

	if (yaffs_nand_read(dev, chunk, page, &tags) || !tags.used ||
	    tags.seq != seq || tags.obj_id != YAFFS_ID_SUMMARY ||
	    tags.chunk_id != part + 1 ||
	    tags.n_bytes != sizeof(*header) + bytes ||
	    !yaffs_summary_header_valid(header, seq))
		return -ENODATA;
	memcpy((u8 *)to + from, page + sizeof(*header), bytes);
	return 0;
}

int yaffs_summary_read(struct yaffs_device *dev, u32 block, u32 seq,
		       struct yaffs_summary_entry_media *to, u8 *page)
{
	const struct yaffs_summary_header_media *header = (void *)page;
	u32 part;

	if (!yaffs_summary_pages_of(dev, dev->blocks[block].metadata))
		return -ENODATA;
	for (part = 0; part < dev->summary_pages; part++)
		if (read_part(dev, block, seq, part, to, page))
			return -ENODATA;
	if (le32_to_cpu(header->sum) !=
	    yaffs_summary_sum(to, entries(dev)))
		return -ENODATA;
	return 0;
}
