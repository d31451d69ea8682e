// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of the checkpoint: the state in memory, written at unmount so that the
 * next mount need not scan. The checkpoint is a stream of such records; see
 * media.h for their order. It is only a shortcut: on any doubt it is thrown away
 * and the device scanned, so every check here may be strict.
 *
 * The stream is protected by a sum and an XOR of its bytes, which run from its
 * first byte to its last and stand in the header of each page. They go over some
 * tens of pages at each mount and unmount and are therefore taken of 64 bytes at a
 * time, with the bytes of a word added side by side.
 *
 * Limits: in the records of blocks and objects the original used the bit fields of
 * its compiler, and in the leaves the size of a pointer: what is read and written
 * here are the checkpoints of little-endian 64-bit machines.
 */

#include "codec.h"

/* Where the fields of a block's word begin. */
#define BLOCK_METADATA		0
#define BLOCK_IN_USE		10
#define BLOCK_STATE		20
#define BLOCK_NEEDS_RETIRING	24
#define BLOCK_SKIP_ERASED_CHECK	25
#define BLOCK_PRIORITISED	26
#define BLOCK_STRIKES		27
#define BLOCK_HAS_SUMMARY	30
#define BLOCK_HAS_SHRINK	31
#define BLOCK_PAGES_MASK	0x3ff
#define BLOCK_STATE_MASK	0xf
#define BLOCK_STRIKES_MASK	0x7

/* Where the fields of an object's flags begin. */
#define OBJECT_DELETED		3
#define OBJECT_SOFT_DELETED	4
#define OBJECT_UNLINKED		5
#define OBJECT_FAKE		6
#define OBJECT_RENAME_ALLOWED	7
#define OBJECT_UNLINK_ALLOWED	8
#define OBJECT_SERIAL		9
#define OBJECT_TYPE_MASK	0x7

/* ---- where it may begin ---- */

/*
 * The binary digits of block - 1 count from the left: the first block, that at a half,
 * those at the quarters, and so on. So of w blocks in a row one comes up within 2 n / w
 * steps. Empty blocks often lie in a row: those that are used in turn do.
 */
u32 yaffs_ckpt_place_after(u32 block, u32 blocks)
{
	u32 index = block - 1, top = 1, digit;

	if (!block)
		return 1;
	while (top < blocks)
		top <<= 1;
	do {
		for (digit = top >> 1; index & digit; digit >>= 1)
			index -= digit;
		if (!digit)
			return 0;
		index += digit;
	} while (index >= blocks);
	return index + 1;
}

/* ---- checksums ---- */

#define SUM_STEP_BYTES		64
#define EVEN_BYTES		0x00ff00ff00ff00ffull

/* Adds eight bytes to four sums of 16 bits. */
static inline void sum_word(const u8 *bytes, u64 *sums, u64 *xor)
{
	u64 word;

	/* A load, aligned or not; kernels built without builtins call memcpy(). */
	__builtin_memcpy(&word, bytes, sizeof(word));
	*sums += (word & EVEN_BYTES) + (word >> 8 & EVEN_BYTES);
	*xor ^= word;
}

/* Unrolled by hand; no sum exceeds 8 * 2 * 255, so none overflows. */
static inline void sum_step(struct yaffs_ckpt_sum *sum, const u8 *bytes)
{
	u64 sums = 0;
	u64 xor = 0;

	sum_word(bytes, &sums, &xor);
	sum_word(bytes + 8, &sums, &xor);
	sum_word(bytes + 16, &sums, &xor);
	sum_word(bytes + 24, &sums, &xor);
	sum_word(bytes + 32, &sums, &xor);
	sum_word(bytes + 40, &sums, &xor);
	sum_word(bytes + 48, &sums, &xor);
	sum_word(bytes + 56, &sums, &xor);
	sums += sums >> 32;
	sum->sum += ((u32)sums & 0xffff) + ((u32)sums >> 16);
	xor ^= xor >> 32;
	xor ^= xor >> 16;
	xor ^= xor >> 8;
	sum->xor ^= (u32)xor & 0xff;
}

void yaffs_ckpt_sum_add(struct yaffs_ckpt_sum *sum, const void *bytes, u32 n)
{
	const u8 *next = bytes;
	u8 rest[SUM_STEP_BYTES];

	for (; n >= SUM_STEP_BYTES; n -= SUM_STEP_BYTES) {
		sum_step(sum, next);
		next += SUM_STEP_BYTES;
	}
	if (!n)
		return;
	/* Zeros change neither sum nor XOR. */
	memcpy(rest, next, n);
	memset(rest + n, 0, SUM_STEP_BYTES - n);
	sum_step(sum, rest);
}

u32 yaffs_ckpt_sum_word(const struct yaffs_ckpt_sum *sum)
{
	return sum->sum << 8 | (sum->xor & 0xff);
}

/* ---- leaves ---- */

/* One more than a leaf has: an entry is handled within two words. */
#define LEAF_WORDS	(YAFFS_CKPT_LEAF_BYTES / 4 + 1)

u32 yaffs_ckpt_leaf_bits(u32 blocks, u32 pages_per_block)
{
	/* Blocks are numbered from 1, so this is the largest chunk number. */
	u64 last = ((u64)blocks + 1) * pages_per_block - 1;
	u32 bits = 16;

	while (bits < 32 && last >> bits)
		bits += 2;
	return bits;
}

static inline void leaf_put(__le32 *words, u32 bits, u32 at, u32 entry)
{
	u32 first = at * bits;
	u64 pair = (u64)(entry & (u32)((1ull << bits) - 1)) << (first % 32);

	words[first / 32] |= cpu_to_le32((u32)pair);
	words[first / 32 + 1] |= cpu_to_le32((u32)(pair >> 32));
}

void yaffs_ckpt_leaf_pack(const u32 entry[YAFFS_LEAF_ENTRIES], u32 bits,
			  u8 leaf[YAFFS_CKPT_LEAF_BYTES])
{
	__le32 words[LEAF_WORDS] = { 0 };
	u32 i;

	for (i = 0; i < YAFFS_LEAF_ENTRIES; i += 4) {
		leaf_put(words, bits, i, entry[i]);
		leaf_put(words, bits, i + 1, entry[i + 1]);
		leaf_put(words, bits, i + 2, entry[i + 2]);
		leaf_put(words, bits, i + 3, entry[i + 3]);
	}
	memcpy(leaf, words, YAFFS_CKPT_LEAF_BYTES);
}

static inline u32 leaf_get(const __le32 *words, u32 bits, u32 at)
{
	u32 first = at * bits;
	u64 pair = (u64)le32_to_cpu(words[first / 32 + 1]) << 32 |
		   le32_to_cpu(words[first / 32]);

	return (u32)(pair >> (first % 32) & ((1ull << bits) - 1));
}

void yaffs_ckpt_leaf_unpack(const u8 leaf[YAFFS_CKPT_LEAF_BYTES], u32 bits,
			    u32 entry[YAFFS_LEAF_ENTRIES])
{
	__le32 words[LEAF_WORDS];
	u32 i;

	memcpy(words, leaf, YAFFS_CKPT_LEAF_BYTES);
	words[LEAF_WORDS - 1] = 0;
	for (i = 0; i < YAFFS_LEAF_ENTRIES; i += 4) {
		entry[i] = leaf_get(words, bits, i);
		entry[i + 1] = leaf_get(words, bits, i + 1);
		entry[i + 2] = leaf_get(words, bits, i + 2);
		entry[i + 3] = leaf_get(words, bits, i + 3);
	}
}

/* ---- blocks ---- */

void yaffs_ckpt_block_pack(const struct yaffs_block *b,
			   struct yaffs_ckpt_block_media *m)
{
	u32 word = (u32)(b->pages_in_use & BLOCK_PAGES_MASK) << BLOCK_IN_USE;

	word |= (u32)(b->state & BLOCK_STATE_MASK) << BLOCK_STATE;
	word |= (u32)b->needs_retiring << BLOCK_NEEDS_RETIRING;
	word |= (u32)b->skip_erased_check << BLOCK_SKIP_ERASED_CHECK;
	word |= (u32)b->prioritised << BLOCK_PRIORITISED;
	word |= (u32)(b->strikes & BLOCK_STRIKES_MASK) << BLOCK_STRIKES;
	word |= (u32)b->has_summary << BLOCK_HAS_SUMMARY;
	word |= (u32)b->has_shrink << BLOCK_HAS_SHRINK;
	word |= (u32)b->metadata << BLOCK_METADATA;
	m->word = cpu_to_le32(word);
	m->seq = cpu_to_le32(b->seq);
}

int yaffs_ckpt_block_unpack(const struct yaffs_ckpt_block_media *m,
			    u32 pages_per_block, struct yaffs_block *b)
{
	u32 word = le32_to_cpu(m->word);

	*b = (struct yaffs_block) {
		.seq = le32_to_cpu(m->seq),
		.pages_in_use = word >> BLOCK_IN_USE & BLOCK_PAGES_MASK,
		.state = word >> BLOCK_STATE & BLOCK_STATE_MASK,
		.strikes = word >> BLOCK_STRIKES & BLOCK_STRIKES_MASK,
		.needs_retiring = word >> BLOCK_NEEDS_RETIRING & 1,
		.skip_erased_check = word >> BLOCK_SKIP_ERASED_CHECK & 1,
		.prioritised = word >> BLOCK_PRIORITISED & 1,
		.has_summary = word >> BLOCK_HAS_SUMMARY & 1,
		.has_shrink = word >> BLOCK_HAS_SHRINK & 1,
		.metadata = word >> BLOCK_METADATA & 1,
	};
	/* Soft-deleted pages, which only the original knows, are not kept. */
	if (b->state >= YAFFS_BLOCK_STATES ||
	    b->pages_in_use > pages_per_block ||
	    (word & BLOCK_PAGES_MASK) > pages_per_block)
		return -EUCLEAN;
	return 0;
}

/* ---- objects ---- */

void yaffs_ckpt_object_pack(const struct yaffs_ckpt_object *o,
			    struct yaffs_ckpt_object_media *m)
{
	u32 flags = o->type & OBJECT_TYPE_MASK;

	flags |= (u32)o->deleted << OBJECT_DELETED;
	flags |= (u32)o->soft_deleted << OBJECT_SOFT_DELETED;
	flags |= (u32)o->unlinked << OBJECT_UNLINKED;
	flags |= (u32)o->fake << OBJECT_FAKE;
	flags |= (u32)o->rename_allowed << OBJECT_RENAME_ALLOWED;
	flags |= (u32)o->unlink_allowed << OBJECT_UNLINK_ALLOWED;
	flags |= (u32)o->serial << OBJECT_SERIAL;
	m->bytes = cpu_to_le32((u32)sizeof(*m));
	m->id = cpu_to_le32(o->id);
	m->parent_id = cpu_to_le32(o->parent_id);
	m->hdr_chunk = cpu_to_le32(o->hdr_chunk);
	m->flags = cpu_to_le32(flags);
	m->data_chunks = cpu_to_le32(o->data_chunks);
	m->size_low = cpu_to_le32((u32)o->size);
	m->size_high = cpu_to_le32((u32)(o->size >> 32));
}

void yaffs_ckpt_object_end(struct yaffs_ckpt_object_media *m)
{
	memset(m, 0xff, sizeof(*m));
	m->bytes = cpu_to_le32((u32)sizeof(*m));
}

/* The id is asked first: no object has that of the end. */
static bool is_end(const struct yaffs_ckpt_object_media *m)
{
	struct yaffs_ckpt_object_media end;

	if (le32_to_cpu(m->id) != 0xffffffff)
		return false;
	yaffs_ckpt_object_end(&end);
	return !memcmp(m, &end, sizeof(end));
}

int yaffs_ckpt_object_unpack(const struct yaffs_ckpt_object_media *m,
			     struct yaffs_ckpt_object *o)
{
	u32 flags = le32_to_cpu(m->flags);

	*o = (struct yaffs_ckpt_object) {
		.id = le32_to_cpu(m->id),
		.parent_id = le32_to_cpu(m->parent_id),
		.hdr_chunk = le32_to_cpu(m->hdr_chunk),
		.data_chunks = le32_to_cpu(m->data_chunks),
		.size = (u64)le32_to_cpu(m->size_high) << 32 |
			le32_to_cpu(m->size_low),
		.type = flags & OBJECT_TYPE_MASK,
		.serial = (u8)(flags >> OBJECT_SERIAL),
		.deleted = flags >> OBJECT_DELETED & 1,
		.soft_deleted = flags >> OBJECT_SOFT_DELETED & 1,
		.unlinked = flags >> OBJECT_UNLINKED & 1,
		.fake = flags >> OBJECT_FAKE & 1,
		.rename_allowed = flags >> OBJECT_RENAME_ALLOWED & 1,
		.unlink_allowed = flags >> OBJECT_UNLINK_ALLOWED & 1,
	};
	if (is_end(m))
		return 0;
	if (le32_to_cpu(m->bytes) != sizeof(*m) ||
	    o->type == YAFFS_TYPE_UNKNOWN || o->type >= YAFFS_TYPES ||
	    o->id - 1 >= YAFFS_MAX_OBJECT_ID ||
	    o->parent_id > YAFFS_MAX_OBJECT_ID)
		return -EUCLEAN;
	return 1;
}
