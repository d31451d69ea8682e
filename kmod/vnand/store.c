// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a chip's contents live.
 *
 * In the lab they are a host file, a region (region.h): the file survives the
 * guest, can be copied as a snapshot, is sparse, and takes none of the guest's
 * memory, so that a guest can have a board's small RAM. Where there is none they
 * are memory of the kernel, allocated by erase block when it is first programmed
 * and freed when it is erased.
 *
 * Block and page states are kept in the same image, in its on-disk form, at all
 * times: there is nothing to flush, however the guest ends.
 */

#include <linux/crc32.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../region.h"
#include "vnand.h"

static u64 align_image(u64 offset)
{
	return ALIGN(offset, VNAND_IMAGE_ALIGN);
}

static u32 raw_page_bytes(const struct vnand_params *p)
{
	return p->page_bytes + p->oob_bytes;
}

static void make_header(const struct vnand_params *p,
			struct vnand_image_header *h)
{
	u64 pages = (u64)p->blocks * p->pages_per_block;
	u64 blocks_at = align_image(sizeof(*h));
	u64 pages_at = align_image(blocks_at + (u64)p->blocks *
				   sizeof(struct vnand_image_block));
	u64 data_at = align_image(pages_at + pages *
				  sizeof(struct vnand_page_state));

	*h = (struct vnand_image_header){
		.version = cpu_to_le32(VNAND_IMAGE_VERSION),
		.page_bytes = cpu_to_le32(p->page_bytes),
		.oob_bytes = cpu_to_le32(p->oob_bytes),
		.subpages = cpu_to_le32(p->subpages),
		.pages_per_block = cpu_to_le32(p->pages_per_block),
		.blocks = cpu_to_le32(p->blocks),
		.blocks_offset = cpu_to_le64(blocks_at),
		.pages_offset = cpu_to_le64(pages_at),
		.data_offset = cpu_to_le64(data_at),
		.image_bytes = cpu_to_le64(align_image(data_at + pages *
						       raw_page_bytes(p))),
	};
	memcpy(h->magic, VNAND_IMAGE_MAGIC, sizeof(h->magic));
	h->crc = cpu_to_le32(crc32_le(~0, (u8 *)h,
				      offsetof(struct vnand_image_header, crc)));
}

/*
 * Callers know nothing of what is in it. So they are the code that they are with this in another
 * file, and the module has the same size: what loading it takes goes by that, and would move each
 * figure of a study by millionths.
 */
__attribute__((__noipa__)) bool vnand_chip_is_bad(struct vnand_chip *chip, u32 block)
{
	return le32_to_cpu(chip->store.block[block].flags) & VNAND_BLOCK_BAD;
}

static void mark_factory_bad(struct vnand_chip *chip, u32 block)
{
	struct vnand_image_block *b = &chip->store.block[block];

	b->flags = cpu_to_le32(le32_to_cpu(b->flags) | VNAND_BLOCK_BAD);
}

static void mark_factory_bads(struct vnand_chip *chip)
{
	const struct vnand_params *p = &chip->p;
	u32 i, left = p->factory_bad_random;

	for (i = 0; i < p->factory_bads; i++)
		mark_factory_bad(chip, p->factory_bad[i]);
	/* Block 0 is guaranteed good on every chip. */
	for (i = 0; left && p->blocks > 1; i++) {
		u64 hash = vnand_hash(p->seed, VNAND_DRAW_FACTORY_BAD, i, 0, 0);
		u32 block = 1 + (u32)(((hash >> 32) * (p->blocks - 1)) >> 32);

		if (vnand_chip_is_bad(chip, block))
			continue;
		mark_factory_bad(chip, block);
		left--;
	}
}

/* The power has been off: what is programmed has become older. */
static void pass_shelf_time(struct vnand_chip *chip)
{
	u32 i;

	for (i = 0; chip->p.shelf_hours && i < chip->p.blocks; i++) {
		struct vnand_image_block *b = &chip->store.block[i];
		u32 before = le32_to_cpu(b->shelf_hours);

		if (b->next_page)
			b->shelf_hours = cpu_to_le32(min(~chip->p.shelf_hours, before) +
						     chip->p.shelf_hours);
	}
}

static int check_image(struct vnand_chip *chip, u8 *base, u64 bytes)
{
	const char *name = chip->p.name, *region = chip->p.store;
	struct vnand_image_header want, *have = (void *)base;

	make_header(&chip->p, &want);
	if (bytes < le64_to_cpu(want.image_bytes)) {
		pr_err(VNAND_MODULE ": %s: region '%s' has %llu bytes, the chip needs %llu\n",
		       name, region, bytes, le64_to_cpu(want.image_bytes));
		return -ENOSPC;
	}
	if (!memchr_inv(have, 0, sizeof(*have)))
		return 1;
	if (memcmp(have->magic, want.magic, sizeof(want.magic)) ||
	    le32_to_cpu(have->crc) !=
	    crc32_le(~0, base, offsetof(struct vnand_image_header, crc))) {
		pr_err(VNAND_MODULE ": %s: the header of the image in '%s' is damaged\n",
		       name, region);
		return -EBADMSG;
	}
	if (memcmp(have, &want, sizeof(want))) {
		pr_err(VNAND_MODULE ": %s: the image in '%s' is of another chip geometry or version\n",
		       name, region);
		return -EINVAL;
	}
	return 0;
}

static int open_iomem(struct vnand_chip *chip)
{
	struct vnand_image_header *h;
	u64 bytes = 0;
	u8 *base = region_open(chip->p.store, &bytes);
	int state;

	if (!base) {
		pr_err(VNAND_MODULE ": %s: there is no iomem region '%s'; start the guest with iomem=%s,FILE\n",
		       chip->p.name, chip->p.store, chip->p.store);
		return -ENODEV;
	}
	state = check_image(chip, base, bytes);
	if (state < 0) {
		region_close(base);
		return state;
	}
	chip->store.region = base;
	h = (struct vnand_image_header *)base;
	if (state == 1)
		make_header(&chip->p, h);
	chip->store.block = (void *)(base + le64_to_cpu(h->blocks_offset));
	chip->store.page = (void *)(base + le64_to_cpu(h->pages_offset));
	chip->store.data = base + le64_to_cpu(h->data_offset);
	if (state == 1)
		mark_factory_bads(chip);
	else
		pass_shelf_time(chip);
	return 0;
}

static int open_ram(struct vnand_chip *chip)
{
	const struct vnand_params *p = &chip->p;
	struct vnand_store *s = &chip->store;

	s->block = vzalloc(array_size(p->blocks, sizeof(*s->block)));
	s->page = vzalloc(array3_size(p->blocks, p->pages_per_block,
				      sizeof(*s->page)));
	s->block_data = vzalloc(array_size(p->blocks, sizeof(*s->block_data)));
	if (!s->block || !s->page || !s->block_data) {
		vnand_store_close(chip);
		return -ENOMEM;
	}
	mark_factory_bads(chip);
	return 0;
}

static bool in_ram(const struct vnand_chip *chip)
{
	return !strcmp(chip->p.store, "ram");
}

int vnand_store_open(struct vnand_chip *chip)
{
	return in_ram(chip) ? open_ram(chip) : open_iomem(chip);
}

void vnand_store_close(struct vnand_chip *chip)
{
	struct vnand_store *s = &chip->store;
	u32 i;

	if (!in_ram(chip)) {
		region_close(s->region);
		return;
	}
	for (i = 0; s->block_data && i < chip->p.blocks; i++)
		kvfree(s->block_data[i]);
	vfree(s->block_data);
	vfree(s->page);
	vfree(s->block);
}

u8 *vnand_store_page(struct vnand_chip *chip, u32 page)
{
	u32 block = vnand_block_of(chip, page);
	u8 *data = chip->store.data;

	if (data)
		return data + (u64)page * raw_page_bytes(&chip->p);
	data = chip->store.block_data[block];
	if (!data)
		return NULL;
	return data + (u64)(page % chip->p.pages_per_block) *
	       raw_page_bytes(&chip->p);
}

u8 *vnand_store_page_to_write(struct vnand_chip *chip, u32 page)
{
	u32 block = vnand_block_of(chip, page);

	if (chip->store.block_data && !chip->store.block_data[block])
		chip->store.block_data[block] =
			kvmalloc_array(chip->p.pages_per_block,
				       raw_page_bytes(&chip->p), GFP_NOFS);
	return vnand_store_page(chip, page);
}

void vnand_store_erase(struct vnand_chip *chip, u32 block)
{
	struct vnand_page_state *page =
		&chip->store.page[(u64)block * chip->p.pages_per_block];
	u32 used = le32_to_cpu(chip->store.block[block].next_page);

	/* Pages behind next_page have not been programmed. */
	if (used)
		vnand_fill(page, 0, used * sizeof(*page));
	if (!chip->store.block_data || vnand_crash_keeps(chip))
		return;
	kvfree(chip->store.block_data[block]);
	chip->store.block_data[block] = NULL;
}
