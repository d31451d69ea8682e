// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on files, as the VFS would ask for them: with room reserved before something is
 * written, and without for what frees some.
 *
 * An error is one of the module unless power has gone, or the chip is worn out in a history
 * that is about that. What the operation was to do then counts as one more state that a mount
 * may find: none of its changes need be on flash, and all may.
 */

#include <linux/err.h>
#include <linux/stat.h>

#include "../../core/tree.h"
#include "operations.h"

#define BLOCK_BYTES	LOGFS_BLOCK_BYTES
#define MOST_AT_ONCE	24

void judge_history(bool good, const char *what, long value)
{
	if (good)
		return;
	fprintf(stderr, "history: %s (%ld)\n", what, value);
	abort();
}

/* True: it was done. */
static bool succeeds(struct history *h, int err, const char *what)
{
	if (!err)
		return true;
	if (h->chip.is_off)
		return false;
	judge_history(h->may_end, what, err);
	h->has_ended = true;
	return false;
}

/* Takes the lock. @blocks: that need room; false: there is none, or it is over. */
static bool enter(struct history *h, u32 blocks)
{
	int err = logfs_begin_write(h->dev, blocks);

	if (err == -ENOSPC && blocks && !h->chip.is_off) {
		h->refused++;
		return false;
	}
	return succeeds(h, err, "lock");
}

static struct logfs_node *node_of(struct history *h, u64 ino)
{
	struct logfs_node *node = logfs_node_get(h->dev, ino);

	return succeeds(h, IS_ERR(node) ? (int)PTR_ERR(node) : 0, "inode") ?
	       node : NULL;
}

static void put(struct logfs_node *node)
{
	if (node)
		logfs_node_put(node);
}

static u32 name_of(char *name, u32 number)
{
	return (u32)sprintf(name, "f%u", number);
}

static struct logfs_node *directory_of(struct history *h, u32 directory)
{
	return node_of(h, h->directories[directory]);
}

/* The node of a file that the model has. */
static struct logfs_node *find(struct history *h, const struct file *file)
{
	struct logfs_node *dir = directory_of(h, file->directory);
	struct logfs_node *node = NULL;
	struct logfs_found found;
	char name[8];
	u32 len = name_of(name, file->name);

	if (dir && succeeds(h, logfs_dir_find(dir, name, len, &found), "name"))
		node = node_of(h, found.ino);
	put(dir);
	if (node && !is_over(h))
		judge_history(node->size == file->size, "size", node->size);
	return node;
}

static struct logfs_node *find_locked(struct history *h,
				      const struct file *file)
{
	struct logfs_node *node;

	logfs_lock(h->dev);
	node = find(h, file);
	logfs_unlock(h->dev);
	return node;
}

static void put_locked(struct history *h, struct logfs_node *node)
{
	logfs_lock(h->dev);
	put(node);
	logfs_unlock(h->dev);
}

static u8 index_of(const struct history *h, const struct file *file)
{
	return (u8)(file - h->model.now.files);
}

/* ---- operations ---- */

static void create(struct history *h, struct file *file)
{
	const struct change change = {
		.kind = CREATE, .file = index_of(h, file),
		.name = index_of(h, file),
		.directory = (u8)draw_below(&h->random, MODEL_DIRECTORIES),
	};
	struct logfs_node *dir, *node;
	char name[8];
	u32 len = name_of(name, change.name);

	if (model_find(&h->model, change.name, change.directory) ||
	    !enter(h, 3))
		return;
	model_change(&h->model, &change);
	dir = directory_of(h, change.directory);
	node = dir ? logfs_node_new(h->dev, dir, S_IFREG | 0644) : NULL;
	if (node && succeeds(h, IS_ERR(node) ? (int)PTR_ERR(node) : 0, "new")) {
		if (h->compress)
			node->flags |= LOGFS_FLAG_COMPRESS;
		succeeds(h, logfs_create(dir, name, len, node, NULL), "create");
		put(node);
	}
	put(dir);
	logfs_unlock(h->dev);
}

/* Room was reserved for it. */
static void write_block(struct history *h, struct file *file)
{
	const u32 n = (u32)((file->size + BLOCK_BYTES - 1) / BLOCK_BYTES);
	struct change change = {
		.kind = WRITE, .file = index_of(h, file),
		.bix = draw_below(&h->random, draw_below(&h->random, 4) ?
				  n + 1 : h->blocks),
		.seed = 2 * ++h->next_seed + draw_below(&h->random, 2),
	};
	struct logfs_node *node;
	u8 page[BLOCK_BYTES];

	change.bix = min_t(u32, change.bix, h->blocks - 1);
	change.size = (change.bix + 1ull) * BLOCK_BYTES;
	model_pattern(change.seed, page);
	if (!enter(h, 0))
		return;
	node = find(h, file);
	if (node) {
		model_change(&h->model, &change);
		succeeds(h, logfs_block_write(node, change.bix, page,
					      change.size), "write");
	}
	put(node);
	logfs_unlock(h->dev);
}

/* Some dirty pages, which are written back when all have their room. */
static void write_some(struct history *h, struct file *file)
{
	u32 n = draw_below(&h->random, 4) ? 1 :
		draw_below(&h->random, MOST_AT_ONCE) + 1;
	u32 reserved, i;
	int err = 0;

	for (reserved = 0; reserved < n && !err; reserved += !err)
		err = logfs_reserve(h->dev, 1);
	if (err == -ENOSPC)
		h->refused++;
	else if (!succeeds(h, err, "reserve"))
		reserved = 0;
	for (i = 0; i < reserved; i++) {
		if (!is_over(h))
			write_block(h, file);
		logfs_unreserve(h->dev, 1);
	}
}

/*
 * The states on the way: a file is cut by what one block of pointers leads to, or less, from its
 * last block on, and is as long as what is left.
 */
static void model_cuts(struct history *h, const struct file *file, u64 size)
{
	const s32 first = (s32)((size + BLOCK_BYTES - 1) / BLOCK_BYTES);
	struct change change = { .kind = RESIZE, .file = index_of(h, file) };
	s32 last, from;

	while (size < file->size) {
		last = model_last_block(file);
		from = max_t(s32, last & ~(s32)(h->dev->most_dropped - 1), 16);
		if (last < first || last < 16 || from <= first)
			break;
		change.size = min_t(u64, file->size, (u64)from * BLOCK_BYTES);
		model_change(&h->model, &change);
	}
	change.size = size;
	model_change(&h->model, &change);
}

static void resize(struct history *h, struct file *file)
{
	const u32 n = (u32)((file->size + BLOCK_BYTES - 1) / BLOCK_BYTES);
	u64 size = draw_below(&h->random, 3) ?
		   draw_below(&h->random, n + 2) * (u64)BLOCK_BYTES :
		   draw_below(&h->random, (u32)file->size + 1000);
	struct logfs_node *node = find_locked(h, file);

	if (!node)
		return;
	size = min_t(u64, size, (u64)h->blocks * BLOCK_BYTES);
	model_cuts(h, file, size);
	succeeds(h, logfs_truncate(node, size), "truncate");
	put_locked(h, node);
}

static void delete_node(struct history *h, struct logfs_node *node)
{
	if (node && !is_over(h))
		succeeds(h, logfs_node_delete(node), "delete");
	else if (node)
		put_locked(h, node);
}

static void unlink_file(struct history *h, struct file *file)
{
	const struct change change = {
		.kind = REMOVE, .file = index_of(h, file),
	};
	struct logfs_node *node, *dir;
	char name[8];
	u32 len = name_of(name, file->name);

	if (!enter(h, 0))
		return;
	node = find(h, file);
	dir = directory_of(h, file->directory);
	if (node && dir) {
		model_change(&h->model, &change);
		succeeds(h, logfs_unlink(dir, name, len, node), "unlink");
	}
	put(dir);
	logfs_unlock(h->dev);
	delete_node(h, node);
}

static void rename_file(struct history *h, struct file *file)
{
	const struct change change = {
		.kind = RENAME, .file = index_of(h, file),
		.name = (u8)draw_below(&h->random, MODEL_FILES),
		.directory = (u8)draw_below(&h->random, MODEL_DIRECTORIES),
	};
	struct file *other = model_find(&h->model, change.name,
					change.directory);
	struct logfs_node *node, *target = NULL, *from, *to;
	char old[8], new[8];
	u32 old_len = name_of(old, file->name);
	u32 new_len = name_of(new, change.name);

	if (other == file || !enter(h, 3))
		return;
	node = find(h, file);
	if (other)
		target = find(h, other);
	from = directory_of(h, file->directory);
	to = directory_of(h, change.directory);
	if (node && from && to && !other == !target) {
		model_change(&h->model, &change);
		succeeds(h, logfs_rename(from, old, old_len, to, new, new_len,
					 node, target), "rename");
	}
	put(node);
	put(from);
	put(to);
	logfs_unlock(h->dev);
	delete_node(h, target);
}

static void exchange_files(struct history *h, struct file *file)
{
	struct change change = {
		.kind = EXCHANGE, .file = index_of(h, file),
		.name = (u8)draw_below(&h->random, MODEL_FILES),
	};
	const struct file *other = &h->model.now.files[change.name];
	struct logfs_node *from, *to;
	char a[8], b[8];

	if (other == file || !other->exists || !enter(h, 3))
		return;
	from = directory_of(h, file->directory);
	to = directory_of(h, other->directory);
	if (from && to) {
		const u32 a_len = name_of(a, file->name);
		const u32 b_len = name_of(b, other->name);

		model_change(&h->model, &change);
		succeeds(h, logfs_exchange(from, a, a_len, to, b, b_len),
			 "exchange");
	}
	put(from);
	put(to);
	logfs_unlock(h->dev);
}

void commit(struct history *h)
{
	if (!enter(h, 0))
		return;
	if (succeeds(h, logfs_commit(h->dev), "commit"))
		model_committed(&h->model);
	logfs_unlock(h->dev);
}

void operate(struct history *h)
{
	struct file *file = &h->model.now.files[draw_below(&h->random,
							   MODEL_FILES)];
	const u32 dice = draw_below(&h->random, 100);

	if (dice >= 97 && !h->no_commits)
		commit(h);
	else if (!file->exists)
		create(h, file);
	else if (dice < 70)
		write_some(h, file);
	else if (dice < 78)
		resize(h, file);
	else if (dice < 85)
		unlink_file(h, file);
	else if (dice < 94)
		rename_file(h, file);
	else
		exchange_files(h, file);
}

void make_directories(struct history *h)
{
	struct logfs_node *root, *node;
	char name[8];
	u32 i;

	for (i = 0; i < MODEL_DIRECTORIES && enter(h, 3); i++) {
		sprintf(name, "d%u", i);
		root = logfs_node_get(h->dev, LOGFS_INO_ROOT);
		node = logfs_node_new(h->dev, root, S_IFDIR | 0755);
		succeeds(h, logfs_create(root, name, 2, node, NULL), "mkdir");
		h->directories[i] = node->ino;
		put(node);
		put(root);
		logfs_unlock(h->dev);
	}
	commit(h);
}

/* ---- what is there ---- */

static u64 sum_of_file(struct history *h, const struct logfs_found *found,
		       u32 directory)
{
	struct logfs_node *node = logfs_node_get(h->dev, found->ino);
	u8 page[BLOCK_BYTES];
	u64 sum, bix, n, behind;
	int err;

	judge_history(!IS_ERR(node), "inode of a name", PTR_ERR(node));
	n = (node->size + BLOCK_BYTES - 1) / BLOCK_BYTES;
	judge_history(n <= h->blocks, "blocks", n);
	sum = model_sum_of_file(strtoul(found->name + 1, NULL, 10), directory,
				node->size);
	for (bix = 0; bix < n; bix++) {
		err = logfs_block_read(node, bix, page);
		judge_history(!err, "block cannot be read", err);
		sum = model_sum_with(sum, model_sum_of_block(page));
	}
	err = logfs_tree_seek(h->dev, node->ino, n, true, &behind);
	judge_history(err == -ENXIO, "blocks behind the end", err);
	logfs_node_put(node);
	return sum;
}

u64 sum_of_mount(struct history *h)
{
	struct logfs_found found;
	struct logfs_node *dir;
	u64 sum = 0, bix;
	u32 i;
	int err;

	for (i = 0; i < MODEL_DIRECTORIES; i++) {
		dir = directory_of(h, i);
		for (bix = 0;; bix = found.bix + 1) {
			err = logfs_dir_next(dir, bix, &found);
			if (err)
				break;
			sum += sum_of_file(h, &found, i);
			logfs_cache_shrink(h->dev);
		}
		judge_history(err == -ENOENT, "directory", err);
		put(dir);
	}
	return sum;
}
