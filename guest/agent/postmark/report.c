// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - what a person reads after a run.
 *
 * The verbose report keeps Postmark's sections and adds latencies and flash
 * statistics; the terse one keeps Postmark's thirteen columns in their order.
 * Rates have Postmark's denominators: "alone" by the time of that phase, reads,
 * appends and "mixed" by the time of the transactions, totals and data by the
 * total.  The total is the sum of the three phases: dropping caches and
 * verifying in between are not the file system's work.
 */
#include <math.h>
#include <string.h>

#include "flash/mtd.h"
#include "postmark/postmark.h"

static double seconds(const struct phase *phase)
{
	return (double)(phase->t_end_ns - phase->t_start_ns) / 1e9;
}

static double rate(double amount, double time_s)
{
	return time_s > 0 ? amount / time_s : 0;
}

static const char *scaled(double bytes, char *text, size_t room)
{
	static const char *const units[] = {
		"bytes", "kilobytes", "megabytes", "gigabytes", "terabytes",
	};
	size_t unit = 0;

	while (bytes >= 1024 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	if (unit || bytes != floor(bytes))
		snprintf(text, room, "%.2f %s", bytes, units[unit]);
	else
		snprintf(text, room, "%.0f bytes", bytes);
	return text;
}

struct totals {
	const struct phase *creation, *transactions, *deletion;
	double total_s, transactions_s;
	double count;		/* transactions done */
	double created, deleted, read, appended;
	double bytes_read, bytes_written;
};

static struct totals add_up(const struct postmark *postmark,
			    const struct ffsmark_result *result)
{
	const struct phase *phases = result->phases;
	struct totals t = {
		.creation = &phases[PHASE_CREATION],
		.transactions = &phases[PHASE_TRANSACTIONS],
		.deletion = &phases[PHASE_DELETION],
	};

	t.transactions_s = seconds(t.transactions);
	t.total_s = seconds(t.creation) + t.transactions_s +
		    seconds(t.deletion);
	if (t.transactions->ran && !t.transactions->failed)
		t.count = postmark->params.transactions;
	t.created = (double)(t.creation->files_created +
			     t.transactions->files_created);
	t.deleted = (double)(t.transactions->files_deleted +
			     t.deletion->files_deleted);
	t.read = (double)t.transactions->files_read;
	t.appended = (double)t.transactions->files_appended;
	t.bytes_read = (double)t.transactions->bytes_read;
	t.bytes_written = (double)(t.creation->bytes_written +
				   t.transactions->bytes_written);
	return t;
}

static void put_counts(const struct totals *t, FILE *out)
{
	double alone_created = (double)t->creation->files_created;
	double mixed_created = (double)t->transactions->files_created;
	double alone_deleted = (double)t->deletion->files_deleted;
	double mixed_deleted = (double)t->transactions->files_deleted;

	fprintf(out, "Time:\n\t%.6f seconds total\n", t->total_s);
	fprintf(out, "\t%.6f seconds of transactions (%.2f per second)\n",
		t->transactions_s, rate(t->count, t->transactions_s));
	fprintf(out, "\t%.6f seconds of creation\n\t%.6f seconds of deletion\n",
		seconds(t->creation), seconds(t->deletion));
	fprintf(out, "\nFiles:\n\t%.0f created (%.2f per second)\n",
		t->created, rate(t->created, t->total_s));
	fprintf(out, "\t\tCreation alone: %.0f files (%.2f per second)\n",
		alone_created, rate(alone_created, seconds(t->creation)));
	fprintf(out, "\t\tMixed with transactions: %.0f files (%.2f per second)\n",
		mixed_created, rate(mixed_created, t->transactions_s));
	fprintf(out, "\t%.0f read (%.2f per second)\n", t->read,
		rate(t->read, t->transactions_s));
	fprintf(out, "\t%.0f appended (%.2f per second)\n", t->appended,
		rate(t->appended, t->transactions_s));
	fprintf(out, "\t%.0f deleted (%.2f per second)\n", t->deleted,
		rate(t->deleted, t->total_s));
	fprintf(out, "\t\tDeletion alone: %.0f files (%.2f per second)\n",
		alone_deleted, rate(alone_deleted, seconds(t->deletion)));
	fprintf(out, "\t\tMixed with transactions: %.0f files (%.2f per second)\n",
		mixed_deleted, rate(mixed_deleted, t->transactions_s));
}

static void put_data(const struct totals *t, FILE *out)
{
	char amount[48], per_second[48];

	fprintf(out, "\nData:\n\t%s read (%s per second)\n",
		scaled(t->bytes_read, amount, sizeof(amount)),
		scaled(rate(t->bytes_read, t->total_s), per_second,
		       sizeof(per_second)));
	fprintf(out, "\t%s written (%s per second)\n",
		scaled(t->bytes_written, amount, sizeof(amount)),
		scaled(rate(t->bytes_written, t->total_s), per_second,
		       sizeof(per_second)));
}

static void put_latencies(const struct ffsmark_result *result, FILE *out)
{
	static const unsigned int per_mille[] = { 500, 900, 990, 999 };
	size_t i;
	int op;

	fprintf(out, "\nLatency (microseconds):\n\t%-14s %9s %11s %11s %11s %11s %11s\n",
		"operation", "count", "p50", "p90", "p99", "p99.9", "max");
	for (op = 0; op < LATENCY_OPS; op++) {
		const struct histogram *h = &result->histograms[op];

		if (!h->count)
			continue;
		fprintf(out, "\t%-14s %9llu", latency_names[op],
			(unsigned long long)h->count);
		for (i = 0; i < 4; i++)
			fprintf(out, " %11.3f",
				(double)histogram_quantile(h, per_mille[i]) /
				1e3);
		fprintf(out, " %11.3f\n", (double)h->max / 1e3);
	}
}

static void put_wear(const struct flash_snapshot *start,
		     const struct flash_snapshot *end, FILE *out)
{
	double sum = 0, squares = 0, n = (double)end->n_blocks;
	uint64_t least = UINT64_MAX, most = 0;
	size_t i;

	if (!end->n_blocks || end->n_blocks != start->n_blocks)
		return;
	for (i = 0; i < end->n_blocks; i++) {
		uint64_t erases = end->blocks[i].erases -
				  start->blocks[i].erases;

		sum += (double)erases;
		squares += (double)erases * (double)erases;
		least = erases < least ? erases : least;
		most = erases > most ? erases : most;
	}
	fprintf(out, "\t%.4f erases per block on average\n", sum / n);
	fprintf(out, "\t%.4f standard deviation of erases per block\n",
		sqrt(fmax(0, squares / n - sum / n * (sum / n))));
	fprintf(out, "\t%llu between the most and the least erased block\n",
		(unsigned long long)(most - least));
}

/* From the start of creation to the end of the last phase that ran. */
static void put_flash(const struct postmark *postmark,
		      const struct ffsmark_result *result,
		      const struct totals *t, FILE *out)
{
	const struct flash_snapshot *start = &t->creation->flash_start;
	const struct flash_snapshot *end = NULL;
	double page_bytes, written;
	int id;

	for (id = PHASE_CREATION; id < PHASES; id++)
		if (result->phases[id].flash_end.taken)
			end = &result->phases[id].flash_end;
	if (!start->taken || !end)
		return;
	written = (double)(snapshot_counter(end, "pages_programmed") -
			   snapshot_counter(start, "pages_programmed"));
	fprintf(out, "\nFlash (%s):\n\t%llu pages read\n\t%.0f pages written\n\t%llu blocks erased\n",
		postmark->monitor,
		(unsigned long long)(snapshot_counter(end, "pages_read") -
				     snapshot_counter(start, "pages_read")),
		written,
		(unsigned long long)(snapshot_counter(end, "blocks_erased") -
				     snapshot_counter(start, "blocks_erased")));
	put_wear(start, end, out);
	page_bytes = (double)mtd_page_bytes(postmark->monitor);
	if (page_bytes > 0 && t->bytes_written > 0)
		fprintf(out, "\t%.3f write amplification\n",
			written * page_bytes / t->bytes_written);
}

static void report_terse(const struct totals *t, FILE *out)
{
	fprintf(out, "%.6f %.6f %.2f ", t->total_s, t->transactions_s,
		rate(t->count, t->transactions_s));
	fprintf(out, "%.2f %.2f %.2f ", rate(t->created, t->total_s),
		rate((double)t->creation->files_created,
		     seconds(t->creation)),
		rate((double)t->transactions->files_created,
		     t->transactions_s));
	fprintf(out, "%.2f %.2f ", rate(t->read, t->transactions_s),
		rate(t->appended, t->transactions_s));
	fprintf(out, "%.2f %.2f %.2f ", rate(t->deleted, t->total_s),
		rate((double)t->deletion->files_deleted, seconds(t->deletion)),
		rate((double)t->transactions->files_deleted,
		     t->transactions_s));
	fprintf(out, "%.2f %.2f\n", rate(t->bytes_read, t->total_s),
		rate(t->bytes_written, t->total_s));
}

void postmark_report(const struct postmark *postmark,
		     const struct ffsmark_result *result, FILE *out)
{
	struct totals t = add_up(postmark, result);

	if (postmark->terse) {
		report_terse(&t, out);
		return;
	}
	put_counts(&t, out);
	put_data(&t, out);
	put_latencies(result, out);
	put_flash(postmark, result, &t, out);
}

static void show_additions(const struct postmark *postmark, FILE *out)
{
	const struct ffsmark_params *p = &postmark->params;

	fprintf(out, "Initial state: valid=%u%%, invalid=%u%% of the available space\n",
		p->valid_percent, p->invalid_percent);
	fprintf(out, "Page cache is %sdropped before creation and transactions\n",
		p->drop_caches ? "" : "not ");
	fprintf(out, "Flash monitor: %s\n",
		postmark->monitor ? postmark->monitor : "off");
	if (p->verify)
		fprintf(out, "Files are verified before deletion\n");
}

void postmark_show(const struct postmark *postmark, FILE *out)
{
	const struct ffsmark_params *p = &postmark->params;
	char low[48], high[48];
	size_t i;

	fprintf(out, "Current configuration is:\nThe base number of files is %u\nTransactions: %u\n",
		p->number, p->transactions);
	scaled(p->size_min, low, sizeof(low));
	scaled(p->size_max, high, sizeof(high));
	if (p->size_min == p->size_max)
		fprintf(out, "Files are %s in size\n", low);
	else
		fprintf(out, "Files range between %s and %s in size\n", low,
			high);
	fprintf(out, "Working director%s: %s\n",
		p->n_locations > 1 ? "ies" : "y",
		p->n_locations ? "" : "the current one");
	for (i = 0; i < p->n_locations; i++)
		fprintf(out, "\t%s (weight=%u)\n", p->locations[i].path,
			p->locations[i].weight);
	if (p->subdirectories)
		fprintf(out, "%u subdirectories will be used\n",
			p->subdirectories);
	scaled(p->read_bytes, low, sizeof(low));
	scaled(p->write_bytes, high, sizeof(high));
	fprintf(out, "Block sizes are: read=%s, write=%s\n", low, high);
	fprintf(out, "Biases are: read/append=%d, create/delete=%d\n",
		p->bias_read, p->bias_create);
	fprintf(out, "%s Unix buffered file I/O\n",
		p->buffering ? "Using" : "Not using");
	fprintf(out, "Random number generator seed is %llu\n",
		(unsigned long long)p->seed);
	fprintf(out, "Report format is %s.\n",
		postmark->terse ? "terse" : "verbose");
	show_additions(postmark, out);
}
