// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forecasts of the collector's runs, and what became of them. The prices are measured where
 * the flash is asked (nand.c): by the mount, which reads, and by all that is read, written
 * and erased from then on. Before something of each kind was done a run cannot be foretold;
 * such runs are counted apart.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "forecast.h"
#include "trace.h"

int yaffs_forecast_init(struct yaffs_device *dev)
{
	if (!dev->options.predict)
		return 0;
	dev->forecast = kvzalloc(sizeof(*dev->forecast), GFP_KERNEL);
	return dev->forecast ? 0 : -ENOMEM;
}

void yaffs_forecast_exit(struct yaffs_device *dev)
{
	kvfree(dev->forecast);
	dev->forecast = NULL;
}

static bool knows_prices(const struct yaffs_prices *p,
			 const struct yaffs_work *work)
{
	return p->read_ns && p->program_ns && (p->erase_ns || !work->erases);
}

u64 yaffs_forecast_of(const struct yaffs_device *dev,
		      const struct yaffs_work *work)
{
	return knows_prices(&dev->prices, work) ?
	       yaffs_forecast(&dev->prices, work) : 0;
}

void yaffs_forecast_note(struct yaffs_device *dev, const struct yaffs_work *work,
			 u64 forecast_ns, u64 actual_ns)
{
	struct yaffs_forecast *f = dev->forecast;
	struct yaffs_run *run;
	u32 index;

	f->taken_ns += actual_ns;
	if (forecast_ns) {
		div_u64_rem(f->errors.runs, YAFFS_REMEMBERED_RUNS, &index);
		run = &f->runs[index];
		run->forecast_ns = forecast_ns;
		run->actual_ns = actual_ns;
		run->copies = work->copies;
		run->erases = work->erases;
		yaffs_errors_add(&f->errors, forecast_ns, actual_ns);
		trace_yaffs2_collection(dev, work, forecast_ns, actual_ns);
	} else {
		f->unknown++;
	}
	yaffs_forecast_learn(&dev->prices, work, actual_ns);
}
