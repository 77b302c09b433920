/*
 * must_rules.c - see must_rules.h. Each kind of synchronisation keeps the events that later
 * ones come after, and forgets those that none can come after any more, so memory is of the
 * objects and threads, not of the events.
 */
#include "engine/trace/must_rules.h"
#include "engine/base/search.h"

/* A semaphore, barrier or condition. */
struct sync_object {
	GArray *posts;          /* struct sync_point; or NULL */
	uint32_t takes, posted; /* `posted`: number of posts before those in the list */
	struct barrier *barrier;
	struct condition *condition;
};

/* Rounds of a barrier. A thread departs from the round of its arrival, which need not be the
 * latest: others may have arrived again. */
struct barrier {
	GArray *rounds;       /* struct sync_set: arrivals; dropped ones are empty */
	uint32_t first;       /* the first round that is kept */
	uint32_t forget_at;   /* number of rounds from `first` on at which dropping is tried */
	GHashTable *round_of; /* thread -> round of its last arrival */
	bool departed;        /* a thread has left the last round */
};

/* Signals and broadcasts in trace order; `next` skips used signals (union-find with path
 * halving). */
struct waker {
	struct sync_point at;
	uint32_t next; /* index of itself, or of a later one when used */
	bool all;      /* a broadcast */
};
struct condition {
	GArray *wakers;
	uint32_t forget_at;  /* number of wakers at which dropping is tried */
	GHashTable *waiting; /* thread -> event of its last wait */
};

struct must_block {
	struct sync_point alloc, free;
};

struct must_rules {
	struct must_sink sink;
	GArray *forks;     /* struct sync_point, by thread, until its first event */
	GArray *objects;   /* struct sync_object */
	GArray *sends;     /* by message: struct sync_set */
	GArray *last_call; /* struct sync_point, by instance: the last ACT or RET */
	GArray *blocks;    /* struct must_block */
	GArray *living;    /* uint32_t: blocks that are kept */
};

/* -- lists --------------------------------------------------------------------------------- */

static struct sync_point *point_at(GArray *points, uint32_t i)
{
	for (uint32_t old = points->len; old <= i; old++)
		g_array_append_val(points, NO_SYNC_POINT);
	return &g_array_index(points, struct sync_point, i);
}

static struct must_block *block_at(struct must_rules *r, uint32_t i)
{
	const struct must_block fresh = { NO_SYNC_POINT, NO_SYNC_POINT };
	for (uint32_t old = r->blocks->len; old <= i; old++)
		g_array_append_val(r->blocks, fresh);
	return &g_array_index(r->blocks, struct must_block, i);
}

static GArray *points_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct sync_point));
}

static struct sync_point here(const struct must_rules *r, const struct flow_event *x)
{
	return r->sink.latest(r->sink.context, x->thread);
}

static void after(const struct must_rules *r, const struct flow_event *x,
                  const struct sync_point *before, enum must_rule rule)
{
	if (before->event != NONE && before->thread != x->thread)
		r->sink.edge(r->sink.context, before, x->number, rule, NONE);
}

/* The event comes after all points of the set. A set of at most FEW points makes an edge from
 * each, for every event; a larger one does so for the first event alone, and from then on hands
 * the set over whole. */
static void after_all(const struct must_rules *r, const struct flow_event *x,
                      struct sync_set *before, enum must_rule rule)
{
	enum { FEW = 2 };
	guint count = before->points == NULL ? 0 : before->points->len;
	if (count > FEW && before->first.event != NONE && before->own != NONE) {
		if (before->first.thread != x->thread)
			r->sink.edges(r->sink.context, before, x->number, rule);
		return;
	}
	bool first = before->first.event == NONE;
	if (first && count > FEW)
		before->first = (struct sync_point){ x->number, x->thread, 0 };
	for (guint i = 0; i < count; i++) {
		const struct sync_point *point =
		        &g_array_index(before->points, struct sync_point, i);
		if (first && point->thread == x->thread)
			before->own = i;
		after(r, x, point, rule);
	}
}

static void set_add(struct sync_set *set, struct sync_point point)
{
	sync_points_add(&set->points, point);
	set->first = NO_SYNC_POINT;
	set->own = NONE;
	set->clock = 0;
}

static struct sync_set *set_at(GArray *sets, uint32_t i)
{
	for (uint32_t old = sets->len; old <= i; old++)
		g_array_append_val(sets, NO_SYNC_SET);
	return &g_array_index(sets, struct sync_set, i);
}

static GArray *sets_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct sync_set));
}

static void sets_free(GArray *sets)
{
	for (guint i = 0; i < sets->len; i++)
		sync_points_free(set_at(sets, i)->points);
	g_array_free(sets, TRUE);
}

/* -- threads ------------------------------------------------------------------------------- */

void must_rules_begin(struct must_rules *r, const struct flow_event *x)
{
	if (x->thread >= r->forks->len)
		return;
	struct sync_point *fork = &g_array_index(r->forks, struct sync_point, x->thread);
	after(r, x, fork, MUST_FORK);
	*fork = NO_SYNC_POINT;
}

static void fork_or_join(struct must_rules *r, const struct flow_event *x)
{
	struct sync_point latest = r->sink.latest(r->sink.context, x->target);
	if (x->op == OP_JOIN)
		after(r, x, &latest, MUST_JOIN);
	else if (latest.event == NONE)
		*point_at(r->forks, x->target) = here(r, x);
}

/* -- barriers ------------------------------------------------------------------------------ */

/* Drops rounds before the last one of every thread: no thread can leave them any more. */
static void forget_rounds(struct barrier *b)
{
	enum { FEW = 4 };
	uint32_t first = b->rounds->len;
	GHashTableIter threads;
	gpointer round;
	if (b->rounds->len - b->first < b->forget_at)
		return;
	g_hash_table_iter_init(&threads, b->round_of);
	while (g_hash_table_iter_next(&threads, NULL, &round))
		first = MIN(first, GPOINTER_TO_UINT(round));
	for (; b->first < first; b->first++)
		sync_points_free(g_steal_pointer(&set_at(b->rounds, b->first)->points));
	b->forget_at = MAX(FEW, 2 * (b->rounds->len - b->first));
}

static struct barrier *barrier_of(struct sync_object *object)
{
	if (object->barrier == NULL) {
		struct barrier *b = object->barrier = g_new0(struct barrier, 1);
		b->rounds = sets_new();
		b->round_of = g_hash_table_new(NULL, NULL);
		set_at(b->rounds, 0);
	}
	return object->barrier;
}

static void arrive(struct must_rules *r, const struct flow_event *x, struct barrier *b)
{
	gpointer thread = GUINT_TO_POINTER(x->thread), known = NULL;
	struct sync_point point = here(r, x);
	if (b->departed) {
		forget_rounds(b);
		set_at(b->rounds, b->rounds->len);
		b->departed = false;
	}
	uint32_t round = b->rounds->len - 1;
	struct sync_set *arrivals = set_at(b->rounds, round);
	if (g_hash_table_lookup_extended(b->round_of, thread, NULL, &known) &&
	    GPOINTER_TO_UINT(known) == round) {
		set_add(arrivals, point);
		return;
	}
	if (arrivals->points == NULL)
		arrivals->points = points_new();
	g_array_append_val(arrivals->points, point);
	g_hash_table_insert(b->round_of, thread, GUINT_TO_POINTER(round));
}

/* A round that a thread has left gets no more arrivals, so these are all. */
static void depart(struct must_rules *r, const struct flow_event *x, struct barrier *b)
{
	gpointer thread = GUINT_TO_POINTER(x->thread), known;
	uint32_t last = b->rounds->len - 1, round = last;
	if (g_hash_table_lookup_extended(b->round_of, thread, NULL, &known))
		round = GPOINTER_TO_UINT(known);
	b->departed |= round == last;
	after_all(r, x, set_at(b->rounds, round), MUST_BARRIER);
}

/* -- conditions ---------------------------------------------------------------------------- */

static struct condition *condition_of(struct sync_object *object)
{
	if (object->condition == NULL) {
		struct condition *c = object->condition = g_new0(struct condition, 1);
		c->wakers = g_array_new(FALSE, FALSE, sizeof(struct waker));
		c->waiting = g_hash_table_new(NULL, NULL);
	}
	return object->condition;
}

/* Drops used signals and wakers before all waits: they wake no thread any more. */
static void forget_wakers(struct condition *c)
{
	enum { FEW = 64 };
	uint32_t first = NONE, kept = 0;
	GHashTableIter waits;
	gpointer wait;
	if (c->wakers->len < c->forget_at)
		return;
	g_hash_table_iter_init(&waits, c->waiting);
	while (g_hash_table_iter_next(&waits, NULL, &wait))
		first = MIN(first, GPOINTER_TO_UINT(wait));
	for (guint i = 0; i < c->wakers->len; i++) {
		struct waker w = g_array_index(c->wakers, struct waker, i);
		if (w.next != i || w.at.event < first)
			continue;
		w.next = kept;
		g_array_index(c->wakers, struct waker, kept++) = w;
	}
	g_array_set_size(c->wakers, kept);
	c->forget_at = MAX(FEW, 2 * kept);
}

static void add_waker(struct must_rules *r, const struct flow_event *x, struct condition *c)
{
	forget_wakers(c);
	struct waker w = { here(r, x), c->wakers->len, x->op == OP_BROADCAST };
	g_array_append_val(c->wakers, w);
}

static uint32_t unused_waker(GArray *wakers, uint32_t i)
{
	struct waker *w = (struct waker *)(void *)wakers->data;
	while (i < wakers->len && w[i].next != i) {
		if (w[i].next < wakers->len)
			w[i].next = w[w[i].next].next;
		i = w[i].next;
	}
	return i;
}

/* A wake is by the first signal after its wait that has woken no thread, or a broadcast; by
 * none if it was spurious or timed out. */
static void wake(struct must_rules *r, const struct flow_event *x, struct condition *c)
{
	gpointer thread = GUINT_TO_POINTER(x->thread), known;
	if (!g_hash_table_lookup_extended(c->waiting, thread, NULL, &known))
		return;
	uint32_t wait = GPOINTER_TO_UINT(known);
	g_hash_table_remove(c->waiting, thread);
	if (x->flags & EVENT_TRY)
		return; /* by no signal */
	uint32_t i = unused_waker(
	        c->wakers,
	        search_end(k, 0, c->wakers->len,
	                   g_array_index(c->wakers, struct waker, k).at.event < wait));
	if (i == c->wakers->len)
		return;
	struct waker *w = &g_array_index(c->wakers, struct waker, i);
	struct sync_point waiting = { wait, x->thread, 0 };
	if (!w->all)
		w->next = i + 1;
	after(r, x, &w->at, MUST_WAKER);
	if (w->at.thread != x->thread)
		r->sink.edge(r->sink.context, &waiting, w->at.event, MUST_WAIT, x->number);
}

/* -- objects, messages, invocations, blocks ------------------------------------------------- */

/* The n-th take comes after the (n-k)-th post of a semaphore that began with k. */
static void take(struct must_rules *r, const struct flow_event *x, struct sync_object *s)
{
	enum { FEW = 64 };
	int64_t nth = (int64_t)++s->takes - x->count - s->posted;
	if (s->posts == NULL || nth < 1 || nth > s->posts->len)
		return;
	after(r, x, &g_array_index(s->posts, struct sync_point, nth - 1), MUST_SEMAPHORE);
	if (nth > FEW && 2 * nth > s->posts->len) {
		g_array_remove_range(s->posts, 0, (guint)nth);
		s->posted += (uint32_t)nth;
	}
}

static void post(struct must_rules *r, const struct flow_event *x, struct sync_object *s)
{
	struct sync_point point = here(r, x);
	if (s->posts == NULL)
		s->posts = points_new();
	g_array_append_val(s->posts, point);
}

static void object_event(struct must_rules *r, const struct flow_event *x)
{
	if (r->objects->len <= x->target)
		g_array_set_size(r->objects, x->target + 1);
	struct sync_object *o = &g_array_index(r->objects, struct sync_object, x->target);
	switch (x->op) {
	case OP_POST:
		post(r, x, o);
		break;
	case OP_TAKE:
		take(r, x, o);
		break;
	case OP_ARRIVE:
		arrive(r, x, barrier_of(o));
		break;
	case OP_DEPART:
		depart(r, x, barrier_of(o));
		break;
	case OP_WAIT:
		g_hash_table_insert(condition_of(o)->waiting, GUINT_TO_POINTER(x->thread),
		                    GUINT_TO_POINTER(x->number));
		break;
	case OP_WAKE:
		wake(r, x, condition_of(o));
		break;
	case OP_SIGNAL:
	case OP_BROADCAST:
		add_waker(r, x, condition_of(o));
		break;
	default:
		break;
	}
}

static void message_event(struct must_rules *r, const struct flow_event *x)
{
	struct sync_set *sends = set_at(r->sends, x->target);
	if (x->op == OP_RCV)
		after_all(r, x, sends, MUST_MESSAGE);
	else
		set_add(sends, here(r, x));
}

/* Without a specification no invocations commute; edges between neighbours imply the rest. */
static void invocation(struct must_rules *r, const struct flow_event *x)
{
	struct sync_point *last = point_at(r->last_call, x->target);
	after(r, x, last, MUST_INVOCATION);
	*last = here(r, x);
}

/* Lives of one block are consecutive: free before the next alloc. A second free of a life is an
 * error of the program, and orders nothing. */
static void block_event(struct must_rules *r, const struct flow_event *x)
{
	struct must_block *b = block_at(r, x->target);
	if (x->op == OP_FREE && b->free.event == NONE) {
		after(r, x, &b->alloc, MUST_ALLOC);
		b->free = here(r, x);
	} else if (x->op == OP_ALLOC) {
		if (x->block < r->blocks->len)
			after(r, x, &g_array_index(r->blocks, struct must_block, x->block).free,
			      MUST_FREE);
		b->alloc = here(r, x);
		g_array_append_val(r->living, x->target);
	}
}

void must_rules_event(struct must_rules *r, const struct flow_event *x)
{
	switch (op_table[x->op].operand) {
	case OPERAND_OBJECT:
		object_event(r, x);
		break;
	case OPERAND_THREAD:
		fork_or_join(r, x);
		break;
	case OPERAND_MESSAGE:
		message_event(r, x);
		break;
	case OPERAND_INSTANCE:
		invocation(r, x);
		break;
	case OPERAND_BLOCK:
		block_event(r, x);
		break;
	default:
		break;
	}
}

struct sync_point must_rules_alloc(const struct must_rules *r, uint32_t block)
{
	return block < r->blocks->len ? g_array_index(r->blocks, struct must_block, block).alloc
	                              : NO_SYNC_POINT;
}

/* -- points in use ------------------------------------------------------------------------- */

void must_rules_forget(struct must_rules *r,
                       bool (*known)(void *context, const struct sync_point *free),
                       void *context)
{
	guint kept = 0;
	for (guint i = 0; i < r->living->len; i++) {
		uint32_t block = g_array_index(r->living, uint32_t, i);
		struct must_block *b = &g_array_index(r->blocks, struct must_block, block);
		if (b->free.event != NONE && known(context, &b->free))
			b->alloc = b->free = NO_SYNC_POINT;
		else
			g_array_index(r->living, uint32_t, kept++) = block;
	}
	g_array_set_size(r->living, kept);
}

typedef void visit_point(void *context, const struct sync_point *point);

static void visit_all(const GArray *points, visit_point *visit, void *context)
{
	for (guint i = 0; points != NULL && i < points->len; i++) {
		const struct sync_point *point = &g_array_index(points, struct sync_point, i);
		if (point->event != NONE)
			visit(context, point);
	}
}

static void visit_set(const struct sync_set *set, visit_point *visit, void *context)
{
	struct sync_point all = { set->first.event, set->first.thread, set->clock };
	visit_all(set->points, visit, context);
	if (set->clock != 0)
		visit(context, &all);
}

static void visit_object(const struct sync_object *o, visit_point *visit, void *context)
{
	visit_all(o->posts, visit, context);
	for (guint i = o->barrier ? o->barrier->first : 0;
	     o->barrier != NULL && i < o->barrier->rounds->len; i++)
		visit_set(set_at(o->barrier->rounds, i), visit, context);
	for (guint i = 0; o->condition != NULL && i < o->condition->wakers->len; i++)
		visit(context, &g_array_index(o->condition->wakers, struct waker, i).at);
}

void must_rules_visit(const struct must_rules *r, visit_point *visit, void *context)
{
	visit_all(r->forks, visit, context);
	visit_all(r->last_call, visit, context);
	for (guint i = 0; i < r->sends->len; i++)
		visit_set(set_at(r->sends, i), visit, context);
	for (guint i = 0; i < r->objects->len; i++)
		visit_object(&g_array_index(r->objects, struct sync_object, i), visit, context);
	for (guint i = 0; i < r->living->len; i++) {
		uint32_t block = g_array_index(r->living, uint32_t, i);
		const struct must_block *b =
		        &g_array_index(r->blocks, struct must_block, block);
		visit(context, &b->alloc);
		if (b->free.event != NONE)
			visit(context, &b->free);
	}
}

/* -- making and ending ---------------------------------------------------------------------- */

struct must_rules *must_rules_new(const struct must_sink *sink)
{
	struct must_rules *r = g_new0(struct must_rules, 1);
	r->sink = *sink;
	r->forks = points_new();
	r->objects = g_array_new(FALSE, TRUE, sizeof(struct sync_object));
	r->sends = sets_new();
	r->last_call = points_new();
	r->blocks = g_array_new(FALSE, FALSE, sizeof(struct must_block));
	r->living = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return r;
}

static void release_object(struct sync_object *o)
{
	sync_points_free(o->posts);
	if (o->barrier != NULL) {
		sets_free(o->barrier->rounds);
		g_hash_table_destroy(o->barrier->round_of);
		g_free(o->barrier);
	}
	if (o->condition != NULL) {
		g_array_free(o->condition->wakers, TRUE);
		g_hash_table_destroy(o->condition->waiting);
		g_free(o->condition);
	}
}

void must_rules_free(struct must_rules *r)
{
	for (guint i = 0; i < r->objects->len; i++)
		release_object(&g_array_index(r->objects, struct sync_object, i));
	sets_free(r->sends);
	GArray *arrays[] = { r->forks, r->objects, r->last_call, r->blocks, r->living };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_free(arrays[i], TRUE);
	g_free(r);
}
