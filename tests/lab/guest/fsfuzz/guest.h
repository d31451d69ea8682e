/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the program needs of the guest's kernel: its log, its modules, its files,
 * and kmemleak.
 */
#ifndef FSFUZZ_GUEST_H
#define FSFUZZ_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A line of the kernel's log, so that it stands in order with what the kernel
 * reports; without a kernel log (on a host) of standard error.
 */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for something that is wrong: the host looks for these. */
void finding(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How many findings there were. */
unsigned int findings(void);
/* Ends the program: the machinery itself does not work. */
void die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Lets every line of say() through to the console. */
void guest_prepare(void);
void module_load(const char *path, const char *args);
void module_unload(const char *name);
/* Contents of a file, NUL-terminated; NULL if it cannot be read. To be freed. */
char *file_text(const char *path);
bool file_write(const char *path, const char *text);
void sleep_ms(unsigned int ms);
void drop_caches(void);

/*
 * Looks for leaks since the last call, twice, since the first scan finds pointers
 * on stacks that are gone at the second. Each is a finding. Does nothing in a
 * kernel without kmemleak.
 */
void leaks_check(void);

#endif
