/*
 * order.c - RC11: is psc acyclic?  (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017, section 4.)
 *
 *     scb      = sb + sb/=loc ; hb ; sb/=loc + hb|loc + mo + rb
 *     psc_base = ([SC] + [F_sc] ; hb?) ; scb ; ([SC] + hb? ; [F_sc])
 *     psc_F    = [F_sc] ; (hb + hb ; eco ; hb) ; [F_sc]
 *
 * Nodes are the seq_cst accesses and fences. An event that comes is the last in sb and rf, so
 * hb leads into it only; it has edges to older events only where it reads a store that is not
 * the last of its place, or is inserted before one. So a load that reads the last store and a
 * store that becomes the last are always allowed, and a cycle can only be closed by another
 * choice.
 *
 * Edges to older events (`back`) get further targets when a later fence comes after their
 * end. When a table is full the last store of every place is added to every thread's view
 * (stores_checkpoint): then no later event has edges to older ones, and all nodes can be
 * removed.
 */
#include <string.h>

#include "engine/record/runtime/core/rt.h"
#include "views.h"

enum { BACK = 512 };

uint64_t nodes_generation = 1;

static struct node {
	bool fence;
	const struct location *at;
	uint32_t thread, index;
	uint32_t clock[WEAK_THREADS]; /* of a fence: the events that happen before it */
	struct nodes to;              /* edges of psc */
} node[NODES];
static unsigned node_count;

/* From `sources` to the event, and to its hb-successors. */
static struct back {
	uint32_t thread, index;
	struct nodes sources;
} back[BACK];
static unsigned back_count;

static void checkpoint(void)
{
	stores_checkpoint();
	nodes_generation++;
	node_count = back_count = 0;
	memset(node, 0, sizeof(node));
}

/* Makes room for the entries that an access of `l` may need, before it chooses. */
void order_prepare(const struct location *l)
{
	enum { LONGEST = 256 };
	if (node_count == NODES ||
	    (l && (l->accesses >= LONGEST || back_count + l->accesses > BACK)))
		checkpoint();
}

static struct access *spare;

void order_forget(struct access *list)
{
	while (list) {
		struct access *next = list->next;
		list->next = spare;
		spare = list;
		list = next;
	}
}

static void renew(struct views *v)
{
	if (v->now.generation != nodes_generation) {
		memset(&v->own, 0, sizeof(v->own));
		memset(&v->last, 0, sizeof(v->last));
		memset(&v->other, 0, sizeof(v->other));
	}
	view_renew(&v->now);
}

/* The nodes reachable from a set, with the set. */
static struct nodes reached(struct nodes from)
{
	struct nodes all = from, news = from;
	for (bool more = true; more;) {
		struct nodes next = { 0 };
		more = false;
		for (unsigned i = 0; i < node_count; i++)
			if (nodes_has(&news, i))
				nodes_join(&next, &node[i].to);
		for (unsigned k = 0; k < NODE_WORDS; k++) {
			news.word[k] = next.word[k] & ~all.word[k];
			all.word[k] |= news.word[k];
			more |= news.word[k] != 0;
		}
	}
	return all;
}

/* The fences that an event is before, by hb. */
static struct nodes fences_after(uint32_t thread, uint32_t index)
{
	struct nodes set = { 0 };
	for (unsigned i = 0; i < node_count; i++)
		if (node[i].fence && index && node[i].clock[thread] >= index)
			nodes_add(&set, i);
	return set;
}

static bool is_before(const struct store *s, const struct store *of)
{
	return s == NULL || s->number < of->number;
}

/* ---- edges into an event ---- */

struct incoming {
	struct nodes base; /* by edges of scb */
	struct nodes eco;  /* fences, by eco */
};

/* Adds predecessors by sb, and through other threads by other places than its own. */
static void add_before(const struct views *v, const void *place, struct incoming *in)
{
	const struct past *y = place && v->last.place == place ? &v->other : &v->last;
	nodes_join(&in->base, &v->own);
	nodes_join(&in->base, &v->last.fences);
	nodes_join(&in->base, &y->across);
}

static void add_fences(struct nodes *to, const struct nodes *sources)
{
	for (unsigned i = 0; i < node_count; i++)
		if (node[i].fence && nodes_has(sources, i))
			nodes_add(to, i);
}

static void add_same_place(const struct choice *c, const uint32_t *clock, struct incoming *in)
{
	for (const struct access *a = c->at->log; a; a = a->next) {
		bool hb = a->index && clock[a->thread] >= a->index;
		bool mo = c->after && a->writes &&
		          (is_before(a->store, c->after) || a->store == c->after);
		/* it read a store before the new one */
		bool rb = c->after && a->reads && !a->writes &&
		          (is_before(a->store, c->after) || a->store == c->after);
		if (hb || mo || rb)
			nodes_join(&in->base, &a->sources);
		if (c->reads && a->writes &&
		    (a->store == c->reads || is_before(a->store, c->reads)))
			add_fences(&in->eco, &a->sources);
		if (c->reads && a->reads && !a->writes && is_before(a->store, c->reads))
			add_fences(&in->eco, &a->sources);
	}
}

/* ---- what it leads to ---- */

struct outgoing {
	struct nodes base; /* the event, and the fences that happen before it */
	struct nodes eco;  /* from these fences alone */
};

static struct outgoing outgoing_of(const struct choice *c, bool keep,
                                   const struct nodes *fences, const struct nodes *sources)
{
	struct outgoing out = { 0 };
	const struct store *from = c->after ? c->after : c->reads;
	for (const struct access *a = c->at->log; a; a = a->next) {
		if (a->store == NULL || !is_before(from, a->store))
			continue;
		struct nodes later = fences_after(a->thread, a->index);
		if (a->writes) {
			nodes_join(&out.base, &later);
			if (a->node >= 0)
				nodes_add(&out.base, (unsigned)a->node);
		} else {
			nodes_join(&out.eco, &later);
		}
		if (keep && back_count < BACK)
			back[back_count++] = (struct back){ a->thread, a->index,
				                            a->writes ? *sources : *fences };
	}
	return out;
}

static bool chooses_last(const struct choice *c)
{
	return (!c->reads || c->reads == c->at->last) && (!c->after || c->after == c->at->last);
}

bool order_allows(struct views *v, const struct choice *c)
{
	if (chooses_last(c) || node_count == 0)
		return true;
	renew(v);
	stores_number(c->at);
	struct view now = v->now;
	if (c->acquired)
		view_join(&now, c->acquired);
	struct outgoing out = outgoing_of(c, false, NULL, NULL);
	struct nodes from_it = reached(out.base), from_fences = reached(out.eco);
	if (nodes_meet(&from_it, &now.fences) || nodes_meet(&from_fences, &now.fences))
		return false;
	if (!c->sc)
		return true;
	struct incoming in = { 0 };
	add_before(v, c->at, &in);
	add_same_place(c, now.clock, &in);
	return !nodes_meet(&from_it, &in.base);
}

/* ---- it is done ---- */

static int new_node(bool fence, const struct location *at, uint32_t thread, uint32_t index)
{
	struct node *n = &node[node_count];
	n->fence = fence;
	n->at = at;
	n->thread = thread;
	n->index = index;
	memset(&n->to, 0, sizeof(n->to));
	memset(n->clock, 0, sizeof(n->clock));
	return (int)node_count++;
}

static void edges(const struct nodes *from, const struct nodes *to)
{
	for (unsigned i = 0; i < node_count; i++)
		if (nodes_has(from, i))
			nodes_join(&node[i].to, to);
}

/* The thread has had an event at `place`: updates the facts for later events. */
static void pass(struct views *v, const void *place)
{
	/* events of the thread at other places before this one: paths across threads use
	 * them */
	struct nodes before =
	        v->last.place == place && place ? v->other.fences : v->last.fences;
	for (unsigned i = 0; i < node_count; i++)
		if (nodes_has(&v->own, i) && (!place || node[i].at != place))
			nodes_add(&before, i);
	nodes_join(&v->now.across, &before);
	if (!place || v->last.place != place)
		v->other = v->last;
	v->last.place = place;
	v->last.fences = v->now.fences;
	v->last.across = v->now.across;
}

void order_elsewhere(struct views *v)
{
	if (node_count == 0)
		return;
	renew(v);
	pass(v, NULL);
}

static void log_access_of(struct views *v, uint32_t thread, uint32_t index,
                          const struct choice *c, struct store *made, int number,
                          const struct nodes *sources)
{
	struct access *newest = c->at->log;
	const struct store *store = made ? made : c->reads;
	/* looking again at the same store adds nothing */
	for (const struct access *a = newest; a && number < 0 && !made; a = a->next)
		if (a->thread == thread && !a->writes && a->node < 0 && a->store == store &&
		    memcmp(&a->sources, sources, sizeof(*sources)) == 0)
			return;
	struct access *a = spare ? spare : memory_new(sizeof(*a));
	spare = spare ? spare->next : NULL;
	*a = (struct access){ .next = newest,
		              .store = store,
		              .thread = thread,
		              .index = index,
		              .writes = made != NULL,
		              .reads = c->reads != NULL,
		              .node = number,
		              .sources = *sources };
	c->at->log = a;
	c->at->accesses++;
}

void order_commit(struct views *v, uint32_t thread, uint32_t index, const struct choice *c,
                  struct store *made)
{
	renew(v);
	if (c->acquired)
		view_join(&v->now, c->acquired);
	stores_number(c->at);
	struct incoming in = { 0 };
	struct nodes sources = v->now.fences;
	int number = -1;
	if (node_count) {
		add_before(v, c->at, &in);
		add_same_place(c, v->now.clock, &in);
	}
	if (c->sc) {
		number = new_node(false, c->at, thread, index);
		struct nodes it = { 0 };
		nodes_add(&it, (unsigned)number);
		edges(&in.base, &it);
		nodes_join(&sources, &it);
	}
	if (!chooses_last(c)) {
		struct outgoing out = outgoing_of(c, true, &v->now.fences, &sources);
		edges(&sources, &out.base);
		edges(&v->now.fences, &out.eco);
	}
	nodes_join(&v->now.into, &in.base);
	nodes_join(&v->now.into, &in.eco);
	log_access_of(v, thread, index, c, made, number, &sources);
	if (number >= 0)
		nodes_add(&v->own, (unsigned)number);
	if (node_count)
		pass(v, c->at);
}

void order_fence(struct views *v, uint32_t thread, uint32_t index, bool sc)
{
	if (!sc) {
		order_elsewhere(v);
		return;
	}
	order_prepare(NULL);
	renew(v);
	struct incoming in = { 0 };
	add_before(v, NULL, &in);
	nodes_join(&in.base, &v->now.into);
	nodes_join(&in.base, &v->now.fences);
	for (unsigned i = 0; i < back_count; i++)
		if (v->now.clock[back[i].thread] >= back[i].index)
			nodes_join(&in.base, &back[i].sources);
	int number = new_node(true, NULL, thread, index);
	struct nodes it = { 0 };
	nodes_add(&it, (unsigned)number);
	edges(&in.base, &it);
	memcpy(node[number].clock, v->now.clock, sizeof(v->now.clock));
	nodes_join(&v->now.fences, &it);
	nodes_add(&v->own, (unsigned)number);
	pass(v, NULL);
}
