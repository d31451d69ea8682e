// SPDX-License-Identifier: GPL-2.0-only
/* options.c - see options.h. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/random/model.h"
#include "workloads/random/options.h"

static const struct shape shapes[] = {
	{ "mixed", { 1, 1, 1, 1 }, 300, 256 << 10, 16 << 20 },
	{ "names", { 1, 5, 1, 1 }, 600, 16 << 10, 1 << 20 },
	{ "data", { 5, 1, 1, 1 }, 60, 256 << 10, 16 << 20 },
	{ "small-files", { 1, 1, 1, 1 }, 1000, 8 << 10, 1 << 20 },
	{ "large-files", { 1, 1, 1, 1 }, 30, 1 << 20, 16 << 20 },
	{ "holes", { 1, 1, 1, 1 }, 300, 256 << 10, 128 << 20 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

const char *const shape_names[] = { "mixed", "names", "data", "small-files",
				    "large-files", "holes", NULL };

enum kind { NUMBER, TEXT, FLAG };

struct option_row {
	const char *name;
	enum kind kind;
	size_t offset;
	const char *help;
};

#define ROW(name, kind, field, help) \
	{ name, kind, offsetof(struct options, field), help }

static const struct option_row rows[] = {
	ROW("dir", TEXT, dir, "the directory, or mount point"),
	ROW("type", TEXT, type, "mount: file-system type"),
	ROW("source", TEXT, source, "mount: source"),
	ROW("options", TEXT, mount_options,
	    "mount: options; alternatives by '|', one is drawn per mount"),
	ROW("seed", NUMBER, seed, "a whole history"),
	ROW("operations", NUMBER, operations, "how many"),
	ROW("compare-every", NUMBER, compare_every, "operations"),
	ROW("bytes-max", NUMBER, bytes_max, "contents of all files"),
	ROW("file-max", NUMBER, file_max, "size of a file, about"),
	ROW("sparse-max", NUMBER, sparse_max, "size of a file with holes"),
	ROW("nodes-max", NUMBER, nodes_max, "files and directories"),
	ROW("chunk", NUMBER, chunk, "bytes, the file system's unit of data"),
	ROW("name-max", NUMBER, name_max, "bytes"),
	ROW("name-used", NUMBER, name_used,
	    "bytes of the longest name that is used; 0: --name-max"),
	ROW("symlink-max", NUMBER, symlink_max, "bytes"),
	ROW("xattr-max", NUMBER, xattr_max,
	    "bytes of names and values of one file"),
	ROW("xattr-refused", NUMBER, xattr_refused,
	    "bytes of a value that is too large; 0: not tried"),
	ROW("time-granularity-ns", NUMBER, granularity_ns, "of mtime, ctime"),
	ROW("time-max-s", NUMBER, time_max_s, "latest time, since 1970"),
	ROW("id-max", NUMBER, id_max, "largest user and group"),
	ROW("root-links", NUMBER, root_links,
	    "links of the root beyond those that a directory has"),
	ROW("one-link", FLAG, one_link,
	    "a directory has one link, whatever is in it"),
	ROW("sleep-max-ms", NUMBER, sleep_max_ms, "0: never sleep"),
	ROW("trace-from", NUMBER, trace_from, "print operations from here on"),
	ROW("fills", NUMBER, fills, "how often to fill it up; 0: never"),
	ROW("no-xattr", FLAG, no_xattr, "no extended attributes"),
	ROW("no-security-xattr", FLAG, no_security, "none in security.*"),
	ROW("no-dir-times", FLAG, no_dir_times,
	    "times of directories do not survive"),
	ROW("xattr-files-only", FLAG, xattr_files_only,
	    "extended attributes of regular files and directories only"),
	ROW("no-mmap-write", FLAG, no_mmap_write,
	    "shared mappings for writing are refused"),
	ROW("clean-tail", FLAG, clean_tail,
	    "stores behind the end of a mapped file never show"),
	ROW("exchange", FLAG, exchange, "RENAME_EXCHANGE works"),
	ROW("tmpfile", FLAG, tmpfile, "O_TMPFILE works"),
	ROW("may-shrink", FLAG, may_shrink,
	    "blocks go bad, so the total of statfs() becomes smaller"),
	ROW("small-devices", FLAG, small_devices,
	    "device numbers have 8 bits for major and minor"),
	ROW("lax-times", FLAG, lax_times,
	    "ctime may stay, or fall back at a mount, where a name or an extended attribute changed; both times may stay at truncate()"),
	ROW("late-times", FLAG, late_times,
	    "a time may later prove to be that of another moment of the operation that set it"),
	ROW("turn-over-bytes", NUMBER, turn_over_bytes,
	    "written and deleted by one operation; 0: never"),
	ROW("keep-emptied", FLAG, keep_emptied,
	    "no directory takes the name of an empty one"),
	ROW("no-times", FLAG, no_times, "times are not compared"),
	ROW("calls", TEXT, calls, "a file of calls, made instead of drawing any"),
	ROW("without", TEXT, without, "calls to be left out: 0-7,12-12"),
	ROW("tell-calls", FLAG, tell_calls, "print the calls, make none"),
	ROW("verify-only", FLAG, verify_only, "compare what a run left"),
	ROW("delete-all", FLAG, delete_all,
	    "at the end delete all; the space must be back"),
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct options defaults = {
	.dir = "/mnt",
	.mount_options = "",
	.without = "",
	.seed = 1,
	.operations = 1000,
	.compare_every = 500,
	.bytes_max = 3 << 20,
	.file_max = 256 << 10,
	.sparse_max = 16 << 20,
	.nodes_max = 300,
	.chunk = 2048,
	.name_max = 255,
	.symlink_max = 4095,
	.xattr_max = 1000,
	.granularity_ns = 1,
	.time_max_s = 4102444800,
	.id_max = 0xfffffffd,
	.trace_from = UINT64_MAX,
	.fills = 4,
	.after = AFTER_NOTHING,
	.shape = &shapes[0],
};

static void usage(void)
{
	size_t i;

	printf("usage: history [options]\n");
	for (i = 0; i < ROWS; i++)
		printf("  --%-20s %s\n", rows[i].name, rows[i].help);
	exit(2);
}

static uint64_t parse_number(const char *name, const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end) {
		fprintf(stderr, "history: --%s takes a number, not '%s'\n",
			name, text);
		exit(2);
	}
	return value;
}

const struct shape *shape_find(const char *name)
{
	size_t i;

	for (i = 0; i < SHAPES; i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	return NULL;
}

void options_shape(struct options *opt, const struct shape *shape)
{
	uint64_t quarter = opt->bytes_max / 4;

	opt->shape = shape;
	opt->nodes_max = shape->nodes_max;
	opt->file_max = shape->file_max < quarter ? shape->file_max : quarter;
	opt->sparse_max = shape->sparse_max;
}

void options_preset(struct options *opt)
{
	*opt = defaults;
}

void options_parse(struct options *opt, int argc, char **argv)
{
	struct option table[ROWS + 1] = { 0 };
	int at, result;

	for (at = 0; at < (int)ROWS; at++) {
		table[at].name = rows[at].name;
		table[at].has_arg = rows[at].kind != FLAG;
	}
	*opt = defaults;
	while ((result = getopt_long(argc, argv, "", table, &at)) != -1) {
		void *field = (char *)opt + rows[at].offset;

		if (result)
			usage();
		if (rows[at].kind == NUMBER)
			*(uint64_t *)field =
				parse_number(rows[at].name, optarg);
		else if (rows[at].kind == TEXT)
			*(const char **)field = optarg;
		else
			*(bool *)field = true;
	}
	if (!opt->name_used)
		opt->name_used = opt->name_max;
	if (optind < argc || !opt->name_max || opt->name_max > 255 ||
	    opt->symlink_max < 2 || opt->symlink_max > 4095 || !opt->chunk ||
	    !opt->granularity_ns || !opt->compare_every ||
	    opt->xattr_max > 65536 || opt->xattr_refused > 65536 ||
	    opt->bytes_max < 100000 || opt->file_max < PAGE ||
	    opt->sparse_max < opt->file_max)
		usage();
}
