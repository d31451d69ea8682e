// SPDX-License-Identifier: GPL-2.0-only
/*
 * params.c - see params.h.
 */
#include <string.h>

#include "plan/content_keys.h"
#include "workloads/tree/params.h"

#define DIGEST_DIGITS 16

static int read_distribution(struct distribution *distribution,
			     const struct plan_step *step, const char *key,
			     struct ffs_error *error)
{
	return distribution_parse(distribution, key, step_text(step, key),
				  error);
}

int tree_params_read(struct tree_params *params, const struct plan_step *step,
		     struct ffs_error *error)
{
	struct tree_shape *shape = &params->shape;

	memset(params, 0, sizeof(*params));
	if (read_distribution(&shape->files, step, "files", error) ||
	    read_distribution(&shape->directories, step, "directories",
			      error) ||
	    read_distribution(&shape->size, step, "size", error) ||
	    read_distribution(&shape->depth, step, "depth", error))
		return -1;
	shape->seed = (uint64_t)step_number(step, "seed");
	params->contents = content_choice_of(step, CONTENT_RANDOM);
	return content_choice_check(&params->contents, error);
}

int tree_check_shape(const struct plan_step *step, struct ffs_error *error)
{
	struct tree_params params;

	return tree_params_read(&params, step, error);
}

int tree_check_delete(const struct plan_step *step, struct ffs_error *error)
{
	const char *dir = step_text(step, "dir");

	if (dir[strspn(dir, "/.")])
		return 0;
	return ffs_fail(error, 0,
		"dir=%s would delete the whole system; name the directory of the tree",
		dir);
}

int tree_check_digest(const struct plan_step *step, struct ffs_error *error)
{
	const char *expect = step_text(step, "expect");

	if (!*expect || (strlen(expect) == DIGEST_DIGITS &&
			 strspn(expect, "0123456789abcdef") == DIGEST_DIGITS))
		return 0;
	return ffs_fail(error, 0,
		"expect=%.40s is no digest; it has %d lower-case hex digits",
		expect, DIGEST_DIGITS);
}

int tree_check_warm(const struct plan_step *step, struct ffs_error *error)
{
	const struct content_choice contents =
		content_choice_of(step, CONTENT_RANDOM);

	return content_choice_check(&contents, error);
}

int tree_check_copy(const struct plan_step *step, struct ffs_error *error)
{
	if (strcmp(step_text(step, "from"), step_text(step, "dir")))
		return 0;
	return ffs_fail(error, 0,
		"from and dir are both %.100s; dir is the copy, which must not exist yet",
		step_text(step, "dir"));
}
