// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often blocks were erased, beyond the mount: option wear=. Summaries have room for some
 * counts. Each summary, in the segregated layout each of data, tells those of the blocks
 * that were erased since the last one, and goes on with those of all others in turn. So a
 * power cut loses the erases since the block before was filled, and a mount reads as many
 * summaries, the newest ones, as it takes to meet each block.
 *
 * A block that is not met gets the mean of the others: it was bought with them.
 */

#include <linux/mm.h>

#include "alloc.h"
#include "nand.h"

/* ---- to flash ---- */

void yaffs_wear_fill(struct yaffs_device *dev, u8 *to, u32 room)
{
	u32 most = yaffs_wear_counts(room), n = 0, i;
	struct yaffs_worn *worn = &dev->worn;

	if (!most)
		return;
	for (i = 0; i < worn->n_recent && n < most; i++)
		yaffs_wear_put(to, n++, worn->recent[i],
			       dev->erases[worn->recent[i]]);
	worn->n_recent = 0;
	for (i = 0; i < dev->n_blocks && n < most; i++) {
		worn->at = worn->at >= dev->n_blocks ? 1 : worn->at + 1;
		yaffs_wear_put(to, n++, worn->at, dev->erases[worn->at]);
	}
	yaffs_wear_pack(to, n);
}

/* ---- from flash ---- */

struct reader {
	struct yaffs_device *dev;
	unsigned long *known;
	u32 n_known;
	u32 most;	/* counts in a summary */
};

static void take(struct reader *r, const u8 *bytes, u32 n)
{
	struct yaffs_device *dev = r->dev;
	u32 i, block, erases;

	for (i = 0; i < n; i++) {
		yaffs_wear_get(bytes, i, &block, &erases);
		if (!block || block > dev->n_blocks ||
		    __test_and_set_bit(block, r->known))
			continue;
		dev->erases[block] = erases;
		dev->all_erases += erases;
		r->n_known++;
	}
	/* The last one is of those in turn. */
	if (!dev->worn.at && block && block <= dev->n_blocks)
		dev->worn.at = block;
}

static void read_block(struct reader *r, u32 block)
{
	struct yaffs_device *dev = r->dev;
	u32 chunk = (block + 1) * dev->pages_per_block - 1, n;
	struct yaffs_tags tags;

	if (yaffs_nand_read(dev, chunk, dev->check_page, &tags) || !tags.used ||
	    tags.obj_id != YAFFS_ID_SUMMARY)
		return;
	n = yaffs_wear_unpack(dev->check_page + yaffs_summary_end(dev),
			      yaffs_summary_room(dev));
	if (n)
		take(r, dev->check_page + yaffs_summary_end(dev), n);
}

/* Blocks whose summaries may have counts, the newest first. */
static u32 *by_age(const struct yaffs_device *dev, u32 *n)
{
	u32 *order = kvmalloc_array(dev->n_blocks, sizeof(*order), GFP_KERNEL);
	u32 block;

	*n = 0;
	for (block = 1; order && block <= dev->n_blocks; block++)
		if (dev->blocks[block].has_summary && !dev->blocks[block].metadata)
			order[(*n)++] = block;
	if (order)
		yaffs_blocks_sort(dev, order, *n);
	return order;
}

static void give_mean(struct reader *r)
{
	struct yaffs_device *dev = r->dev;
	u32 mean = r->n_known ? div_u64(dev->all_erases, r->n_known) : 0;
	u32 block;

	for (block = 1; block <= dev->n_blocks; block++) {
		if (test_bit(block, r->known))
			continue;
		dev->erases[block] = mean;
		dev->all_erases += mean;
	}
}

int yaffs_wear_read(struct yaffs_device *dev)
{
	struct reader r = {
		.dev = dev,
		.most = yaffs_wear_counts(yaffs_summary_room(dev)),
	};
	u32 n, i, enough, *order;

	if (!dev->erases || !r.most)
		return 0;
	order = by_age(dev, &n);
	r.known = kvcalloc(BITS_TO_LONGS(dev->n_blocks + 1), sizeof(long),
			   GFP_KERNEL);
	if (order && r.known) {
		/* Some summaries of those that would do were erased since. */
		enough = 4 * DIV_ROUND_UP(dev->n_blocks, r.most) + 4;
		for (i = 0; i < min(n, enough) && r.n_known < dev->n_blocks; i++)
			read_block(&r, order[i]);
		give_mean(&r);
	}
	n = order && r.known;
	kvfree(r.known);
	kvfree(order);
	return n ? 0 : -ENOMEM;
}
