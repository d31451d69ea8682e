// SPDX-License-Identifier: GPL-2.0-only
/*
 * vnand: virtual NAND chips.
 *
 *	modprobe vnand chip="name=nand0;page_bytes=2048;...;parts=data@0+800"
 *
 * Each chip= value (separated by commas) is one chip; params.h lists the keys.
 * A chip is an MTD driver of its own below MTD, without the kernel's raw NAND
 * layer: no command cycle is emulated, so a page operation costs the host little
 * more than the copy of its data, and virtual time is charged for the rest.
 */

#include <linux/module.h>
#include <linux/slab.h>

#include "vnand.h"

#define MAX_CHIPS 8

static char *chip[MAX_CHIPS];
static int chips;
module_param_array(chip, charp, &chips, 0444);
MODULE_PARM_DESC(chip, "description of a chip: key=value;key=value (repeatable, comma-separated)");

static LIST_HEAD(chip_list);

static int add_chip(const char *description)
{
	struct vnand_chip *c = kzalloc(sizeof(*c), GFP_KERNEL);
	char *text = kstrdup(description, GFP_KERNEL);
	char message[128];
	int err = -ENOMEM;

	if (!c || !text)
		goto out_free;
	err = vnand_params_parse(text, &c->p, message, sizeof(message));
	if (err) {
		pr_err(VNAND_MODULE ": chip: %s\n", message);
		goto out_free;
	}
	mutex_init(&c->lock);
	c->kept_page = VNAND_NO_PAGE;
	err = vnand_store_open(c);
	if (err)
		goto out_free;
	err = vnand_proc_add(c);
	if (err)
		goto out_store;
	err = vnand_mtd_register(c);
	if (err)
		goto out_proc;
	list_add_tail(&c->list, &chip_list);
	kfree(text);
	return 0;

out_proc:
	vnand_proc_remove(c);
	vnand_crash_close(c);
out_store:
	vnand_store_close(c);
out_free:
	kfree(text);
	kfree(c);
	return err;
}

static void remove_chips(void)
{
	struct vnand_chip *c, *next;

	list_for_each_entry_safe(c, next, &chip_list, list) {
		list_del(&c->list);
		vnand_mtd_unregister(c);
		vnand_proc_remove(c);
		vnand_crash_close(c);
		vnand_store_close(c);
		kfree(c);
	}
}

static int __init vnand_init(void)
{
	int i, err = vnand_proc_init();

	if (err)
		return err;
	for (i = 0; i < chips && !err; i++)
		err = add_chip(chip[i]);
	if (!chips)
		err = add_chip("");
	if (err) {
		remove_chips();
		vnand_proc_exit();
	}
	return err;
}
module_init(vnand_init);

static void __exit vnand_exit(void)
{
	remove_chips();
	vnand_proc_exit();
}
module_exit(vnand_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Virtual " VNAND_CHIPS " with timing, wear and faults");
