/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is done to a new file system to make the base image: every type of object,
 * and every trace that operations leave on flash. It is the same every time.
 */
#ifndef FSFUZZ_HISTORY_H
#define FSFUZZ_HISTORY_H

/* Objects of all types, deleted ones among them; some tens of files. */
void history_objects(const char *root);
/* Overwrites until the flash has been written over about @times. */
void history_churn(const char *root, unsigned int times);
/* @n small files, so that a checkpoint of them is long. */
void history_many(const char *root, unsigned int n);
/* Fills up the space but for @percent of it. */
void history_fill(const char *root, unsigned int percent);
/*
 * Names that all have one hash in LogFS, and are long apart in a directory; files with
 * holes so large that their last blocks are below three and four levels of blocks.
 */
void history_deep(const char *root);
/* Opens files and removes them; the descriptors stay open until history_close(). */
void history_orphans(const char *root);
void history_close(void);

#endif
