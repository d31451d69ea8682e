/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much is collected now, and how soon again: by how much is erased, and nothing else.
 * For the tables of policies that decide so.
 */
#ifndef YAFFS_PACE_H
#define YAFFS_PACE_H

#include "policy.h"

bool yaffs_pace_budget(struct yaffs_policy *policy,
		       const struct yaffs_occasion *occasion,
		       struct yaffs_budget *budget);
unsigned int yaffs_pace_urgency(const struct yaffs_policy *policy);

#endif
