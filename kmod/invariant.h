/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assertions of our file systems: what is true at a place unless a programmer erred. What
 * lies on flash may be anything, so nothing that was read from there and not yet judged may
 * be in one.
 *
 * They are there in user space (tests), in a kernel with lockdep (the debug kernel), and if
 * kbuild is given FFSLAB_CHECKS=y. Elsewhere they are no code: the compiler sees the
 * condition, nobody evaluates it.
 *
 * In the kernel one that fails is a warning, the first time at each place, by which every
 * test of the lab fails. A test in user space ends there.
 */
#ifndef FFSLAB_INVARIANT_H
#define FFSLAB_INVARIANT_H

#include "portable.h"

#ifdef __KERNEL__
#include <linux/bug.h>
#include <linux/kconfig.h>
#include <linux/moduleparam.h>

#if defined(FFSLAB_CHECKS) || IS_ENABLED(CONFIG_LOCKDEP)
#define INVARIANTS	1
#else
#define INVARIANTS	0
#endif

#define invariant_broken(fmt, ...) \
	WARN_ONCE(1, "invariant: %s:%d: " fmt "\n", __FILE__, __LINE__, ##__VA_ARGS__)
#else
#include <stdio.h>
#include <stdlib.h>

#define INVARIANTS	1

#define invariant_broken(fmt, ...) \
	do { \
		fprintf(stderr, "invariant: %s:%d: " fmt "\n", __FILE__, __LINE__, \
			##__VA_ARGS__); \
		abort(); \
	} while (0)
#endif

/*
 * @condition holds; it has no side effects. @fmt and what follows say what is wrong, with
 * the values: they are evaluated only then.
 */
#define INVARIANT(condition, fmt, ...) \
	do { \
		if (INVARIANTS && !(condition)) \
			invariant_broken(fmt, ##__VA_ARGS__); \
	} while (0)

/*
 * Defines @name, by which a file system asks whether to look at whole structures after each
 * operation, which takes time: a parameter of the module, on at first. It is the constant 0
 * where there are no assertions, so that the compiler drops what depends on it.
 */
#if !INVARIANTS
#define INVARIANT_SWITCH(name)	enum { name = 0 }
#elif defined(__KERNEL__)
#define INVARIANT_SWITCH(name) \
	static bool name = true; \
	module_param(name, bool, 0644); \
	MODULE_PARM_DESC(name, "look at whole structures after each operation (Y)")
#else
#define INVARIANT_SWITCH(name)	static bool name = true
#endif

#endif
