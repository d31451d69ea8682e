// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan_verbs.c - the verbs and keys of a plan, as data.
 *
 * Adding a verb takes a row here and a function in steps.c.  The defaults are
 * those of docs/plan-format.md.
 */
#include <string.h>
#include <sys/mount.h>

#include "plan.h"

#define MIB(n) ((int64_t)(n) << 20)

const struct verb_spec plan_verbs[] = {
	{ "insmod", {
		{ "path", KEY_PATH, NULL, 0, 0 },
		{ "args", KEY_TEXT, "", 0, 0 },
	} },
	{ "rmmod", {
		{ "name", KEY_NAME, NULL, 0, 0 },
	} },
	{ "monitor", {
		{ "mtd", KEY_NAME, NULL, 0, 0 },
	} },
	{ "trace", {
		{ "on", KEY_NUMBER, NULL, 0, 1 },
	} },
	{ "erase", {
		{ "mtd", KEY_NAME, NULL, 0, 0 },
	} },
	{ "ubi-attach", {
		{ "mtd", KEY_NAME, NULL, 0, 0 },
		{ "ubi", KEY_NUMBER, "0", 0, 31 },
		{ "vid_hdr_offset", KEY_NUMBER, "0", 0, MIB(1) },
		{ "max_beb_per1024", KEY_NUMBER, "0", 0, 768 },
	} },
	{ "ubi-mkvol", {
		{ "ubi", KEY_NUMBER, "0", 0, 31 },
		{ "name", KEY_NAME, "data", 0, 0 },
		{ "volume", KEY_NUMBER, "0", 0, 127 },
		{ "size", KEY_SIZE_OR_MAX, "max", 0, 0 },
	} },
	{ "ubi-detach", {
		{ "ubi", KEY_NUMBER, "0", 0, 31 },
	} },
	{ "mount", {
		{ "type", KEY_NAME, NULL, 0, 0 },
		{ "source", KEY_NAME, NULL, 0, 0 },
		{ "target", KEY_PATH, "/mnt", 0, 0 },
		{ "options", KEY_TEXT, "", 0, 0 },
		{ "flags", KEY_MOUNT_FLAGS, "", 0, 0 },
	} },
	{ "umount", {
		{ "target", KEY_PATH, "/mnt", 0, 0 },
	} },
	{ "sync", {
		{ "target", KEY_PATH, "/mnt", 0, 0 },
	} },
	{ "drop-caches", { { NULL } } },
	{ "sleep", {
		{ "ms", KEY_NUMBER, NULL, 0, 1000000000000 },
	} },
	{ "settle", {
		{ "quiet_ms", KEY_NUMBER, "1000", 1, 3600000 },
		{ "max_ms", KEY_NUMBER, "600000", 1, 1000000000 },
	} },
	{ "snapshot", { { NULL } } },
	{ "capture", {
		{ "path", KEY_PATH, NULL, 0, 0 },
	} },
	{ "ffsmark", {
		{ "dir", KEY_PATH, "/mnt", 0, 0 },
		{ "number", KEY_NUMBER, "5000", 1, 10000000 },
		{ "subdirectories", KEY_NUMBER, "50", 0, 1000000 },
		{ "size_min", KEY_NUMBER, "512", 1, MIB(2047) },
		{ "size_max", KEY_NUMBER, "10240", 1, MIB(2047) },
		{ "transactions", KEY_NUMBER, "15000", 0, 100000000 },
		{ "read_bytes", KEY_NUMBER, "4096", 1, MIB(64) },
		{ "write_bytes", KEY_NUMBER, "4096", 1, MIB(64) },
		{ "bias_read", KEY_NUMBER, "5", -1, 10 },
		{ "bias_create", KEY_NUMBER, "5", -1, 10 },
		{ "text", KEY_NUMBER, "1", 0, 1 },
		{ "buffering", KEY_NUMBER, "0", 0, 1 },
		{ "valid_percent", KEY_NUMBER, "0", 0, 100 },
		{ "invalid_percent", KEY_NUMBER, "0", 0, 100 },
		{ "drop_caches", KEY_NUMBER, "1", 0, 1 },
		{ "seed", KEY_NUMBER, "1", 0, INT64_MAX },
		{ "verify", KEY_NUMBER, "0", 0, 1 },
		{ "full", KEY_NUMBER, "0", 0, 1 },
	} },
	{ "exec", {
		{ "path", KEY_NAME, NULL, 0, 0 },
		{ "args", KEY_TEXT, "", 0, 0 },
	} },
	{ "shell", {
		{ "path", KEY_PATH, "/bin/sh", 0, 0 },
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
