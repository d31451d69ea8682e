// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries of a log: see crash.h.
 *
 * Behind an entry lie the states of its pages before, then after; their weak
 * places likewise; and, with contents, the raw pages before, then after. Memory
 * comes from areas of 1 MiB, one after the other, and goes with the log.
 */

#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "crash.h"

#define CHUNK_BYTES ((size_t)1 << 20)

static size_t states_bytes(const struct crash_entry *e)
{
	return ALIGN(2 * e->pages * sizeof(struct vnand_page_state), 8);
}

struct vnand_page_state *crash_entry_state(const struct crash_entry *e, u32 i,
					   enum crash_when when)
{
	return (struct vnand_page_state *)e->rest + when * e->pages + i;
}

static struct vnand_place **place_of(const struct crash_entry *e, u32 i,
				     enum crash_when when)
{
	return (struct vnand_place **)(e->rest + states_bytes(e)) +
	       when * e->pages + i;
}

u8 *crash_entry_page(const struct vnand_chip *chip,
		     const struct crash_entry *e, u32 i, enum crash_when when)
{
	u8 *raw = (u8 *)e->rest + states_bytes(e) +
		  2 * e->pages * sizeof(struct vnand_place *);

	return raw + (size_t)(when * e->pages + i) * crash_raw_bytes(chip);
}

void crash_entry_take(struct vnand_chip *chip, struct crash_entry *e,
		      enum crash_when when)
{
	u32 i;

	e->state[when] = chip->store.block[e->block];
	for (i = 0; i < e->pages; i++) {
		*crash_entry_state(e, i, when) = chip->store.page[e->first + i];
		*place_of(e, i, when) = chip->crash->place[e->first + i];
		if (e->with_contents)
			vnand_copy(crash_entry_page(chip, e, i, when),
				   vnand_store_page(chip, e->first + i),
				   crash_raw_bytes(chip));
	}
}

void crash_entry_give(struct vnand_chip *chip, const struct crash_entry *e,
		      enum crash_when when)
{
	u32 i;

	chip->store.block[e->block] = e->state[when];
	for (i = 0; i < e->pages; i++) {
		chip->store.page[e->first + i] = *crash_entry_state(e, i, when);
		chip->crash->place[e->first + i] = *place_of(e, i, when);
		if (e->with_contents)
			vnand_copy(vnand_store_page(chip, e->first + i),
				   crash_entry_page(chip, e, i, when),
				   crash_raw_bytes(chip));
	}
}

/* A larger table of pointers, or NULL; the old one is freed if there is one. */
static void *grown(void *old, u32 n, u32 room)
{
	void *table = kvmalloc_array(room, sizeof(void *), GFP_KERNEL);

	if (!table)
		return NULL;
	if (n)
		memcpy(table, old, n * sizeof(void *));
	kvfree(old);
	return table;
}

static bool add_chunk(struct vnand_chip *chip, struct crash_log *log,
		      size_t bytes)
{
	struct vnand_crash *crash = chip->crash;

	bytes = max(bytes, CHUNK_BYTES);
	if (crash->taken_bytes + bytes > crash->limit_bytes)
		return false;
	if (log->chunks == log->chunk_room) {
		u32 room = log->chunk_room ? 2 * log->chunk_room : 16;
		void *table = grown(log->chunk, log->chunks, room);

		if (!table)
			return false;
		log->chunk = table;
		log->chunk_room = room;
	}
	log->chunk[log->chunks] = vmalloc(bytes);
	if (!log->chunk[log->chunks])
		return false;
	log->chunks++;
	crash->taken_bytes += bytes;
	return true;
}

void *crash_log_alloc(struct vnand_chip *chip, struct crash_log *log,
		      size_t bytes)
{
	unsigned int flags = memalloc_nofs_save();
	void *memory = NULL;

	bytes = ALIGN(bytes, 8);
	/* What is larger than an area has one of its own size, at once full. */
	if (!log->chunks || log->used + bytes > CHUNK_BYTES) {
		u32 next = log->chunks ? log->current_chunk + 1 : 0;

		if ((bytes <= CHUNK_BYTES && next < log->chunks) ||
		    add_chunk(chip, log, bytes)) {
			if (bytes > CHUNK_BYTES)
				next = log->chunks - 1;
			log->current_chunk = next;
			log->used = 0;
		} else {
			log->full = true;
			goto out;
		}
	}
	memory = log->chunk[log->current_chunk] + log->used;
	log->used += bytes;
out:
	memalloc_nofs_restore(flags);
	return memory;
}

static bool has_room(struct crash_log *log)
{
	unsigned int flags;
	u32 room = log->room ? 2 * log->room : 1024;
	void *table;

	if (log->n < log->room)
		return true;
	flags = memalloc_nofs_save();
	table = grown(log->entry, log->n, room);
	memalloc_nofs_restore(flags);
	if (!table)
		return false;
	log->entry = table;
	log->room = room;
	return true;
}

struct crash_entry *crash_log_add(struct vnand_chip *chip,
				  struct crash_log *log,
				  enum vnand_change_kind kind, u32 first,
				  u32 pages, bool with_contents)
{
	struct crash_entry head = {
		.kind = kind,
		.block = vnand_block_of(chip, first),
		.first = first,
		.pages = pages,
		.with_contents = with_contents,
	};
	struct crash_entry *e;
	size_t bytes = sizeof(*e) + states_bytes(&head) +
		       2 * pages * sizeof(struct vnand_place *);

	if (with_contents) {
		bytes += (size_t)2 * pages * crash_raw_bytes(chip);
		/* A chip in memory has none for a block that is erased. */
		if (!vnand_store_page_to_write(chip, first))
			log->full = true;
	}
	if (log->full || !has_room(log)) {
		log->full = true;
		return NULL;
	}
	e = crash_log_alloc(chip, log, bytes);
	if (!e)
		return NULL;
	*e = head;
	crash_entry_take(chip, e, CRASH_BEFORE);
	/* Of a cut nobody takes what was after it. */
	memset(place_of(e, 0, CRASH_AFTER), 0,
	       pages * sizeof(struct vnand_place *));
	log->entry[log->n++] = e;
	return e;
}

struct vnand_place *crash_log_place(struct vnand_chip *chip,
				    struct crash_log *log)
{
	struct vnand_place *place = crash_log_alloc(chip, log, sizeof(*place));

	if (!place)
		return NULL;
	memset(place, 0, sizeof(*place));
	place->home = log->id;
	place->good = crash_log_alloc(chip, log, crash_raw_bytes(chip));
	return place->good ? place : NULL;
}

void crash_log_places(struct vnand_chip *chip, struct crash_log *log,
		      void (*move)(struct vnand_chip *, struct vnand_place **))
{
	u32 n, i;

	for (n = 0; n < log->n; n++)
		for (i = 0; i < log->entry[n]->pages; i++) {
			move(chip, place_of(log->entry[n], i, CRASH_BEFORE));
			move(chip, place_of(log->entry[n], i, CRASH_AFTER));
		}
}

void crash_log_reset(struct crash_log *log)
{
	log->n = 0;
	log->current_chunk = 0;
	log->used = 0;
	log->full = false;
}

void crash_log_free(struct vnand_chip *chip, struct crash_log *log)
{
	u32 i;

	for (i = 0; i < log->chunks; i++)
		vfree(log->chunk[i]);
	kvfree(log->chunk);
	kvfree(log->entry);
	memset(log, 0, sizeof(*log));
}
