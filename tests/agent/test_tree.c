// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_tree.c - the shape of generated trees, what is in their files, and the
 * steps tree-* on a directory of the host, with sanitizers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/record.h"
#include "harness.h"
#include "plan/plan.h"
#include "steps/step.h"
#include "workloads/tree/descent.h"
#include "workloads/tree/shape.h"
#include "workloads/tree/walk.h"

/* --- shape --------------------------------------------------------------- */

static struct tree_shape shape_of(const char *files, const char *directories,
				  const char *size, const char *depth)
{
	struct tree_shape shape = { .seed = 1 };
	struct ffs_error error;

	CHECK(!distribution_parse(&shape.files, "files", files, &error));
	CHECK(!distribution_parse(&shape.directories, "directories",
				  directories, &error));
	CHECK(!distribution_parse(&shape.size, "size", size, &error));
	CHECK(!distribution_parse(&shape.depth, "depth", depth, &error));
	return shape;
}

static struct shape_counts counts_of(const struct tree_shape *shape)
{
	struct shape_counts counts;
	struct ffs_error error;

	CHECK(!shape_count(shape, &counts, &error));
	return counts;
}

/* Go through the shape by recursion, from the last branch to the first. */
static void add_backwards(const struct tree_shape *shape,
			  const struct shape_directory *directory,
			  struct shape_counts *counts)
{
	uint64_t i;

	counts->directories++;
	counts->files += directory->files;
	if (directory->level > counts->depth)
		counts->depth = directory->level;
	if (directory->files + directory->directories >
	    counts->largest_directory)
		counts->largest_directory = directory->files +
					    directory->directories;
	for (i = directory->directories; i; i--) {
		struct shape_directory child;

		shape_child(shape, directory, i, &child);
		CHECK(child.level == directory->level + 1);
		add_backwards(shape, &child, counts);
	}
	for (i = directory->files; i; i--) {
		struct shape_file file;

		shape_file_at(shape, directory, i, &file);
		counts->bytes += file.bytes;
	}
}

static void shape_is_of_the_seed(void)
{
	struct tree_shape shape = shape_of("normal(4,1)", "normal(3,1)",
					   "normal(1024,64)", "constant(5)");
	struct shape_counts first = counts_of(&shape), other;
	struct shape_counts backwards = { 0 };
	struct shape_directory root;

	shape_root(&shape, &root);
	add_backwards(&shape, &root, &backwards);
	CHECK(!memcmp(&first, &backwards, sizeof(first)));
	other = counts_of(&shape);
	CHECK(!memcmp(&first, &other, sizeof(first)));
	CHECK(first.depth == 5);
	/* About 3^5 leaves: 364 directories expected, with a wide spread. */
	CHECKF(first.directories > 150 && first.directories < 800, "%llu",
	       (unsigned long long)first.directories);
	CHECKF(first.files > first.directories * 3 &&
	       first.files < first.directories * 5, "%llu",
	       (unsigned long long)first.files);
	CHECK(first.bytes > first.files * 1000 &&
	      first.bytes < first.files * 1050);
	shape.seed = 2;
	other = counts_of(&shape);
	CHECK(memcmp(&first, &other, sizeof(first)));
	/* Other sizes change nothing else. */
	shape = shape_of("normal(4,1)", "normal(3,1)", "uniform(0,9)",
			 "constant(5)");
	other = counts_of(&shape);
	CHECK(other.files == first.files && other.bytes != first.bytes &&
	      other.directories == first.directories);
}

static void shape_by_hand(void)
{
	struct tree_shape shape = shape_of("constant(3)", "constant(2)",
					   "constant(750)", "constant(5)");
	struct shape_counts counts = counts_of(&shape);
	struct shape_directory root, child;
	uint64_t i, depths = 0;

	CHECK(counts.directories == 63 && counts.files == 189);
	CHECK(counts.bytes == 189 * 750 && counts.depth == 5);
	CHECK(counts.largest_directory == 5);
	shape = shape_of("constant(0)", "constant(9)", "constant(1)",
			 "constant(0)");
	counts = counts_of(&shape);
	CHECK(counts.directories == 1 && counts.files == 0 &&
	      counts.depth == 0 && counts.largest_directory == 0);
	/* Branches have depths of their own; the tree's own is above 0. */
	shape = shape_of("constant(0)", "constant(40)", "constant(1)",
			 "uniform(1,3)");
	shape_root(&shape, &root);
	for (i = 1; i <= 40; i++) {
		shape_child(&shape, &root, i, &child);
		CHECK(child.depth >= 1 && child.depth <= 3);
		CHECK(child.directories == (child.depth > 1 ? 40 : 0));
		depths |= 1u << child.depth;
	}
	CHECK(root.directories == 40 && depths == (2 | 4 | 8));
}

static void shape_limits(void)
{
	static const struct {
		const char *files, *directories, *depth;
		int errnum;
		const char *message;
	} wrong[] = {
		{ "constant(2147483648)", "constant(0)", "constant(0)", EINVAL,
		  "more than 5000000 entries" },
		{ "constant(0)", "constant(2147483648)", "constant(1)", EINVAL,
		  "more than 5000000 entries" },
		{ "constant(1)", "constant(2)", "constant(40)", EINVAL,
		  "more than 5000000 entries" },
		{ "constant(0)", "constant(1)", "constant(8193)", ENAMETOOLONG,
		  "deeper than 8192 levels (depth=8193)" },
	};
	struct tree_shape shape;
	struct shape_counts counts;
	struct ffs_error error;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		shape = shape_of(wrong[i].files, wrong[i].directories,
				 "constant(1)", wrong[i].depth);
		if (CHECK(shape_count(&shape, &counts, &error)))
			CHECKF(error.errnum == wrong[i].errnum &&
			       strstr(error.message, wrong[i].message), "%s",
			       error.message);
	}
	shape = shape_of("constant(0)", "constant(1)", "constant(1)",
			 "constant(8192)");
	CHECK(counts_of(&shape).directories == 8193);
}

static void names(void)
{
	static const char *const none[] = {
		"", "file", "file0001", "file00000", "file000001", "dir01",
		"dir0001", "dir000", "file0000x", "File00001", "file00001x",
		"file-0001", "dir99999999999", "file99999999999999999999999",
	};
	char name[TREE_NAME_BYTES];
	uint64_t number;
	size_t i;

	shape_file_name(name, 1);
	CHECK(!strcmp(name, "file00001"));
	shape_file_name(name, 123456);
	CHECK(!strcmp(name, "file123456"));
	shape_directory_name(name, 999);
	CHECK(!strcmp(name, "dir999"));
	for (number = 1; number < 6000000; number = number * 3 + 1) {
		shape_file_name(name, number);
		CHECK(shape_file_number(name) == number);
		CHECK(!shape_directory_number(name));
		shape_directory_name(name, number);
		CHECK(shape_directory_number(name) == number);
	}
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CHECKF(!shape_file_number(none[i]) &&
		       !shape_directory_number(none[i]), "%s", none[i]);
}

/* --- steps --------------------------------------------------------------- */

static char scratch[128];

static const char *at(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

/*
 * One step; @keys may have %s for the scratch directory.
 *
 * Return: the errnum of its failure, or -1 if all is well.
 */
static int step(const char *keys, struct ffs_error *error)
{
	struct record_sink *sink = malloc(sizeof(*sink));
	struct run_state state = { .sink = sink };
	struct step_times times;
	char text[512], line[400];
	struct plan plan;
	int result;

	error->errnum = -1;
	error->message[0] = '\0';
	snprintf(line, sizeof(line), keys, scratch, scratch);
	snprintf(text, sizeof(text), "ffsplan 1\n%s phase=p\n", line);
	record_sink_init(sink, -1);
	if (CHECKF(!plan_parse(&plan, text, strlen(text), error), "%s",
		   error->message)) {
		result = step_execute(plan.steps, &state, &times, error);
		CHECK(result || error->errnum == -1);
		plan_free(&plan);
	}
	free(sink);
	return error->errnum;
}

static void step_good(const char *keys)
{
	struct ffs_error error;

	CHECKF(step(keys, &error) == -1, "%s: %s", keys, error.message);
}

/* @errnum and text of the message that @keys must give. */
static void step_bad(const char *keys, int errnum, const char *message)
{
	struct ffs_error error;

	CHECKF(step(keys, &error) == errnum && strstr(error.message, message),
	       "%s: %s", keys, error.message);
}

#define SHAPE " files=constant(3) directories=constant(2) depth=constant(2) size=uniform(0,9000)"

static void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void flip(const char *path, off_t where)
{
	int fd = open(path, O_RDWR);
	char byte;

	CHECK(fd >= 0 && pread(fd, &byte, 1, where) == 1);
	byte ^= 4;
	CHECK(pwrite(fd, &byte, 1, where) == 1);
	close(fd);
}

static off_t size_of(const char *path)
{
	struct stat stat;

	return lstat(path, &stat) ? -1 : stat.st_size;
}

static void check_finds(void)
{
	off_t bytes;

	step_good("tree-create dir=%s/t seed=4" SHAPE);
	step_good("tree-check dir=%s/t seed=4" SHAPE);
	step_bad("tree-check dir=%s/t seed=5" SHAPE, EBADMSG, "/t/file0000");
	step_bad("tree-check dir=%s/t seed=4 contents=text" SHAPE, EBADMSG,
		 "differs from what was written, first at byte");
	bytes = size_of(at("t/dir002/dir001/file00003"));
	CHECK(bytes > 0);
	flip(at("t/dir002/dir001/file00003"), bytes - 1);
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG,
		 "/t/dir002/dir001/file00003 differs");
	flip(at("t/dir002/dir001/file00003"), bytes - 1);
	step_good("tree-check dir=%s/t seed=4" SHAPE);
	make_file(at("t/dir001/file00004"), "");
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG,
		 "/t/dir001/file00004 is not of the tree");
	CHECK(!unlink(at("t/dir001/file00004")));
	CHECK(!mkdir(at("t/dir001/dir001/dir001"), 0755));
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG,
		 "/t/dir001/dir001/dir001 is not of the tree");
	CHECK(!rmdir(at("t/dir001/dir001/dir001")));
	CHECK(!truncate(at("t/file00002"), size_of(at("t/file00002")) + 1));
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG,
		 "/t/file00002 is longer");
	CHECK(!truncate(at("t/file00002"), size_of(at("t/file00002")) - 2));
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG,
		 "/t/file00002 is shorter");
	CHECK(!unlink(at("t/file00002")));
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG,
		 "file00002 in ");
	CHECK(!symlink("file00001", at("t/file00002")));
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG,
		 "/t/file00002 is not of the tree");
	step_good("tree-delete dir=%s/t");
	CHECK(size_of(at("t")) < 0);
	step_bad("tree-check dir=%s/t seed=4" SHAPE, EBADMSG, "/t");
}

static void create_refuses(void)
{
	step_good("tree-create dir=%s/t" SHAPE);
	step_bad("tree-create dir=%s/t" SHAPE, EEXIST, "remove it");
	step_bad("tree-create dir=%s/no/t" SHAPE, ENOENT, "make directory");
	step_bad("tree-create dir=%s/u files=constant(9000000)", EINVAL,
		 "more than 5000000 entries");
	step_bad("tree-list dir=%s/no", ENOENT, "/no");
	step_bad("tree-digest dir=%s/t expect=0123456789abcdef", EBADMSG,
		 "0123456789abcdef was expected");
	step_bad("tree-copy from=%s/t dir=%s/t/file00001", EEXIST, "remove it");
	step_good("tree-delete dir=%s/t keep=1");
	CHECK(!rmdir(at("t")));
}

/* Deeper than directories are held open; every kind of walk goes up again. */
static void deep(void)
{
	CHECK(DESCENT_OPEN < 300);
	step_good("tree-create dir=%s/t files=constant(1) directories=constant(1) depth=constant(700) size=constant(2)");
	step_good("tree-check dir=%s/t files=constant(1) directories=constant(1) depth=constant(700) size=constant(2)");
	step_good("tree-list dir=%s/t");
	step_good("tree-find dir=%s/t name=x stat=0");
	step_good("tree-copy from=%s/t dir=%s/copy");
	step_good("tree-check dir=%s/copy files=constant(1) directories=constant(1) depth=constant(700) size=constant(2)");
	step_bad("tree-check dir=%s/copy files=constant(1) directories=constant(1) depth=constant(699) size=constant(2)",
		 EBADMSG, "(level 700) is not of the tree");
	step_bad("tree-check dir=%s/copy files=constant(1) directories=constant(1) depth=constant(701) size=constant(2)",
		 EBADMSG, "dir001 in ");
	step_good("tree-delete dir=%s/copy");
	step_good("tree-delete dir=%s/t");
}

/* Names that fill the buffer of a directory more than once. */
static void wide(void)
{
	struct walk_options options = { .entries_first = true };
	struct walk walk;
	struct ffs_error error;
	int event, entries = 0;

	step_good("tree-create dir=%s/t files=constant(5000) directories=constant(2) depth=constant(1) size=constant(0)");
	CHECK(!walk_reserve(&walk, at("t"), &options, &error));
	CHECK(walk_next(&walk, &error) == WALK_ENTER && walk.level == 0);
	while ((event = walk_next(&walk, &error)) == WALK_ENTRY)
		entries++;
	CHECK(event == WALK_ENTER && entries == 5002 && walk.level == 1);
	CHECK(walk.entries == 5000 && walk.counts.largest_directory == 5002);
	walk_free(&walk);
	step_good("tree-delete dir=%s/t");
}

void test_tree(void)
{
	shape_is_of_the_seed();
	shape_by_hand();
	shape_limits();
	names();
	scratch_template(scratch, sizeof(scratch), "tree");
	if (!CHECK(mkdtemp(scratch)))
		return;
	check_finds();
	create_refuses();
	deep();
	wide();
	CHECK(!rmdir(scratch));
}
