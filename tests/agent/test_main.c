// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_main.c - runs the unit tests; the last line is the count.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

static unsigned int passed, failed;

bool check(bool good, const char *file, int line, const char *format, ...)
{
	va_list args;

	if (good) {
		passed++;
		return true;
	}
	failed++;
	printf("FAIL %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return false;
}

/* What asks for more memory than there is gets none, as without a sanitizer. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

void scratch_template(char *path, size_t size, const char *name)
{
	const char *directory = getenv("TMPDIR");

	if (!access("/dev/shm", W_OK))
		directory = "/dev/shm";
	else if (!directory || !*directory)
		directory = "/tmp";
	snprintf(path, size, "%s/ffsagent-%s-XXXXXX", directory, name);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} suites[] = {
#define SUITE(name) { #name, test_##name },
		SUITES(SUITE)
#undef SUITE
	};
	size_t i;

	for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		unsigned int before = failed;

		suites[i].run();
		printf("%s %s\n", failed == before ? "ok  " : "FAIL",
		       suites[i].name);
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
