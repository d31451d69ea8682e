// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsing of a chip description. A chip has some thirty numbers, more than
 * module parameters carry comfortably for several chips at once, so a chip is
 * one string of key=value fields. Every value is checked here, once: the rest
 * of the module trusts struct vnand_params.
 */

#include "params.h"

struct number_key {
	const char *key;
	size_t offset;
	size_t size;
	u64 min, max;
};

#define NUMBER(member, min, max) \
	{ #member, offsetof(struct vnand_params, member), \
	  sizeof(((struct vnand_params *)0)->member), min, max }

#define SECOND_NS 1000000000ULL

#ifdef VNOR
#include "../vnor/keys.h"
#else
static const struct number_key number_keys[] = {
	NUMBER(page_bytes, 512, 16384),
	NUMBER(oob_bytes, 8, 2048),
	NUMBER(subpages, 1, VNAND_MAX_SUBPAGES),
	NUMBER(pages_per_block, 1, 1024),
	NUMBER(blocks, 1, 1 << 20),
	NUMBER(planes, 1, 16),
	NUMBER(t_read_ns, 0, SECOND_NS),
	NUMBER(t_prog_ns, 0, SECOND_NS),
	NUMBER(t_erase_ns, 0, SECOND_NS),
	NUMBER(t_command_ns, 0, SECOND_NS),
	NUMBER(bus_read_ps, 0, SECOND_NS),
	NUMBER(bus_write_ps, 0, SECOND_NS),
	NUMBER(ecc_read_ns, 0, SECOND_NS),
	NUMBER(ecc_write_ns, 0, SECOND_NS),
	NUMBER(driver_read_ns, 0, SECOND_NS),
	NUMBER(driver_program_ns, 0, SECOND_NS),
	NUMBER(driver_erase_ns, 0, SECOND_NS),
	NUMBER(subpage_read, 0, 1),
	NUMBER(nop, 0, 255),
	NUMBER(ordered, 0, 1),
	NUMBER(ecc_strength_bits, 0, 128),
	NUMBER(ecc_step_bytes, 128, 16384),
	NUMBER(seed, 0, ~0ULL),
	NUMBER(program_fail_ppm, 0, 1000000),
	NUMBER(erase_fail_ppm, 0, 1000000),
	NUMBER(endurance_cycles, 0, 1 << 30),
	NUMBER(rber_e12, 0, 1000000000000ULL),
	NUMBER(rber_wear_e12, 0, 1000000000000ULL),
	NUMBER(rber_disturb_e12, 0, 1000000000000ULL),
	NUMBER(rber_retention_e12, 0, 1000000000000ULL),
	NUMBER(worn_cycles, 0, 1 << 30),
	NUMBER(shelf_hours, 0, 10000000),
};
#endif

struct choice {
	const char *key;
	const char *value;
	size_t offset;
	int number;
};

#define CHOICE(member, value, number) \
	{ #member, value, offsetof(struct vnand_params, member), number }

static const struct choice choices[] = {
	CHOICE(wait, "polled", VNAND_WAIT_POLLED),
	CHOICE(wait, "interrupt", VNAND_WAIT_INTERRUPT),
	CHOICE(wait, "switching", VNAND_WAIT_SWITCHING),
	CHOICE(rules, "off", VNAND_RULES_OFF),
	CHOICE(rules, "count", VNAND_RULES_COUNT),
	CHOICE(rules, "fatal", VNAND_RULES_FATAL),
};

struct parser {
	struct vnand_params *params;
	char *message;
	size_t message_size;
};

#define fail(p, ...) \
	(snprintf((p)->message, (p)->message_size, __VA_ARGS__), -EINVAL)

#ifndef VNOR
static const struct vnand_params defaults = {
	.name = "nand0",
	.page_bytes = 2048,
	.oob_bytes = 64,
	.subpages = 4,
	.pages_per_block = 64,
	.blocks = 2048,
	.planes = 1,
	.t_read_ns = 25000,
	.t_prog_ns = 200000,
	.t_erase_ns = 2000000,
	.store = "ram",
	.rules = VNAND_RULES_COUNT,
	.nop = 4,
	.ecc_strength_bits = 1,
	.ecc_step_bytes = 512,
	.seed = 1,
};
#endif

static bool is_name(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++) {
		char c = text[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '_' || c == '-' ||
			    c == '.';

		if (!good || i >= VNAND_NAME_LEN - 1)
			return false;
	}
	return i > 0;
}

static int set_name(struct parser *p, char *to, const char *key,
		    const char *value)
{
	if (!is_name(value))
		return fail(p, "%s: '%s' is not a name (at most %d of A-Z a-z 0-9 _ - .)",
			    key, value, VNAND_NAME_LEN - 1);
	strcpy(to, value);
	return 0;
}

static int set_number(struct parser *p, const struct number_key *k,
		      const char *value)
{
	char *to = (char *)p->params + k->offset;
	u64 number;

	if (vnand_parse_u64(value, &number))
		return fail(p, "%s: '%s' is not a number", k->key, value);
	if (number < k->min || number > k->max)
		return fail(p, "%s: %s is not in %llu..%llu", k->key, value,
			    (unsigned long long)k->min,
			    (unsigned long long)k->max);
	if (k->size == sizeof(u64))
		*(u64 *)to = number;
	else
		*(u32 *)to = (u32)number;
	return 0;
}

/* Cuts the next '/'-separated item off *list. */
static char *next_item(char **list)
{
	char *item = *list, *end;

	if (!item)
		return NULL;
	end = strchr(item, '/');
	if (end)
		*end++ = '\0';
	*list = end;
	return item;
}

static int set_parts(struct parser *p, char *list)
{
	struct vnand_params *params = p->params;
	char *item;

	params->parts = 0;
	while ((item = next_item(&list))) {
		struct vnand_part *part = &params->part[params->parts];
		char *at = strchr(item, '@'), *plus = at ? strchr(at, '+') : NULL;
		u64 first, blocks;

		if (params->parts == VNAND_MAX_PARTS)
			return fail(p, "parts: more than %d partitions",
				    VNAND_MAX_PARTS);
		if (!plus)
			return fail(p, "parts: '%s' is not NAME@FIRST+BLOCKS",
				    item);
		*at = '\0';
		*plus = '\0';
		if (set_name(p, part->name, "parts", item))
			return -EINVAL;
		if (vnand_parse_u64(at + 1, &first) ||
		    vnand_parse_u64(plus + 1, &blocks) || !blocks ||
		    first >= 1 << 20 || blocks > 1 << 20)
			return fail(p, "parts: '%s' is not NAME@FIRST+BLOCKS",
				    item);
		part->first_block = (u32)first;
		part->blocks = (u32)blocks;
		params->parts++;
	}
	return 0;
}

#ifndef VNOR
static int set_factory_bad(struct parser *p, char *list)
{
	struct vnand_params *params = p->params;
	char *item;
	u64 number;

	if (!strncmp(list, "count:", 6)) {
		if (vnand_parse_u64(list + 6, &number) || number > VNAND_MAX_BAD)
			return fail(p, "factory_bad: '%s' is not count:N with N up to %d",
				    list, VNAND_MAX_BAD);
		params->factory_bad_random = (u32)number;
		return 0;
	}
	while ((item = next_item(&list))) {
		if (params->factory_bads == VNAND_MAX_BAD)
			return fail(p, "factory_bad: more than %d blocks",
				    VNAND_MAX_BAD);
		if (vnand_parse_u64(item, &number) || number >= 1 << 20)
			return fail(p, "factory_bad: '%s' is not a block number",
				    item);
		params->factory_bad[params->factory_bads++] = (u32)number;
	}
	return 0;
}
#endif

/* Looks at all of them: equally long words take the guest equally long. */
static int set_choice(struct parser *p, const char *key, const char *value,
		      bool *known)
{
	bool found = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		if (strcmp(key, choices[i].key))
			continue;
		*known = true;
		if (!strcmp(value, choices[i].value)) {
			*(int *)((char *)p->params + choices[i].offset) =
				choices[i].number;
			found = true;
		}
	}
	return *known && !found ? fail(p, "%s: unknown value '%s'", key, value) : 0;
}

static int set_field(struct parser *p, const char *key, char *value)
{
	bool known = false;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(number_keys); i++)
		if (!strcmp(key, number_keys[i].key))
			return set_number(p, &number_keys[i], value);
	err = set_choice(p, key, value, &known);
	if (known)
		return err;
	if (!strcmp(key, "name"))
		return set_name(p, p->params->name, key, value);
	if (!strcmp(key, "store")) {
		const char *region = value;

		if (!strncmp(value, "iomem:", 6))
			region = value + 6;
		else if (strcmp(value, "ram"))
			return fail(p, "store: '%s' is neither ram nor iomem:NAME",
				    value);
		return set_name(p, p->params->store, key, region);
	}
	if (!strcmp(key, "parts"))
		return set_parts(p, value);
#ifndef VNOR
	if (!strcmp(key, "factory_bad"))
		return set_factory_bad(p, value);
#endif
	return fail(p, "unknown key '%s'", key);
}

static int check_geometry(struct parser *p)
{
	struct vnand_params *params = p->params;
	u64 bytes = (u64)params->blocks * params->pages_per_block *
		    (params->page_bytes + params->oob_bytes);
	u32 i;

	if (params->page_bytes & (params->page_bytes - 1))
		return fail(p, "page_bytes: %u is not a power of two",
			    params->page_bytes);
	if (params->pages_per_block & (params->pages_per_block - 1))
		return fail(p, "pages_per_block: %u is not a power of two",
			    params->pages_per_block);
	if (params->subpages & (params->subpages - 1))
		return fail(p, "subpages: %u is not a power of two",
			    params->subpages);
#ifdef VNOR
	if (params->t_prog_byte_ns > params->t_prog_ns)
		return fail(p, "t_prog_byte_ns: a byte takes longer than a page");
#endif
	if (params->page_bytes % params->ecc_step_bytes)
		return fail(p, "ecc_step_bytes: %u does not divide the page",
			    params->ecc_step_bytes);
	if (params->blocks % params->planes)
		return fail(p, "planes: %u does not divide the blocks",
			    params->planes);
	if (bytes > 1ULL << 40)
		return fail(p, "the chip is larger than 1 TiB");
	for (i = 0; i < params->parts; i++)
		if ((u64)params->part[i].first_block + params->part[i].blocks >
		    params->blocks)
			return fail(p, "parts: '%s' ends behind the chip's %u blocks",
				    params->part[i].name, params->blocks);
	for (i = 0; i < params->factory_bads; i++)
		if (params->factory_bad[i] >= params->blocks)
			return fail(p, "factory_bad: the chip has no block %u",
				    params->factory_bad[i]);
	if (params->factory_bads + params->factory_bad_random >= params->blocks)
		return fail(p, "factory_bad: no good block would be left");
	return 0;
}

int vnand_params_parse(char *text, struct vnand_params *params, char *message,
		       size_t message_size)
{
	struct parser p = {
		.params = params,
		.message = message,
		.message_size = message_size,
	};

	*params = defaults;
	while (text && *text) {
		char *end = strchr(text, ';'), *value;
		int err;

		if (end)
			*end++ = '\0';
		value = strchr(text, '=');
		if (!value)
			return fail(&p, "'%s' is not key=value", text);
		*value++ = '\0';
		err = set_field(&p, text, value);
		if (err)
			return err;
		text = end;
	}
	return check_geometry(&p);
}
