// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk.c - see walk.h.
 *
 * All that is fast about it: what a state prints is written with the calls that
 * begin the next one; the chip's commands, attaching, mounting, unmounting and
 * the counters are queued (core/calls.h); observations are compared by digest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/observe.h"
#include "observe/queue.h"
#include "walk/digests.h"
#include "walk/messages.h"
#include "walk/use.h"
#include "walk/walk.h"

enum { TAG_OUTPUT, TAG_AT, TAG_CUT, TAG_UNMOUNT, TAG_DETACH, TAG_CYCLE, TAG_STATE,
       TAG_BACK, TAG_MESSAGES };

struct walker {
	const struct walk *walk;
	struct device device;
	struct observer *observer;
	struct use use;
	struct digests digests;
	int messages;		/* where the kernel's are read */
	bool mounted, attached;
	bool refused;		/* to attach or mount, once in this state */
	bool fill;		/* this state, until it is full */
	int failed;		/* of a call before a mount */
	uint32_t failed_tag;
	struct text out;	/* is printed before the next state */
	struct text spare;	/* its memory, the next time */
	struct text tree, raw, said;
	char chip_text[CHIP_TEXT_BYTES];
	char at[CHIP_COMMAND_BYTES], cut[CHIP_COMMAND_BYTES];
	char name[2 * CHIP_COMMAND_BYTES];	/* of the state */
	struct ffs_error *error;
};

/* --- lines ---------------------------------------------------------------- */

static void put_cost(struct text *out, const char *what,
		     const struct cost *cost)
{
	text_string(out, what);
	text_add(out, " ", 1);
	text_number(out, (uint64_t)cost->errnum);
	text_add(out, " ", 1);
	text_number(out, cost->ns);
	text_add(out, " ", 1);
	text_number(out, cost->counts.reads);
	text_add(out, " ", 1);
	text_number(out, cost->counts.programs);
	text_add(out, " ", 1);
	text_number(out, cost->counts.erases);
}

static void put_space(struct text *out, const struct observed_space *space)
{
	text_add(out, " ", 1);
	text_number(out, space->blocks);
	text_add(out, " ", 1);
	text_number(out, space->free);
	text_add(out, " ", 1);
	text_number(out, space->free_inodes);
	text_add(out, "\n", 1);
}

static void put_name(struct text *out, const char *what, const char *name)
{
	text_string(out, what);
	text_add(out, " ", 1);
	text_string(out, name);
	text_add(out, "\n", 1);
}

/* "WHAT DIGEST", with the text before it if it is new. */
static void put_text(struct walker *walker, const char *what,
		     const struct text *text)
{
	uint64_t digest = digests_put(&walker->digests, text, &walker->out);

	walker->out.failed |= text->failed;
	text_string(&walker->out, what);
	text_add(&walker->out, " ", 1);
	text_hex(&walker->out, digest, DIGEST_DIGITS);
}

/* --- steps ---------------------------------------------------------------- */

/* The state cannot be left: say so, and end. Return: -1. */
static int stuck(struct walker *walker, const char *step, int errnum)
{
	struct ffs_error ignored;

	text_line(&walker->out, "stuck %s %d", step, errnum);
	(void)text_write(&walker->out, walker->walk->output, &ignored);
	return ffs_fail(walker->error, errnum, "state %s: cannot %s",
			walker->name, step);
}

/* Look at the mounted file system. */
static void observe_now(struct walker *walker, struct observed_space *space)
{
	text_clear(&walker->tree);
	observe(walker->observer, walker->walk->fs.target, &walker->tree);
	observe_space(walker->walk->fs.target, space);
}

static void put_observation(struct walker *walker, const char *what,
			    const struct observed_space *space)
{
	put_text(walker, what, &walker->tree);
	put_space(&walker->out, space);
}

/*
 * Mount behind the calls that were put off, and observe.
 * @mount, @seen: the names of the lines.
 *
 * Return: 0 with ->mounted and ->attached, or -1 if a call before the mount
 * failed, with ->failed and ->failed_tag.
 */
static int recover(struct walker *walker, const char *mount, const char *seen)
{
	struct observed_space space = { 0 };
	struct cost attach, cost;
	struct text *out = &walker->out;

	walker->mounted = false;
	walker->attached = false;
	walker->failed = device_mount(&walker->device, &attach, &cost,
				      &walker->failed_tag);
	if (walker->failed)
		return -1;
	if (walker->device.ubi_ctrl >= 0) {
		put_cost(out, "attach", &attach);
		text_add(out, "\n", 1);
		walker->attached = !attach.errnum;
		walker->refused |= !walker->attached;
		if (!walker->attached)
			return 0;
	}
	walker->mounted = !cost.errnum;
	walker->refused |= !walker->mounted;
	if (walker->mounted)
		observe_now(walker, &space);
	put_cost(out, mount, &cost);
	text_string(out, space.read_only ? " ro=1\n" : " ro=0\n");
	if (walker->mounted)
		put_observation(walker, seen, &space);
	return 0;
}

static void put_off_leaving(struct walker *walker)
{
	if (walker->mounted)
		device_put_off_unmount(&walker->device, TAG_UNMOUNT);
	if (walker->attached)
		device_put_off_detach(&walker->device, TAG_DETACH);
	walker->mounted = false;
	walker->attached = false;
}

static void use_and_observe(struct walker *walker)
{
	struct observed_space space;
	int errnum;
	const char *step = use_filesystem(&walker->use,
					  walker->walk->fs.target,
					  walker->fill, &errnum);

	if (step)
		text_line(&walker->out, "use %s %d", step, errnum);
	else
		text_string(&walker->out, "use ok\n");
	observe_now(walker, &space);
	put_observation(walker, "after", &space);
}

static void put_off_command(struct walker *walker, uint32_t tag,
			    const char *command)
{
	calls_write(&walker->device.calls, tag, walker->device.chip.crash,
		    command, strlen(command));
}

static const char *step_of(uint32_t tag)
{
	static const char *const names[] = {
		[TAG_OUTPUT] = "output", [TAG_AT] = "at", [TAG_CUT] = "cut",
		[TAG_UNMOUNT] = "unmount", [TAG_DETACH] = "detach",
		[TAG_CYCLE] = "cycle",
		[TAG_STATE] = "state", [TAG_BACK] = "back",
		[TAG_MESSAGES] = "messages",
	};

	if (tag == DEVICE_UNDO)
		return "unmount";
	return tag < sizeof(names) / sizeof(*names) ? names[tag] : "counters";
}

/* Detach, switch off and on, and look once more. */
static int second_time(struct walker *walker)
{
	put_off_leaving(walker);
	put_off_command(walker, TAG_CYCLE, "cycle");
	if (recover(walker, "remount", "again"))
		return stuck(walker, step_of(walker->failed_tag),
			     walker->failed);
	return 0;
}

/* --- a state -------------------------------------------------------------- */

/* The messages are read last: that there are none ends the queue. */
static int leave(struct walker *walker)
{
	struct calls *calls = &walker->device.calls;
	struct text *raw = &walker->raw;
	char *room = text_room(raw, MESSAGES_READ_BYTES);
	uint32_t tag = 0;
	size_t done;
	int failed;

	if (!room)
		return ffs_fail(walker->error, ENOMEM, "no memory for messages");
	put_off_leaving(walker);
	memset(walker->chip_text, 0, sizeof(walker->chip_text));
	queue_pread(calls, TAG_STATE, walker->device.chip.standing,
		    walker->chip_text, sizeof(walker->chip_text) - 1, 0);
	put_off_command(walker, TAG_BACK, "back");
	calls_read_some(calls, TAG_MESSAGES, walker->messages, room,
			MESSAGES_READ_BYTES);
	failed = calls_run(calls, &done);
	if (failed)
		tag = calls->tags[done];
	else
		raw->n += (size_t)calls->queue[calls->n - 1].result;
	calls_clear(calls);
	if (failed && tag != TAG_MESSAGES)
		return stuck(walker, step_of(tag), failed);
	if (!failed)
		failed = messages_drain(walker->messages, raw);
	return 0;
}

static int put_end(struct walker *walker)
{
	struct text *out = &walker->out;
	struct chip_state state;

	if (!chip_parse_state(walker->chip_text, &state))
		return ffs_fail(walker->error, 0,
				"the chip's state is not understood: %.200s",
				walker->chip_text);
	text_clear(&walker->said);
	messages_filter(&walker->raw, walker->refused ? MESSAGES_NOTICES :
							MESSAGES_WARNINGS,
			&walker->said);
	text_clear(&walker->raw);
	if (walker->said.n) {
		put_text(walker, "message", &walker->said);
		text_add(out, "\n", 1);
	}
	text_string(out, state.touched ? "touched 1, recorded " :
					 "touched 0, recorded ");
	text_number(out, state.recorded);
	text_add(out, "\n", 1);
	put_name(out, "ended", walker->name);
	return 0;
}

static void set_commands(struct walker *walker, const struct cut_point *cut)
{
	snprintf(walker->at, sizeof(walker->at), "at %llu",
		 (unsigned long long)cut->operation);
	snprintf(walker->cut, sizeof(walker->cut), "cut %s %llu", cut->kind,
		 (unsigned long long)cut->variant);
}

/* The calls that bring the chip to a state, behind those that print. */
static void put_off_state(struct walker *walker, const struct cut_point *cut)
{
	struct calls *calls = &walker->device.calls;

	put_name(&walker->out, "begin", walker->name);
	calls_write(calls, TAG_OUTPUT, walker->walk->output, walker->out.data,
		    walker->out.n);
	set_commands(walker, cut);
	put_off_command(walker, TAG_AT, walker->at);
	put_off_command(walker, TAG_CUT, walker->cut);
}

/*
 * One state; ->name is set.
 *
 * Return: 0, or -1 if the walk cannot go on.
 */
static int visit(struct walker *walker, const struct cut_point *cut)
{
	struct text *out = &walker->out;
	struct text kept = { 0 };
	int result;

	walker->refused = false;
	put_off_state(walker, cut);
	/* What is printed next must not move what is being written. */
	kept = *out;
	*out = walker->spare;
	text_clear(out);
	put_name(out, "state", walker->name);
	result = recover(walker, "mount", "seen");
	walker->spare = kept;
	if (result) {
		if (walker->failed_tag != TAG_AT &&
		    walker->failed_tag != TAG_CUT)
			return stuck(walker, step_of(walker->failed_tag),
				     walker->failed);
		text_line(out, "cut %d", walker->failed);
		put_name(out, "ended", walker->name);
		return 0;
	}
	if (walker->mounted && walker->walk->full)
		use_and_observe(walker);
	if (walker->walk->full && second_time(walker))
		return -1;
	return leave(walker) || put_end(walker) ? -1 : 0;
}

/* --- cuts in a recovery --------------------------------------------------- */

static int command(struct walker *walker, const char *text)
{
	int failed = chip_command(&walker->device.chip, text);

	return failed ? stuck(walker, text, failed) : 0;
}

/* Mount and unmount, no more. */
static int recover_only(struct walker *walker)
{
	struct calls *calls = &walker->device.calls;
	struct cost attach, cost;
	uint32_t tag;
	size_t done;
	int failed;

	failed = device_mount(&walker->device, &attach, &cost,
			      &walker->failed_tag);
	if (failed)
		return stuck(walker, step_of(walker->failed_tag), failed);
	walker->mounted = !attach.errnum && !cost.errnum;
	walker->attached = walker->device.ubi_ctrl >= 0 && !attach.errnum;
	put_off_leaving(walker);
	failed = calls_run(calls, &done);
	tag = failed ? calls->tags[done] : 0;
	calls_clear(calls);
	return failed ? stuck(walker, step_of(tag), failed) : 0;
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

	set_commands(walker, cut);
	if (command(walker, walker->at))
		return -1;
	refused = chip_command(&walker->device.chip, walker->cut);
	if (refused) {
		text_line(&walker->out, "cut %d", refused);
		put_name(&walker->out, "ended", walker->name);
		return 1;
	}
	if (command(walker, "push") || recover_only(walker) ||
	    command(walker, "stop") ||
	    chip_read(&walker->device.chip, &state, walker->error))
		return -1;
	if (state.full)
		return stuck(walker, "log", ENOMEM);
	*operations = state.operations;
	return 0;
}

static size_t name_point(char *name, size_t room, const struct cut_point *cut)
{
	int n = snprintf(name, room, "%llu %s %llu",
			 (unsigned long long)cut->operation, cut->kind,
			 (unsigned long long)cut->variant);

	return (size_t)n;
}

static int visit_second(struct walker *walker, size_t outer,
			const struct cut_point *cut)
{
	char *name = walker->name;

	outer += (size_t)sprintf(name + outer, " / ");
	name_point(name + outer, sizeof(walker->name) - outer, cut);
	return visit(walker, cut);
}

/* The cuts in the recovery from the state of @line. */
static int visit_recovery(struct walker *walker, const struct state_line *line)
{
	struct cut_point second = line->second;
	uint64_t operations = 0;
	int result;
	size_t outer = name_point(walker->name, sizeof(walker->name),
				  &line->cut);

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
	return command(walker, "pop") || command(walker, "back") ? -1 : 0;
}

/* --- the walk -------------------------------------------------------------- */

static int reserve(struct walker *walker)
{
	struct ffs_error *error = walker->error;

	walker->observer = observer_new(error);
	if (!walker->observer || use_reserve(&walker->use, error))
		return -1;
	walker->messages = messages_open(error);
	if (walker->messages < 0)
		return -1;
	/* What was said before is nobody's here. */
	if (messages_drain(walker->messages, &walker->raw))
		return ffs_fail(error, EIO, "cannot read /proc/kmsg");
	text_clear(&walker->raw);
	return 0;
}

static void release(struct walker *walker)
{
	observer_free(walker->observer);
	use_free(&walker->use);
	digests_free(&walker->digests);
	if (walker->messages >= 0)
		close(walker->messages);
	text_free(&walker->out);
	text_free(&walker->spare);
	text_free(&walker->tree);
	text_free(&walker->raw);
	text_free(&walker->said);
}

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
		name_point(walker->name, sizeof(walker->name), &line->cut);
		if (visit(walker, &line->cut))
			return -1;
	}
	text_line(&walker->out, "walked %zu", states->n);
	return text_write(&walker->out, walker->walk->output, walker->error);
}

int walk(const struct walk *walk, const struct states *states,
	 struct ffs_error *error)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	int result = -1;

	if (!walker)
		return ffs_fail(error, ENOMEM, "no memory for a walk");
	walker->walk = walk;
	walker->error = error;
	walker->messages = -1;
	if (!device_open(&walker->device, &walk->fs, walk->chip, error)) {
		if (!reserve(walker)) {
			/* A state that ended its guest is walked alone. */
			messages_show(states->n > 1 ? MESSAGES_SHOW_ERRORS :
						      MESSAGES_SHOW_WARNINGS);
			result = visit_all(walker, states);
			messages_show(MESSAGES_SHOW_ALL);
		}
		release(walker);
		device_close(&walker->device);
	}
	free(walker);
	return result;
}
