/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of the machine that the host has as a file: what is written there
 * survives the guest, and it is none of the guest's own memory. In User-Mode
 * Linux it is an iomem region, and its name is the one of the command line. On
 * other machines it is physical memory that the kernel leaves alone (mem=), and
 * the name says where: "0xADDRESS-0xBYTES".
 */
#ifndef KMOD_REGION_H
#define KMOD_REGION_H

#include <linux/types.h>
#ifdef CONFIG_UML
#include <mem_user.h>
#else
#include <linux/io.h>
#include <linux/kernel.h>
#endif

/**
 * region_open() - map a region
 * @name: its name
 * @bytes: result: its size
 *
 * Return: its first byte, or NULL if there is no such region, or no room to map it.
 */
static inline void *region_open(const char *name, u64 *bytes)
{
#ifdef CONFIG_UML
	unsigned long length = 0;
	void *base = (void *)find_iomem((char *)name, &length);

	*bytes = length;
	return base;
#else
	u64 address;

	if (sscanf(name, "0x%llx-0x%llx", &address, bytes) != 2)
		return NULL;
	return memremap(address, *bytes, MEMREMAP_WB);
#endif
}

static inline void region_close(void *base)
{
#ifndef CONFIG_UML
	memunmap(base);
#endif
}

#endif
