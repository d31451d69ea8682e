// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - see words.h.
 */
#include <string.h>
#include <sys/mount.h>

#include "text/numbers.h"
#include "walk/words.h"

#define WORDS_LAYER 4

static const struct flag {
	const char *name;
	unsigned long flag;
} flags[] = {
	{ "ro", MS_RDONLY },
	{ "sync", MS_SYNCHRONOUS },
};

/* Return: what is left of @options. */
static const char *take_flag(struct layer *layer, const char *options)
{
	size_t length = strcspn(options, ","), i;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strlen(flags[i].name) != length ||
		    strncmp(options, flags[i].name, length))
			continue;
		layer->flags |= flags[i].flag;
		return options + length + (options[length] == ',');
	}
	return options;
}

static void take_layer(struct layer *layer, char **words)
{
	const char *left = strcmp(words[3], "-") ? words[3] : "";

	*layer = (struct layer){
		.type = strcmp(words[0], "-") ? words[0] : NULL,
		.source = words[1],
		.target = words[2],
	};
	do {
		layer->options = left;
		left = take_flag(layer, left);
	} while (left != layer->options);
}

int words_filesystem(struct filesystem *fs, int argc, char **argv, int at)
{
	fs->n = 0;
	fs->ubi_block = -1;
	do {
		at += !!fs->n;	/* the + */
		if (argc - at < WORDS_LAYER || fs->n == LAYERS_MAX)
			return 0;
		take_layer(&fs->layers[fs->n++], argv + at);
		at += WORDS_LAYER;
	} while (at < argc && !strcmp(argv[at], "+"));
	if (!fs->layers[fs->n - 1].type)
		return 0;
	fs->target = fs->layers[fs->n - 1].target;
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
	if (!strncmp(word, "ubi_block=", key))
		fs->ubi_block = (int)number;
	else if (!strncmp(word, "vid_hdr_offset=", key))
		fs->vid_hdr_offset = (int)number;
	else if (!strncmp(word, "max_beb_per1024=", key))
		fs->max_beb_per1024 = (int)number;
	else
		return false;
	return true;
}
