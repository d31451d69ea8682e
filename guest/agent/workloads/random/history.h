/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * history.h - random histories of a file tree, checked against a model.
 *
 * The program draws operations from a seed, executes each on a directory and
 * on a model of the tree in its own memory, and compares the two: the result
 * of each operation, and from time to time everything that can be seen of the
 * tree.  options.h has what can be chosen, random.c is the step of a plan.
 *
 * Two rules make a seed a whole history, which --verify-only relies on:
 *  - what is drawn (draw.h) depends on the seed, the options and the model,
 *    never on what the file system answers; choices that leave no trace in the
 *    model are drawn from `aux`;
 *  - no operation of the history may run out of space: the model keeps the
 *    tree within --bytes-max.  Filling the file system is one operation that
 *    removes what it wrote (ops_full.c).
 * `live` is false while a history is run on the model alone.
 */
#ifndef RANDOM_HISTORY_H
#define RANDOM_HISTORY_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/random.h"
#include "workloads/random/draw.h"
#include "workloads/random/model.h"
#include "workloads/random/options.h"

#define SCRATCH ".scratch"	/* in the root; not part of the model */
#define PATH_BYTES 4096
#define HANDLES 12
#define LOGGED 4096
#define WHAT_BYTES 192

struct handle {
	struct node *node;
	int fd;
	bool append;
};

struct log_line {
	uint64_t op;
	unsigned int node[2];
	char what[WHAT_BYTES];
};

/* What differed, the gravest first. */
enum difference {
	DIFF_NONE,
	DIFF_BACK,		/* a name that should not be there is */
	DIFF_GONE,		/* one that should be is not */
	DIFF_UNREADABLE,	/* it cannot be looked at, or read */
	DIFF_CONTENTS,
	DIFF_SIZE,
	DIFF_ATTRIBUTE,		/* mode, owner, links, target, attributes */
	DIFF_TIME,
	DIFF_SPACE,		/* free, total */
	DIFF_ANSWER,		/* a call succeeded, or failed otherwise */
	DIFF_FULL,		/* there was no space for what had to fit */
	DIFFERENCES,
};

extern const char *const difference_names[DIFFERENCES];

/* Differences that are told of: names with what differs. */
#define TOLD_MAX 8

/**
 * struct history_report - how far a history came, and what differed in the end
 * @rounds: that were compared without a difference
 * @operations: that were begun
 * @at: the operation that ran when a difference was found
 * @difference: the gravest of ->text; DIFF_NONE: all is as it should be
 */
struct history_report {
	uint64_t rounds, operations, at;
	enum difference difference;
	unsigned int told;
	char text[TOLD_MAX][384];
};

struct history {
	struct options opt;
	const char *again;	/* the command that repeats it, or NULL */
	struct history_report *report;
	void (*round_ended)(struct history *h);	/* or NULL */
	void *context;		/* of whoever gave ->round_ended */
	struct draws draws;	/* the history */
	struct rng aux;		/* what the model does not depend on */
	jmp_buf *next;		/* where a comparison goes on; NULL: it ends */
	const struct entry *compared;	/* the name under way, or NULL */
	struct model model;
	struct handle handle[HANDLES];
	bool live;
	bool mounted;
	uint64_t op;
	int64_t begun_ns;
	char *mount_data;	/* options of the present mount */
	uint64_t total_blocks;	/* of statfs, which may not change */
	uint64_t first_free;	/* bytes, before the first operation */
	unsigned char *buffer;	/* BUFFER_BYTES, for contents */
	unsigned char *other;
	struct log_line log[LOGGED];
	unsigned int log_next;
};

#define BUFFER_BYTES (1u << 20)

/* report.c */
void describe(struct history *h, const struct node *a, const struct node *b,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The end of the history, or of a part of a comparison (h->next). */
void differ(struct history *h, enum difference kind, const struct node *about,
	    const char *format, ...)
	__attribute__((format(printf, 4, 5), noreturn));
#define fail(h, about, ...) differ(h, DIFF_ANSWER, about, __VA_ARGS__)
/* It ends if something differed. */
void end_if_different(struct history *h);
void check_call(struct history *h, const char *call, int wanted, int found);
const char *show_name(const char *name);
const char *show_path(struct history *h, const struct node *dir,
		      const char *name);
const char *errno_name(int number);

/*
 * Executes a system call that must fail with the errno @wanted, or succeed if
 * that is 0.  Without a file system nothing happens.
 */
#define CALL(h, wanted, call)						\
	do {								\
		if ((h)->live)						\
			check_call(h, #call, wanted,			\
				   (long)(call) < 0 ? errno : 0);	\
	} while (0)

/* choose.c: random operands */
bool chance(struct history *h, unsigned int percent);
struct node *pick_dir(struct history *h);
struct entry *pick_entry(struct history *h, unsigned int kinds);
struct handle *pick_handle(struct history *h);
void new_name(struct history *h, char *name);
uint64_t choose_length(struct history *h);
uint64_t choose_offset(struct history *h, const struct node *file);
uint64_t choose_size(struct history *h, const struct node *file);
void fill_data(struct history *h, unsigned char *data, size_t bytes);
uint64_t bytes_left(const struct history *h);

/* The kinds of nodes for pick_entry(). */
#define KIND_FILE 1u
#define KIND_DIR 2u
#define KIND_LINK 4u
#define KIND_SPECIAL 8u
#define KIND_ANY 15u
#define KIND_NOT_DIR (KIND_FILE | KIND_LINK | KIND_SPECIAL)

/* times.c */
int64_t clock_ns(void);
void touch(struct history *h, struct node *node, unsigned int which);
void touch_perhaps(struct history *h, struct node *node, unsigned int which);
void touch_unless_lax(struct history *h, struct node *node,
		      unsigned int which);
#define MODIFIED 1u
#define CHANGED 2u

/* paths.c */
void node_path(const struct history *h, const struct node *dir,
	       const char *name, char *path);
void entry_path(const struct history *h, const struct entry *entry,
		char *path);

/* handles.c */
void handle_open(struct history *h, struct handle *handle, struct node *node,
		 int fd, bool append);
void handle_close(struct history *h, struct handle *handle);
void handles_close_all(struct history *h);
struct handle *handle_free(struct history *h);

/* compare.c, compare_node.c */
void compare_tree(struct history *h);
void compare_space(struct history *h);
void compare_range(struct history *h, const struct node *file, uint64_t offset,
		   const unsigned char *found, size_t bytes, const char *how);
void compare_contents(struct history *h, const struct node *file, int fd);
void compare_node(struct history *h, struct node *node, const char *path);
/* What st_nlink of @node must be. */
unsigned int shown_links(const struct history *h, const struct node *node);

/* ops.c */
void run_operation(struct history *h);
/* Executes the operation called @name.  Return: whether there is one. */
bool run_named(struct history *h, const char *name);
void op_compare(struct history *h);
void op_round(struct history *h);

/* ops_file.c */
void op_write(struct history *h);
void op_churn(struct history *h);
void op_read(struct history *h);
void op_truncate(struct history *h);
void op_cut_and_extend(struct history *h);
void op_open(struct history *h);
void op_close(struct history *h);
void op_sync(struct history *h);
void sync_all(struct history *h);

/* ops_map.c */
void op_map_write(struct history *h);
void op_map_read(struct history *h);
void op_copy(struct history *h);

/* ops_tree.c */
void op_create(struct history *h);
void op_mkdir(struct history *h);
void op_symlink(struct history *h);
void op_mknod(struct history *h);
void op_link(struct history *h);
void op_unlink(struct history *h);
void op_rmdir(struct history *h);
void op_remove_tree(struct history *h);
void op_tmpfile(struct history *h);
void op_refused(struct history *h);

/* ops_rename.c */
void op_rename(struct history *h);
void op_exchange(struct history *h);
void op_replace(struct history *h);

/* ops_move.c */
void op_move_in_and_out(struct history *h);
void op_move_over_emptied(struct history *h);

/* ops_turn.c */
void op_turn_over(struct history *h);

/* ops_attr.c */
void op_chmod(struct history *h);
void op_chown(struct history *h);
void op_utimens(struct history *h);

/* ops_xattr.c */
void op_setxattr(struct history *h);
void op_removexattr(struct history *h);

/* ops_mount.c */
void mount_first(struct history *h);
void mount_last(struct history *h);
void op_remount(struct history *h);
void op_read_only(struct history *h);
void op_drop_caches(struct history *h);
void op_sleep(struct history *h);

/* ops_list.c */
void op_list_positions(struct history *h);
void op_list_deleting(struct history *h);

/* ops_full.c */
void op_fill(struct history *h);

/* course.c */

/**
 * history_run() - a whole history; differ() ends the process with 1.
 *
 * ->opt, ->report and what precedes ->draws are set, all else is zero.
 */
void history_run(struct history *h);

#endif
