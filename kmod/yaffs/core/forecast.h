/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the collector expects of itself, and how it came out: mount option gc=predict.
 * Without the option there is no struct yaffs_forecast, and no clock is read.
 */
#ifndef YAFFS_CORE_FORECAST_H
#define YAFFS_CORE_FORECAST_H

#include <linux/ktime.h>

#include "device.h"

/* Runs that are remembered one by one. */
#define YAFFS_REMEMBERED_RUNS	1024

/**
 * struct yaffs_run - one run of the collector: what it did in front of one write, or in one
 *	round of the background
 * @forecast_ns: said before it began
 * @actual_ns: as it came out
 * @copies: pages that were to be moved
 * @erases: blocks that were to be erased: 0 or 1
 */
struct yaffs_run {
	u64 forecast_ns;
	u64 actual_ns;
	u32 copies;
	u32 erases;
};

/**
 * struct yaffs_forecast - of one mount
 * @errors: of all runs
 * @unknown: runs that came before every price was known; they are not in @errors
 * @broken: runs that an error ended, or the time that others took meanwhile; likewise
 * @taken_ns: all runs together, those that were not foretold too
 * @runs: the last of all, run i at i % YAFFS_REMEMBERED_RUNS
 */
struct yaffs_forecast {
	struct yaffs_errors errors;
	u64 unknown;
	u64 broken;
	u64 taken_ns;
	struct yaffs_run runs[YAFFS_REMEMBERED_RUNS];
};

/* 0 or -ENOMEM. */
int yaffs_forecast_init(struct yaffs_device *dev);
void yaffs_forecast_exit(struct yaffs_device *dev);

/* What a run that will do @work takes, in ns; 0: a price is not known yet. */
u64 yaffs_forecast_of(const struct yaffs_device *dev,
		      const struct yaffs_work *work);
/* It did, in @actual_ns; @forecast_ns: what was said before. */
void yaffs_forecast_note(struct yaffs_device *dev, const struct yaffs_work *work,
			 u64 forecast_ns, u64 actual_ns);

/* Whether it is measured what operations of the flash take. */
static inline bool yaffs_has_prices(const struct yaffs_device *dev)
{
	return dev->forecast || dev->bound.ns;
}

/* When an operation of the flash begins. */
static inline u64 yaffs_clock(const struct yaffs_device *dev)
{
	return yaffs_has_prices(dev) ? ktime_get_ns() : 0;
}

/* And when it has ended; @price is one of yaffs_device.prices. */
static inline void yaffs_note_price(const struct yaffs_device *dev, u64 *price,
				    u64 began_ns)
{
	if (yaffs_has_prices(dev))
		yaffs_price_learn(price, ktime_get_ns() - began_ns);
}

#endif
