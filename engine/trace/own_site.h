/*
 * own_site.h - the place that tells findings apart: the site of an event's innermost frame in
 * the user's own files (own_code.h), its exact site where there is none.
 *
 * Two calls of std::vector::push_back run the same lines of a header, in places of the user's
 * that have nothing to do with each other; and one call runs many lines. With the setting off
 * it is the exact site. The setting and its patterns are those of the trace's first question.
 */
#ifndef HEDDLE_OWN_SITE_H
#define HEDDLE_OWN_SITE_H

#include "engine/trace/trace.h"

struct own_sites { /* zero, with the mutex made */
	GMutex making;
	bool off;              /* the setting */
	uint64_t *of_location; /* what depends on it; NULL before the first question */
	uint32_t *of_context;  /* the callers' site + 1; 0: not asked; NONE: they have none */
};
void own_sites_release(struct own_sites *sites);

/* Does own_site look at call stacks of the trace's events? */
bool own_sites_need_stacks(const struct trace *t);
/* Is a location of the trace in a library's file? */
bool own_sites_in_library(const struct trace *t);
/* Index of trace.sites. A look-up in a table, from any thread. */
uint32_t own_site(const struct trace *t, uint32_t event);
/* The site's name, "FILE:LINE"; valid as long as the trace. */
const char *own_site_name(const struct trace *t, uint32_t event);
/* Is it another one than the exact site? */
static inline bool own_site_differs(const struct trace *t, uint32_t event)
{
	return own_site(t, event) != t->locations[t->events[event].location].site;
}

#endif
