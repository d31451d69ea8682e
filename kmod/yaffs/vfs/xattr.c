// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extended attributes lie in the header's chunk, behind the header. So all of an
 * object's attributes together have to fit into what one page leaves, about 1.5 KiB
 * of a page of 2 KiB; reading one reads the page, changing one writes the header.
 * Names are stored with their prefix.
 *
 * Whether there are any is known without reading. An object that has no header yet
 * (the root, lost+found) gets one with its first attribute.
 *
 * Limits: user, trusted and security only, no ACLs. New objects get no security
 * label from a security module.
 */

#include <linux/capability.h>
#include <linux/xattr.h>

#include "../core/pages.h"
#include "../core/request.h"
#include "vfs.h"

/*
 * The area behind the object's header, in the device's page for this. -ENODATA: it
 * is known to be empty, and was not read. Needs the lock.
 */
static int yaffs_xattr_read(struct yaffs_object *obj, u8 **area)
{
	u8 *page = obj->dev->xattr_page;
	int err = yaffs_object_load(obj);

	if (err)
		return err;
	if (obj->damaged)
		return -EUCLEAN;
	if (!obj->has_xattr)
		return -ENODATA;
	err = yaffs_header_read_chunk(obj, page);
	*area = yaffs_xattr_area(obj->dev, page);
	return err;
}

static int yaffs_xattr_get(const struct xattr_handler *handler,
			   struct dentry *dentry, struct inode *inode,
			   const char *name, void *buffer, size_t size)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	u8 *area;
	int result;

	yaffs_enter(dev, &request, 0);
	result = yaffs_xattr_read(yaffs_obj(inode), &area);
	if (!result)
		result = yaffs_xattr_find(area, yaffs_xattr_bytes(dev),
					  xattr_full_name(handler, name),
					  buffer, size);
	yaffs_leave(dev, &request);
	return flashfs_user_error(result);
}

/* Writes the header with a new area and a new time of change, or changes nothing. */
static int yaffs_xattr_write(struct inode *inode, const u8 *area)
{
	struct yaffs_object *obj = yaffs_obj(inode);
	const struct yaffs_header_change change = { .xattr = area };
	struct timespec64 now = current_time(inode);
	u64 ctime_s = obj->ctime_s;
	int err;

	obj->ctime_s = now.tv_sec;
	err = yaffs_header_write(obj, &change);
	if (err) {
		obj->ctime_s = ctime_s;
		return err;
	}
	compat_set_ctime(inode, now);
	return 0;
}

static int yaffs_xattr_set(const struct xattr_handler *handler,
			   COMPAT_IDMAP_PARAM struct dentry *dentry,
			   struct inode *inode, const char *name,
			   const void *value, size_t size, int flags)
{
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	u32 bytes = yaffs_xattr_bytes(dev);
	u8 *area;
	int err;

	yaffs_enter(dev, &request, 1);
	err = yaffs_xattr_read(yaffs_obj(inode), &area);
	if (err == -ENODATA) {
		area = yaffs_xattr_area(dev, dev->xattr_page);
		memset(area, 0xff, bytes);
		err = 0;
	}
	if (!err)
		err = yaffs_xattr_store(area, bytes, xattr_full_name(handler, name),
					value, size, flags & XATTR_CREATE,
					flags & XATTR_REPLACE);
	if (!err)
		err = yaffs_xattr_write(inode, area);
	yaffs_leave(dev, &request);
	return flashfs_user_error(err);
}

#define YAFFS_XATTR_HANDLER(namespace, its_prefix)		\
	static const struct xattr_handler namespace = {		\
		.prefix = (its_prefix),				\
		.get = yaffs_xattr_get,				\
		.set = yaffs_xattr_set,				\
	}

YAFFS_XATTR_HANDLER(yaffs_xattr_user, XATTR_USER_PREFIX);
YAFFS_XATTR_HANDLER(yaffs_xattr_trusted, XATTR_TRUSTED_PREFIX);
YAFFS_XATTR_HANDLER(yaffs_xattr_security, XATTR_SECURITY_PREFIX);

const struct xattr_handler *yaffs_xattr_handlers[] = {
	&yaffs_xattr_user,
	&yaffs_xattr_trusted,
	&yaffs_xattr_security,
	NULL
};

/* ---- listing ---- */

/* @size 0: only count. */
struct yaffs_xattr_list {
	char *list;
	size_t size;
	size_t used;
	bool trusted;
};

/* Only names that can be read by one of the handlers are shown. */
static bool yaffs_xattr_shown(const struct yaffs_xattr_list *list, const char *name)
{
	if (!strncmp(name, XATTR_TRUSTED_PREFIX, XATTR_TRUSTED_PREFIX_LEN))
		return list->trusted;
	return !strncmp(name, XATTR_USER_PREFIX, XATTR_USER_PREFIX_LEN) ||
	       !strncmp(name, XATTR_SECURITY_PREFIX, XATTR_SECURITY_PREFIX_LEN);
}

static int yaffs_xattr_emit(void *context, const char *name, u32 name_bytes,
			    const u8 *value, u32 size)
{
	struct yaffs_xattr_list *list = context;
	size_t bytes = name_bytes + 1;

	if (!yaffs_xattr_shown(list, name))
		return 0;
	if (list->size) {
		if (bytes > list->size - list->used)
			return -ERANGE;
		memcpy(list->list + list->used, name, bytes);
	}
	list->used += bytes;
	return 0;
}

ssize_t yaffs_vfs_listxattr(struct dentry *dentry, char *list, size_t size)
{
	struct inode *inode = d_inode(dentry);
	struct yaffs_device *dev = yaffs_dev(inode);
	struct yaffs_request request;
	struct yaffs_xattr_list context = {
		.list = list,
		.size = size,
		.trusted = capable(CAP_SYS_ADMIN),
	};
	u8 *area;
	int err;

	yaffs_enter(dev, &request, 0);
	err = yaffs_xattr_read(yaffs_obj(inode), &area);
	if (!err)
		err = yaffs_xattr_each(area, yaffs_xattr_bytes(dev),
				       yaffs_xattr_emit, &context);
	yaffs_leave(dev, &request);
	if (err == -ENODATA)
		return 0;
	return err ? flashfs_user_error(err) : context.used;
}
