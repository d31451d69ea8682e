// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree.c - see tree.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chip/chip.h"
#include "core/clock.h"
#include "core/files.h"
#include "tree/tree.h"
#include "walk/messages.h"
#include "walk/walker.h"

/* The wall clock goes on at each tick of the kernel. */
#define TICK_NS		10000000u
#define BEGIN_S		1600000000
#define SETTLE_NS	20000
#define LOG_TEXT_MAX	((size_t)16 << 20)

struct tree {
	struct walker walker;
	struct nodes *nodes;
	const struct tree_cuts *cuts;
	struct runner runner;
	struct digests flashes;
	size_t path[NODES_DEPTH_MAX];	/* of the node, by depth from 0 */
	size_t depth;
	uint64_t logged;		/* in the sequence's log up to now */
	int mount_failed;
	bool turned_over;		/* in the sequence: see check_determinism() */
	const char *after;		/* the state behind which it begins, or NULL */
	bool alone;			/* one node is visited, no more */
};

bool tree_cuts_parse(struct tree_cuts *cuts, const char *text)
{
	static const char marks[] = { [TREE_SEEDS] = '*', [TREE_COUNTED] = '+' };

	for (cuts->n = 0; *text; cuts->n++) {
		struct tree_kind *kind = &cuts->kinds[cuts->n];
		size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz-");

		if (!length || length >= KIND_BYTES || cuts->n == TREE_KINDS_MAX)
			return false;
		memcpy(kind->name, text, length);
		kind->name[length] = '\0';
		text += length;
		kind->variants = TREE_ONE;
		if (*text == marks[TREE_SEEDS] || *text == marks[TREE_COUNTED])
			kind->variants = *text++ == marks[TREE_SEEDS] ?
					 TREE_SEEDS : TREE_COUNTED;
		if (*text && (*text++ != ',' || !*text))
			return false;
	}
	return cuts->n;
}

/* --- a sequence ------------------------------------------------------------- */

/*
 * The wall clock begins again, right behind a tick: up to the next one it stands, as
 * it does in a sequence with a chip and a CPU that take no time.
 */
static int begin_clock(struct ffs_error *error)
{
	const struct timespec begin = { .tv_sec = BEGIN_S };
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	ns += TICK_NS + TICK_NS / 10 - ns % TICK_NS;
	now.tv_sec = (time_t)(ns / 1000000000u);
	now.tv_nsec = (long)(ns % 1000000000u);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL);
	if (clock_settime(CLOCK_REALTIME, &begin))
		return ffs_fail(error, errno, "cannot set the clock");
	return 0;
}

/*
 * Whatever the kernel's threads have to do because of a call comes before the next
 * one. Else the scheduler decided, which remembers what it did in other sequences.
 */
static int settle(struct ffs_error *error)
{
	return clock_sleep_ns(SETTLE_NS, error);
}

/* Return: 0 with ->mount_failed, or -1. */
static int mount_again(struct tree *tree)
{
	struct walker *walker = &tree->walker;
	struct cost attach, cost;
	int failed = device_mount(&walker->device, &attach, &cost,
				  &walker->failed_tag);

	if (failed)
		return walker_stuck(walker, walker_step_of(walker->failed_tag),
				    failed);
	walker->attached = walker->device.ubi_ctrl >= 0 && !attach.errnum;
	walker->mounted = !attach.errnum && !cost.errnum;
	tree->mount_failed = attach.errnum ? attach.errnum : cost.errnum;
	if (!walker->mounted)
		return 0;
	if (settle(walker->error))
		return -1;
	return runner_open(&tree->runner, walker->walk->fs.target,
			   walker->error);
}

static int leave(struct tree *tree)
{
	runner_close(&tree->runner);
	return walker_leave(&tree->walker);
}

static int count_logged(struct tree *tree)
{
	struct chip_state state;

	if (chip_read(&tree->walker.device.chip, &state, tree->walker.error))
		return -1;
	if (state.full)
		return walker_stuck(&tree->walker, "log", ENOMEM);
	tree->logged = state.operations;
	return 0;
}

/* @failed: its errno. Return: 0, or -1 if the machinery failed. */
static int carry_out(struct tree *tree, const struct op *op, int *failed)
{
	tree->turned_over |= op->kind == OP_TURNOVER;
	if (op->kind != OP_REMOUNT) {
		*failed = runner_carry_out(&tree->runner, op);
		return 0;
	}
	if (leave(tree) || mount_again(tree))
		return -1;
	*failed = tree->mount_failed;
	return 0;
}

/* The calls of a node. */
static int carry_out_all(struct tree *tree, const struct node *node)
{
	size_t i;

	for (i = 0; i < node->calls.n && !tree->mount_failed; i++) {
		uint64_t before = tree->logged;
		int failed;

		if (carry_out(tree, &node->calls.ops[i], &failed) ||
		    settle(tree->walker.error) || count_logged(tree))
			return -1;
		text_line(&tree->walker.out, "op %d %llu %llu", failed,
			  (unsigned long long)before,
			  (unsigned long long)tree->logged);
	}
	return 0;
}

/*
 * The calls up to those of @number logged as much as they did before. Not that they
 * wrote the same: UBIFS gives each name a random number. Turning over takes longer than
 * a tick, so how much the kernel's threads collect meanwhile hangs on what was before.
 */
static int check_determinism(struct tree *tree, size_t number)
{
	struct node *node = &tree->nodes->all[number];
	struct walker *walker = &tree->walker;

	if (!node->known) {
		node->known = true;
		node->operations = tree->logged;
	}
	if (node->operations == tree->logged || tree->turned_over)
		return 0;
	text_line(&walker->out, "differs %zu", number);
	(void)text_write(&walker->out, walker->walk->output, walker->error);
	return ffs_fail(walker->error, 0,
			"node %zu logged %llu operations, and %llu before",
			number, (unsigned long long)tree->logged,
			(unsigned long long)node->operations);
}

/* From the flash of the beginning to what the node's calls left in the log. */
static int run_sequence(struct tree *tree, uint64_t *first)
{
	struct walker *walker = &tree->walker;
	size_t at;

	tree->turned_over = false;
	if (walker_command(walker, "push") || begin_clock(walker->error) ||
	    mount_again(tree) || count_logged(tree))
		return -1;
	for (at = 0; at <= tree->depth; at++) {
		size_t number = tree->path[at];

		*first = tree->logged;
		if (carry_out_all(tree, &tree->nodes->all[number]) ||
		    check_determinism(tree, number))
			return -1;
	}
	return walker_command(walker, "stop") || leave(tree);
}

/* --- its cuts --------------------------------------------------------------- */

/* Return: 0; -1; 1 if the chip makes no such cut. @flash: of where it stands now. */
static int go_to(struct tree *tree, const struct cut_point *cut, uint64_t *flash)
{
	struct walker *walker = &tree->walker;
	int refused;

	walker_set_commands(walker, cut);
	if (walker_command(walker, walker->at))
		return -1;
	refused = chip_command(&walker->device.chip, walker->cut);
	if (refused == EOPNOTSUPP)
		return 1;
	if (refused)
		return walker_stuck(walker, walker->cut, refused);
	return chip_difference(&walker->device.chip, flash, walker->error);
}

static int cut_at(struct tree *tree, const struct cut_point *cut)
{
	struct walker *walker = &tree->walker;
	uint64_t flash;
	size_t number;
	bool is_new;
	int result;

	walker_name(walker, cut);
	if (tree->after) {
		/* Up to this one they were gone through. */
		if (!strcmp(walker->name, tree->after))
			tree->after = NULL;
		return 0;
	}
	result = go_to(tree, cut, &flash);
	if (result)
		return result < 0 ? -1 : 0;
	number = digests_number(&tree->flashes, flash, &is_new);
	if (is_new)
		return walker_visit(walker, cut);
	text_line(&walker->out, "same %s %zu", walker->name, number);
	return 0;
}

static int cut_in_all_ways(struct tree *tree, uint64_t operation)
{
	const struct tree_cuts *cuts = tree->cuts;
	size_t i;

	for (i = 0; i < cuts->n; i++) {
		const struct tree_kind *kind = &cuts->kinds[i];
		struct cut_point cut = { .operation = operation };
		uint64_t n = kind->variants == TREE_ONE ? 1 : cuts->variants;

		memcpy(cut.kind, kind->name, sizeof(cut.kind));
		if (kind->variants == TREE_COUNTED)
			cut.variant = operation;
		for (; n; n--, cut.variant++)
			if (cut_at(tree, &cut))
				return -1;
	}
	return 0;
}

/* Of the operations that the node's own calls made, and behind the last. */
static int cut_all(struct tree *tree, uint64_t first)
{
	struct cut_point end = { .operation = tree->logged, .kind = "lost" };

	for (; first < tree->logged; first++)
		if (cut_in_all_ways(tree, first))
			return -1;
	return cut_at(tree, &end);
}

/* --- the walk ---------------------------------------------------------------- */

/* The operations of the sequence, as the chip has them. */
static int tell_log(struct tree *tree)
{
	struct walker *walker = &tree->walker;
	char path[CHIP_PATH_BYTES];
	char *text, *line, *rest;

	chip_path(path, walker->walk->chip, "log");
	text = file_read(path, LOG_TEXT_MAX, NULL, walker->error);
	if (!text)
		return -1;
	for (rest = text; (line = strsep(&rest, "\n")) && *line; )
		text_line(&walker->out, "logged %s", line);
	free(text);
	return 0;
}

static int visit(struct tree *tree, size_t number)
{
	struct walker *walker = &tree->walker;
	uint64_t first;

	text_line(&walker->out, "node %zu", number);
	if (text_write(&walker->out, walker->walk->output, walker->error) ||
	    run_sequence(tree, &first))
		return -1;
	if (tree->mount_failed)
		text_line(&walker->out, "unmountable %zu %d", number,
			  tree->mount_failed);
	tree->mount_failed = 0;
	if (tree->alone && tell_log(tree))
		return -1;
	if (tree->nodes->all[number].only_end)
		first = tree->logged;
	if (walker_put_said(walker, "warned") || cut_all(tree, first))
		return -1;
	return walker_command(walker, "pop");
}

static int visit_all(struct tree *tree)
{
	struct walker *walker = &tree->walker;
	const struct nodes *nodes = tree->nodes;
	size_t number;

	runner_init(&tree->runner);
	for (number = 0; number < nodes->n; number++) {
		tree->depth = nodes->all[number].depth - 1;
		tree->path[tree->depth] = number;
		if (nodes->all[number].visited && visit(tree, number))
			return -1;
	}
	text_line(&walker->out, "walked %zu", nodes->n);
	return text_write(&walker->out, walker->walk->output, walker->error);
}

static bool is_alone(const struct nodes *nodes)
{
	size_t visited = 0, i;

	for (i = 0; i < nodes->n; i++)
		visited += nodes->all[i].visited;
	return visited == 1;
}

int tree_walk(const struct walk *walk, struct nodes *nodes,
	      const struct tree_cuts *cuts, struct ffs_error *error)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	int result = -1;

	if (!tree)
		return ffs_fail(error, ENOMEM, "no memory for a tree");
	tree->nodes = nodes;
	tree->cuts = cuts;
	tree->after = cuts->after;
	tree->alone = is_alone(nodes);
	if (!walker_open(&tree->walker, walk, error)) {
		/* One that ended its guest is walked alone. */
		messages_show(tree->alone ? MESSAGES_SHOW_WARNINGS :
					    MESSAGES_SHOW_ERRORS);
		result = visit_all(tree);
		messages_show(MESSAGES_SHOW_ALL);
		walker_close(&tree->walker);
	}
	runner_free(&tree->runner);
	digests_free(&tree->flashes);
	free(tree);
	return result;
}
