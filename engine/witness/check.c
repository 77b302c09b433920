/*
 * check.c - the independent checker: is a sequence of events what it claims to be?
 *
 * It applies the rules of semantics.md ("Correct reorderings") to the trace and the
 * sequence and nothing else.  It shares the event model with the predictors and no code:
 * who reads from whom, which orders must hold and who holds which lock is all worked out
 * here once more, from the events alone.  Every report of a race has passed through it.
 *
 * The facts of the trace (struct facts) are made once, in linear passes; a state is what
 * the events taken so far have led to.  Every change of the state goes through cell_set,
 * so that a tail can be tried and taken back.
 */
#include "engine/witness/check.h"

#include <string.h>

/* A must-order: `before` has to be taken before `after`. */
struct need {
	uint32_t after, before;
};

/* "wait before its waker", which holds only where the wake is in. */
struct wake {
	uint32_t waker, wait, wake;
};

struct facts {
	uint32_t *place;   /* by event: its index in its thread */
	uint32_t *start;   /* by thread: where its events begin in `own`; one more at the end */
	uint32_t *own;     /* events, thread by thread */
	GArray *needs;     /* struct need, by `after` */
	GArray *wakes;     /* struct wake, by `waker` */
	GHashTable *woken; /* wake -> 1 + its index in wakes */
	uint64_t *blocked; /* a bit for each event that has something to look up in needs */
	uint32_t *writer;  /* by event: what a read of one variable read; by wide read: index */
	GArray *wide;      /* uint32_t: writers of the variables of wide reads */
	uint32_t *initial; /* by variable: value of its initial content where a read tells it */
	GArray *holders;   /* struct need: tryfail, acquire whose section held the lock */
	GHashTable *release; /* acquire -> release, of locks that are tried */
	GHashTable *empty;   /* set of taketryfail that saw no count in the trace */
	uint32_t *destroy;   /* by event: the destroy that ends its object's life; or NULL */
	/* specified objects (rule 5) */
	uint32_t *scope;      /* by event: the call of the outermost specified scope it is in */
	uint32_t *lock_owner; /* by object: instance in whose scopes alone it is used */
	uint64_t *unreliable; /* a bit for each instance whose effects contradict the trace */
};

struct change { /* for taking back */
	uint32_t *cell, old;
};

struct checker {
	const struct trace *t;
	struct check_options options;
	struct facts f;
	/* the state */
	uint32_t *taken;   /* by thread: how many of its events */
	uint32_t *last;    /* by variable: last writer, or NONE */
	uint32_t *owner;   /* by object: the thread that holds it exclusively, or NONE */
	uint32_t *readers; /* by object: how many hold it shared */
	uint32_t *count;   /* by object: of a semaphore */
	uint32_t *spoiled; /* by wake (index of f.wakes): its waker came before its wait */
	uint32_t *busy;    /* by instance: thread inside of a scope on it, or NONE */
	void **abstract;   /* by instance: the specification's state */
	GArray **invoked;  /* by instance: invocations taken, in order */
	uint32_t prefix;   /* the recorded events 0 .. prefix-1 are taken in their order */
	bool undoing;
	GArray *changes; /* struct change */
};

static const struct event *at(const struct checker *c, uint32_t e)
{
	return &c->t->events[e];
}

static void cell_set(struct checker *c, uint32_t *cell, uint32_t value)
{
	if (c->undoing) {
		struct change change = { cell, *cell };

		g_array_append_val(c->changes, change);
	}
	*cell = value;
}

static bool taken(const struct checker *c, uint32_t e)
{
	return c->f.place[e] < c->taken[at(c, e)->thread];
}

static bool refuse(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
static bool refuse(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                   const char *format, ...)
{
	va_list list;

	if (reason == NULL)
		return false;
	g_string_append_printf(reason, "%s: event %u ", rule, e);
	trace_append_operation(c->t, e, reason);
	g_string_append_c(reason, ' ');
	va_start(list, format);
	g_string_append_vprintf(reason, format, list);
	va_end(list);
	return false;
}

/* ---- The facts of the trace ---- */

static void need_add(struct facts *f, uint32_t after, uint32_t before)
{
	struct need n = { after, before };

	g_array_append_val(f->needs, n);
	f->blocked[after / 64] |= (uint64_t)1 << (after % 64);
}

static int need_compare(gconstpointer a, gconstpointer b)
{
	const struct need *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	return x->before < y->before ? -1 : x->before > y->before;
}

static int wake_compare(gconstpointer a, gconstpointer b)
{
	const struct wake *x = a, *y = b;

	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

static void facts_threads(struct checker *c)
{
	const struct trace *t = c->t;
	struct facts *f = &c->f;
	uint32_t *fill = g_new0(uint32_t, t->threads_count + 1);

	f->place = g_new(uint32_t, t->events_count + 1);
	f->own = g_new(uint32_t, t->events_count + 1);
	f->start = g_new0(uint32_t, t->threads_count + 2);
	for (uint32_t e = 0; e < t->events_count; e++)
		f->place[e] = f->start[t->events[e].thread + 1]++;
	for (uint32_t u = 0; u < t->threads_count; u++)
		f->start[u + 1] += f->start[u];
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t u = t->events[e].thread;

		f->own[f->start[u] + fill[u]++] = e;
	}
	g_free(fill);
}

static uint32_t thread_first(const struct checker *c, uint32_t u)
{
	return c->f.start[u] < c->f.start[u + 1] ? c->f.own[c->f.start[u]] : NONE;
}

static uint32_t thread_last(const struct checker *c, uint32_t u)
{
	return c->f.start[u] < c->f.start[u + 1] ? c->f.own[c->f.start[u + 1] - 1] : NONE;
}

/* Growing arrays of events by an object's index. */
static GArray *list_of(GHashTable *lists, uint32_t key)
{
	GArray *list = g_hash_table_lookup(lists, GUINT_TO_POINTER(key + 1));

	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(lists, GUINT_TO_POINTER(key + 1), list);
	}
	return list;
}

static GHashTable *lists_new(void)
{
	return g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
}

/* What the single pass over the synchronisation events carries along. */
struct pass {
	GHashTable *posts;     /* by object: post events so far */
	uint32_t *takes;       /* by object: number of takes so far */
	GHashTable *all_takes; /* by object */
	GHashTable *arrived;   /* by object: arrives of the open round and of the one before */
	uint32_t *round;       /* by object: number of the open round */
	bool *departed;        /* by object: the open round has had a depart */
	GHashTable *arrival;   /* (object, thread) -> round + 1 of the thread's last arrive */
	GHashTable *waiting;   /* (object, thread) -> wait event + 1 */
	GHashTable *wakers;    /* by object: signals and broadcasts so far */
	GHashTable *used;      /* set of signals that woke somebody */
	GHashTable *sent;      /* by message: send + 1 */
	GHashTable *held;      /* by object: open acquires, where a lock is tried */
	uint32_t *effect;      /* by instance: the last invocation that took effect */
};

static gpointer pair_key(uint32_t a, uint32_t b)
{
	return (gpointer)(((uintptr_t)a << 32) | b);
}

static void semaphore_take(struct checker *c, struct pass *p, uint32_t e, uint32_t o)
{
	GArray *posts = list_of(p->posts, o);
	int64_t wanted = (int64_t)++p->takes[o] - c->t->objects[o].count; /* one-based */

	if (wanted >= 1 && wanted <= posts->len)
		need_add(&c->f, e, g_array_index(posts, uint32_t, wanted - 1));
}

static void barrier_event(struct checker *c, struct pass *p, uint32_t e, uint32_t o)
{
	gpointer own = pair_key(o, at(c, e)->thread);
	uint32_t round;
	GArray *arrived;

	if (at(c, e)->op == OP_ARRIVE) {
		if (p->departed[o]) {
			p->round[o]++;
			p->departed[o] = false;
		}
		g_hash_table_insert(p->arrival, own, GUINT_TO_POINTER(p->round[o] + 1));
		arrived = g_hash_table_lookup(p->arrived, pair_key(o, p->round[o] + 1));
		if (arrived == NULL) {
			arrived = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_hash_table_insert(p->arrived, pair_key(o, p->round[o] + 1), arrived);
		}
		g_array_append_val(arrived, e);
		return;
	}
	round = GPOINTER_TO_UINT(g_hash_table_lookup(p->arrival, own));
	round = round == 0 ? p->round[o] : round - 1;
	if (round == p->round[o])
		p->departed[o] = true;
	arrived = g_hash_table_lookup(p->arrived, pair_key(o, round + 1));
	for (guint i = 0; arrived != NULL && i < arrived->len; i++)
		need_add(&c->f, e, g_array_index(arrived, uint32_t, i));
}

static void condition_wake(struct checker *c, struct pass *p, uint32_t e, uint32_t o)
{
	gpointer own = pair_key(o, at(c, e)->thread);
	uintptr_t wait = (uintptr_t)g_hash_table_lookup(p->waiting, own);
	GArray *wakers = list_of(p->wakers, o);
	guint low = 0, high = wakers->len;

	if (wait == 0)
		return;
	while (low < high) {
		guint middle = (low + high) / 2;

		if (g_array_index(wakers, uint32_t, middle) > wait - 1)
			high = middle;
		else
			low = middle + 1;
	}
	for (; low < wakers->len; low++) {
		uint32_t s = g_array_index(wakers, uint32_t, low);
		struct wake w = { s, (uint32_t)(wait - 1), e };

		if (at(c, s)->op == OP_SIGNAL &&
		    !g_hash_table_add(p->used, GUINT_TO_POINTER(s + 1)))
			continue;
		need_add(&c->f, e, s);
		g_array_append_val(c->f.wakes, w);
		return;
	}
}

static void held_remove(struct checker *c, GArray *held, uint32_t e)
{
	for (guint i = 0; i < held->len; i++) {
		uint32_t a = g_array_index(held, uint32_t, i);

		if (at(c, a)->thread != at(c, e)->thread ||
		    (at(c, a)->op == OP_ACQ) != (at(c, e)->op == OP_REL))
			continue;
		g_hash_table_insert(c->f.release, GUINT_TO_POINTER(a + 1),
		                    GUINT_TO_POINTER(e + 1));
		g_array_remove_index(held, i);
		return;
	}
}

/* Locks that are tried: who held it then? */
static void tried_lock(struct checker *c, struct pass *p, uint32_t e, uint32_t o)
{
	GArray *held = g_hash_table_lookup(p->held, GUINT_TO_POINTER(o + 1));

	if (held == NULL)
		return;
	if (op_acquires(at(c, e)->op)) {
		g_array_append_val(held, e);
	} else if (op_releases(at(c, e)->op)) {
		held_remove(c, held, e);
	} else if (at(c, e)->op == OP_TRYFAIL) {
		for (guint i = 0; i < held->len; i++) {
			struct need n = { e, g_array_index(held, uint32_t, i) };

			g_array_append_val(c->f.holders, n);
		}
	}
}

static bool specified(const struct checker *c, uint32_t instance)
{
	const struct semantics *s = c->options.semantics;

	return s != NULL && s->specified != NULL && s->commutes != NULL &&
	       s->specified(s->context, instance);
}

static void sync_event(struct checker *c, struct pass *p, uint32_t e)
{
	const struct event *x = at(c, e);
	uint32_t o = x->target;

	switch (x->op) {
	case OP_FORK:
		if (o != NONE && thread_first(c, o) != NONE)
			need_add(&c->f, thread_first(c, o), e);
		break;
	case OP_JOIN:
		if (o != NONE && thread_last(c, o) != NONE && thread_last(c, o) < e)
			need_add(&c->f, e, thread_last(c, o));
		break;
	case OP_SND:
		g_hash_table_insert(p->sent, GUINT_TO_POINTER(o + 1), GUINT_TO_POINTER(e + 1));
		break;
	case OP_RCV: {
		uint32_t s =
		        GPOINTER_TO_UINT(g_hash_table_lookup(p->sent, GUINT_TO_POINTER(o + 1)));

		if (s != 0)
			need_add(&c->f, e, s - 1);
		break;
	}
	case OP_POST:
		g_array_append_val(list_of(p->posts, o), e);
		break;
	case OP_TAKE:
		semaphore_take(c, p, e, o);
		break;
	case OP_TAKETRYFAIL:
		if (c->t->objects[o].count + (int64_t)list_of(p->posts, o)->len == p->takes[o])
			g_hash_table_add(c->f.empty, GUINT_TO_POINTER(e + 1));
		break;
	case OP_ARRIVE:
	case OP_DEPART:
		barrier_event(c, p, e, o);
		break;
	case OP_WAIT:
		g_hash_table_insert(p->waiting, pair_key(o, x->thread),
		                    (gpointer)((uintptr_t)e + 1));
		break;
	case OP_SIGNAL:
	case OP_BROADCAST:
		g_array_append_val(list_of(p->wakers, o), e);
		break;
	case OP_WAKE:
		condition_wake(c, p, e, o);
		break;
	case OP_ACT:
	case OP_RET:
		if (specified(c, o))
			break;
		if (p->effect[o] != NONE)
			need_add(&c->f, e, p->effect[o]);
		p->effect[o] = e;
		break;
	default:
		tried_lock(c, p, e, o);
	}
}

static void facts_must(struct checker *c)
{
	const struct trace *t = c->t;
	struct pass p = {
		.posts = lists_new(),
		.takes = g_new0(uint32_t, t->objects_count + 1),
		.arrived =
		        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref),
		.round = g_new0(uint32_t, t->objects_count + 1),
		.departed = g_new0(bool, t->objects_count + 1),
		.arrival = g_hash_table_new(NULL, NULL),
		.waiting = g_hash_table_new(NULL, NULL),
		.wakers = lists_new(),
		.used = g_hash_table_new(NULL, NULL),
		.sent = g_hash_table_new(NULL, NULL),
		.held = lists_new(),
		.effect = g_new(uint32_t, t->instances_count + 1),
	};

	memset(p.effect, 0xff, sizeof(uint32_t) * (t->instances_count + 1));
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op == OP_TRYFAIL && !event_inert(&t->events[e]))
			list_of(p.held, t->events[e].target);
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (!op_is_access(t->events[e].op) && !event_inert(&t->events[e]))
			sync_event(c, &p, e);
	}
	g_hash_table_destroy(p.posts);
	g_hash_table_destroy(p.arrived);
	g_hash_table_destroy(p.arrival);
	g_hash_table_destroy(p.waiting);
	g_hash_table_destroy(p.wakers);
	g_hash_table_destroy(p.used);
	g_hash_table_destroy(p.sent);
	g_hash_table_destroy(p.held);
	g_free(p.takes);
	g_free(p.round);
	g_free(p.departed);
	g_free(p.effect);
}

/* Blocks: a stack lives from its thread's first event to its last, the others from their
 * alloc to their free; one life of a name ends before the next begins. */
static void facts_blocks(struct checker *c)
{
	const struct trace *t = c->t;
	GHashTable *ended = g_hash_table_new(NULL, NULL); /* name or address -> free + 1 */

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		const struct block *b;
		gpointer life;
		uint32_t before;

		if ((x->op != OP_ALLOC && x->op != OP_FREE) || event_inert(x) ||
		    x->target == NONE)
			continue;
		b = &t->blocks[x->target];
		life = b->address != 0 ? (gpointer)(uintptr_t)b->address : pair_key(1, b->name);
		if (x->op == OP_FREE) {
			if (b->alloc != NONE && b->free == e)
				need_add(&c->f, e, b->alloc);
			g_hash_table_insert(ended, life, GUINT_TO_POINTER(e + 1));
			continue;
		}
		before = GPOINTER_TO_UINT(g_hash_table_lookup(ended, life));
		if (before != 0)
			need_add(&c->f, e, before - 1);
	}
	g_hash_table_destroy(ended);
}

/* A destroyed object: what used it before may not use it after. */
static void facts_destroyed(struct checker *c)
{
	const struct trace *t = c->t;
	uint32_t *next = NULL;

	for (uint32_t e = (uint32_t)t->events_count; e-- > 0;) {
		const struct event *x = &t->events[e];

		if (event_inert(x) || op_table[x->op].operand != OPERAND_OBJECT)
			continue;
		if (x->op == OP_DESTROY && next == NULL) {
			next = g_new(uint32_t, t->objects_count + 1);
			memset(next, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
			c->f.destroy = g_new(uint32_t, t->events_count + 1);
			memset(c->f.destroy, 0xff, sizeof(uint32_t) * (t->events_count + 1));
		}
		if (next == NULL)
			continue;
		c->f.destroy[e] = next[x->target];
		if (x->op == OP_DESTROY)
			next[x->target] = e;
	}
	g_free(next);
}

static void facts_observation(struct checker *c)
{
	const struct trace *t = c->t;
	struct facts *f = &c->f;
	uint32_t *last = g_new(uint32_t, t->variables_count + 1);

	memset(last, 0xff, sizeof(uint32_t) * (t->variables_count + 1));
	f->writer = g_new(uint32_t, t->events_count + 1);
	f->wide = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (c->options.use_values)
		f->initial = g_new0(uint32_t, t->variables_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct wide run;

		f->writer[e] = NONE;
		if (!op_is_access(x->op) || event_inert(x))
			continue;
		run = event_variables(t, x);
		if (op_reads(x->op)) {
			f->writer[e] = run.count == 1 ? last[run.first] : f->wide->len;
			if (run.count != 1)
				g_array_append_vals(f->wide, last + run.first, run.count);
			if (f->initial != NULL && run.count == 1 && last[run.first] == NONE &&
			    f->initial[run.first] == 0 && x->op != OP_RMW)
				f->initial[run.first] = x->aux;
		}
		for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
			last[v] = e;
	}
	g_free(last);
}

/* ---- Missing code (barrier pairs) ---- */

struct missing_place { /* an address that some missing call may reach */
	const char *name;
	uint32_t last; /* the last event of a barrier pair that reaches it, or NONE */
	GArray *since; /* uint32_t: accesses to it since then */
};

struct missing {
	GArray *places;      /* struct missing_place */
	GHashTable *of_name; /* string of the trace + 1 -> GArray of indexes of places */
	GArray **open;       /* by thread: uint32_t, its missing calls that are under way */
};

/* `p` reaches p itself, p.f, p[i] and p+N. */
static bool reaches(const char *address, const char *name)
{
	size_t length = strlen(address);

	return strncmp(address, name, length) == 0 &&
	       (name[length] == '\0' || strchr(".[+", name[length]) != NULL);
}

static GArray *places_of(const struct checker *c, struct missing *m, uint32_t string)
{
	GArray *list = g_hash_table_lookup(m->of_name, GUINT_TO_POINTER(string + 1));

	if (list != NULL)
		return list;
	list = list_of(m->of_name, string);
	for (guint i = 0; i < m->places->len; i++) {
		if (reaches(g_array_index(m->places, struct missing_place, i).name,
		            trace_string(c->t, string)))
			g_array_append_val(list, i);
	}
	return list;
}

static void missing_member(struct checker *c, struct missing_place *p, uint32_t e)
{
	if (p->last != NONE && p->last != e)
		need_add(&c->f, e, p->last);
	for (guint i = 0; i < p->since->len; i++)
		need_add(&c->f, e, g_array_index(p->since, uint32_t, i));
	g_array_set_size(p->since, 0);
	p->last = e;
}

/* An access to `string`, or an event of a barrier pair that reaches it: also where it is a
 * part of what others reach.  Members of the address itself (`members`) or the rest. */
static void missing_touch(struct checker *c, struct missing *m, uint32_t string, uint32_t e,
                          bool inside, bool members)
{
	GArray *list = places_of(c, m, string);

	for (guint i = 0; i < list->len; i++) {
		struct missing_place *p = &g_array_index(m->places, struct missing_place,
		                                         g_array_index(list, uint32_t, i));

		if (inside && strcmp(p->name, trace_string(c->t, string)) == 0) {
			if (members)
				missing_member(c, p, e);
			continue;
		}
		if (members || p->last == e ||
		    (p->since->len > 0 &&
		     g_array_index(p->since, uint32_t, p->since->len - 1) == e))
			continue; /* it is in a barrier pair of this address, or noted */
		if (p->last != NONE)
			need_add(&c->f, e, p->last);
		g_array_append_val(p->since, e);
	}
}

/* The tokens of the address set D of a missing call: a run of indexes of trace.values. */
static struct wide missing_reach(const struct trace *t, uint32_t miss)
{
	const struct value *v = &t->values[t->events[miss].aux];

	if (t->events[miss].aux == 0 || v->kind != V_LIST)
		return (struct wide){ 0 };
	return (struct wide){ v->first, v->count };
}

static uint32_t missing_token(const struct trace *t, uint32_t value)
{
	const struct value *v = &t->values[value];

	return v->kind == V_TOKEN || v->kind == V_STRING ? v->string : NONE;
}

/* An event inside of missing calls touches all that these may reach. */
static void missing_inside(struct checker *c, struct missing *m, uint32_t e, bool members)
{
	const struct trace *t = c->t;
	GArray *open = m->open[t->events[e].thread];

	for (guint i = 0; i < open->len; i++) {
		struct wide reach = missing_reach(t, g_array_index(open, uint32_t, i));

		for (uint32_t k = reach.first; k < reach.first + reach.count; k++) {
			uint32_t token = missing_token(t, t->value_lists[k]);

			if (token != NONE)
				missing_touch(c, m, token, e, true, members);
		}
	}
}

static void missing_event(struct checker *c, struct missing *m, uint32_t e)
{
	const struct trace *t = c->t;
	const struct event *x = &t->events[e];
	GArray *open = m->open[x->thread];
	struct wide run;

	if (x->op == OP_MISS && !event_inert(x))
		g_array_append_val(open, e);
	missing_inside(c, m, e, true);
	missing_inside(c, m, e, false);
	if (event_inert(x))
		return;
	if (x->op == OP_BACK && open->len > 0)
		g_array_set_size(open, open->len - 1); /* calls nest */
	if (op_table[x->op].operand == OPERAND_OBJECT)
		missing_touch(c, m, t->objects[x->target].name, e, false, false);
	if (x->op == OP_END)
		missing_touch(c, m, t->threads[x->thread].name, e, false, false);
	if (!op_is_access(x->op))
		return;
	run = event_variables(t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		missing_touch(c, m, t->variables[v].name, e, false, false);
}

static void missing_places(const struct checker *c, struct missing *m)
{
	GHashTable *known = g_hash_table_new(NULL, NULL);

	for (uint32_t e = 0; e < c->t->events_count; e++) {
		struct wide reach = { 0 };

		if (at(c, e)->op == OP_MISS && !event_inert(at(c, e)))
			reach = missing_reach(c->t, e);
		for (uint32_t k = reach.first; k < reach.first + reach.count; k++) {
			uint32_t token = missing_token(c->t, c->t->value_lists[k]);
			struct missing_place p = { .last = NONE };

			if (token == NONE ||
			    !g_hash_table_add(known, GUINT_TO_POINTER(token + 1)))
				continue;
			p.name = trace_string(c->t, token);
			p.since = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_array_append_val(m->places, p);
		}
	}
	g_hash_table_destroy(known);
}

/*
 * Two barrier pairs that may reach a common address, and a barrier pair and an access to an
 * address that it may reach, keep all their events in their order: for each address the
 * events of barrier pairs are a chain, and accesses lie between their neighbours on it.
 */
static void facts_missing(struct checker *c)
{
	struct missing m = {
		.places = g_array_new(FALSE, FALSE, sizeof(struct missing_place)),
		.of_name = lists_new(),
		.open = g_new0(GArray *, c->t->threads_count + 1),
	};

	missing_places(c, &m);
	for (uint32_t u = 0; u < c->t->threads_count; u++)
		m.open[u] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; m.places->len > 0 && e < c->t->events_count; e++)
		missing_event(c, &m, e);
	for (uint32_t u = 0; u < c->t->threads_count; u++)
		g_array_unref(m.open[u]);
	for (guint i = 0; i < m.places->len; i++)
		g_array_unref(g_array_index(m.places, struct missing_place, i).since);
	g_array_unref(m.places);
	g_hash_table_destroy(m.of_name);
	g_free(m.open);
}

/* Which events lie inside of a specified object's scope, and which locks in no other. */
static void facts_scopes(struct checker *c)
{
	const struct trace *t = c->t;
	struct facts *f = &c->f;
	uint32_t *open = g_new(uint32_t, t->threads_count + 1);

	f->scope = g_new(uint32_t, t->events_count + 1);
	f->lock_owner = g_new(uint32_t, t->objects_count + 1);
	f->unreliable = g_new0(uint64_t, t->instances_count / 64 + 1);
	memset(open, 0xff, sizeof(uint32_t) * (t->threads_count + 1));
	memset(f->lock_owner, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
	uint64_t *mixed = g_new0(uint64_t, t->objects_count / 64 + 1);

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t *scope = &open[x->thread];
		uint32_t instance;

		f->scope[e] = *scope;
		if (event_inert(x))
			continue;
		if (x->op == OP_CALL && *scope == NONE && specified(c, x->target))
			*scope = e;
		else if (x->op == OP_RET && *scope != NONE &&
		         t->events[*scope].target == x->target)
			*scope = NONE;
		if (!op_acquires(x->op) && !op_releases(x->op))
			continue;
		instance = *scope == NONE ? NONE - 1 : t->events[*scope].target;
		if (f->lock_owner[x->target] == NONE)
			f->lock_owner[x->target] = instance;
		else if (f->lock_owner[x->target] != instance)
			mixed[x->target / 64] |= (uint64_t)1 << (x->target % 64);
	}
	for (uint32_t o = 0; o < t->objects_count; o++) {
		if (f->lock_owner[o] == NONE - 1 || (mixed[o / 64] >> (o % 64) & 1))
			f->lock_owner[o] = NONE;
	}
	g_free(mixed);
	g_free(open);
}

/* Objects whose effects contradict the recording itself fall back to the order. */
static void facts_contradictions(struct checker *c)
{
	const struct trace *t = c->t;
	const struct semantics *s = c->options.semantics;
	void **state = g_new0(void *, t->instances_count + 1);

	for (uint32_t e = 0; e < t->events_count && s->step != NULL; e++) {
		const struct event *x = &t->events[e];

		if ((x->op == OP_ACT || x->op == OP_RET) && !event_inert(x) &&
		    specified(c, x->target) &&
		    s->step(s->context, &state[x->target], x->target, e) == 0)
			c->f.unreliable[x->target / 64] |= (uint64_t)1 << (x->target % 64);
	}
	for (uint32_t i = 0; i < t->instances_count && s->state_free != NULL; i++) {
		if (state[i] != NULL)
			s->state_free(s->context, state[i]);
	}
	g_free(state);
}

static uint32_t *cells(uint64_t count, uint32_t value)
{
	uint32_t *array = g_new(uint32_t, count + 1);

	for (uint64_t i = 0; i <= count; i++)
		array[i] = value;
	return array;
}

static void state_clear(struct checker *c)
{
	const struct trace *t = c->t;

	memset(c->taken, 0, sizeof(uint32_t) * (t->threads_count + 1));
	memset(c->last, 0xff, sizeof(uint32_t) * (t->variables_count + 1));
	memset(c->owner, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
	memset(c->readers, 0, sizeof(uint32_t) * (t->objects_count + 1));
	memset(c->spoiled, 0, sizeof(uint32_t) * (c->f.wakes->len + 1));
	memset(c->busy, 0xff, sizeof(uint32_t) * (t->instances_count + 1));
	for (uint32_t o = 0; o < t->objects_count; o++)
		c->count[o] = (uint32_t)t->objects[o].count;
	for (uint32_t i = 0; i < t->instances_count; i++) {
		if (c->abstract[i] != NULL && c->options.semantics->state_free != NULL)
			c->options.semantics->state_free(c->options.semantics->context,
			                                 c->abstract[i]);
		c->abstract[i] = NULL;
		if (c->invoked[i] != NULL)
			g_array_set_size(c->invoked[i], 0);
	}
	c->prefix = 0;
	c->undoing = false;
	g_array_set_size(c->changes, 0);
}

struct checker *checker_new(const struct trace *t, const struct check_options *options)
{
	struct checker *c = g_new0(struct checker, 1);

	c->t = t;
	if (options != NULL)
		c->options = *options;
	c->f.needs = g_array_new(FALSE, FALSE, sizeof(struct need));
	c->f.wakes = g_array_new(FALSE, FALSE, sizeof(struct wake));
	c->f.holders = g_array_new(FALSE, FALSE, sizeof(struct need));
	c->f.blocked = g_new0(uint64_t, t->events_count / 64 + 1);
	c->f.release = g_hash_table_new(NULL, NULL);
	c->f.empty = g_hash_table_new(NULL, NULL);
	facts_threads(c);
	facts_must(c);
	facts_blocks(c);
	facts_destroyed(c);
	facts_observation(c);
	if (c->options.use_missing)
		facts_missing(c);
	if (c->options.semantics != NULL) {
		facts_scopes(c);
		facts_contradictions(c);
	}
	g_array_sort(c->f.needs, need_compare);
	g_array_sort(c->f.wakes, wake_compare);
	c->f.woken = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < c->f.wakes->len; i++)
		g_hash_table_insert(
		        c->f.woken,
		        GUINT_TO_POINTER(g_array_index(c->f.wakes, struct wake, i).wake + 1),
		        GUINT_TO_POINTER(i + 1));
	c->taken = cells(t->threads_count, 0);
	c->last = cells(t->variables_count, NONE);
	c->owner = cells(t->objects_count, NONE);
	c->readers = cells(t->objects_count, 0);
	c->count = cells(t->objects_count, 0);
	c->spoiled = cells(c->f.wakes->len, 0);
	c->busy = cells(t->instances_count, NONE);
	c->abstract = g_new0(void *, t->instances_count + 1);
	c->invoked = g_new0(GArray *, t->instances_count + 1);
	c->changes = g_array_new(FALSE, FALSE, sizeof(struct change));
	state_clear(c);
	return c;
}

void checker_free(struct checker *c)
{
	if (c == NULL)
		return;
	state_clear(c);
	for (uint32_t i = 0; i < c->t->instances_count; i++) {
		if (c->invoked[i] != NULL)
			g_array_unref(c->invoked[i]);
	}
	g_array_unref(c->f.needs);
	g_array_unref(c->f.wakes);
	g_array_unref(c->f.holders);
	g_array_unref(c->f.wide);
	g_array_unref(c->changes);
	g_hash_table_destroy(c->f.woken);
	g_hash_table_destroy(c->f.release);
	g_hash_table_destroy(c->f.empty);
	void *arrays[] = { c->f.place,      c->f.start,      c->f.own,     c->f.blocked,
		           c->f.writer,     c->f.initial,    c->f.destroy, c->f.scope,
		           c->f.lock_owner, c->f.unreliable, c->taken,     c->last,
		           c->owner,        c->readers,      c->count,     c->spoiled,
		           c->busy,         c->abstract,     c->invoked };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_free(arrays[i]);
	g_free(c);
}

/* ---- The rules ---- */

/* The first of the entries of a table sorted by its first member that has this key. */
static guint first_of(const GArray *table, uint32_t key)
{
	guint low = 0, high = table->len, size = g_array_get_element_size((GArray *)table);

	while (low < high) {
		guint middle = (low + high) / 2;

		if (*(const uint32_t *)(table->data + (size_t)middle * size) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool rule_must(const struct checker *c, uint32_t e, GString *reason)
{
	const GArray *needs = c->f.needs;

	if (!(c->f.blocked[e / 64] >> (e % 64) & 1))
		return true;
	for (guint i = first_of(needs, e); i < needs->len; i++) {
		const struct need *n = &g_array_index(needs, struct need, i);

		if (n->after != e)
			break;
		if (!taken(c, n->before)) {
			refuse(c, reason, "rule 4 (must-order)", e, "comes before event %u ",
			       n->before);
			if (reason != NULL)
				trace_append_operation(c->t, n->before, reason);
			return false;
		}
	}
	return true;
}

/* Rule 4, the conditional half: a wake whose waker came before its wait cannot come. */
static bool rule_wake(const struct checker *c, uint32_t e, GString *reason)
{
	guint i = GPOINTER_TO_UINT(g_hash_table_lookup(c->f.woken, GUINT_TO_POINTER(e + 1)));
	const struct wake *w;

	if (i == 0 || !c->spoiled[i - 1])
		return true;
	w = &g_array_index(c->f.wakes, struct wake, i - 1);
	return refuse(c, reason, "rule 4 (must-order)", e,
	              "was woken by event %u, which came before the wait, event %u", w->waker,
	              w->wait);
}

static bool rule_block(const struct checker *c, uint32_t v, uint32_t e, bool pair,
                       GString *reason)
{
	const struct block *b = &c->t->blocks[c->t->variables[v].block];
	uint32_t owner = NONE;

	if (b->alloc != NONE && !taken(c, b->alloc))
		return refuse(c, reason, "rule 4 (must-order)", e,
		              "comes before event %u, which allocates its block", b->alloc);
	if (!pair && b->free != NONE && taken(c, b->free))
		return refuse(c, reason, "rule 6 (freed blocks)", e,
		              "comes after event %u, which frees its block", b->free);
	if (b->alloc != NONE)
		return true;
	for (uint32_t u = 0; u < c->t->threads_count; u++) {
		if (c->t->threads[u].stack == c->t->variables[v].block)
			owner = u;
	}
	if (owner == NONE || owner == at(c, e)->thread || thread_first(c, owner) == NONE)
		return true;
	if (!taken(c, thread_first(c, owner)))
		return refuse(c, reason, "rule 4 (must-order)", e,
		              "comes before event %u, which begins the thread of this stack",
		              thread_first(c, owner));
	if (!pair && taken(c, thread_last(c, owner)))
		return refuse(c, reason, "rule 6 (freed blocks)", e,
		              "comes after event %u, the last of the thread of this stack",
		              thread_last(c, owner));
	return true;
}

/* Rules 4 and 6 for the blocks that an access lies in; of a pair, rule 6 asks nothing. */
static bool rule_blocks(const struct checker *c, uint32_t e, bool pair, GString *reason)
{
	struct wide run = event_variables(c->t, at(c, e));

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->t->variables[v].block != NONE && !rule_block(c, v, e, pair, reason))
			return false;
	}
	return true;
}

static uint32_t value_read(const struct checker *c, const struct event *x)
{
	return x->op == OP_RMW && x->aux != 0 ? c->t->values[x->aux].first : x->aux;
}

static uint32_t value_written(const struct checker *c, const struct event *x)
{
	return x->op == OP_RMW && x->aux != 0 ? c->t->values[x->aux].second : x->aux;
}

/* With --values: the same value from another write that covers the same bytes. */
static bool same_value(const struct checker *c, const struct event *x, struct wide run)
{
	uint32_t value = value_read(c, x), w = c->last[run.first];
	struct wide written;

	if (value == 0)
		return false;
	if (w == NONE)
		return run.count == 1 && c->f.initial[run.first] == value;
	written = event_variables(c->t, at(c, w));
	if (written.first != run.first || written.count != run.count)
		return false;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->last[v] != w)
			return false;
	}
	return value_written(c, at(c, w)) == value;
}

static void append_writer(GString *out, uint32_t w)
{
	if (w == NONE)
		g_string_append(out, "the initial value");
	else
		g_string_append_printf(out, "event %u", w);
}

static bool rule_observation(const struct checker *c, uint32_t e, GString *reason)
{
	const struct event *x = at(c, e);
	struct wide run = event_variables(c->t, x);
	const uint32_t *observed =
	        run.count == 1 ? &c->f.writer[e]
	                       : &g_array_index(c->f.wide, uint32_t, c->f.writer[e]);

	for (uint32_t i = 0; i < run.count; i++) {
		if (c->last[run.first + i] == observed[i])
			continue;
		if (c->options.use_values && same_value(c, x, run))
			return true;
		refuse(c, reason, "rule 2 (observation)", e, "reads from ");
		if (reason != NULL) {
			append_writer(reason, c->last[run.first + i]);
			g_string_append(reason, ", in the trace from ");
			append_writer(reason, observed[i]);
		}
		return false;
	}
	return true;
}

static bool rule_lock(const struct checker *c, uint32_t e, GString *reason)
{
	const struct event *x = at(c, e);
	uint32_t o = x->target, holder = c->owner[o];

	if (holder != NONE)
		return refuse(c, reason, "rule 3 (locks)", e, "while %s holds the lock",
		              trace_thread_name(c->t, holder));
	if (x->op == OP_ACQ && c->readers[o] > 0)
		return refuse(c, reason, "rule 3 (locks)", e, "while %u hold%s the lock shared",
		              c->readers[o], c->readers[o] == 1 ? "s" : "");
	return true;
}

static bool rule_tryfail(const struct checker *c, uint32_t e, GString *reason)
{
	const GArray *holders = c->f.holders;
	guint i = first_of(holders, e), first = i;

	for (; i < holders->len && g_array_index(holders, struct need, i).after == e; i++) {
		uint32_t a = g_array_index(holders, struct need, i).before;
		uint32_t r = GPOINTER_TO_UINT(
		        g_hash_table_lookup(c->f.release, GUINT_TO_POINTER(a + 1)));

		if (taken(c, a) && (r == 0 || !taken(c, r - 1)))
			return true;
	}
	if (i == first)
		return true; /* nobody held it in the trace either */
	return refuse(c, reason, "rule 2 (observation)", e,
	              "failed in the critical section that event %u begins, which is not open",
	              g_array_index(holders, struct need, first).before);
}

/* `free_destroyed`: the pair itself may come after the destruction, as after a free. */
static bool rule_sync(const struct checker *c, uint32_t e, bool free_destroyed, GString *reason)
{
	const struct event *x = at(c, e);

	if (!free_destroyed && c->f.destroy != NULL && c->f.destroy[e] != NONE &&
	    taken(c, c->f.destroy[e]))
		return refuse(c, reason, "rule 6 (freed blocks)", e,
		              "comes after event %u, which destroys its object",
		              c->f.destroy[e]);
	if (op_acquires(x->op)) {
		if (c->f.scope != NULL && c->f.lock_owner[x->target] != NONE)
			return true; /* the object's own lock: rule 5 stands for it */
		return rule_lock(c, e, reason);
	}
	if (x->op == OP_TRYFAIL)
		return rule_tryfail(c, e, reason);
	if (x->op == OP_WAKE)
		return rule_wake(c, e, reason);
	if (x->op == OP_TAKETRYFAIL && c->count[x->target] != 0 &&
	    g_hash_table_contains(c->f.empty, GUINT_TO_POINTER(e + 1)))
		return refuse(c, reason, "rule 2 (observation)", e,
		              "found no count in the trace, and finds %u", c->count[x->target]);
	return true;
}

/* ---- Rule 5 ---- */

static bool commute(const struct checker *c, uint32_t a, uint32_t b)
{
	return c->options.semantics->commutes(c->options.semantics->context, a, b);
}

/* The invocation (ACT or CALL) that takes effect at an ACT or RET. */
static uint32_t invocation_of(const struct checker *c, uint32_t e)
{
	uint32_t u = at(c, e)->thread, depth = 0;

	if (at(c, e)->op == OP_ACT)
		return e;
	for (uint32_t i = c->f.place[e]; i-- > 0;) {
		uint32_t f = c->f.own[c->f.start[u] + i];

		if (event_inert(at(c, f)))
			continue;
		if (at(c, f)->op == OP_RET)
			depth++;
		else if (at(c, f)->op == OP_CALL && depth-- == 0)
			return f;
	}
	return e;
}

/* The earlier invocations of the trace that `e` depends on, recursively, and whether they
 * come before it here in an order that turns no two of them round. */
static bool rule_dependence(struct checker *c, uint32_t e, GString *reason)
{
	const struct trace *t = c->t;
	GArray *chain = g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* e, then what it needs */
	const GArray *before = c->invoked[at(c, e)->target];
	bool good = true;

	g_array_append_val(chain, e);
	for (uint32_t f = e; f-- > 0;) {
		const struct event *x = &t->events[f];

		if ((x->op != OP_ACT && x->op != OP_RET) || event_inert(x) ||
		    x->target != at(c, e)->target)
			continue;
		for (guint i = 0; i < chain->len; i++) {
			uint32_t later = g_array_index(chain, uint32_t, i);

			if (commute(c, invocation_of(c, f), invocation_of(c, later)))
				continue;
			g_array_append_val(chain, f);
			break;
		}
	}
	for (guint i = 1; i < chain->len && good; i++) {
		uint32_t f = g_array_index(chain, uint32_t, i);

		if (!taken(c, f))
			good = refuse(c, reason, "rule 5 (invocations)", e,
			              "depends on event %u, which is not before it", f);
	}
	for (guint i = 0; before != NULL && i < before->len && good; i++) {
		uint32_t b = g_array_index(before, uint32_t, i);
		bool in_chain = false;

		for (guint k = 0; k < chain->len; k++)
			in_chain |= g_array_index(chain, uint32_t, k) == b;
		for (guint k = 0; k < chain->len && good; k++) {
			uint32_t f = g_array_index(chain, uint32_t, k);
			bool earlier = f == e; /* does b come before f here? */

			for (guint j = i + 1; j < before->len && !earlier; j++)
				earlier = g_array_index(before, uint32_t, j) == f;
			bool turned = in_chain && f < b && f != e && earlier;
			if ((turned || (!in_chain && f != b && earlier)) &&
			    !commute(c, invocation_of(c, b), invocation_of(c, f)))
				good = refuse(
				        c, reason, "rule 5 (invocations)", e,
				        "comes after event %u, which does not commute with "
				        "event %u and comes later in the trace",
				        b, f);
		}
	}
	g_array_unref(chain);
	return good;
}

static bool rule_invocation(struct checker *c, uint32_t e, bool free_result, GString *reason)
{
	const struct semantics *s = c->options.semantics;
	uint32_t instance = at(c, e)->target;
	int result;

	if (s == NULL || !specified(c, instance))
		return true;
	if (at(c, e)->op != OP_RET && c->busy[instance] != NONE &&
	    c->busy[instance] != at(c, e)->thread)
		return refuse(c, reason, "rule 5 (invocations)", e,
		              "comes inside of an invocation of %s on the same object",
		              trace_thread_name(c->t, c->busy[instance]));
	if (at(c, e)->op == OP_CALL)
		return true;
	if (s->step != NULL && !(c->f.unreliable[instance / 64] >> (instance % 64) & 1)) {
		result = s->step(s->context, &c->abstract[instance], instance, e);
		if (result == 1 || (result == 0 && free_result))
			return true;
		if (result == 0)
			return refuse(c, reason, "rule 5 (invocations)", e,
			              "returns something else here");
	}
	if (free_result || c->t->invocations[at(c, e)->aux].results == 0)
		return true;
	return rule_dependence(c, e, reason);
}

/* ---- Steps ---- */

/* Of what an event asks, the claims leave some out for their pair. */
struct asked {
	bool observation, freed, result;
};
static const struct asked everything = { true, true, true };

static bool exempt(const struct checker *c, uint32_t e)
{
	return c->f.scope != NULL && c->f.scope[e] != NONE;
}

static bool allowed(struct checker *c, uint32_t e, struct asked asked, GString *reason)
{
	const struct event *x;

	if (e >= c->t->events_count) {
		if (reason != NULL)
			g_string_append_printf(
			        reason, "event %u: the trace has %" G_GUINT64_FORMAT " events",
			        e, c->t->events_count);
		return false;
	}
	x = at(c, e);
	if (c->f.place[e] != c->taken[x->thread])
		return taken(c, e)
		               ? refuse(c, reason, "rule 1 (prefixes)", e, "comes twice")
		               : refuse(c, reason, "rule 1 (prefixes)", e,
		                        "comes before event %u of its thread",
		                        c->f.own[c->f.start[x->thread] + c->taken[x->thread]]);
	if (!rule_must(c, e, reason))
		return false;
	if (event_inert(x))
		return true;
	switch (op_table[x->op].class) {
	case OP_CLASS_ACCESS:
		if (!rule_blocks(c, e, !asked.freed, reason))
			return false;
		return !asked.observation || !op_reads(x->op) || exempt(c, e) ||
		       rule_observation(c, e, reason);
	case OP_CLASS_SYNC:
		return op_table[x->op].operand != OPERAND_OBJECT ||
		       rule_sync(c, e, !asked.freed, reason);
	default:
		return true;
	}
}

static void take_lock(struct checker *c, const struct event *x)
{
	uint32_t o = x->target;

	if (x->op == OP_ACQ)
		cell_set(c, &c->owner[o], x->thread);
	else if (x->op == OP_REL)
		cell_set(c, &c->owner[o], NONE);
	else if (x->op == OP_RACQ)
		cell_set(c, &c->readers[o], c->readers[o] + 1);
	else
		cell_set(c, &c->readers[o], c->readers[o] - (c->readers[o] > 0));
}

static void take_waker(struct checker *c, uint32_t e)
{
	for (guint i = first_of(c->f.wakes, e); i < c->f.wakes->len; i++) {
		const struct wake *w = &g_array_index(c->f.wakes, struct wake, i);

		if (w->waker != e)
			break;
		if (!taken(c, w->wait))
			cell_set(c, &c->spoiled[i], 1);
	}
}

static void take_invocation(struct checker *c, uint32_t e)
{
	uint32_t i = at(c, e)->target;

	if (c->f.scope == NULL || !specified(c, i))
		return;
	if (at(c, e)->op == OP_CALL)
		cell_set(c, &c->busy[i], at(c, e)->thread);
	if (at(c, e)->op == OP_RET)
		cell_set(c, &c->busy[i], NONE);
	if (at(c, e)->op == OP_CALL)
		return;
	if (c->invoked[i] == NULL)
		c->invoked[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(c->invoked[i], e);
}

static void take(struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	struct wide run;

	cell_set(c, &c->taken[x->thread], c->taken[x->thread] + 1);
	if (event_inert(x))
		return;
	switch (x->op) {
	case OP_WRITE:
	case OP_AWRITE:
	case OP_RMW:
		run = event_variables(c->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			cell_set(c, &c->last[v], e);
		break;
	case OP_ACQ:
	case OP_RACQ:
	case OP_REL:
	case OP_RREL:
		take_lock(c, x);
		break;
	case OP_POST:
		cell_set(c, &c->count[x->target], c->count[x->target] + 1);
		break;
	case OP_TAKE:
		cell_set(c, &c->count[x->target], c->count[x->target] - 1);
		break;
	case OP_SIGNAL:
	case OP_BROADCAST:
		take_waker(c, e);
		break;
	case OP_ACT:
	case OP_CALL:
	case OP_RET:
		take_invocation(c, e);
		break;
	default:
		break;
	}
}

static bool step(struct checker *c, uint32_t e, struct asked asked, GString *reason)
{
	if (!allowed(c, e, asked, reason))
		return false;
	/* the specification's state moves on with the question; so it is asked last */
	if (op_table[at(c, e)->op].class == OP_CLASS_CALL && !event_inert(at(c, e)) &&
	    !rule_invocation(c, e, !asked.result, reason))
		return false;
	take(c, e);
	return true;
}

bool checker_enabled(struct checker *c, uint32_t event, GString *reason)
{
	return allowed(c, event, everything, reason);
}

bool checker_step(struct checker *c, uint32_t event, GString *reason)
{
	bool good = step(c, event, everything, reason);

	if (good)
		c->prefix = NONE; /* no longer a prefix of the recording */
	return good;
}

/* ---- Claims ---- */

static bool racing(const struct checker *c, const uint32_t *pair, GString *reason)
{
	const struct event *x, *y;

	if (pair[0] >= c->t->events_count || pair[1] >= c->t->events_count) {
		g_string_append(reason, "the pair: no such event");
		return false;
	}
	x = at(c, pair[0]);
	y = at(c, pair[1]);
	if (op_is_access(x->op) && op_is_access(y->op) && !event_inert(x) && !event_inert(y) &&
	    x->thread != y->thread && (op_writes(x->op) || op_writes(y->op)) &&
	    !(op_is_atomic(x->op) && op_is_atomic(y->op)) && events_overlap(c->t, x, y))
		return true;
	g_string_append_printf(reason, "the pair: events %u and %u do not conflict", pair[0],
	                       pair[1]);
	return false;
}

static bool same_pair(const uint32_t *a, const uint32_t *b)
{
	return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* One event of the pair: next of its thread, with what must be before it. */
static bool next_of_pair(struct checker *c, uint32_t e, GString *reason)
{
	return allowed(c, e, (struct asked){ .observation = false, .freed = false }, reason);
}

static bool claim_race(struct checker *c, const uint32_t *sequence, size_t length,
                       const uint32_t *pair, GString *reason)
{
	if (!racing(c, pair, reason))
		return false;
	if (length < 2 || !same_pair(sequence + length - 2, pair)) {
		g_string_append_printf(reason,
		                       "the pair: the last two events are not %u and %u",
		                       pair[0], pair[1]);
		return false;
	}
	for (size_t i = 0; i + 2 < length; i++) {
		if (!step(c, sequence[i], everything, reason))
			return false;
	}
	return next_of_pair(c, pair[0], reason) && next_of_pair(c, pair[1], reason);
}

/* Scopes on specified objects are in whole or not at all. */
static bool scopes_closed(const struct checker *c, uint32_t spared, GString *reason)
{
	for (uint32_t i = 0; c->f.scope != NULL && i < c->t->instances_count; i++) {
		if (c->busy[i] == NONE || c->busy[i] == spared)
			continue;
		g_string_append_printf(reason,
		                       "rule 5 (invocations): at the end %s is still "
		                       "inside of an invocation",
		                       trace_thread_name(c->t, c->busy[i]));
		return false;
	}
	return true;
}

static bool claim_prefix(struct checker *c, const uint32_t *sequence, size_t length,
                         GString *reason)
{
	for (size_t i = 0; i < length; i++) {
		if (!step(c, sequence[i], everything, reason))
			return false;
	}
	return scopes_closed(c, NONE, reason);
}

/* The sequence ends with e1 and holds e2; of e1, and of e2 when nothing of its thread
 * follows it, rules 2 and 5 ask nothing. */
static bool claim_cov(struct checker *c, const uint32_t *sequence, size_t length,
                      const uint32_t *pair, GString *reason)
{
	const struct asked nothing = { .observation = false, .freed = false, .result = false };
	uint32_t e1 = length > 0 ? sequence[length - 1] : NONE;
	uint32_t e2 = e1 == pair[0] ? pair[1] : pair[0];
	bool found = false, ended = false, last = true;

	if (e1 >= c->t->events_count || (e1 != pair[0] && e1 != pair[1])) {
		g_string_append(reason, "the pair: the sequence does not end with one of it");
		return false;
	}
	for (size_t i = 0; i + 1 < length; i++) {
		uint32_t e = sequence[i];

		if (e >= c->t->events_count || e2 >= c->t->events_count ||
		    at(c, e)->thread != at(c, e2)->thread)
			continue;
		if (ended)
			last = false;
		found |= e == e2;
		ended |= e == e2 && at(c, e)->op != OP_CALL;
		ended |= found && at(c, e)->op == OP_RET && invocation_of(c, e) == e2;
	}
	if (!found || at(c, e1)->thread == at(c, e2)->thread) {
		g_string_append_printf(reason, "the pair: event %u %s", e2,
		                       found ? "is of the same thread"
		                             : "is not in the sequence");
		return false;
	}
	for (size_t i = 0; i < length; i++) {
		bool free_of = sequence[i] == e1 || (sequence[i] == e2 && last);

		if (sequence[i] < c->t->events_count && at(c, sequence[i])->op == OP_RET &&
		    last && invocation_of(c, sequence[i]) == e2)
			free_of = true;
		if (!step(c, sequence[i], free_of ? nothing : everything, reason))
			return false;
	}
	return scopes_closed(c, at(c, e1)->thread, reason);
}

/* Each request is next, and the lock is held by another thread that requests. */
static bool claim_deadlock(struct checker *c, const uint32_t *sequence, size_t length,
                           const uint32_t *pair, size_t count, GString *reason)
{
	size_t requests = 0;

	for (size_t i = 0; i < length && i < count; i++) {
		for (size_t k = 0; k < count; k++)
			requests += sequence[length - 1 - i] == pair[k];
	}
	if (requests == count) /* written after the reordering, as in a race's witness */
		length -= count;
	if (!claim_prefix(c, sequence, length, reason))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t e = pair[i];
		bool blocked = false;

		if (e >= c->t->events_count || !op_acquires(at(c, e)->op) ||
		    event_inert(at(c, e))) {
			g_string_append_printf(reason, "the cycle: event %u is no acquire", e);
			return false;
		}
		if (c->f.place[e] != c->taken[at(c, e)->thread])
			return refuse(c, reason, "the cycle", e, "is not next in its thread");
		if (!rule_must(c, e, reason))
			return false;
		for (size_t k = 0; k < count && !blocked; k++) {
			uint32_t u = at(c, pair[k])->thread;

			blocked = k != i && u != at(c, e)->thread &&
			          c->owner[at(c, e)->target] == u;
			/* shared holders: an acquire of that thread that is still open */
			for (uint32_t j = 0;
			     k != i && !blocked && at(c, e)->op == OP_ACQ && j < c->taken[u];
			     j++) {
				uint32_t a = c->f.own[c->f.start[u] + j];

				if (event_inert(at(c, a)) ||
				    at(c, a)->target != at(c, e)->target)
					continue;
				if (at(c, a)->op == OP_RACQ)
					requests = SIZE_MAX;
				if (at(c, a)->op == OP_RREL)
					requests = 0;
			}
			if (requests == SIZE_MAX)
				blocked = true;
			requests = 0;
		}
		if (!blocked)
			return refuse(c, reason, "the cycle", e,
			              "is not blocked by another thread of the cycle");
	}
	return true;
}

/* ---- Races that only C11's happens-before shows ---- */

/* What happens after the first event of the pair, in this reordering. */
struct after {
	bool *thread;        /* the thread's next event happens after it */
	bool *fence;         /* by thread: its last release fence does */
	bool *pending;       /* by thread: a relaxed read of it may join at an acquire fence */
	bool *event;         /* by event: happens after (or is) it */
	bool *lock, *shared; /* by object: the last exclusive release, some shared one */
	bool *written;       /* by variable: its last write does, or is it */
	bool *plain;         /* by variable: that write is no atomic one */
	GArray **heads;      /* by variable: threads whose release sequences it is in, with a
	                      * head (or the fence before it) that happens after; or NULL */
};

/* C17: a release sequence goes on with stores of its head's thread and with rmws. */
static void after_store(struct after *a, uint32_t v, const struct event *x, bool releases)
{
	GArray **heads = &a->heads[v];
	bool own = false;

	if (*heads == NULL && !releases)
		return;
	if (*heads == NULL)
		*heads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = (*heads)->len; i-- > 0;) {
		if (g_array_index(*heads, uint32_t, i) == x->thread)
			own = true;
		else if (x->op != OP_RMW)
			g_array_remove_index_fast(*heads, i);
	}
	if (releases && !own) {
		uint32_t thread = x->thread;

		g_array_append_val(*heads, thread);
	}
}

static void after_atomic(const struct checker *c, struct after *a, const struct event *x)
{
	struct wide run = event_variables(c->t, x);
	enum memory_order_kind order = event_order(x);
	bool releases;

	for (uint32_t v = run.first; op_reads(x->op) && v < run.first + run.count; v++) {
		if (a->heads[v] == NULL || a->heads[v]->len == 0)
			continue;
		a->thread[x->thread] |= order_acquires(order);
		a->pending[x->thread] = true;
	}
	releases = (order_releases(order) && a->thread[x->thread]) || a->fence[x->thread];
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		after_store(a, v, x, releases);
}

/* An observation with a plain side is order: else all that follows an ordinary race would be
 * races too. */
static void after_observed(const struct checker *c, struct after *a, const struct event *x)
{
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++)
		a->thread[x->thread] |= a->written[v] && (x->op == OP_READ || a->plain[v]);
}

static void after_written(const struct checker *c, struct after *a, const struct event *x)
{
	struct wide run;

	if (!op_is_access(x->op) || !op_writes(x->op))
		return;
	run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		a->written[v] = a->thread[x->thread];
		a->plain[v] = x->op == OP_WRITE;
	}
}

static void after_needs(const struct checker *c, struct after *a, uint32_t e)
{
	const GArray *needs = c->f.needs;

	for (guint i = first_of(needs, e);
	     i < needs->len && g_array_index(needs, struct need, i).after == e; i++)
		a->thread[at(c, e)->thread] |=
		        a->event[g_array_index(needs, struct need, i).before];
}

static void after_fence(struct after *a, const struct event *x)
{
	if (order_acquires(event_order(x)) && a->pending[x->thread])
		a->thread[x->thread] = true;
	if (order_releases(event_order(x)))
		a->fence[x->thread] = a->thread[x->thread];
}

/* A plain write ends every release sequence. */
static void after_plain_write(const struct checker *c, struct after *a, const struct event *x)
{
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (a->heads[v] != NULL)
			g_array_set_size(a->heads[v], 0);
	}
}

/* `second`: of the pair; what it observes itself, plainly, is the race. */
static void after_event(const struct checker *c, struct after *a, uint32_t e, bool second)
{
	const struct event *x = at(c, e);
	bool *now = &a->thread[x->thread];

	after_needs(c, a, e);
	if (event_inert(x)) {
		a->event[e] = *now;
		return;
	}
	if (op_acquires(x->op))
		*now |= a->lock[x->target] || (x->op == OP_ACQ && a->shared[x->target]);
	if (x->op == OP_REL)
		a->lock[x->target] = *now;
	if (x->op == OP_RREL)
		a->shared[x->target] |= *now;
	if (x->op == OP_FENCE)
		after_fence(a, x);
	if (op_is_access(x->op) && op_reads(x->op) && !second)
		after_observed(c, a, x);
	if (op_is_access(x->op) && op_is_atomic(x->op))
		after_atomic(c, a, x);
	else if (x->op == OP_WRITE)
		after_plain_write(c, a, x);
	a->event[e] = *now;
	after_written(c, a, x);
}

static struct after after_new(const struct trace *t)
{
	return (struct after){
		.thread = g_new0(bool, t->threads_count + 1),
		.fence = g_new0(bool, t->threads_count + 1),
		.pending = g_new0(bool, t->threads_count + 1),
		.event = g_new0(bool, t->events_count + 1),
		.lock = g_new0(bool, t->objects_count + 1),
		.shared = g_new0(bool, t->objects_count + 1),
		.written = g_new0(bool, t->variables_count + 1),
		.plain = g_new0(bool, t->variables_count + 1),
		.heads = g_new0(GArray *, t->variables_count + 1),
	};
}

static void after_release(struct after *a, const struct trace *t)
{
	void *arrays[] = { a->thread, a->fence,   a->pending, a->event, a->lock,
		           a->shared, a->written, a->plain,   a->heads };

	for (uint64_t v = 0; v < t->variables_count; v++) {
		if (a->heads[v] != NULL)
			g_array_free(a->heads[v], TRUE);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_free(arrays[i]);
}

static bool claim_c11(struct checker *c, const uint32_t *sequence, size_t length,
                      const uint32_t *pair, GString *reason)
{
	const struct trace *t = c->t;
	struct after a;
	bool started = false, good = true;

	if (!racing(c, pair, reason))
		return false;
	if (length < 2 ||
	    !(same_pair(sequence + length - 2, pair) || sequence[length - 1] == pair[0] ||
	      sequence[length - 1] == pair[1])) {
		g_string_append(reason, "the pair: the sequence does not end with one of it");
		return false;
	}
	if (!claim_prefix(c, sequence, length, reason))
		return false;
	a = after_new(t);
	for (size_t i = 0; i < length && good; i++) {
		uint32_t e = sequence[i];
		bool of_pair = e == pair[0] || e == pair[1];

		if (of_pair && started) {
			after_event(c, &a, e, true);
			if (a.thread[at(c, e)->thread])
				good = refuse(c, reason, "the pair", e,
				              "happens after event %u in the reordering",
				              e == pair[0] ? pair[1] : pair[0]);
			started = false;
			break;
		}
		if (of_pair) {
			started = true;
			a.thread[at(c, e)->thread] = true;
		}
		after_event(c, &a, e, false);
	}
	if (good && (!taken(c, pair[0]) || !taken(c, pair[1]))) {
		g_string_append(reason, "the pair: not both are in the sequence");
		good = false;
	}
	after_release(&a, t);
	return good;
}

static bool claim_check(struct checker *c, const uint32_t *sequence, size_t length,
                        enum claim claim, const uint32_t *pair, size_t count, GString *reason)
{
	bool of_two = claim == CLAIM_RACE || claim == CLAIM_C11_RACE || claim == CLAIM_COV;

	if (count < 2 && (of_two || claim == CLAIM_DEADLOCK)) {
		g_string_append(reason, "the pair: two events are needed");
		return false;
	}
	switch (claim) {
	case CLAIM_RACE:
		return claim_race(c, sequence, length, pair, reason);
	case CLAIM_C11_RACE:
		return claim_c11(c, sequence, length, pair, reason);
	case CLAIM_COV:
		return claim_cov(c, sequence, length, pair, reason);
	case CLAIM_DEADLOCK:
		return claim_deadlock(c, sequence, length, pair, count, reason);
	default:
		return claim_prefix(c, sequence, length, reason);
	}
}

bool checker_claim(struct checker *c, const uint32_t *sequence, size_t length, enum claim claim,
                   const uint32_t *pair, size_t pair_count, GString *reason)
{
	GString *scratch = reason == NULL ? g_string_new(NULL) : NULL;
	bool good;

	state_clear(c);
	good = claim_check(c, sequence, length, claim, pair, pair_count,
	                   reason == NULL ? scratch : reason);
	c->prefix = NONE;
	if (scratch != NULL)
		g_string_free(scratch, TRUE);
	return good;
}

/* Take changes back until the log is as short as it was. */
static void take_back(struct checker *c, guint length)
{
	for (guint i = c->changes->len; i-- > length;) {
		const struct change *change = &g_array_index(c->changes, struct change, i);

		*change->cell = change->old;
	}
	g_array_set_size(c->changes, length);
}

/* Take the last events of the prefix back, as far as the log goes. */
static void rewind_prefix(struct checker *c, uint32_t prefix)
{
	const uint32_t *first = c->taken, *end = c->taken + c->t->threads_count;

	while (c->prefix > prefix && c->changes->len > 0) {
		guint last = c->changes->len - 1;
		const struct change *change = &g_array_index(c->changes, struct change, last);

		/* the change that an event begins with */
		if (change->cell >= first && change->cell < end)
			c->prefix--;
		take_back(c, last);
	}
}

enum { LOG_LIMIT = 6 << 20 }; /* changes that are kept for going back */

/* Forget the older half of the log, up to where an event begins. */
static void trim_log(struct checker *c)
{
	guint keep = c->changes->len / 2;

	if (c->changes->len > LOG_LIMIT)
		g_array_remove_range(c->changes, 0, keep);
}

bool checker_race_after(struct checker *c, uint32_t prefix, const uint32_t *tail, size_t length,
                        const uint32_t *pair, GString *reason)
{
	GString *scratch = g_string_new(NULL);
	bool good = true;
	guint before;

	BUG_ON(c->options.semantics != NULL);
	if (c->prefix != NONE && c->prefix > prefix)
		rewind_prefix(c, prefix);
	if (c->prefix == NONE || c->prefix > prefix)
		state_clear(c);
	c->undoing = true;
	for (; c->prefix < prefix && good; c->prefix += good) {
		good = step(c, c->prefix, everything, scratch);
		if ((c->prefix & 0xffff) == 0)
			trim_log(c);
	}
	before = c->changes->len;
	if (good) {
		good = claim_race(c, tail, length, pair, scratch);
		take_back(c, before);
	}
	if (reason != NULL)
		g_string_append(reason, scratch->str);
	g_string_free(scratch, TRUE);
	return good;
}

bool witness_check(const struct trace *t, const uint32_t *sequence, size_t length,
                   enum claim claim, const uint32_t *pair, size_t pair_count,
                   const struct check_options *options, GString *reason)
{
	struct checker *c = checker_new(t, options);
	bool good = checker_claim(c, sequence, length, claim, pair, pair_count, reason);

	checker_free(c);
	return good;
}
