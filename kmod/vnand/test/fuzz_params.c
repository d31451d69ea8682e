// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the parser of a chip description: fuzz_params RUNS SEED mutates valid
 * descriptions. The sanitizers judge; besides, what is accepted must be within
 * its bounds, and what is refused must come with a message. Also a libFuzzer
 * target (LLVMFuzzerTestOneInput).
 */

#include "../faults.h"
#include "../params.h"

static void judge(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_params: %s\n", what);
	abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct vnand_params p;
	char message[128] = "";
	char *text = malloc(size + 1);
	u32 i;

	memcpy(text, data, size);
	text[size] = '\0';
	if (vnand_params_parse(text, &p, message, sizeof(message))) {
		judge(message[0] != '\0', "refused without a message");
	} else {
		judge(p.page_bytes >= 512 && p.page_bytes <= 16384, "page size");
		judge(p.parts <= VNAND_MAX_PARTS, "number of partitions");
		for (i = 0; i < p.parts; i++)
			judge(p.part[i].first_block + p.part[i].blocks <=
			      p.blocks, "a partition outside the chip");
		judge(p.factory_bads <= VNAND_MAX_BAD, "number of bad blocks");
		judge(strlen(p.name) < VNAND_NAME_LEN, "name");
	}
	free(text);
	return 0;
}

static u64 draw(u64 *state, u64 bound)
{
	*state = vnand_hash(*state, 1, 0, 0, 0);
	return (*state >> 16) % bound;
}

int main(int argc, char **argv)
{
	static const char * const seeds[] = {
		"name=nand0;page_bytes=2048;oob_bytes=64;blocks=2048",
		"parts=data@0+800/rest@800+1248;wait=interrupt;rules=fatal",
		"factory_bad=3/17/99;store=iomem:flash0;seed=18446744073709551615",
		"factory_bad=count:20;t_read_ns=25000;rber_e12=1000000",
		"driver_read_ns=165000;driver_program_ns=0;driver_erase_ns=20000",
	};
	static const char alphabet[] = "=;/@+:0123456789abkmnopst_\xff\n ";
	long runs = argc > 1 ? atol(argv[1]) : 100000;
	u64 state = argc > 2 ? (u64)atol(argv[2]) : 1;
	long run;

	for (run = 0; run < runs; run++) {
		char text[256];
		size_t size, changes;

		size = (size_t)snprintf(text, sizeof(text), "%s",
					seeds[draw(&state, sizeof(seeds) /
						   sizeof(*seeds))]);
		for (changes = 1 + draw(&state, 4); changes; changes--) {
			size_t at = draw(&state, size);

			if (draw(&state, 8) == 0)
				size = at + 1;
			else
				text[at] = alphabet[draw(&state,
							 sizeof(alphabet) - 1)];
		}
		LLVMFuzzerTestOneInput((u8 *)text, size);
	}
	printf("fuzz_params: %ld descriptions\n", runs);
	return 0;
}
