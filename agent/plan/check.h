/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * check.h - what one step of a plan asks of its keys together, and of the
 * steps before it.
 */
#ifndef FFSAGENT_PLAN_CHECK_H
#define FFSAGENT_PLAN_CHECK_H

#include <stdbool.h>

#include "core/error.h"
#include "plan/plan.h"

/**
 * plan_check_step() - check a step whose keys are right one by one.
 * @monitored: a step before it attaches the monitor.
 */
int plan_check_step(const struct plan_step *step, bool monitored,
		    struct ffs_error *error);

#endif
