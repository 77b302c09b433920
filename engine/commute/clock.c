/* clock.c - see clock.h. */
#include "engine/commute/clock.h"
#include "engine/trace/index.h"

#include <string.h>

struct scope { /* of an invocation that has begun */
	uint32_t instance;
	bool specified;
	uint32_t *clock; /* at its CALL */
};

struct scope_clocks {
	const struct model *m;
	const struct trace *t;
	uint32_t threads;
	uint32_t *rows;                      /* threads x threads */
	uint32_t **released;                 /* by object: joined clocks of releases, or NULL */
	uint32_t **shared;                   /* by object: of shared releases */
	uint32_t **heads;                    /* by variable: of its release sequence */
	uint32_t *head_thread;               /* by variable: whose release sequence it is */
	uint32_t **release_fence, **pending; /* by thread: C11 fences */
	GHashTable *waiting;                 /* event -> clock, of must-order edges under way */
	uint64_t next_into, next_from;       /* in the index's edges */
	GArray **scopes;                     /* by thread: struct scope */
	uint32_t *depth;                     /* by thread: scopes on specified objects */
};

static uint32_t *row(const struct scope_clocks *c, uint32_t thread)
{
	return c->rows + (size_t)thread * c->threads;
}

static void scope_clear(void *scope)
{
	g_free(((struct scope *)scope)->clock);
}

struct scope_clocks *scope_clocks_new(const struct model *m)
{
	const struct trace *t = m->t;
	struct scope_clocks *c = g_new0(struct scope_clocks, 1);
	c->m = m;
	c->t = t;
	c->threads = (uint32_t)t->threads_count;
	c->rows = g_new0(uint32_t, (size_t)c->threads * c->threads + 1);
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
		row(c, i)[i] = 1;
		c->scopes[i] = g_array_new(FALSE, FALSE, sizeof(struct scope));
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
	g_free(c->rows);
	g_free(c);
}

static void join(const struct scope_clocks *c, uint32_t *into, const uint32_t *from)
{
	for (uint32_t i = 0; from != NULL && i < c->threads; i++)
		into[i] = MAX(into[i], from[i]);
}

static void join_into(const struct scope_clocks *c, uint32_t **into, const uint32_t *from)
{
	if (from == NULL)
		return;
	if (*into == NULL)
		*into = g_memdup2(from, c->threads * sizeof(uint32_t));
	else
		join(c, *into, from);
}

static void assign(const struct scope_clocks *c, uint32_t **into, const uint32_t *from)
{
	if (from == NULL) {
		g_clear_pointer(into, g_free);
		return;
	}
	if (*into == NULL)
		*into = g_new(uint32_t, c->threads);
	memcpy(*into, from, c->threads * sizeof(uint32_t));
}

/* Threads' lives and memory's are no synchronisation of a library. */
static bool hidden_by_scopes(uint32_t rule)
{
	return rule != MUST_FORK && rule != MUST_JOIN && rule != MUST_ALLOC &&
	       rule != MUST_FREE;
}

static bool an_edge_of_hb(uint32_t rule)
{
	return rule != MUST_WAIT && rule != MUST_INVOCATION && rule != MUST_MISSING;
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
		/* One more entry tells whether the other end was inside of a scope. */
		if (hidden_by_scopes(e->rule) && (in_scope || from[c->threads]))
			continue;
		join(c, clock, from);
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
	uint32_t *copy = g_new(uint32_t, c->threads + 1);
	memcpy(copy, clock, c->threads * sizeof(uint32_t));
	copy[c->threads] = in_scope;
	g_hash_table_insert(c->waiting, GUINT_TO_POINTER(event + 1), copy);
	return true;
}

/* Synchronises-with: release sequences of each variable, and fences. */

static void read_atomic(struct scope_clocks *c, const struct event *x, uint32_t *clock)
{
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (order_acquires(event_order(x)))
			join(c, clock, c->heads[v]);
		else
			join_into(c, &c->pending[x->thread], c->heads[v]);
	}
}

/* A store inside of a scope ends or continues a release sequence and tells nothing. */
static bool write_atomic(struct scope_clocks *c, const struct event *x, const uint32_t *clock,
                         bool in_scope)
{
	struct wide run = event_variables(c->t, x);
	const uint32_t *from = in_scope                         ? NULL
	                       : order_releases(event_order(x)) ? clock
	                                                        : c->release_fence[x->thread];
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (x->op == OP_RMW) {
			join_into(c, &c->heads[v], from);
		} else {
			/* A store of the same thread goes on with its release sequence. */
			if (c->head_thread[v] != x->thread)
				assign(c, &c->heads[v], NULL);
			join_into(c, &c->heads[v], from);
			c->head_thread[v] = x->thread;
		}
	}
	return from != NULL;
}

static void plain_write(struct scope_clocks *c, const struct event *x)
{
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (c->heads[v] != NULL)
			assign(c, &c->heads[v], NULL);
}

void scope_clocks_before(struct scope_clocks *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t *clock = row(c, x->thread);
	bool in_scope = c->depth[x->thread] > 0;
	must_into(c, event, clock, in_scope);
	if (event_inert(x) || in_scope)
		return;
	if (op_acquires(x->op)) {
		join(c, clock, c->released[x->target]);
		if (x->op == OP_ACQ)
			join(c, clock, c->shared[x->target]);
	} else if (x->op == OP_AREAD || x->op == OP_RMW) {
		read_atomic(c, x, clock);
	} else if (x->op == OP_FENCE && order_acquires(event_order(x))) {
		join(c, clock, c->pending[x->thread]);
	}
}

static void open_scope(struct scope_clocks *c, const struct event *x)
{
	struct scope s = { .instance = x->target,
		           .specified = model_specified(c->m, x->target),
		           .clock = g_memdup2(row(c, x->thread),
		                              c->threads * sizeof(uint32_t)) };
	g_array_append_val(c->scopes[x->thread], s);
	c->depth[x->thread] += s.specified;
}

static void close_scope(struct scope_clocks *c, const struct event *x)
{
	GArray *open = c->scopes[x->thread];
	if (open->len == 0)
		return;
	c->depth[x->thread] -= g_array_index(open, struct scope, open->len - 1).specified;
	g_array_set_size(open, open->len - 1);
}

void scope_clocks_after(struct scope_clocks *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t *clock = row(c, x->thread);
	bool in_scope = c->depth[x->thread] > 0;
	bool told = must_from(c, event, clock, in_scope);
	if (!event_inert(x)) {
		if (x->op == OP_CALL)
			open_scope(c, x);
		else if (x->op == OP_RET)
			close_scope(c, x);
		else if (x->op == OP_WRITE)
			plain_write(c, x);
		else if (!in_scope && op_releases(x->op)) {
			join_into(c,
			          x->op == OP_REL ? &c->released[x->target]
			                          : &c->shared[x->target],
			          clock);
			told = true;
		} else if (x->op == OP_AWRITE || x->op == OP_RMW) {
			told |= write_atomic(c, x, clock, in_scope);
		} else if (!in_scope && x->op == OP_FENCE && order_releases(event_order(x))) {
			assign(c, &c->release_fence[x->thread], clock);
			told = true;
		}
	}
	/* What comes later in the thread must not look as if it had been told too. */
	if (told)
		clock[x->thread]++;
}

const uint32_t *scope_clocks_of(const struct scope_clocks *c, uint32_t thread)
{
	return row(c, thread);
}

uint32_t scope_clocks_epoch(const struct scope_clocks *c, uint32_t thread)
{
	return row(c, thread)[thread];
}

const uint32_t *scope_clocks_call(const struct scope_clocks *c, uint32_t thread)
{
	const GArray *open = c->scopes[thread];
	return open->len ? g_array_index(open, struct scope, open->len - 1).clock
	                 : row(c, thread);
}

uint32_t scope_clocks_inside(const struct scope_clocks *c, uint32_t thread)
{
	if (c->depth[thread] == 0)
		return NONE;
	for (guint i = c->scopes[thread]->len; i-- > 0;) {
		const struct scope *s = &g_array_index(c->scopes[thread], struct scope, i);
		if (s->specified)
			return s->instance;
	}
	return NONE;
}
