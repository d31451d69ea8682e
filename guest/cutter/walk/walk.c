// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk.c - see walk.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "walk/messages.h"
#include "walk/walk.h"
#include "walk/walker.h"

/* --- cuts in a recovery --------------------------------------------------- */

/* Mount and unmount, no more. */
static int recover_only(struct walker *walker)
{
	struct cost attach, cost;
	int failed = device_mount(&walker->device, &attach, &cost,
				  &walker->failed_tag);

	if (failed)
		return walker_stuck(walker, walker_step_of(walker->failed_tag),
				    failed);
	walker->mounted = !attach.errnum && !cost.errnum;
	walker->attached = walker->device.ubi_ctrl >= 0 && !attach.errnum;
	return walker_leave(walker);
}

/*
 * The recovery from a state becomes a log. @operations: how many it has.
 *
 * Return: 0; -1 if nothing goes on; 1, and said so, if the chip makes no such cut.
 */
static int log_recovery(struct walker *walker, const struct cut_point *cut,
			uint64_t *operations)
{
	struct chip_state state;
	int refused;

	walker_set_commands(walker, cut);
	if (walker_command(walker, walker->at))
		return -1;
	refused = chip_command(&walker->device.chip, walker->cut);
	if (refused) {
		text_line(&walker->out, "cut %d", refused);
		walker_put_name(&walker->out, "ended", walker->name);
		return 1;
	}
	if (walker_command(walker, "push") || recover_only(walker) ||
	    walker_command(walker, "stop") ||
	    chip_read(&walker->device.chip, &state, walker->error))
		return -1;
	if (state.full)
		return walker_stuck(walker, "log", ENOMEM);
	*operations = state.operations;
	return 0;
}

static int visit_second(struct walker *walker, size_t outer,
			const struct cut_point *cut)
{
	char *name = walker->name;

	snprintf(name + outer, sizeof(walker->name) - outer, " / %llu %s %llu",
		 (unsigned long long)cut->operation, cut->kind,
		 (unsigned long long)cut->variant);
	return walker_visit(walker, cut);
}

/* The cuts in the recovery from the state of @line. */
static int visit_recovery(struct walker *walker, const struct state_line *line)
{
	struct cut_point second = line->second;
	uint64_t operations = 0;
	int result;
	size_t outer = walker_name(walker, &line->cut);

	text_line(&walker->out, "begin %s", walker->name);
	if (text_write(&walker->out, walker->walk->output, walker->error))
		return -1;
	result = log_recovery(walker, &line->cut, &operations);
	if (result)
		return result < 0 ? -1 : 0;
	text_line(&walker->out, "recovery %s %llu", walker->name,
		  (unsigned long long)operations);
	do {
		if (second.operation < operations || !line->onwards) {
			if (visit_second(walker, outer, &second))
				return -1;
		}
		second.operation++;
	} while (line->onwards && second.operation < operations);
	walker->name[outer] = '\0';
	return walker_command(walker, "pop") || walker_command(walker, "back") ?
		       -1 :
		       0;
}

/* --- the walk -------------------------------------------------------------- */

static int visit_all(struct walker *walker, const struct states *states)
{
	size_t i;

	for (i = 0; i < states->n; i++) {
		const struct state_line *line = &states->lines[i];

		walker->fill = line->fill;
		if (line->deeper) {
			if (visit_recovery(walker, line))
				return -1;
			continue;
		}
		walker_name(walker, &line->cut);
		if (walker_visit(walker, &line->cut))
			return -1;
	}
	text_line(&walker->out, "walked %zu", states->n);
	return text_write(&walker->out, walker->walk->output, walker->error);
}

int walk_states(const struct walk *walk, const struct states *states,
	 struct ffs_error *error)
{
	struct walker *walker = malloc(sizeof(*walker));
	int result = -1;

	if (!walker)
		return ffs_fail(error, ENOMEM, "no memory for a walk");
	if (!walker_open(walker, walk, error)) {
		/* A state that ended its guest is walked alone. */
		messages_show(states->n > 1 ? MESSAGES_SHOW_ERRORS :
					      MESSAGES_SHOW_WARNINGS);
		result = visit_all(walker, states);
		messages_show(MESSAGES_SHOW_ALL);
		walker_close(walker);
	}
	free(walker);
	return result;
}
