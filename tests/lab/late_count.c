// SPDX-License-Identifier: GPL-2.0-only
/*
 * late_count.so - loaded into QEMU, it makes what is rare likelier: each time
 * that the processor's thread leaves the guest's code by a jump, which is what
 * it does to halt, it is late to count what it has executed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#define LATE_US 100

typedef void (*jump)(sigjmp_buf, int);

void __longjmp_chk(sigjmp_buf place, int value);

static _Noreturn void jump_late(const char *name, sigjmp_buf place, int value)
{
	jump next = (jump)dlsym(RTLD_NEXT, name);

	if (next) {
		usleep(LATE_US);
		next(place, value);
	}
	abort();
}

void __longjmp_chk(sigjmp_buf place, int value)
{
	jump_late("__longjmp_chk", place, value);
}

void siglongjmp(sigjmp_buf place, int value)
{
	jump_late("siglongjmp", place, value);
}
