// SPDX-License-Identifier: GPL-2.0-only
/*
 * One page, one block: the only file that speaks to MTD.
 *
 * Tags lie in the OOB, where the driver's layout leaves room (MTD_OPS_AUTO_OOB), and
 * have an ECC of their own, since many controllers protect the data only. Data and
 * tags are programmed in one operation, so that a page is never without its tags.
 * Where the OOB has no room they take the last 16 bytes of the page ("in-band").
 *
 * Buffers for whole pages have room for the tags behind the chunk, which is where
 * in-band tags are put and found: nothing is copied for them.
 *
 * What ECC had to correct is good data, but a warning: its block is collected soon.
 * What ECC cannot correct is an error to the reader, and the block stays as it is.
 *
 * A page that was erased, or is another one, reads as well as any. So what memory has
 * somewhere must say of itself that it is that (yaffs_nand_read_known()).
 */

#include "forecast.h"
#include "nand.h"

/*
 * Blocks that are asked whether the other tag mode wrote them: the first ones, where a
 * checkpoint would be, and some of the others. To read a page of each would make the
 * mount of an erased partition several times as long. What is missed is not lost: no
 * block is written to or erased that has such tags (yaffs_block_is_foreign()).
 */
#define OTHER_MODE_FIRST	4
#define OTHER_MODE_SAMPLES	16

static loff_t chunk_address(const struct yaffs_device *dev, u32 chunk)
{
	return (loff_t)(chunk - dev->pages_per_block) * dev->page_bytes;
}

static loff_t block_address(const struct yaffs_device *dev, u32 block)
{
	return (loff_t)(block - 1) * dev->mtd->erasesize;
}

static u32 oob_bytes(const struct yaffs_device *dev)
{
	return dev->options.tags_ecc ? sizeof(struct yaffs_tags_oob_media) :
				       sizeof(struct yaffs_tags_media);
}

static void prioritise(struct yaffs_device *dev, u32 chunk)
{
	yaffs_block_prioritise(dev, yaffs_block_of(dev, chunk));
	dev->events->wants_collection(dev);
}

/* Tags that are no possible ones are as good as none. */
static int unpack_tags(const struct yaffs_tags_media *m, struct yaffs_tags *tags)
{
	int err = yaffs_tags_unpack(m, tags);

	if (err)
		memset(tags, 0, sizeof(*tags));
	return err;
}

/*
 * No writer of an ECC leaves all its bits set. Half an erase may; then bits of the tags are
 * set, too, and they are hardly valid any more.
 */
static void note_missing_ecc(struct yaffs_device *dev,
			     const struct yaffs_tags_media *m)
{
	struct yaffs_tags tags;

	dev->tags_without_ecc += !yaffs_tags_unpack(m, &tags) &&
				 tags.seq < YAFFS_SEQ_END;
}

static int decode_tags(struct yaffs_device *dev, u32 chunk, bool has_ecc,
		       struct yaffs_tags_oob_media *m, struct yaffs_tags *tags)
{
	if (has_ecc && le32_to_cpu(m->tags.seq) != YAFFS_SEQ_ERASED) {
		if (!memchr_inv(&m->ecc, 0xff, sizeof(m->ecc))) {
			note_missing_ecc(dev, &m->tags);
			return -EBADMSG;
		}
		switch (yaffs_tags_ecc_correct(&m->tags, &m->ecc)) {
		case YAFFS_ECC_GOOD:
			break;
		case YAFFS_ECC_CORRECTED:
			dev->stats.tags_corrected++;
			prioritise(dev, chunk);
			break;
		default:
			dev->stats.tags_uncorrectable++;
			return -EBADMSG;
		}
	}
	return unpack_tags(&m->tags, tags);
}

/* The result of an MTD read, with what it says about the block noted. */
static int judge_read(struct yaffs_device *dev, u32 chunk, int err)
{
	if (err == -EUCLEAN) {
		dev->stats.data_corrected++;
		prioritise(dev, chunk);
		return 0;
	}
	if (err == -EBADMSG) {
		dev->stats.data_uncorrectable++;
		prioritise(dev, chunk);
	}
	return err;
}

/* Data, and the first bytes of the tags as they are in the OOB; each may be NULL. */
static int read_raw(struct yaffs_device *dev, u32 chunk, u8 *data, void *tags,
		    u32 bytes)
{
	struct mtd_oob_ops ops = {
		.mode = dev->tags_at ? MTD_OPS_PLACE_OOB : MTD_OPS_AUTO_OOB,
		.datbuf = data,
		.len = data ? dev->page_bytes : 0,
		.oobbuf = tags,
		.ooblen = tags ? bytes : 0,
		.ooboffs = tags ? dev->tags_at : 0,
	};

	return judge_read(dev, chunk,
			  mtd_read_oob(dev->mtd, chunk_address(dev, chunk),
				       &ops));
}

static int read_with_oob(struct yaffs_device *dev, u32 chunk, u8 *data,
			 struct yaffs_tags *tags)
{
	struct yaffs_tags_oob_media m;
	int err = read_raw(dev, chunk, data, tags ? &m : NULL, oob_bytes(dev));
	int tags_err = 0;

	if (err && err != -EBADMSG)
		return err;
	if (tags)
		tags_err = decode_tags(dev, chunk, dev->options.tags_ecc, &m,
				       tags);
	return err ? err : tags_err;
}

static int read_page(struct yaffs_device *dev, u32 chunk, u32 offset, u8 *to,
		     u32 bytes)
{
	size_t done;
	int err = mtd_read(dev->mtd, chunk_address(dev, chunk) + offset, bytes,
			   &done, to);

	return judge_read(dev, chunk, err);
}

static int read_inband(struct yaffs_device *dev, u32 chunk, u8 *data,
		       struct yaffs_tags *tags)
{
	struct yaffs_tags_oob_media m;
	int err, tags_err;

	if (!tags)
		return read_page(dev, chunk, 0, data, dev->chunk_bytes);
	if (!data) {
		err = read_page(dev, chunk, dev->chunk_bytes, (u8 *)&m.tags,
				sizeof(m.tags));
	} else {
		err = read_page(dev, chunk, 0, data, dev->page_bytes);
		memcpy(&m.tags, data + dev->chunk_bytes, sizeof(m.tags));
	}
	if (err && err != -EBADMSG)
		return err;
	tags_err = decode_tags(dev, chunk, false, &m, tags);
	return err ? err : tags_err;
}

static int read_any(struct yaffs_device *dev, u32 chunk, u8 *data,
		    struct yaffs_tags *tags)
{
	if (tags)
		memset(tags, 0, sizeof(*tags));
	if (dev->options.inband_tags)
		return read_inband(dev, chunk, data, tags);
	return read_with_oob(dev, chunk, data, tags);
}

int yaffs_nand_read(struct yaffs_device *dev, u32 chunk, u8 *data,
		    struct yaffs_tags *tags)
{
	u64 began_ns = yaffs_clock(dev);
	int err;

	yaffs_assert_locked(dev);
	err = read_any(dev, chunk, data, tags);
	if (data && tags)
		yaffs_note_price(dev, &dev->prices.read_ns, began_ns);
	return err;
}

static noinline __cold void report_stray(struct yaffs_device *dev, u32 chunk,
					 const struct yaffs_identity *id,
					 const struct yaffs_tags *tags)
{
	u32 block = yaffs_block_of(dev, chunk);
	u32 page = chunk % dev->pages_per_block;

	dev->stats.pages_stray++;
	if (tags->used)
		pr_err_ratelimited("yaffs2: %s: block %u page %u must be chunk %u of object %u, number %u, and is chunk %u of object %u, number %u\n",
				   dev->mtd->name, block - 1, page,
				   id->chunk_id, id->obj_id,
				   dev->blocks[block].seq, tags->chunk_id,
				   tags->obj_id, tags->seq);
	else
		pr_err_ratelimited("yaffs2: %s: block %u page %u must be chunk %u of object %u, and is blank: was it erased below the file system?\n",
				   dev->mtd->name, block - 1, page,
				   id->chunk_id, id->obj_id);
}

/*
 * Reads a page of data, and of its tags as much as says that it is that page. Most reads are
 * this one: it is what the check costs. 1: they say something else, or have bit errors.
 */
static int read_plainly(struct yaffs_device *dev, u32 chunk, u8 *data,
			const struct yaffs_identity *id, u32 seq)
{
	const u32 bytes = offsetof(struct yaffs_tags_media, n_bytes);
	struct yaffs_tags_media m;
	int err;

	if (dev->options.inband_tags) {
		err = read_page(dev, chunk, 0, data, dev->page_bytes);
		memcpy(&m, data + dev->chunk_bytes, bytes);
	} else {
		err = read_raw(dev, chunk, data, &m, bytes);
	}
	if (err)
		return err;
	return le32_to_cpu(m.seq) != seq ||
	       le32_to_cpu(m.obj_id) != id->obj_id ||
	       le32_to_cpu(m.chunk_id) != id->chunk_id;
}

int yaffs_nand_read_known(struct yaffs_device *dev, u32 chunk, u8 *data,
			  const struct yaffs_identity *id)
{
	u32 seq = dev->blocks[yaffs_block_of(dev, chunk)].seq;
	struct yaffs_tags tags;
	int err;

	yaffs_assert_locked(dev);
	/* Elsewhere the words have more in them; and lost pages say so in what is not read here. */
	if (id->chunk_id && !yaffs_is_segregated(dev) && !dev->has_lost_pages) {
		err = read_plainly(dev, chunk, data, id, seq);
		if (likely(err <= 0))
			return err;
	}
	err = read_any(dev, chunk, data, &tags);
	if (err)
		return err == -EUCLEAN ? -EBADMSG : err;
	if (!yaffs_tags_are(&tags, id, seq)) {
		report_stray(dev, chunk, id, &tags);
		return -EBADMSG;
	}
	return id->chunk_id && !id->is_index &&
	       tags.n_bytes == YAFFS_LOST_BYTES ? -EBADMSG : 0;
}

int yaffs_nand_write(struct yaffs_device *dev, u32 chunk, u8 *page,
		     const struct yaffs_tags_media *tags)
{
	struct yaffs_tags_oob_media m = { .tags = *tags };
	struct mtd_oob_ops ops = {
		.mode = MTD_OPS_AUTO_OOB,
		.datbuf = page,
		.len = dev->page_bytes,
	};
	u64 began_ns = yaffs_clock(dev);
	int err;

	yaffs_assert_locked(dev);
	if (dev->options.inband_tags) {
		memcpy(page + dev->chunk_bytes, tags, sizeof(*tags));
	} else {
		if (dev->options.tags_ecc)
			yaffs_tags_ecc_calculate(&m.tags, &m.ecc);
		ops.oobbuf = (u8 *)&m;
		ops.ooblen = oob_bytes(dev);
	}
	err = mtd_write_oob(dev->mtd, chunk_address(dev, chunk), &ops);
	yaffs_note_price(dev, &dev->prices.program_ns, began_ns);
	return err;
}

int yaffs_nand_is_erased(struct yaffs_device *dev, u32 chunk, u8 *page)
{
	struct yaffs_tags_oob_media m;

	if (dev->options.inband_tags)
		return !read_page(dev, chunk, 0, page, dev->page_bytes) &&
		       !memchr_inv(page, 0xff, dev->page_bytes);
	/* All that will be programmed: tags without a number may have other bits. */
	return !read_raw(dev, chunk, page, &m, oob_bytes(dev)) &&
	       !memchr_inv(&m, 0xff, oob_bytes(dev)) &&
	       !memchr_inv(page, 0xff, dev->page_bytes);
}

static void count_erase(struct yaffs_device *dev, u32 block)
{
	struct yaffs_worn *worn = &dev->worn;

	dev->erases[block]++;
	dev->all_erases++;
	if (worn->n_recent < YAFFS_RECENT_ERASES)
		worn->recent[worn->n_recent++] = block;
}

int yaffs_nand_erase(struct yaffs_device *dev, u32 block)
{
	struct erase_info instr = {
		.addr = block_address(dev, block),
		.len = dev->mtd->erasesize,
	};

	u64 began_ns = yaffs_clock(dev);
	int err;

	yaffs_assert_locked(dev);
	dev->stats.erasures++;
	if (dev->erases)
		count_erase(dev, block);
	err = mtd_erase(dev->mtd, &instr);
	yaffs_note_price(dev, &dev->prices.erase_ns, began_ns);
	return err;
}

bool yaffs_nand_is_bad(struct yaffs_device *dev, u32 block)
{
	return mtd_block_isbad(dev->mtd, block_address(dev, block)) != 0;
}

int yaffs_nand_mark_bad(struct yaffs_device *dev, u32 block)
{
	return mtd_block_markbad(dev->mtd, block_address(dev, block));
}

/* ---- the other tag mode ---- */

static bool read_other_tags(struct yaffs_device *dev, u32 chunk,
			    struct yaffs_tags_media *m)
{
	u32 from = dev->page_bytes - sizeof(*m);
	struct mtd_oob_ops ops = {
		.mode = MTD_OPS_AUTO_OOB,
		.oobbuf = (u8 *)m,
		.ooblen = sizeof(*m),
	};

	if (!dev->options.inband_tags)
		return !read_page(dev, chunk, from, (u8 *)m, sizeof(*m));
	return dev->mtd->oobavail >= sizeof(*m) &&
	       !mtd_read_oob(dev->mtd, chunk_address(dev, chunk), &ops);
}

bool yaffs_nand_has_other_tags(struct yaffs_device *dev, u32 chunk)
{
	struct yaffs_tags_media m;
	struct yaffs_tags tags;

	return read_other_tags(dev, chunk, &m) &&
	       le32_to_cpu(m.seq) >= YAFFS_SEQ_LOWEST &&
	       le32_to_cpu(m.seq) < YAFFS_SEQ_END &&
	       !yaffs_tags_unpack(&m, &tags);
}

static bool page_has_data(struct yaffs_device *dev, u32 chunk)
{
	return !read_page(dev, chunk, 0, dev->check_page, dev->page_bytes) &&
	       memchr_inv(dev->check_page, 0xff, dev->page_bytes);
}

/*
 * Without in-band tags any contents of pages without tags are a reason to ask,
 * but for those of a single page: the first write of all, cut short by power.
 */
static bool other_mode_has_data(struct yaffs_device *dev, u32 chunk)
{
	if (dev->options.inband_tags)
		return yaffs_nand_has_other_tags(dev, chunk);
	if (!page_has_data(dev, chunk))
		return false;
	if (page_has_data(dev, chunk + 1))
		return true;
	dev->found_torn = true;
	return false;
}

bool yaffs_nand_wrong_mode(struct yaffs_device *dev, u8 state)
{
	u32 step = DIV_ROUND_UP(dev->n_blocks, OTHER_MODE_SAMPLES);
	u32 block, seen = 0;

	for (block = 1; block <= dev->n_blocks; block++) {
		if (dev->blocks[block].state != state ||
		    yaffs_nand_is_bad(dev, block))
			continue;
		if (seen++ % step && seen > OTHER_MODE_FIRST)
			continue;
		if (other_mode_has_data(dev, block * dev->pages_per_block))
			return true;
	}
	return false;
}

static int check_chip(const struct mtd_info *mtd)
{
	u64 pages = mtd->writesize ? div_u64(mtd->size, mtd->writesize) : 0;

	if (!mtd_type_is_nand(mtd)) {
		pr_err("yaffs2: %s is not NAND flash\n", mtd->name);
		return -EINVAL;
	}
	if (mtd->writesize < YAFFS_MIN_PAGE_BYTES) {
		pr_err("yaffs2: %s has pages of %u bytes, fewer than %u\n",
		       mtd->name, mtd->writesize, YAFFS_MIN_PAGE_BYTES);
		return -EINVAL;
	}
	if (mtd->erasesize / mtd->writesize > YAFFS_MAX_PAGES_PER_BLOCK ||
	    pages > INT_MAX / 2) {
		pr_err("yaffs2: %s has more pages than the format can number\n",
		       mtd->name);
		return -EINVAL;
	}
	if (mtd->size < (u64)mtd->erasesize * YAFFS_MIN_BLOCKS) {
		pr_err("yaffs2: %s has fewer than %u erase blocks\n", mtd->name,
		       YAFFS_MIN_BLOCKS);
		return -ENOSPC;
	}
	return 0;
}

/*
 * Where the tags are in the OOB, if in one piece: MTD's search for them, the same for each page,
 * takes longer than to check them.
 */
static void find_tags(struct yaffs_device *dev)
{
	struct mtd_oob_region free;

	if (!dev->options.inband_tags &&
	    !mtd_ooblayout_free(dev->mtd, 0, &free) &&
	    free.length >= oob_bytes(dev))
		dev->tags_at = free.offset;
}

int yaffs_nand_setup(struct yaffs_device *dev)
{
	struct mtd_info *mtd = dev->mtd;
	int err = check_chip(mtd);

	if (err)
		return err;
	if (!dev->options.inband_tags && mtd->oobavail < oob_bytes(dev)) {
		pr_info("yaffs2: %s: the OOB has %u free bytes, tags take %u: they go in-band\n",
			mtd->name, mtd->oobavail, oob_bytes(dev));
		dev->options.inband_tags = true;
	}
	find_tags(dev);
	dev->page_bytes = mtd->writesize;
	dev->chunk_bytes = dev->page_bytes;
	if (dev->options.inband_tags)
		dev->chunk_bytes -= sizeof(struct yaffs_tags_media);
	dev->pages_per_block = mtd->erasesize / mtd->writesize;
	dev->n_blocks = mtd_div_by_eb(mtd->size, mtd);
	dev->max_file_bytes = (u64)YAFFS_MAX_CHUNK_ID * dev->chunk_bytes;
	return 0;
}
