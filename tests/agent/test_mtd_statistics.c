// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_mtd_statistics.c - MTD's own statistics, from a directory that stands for
 * /sys/class/mtd (MTD_ROOT, set by the Makefile).
 */
#include <string.h>
#include <sys/stat.h>

#include "flash/mtd_statistics.h"
#include "harness.h"

static void put_file(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/mtd3/%s", MTD_ROOT, name);
	file = fopen(path, "w");
	if (CHECKF(file != NULL, "cannot create %s", path)) {
		fputs(text, file);
		fclose(file);
	}
}

static void emitted(const struct mtd_statistics *statistics,
		    const char *expected)
{
	static struct record_sink sink;
	char text[512] = "";
	FILE *file = tmpfile();

	if (!CHECK(file != NULL))
		return;
	record_sink_init(&sink, fileno(file));
	mtd_statistics_record(statistics, "data", "end", &sink);
	rewind(file);
	CHECK(fgets(text, sizeof(text), file) != NULL);
	fclose(file);
	CHECKF(strstr(text, expected), "got %s", text);
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
		snprintf(path, sizeof(path), "%s/mtd3/%s", MTD_ROOT, names[i]);
		remove(path);
	}
}

void test_mtd_statistics(void)
{
	static const struct mtd_ecc_stats counted = { 50, 60, 70, 80 };
	struct mtd_statistics statistics;
	struct ffs_error error;

	mkdir(MTD_ROOT, 0755);
	mkdir(MTD_ROOT "/mtd3", 0755);
	remove_files();
	/* A kernel without sysfs's files, and without the ioctl. */
	mtd_statistics_sysfs(&statistics, 3);
	emitted(&statistics, "\"name\":\"data\",\"label\":\"end\"}\n");

	put_file("corrected_bits", "4294967295\n");
	put_file("ecc_failures", "0\n");
	put_file("bad_blocks", "");
	put_file("bbt_blocks", "four\n");
	put_file("ecc_strength", "8\n");
	put_file("bitflip_threshold", "6\n");
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
