// SPDX-License-Identifier: GPL-2.0-only
/*
 * shape.c - see shape.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "workloads/tree/shape.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u

/* Keys of one directory: of itself, of its sub-directories, of its files. */
enum key_use { KEY_OF_ROOT = 1, KEY_OF_DIRECTORY, KEY_OF_FILE };

static uint64_t derive(uint64_t key, enum key_use use, uint64_t number)
{
	return rng_mix(rng_mix(key + (uint64_t)use * GOLDEN_GAMMA) +
		       (number + 1) * GOLDEN_GAMMA);
}

/* @depth: of the branch, if it has been drawn. */
static void draw_directory(const struct tree_shape *shape,
			   struct shape_directory *directory,
			   const uint64_t *depth)
{
	struct rng rng;

	rng_seed(&rng, directory->key);
	directory->files = distribution_draw(&shape->files, &rng);
	directory->directories = distribution_draw(&shape->directories, &rng);
	directory->depth = depth ? *depth :
			   distribution_draw(&shape->depth, &rng);
	if (directory->level >= directory->depth)
		directory->directories = 0;
}

void shape_root(const struct tree_shape *shape, struct shape_directory *root)
{
	root->key = derive(shape->seed, KEY_OF_ROOT, 0);
	root->level = 0;
	draw_directory(shape, root, NULL);
}

void shape_child(const struct tree_shape *shape,
		 const struct shape_directory *parent, uint64_t number,
		 struct shape_directory *child)
{
	child->key = derive(parent->key, KEY_OF_DIRECTORY, number);
	child->level = parent->level + 1;
	draw_directory(shape, child, child->level == 1 ? NULL : &parent->depth);
}

void shape_file_at(const struct tree_shape *shape,
		   const struct shape_directory *parent, uint64_t number,
		   struct shape_file *file)
{
	struct rng rng;

	file->key = derive(parent->key, KEY_OF_FILE, number);
	rng_seed(&rng, file->key);
	file->bytes = distribution_draw(&shape->size, &rng);
}

/* --- counting ------------------------------------------------------------ */

/* A directory whose sub-directories are being gone through. */
struct open_directory {
	struct shape_directory directory;
	uint64_t next;		/* number of the sub-directory */
};

static int count_one(const struct tree_shape *shape,
		     const struct shape_directory *directory,
		     struct shape_counts *counts, struct ffs_error *error)
{
	uint64_t entries = directory->files + directory->directories, i;

	/* Each sub-directory is counted when it is come to. */
	counts->directories++;
	counts->files += directory->files;
	if (counts->directories + counts->files + directory->directories >
	    TREE_ENTRIES_MAX)
		return ffs_fail(error, EINVAL,
			"the tree would have more than %u entries (%llu files and %llu directories up to level %llu of the first branches); lower files, directories or depth",
			TREE_ENTRIES_MAX, (unsigned long long)counts->files,
			(unsigned long long)(counts->directories +
					     directory->directories),
			(unsigned long long)directory->level);
	if (directory->level > TREE_DEPTH_MAX)
		return ffs_fail(error, ENAMETOOLONG,
			"the tree would be deeper than %u levels (depth=%llu); lower depth",
			TREE_DEPTH_MAX, (unsigned long long)directory->depth);
	for (i = 1; i <= directory->files; i++) {
		struct shape_file file;

		shape_file_at(shape, directory, i, &file);
		counts->bytes += file.bytes;
	}
	if (directory->level > counts->depth)
		counts->depth = directory->level;
	if (entries > counts->largest_directory)
		counts->largest_directory = entries;
	return 0;
}

int shape_count(const struct tree_shape *shape, struct shape_counts *counts,
		struct ffs_error *error)
{
	/* One more than the deepest level: count_one() refuses it. */
	size_t levels = 1;
	struct open_directory *stack =
		malloc((TREE_DEPTH_MAX + 2) * sizeof(*stack));
	int result;

	memset(counts, 0, sizeof(*counts));
	if (!stack)
		return ffs_fail(error, ENOMEM, "no memory to count the tree");
	shape_root(shape, &stack->directory);
	stack->next = 1;
	result = count_one(shape, &stack->directory, counts, error);
	while (!result && levels) {
		struct open_directory *top = &stack[levels - 1];

		if (top->next > top->directory.directories) {
			levels--;
			continue;
		}
		shape_child(shape, &top->directory, top->next++,
			    &top[1].directory);
		top[1].next = 1;
		levels++;
		result = count_one(shape, &top[1].directory, counts, error);
	}
	free(stack);
	return result;
}

/* --- names --------------------------------------------------------------- */

/* printf would cost more than the system calls of a small file. */
static void put_name(char *name, const char *prefix, unsigned int digits,
		     uint64_t number)
{
	size_t length = strlen(prefix);
	uint64_t rest = number;
	unsigned int needed = 0, i;

	do {
		needed++;
		rest /= 10;
	} while (rest);
	if (needed < digits)
		needed = digits;
	memcpy(name, prefix, length);
	for (i = needed; i; i--) {
		name[length + i - 1] = (char)('0' + number % 10);
		number /= 10;
	}
	name[length + needed] = '\0';
}

static const char file_prefix[] = "file", directory_prefix[] = "dir";
#define FILE_DIGITS 5
#define DIRECTORY_DIGITS 3

void shape_file_name(char name[TREE_NAME_BYTES], uint64_t number)
{
	put_name(name, file_prefix, FILE_DIGITS, number);
}

void shape_directory_name(char name[TREE_NAME_BYTES], uint64_t number)
{
	put_name(name, directory_prefix, DIRECTORY_DIGITS, number);
}

static uint64_t number_of(const char *name, const char *prefix,
			  unsigned int digits)
{
	size_t length = strlen(prefix);
	char again[TREE_NAME_BYTES];
	uint64_t number = 0;
	size_t i;

	if (strncmp(name, prefix, length) || strlen(name) > length + 10)
		return 0;
	for (i = length; name[i]; i++) {
		if (name[i] < '0' || name[i] > '9')
			return 0;
		number = number * 10 + (uint64_t)(name[i] - '0');
	}
	/* There is one way to write a number. */
	put_name(again, prefix, digits, number);
	return strcmp(again, name) ? 0 : number;
}

uint64_t shape_file_number(const char *name)
{
	return number_of(name, file_prefix, FILE_DIGITS);
}

uint64_t shape_directory_number(const char *name)
{
	return number_of(name, directory_prefix, DIRECTORY_DIGITS);
}
