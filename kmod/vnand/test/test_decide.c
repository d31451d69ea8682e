// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of the decisions: what an operation will do, from the definitions
 * of a NAND chip and of the raw NAND layer's driver.
 */

#include "../decide.h"
#include "../faults.h"
#include "../../../tests/c_check.h"

/* 2 KiB pages of four sub-pages and four ECC steps, 64 pages in a block. */
static struct vnand_params chip(void)
{
	return (struct vnand_params){
		.page_bytes = 2048, .oob_bytes = 64, .subpages = 4,
		.pages_per_block = 64, .blocks = 16, .t_read_ns = 25000,
		.t_prog_ns = 200000, .t_erase_ns = 1500000,
		.bus_read_ps = 1000, .bus_write_ps = 1000, .nop = 4,
		.ecc_strength_bits = 1, .ecc_step_bytes = 512, .seed = 2,
	};
}

static const struct vnand_page_state erased_page;
static const struct vnand_page_state full_page = {
	.programs = 1, .subpages = 15, .oob = 1,
};

static const struct vnand_block_facts good_block = { .next_page = 64 };

#define PAGE 133	/* page 5 of block 2 */

static struct vnand_read_decision read_at(const struct vnand_params *p, u32 column,
					  u32 bytes, u32 kept_page)
{
	const struct vnand_request r = {
		.page = PAGE, .column = column, .data_bytes = bytes,
	};

	return vnand_decide_read(p, &r, &full_page, &good_block, kept_page);
}

static void test_transfer(void)
{
	struct vnand_params p = chip();
	struct vnand_request oob = { .page = PAGE, .oob = true };
	struct vnand_read_decision d = read_at(&p, 0, 2048, VNAND_NO_PAGE);

	check(d.data_bytes == 2048 && d.oob_bytes == 64 && !d.erased &&
	      d.time.array_ns == 25000 && d.time.bus_ns == 2112, "a page");
	d = read_at(&p, 600, 10, VNAND_NO_PAGE);
	check(d.data_bytes == 2048 && d.oob_bytes == 64,
	      "a part: the page crosses the bus");
	d = vnand_decide_read(&p, &oob, &full_page, &good_block, VNAND_NO_PAGE);
	check(!d.data_bytes && d.oob_bytes == 64 && d.time.bus_ns == 64, "OOB");
	p.subpage_read = 1;
	d = read_at(&p, 600, 10, VNAND_NO_PAGE);
	check(d.data_bytes == 512 && !d.oob_bytes, "one sub-page");
	d = read_at(&p, 511, 2, VNAND_NO_PAGE);
	check(d.data_bytes == 1024, "two sub-pages");
	d = read_at(&p, 512, 512, VNAND_NO_PAGE);
	check(d.data_bytes == 512, "a sub-page from edge to edge");
	d = vnand_decide_read(&p, &oob, &erased_page, &good_block,
			      VNAND_NO_PAGE);
	check(d.erased && d.oob_bytes == 64, "OOB of an erased page");
}

/* The raw NAND layer keeps a page that it read for a part of it. */
static void test_kept_page(void)
{
	struct vnand_params p = chip();
	struct vnand_request r = { .page = PAGE, .data_bytes = 10 };
	struct vnand_read_decision d = read_at(&p, 0, 10, VNAND_NO_PAGE);

	check(!d.served && d.kept_page == PAGE, "kept when read in part");
	d = read_at(&p, 0, 10, PAGE);
	check(d.served && d.kept_page == PAGE && !d.time.array_ns &&
	      !d.time.bus_ns && !d.time.driver_ns, "served, for nothing");
	d = read_at(&p, 0, 10, PAGE + 1);
	check(!d.served && d.kept_page == PAGE, "another page takes its place");
	d = read_at(&p, 0, 2048, PAGE);
	check(!d.served && d.kept_page == VNAND_NO_PAGE, "a whole page");
	r.oob = true;
	d = vnand_decide_read(&p, &r, &full_page, &good_block, PAGE);
	check(!d.served && d.kept_page == VNAND_NO_PAGE, "a part with OOB");
	r.oob = false;
	r.raw = true;
	d = vnand_decide_read(&p, &r, &full_page, &good_block, PAGE);
	check(!d.served && d.kept_page == PAGE, "raw: the kept page stays");
	r = (struct vnand_request){ .page = PAGE, .oob = true };
	d = vnand_decide_read(&p, &r, &full_page, &good_block, 7);
	check(!d.served && d.kept_page == 7, "OOB alone: it stays");
	p.subpage_read = 1;
	d = read_at(&p, 0, 10, VNAND_NO_PAGE);
	check(d.kept_page == VNAND_NO_PAGE, "sub-page reads keep nothing");
}

/* What vnand_bitflips() draws for each step is corrected, or stays. */
static void test_bit_errors(void)
{
	struct vnand_params p = chip();
	const struct vnand_block_facts worn = {
		.erases = 40, .reads_since_erase = 7, .next_page = 64,
	};
	struct vnand_request r = { .page = PAGE, .data_bytes = 2048 };
	const struct vnand_age age = { .erases = 40, .reads = 7 };
	u32 place[VNAND_MAX_BITFLIPS], step, most = 0, sum = 0, uncorrectable = 0;
	struct vnand_read_decision d;

	/* About one wrong bit in a step. */
	p.rber_e12 = 250000000;
	for (step = 0; step < 4; step++) {
		u32 n = vnand_bitflips(&p, 2, PAGE, step, &age, place);

		d = vnand_decide_read(&p, &r, &full_page, &worn, VNAND_NO_PAGE);
		check(vnand_step_is_wrong(&d, step) == (n > 1),
		      "step %u has %u wrong bits", step, n);
		uncorrectable += n > 1;
		sum += n > 1 ? 0 : n;
		most = n == 1 ? 1 : most;
	}
	check(uncorrectable && sum, "the seed shows both kinds");
	check(d.uncorrectable == uncorrectable && d.corrected == sum &&
	      d.bitflips == most, "sums over the steps");
	r.raw = true;
	d = vnand_decide_read(&p, &r, &full_page, &worn, VNAND_NO_PAGE);
	check(!d.uncorrectable && !d.corrected && !d.bitflips &&
	      d.wrong_steps[0] == 15 && !d.wrong_steps[1],
	      "raw: nothing is corrected, nothing is told");
	r.raw = false;
	d = vnand_decide_read(&p, &r, &erased_page, &worn, VNAND_NO_PAGE);
	check(!d.wrong_steps[0] && !d.corrected, "an erased page has none");
	p.rber_e12 = 0;
	d = vnand_decide_read(&p, &r, &full_page, &worn, VNAND_NO_PAGE);
	check(!d.wrong_steps[0] && !d.corrected, "no errors without a rate");
}

/* Every bit is likely to be wrong: each step that is looked at is. */
static void test_steps(void)
{
	struct vnand_params p = chip();
	struct vnand_request r = { .page = PAGE, .column = 1024, .data_bytes = 9 };
	struct vnand_page_state torn = full_page;
	struct vnand_read_decision d;

	p.rber_e12 = 500000000000;
	p.subpage_read = 1;
	d = vnand_decide_read(&p, &r, &full_page, &good_block, VNAND_NO_PAGE);
	check(d.wrong_steps[0] == 4 && d.uncorrectable == 1,
	      "a sub-page is the third step");
	torn.torn = 1;
	d = vnand_decide_read(&p, &r, &torn, &good_block, VNAND_NO_PAGE);
	check(d.uncorrectable == 2, "torn, and wrong besides");
	p.page_bytes = 16384;
	p.ecc_step_bytes = 128;
	p.subpage_read = 0;
	r.raw = true;
	d = vnand_decide_read(&p, &r, &full_page, &good_block, VNAND_NO_PAGE);
	check(d.wrong_steps[0] == ~0ULL && d.wrong_steps[1] == ~0ULL,
	      "the most steps that a page can have");
	check(vnand_step_is_wrong(&d, 0) && vnand_step_is_wrong(&d, 127),
	      "first and last");
}

static void test_torn_page(void)
{
	struct vnand_params p = chip();
	const struct vnand_page_state torn = {
		.programs = 1, .subpages = 15, .torn = 1,
	};
	struct vnand_request r = { .page = PAGE, .data_bytes = 10 };
	struct vnand_read_decision d =
		vnand_decide_read(&p, &r, &torn, &good_block, VNAND_NO_PAGE);

	check(d.uncorrectable == 4 && d.kept_page == VNAND_NO_PAGE,
	      "no step of a torn page can be corrected, and it is not kept");
	r.raw = true;
	d = vnand_decide_read(&p, &r, &torn, &good_block, VNAND_NO_PAGE);
	check(!d.uncorrectable, "raw: nobody looks");
	r.raw = false;
	p.ecc_strength_bits = 0;
	d = vnand_decide_read(&p, &r, &torn, &good_block, VNAND_NO_PAGE);
	check(!d.uncorrectable, "no ECC: nobody can tell");
}

static void test_program(void)
{
	struct vnand_params p = chip();
	struct vnand_block_facts block = { .next_page = 5 };
	struct vnand_request r = { .page = PAGE, .data_bytes = 2048 };
	struct vnand_change c =
		vnand_decide_program(&p, &r, &erased_page, &block);

	check(c.kind == VNAND_PROGRAM && c.block == 2 && c.page == PAGE &&
	      c.violation == VNAND_OK && !c.fails && c.stored_bytes == 2048 &&
	      c.next_page == 6 && c.bytes_to_chip == 2112 &&
	      c.time.array_ns == 200000 && c.time.bus_ns == 2112, "a page");
	check(c.state.programs == 1 && c.state.subpages == 15 && !c.state.oob &&
	      !c.state.torn, "its state");
	r.column = 512;
	r.data_bytes = 1024;
	block.next_page = 9;
	c = vnand_decide_program(&p, &r, &erased_page, &block);
	check(c.state.subpages == 6 && c.stored_bytes == 1024 &&
	      c.next_page == 9 && c.bytes_to_chip == 2112, "two sub-pages");
	r = (struct vnand_request){ .page = PAGE, .oob = true };
	c = vnand_decide_program(&p, &r, &full_page, &block);
	check(c.state.programs == 2 && c.state.subpages == 15 && c.state.oob &&
	      c.bytes_to_chip == 64 && !c.stored_bytes && !c.violation,
	      "OOB alone");
	c = vnand_decide_program(&p, &r, &erased_page, &block);
	check(c.state.oob == 1 && !c.state.subpages, "OOB of an erased page");
	r = (struct vnand_request){ .page = PAGE, .data_bytes = 512 };
	c = vnand_decide_program(&p, &r, &full_page, &block);
	check(c.violation == VNAND_SUBPAGE_TWICE && !c.fails, "a rule broken");
	block.bad = true;
	c = vnand_decide_program(&p, &r, &erased_page, &block);
	check(c.violation == VNAND_BAD_BLOCK, "of a bad block");
}

static void test_program_failures(void)
{
	struct vnand_params p = chip();
	struct vnand_block_facts block = { .failed = true };
	struct vnand_request r = { .page = PAGE, .data_bytes = 2048 };
	struct vnand_page_state many = { .programs = 255 };
	struct vnand_change c =
		vnand_decide_program(&p, &r, &erased_page, &block);

	check(c.fails && c.stored_bytes == 1024 && c.state.torn &&
	      c.state.programs == 1 && c.state.subpages == 15 &&
	      c.time.array_ns == 200000, "a failed block: half of the page");
	block.failed = false;
	p.program_fail_ppm = 1000000;
	c = vnand_decide_program(&p, &r, &many, &block);
	check(c.fails && c.state.programs == 255, "drawn; the count saturates");
	many.programs = 254;
	c = vnand_decide_program(&p, &r, &many, &block);
	check(c.state.programs == 255, "and not before");
}

static void test_erase(void)
{
	struct vnand_params p = chip();
	struct vnand_block_facts block = { .next_page = 9, .erases = 100 };
	struct vnand_change c = vnand_decide_erase(&p, 5, &block);

	check(c.kind == VNAND_ERASE && c.block == 5 && !c.fails &&
	      !c.violation && !c.next_page && !c.bytes_to_chip &&
	      c.time.array_ns == 1500000 && !c.time.bus_ns, "an erase");
	p.endurance_cycles = 50;
	c = vnand_decide_erase(&p, 5, &block);
	check(c.fails && c.next_page == 9, "of a worn block: all is as it was");
	p.endurance_cycles = 0;
	block.failed = true;
	check(vnand_decide_erase(&p, 5, &block).fails, "of a failed block");
	block.failed = false;
	block.bad = true;
	check(vnand_decide_erase(&p, 5, &block).violation == VNAND_BAD_BLOCK,
	      "of a bad block");
}

/* Which bits are wrong is drawn for the block of the page: 133 is in block 2. */
static void test_block_of_errors(void)
{
	const struct vnand_age age = { 0 };
	u32 place[VNAND_MAX_BITFLIPS], step, sum = 0;
	struct vnand_params p = chip();

	p.rber_e12 = 500000000;
	p.ecc_strength_bits = 64;
	for (step = 0; step < 4; step++)
		sum += vnand_bitflips(&p, 2, PAGE, step, &age, place);
	check(sum && read_at(&p, 0, 2048, VNAND_NO_PAGE).corrected == sum,
	      "errors of block 2, %u", sum);
}

static void test_mark_bad(void)
{
	struct vnand_params p = chip();
	struct vnand_block_facts block = { .next_page = 9, .failed = true };
	struct vnand_change c = vnand_decide_mark_bad(&p, 5, &block);

	check(c.kind == VNAND_MARK_BAD && c.block == 5 && !c.fails &&
	      !c.violation && c.next_page == 9 && c.time.array_ns == 200000 &&
	      c.time.bus_ns == 64, "the OOB of a page, of a failed block too");
}

int main(void)
{
	test_transfer();
	test_kept_page();
	test_bit_errors();
	test_steps();
	test_torn_page();
	test_program();
	test_program_failures();
	test_erase();
	test_block_of_errors();
	test_mark_bad();
	return checked();
}
