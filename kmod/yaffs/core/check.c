// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold while nobody has the lock: counts are those of what they count, lists and
 * maps agree with each other, and states are possible ones. Each yaffs_unlock() of a mount
 * ends with it, where there are assertions (../../invariant.h) and the module's parameter
 * yaffs_check_all is on. It walks over all blocks, objects and indices: so a bug is told where it
 * breaks something, and not when somebody comes to need that.
 *
 * It looks at memory alone. Memory has what the mount took from the flash, and the flash may
 * say anything that can be said. So only what a mount makes sure of is asserted. A checkpoint
 * may have live pages that nobody owns: there may never be more. In the segregated layout it
 * may also say that a page has several owners, which nobody notices before all indices are
 * read: after a mount by such a checkpoint owners are not asked for.
 */

#include "objects.h"

INVARIANT_SWITCH(yaffs_check_all);

/* What was counted so far. */
struct check {
	struct yaffs_device *dev;
	unsigned long *owned;	/* by chunk: it has an owner; NULL: that is not asked for */
	u32 n_objects;
	u32 n_files;
	u32 n_leaves;
	u32 n_parents;
	u32 n_children;
	u32 n_dirty_directories;
	u32 n_pieces;
	u32 n_unwritten;
	u32 n_waiting;
	u32 n_ids;
};

/* ---- blocks ---- */

static bool is_stream(const struct yaffs_device *dev, u32 block)
{
	return dev->streams[YAFFS_STREAM_DATA].block == block ||
	       dev->streams[YAFFS_STREAM_METADATA].block == block;
}

static bool is_pinned(const struct yaffs_device *dev, u32 block)
{
	u32 part;

	for (part = 0; part < YAFFS_IDS_PARTS; part++)
		if (dev->ids.block[part] == block)
			return true;
	return false;
}

static void check_state(const struct yaffs_device *dev, u32 block)
{
	const struct yaffs_block *b = &dev->blocks[block];

	switch (b->state) {
	case YAFFS_BLOCK_EMPTY:
	case YAFFS_BLOCK_CHECKPOINT:
	case YAFFS_BLOCK_DEAD:
		INVARIANT(!b->pages_in_use, "block %u of state %u has %u live pages",
			  block, b->state, b->pages_in_use);
		break;
	case YAFFS_BLOCK_ALLOCATING:
	case YAFFS_BLOCK_FULL:
	case YAFFS_BLOCK_COLLECTING:
		INVARIANT(b->seq <= dev->seq, "block %u has number %u, and %u is the highest",
			  block, b->seq, dev->seq);
		break;
	default:
		INVARIANT(false, "block %u has state %u", block, b->state);
	}
	INVARIANT((b->state == YAFFS_BLOCK_ALLOCATING) == is_stream(dev, block),
		  "block %u has state %u: is it a stream's?", block, b->state);
	INVARIANT(b->state != YAFFS_BLOCK_COLLECTING || dev->gc.block == block,
		  "block %u is being collected, and so is %u", block, dev->gc.block);
	INVARIANT(b->pinned == is_pinned(dev, block), "block %u, pinned: %u", block,
		  b->pinned);
}

static u32 live_pages(const struct yaffs_device *dev, u32 block)
{
	unsigned long end = (block + 1) * dev->pages_per_block, chunk;
	u32 n = 0;

	for (chunk = find_next_bit(dev->live, end, block * dev->pages_per_block);
	     chunk < end; chunk = find_next_bit(dev->live, end, chunk + 1))
		n++;
	return n;
}

static bool has_room(const struct yaffs_block *b)
{
	return b->state != YAFFS_BLOCK_DEAD && b->state != YAFFS_BLOCK_CHECKPOINT;
}

static void check_blocks(struct yaffs_device *dev)
{
	u32 block, live, free_chunks = 0, erased_blocks = 0, ckpt_blocks = 0;

	for (block = 1; block <= dev->n_blocks; block++) {
		const struct yaffs_block *b = &dev->blocks[block];

		check_state(dev, block);
		live = live_pages(dev, block);
		INVARIANT(b->pages_in_use == live, "block %u has %u live pages, and %u are counted",
			  block, live, b->pages_in_use);
		erased_blocks += b->state == YAFFS_BLOCK_EMPTY;
		ckpt_blocks += b->state == YAFFS_BLOCK_CHECKPOINT;
		if (has_room(b))
			free_chunks += dev->pages_per_block - live;
	}
	INVARIANT(dev->space.free_chunks == free_chunks, "%u pages are free, and %u are counted",
		  free_chunks, dev->space.free_chunks);
	INVARIANT(dev->space.erased_blocks == erased_blocks,
		  "%u blocks are erased, and %u are counted", erased_blocks,
		  dev->space.erased_blocks);
	INVARIANT(dev->ckpt_blocks == ckpt_blocks,
		  "%u blocks have a checkpoint, and %u are counted", ckpt_blocks,
		  dev->ckpt_blocks);
	INVARIANT(!dev->ckpt_valid || ckpt_blocks, "the checkpoint is valid, and nowhere");
}

static void check_stream(const struct yaffs_device *dev, u32 number)
{
	const struct yaffs_stream *stream = &dev->streams[number];
	u32 first = stream->block * dev->pages_per_block, page;

	if (!stream->block)
		return;
	INVARIANT(number < dev->options.policy->n_streams, "stream %u is none", number);
	INVARIANT(stream->page <= dev->pages_per_block, "stream %u is at page %u of block %u",
		  number, stream->page, stream->block);
	INVARIANT(!yaffs_is_segregated(dev) ||
		  dev->blocks[stream->block].metadata == (number == YAFFS_STREAM_METADATA),
		  "stream %u is at block %u, of the other kind", number, stream->block);
	for (page = stream->page; page < dev->pages_per_block; page++)
		INVARIANT(!test_bit(first + page, dev->live),
			  "page %u of block %u is live, and not written yet", page,
			  stream->block);
}

static void check_streams(struct yaffs_device *dev)
{
	INVARIANT(dev->seq >= dev->checked.seq, "the sequence number was %u, and is %u",
		  dev->checked.seq, dev->seq);
	dev->checked.seq = dev->seq;
	check_stream(dev, YAFFS_STREAM_DATA);
	check_stream(dev, YAFFS_STREAM_METADATA);
	INVARIANT(!dev->gc.disabled, "the collector is disabled %u times", dev->gc.disabled);
	INVARIANT(!dev->gc.block || dev->blocks[dev->gc.block].state == YAFFS_BLOCK_FULL ||
		  dev->blocks[dev->gc.block].state == YAFFS_BLOCK_COLLECTING,
		  "block %u of state %u is being collected", dev->gc.block,
		  dev->blocks[dev->gc.block].state);
}

/* ---- counts of erases; queues of empty blocks, of which each block is in one at most ---- */

static void check_wear(struct yaffs_device *dev)
{
	u64 erases = 0;
	u32 block, next, n_ends = 0, n_links = 0, n_next = 0;

	if (!dev->erases)
		return;
	for (block = 1; block <= dev->n_blocks; block++) {
		erases += dev->erases[block];
		next = dev->worn.links[block];
		n_links += next != 0;
		n_ends += next == U32_MAX;
		if (!next || next == U32_MAX)
			continue;
		INVARIANT(next <= dev->n_blocks && dev->worn.links[next],
			  "block %u waits behind block %u, which does not", block, next);
		n_next++;
	}
	INVARIANT(erases == dev->all_erases, "%llu erases, and %llu are counted", erases,
		  dev->all_erases);
	INVARIANT(n_ends <= YAFFS_STREAMS && n_links == n_next + n_ends,
		  "%u queues of empty blocks have an end", n_ends);
}

/* ---- cached chunks ---- */

static void check_slot(const struct yaffs_device *dev, u32 number)
{
	const struct yaffs_slot *slot = &dev->slots[number];
	u32 i;

	if (!slot->obj) {
		INVARIANT(!slot->dirty, "slot %u is dirty, and of no file", number);
		return;
	}
	INVARIANT(slot->obj->type == YAFFS_TYPE_FILE && !slot->obj->deleted && slot->chunk_id,
		  "slot %u has chunk %u of object %u", number, slot->chunk_id, slot->obj->id);
	INVARIANT(slot->begin <= slot->end && slot->end <= dev->chunk_bytes,
		  "slot %u has bytes from %u to %u", number, slot->begin, slot->end);
	for (i = 0; i < number; i++)
		INVARIANT(dev->slots[i].obj != slot->obj ||
			  dev->slots[i].chunk_id != slot->chunk_id,
			  "slots %u and %u have chunk %u of object %u", i, number,
			  slot->chunk_id, slot->obj->id);
}

static void check_slots(const struct yaffs_device *dev)
{
	u32 i, n_dirty = 0;

	for (i = 0; i < dev->n_slots; i++) {
		check_slot(dev, i);
		n_dirty += dev->slots[i].dirty;
	}
	INVARIANT(dev->n_dirty_slots == n_dirty, "%u slots are dirty, and %u are counted",
		  n_dirty, dev->n_dirty_slots);
}

/* ---- what objects own ---- */

static void own(struct check *c, const struct yaffs_object *obj, u32 chunk,
		bool metadata)
{
	const struct yaffs_device *dev = c->dev;
	bool valid = yaffs_chunk_valid(dev, chunk), twice;

	if (!c->owned)
		return;
	INVARIANT(valid, "object %u has page %u", obj->id, chunk);
	if (!valid)
		return;
	INVARIANT(test_bit(chunk, dev->live), "object %u has page %u, which is dead", obj->id,
		  chunk);
	INVARIANT(!yaffs_is_segregated(dev) ||
		  dev->blocks[yaffs_block_of(dev, chunk)].metadata == metadata,
		  "object %u has page %u in a block of the other kind", obj->id, chunk);
	twice = __test_and_set_bit(chunk, c->owned);
	INVARIANT(!twice, "object %u has page %u, which has an owner", obj->id, chunk);
}

struct leaf_check {
	struct check *check;
	struct yaffs_object *obj;
	u32 n_chunks;
	u32 last_id;
};

static int check_leaf(void *context, u32 first_id, const u32 *chunks)
{
	struct leaf_check *l = context;
	u32 i;

	l->check->n_leaves++;
	for (i = 0; i < YAFFS_LEAF_ENTRIES; i++) {
		if (!chunks[i])
			continue;
		l->n_chunks++;
		l->last_id = first_id + i;
		own(l->check, l->obj, chunks[i], false);
	}
	return 0;
}

static void check_pieces(struct check *c, struct yaffs_object *obj)
{
	struct yaffs_piece *piece;
	u32 number = 0;

	if (!obj->file.map)
		return;
	yaffs_for_each_piece(piece, obj, number) {
		INVARIANT(piece->obj == obj, "object %u has a piece of another", obj->id);
		c->n_waiting += !list_empty(&piece->waiting);
		c->n_pieces += piece->number != 0;
		c->n_unwritten += piece->number && !piece->chunk;
		if (piece->chunk)
			own(c, obj, piece->chunk, true);
	}
}

/* A scan of the plain layout takes no data from behind the end; elsewhere the flash may say so. */
static bool is_size_sure(const struct yaffs_device *dev)
{
	return !yaffs_is_segregated(dev) && dev->mounted_by == YAFFS_BY_SCAN;
}

static void check_file(struct check *c, struct yaffs_object *obj)
{
	struct leaf_check l = { .check = c, .obj = obj };
	const struct yaffs_device *dev = c->dev;

	c->n_files++;
	yaffs_index_leaves(&obj->file.index, check_leaf, &l);
	check_pieces(c, obj);
	INVARIANT(obj->file.stored_size <= obj->file.size,
		  "file %u has %llu bytes, %llu of them on flash", obj->id, obj->file.size,
		  obj->file.stored_size);
	if (!c->owned)
		return;
	INVARIANT(obj->file.data_chunks == l.n_chunks, "file %u has %u pages, and %u are counted",
		  obj->id, l.n_chunks, obj->file.data_chunks);
	INVARIANT(!is_size_sure(dev) || !l.last_id ||
		  (u64)(l.last_id - 1) * dev->chunk_bytes < obj->file.size,
		  "file %u of %llu bytes has chunk %u", obj->id, obj->file.size, l.last_id);
}

/* The pieces that wait, the oldest page first. */
static void check_waiting(const struct check *c)
{
	const struct yaffs_device *dev = c->dev;
	struct yaffs_piece *piece;
	u64 before = 0;
	u32 n = 0;

	list_for_each_entry(piece, &dev->waiting_pieces, waiting) {
		INVARIANT(piece->position >= before, "piece %u of file %u waits out of turn",
			  piece->number, piece->obj->id);
		before = piece->position;
		n++;
	}
	INVARIANT(before <= yaffs_data_position(dev), "position %llu is yet to come", before);
	INVARIANT(n == c->n_waiting, "%u pieces wait, and %u of files", n, c->n_waiting);
}

/* ---- directories and links ---- */

static void check_child(struct check *c, const struct yaffs_object *dir,
			const struct yaffs_object *child, bool named)
{
	c->n_children++;
	INVARIANT(child->parent == dir && child->parent_id == dir->id,
		  "object %u is in directory %u, and says %u", child->id, dir->id,
		  child->parent_id);
	INVARIANT(child->named == named && !named == !child->name,
		  "object %u in directory %u, with a name: %u, %u", child->id, dir->id,
		  child->named, named);
	INVARIANT(!child->deleted, "object %u is deleted, and in directory %u", child->id,
		  dir->id);
}

static void check_directory(struct check *c, struct yaffs_object *dir)
{
	u32 n_directories = 0, n = 0;
	struct yaffs_object *child;
	u64 position, before = 0;
	struct rb_node *node;

	c->n_dirty_directories += !list_empty(&dir->dir.dirty);
	for (node = rb_first(&dir->dir.children); node; node = rb_next(node)) {
		child = rb_entry(node, struct yaffs_object, by_name);
		check_child(c, dir, child, true);
		position = yaffs_directory_position(child);
		INVARIANT(!n++ || position > before, "object %u is not in order in directory %u",
			  child->id, dir->id);
		before = position;
		n_directories += child->type == YAFFS_TYPE_DIRECTORY;
	}
	list_for_each_entry(child, &dir->dir.unnamed, unnamed) {
		check_child(c, dir, child, false);
		n_directories += child->type == YAFFS_TYPE_DIRECTORY;
	}
	INVARIANT(dir->dir.n_directories == n_directories,
		  "directory %u has %u directories, and %u are counted", dir->id, n_directories,
		  dir->dir.n_directories);
}

/* One at least of each way up is none's child: each is a tree. */
static void check_path(const struct check *c, const struct yaffs_object *obj)
{
	u32 left = c->dev->n_objects;

	while (obj->parent && left--)
		obj = obj->parent;
	INVARIANT(!obj->parent, "the way up from object %u has no end", obj->id);
}

static void check_links(const struct yaffs_object *obj)
{
	struct yaffs_object *link;
	u32 n = 0;

	if (obj->type == YAFFS_TYPE_HARDLINK)
		return;
	list_for_each_entry(link, &obj->links, links) {
		INVARIANT(link->type == YAFFS_TYPE_HARDLINK && link->hardlink.target == obj,
			  "object %u is no link to %u", link->id, obj->id);
		n++;
	}
	INVARIANT(obj->n_links == n, "object %u has %u links, and %u are counted", obj->id, n,
		  obj->n_links);
}

/* A link may have lost its name with its target: recover.c. */
static bool may_lack_parent(const struct yaffs_object *obj)
{
	return obj->deleted || (obj->type == YAFFS_TYPE_HARDLINK && !obj->hardlink.target);
}

static void check_place(const struct yaffs_object *obj)
{
	const struct yaffs_device *dev = obj->dev;
	bool is_root = obj == dev->root || obj == dev->unlinked || obj == dev->deleted;

	INVARIANT(is_root ? !obj->parent : obj->parent || may_lack_parent(obj),
		  "object %u is in directory %u", obj->id, obj->parent_id);
	INVARIANT(!obj->deleted || (!obj->parent && !obj->hdr_chunk),
		  "object %u is deleted, and has a parent or a header", obj->id);
	INVARIANT(obj->deleted || obj->unlinked == (obj->parent == dev->unlinked && !is_root),
		  "object %u, unlinked: %u, is in directory %u", obj->id, obj->unlinked,
		  obj->parent_id);
}

/* ---- objects ---- */

/* Segregated layout: summaries say that it is there while it is, and no longer. */
static void check_id(struct check *c, const struct yaffs_object *obj)
{
	const struct yaffs_ids *ids = &c->dev->ids;
	u32 part = ids->per_part ? obj->id / ids->per_part : YAFFS_IDS_PARTS;
	bool is_set;

	if (part >= YAFFS_IDS_PARTS)
		return;
	is_set = ids->bits[part] && yaffs_ids_has(ids->bits[part], obj->id % ids->per_part);
	c->n_ids += is_set;
	INVARIANT(is_set ? !obj->deleted : !obj->hdr_chunk,
		  "object %u, deleted: %u, told as there: %u", obj->id, obj->deleted, is_set);
}

static void check_object(struct check *c, struct yaffs_object *obj, u32 id)
{
	INVARIANT(obj->id == id && obj->dev == c->dev, "object %u is found by id %u", obj->id,
		  id);
	c->n_objects++;
	c->n_parents += !!obj->parent;
	if (obj->hdr_chunk)
		own(c, obj, obj->hdr_chunk, true);
	check_place(obj);
	check_links(obj);
	check_id(c, obj);
	if (obj->type == YAFFS_TYPE_FILE) {
		check_file(c, obj);
	} else if (obj->type == YAFFS_TYPE_DIRECTORY) {
		check_directory(c, obj);
		check_path(c, obj);
	}
}

static u32 told_ids(const struct yaffs_ids *ids)
{
	u32 part, i, n = 0;

	for (part = 0; ids->per_part && part < YAFFS_IDS_PARTS; part++)
		for (i = 0; ids->bits[part] && i < ids->per_part / 8; i++)
			n += hweight8(ids->bits[part][i]);
	return n;
}

static void check_counts(const struct check *c)
{
	const struct yaffs_device *dev = c->dev;
	const struct list_head *at;
	u32 n_dirty = 0, told = told_ids(&dev->ids);

	list_for_each(at, &dev->dirty_directories)
		n_dirty++;
	INVARIANT(dev->n_objects == c->n_objects, "%u objects, and %u are counted",
		  c->n_objects, dev->n_objects);
	INVARIANT(dev->n_files == c->n_files, "%u files, and %u are counted", c->n_files,
		  dev->n_files);
	INVARIANT(dev->n_leaves == c->n_leaves, "%u leaves, and %u are counted", c->n_leaves,
		  dev->n_leaves);
	INVARIANT(c->n_parents == c->n_children, "%u objects have parents, which have %u children",
		  c->n_parents, c->n_children);
	INVARIANT(c->n_dirty_directories == n_dirty, "%u directories wait, and %u are in line",
		  c->n_dirty_directories, n_dirty);
	INVARIANT(dev->n_pieces == c->n_pieces && dev->n_unwritten == c->n_unwritten,
		  "%u pieces, %u of them unwritten, and %u, %u are counted", c->n_pieces,
		  c->n_unwritten, dev->n_pieces, dev->n_unwritten);
	INVARIANT(c->n_ids == told, "%u objects are told as there, %u of them are", told,
		  c->n_ids);
}

/* ---- pages without an owner ---- */

static bool is_summary(const struct yaffs_device *dev, u32 chunk)
{
	const struct yaffs_block *b = &dev->blocks[yaffs_block_of(dev, chunk)];

	return b->has_summary &&
	       chunk % dev->pages_per_block >= dev->pages_per_block - dev->summary_pages;
}

/* A scan leaves none. */
static void check_ownerless(const struct check *c)
{
	struct yaffs_device *dev = c->dev;
	unsigned long end = (dev->n_blocks + 1) * dev->pages_per_block, chunk;
	u32 n = 0, last = 0;

	if (!c->owned)
		return;
	for_each_set_bit(chunk, dev->live, end)
		if (!test_bit(chunk, c->owned) && !is_summary(dev, chunk)) {
			last = chunk;
			n++;
		}
	INVARIANT(n <= dev->checked.ownerless, "%u live pages have no owner, %u more: page %u",
		  n, n - dev->checked.ownerless, last);
	dev->checked.ownerless = n;
}

/* ---- all ---- */

static bool knows_owners(const struct yaffs_device *dev)
{
	return !yaffs_is_segregated(dev) || dev->mounted_by == YAFFS_BY_SCAN;
}

static void check_objects(struct yaffs_device *dev)
{
	size_t longs = BITS_TO_LONGS((dev->n_blocks + 1) * dev->pages_per_block);
	struct check c = { .dev = dev };
	struct yaffs_object *obj;
	unsigned long id;

	/* Without memory it is looked at less closely. */
	if (knows_owners(dev))
		c.owned = kvcalloc(longs, sizeof(long), GFP_KERNEL | __GFP_NOWARN);
	xa_for_each(&dev->objects, id, obj)
		check_object(&c, obj, id);
	check_waiting(&c);
	check_counts(&c);
	check_ownerless(&c);
	kvfree(c.owned);
}

void yaffs_check(struct yaffs_device *dev)
{
	yaffs_assert_locked(dev);
	if (!yaffs_check_all || !dev->checked.begun)
		return;
	check_blocks(dev);
	check_streams(dev);
	check_wear(dev);
	check_slots(dev);
	check_objects(dev);
}

void yaffs_check_begin(struct yaffs_device *dev)
{
	dev->checked.begun = true;
	dev->checked.ownerless = dev->mounted_by == YAFFS_BY_CHECKPOINT ? U32_MAX : 0;
	dev->checked.seq = dev->seq;
}
