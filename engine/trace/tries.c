/*
 * tries.c - the observations of failed tries; see tries.h.
 */
#include "engine/trace/tries.h"

struct object_state {
	GArray *open; /* uint32_t: shared ones; of a semaphore the last take of each thread */
	uint32_t exclusive; /* the open acquire, or NONE */
	uint32_t destroyed; /* since the last acquire, or NONE */
	int64_t count;      /* of a semaphore */
};

struct walk {
	const struct trace *t;
	struct object_state *objects;
	GArray *events, *binding, *start, *items;
};

static GArray *open_of(struct object_state *o)
{
	if (o->open == NULL)
		o->open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return o->open;
}

/* The last one of the thread. */
static void open_remove(const struct walk *w, struct object_state *o, uint32_t thread)
{
	for (guint i = o->open == NULL ? 0 : o->open->len; i-- > 0;) {
		if (w->t->events[g_array_index(o->open, uint32_t, i)].thread == thread) {
			g_array_remove_index(o->open, i);
			return;
		}
	}
}

static void note_try(struct walk *w, struct object_state *o, uint32_t e, bool observes)
{
	uint64_t start = w->items->len;
	bool binding;

	g_array_append_val(w->events, e);
	g_array_append_val(w->start, start);
	if (observes && o->exclusive != NONE)
		g_array_append_val(w->items, o->exclusive);
	if (observes && o->open != NULL && o->open->len > 0)
		g_array_append_vals(w->items, o->open->data, o->open->len);
	if (observes && w->items->len == start && o->destroyed != NONE)
		g_array_append_val(w->items, o->destroyed);
	binding = w->items->len > start || (observes && w->t->events[e].op == OP_TAKETRYFAIL);
	g_array_append_val(w->binding, binding);
}

static void step(struct walk *w, uint32_t e)
{
	const struct event *x = &w->t->events[e];
	struct object_state *o = &w->objects[x->target];

	switch (x->op) {
	case OP_ACQ:
	case OP_REL:
		if (o->open != NULL && o->open->len > 0)
			g_array_set_size(o->open, 0);
		o->exclusive = x->op == OP_ACQ ? e : NONE;
		if (x->op == OP_ACQ)
			o->destroyed = NONE;
		break;
	case OP_RACQ:
		o->destroyed = NONE;
		g_array_append_val(open_of(o), e);
		break;
	case OP_RREL:
		open_remove(w, o, x->thread);
		break;
	case OP_DESTROY:
		o->destroyed = e;
		break;
	case OP_POST:
		o->count++;
		break;
	case OP_TAKE:
		o->count--;
		open_remove(w, o, x->thread);
		g_array_append_val(open_of(o), e);
		break;
	case OP_TRYFAIL:
		note_try(w, o, e, true);
		break;
	case OP_TAKETRYFAIL: /* with some count left it failed for another reason */
		note_try(w, o, e, o->count == 0);
		break;
	default:
		break;
	}
}

static bool is_try(const struct event *x)
{
	return op_fails(x->op);
}

static struct tries *tries_new(const struct trace *t)
{
	struct walk w = { .t = t,
		          .objects = g_new(struct object_state, t->objects_count + 1),
		          .events = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		          .binding = g_array_new(FALSE, FALSE, sizeof(bool)),
		          .start = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		          .items = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	struct tries *s = g_new0(struct tries, 1);

	for (uint64_t i = 0; i < t->objects_count; i++)
		w.objects[i] = (struct object_state){ NULL, NONE, NONE, t->objects[i].count };
	/* nothing matters after the last try */
	uint64_t limit = trace_has(t, OPERATIONS_FAILED) ? t->events_count : 0;
	while (limit > 0 && !is_try(&t->events[limit - 1]))
		limit--;
	for (uint32_t e = 0; e < limit; e++) {
		const struct event *x = &t->events[e];

		if (!op_is_access(x->op) && op_table[x->op].operand == OPERAND_OBJECT &&
		    !event_inert(x))
			step(&w, e);
	}
	uint64_t end = w.items->len;
	g_array_append_val(w.start, end);
	s->t = t;
	s->count = w.events->len;
	s->events = (uint32_t *)(void *)g_array_free(w.events, FALSE);
	s->binding = (bool *)(void *)g_array_free(w.binding, FALSE);
	s->observed.start = (uint64_t *)(void *)g_array_free(w.start, FALSE);
	s->observed.items = (uint32_t *)(void *)g_array_free(w.items, FALSE);
	for (uint64_t i = 0; i < t->objects_count; i++) {
		if (w.objects[i].open != NULL)
			g_array_free(w.objects[i].open, TRUE);
	}
	g_free(w.objects);
	return s;
}

const struct tries *trace_tries(const struct trace *t)
{
	struct trace_index *ix = t->index;
	struct tries *made = g_atomic_pointer_get(&ix->tries);

	if (made != NULL)
		return made;
	made = tries_new(t);
	if (g_atomic_pointer_compare_and_exchange(&ix->tries, NULL, made))
		return made;
	tries_free(made); /* another thread was faster */
	return g_atomic_pointer_get(&ix->tries);
}

void tries_free(struct tries *s)
{
	if (s == NULL)
		return;
	g_free(s->events);
	g_free(s->binding);
	g_free((void *)s->observed.start);
	g_free((void *)s->observed.items);
	g_free(s);
}

/* Index of a failed try, or NONE. */
static uint32_t find(const struct tries *s, uint32_t event)
{
	struct event_list all = { s->events, s->count };
	uint32_t i = (uint32_t)event_list_before(all, event);

	return i < s->count && s->events[i] == event ? i : NONE;
}

struct event_list tries_observed(const struct tries *s, uint32_t event)
{
	uint32_t i = find(s, event);

	return i == NONE ? (struct event_list){ NULL, 0 } : event_list_at(&s->observed, i);
}

bool tries_binding(const struct tries *s, uint32_t event)
{
	uint32_t i = find(s, event);

	return i != NONE && s->binding[i];
}

enum try_need tries_need(const struct tries *s, uint32_t tryfail)
{
	struct event_list seen = tries_observed(s, tryfail);
	enum try_need need = TRY_NOTHING;

	for (uint64_t i = 0; i < seen.count; i++) {
		const struct event *x = &s->t->events[seen.items[i]];

		if (x->op == OP_DESTROY)
			return TRY_DESTROYED;
		if (x->thread == s->t->events[tryfail].thread)
			return TRY_NOTHING;
		need = need == TRY_EXCLUSIVE || x->op != OP_RACQ ? TRY_EXCLUSIVE : TRY_ANY;
	}
	return need;
}

void tries_sections(const struct tries *s, uint32_t tryfail, GArray *acquires)
{
	const struct trace *t = s->t;
	enum try_need need = tries_need(s, tryfail);
	struct event_list list =
	        event_list_at(&t->index->object_events, t->events[tryfail].target);

	if (need == TRY_DESTROYED) {
		g_array_append_val(acquires, tries_observed(s, tryfail).items[0]);
		return;
	}
	for (uint64_t i = 0; need != TRY_NOTHING && i < list.count; i++) {
		const struct event *x = &t->events[list.items[i]];

		if (op_acquires(x->op) && !event_inert(x) &&
		    x->thread != t->events[tryfail].thread &&
		    (need == TRY_ANY || x->op != OP_RACQ))
			g_array_append_val(acquires, list.items[i]);
	}
}
