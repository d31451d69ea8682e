// SPDX-License-Identifier: GPL-2.0-only
/*
 * Garbage collection: moves the live pages of a block elsewhere and erases it.
 *
 * It works in steps of one page: a step copies the page at hand or passes it over, and
 * between any two of them it may stop, to go on at the next occasion. Which block is
 * collected, when, and how many steps it may take now is the policy's to say. Where
 * time is limited, it plans as many as fit by what steps took before (forecast.h), and
 * the erase is a step, too: it may come at a later occasion than the last copy.
 *
 * A copy has the same tags but for the sequence number. A header is brought up to
 * date on the way: it loses shrink and shadow marks, which have done their work by
 * the time the block may be collected.
 *
 * A live page that cannot be read is not copied: it would be given a good ECC with
 * wrong contents. Its block is kept as it is, so that reading goes on to fail, until
 * the page is overwritten or deleted. But a kept block may be all that keeps younger
 * blocks with shrink headers from being erased, in the end all of them. So when space
 * is short and nothing else can be collected, the page is given up: what takes its
 * place says of itself that it is lost, and reading it fails, too.
 */

#include <linux/ktime.h>
#include <linux/moduleparam.h>

#include "alloc.h"
#include "forecast.h"
#include "gc.h"
#include "map_io.h"
#include "marks.h"
#include "nand.h"
#include "objects.h"
#include "request.h"

static unsigned int yaffs_gc_control = 1;
module_param(yaffs_gc_control, uint, 0644);
MODULE_PARM_DESC(yaffs_gc_control, "bit 0: garbage collection is allowed");

/* ---- one page ---- */

/*
 * A file that is being made shorter may have its old tail in its last chunk. The copy is
 * newer than the header with the size, so it must not have that.
 */
static void cut_copy(struct yaffs_device *dev, const struct yaffs_object *obj,
		     struct yaffs_tags *tags)
{
	u64 start = (u64)(tags->chunk_id - 1) * dev->chunk_bytes;
	u64 size = obj->file.stored_size;
	u32 left;

	if (tags->n_bytes > dev->chunk_bytes || size <= start ||
	    size >= start + tags->n_bytes)
		return;
	left = size - start;
	memset(dev->gc_page_data + left, 0, dev->chunk_bytes - left);
	tags->n_bytes = left;
}

/* @lost: the page was not readable, and is from now on said to be so. */
static int copy_data(struct yaffs_device *dev, struct yaffs_object *obj,
		     u32 chunk, struct yaffs_tags *tags, bool lost)
{
	u32 copy;
	int err;

	if (!obj || obj->type != YAFFS_TYPE_FILE)
		return -ENOENT;
	err = yaffs_map_load(obj, tags->chunk_id);
	if (err)
		return err;
	if (yaffs_index_get(&obj->file.index, tags->chunk_id) != chunk)
		return -ENOENT;
	if (lost) {
		tags->n_bytes = YAFFS_LOST_BYTES;
		dev->has_lost_pages = true;
		yaffs_map_note_lost(obj, tags->chunk_id);
	} else {
		cut_copy(dev, obj, tags);
	}
	err = yaffs_chunk_write(dev, dev->gc_page_data, tags,
				YAFFS_WRITE_COPY, &copy);
	if (err)
		return err;
	yaffs_index_set(&obj->file.index, tags->chunk_id, copy);
	yaffs_map_note(obj, tags->chunk_id, copy);
	return 0;
}

/*
 * In the segregated layout: what is in memory is written anew, what is not is copied as it
 * is. @unreadable: only the former can be done.
 */
static int copy_index(struct yaffs_device *dev, struct yaffs_object *obj,
		      u32 chunk, struct yaffs_tags *tags, int unreadable)
{
	struct yaffs_piece *piece = NULL;
	u32 copy;
	int err;

	if (obj && obj->type == YAFFS_TYPE_FILE && obj->file.map)
		piece = yaffs_map_at(obj, tags->chunk_id);
	if (!piece || piece->chunk != chunk)
		return -ENOENT;
	if (piece->loaded)
		return yaffs_map_write_piece(piece, YAFFS_WRITE_COPY);
	if (unreadable)
		return unreadable;
	err = yaffs_chunk_write(dev, dev->gc_page_data, tags,
				YAFFS_WRITE_COPY, &copy);
	if (!err)
		yaffs_piece_set_chunk(piece, copy);
	return err;
}

/*
 * A file's header in the segregated layout, with what the header has of its index. If that
 * is in memory it is brought up to date, too.
 */
static int refresh_map(struct yaffs_object *obj, u8 *page, bool *has_index)
{
	struct yaffs_device *dev = obj->dev;
	struct yaffs_map *map = obj->file.map;
	int err;

	*has_index = false;
	if (obj->type != YAFFS_TYPE_FILE || !map)
		return 0;
	/* As it is it would become the newest, though an index page may be newer. */
	err = yaffs_map_take_header(obj, page);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = yaffs_map_before_header(obj, yaffs_map_xattr_used(dev, page),
				      YAFFS_WRITE_COPY);
	if (!err)
		*has_index = yaffs_map_fill_header(obj, false, page);
	return err;
}

static int copy_header(struct yaffs_device *dev, struct yaffs_object *obj,
		       u32 chunk, bool lost)
{
	struct yaffs_tags tags;
	bool has_index = false;
	u32 copy;
	int err = 0;

	if (!obj || obj->hdr_chunk != chunk)
		return -ENOENT;
	if (lost) {
		err = yaffs_map_before_header(obj, 0, YAFFS_WRITE_COPY);
		has_index = yaffs_header_replace(obj, dev->gc_page_data, &tags);
	} else {
		err = yaffs_header_refresh(obj, dev->gc_page_data, &tags);
		if (!err)
			err = refresh_map(obj, dev->gc_page_data, &has_index);
	}
	if (err == -EUCLEAN) {
		/* No header, and no bit error: it moves as what it is. */
		yaffs_header_tags(obj, &tags);
		err = 0;
	}
	if (err)
		return err;
	err = yaffs_chunk_write(dev, dev->gc_page_data, &tags,
				YAFFS_WRITE_COPY, &copy);
	if (err)
		return err;
	obj->hdr_chunk = copy;
	if (has_index)
		yaffs_map_header_written(obj, true);
	return 0;
}

/* ---- a page whose tags are wrong ---- */

struct search {
	u32 chunk;
	u32 chunk_id;
};

static int is_in_leaf(void *context, u32 first_id, const u32 *chunks)
{
	struct search *s = context;
	u32 i;

	for (i = 0; i < YAFFS_LEAF_ENTRIES; i++)
		if (chunks[i] == s->chunk) {
			s->chunk_id = first_id + i;
			return 1;
		}
	return 0;
}

/* Writes a part of the file's index anew, if that is its page, and it is in memory. */
static int save_piece(struct yaffs_object *obj, u32 chunk)
{
	struct yaffs_piece *piece;
	u32 number = 0;

	if (!obj->file.map)
		return -ENOENT;
	yaffs_for_each_piece(piece, obj, number)
		if (piece->chunk == chunk)
			return piece->loaded ?
				yaffs_map_write_piece(piece, YAFFS_WRITE_COPY) :
				-EBADMSG;
	return -ENOENT;
}

/* Gives up a page of that file, if it is one; -ENOENT: it is not. */
static int lose_of_file(struct yaffs_object *obj, u32 chunk, bool give_up)
{
	struct yaffs_device *dev = obj->dev;
	struct search s = { .chunk = chunk };
	struct yaffs_tags tags;
	int err;

	err = save_piece(obj, chunk);
	if (err != -ENOENT)
		return err;
	/* What cannot be read may name it. */
	if (yaffs_map_load_from(obj, 0))
		return -EUCLEAN;
	if (!yaffs_index_leaves(&obj->file.index, is_in_leaf, &s))
		return -ENOENT;
	if (!give_up)
		return -EBADMSG;
	tags = (struct yaffs_tags) {
		.obj_id = obj->id,
		.chunk_id = s.chunk_id,
	};
	return copy_data(dev, obj, chunk, &tags, true);
}

/*
 * The tags name nobody who has the page: it was erased, is an older one, or another, or they
 * cannot be read. Reading the page fails, and memory knows whose it is: to him it is lost. A copy
 * would make of it what he wrote. 0: it is nobody's, or was given up. Looks everywhere, which is
 * seldom asked for.
 */
static noinline __cold int lose_stray(struct yaffs_device *dev, u32 chunk,
				      bool give_up)
{
	struct yaffs_object *obj;
	unsigned long id;
	int err = -ENOENT;

	xa_for_each(&dev->objects, id, obj) {
		if (obj->hdr_chunk == chunk)
			err = give_up ? copy_header(dev, obj, chunk, true) :
					-EBADMSG;
		else if (obj->type == YAFFS_TYPE_FILE)
			err = lose_of_file(obj, chunk, give_up);
		if (err != -ENOENT) {
			dev->stats.pages_lost += !err;
			return err;
		}
	}
	/* A checkpoint of the original may count some. */
	return 0;
}

/* Or from before the block's last erase, or of no page. */
static bool is_of_block(const struct yaffs_device *dev, u32 chunk,
			const struct yaffs_tags *tags)
{
	return tags->used && tags->seq == dev->blocks[yaffs_block_of(dev, chunk)].seq;
}

/* @err: of reading the page: 0, or it is @lost, or of an index. */
static int move_known(struct yaffs_device *dev, u32 chunk,
		      struct yaffs_tags *tags, int err, bool lost)
{
	struct yaffs_object *obj = is_of_block(dev, chunk, tags) ?
		yaffs_object_find(dev, tags->obj_id) : NULL;

	if (tags->is_index)
		err = copy_index(dev, obj, chunk, tags, err);
	else if (tags->used && tags->chunk_id)
		err = copy_data(dev, obj, chunk, tags, lost);
	else
		err = copy_header(dev, obj, chunk, lost);
	if (!err) {
		dev->stats.gc_copies++;
		dev->stats.gc_metadata_copies += tags->is_index || !tags->chunk_id;
		dev->stats.pages_lost += lost;
	}
	return err;
}

/*
 * Moves a live page; -EBADMSG, -EUCLEAN, -EIO: it cannot be read.
 * @give_up: so be it.
 */
static int move_page(struct yaffs_device *dev, u32 chunk, bool give_up)
{
	struct yaffs_tags tags;
	bool lost;
	int err;

	err = yaffs_nand_read(dev, chunk, dev->gc_page_data, &tags);
	lost = give_up && err == -EBADMSG && tags.used;
	if (!err || lost || tags.is_index)
		err = move_known(dev, chunk, &tags, err, lost);
	else if (give_up && (err == -EBADMSG || err == -EUCLEAN))
		err = -ENOENT;
	if (err == -ENOENT)
		err = lose_stray(dev, chunk, give_up);
	if (!err)
		yaffs_chunk_dead(dev, chunk);
	return err;
}

/* ---- one block ---- */

static void give_up(struct yaffs_device *dev, int err)
{
	struct yaffs_block *b = &dev->blocks[dev->gc.block];

	INVARIANT(b->state == YAFFS_BLOCK_COLLECTING, "block %u is given up in state %u",
		  dev->gc.block, b->state);
	b->state = YAFFS_BLOCK_FULL;
	/* While it was being collected it did not count: younger ones wait for it again. */
	dev->policy->ops->dirtied(dev->policy, dev->gc.block);
	if (err != -ENOSPC && err != -ENOMEM && !b->unreadable) {
		b->unreadable = true;
		pr_info("yaffs2: %s: block %u is kept: a live page cannot be moved (%d)\n",
			dev->mtd->name, dev->gc.block - 1, err);
	}
	dev->gc.block = 0;
}

/*
 * One step: the page at hand is copied, or passed over. Returns 0; 1 if it would have to
 * be copied and the budget is used up; an error if it cannot be moved.
 */
static int step(struct yaffs_device *dev, struct yaffs_budget *budget)
{
	const struct yaffs_block *b = &dev->blocks[dev->gc.block];
	u32 chunk = dev->gc.block * dev->pages_per_block + dev->gc.page;
	bool live = yaffs_chunk_is_live(dev, chunk);
	int err = 0;

	if (live && b->has_summary && yaffs_summary_page(dev, dev->gc.page)) {
		yaffs_chunk_dead(dev, chunk);
	} else if (live) {
		if (!budget->copies)
			return 1;
		budget->copies--;
		err = move_page(dev, chunk, b->unreadable);
	} else if (dev->gc.marks) {
		err = yaffs_marks_pass(dev, chunk);
	}
	if (!err)
		dev->gc.page++;
	return err;
}

/*
 * Others may have had the processor since the run was planned, such as memory reclaim: a step
 * that no longer fits is left to the next occasion. How many marks will be found is not planned.
 */
static bool is_late(const struct yaffs_device *dev,
		    const struct yaffs_budget *budget, u32 copies, u32 erases)
{
	const struct yaffs_work next = { .copies = copies, .erases = erases };

	return budget->ns && ktime_get_ns() - dev->gc.began_ns +
			     yaffs_forecast(&dev->prices, &next) > budget->ns;
}

/*
 * The block from the page at hand on, as far as the budget reaches; 0, 1 or as step().
 * @erase: it may also be erased now. The first step is taken in any case.
 */
static int collect(struct yaffs_device *dev, struct yaffs_budget *budget,
		   bool erase)
{
	u32 block = dev->gc.block, planned = budget->copies;
	struct yaffs_block *b = &dev->blocks[block];
	int ret;

	INVARIANT(b->state == YAFFS_BLOCK_FULL || b->state == YAFFS_BLOCK_COLLECTING,
		  "block %u is collected in state %u", block, b->state);
	b->state = YAFFS_BLOCK_COLLECTING;
	while ((b->pages_in_use || dev->gc.marks) &&
	       dev->gc.page < dev->pages_per_block) {
		ret = step(dev, budget);
		if (ret < 0)
			give_up(dev, ret);
		if (ret)
			return ret;
		if (((budget->copies && budget->copies < planned) ||
		     dev->gc.marks) && is_late(dev, budget, 1, 0))
			return 1;
	}
	/* The last page that died has erased it, unless there is a bound or none was live. */
	if (dev->gc.block != block)
		return 0;
	if (!erase || ((budget->copies < planned || dev->gc.marks) &&
		       is_late(dev, budget, 0, 1)))
		return 1;
	yaffs_block_recycle(dev, block);
	return 0;
}

/* ---- what it will be ---- */

/* Summaries that the copies fill a block of their stream up to. */
static u32 summaries_ahead(const struct yaffs_device *dev, u32 copies)
{
	const struct yaffs_stream *stream =
		&dev->streams[dev->policy->ops->stream_of(dev->policy,
							  YAFFS_PAGE_DATA_COPY)];
	u32 pages = yaffs_summary_pages_of(dev, false);
	u32 usable = dev->pages_per_block - pages;
	u32 page = stream->block ? stream->page : 0;

	return pages * ((page % usable + copies) / usable);
}

/* What the budget allows of the block at hand. Its summary is not copied. */
static void plan(const struct yaffs_device *dev,
		 const struct yaffs_budget *budget, struct yaffs_work *work)
{
	const struct yaffs_block *b = &dev->blocks[dev->gc.block];
	u32 summary = b->has_summary ? dev->summary_pages : 0;
	u32 live = b->pages_in_use - min_t(u32, b->pages_in_use, summary);

	work->copies = min(live, budget->copies);
	work->erases = work->copies == live;
	if (budget->ns)
		yaffs_forecast_fit(&dev->prices, budget->ns,
				   budget->copies, work);
	work->summaries = summaries_ahead(dev, work->copies);
}

/* As planned, which is then compared with what it took. */
static void collect_as_planned(struct yaffs_device *dev,
			       struct yaffs_budget *budget)
{
	struct yaffs_work work;
	u64 forecast_ns, took_ns;
	bool other = dev->gc.marks;
	int ret;

	plan(dev, budget, &work);
	if (!work.copies && !work.erases)
		return;
	budget->copies = work.copies;
	forecast_ns = yaffs_forecast_of(dev, &work);
	dev->gc.began_ns = ktime_get_ns();
	ret = collect(dev, budget, work.erases);
	took_ns = ktime_get_ns() - dev->gc.began_ns;
	other |= ret > 0 && (budget->copies || work.erases);
	if (!dev->forecast && !other)
		yaffs_forecast_learn(&dev->prices, &work, took_ns);
	else if (dev->forecast && (ret < 0 || other))
		dev->forecast->broken++;
	else if (dev->forecast)
		yaffs_forecast_note(dev, &work, forecast_ns, took_ns);
}

static void choose(struct yaffs_device *dev, bool aggressive, bool background)
{
	dev->gc.block = dev->policy->ops->victim(dev->policy, aggressive,
						 background);
	dev->gc.page = 0;
	if (!dev->gc.block)
		return;
	INVARIANT(yaffs_view_is_full(&dev->policy->view, dev->gc.block),
		  "the policy has block %u collected, of state %u", dev->gc.block,
		  dev->blocks[dev->gc.block].state);
	yaffs_marks_begin(dev);
	if (aggressive)
		dev->stats.gc_aggressive++;
	else if (background)
		dev->stats.gc_background++;
	else
		dev->stats.gc_passive++;
}

/* ---- when ---- */

/* In a hurry where the original would be aggressive. */
static u64 allowance_ns(const struct yaffs_device *dev,
			const struct yaffs_occasion *occasion)
{
	u64 ns = yaffs_allowance_ns(dev, !occasion->round,
				    dev->space.erased_blocks <
				    yaffs_enough_blocks(occasion));

	return dev->bound.behind ? ns / 2 : ns;
}

/* What the policy is asked now; false: nothing is to be collected. */
static bool has_budget(struct yaffs_device *dev, struct yaffs_occasion *occasion,
		       struct yaffs_budget *budget)
{
	occasion->checkpoint_blocks = yaffs_checkpoint_blocks_needed(dev);
	if (occasion->bounded)
		occasion->ns = allowance_ns(dev, occasion);
	return dev->policy->ops->budget(dev->policy, occasion, budget);
}

/* To choose has taken time, too. */
static void limit(const struct yaffs_device *dev,
		  const struct yaffs_occasion *occasion,
		  struct yaffs_budget *budget)
{
	if (occasion->bounded && !occasion->background && !budget->forced)
		budget->ns = max_t(u64, allowance_ns(dev, occasion), 1);
}

/* Copies and erases so far. */
static u64 steps_done(const struct yaffs_device *dev)
{
	return dev->stats.gc_copies + dev->stats.erasures;
}

/* Returns whether anything was done. */
static bool run(struct yaffs_device *dev, struct yaffs_occasion *occasion)
{
	u64 began = steps_done(dev), before;
	struct yaffs_budget budget;

	dev->gc.disabled++;
	for (;; occasion->round++) {
		if (!has_budget(dev, occasion, &budget))
			break;
		if (!dev->gc.block) {
			choose(dev, budget.aggressive, occasion->background);
			limit(dev, occasion, &budget);
		}
		if (!dev->gc.block)
			break;
		dev->bound.forced += budget.forced;
		before = steps_done(dev);
		if (yaffs_has_prices(dev))
			collect_as_planned(dev, &budget);
		else
			collect(dev, &budget, true);
		occasion->steps = steps_done(dev) - before;
	}
	dev->gc.disabled--;
	return steps_done(dev) != began;
}

static bool may_run(const struct yaffs_device *dev)
{
	return !dev->gc.disabled && !dev->read_only && (yaffs_gc_control & 1);
}

/*
 * Who waits for the processor has it first. On a small board that is memory reclaim, which the
 * call's own page of the page cache has woken: it takes some ms, which the collector then knows
 * of. Otherwise it would run as soon as the driver waits for the chip, behind the decision.
 */
static bool run_bounded(struct yaffs_device *dev, struct yaffs_occasion *occasion)
{
	u64 began_ns;
	bool any;

	cond_resched();
	began_ns = ktime_get_ns();
	any = run(dev, occasion);
	yaffs_request_collected(dev, any ? ktime_get_ns() - began_ns : 0);
	return any;
}

static bool start(struct yaffs_device *dev, bool background)
{
	struct yaffs_occasion occasion = {
		.background = background,
		.bounded = dev->bound.ns,
		.reserved_blocks = yaffs_reserved_blocks(dev),
		.after_cut = dev->mounted_by == YAFFS_BY_SCAN &&
			     !dev->found_erased,
	};

	yaffs_assert_locked(dev);
	if (!may_run(dev))
		return false;
	return occasion.bounded ? run_bounded(dev, &occasion) :
				  run(dev, &occasion);
}

void yaffs_gc_before_write(struct yaffs_device *dev)
{
	start(dev, false);
}

bool yaffs_gc_in_background(struct yaffs_device *dev)
{
	return start(dev, true);
}
