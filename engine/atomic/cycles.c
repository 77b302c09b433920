/*
 * cycles.c - the distinct cycles of a conflict graph, as findings.
 */
#include "engine/atomic/atomic.h"
#include "engine/predict/effort.h"
#include "engine/base/hash.h"
#include "engine/trace/own_site.h"

#include <string.h>

/* State of a unit in the searches. */
struct unit_mark {
	uint32_t batch;             /* last collection that contains the unit */
	uint32_t component;         /* NONE: not yet known */
	uint32_t number, low, next; /* Tarjan's; next is the edge to follow */
	uint32_t via;               /* edge by which the search reached it */
	uint64_t seen;              /* last search that reached it */
};

/* The code of an edge from which a shortest cycle is searched. */
struct edge_code {
	uint32_t from, to; /* names, or locations of accesses outside of units */
	uint32_t outside;  /* a bit for each end outside of units */
	uint32_t variable, set;
};

/* Searches from edges of one code. */
struct code_searches {
	struct edge_code code;
	uint32_t count;
	uint64_t steps; /* edges visited */
};

/* Bounds. A loop repeats its conflicts, so further edges of one code rarely give a new cycle. A
 * unit that stays open can make one component of a whole trace: searches from each of its
 * edges, and all its long cycles, are not worth their time and memory. */
#define EDGES_OF_ONE_CODE 2000
#define STEPS_OF_ONE_CODE 2000000
#define MOST_KEPT         1000000 /* units of all findings */
#define MOST_COUNTED      8000000 /* units of all counted cycles, ... */
#define FEW_OF_ONE_CODE   100     /* ... beyond which fewer edges of one code are searched */

struct cycles {
	const struct trace *t;
	const struct atomic_model *m;
	const struct conflict_graph *g; /* the current one */
	struct unit_mark *marks;        /* by unit */
	uint32_t marks_size, batch;
	uint64_t round;                       /* searches so far */
	uint32_t numbered, components;        /* Tarjan's counters */
	GArray *stack, *path, *queue, *words; /* uint32_t */
	GHashTable *instances;                /* cycles counted so far: key of their accesses */
	GHashTable *searched;                 /* struct code_searches */
	uint64_t steps, kept, counted;
	bool capped;     /* repetitions were left out */
	bool cut;        /* distinct cycles may be missing */
	gint64 deadline; /* as in struct graph_options */
	bool late;       /* the deadline has passed */
	const struct progress *progress;
	bool cancelled;
	GHashTable *codes;    /* of all collected cycles */
	GHashTable *findings; /* by code (borrowed from codes): struct finding * */
};

#define UNIT(s, i)     (&g_array_index((s)->g->units, struct unit, i))
#define CONFLICT(s, i) (&g_array_index((s)->g->conflicts, struct conflict, i))

/* -- strongly connected components (Tarjan, without recursion) --------------------------- */

static void tarjan_enter(struct cycles *s, uint32_t u)
{
	struct unit_mark *m = &s->marks[u];
	m->number = m->low = ++s->numbered;
	m->next = UNIT(s, u)->out;
	g_array_append_val(s->stack, u);
	g_array_append_val(s->path, u);
}

static void tarjan_leave(struct cycles *s, uint32_t u)
{
	struct unit_mark *m = &s->marks[u];
	g_array_set_size(s->path, s->path->len - 1);
	if (s->path->len) {
		uint32_t up = g_array_index(s->path, uint32_t, s->path->len - 1);
		s->marks[up].low = MIN(s->marks[up].low, m->low);
	}
	if (m->low != m->number)
		return;
	uint32_t v;
	do {
		v = g_array_index(s->stack, uint32_t, s->stack->len - 1);
		g_array_set_size(s->stack, s->stack->len - 1);
		s->marks[v].component = s->components;
	} while (v != u);
	s->components++;
}

static void tarjan_from(struct cycles *s, uint32_t root)
{
	tarjan_enter(s, root);
	while (s->path->len) {
		uint32_t u = g_array_index(s->path, uint32_t, s->path->len - 1);
		if (s->marks[u].next == NONE) {
			tarjan_leave(s, u);
			continue;
		}
		const struct conflict *c = CONFLICT(s, s->marks[u].next);
		const struct unit_mark *to = &s->marks[c->to];
		s->marks[u].next = c->next;
		if (to->batch != s->batch)
			continue;
		if (to->number == 0)
			tarjan_enter(s, c->to);
		else if (to->component == NONE)
			s->marks[u].low = MIN(s->marks[u].low, to->number);
	}
}

/* Strong components of the subgraph of these units. */
static void find_components(struct cycles *s, const uint32_t *units, uint32_t count)
{
	s->batch++;
	s->numbered = s->components = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct unit_mark *m = &s->marks[units[i]];
		m->batch = s->batch;
		m->component = NONE;
		m->number = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if (s->marks[units[i]].number == 0)
			tarjan_from(s, units[i]);
}

static bool on_cycle(const struct cycles *s, uint32_t edge)
{
	const struct conflict *c = CONFLICT(s, edge);
	const struct unit_mark *from = &s->marks[c->from], *to = &s->marks[c->to];
	return to->batch == s->batch && from->component == to->component;
}

/* -- one shortest cycle ------------------------------------------------------------------ */

/* Search over edges of `set` (NONE: all); true when the goal is reached. */
static bool search_breadth_first(struct cycles *s, uint32_t from, uint32_t goal, uint32_t set)
{
	s->round++;
	g_array_set_size(s->queue, 0);
	g_array_append_val(s->queue, from);
	s->marks[from].seen = s->round;
	for (guint head = 0; head < s->queue->len; head++) {
		uint32_t u = g_array_index(s->queue, uint32_t, head);
		if (u == goal)
			return true;
		for (uint32_t e = UNIT(s, u)->out; e != NONE;
		     e = CONFLICT(s, e)->next, s->steps++) {
			uint32_t v = CONFLICT(s, e)->to;
			if (s->marks[v].seen == s->round || !on_cycle(s, e) ||
			    (set != NONE && CONFLICT(s, e)->set != set))
				continue;
			s->marks[v].seen = s->round;
			s->marks[v].via = e;
			g_array_append_val(s->queue, v);
		}
	}
	return false;
}

/* Edges of a shortest cycle that begins with `edge`, which lies in a component. A cycle of the
 * edge's own set is preferred to a shorter one of several sets. */
static void shortest_cycle(struct cycles *s, uint32_t edge, GArray *cycle)
{
	const struct conflict *first = CONFLICT(s, edge);
	BUG_ON(!search_breadth_first(s, first->to, first->from, first->set) &&
	       !search_breadth_first(s, first->to, first->from, NONE));
	g_array_set_size(cycle, 0);
	for (uint32_t u = first->from; u != first->to; u = CONFLICT(s, s->marks[u].via)->from)
		g_array_prepend_val(cycle, s->marks[u].via);
	g_array_prepend_val(cycle, edge);
}

/* -- keys ---------------------------------------------------------------------------------- */

/* A cycle as EDGE_WORDS words for each edge, after their number: the least rotation, so that
 * the start does not matter. */
enum { EDGE_WORDS = 4 };
typedef void edge_words(const struct cycles *s, uint32_t edge, uint32_t *words);

static uint32_t unit_code(const struct cycles *s, const struct unit *u)
{
	return u->name == NONE ? own_site(s->t, u->begin) : u->name;
}

/* The unit (or the place of an access outside of units), variable and set. */
static void code_words(const struct cycles *s, uint32_t edge, uint32_t *words)
{
	const struct conflict *c = CONFLICT(s, edge);
	const struct unit *u = UNIT(s, c->from);
	words[0] = unit_code(s, u);
	words[1] = u->name == NONE;
	words[2] = trace_variable_code(s->t, c->variable);
	words[3] = c->set;
}

/* The accesses. */
static void access_words(const struct cycles *s, uint32_t edge, uint32_t *words)
{
	const struct conflict *c = CONFLICT(s, edge);
	words[0] = c->events[0];
	words[1] = c->events[1];
	words[2] = c->variable;
	words[3] = c->set;
}

static bool rotation_less(const uint32_t *words, guint n, guint a, guint b)
{
	for (guint i = 0; i < n; i++)
		for (guint k = 0; k < EDGE_WORDS; k++) {
			uint32_t x = words[(a + i) % n * EDGE_WORDS + k];
			uint32_t y = words[(b + i) % n * EDGE_WORDS + k];
			if (x != y)
				return x < y;
		}
	return false;
}

/* Owned by the caller. */
static uint32_t *cycle_key(struct cycles *s, const GArray *cycle, edge_words *fill)
{
	guint n = cycle->len, least = 0;
	g_array_set_size(s->words, n * EDGE_WORDS);
	uint32_t *words = (uint32_t *)(void *)s->words->data;
	for (guint i = 0; i < n; i++)
		fill(s, g_array_index(cycle, uint32_t, i), words + i * EDGE_WORDS);
	for (guint from = 1; from < n; from++)
		if (rotation_less(words, n, from, least))
			least = from;
	uint32_t *key = g_new(uint32_t, n * EDGE_WORDS + 1);
	*key = n * EDGE_WORDS;
	for (guint i = 0; i < *key; i++)
		key[i + 1] = words[(least * EDGE_WORDS + i) % *key];
	return key;
}

static uint32_t hash_words(const uint32_t *words, size_t count)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < count; i++)
		hash = hash_join(hash, words[i]);
	return hash_top(hash);
}

static guint hash_key(gconstpointer key)
{
	const uint32_t *words = key;
	return hash_words(words + 1, *words);
}

static gboolean equal_keys(gconstpointer a, gconstpointer b)
{
	const uint32_t *x = a;
	return memcmp(a, b, (*x + (size_t)1) * sizeof *x) == 0;
}

/* -- findings ----------------------------------------------------------------------------- */

static struct cycle_unit cycle_unit(struct cycles *s, uint32_t unit)
{
	const struct unit *u = UNIT(s, unit);
	struct cycle_unit out = { .thread = u->thread,
		                  .begin = u->begin,
		                  .end = u->end == NONE ? s->t->events_count - 1 : u->end };
	out.unit = u->name == NONE ? g_strdup_printf("event %u", u->begin)
	                           : g_strdup(trace_string(s->t, u->name));
	return out;
}

static guint set_index(struct cycles *s, struct finding *f, uint32_t set)
{
	const char *name = s->m->sets->pdata[set];
	for (guint i = 0; i < f->sets->len; i++)
		if (strcmp(f->sets->pdata[i], name) == 0)
			return i;
	g_ptr_array_add(f->sets, g_strdup(name));
	return f->sets->len - 1;
}

static void add_edge(struct cycles *s, struct finding *f, const struct conflict *c, guint i,
                     guint n)
{
	struct cycle_unit u = cycle_unit(s, c->from);
	struct cycle_edge e = { .from = i,
		                .to = (i + 1) % n,
		                .variable = c->variable,
		                .events = { c->events[0], c->events[1] },
		                .set = set_index(s, f, c->set) };
	g_array_append_val(f->units, u);
	g_array_append_val(f->edges, e);
	f->grade = MAX(f->grade, g_array_index(s->m->grades, char, c->set));
	if (f->first == NONE || c->events[0] < f->first) {
		f->first = c->events[0];
		f->second = c->events[1];
	}
}

/* Cycles are shown from the unit that began first. */
static guint first_unit(struct cycles *s, const GArray *cycle)
{
	guint first = 0;
	uint64_t least = UINT64_MAX;
	for (guint i = 0; i < cycle->len; i++) {
		const struct unit *u =
		        UNIT(s, CONFLICT(s, g_array_index(cycle, uint32_t, i))->from);
		uint64_t place = (uint64_t)u->begin << 32 | u->thread;
		if (place < least) {
			least = place;
			first = i;
		}
	}
	return first;
}

static struct finding *cycle_finding(struct cycles *s, const GArray *cycle)
{
	guint n = cycle->len, start = first_unit(s, cycle);
	struct finding *f = finding_new(FINDING_ATOMIC_SET_VIOLATION, NONE, NONE);
	f->verdict = VERDICT_HAPPENED;
	f->counted_all = true;
	f->count = 0;
	f->grade = 'A';
	f->sets = g_ptr_array_new_with_free_func(g_free);
	f->units = g_array_new(FALSE, FALSE, sizeof(struct cycle_unit));
	f->edges = g_array_new(FALSE, FALSE, sizeof(struct cycle_edge));
	for (guint i = 0; i < n; i++) {
		uint32_t edge = g_array_index(cycle, uint32_t, (start + i) % n);
		add_edge(s, f, CONFLICT(s, edge), i, n);
	}
	f->mixed = f->sets->len > 1;
	return f;
}

/* Is the cycle earlier than the finding of the same code? The choice must not depend on the
 * order of collection. */
static bool cycle_is_earlier(struct cycles *s, const GArray *cycle, const struct finding *f)
{
	guint n = cycle->len, start = first_unit(s, cycle);
	for (guint i = 0; i < n; i++) {
		const struct conflict *c =
		        CONFLICT(s, g_array_index(cycle, uint32_t, (start + i) % n));
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		for (int k = 0; k < 2; k++)
			if (c->events[k] != e->events[k])
				return c->events[k] < e->events[k];
	}
	return false;
}

static void count_cycle(struct cycles *s, const GArray *cycle)
{
	if (!g_hash_table_add(s->instances, cycle_key(s, cycle, access_words)))
		return;
	s->counted += cycle->len;
	gpointer code = cycle_key(s, cycle, code_words), old;
	if (g_hash_table_lookup_extended(s->findings, code, &old, NULL)) {
		g_free(code);
		code = old;
	} else {
		g_hash_table_add(s->codes, code);
		s->kept += cycle->len;
	}
	struct finding *f = g_hash_table_lookup(s->findings, code);
	if (f == NULL || cycle_is_earlier(s, cycle, f)) {
		struct finding *first = cycle_finding(s, cycle);
		first->count = f ? f->count : 0;
		if (f)
			finding_free(f);
		f = first;
		g_hash_table_insert(s->findings, code, f);
	}
	f->count++;
}

static int by_length(gconstpointer a, gconstpointer b)
{
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
	if (x->units->len != y->units->len)
		return x->units->len < y->units->len ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->second > y->second) - (x->second < y->second);
}

void cycles_report(struct cycles *s, uint64_t limit, struct report *report)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	GHashTableIter iter;
	gpointer f;
	g_hash_table_iter_init(&iter, s->findings);
	while (g_hash_table_iter_next(&iter, NULL, &f))
		g_ptr_array_add(all, f);
	g_hash_table_steal_all(s->findings);
	g_ptr_array_sort(all, by_length);
	for (guint i = 0; i < all->len; i++) {
		((struct finding *)all->pdata[i])->counted_all = !s->capped;
		if (limit && i >= limit)
			finding_free(all->pdata[i]);
		else
			report_add(report, all->pdata[i]);
	}
	if (s->late) {
		report_note(report,
		            "the time for cycles that happened was over (--budget gives "
		            "more): cycles may be missing");
		report_open(report, "the time for cycles was over");
		report->budget_spent = true;
	}
	if (s->cut) {
		report_note(report,
		            "not every edge of the conflict graph's largest component was "
		            "searched from: cycles may be missing");
		report_open(report, "the conflict graph's largest component is too large");
	}
	if (limit && all->len > limit) {
		report_note(report,
		            "%u distinct cycles; the %" G_GUINT64_FORMAT
		            " shortest are listed (--cycles)",
		            all->len, limit);
		report_open(report, "not all cycles are listed (--cycles)");
	}
}

/* -- graphs ------------------------------------------------------------------------------- */

static guint hash_edge_code(gconstpointer key)
{
	return hash_words(key, sizeof(struct edge_code) / sizeof(uint32_t));
}

static gboolean equal_edge_code(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct edge_code)) == 0;
}

/* The searches of the edge's code; NULL: a bound is reached. */
static struct code_searches *worth_searching(struct cycles *s, uint32_t edge)
{
	const struct conflict *c = CONFLICT(s, edge);
	const struct unit *from = UNIT(s, c->from), *to = UNIT(s, c->to);
	struct code_searches new = {
		.code = { .from = unit_code(s, from),
		          .to = unit_code(s, to),
		          .outside = (from->name == NONE) + 2u * (to->name == NONE),
		          .variable = trace_variable_code(s->t, c->variable),
		          .set = c->set }
	};
	struct code_searches *old = g_hash_table_lookup(s->searched, &new);
	if (old == NULL) {
		old = g_memdup2(&new, sizeof new);
		g_hash_table_add(s->searched, old);
	}
	uint32_t most = s->counted > MOST_COUNTED ? FEW_OF_ONE_CODE : EDGES_OF_ONE_CODE;
	bool cut = old->steps > STEPS_OF_ONE_CODE || s->kept > MOST_KEPT;
	s->cut |= cut;
	if (!cut && old->count < most)
		return old;
	s->capped = true;
	return NULL;
}

static void search_from(struct cycles *s, uint32_t edge, GArray *cycle)
{
	struct code_searches *of_code = s->late ? NULL : worth_searching(s, edge);
	if (of_code == NULL)
		return;
	s->late = s->deadline != 0 && effort_microseconds() > s->deadline;
	uint64_t before = s->steps;
	shortest_cycle(s, edge, cycle);
	of_code->count++;
	of_code->steps += s->steps - before;
	count_cycle(s, cycle);
	if ((s->round & 255) == 0)
		s->cancelled |= !progress_tick(s->progress, 1, "cycles");
}

/* Sets the graph and finds its components. `units` NULL: all units, which are returned (owned
 * by the caller). */
static uint32_t *graph_begin(struct cycles *s, const struct conflict_graph *g,
                             const uint32_t *units, uint32_t *count)
{
	guint n = g->units->len;
	uint32_t *all = NULL;
	s->g = g;
	if (n > s->marks_size) {
		s->marks = g_renew(struct unit_mark, s->marks, 2 * n);
		memset(s->marks + s->marks_size, 0, (2 * n - s->marks_size) * sizeof *s->marks);
		s->marks_size = 2 * n;
	}
	if (units == NULL) {
		all = g_new(uint32_t, n + 1);
		*count = 0;
		for (guint u = 0; u < n; u++)
			if (!UNIT(s, u)->dropped)
				all[(*count)++] = u;
	}
	find_components(s, units ? units : all, *count);
	return all;
}

void cycles_collect(struct cycles *s, const struct conflict_graph *g, const uint32_t *units,
                    uint32_t count)
{
	g_autofree uint32_t *all = graph_begin(s, g, units, &count);
	g_autoptr(GArray) cycle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t e = UNIT(s, units ? units[i] : all[i])->out; e != NONE;
		     e = CONFLICT(s, e)->next) {
			if (on_cycle(s, e) && !s->cancelled)
				search_from(s, e, cycle);
		}
}

uint32_t *cycles_components(struct cycles *s, const struct conflict_graph *g)
{
	uint32_t count;
	uint32_t *on = g_new(uint32_t, g->units->len + 1);
	memset(on, 0xff, g->units->len * sizeof *on);
	g_free(graph_begin(s, g, NULL, &count));
	for (guint e = 0; e < g->conflicts->len; e++) {
		const struct conflict *c = CONFLICT(s, e);
		if (c->from != NONE && on_cycle(s, e))
			on[c->from] = on[c->to] = s->marks[c->from].component;
	}
	return on;
}

static bool is_one_set(struct cycles *s, const GArray *cycle)
{
	uint32_t set = CONFLICT(s, g_array_index(cycle, uint32_t, 0))->set;
	for (guint i = 1; i < cycle->len; i++)
		if (CONFLICT(s, g_array_index(cycle, uint32_t, i))->set != set)
			return false;
	return true;
}

static bool begins_at(const struct unit *u, const uint32_t *begins, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (u->begin == begins[i])
			return true;
	return false;
}

/* Was a cycle of this code collected, or its code added? */
static bool cycles_has_code(const struct cycles *s, const uint32_t *code)
{
	return g_hash_table_contains(s->codes, code);
}

struct finding *cycles_find_new(struct cycles *s, const struct conflict_graph *g,
                                const struct cycles *known, const uint32_t *begins,
                                uint32_t begin_count, uint32_t **code)
{
	uint32_t count;
	g_free(graph_begin(s, g, NULL, &count));
	g_autoptr(GArray) cycle = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct finding *f = NULL;
	guint best = G_MAXUINT;
	*code = NULL;
	for (guint e = 0; e < g->conflicts->len; e++) {
		uint32_t from = CONFLICT(s, e)->from;
		if (from == NONE || !on_cycle(s, e) ||
		    !begins_at(UNIT(s, from), begins, begin_count))
			continue;
		shortest_cycle(s, e, cycle);
		guint cost = 2 * cycle->len + !is_one_set(s, cycle);
		uint32_t *now = cost < best ? cycle_key(s, cycle, code_words) : NULL;
		if (now == NULL || cycles_has_code(s, now) || cycles_has_code(known, now)) {
			g_free(now);
			continue;
		}
		g_free(*code);
		if (f)
			finding_free(f);
		f = cycle_finding(s, cycle);
		f->count = 1;
		*code = now;
		best = cost;
	}
	return f;
}

void cycles_add_code(struct cycles *s, uint32_t *code)
{
	g_hash_table_add(s->codes, code);
}

struct cycles *cycles_new(const struct trace *t, const struct atomic_model *m)
{
	struct cycles *s = g_new0(struct cycles, 1);
	s->t = t;
	s->m = m;
	s->instances = g_hash_table_new_full(hash_key, equal_keys, g_free, NULL);
	s->searched = g_hash_table_new_full(hash_edge_code, equal_edge_code, g_free, NULL);
	s->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->codes = g_hash_table_new_full(hash_key, equal_keys, g_free, NULL);
	s->findings = g_hash_table_new(hash_key, equal_keys);
	return s;
}

static void free_finding(gpointer code, gpointer finding, gpointer unused)
{
	finding_free(finding);
}

void cycles_free(struct cycles *s)
{
	if (s == NULL)
		return;
	g_hash_table_foreach(s->findings, free_finding, NULL);
	g_hash_table_destroy(s->findings);
	g_hash_table_destroy(s->instances);
	g_hash_table_destroy(s->searched);
	g_hash_table_destroy(s->codes);
	g_array_free(s->stack, TRUE);
	g_array_free(s->path, TRUE);
	g_array_free(s->queue, TRUE);
	g_array_free(s->words, TRUE);
	g_free(s->marks);
	g_free(s);
}

/* -- the analysis ------------------------------------------------------------------------- */

static void collect_component(void *context, const struct conflict_graph *g,
                              const uint32_t *units, uint32_t count)
{
	cycles_collect(context, g, units, count);
}

struct cycles *atomic_happened(const struct trace *t, const struct atomic_model *m,
                               bool post_mortem, double seconds, struct conflict_counts *counts,
                               const struct progress *progress)
{
	struct cycles *c = cycles_new(t, m);
	c->progress = progress;
	c->deadline = effort_deadline(seconds);
	struct graph_options options = { .settle = post_mortem ? NULL : collect_component,
		                         .context = c,
		                         .progress = progress,
		                         .deadline = c->deadline };
	struct conflict_graph *g = conflict_graph_new(t, m, &options);
	if (g == NULL) {
		cycles_free(c);
		return NULL;
	}
	c->late |= g->cut;
	cycles_collect(c, g, NULL, 0);
	*counts = g->counts;
	conflict_graph_free(g);
	if (!c->cancelled)
		return c;
	cycles_free(c);
	return NULL;
}
