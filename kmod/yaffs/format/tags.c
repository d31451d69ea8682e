// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tags: what a page is for. They are programmed together with the page, so that a
 * file system without any index on flash can be put together again from them: the
 * block's sequence number says which of two pages is the newer, object id and
 * chunk id what the page holds.
 *
 * The tags of an object header are a special case. Its chunk id is 0 and its byte
 * count says nothing, so both words, and the spare bits of the object id, hold what
 * a scan most needs of the header: type, parent, and a file's size or a hard link's
 * target. This is the extended form; with it a scan reads no header at all. A file
 * of 2 GiB or more has a size that does not fit: its headers have the plain form
 * and must be read.
 *
 * The controller's ECC covers the data of a page and not always the free bytes of
 * the OOB, hence an ECC of the tags' own: a Hamming code with the parity of each
 * byte (lines) and of each bit position (columns). Every line and column is there
 * twice, once for the index and once for its complement; so one wrong bit is
 * corrected, and two are always noticed, in the tags or in the ECC.
 *
 * In the segregated layout the same words have room for its marks: see media.h. They are
 * put in last and taken out first.
 *
 * All parities are linear. They are taken of words XORed together, without a loop
 * or a branch: tags are checked for every page of a scan and every page read.
 *
 * Limits: whether a sequence number, a size or a byte count can be true depends on
 * the device, so the caller judges that. An erased page has no valid ECC: ask
 * for YAFFS_SEQ_ERASED first.
 */

#include "codec.h"

#define TAG_BYTES	sizeof(struct yaffs_tags_media)
#define COLUMN_BITS	0x3f
/* The lower bit of each of the three pairs of column parities. */
#define COLUMN_PAIRS	0x15

u32 yaffs_tags_seq_word(u32 seq, bool segregated)
{
	if (!segregated)
		return seq;
	if (seq == YAFFS_SEQ_CHECKPOINT)
		return YAFFS_SEGREGATED_CHECKPOINT;
	return YAFFS_SEGREGATED_MARK | (seq & ~YAFFS_SEGREGATED_MASK);
}

/* Headers of this layout are read anyway: their tags need not know a size of 4 GiB. */
static bool has_extended_form(const struct yaffs_tags *t)
{
	return t->extended && (t->type != YAFFS_TYPE_FILE || t->segregated ||
			       t->size < YAFFS_TAG_SIZE_END);
}

void yaffs_tags_pack(const struct yaffs_tags *t, struct yaffs_tags_media *m)
{
	u32 obj_id = t->obj_id;
	u32 chunk_id = t->chunk_id;
	u32 n_bytes = t->n_bytes;

	if (has_extended_form(t)) {
		obj_id |= (u32)t->type << YAFFS_TAG_TYPE_SHIFT;
		chunk_id = YAFFS_TAG_EXTENDED |
			   (t->is_shrink ? YAFFS_TAG_SHRINK : 0) |
			   (t->shadows ? YAFFS_TAG_SHADOWS : 0) |
			   (t->parent_id & YAFFS_TAG_ID_MASK);
		if (t->type == YAFFS_TYPE_FILE)
			n_bytes = (u32)t->size;
		else if (t->type == YAFFS_TYPE_HARDLINK)
			n_bytes = t->link_target;
		else
			n_bytes = 0;
	}
	if (t->segregated && t->seq != YAFFS_SEQ_CHECKPOINT) {
		obj_id |= t->seq >> YAFFS_SEGREGATED_SEQ_SHIFT
				 << YAFFS_TAG_SEQ_SHIFT;
		obj_id |= t->metadata ? YAFFS_TAG_METADATA : 0;
		chunk_id |= t->is_index ? YAFFS_TAG_INDEX : 0;
	}
	m->seq = cpu_to_le32(yaffs_tags_seq_word(t->seq, t->segregated));
	m->obj_id = cpu_to_le32(obj_id);
	m->chunk_id = cpu_to_le32(chunk_id);
	m->n_bytes = cpu_to_le32(n_bytes);
}

static bool id_valid(u32 id)
{
	return id - 1 < YAFFS_MAX_OBJECT_ID;
}

/* The three words of a header's extended form, in CPU order. */
static int unpack_extended(struct yaffs_tags *t, u32 obj_id, u32 chunk_id,
			   u32 n_bytes)
{
	t->extended = true;
	t->type = (u8)(obj_id >> YAFFS_TAG_TYPE_SHIFT);
	t->obj_id = obj_id & YAFFS_TAG_ID_MASK;
	t->is_shrink = chunk_id & YAFFS_TAG_SHRINK;
	t->shadows = chunk_id & YAFFS_TAG_SHADOWS;
	t->parent_id = chunk_id & YAFFS_TAG_ID_MASK;
	if (t->type == YAFFS_TYPE_UNKNOWN || t->type >= YAFFS_TYPES ||
	    !id_valid(t->obj_id))
		return -EUCLEAN;
	/* Nothing is above the root, and only of it the original says so. */
	if (!id_valid(t->parent_id) &&
	    (t->parent_id || t->obj_id != YAFFS_ID_ROOT))
		return -EUCLEAN;
	if (t->type == YAFFS_TYPE_FILE) {
		t->size = n_bytes;
	} else if (t->type == YAFFS_TYPE_HARDLINK) {
		t->link_target = n_bytes;
		if (!id_valid(n_bytes))
			return -EUCLEAN;
	}
	return 0;
}

/* Takes the layout's marks out of the words, so that they are plain ones. */
static int unpack_layout(struct yaffs_tags *t, u32 *obj_id, u32 *chunk_id)
{
	if (t->seq == YAFFS_SEGREGATED_CHECKPOINT) {
		t->segregated = true;
		t->seq = YAFFS_SEQ_CHECKPOINT;
		return 0;
	}
	if ((t->seq & YAFFS_SEGREGATED_MASK) != YAFFS_SEGREGATED_MARK)
		return 0;
	t->segregated = true;
	t->metadata = *obj_id & YAFFS_TAG_METADATA;
	t->seq = (t->seq & ~YAFFS_SEGREGATED_MASK) |
		 ((*obj_id >> YAFFS_TAG_SEQ_SHIFT & YAFFS_TAG_SEQ_MASK)
		  << YAFFS_SEGREGATED_SEQ_SHIFT);
	if (*obj_id & YAFFS_TAG_SPARE)
		return -EUCLEAN;
	*obj_id &= ~(YAFFS_TAG_METADATA |
		     YAFFS_TAG_SEQ_MASK << YAFFS_TAG_SEQ_SHIFT);
	if (*chunk_id & YAFFS_TAG_EXTENDED)
		return t->metadata && !(*chunk_id & YAFFS_TAG_SHRINK) ? 0 : -EUCLEAN;
	t->is_index = *chunk_id & YAFFS_TAG_INDEX;
	*chunk_id &= ~YAFFS_TAG_INDEX;
	/* Headers always have the extended form: what is left are data, or a summary. */
	if (t->is_index)
		return t->metadata ? 0 : -EUCLEAN;
	if (!*chunk_id)
		return -EUCLEAN;
	return t->metadata && *obj_id != YAFFS_ID_SUMMARY ? -EUCLEAN : 0;
}

int yaffs_tags_unpack(const struct yaffs_tags_media *m, struct yaffs_tags *t)
{
	u32 obj_id = le32_to_cpu(m->obj_id);
	u32 chunk_id = le32_to_cpu(m->chunk_id);
	u32 n_bytes = le32_to_cpu(m->n_bytes);
	int err;

	*t = (struct yaffs_tags) { .seq = le32_to_cpu(m->seq) };
	if (t->seq == YAFFS_SEQ_ERASED)
		return 0;
	t->used = true;
	err = unpack_layout(t, &obj_id, &chunk_id);
	if (err)
		return err;
	if (t->seq != YAFFS_SEQ_CHECKPOINT) {
		if (chunk_id & YAFFS_TAG_EXTENDED)
			return unpack_extended(t, obj_id, chunk_id, n_bytes);
		if (!id_valid(obj_id) || chunk_id > YAFFS_MAX_CHUNK_ID)
			return -EUCLEAN;
		if (!chunk_id && !t->is_index)
			n_bytes = 0;
	}
	t->obj_id = obj_id;
	t->chunk_id = chunk_id;
	t->n_bytes = n_bytes;
	return 0;
}

bool yaffs_tags_are(const struct yaffs_tags *t, const struct yaffs_identity *id,
		    u32 seq)
{
	return t->used && t->seq == seq && t->obj_id == id->obj_id &&
	       t->chunk_id == id->chunk_id && t->is_index == id->is_index;
}

/* Parities of the 16 bytes, in CPU order; see struct yaffs_tags_ecc_media. */
struct parities {
	u32 column;
	u32 line;
	u32 line_inverse;
};

static u32 parity(u32 word)
{
	word ^= word >> 16;
	word ^= word >> 8;
	word ^= word >> 4;
	/* Bit n of the constant is the parity of n. */
	return (0x6996 >> (word & 15)) & 1;
}

static struct parities calculate(const struct yaffs_tags_media *m)
{
	/* Column parities of the values of the low and of the high nibble. */
	static const u8 low[16] = {
		0x00, 0x15, 0x16, 0x03, 0x19, 0x0c, 0x0f, 0x1a,
		0x1a, 0x0f, 0x0c, 0x19, 0x03, 0x16, 0x15, 0x00,
	};
	static const u8 high[16] = {
		0x00, 0x25, 0x26, 0x03, 0x29, 0x0c, 0x0f, 0x2a,
		0x2a, 0x0f, 0x0c, 0x29, 0x03, 0x26, 0x25, 0x00,
	};
	u32 w1 = le32_to_cpu(m->obj_id);
	u32 w2 = le32_to_cpu(m->chunk_id);
	u32 w3 = le32_to_cpu(m->n_bytes);
	u32 all = le32_to_cpu(m->seq) ^ w1 ^ w2 ^ w3;
	u32 byte = all ^ (all >> 16);
	struct parities p;

	byte = (byte ^ (byte >> 8)) & 0xff;
	p.column = low[byte & 15] ^ high[byte >> 4];
	/*
	 * Bit n of the line parity is the parity of all bytes whose index has bit n:
	 * bits 0 and 1 are the place in a word, 2 and 3 the word.
	 */
	p.line = parity(all & 0xff00ff00) | parity(all & 0xffff0000) << 1 |
		 parity(w1 ^ w3) << 2 | parity(w2 ^ w3) << 3;
	/* Complements of an even number of indices cancel, of an odd one not. */
	p.line_inverse = p.line ^ (0 - parity(all));
	return p;
}

void yaffs_tags_ecc_calculate(const struct yaffs_tags_media *m,
			      struct yaffs_tags_ecc_media *ecc)
{
	struct parities p = calculate(m);

	*ecc = (struct yaffs_tags_ecc_media) {
		.column_parity = (u8)p.column,
		.line_parity = cpu_to_le32(p.line),
		.line_parity_inverse = cpu_to_le32(p.line_inverse),
	};
}

enum yaffs_ecc_result yaffs_tags_ecc_correct(struct yaffs_tags_media *m,
					     const struct yaffs_tags_ecc_media *ecc)
{
	struct parities p = calculate(m);
	u32 column = (p.column ^ ecc->column_parity) & COLUMN_BITS;
	u32 line = p.line ^ le32_to_cpu(ecc->line_parity);
	u32 inverse = p.line_inverse ^ le32_to_cpu(ecc->line_parity_inverse);
	u32 bit;

	if (!(column | line | inverse))
		return YAFFS_ECC_GOOD;
	if (line == ~inverse && line < TAG_BYTES &&
	    ((column ^ (column >> 1)) & COLUMN_PAIRS) == COLUMN_PAIRS) {
		/* The upper of each pair has the bit number. */
		bit = (column >> 1 & 1) | (column >> 2 & 2) | (column >> 3 & 4);
		((u8 *)m)[line] ^= (u8)(1u << bit);
		return YAFFS_ECC_CORRECTED;
	}
	if (hweight32(column) + hweight32(line) + hweight32(inverse) == 1)
		return YAFFS_ECC_CORRECTED;
	return YAFFS_ECC_UNCORRECTABLE;
}
