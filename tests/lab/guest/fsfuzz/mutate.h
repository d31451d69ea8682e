/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mutations of an image. A mutated image has one to eight of them; each is chosen
 * and aimed by the generator, so that seed and number say everything.
 *
 * There are two sorts. The generic ones know nothing of the format: most of what
 * they do is caught by a check. The others change fields of the format and then
 * make the checks (ECC of tags, sums of summary and checkpoint, CRCs) agree again,
 * so that the change gets through to the code behind them.
 */
#ifndef FSFUZZ_MUTATE_H
#define FSFUZZ_MUTATE_H

#include "image.h"
#include "random.h"
#include "survey.h"

#define MAX_TEXT	700

struct mutator {
	struct image *image;
	struct survey *s;
	struct rng rng;
	char text[MAX_TEXT];
	u32 text_bytes;
};

/* Returns false if the image has nothing to aim at; then nothing was changed. */
typedef bool (*mutation)(struct mutator *m);

struct mutation_kind {
	const char *name;
	u32 weight;
	mutation apply;
};

/* Each list ends with an entry without a name. */
extern const struct mutation_kind generic_mutations[];
extern const struct mutation_kind tag_mutations[];
extern const struct mutation_kind header_mutations[];
extern const struct mutation_kind name_mutations[];
extern const struct mutation_kind summary_mutations[];
extern const struct mutation_kind checkpoint_mutations[];
extern const struct mutation_kind checkpoint_swaps[];

/*
 * Mutates @image, which is a copy of the base image. @s is working memory. What was
 * done is in m->text of @m, which the caller provides; also what the image is.
 */
void mutate(struct mutator *m, struct image *image, struct survey *s,
	    u64 seed, u64 number);

/* Adds to the description. */
void note(struct mutator *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A page of that kind, or NO_PAGE. */
u32 pick_page(struct mutator *m, enum page_kind kind);
/* A programmed page of any kind, or NO_PAGE. */
u32 pick_used_page(struct mutator *m);
/* An erased page behind the last programmed one of a block, or NO_PAGE. */
u32 pick_next_free_page(struct mutator *m);
u32 pick_block(struct mutator *m);
/* Mostly the newest header of an object, sometimes an old one, or NO_PAGE. */
u32 pick_header(struct mutator *m);
/* The newest header of an object of that type, or NO_PAGE. */
u32 pick_header_of(struct mutator *m, u32 type);

/* A value that could surprise code that expects @old. */
u32 weird(struct mutator *m, u32 old);
u64 weird_size(struct mutator *m);
/* Id of an object that there is, or that has a meaning, or that cannot be. */
u32 weird_id(struct mutator *m);

/*
 * Changes the tags of a page so that they pass: their ECC is repaired nearly always,
 * and the summary of the block mostly follows.
 */
void change_tags(struct mutator *m, u32 page, struct tags tags);
/* Programs a page that was erased: contents all @fill. */
void forge_page(struct mutator *m, u32 page, struct tags tags, u8 fill);

#endif
