// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - options and the course of a history; history.h says what it is.
 *
 *   history --dir /mnt --type jffs2 --source mtd:data --options 'a|b' \
 *	     --seed 1 --operations 10000
 *
 * mounts, runs, compares, unmounts.  Without --type it uses the directory as
 * it is, which must be empty but for lost+found.  With --verify-only and
 * otherwise the same options the history is run on the model alone, and what
 * an earlier run left on the file system is compared with it; times are then
 * known only where the history set them.  The options of the mount may differ
 * there if their number is the same.
 *
 * Exit status: 0 all as expected, 1 a difference (printed, with the command
 * that repeats it), 2 wrong usage, 3 no memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ops_tree.h"

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
	ROW("verify-only", FLAG, verify_only, "compare what a run left"),
	ROW("delete-all", FLAG, delete_all,
	    "at the end delete all; the space must be back"),
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct options defaults = {
	.dir = "/mnt",
	.mount_options = "",
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

static void parse_options(struct options *opt, int argc, char **argv)
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

/* The root as a history finds it: of a known owner and mode, empty. */
static void begin(struct history *h)
{
	char path[PATH_BYTES];
	struct statvfs space;

	h->begun_ns = h->live ? clock_ns() : 0;
	node_path(h, h->model.root, SCRATCH, path);
	CALL(h, 0, chmod(h->opt.dir, 0755));
	CALL(h, 0, chown(h->opt.dir, 0, 0));
	CALL(h, 0, mkdir(path, 0700));
	touch(h, h->model.root, MODIFIED | CHANGED);
	if (!h->live)
		return;
	CALL(h, 0, statvfs(h->opt.dir, &space));
	h->first_free = space.f_bfree * space.f_frsize;
	compare_tree(h);
}

static void run(struct history *h)
{
	for (h->op = 1; h->op <= h->opt.operations; h->op++) {
		run_operation(h);
		if (h->live && h->op % h->opt.compare_every == 0)
			compare_tree(h);
	}
	h->op = h->opt.operations;
	/* A descriptor dies with the program, and a file without a name. */
	handles_close_all(h);
}

static void delete_all(struct history *h)
{
	struct statvfs space;
	uint64_t after;
	int fd = -1;

	h->begun_ns = h->live ? clock_ns() : 0;
	remove_everything(h);
	if (!h->live)
		return;
	compare_tree(h);
	CALL(h, 0, fd = open(h->opt.dir, O_RDONLY | O_CLOEXEC));
	CALL(h, 0, syncfs(fd));
	CALL(h, 0, close(fd));
	CALL(h, 0, statvfs(h->opt.dir, &space));
	after = space.f_bfree * space.f_frsize;
	if (after + space.f_blocks * space.f_frsize / 16 < h->first_free)
		fail(h, NULL, "all is deleted, free bytes: expected %llu, found %llu",
		     (unsigned long long)h->first_free,
		     (unsigned long long)after);
}

static void live_history(struct history *h)
{
	h->live = true;
	mount_first(h);
	begin(h);
	run(h);
	compare_tree(h);
	if (h->opt.delete_all)
		delete_all(h);
	mount_last(h);
}

/* The history on the model, then the file system as it is, or is mounted. */
static void verify_history(struct history *h)
{
	mount_first(h);
	begin(h);
	run(h);
	if (h->opt.delete_all)
		delete_all(h);
	h->live = true;
	h->op = h->opt.operations;
	if (h->opt.type) {
		mkdir(h->opt.dir, 0755);
		CALL(h, 0, mount(h->opt.source, h->opt.dir, h->opt.type, 0,
				 h->mount_data));
		h->mounted = true;
	}
	compare_tree(h);
	mount_last(h);
}

int main(int argc, char **argv)
{
	static struct history history;
	struct history *h = &history;

	parse_options(&h->opt, argc, argv);
	h->argc = argc;
	h->argv = argv;
	h->buffer = allocate(BUFFER_BYTES);
	h->other = allocate(BUFFER_BYTES);
	rng_seed(&h->rng, h->opt.seed);
	rng_seed(&h->aux, ~h->opt.seed);
	model_init(&h->model);
	h->model.root->links += h->opt.root_links;
	umask(0);
	if (h->opt.verify_only)
		verify_history(h);
	else
		live_history(h);
	printf("history: passed, seed %llu, operations %llu, names %zu, bytes %llu\n",
	       (unsigned long long)h->opt.seed,
	       (unsigned long long)h->opt.operations, h->model.entries,
	       (unsigned long long)h->model.bytes);
	return 0;
}
