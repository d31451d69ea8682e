// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block summary: the tags of all pages of a block, once more, in its last pages. A
 * scan reads it instead of the OOB of each page: one page read for each full block
 * instead of 64. It takes 1 page of 64 for that, and nothing depends on it: where a
 * summary is missing or does not fit, the tags are still in the OOB.
 *
 * The sum is a sum of bytes, which does not see swapped ones; the page's ECC is
 * what protects the contents. Version and sequence number keep a summary of an
 * earlier use of the block from being believed.
 *
 * Limits: the block number is written but not checked, since images are copied
 * between partitions. Entries are not judged here: their tags are, when unpacked.
 */

#include "codec.h"

/*
 * Entries and one header for each page, rounded up: the format counts
 * (12 * pages_per_block + chunk_bytes - 1) / (chunk_bytes - 16), written here so
 * that no operand overflows. Entries of the summary's own pages are counted too.
 */
u32 yaffs_summary_pages(u32 pages_per_block, u32 chunk_bytes)
{
	const u32 header = sizeof(struct yaffs_summary_header_media);
	const u32 entry = sizeof(struct yaffs_summary_entry_media);
	u32 pages;

	if (pages_per_block > YAFFS_MAX_PAGES_PER_BLOCK ||
	    chunk_bytes <= header + entry)
		return 0;
	pages = 1 + (entry * pages_per_block + header - 1) /
		    (chunk_bytes - header);
	return pages < pages_per_block ? pages : 0;
}

u32 yaffs_summary_sum(const struct yaffs_summary_entry_media *entries, u32 n)
{
	struct yaffs_ckpt_sum sum = { 0 };

	/* The checkpoint has the same sum. */
	yaffs_ckpt_sum_add(&sum, entries, n * (u32)sizeof(*entries));
	return sum.sum;
}

void yaffs_summary_entry(const struct yaffs_tags_media *m,
			 struct yaffs_summary_entry_media *entry)
{
	entry->obj_id = m->obj_id;
	entry->chunk_id = m->chunk_id;
	entry->n_bytes = m->n_bytes;
}

void yaffs_summary_tags(const struct yaffs_summary_entry_media *entry, u32 seq,
			bool segregated, struct yaffs_tags_media *m)
{
	m->seq = cpu_to_le32(yaffs_tags_seq_word(seq, segregated));
	m->obj_id = entry->obj_id;
	m->chunk_id = entry->chunk_id;
	m->n_bytes = entry->n_bytes;
}

void yaffs_summary_header(u32 block, u32 seq, u32 sum,
			  struct yaffs_summary_header_media *m)
{
	m->version = cpu_to_le32(YAFFS_SUMMARY_VERSION);
	m->block = cpu_to_le32(block);
	m->seq = cpu_to_le32(seq);
	m->sum = cpu_to_le32(sum);
}

bool yaffs_summary_header_valid(const struct yaffs_summary_header_media *m,
				u32 seq)
{
	return le32_to_cpu(m->version) == YAFFS_SUMMARY_VERSION &&
	       le32_to_cpu(m->seq) == seq;
}
