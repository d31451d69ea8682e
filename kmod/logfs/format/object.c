// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects: a header, and a block of a file, an inode or a dentry behind it. The header
 * has the CRC of itself and, apart, that of the payload: garbage collection goes from
 * header to header without reading what is between them.
 *
 * Only blocks are compressed, and only if that makes them smaller; so the bytes of any
 * other payload follow from its type.
 */

#include "codec.h"

#define CRC_FROM	offsetof(struct logfs_object_header_media, stored_bytes)
#define CRC_TO		offsetof(struct logfs_object_header_media, data_crc)

static u32 header_crc(const struct logfs_object_header_media *m)
{
	return logfs_crc((const u8 *)m + CRC_FROM, CRC_TO - CRC_FROM);
}

u32 logfs_object_payload_bytes(u32 type)
{
	switch (type) {
	case LOGFS_OBJECT_BLOCK:
		return LOGFS_BLOCK_BYTES;
	case LOGFS_OBJECT_INODE:
		return LOGFS_INODE_BYTES;
	case LOGFS_OBJECT_DENTRY:
		return sizeof(struct logfs_dentry_media);
	default:
		return 0;
	}
}

void logfs_object_encode(const struct logfs_object *o, const void *payload,
			 struct logfs_object_header_media *m)
{
	m->stored_bytes = cpu_to_be16(o->stored_bytes);
	m->type = o->type;
	m->compression = o->compression;
	m->ino = cpu_to_be64(o->ino);
	m->bix = cpu_to_be64(o->bix);
	m->data_crc = cpu_to_be32(logfs_crc(payload, o->stored_bytes));
	m->crc = cpu_to_be32(header_crc(m));
}

static bool is_consistent(const struct logfs_object *o)
{
	const u32 bytes = logfs_object_payload_bytes(o->type);

	if (!logfs_block_possible(o->ino, 0, o->bix))
		return false;
	if (o->type == LOGFS_OBJECT_INODE && o->ino != LOGFS_INO_INODES)
		return false;
	if (o->compression == LOGFS_COMPRESSION_NONE)
		return bytes && o->stored_bytes == bytes;
	return o->compression == LOGFS_COMPRESSION_ZLIB &&
	       o->type == LOGFS_OBJECT_BLOCK && o->stored_bytes &&
	       o->stored_bytes < bytes;
}

int logfs_object_decode(const struct logfs_object_header_media *m,
			struct logfs_object *o)
{
	if (be32_to_cpu(m->crc) != header_crc(m))
		return logfs_is_erased(m, sizeof(*m)) ? -ENODATA : -EUCLEAN;
	o->type = m->type;
	o->compression = m->compression;
	o->stored_bytes = be16_to_cpu(m->stored_bytes);
	o->data_crc = be32_to_cpu(m->data_crc);
	o->ino = be64_to_cpu(m->ino);
	o->bix = be64_to_cpu(m->bix);
	return is_consistent(o) ? 0 : -EUCLEAN;
}

bool logfs_object_intact(const struct logfs_object *o, const void *payload)
{
	return o->data_crc == logfs_crc(payload, o->stored_bytes);
}
