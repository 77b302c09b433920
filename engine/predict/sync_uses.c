/*
 * sync_uses.c - see sync_uses.h.
 *
 * One walk over the events. Each access is paired with the last operation before it and the
 * first one after it of each other thread: if these are ordered with it, so are the others of
 * that thread. Beside a pass that has vector clocks the later one of a pair asks its own for
 * the earlier one. Else the pairs that no fork orders at once are looked up in an order.
 */
#include "engine/predict/sync_uses.h"

#include "engine/base/hash.h"
#include "engine/order/order.h"
#include "engine/trace/lock_sections.h"
#include "engine/trace/own_code.h"
#include "engine/trace/weak.h"

/* What one thread did with an object. */
struct user {
	uint32_t thread;
	uint32_t last;     /* its last operation, or NONE */
	guint paired_upto; /* accesses of the object that a later operation of it was paired
	                      with */
};

/* An access. (Its event may be far back in a trace that is decoded in passes.) Those that are
 * alike but for the event and the thread differ in nothing that is looked at or reported. */
struct access {
	uint32_t event, thread;
	uint32_t variable, op, target, location, context;
};

/* An object, or a control of a once-function. */
struct shared_object {
	GArray *users;    /* struct user; NULL: none yet */
	GArray *accesses; /* struct access; NULL: none yet */
	bool has_parts;
	bool semaphore;
	bool own; /* a lock of the program's own making, whose writes are recorded */
};

struct pair {
	struct sync_use use;
	const struct shared_object *of;
};

enum { MOST_PAIRS = 1 << 16 }; /* they are looked up when there are so many */
struct sync_look {
	struct trace *t;
	const uint32_t *parts;
	struct shared_object *objects, *controls; /* by object; by variable, or NULL */
	uint64_t objects_count, controls_count;
	struct once_looks looks;
	bool beside;                   /* another pass */
	struct clock_view clock;       /* beside it: of the present event */
	GHashTable *noted;             /* beside it: struct access, one of those alike */
	uint32_t first_fork;           /* NONE: none yet */
	bool *forked;                  /* by thread */
	GArray *pairs;                 /* struct pair: beside a pass those not ordered */
	struct lock_sections sections; /* with controls */
	struct order *order;           /* NULL: not needed yet */
	const struct progress *progress;
	GHashTable *places; /* names of those found; of the trace */
	GArray *found;      /* struct sync_use */
	guint most;
	bool (*apart)(void *context,
	              const struct sync_use *use); /* or NULL: sync_uses_options */
	void *context;
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
static bool is_before_all(const struct sync_look *s, uint32_t event, uint32_t other)
{
	return s->first_fork != NONE && event < s->first_fork &&
	       s->t->events[event].thread == s->t->events[s->first_fork].thread &&
	       s->forked[s->t->events[other].thread];
}

/* The thread's section of the lock around the event, or NULL. */
static const struct lock_section *section_around(const struct sync_look *s, uint32_t lock,
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
static bool is_apart(const struct sync_look *s, const struct pair *p)
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
static bool is_count(const struct sync_look *s, const struct pair *p)
{
	const struct event *e = &s->t->events[p->use.access];
	return p->of->semaphore && e->op == OP_AREAD &&
	       s->t->variables[event_variables(s->t, e).first].address ==
	               s->t->objects[s->t->events[p->use.operation].target].address;
}

static bool is_ordered(struct sync_look *s, uint32_t first, uint32_t second)
{
	if (s->order == NULL)
		s->order = trace_model(s->t) == WEAK_SC
		                   ? order_new_lasting(s->t, s->progress)
		                   : order_new(s->t, ORDER_KIND_HB, s->progress);
	s->cancelled = s->order == NULL;
	return s->cancelled || order_ordered_unobserved(s->order, first, second);
}

static void look_up(struct sync_look *s)
{
	for (guint i = 0; i < s->pairs->len && s->found->len < s->most && !s->cancelled; i++) {
		const struct pair *p = &g_array_index(s->pairs, struct pair, i);
		const struct sync_use *u = &p->use;
		const char *place = own_code_place_name(s->t, u->access);
		if (p->of->own || g_hash_table_contains(s->places, place) || is_apart(s, p) ||
		    is_count(s, p) ||
		    (!s->beside && is_ordered(s, MIN(u->access, u->operation),
		                              MAX(u->access, u->operation))) ||
		    (s->apart != NULL && s->apart(s->context, u)))
			continue;
		g_hash_table_add(s->places, (gpointer)place);
		g_array_append_val(s->found, *u);
	}
	g_array_set_size(s->pairs, 0);
}

static guint access_hash(gconstpointer access)
{
	const struct access *a = access;
	uint64_t hash = hash_join(hash_pair(a->variable, a->op), a->target);
	return hash_top(hash_join(hash_join(hash, a->location), a->context));
}

static gboolean access_alike(gconstpointer a, gconstpointer b)
{
	const struct access *x = a, *y = b;
	return x->variable == y->variable && x->op == y->op && x->target == y->target &&
	       x->location == y->location && x->context == y->context;
}

/* The later one of the two is the present event. */
static void add_pair(struct sync_look *s, const struct shared_object *of,
                     const struct access *a, uint32_t operation, uint32_t user)
{
	struct pair pair = { { a->event, operation }, of };
	uint32_t first = MIN(a->event, operation), second = MAX(a->event, operation);
	if (of->own)
		return;
	if (s->beside) {
		if (view_time(s->clock, first == operation ? user : a->thread) > first ||
		    g_hash_table_contains(s->noted, a))
			return;
		g_hash_table_add(s->noted, g_memdup2(a, sizeof *a));
	} else if (is_before_all(s, first, second)) {
		return;
	}
	g_array_append_val(s->pairs, pair);
	if (!s->beside && s->pairs->len == MOST_PAIRS)
		look_up(s);
}

/* The last access if it is the same one, with no operation since; else NULL. It stands for
 * both: operations before were compared with the first, and those to come may be before the
 * first and not before the second. */
static struct access *access_again(const struct shared_object *o, const struct access *a)
{
	if (o->accesses->len == 0)
		return NULL;
	struct access *last = &g_array_index(o->accesses, struct access, o->accesses->len - 1);
	for (guint i = 0; o->users != NULL && i < o->users->len; i++) {
		const struct user *u = &g_array_index(o->users, struct user, i);
		if (u->paired_upto == o->accesses->len)
			return NULL;
	}
	return last->thread == a->thread && access_alike(last, a) ? last : NULL;
}

static void see_access(struct sync_look *s, struct shared_object *o, uint32_t event,
                       uint32_t variable)
{
	const struct trace *t = s->t;
	const struct event *e = &t->events[event];
	struct access a = { event,
		            e->thread,
		            variable,
		            e->op,
		            e->target,
		            e->location,
		            t->stacks_count > 0 ? t->stacks[event] : 0 };
	o->own |= e->op == OP_AWRITE || e->op == OP_RMW;
	if (o->accesses == NULL)
		o->accesses = g_array_new(FALSE, FALSE, sizeof(struct access));
	struct access *again = access_again(o, &a);
	if (again != NULL) {
		again->event = event;
		return;
	}
	bool compares = s->all || e->op != OP_WRITE, used = false;
	for (guint i = 0; o->users != NULL && i < o->users->len; i++) {
		const struct user *u = &g_array_index(o->users, struct user, i);
		bool other = u->thread != a.thread && u->last != NONE;
		used |= other;
		if (other && compares)
			add_pair(s, o, &a, u->last, u->thread);
	}
	if (!used && !compares)
		return;
	g_array_append_val(o->accesses, a);
}

static void see_operation(struct sync_look *s, struct shared_object *o, uint32_t event)
{
	struct user *u = user_of(o, s->t->events[event].thread);
	for (; o->accesses != NULL && u->paired_upto < o->accesses->len; u->paired_upto++) {
		const struct access *a =
		        &g_array_index(o->accesses, struct access, u->paired_upto);
		if (a->thread != u->thread)
			add_pair(s, o, a, event, u->thread);
	}
	u->last = event;
	o->semaphore |= op_table[s->t->events[event].op].use == USE_SEMAPHORE;
}

static struct shared_object *object_of(const struct sync_look *s, uint32_t variable)
{
	uint32_t of = s->parts[variable];
	return of == NONE              ? NULL
	       : of == SYNC_BYTES_ONCE ? &s->controls[variable]
	                               : &s->objects[of];
}

static void see_variables(struct sync_look *s, uint32_t event)
{
	struct wide of = event_variables(s->t, &s->t->events[event]);
	const struct shared_object *before = NULL;
	for (uint32_t v = of.first; v < of.first + of.count; v++) {
		struct shared_object *o = object_of(s, v);
		if (o != NULL && o != before)
			see_access(s, o, event, v);
		before = o;
	}
}

/* A call's look at its control is followed by a message at once, and is then its operation. */
static void see(struct sync_look *s, uint32_t event)
{
	const struct event *e = &s->t->events[event];
	uint32_t look = s->controls != NULL ? once_looks_step(&s->looks, event) : NONE;
	if (look != NONE)
		see_operation(s, &s->controls[s->t->events[look].target], look);
	if (op_is_access(e->op) && !event_inert(e) &&
	    (s->controls == NULL || e->op != OP_AREAD || e->aux != 0)) {
		see_variables(s, event);
	} else if (op_table[e->op].operand == OPERAND_OBJECT && !event_inert(e) &&
	           !op_tells((enum op)e->op) && s->objects[e->target].has_parts) {
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

/* Has the trace controls? */
static bool note_parts(struct sync_look *s)
{
	bool controls = false;
	for (uint32_t v = 0; v < s->t->variables_count; v++) {
		if (s->parts[v] == SYNC_BYTES_ONCE)
			controls = true;
		else if (s->parts[v] != NONE)
			s->objects[s->parts[v]].has_parts = true;
	}
	return controls;
}

static struct sync_look *look_new(struct trace *t, const uint32_t *parts, bool all, guint most,
                                  const struct progress *progress)
{
	struct sync_look *s = g_new0(struct sync_look, 1);
	*s = (struct sync_look){
		.t = t,
		.parts = parts,
		.objects = g_new0(struct shared_object, t->objects_count + 1),
		.objects_count = t->objects_count,
		.first_fork = NONE,
		.forked = g_new0(bool, t->threads_count + 1),
		.noted = g_hash_table_new_full(access_hash, access_alike, g_free, NULL),
		.pairs = g_array_new(FALSE, FALSE, sizeof(struct pair)),
		.progress = progress,
		.places = g_hash_table_new(g_str_hash, g_str_equal),
		.found = g_array_new(FALSE, FALSE, sizeof(struct sync_use)),
		.most = most,
		.all = all,
	};
	if (note_parts(s)) {
		s->controls = g_new0(struct shared_object, t->variables_count + 1);
		s->controls_count = t->variables_count;
	}
	return s;
}

/* The trace may be closed. Returns what was found; NULL: cancelled. */
static GArray *look_free(struct sync_look *s)
{
	GArray *found = s->found;
	if (s->sections.use_start != NULL)
		lock_sections_release(&s->sections);
	objects_free(s->objects, s->objects_count);
	objects_free(s->controls, s->controls_count);
	g_free(s->forked);
	g_array_unref(s->pairs);
	g_hash_table_destroy(s->noted);
	g_hash_table_destroy(s->places);
	order_free(s->order);
	if (s->cancelled)
		g_clear_pointer(&found, g_array_unref);
	g_free(s);
	return found;
}
GArray *sync_uses(struct trace *t, const struct sync_uses_options *options,
                  const struct progress *progress)
{
	guint most = options->most;
	const uint32_t *parts = sync_bytes(t);
	if (parts == NULL)
		return g_array_new(FALSE, FALSE, sizeof(struct sync_use));
	struct sync_look *s = look_new(t, parts, options->all, most, progress);
	s->apart = options->apart;
	s->context = options->context;
	if (s->controls != NULL) {
		s->cancelled =
		        !trace_need(t, INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS, progress);
		if (!s->cancelled)
			lock_sections_init(&s->sections, t);
	}
	once_looks_init(&s->looks, t);
	for (uint32_t e = 0; e < t->events_count && s->found->len < most && !s->cancelled; e++)
		see(s, e);
	look_up(s);
	once_looks_release(&s->looks);
	return look_free(s);
}

struct sync_look *sync_look_begin(struct trace *t)
{
	bool part = t->recorded != NULL || (t->index != NULL && t->index->whole != NULL);
	bool told = !t->filtered && t->order_exact && trace_model(t) == WEAK_SC;
	if (part || !told || sync_bytes_may_be_once(t) || sync_bytes(t) == NULL ||
	    sync_use_known(t) != NULL)
		return NULL;
	struct sync_look *s = look_new(t, sync_bytes(t), false, 1, NULL);
	s->beside = true;
	return s;
}

bool sync_look_has(const struct sync_look *s, uint32_t variable)
{
	return s->parts[variable] != NONE;
}

void sync_look_see(struct sync_look *s, uint32_t event, struct clock_view clock)
{
	s->clock = clock;
	see(s, event);
}

void sync_look_end(struct sync_look *s)
{
	look_up(s);
	sync_use_remember(s->t, s->found->len > 0 ? &g_array_index(s->found, struct sync_use, 0)
	                                          : NULL);
	sync_look_drop(s);
}

void sync_look_drop(struct sync_look *s)
{
	if (s != NULL)
		g_array_unref(look_free(s));
}

bool sync_use_first(struct trace *t, struct sync_use *use, bool *any,
                    const struct progress *progress)
{
	if (sync_use_known(t) == NULL) {
		g_autoptr(GArray) uses =
		        sync_uses(t, &(struct sync_uses_options){ .most = 1 }, progress);
		if (uses == NULL)
			return false;
		sync_use_remember(t, uses->len > 0 ? &g_array_index(uses, struct sync_use, 0)
		                                   : NULL);
	}
	*use = *sync_use_known(t);
	*any = use->access != NONE;
	return true;
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
