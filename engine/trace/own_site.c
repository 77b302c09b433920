/*
 * own_site.c - see own_site.h. What of a place depends on its location alone, and what on the
 * call stack alone, is worked out once for each, when it is first asked for.
 */
#include "engine/trace/own_site.h"
#include "engine/trace/own_code.h"

/* Where the innermost own frame is, among the frames at a location. */
enum {
	NOT_ASKED,
	HERE,         /* the site is `site` */
	IF_OWN,       /* so too, if the function around the location is the user's */
	WITH_CALLERS, /* among the callers' */
};
struct at_location {
	uint32_t site, where;
};
_Static_assert(sizeof(struct at_location) == sizeof(uint64_t), "stored in one step");

void own_sites_release(struct own_sites *s)
{
	g_free(s->of_location);
	g_free(s->of_context);
	g_mutex_clear(&s->making);
}

/* -- frames --------------------------------------------------------------------------------- */

/* The frames of one function at a location: those inlined there, innermost first, and its own.
 * `event`: the location is an event's, whose exact place needs no line to be the user's. */
static struct at_location look(const struct trace *t, uint32_t location, bool event)
{
	enum { DEEPEST = 64 };
	if (location == 0) /* unknown: what is around it does not tell more */
		return (struct at_location){ t->locations[0].site,
			                     event ? HERE : WITH_CALLERS };
	for (int depth = 0; depth < DEEPEST; depth++) {
		const struct location *l = &t->locations[location];
		bool inlined = l->inlined != NONE && l->inlined != location;
		bool counts = (event && depth == 0) || (l->file != 0 && l->line != 0);
		enum own_code_by by = own_code_by(t, location);
		if (counts && by == OWN_CODE_YES)
			return (struct at_location){ l->site, HERE };
		if (counts && by == OWN_CODE_BY_FUNCTION) {
			if (!inlined)
				return (struct at_location){ l->site, IF_OWN };
			if (own_code_has(t, &(struct frame){ l->function, location }))
				return (struct at_location){ l->site, HERE };
		}
		if (!inlined)
			break;
		location = l->inlined;
	}
	return (struct at_location){ 0, WITH_CALLERS };
}

/* Does a frame in a function of that name (or of the location's, if it is "") count? */
static bool is_own(const struct trace *t, uint32_t location, uint32_t function)
{
	/* IF_OWN depends on the outermost of the frames inlined there */
	while (location && t->locations[location].inlined != NONE &&
	       t->locations[location].inlined != location)
		location = t->locations[location].inlined;
	function = function ? function : t->locations[location].function;
	return own_code_has(t, &(struct frame){ function, location });
}

/* -- tables --------------------------------------------------------------------------------- */

static struct own_sites *tables_of(const struct trace *t)
{
	struct own_sites *s = t->own_sites;
	if (G_LIKELY(__atomic_load_n(&s->of_location, __ATOMIC_ACQUIRE) != NULL))
		return s;
	g_mutex_lock(&s->making);
	if (s->of_location == NULL) {
		s->off = !own_code_is_on();
		s->of_context = g_new0(uint32_t, t->contexts_count + 1);
		__atomic_store_n(&s->of_location, g_new0(uint64_t, t->locations_count + 1),
		                 __ATOMIC_RELEASE);
	}
	g_mutex_unlock(&s->making);
	return s;
}

static struct at_location at_location(const struct trace *t, const struct own_sites *s,
                                      uint32_t location)
{
	union {
		uint64_t word;
		struct at_location at;
	} known = { __atomic_load_n(&s->of_location[location], __ATOMIC_RELAXED) };
	if (G_UNLIKELY(known.at.where == NOT_ASKED)) {
		known.at = look(t, location, true);
		__atomic_store_n(&s->of_location[location], known.word, __ATOMIC_RELAXED);
	}
	return known.at;
}

/* The site + 1 in the caller of a context alone; NONE: it has no own frame. */
static uint32_t in_caller(const struct trace *t, uint32_t context)
{
	const struct context *c = &t->contexts[context];
	if (c->parent == 0)
		return NONE;
	struct at_location at = look(t, c->call, false);
	uint32_t function = t->contexts[c->parent].function;
	bool own = at.where == HERE || (at.where == IF_OWN && is_own(t, c->call, function));
	return own ? at.site + 1 : NONE;
}

/* The site + 1 of the innermost own frame of a context's callers, or NONE. */
static uint32_t among_callers(const struct trace *t, const struct own_sites *s,
                              uint32_t context)
{
	uint32_t found = NONE, end = context;
	for (; end != 0 && found == NONE; end = t->contexts[end].parent) {
		found = __atomic_load_n(&s->of_context[end], __ATOMIC_RELAXED);
		if (found != 0)
			break;
		found = in_caller(t, end);
	}
	/* the contexts that were passed have the same; `end` is known, or has its own caller */
	for (uint32_t c = context; c != end; c = t->contexts[c].parent)
		__atomic_store_n(&s->of_context[c], found, __ATOMIC_RELAXED);
	return found;
}

bool own_sites_need_stacks(const struct trace *t)
{
	const struct own_sites *s = tables_of(t);
	bool need = false;
	for (uint32_t l = 0; t->stacks_count && !s->off && l < t->locations_count && !need; l++)
		need = at_location(t, s, l).where != HERE;
	return need;
}

bool own_sites_in_library(const struct trace *t)
{
	const struct own_sites *s = tables_of(t);
	bool any = false;
	for (uint32_t l = 1; !s->off && l < t->locations_count && !any; l++)
		any = at_location(t, s, l).where == WITH_CALLERS;
	return any;
}

uint32_t own_site(const struct trace *t, uint32_t event)
{
	const struct own_sites *s = tables_of(t);
	uint32_t location = t->events[event].location;
	uint32_t exact = t->locations[location].site;
	if (s->off)
		return exact;
	struct at_location at = at_location(t, s, location);
	if (G_LIKELY(at.where == HERE))
		return at.site;
	uint32_t context = own_code_stack(t, event);
	uint32_t function = context ? t->contexts[context].function : 0;
	if (at.where == IF_OWN && is_own(t, location, function))
		return at.site;
	uint32_t found = among_callers(t, s, context);
	return found == NONE ? exact : found - 1;
}

const char *own_site_name(const struct trace *t, uint32_t event)
{
	return trace_string(t, t->sites[own_site(t, event)]);
}
