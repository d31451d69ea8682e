/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * content_keys.h - the keys of a step that say what it writes.
 */
#ifndef FFSAGENT_CONTENT_KEYS_H
#define FFSAGENT_CONTENT_KEYS_H

#include "core/content.h"
#include "plan/plan.h"

/* Two rows of a verb; @preset: a name of content_kind_names, or empty. */
#define PLAN_CONTENT_KEYS(preset) \
	{ "contents", KEY_CHOICE, preset, 0, 0, content_kind_names }, \
	{ "compressibility_percent", KEY_NUMBER, "0", 0, 100, NULL }

/** content_choice_of() - what a step says; @otherwise: without the key contents. */
static inline struct content_choice
content_choice_of(const struct plan_step *step, enum content_kind otherwise)
{
	int64_t kind = step_number(step, "contents");

	return (struct content_choice) {
		.kind = kind < 0 ? otherwise : (enum content_kind)kind,
		.saving_percent = (unsigned int)step_number(
			step, "compressibility_percent"),
	};
}

#endif
