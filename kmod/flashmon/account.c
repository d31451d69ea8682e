// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting. Flash works in pages: a request for three bytes across a page
 * boundary reads two pages. Requests may cross erase blocks; each block gets its
 * own share.
 */

#include "account.h"

/* Pages that [offset, offset + bytes) touches. */
static u64 pages_touched(u64 offset, u64 bytes, u32 page_bytes)
{
	if (!bytes)
		return 0;
	return flashmon_divide(offset + bytes - 1, page_bytes) -
	       flashmon_divide(offset, page_bytes) + 1;
}

/* Adds the pages of a request to each erase block it touches. */
static void spread(struct flashmon_totals *t, u64 offset, u64 bytes,
		   bool program)
{
	while (bytes) {
		u32 block = (u32)flashmon_divide(offset, t->block_bytes);
		u64 room = (u64)(block + 1) * t->block_bytes - offset;
		u64 part = bytes < room ? bytes : room;
		u32 pages = (u32)pages_touched(offset, part, t->page_bytes);

		if (block >= t->blocks)
			return;
		if (program)
			t->block[block].programs += pages;
		else
			t->block[block].reads += pages;
		offset += part;
		bytes -= part;
	}
}

void flashmon_count_read(struct flashmon_totals *t,
			 const struct flashmon_request *r)
{
	struct flashmon_counters *c = &t->counters;

	c->read_calls++;
	c->pages_read += pages_touched(r->offset, r->data_bytes, t->page_bytes);
	c->oob_reads += r->oob_pages;
	c->bytes_read += r->data_bytes;
	c->read_ns += r->ns;
	c->read_errors += r->failed;
	spread(t, r->offset, r->data_bytes +
	       (u64)r->oob_pages * t->page_bytes, false);
}

/* Program operations that do not cover their page. */
static u32 partial_pages(u64 offset, u64 bytes, u32 page_bytes)
{
	u64 head = offset - flashmon_divide(offset, page_bytes) * page_bytes;
	u64 end = offset + bytes;
	u64 tail = end - flashmon_divide(end, page_bytes) * page_bytes;

	if (!bytes)
		return 0;
	if (pages_touched(offset, bytes, page_bytes) == 1)
		return bytes < page_bytes;
	return (head != 0) + (tail != 0);
}

void flashmon_count_program(struct flashmon_totals *t,
			    const struct flashmon_request *r)
{
	struct flashmon_counters *c = &t->counters;

	c->write_calls++;
	c->pages_programmed += pages_touched(r->offset, r->data_bytes,
					     t->page_bytes);
	c->subpage_programs += partial_pages(r->offset, r->data_bytes,
					     t->page_bytes);
	c->oob_programs += r->oob_pages;
	c->bytes_programmed += r->data_bytes;
	c->program_ns += r->ns;
	c->program_errors += r->failed;
	spread(t, r->offset, r->data_bytes +
	       (u64)r->oob_pages * t->page_bytes, true);
}

void flashmon_count_erase(struct flashmon_totals *t,
			  const struct flashmon_request *r)
{
	u32 block = (u32)flashmon_divide(r->offset, t->block_bytes);
	u32 blocks = (u32)flashmon_divide(r->data_bytes, t->block_bytes);

	t->counters.erase_calls++;
	t->counters.erase_ns += r->ns;
	t->counters.erase_errors += r->failed;
	for (; blocks && block < t->blocks; blocks--, block++) {
		t->block[block].erases++;
		t->counters.blocks_erased++;
	}
}
