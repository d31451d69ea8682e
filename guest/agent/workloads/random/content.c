// SPDX-License-Identifier: GPL-2.0-only
/*
 * content.c - contents of the model's files: a table of pages, with holes.
 *
 * Bytes of the last page behind the end of the file are always zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/random/model.h"

void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes ? bytes : 1);

	if (!memory) {
		fprintf(stderr, "history: out of memory for the model\n");
		exit(3);
	}
	return memory;
}

static unsigned char *page_for_write(struct model *model, struct node *file,
				     uint64_t index)
{
	if (index >= file->slots) {
		size_t slots = index + index / 2 + 4;
		unsigned char **table = allocate(slots * sizeof(*table));

		if (file->slots)
			memcpy(table, file->page,
			       file->slots * sizeof(*table));
		free(file->page);
		file->page = table;
		file->slots = slots;
	}
	if (!file->page[index]) {
		file->page[index] = allocate(PAGE);
		file->pages++;
		model->bytes += PAGE;
	}
	return file->page[index];
}

void content_write(struct model *model, struct node *file, uint64_t offset,
		   const unsigned char *data, size_t bytes)
{
	if (bytes && offset + bytes > file->size)
		file->size = offset + bytes;
	while (bytes) {
		size_t at = offset % PAGE;
		size_t part = PAGE - at < bytes ? PAGE - at : bytes;

		memcpy(page_for_write(model, file, offset / PAGE) + at, data,
		       part);
		offset += part;
		data += part;
		bytes -= part;
	}
}

void content_truncate(struct model *model, struct node *file, uint64_t size)
{
	uint64_t index = (size + PAGE - 1) / PAGE;

	if (size < file->size) {
		for (; index < file->slots; index++) {
			if (!file->page[index])
				continue;
			free(file->page[index]);
			file->page[index] = NULL;
			file->pages--;
			model->bytes -= PAGE;
		}
		index = size / PAGE;
		if (size % PAGE && index < file->slots && file->page[index])
			memset(file->page[index] + size % PAGE, 0,
			       PAGE - size % PAGE);
	}
	file->size = size;
}

void content_read(const struct node *file, uint64_t offset, unsigned char *data,
		  size_t bytes)
{
	while (bytes) {
		uint64_t index = offset / PAGE;
		size_t at = offset % PAGE;
		size_t part = PAGE - at < bytes ? PAGE - at : bytes;

		if (index < file->slots && file->page[index])
			memcpy(data, file->page[index] + at, part);
		else
			memset(data, 0, part);
		offset += part;
		data += part;
		bytes -= part;
	}
}

uint64_t content_hole(const struct node *file, uint64_t offset)
{
	uint64_t index = offset / PAGE, end;

	while (index < file->slots && !file->page[index])
		index++;
	end = index < file->slots ? index * PAGE : file->size;
	if (end > file->size)
		end = file->size;
	return end > offset ? end - offset : 0;
}
