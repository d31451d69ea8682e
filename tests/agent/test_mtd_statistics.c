// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_mtd_statistics.c - MTD's own statistics, from a directory that stands for
 * /sys/class/mtd (MTD_ROOT, set by the Makefile).
 */
#include <string.h>
#include <sys/stat.h>

#include "emitted.h"
#include "flash/mtd_statistics.h"

#define DEVICE MTD_ROOT "/mtd3"

static void emitted(const struct mtd_statistics *statistics,
		    const char *expected)
{
	static struct record_sink sink;
	FILE *file = emitted_open(&sink);
	char *text;

	mtd_statistics_record(statistics, "data", "end", &sink);
	text = emitted_text(file);
	CHECKF(strstr(text, expected), "got %s", text);
	free(text);
}

static void remove_files(void)
{
	static const char *const names[] = {
		"corrected_bits", "ecc_failures", "bad_blocks",
		"bbt_blocks", "ecc_strength", "bitflip_threshold",
	};
	char path[512];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), DEVICE "/%s", names[i]);
		remove(path);
	}
}

void test_mtd_statistics(void)
{
	static const struct mtd_ecc_stats counted = { 50, 60, 70, 80 };
	struct mtd_statistics statistics;
	struct ffs_error error;

	mkdir(MTD_ROOT, 0755);
	mkdir(DEVICE, 0755);
	remove_files();
	/* A kernel without sysfs's files, and without the ioctl. */
	mtd_statistics_sysfs(&statistics, 3);
	emitted(&statistics, "\"name\":\"data\",\"label\":\"end\"}\n");

	put_file(DEVICE, "corrected_bits", "4294967295\n");
	put_file(DEVICE, "ecc_failures", "0\n");
	put_file(DEVICE, "bad_blocks", "");
	put_file(DEVICE, "bbt_blocks", "four\n");
	put_file(DEVICE, "ecc_strength", "8\n");
	put_file(DEVICE, "bitflip_threshold", "6\n");
	mtd_statistics_sysfs(&statistics, 3);
	emitted(&statistics,
		"\"label\":\"end\",\"corrected_bits\":4294967295,\"ecc_failures\":0,\"ecc_strength_bits\":8,\"bitflip_threshold_bits\":6}\n");

	/* The ioctl says only what the files did not. */
	mtd_statistics_fill(&statistics, &counted);
	emitted(&statistics,
		"\"corrected_bits\":4294967295,\"ecc_failures\":0,\"bad_blocks\":70,\"bbt_blocks\":80,\"ecc_strength_bits\":8,\"bitflip_threshold_bits\":6}\n");
	remove_files();
	CHECK(mtd_statistics_report("no such device", "end", NULL, &error) == -1);
}
