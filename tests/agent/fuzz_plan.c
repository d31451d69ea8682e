// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_plan.c - fuzz target: the plan parser.  A plan that is accepted must
 * keep every promise of plan/plan.h; one that is refused must say at which line.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "plan/plan.h"
#include "workloads/micro/params.h"
#include "workloads/micro/pattern.h"
#include "workloads/tree/params.h"

const char *const fuzz_seeds[] = {
	"ffsplan 1\nmount type=jffs2 source=mtd:data flags=sync,noatime\n"
	"ffsmark number=10 valid_percent=50 invalid_percent=25\numount\n",
	"ffsplan 1\nmonitor mtd=a\nsnapshot label=x%20y\ntrace on=1\n",
	"ffsplan 1\nubi-attach mtd=data\nubi-mkvol size=max name=v\n"
	"ubi-mkvol size=4096 volume=1\nubi-detach\n",
	"ffsplan 1\n# c\n\nexec path=/bin/ls args=-l%20%25 may_fail=1\nsync\n",
	"ffsplan 1\ninsmod path=/a args=b\nsleep ms=100\ndrop-caches\nshell\n",
	"ffsplan 1\nprepare state=filled rate_percent=40 partition_bytes=9000000 "
	"file_bytes=4096 test_file=1\nmicro pattern=random-read existing=1 "
	"request_bytes=512 parallel=4 shift_bytes=100 target_bytes=65536\n",
	"ffsplan 1\nmicro pattern=sequential-write mix_pattern=random-write "
	"mix_ratio=3 increment=-2 volume_bytes=100000 pause_us=5 burst=2\n",
	"ffsplan 1\nwrite-image mtd=data path=/h/i oob=1 phase=write\nubi-attach "
	"mtd=data block=0 phase=attach\nmount type=squashfs phase=mount "
	"source=/dev/ubiblock0_0\nmemory label=mount\numount phase=unmount\n"
	"settle phase=settle\ndrop-caches phase=drop\n",
	"ffsplan 1\ntree-create dir=/a phase=create files=uniform(0,9.5) "
	"directories=normal(3,1) size=constant(750) depth=constant(5) "
	"contents=compressible compressibility_percent=50\n"
	"tree-check dir=/a phase=check contents=text\n",
	"ffsplan 1\ntree-list phase=l stat=0\ntree-find phase=f name=x%2A\n"
	"tree-copy from=/a dir=/b phase=c exclude=tree-,copy-\n"
	"tree-digest phase=d expect=0123456789abcdef\n"
	"tree-delete dir=/b phase=e keep=1\ntree-warm phase=w\n",
	"ffsplan 1\nappend-log dir=/a lines=9 line_bytes=32 rotate_bytes=64 "
	"keep=2 sync=fdatasync fsync_every=3 interval_us=5 verify=1\n",
	"ffsplan 1\ndatabase journal=wal page_bytes=512 database_bytes=4096 "
	"pages_per_transaction=7 checkpoint_frames=9 text=0\n",
	NULL,
};

const char *const fuzz_words[] = {
	"ffsplan 1\n", "mount", " type=", " source=", " target=/", " flags=",
	"ffsmark", " size_min=", " size_max=", " seed=", "insmod", "monitor",
	"ubi-mkvol", " size=", "max", "%00", "%ff", "%", "=", " ", "\n", "#",
	" label=", " may_fail=", "snapshot", "-1", "9223372036854775807",
	"9223372036854775808", "sync,", "exec", "prepare", "micro", " pattern=", " mix_pattern=", "random-write",
	"sequential-read", " request_bytes=", " volume_bytes=", " file_bytes=",
	" partitions=", " increment=", " parallel=", " existing=1",
	" target_bytes=", " shift_bytes=", " state=", "saturated",
	"write-image", " oob=", " in_place=1", " path=/", " phase=", " block=",
	"memory",
	"tree-create", "tree-check", "tree-delete", " files=", " directories=",
	" depth=", " contents=", "text", " dir=/", " expect=", "constant(",
	"uniform(", "normal(", ",", ".", ")", "2147483648", NULL,
};

/* What the parser lets through can be laid out, or says why it cannot. */
static void check_micro(const struct plan_step *step)
{
	struct pattern patterns[MICRO_STREAMS_MAX];
	struct micro_params params;
	struct ffs_error error;
	int n;

	micro_params_read(&params, step);
	n = pattern_layout(&params, params.file_bytes, params.volume_bytes,
			   patterns, &error);
	assert(n > 0 || (n == -1 && *error.message && params.existing));
	while (n-- > 0) {
		const struct pattern *p = &patterns[n];

		assert(p->slots && p->requests <= MICRO_REQUESTS_MAX);
		assert(p->first_byte + p->slots * p->request_bytes <=
		       params.file_bytes);
	}
}

/* A tree that the parser lets through can be drawn, within the limits. */
static void check_tree(const struct plan_step *step)
{
	struct shape_directory root, child;
	struct tree_params params;
	struct shape_file file;
	struct ffs_error error;

	assert(!tree_params_read(&params, step, &error));
	shape_root(&params.shape, &root);
	shape_child(&params.shape, &root, 1, &child);
	shape_file_at(&params.shape, &child, 1, &file);
	assert(root.files <= DISTRIBUTION_MAX && root.level == 0);
	assert(child.directories <= DISTRIBUTION_MAX && child.level == 1);
	assert(file.bytes <= DISTRIBUTION_MAX);
}

static void check_step(const struct plan_step *step)
{
	const struct key_spec *key;

	if (!strcmp(step->verb->name, "micro"))
		check_micro(step);
	if (!strcmp(step->verb->name, "tree-create") ||
	    !strcmp(step->verb->name, "tree-check"))
		check_tree(step);
	assert(step->verb && step->verb->name && step->label && step->line > 1);
	for (key = step->verb->keys; key->name; key++) {
		const struct plan_value *value =
			&step->values[key - step->verb->keys];

		assert(value->text);
		if (key->kind == KEY_NUMBER)
			assert(value->number >= key->low &&
			       value->number <= key->high);
		if (key->kind == KEY_SIZE_OR_MAX)
			assert(value->number > 0);
		if (key->kind == KEY_PATH)
			assert(*value->text == '/');
		if (key->kind == KEY_CHOICE && value->number >= 0)
			assert(!strcmp(key->choices[value->number],
				       value->text));
		if (key->kind == KEY_NAME)
			assert(*value->text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ffs_error error;
	struct plan plan;
	size_t i;

	if (plan_parse(&plan, (const char *)data, size, &error)) {
		assert(!strncmp(error.message, "line ", 5));
		return 0;
	}
	for (i = 0; i < plan.n_steps; i++)
		check_step(&plan.steps[i]);
	plan_free(&plan);
	return 0;
}
