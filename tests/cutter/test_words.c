// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_words.c - the layers of a file system on a command line.
 */
#include <string.h>
#include <sys/mount.h>

#include "harness.h"
#include "walk/words.h"

void test_words(void);

#define WORDS_MAX 64

/* Words of @text from the first on. Return: as words_filesystem(). */
static int take(struct filesystem *fs, char *text)
{
	char *words[WORDS_MAX];
	int n = 0;

	for (words[n] = strtok(text, " "); words[n] && n < WORDS_MAX - 1;
	     words[++n] = strtok(NULL, " "))
		;
	memset(fs, 0, sizeof(*fs));
	return words_filesystem(fs, n, words, 0);
}

static void one_mount(void)
{
	char plain[] = "jffs2 mtd:data /mnt - sync=1";
	char ubifs[] = "ubifs ubi0:data /mnt sync,compr=none data key=1";
	struct filesystem fs;

	CHECK(take(&fs, plain) == 4);
	CHECK(fs.n == 1 && !strcmp(fs.layers[0].type, "jffs2"));
	CHECK(!strcmp(fs.layers[0].source, "mtd:data"));
	CHECK(!strcmp(fs.target, "/mnt") && fs.target == fs.layers[0].target);
	CHECK(!*fs.layers[0].options && !fs.layers[0].flags);
	CHECK(!fs.ubi_mtd);
	CHECK(fs.ubi_block == -1);
	CHECK(take(&fs, ubifs) == 5);
	CHECK(!strcmp(fs.ubi_mtd, "data"));
	CHECK(fs.layers[0].flags == MS_SYNCHRONOUS);
	CHECK(!strcmp(fs.layers[0].options, "compr=none"));
}

static void a_stack(void)
{
	char text[] = "squashfs /dev/ubiblock0_0 /rom ro + ubifs ubi0:data /overlay ro,sync + "
		      "- - /overlay/upper - + overlay overlay /mnt lowerdir=/rom,rode=1 data";
	struct filesystem fs;

	CHECK(take(&fs, text) == 20);
	CHECK(fs.n == 4 && !strcmp(fs.target, "/mnt"));
	CHECK(fs.layers[0].flags == MS_RDONLY && !*fs.layers[0].options);
	CHECK(fs.layers[1].flags == (MS_RDONLY | MS_SYNCHRONOUS));
	CHECK(!*fs.layers[1].options);
	CHECK(!fs.layers[2].type);
	CHECK(!strcmp(fs.layers[2].target, "/overlay/upper"));
	CHECK(!fs.layers[3].flags);
	CHECK(!strcmp(fs.layers[3].options, "lowerdir=/rom,rode=1"));
	CHECK(!strcmp(fs.ubi_mtd, "data"));
}

static void wrong_words(void)
{
	char wrong[][200] = {
		"", "jffs2 mtd:data /mnt", "jffs2 mtd:data /mnt - +",
		"jffs2 mtd:data /mnt - + overlay overlay /mnt",
		/* What is looked at has to be mounted. */
		"- - /mnt -", "jffs2 mtd:data /mnt - + - - /mnt/d -",
		"- - a - + - - a - + - - a - + - - a - + - - a - + - - a - + - - a - + "
		"- - a - + jffs2 mtd:data /mnt -",
	};
	struct filesystem fs;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(!take(&fs, wrong[i]));
}

static void keys(void)
{
	struct filesystem fs = { .ubi_block = -1 };

	CHECK(words_take_filesystem(&fs, "ubi_block=0") && !fs.ubi_block);
	CHECK(words_take_filesystem(&fs, "max_beb_per1024=20"));
	CHECK(fs.max_beb_per1024 == 20);
	CHECK(!words_take_filesystem(&fs, "ubi_block=x"));
	CHECK(!words_take_filesystem(&fs, "sync=1"));
}

void test_words(void)
{
	one_mount();
	a_stack();
	wrong_words();
	keys();
}
