// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the live page: random requests of random tasks, each counted by
 * account.c and given to its task, against a model with room for every task; and
 * what a reader relies on, the sequence and the names.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../live_slots.h"

enum { PAGE = 64, BLOCK = 4 * PAGE, BLOCKS = 8, PIDS = 100 };

static int passed, failed;

static void check(bool good, const char *what, long n)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("FAILED: %s (case %ld)\n", what, n);
}

/* What every task asked for, and in which order the tasks came. */
struct model {
	struct flashmon_share of_pid[PIDS];
	int order[PIDS];
	int tasks;
};

static struct flashmon_block block[BLOCKS];

static struct flashmon_totals new_totals(void)
{
	return (struct flashmon_totals) {
		.page_bytes = PAGE, .block_bytes = BLOCK, .blocks = BLOCKS,
		.block = block,
	};
}

static void add(struct flashmon_share *sum, const struct flashmon_share *more)
{
	sum->pages_read += more->pages_read;
	sum->pages_programmed += more->pages_programmed;
	sum->blocks_erased += more->blocks_erased;
	sum->busy_ns += more->busy_ns;
	sum->oob_pages += more->oob_pages;
}

static bool same(const struct flashmon_live_task *task,
		 const struct flashmon_share *share)
{
	return task->pages_read == share->pages_read &&
	       task->pages_programmed == share->pages_programmed &&
	       task->blocks_erased == share->blocks_erased &&
	       task->busy_ns == share->busy_ns &&
	       task->oob_pages == share->oob_pages;
}

/* Whole pages, so that what a request adds is known without account.c. */
static struct flashmon_share random_request(struct flashmon_totals *t)
{
	struct flashmon_share share = { .busy_ns = (u64)(rand() % 1000) };
	u32 first = (u32)(rand() % 4), n = (u32)(rand() % 4) + 1;
	struct flashmon_request r = { .ns = share.busy_ns };

	switch (rand() % 4) {
	case 3:
		r.offset = (u64)first * PAGE;
		r.oob_pages = n;
		share.oob_pages = n;
		if (n % 2)
			flashmon_count_read(t, &r);
		else
			flashmon_count_program(t, &r);
		break;
	case 0:
		r.offset = (u64)first * PAGE;
		r.data_bytes = (u64)n * PAGE;
		share.pages_read = n;
		flashmon_count_read(t, &r);
		break;
	case 1:
		r.offset = (u64)first * PAGE;
		r.data_bytes = (u64)n * PAGE;
		share.pages_programmed = n;
		flashmon_count_program(t, &r);
		break;
	default:
		r.offset = (u64)first * BLOCK;
		r.data_bytes = (u64)n * BLOCK;
		share.blocks_erased = n;
		flashmon_count_erase(t, &r);
	}
	return share;
}

static void one_request(struct flashmon_live *live, struct flashmon_totals *t,
			struct model *m, int pid)
{
	struct flashmon_share before = flashmon_share_of(&t->counters);
	struct flashmon_share added = random_request(t);
	struct flashmon_share given = flashmon_share_since(&before,
							   &t->counters);
	char name[16] = "";
	int i;

	for (i = 0; i < m->tasks && m->order[i] != pid; i++)
		;
	if (i == m->tasks)
		m->order[m->tasks++] = pid;
	add(&m->of_pid[pid], &added);
	snprintf(name, sizeof(name), "task%d", pid);
	flashmon_live_add(live, pid, name, &given);
}

static void compare(const struct flashmon_live *live,
		    const struct flashmon_totals *t, const struct model *m)
{
	struct flashmon_share sum = { 0 }, others = { 0 };
	struct flashmon_share totals = flashmon_share_of(&t->counters);
	u32 own = (u32)m->tasks < 62 ? (u32)m->tasks : 62;
	char name[16];
	u32 i;

	check(live->tasks == (m->tasks > 62 ? 63 : own), "slots in use",
	      live->tasks);
	for (i = 0; i < own; i++) {
		snprintf(name, sizeof(name), "task%d", m->order[i]);
		check(live->task[i].pid == m->order[i] &&
		      !strcmp((const char *)live->task[i].name, name) &&
		      same(&live->task[i], &m->of_pid[m->order[i]]), "slot", i);
	}
	for (; i < (u32)m->tasks; i++)
		add(&others, &m->of_pid[m->order[i]]);
	if (m->tasks > 62)
		check(live->task[62].pid == -1 &&
		      !strcmp((const char *)live->task[62].name, "(others)") &&
		      same(&live->task[62], &others), "the last slot", 62);
	for (i = 0; i < live->tasks; i++) {
		struct flashmon_share share = {
			.pages_read = live->task[i].pages_read,
			.pages_programmed = live->task[i].pages_programmed,
			.blocks_erased = live->task[i].blocks_erased,
			.busy_ns = live->task[i].busy_ns,
			.oob_pages = live->task[i].oob_pages,
		};

		add(&sum, &share);
	}
	check(!memcmp(&sum, &totals, sizeof(sum)), "sums are the counters", 0);
}

/* With @tasks tasks; the first come again after the page has been cleared. */
static void test_tasks(int tasks)
{
	static struct flashmon_live live;
	struct flashmon_totals t = new_totals();
	struct model m = { 0 };
	int n, round;

	memset(&live, 0, sizeof(live));
	flashmon_live_init(&live);
	check(live.magic == 0x464c4956 && live.version == 1 && !live.tasks,
	      "a new page", tasks);
	for (round = 0; round < 2; round++) {
		for (n = 0; n < 5000; n++) {
			one_request(&live, &t, &m, 1 + rand() % tasks);
			check(live.sequence % 2 == 0, "sequence is even", n);
		}
		compare(&live, &t, &m);
		flashmon_live_clear(&live);
		check(!live.tasks && live.sequence % 2 == 0, "clear", tasks);
		t = new_totals();
		memset(&m, 0, sizeof(m));
	}
	check(live.sequence == 2 * 2 * 5001, "two steps for each change",
	      live.sequence);
}

static void test_names(void)
{
	static struct flashmon_live live;
	const struct flashmon_share none = { 0 };
	const struct flashmon_live_task *task = live.task;

	flashmon_live_add(&live, 7, "a-name-too-long-for-it", &none);
	check(!strcmp((const char *)task->name, "a-name-too-long"),
	      "a long name is cut", 0);
	flashmon_live_add(&live, 7, "sh", &none);
	check(live.tasks == 1 && !strcmp((const char *)task->name, "sh") &&
	      !task->name[3] && !task->name[15], "a task's name may change", 0);
}

int main(void)
{
	srand(1);
	test_tasks(1);
	test_tasks(5);
	test_tasks(62);
	test_tasks(63);
	test_tasks(99);
	test_names();
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
