/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * version.h - the version that every result carries.  It changes whenever the
 * agent's behaviour or output does.
 */
#ifndef FFSAGENT_VERSION_H
#define FFSAGENT_VERSION_H

#define FFSAGENT_VERSION "1.0.0"

#endif
