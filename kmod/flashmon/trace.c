// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace buffer. It is filled once: when it is full, later records are
 * counted as dropped, so that what is there is a complete record of the start
 * and a reader can see that it is not of the whole.
 *
 * In the lab the buffer is an iomem region, a host file: it takes none of the
 * guest's memory and survives the guest, whatever becomes of it.
 */

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../region.h"
#include "flashmon.h"

static_assert(sizeof_field(struct flashmon_record, task) == TASK_COMM_LEN);

static int use_region(struct flashmon_trace *t, const char *name, u64 *bytes)
{
	t->header = region_open(name, bytes);
	t->in_region = true;
	if (t->header)
		return 0;
	pr_err("flashmon: there is no iomem region '%s'\n", name);
	return -ENODEV;
}

static int use_memory(struct flashmon_trace *t, const char *size, u64 *bytes)
{
	if (kstrtoull(size, 0, bytes) ||
	    *bytes < sizeof(*t->header) + sizeof(struct flashmon_record)) {
		pr_err("flashmon: '%s' is not a usable trace size in bytes\n",
		       size);
		return -EINVAL;
	}
	t->header = vzalloc(*bytes);
	return t->header ? 0 : -ENOMEM;
}

static int open_buffer(struct flashmon *m, const char *store)
{
	struct flashmon_trace *t = &m->trace;
	u64 bytes = 0;
	int err;

	if (!strncmp(store, "iomem:", 6)) {
		err = use_region(t, store + 6, &bytes);
	} else if (!strncmp(store, "ram:", 4)) {
		err = use_memory(t, store + 4, &bytes);
	} else {
		pr_err("flashmon: trace store '%s' is neither iomem:NAME nor ram:BYTES\n",
		       store);
		err = -EINVAL;
	}
	if (err)
		return err;
	*t->header = (struct flashmon_trace_header){
		.version = cpu_to_le32(FLASHMON_TRACE_VERSION),
		.record_bytes = cpu_to_le32(sizeof(struct flashmon_record)),
		.page_bytes = cpu_to_le32(flashmon_page_bytes(m->mtd)),
		.block_bytes = cpu_to_le32(m->mtd->erasesize),
	};
	memcpy(t->header->magic, FLASHMON_TRACE_MAGIC,
	       sizeof(t->header->magic));
	t->capacity = div_u64(bytes - sizeof(*t->header),
			      sizeof(struct flashmon_record));
	return 0;
}

int flashmon_trace_open(struct flashmon *m, const char *store)
{
	return strncmp(store, "iomem:", 6) ? 0 : open_buffer(m, store);
}

int flashmon_trace_start(struct flashmon *m, const char *store)
{
	spinlock_t *lock = &m->hook->lock;
	unsigned long flags;
	int err = 0;

	if (!m->trace.header)
		err = open_buffer(m, store);
	if (err)
		return err;
	spin_lock_irqsave(lock, flags);
	m->trace.on = true;
	spin_unlock_irqrestore(lock, flags);
	return 0;
}

void flashmon_trace_stop(struct flashmon *m)
{
	spinlock_t *lock = &m->hook->lock;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	m->trace.on = false;
	spin_unlock_irqrestore(lock, flags);
}

void flashmon_trace_free(struct flashmon *m)
{
	if (m->trace.in_region)
		region_close(m->trace.header);
	else
		vfree(m->trace.header);
	m->trace.header = NULL;
}

void flashmon_trace_add(struct flashmon *m, u8 op, u64 t_start_ns,
			const struct flashmon_request *r, u32 oob_bytes,
			u32 pages, int result)
{
	struct flashmon_trace_header *h = m->trace.header;
	struct flashmon_record *record = (void *)(h + 1);
	u64 n = le64_to_cpu(h->records);
	u32 in_block;
	int i;

	if (n == m->trace.capacity) {
		h->dropped = cpu_to_le64(le64_to_cpu(h->dropped) + 1);
		return;
	}
	record += n;
	*record = (struct flashmon_record){
		.t_start_ns = cpu_to_le64(t_start_ns),
		.duration_ns = cpu_to_le64(r->ns),
		.block = cpu_to_le32(flashmon_divide_rest(r->offset,
							  m->mtd->erasesize,
							  &in_block)),
		.page = cpu_to_le32(in_block / flashmon_page_bytes(m->mtd)),
		.data_bytes = cpu_to_le32(r->data_bytes),
		.oob_bytes = cpu_to_le32(oob_bytes),
		.result = cpu_to_le32(result),
		.pid = cpu_to_le32(task_pid_nr(current)),
		.op = op,
		.pages = cpu_to_le32(pages),
	};
	/* Not memcpy(): in the lab the guest would be charged for the bytes. */
	for (i = 0; i < TASK_COMM_LEN; i++)
		WRITE_ONCE(record->task[i], current->comm[i]);
	h->records = cpu_to_le64(n + 1);
}
