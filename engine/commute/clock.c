/* clock.c - see clock.h. */
#include "engine/commute/clock.h"
#include "engine/order/wide_clocks.h"
#include "engine/trace/index.h"

#include <string.h>

/* Scope of an open invocation. */
struct open_scope {
	uint32_t instance;
	bool specified;
	uint32_t *clock; /* vector clock at its CALL */
};

struct scope_clocks {
	const struct model *m;
	const struct trace *t;
	uint32_t threads;
	bool wide;      /* many threads: a clock is the root of a tree (wide_clocks.h) */
	uint32_t words; /* of a clock */
	struct wide_nodes nodes;
	uint32_t *clocks;      /* by thread */
	uint32_t **released;   /* by object: joined vector clocks of releases, or NULL */
	uint32_t **shared;     /* by object: the same of shared releases */
	uint32_t **heads;      /* by variable: vector clock of its release sequence */
	uint32_t *head_thread; /* by variable: thread of its release sequence */
	uint32_t **release_fence, **pending; /* by thread: C11 fences */
	GHashTable *waiting; /* event -> vector clock, for must-order edges whose target is
	                        still to come */
	uint64_t next_into, next_from; /* indices of the index's edges */
	GArray **scopes;               /* by thread: struct open_scope */
	uint32_t *depth;               /* by thread: scopes on specified objects */
};

static uint32_t *thread_clock(const struct scope_clocks *c, uint32_t thread)
{
	return c->clocks + (size_t)thread * c->words;
}

/* Set the thread's own component. */
static void set_own(struct scope_clocks *c, uint32_t thread, uint32_t epoch)
{
	uint32_t *clock = thread_clock(c, thread);

	if (c->wide)
		clock[0] = wide_set(&c->nodes, clock[0], thread, epoch);
	else
		clock[thread] = epoch;
}

static void scope_clear(void *scope)
{
	g_free(((struct open_scope *)scope)->clock);
}

struct scope_clocks *scope_clocks_new(const struct model *m)
{
	const struct trace *t = m->t;
	struct scope_clocks *c = g_new0(struct scope_clocks, 1);
	c->m = m;
	c->t = t;
	c->threads = (uint32_t)t->threads_count;
	c->wide = c->threads >= clocks_wide;
	c->words = c->wide ? 1 : c->threads;
	if (c->wide)
		wide_init(&c->nodes, c->threads);
	c->clocks = g_new0(uint32_t, (size_t)c->threads * c->words + 1);
	c->released = g_new0(uint32_t *, t->objects_count + 1);
	c->shared = g_new0(uint32_t *, t->objects_count + 1);
	c->heads = g_new0(uint32_t *, t->variables_count + 1);
	c->head_thread = g_new0(uint32_t, t->variables_count + 1);
	c->release_fence = g_new0(uint32_t *, c->threads + 1);
	c->pending = g_new0(uint32_t *, c->threads + 1);
	c->waiting = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	c->scopes = g_new0(GArray *, c->threads + 1);
	c->depth = g_new0(uint32_t, c->threads + 1);
	for (uint32_t i = 0; i < c->threads; i++) {
		set_own(c, i, 1);
		c->scopes[i] = g_array_new(FALSE, FALSE, sizeof(struct open_scope));
		g_array_set_clear_func(c->scopes[i], scope_clear);
	}
	return c;
}

static void free_all(uint32_t **clocks, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		g_free(clocks[i]);
	g_free(clocks);
}

void scope_clocks_free(struct scope_clocks *c)
{
	if (c == NULL)
		return;
	free_all(c->released, c->t->objects_count);
	free_all(c->shared, c->t->objects_count);
	free_all(c->heads, c->t->variables_count);
	free_all(c->release_fence, c->threads);
	free_all(c->pending, c->threads);
	g_free(c->head_thread);
	g_hash_table_destroy(c->waiting);
	for (uint32_t i = 0; i < c->threads; i++)
		g_array_unref(c->scopes[i]);
	g_free(c->scopes);
	g_free(c->depth);
	g_free(c->clocks);
	wide_release(&c->nodes);
	g_free(c);
}

static void clock_join(struct scope_clocks *c, uint32_t *into, const uint32_t *from)
{
	if (c->wide) {
		into[0] = from == NULL ? into[0] : wide_join(&c->nodes, into[0], from[0]);
		return;
	}
	for (uint32_t i = 0; from != NULL && i < c->threads; i++)
		into[i] = MAX(into[i], from[i]);
}

static void clock_join_into(struct scope_clocks *c, uint32_t **into, const uint32_t *from)
{
	if (from == NULL)
		return;
	if (*into == NULL)
		*into = g_memdup2(from, c->words * sizeof(uint32_t));
	else
		clock_join(c, *into, from);
}

static void clock_assign(const struct scope_clocks *c, uint32_t **into, const uint32_t *from)
{
	if (from == NULL) {
		g_clear_pointer(into, g_free);
		return;
	}
	if (*into == NULL)
		*into = g_new(uint32_t, c->words);
	memcpy(*into, from, c->words * sizeof(uint32_t));
}

/* Thread creation and memory management are not a library's own synchronisation. */
static bool hidden_by_scopes(uint32_t rule)
{
	return rule != MUST_FORK && rule != MUST_JOIN && rule != MUST_ALLOC &&
	       rule != MUST_FREE;
}

static bool an_edge_of_hb(uint32_t rule)
{
	return rule != MUST_WAIT && rule != MUST_INVOCATION;
}

static void must_into(struct scope_clocks *c, uint32_t event, uint32_t *clock, bool in_scope)
{
	const struct trace_index *ix = c->t->index;
	for (; c->next_into < ix->must_count && ix->must[c->next_into].after == event;
	     c->next_into++) {
		const struct must_edge *e = &ix->must[c->next_into];
		const uint32_t *from =
		        g_hash_table_lookup(c->waiting, GUINT_TO_POINTER(e->before + 1));
		if (!an_edge_of_hb(e->rule) || from == NULL)
			continue;
		/* The extra component: was the source inside a scope? */
		if (hidden_by_scopes(e->rule) && (in_scope || from[c->words]))
			continue;
		clock_join(c, clock, from);
	}
}

static bool must_from(struct scope_clocks *c, uint32_t event, const uint32_t *clock,
                      bool in_scope)
{
	const struct trace_index *ix = c->t->index;
	bool any = false;
	for (; c->next_from < ix->must_count &&
	       ix->must[ix->must_by_before[c->next_from]].before == event;
	     c->next_from++)
		any = true;
	if (!any)
		return false;
	uint32_t *copy = g_new(uint32_t, c->words + 1);
	memcpy(copy, clock, c->words * sizeof(uint32_t));
	copy[c->words] = in_scope;
	g_hash_table_insert(c->waiting, GUINT_TO_POINTER(event + 1), copy);
	return true;
}

/* -- synchronises-with: release sequences of each variable, and fences ------------------- */

static void read_atomic(struct scope_clocks *c, const struct event *x, uint32_t *clock)
{
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (order_acquires(event_order(x)))
			clock_join(c, clock, c->heads[v]);
		else
			clock_join_into(c, &c->pending[x->thread], c->heads[v]);
	}
}

/* A store inside a scope ends or continues a release sequence, and releases nothing. */
static bool write_atomic(struct scope_clocks *c, const struct event *x, const uint32_t *clock,
                         bool in_scope)
{
	struct wide run = event_variables(c->t, x);
	const uint32_t *from = in_scope                         ? NULL
	                       : order_releases(event_order(x)) ? clock
	                                                        : c->release_fence[x->thread];
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (x->op == OP_RMW) {
			clock_join_into(c, &c->heads[v], from);
		} else {
			/* A store of the same thread continues its release sequence. */
			if (c->head_thread[v] != x->thread)
				clock_assign(c, &c->heads[v], NULL);
			clock_join_into(c, &c->heads[v], from);
			c->head_thread[v] = x->thread;
		}
	}
	return from != NULL;
}

static void write_plain(struct scope_clocks *c, const struct event *x)
{
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (c->heads[v] != NULL)
			clock_assign(c, &c->heads[v], NULL);
}

void scope_clocks_before(struct scope_clocks *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t *clock = thread_clock(c, x->thread);
	bool in_scope = c->depth[x->thread] > 0;
	must_into(c, event, clock, in_scope);
	if (event_inert(x) || in_scope)
		return;
	if (op_acquires(x->op)) {
		clock_join(c, clock, c->released[x->target]);
		if (x->op == OP_ACQ)
			clock_join(c, clock, c->shared[x->target]);
	} else if (x->op == OP_AREAD || x->op == OP_RMW) {
		read_atomic(c, x, clock);
	} else if (x->op == OP_FENCE && order_acquires(event_order(x))) {
		clock_join(c, clock, c->pending[x->thread]);
	}
}

static void scope_open(struct scope_clocks *c, const struct event *x)
{
	struct open_scope s = { .instance = x->target,
		                .specified = model_specified(c->m, x->target),
		                .clock = g_memdup2(thread_clock(c, x->thread),
		                                   c->words * sizeof(uint32_t)) };
	g_array_append_val(c->scopes[x->thread], s);
	c->depth[x->thread] += s.specified;
}

static void scope_close(struct scope_clocks *c, const struct event *x)
{
	GArray *open = c->scopes[x->thread];
	if (open->len == 0)
		return;
	c->depth[x->thread] -= g_array_index(open, struct open_scope, open->len - 1).specified;
	g_array_set_size(open, open->len - 1);
}

static void mark_all(struct scope_clocks *c, uint32_t *const *clocks, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (clocks[i] != NULL)
			wide_mark(&c->nodes, *clocks[i]);
	}
}

/* Free the trees' nodes that no clock has. */
static void sweep(struct scope_clocks *c)
{
	GHashTableIter all;
	gpointer waiting;
	uint64_t looked_at = 2 * c->t->objects_count + c->t->variables_count + 4 * c->threads;

	wide_sweep_begin(&c->nodes);
	mark_all(c, c->released, c->t->objects_count);
	mark_all(c, c->shared, c->t->objects_count);
	mark_all(c, c->heads, c->t->variables_count);
	mark_all(c, c->release_fence, c->threads);
	mark_all(c, c->pending, c->threads);
	g_hash_table_iter_init(&all, c->waiting);
	while (g_hash_table_iter_next(&all, NULL, &waiting))
		wide_mark(&c->nodes, *(uint32_t *)waiting);
	for (uint32_t u = 0; u < c->threads; u++) {
		wide_mark(&c->nodes, *thread_clock(c, u));
		for (guint i = 0; i < c->scopes[u]->len; i++)
			wide_mark(&c->nodes,
			          *g_array_index(c->scopes[u], struct open_scope, i).clock);
	}
	wide_sweep_end(&c->nodes);
	/* Not before so many more as were looked at. */
	c->nodes.sweep_at = MAX(c->nodes.sweep_at, c->nodes.count - c->nodes.unused_count +
	                                                   (uint32_t)MIN(looked_at, 1u << 30));
}

void scope_clocks_after(struct scope_clocks *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t *clock = thread_clock(c, x->thread);
	bool in_scope = c->depth[x->thread] > 0;
	bool released = must_from(c, event, clock, in_scope);
	if (!event_inert(x)) {
		if (x->op == OP_CALL)
			scope_open(c, x);
		else if (x->op == OP_RET)
			scope_close(c, x);
		else if (x->op == OP_WRITE)
			write_plain(c, x);
		else if (!in_scope && op_releases(x->op)) {
			clock_join_into(c,
			                x->op == OP_REL ? &c->released[x->target]
			                                : &c->shared[x->target],
			                clock);
			released = true;
		} else if (x->op == OP_AWRITE || x->op == OP_RMW) {
			released |= write_atomic(c, x, clock, in_scope);
		} else if (!in_scope && x->op == OP_FENCE && order_releases(event_order(x))) {
			clock_assign(c, &c->release_fence[x->thread], clock);
			released = true;
		}
	}
	/* Later events of the thread are not covered by the clock just released. */
	if (released)
		set_own(c, x->thread, scope_clocks_epoch(c, x->thread) + 1);
	if (c->wide && c->nodes.count - c->nodes.unused_count >= c->nodes.sweep_at)
		sweep(c);
}

uint32_t scope_clocks_time(const struct scope_clocks *c, const uint32_t *clock, uint32_t thread)
{
	return c->wide ? wide_time(&c->nodes, clock[0], thread) : clock[thread];
}

const uint32_t *scope_clocks_of(const struct scope_clocks *c, uint32_t thread)
{
	return thread_clock(c, thread);
}

uint32_t scope_clocks_epoch(const struct scope_clocks *c, uint32_t thread)
{
	return scope_clocks_time(c, thread_clock(c, thread), thread);
}

const uint32_t *scope_clocks_call(const struct scope_clocks *c, uint32_t thread)
{
	const GArray *open = c->scopes[thread];
	return open->len ? g_array_index(open, struct open_scope, open->len - 1).clock
	                 : thread_clock(c, thread);
}

uint32_t scope_clocks_inside(const struct scope_clocks *c, uint32_t thread)
{
	if (c->depth[thread] == 0)
		return NONE;
	for (guint i = c->scopes[thread]->len; i-- > 0;) {
		const struct open_scope *s =
		        &g_array_index(c->scopes[thread], struct open_scope, i);
		if (s->specified)
			return s->instance;
	}
	return NONE;
}
