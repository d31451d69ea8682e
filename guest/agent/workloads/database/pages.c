// SPDX-License-Identifier: GPL-2.0-only
/*
 * pages.c - see pages.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/database/pages.h"

#define PERIOD ((size_t)256 << 10)

int database_pages_init(struct database_pages *pages,
			const struct database_params *params,
			struct ffs_error *error)
{
	*pages = (struct database_pages) {
		.seed = params->seed,
		.bytes = params->page_bytes,
		.n = params->database_bytes / params->page_bytes,
		.n_drawn = params->pages_per_transaction,
	};
	rng_seed(&pages->rng, params->seed);
	pages->changes = calloc(pages->n, sizeof(*pages->changes));
	pages->drawn = calloc(pages->n_drawn, sizeof(*pages->drawn));
	pages->contents = malloc(PERIOD + pages->bytes);
	if (!pages->changes || !pages->drawn || !pages->contents)
		return ffs_fail(error, ENOMEM, "no memory for %llu pages",
				(unsigned long long)pages->n);
	return content_stock(&params->contents, rng_mix(params->seed),
			     pages->bytes, pages->contents,
			     PERIOD + pages->bytes, error);
}

void database_pages_free(struct database_pages *pages)
{
	free(pages->changes);
	free(pages->drawn);
	free(pages->contents);
}

void database_page(const struct database_pages *pages, uint64_t page,
		   unsigned char *out)
{
	uint64_t version = page << 32 | pages->changes[page];
	uint64_t window = rng_mix(pages->seed ^ rng_mix(version)) % PERIOD;
	int i;

	memcpy(out, pages->contents + window, pages->bytes);
	for (i = 0; i < (int)sizeof(version); i++)
		out[i] = (unsigned char)(version >> (8 * i));
}

static bool is_drawn(const struct database_pages *pages, uint64_t page,
		     uint64_t n)
{
	while (n)
		if (pages->drawn[--n] == page)
			return true;
	return false;
}

void database_draw(struct database_pages *pages)
{
	uint64_t n = 0;

	while (n < pages->n_drawn) {
		uint64_t page = rng_between(&pages->rng, 1, pages->n - 1);

		if (!is_drawn(pages, page, n))
			pages->drawn[n++] = page;
	}
}
