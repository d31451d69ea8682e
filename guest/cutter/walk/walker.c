// SPDX-License-Identifier: GPL-2.0-only
/*
 * walker.c - see walker.h.
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

#include "observe/queue.h"
#include "walk/messages.h"
#include "walk/walker.h"

enum { TAG_OUTPUT, TAG_AT, TAG_CUT, TAG_UNMOUNT, TAG_DETACH, TAG_CYCLE, TAG_STATE,
       TAG_BACK, TAG_MESSAGES };

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

void walker_put_name(struct text *out, const char *what, const char *name)
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

int walker_stuck(struct walker *walker, const char *step, int errnum)
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

const char *walker_step_of(uint32_t tag)
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
		return walker_stuck(walker, walker_step_of(walker->failed_tag),
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
		return walker_stuck(walker, walker_step_of(tag), failed);
	if (!failed)
		failed = messages_drain(walker->messages, raw);
	return 0;
}

/* "WHAT DIGEST" if the kernel's messages have some of level @wanted or worse. */
static void put_said(struct walker *walker, const char *what,
		     unsigned int wanted)
{
	text_clear(&walker->said);
	messages_filter(&walker->raw, wanted, &walker->said);
	text_clear(&walker->raw);
	if (!walker->said.n)
		return;
	put_text(walker, what, &walker->said);
	text_add(&walker->out, "\n", 1);
}

static int put_end(struct walker *walker)
{
	struct text *out = &walker->out;
	struct chip_state state;

	if (!chip_parse_state(walker->chip_text, &state))
		return ffs_fail(walker->error, 0,
				"the chip's state is not understood: %.200s",
				walker->chip_text);
	put_said(walker, "message",
		 walker->refused ? MESSAGES_NOTICES : MESSAGES_WARNINGS);
	text_string(out, state.touched ? "touched 1, recorded " :
					 "touched 0, recorded ");
	text_number(out, state.recorded);
	text_add(out, "\n", 1);
	walker_put_name(out, "ended", walker->name);
	return 0;
}

void walker_set_commands(struct walker *walker, const struct cut_point *cut)
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

	walker_put_name(&walker->out, "begin", walker->name);
	calls_write(calls, TAG_OUTPUT, walker->walk->output, walker->out.data,
		    walker->out.n);
	walker_set_commands(walker, cut);
	put_off_command(walker, TAG_AT, walker->at);
	put_off_command(walker, TAG_CUT, walker->cut);
}

int walker_visit(struct walker *walker, const struct cut_point *cut)
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
	walker_put_name(out, "state", walker->name);
	result = recover(walker, "mount", "seen");
	walker->spare = kept;
	if (result) {
		if (walker->failed_tag != TAG_AT &&
		    walker->failed_tag != TAG_CUT)
			return walker_stuck(walker, walker_step_of(walker->failed_tag),
				     walker->failed);
		text_line(out, "cut %d", walker->failed);
		walker_put_name(out, "ended", walker->name);
		return 0;
	}
	if (walker->mounted && walker->walk->full)
		use_and_observe(walker);
	if (walker->walk->full && second_time(walker))
		return -1;
	return leave(walker) || put_end(walker) ? -1 : 0;
}

size_t walker_name(struct walker *walker, const struct cut_point *cut)
{
	int n = snprintf(walker->name, sizeof(walker->name), "%llu %s %llu",
			 (unsigned long long)cut->operation, cut->kind,
			 (unsigned long long)cut->variant);

	return (size_t)n;
}

int walker_leave(struct walker *walker)
{
	struct calls *calls = &walker->device.calls;
	uint32_t tag;
	size_t done;
	int failed;

	put_off_leaving(walker);
	failed = calls_run(calls, &done);
	tag = failed ? calls->tags[done] : 0;
	calls_clear(calls);
	return failed ? walker_stuck(walker, walker_step_of(tag), failed) : 0;
}

int walker_command(struct walker *walker, const char *text)
{
	int failed = chip_command(&walker->device.chip, text);

	return failed ? walker_stuck(walker, text, failed) : 0;
}

/* --- from beginning to end -------------------------------------------------- */

int walker_put_said(struct walker *walker, const char *what)
{
	if (messages_drain(walker->messages, &walker->raw))
		return ffs_fail(walker->error, EIO, "cannot read /proc/kmsg");
	put_said(walker, what, MESSAGES_WARNINGS);
	return 0;
}

static int reserve(struct walker *walker)
{
	struct ffs_error *error = walker->error;

	walker->observer = observer_new(walker->walk->attributes, error);
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

int walker_open(struct walker *walker, const struct walk *walk,
		struct ffs_error *error)
{
	memset(walker, 0, sizeof(*walker));
	walker->walk = walk;
	walker->error = error;
	walker->messages = -1;
	if (device_open(&walker->device, &walk->fs, walk->chip, error))
		return -1;
	if (!reserve(walker))
		return 0;
	walker_close(walker);
	return -1;
}

void walker_close(struct walker *walker)
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
	device_close(&walker->device);
}
