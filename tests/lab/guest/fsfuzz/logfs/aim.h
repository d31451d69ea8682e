/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the mutations of a LogFS share: values that could surprise, and what to aim at.
 */
#ifndef FSFUZZ_LOGFS_AIM_H
#define FSFUZZ_LOGFS_AIM_H

#include "../mutate.h"
#include "view.h"

extern const struct mutation_kind logfs_super_mutations[];
extern const struct mutation_kind logfs_journal_mutations[];
extern const struct mutation_kind logfs_object_mutations[];
extern const struct mutation_kind logfs_tree_mutations[];
extern const struct mutation_kind logfs_name_mutations[];

/* Stores a changed view and frees it. */
bool aim_done(struct view *v);
/* Frees a view with nothing to aim at. */
bool aim_nothing(struct view *v);

u64 weird_word(struct mutator *m, u64 old);
/* A place on the device: of an object, near one, of another segment, of none. */
u64 weird_place(struct mutator *m, const struct view *v);
/* Number of an inode that there is, that has a meaning, or that cannot be. */
u64 weird_ino(struct mutator *m, const struct view *v);
/* Index of a block. */
u64 weird_bix(struct mutator *m, u64 old);

/* A newest object of that type, or of any if it is 0; NULL if there is none. */
const struct logfs_found *aim_object(struct mutator *m, const struct view *v,
				     u32 type);
/* A newest block of pointers, or NULL. */
const struct logfs_found *aim_pointers(struct mutator *m,
				       const struct view *v);
/* An entry of the last commit of that type, or of any if it is 0; or NULL. */
struct entry *aim_entry(struct mutator *m, struct view *v, u32 type);

#endif
