/*
 * topology.c - maintains strong components and their topological order under edge insertion.
 *
 * A component is a vertex of a union-find forest, with lists of the edges out of and into its
 * members. An edge against the order starts a two-way search, forward from its end and backward
 * from its beginning, always from the earliest vertex of the forward side and the latest of the
 * backward side, until the two have passed each other. Then the reached vertices are reordered,
 * or, where the sides met, merged.
 */
#include "engine/atomic/topology.h"

#include "engine/atomic/labels.h"

enum side { FORWARD, BACKWARD }; /* also indexes: the edges out of a vertex, and into it */

struct topology_edge {
	uint32_t end[2];               /* by side: target and source */
	uint32_t previous[2], next[2]; /* in the lists of edges out of and into a component */
};

struct topology_vertex {
	uint32_t parent; /* union-find; itself: a component */
	uint32_t size, held;
	uint32_t ring;              /* next member of the component */
	uint32_t first[2], last[2]; /* edges out of and into the component */
	/* -- in the current search */
	uint32_t seen[2]; /* round in which the side reached it */
	uint32_t merged;  /* round in which it was on a cycle */
	uint32_t at[2];   /* next edge to follow */
};

struct heap_entry {
	uint64_t key;
	uint32_t vertex;
};

struct topology {
	struct topology_vertex *vertices;
	uint32_t vertices_size;
	struct topology_edge *edges;
	uint32_t edges_count, edges_size, free_edge; /* linked by next[FORWARD] */
	struct labels order;                         /* of components */
	uint32_t round;                              /* searches so far */
	GArray *heap[2];    /* struct heap_entry: with edges to follow */
	GArray *reached[2]; /* uint32_t */
};

/* -- vertices, edges, components ------------------------------------------------------- */

struct topology *topology_new(void)
{
	struct topology *t = g_new0(struct topology, 1);
	t->free_edge = NONE;
	labels_init(&t->order);
	for (int s = FORWARD; s <= BACKWARD; s++) {
		t->heap[s] = g_array_new(FALSE, FALSE, sizeof(struct heap_entry));
		t->reached[s] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	}
	return t;
}

void topology_free(struct topology *t)
{
	if (t == NULL)
		return;
	for (int s = FORWARD; s <= BACKWARD; s++) {
		g_array_free(t->heap[s], TRUE);
		g_array_free(t->reached[s], TRUE);
	}
	labels_release(&t->order);
	g_free(t->vertices);
	g_free(t->edges);
	g_free(t);
}

void topology_add(struct topology *t, uint32_t vertex)
{
	if (vertex >= t->vertices_size) {
		t->vertices_size = MAX(64, 2 * (vertex + 1));
		t->vertices = g_renew(struct topology_vertex, t->vertices, t->vertices_size);
	}
	t->vertices[vertex] = (struct topology_vertex){ .parent = vertex,
		                                        .size = 1,
		                                        .held = 1,
		                                        .ring = vertex,
		                                        .first = { NONE, NONE },
		                                        .last = { NONE, NONE } };
	labels_append(&t->order, vertex);
}

uint32_t topology_component(struct topology *t, uint32_t vertex)
{
	struct topology_vertex *v = t->vertices;
	while (v[vertex].parent != vertex)
		vertex = v[vertex].parent = v[v[vertex].parent].parent;
	return vertex;
}

uint32_t topology_next_in_component(const struct topology *t, uint32_t vertex)
{
	return t->vertices[vertex].ring;
}

uint32_t topology_component_size(const struct topology *t, uint32_t component)
{
	return t->vertices[component].size;
}

bool topology_before(struct topology *t, uint32_t a, uint32_t b)
{
	return labels_before(&t->order, topology_component(t, a), topology_component(t, b));
}

static uint32_t edge_new(struct topology *t)
{
	uint32_t e = t->free_edge;
	if (e != NONE) {
		t->free_edge = t->edges[e].next[FORWARD];
		return e;
	}
	if (t->edges_count == t->edges_size) {
		t->edges_size = MAX(64, 2 * t->edges_size);
		t->edges = g_renew(struct topology_edge, t->edges, t->edges_size);
	}
	return t->edges_count++;
}

/* Append to the edges out of (FORWARD) or into the component `owner`. */
static void edge_link(struct topology *t, uint32_t e, enum side side, uint32_t owner)
{
	struct topology_vertex *v = &t->vertices[owner];
	t->edges[e].previous[side] = v->last[side];
	t->edges[e].next[side] = NONE;
	if (v->last[side] == NONE)
		v->first[side] = e;
	else
		t->edges[v->last[side]].next[side] = e;
	v->last[side] = e;
}

static void edge_unlink(struct topology *t, uint32_t e, enum side side, uint32_t owner)
{
	struct topology_vertex *v = &t->vertices[owner];
	uint32_t previous = t->edges[e].previous[side], next = t->edges[e].next[side];
	if (previous == NONE)
		v->first[side] = next;
	else
		t->edges[previous].next[side] = next;
	if (next == NONE)
		v->last[side] = previous;
	else
		t->edges[next].previous[side] = previous;
}

static void edge_free(struct topology *t, uint32_t e)
{
	t->edges[e].next[FORWARD] = t->free_edge;
	t->free_edge = e;
}

/* Remove an edge whose ends are now in one component. */
static void edge_drop_inner(struct topology *t, uint32_t e, uint32_t component)
{
	edge_unlink(t, e, FORWARD, component);
	edge_unlink(t, e, BACKWARD, component);
	edge_free(t, e);
}

static void lists_join(struct topology *t, enum side side, uint32_t into, uint32_t from)
{
	struct topology_vertex *a = &t->vertices[into], *b = &t->vertices[from];
	if (b->first[side] == NONE)
		return;
	t->edges[b->first[side]].previous[side] = a->last[side];
	if (a->last[side] == NONE)
		a->first[side] = b->first[side];
	else
		t->edges[a->last[side]].next[side] = b->first[side];
	a->last[side] = b->last[side];
}

/* -- the search ------------------------------------------------------------------------ */

/* Both sides take the least key first. */
static uint64_t heap_key(const struct topology *t, uint32_t vertex, enum side side)
{
	uint64_t label = t->order.items[vertex].label;
	return side == FORWARD ? label : ~label;
}

static void heap_push(GArray *heap, struct heap_entry entry)
{
	guint i = heap->len;
	g_array_append_val(heap, entry);
	struct heap_entry *h = (struct heap_entry *)(void *)heap->data;
	for (; i > 0 && h[(i - 1) / 2].key > entry.key; i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = entry;
}

static void heap_pop(GArray *heap)
{
	struct heap_entry *h = (struct heap_entry *)(void *)heap->data;
	struct heap_entry last = h[heap->len - 1];
	g_array_set_size(heap, heap->len - 1);
	guint i = 0;
	for (guint child = 1; child < heap->len; i = child, child = 2 * i + 1) {
		if (child + 1 < heap->len && h[child + 1].key < h[child].key)
			child++;
		if (h[child].key >= last.key)
			break;
		h[i] = h[child];
	}
	if (heap->len)
		h[i] = last;
}

static bool vertex_reached(const struct topology *t, uint32_t vertex, enum side side)
{
	return t->vertices[vertex].seen[side] == t->round;
}

static void vertex_reach(struct topology *t, uint32_t vertex, enum side side)
{
	struct topology_vertex *v = &t->vertices[vertex];
	v->seen[side] = t->round;
	v->at[side] = v->first[side];
	g_array_append_val(t->reached[side], vertex);
	if (v->at[side] != NONE)
		heap_push(t->heap[side],
		          (struct heap_entry){ heap_key(t, vertex, side), vertex });
}

/* The side's next vertex with edges to follow, or NONE. */
static uint32_t heap_least(const struct topology *t, enum side side)
{
	const GArray *heap = t->heap[side];
	return heap->len ? g_array_index(heap, struct heap_entry, 0).vertex : NONE;
}

/* Follow one edge of the side's next vertex. */
static void search_step(struct topology *t, enum side side)
{
	uint32_t vertex = heap_least(t, side);
	struct topology_vertex *v = &t->vertices[vertex];
	uint32_t e = v->at[side], other = topology_component(t, t->edges[e].end[side]);
	v->at[side] = t->edges[e].next[side];
	if (v->at[side] == NONE)
		heap_pop(t->heap[side]);
	if (other != vertex) {
		if (!vertex_reached(t, other, side))
			vertex_reach(t, other, side);
		return;
	}
	/* the other side is not about to follow it */
	if (v->at[!side] == e && vertex_reached(t, vertex, !side))
		return;
	edge_drop_inner(t, e, vertex);
}

/* Compatible search: followed vertices are in the order that the edges require. */
static void topology_search(struct topology *t, uint32_t from, uint32_t to)
{
	t->round++;
	for (int s = FORWARD; s <= BACKWARD; s++) {
		g_array_set_size(t->heap[s], 0);
		g_array_set_size(t->reached[s], 0);
	}
	vertex_reach(t, to, FORWARD);
	vertex_reach(t, from, BACKWARD);
	for (;;) {
		uint32_t u = heap_least(t, FORWARD), z = heap_least(t, BACKWARD);
		if (u == NONE || z == NONE || !labels_before(&t->order, u, z))
			return;
		search_step(t, FORWARD);
		search_step(t, BACKWARD);
	}
}

/* -- reordering and merging --------------------------------------------------------------- */

static int by_key(gconstpointer a, gconstpointer b)
{
	uint64_t x = ((const struct heap_entry *)a)->key;
	uint64_t y = ((const struct heap_entry *)b)->key;
	return x < y ? -1 : x > y;
}

/* The vertices reached by a side, sorted in `direction`; reuses its heap. */
static GArray *sort_reached(struct topology *t, enum side side, enum side direction)
{
	GArray *sorted = t->heap[side];
	g_array_set_size(sorted, 0);
	for (guint i = 0; i < t->reached[side]->len; i++) {
		uint32_t vertex = g_array_index(t->reached[side], uint32_t, i);
		struct heap_entry entry = { heap_key(t, vertex, direction), vertex };
		g_array_append_val(sorted, entry);
	}
	g_array_sort(sorted, by_key);
	return sorted;
}

/* Mark the vertices on a path from the new edge's target to its source: those that both sides
 * reached, and those that lead there over followed edges. Every edge of such a path was
 * followed by one side, else the search would have continued. True when a path exists. */
static bool mark_cycle(struct topology *t)
{
	bool found = false;
	for (guint i = 0; i < t->reached[FORWARD]->len && !found; i++)
		found = vertex_reached(t, g_array_index(t->reached[FORWARD], uint32_t, i),
		                       BACKWARD);
	if (!found)
		return false;
	for (int side = FORWARD; side <= BACKWARD; side++) {
		/* farthest first: targets are marked before sources */
		GArray *sorted = sort_reached(t, side, !side);
		for (guint i = 0; i < sorted->len; i++) {
			uint32_t vertex = g_array_index(sorted, struct heap_entry, i).vertex;
			struct topology_vertex *v = &t->vertices[vertex];
			bool on = vertex_reached(t, vertex, !side);
			for (uint32_t e = v->first[side]; e != v->at[side] && !on;
			     e = t->edges[e].next[side]) {
				uint32_t end = topology_component(t, t->edges[e].end[side]);
				on = end != vertex && t->vertices[end].merged == t->round;
			}
			if (on)
				v->merged = t->round;
		}
	}
	return true;
}

/* Merge the marked vertices; returns the component. */
static uint32_t merge_cycle(struct topology *t)
{
	uint32_t into = NONE;
	for (int side = FORWARD; side <= BACKWARD; side++)
		for (guint i = 0; i < t->reached[side]->len; i++) {
			uint32_t v = g_array_index(t->reached[side], uint32_t, i);
			if (t->vertices[v].merged == t->round &&
			    (into == NONE || t->vertices[v].size > t->vertices[into].size))
				into = v;
		}
	for (int side = FORWARD; side <= BACKWARD; side++)
		for (guint i = 0; i < t->reached[side]->len; i++) {
			uint32_t v = g_array_index(t->reached[side], uint32_t, i);
			struct topology_vertex *a = &t->vertices[into], *b = &t->vertices[v];
			if (v == into || b->merged != t->round || b->parent != v)
				continue;
			b->parent = into;
			a->size += b->size;
			a->held += b->held;
			uint32_t ring = a->ring;
			a->ring = b->ring;
			b->ring = ring;
			lists_join(t, FORWARD, into, v);
			lists_join(t, BACKWARD, into, v);
		}
	return into;
}

/* The pivot: the earlier of the forward side's next vertex and the new edge's source. */
static uint32_t find_pivot(const struct topology *t, uint32_t from)
{
	uint32_t u = heap_least(t, FORWARD);
	return u != NONE && labels_before(&t->order, u, from) ? u : from;
}

/* Vertices to move, in their present order. */
struct moves {
	GArray *side[2]; /* struct heap_entry */
};

/* Remove from the order the vertices that must move: forward ones before the pivot and backward
 * ones after it whose edges have all been followed, except those on the cycle. */
static struct moves take_out(struct topology *t, uint32_t pivot)
{
	struct moves m;
	for (int side = FORWARD; side <= BACKWARD; side++) {
		GArray *sorted = m.side[side] = sort_reached(t, side, FORWARD);
		guint kept = 0;
		for (guint i = 0; i < sorted->len; i++) {
			struct heap_entry entry = g_array_index(sorted, struct heap_entry, i);
			bool past = side == FORWARD
			                    ? labels_before(&t->order, entry.vertex, pivot)
			                    : labels_before(&t->order, pivot, entry.vertex);
			if (past && t->vertices[entry.vertex].merged != t->round)
				g_array_index(sorted, struct heap_entry, kept++) = entry;
		}
		g_array_set_size(sorted, kept);
	}
	for (int side = FORWARD; side <= BACKWARD; side++)
		for (guint i = 0; i < m.side[side]->len; i++)
			labels_remove(&t->order,
			              g_array_index(m.side[side], struct heap_entry, i).vertex);
	return m;
}

static void put_before(struct topology *t, const GArray *entries, uint32_t place)
{
	for (guint i = 0; i < entries->len; i++)
		labels_insert_before(&t->order, place,
		                     g_array_index(entries, struct heap_entry, i).vertex);
}

static void put_after(struct topology *t, const GArray *entries, uint32_t place)
{
	for (guint i = entries->len; i-- > 0;)
		labels_insert_after(&t->order, place,
		                    g_array_index(entries, struct heap_entry, i).vertex);
}

/* The new component takes the pivot's place in the order, or the one before it when the pivot
 * is not a member; its other members leave the order. */
static void place_component(struct topology *t, uint32_t component, uint32_t pivot)
{
	bool inside = t->vertices[pivot].merged == t->round;
	if (component != pivot) {
		labels_remove(&t->order, component);
		labels_insert_before(&t->order, pivot, component);
	}
	for (int side = FORWARD; side <= BACKWARD; side++)
		for (guint i = 0; i < t->reached[side]->len; i++) {
			uint32_t v = g_array_index(t->reached[side], uint32_t, i);
			bool twice = side == BACKWARD && vertex_reached(t, v, FORWARD);
			if (t->vertices[v].merged == t->round && v != component && v != pivot &&
			    !twice)
				labels_remove(&t->order, v);
		}
	if (inside && component != pivot)
		labels_remove(&t->order, pivot);
}

/* The paper's order at the pivot: [backward] [the component] [forward]. */
static bool topology_reorder(struct topology *t, uint32_t from)
{
	uint32_t pivot = find_pivot(t, from);
	bool cycle = mark_cycle(t);
	struct moves m = take_out(t, pivot);
	if (cycle) {
		uint32_t component = merge_cycle(t);
		place_component(t, component, pivot);
		put_before(t, m.side[BACKWARD], component);
		put_after(t, m.side[FORWARD], component);
	} else if (pivot == from) {
		put_after(t, m.side[FORWARD], pivot);
	} else {
		put_before(t, m.side[BACKWARD], pivot);
		put_before(t, m.side[FORWARD], pivot);
	}
	return cycle;
}

bool topology_add_edge(struct topology *t, uint32_t from, uint32_t to)
{
	uint32_t a = topology_component(t, from), b = topology_component(t, to);
	if (a == b)
		return false;
	/* repeated conflicts of two units often come in a row */
	uint32_t last = t->vertices[b].last[BACKWARD];
	if (last != NONE && t->edges[last].end[BACKWARD] == from)
		return false;
	bool merged = false;
	if (!labels_before(&t->order, a, b)) {
		topology_search(t, a, b);
		merged = topology_reorder(t, a);
	}
	if (merged)
		return true;
	uint32_t e = edge_new(t);
	t->edges[e].end[FORWARD] = to;
	t->edges[e].end[BACKWARD] = from;
	edge_link(t, e, FORWARD, a);
	edge_link(t, e, BACKWARD, b);
	return false;
}

/* -- removal ------------------------------------------------------------------------------ */

void topology_unhold(struct topology *t, uint32_t vertex)
{
	t->vertices[topology_component(t, vertex)].held--;
}

/* Edges inside the component are removed on the way: each is seen once. */
bool topology_removable(struct topology *t, uint32_t component)
{
	struct topology_vertex *v = &t->vertices[component];
	if (v->held > 0)
		return false;
	for (uint32_t e; (e = v->first[BACKWARD]) != NONE;) {
		if (topology_component(t, t->edges[e].end[BACKWARD]) != component)
			return false;
		edge_drop_inner(t, e, component);
	}
	return true;
}

void topology_remove(struct topology *t, uint32_t component, GArray *ends)
{
	for (uint32_t e = t->vertices[component].first[FORWARD], next; e != NONE; e = next) {
		next = t->edges[e].next[FORWARD];
		uint32_t end = t->edges[e].end[FORWARD], owner = topology_component(t, end);
		if (owner != component)
			g_array_append_val(ends, end);
		edge_unlink(t, e, BACKWARD, owner);
		edge_free(t, e);
	}
	labels_remove(&t->order, component);
}
