// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - see words.h.
 */
#include <string.h>
#include <sys/mount.h>

#include "text/numbers.h"
#include "walk/words.h"

int words_filesystem(struct filesystem *fs, int argc, char **argv, int at)
{
	fs->type = argv[at];
	fs->source = argv[at + 1];
	fs->target = argv[at + 2];
	fs->options = strcmp(argv[at + 3], "-") ? argv[at + 3] : "";
	at += WORDS_FILESYSTEM;
	if (at < argc && !strchr(argv[at], '='))
		fs->ubi_mtd = argv[at++];
	return at;
}

bool words_take_filesystem(struct filesystem *fs, const char *word)
{
	const char *value = strchr(word, '=') + 1;
	size_t key = (size_t)(value - word);
	uint64_t number;

	if (!number_parse(value, 1 << 20, &number))
		return false;
	if (!strncmp(word, "sync=", key))
		fs->flags = number ? MS_SYNCHRONOUS : 0;
	else if (!strncmp(word, "vid_hdr_offset=", key))
		fs->vid_hdr_offset = (int)number;
	else if (!strncmp(word, "max_beb_per1024=", key))
		fs->max_beb_per1024 = (int)number;
	else
		return false;
	return true;
}
