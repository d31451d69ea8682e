/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: hash tables. */
#ifndef USER_LINUX_HASHTABLE_H
#define USER_LINUX_HASHTABLE_H

#include <linux/list.h>

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define HASH_SIZE(table)		ARRAY_SIZE(table)
#define hash_init(table)		memset(table, 0, sizeof(table))

static inline u32 hash_bucket(u64 key, u32 buckets)
{
	return (u32)(key * 0x61c8864680b583ebull >> 40) % buckets;
}

#define hash_head(table, key) \
	(&(table)[hash_bucket(key, HASH_SIZE(table))])

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	node->next = head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
	node->pprev = &head->first;
}

static inline bool hash_has_none(const struct hlist_head *head, u32 buckets)
{
	while (buckets && !head->first) {
		head++;
		buckets--;
	}
	return !buckets;
}

#define hash_empty(table)	hash_has_none(table, HASH_SIZE(table))

#define hash_add(table, node, key) \
	hlist_add_head(node, hash_head(table, key))

static inline void hash_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

#define hlist_object(node, type, member) ({ \
	struct hlist_node *node_ = (node); \
	node_ ? container_of(node_, type, member) : NULL; \
})
#define hlist_first_of(head, object, member) \
	hlist_object((head)->first, __typeof__(*(object)), member)
#define hlist_next_of(object, member) \
	hlist_object((object)->member.next, __typeof__(*(object)), member)

#define hash_for_each_possible(table, object, member, key) \
	for (object = hlist_first_of(hash_head(table, key), object, member); \
	     object; object = hlist_next_of(object, member))
/* A break leaves the loop over one bucket, and, since @object is there then, that over all. */
#define hash_for_each(table, bucket, object, member) \
	for (bucket = 0, object = NULL; \
	     !object && bucket < (int)HASH_SIZE(table); bucket++) \
		for (object = hlist_first_of(&(table)[bucket], object, member); \
		     object; object = hlist_next_of(object, member))
#define hash_for_each_safe(table, bucket, then, object, member) \
	for (bucket = 0, object = NULL; \
	     !object && bucket < (int)HASH_SIZE(table); bucket++) \
		for (object = hlist_first_of(&(table)[bucket], object, member); \
		     object && ({ then = (object)->member.next; true; }); \
		     object = hlist_object(then, __typeof__(*(object)), member))

#endif
