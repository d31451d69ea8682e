// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - what an image of LogFS holds, as this program understands it.
 */
#include <stdlib.h>

#include "../format.h"
#include "view.h"

#define BUCKETS_AT	(1u << 27)

enum page_kind logfs_kind_of(const struct image *image, u32 page)
{
	return image_page_erased(image, page) ? PAGE_ERASED : PAGE_DATA;
}

/*
 * The journal says how far a segment is written, and of what is behind that one unit is
 * looked at: power that fails leaves no programmed page behind one that is not.
 */
bool logfs_misleads(const struct image *image, const struct survey *s)
{
	u32 per_block = image->g.pages_per_block, page;

	for (page = 1; page < image_pages(image); page++)
		if (page % per_block && s->kind[page] != PAGE_ERASED &&
		    s->kind[page - 1] == PAGE_ERASED)
			return true;
	return false;
}

static bool payload_right(const struct view *v, const struct logfs_found *o)
{
	const u8 *header = v->device + o->at;

	return be_get(header + 24, 4) ==
	       logfs_crc_of(header + LOGFS_OBJECT_HEADER_BYTES, o->stored);
}

static u32 check_objects(const struct view *v, FILE *out)
{
	u32 wrong = 0, newest = 0, pointers = 0, inodes = 0, dentries = 0;
	u32 buckets = 0, packed = 0, top = 0, i;

	for (i = 0; i < v->objects; i++) {
		const struct logfs_found *o = &v->object[i];

		if (!payload_right(v, o)) {
			fprintf(out, "%x: CRC of the payload is wrong\n", o->at);
			wrong++;
		}
		if (!o->newest)
			continue;
		newest++;
		inodes += o->type == LOGFS_OBJECT_INODE;
		dentries += o->type == LOGFS_OBJECT_DENTRY;
		buckets += o->type == LOGFS_OBJECT_DENTRY && o->bix >= BUCKETS_AT;
		pointers += o->level && o->level != LOGFS_FILE_LEVELS;
		packed += o->compression != 0;
		if (o->level < LOGFS_FILE_LEVELS && o->level > top)
			top = o->level;
	}
	fprintf(out, "%u objects, %u newest, %u packed\n", v->objects, newest,
		packed);
	fprintf(out, "%u inodes, %u dentries, %u buckets, %u pointers, %u levels\n",
		inodes, dentries, buckets, pointers, top);
	return wrong;
}

static u32 check_commit(const struct view *v, FILE *out)
{
	u32 areas = 0, aliases = 0, seen = 0, i;

	for (i = 0; i < v->entries; i++) {
		const struct entry *e = &v->entry[i];

		seen |= 1u << e->type;
		areas += e->type == LOGFS_JOURNAL_AREA;
		if (e->type == LOGFS_JOURNAL_ALIASES)
			aliases += e->bytes /
				   (u32)sizeof(struct logfs_alias_media);
	}
	fprintf(out, "%u entries, %u areas, %u aliases\n", v->entries, areas,
		aliases);
	if (seen & 1u << LOGFS_JOURNAL_ANCHOR &&
	    seen & 1u << LOGFS_JOURNAL_DYNAMIC)
		return 0;
	fprintf(out, "the journal has no whole commit\n");
	return 1;
}

u32 logfs_check(const struct image *image, FILE *out)
{
	struct image copy = image_new(&image->g);
	u8 super[LOGFS_SUPER_BYTES];
	u32 wrong = 0, page, used = 0;
	struct view *v;

	image_copy(&copy, image);
	for (page = 0; page < image_pages(image); page++)
		used += logfs_kind_of(image, page) != PAGE_ERASED;
	v = view_load(&copy);
	memcpy(super, v->device, sizeof(super));
	super_seal(super);
	if (memcmp(super, v->device, sizeof(super))) {
		fprintf(out, "a CRC of the superblock is wrong\n");
		wrong++;
	}
	fprintf(out, "%u pages\n", used);
	wrong += check_objects(v, out) + check_commit(v, out);
	/* Nothing was changed, so nothing changes. */
	if (!view_store(v) || memcmp(copy.data, image->data,
				     (size_t)image_pages(image) *
				     image->g.page_bytes)) {
		fprintf(out, "storing changes the image\n");
		wrong++;
	}
	view_free(v);
	image_free(&copy);
	return wrong;
}
