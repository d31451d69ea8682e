/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the collector will take: as published, a sum over what it has to do,
 *
 *	copies * (t_read + t_program + t_map) + erases * t_erase
 *
 * with a program more for each summary that the copies fill up a block to. The times are
 * those of this chip on this board, as they were measured last, with the bus, the ECC and
 * the code; t_map is what a copy takes beside its read and its program: the maps in memory
 * that are brought up to date. Pure.
 */
#ifndef YAFFS_FORECAST_H
#define YAFFS_FORECAST_H

#include "../../portable.h"

/* Errors of a tenth of a percent each are counted apart, up to 100 %. */
#define YAFFS_ERROR_STEPS	1000

/**
 * struct yaffs_prices - moving means, in ns; 0: not measured yet
 * @read_ns: a page with its tags
 * @program_ns: likewise
 * @erase_ns: a block
 * @map_ns: what a copy takes beside
 */
struct yaffs_prices {
	u64 read_ns;
	u64 program_ns;
	u64 erase_ns;
	u64 map_ns;
};

/**
 * struct yaffs_work - what a run of the collector does
 * @copies: pages moved
 * @summaries: pages of summaries written on the way
 * @erases: blocks
 */
struct yaffs_work {
	u32 copies;
	u32 summaries;
	u32 erases;
};

/**
 * struct yaffs_errors - how far forecasts were off
 * @runs: forecasts
 * @permille: the sum of their errors, relative to what the run took, in tenths of a percent
 * @histogram: forecasts by their error; the last: by so much and more
 */
struct yaffs_errors {
	u64 runs;
	u64 permille;
	u32 histogram[YAFFS_ERROR_STEPS + 1];
};

/* The mean goes an eighth of the way to what was measured now. */
void yaffs_price_learn(u64 *mean_ns, u64 ns);
/* What @work takes of flash alone. */
u64 yaffs_forecast_flash(const struct yaffs_prices *prices,
			 const struct yaffs_work *work);
/* What it takes. */
u64 yaffs_forecast(const struct yaffs_prices *prices,
		   const struct yaffs_work *work);
/*
 * Reduces @work to what fits into @ns; of @steps, an erase is one. Before the prices are known
 * that is a copy at most.
 */
void yaffs_forecast_fit(const struct yaffs_prices *prices, u64 ns, u32 steps,
			struct yaffs_work *work);
/* From a run that did @work: what was not flash is of its copies. */
void yaffs_forecast_learn(struct yaffs_prices *prices,
			  const struct yaffs_work *work, u64 actual_ns);

void yaffs_errors_add(struct yaffs_errors *errors, u64 forecast_ns,
		      u64 actual_ns);
/* The error that so many permille of all forecasts do not exceed, in permille. */
u32 yaffs_errors_quantile(const struct yaffs_errors *errors, u32 permille);

#endif
