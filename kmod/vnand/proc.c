// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/vnand/NAME: "info" (the chip), "counters" (since loading), "blocks"
 * (one line per erase block: erases, programs, reads, flags; over the chip's
 * life). Plain text, readable at any time. Of vnor too, which is never loaded
 * beside vnand.
 */

#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "vnand.h"

static struct proc_dir_entry *root;

static const char *const wait_names[] = {
	[VNAND_WAIT_POLLED] = "polled",
	[VNAND_WAIT_INTERRUPT] = "interrupt",
	[VNAND_WAIT_SWITCHING] = "switching",
};

static int info_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	const struct vnand_params *p = &chip->p;

	seq_printf(m, "page_bytes %u\noob_bytes %u\nsubpages %u\n"
		   "pages_per_block %u\nblocks %u\nplanes %u\n",
		   p->page_bytes, p->oob_bytes, p->subpages,
		   p->pages_per_block, p->blocks, p->planes);
	seq_printf(m, "t_read_ns %llu\nt_prog_ns %llu\nt_erase_ns %llu\n"
		   "t_command_ns %llu\nbus_read_ps %llu\nbus_write_ps %llu\n"
		   "ecc_read_ns %llu\necc_write_ns %llu\n"
		   "driver_read_ns %llu\ndriver_program_ns %llu\n"
		   "driver_erase_ns %llu\n",
		   p->t_read_ns, p->t_prog_ns, p->t_erase_ns, p->t_command_ns,
		   p->bus_read_ps, p->bus_write_ps, p->ecc_read_ns,
		   p->ecc_write_ns, p->driver_read_ns, p->driver_program_ns,
		   p->driver_erase_ns);
	seq_printf(m, "wait %s\nstore %s\n",
		   wait_names[p->wait], p->store);
	return 0;
}

static int counters_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	struct vnand_counters c;
	int i;

	mutex_lock(&chip->lock);
	c = chip->counters;
	mutex_unlock(&chip->lock);
	seq_printf(m, "array_reads %llu\ncached_reads %llu\nreads_erased %llu\n"
		   "programs %llu\noob_programs %llu\nerases %llu\n"
		   "changes %llu\nbytes_from_chip %llu\nbytes_to_chip %llu\n"
		   "read_ns %llu\nprogram_ns %llu\nerase_ns %llu\n"
		   "transfer_ns %llu\nbusy_ns %llu\ndriver_ns %llu\n",
		   c.array_reads, c.cached_reads, c.reads_erased, c.programs,
		   c.oob_programs, c.erases, c.changes, c.bytes_from_chip,
		   c.bytes_to_chip,
		   c.read_ns, c.program_ns, c.erase_ns, c.transfer_ns,
		   c.read_ns + c.program_ns + c.erase_ns + c.transfer_ns,
		   c.driver_ns);
	seq_printf(m, "bitflips_corrected %llu\nsteps_uncorrectable %llu\n"
		   "program_failures %llu\nerase_failures %llu\n",
		   c.bitflips_corrected, c.steps_uncorrectable,
		   c.program_failures, c.erase_failures);
	for (i = 1; i < VNAND_VIOLATIONS; i++)
		seq_printf(m, "violation_%s %llu\n", vnand_violation_name[i],
			   c.violations[i]);
	return 0;
}

static int blocks_show(struct seq_file *m, void *v)
{
	struct vnand_chip *chip = m->private;
	u32 i;

	mutex_lock(&chip->lock);
	for (i = 0; i < chip->p.blocks; i++) {
		const struct vnand_image_block *b = &chip->store.block[i];

		seq_printf(m, "%u %u %u %u\n", le32_to_cpu(b->erases),
			   le32_to_cpu(b->programs), le32_to_cpu(b->reads),
			   le32_to_cpu(b->flags));
	}
	mutex_unlock(&chip->lock);
	return 0;
}

int vnand_proc_add(struct vnand_chip *chip)
{
	struct proc_dir_entry *dir = proc_mkdir(chip->p.name, root);

	if (!dir)
		return -ENOMEM;
	if (proc_create_single_data("info", 0444, dir, info_show, chip) &&
	    proc_create_single_data("counters", 0444, dir, counters_show, chip) &&
	    proc_create_single_data("blocks", 0444, dir, blocks_show, chip) &&
	    !vnand_crash_proc_add(chip, dir))
		return 0;
	vnand_proc_remove(chip);
	return -ENOMEM;
}

void vnand_proc_remove(struct vnand_chip *chip)
{
	remove_proc_subtree(chip->p.name, root);
}

/* The report of the CPU model, which plans ask for, where the kernel has none. */
#if defined(CONFIG_UML) && !defined(CONFIG_UML_CPU_MODEL)
#define NO_MODEL "cpu_model"

static int no_model_show(struct seq_file *m, void *v)
{
	seq_puts(m, "none\n");
	return 0;
}
#endif

int vnand_proc_init(void)
{
#ifdef NO_MODEL
	proc_create_single(NO_MODEL, 0444, NULL, no_model_show);
#endif
	root = proc_mkdir("vnand", NULL);
	return root ? 0 : -ENOMEM;
}

void vnand_proc_exit(void)
{
#ifdef NO_MODEL
	remove_proc_entry(NO_MODEL, NULL);
#endif
	proc_remove(root);
}
