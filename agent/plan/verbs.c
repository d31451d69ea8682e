// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - the verbs and keys of a plan, as data.
 *
 * Adding a verb takes a row here and a function in steps/steps.c.  The defaults are
 * those of docs/plan-format.md.
 */
#include <string.h>
#include <sys/mount.h>

#include "plan/plan.h"
#include "workloads/micro/params.h"
#include "workloads/micro/prepare.h"
#include "workloads/tree/content.h"

#define MIB(n) ((int64_t)(n) << 20)
/* No flash file system is larger; products of such sizes stay in range. */
#define SIZE_LIMIT MIB(1 << 20)
/* The name of the phase as which a step is measured; empty: it is not. */
#define PHASE_KEY { "phase", KEY_TEXT, "", 0, 0, NULL }

const struct verb_spec plan_verbs[] = {
	{ "insmod", {
		{ "path", KEY_PATH, NULL, 0, 0, NULL },
		{ "args", KEY_TEXT, "", 0, 0, NULL },
	} },
	{ "rmmod", {
		{ "name", KEY_NAME, NULL, 0, 0, NULL },
	} },
	{ "monitor", {
		{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
		{ "chip", KEY_TEXT, "", 0, 0, NULL },
	} },
	{ "trace", {
		{ "on", KEY_NUMBER, NULL, 0, 1, NULL },
	} },
	{ "erase", {
		{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
	} },
	{ "write-image", {
		{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
		{ "path", KEY_PATH, NULL, 0, 0, NULL },
		{ "oob", KEY_NUMBER, "0", 0, 1, NULL },
		PHASE_KEY,
	} },
	{ "ubi-attach", {
		{ "mtd", KEY_NAME, NULL, 0, 0, NULL },
		{ "ubi", KEY_NUMBER, "0", 0, 31, NULL },
		{ "vid_hdr_offset", KEY_NUMBER, "0", 0, MIB(1), NULL },
		{ "max_beb_per1024", KEY_NUMBER, "0", 0, 768, NULL },
		{ "block", KEY_NUMBER, "-1", -1, 127, NULL },
		PHASE_KEY,
	} },
	{ "ubi-mkvol", {
		{ "ubi", KEY_NUMBER, "0", 0, 31, NULL },
		{ "name", KEY_NAME, "data", 0, 0, NULL },
		{ "volume", KEY_NUMBER, "0", 0, 127, NULL },
		{ "size", KEY_SIZE_OR_MAX, "max", 0, 0, NULL },
		PHASE_KEY,
	} },
	{ "ubi-detach", {
		{ "ubi", KEY_NUMBER, "0", 0, 31, NULL },
		PHASE_KEY,
	} },
	{ "mount", {
		{ "type", KEY_NAME, NULL, 0, 0, NULL },
		{ "source", KEY_NAME, NULL, 0, 0, NULL },
		{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "options", KEY_TEXT, "", 0, 0, NULL },
		{ "flags", KEY_MOUNT_FLAGS, "", 0, 0, NULL },
		PHASE_KEY,
	} },
	{ "umount", {
		{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
		PHASE_KEY,
	} },
	{ "sync", {
		{ "target", KEY_PATH, "/mnt", 0, 0, NULL },
		PHASE_KEY,
	} },
	{ "drop-caches", {
		PHASE_KEY,
	} },
	{ "sleep", {
		{ "ms", KEY_NUMBER, NULL, 0, 1000000000000, NULL },
	} },
	{ "settle", {
		{ "quiet_ms", KEY_NUMBER, "1000", 1, 3600000, NULL },
		{ "max_ms", KEY_NUMBER, "600000", 1, 1000000000, NULL },
		PHASE_KEY,
	} },
	{ "snapshot", { { NULL } } },
	{ "memory", { { NULL } } },
	{ "capture", {
		{ "path", KEY_PATH, NULL, 0, 0, NULL },
	} },
	{ "ffsmark", {
		{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "number", KEY_NUMBER, "5000", 1, 10000000, NULL },
		{ "subdirectories", KEY_NUMBER, "50", 0, 1000000, NULL },
		{ "size_min", KEY_NUMBER, "512", 1, MIB(2047), NULL },
		{ "size_max", KEY_NUMBER, "10240", 1, MIB(2047), NULL },
		{ "transactions", KEY_NUMBER, "15000", 0, 100000000, NULL },
		{ "read_bytes", KEY_NUMBER, "4096", 1, MIB(64), NULL },
		{ "write_bytes", KEY_NUMBER, "4096", 1, MIB(64), NULL },
		{ "bias_read", KEY_NUMBER, "5", -1, 10, NULL },
		{ "bias_create", KEY_NUMBER, "5", -1, 10, NULL },
		{ "text", KEY_NUMBER, "1", 0, 1, NULL },
		{ "buffering", KEY_NUMBER, "0", 0, 1, NULL },
		{ "valid_percent", KEY_NUMBER, "0", 0, 100, NULL },
		{ "invalid_percent", KEY_NUMBER, "0", 0, 100, NULL },
		{ "drop_caches", KEY_NUMBER, "1", 0, 1, NULL },
		{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
		{ "verify", KEY_NUMBER, "0", 0, 1, NULL },
		{ "full", KEY_NUMBER, "0", 0, 1, NULL },
	} },
	{ "prepare", {
		{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "state", KEY_CHOICE, "free", 0, 0, prepare_state_names },
		{ "valid_percent", KEY_NUMBER, "0", 0, 100, NULL },
		{ "invalid_percent", KEY_NUMBER, "0", 0, 100, NULL },
		{ "rate_percent", KEY_NUMBER, "0", 0, 100, NULL },
		{ "partition_bytes", KEY_NUMBER, "0", 0, SIZE_LIMIT, NULL },
		{ "file_bytes", KEY_NUMBER, "0", 0, SIZE_LIMIT, NULL },
		{ "test_file", KEY_NUMBER, "0", 0, 1, NULL },
		{ "limit", KEY_NUMBER, "1", 0, 1, NULL },
		{ "unit_bytes", KEY_NUMBER, "131072", 512, MIB(64), NULL },
		{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
	} },
	{ "micro", {
		{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "pattern", KEY_CHOICE, "random-write", 0, 0,
		  micro_kind_names },
		{ "request_bytes", KEY_NUMBER, "4096", 1, MIB(64), NULL },
		{ "volume_bytes", KEY_NUMBER, "20971520", 1, SIZE_LIMIT, NULL },
		{ "file_bytes", KEY_NUMBER, "0", 0, SIZE_LIMIT, NULL },
		{ "existing", KEY_NUMBER, "0", 0, 1, NULL },
		{ "limit", KEY_NUMBER, "1", 0, 1, NULL },
		{ "remove", KEY_NUMBER, "0", 0, 1, NULL },
		{ "settle_ms", KEY_NUMBER, "0", 0, 1000000000000, NULL },
		{ "random", KEY_CHOICE, "shuffle", 0, 0, micro_random_names },
		{ "shift_bytes", KEY_NUMBER, "0", 0, SIZE_LIMIT, NULL },
		{ "target_bytes", KEY_NUMBER, "0", 0, SIZE_LIMIT, NULL },
		{ "partitions", KEY_NUMBER, "1", 1, INT32_MAX, NULL },
		{ "increment", KEY_NUMBER, "1", -(1LL << 31), 1LL << 31, NULL },
		{ "parallel", KEY_NUMBER, "1", 1, MICRO_STREAMS_MAX, NULL },
		{ "mix_pattern", KEY_CHOICE, "", 0, 0, micro_kind_names },
		{ "mix_ratio", KEY_NUMBER, "1", 1, INT32_MAX, NULL },
		{ "pause_us", KEY_NUMBER, "0", 0, 1000000000000, NULL },
		{ "burst", KEY_NUMBER, "1", 1, INT32_MAX, NULL },
		{ "cache", KEY_CHOICE, "drop", 0, 0, micro_cache_names },
		{ "fsync_every", KEY_NUMBER, "0", 0, INT32_MAX, NULL },
		{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
	} },
	{ "tree-create", {
		{ "dir", KEY_PATH, NULL, 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "files", KEY_NAME, "normal(4,1)", 0, 0, NULL },
		{ "directories", KEY_NAME, "normal(3,1)", 0, 0, NULL },
		{ "size", KEY_NAME, "normal(1024,64)", 0, 0, NULL },
		{ "depth", KEY_NAME, "constant(5)", 0, 0, NULL },
		{ "contents", KEY_CHOICE, "random", 0, 0, tree_content_names },
		{ "compressibility_percent", KEY_NUMBER, "0", 0, 100, NULL },
		{ "write_bytes", KEY_NUMBER, "4096", 1, MIB(64), NULL },
		{ "sync", KEY_NUMBER, "0", 0, 1, NULL },
		{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
	} },
	{ "tree-list", {
		{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "stat", KEY_NUMBER, "1", 0, 1, NULL },
	} },
	{ "tree-find", {
		{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "name", KEY_NAME, NULL, 0, 0, NULL },
		{ "stat", KEY_NUMBER, "1", 0, 1, NULL },
	} },
	{ "tree-delete", {
		{ "dir", KEY_PATH, NULL, 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "keep", KEY_NUMBER, "0", 0, 1, NULL },
	} },
	{ "tree-copy", {
		{ "from", KEY_PATH, NULL, 0, 0, NULL },
		{ "dir", KEY_PATH, NULL, 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "exclude", KEY_TEXT, "", 0, 0, NULL },
	} },
	{ "tree-check", {
		{ "dir", KEY_PATH, NULL, 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "files", KEY_NAME, "normal(4,1)", 0, 0, NULL },
		{ "directories", KEY_NAME, "normal(3,1)", 0, 0, NULL },
		{ "size", KEY_NAME, "normal(1024,64)", 0, 0, NULL },
		{ "depth", KEY_NAME, "constant(5)", 0, 0, NULL },
		{ "contents", KEY_CHOICE, "random", 0, 0, tree_content_names },
		{ "compressibility_percent", KEY_NUMBER, "0", 0, 100, NULL },
		{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
	} },
	{ "tree-digest", {
		{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "expect", KEY_TEXT, "", 0, 0, NULL },
		{ "exclude", KEY_TEXT, "", 0, 0, NULL },
	} },
	{ "tree-warm", {
		{ "dir", KEY_PATH, "/mnt", 0, 0, NULL },
		{ "phase", KEY_NAME, NULL, 0, 0, NULL },
		{ "seed", KEY_NUMBER, "1", 0, INT64_MAX, NULL },
	} },
	{ "exec", {
		{ "path", KEY_NAME, NULL, 0, 0, NULL },
		{ "args", KEY_TEXT, "", 0, 0, NULL },
	} },
	{ "shell", {
		{ "path", KEY_PATH, "/bin/sh", 0, 0, NULL },
	} },
	{ NULL, { { NULL } } },
};

unsigned long plan_mount_flag(const char *name, size_t length)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} flags[] = {
		{ "sync", MS_SYNCHRONOUS },
		{ "ro", MS_RDONLY },
		{ "noatime", MS_NOATIME },
		{ "nodiratime", MS_NODIRATIME },
		{ "dirsync", MS_DIRSYNC },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strlen(flags[i].name) == length &&
		    !memcmp(flags[i].name, name, length))
			return flags[i].flag;
	return 0;
}
