// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - options, and the checks one after the other.
 *
 *   posix --dir /mnt --type jffs2 --source mtd:data [check...]
 *
 * mounts, runs all checks or the named ones, unmounts.  Without --type it uses
 * the directory as it is, and what a check does across a mount is left out.
 * All checks run, also after a failure.
 *
 * Exit status: 0 none failed, 1 some did, 2 wrong usage.
 */
#include <ftw.h>
#include <getopt.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "posix.h"

#define EXIT_SKIPPED 77
#define EXEC_ANSWER 42	/* the check `exec` runs a copy of this program */

enum kind { NUMBER, TEXT, FLAG };

struct option_row {
	const char *name;
	enum kind kind;
	void *field;
	const char *help;
};

struct options opt = {
	.dir = "/mnt",
	.mount_options = "",
	.name_max = 255,
	.symlink_max = 4095,
	.granularity_ns = 1,
	.time_max_s = 4102444800,
	.id_max = 0xfffffffd,
	.xattr_max = 1000,
	.xattr_refused = 65536,
	.size_max = 1ull << 40,
	.entries = 10000,
};

static const struct option_row rows[] = {
	{ "dir", TEXT, &opt.dir, "the directory, or mount point" },
	{ "type", TEXT, &opt.type, "mount: file-system type" },
	{ "source", TEXT, &opt.source, "mount: source" },
	{ "options", TEXT, &opt.mount_options, "mount: options" },
	{ "name-max", NUMBER, &opt.name_max, "bytes" },
	{ "symlink-max", NUMBER, &opt.symlink_max, "bytes" },
	{ "time-granularity-ns", NUMBER, &opt.granularity_ns,
	  "of mtime, ctime" },
	{ "time-max-s", NUMBER, &opt.time_max_s, "latest time, since 1970" },
	{ "id-max", NUMBER, &opt.id_max, "largest user and group" },
	{ "id-refused", NUMBER, &opt.id_refused,
	  "user and group that do not fit, and are refused; 0: none" },
	{ "root-links", NUMBER, &opt.root_links,
	  "links of the root beyond those that a directory has" },
	{ "one-link", FLAG, &opt.one_link,
	  "a directory has one link, whatever is in it" },
	{ "xattr-max", NUMBER, &opt.xattr_max,
	  "bytes of names and values of one file that fit" },
	{ "xattr-refused", NUMBER, &opt.xattr_refused,
	  "bytes of a value that does not fit; 0: all fit" },
	{ "size-max", NUMBER, &opt.size_max, "bytes of a file" },
	{ "entries", NUMBER, &opt.entries, "of the large directory" },
	{ "no-xattr", FLAG, &opt.no_xattr, "no extended attributes" },
	{ "no-security-xattr", FLAG, &opt.no_security, "none in security.*" },
	{ "no-mmap-write", FLAG, &opt.no_mmap_write,
	  "shared mappings for writing are refused" },
	{ "clean-tail", FLAG, &opt.clean_tail,
	  "stores behind the end of a mapped file never show" },
	{ "exchange", FLAG, &opt.exchange, "RENAME_EXCHANGE works" },
	{ "tmpfile", FLAG, &opt.tmpfile, "O_TMPFILE works" },
	{ "small-devices", FLAG, &opt.small_devices,
	  "device numbers have 8 bits for major and minor" },
	{ "blocks-by-size", FLAG, &opt.blocks_by_size,
	  "st_blocks is computed from the size, holes or not" },
	{ "lax-times", FLAG, &opt.lax_times,
	  "ctime may stay where only the number of links or an extended attribute changed, both times at truncate(); both may change at a write of nothing" },
	{ "no-dir-times", FLAG, &opt.no_dir_times,
	  "times of directories do not survive a mount" },
	{ "except", TEXT, &opt.except, "checks not to run, separated by ','" },
	{ "list", FLAG, &opt.list, "print the names of the checks" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct check *const groups[] = {
	name_checks, rename_checks, link_checks, open_checks, data_checks,
	hole_checks, map_checks, time_checks, access_checks, special_checks,
	directory_checks, xattr_checks, mount_checks,
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static void usage(void)
{
	size_t i;

	printf("usage: posix [options] [check...]\n");
	for (i = 0; i < ROWS; i++)
		printf("  --%-20s %s\n", rows[i].name, rows[i].help);
	exit(2);
}

static void parse_options(int argc, char **argv)
{
	struct option table[ROWS + 1] = { 0 };
	int at, result;
	char *end;

	for (at = 0; at < (int)ROWS; at++) {
		table[at].name = rows[at].name;
		table[at].has_arg = rows[at].kind != FLAG;
	}
	while ((result = getopt_long(argc, argv, "", table, &at)) != -1) {
		if (result)
			usage();
		if (rows[at].kind == FLAG) {
			*(bool *)rows[at].field = true;
		} else if (rows[at].kind == TEXT) {
			*(const char **)rows[at].field = optarg;
		} else {
			*(uint64_t *)rows[at].field =
				strtoull(optarg, &end, 0);
			if (end == optarg || *end)
				usage();
		}
	}
}

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

/* Return: a check's exit status, or 1 if it left something bad behind. */
static int run_check(const struct check *check)
{
	char work[512];
	pid_t child;
	int status;

	snprintf(work, sizeof(work), "%s/check", opt.dir);
	if (mkdir(work, 0755) || chmod(work, 0755)) {
		printf("  cannot make %s: %s\n", work, strerror(errno));
		return 1;
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		umask(0);
		if (chdir(work))
			_exit(1);
		check->run();
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (nftw(work, remove_one, 32, FTW_DEPTH | FTW_PHYS)) {
		printf("  cannot remove %s: %s\n", work, strerror(errno));
		return 1;
	}
	if (WIFSIGNALED(status)) {
		printf("  died of signal %d\n", WTERMSIG(status));
		return 1;
	}
	return WEXITSTATUS(status);
}

static bool is_excepted(const char *name)
{
	size_t length = strlen(name);
	const char *at = opt.except;

	while (at && (at = strstr(at, name))) {
		if ((at == opt.except || at[-1] == ',') &&
		    (!at[length] || at[length] == ','))
			return true;
		at += length;
	}
	return false;
}

static bool is_named(const struct check *check, char **names)
{
	if (is_excepted(check->name))
		return false;
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, check->name))
			return true;
	return false;
}

static int known(const char *name)
{
	const struct check *check;
	size_t i;

	for (i = 0; i < GROUPS; i++)
		for (check = groups[i]; check->name; check++)
			if (!strcmp(check->name, name))
				return 1;
	return 0;
}

static unsigned int run_all(char **names)
{
	unsigned int passed = 0, failed = 0, skipped = 0;
	const struct check *check;
	size_t i;

	for (i = 0; i < GROUPS; i++) {
		for (check = groups[i]; check->name; check++) {
			int result;

			if (!is_named(check, names))
				continue;
			result = run_check(check);
			passed += !result;
			skipped += result == EXIT_SKIPPED;
			failed += result && result != EXIT_SKIPPED;
			printf("posix: %s: %s\n", check->name,
			       !result ? "passed" :
			       result == EXIT_SKIPPED ? "skipped" : "FAILED");
		}
	}
	printf("posix: %u passed, %u failed, %u skipped\n", passed, failed,
	       skipped);
	return failed;
}

static void print_list(void)
{
	const struct check *check;
	size_t i;

	for (i = 0; i < GROUPS; i++)
		for (check = groups[i]; check->name; check++)
			printf("%s\n", check->name);
}

int main(int argc, char **argv)
{
	unsigned int failed;
	int i;

	if (argc == 2 && !strcmp(argv[1], "--exec-answer"))
		return EXEC_ANSWER;
	parse_options(argc, argv);
	if (opt.list) {
		print_list();
		return 0;
	}
	for (i = optind; i < argc; i++) {
		if (!known(argv[i])) {
			fprintf(stderr, "posix: no check '%s'; --list names them\n",
				argv[i]);
			return 2;
		}
	}
	umask(0);
	if (opt.type) {
		mkdir(opt.dir, 0755);
		if (mount(opt.source, opt.dir, opt.type, 0, mount_data())) {
			printf("posix: cannot mount: %s\n", strerror(errno));
			return 1;
		}
	}
	failed = run_all(argv + optind);
	if (opt.type && umount(opt.dir)) {
		printf("posix: cannot unmount: %s\n", strerror(errno));
		failed++;
	}
	return failed ? 1 : 0;
}
