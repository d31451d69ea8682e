// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often blocks were erased. The format has no place for that, but what a summary leaves of
 * its page: the counts of some blocks each time, with the numbers of the blocks. Of several
 * counts of a block the one in the newest summary counts.
 *
 * Limits: it lies behind what the tags say is written of the page, so an image that was copied
 * by what its tags say loses it. Then all blocks are new.
 */

#include "codec.h"

#define HEAD_BYTES	((u32)sizeof(struct yaffs_wear_media))
#define COUNT_BYTES	((u32)sizeof(struct yaffs_count_media))

u32 yaffs_wear_counts(u32 room)
{
	return room > HEAD_BYTES ? (room - HEAD_BYTES) / COUNT_BYTES : 0;
}

void yaffs_wear_put(u8 *bytes, u32 index, u32 block, u32 erases)
{
	struct yaffs_count_media *m = (void *)(bytes + HEAD_BYTES);

	m[index].block = cpu_to_le32(block);
	m[index].erases = cpu_to_le32(erases);
}

static u32 crc_of(const u8 *bytes, u32 n)
{
	const u32 at = offsetof(struct yaffs_wear_media, n_counts);

	return yaffs_crc32(0, bytes + at, HEAD_BYTES - at + n * COUNT_BYTES);
}

void yaffs_wear_pack(u8 *bytes, u32 n)
{
	struct yaffs_wear_media *m = (void *)bytes;

	m->magic = cpu_to_le32(YAFFS_WEAR_MAGIC);
	m->n_counts = cpu_to_le32(n);
	m->crc = cpu_to_le32(crc_of(bytes, n));
}

u32 yaffs_wear_unpack(const u8 *bytes, u32 room)
{
	const struct yaffs_wear_media *m = (const void *)bytes;
	u32 n;

	if (!yaffs_wear_counts(room) || le32_to_cpu(m->magic) != YAFFS_WEAR_MAGIC)
		return 0;
	n = le32_to_cpu(m->n_counts);
	return n <= yaffs_wear_counts(room) &&
	       le32_to_cpu(m->crc) == crc_of(bytes, n) ? n : 0;
}

void yaffs_wear_get(const u8 *bytes, u32 index, u32 *block, u32 *erases)
{
	const struct yaffs_count_media *m = (const void *)(bytes + HEAD_BYTES);

	*block = le32_to_cpu(m[index].block);
	*erases = le32_to_cpu(m[index].erases);
}
