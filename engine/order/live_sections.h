/*
 * live_sections.h - EDC's edges from critical sections (edc.c, rule (a)) event by event, with
 * bounded tracking: from the release of a section to a later event inside another section on
 * the lock, when an item of the first clashes with an item of the event.
 *
 * Each item keeps the last few sections that touched it, the oldest of which is overwritten
 * (the thesis's algorithm 3: four): edges may be lost, and are never made up. Only items that
 * are touched inside of sections take memory.
 */
#ifndef HEDDLE_LIVE_SECTIONS_H
#define HEDDLE_LIVE_SECTIONS_H

#include "engine/order/sync_edges.h"

/* How an item is touched: a variable, a block, a synchronisation object, a condition. Touches
 * of one item clash as the specifications of memory and conditions (specs) have it. */
enum live_kind {
	LIVE_READ,
	LIVE_WRITE,
	LIVE_USE,
	LIVE_FREE,
	LIVE_OBJECT, /* any use of a synchronisation object */
	LIVE_DESTROY,
	LIVE_WAIT,
	LIVE_WAKER,
};

struct live_sections;
/* `most`: sections kept for an item; 0: no bound. */
struct live_sections *live_sections_new(uint32_t most);
void live_sections_free(struct live_sections *s); /* NULL is allowed */
void live_sections_acquire(struct live_sections *s, uint32_t thread, uint32_t lock,
                           bool shared);
/* `at`: the release. */
void live_sections_release(struct live_sections *s, struct sync_point at, uint32_t lock);
/* The current event, of a thread inside of a section, touches an item: its edges. */
void live_sections_touch(struct live_sections *s, uint32_t thread, enum live_kind kind,
                         uint32_t number, sync_join *join, void *context);
/* The locks that a thread holds, as a number for live_sections_common; 0: none. */
uint32_t live_sections_held(const struct live_sections *s, uint32_t thread);
bool live_sections_common(const struct live_sections *s, uint32_t a, uint32_t b);
/* As online_split and online_renew. */
void live_sections_split(struct live_sections *s, uint32_t from, uint32_t to);
void live_sections_renew(struct live_sections *s, uint32_t variable);
/* Every source of a later edge. */
void live_sections_visit(const struct live_sections *s, sync_join *visit, void *context);

#endif
