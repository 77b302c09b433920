/*
 * sync_uses.c - see sync_uses.h.
 *
 * One walk over the events. Each access is paired with the last operation before it and the
 * first one after it of each other thread: if these are ordered with it, so are the others of
 * that thread. The pairs that no fork orders at once are then looked up in an order.
 */
#include "engine/predict/sync_uses.h"

#include "engine/order/order.h"
#include "engine/trace/lock_sections.h"
#include "engine/trace/own_code.h"
#include "engine/trace/sync_bytes.h"
#include "engine/trace/weak.h"

/* What one thread did with an object. */
struct user {
	uint32_t thread;
	uint32_t last;     /* its last operation, or NONE */
	guint paired_upto; /* accesses of the object that a later operation of it was paired
	                      with */
};

/* An object, or a control of a once-function, of which there are parts. */
struct shared_object {
	GArray *users;    /* struct user; NULL: none yet */
	GArray *accesses; /* uint32_t: events; NULL: none yet */
	bool semaphore;
	bool own; /* a lock of the program's own making, whose writes are recorded */
};

struct pair {
	struct sync_use use;
	const struct shared_object *of;
};

enum { MOST_PAIRS = 1 << 16 }; /* they are looked up when there are so many */
struct search {
	struct trace *t;
	const uint32_t *parts;
	struct shared_object *objects, *controls; /* by object; by variable, or NULL */
	struct once_looks looks;
	uint32_t first_fork;           /* NONE: none yet */
	bool *forked;                  /* by thread */
	GArray *pairs;                 /* struct pair */
	struct lock_sections sections; /* with controls */
	struct order *order;           /* NULL: not needed yet */
	const struct progress *progress;
	GHashTable *places; /* names of those found; of the trace */
	GArray *found;      /* struct sync_use */
	guint most;
	bool all; /* or leave out writes that look like an initialisation or a clean-up */
	bool cancelled;
};

static struct user *user_of(struct shared_object *o, uint32_t thread)
{
	if (o->users == NULL)
		o->users = g_array_new(FALSE, FALSE, sizeof(struct user));
	for (guint i = 0; i < o->users->len; i++)
		if (g_array_index(o->users, struct user, i).thread == thread)
			return &g_array_index(o->users, struct user, i);
	struct user anew = { thread, NONE, 0 };
	g_array_append_val(o->users, anew);
	return &g_array_index(o->users, struct user, o->users->len - 1);
}

/* The threads that a thread forks begin after all that it did before its first fork, and so do
 * their own. */
static bool is_before_all(const struct search *s, uint32_t event, uint32_t other)
{
	return s->first_fork == NONE ? event < other
	                             : event < s->first_fork &&
	                                       s->t->events[event].thread ==
	                                               s->t->events[s->first_fork].thread &&
	                                       s->forked[s->t->events[other].thread];
}

/* The thread's section of the lock around the event, or NULL. */
static const struct lock_section *section_around(const struct search *s, uint32_t lock,
                                                 uint32_t event)
{
	uint32_t count;
	const struct lock_user *users = lock_uses(&s->sections, lock, &count);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < users[i].count; k++) {
			const struct lock_section *x = &s->sections.items[users[i].first + k];
			if (x->thread == s->t->events[event].thread && x->acquire < event &&
			    event < x->release)
				return x;
		}
	return NULL;
}

/* Is the access a write over a control under a lock under which the call is, too? A call looks
 * at the control, so that both orders are explored, and comes before the write as a whole, or
 * after it. */
static bool is_apart(const struct search *s, const struct pair *p)
{
	bool control = s->controls != NULL &&
	               s->parts[event_variables(s->t, &s->t->events[p->use.access]).first] ==
	                       SYNC_BYTES_ONCE;
	if (!control || s->t->events[p->use.access].op != OP_WRITE)
		return false;
	for (uint32_t o = 0; o < s->t->objects_count; o++) {
		const struct lock_section *a = section_around(s, o, p->use.access),
		                          *b = section_around(s, o, p->use.operation);
		if (a != NULL && b != NULL && (a->exclusive || b->exclusive))
			return true;
	}
	return false;
}

/* A look at a semaphore's count (sem_getvalue), which reads what posts and takes leave. */
static bool is_count(const struct search *s, const struct pair *p)
{
	const struct event *e = &s->t->events[p->use.access];
	return p->of->semaphore && e->op == OP_AREAD &&
	       s->t->variables[event_variables(s->t, e).first].address ==
	               s->t->objects[s->t->events[p->use.operation].target].address;
}

static bool is_ordered(struct search *s, uint32_t first, uint32_t second)
{
	if (s->order == NULL)
		s->order = trace_model(s->t) == WEAK_SC
		                   ? order_new_lasting(s->t, s->progress)
		                   : order_new(s->t, ORDER_KIND_HB, s->progress);
	s->cancelled = s->order == NULL;
	return s->cancelled || order_ordered_unobserved(s->order, first, second);
}

static void look_up(struct search *s)
{
	for (guint i = 0; i < s->pairs->len && s->found->len < s->most && !s->cancelled; i++) {
		const struct pair *p = &g_array_index(s->pairs, struct pair, i);
		const struct sync_use *u = &p->use;
		const char *place = own_code_place_name(s->t, u->access);
		if (p->of->own || g_hash_table_contains(s->places, place) || is_apart(s, p) ||
		    is_count(s, p) ||
		    is_ordered(s, MIN(u->access, u->operation), MAX(u->access, u->operation)))
			continue;
		g_hash_table_add(s->places, (gpointer)place);
		g_array_append_val(s->found, *u);
	}
	g_array_set_size(s->pairs, 0);
}

static void add_pair(struct search *s, const struct shared_object *of, uint32_t access,
                     uint32_t operation)
{
	struct pair pair = { { access, operation }, of };
	if (of->own || is_before_all(s, MIN(access, operation), MAX(access, operation)))
		return;
	g_array_append_val(s->pairs, pair);
	if (s->pairs->len == MOST_PAIRS)
		look_up(s);
}

/* The same access again, with no operation since, has the same partners. */
static bool is_again(const struct search *s, const struct shared_object *o, uint32_t event)
{
	const struct event *e = &s->t->events[event], *last;
	if (o->accesses->len == 0)
		return false;
	last = &s->t->events[g_array_index(o->accesses, uint32_t, o->accesses->len - 1)];
	for (guint i = 0; o->users != NULL && i < o->users->len; i++) {
		const struct user *u = &g_array_index(o->users, struct user, i);
		if (u->paired_upto == o->accesses->len)
			return false;
	}
	return last->thread == e->thread && last->location == e->location;
}

static void see_access(struct search *s, struct shared_object *o, uint32_t event)
{
	uint32_t thread = s->t->events[event].thread;
	enum op op = s->t->events[event].op;
	o->own |= op == OP_AWRITE || op == OP_RMW;
	if (o->accesses == NULL)
		o->accesses = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (is_again(s, o, event))
		return;
	bool compares = s->all || op != OP_WRITE, used = false;
	for (guint i = 0; o->users != NULL && i < o->users->len; i++) {
		const struct user *u = &g_array_index(o->users, struct user, i);
		bool other = u->thread != thread && u->last != NONE;
		used |= other;
		if (other && compares)
			add_pair(s, o, event, u->last);
	}
	if (!used && !compares)
		return;
	g_array_append_val(o->accesses, event);
}

static void see_operation(struct search *s, struct shared_object *o, uint32_t event)
{
	struct user *u = user_of(o, s->t->events[event].thread);
	for (; o->accesses != NULL && u->paired_upto < o->accesses->len; u->paired_upto++) {
		uint32_t access = g_array_index(o->accesses, uint32_t, u->paired_upto);
		if (s->t->events[access].thread != u->thread)
			add_pair(s, o, access, event);
	}
	u->last = event;
	o->semaphore |= op_table[s->t->events[event].op].use == USE_SEMAPHORE;
}

static struct shared_object *object_of(const struct search *s, uint32_t variable)
{
	uint32_t of = s->parts[variable];
	return of == NONE              ? NULL
	       : of == SYNC_BYTES_ONCE ? &s->controls[variable]
	                               : &s->objects[of];
}

static void see_variables(struct search *s, uint32_t event)
{
	struct wide of = event_variables(s->t, &s->t->events[event]);
	const struct shared_object *before = NULL;
	for (uint32_t v = of.first; v < of.first + of.count; v++) {
		struct shared_object *o = object_of(s, v);
		if (o != NULL && o != before)
			see_access(s, o, event);
		before = o;
	}
}

/* A call's look at its control is followed by a message at once, and is then its operation. */
static void see(struct search *s, uint32_t event)
{
	const struct event *e = &s->t->events[event];
	uint32_t look = s->controls != NULL ? once_looks_step(&s->looks, event) : NONE;
	if (look != NONE)
		see_operation(s, &s->controls[s->t->events[look].target], look);
	if (op_is_access(e->op) && !event_inert(e) &&
	    (s->controls == NULL || e->op != OP_AREAD || e->aux != 0)) {
		see_variables(s, event);
	} else if (op_table[e->op].operand == OPERAND_OBJECT && !event_inert(e) &&
	           !op_tells((enum op)e->op)) {
		see_operation(s, &s->objects[e->target], event);
	} else if (e->op == OP_FORK) {
		s->first_fork = MIN(s->first_fork, event);
		s->forked[e->target] = true;
	}
}

static void objects_free(struct shared_object *objects, uint64_t count)
{
	for (uint64_t i = 0; objects != NULL && i < count; i++) {
		if (objects[i].users != NULL)
			g_array_unref(objects[i].users);
		if (objects[i].accesses != NULL)
			g_array_unref(objects[i].accesses);
	}
	g_free(objects);
}

static bool has_controls(const struct trace *t, const uint32_t *parts)
{
	for (uint32_t v = 0; v < t->variables_count; v++)
		if (parts[v] == SYNC_BYTES_ONCE)
			return true;
	return false;
}

GArray *sync_uses(struct trace *t, bool all, guint most, const struct progress *progress)
{
	const uint32_t *parts = sync_bytes(t);
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct sync_use));
	if (parts == NULL)
		return found;
	struct search s = {
		.t = t,
		.parts = parts,
		.objects = g_new0(struct shared_object, t->objects_count + 1),
		.first_fork = NONE,
		.forked = g_new0(bool, t->threads_count + 1),
		.pairs = g_array_new(FALSE, FALSE, sizeof(struct pair)),
		.progress = progress,
		.places = g_hash_table_new(g_str_hash, g_str_equal),
		.found = found,
		.most = most,
		.all = all,
	};
	if (has_controls(t, parts)) {
		s.cancelled =
		        !trace_need(t, INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS, progress);
		s.controls = g_new0(struct shared_object, t->variables_count + 1);
		if (!s.cancelled)
			lock_sections_init(&s.sections, t);
	}
	once_looks_init(&s.looks, t);
	for (uint32_t e = 0; e < t->events_count && found->len < most && !s.cancelled; e++)
		see(&s, e);
	look_up(&s);
	once_looks_release(&s.looks);
	if (s.sections.use_start != NULL)
		lock_sections_release(&s.sections);
	objects_free(s.objects, t->objects_count);
	objects_free(s.controls, t->variables_count);
	g_free(s.forked);
	g_array_unref(s.pairs);
	g_hash_table_destroy(s.places);
	order_free(s.order);
	if (s.cancelled)
		g_clear_pointer(&found, g_array_unref);
	return found;
}

void sync_use_append(const struct trace *t, const struct sync_use *u, GString *out)
{
	const struct event *a = &t->events[u->access], *o = &t->events[u->operation];
	g_string_append_printf(out, "%s %s ", trace_thread_name(t, a->thread),
	                       op_writes(a->op) ? "writes" : "reads");
	trace_append_variable(t, a, out);
	g_string_append_printf(out, " at %s, a part of ", own_code_place_name(t, u->access));
	trace_append_operand(t, u->operation, out);
	g_string_append_printf(out, ", which %s uses at %s", trace_thread_name(t, o->thread),
	                       own_code_place_name(t, u->operation));
}
