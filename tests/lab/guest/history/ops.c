// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops.c - which operation comes next.
 *
 * The weights keep a tree of files of all kinds that is always near its limits;
 * when it reaches one, something is removed instead.
 */
#include "history.h"

struct operation {
	unsigned int weight;
	void (*run)(struct history *h);
};

static const struct operation operations[] = {
	{ 170, op_write },
	{ 30, op_churn },
	{ 30, op_read },
	{ 60, op_truncate },
	{ 25, op_cut_and_extend },
	{ 40, op_open },
	{ 30, op_close },
	{ 40, op_sync },
	{ 40, op_map_write },
	{ 15, op_map_read },
	{ 20, op_copy },
	{ 90, op_create },
	{ 30, op_mkdir },
	{ 20, op_symlink },
	{ 12, op_mknod },
	{ 35, op_link },
	{ 50, op_unlink },
	{ 12, op_rmdir },
	{ 2, op_remove_tree },
	{ 8, op_tmpfile },
	{ 8, op_refused },
	{ 60, op_rename },
	{ 40, op_replace },
	{ 15, op_exchange },
	{ 25, op_chmod },
	{ 15, op_chown },
	{ 25, op_utimens },
	{ 45, op_setxattr },
	{ 20, op_removexattr },
	{ 6, op_remount },
	{ 4, op_read_only },
	{ 6, op_drop_caches },
	{ 6, op_sleep },
	{ 1, op_list_positions },
	{ 2, op_list_deleting },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))
#define FILL_SCALE 10	/* --fills is in tenths of the weights above */

static void run_drawn(struct history *h)
{
	unsigned int total = 0, i;
	uint64_t at;

	for (i = 0; i < OPERATIONS; i++)
		total += operations[i].weight * FILL_SCALE;
	at = rng_below(&h->rng, total + h->opt.fills);
	if (at >= total) {
		op_fill(h);
		return;
	}
	for (i = 0; at >= operations[i].weight * FILL_SCALE; i++)
		at -= operations[i].weight * FILL_SCALE;
	operations[i].run(h);
}

void run_operation(struct history *h)
{
	uint64_t left = bytes_left(h);

	h->begun_ns = h->live ? clock_ns() : 0;
	if (h->model.nodes >= h->opt.nodes_max ||
	    left < h->opt.bytes_max / 50) {
		if (chance(h, 30))
			op_remove_tree(h);
		else if (left < h->opt.bytes_max / 50 && chance(h, 40))
			op_truncate(h);
		else
			op_unlink(h);
		if (chance(h, 10))
			op_close(h);
	} else {
		run_drawn(h);
	}
}
