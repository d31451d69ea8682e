// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on names of an inode that has become unreadable while it is in use: they are
 * refused, and names and links are what they were. And a file whose truncation ends where the
 * driver fails: what is counted is what is there.
 */

#include <linux/err.h>
#include <linux/stat.h>

#include "../core/tree.h"
#include "histories/chip.h"
#include "histories/soundness.h"
#include "harness.h"

#define FILES	200
#define DAMAGED	20

static struct chip chip;
static struct logfs_device *dev;
static struct logfs_node *root;

void kernel_message(char level, const char *format, ...)
{
	(void)level;
	(void)format;
}

static u32 name_of(char *name, u32 number)
{
	return (u32)sprintf(name, "f%u", number);
}

static struct logfs_node *find(u32 number)
{
	struct logfs_found found;
	char name[8];

	if (logfs_dir_find(root, name, name_of(name, number), &found))
		return NULL;
	return logfs_node_get(dev, found.ino);
}

static void create(u32 number)
{
	struct logfs_node *node;
	char name[8];

	check(!logfs_begin_write(dev, 3), "room");
	node = logfs_node_new(dev, root, S_IFREG | 0644);
	check(!logfs_create(root, name, name_of(name, number), node, NULL),
	      "file %u is made", number);
	logfs_node_put(node);
	logfs_unlock(dev);
}

/* Inodes of others take the place of the one at hand in memory. */
static void forget_blocks(void)
{
	struct logfs_node *node;
	u32 i;

	for (i = FILES / 2; i < FILES; i++) {
		node = find(i);
		check(node && !IS_ERR(node), "file %u", i);
		logfs_node_put(node);
		logfs_cache_shrink(dev);
	}
}

static void begin(void)
{
	u32 i;

	chip_make(&chip, 2048, 131072, 80);
	dev = logfs_mount(&chip.mtd, true);
	logfs_lock(dev);
	root = logfs_node_get(dev, LOGFS_INO_ROOT);
	logfs_unlock(dev);
	for (i = 0; i < FILES; i++)
		create(i);
}

/* The node of a file whose inode can be read no more. */
static struct logfs_node *damage(void)
{
	struct logfs_node *node = find(DAMAGED);
	u64 pointer, page;

	check(!logfs_tree_pointer(dev, LOGFS_INO_INODES, 0, node->ino,
				  &pointer), "pointer");
	page = logfs_pointer_place(pointer) & ~2047ull;
	chip_tear(&chip, page, 2048);
	forget_blocks();
	check(IS_ERR(logfs_tree_inode(dev, node->ino)), "inode is damaged");
	return node;
}

static void end(void)
{
	logfs_unmount(dev);
	chip_free(&chip);
}

static void test_names(void)
{
	struct logfs_node *node, *other;
	struct logfs_found found;
	char name[8], second[8];
	u32 len = name_of(name, DAMAGED), second_len = name_of(second, 150);

	begin();
	check(!logfs_begin_write(dev, 3), "lock");
	node = damage();
	other = find(150);
	check(logfs_link(root, "new", 3, node) == -EBADMSG &&
	      logfs_unlink(root, name, len, node) == -EBADMSG &&
	      logfs_rename(root, name, len, root, "new", 3, node, NULL) ==
	      -EBADMSG &&
	      logfs_rename(root, second, second_len, root, name, len, other,
			   node) == -EBADMSG, "operations are refused");
	check(node->nlink == 1 && other->nlink == 1 && !dev->victim_ino,
	      "links");
	check(logfs_dir_find(root, "new", 3, &found) == -ENOENT, "no new name");
	check(!logfs_dir_find(root, name, len, &found) &&
	      found.ino == node->ino, "old name");
	check(!logfs_dir_find(root, second, second_len, &found) &&
	      found.ino == other->ino, "name of the other");
	check(!logfs_commit(dev), "commit");
	logfs_node_put(node);
	logfs_node_put(other);
	logfs_node_put(root);
	logfs_unlock(dev);
	end();
}

/* Blocks of two blocks of pointers and of the inode. */
#define BLOCKS	700

static void test_truncation(u32 reads)
{
	static u8 page[LOGFS_BLOCK_BYTES];
	struct logfs_node *node;
	u64 bix;

	begin();
	check(!logfs_begin_write(dev, 3), "lock");
	node = find(0);
	logfs_unlock(dev);
	for (bix = 0; bix < BLOCKS; bix++) {
		memset(page, (int)bix, sizeof(page));
		check(!logfs_begin_write(dev, 1) &&
		      !logfs_block_write(node, bix, page, (bix + 1) * sizeof(page)),
		      "block %u", (u32)bix);
		logfs_unlock(dev);
	}
	chip.fail_read = reads;
	check(logfs_truncate(node, 0) == -EIO, "the driver fails at read %u", reads);
	logfs_lock(dev);
	judge_soundness(dev);
	logfs_unlock(dev);
	check(!logfs_truncate(node, 0) && !node->size && !node->used_bytes,
	      "all is gone after %u", reads);
	logfs_lock(dev);
	judge_soundness(dev);
	logfs_node_put(node);
	logfs_node_put(root);
	logfs_unlock(dev);
	end();
}

int main(void)
{
	test_names();
	test_truncation(20);
	test_truncation(150);
	test_truncation(600);
	return report("core_damage");
}
