// SPDX-License-Identifier: GPL-2.0-only
/*
 * The description of a chip: what each key may be, what it is without, and which keys
 * do not go together. The figures are those of ../params.h and of data sheets.
 */

#include "../params.h"
#include "../../../tests/c_check.h"

#define SECOND_NS 1000000000ULL
#define CERTAIN_E12 1000000000000ULL

static char message[128];

static int parse(const char *text, struct vnand_params *p)
{
	char copy[2048];

	snprintf(copy, sizeof(copy), "%s", text);
	message[0] = '\0';
	return vnand_params_parse(copy, p, message, sizeof(message));
}

static void check_good(const char *text)
{
	struct vnand_params p;

	check(!parse(text, &p), "'%s' gives '%s'", text, message);
}

static void check_bad(const char *text, const char *words)
{
	struct vnand_params p;

	check(parse(text, &p) == -EINVAL && strstr(message, words),
	      "'%s' gives '%s', not '%s'", text, message, words);
}

static void test_defaults(void)
{
	struct vnand_params p;

	check(!parse("", &p), "nothing: %s", message);
	/* 2,048 bytes x 64 x 2,048: 256 MiB of SLC, as its data sheet has it. */
	check(p.page_bytes == 2048 && p.oob_bytes == 64 && p.subpages == 4 &&
	      p.pages_per_block == 64 && p.blocks == 2048 && p.planes == 1,
	      "its geometry");
	check(p.t_read_ns == 25000 && p.t_prog_ns == 200000 &&
	      p.t_erase_ns == 2000000 && !p.t_command_ns, "its times");
	check(p.nop == 4 && !p.ordered && p.ecc_strength_bits == 1 &&
	      p.ecc_step_bytes == 512 && p.seed == 1 &&
	      p.rules == VNAND_RULES_COUNT && p.wait == VNAND_WAIT_POLLED,
	      "its rules");
	check(!strcmp(p.name, "nand0") && !strcmp(p.store, "ram") && !p.parts &&
	      !p.factory_bads && !p.factory_bad_random, "its names and blocks");
}

/**
 * struct bounds - what a key may be
 * @with: what the rest of the chip has to be for that
 */
struct bounds {
	const char *key;
	size_t offset, size;
	u64 min, max;
	const char *with;
};

#define BOUNDS(member, min, max, with) \
	{ #member, offsetof(struct vnand_params, member), \
	  sizeof(((struct vnand_params *)0)->member), min, max, with }

static const struct bounds bounds[] = {
	BOUNDS(page_bytes, 512, 16384, ""),
	BOUNDS(oob_bytes, 8, 2048, ""),
	BOUNDS(subpages, 1, 8, ""),
	BOUNDS(pages_per_block, 1, 1024, ""),
	BOUNDS(blocks, 1, 1048576, ""),
	BOUNDS(planes, 1, 16, ""),
	BOUNDS(t_read_ns, 0, SECOND_NS, ""),
	BOUNDS(t_prog_ns, 0, SECOND_NS, ""),
	BOUNDS(t_erase_ns, 0, SECOND_NS, ""),
	BOUNDS(t_command_ns, 0, SECOND_NS, ""),
	BOUNDS(bus_read_ps, 0, SECOND_NS, ""),
	BOUNDS(bus_write_ps, 0, SECOND_NS, ""),
	BOUNDS(ecc_read_ns, 0, SECOND_NS, ""),
	BOUNDS(ecc_write_ns, 0, SECOND_NS, ""),
	BOUNDS(driver_read_ns, 0, SECOND_NS, ""),
	BOUNDS(driver_program_ns, 0, SECOND_NS, ""),
	BOUNDS(driver_erase_ns, 0, SECOND_NS, ""),
	BOUNDS(subpage_read, 0, 1, ""),
	BOUNDS(nop, 0, 255, ""),
	BOUNDS(ordered, 0, 1, ""),
	BOUNDS(ecc_strength_bits, 0, 128, ""),
	BOUNDS(ecc_step_bytes, 128, 16384, "page_bytes=16384;"),
	BOUNDS(seed, 0, UINT64_MAX, ""),
	BOUNDS(program_fail_ppm, 0, 1000000, ""),
	BOUNDS(erase_fail_ppm, 0, 1000000, ""),
	BOUNDS(endurance_cycles, 0, 1073741824, ""),
	BOUNDS(rber_e12, 0, CERTAIN_E12, ""),
	BOUNDS(rber_wear_e12, 0, CERTAIN_E12, ""),
	BOUNDS(rber_disturb_e12, 0, CERTAIN_E12, ""),
	BOUNDS(rber_retention_e12, 0, CERTAIN_E12, ""),
	BOUNDS(worn_cycles, 0, 1073741824, ""),
	BOUNDS(shelf_hours, 0, 10000000, ""),
};

static void check_number(const struct bounds *b, u64 number)
{
	bool is_good = number >= b->min && number <= b->max;
	struct vnand_params p;
	char text[128], told[128];
	u64 found = 0;

	snprintf(text, sizeof(text), "%s%s=%llu", b->with, b->key,
		 (unsigned long long)number);
	if (!is_good) {
		snprintf(told, sizeof(told), "%s: %llu is not in %llu..%llu",
			 b->key, (unsigned long long)number,
			 (unsigned long long)b->min, (unsigned long long)b->max);
		check_bad(text, told);
		return;
	}
	check_good(text);
	parse(text, &p);
	if (b->size == sizeof(u64))
		memcpy(&found, (char *)&p + b->offset, sizeof(u64));
	else
		found = *(u32 *)((char *)&p + b->offset);
	check(found == number, "'%s' gives %llu", text,
	      (unsigned long long)found);
}

static void test_numbers(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		check_number(&bounds[i], bounds[i].min);
		check_number(&bounds[i], bounds[i].max);
		if (bounds[i].min)
			check_number(&bounds[i], bounds[i].min - 1);
		if (bounds[i].max != UINT64_MAX)
			check_number(&bounds[i], bounds[i].max + 1);
	}
	check_good("blocks=0x10");
	check_bad("page_bytes=", "page_bytes: '' is not a number");
	check_bad("blocks=8x", "'8x' is not a number");
	check_bad("blocks=-8", "'-8' is not a number");
	check_bad("seed=18446744073709551616", "is not a number");
	errno = ERANGE;		/* of something before */
	check_good("blocks=16");
}

static void test_words(void)
{
	struct vnand_params p;

	check(!parse("wait=interrupt", &p) && p.wait == VNAND_WAIT_INTERRUPT &&
	      !parse("wait=switching", &p) && p.wait == VNAND_WAIT_SWITCHING &&
	      !parse("wait=interrupt;wait=polled", &p) &&
	      p.wait == VNAND_WAIT_POLLED, "who waits: %s", message);
	check(!parse("rules=off", &p) && p.rules == VNAND_RULES_OFF &&
	      !parse("rules=fatal", &p) && p.rules == VNAND_RULES_FATAL &&
	      !parse("rules=off;rules=count", &p) &&
	      p.rules == VNAND_RULES_COUNT, "rules: %s", message);
	check_bad("wait=maybe", "wait: unknown value 'maybe'");
	check_bad("rules=polled", "rules: unknown value 'polled'");
	check_bad("pages=3", "unknown key 'pages'");
	check_bad("page_bytes", "'page_bytes' is not key=value");
	check_good("blocks=8;");
	check(!vnand_params_parse(NULL, &p, message, sizeof(message)) &&
	      p.blocks == 2048, "no description at all");
}

static void test_names(void)
{
	static const char longest[] = "0123456789012345678901234567890";
	static const char others[] = "`{@[/:,+ ^!~";
	struct vnand_params p;
	char text[64];
	size_t i;

	check(!parse("name=azAZ09_-.", &p) && !strcmp(p.name, "azAZ09_-."),
	      "every kind of character: %s", message);
	for (i = 0; others[i]; i++) {
		snprintf(text, sizeof(text), "name=a%cb", others[i]);
		check_bad(text, "is not a name (at most 31 of A-Z a-z 0-9 _ - .)");
	}
	snprintf(text, sizeof(text), "name=%s", longest);
	check(!parse(text, &p) && !strcmp(p.name, longest), "31 of them");
	snprintf(text, sizeof(text), "name=%s1", longest);
	check_bad(text, "is not a name");
	check_bad("name=", "name: '' is not a name");
	check(!parse("name=b", &p) && !strcmp(p.name, "b"), "one of them");
	check(!parse("store=iomem:flash7", &p) && !strcmp(p.store, "flash7") &&
	      !parse("store=iomem:x;store=ram", &p) && !strcmp(p.store, "ram"),
	      "where the contents are: %s", message);
	check_bad("store=disk", "neither ram nor iomem:NAME");
	check_bad("store=iomemory", "neither ram nor iomem:NAME");
	check_bad("store=iomem:", "store: '' is not a name");
}

static void test_parts(void)
{
	struct vnand_params p;

	check(!parse("blocks=16;parts=x@0+4/y@4+12", &p) && p.parts == 2 &&
	      !strcmp(p.part[0].name, "x") && !p.part[0].first_block &&
	      p.part[0].blocks == 4 && !strcmp(p.part[1].name, "y") &&
	      p.part[1].first_block == 4 && p.part[1].blocks == 12,
	      "two: %s", message);
	check(!parse("parts=a@0+1/b@1+1;parts=c@5+1", &p) && p.parts == 1 &&
	      !strcmp(p.part[0].name, "c"), "the last word counts");
	check_good("parts=a@0+1/b@1+1/c@2+1/d@3+1/e@4+1/f@5+1/g@6+1/h@7+1");
	check_bad("parts=a@0+1/b@1+1/c@2+1/d@3+1/e@4+1/f@5+1/g@6+1/h@7+1/i@8+1",
		  "more than 8 partitions");
	check_good("blocks=1048576;parts=a@0+1048576");
	check_good("blocks=1048576;parts=a@1048575+1");
	check_good("blocks=8;parts=a@7+1");
	check_bad("blocks=8;parts=a@7+2", "'a' ends behind the chip's 8 blocks");
	check_bad("blocks=8;parts=a@0+8/b@8+1", "'b' ends behind");
	check_bad("blocks=8;parts=b@8+1/a@0+8", "'b' ends behind");
	check_bad("parts=a@1048576+1", "is not NAME@FIRST+BLOCKS");
	check_bad("parts=a@0+1048577", "is not NAME@FIRST+BLOCKS");
	check_bad("parts=a@0+0", "is not NAME@FIRST+BLOCKS");
	check_bad("parts=a@x+1", "is not NAME@FIRST+BLOCKS");
	check_bad("parts=a@0+x", "is not NAME@FIRST+BLOCKS");
	check_bad("parts=a@0", "'a@0' is not NAME@FIRST+BLOCKS");
	check_bad("parts=a", "'a' is not NAME@FIRST+BLOCKS");
	check_bad("parts=@0+1", "parts: '' is not a name");
}

/* So many block numbers, each 1, in one list. */
static const char *bad_blocks(size_t number)
{
	static char text[1024];
	size_t i, at = (size_t)sprintf(text, "factory_bad=1");

	for (i = 1; i < number; i++)
		at += (size_t)sprintf(text + at, "/1");
	return text;
}

static void test_factory_bad(void)
{
	struct vnand_params p;

	check(!parse("blocks=16;factory_bad=3/5/15", &p) && p.factory_bads == 3 &&
	      p.factory_bad[0] == 3 && p.factory_bad[1] == 5 &&
	      p.factory_bad[2] == 15 && !p.factory_bad_random,
	      "by number: %s", message);
	check(!parse("factory_bad=count:256", &p) && !p.factory_bads &&
	      p.factory_bad_random == 256, "by count: %s", message);
	check_bad("factory_bad=count:257", "is not count:N with N up to 256");
	check_bad("factory_bad=count:x", "is not count:N");
	check_bad("factory_bad=count5", "'count5' is not a block number");
	check_good(bad_blocks(256));
	check_bad(bad_blocks(257), "more than 256 blocks");
	check_good("blocks=1048576;factory_bad=1048575");
	check_bad("factory_bad=1048576", "'1048576' is not a block number");
	check_bad("factory_bad=2048", "the chip has no block 2048");
	check_bad("factory_bad=2048/1", "the chip has no block 2048");
	check_bad("factory_bad=1/2048", "the chip has no block 2048");
	check_good("blocks=8;factory_bad=1/2;factory_bad=count:5");
	check_bad("blocks=8;factory_bad=1/2;factory_bad=count:6",
		  "no good block would be left");
}

static void test_geometry(void)
{
	check_bad("page_bytes=2000", "page_bytes: 2000 is not a power of two");
	check_bad("page_bytes=1536", "page_bytes: 1536 is not a power of two");
	check_bad("pages_per_block=65", "pages_per_block: 65 is not a power");
	check_bad("pages_per_block=96", "pages_per_block: 96 is not a power");
	check_bad("subpages=3", "subpages: 3 is not a power of two");
	check_bad("subpages=6", "subpages: 6 is not a power of two");
	check_bad("ecc_step_bytes=384", "384 does not divide the page");
	check_bad("ecc_step_bytes=4096", "4096 does not divide the page");
	check_good("ecc_step_bytes=2048");
	check_bad("blocks=9;planes=2", "planes: 2 does not divide the blocks");
	check_good("blocks=9;planes=3");
	/* 2^20 blocks of 2^10 pages of 512 and 512 bytes are 2^40 bytes. */
	check_good("blocks=1048576;pages_per_block=1024;page_bytes=512;"
		   "oob_bytes=512");
	check_bad("blocks=1048576;pages_per_block=1024;page_bytes=512;"
		  "oob_bytes=513", "larger than 1 TiB");
	check_bad("blocks=1048576;pages_per_block=1024;page_bytes=1024;"
		  "oob_bytes=8", "larger than 1 TiB");
}

int main(void)
{
	test_defaults();
	test_numbers();
	test_words();
	test_names();
	test_parts();
	test_factory_bad();
	test_geometry();
	return checked();
}
