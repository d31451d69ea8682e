/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tree should hold: some directories d0, d1, ... with files f0, f1, ..., of which each
 * block is a pattern of a seed. Changes are kept since the last commit that was asked for, so
 * that each state since then can be made again: model.c.
 */
#ifndef LOGFS_TEST_MODEL_H
#define LOGFS_TEST_MODEL_H

#include "../harness.h"

#define MODEL_FILES		48
#define MODEL_DIRECTORIES	4
#define MODEL_BLOCKS		700
#define MODEL_CHANGES		100000

/**
 * struct block - a block of a file
 * @seed: of its pattern; 0: a hole
 * @bytes: that are still of the pattern; zeros follow
 * @sum: of all that
 */
struct block {
	u32 seed;
	u32 bytes;
	u64 sum;
};

/**
 * struct file - a file, if it is there
 * @sum: of what it has
 */
struct file {
	bool exists;
	u8 name;
	u8 directory;
	u64 size;
	u64 sum;
	struct block blocks[MODEL_BLOCKS];
};

struct tree {
	struct file files[MODEL_FILES];
};

enum change_kind { CREATE, WRITE, RESIZE, REMOVE, RENAME, EXCHANGE };

/**
 * struct change - of one file
 * @file: index in struct tree
 * @name: new name of a file that is created or renamed; of EXCHANGE the other file
 * @directory: likewise
 * @bix: block that is written
 * @seed: of it
 * @size: of the file then
 */
struct change {
	u8 kind;
	u8 file;
	u8 name;
	u8 directory;
	u32 bix;
	u32 seed;
	u64 size;
};

/**
 * struct model - the tree as it is now, and the states since the last commit
 * @now: this
 * @committed: as the last commit has it
 * @changes: from there to @now
 * @sums: of the states, of @committed first
 */
struct model {
	struct tree now;
	struct tree committed;
	u32 n_changes;
	struct change changes[MODEL_CHANGES];
	u64 sums[MODEL_CHANGES + 1];
};

void model_change(struct model *model, const struct change *change);
/* @now is on flash. */
void model_committed(struct model *model);
/* @now becomes the latest state with this sum; false: there is none. */
bool model_return_to(struct model *model, u64 sum);
u64 model_sum(const struct model *model);
/* NULL: there is no such file. */
struct file *model_find(struct model *model, u32 name, u32 directory);
/* The last block that is not a hole; -1: none. */
s32 model_last_block(const struct file *file);

void model_pattern(u32 seed, void *page);
/* Of zeros it is 0. */
u64 model_sum_of_block(const void *page);
/* The sum of a file is made of its name and those of its blocks, one after the other. */
u64 model_sum_of_file(u32 name, u32 directory, u64 size);
u64 model_sum_with(u64 sum, u64 block);

#endif
