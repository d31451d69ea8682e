// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_whose_time.c - whose the time of a phase was, from a page that the test writes
 * as the kernel would.
 */
#include <string.h>

#include "emitted.h"
#include "measure/whose_time.h"

static void pass(struct vtime *page, size_t task, enum vtime_part part,
		 uint64_t ns)
{
	page->task[task].ns[part] += ns;
	page->now_ns += ns;
	if (page->tasks <= task)
		page->tasks = task + 1;
}

static char *put_whose(const struct whose_time *whose, uint64_t t_end_ns)
{
	struct record_sink sink;
	FILE *file = emitted_open(&sink);

	record_begin(&sink, "t");
	whose_time_put(whose, t_end_ns, &sink);
	record_end(&sink);
	return emitted_text(file);
}

static void check_put(const struct whose_time *whose, uint64_t t_end_ns,
		      const char *expected)
{
	char *text = put_whose(whose, t_end_ns);

	CHECKF(!strcmp(text, expected), "%s", text);
	free(text);
}

void test_whose_time(void)
{
	const volatile struct vtime *lab = ffs_time_page;
	static struct vtime page;
	static struct whose_time whose;

	ffs_time_page = NULL;
	whose_time_begin(&whose);
	whose_time_end(&whose);
	check_put(&whose, 0, "{\"v\":1,\"type\":\"t\"}\n");

	ffs_time_page = &page;
	memcpy(page.task[0].name, "init", 4);
	memcpy(page.task[1].name, "idle", 4);
	memcpy(page.task[2].name, "a_name_of_16_let", VTIME_NAME_BYTES);
	pass(&page, 0, VTIME_CODE, 1000);
	pass(&page, 1, VTIME_CHIP, 50);
	whose_time_begin(&whose);
	check_put(&whose, page.now_ns, "{\"v\":1,\"type\":\"t\"}\n");
	pass(&page, 0, VTIME_CODE, 7);
	pass(&page, 0, VTIME_DRIVER, 5);
	/* A task that was not there at the beginning. */
	pass(&page, 2, VTIME_CHIP, 3);
	whose_time_end(&whose);
	pass(&page, 0, VTIME_CODE, 100);
	check_put(&whose, 1065,
		  "{\"v\":1,\"type\":\"t\",\"task_times\":["
		  "{\"name\":\"init\",\"code_ns\":7,\"driver_ns\":5,\"chip_ns\":0},"
		  "{\"name\":\"a_name_of_16_let\",\"code_ns\":0,\"driver_ns\":0,\"chip_ns\":3}]}\n");
	/* The phase ended before: these are not its times. */
	check_put(&whose, 1064, "{\"v\":1,\"type\":\"t\"}\n");
	ffs_time_page = lab;
}
