/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - the keys of the steps that make and check a tree.
 */
#ifndef FFSAGENT_TREE_PARAMS_H
#define FFSAGENT_TREE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "plan/plan.h"
#include "workloads/tree/content.h"
#include "workloads/tree/shape.h"

struct tree_params {
	struct tree_shape shape;
	enum tree_content_kind contents;
	unsigned int saving_percent;
	uint64_t write_bytes;	/* tree-create */
	bool sync;		/* tree-create */
};

/**
 * tree_params_read() - of tree-create and tree-check; keys that contradict each
 * other and wrong distributions are errors.
 */
int tree_params_read(struct tree_params *params, const struct plan_step *step,
		     struct ffs_error *error);

/** tree_step_check() - what can be checked of any tree-* step beforehand. */
int tree_step_check(const struct plan_step *step, struct ffs_error *error);

#endif
