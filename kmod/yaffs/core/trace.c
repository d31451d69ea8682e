// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the events of trace.h consist of besides the calls: it belongs to no mechanism, and
 * Kbuild leaves it out where the kernel has no tracepoints.
 */

#define CREATE_TRACE_POINTS
#include "trace.h"
