/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: a mutex of a program with one thread, so it is only seen that it is kept to. */
#ifndef USER_LINUX_MUTEX_H
#define USER_LINUX_MUTEX_H

#include <linux/kernel.h>

#include "../../../invariant.h"

struct mutex {
	bool held;
};

void mutex_init(struct mutex *lock);
void mutex_destroy(struct mutex *lock);
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

#define lockdep_assert_held(lock) \
	INVARIANT((lock)->held, "%s is not held", #lock)

#endif
