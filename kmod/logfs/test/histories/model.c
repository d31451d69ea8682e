// SPDX-License-Identifier: GPL-2.0-only
/* The model of a tree: how a change changes it, and which states it went through. */

#include "model.h"

#define BLOCK_BYTES	4096

static u64 mix(u64 sum, u64 value)
{
	sum = (sum ^ value) * 0xff51afd7ed558ccdull;
	return sum ^ sum >> 32;
}

/* Of an odd seed one that can be compressed. */
void model_pattern(u32 seed, void *page)
{
	u64 state = seed, word;
	u32 i;

	if (!seed) {
		memset(page, 0, BLOCK_BYTES);
		return;
	}
	for (i = 0; i < BLOCK_BYTES / sizeof(word); i++) {
		word = draw(&state);
		if (seed & 1)
			word &= 0x0303030303030303ull;
		memcpy((u8 *)page + i * sizeof(word), &word, sizeof(word));
	}
}

/* Small numbers need a mix between any two: mixed at once, f3 of d0 had the sum of f6 of d1. */
u64 model_sum_of_file(u32 name, u32 directory, u64 size)
{
	return mix(mix(mix(0, name + 1), directory + 1), size + 1);
}

u64 model_sum_with(u64 sum, u64 block)
{
	return mix(sum, block);
}

u64 model_sum_of_block(const void *page)
{
	u64 sum = 1, word;
	u32 i;

	if (all_bytes(page, BLOCK_BYTES, 0))
		return 0;
	for (i = 0; i < BLOCK_BYTES / sizeof(word); i++) {
		memcpy(&word, (const u8 *)page + i * sizeof(word), sizeof(word));
		sum = mix(sum, word);
	}
	return sum;
}

static void set_block(struct block *block, u32 seed, u32 bytes)
{
	u8 page[BLOCK_BYTES];

	model_pattern(seed, page);
	memset(page + bytes, 0, BLOCK_BYTES - bytes);
	block->seed = seed;
	block->bytes = bytes;
	block->sum = model_sum_of_block(page);
}

static void sum_up(struct file *file)
{
	const u32 n = (u32)((file->size + BLOCK_BYTES - 1) / BLOCK_BYTES);
	u32 i;

	file->sum = 0;
	if (!file->exists)
		return;
	file->sum = model_sum_of_file(file->name, file->directory, file->size);
	for (i = 0; i < n; i++)
		file->sum = mix(file->sum, file->blocks[i].sum);
}

static void resize(struct file *file, u64 size)
{
	const u32 within = size % BLOCK_BYTES;
	u32 bix = (u32)(size / BLOCK_BYTES);

	file->size = size;
	if (within) {
		set_block(&file->blocks[bix], file->blocks[bix].seed,
			  min_t(u32, file->blocks[bix].bytes, within));
		bix++;
	}
	if (bix < MODEL_BLOCKS)
		memset(&file->blocks[bix], 0,
		       (MODEL_BLOCKS - bix) * sizeof(*file->blocks));
}

static void take_name(struct file *file, const struct change *c)
{
	file->name = c->name;
	file->directory = c->directory;
}

static void exchange(struct file *a, struct file *b)
{
	const u8 name = a->name, directory = a->directory;

	a->name = b->name;
	a->directory = b->directory;
	b->name = name;
	b->directory = directory;
	sum_up(b);
}

static void apply(struct tree *tree, const struct change *c)
{
	struct file *file = &tree->files[c->file];

	switch (c->kind) {
	case CREATE:
		memset(file, 0, sizeof(*file));
		file->exists = true;
		take_name(file, c);
		break;
	case RENAME:
		take_name(file, c);
		break;
	case WRITE:
		set_block(&file->blocks[c->bix], c->seed, BLOCK_BYTES);
		file->size = max_t(u64, file->size, c->size);
		break;
	case RESIZE:
		resize(file, c->size);
		break;
	case REMOVE:
		file->exists = false;
		break;
	case EXCHANGE:
		exchange(file, &tree->files[c->name]);
	}
	sum_up(file);
}

static u64 sum_of(const struct tree *tree)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < MODEL_FILES; i++)
		sum += tree->files[i].sum;
	return sum;
}

struct file *model_find(struct model *model, u32 name, u32 directory)
{
	struct file *file = model->now.files;

	for (; file < &model->now.files[MODEL_FILES]; file++)
		if (file->exists && file->name == name &&
		    file->directory == directory)
			return file;
	return NULL;
}

s32 model_last_block(const struct file *file)
{
	s32 bix = MODEL_BLOCKS - 1;

	while (bix >= 0 && !file->blocks[bix].seed)
		bix--;
	return bix;
}

/* A rename takes the new name away from who has it, in the same step. */
void model_change(struct model *model, const struct change *change)
{
	struct file *target = NULL;

	if (model->n_changes == MODEL_CHANGES)
		abort();
	if (change->kind == RENAME)
		target = model_find(model, change->name, change->directory);
	if (target) {
		target->exists = false;
		sum_up(target);
	}
	apply(&model->now, change);
	model->changes[model->n_changes++] = *change;
	model->sums[model->n_changes] = sum_of(&model->now);
}

void model_committed(struct model *model)
{
	model->committed = model->now;
	model->n_changes = 0;
	model->sums[0] = sum_of(&model->now);
}

bool model_return_to(struct model *model, u64 sum)
{
	const u32 n = model->n_changes;
	u32 i, state = n;

	while (model->sums[state] != sum)
		if (!state--)
			return false;
	model->now = model->committed;
	model->n_changes = 0;
	for (i = 0; i < state; i++)
		model_change(model, &model->changes[i]);
	model_committed(model);
	return true;
}

u64 model_sum(const struct model *model)
{
	return sum_of(&model->now);
}
