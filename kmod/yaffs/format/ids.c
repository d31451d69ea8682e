// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which objects there were when a metadata block was full, in what its summary leaves of the
 * page: a bit for each id, of all ids or of a part of them. What an older page says of an
 * object that was gone by then is void. So the mark of a deleted object need not outlive all
 * older pages of it, but only the time to the next such summary.
 *
 * Limits: as many parts are needed as the highest id asks for, and there are 32 at most. Ids
 * are given out the lowest first, so that one part is enough for some thousand objects.
 */

#include "codec.h"

#define HEAD_BYTES	((u32)sizeof(struct yaffs_ids_media))

u32 yaffs_ids_per_part(u32 room)
{
	return room > HEAD_BYTES ? (room - HEAD_BYTES) / 4 * 32 : 0;
}

static u32 crc_of(const u8 *bytes, u32 n_ids)
{
	const u32 at = offsetof(struct yaffs_ids_media, first_id);

	return yaffs_crc32(0, bytes + at, HEAD_BYTES - at + n_ids / 8);
}

void yaffs_ids_pack(u32 first_id, u32 n_ids, u64 position, u8 *bytes)
{
	struct yaffs_ids_media *m = (void *)bytes;

	m->magic = cpu_to_le32(YAFFS_IDS_MAGIC);
	m->first_id = cpu_to_le32(first_id);
	m->n_ids = cpu_to_le32(n_ids);
	m->position = cpu_to_le64(position);
	m->crc = cpu_to_le32(crc_of(bytes, n_ids));
}

bool yaffs_ids_unpack(const u8 *bytes, u32 n_ids, u32 *part, u64 *position,
		      const u8 **bits)
{
	const struct yaffs_ids_media *m = (const void *)bytes;
	u32 first_id = le32_to_cpu(m->first_id);

	if (!n_ids || le32_to_cpu(m->magic) != YAFFS_IDS_MAGIC ||
	    le32_to_cpu(m->n_ids) != n_ids || first_id % n_ids ||
	    first_id / n_ids >= YAFFS_IDS_PARTS ||
	    le32_to_cpu(m->crc) != crc_of(bytes, n_ids))
		return false;
	*part = first_id / n_ids;
	*position = le64_to_cpu(m->position);
	*bits = bytes + HEAD_BYTES;
	return true;
}

bool yaffs_ids_has(const u8 *bits, u32 index)
{
	return bits[index / 8] >> (index % 8) & 1;
}

void yaffs_ids_set(u8 *bits, u32 index)
{
	bits[index / 8] |= (u8)(1u << (index % 8));
}
