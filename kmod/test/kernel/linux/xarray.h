/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: an array that grows. Indices are small here. */
#ifndef USER_LINUX_XARRAY_H
#define USER_LINUX_XARRAY_H

#include <linux/slab.h>

struct xarray {
	void **entries;
	unsigned long n;
};

#define xa_mk_value(value)	((void *)((unsigned long)(value) << 1 | 1))

void xa_init(struct xarray *array);
void xa_destroy(struct xarray *array);
void *xa_load(const struct xarray *array, unsigned long index);
void *xa_store(struct xarray *array, unsigned long index, void *entry,
	       gfp_t flags);
void *xa_erase(struct xarray *array, unsigned long index);
/* The first entry at *@index or behind it, which becomes its place; NULL: there is none. */
void *xa_find(const struct xarray *array, unsigned long *index, unsigned long last,
	      unsigned int filter);

#define XA_PRESENT	8

#define xa_for_each(array, index, entry) \
	for (index = 0; index < (array)->n; index++) \
		if ((entry = (array)->entries[index]))

#endif
