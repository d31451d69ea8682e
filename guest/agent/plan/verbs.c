// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - see verbs.h.
 */
#include <stddef.h>
#include <string.h>

#include "plan/verbs.h"

#define TABLE(name) name,
static const struct verb_spec *const tables[] = { PLAN_VERB_TABLES(TABLE) };
#undef TABLE

const struct verb_spec *plan_verb_next(const struct verb_spec *verb)
{
	size_t i;

	if (!verb)
		return tables[0];
	if (verb[1].name)
		return verb + 1;
	/* The last row of a table: the next table follows the one it is in. */
	for (i = 0; i + 1 < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct verb_spec *row = tables[i];

		while (row->name && row != verb)
			row++;
		if (row == verb)
			return tables[i + 1];
	}
	return NULL;
}

const struct verb_spec *plan_verb(const char *name)
{
	const struct verb_spec *verb = NULL;

	while ((verb = plan_verb_next(verb)))
		if (!strcmp(verb->name, name))
			return verb;
	return NULL;
}
