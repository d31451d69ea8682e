// SPDX-License-Identifier: GPL-2.0-only
/*
 * What says that bytes were written, and that they are what was written. The checksum of
 * everything is the kernel's CRC-32, seeded with ones as usual, but not inverted.
 */

#include "codec.h"

u32 logfs_crc_more(u32 crc, const void *bytes, size_t n)
{
	return crc32_le(crc, bytes, n);
}

u32 logfs_crc(const void *bytes, size_t n)
{
	return logfs_crc_more(U32_MAX, bytes, n);
}

bool logfs_is_erased(const void *bytes, size_t n)
{
	const u8 *byte = bytes;

	while (n--)
		if (*byte++ != 0xff)
			return false;
	return true;
}
