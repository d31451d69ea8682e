/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in: lists that go round, and those of hash tables. */
#ifndef USER_LINUX_LIST_H
#define USER_LINUX_LIST_H

#include <linux/kernel.h>

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_add_tail(struct list_head *entry,
				 struct list_head *head)
{
	list_add(entry, head->prev);
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry,
				  struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) \
	list_entry((head)->prev, type, member)
#define list_next_of(at, member) \
	list_entry((at)->member.next, __typeof__(*(at)), member)
#define list_for_each_entry(at, head, member) \
	for (at = list_entry((head)->next, __typeof__(*at), member); \
	     &at->member != (head); at = list_next_of(at, member))
#define list_for_each_entry_safe(at, then, head, member) \
	for (at = list_entry((head)->next, __typeof__(*at), member), \
	     then = list_next_of(at, member); \
	     &at->member != (head); at = then, then = list_next_of(then, member))

#endif
