// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops.c - which operation comes next.
 *
 * The weights keep a tree of files of all kinds that is always near its limits;
 * when it reaches one, something is removed instead.
 */
#include <string.h>

#include "workloads/random/history.h"

struct operation {
	const char *name;
	unsigned int weight;	/* of the mixed shape, about 10,000 in all */
	enum about about;
	void (*run)(struct history *h);
};

static const struct operation operations[] = {
	{ "write", 1700, ABOUT_DATA, op_write },
	{ "churn", 300, ABOUT_DATA, op_churn },
	{ "read", 300, ABOUT_DATA, op_read },
	{ "truncate", 600, ABOUT_DATA, op_truncate },
	{ "cut-and-extend", 250, ABOUT_DATA, op_cut_and_extend },
	{ "open", 400, ABOUT_DATA, op_open },
	{ "close", 300, ABOUT_DATA, op_close },
	{ "sync", 400, ABOUT_DATA, op_sync },
	{ "map-write", 400, ABOUT_DATA, op_map_write },
	{ "map-read", 150, ABOUT_DATA, op_map_read },
	{ "copy", 200, ABOUT_DATA, op_copy },
	{ "create", 900, ABOUT_NAMES, op_create },
	{ "mkdir", 300, ABOUT_NAMES, op_mkdir },
	{ "symlink", 200, ABOUT_NAMES, op_symlink },
	{ "mknod", 120, ABOUT_NAMES, op_mknod },
	{ "link", 350, ABOUT_NAMES, op_link },
	{ "unlink", 500, ABOUT_NAMES, op_unlink },
	{ "rmdir", 120, ABOUT_NAMES, op_rmdir },
	{ "remove-tree", 20, ABOUT_NAMES, op_remove_tree },
	{ "tmpfile", 80, ABOUT_NAMES, op_tmpfile },
	{ "refused", 80, ABOUT_NAMES, op_refused },
	{ "rename", 600, ABOUT_NAMES, op_rename },
	{ "replace", 400, ABOUT_NAMES, op_replace },
	{ "move-in-and-out", 100, ABOUT_NAMES, op_move_in_and_out },
	{ "move-over-emptied", 100, ABOUT_NAMES, op_move_over_emptied },
	{ "exchange", 150, ABOUT_NAMES, op_exchange },
	{ "chmod", 250, ABOUT_ATTRIBUTES, op_chmod },
	{ "chown", 150, ABOUT_ATTRIBUTES, op_chown },
	{ "utimens", 250, ABOUT_ATTRIBUTES, op_utimens },
	{ "setxattr", 450, ABOUT_ATTRIBUTES, op_setxattr },
	{ "removexattr", 200, ABOUT_ATTRIBUTES, op_removexattr },
	{ "remount", 60, ABOUT_MOUNTS, op_remount },
	{ "read-only", 40, ABOUT_MOUNTS, op_read_only },
	{ "drop-caches", 60, ABOUT_MOUNTS, op_drop_caches },
	{ "sleep", 60, ABOUT_MOUNTS, op_sleep },
	{ "list-positions", 10, ABOUT_NAMES, op_list_positions },
	{ "list-deleting", 20, ABOUT_NAMES, op_list_deleting },
	/* As often as the options say. */
	{ "fill", 0, ABOUT_DATA, op_fill },
	{ "turn-over", 0, ABOUT_DATA, op_turn_over },
	/* Never drawn: they end a round. */
	{ "compare", 0, ABOUT_MOUNTS, op_compare },
	{ "round", 0, ABOUT_MOUNTS, op_round },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))
#define TURN_OVER_WEIGHT 4

static void run_it(struct history *h, const struct operation *operation)
{
	draws_begin(h, operation->name);
	operation->run(h);
	draws_end(h);
}

bool run_named(struct history *h, const char *name)
{
	size_t i;

	for (i = 0; i < OPERATIONS; i++)
		if (!strcmp(operations[i].name, name))
			break;
	if (i == OPERATIONS)
		return false;
	h->begun_ns = h->live ? clock_ns() : 0;
	h->report->operations = h->op;
	if (draws_replaying(h))
		operations[i].run(h);
	else
		run_it(h, &operations[i]);
	return true;
}

static uint64_t weight_of(const struct history *h,
			  const struct operation *operation)
{
	if (operation->run == op_fill)
		return h->opt.fills;
	if (operation->run == op_turn_over)
		return h->opt.turn_over_bytes ? TURN_OVER_WEIGHT : 0;
	return (uint64_t)operation->weight *
	       h->opt.shape->times[operation->about];
}

static const struct operation *draw_operation(struct history *h)
{
	uint64_t total = 0, at;
	size_t i;

	for (i = 0; i < OPERATIONS; i++)
		total += weight_of(h, &operations[i]);
	at = rng_below(&h->draws.rng, total);
	for (i = 0; at >= weight_of(h, &operations[i]); i++)
		at -= weight_of(h, &operations[i]);
	return &operations[i];
}

static bool happens(struct history *h, unsigned int percent)
{
	return rng_below(&h->draws.rng, 100) < percent;
}

static void remove_something(struct history *h, bool full)
{
	const char *name = "unlink";

	if (happens(h, 30))
		name = "remove-tree";
	else if (full && happens(h, 40))
		name = "truncate";
	run_named(h, name);
	if (happens(h, 10))
		run_named(h, "close");
}

void run_operation(struct history *h)
{
	bool full = bytes_left(h) < h->opt.bytes_max / 50;

	if (full || h->model.nodes >= h->opt.nodes_max)
		remove_something(h, full);
	else
		run_named(h, draw_operation(h)->name);
}

void op_compare(struct history *h)
{
	describe(h, NULL, NULL, "compare all");
	if (h->live)
		compare_tree(h);
}

void op_round(struct history *h)
{
	describe(h, NULL, NULL, "the round ends");
	if (!h->live)
		return;
	h->report->rounds++;
	if (h->round_ended)
		h->round_ended(h);
}
