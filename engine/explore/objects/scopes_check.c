/*
 * scopes_check.c - checks that scopes of an object are atomic steps.
 *
 * They are not when one waits, blocks, is interrupted, leaves by longjmp or with a lock held;
 * when it accesses shared memory in two sections with a gap; when its memory or locks belong to
 * another object, too; when the program tries a lock of theirs; when two threads' scopes access
 * memory without a common lock (plain accesses: with atomics the object is assumed
 * linearizable); or when the program writes the memory outside all scopes. Accesses ordered by
 * forks and joins do not matter (initialisation, reading the final result), nor writes to
 * memory allocated by the invocation before it is published.
 */
#include "engine/explore/objects/scopes.h"

#include "engine/trace/index.h"

#include <stdlib.h>
#include <string.h>

/* Accesses to a variable by scopes of one object in one thread. */
struct use_of {
	uint32_t object, thread;
	uint32_t first, last; /* events */
	GArray *locks;        /* uint32_t, lock * 2 + shared: held at all of them */
	bool wrote, plain;
};

struct check {
	struct scopes *s;
	const struct model *m;
	const struct trace *t;
	struct fork_order *order;
	GHashTable *touches;  /* variable -> GArray of struct use_of */
	GArray **held;        /* by thread: uint32_t, locks as in struct use_of */
	uint8_t *contested;   /* by variable: 0 not computed, 1 no, 2 yes */
	uint32_t *synced;     /* by thread: its last event visible to others + 1 */
	uint32_t *lock_owner; /* by lock: the object whose scopes use it, or NONE */
};

static void put_broken(struct check *c, uint32_t object, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static void put_broken(struct check *c, uint32_t object, const char *format, ...)
{
	GPtrArray *all = c->s->broken;
	for (guint i = 0; i < all->len; i++)
		if (((struct broken *)all->pdata[i])->object == object)
			return;
	va_list list;
	va_start(list, format);
	struct broken *b = g_new(struct broken, 1);
	b->object = object;
	b->why = g_strdup_vprintf(format, list);
	va_end(list);
	g_ptr_array_add(all, b);
}

static const char *place(const struct check *c, uint32_t event)
{
	return trace_location_name(c->t, event);
}

static struct scope *scope_at(const struct check *c, uint32_t event)
{
	return &g_array_index(c->s->list, struct scope, c->s->of[event]);
}

/* -- operations in a scope ----------------------------------------------------------------- */

static const char *const waiting_ops[OP_COUNT] = {
	[OP_WAIT] = "waits for a condition",
	[OP_ARRIVE] = "waits at a barrier",
	[OP_JOIN] = "waits for a thread",
	[OP_TAKE] = "waits for a semaphore",
	[OP_TAKETRYFAIL] = "tries a semaphore in vain",
	[OP_TRYFAIL] = "tries a lock in vain",
	[OP_FORK] = "creates a thread",
};

static void check_operations(struct check *c)
{
	const struct trace *t = c->t;
	uint32_t open = NONE; /* the last scope with an effect; before its first effect, a scope
	                       * may wait for a lock */
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t in = c->s->of[e];
		if (open != NONE && in != open && !event_inert(x) &&
		    op_table[x->op].class != OP_CLASS_SCOPE) {
			const struct scope *s = &g_array_index(c->s->list, struct scope, open);
			put_broken(c, s->object, "an invocation was interrupted, by %s at %s",
			           trace_thread_name(t, x->thread), place(c, e));
			open = NONE;
		}
		if (in == NONE || event_inert(x))
			continue;
		const struct scope *s = scope_at(c, e);
		if (waiting_ops[x->op])
			put_broken(c, s->object, "an invocation %s, at %s", waiting_ops[x->op],
			           place(c, e));
		open = e == s->ret ? NONE : e == s->call ? open : in;
	}
}

/* The scope must return its result, not end by longjmp or cancellation. */
static void check_result(struct check *c, const struct scope *s)
{
	struct call_scratch scratch;
	struct call call;
	if (s->ret != NONE && c->t->events[s->ret].flags & EVENT_LEFT)
		put_broken(c, s->object,
		           "an invocation was left by a jump, an exception or the end of its "
		           "thread, at %s",
		           place(c, s->call));
	if (s->ret == NONE || !model_invocation(c->m, s->call, &call, &scratch) ||
	    call.method == NONE)
		return;
	const struct spec_method *method =
	        spec_method_at(c->m->objects[s->object].type->o, call.method);
	if (c->t->invocations[c->t->events[s->ret].aux].results < method->results)
		put_broken(c, s->object, "an invocation was left without a result, at %s",
		           place(c, s->call));
}

/* -- locks ------------------------------------------------------------------------------- */

static void hold(struct check *c, const struct event *x)
{
	GArray *held = c->held[x->thread];
	uint32_t lock = x->target * 2 + (x->op == OP_RACQ);
	if (op_acquires(x->op)) {
		g_array_append_val(held, lock);
		return;
	}
	for (guint i = held->len; i-- > 0;)
		if (g_array_index(held, uint32_t, i) / 2 == x->target) {
			g_array_remove_index(held, i);
			return;
		}
}

static void check_lock(struct check *c, uint32_t e)
{
	const struct event *x = &c->t->events[e];
	uint32_t *owner = &c->lock_owner[x->target];
	uint32_t object = scope_at(c, e)->object;
	if (*owner != NONE && *owner != object) {
		const char *name = trace_string(c->t, c->t->objects[x->target].name);
		put_broken(c, object, "it shares %s with another object", name);
		put_broken(c, *owner, "it shares %s with another object", name);
	}
	*owner = object;
}

/* No lock taken inside may be held at the end. */
static void check_kept(struct check *c, const struct scope *s)
{
	for (uint32_t e = s->call; s->ret != NONE && e < s->ret; e++) {
		const struct event *x = &c->t->events[e];
		uint32_t release = c->t->index->partner[e];
		if (op_acquires(x->op) && !event_inert(x) && x->thread == s->thread &&
		    (release == NONE || release > s->ret))
			put_broken(c, s->object, "an invocation keeps a lock, taken at %s",
			           place(c, e));
	}
}

/* -- memory ------------------------------------------------------------------------------ */

static void touches_free(gpointer list)
{
	GArray *touches = list;
	for (guint i = 0; i < touches->len; i++)
		g_array_unref(g_array_index(touches, struct use_of, i).locks);
	g_array_unref(touches);
}

static void keep_common(GArray *locks, const GArray *held)
{
	for (guint i = locks->len; i-- > 0;) {
		bool there = false;
		for (guint k = 0; k < held->len && !there; k++)
			there = g_array_index(held, uint32_t, k) ==
			        g_array_index(locks, uint32_t, i);
		if (!there)
			g_array_remove_index(locks, i);
	}
}

static void add_touch(struct check *c, uint32_t e, uint32_t variable)
{
	const struct event *x = &c->t->events[e];
	const struct scope *s = scope_at(c, e);
	const GArray *held = c->held[x->thread];
	GArray *list = g_hash_table_lookup(c->touches, GUINT_TO_POINTER(variable));
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(struct use_of));
		g_hash_table_insert(c->touches, GUINT_TO_POINTER(variable), list);
	}
	struct use_of *found = NULL;
	for (guint i = 0; i < list->len && !found; i++) {
		struct use_of *at = &g_array_index(list, struct use_of, i);
		if (at->object == s->object && at->thread == s->thread)
			found = at;
	}
	if (found == NULL) {
		struct use_of fresh = {
			s->object, s->thread, e, e, g_array_new(FALSE, FALSE, sizeof(uint32_t)),
			false,     false
		};
		g_array_append_vals(fresh.locks, held->data, held->len);
		g_array_append_val(list, fresh);
		found = &g_array_index(list, struct use_of, list->len - 1);
	}
	keep_common(found->locks, held);
	found->last = e;
	found->wrote |= op_writes(x->op);
	found->plain |= !op_is_atomic(x->op);
}

/* Does a lock exclude both? */
static bool have_common_lock(const struct use_of *a, const struct use_of *b)
{
	for (guint i = 0; i < a->locks->len; i++)
		for (guint k = 0; k < b->locks->len; k++) {
			uint32_t x = g_array_index(a->locks, uint32_t, i),
			         y = g_array_index(b->locks, uint32_t, k);
			if (x / 2 == y / 2 && !(x & y & 1))
				return true;
		}
	return false;
}

static char *variable_name(const struct check *c, uint32_t variable)
{
	GString *name = g_string_new(NULL);
	const char *text = trace_variable_name(c->t, variable);
	append_escaped(name, text, strlen(text));
	return g_string_free(name, FALSE);
}

static bool are_apart(const struct check *c, const struct use_of *a, const struct use_of *b)
{
	return a->thread == b->thread || !(a->wrote || b->wrote) ||
	       fork_ordered(c->order, a->last, b->first) ||
	       fork_ordered(c->order, b->last, a->first);
}

static void check_pair(struct check *c, uint32_t variable, const struct use_of *a,
                       const struct use_of *b)
{
	if (are_apart(c, a, b))
		return;
	char *name = variable_name(c, variable);
	if (a->object != b->object) {
		put_broken(c, a->object, "%s belongs to another object, too", name);
		put_broken(c, b->object, "%s belongs to another object, too", name);
	} else if (!have_common_lock(a, b) && !(a->plain || b->plain)) {
		g_array_append_val(c->s->atomic, a->object);
	} else if (!have_common_lock(a, b)) {
		put_broken(c, a->object,
		           "two invocations touch %s with no lock in common, at "
		           "%s and %s",
		           name, place(c, a->first), place(c, b->first));
	}
	g_free(name);
}

static void mark_writer(struct check *c, const GArray *list, uint32_t variable)
{
	uint32_t first = g_array_index(list, struct use_of, 0).thread;
	bool shared = c->t->variables[variable].block == NONE;
	for (guint i = 1; i < list->len; i++)
		shared |= g_array_index(list, struct use_of, i).thread != first;
	struct event_list all = event_list_at(&c->t->index->variable_events, variable);
	for (uint64_t i = 0; i < all.count; i++) {
		uint32_t e = all.items[i];
		shared |= c->s->of[e] == NONE;
		if (op_writes(c->t->events[e].op) && c->s->of[e] != NONE)
			scope_at(c, e)->writes |= shared;
	}
}

static void check_memory(struct check *c)
{
	GHashTableIter it;
	gpointer key, value;
	g_hash_table_iter_init(&it, c->touches);
	while (g_hash_table_iter_next(&it, &key, &value)) {
		const GArray *list = value;
		for (guint i = 0; i < list->len; i++)
			for (guint k = 0; k < i; k++)
				check_pair(c, GPOINTER_TO_UINT(key),
				           &g_array_index(list, struct use_of, i),
				           &g_array_index(list, struct use_of, k));
		mark_writer(c, list, GPOINTER_TO_UINT(key));
	}
}

/* -- one section or two -------------------------------------------------------------------- */

/* Do scopes of two threads access it, unordered? */
static bool is_contested(const struct check *c, uint32_t variable)
{
	const GArray *list = g_hash_table_lookup(c->touches, GUINT_TO_POINTER(variable));
	if (c->contested[variable] != 0)
		return c->contested[variable] == 2;
	c->contested[variable] = 1;
	for (guint i = 0; list && i < list->len; i++)
		for (guint k = 0; k < i; k++)
			if (!are_apart(c, &g_array_index(list, struct use_of, i),
			               &g_array_index(list, struct use_of, k)))
				c->contested[variable] = 2;
	return c->contested[variable] == 2;
}

static bool touches_contested(const struct check *c, const struct event *x)
{
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (is_contested(c, v))
			return true;
	return false;
}

/* The steps from a thread's first lock to its first unlock form one atomic step (Lipton 1975);
 * steps after taking another lock are a separate one. */
static void check_sections(struct check *c, const struct scope *s)
{
	const struct trace *t = c->t;
	struct event_list mine = trace_thread_events(t, s->thread);
	uint32_t touched = NONE, section = 0, last = 0; /* last: section of the last access */
	bool released = false;
	for (uint64_t i = t->index->position[s->call]; i < mine.count; i++) {
		uint32_t e = mine.items[i];
		const struct event *x = &t->events[e];
		if (c->s->of[e] == NONE || scope_at(c, e) != s)
			return;
		if (event_inert(x))
			continue;
		section += op_acquires(x->op) && released;
		released = op_releases(x->op) || (released && !op_acquires(x->op));
		if (!op_is_access(x->op) || !touches_contested(c, x))
			continue;
		if (touched != NONE && last != section) {
			put_broken(c, s->object,
			           "others may come between two locked parts of an invocation, "
			           "at %s and %s",
			           place(c, touched), place(c, e));
			return;
		}
		touched = e;
		last = section;
	}
}

/* -- accesses from outside ----------------------------------------------------------------- */

/* Does the write come before all accesses by other threads' scopes: by forks and joins, or
 * because it is to a block allocated by the writer and not yet accessed by scopes (an element
 * before insertion)? */
static bool settled(const struct check *c, uint32_t e, uint32_t variable,
                    const struct use_of *a)
{
	const struct trace *t = c->t;
	uint32_t block = t->variables[variable].block;
	if (a->thread == t->events[e].thread || fork_ordered(c->order, e, a->first) ||
	    fork_ordered(c->order, a->last, e))
		return true;
	return !a->wrote && e < a->first && block != NONE && t->blocks[block].alloc != NONE &&
	       t->events[t->blocks[block].alloc].thread == t->events[e].thread;
}

static bool is_private(const struct check *c, uint32_t variable)
{
	struct event_list all = event_list_at(&c->t->index->variable_events, variable);
	for (uint64_t i = 1; i < all.count; i++)
		if (c->t->events[all.items[i]].thread != c->t->events[all.items[0]].thread)
			return false;
	return true;
}

static bool look_inside(struct check *c, uint32_t e, uint32_t variable, const GArray *list)
{
	const struct event *x = &c->t->events[e];
	for (guint i = 0; i < list->len; i++) {
		const struct use_of *a = &g_array_index(list, struct use_of, i);
		if (op_writes(x->op) && !settled(c, e, variable, a))
			put_broken(c, a->object, "the program writes inside it, at %s",
			           place(c, e));
		bool later = fork_ordered(c->order, e, a->first) ||
		             (a->thread == x->thread && e < a->first);
		if (op_reads(x->op) && a->wrote && !later) {
			struct peek peek = { e, is_private(c, variable) ? NONE : a->object };
			g_array_append_val(c->s->peeks, peek);
			return true;
		}
	}
	return false;
}

static void check_outside(struct check *c)
{
	const struct trace *t = c->t;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op) || event_inert(x) || c->s->of[e] != NONE)
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			const GArray *list =
			        g_hash_table_lookup(c->touches, GUINT_TO_POINTER(v));
			if (list != NULL && look_inside(c, e, v, list))
				break;
		}
	}
}

enum { NOBODY, MANY = UINT32_MAX };

/* By lock: the thread that takes or tries it + 1, or MANY. */
static uint32_t *takers_of(const struct check *c)
{
	uint32_t *takers = g_new0(uint32_t, c->t->objects_count + 1);
	for (uint32_t e = 0; e < c->t->events_count; e++) {
		const struct event *x = &c->t->events[e];
		if (event_inert(x) || (!op_acquires(x->op) && x->op != OP_TRYFAIL))
			continue;
		uint32_t *taker = &takers[x->target];
		*taker = *taker == NOBODY || *taker == x->thread + 1u ? x->thread + 1u : MANY;
	}
	return takers;
}

/* A try outside fails while an invocation runs that holds the lock: it sees a part of it. One
 * in an invocation fails while another thread holds it, which no order of whole invocations
 * has. */
static void check_tries(struct check *c)
{
	const struct trace *t = c->t;
	g_autofree uint32_t *takers = takers_of(c);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		bool tries =
		        x->op == OP_TRYFAIL || (op_acquires(x->op) && x->flags & EVENT_TRY);
		if (!tries || event_inert(x))
			continue;
		bool inside = c->s->of[e] != NONE;
		uint32_t owner = inside ? scope_at(c, e)->object : c->lock_owner[x->target];
		if (owner != NONE && !inside)
			put_broken(c, owner,
			           "the program tries a lock that an invocation takes, at %s",
			           place(c, e));
		else if (inside && takers[x->target] == MANY)
			put_broken(c, owner,
			           "an invocation tries a lock that other threads take, at %s",
			           place(c, e));
	}
}

/* ------------------------------------------------------------------------------------------ */

/* Memory allocated by this invocation, without synchronisation since: others can know it only
 * by a write that is checked itself (initialise, then publish). */
static bool is_fresh(const struct check *c, uint32_t e, uint32_t variable)
{
	uint32_t block = c->t->variables[variable].block;
	uint32_t alloc = block == NONE ? NONE : c->t->blocks[block].alloc;
	uint32_t thread = c->t->events[e].thread;
	return alloc != NONE && alloc < e && c->t->events[alloc].thread == thread &&
	       c->s->of[alloc] != NONE && scope_at(c, alloc) == scope_at(c, e) &&
	       alloc + 1 > c->synced[thread];
}

/* Can the event order others? */
static bool synchronises(const struct event *x)
{
	return op_is_access(x->op) ? op_is_atomic(x->op)
	                           : x->op != OP_ALLOC && x->op != OP_FREE &&
	                                     op_table[x->op].class != OP_CLASS_MARKER &&
	                                     op_table[x->op].class != OP_CLASS_SCOPE;
}

static void collect(struct check *c)
{
	const struct trace *t = c->t;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (event_inert(x))
			continue;
		if (op_acquires(x->op) || op_releases(x->op))
			hold(c, x);
		if (synchronises(x))
			c->synced[x->thread] = e + 1;
		if (c->s->of[e] == NONE)
			continue;
		if (op_table[x->op].operand == OPERAND_OBJECT)
			check_lock(c, e);
		if (!op_is_access(x->op))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			if (!is_fresh(c, e, v))
				add_touch(c, e, v);
	}
}

void scopes_check(struct scopes *s, const struct model *m)
{
	const struct trace *t = s->t;
	struct check c = { .s = s, .m = m, .t = t };
	c.touches = g_hash_table_new_full(NULL, NULL, NULL, touches_free);
	c.order = fork_order_new(t);
	c.held = g_new0(GArray *, t->threads_count + 1);
	c.lock_owner = g_malloc((t->objects_count + 1) * sizeof(uint32_t));
	c.contested = g_new0(uint8_t, t->variables_count + 1);
	c.synced = g_new0(uint32_t, t->threads_count + 1);
	memset(c.lock_owner, 0xff, (t->objects_count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < t->threads_count; i++)
		c.held[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	check_operations(&c);
	for (guint i = 0; i < s->list->len; i++) {
		check_result(&c, &g_array_index(s->list, struct scope, i));
		check_kept(&c, &g_array_index(s->list, struct scope, i));
	}
	collect(&c);
	check_memory(&c);
	for (guint i = 0; i < s->list->len; i++)
		check_sections(&c, &g_array_index(s->list, struct scope, i));
	check_outside(&c);
	check_tries(&c);
	for (uint32_t i = 0; i < t->threads_count; i++)
		g_array_unref(c.held[i]);
	g_free(c.held);
	g_free(c.lock_owner);
	g_free(c.contested);
	g_free(c.synced);
	fork_order_free(c.order);
	g_hash_table_unref(c.touches);
}
