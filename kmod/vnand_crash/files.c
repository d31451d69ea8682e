// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/vnand/NAME: "crash" takes commands and tells the state, "log" has the
 * operations of the present level, "digest" is one of the whole flash, "difference"
 * one of what may have changed since the present level began, "counts" is the three of the counters that are read around every mount, and "standing"
 * what "crash" says without the variants, which take time to count.
 */

#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "../compat.h"
#include "crash.h"

#define COMMAND_BYTES 128

/* --- commands ------------------------------------------------------------- */

static int with_number(struct vnand_chip *chip, char *word,
		       int (*command)(struct vnand_chip *, u64))
{
	u64 number;
	int err = word ? kstrtou64(word, 10, &number) : -EINVAL;

	return err ? err : command(chip, number);
}

static int take_cut(struct vnand_chip *chip, char *kind, char *word)
{
	u64 variant = 0;
	int err = word ? kstrtou64(word, 10, &variant) : 0;

	if (!kind)
		return -EINVAL;
	return err ? err : crash_cut(chip, kind, variant);
}

static const struct {
	const char *name;
	int (*plain)(struct vnand_chip *chip);
	int (*numbered)(struct vnand_chip *chip, u64 number);
} commands[] = {
	{ "stop", crash_stop, NULL },
	{ "at", NULL, crash_at },
	{ "back", crash_back, NULL },
	{ "cycle", crash_cycle, NULL },
	{ "push", crash_push, NULL },
	{ "pop", crash_pop, NULL },
	{ "keep", crash_keep, NULL },
	{ "halt", NULL, crash_halt },
};

static int take_command(struct vnand_chip *chip, char *text)
{
	char *name = strsep(&text, " "), *word = strsep(&text, " ");
	char *second = strsep(&text, " ");
	size_t i;

	if (text)
		return -EINVAL;
	if (!strcmp(name, "log"))
		return second ? -EINVAL :
				with_number(chip, word, crash_begin_log);
	if (!chip->crash)
		return -ENODATA;
	if (!strcmp(name, "cut"))
		return take_cut(chip, word, second);
	if (!strcmp(name, "off")) {
		if (word)
			return -EINVAL;
		crash_off(chip);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name) || second)
			continue;
		if (commands[i].plain)
			return word ? -EINVAL : commands[i].plain(chip);
		return with_number(chip, word, commands[i].numbered);
	}
	return -EINVAL;
}

static ssize_t crash_write(struct file *file, const char __user *from,
			   size_t bytes, loff_t *offset)
{
	struct vnand_chip *chip = compat_proc_data(file_inode(file));
	char text[COMMAND_BYTES];
	int err;

	if (bytes >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, bytes))
		return -EFAULT;
	text[bytes] = '\0';
	mutex_lock(&chip->lock);
	err = take_command(chip, strim(text));
	mutex_unlock(&chip->lock);
	return err ? err : (ssize_t)bytes;
}

/* --- state ---------------------------------------------------------------- */

/* Return: the operation that is next, or NULL. */
static const struct crash_entry *show_operation(struct seq_file *m,
						struct vnand_chip *chip)
{
	const struct crash_level *level = crash_level(chip);
	const struct crash_entry *e;

	if (level->logging || level->position >= level->log.n)
		return NULL;
	e = level->log.entry[level->position];
	seq_printf(m, "operation %u touched %d\n", level->position,
		   crash_touched(chip, e));
	return e;
}

static void show_variants(struct seq_file *m, struct vnand_chip *chip,
			  const struct crash_entry *e)
{
	const struct crash_kind *kind;
	u32 i;

	for (i = 0; (kind = crash_kind(i)); i++) {
		u32 variants = crash_variants(chip, e, kind);

		if (variants == U32_MAX)
			seq_printf(m, "variants %s any\n", kind->name);
		else
			seq_printf(m, "variants %s %u\n", kind->name, variants);
	}
}

/* Return: the operation that is next, or NULL. */
static const struct crash_entry *show_state(struct seq_file *m,
					    struct vnand_chip *chip)
{
	const struct crash_level *level;

	if (!chip->crash) {
		seq_puts(m, "state off\noperations 0\n");
		return NULL;
	}
	level = crash_level(chip);
	seq_printf(m, "state %s\nlevel %u\noperations %u\nposition %u\n",
		   crash_is_full(chip) ? "full" :
		   level->logging ? "logging" : "standing",
		   chip->crash->depth, level->log.n, level->position);
	if (level->cut)
		seq_printf(m, "cut %s %llu\n", level->cut, level->variant);
	else
		seq_puts(m, "cut none\n");
	seq_printf(m, "recorded %u\n", level->undo.n);
	return show_operation(m, chip);
}

static int crash_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	const struct crash_entry *next;

	mutex_lock(&chip->lock);
	next = show_state(m, chip);
	if (next)
		show_variants(m, chip, next);
	mutex_unlock(&chip->lock);
	return 0;
}

static int standing_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;

	mutex_lock(&chip->lock);
	show_state(m, chip);
	mutex_unlock(&chip->lock);
	return 0;
}

static int crash_open(struct inode *inode, struct file *file)
{
	int err = single_open(file, crash_show, compat_proc_data(inode));

	/* A command has no position; many callers only have pwrite(2). */
	if (!err)
		file->f_mode |= FMODE_PWRITE;
	return err;
}

static const struct proc_ops crash_ops = {
	.proc_open = crash_open,
	.proc_read = seq_read,
	.proc_write = crash_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static void show_entry(struct seq_file *m, const struct vnand_chip *chip,
		       const struct crash_entry *e, u32 number)
{
	switch (e->kind) {
	case VNAND_PROGRAM:
		seq_printf(m, "%u program %u %u %u %u %d\n", number, e->block,
			   e->first % chip->p.pages_per_block, e->column,
			   e->bytes, e->oob);
		break;
	case VNAND_ERASE:
		seq_printf(m, "%u erase %u\n", number, e->block);
		break;
	case VNAND_MARK_BAD:
		seq_printf(m, "%u mark %u\n", number, e->block);
		break;
	}
}

static int log_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	u32 i;

	mutex_lock(&chip->lock);
	for (i = 0; chip->crash && i < crash_level(chip)->log.n; i++)
		show_entry(m, chip, crash_level(chip)->log.entry[i], i);
	mutex_unlock(&chip->lock);
	return 0;
}

static int digest_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	u64 digest;

	mutex_lock(&chip->lock);
	digest = crash_digest(chip);
	mutex_unlock(&chip->lock);
	seq_printf(m, "%016llx\n", digest);
	return 0;
}

static int difference_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	u64 digest = 0;

	mutex_lock(&chip->lock);
	if (chip->crash)
		digest = crash_difference(chip);
	mutex_unlock(&chip->lock);
	seq_printf(m, "%016llx\n", digest);
	return 0;
}

static int counts_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	const struct vnand_counters *c = &chip->counters;

	mutex_lock(&chip->lock);
	seq_printf(m, "array_reads %llu\nprograms %llu\nerases %llu\n",
		   c->array_reads, c->programs, c->erases);
	mutex_unlock(&chip->lock);
	return 0;
}

int vnand_crash_proc_add(struct vnand_chip *chip, struct proc_dir_entry *dir)
{
	if (proc_create_data("crash", 0644, dir, &crash_ops, chip) &&
	    proc_create_single_data("log", 0444, dir, log_show, chip) &&
	    proc_create_single_data("standing", 0444, dir, standing_show, chip) &&
	    proc_create_single_data("counts", 0444, dir, counts_show, chip) &&
	    proc_create_single_data("digest", 0444, dir, digest_show, chip) &&
	    proc_create_single_data("difference", 0444, dir, difference_show,
				    chip))
		return 0;
	return -ENOMEM;
}
