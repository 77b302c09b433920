/*
 * running_ranges.h - the variables of a program that is running: runs of bytes, divided as they
 * are accessed. A variable is split when an access covers a part of it, and is other memory
 * when its bytes are another block's.
 */
#ifndef HEDDLE_RUNNING_RANGES_H
#define HEDDLE_RUNNING_RANGES_H

#include "engine/base/column.h"

struct running_sink;

struct variable_range {
	uint64_t address;       /* in the log */
	uint32_t size;          /* 0: it is no longer a variable */
	uint32_t region, block; /* of the builder */
	uint32_t place;         /* the place that is just this memory, + 1; 0: not known */
};

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, PAGES = 8192 };
/* Of a page by byte its variable, or 0. */
struct recent_page {
	uint64_t number;
	uint32_t *at; /* borrowed */
};

/* A place that is a variable. */
struct known_place {
	uint32_t place; /* + 1; 0: none */
	uint32_t variable, block;
};
enum { KNOWN_PLACES = 1 << 19 };

/* (Its fields are read by loops over accesses.) */
struct ranges {
	const struct running_sink *sink; /* borrowed: its split and renew */
	GHashTable *pages;               /* number -> uint32_t[PAGE_BYTES], owned */
	struct recent_page page[PAGES];  /* by number; at first one that no address has */
	GArray *variables;               /* struct variable_range; 0 is none */
	uint64_t renumbered;             /* bytes that got a variable, or another one, in all */
	struct known_place *known;       /* by place, of KNOWN_PLACES; owned */
	struct column covered;           /* uint32_t: the variables of the last access */
};

void ranges_init(struct ranges *r, const struct running_sink *sink);
void ranges_release(struct ranges *r);
/* The bytes of a page, which becomes the one that r->page has. */
uint32_t *ranges_page(struct ranges *r, uint64_t number);
/* The variables of an access; borrowed until the next one. `access.place` is its place, + 1:
 * where it is one variable, it is that until range_known says something else. */
const uint32_t *ranges_cover(struct ranges *r, struct variable_range access, uint32_t *count);

/* Cache entry of a place; it may hold another place. */
static inline struct known_place *range_known(const struct ranges *r, uint32_t place)
{
	return &r->known[place % KNOWN_PLACES];
}
static inline uint32_t *range_byte(struct ranges *r, uint64_t address)
{
	uint64_t number = address >> PAGE_BITS;
	const struct recent_page *page = &r->page[number % PAGES];
	uint32_t *at = G_LIKELY(page->number == number) ? page->at : ranges_page(r, number);
	return &at[address % PAGE_BYTES];
}
static inline struct variable_range *range_at(const struct ranges *r, uint32_t variable)
{
	return &g_array_index(r->variables, struct variable_range, variable);
}
/* Is the variable just this memory? */
static inline bool is_range(const struct variable_range *v, uint64_t address, uint32_t size,
                            uint32_t region)
{
	return v->address == address && v->size == size && v->region == region;
}

#endif
