/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - what can be chosen of a history: facts of the file system that are
 * no mistakes of it, how long it is, and which operations there are more of.
 */
#ifndef RANDOM_OPTIONS_H
#define RANDOM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* What operations are about. */
enum about { ABOUT_DATA, ABOUT_NAMES, ABOUT_ATTRIBUTES, ABOUT_MOUNTS, ABOUTS };

/**
 * struct shape - a mix of operations, and the tree that they make
 * @times: as often as in the mixed one
 * @file_max: a quarter of the bytes of all files at most
 */
struct shape {
	const char *name;
	unsigned int times[ABOUTS];
	uint64_t nodes_max, file_max, sparse_max;
};

/** shape_find() - the shape of that name, or NULL. */
const struct shape *shape_find(const char *name);

/* The names of all shapes, as the choices of a plan's key. */
extern const char *const shape_names[];

/* How memory is forgotten after a round. */
enum after { AFTER_BOTH, AFTER_REMOUNT, AFTER_DROP, AFTER_NOTHING };

struct options {
	const char *dir;
	const char *type;		/* NULL: the program mounts nothing */
	const char *source;
	const char *mount_options;	/* alternatives, separated by '|' */
	uint64_t seed;
	uint64_t operations;
	uint64_t compare_every;
	uint64_t bytes_max;		/* of all contents */
	uint64_t file_max;		/* of one file without holes */
	uint64_t sparse_max;		/* of a file with holes */
	uint64_t nodes_max;
	uint64_t chunk;			/* unit of the file system's data */
	uint64_t name_max;
	uint64_t name_shown;		/* by statfs(); 0: name_max */
	uint64_t name_used;		/* longest name used; 0: name_max */
	uint64_t symlink_max;
	uint64_t xattr_max;		/* names and values of one file */
	uint64_t xattr_refused;		/* a value too large; 0: do not try */
	uint64_t granularity_ns;
	uint64_t time_max_s;
	uint64_t root_links;		/* of the root beyond those of others */
	uint64_t id_max;		/* of users and groups */
	uint64_t sleep_max_ms;		/* 0: never sleep */
	uint64_t trace_from;		/* print operations from this one on */
	uint64_t fills;			/* weight of the operation `fill` */
	bool no_xattr;
	bool no_security;
	bool no_dir_times;
	bool xattr_files_only;
	bool no_mmap_write;
	bool clean_tail;
	bool one_link;
	bool no_inode_numbers;		/* readdir() and stat() differ in them */
	bool root_one_link;		/* the root has, as that of an overlay */
	bool exchange;
	bool tmpfile;
	bool may_shrink;
	bool small_devices;
	bool lax_times;
	bool late_times;
	bool no_times;
	bool keep_emptied;		/* no rename() over a directory */
	bool verify_only;
	bool delete_all;
	uint64_t turn_over_bytes;	/* 0: never */
	uint64_t mount_flags;
	bool stays_mounted;		/* it is when the history begins */
	enum after after;
	const struct shape *shape;
	const char *calls;		/* lines to be executed; NULL: drawn */
	const char *without;		/* numbers of lines that are left out */
	bool tell_calls;		/* on the model alone */
};

/* options_preset() - the defaults, for a file system that can do all. */
void options_preset(struct options *opt);

/** options_shape() - the shape with the tree that it makes. */
void options_shape(struct options *opt, const struct shape *shape);

/**
 * options_parse() - of a command line; ends the process with 2 for a wrong one.
 */
void options_parse(struct options *opt, int argc, char **argv);

#endif
