/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pages.h - what is in the pages of the database, and which ones a transaction
 * changes: pure decisions, no I/O.
 *
 * A page is a function of the seed, its number and how often it was changed, so
 * that any of them can be made again and compared.
 */
#ifndef FFSAGENT_DATABASE_PAGES_H
#define FFSAGENT_DATABASE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/random.h"
#include "workloads/database/database.h"

struct database_pages {
	uint64_t seed;
	size_t bytes;			/* of a page */
	uint64_t n;
	uint32_t *changes;		/* [n]: how often each was changed */
	uint64_t *drawn;		/* [n_drawn]: of a transaction */
	uint64_t n_drawn;
	struct rng rng;
	unsigned char *contents;	/* pages are cut from it */
};

/** database_pages_init() - pages that nobody has changed yet. */
int database_pages_init(struct database_pages *pages,
			const struct database_params *params,
			struct ffs_error *error);
void database_pages_free(struct database_pages *pages);

/** database_page() - a page as it is after its last change. */
void database_page(const struct database_pages *pages, uint64_t page,
		   unsigned char *out);

/**
 * database_draw() - choose the pages of the next transaction: ->drawn, all
 * different.
 *
 * Page 0 is not among them: it has the header of the database.
 */
void database_draw(struct database_pages *pages);

#endif
