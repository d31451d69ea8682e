// SPDX-License-Identifier: GPL-2.0-only
/* How a weak page reads (place.c), worked out by hand. */

#include "../../vnand/faults.c"
#include "../place.h"
#include "../../../tests/c_check.h"

#define STEP 512u
#define STEPS 4u
#define OOB 64u

static const struct vnand_params chip = {
	.page_bytes = STEP * STEPS,
	.oob_bytes = OOB,
	.subpages = STEPS,
	.ecc_strength_bits = 4,
	.ecc_step_bytes = STEP,
};

static u8 good[STEP * STEPS + OOB], other[STEP * STEPS + OOB];

static struct vnand_place place_with(u16 a, u16 b, u16 c, u16 d)
{
	struct vnand_place place = { .good = good };

	place.errors[0] = a;
	place.errors[1] = b;
	place.errors[2] = c;
	place.errors[3] = d;
	return place;
}

static struct vnand_read_decision read_of(const struct vnand_place *place,
					  u32 boot, u32 column, u32 bytes,
					  bool raw)
{
	struct vnand_request request = { .column = column, .raw = raw };
	struct vnand_read_decision decision = { .data_bytes = bytes };

	vnand_place_decide(&chip, place, boot, &request, &decision);
	return decision;
}

static void test_the_strength_decides(void)
{
	struct vnand_place place = place_with(0, 4, 5, 1);
	struct vnand_read_decision d =
		read_of(&place, 0, 0, STEP * STEPS, false);

	check(d.corrected == 5 && d.bitflips == 4, "corrected %u, most %u",
	      d.corrected, d.bitflips);
	check(d.uncorrectable == 1, "one step has too many: %u",
	      d.uncorrectable);
	check(vnand_place_corrects(&chip, &place, 0, 1, false) &&
	      !vnand_place_corrects(&chip, &place, 0, 2, false),
	      "4 are corrected, 5 are not");
	check(!vnand_place_corrects(&chip, &place, 0, 1, true),
	      "a raw read has the true bits");
	d = read_of(&place, 0, 0, STEP * STEPS, true);
	check(!d.corrected && !d.uncorrectable, "a raw read has no ECC");
}

static void test_unstable(void)
{
	struct vnand_place place = place_with(9, 9, 9, 9);
	struct vnand_read_decision d;

	place.unstable = true;
	place.boot = 3;
	d = read_of(&place, 3, 0, STEP * STEPS, false);
	check(!d.uncorrectable && !d.corrected, "good until power is off");
	check(vnand_place_corrects(&chip, &place, 3, 0, true), "also raw");
	d = read_of(&place, 4, 0, STEP * STEPS, false);
	check(d.uncorrectable == 4, "bad after it: %u", d.uncorrectable);
}

static void test_count(void)
{
	struct vnand_place place = place_with(7, 7, 7, 7);

	memset(good, 0xff, sizeof(good));
	memcpy(other, good, sizeof(good));
	other[STEP] = 0xf8;		/* 3 bits of step 1 */
	other[2 * STEP + 9] = 0;	/* 8 bits of step 2 */
	vnand_place_count(&chip, &place, other, 1, 2);
	check(place.errors[0] == 7 && place.errors[1] == 3 &&
	      place.errors[2] == 8 && place.errors[3] == 7,
	      "errors %u %u %u %u", place.errors[0], place.errors[1],
	      place.errors[2], place.errors[3]);
	check(vnand_bits_differ(good, other, sizeof(good)) == 11, "11 bits");
	check(vnand_bits_differ(good + 1, other + 1, 3) == 0, "a short piece");
}

/* What is programmed upon a torn page has the torn bits cleared as well. */
static void test_program(void)
{
	static u8 room[STEP * STEPS + OOB], data[STEP * STEPS], bits[STEP * STEPS + OOB];
	struct vnand_place before = place_with(2, 0, 0, 0);
	struct vnand_place after = { .good = room };
	bool weak;

	memset(good, 0xff, sizeof(good));
	memset(data, 0x0f, sizeof(data));
	memset(bits, 0xff, sizeof(bits));
	memset(bits, 0x0f, sizeof(data));
	bits[0] = 0x0c;			/* the two bits of the torn program */
	weak = vnand_place_program(&chip, &before, 0, sizeof(data), data, NULL,
				   bits, &after);
	check(weak && after.errors[0] == 2 && !after.errors[1],
	      "two bits are wrong: %u", after.errors[0]);
	check(!memcmp(after.good, data, sizeof(data)), "the codeword is new");
	bits[0] = 0x0f;
	weak = vnand_place_program(&chip, &before, 0, sizeof(data), data, NULL,
				   bits, &after);
	check(!weak, "no bit is wrong: not weak any more");
}

/* Cells that read as ones, and do not hold a one beside what is programmed. */
static void test_errors_that_a_program_brings_to_light(void)
{
	static u8 room[STEP * STEPS + OOB], data[STEP * STEPS], bits[STEP * STEPS + OOB];
	struct vnand_place blank = place_with(0, 0, 0, 0), after = { .good = room };
	struct vnand_read_decision d;

	memset(good, 0xff, sizeof(good));
	d = read_of(&blank, 1, 0, STEP * STEPS, false);
	check(!d.uncorrectable && !d.corrected &&
	      vnand_place_corrects(&chip, &blank, 1, 0, false),
	      "it reads as blank, whenever");
	memset(data, 0xff, sizeof(data));
	data[STEP] = 0x0f;
	memset(bits, 0xff, sizeof(bits));
	bits[0] = 0x07;			/* 5 such cells: too many for the ECC */
	bits[STEP] = 0x07;		/* as many, of which 4 are to be 0 */
	bits[2 * STEP] = 0xf0;		/* 4 */
	check(vnand_place_program(&chip, &blank, 0, sizeof(data), data, NULL,
				  bits, &after), "it is weak");
	check(after.errors[0] == 5 && after.errors[1] == 1 &&
	      after.errors[2] == 4 && !after.errors[3],
	      "wrong bits: %u %u %u %u", after.errors[0], after.errors[1],
	      after.errors[2], after.errors[3]);
	check(!memcmp(after.good, data, sizeof(data)), "what was meant");
	d = read_of(&after, 1, 0, STEP * STEPS, false);
	check(d.uncorrectable == 1 && d.corrected == 5,
	      "a step cannot be read, 5 bits of others are corrected: %u, %u",
	      d.uncorrectable, d.corrected);
}

/* NOR: no ECC, and single bytes are programmed, wherever they are. */
static void test_without_ecc(void)
{
	static const struct vnand_params nor = {
		.page_bytes = 256, .subpages = 1, .ecc_step_bytes = 64,
	};
	static u8 room[256], bits[256];
	const u8 mark[2] = { 0x3f, 0x00 };
	struct vnand_place weak = place_with(0, 3, 0, 0), after = { .good = room };

	memset(good, 0xff, sizeof(good));
	memset(bits, 0xff, sizeof(bits));
	good[64] = 0x1f;		/* reads so until power was off */
	weak.unstable = true;
	weak.boot = 1;
	good[126] = 0xf3;		/* programmed before */
	bits[126] = 0x33;
	bits[127] = 0;
	check(vnand_place_program(&nor, &weak, 126, 2, mark, NULL, bits,
				  &after), "it stays weak");
	check(room[64] == 0x1f && room[125] == 0xff && room[126] == 0x33 &&
	      !room[127] && room[128] == 0xff, "two bytes more are programmed");
	check(after.errors[1] == 3 && !after.errors[0] && !after.errors[2],
	      "the three bits are wrong as before: %u", after.errors[1]);
	check(vnand_place_corrects(&nor, &after, 1, 1, false) &&
	      !vnand_place_corrects(&nor, &after, 2, 1, false) &&
	      vnand_place_corrects(&nor, &after, 2, 0, false),
	      "nothing corrects them once power was off");
}

int main(void)
{
	test_the_strength_decides();
	test_unstable();
	test_count();
	test_program();
	test_errors_that_a_program_brings_to_light();
	test_without_ecc();
	return checked();
}
