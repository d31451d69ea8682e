// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the collector will take: see forecast.h.
 */

#include "forecast.h"

#define WEIGHT	8

void yaffs_price_learn(u64 *mean_ns, u64 ns)
{
	if (!*mean_ns)
		*mean_ns = ns;
	else if (ns >= *mean_ns)
		*mean_ns += (ns - *mean_ns) / WEIGHT;
	else
		*mean_ns -= (*mean_ns - ns) / WEIGHT;
}

u64 yaffs_forecast_flash(const struct yaffs_prices *prices,
			 const struct yaffs_work *work)
{
	return work->copies * (prices->read_ns + prices->program_ns) +
	       work->summaries * prices->program_ns +
	       work->erases * prices->erase_ns;
}

u64 yaffs_forecast(const struct yaffs_prices *prices,
		   const struct yaffs_work *work)
{
	return yaffs_forecast_flash(prices, work) +
	       work->copies * prices->map_ns;
}

void yaffs_forecast_fit(const struct yaffs_prices *prices, u64 ns, u32 steps,
			struct yaffs_work *work)
{
	u64 copy_ns = prices->read_ns + prices->program_ns + prices->map_ns;
	bool known = prices->read_ns && prices->program_ns;
	u32 copies = work->copies;

	if (!known)
		work->copies = min_t(u32, copies, 1);
	else if (copies * copy_ns > ns)
		work->copies = div64_u64(ns, copy_ns);
	ns -= min_t(u64, ns, work->copies * copy_ns);
	work->erases = work->erases && work->copies == copies &&
		       copies < steps && prices->erase_ns <= ns;
}

void yaffs_forecast_learn(struct yaffs_prices *prices,
			  const struct yaffs_work *work, u64 actual_ns)
{
	u64 flash_ns = yaffs_forecast_flash(prices, work);

	if (work->copies && actual_ns > flash_ns)
		yaffs_price_learn(&prices->map_ns,
				  div_u64(actual_ns - flash_ns, work->copies));
}

void yaffs_errors_add(struct yaffs_errors *errors, u64 forecast_ns,
		      u64 actual_ns)
{
	u64 off_ns = forecast_ns > actual_ns ? forecast_ns - actual_ns :
					       actual_ns - forecast_ns;
	u64 permille = YAFFS_ERROR_STEPS;

	if (off_ns < actual_ns)
		permille = div64_u64(off_ns * YAFFS_ERROR_STEPS, actual_ns);
	errors->runs++;
	errors->permille += permille;
	errors->histogram[permille]++;
}

u32 yaffs_errors_quantile(const struct yaffs_errors *errors, u32 permille)
{
	u64 wanted = errors->runs * permille, below = 0;
	u32 step;

	for (step = 0; step < YAFFS_ERROR_STEPS; step++) {
		below += errors->histogram[step];
		if (below * 1000 >= wanted)
			break;
	}
	return step;
}
