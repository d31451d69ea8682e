// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inodes and dentries. An inode is an array of words; between two writes of an inode
 * object the journal says which words are different, so each can be had and set alone.
 */

#include "codec.h"

enum {
	WORD_MODE,
	WORD_OWNER,
	WORD_CTIME,
	WORD_MTIME,
	WORD_ATIME,
	WORD_LINKS,
	WORD_USED,
	WORD_SIZE,
};

u64 logfs_inode_word(const struct logfs_inode *i, u32 word)
{
	switch (word) {
	case WORD_MODE:
		return (u64)i->mode << 48 | (u64)i->height << 40 |
		       (i->flags & LOGFS_FLAGS_MEDIA);
	case WORD_OWNER:
		return (u64)i->uid << 32 | i->gid;
	case WORD_CTIME:
		return i->ctime_ns;
	case WORD_MTIME:
		return i->mtime_ns;
	case WORD_ATIME:
		return i->atime_ns;
	case WORD_LINKS:
		return (u64)i->nlink << 32 | i->generation;
	case WORD_USED:
		return i->used_bytes;
	case WORD_SIZE:
		return i->size;
	default:
		return i->pointer[word - LOGFS_INODE_DATA];
	}
}

static int set_mode(struct logfs_inode *i, u64 value)
{
	const u8 height = (u8)(value >> 40);

	if (height > LOGFS_MAX_LEVEL)
		return -EUCLEAN;
	i->mode = (u16)(value >> 48);
	i->height = height;
	i->flags = (u32)value & LOGFS_FLAGS_MEDIA;
	return 0;
}

int logfs_inode_set_word(struct logfs_inode *i, u32 word, u64 value)
{
	switch (word) {
	case WORD_MODE:
		return set_mode(i, value);
	case WORD_OWNER:
		i->uid = (u32)(value >> 32);
		i->gid = (u32)value;
		break;
	case WORD_CTIME:
		i->ctime_ns = value;
		break;
	case WORD_MTIME:
		i->mtime_ns = value;
		break;
	case WORD_ATIME:
		i->atime_ns = value;
		break;
	case WORD_LINKS:
		i->nlink = (u32)(value >> 32);
		i->generation = (u32)value;
		break;
	case WORD_USED:
		i->used_bytes = value;
		break;
	case WORD_SIZE:
		if (value > LOGFS_MAX_FILE_BYTES)
			return -EUCLEAN;
		i->size = value;
		break;
	default:
		i->pointer[word - LOGFS_INODE_DATA] = value;
	}
	return 0;
}

void logfs_inode_encode(const struct logfs_inode *i,
			struct logfs_inode_media *m)
{
	u32 word;

	for (word = 0; word < LOGFS_INODE_WORDS; word++)
		m->word[word] = cpu_to_be64(logfs_inode_word(i, word));
}

int logfs_inode_decode(const struct logfs_inode_media *m, struct logfs_inode *i)
{
	u32 word;
	int status;

	for (word = 0; word < LOGFS_INODE_WORDS; word++) {
		status = logfs_inode_set_word(i, word,
					      be64_to_cpu(m->word[word]));
		if (status)
			return status;
	}
	return 0;
}

void logfs_dentry_encode(const struct logfs_dentry *d,
			 struct logfs_dentry_media *m)
{
	m->ino = cpu_to_be64(d->ino);
	m->name_bytes = cpu_to_be16(d->name_bytes);
	m->type = d->type;
	memset(m->name, 0, sizeof(m->name));
	memcpy(m->name, d->name, d->name_bytes);
}

static bool is_name(const u8 *name, u32 bytes)
{
	if (!bytes || bytes > LOGFS_NAME_MAX)
		return false;
	if (name[0] == '.' && (bytes == 1 || (bytes == 2 && name[1] == '.')))
		return false;
	return !memchr(name, 0, bytes) && !memchr(name, '/', bytes);
}

/* The seven types that a mode can have are these bits of a set. */
static bool is_type(u8 type)
{
	const u32 types = 1U << 1 | 1U << 2 | 1U << 4 | 1U << 6 | 1U << 8 |
			  1U << 10 | 1U << 12;

	return type <= 12 && types >> type & 1;
}

int logfs_dentry_decode(const struct logfs_dentry_media *m,
			struct logfs_dentry *d)
{
	d->ino = be64_to_cpu(m->ino);
	d->type = m->type;
	d->name_bytes = be16_to_cpu(m->name_bytes);
	d->name = m->name;
	if (d->ino < LOGFS_RESERVED_INOS || d->ino > LOGFS_MAX_INO ||
	    !is_type(d->type) || !is_name(d->name, d->name_bytes))
		return -EUCLEAN;
	return 0;
}
