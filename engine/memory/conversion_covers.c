/*
 * conversion_covers.c - which accesses of the same bytes the graph leaves out, and whether its
 * values are right all the same.
 */
#include "engine/memory/conversion.h"

/* The bytes of a variable that are always accessed as a whole. */
struct cover {
	uint32_t location; /* the location whose events access it, + 1; 0: none yet */
	uint32_t writer;   /* the last plain write before these, + 1 */
	uint32_t storer;   /* thread that stored last while others were alive, + 1 */
	uint32_t behind;   /* the last plain write after an event, + 1 */
	bool plain_store;  /* stores by `storer` or others that are no updates */
	bool several;      /* several threads stored, not by updates alone, while others were
	                    * alive */
	/* TSO, while others were alive: */
	struct memory_place place; /* the first; size 0: none */
	uint32_t user;
	bool users, written, mixed;
};

struct cover *covers_new(const struct trace *t)
{
	return g_new0(struct cover, t->variables_count + 1);
}

uint32_t covers_plain_writer(const struct conversion *c, uint32_t event, bool *several)
{
	struct wide run = event_variables(c->t, &c->t->events[event]);
	uint32_t writer = c->covers[run.first].writer;

	*several = false;
	for (uint32_t v = run.first + 1; v < run.first + run.count; v++)
		*several |= c->covers[v].writer != writer;
	return *several || writer == 0 ? NONE : writer - 1;
}

/* Notes that a plain access of an atomic should be an event, where it accesses the same
 * bytes. */
static void note_mixed(struct conversion *c, uint32_t event, const struct cover *v,
                       enum memory_unmodelled otherwise)
{
	struct memory_place place;
	bool small = memory_place_of(c->t, c->blocks, event, &place);
	const struct memory_place *atomic =
	        &g_array_index(c->world->places, struct memory_place, v->location - 1);
	if (small && memory_place_equal(&place, atomic))
		g_array_append_val(c->r->mixed, place);
	else
		conversion_note_unmodelled(c, otherwise);
}

void covers_add_plain(struct conversion *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	for (uint32_t i = run.first; i < run.first + run.count; i++) {
		struct cover *v = &c->covers[i];
		if (op_writes(x->op) && v->location == 0)
			v->writer = event + 1;
		else if (op_writes(x->op) && c->alive > 1)
			note_mixed(c, event, v, MEMORY_UNMODELLED_PLAIN);
		else if (op_writes(x->op))
			v->behind = event + 1;
		else if (v->several)
			note_mixed(c, event, v, MEMORY_UNMODELLED_READS);
	}
}

void covers_add_event(struct conversion *c, uint32_t event, uint32_t location)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	for (uint32_t i = run.first; i < run.first + run.count; i++) {
		struct cover *v = &c->covers[i];
		if (v->location != 0 && v->location != location + 1)
			conversion_note_unmodelled(c, MEMORY_UNMODELLED_SIZES);
		if (v->behind)
			note_mixed(c, v->behind - 1, v, MEMORY_UNMODELLED_PLAIN);
		v->location = location + 1;
		if (!op_writes(x->op) || c->alive < 2)
			continue;
		v->plain_store |= x->op != OP_RMW;
		v->several |= v->plain_store && v->storer != 0 && v->storer != x->thread + 1u;
		v->storer = (uint32_t)x->thread + 1;
	}
}

void covers_add_shared(struct conversion *c, uint32_t event, const struct memory_place *place)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	if (c->model != MEMORY_TSO || c->alive < 2)
		return;
	for (uint32_t i = run.first; i < run.first + run.count; i++) {
		struct cover *v = &c->covers[i];
		if (v->place.size == 0) {
			v->place = *place;
			v->user = x->thread;
		}
		v->users |= v->user != x->thread;
		v->written |= op_writes(x->op);
		v->mixed |= place->size > 8 || place->size != v->place.size ||
		            place->offset != v->place.offset;
		if (v->users && v->written && v->mixed)
			conversion_note_unmodelled(c, MEMORY_UNMODELLED_SIZES);
	}
}
