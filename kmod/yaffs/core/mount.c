// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mounted partition from beginning to end: memory, mount, sync, unmount.
 *
 * Four directories exist without being on flash: the root, lost+found, and two that
 * nobody sees, for objects that are being deleted. The first two get a header when
 * one of their attributes is changed.
 */

#include <linux/mm.h>
#include <linux/stat.h>
#include <linux/vmalloc.h>

#include "contents.h"
#include "forecast.h"
#include "mount.h"
#include "names.h"
#include "nand.h"
#include "pages.h"
#include "request.h"

/* ---- memory ---- */

static int allocate_pages(struct yaffs_device *dev)
{
	u8 **page[] = { &dev->check_page, &dev->hdr_page, &dev->gc_page_data,
			&dev->data_page, &dev->xattr_page, &dev->map_page };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(page) - !yaffs_is_segregated(dev); i++) {
		*page[i] = kmalloc(dev->page_bytes, GFP_KERNEL);
		if (!*page[i])
			return -ENOMEM;
	}
	if (!yaffs_is_segregated(dev))
		return 0;
	dev->gc.passed = kmalloc_array(dev->pages_per_block,
				       sizeof(*dev->gc.passed), GFP_KERNEL);
	return dev->gc.passed ? 0 : -ENOMEM;
}

static size_t blocks_bytes(const struct yaffs_device *dev)
{
	return (dev->n_blocks + 1) * sizeof(*dev->blocks);
}

static size_t live_bytes(const struct yaffs_device *dev)
{
	return BITS_TO_LONGS((dev->n_blocks + 1) * dev->pages_per_block) *
	       sizeof(long);
}

static size_t erases_bytes(const struct yaffs_device *dev)
{
	return dev->options.wear ? (dev->n_blocks + 1) *
				   (sizeof(*dev->erases) +
				    sizeof(*dev->worn.links)) : 0;
}

/*
 * Blocks, bitmap and erase counts live as long as the mount. They are one piece of whole pages:
 * kmalloc() would round up each of them to a power of two.
 */
static int allocate_blocks(struct yaffs_device *dev)
{
	size_t bytes = blocks_bytes(dev) + live_bytes(dev) + erases_bytes(dev);

	dev->blocks = bytes > PAGE_SIZE ? vzalloc(bytes) :
					  kzalloc(bytes, GFP_KERNEL);
	if (!dev->blocks)
		return -ENOMEM;
	dev->live = (unsigned long *)(dev->blocks + dev->n_blocks + 1);
	if (!dev->options.wear)
		return 0;
	dev->erases = (u32 *)((u8 *)dev->live + live_bytes(dev));
	dev->worn.links = dev->erases + dev->n_blocks + 1;
	return 0;
}

/* One for each block that is written at a time. */
static int allocate_summaries(struct yaffs_device *dev)
{
	struct yaffs_stream *stream;
	u32 i;

	if (!dev->summary_pages)
		return 0;
	for (i = 0; i < dev->options.policy->n_streams; i++) {
		stream = &dev->streams[i];
		stream->summary = kcalloc(dev->pages_per_block,
					  sizeof(*stream->summary), GFP_KERNEL);
		if (!stream->summary)
			return -ENOMEM;
	}
	return 0;
}

static int allocate(struct yaffs_device *dev)
{
	int err = allocate_blocks(dev);

	if (err)
		return err;
	dev->first = kvcalloc(dev->n_blocks + 1, sizeof(*dev->first),
			      GFP_KERNEL);
	dev->policy = kzalloc(dev->options.policy->bytes, GFP_KERNEL);
	if (!dev->first || !dev->policy)
		return -ENOMEM;
	err = allocate_summaries(dev);
	if (!err)
		err = yaffs_forecast_init(dev);
	return err ? err : allocate_pages(dev);
}

struct yaffs_device *yaffs_device_create(struct mtd_info *mtd,
					 const struct yaffs_options *options,
					 const struct yaffs_events *events)
{
	struct yaffs_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	mutex_init(&dev->lock);
	init_waitqueue_head(&dev->background_wait);
	xa_init_flags(&dev->objects, XA_FLAGS_ALLOC);
	INIT_LIST_HEAD(&dev->dirty_directories);
	INIT_LIST_HEAD(&dev->requests);
	INIT_LIST_HEAD(&dev->waiting_pieces);
	dev->mtd = mtd;
	dev->options = *options;
	yaffs_bound_set(dev, options->gc_bound_us);
	dev->events = events;
	err = yaffs_nand_setup(dev);
	if (!err) {
		if (options->summary || options->segregated)
			dev->summary_pages =
				yaffs_summary_pages(dev->pages_per_block,
						    dev->chunk_bytes);
		err = allocate(dev);
	}
	if (!err)
		err = yaffs_cache_init(dev);
	if (err) {
		yaffs_device_destroy(dev);
		return ERR_PTR(err);
	}
	return dev;
}

void yaffs_device_destroy(struct yaffs_device *dev)
{
	u32 i;

	yaffs_objects_free(dev);
	yaffs_cache_exit(dev);
	kfree(dev->check_page);
	kfree(dev->hdr_page);
	kfree(dev->gc_page_data);
	kfree(dev->gc.passed);
	kfree(dev->data_page);
	kfree(dev->xattr_page);
	kfree(dev->map_page);
	for (i = 0; i < YAFFS_STREAMS; i++)
		kfree(dev->streams[i].summary);
	yaffs_forecast_exit(dev);
	kfree(dev->policy);
	kvfree(dev->first);
	kvfree(dev->blocks);
	mutex_destroy(&dev->lock);
	kfree(dev);
}

/* ---- mount ---- */

static struct yaffs_object *make_fake(struct yaffs_device *dev, u32 id,
				      const char *name, u32 mode)
{
	struct yaffs_object *obj = yaffs_object_new(dev, id,
						    YAFFS_TYPE_DIRECTORY);

	if (IS_ERR(obj))
		return obj;
	obj->fake = true;
	obj->loaded = true;
	obj->mode = S_IFDIR | mode;
	obj->mtime_s = yaffs_now_s();
	obj->atime_s = obj->mtime_s;
	obj->ctime_s = obj->mtime_s;
	if (*name && yaffs_object_set_name(obj, name, strlen(name)))
		return ERR_PTR(-ENOMEM);
	return obj;
}

static int make_fakes(struct yaffs_device *dev)
{
	dev->root = make_fake(dev, YAFFS_ID_ROOT, "", 0755);
	dev->lost_found = make_fake(dev, YAFFS_ID_LOST_FOUND, "lost+found",
				    0700);
	dev->unlinked = make_fake(dev, YAFFS_ID_UNLINKED, "unlinked", 0);
	dev->deleted = make_fake(dev, YAFFS_ID_DELETED, "deleted", 0);
	if (IS_ERR(dev->root) || IS_ERR(dev->lost_found) ||
	    IS_ERR(dev->unlinked) || IS_ERR(dev->deleted))
		return -ENOMEM;
	return 0;
}

/* As if nothing had been read. */
static int reset(struct yaffs_device *dev)
{
	const struct yaffs_view view = {
		.blocks = dev->blocks,
		.erases = dev->erases,
		.all_erases = &dev->all_erases,
		.links = dev->worn.links,
		.spread = dev->options.wear_spread,
		.space = &dev->space,
		.segregated = yaffs_is_segregated(dev),
		.settled_seq = &dev->ids.settled_seq,
		.newest_seq = &dev->seq,
		.n_blocks = dev->n_blocks,
		.pages_per_block = dev->pages_per_block,
	};
	u32 i;

	yaffs_objects_free(dev);
	memset(dev->blocks, 0, blocks_bytes(dev) + live_bytes(dev) +
			       erases_bytes(dev));
	dev->all_erases = 0;
	dev->worn.at = 0;
	dev->worn.n_recent = 0;
	yaffs_policy_init(dev->policy, dev->options.policy, &view);
	dev->space.free_chunks = 0;
	dev->space.erased_blocks = 0;
	dev->ckpt_blocks = 0;
	dev->ckpt_valid = false;
	for (i = 0; i < YAFFS_STREAMS; i++)
		dev->streams[i].block = 0;
	dev->gc.block = 0;
	dev->n_pieces = 0;
	dev->n_unwritten = 0;
	dev->seen_horizon = 0;
	dev->seen_position = 0;
	memset(&dev->ids, 0, sizeof(dev->ids));
	if (yaffs_is_segregated(dev))
		dev->ids.per_part = yaffs_ids_per_part(yaffs_summary_room(dev));
	dev->found_erased = false;
	dev->found_torn = false;
	dev->recover_links = false;
	dev->recover_tails = false;
	dev->seq = YAFFS_SEQ_LOWEST;
	dev->next_id = YAFFS_ID_FIRST;
	return make_fakes(dev);
}

static int read_flash(struct yaffs_device *dev)
{
	int err = reset(dev);

	if (err)
		return err;
	err = yaffs_checkpoint_read(dev);
	if (!err) {
		dev->mounted_by = YAFFS_BY_CHECKPOINT;
		return 0;
	}
	if (err == -ENOMEM)
		return err;
	err = reset(dev);
	if (!err)
		err = yaffs_scan(dev);
	dev->mounted_by = YAFFS_BY_SCAN;
	return err;
}

/* The root's header has only its attributes: all else is there without it. */
static int load_root(struct yaffs_device *dev)
{
	int err = yaffs_object_load(dev->root);

	if (!dev->root->damaged)
		return err;
	pr_info("yaffs2: %s: the root's header is damaged: it has mode 0755 now\n",
		dev->mtd->name);
	dev->root->damaged = false;
	return 0;
}

/* Those that were found. */
static void add_ids(struct yaffs_device *dev)
{
	struct yaffs_object *obj;
	unsigned long id;

	if (yaffs_is_segregated(dev))
		xa_for_each(&dev->objects, id, obj)
			yaffs_ids_add(dev, obj->id);
}

int yaffs_device_mount(struct yaffs_device *dev, bool read_only)
{
	int err;

	yaffs_assert_locked(dev);
	dev->read_only = true;	/* reading must not change anything */
	err = read_flash(dev);
	kvfree(dev->first);
	dev->first = NULL;
	if (!err)
		add_ids(dev);
	if (!err)
		err = yaffs_wear_read(dev);
	if (!err)
		err = yaffs_recover_links(dev);
	if (!err)
		err = load_root(dev);
	dev->recovery_pending = true;
	if (!err && !read_only)
		err = yaffs_device_set_read_only(dev, false);
	if (!err)
		yaffs_check_begin(dev);
	return err;
}

/* ---- sync ---- */

static int write_all(struct yaffs_device *dev)
{
	int err = yaffs_cache_flush_all(dev);
	int directories_err = yaffs_directories_sync(dev, U32_MAX);

	return err ? err : directories_err;
}

int yaffs_device_sync(struct yaffs_device *dev, bool checkpoint)
{
	int err;

	yaffs_assert_locked(dev);
	if (dev->read_only)
		return 0;
	err = write_all(dev);
	if (!err && checkpoint)
		err = yaffs_checkpoint_write(dev, false);
	return err;
}

int yaffs_device_set_read_only(struct yaffs_device *dev, bool read_only)
{
	int err = 0;

	yaffs_assert_locked(dev);
	if (dev->read_only == read_only)
		return 0;
	if (read_only) {
		err = write_all(dev);
		/* For a quick mount without a checkpoint; there may be no room for it. */
		if (!err)
			yaffs_horizon_flush(dev);
		if (!err)
			err = yaffs_checkpoint_write(dev, true);
		dev->read_only = !err;
		return err;
	}
	dev->read_only = false;
	if (dev->recovery_pending) {
		err = yaffs_recover(dev);
		dev->recovery_pending = err;
		dev->read_only = err;
	}
	return err;
}
