// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extended attributes: records by hand, random operations against a list of
 * attributes, and the same operations on damaged areas, where not the result but
 * its consistency is judged. Areas are allocated to the byte, so that the address
 * sanitizer sees what goes beyond.
 */

#include "harness.h"

#define MAX_ATTRIBUTES	64
#define MAX_VALUE	200

/* "\x0d\0\0\0user.a\0xy": 13 bytes. */
static const u8 record_a[13] = "\x0d\0\0\0user.a\0xy";

struct attribute {
	char name[40];
	u8 value[MAX_VALUE];
	u32 size;
};

struct list {
	struct attribute item[MAX_ATTRIBUTES];
	u32 n;
	u32 bytes;		/* of all records */
};

static u8 *new_area(u32 bytes, u8 fill)
{
	u8 *area = malloc(bytes ? bytes : 1);

	memset(area, fill, bytes);
	return area;
}

static int collect(void *context, const char *name, u32 name_bytes,
		   const u8 *value, u32 size)
{
	struct list *list = context;
	struct attribute *a = &list->item[list->n];

	list->bytes += 4 + name_bytes + 1 + size;
	if (list->n == MAX_ATTRIBUTES || name_bytes >= sizeof(a->name) ||
	    size > MAX_VALUE)
		return 0;
	if (strlen(name) != name_bytes)
		return -EINVAL;
	memcpy(a->name, name, name_bytes + 1);
	memcpy(a->value, value, size);
	a->size = size;
	list->n++;
	return 0;
}

static struct list list_of(const u8 *area, u32 bytes)
{
	struct list list = { .n = 0 };

	check(!yaffs_xattr_each(area, bytes, collect, &list),
	      "names have the length that is told");
	return list;
}

static int set(u8 *area, u32 bytes, const char *name, const char *value)
{
	return yaffs_xattr_store(area, bytes, name, value,
				 value ? (u32)strlen(value) : 0, false, false);
}

static int stop(void *context, const char *name, u32 name_bytes,
		const u8 *value, u32 size)
{
	(void)name;
	(void)name_bytes;
	(void)value;
	(void)size;
	return ++*(int *)context == 2 ? 7 : 0;
}

static void test_by_hand(void)
{
	u8 *area = new_area(40, 0xff);
	int calls = 0;
	u8 value[8];

	check(!yaffs_xattr_any(area, 40), "an erased area has no attribute");
	check(yaffs_xattr_find(area, 40, "user.a", value, 8) == -ENODATA,
	      "nothing found in an erased area");
	check(!set(area, 40, "user.a", "xy"), "first attribute");
	check(!memcmp(area, record_a, 13) && all_bytes(area + 13, 27, 0),
	      "bytes of a record");
	check(yaffs_xattr_any(area, 40), "there is one");
	check(yaffs_xattr_find(area, 40, "user.a", NULL, 0) == 2 &&
	      yaffs_xattr_find(area, 40, "user.a", value, 1) == -ERANGE &&
	      yaffs_xattr_find(area, 40, "user.a", value, 2) == 2 &&
	      !memcmp(value, "xy", 2), "value found");
	check(yaffs_xattr_find(area, 40, "user.", value, 8) == -ENODATA &&
	      yaffs_xattr_find(area, 40, "user.ab", value, 8) == -ENODATA &&
	      yaffs_xattr_find(area, 40, "", value, 8) == -ENODATA,
	      "only the whole name is found");
	/* 13 + 4 + 7 + 16 are 40. */
	check(!set(area, 40, "user.b", "ghijklmnopqrstuv"), "a full area");
	check(set(area, 40, "user.c", "") == -ENOSPC, "no room");
	check(yaffs_xattr_each(area, 40, stop, &calls) == 7 && calls == 2,
	      "the walk ends when told to");
	check(!set(area, 40, "user.a", NULL), "removed");
	check(!memcmp(area, "\x1b\0\0\0user.b\0ghijklmnopqrstuv", 27) &&
	      all_bytes(area + 27, 13, 0), "the record behind moves up");
	check(set(area, 40, "user.a", NULL) == -ENODATA, "removed twice");
	check(!set(area, 40, "user.e", "") &&
	      yaffs_xattr_find(area, 40, "user.e", value, 8) == 0,
	      "an empty value is a value");
	check(set(area, 40, "", "x") == -EINVAL, "no name");
	free(area);
}

static void test_flags(void)
{
	u8 *area = new_area(40, 0);
	u8 *before;

	check(yaffs_xattr_store(area, 40, "user.a", "1", 1, false, true) ==
	      -ENODATA && all_bytes(area, 40, 0), "replace what is not there");
	check(!yaffs_xattr_store(area, 40, "user.a", "1", 1, true, false),
	      "create");
	before = exact_copy(area, 40);
	check(yaffs_xattr_store(area, 40, "user.a", "2", 1, true, false) ==
	      -EEXIST && !memcmp(area, before, 40), "create what is there");
	check(yaffs_xattr_store(area, 40, "user.a", before, 30, false, true) ==
	      -ENOSPC && !memcmp(area, before, 40), "too large by one");
	check(yaffs_xattr_store(area, 40, "user.a", before, 0xffffffff, false,
				false) == -ENOSPC &&
	      !memcmp(area, before, 40), "much too large");
	/* 4 + 7 + 29: the old value's place counts. */
	check(!yaffs_xattr_store(area, 40, "user.a", before, 29, false, true) &&
	      yaffs_xattr_find(area, 40, "user.a", NULL, 0) == 29, "replace");
	free(before);
	free(area);
}

static void test_small_areas(void)
{
	u32 bytes;

	for (bytes = 0; bytes < 20; bytes++) {
		u8 *area = new_area(bytes, 0xff);

		check(!yaffs_xattr_any(area, bytes), "%u bytes", bytes);
		check(set(area, bytes, "user.a", "xy") ==
		      (bytes < 13 ? -ENOSPC : 0), "set in %u bytes", bytes);
		free(area);
	}
}

static void test_odd_records(void)
{
	/* Without NUL, without name, too short for either. */
	static const char odd[16] = "\x06\0\0\0ab\x06\0\0\0\0v\x04\0\0";
	u8 *area = new_area(64, 0);
	struct list list;
	u8 value[2];

	/* Then a good one, the end, and another. */
	memcpy(area, odd, 16);
	memcpy(area + 16, record_a, 13);
	memset(area + 29, 0xff, 4);
	memcpy(area + 33, record_a, 13);
	list = list_of(area, 64);
	check(list.n == 1 && !strcmp(list.item[0].name, "user.a"),
	      "what is well-formed is listed, up to the end");
	check(yaffs_xattr_find(area, 64, "user.a", value, 2) == 2 &&
	      !memcmp(value, "xy", 2), "and found");
	check(!set(area, 64, "user.b", "v"), "set behind odd records");
	list = list_of(area, 64);
	check(list.n == 2 && !strcmp(list.item[1].name, "user.b") &&
	      all_bytes(area + 16 + 13 + 12, 64 - 41, 0),
	      "what was behind the end has not come back");
	memcpy(area, record_a, 13);
	memcpy(area + 13, record_a, 13);
	memset(area + 26, 0, 38);
	check(!set(area, 64, "user.a", NULL) && !yaffs_xattr_any(area, 64) &&
	      all_bytes(area, 64, 0), "both of one name are removed");
	memcpy(area, "\x41\0\0\0user.a\0", 11);
	check(!yaffs_xattr_any(area, 64), "a record beyond the area");
	memcpy(area, "\x03\0\0\0user.a\0", 11);
	check(!yaffs_xattr_any(area, 64), "a record shorter than its length");
	free(area);
}

/* ---- random operations against a list ---- */

static int model_index(const struct list *model, const char *name)
{
	u32 i;

	for (i = 0; i < model->n; i++)
		if (!strcmp(model->item[i].name, name))
			return (int)i;
	return -1;
}

static u32 record_bytes(const char *name, u32 size)
{
	return 4 + (u32)strlen(name) + 1 + size;
}

static int model_store(struct list *model, u32 bytes, const char *name,
		       const u8 *value, u32 size, bool create, bool replace)
{
	int at = model_index(model, name);
	u32 old = at < 0 ? 0 : record_bytes(name, model->item[at].size);
	struct attribute *a;

	if (at >= 0 && create)
		return -EEXIST;
	if (at < 0 && (replace || !value))
		return -ENODATA;
	if (value && model->bytes - old + record_bytes(name, size) > bytes)
		return -ENOSPC;
	if (at >= 0) {
		model->n--;
		memmove(&model->item[at], &model->item[at + 1],
			(model->n - (u32)at) * sizeof(model->item[0]));
		model->bytes -= old;
	}
	if (!value)
		return 0;
	a = &model->item[model->n++];
	strcpy(a->name, name);
	memcpy(a->value, value, size);
	a->size = size;
	model->bytes += record_bytes(name, size);
	return 0;
}

/* All attributes of the model, in any order, and nothing behind them. */
static bool agrees(const struct list *model, const u8 *area, u32 bytes)
{
	struct list list = list_of(area, bytes);
	u8 value[MAX_VALUE];
	u32 i;

	if (list.n != model->n || list.bytes != model->bytes ||
	    yaffs_xattr_any(area, bytes) != !!model->n)
		return false;
	for (i = 0; i < model->n; i++) {
		const struct attribute *a = &model->item[i];
		int size = yaffs_xattr_find(area, bytes, a->name, value,
					    MAX_VALUE);

		if (size != (int)a->size || memcmp(value, a->value, a->size))
			return false;
	}
	return all_bytes(area + model->bytes, bytes - model->bytes, 0);
}

struct operation {
	char name[40];
	u8 value[MAX_VALUE];
	u32 size;
	bool remove, create, replace;
};

static struct operation random_operation(u64 *state)
{
	struct operation o = {
		.size = draw_below(state, draw(state) & 1 ? 12 : MAX_VALUE + 1),
		.remove = draw_below(state, 4) == 0,
		.create = draw_below(state, 5) == 0,
		.replace = draw_below(state, 5) == 0,
	};

	snprintf(o.name, sizeof(o.name), "user.%.*s%u",
		 (int)draw_below(state, 10), "long-name-", draw_below(state, 9));
	draw_bytes(state, o.value, o.size);
	return o;
}

static int store(u8 *area, u32 bytes, const struct operation *o)
{
	return yaffs_xattr_store(area, bytes, o->name,
				 o->remove ? NULL : o->value, o->size,
				 o->create, o->replace);
}

static void test_model(u64 seed)
{
	u64 state = seed;
	u32 bytes = 30 + draw_below(&state, 1500);
	u8 *area = new_area(bytes, seed & 1 ? 0xff : 0);
	struct list model = { .n = 0 };
	bool changed = false;
	u32 i;

	for (i = 0; i < 200; i++) {
		struct operation o = random_operation(&state);
		int expected, got;

		expected = model_store(&model, bytes, o.name,
				       o.remove ? NULL : o.value, o.size,
				       o.create, o.replace);
		got = store(area, bytes, &o);
		changed |= !got;
		if (got == expected && (!changed || agrees(&model, area, bytes)))
			continue;
		check(false, "seed %llu: operation %u gives %d, not %d, or the area differs",
		      (unsigned long long)seed, i, got, expected);
		break;
	}
	check(i == 200, "seed %llu: all operations", (unsigned long long)seed);
	free(area);
}

/* ---- damaged areas ---- */

/* True if all of @before but those named @name are in @after, in order. */
static bool others_kept(const struct list *before, const struct list *after,
			const char *name)
{
	u32 i, k = 0;

	for (i = 0; i < before->n; i++) {
		const struct attribute *a = &before->item[i];

		if (!strcmp(a->name, name))
			continue;
		if (k >= after->n || strcmp(a->name, after->item[k].name) ||
		    a->size != after->item[k].size ||
		    memcmp(a->value, after->item[k].value, a->size))
			return false;
		k++;
	}
	return true;
}

static bool consistent(u8 *area, u32 bytes, const struct operation *o)
{
	struct list before = list_of(area, bytes), after;
	u8 *copy = exact_copy(area, bytes);
	int status = store(area, bytes, o);
	u8 value[MAX_VALUE];
	bool good;
	int size;

	after = list_of(area, bytes);
	size = yaffs_xattr_find(area, bytes, o->name, value, MAX_VALUE);
	if (status)
		good = !memcmp(area, copy, bytes);
	else if (o->remove)
		good = size == -ENODATA &&
		       others_kept(&before, &after, o->name);
	else
		good = size == (int)o->size && !memcmp(value, o->value, o->size) &&
		       others_kept(&before, &after, o->name);
	free(copy);
	return good;
}

static void test_damaged(u64 seed)
{
	u64 state = seed;
	u32 bytes = 20 + draw_below(&state, 600);
	u8 *area = new_area(bytes, 0xff);
	u32 i, damage, wrong = 0;

	for (i = 0; i < 100; i++) {
		struct operation o = random_operation(&state);

		for (damage = draw_below(&state, 3); damage; damage--)
			area[draw_below(&state, bytes)] =
				(u8)draw_below(&state, 256) >>
				draw_below(&state, 8);
		wrong += !consistent(area, bytes, &o);
	}
	check(!wrong, "seed %llu: %u operations on a damaged area are wrong",
	      (unsigned long long)seed, wrong);
	free(area);
}

int main(void)
{
	u64 seed;

	test_by_hand();
	test_flags();
	test_small_areas();
	test_odd_records();
	for (seed = 1; seed <= 200; seed++) {
		test_model(seed);
		test_damaged(seed);
	}
	return report("test_xattr");
}
