// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns.so - loaded into QEMU, it lets the two threads take turns, so that
 * the time of a guest depends on nothing but the guest.
 *
 * With -icount sleep=off the processor's thread counts instructions. When the
 * processor has halted, the main thread sets the clock forward to the next
 * timer. But QEMU (7.2) says that the processor has halted before it has
 * counted its last instructions, and nothing keeps the main thread from
 * looking in between: it sets the clock forward from a time that is too
 * early, and the instructions are added to it later. It looks whenever its
 * poll() returns, which happens once more after each time that it has set the
 * clock. On a busy host that is late enough, once in some hundred guests.
 *
 * So here the main thread, when its poll() has returned, waits until the
 * processor's thread waits for work. It is not needed before: the processor's
 * thread runs the timers that expire while it executes. A signal ends this
 * wait, so that QEMU can be told to end. There are polls within other work of
 * the main thread, too, under QEMU's lock, which the processor's thread may
 * want: there is no wait in these, and no other thread does anything.
 *
 * The processor's thread is the first beside the main one that waits for a
 * condition without a limit of time; QEMU has one for all processors.
 * tests/lab/test_qemu_turns.py makes it late, which changes nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the processor's thread. */
enum { UNKNOWN, AT_WORK, WAITS };

static atomic_int state = UNKNOWN;
static _Atomic(pthread_cond_t *) awaited; /* what it waits for */
static _Atomic(pthread_mutex_t *) lock; /* QEMU's own */
static _Thread_local bool is_processor;

static int (*next_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*next_broadcast)(pthread_cond_t *);
static int (*next_signal)(pthread_cond_t *);
static int (*next_ppoll)(struct pollfd *, nfds_t, const struct timespec *,
			 const sigset_t *);

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

__attribute__((constructor)) static void find(void)
{
	next_wait = next("pthread_cond_wait");
	next_broadcast = next("pthread_cond_broadcast");
	next_signal = next("pthread_cond_signal");
	next_ppoll = next("ppoll");
}

static bool in_main_thread(void)
{
	return syscall(SYS_gettid) == getpid();
}

/* Whether the main thread, which asks, has QEMU's lock; glibc notes the owner. */
static bool is_locked(void)
{
	pthread_mutex_t *known = atomic_load(&lock);

	return known && known->__data.__owner == getpid();
}

/* What it has waited for has come; it cannot be seen as waiting any more. */
static void wake(const pthread_cond_t *condition)
{
	if (atomic_load(&awaited) == condition)
		atomic_store(&state, AT_WORK);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
	wake(condition);
	return next_broadcast(condition);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
	wake(condition);
	return next_signal(condition);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	int result;

	if (!is_processor && atomic_load(&state) == UNKNOWN)
		is_processor = !in_main_thread();
	if (!is_processor)
		return next_wait(condition, mutex);
	atomic_store(&lock, mutex);
	atomic_store(&awaited, condition);
	atomic_store(&state, WAITS);
	syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	result = next_wait(condition, mutex);
	atomic_store(&state, AT_WORK);
	atomic_store(&awaited, NULL);
	return result;
}

static void wait_for_turn(void)
{
	while (atomic_load(&state) == AT_WORK)
		if (syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, AT_WORK,
			    NULL, NULL, 0) && errno == EINTR)
			return;
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *limit,
	  const sigset_t *mask)
{
	int result = next_ppoll(files, count, limit, mask);
	int kept = errno;

	if (in_main_thread() && !is_locked())
		wait_for_turn();
	errno = kept;
	return result;
}
