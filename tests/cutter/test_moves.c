// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_moves.c - the directories that a series of power cuts moves, and what it takes
 * for wrong of them, in a directory of the host.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "series/acts.h"

void test_moves(void);

#define OPERATIONS 50	/* of the chip's log, always */
#define ROUNDS 200

struct place {
	char path[512];
	int root;
	struct slots slots;
	struct acts acts;
	struct checker checker;
	struct chip chip;
	struct text out;
};

static void open_place(struct place *place)
{
	static const char state[] = "state logging\noperations 50\n";
	char chip[512];

	memset(place, 0, sizeof(*place));
	scratch_template(chip, sizeof(chip), "chip");
	scratch_template(place->path, sizeof(place->path), "moves");
	CHECK(mkdtemp(place->path) != NULL);
	place->root = open(place->path, O_RDONLY | O_DIRECTORY);
	place->chip.standing = mkstemp(chip);
	CHECK(unlink(chip) == 0);
	CHECK(write(place->chip.standing, state, strlen(state)) > 0);
	CHECK(slots_reserve(&place->slots, NULL) == 0);
	CHECK(acts_take(&place->acts, "over-emptied", 12));
	place->slots.acts = &place->acts;
	slots_clear(&place->slots);
}

static void close_place(struct place *place)
{
	CHECK(slots_remove(&place->slots, place->root) == 0);
	CHECK(rmdir(place->path) == 0);
	close(place->root);
	close(place->chip.standing);
	slots_free(&place->slots);
	text_free(&place->out);
}

static unsigned int found(struct place *place, uint64_t operations,
			  bool reordered)
{
	struct cut_made cut = { 7, operations, reordered, reordered };

	text_clear(&place->out);
	return moves_check(&place->acts.moves, place->root, &cut, &place->out);
}

static bool says(const struct place *place, const char *words)
{
	char line[64];

	snprintf(line, sizeof(line), "wrong 7 %s steps=", words);
	return place->out.n > strlen(line) &&
	       !memcmp(place->out.data, line, strlen(line));
}

/* --- calls -------------------------------------------------------------------- */

struct counted {
	unsigned int in, out, over, others;
};

static void count(const struct moves *moves, struct counted *counted)
{
	size_t i;

	for (i = 0; i < moves->steps; i++) {
		const struct move_step *step = &moves->step[i];
		size_t from = strlen(step->from), to = strlen(step->to);

		if (strcmp(step->what, "move"))
			counted->others++;
		else if (from != to)
			*(from < to ? &counted->in : &counted->out) += 1;
		if (i && !strcmp(step->what, "move") &&
		    !strncmp(step[-1].to, step->to, to) &&
		    strlen(step[-1].to) == to + strlen("/e0"))
			counted->over++;
	}
}

/* The tree always is what the calls made. */
static void calls_are_known(bool two_names)
{
	const struct cut_made all = { 7, OPERATIONS, false, false };
	struct counted counted = { 0 };
	unsigned int round, early = 0, late = 0;
	struct failure failure;
	struct place place;
	struct rng rng;

	open_place(&place);
	place.acts.moves.two_names = two_names;
	for (round = 0; round < ROUNDS; round++) {
		rng_seed(&rng, round);
		CHECK(slots_change(&place.slots, place.root, &rng, &place.chip,
				   &failure, NULL) == 0);
		CHECKF(!*failure.name, "%s: %s", failure.name,
		       strerror(failure.errnum));
		CHECK(place.acts.moves.steps <= MOVE_STEPS);
		count(&place.acts.moves, &counted);
		/* Before the calls nothing of this may be there. */
		if (place.acts.moves.steps && round % 4 == 3) {
			late++;
			early += found(&place, OPERATIONS - 1, false);
			CHECK(slots_remove(&place.slots, place.root) == 0);
			slots_clear(&place.slots);
		} else {
			CHECK(slots_check(&place.slots, &place.checker,
					  place.root, &all, &place.out) == 0);
		}
	}
	CHECKF(counted.in > 10 && counted.out > 10 && counted.over > 2,
	       "%u in, %u out, %u over", counted.in, counted.out, counted.over);
	CHECK(counted.others > ROUNDS / 2);
	/* Some calls take back what those before them made. */
	CHECK(late > ROUNDS / 8 && early <= late && early > late * 3 / 4);
	close_place(&place);
}

static void names_of_acts(void)
{
	struct acts acts = { 0 };

	CHECK(!acts_take(&acts, "move", 4) && !acts_take(&acts, "", 0));
	CHECK(acts_take(&acts, "moves,x", 5) && acts.moving);
	CHECK(!acts.moves.over_emptied && !acts.drop_caches && !acts.turn_over);
	CHECK(acts_owns(&acts, "m0") && acts_owns(&acts, "e1"));
	CHECK(!acts_owns(&acts, "m5") && !acts_owns(&acts, "turn0"));
	CHECK(acts_take(&acts, "turn-over", 9) && acts_owns(&acts, "turn0"));
}

/* --- what may be there ----------------------------------------------------------- */

/*
 * m0 with e0 in it, and m1, are there; m0 becomes m1/m2 by a call from 10 to 20, and
 * m1/m3 is made by one from 20 to 30.
 */
static struct moves *begin(struct place *place, bool two_names,
			   uint64_t durable)
{
	struct moves *moves = &place->acts.moves;
	struct move_step *step = moves->step;
	static const struct tree_entry start[] = {
		{ TREE_ROOT, 0, 1 }, { 1, 5, 2 }, { TREE_ROOT, 1, 3 },
	};
	size_t i;

	CHECK(slots_remove(&place->slots, place->root) == 0);
	moves->twice = false;
	moves->two_names = two_names;
	moves_clear(moves);
	for (i = 0; i < sizeof(start) / sizeof(*start); i++)
		tree_put(&moves->start, &start[i]);
	moves->steps = 2 + two_names;
	*step = (struct move_step){
		.entry = { { 3, 2, 1 }, { TREE_ROOT, 0, 0 } }, .n = 2,
		.what = "move", .first = 10, .last = 20, .durable = durable,
	};
	if (two_names) {
		step->n = 1;
		step[1] = *step;
		step[1].entry[0] = step->entry[1];
		step++;
	}
	step[1] = (struct move_step){
		.entry = { { 3, 3, 4 } }, .n = 1, .what = "make",
		.first = 20, .last = 30, .durable = NEVER,
	};
	return moves;
}

static void put(struct place *place, const char *name)
{
	int fd;

	if (!strchr("e", name[strlen(name) - 2])) {
		CHECK(mkdirat(place->root, name, 0755) == 0);
		return;
	}
	fd = openat(place->root, name, O_WRONLY | O_CREAT, 0644);
	CHECK(fd >= 0);
	close(fd);
}

/* Makes these names, and says whether just this is wrong; "": nothing. */
static bool is_found(struct place *place, const char *names,
		     uint64_t operations, bool reordered, const char *words)
{
	char list[128], *rest = NULL, *name;
	unsigned int wrong;

	snprintf(list, sizeof(list), "%s", names);
	for (name = strtok_r(list, " ", &rest); name;
	     name = strtok_r(NULL, " ", &rest))
		put(place, name);
	wrong = found(place, operations, reordered);
	return *words ? wrong == 1 && says(place, words) : !wrong;
}

static void old_place_or_new(void)
{
	static const char old[] = "m0 m0/e0 m1", new[] = "m1 m1/m2 m1/m2/e0",
			  both[] = "m0 m0/e0 m1 m1/m2 m1/m2/e0",
			  all[] = "m1 m1/m2 m1/m2/e0 m1/m3";
	const struct {
		const char *names;
		uint64_t operations, durable;
		bool two_names, reordered;
		const char *wrong;
	} cases[] = {
		{ old, 9, NEVER, false, false, "" },
		{ old, 15, NEVER, false, false, "" },
		{ old, 25, 20, false, false, "name-kept m0" },
		{ new, 9, NEVER, false, false, "name-lost m0" },
		{ new, 15, NEVER, false, false, "" },
		{ all, 19, NEVER, false, false, "not-atomic m1/m3" },
		{ all, 25, NEVER, false, false, "" },
		{ both, 15, NEVER, false, false, "name-kept m0" },
		{ both, 15, NEVER, true, false, "" },
		{ both, 25, 20, true, false, "name-kept m0" },
		{ "m1", 25, NEVER, false, false, "name-lost m1/m2" },
		{ "m1", 15, NEVER, true, false, "name-lost m1/m2" },
		{ "m1 m1/m2", 25, 20, false, false, "name-lost m1/m2/e0" },
		{ "m1 m1/m2 m1/m2/e0 m1/m2/e1", 25, 20, false, false,
		  "name-kept m1/m2/e1" },
		/* The second call without the first, and half of it. */
		{ "m0 m0/e0 m1 m1/m3", 25, NEVER, false, false,
		  "name-kept m0" },
		{ "m0 m0/e0 m1 m1/m3", 25, NEVER, false, true, "" },
		{ "m1", 25, NEVER, true, true, "" },
		{ "m1", 25, NEVER, false, true, "name-lost m1/m2" },
		{ "m0 m0/e0 m1 m1/m3", 25, 20, false, true, "name-kept m0" },
	};
	struct place place;
	size_t i;

	open_place(&place);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&place, cases[i].two_names, cases[i].durable);
		CHECKF(is_found(&place, cases[i].names, cases[i].operations,
				cases[i].reordered, cases[i].wrong),
		       "case %zu: %.*s", i, (int)place.out.n, place.out.data);
	}
	close_place(&place);
}

static void what_no_tree_has(void)
{
	struct place place;
	int fd;

	open_place(&place);
	begin(&place, false, NEVER);
	CHECK(is_found(&place, "m0 m0/e0 m1 m1/x0", 9, false,
		       "unknown-name m1"));
	CHECK(place.acts.moves.doubtful);
	begin(&place, false, NEVER);
	CHECK(symlinkat("m1", place.root, "m0") == 0);
	CHECK(is_found(&place, "m1", 9, false, "wrong-kind m0"));
	begin(&place, false, NEVER);
	CHECK(mkdirat(place.root, "m0", 0755) == 0);
	fd = openat(place.root, "m0/e0", O_WRONLY | O_CREAT, 0644);
	CHECK(write(fd, "x", 1) == 1);
	close(fd);
	CHECK(is_found(&place, "m1", 9, false, "corrupt-contents m0/e0"));
	begin(&place, false, NEVER);
	CHECK(is_found(&place, "m0 m0/e0 m1", 9, false, ""));
	begin(&place, false, NEVER);
	put(&place, "m0");
	put(&place, "m0/e0");
	CHECK(linkat(place.root, "m0/e0", place.root, "m0/e1", 0) == 0);
	CHECK(is_found(&place, "m1", 9, false, "bad-links m0/e0") ||
	      says(&place, "bad-links m0/e1"));
	close_place(&place);
}

/* What is wrong is removed, and known to be gone once that is durable. */
static void what_is_wrong_goes(void)
{
	struct move_calls calls = { 0 };
	struct failure failure = { .name = "" };
	struct place place;
	struct moves *moves;

	open_place(&place);
	moves = begin(&place, false, NEVER);
	calls.moves = moves;
	calls.root = place.root;
	calls.chip = &place.chip;
	calls.failure = &failure;
	CHECK(is_found(&place, "m0 m1 m1/m2", 9, false, "name-lost m0/e0"));
	CHECK(moves_begin(&calls) == 0 && !*failure.name);
	CHECK(faccessat(place.root, "m1", F_OK, 0) != 0);
	CHECK(moves->gone == OPERATIONS && moves->doubtful);
	/* A cut before that may leave any of it, and one after it none. */
	CHECK(is_found(&place, "m1", OPERATIONS - 1, false, ""));
	CHECK(moves->doubtful);
	CHECK(moves_begin(&calls) == 0);
	CHECK(is_found(&place, "m1", OPERATIONS, false, "name-kept m1"));
	CHECK(moves_begin(&calls) == 0);
	CHECK(is_found(&place, "", OPERATIONS, false, "") && !moves->doubtful);
	/* Of a directory that had two names one may come back until a mount has none. */
	moves = begin(&place, true, NEVER);
	moves->doubtful = true;
	moves->twice = true;
	CHECK(moves_begin(&calls) == 0);
	CHECK(is_found(&place, "m1", OPERATIONS, false, "") && moves->twice);
	CHECK(moves_begin(&calls) == 0);
	CHECK(is_found(&place, "", OPERATIONS, false, ""));
	CHECK(!moves->twice && !moves->doubtful);
	close_place(&place);
}

void test_moves(void)
{
	calls_are_known(false);
	calls_are_known(true);
	names_of_acts();
	old_place_or_new();
	what_no_tree_has();
	what_is_wrong_goes();
}
