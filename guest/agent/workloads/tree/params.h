/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - the keys of the steps that make and check a tree.
 */
#ifndef FFSAGENT_TREE_PARAMS_H
#define FFSAGENT_TREE_PARAMS_H

#include <stdint.h>

#include "core/content.h"
#include "core/error.h"
#include "plan/plan.h"
#include "workloads/tree/shape.h"

struct tree_params {
	struct tree_shape shape;
	struct content_choice contents;
};

/**
 * tree_params_read() - of tree-create and tree-check; keys that contradict each
 * other and wrong distributions are errors.
 */
int tree_params_read(struct tree_params *params, const struct plan_step *step,
		     struct ffs_error *error);

/* What can be checked of these steps beforehand. */
int tree_check_shape(const struct plan_step *step, struct ffs_error *error);
int tree_check_delete(const struct plan_step *step, struct ffs_error *error);
int tree_check_digest(const struct plan_step *step, struct ffs_error *error);
int tree_check_warm(const struct plan_step *step, struct ffs_error *error);
int tree_check_copy(const struct plan_step *step, struct ffs_error *error);

#endif
