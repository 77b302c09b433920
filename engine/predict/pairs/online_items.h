/*
 * online_items.h - the items of EDC (order/edc_sections.h) of a program that is running, and
 * which of them clash. Numbers are given as items are met.
 */
#ifndef HEDDLE_ONLINE_ITEMS_H
#define HEDDLE_ONLINE_ITEMS_H

#include "engine/trace/index.h"

/* Kinds of things with two items each, whose clashes follow from the specifications of memory
 * and conditions (specs). */
enum online_kind {
	ONLINE_VARIABLE,  /* read; write */
	ONLINE_BLOCK,     /* used; freed */
	ONLINE_OBJECT,    /* a synchronisation object: used; destroyed */
	ONLINE_CONDITION, /* waited for; signalled */
};

struct online_items;
struct online_items *online_items_new(void);
void online_items_free(struct online_items *s); /* NULL is allowed */
/* The first of the two items; _known: NONE when they do not exist yet. */
uint32_t online_items_of(struct online_items *s, enum online_kind kind, uint32_t number);
uint32_t online_items_known(const struct online_items *s, enum online_kind kind,
                            uint32_t number);
/* Adds an item of the caller's. */
uint32_t online_items_add(struct online_items *s);
/* Makes two items clash, or one with itself. */
void online_items_clash(struct online_items *s, uint32_t a, uint32_t b);
/* Variables that were one share its items until one of them is touched: of millions of parts
 * few are. The first of the variable's own two items, for the event that touches it: new ones
 * if it shared some, of a part of that memory from the event on. */
uint32_t online_items_own(struct online_items *s, uint32_t variable, uint32_t event);
/* `to`, which has none, shares the items of `from`, if that has any. */
void online_items_split(struct online_items *s, uint32_t from, uint32_t to);
/* The variable gets other items when they are next asked for. */
void online_items_forget(struct online_items *s, uint32_t variable);
/* From the event on the variable's items are another place of memory. False, and nothing done:
 * they were of several variables. */
bool online_items_renew(struct online_items *s, uint32_t variable, uint32_t event);
/* The functions for struct edc_rules. */
struct event_list online_items_clashing(const struct online_items *s, uint32_t item);
uint32_t online_items_as_of(const struct online_items *s, uint32_t item, uint32_t event);

#endif
