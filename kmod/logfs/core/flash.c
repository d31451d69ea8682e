// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flash: read in pages, programmed in write units. Objects follow each other without regard to
 * either, so that most begin in the page in which the one before ends: pages that were read are
 * kept for a while, and a file that is read in order needs each once. What is smaller than a
 * header of an object is read for its own sake alone, and is not worth the rest of its page.
 * Of what is small there is a larger memory, which is not the core's (vfs/kept.c).
 *
 * What is written and not yet programmed is seen by readers as if it were on flash.
 *
 * What ECC had to correct is good data, but a warning: its segment is cleaned soon.
 */

#include "flash.h"

void logfs_fail(struct logfs_device *dev, const char *why, int err)
{
	if (!dev->failed)
		pr_err("logfs: %s: %s (%d): read-only from now on, what was not synced is lost; unmount, look at the kernel log for what the chip says, and check the partition\n",
		       dev->mtd->name, why, err);
	dev->failed = true;
	dev->writable = false;
}

static const u8 *unit_of(const struct logfs_open *open, u32 segno, u32 at)
{
	if (open->segno != segno || open->programmed != at ||
	    open->used <= at)
		return NULL;
	return open->unit;
}

/* The unit at @at of a segment, if it is in memory. */
static const u8 *find_open(const struct logfs_device *dev, u32 segno, u32 at)
{
	const struct logfs_left *left;
	const u8 *unit;
	u32 level;

	for (level = 0; level < LOGFS_GC_LEVELS; level++) {
		unit = unit_of(&dev->open[level], segno, at);
		if (unit)
			return unit;
	}
	list_for_each_entry(left, &dev->left, list) {
		unit = unit_of(&left->open, segno, at);
		if (unit)
			return unit;
	}
	return NULL;
}

static int judge_read(struct logfs_device *dev, u64 place, int err)
{
	if (err == -EUCLEAN) {
		dev->stats.bits_corrected++;
		xa_store(&dev->scrub, logfs_segno(dev, place), xa_mk_value(1),
			 LOGFS_GFP);
		return 0;
	}
	if (err == -EBADMSG)
		dev->stats.uncorrectable++;
	return err;
}

static int read_mtd(struct logfs_device *dev, u64 place, void *to, u32 bytes)
{
	size_t done;

	return judge_read(dev, place,
			  mtd_read(dev->mtd, place, bytes, &done, to));
}

static struct logfs_page *find_page(struct logfs_device *dev, u64 place)
{
	u32 i;

	for (i = 0; i < LOGFS_READ_PAGES; i++)
		if (dev->pages[i].place == place)
			return &dev->pages[i];
	return NULL;
}

static struct logfs_page *oldest_page(struct logfs_device *dev)
{
	struct logfs_page *oldest = &dev->pages[0];
	u32 i;

	for (i = 1; i < LOGFS_READ_PAGES; i++)
		if (dev->pages[i].stamp < oldest->stamp)
			oldest = &dev->pages[i];
	return oldest;
}

/* @place and @bytes are within a page. */
static int read_cached(struct logfs_device *dev, u64 place, void *to, u32 bytes)
{
	const u32 within = (u32)place & (dev->page_bytes - 1);
	struct logfs_page *page = find_page(dev, place - within);
	int err = 0;

	if (!page && bytes <= LOGFS_OBJECT_HEADER_BYTES)
		return read_mtd(dev, place, to, bytes);
	if (!page) {
		page = oldest_page(dev);
		err = read_mtd(dev, place - within, page->bytes,
			       dev->page_bytes);
		page->place = err ? U64_MAX : place - within;
	}
	page->stamp = ++dev->stamp;
	memcpy(to, page->bytes + within, bytes);
	return err;
}

/* Of pieces of @piece_bytes each is read by one call. */
static int read_pieces(struct logfs_device *dev, u64 place, void *to, u32 bytes,
		       u32 piece_bytes, logfs_reader *read_piece)
{
	const u8 *open;
	int err = 0, status;
	u32 at, within, n;

	if (place >= dev->mtd->size || bytes > dev->mtd->size - place)
		return -EUCLEAN;
	for (; bytes; bytes -= n, place += n, to += n) {
		at = (u32)place & (dev->segment_bytes - 1);
		within = at & (piece_bytes - 1);
		n = min_t(u32, bytes, piece_bytes - within);
		within = at & (dev->unit_bytes - 1);
		open = find_open(dev, logfs_segno(dev, place), at - within);
		if (open) {
			memcpy(to, open + within, n);
			continue;
		}
		status = read_piece(dev, place, to, n);
		if (status && status != -EBADMSG)
			return status;
		if (status)
			err = status;
	}
	return err;
}

int logfs_flash_read(struct logfs_device *dev, u64 place, void *to, u32 bytes)
{
	logfs_assert_locked(dev);
	return read_pieces(dev, place, to, bytes, dev->page_bytes, read_cached);
}

static int read_kept(struct logfs_device *dev, u64 place, void *to, u32 bytes)
{
	int err = dev->keeper->read(dev->keeper_arg, place, to, bytes);

	return err == -ENOMEM ? logfs_flash_read(dev, place, to, bytes) : err;
}

int logfs_flash_read_kept(struct logfs_device *dev, u64 place, void *to, u32 bytes)
{
	if (!dev->keeper)
		return logfs_flash_read(dev, place, to, bytes);
	return read_pieces(dev, place, to, bytes, logfs_piece_bytes(dev), read_kept);
}

u32 logfs_piece_bytes(const struct logfs_device *dev)
{
	return min_t(u32, dev->page_bytes, LOGFS_BLOCK_BYTES);
}

static void forget_pages(struct logfs_device *dev, u64 place, u64 bytes)
{
	u32 i;

	for (i = 0; i < LOGFS_READ_PAGES; i++)
		if (dev->pages[i].place >= place &&
		    dev->pages[i].place < place + bytes)
			dev->pages[i].place = U64_MAX;
	if (dev->keeper)
		dev->keeper->forget(dev->keeper_arg, place, bytes);
}

int logfs_flash_program(struct logfs_device *dev, u64 place, const u8 *unit)
{
	size_t done;

	forget_pages(dev, place, dev->unit_bytes);
	return mtd_write(dev->mtd, place, dev->unit_bytes, &done, unit);
}

int logfs_flash_erase(struct logfs_device *dev, u32 segno)
{
	struct erase_info instr = {
		.addr = logfs_segment_place(dev, segno),
		.len = dev->segment_bytes,
	};

	forget_pages(dev, instr.addr, instr.len);
	dev->stats.erasures++;
	return mtd_erase(dev->mtd, &instr);
}

bool logfs_flash_is_erased(struct logfs_device *dev, u64 place, u32 bytes)
{
	struct logfs_page *page = oldest_page(dev);
	const u64 end = place + bytes;

	page->place = U64_MAX;
	for (; place < end; place += dev->page_bytes)
		if (read_mtd(dev, place, page->bytes, dev->page_bytes) ||
		    !logfs_is_erased(page->bytes, dev->page_bytes))
			return false;
	return true;
}

bool logfs_flash_is_bad(const struct logfs_device *dev, u32 segno)
{
	const u64 place = logfs_segment_place(dev, segno);
	u64 at;

	for (at = place; at < place + dev->segment_bytes;
	     at += dev->mtd->erasesize)
		if (mtd_block_isbad(dev->mtd, at))
			return true;
	return false;
}

void logfs_flash_count_bad(struct logfs_device *dev)
{
	const u64 super_at = max_t(u64, dev->super.super_at[0],
				   dev->super.super_at[1]);
	u32 segno, last = 0;

	if (dev->bad_counted)
		return;
	dev->bad_counted = true;
	dev->n_bad = 0;
	for (segno = 0; segno < dev->super.n_segments; segno++) {
		if (logfs_flash_is_bad(dev, segno))
			dev->n_bad++;
		else
			last = segno;
	}
	dev->n_spare = last > logfs_segno(dev, super_at);
}

void logfs_flash_note_bad(struct logfs_device *dev)
{
	logfs_flash_count_bad(dev);
	dev->n_bad++;
}

void logfs_flash_mark_bad(struct logfs_device *dev, u32 segno)
{
	const u64 place = logfs_segment_place(dev, segno);
	int err;

	dev->stats.retired_segments++;
	err = mtd_block_markbad(dev->mtd, place);
	if (err)
		pr_warn("logfs: %s: segment %u cannot be marked as bad (%d)\n",
			dev->mtd->name, segno, err);
}
