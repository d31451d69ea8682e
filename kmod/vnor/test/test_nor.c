// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of NOR flash: what a chip may be, what an operation takes and
 * does, from the data sheets' definitions of such chips.
 */

#include "../../vnand/decide.h"
#include "../../../tests/c_check.h"

/* Pages of 256 bytes, 16 in a sector; a byte in 30 us, a page in 285 us. */
static struct vnand_params chip(void)
{
	return (struct vnand_params){
		.page_bytes = 256, .subpages = 1, .pages_per_block = 16,
		.blocks = 64, .t_prog_byte_ns = 30000, .t_prog_ns = 285000,
		.t_erase_ns = 50000000, .t_command_ns = 960,
		.bus_read_ps = 40000, .bus_write_ps = 160000,
		.driver_read_ns = 10000, .driver_program_ns = 15000,
		.driver_erase_ns = 7000, .ecc_step_bytes = 1, .seed = 2,
	};
}

static const struct vnand_page_state erased_page;
static const struct vnand_page_state used_page = { .programs = 3 };
static const struct vnand_block_facts block_facts = { .erases = 5, .next_page = 4 };

static int parse(const char *text, struct vnand_params *p)
{
	char copy[256], message[128] = "";

	snprintf(copy, sizeof(copy), "%s", text);
	return vnand_params_parse(copy, p, message, sizeof(message));
}

static void test_keys(void)
{
	struct vnand_params p;

	check(!parse("", &p) && p.page_bytes == 256 && !p.oob_bytes &&
	      p.blocks == 512 && !strcmp(p.name, "nor0"), "a chip of 32 MiB");
	check(!parse("page_bytes=512;t_prog_byte_ns=9;t_prog_ns=9", &p) &&
	      p.t_prog_byte_ns == 9, "a byte may take as long as a page");
	check(parse("t_prog_byte_ns=10;t_prog_ns=9", &p), "but no longer");
	check(parse("page_bytes=1024", &p) && parse("page_bytes=32", &p) &&
	      parse("page_bytes=96", &p), "pages of 64 to 512, a power of two");
	check(parse("oob_bytes=64", &p) && parse("ecc_step_bytes=512", &p) &&
	      parse("subpages=4", &p) && parse("factory_bad=3", &p) &&
	      parse("rber_e12=1", &p) && parse("t_read_ns=1", &p),
	      "what NAND has and NOR has not");
}

static struct vnand_read_decision read_at(const struct vnand_params *p, u32 page,
					  u32 column, u32 bytes, u32 next)
{
	const struct vnand_request r = {
		.page = page, .column = column, .data_bytes = bytes,
	};

	return vnand_decide_read(p, &r, &used_page, &block_facts, next);
}

/* One command for a read of any size: the pages behind the first cost bytes. */
static void test_read(void)
{
	struct vnand_params p = chip();
	struct vnand_read_decision d = read_at(&p, 7, 250, 6, VNAND_NO_PAGE);
	struct vnand_request blank = { .page = 9, .data_bytes = 1 };

	check(!d.served && d.data_bytes == 6 && !d.oob_bytes && !d.erased &&
	      d.kept_page == 8, "six bytes, then page 8");
	check(d.time.busy_ns == 960 && d.time.bus_ns == 240 &&
	      !d.time.array_ns && d.time.driver_ns == 10000,
	      "command, 6 x 40 ns, the driver");
	d = read_at(&p, 8, 0, 256, d.kept_page);
	check(d.kept_page == 9 && !d.time.busy_ns && d.time.bus_ns == 10240 &&
	      !d.time.driver_ns, "page 8 of the same read: 256 x 40 ns");
	d = read_at(&p, 8, 0, 256, VNAND_NO_PAGE);
	check(d.time.busy_ns == 960, "page 8 of another read");
	d = vnand_decide_read(&p, &blank, &erased_page, &block_facts,
			      VNAND_NO_PAGE);
	check(d.erased && d.data_bytes == 1, "a byte that was never programmed");
}

static struct vnand_change program(const struct vnand_params *p, u32 bytes,
				   bool sets_bits)
{
	const struct vnand_request r = {
		.page = 37, .column = 3, .data_bytes = bytes,
		.sets_bits = sets_bits,
	};

	return vnand_decide_program(p, &r, &used_page, &block_facts);
}

/* From 30 us for one byte to 285 us for 256: each further byte is 1 us. */
static void test_program(void)
{
	struct vnand_params p = chip();
	struct vnand_change c = program(&p, 1, false);

	check(c.block == 2 && c.page == 37 && c.stored_bytes == 1 &&
	      c.bytes_to_chip == 1 && !c.violation && !c.fails, "page 5 of 2");
	check(c.next_page == 6 && c.state.programs == 4, "its state");
	check(c.time.array_ns == 30000 && c.time.bus_ns == 160 &&
	      c.time.busy_ns == 960 && c.time.driver_ns == 15000, "a byte");
	c = program(&p, 2, false);
	check(c.time.array_ns == 31000 && c.time.bus_ns == 320, "two bytes");
	c = program(&p, 256, false);
	check(c.time.array_ns == 285000 && c.time.bus_ns == 40960, "a page");
	check(program(&p, 4, true).violation == VNOR_SETS_BITS, "the rule");
	p.program_fail_ppm = 1000000;
	c = program(&p, 10, false);
	check(c.fails && c.stored_bytes == 5 && c.state.torn, "a failure");
}

/* A page counts its programs up to 255, a sector the pages that were used. */
static void test_counts(void)
{
	struct vnand_params p = chip();
	struct vnand_request r = { .page = 37, .data_bytes = 1 };
	struct vnand_page_state page = { .programs = 254 };
	struct vnand_block_facts block = { .next_page = 5 };
	struct vnand_change c = vnand_decide_program(&p, &r, &page, &block);

	check(c.state.programs == 255 && c.next_page == 6, "page 5 is the next");
	page.programs = 255;
	block.next_page = 9;
	c = vnand_decide_program(&p, &r, &page, &block);
	check(c.state.programs == 255 && c.next_page == 9, "it was used before");
}

static void test_erase(void)
{
	struct vnand_params p = chip();
	struct vnand_block_facts block = { .erases = 100, .next_page = 9 };
	struct vnand_change c = vnand_decide_erase(&p, 5, &block);

	check(!c.fails && !c.next_page && !c.violation &&
	      c.time.array_ns == 50000000 && c.time.busy_ns == 960 &&
	      c.time.driver_ns == 7000 && !c.time.bus_ns, "an erase");
	p.endurance_cycles = 90;	/* each sector 81 to 99 */
	c = vnand_decide_erase(&p, 5, &block);
	check(c.fails && c.next_page == 9, "of a sector that is worn out");
	block.erases = 80;
	check(!vnand_decide_erase(&p, 5, &block).fails, "and before");
	p.erase_fail_ppm = 1000000;
	check(vnand_decide_erase(&p, 5, &block).fails, "at random");
}

static void test_bits(void)
{
	static const u8 have[] = { 0xff, 0x0f, 0x00 };
	static const u8 same[] = { 0xff, 0x0f, 0x00 };
	static const u8 fewer[] = { 0x12, 0x01, 0x00 };
	static const u8 more[] = { 0x12, 0x01, 0x80 };
	static const u8 first[] = { 0x80 }, none[] = { 0x7f };

	check(!vnor_sets_bits(have, same, 3), "the same bits");
	check(!vnor_sets_bits(have, fewer, 3), "bits that are cleared");
	check(vnor_sets_bits(have, more, 3), "one that is set, in the last byte");
	check(!vnor_sets_bits(have, more, 2), "which is not looked at");
	check(vnor_sets_bits(none, first, 1), "one in the first");
}

int main(void)
{
	test_keys();
	test_read();
	test_program();
	test_counts();
	test_erase();
	test_bits();
	return checked();
}
