// SPDX-License-Identifier: GPL-2.0-only
/*
 * mtd_statistics.c - see mtd_statistics.h.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "flash/mtd.h"
#include "flash/mtd_statistics.h"

/* The first four are those of struct mtd_ecc_stats, in its order. */
#define IN_IOCTL 4u

static const struct {
	const char *attribute;	/* its file in sysfs */
	const char *key;	/* in the record */
} told[MTD_STATISTICS] = {
	{ "corrected_bits", "corrected_bits" },
	{ "ecc_failures", "ecc_failures" },
	{ "bad_blocks", "bad_blocks" },
	{ "bbt_blocks", "bbt_blocks" },
	{ "ecc_strength", "ecc_strength_bits" },
	{ "bitflip_threshold", "bitflip_threshold_bits" },
};

void mtd_statistics_sysfs(struct mtd_statistics *statistics, int number)
{
	size_t i;

	for (i = 0; i < MTD_STATISTICS; i++)
		statistics->values[i] = mtd_attribute(number,
						      told[i].attribute);
}

void mtd_statistics_fill(struct mtd_statistics *statistics,
			 const struct mtd_ecc_stats *counted)
{
	const uint32_t values[IN_IOCTL] = { counted->corrected, counted->failed,
					    counted->badblocks,
					    counted->bbtblocks };
	size_t i;

	for (i = 0; i < IN_IOCTL; i++)
		if (statistics->values[i] < 0)
			statistics->values[i] = values[i];
}

void mtd_statistics_record(const struct mtd_statistics *statistics,
			   const char *name, const char *label,
			   struct record_sink *sink)
{
	size_t i;

	record_begin(sink, "mtd-statistics");
	record_string(sink, "name", name);
	record_string(sink, "label", label);
	for (i = 0; i < MTD_STATISTICS; i++)
		if (statistics->values[i] >= 0)
			record_signed(sink, told[i].key, statistics->values[i]);
	record_end(sink);
}

/* The ioctl is asked only where sysfs is silent. */
static void fill_by_ioctl(struct mtd_statistics *statistics, int number)
{
	struct mtd_ecc_stats counted;
	size_t i;
	int fd;

	for (i = 0; i < IN_IOCTL && statistics->values[i] >= 0; i++)
		;
	if (i == IN_IOCTL)
		return;
	fd = mtd_open(number, O_RDONLY, NULL);
	if (fd < 0)
		return;
	if (!ioctl(fd, ECCGETSTATS, &counted))
		mtd_statistics_fill(statistics, &counted);
	close(fd);
}

int mtd_statistics_report(const char *name, const char *label,
			  struct record_sink *sink, struct ffs_error *error)
{
	struct mtd_statistics statistics;
	int number = mtd_find(name, error);

	if (number < 0)
		return -1;
	mtd_statistics_sysfs(&statistics, number);
	fill_by_ioctl(&statistics, number);
	mtd_statistics_record(&statistics, name, label, sink);
	return 0;
}
