// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - see check.h.
 */
#include <string.h>

#include "plan/check.h"
#include "workloads/micro/params.h"
#include "workloads/micro/prepare.h"
#include "workloads/tree/params.h"

static int check_ffsmark(const struct plan_step *step, struct ffs_error *error)
{
	int64_t valid = step_number(step, "valid_percent");
	int64_t invalid = step_number(step, "invalid_percent");

	if (step_number(step, "size_min") > step_number(step, "size_max"))
		return ffs_fail(error, 0,
			"line %zu: size_min is above size_max; swap them",
			step->line);
	if (valid + invalid > 100)
		return ffs_fail(error, 0,
			"line %zu: valid_percent + invalid_percent is %lld; both are shares of the space available at launch, so their sum is at most 100",
			step->line, (long long)(valid + invalid));
	return 0;
}

static int check_prepare(const struct plan_step *step, struct ffs_error *error)
{
	struct prepare_params params;
	struct ffs_error cause;

	prepare_params_read(&params, step);
	if (prepare_params_check(&params, &cause))
		return ffs_fail(error, 0, "line %zu: %s", step->line,
				cause.message);
	return 0;
}

static int check_micro(const struct plan_step *step, struct ffs_error *error)
{
	struct micro_params params;
	struct ffs_error cause;

	micro_params_read(&params, step);
	if (micro_params_check(&params, &cause))
		return ffs_fail(error, 0, "line %zu: %s", step->line,
				cause.message);
	return 0;
}

static int check_tree(const struct plan_step *step, struct ffs_error *error)
{
	struct ffs_error cause;

	if (tree_step_check(step, &cause))
		return ffs_fail(error, 0, "line %zu: %s", step->line,
				cause.message);
	return 0;
}

int plan_check_step(const struct plan_step *step, bool monitored,
		    struct ffs_error *error)
{
	const char *verb = step->verb->name;

	if (!strcmp(verb, "ffsmark"))
		return check_ffsmark(step, error);
	if (!strcmp(verb, "prepare"))
		return check_prepare(step, error);
	if (!strcmp(verb, "micro"))
		return check_micro(step, error);
	if (!strncmp(verb, "tree-", 5))
		return check_tree(step, error);
	if ((!strcmp(verb, "snapshot") || !strcmp(verb, "memory")) &&
	    !step->label_given)
		return ffs_fail(error, 0,
			"line %zu: '%s' needs label=, the name of its record",
			step->line, verb);
	if ((!strcmp(verb, "snapshot") || !strcmp(verb, "trace")) && !monitored)
		return ffs_fail(error, 0,
			"line %zu: '%s' needs a 'monitor' step before it",
			step->line, verb);
	return 0;
}
