/* mined.c - see mined.h. */
#include "engine/base/arrays.h"
#include "engine/base/search.h"
#include "engine/atomic/mined.h"
#include "engine/trace/own_code.h"

enum { NEIGHBOURS = 6, TRIED = 64, MOST_SECTIONS = 200000, INSTANCES = 4 };

struct touch { /* accesses of a variable in a section */
	uint32_t variable;
	uint32_t read, write; /* the first of each kind in it, or NONE */
};

struct section {
	struct mined_section at;
	uint32_t first, count; /* a run of touches */
	uint32_t code; /* the user's place of its acquire; where a wait ends before it, that of
	                * the section in which the wait began: it is the rest of that one */
	bool waits;    /* a wait for a condition lies in it */
	const uint32_t *past; /* at its beginning: see struct mining */
};

struct mining {
	const struct trace *t;
	GArray *sections;    /* struct section, by their ends */
	GArray *touches;     /* struct touch */
	GArray **by_thread;  /* uint32_t: sections */
	GHashTable *writers; /* variable -> GArray of uint32_t: sections that write it */
	GHashTable *readers; /* the same, that read it */
	GHashTable *by_code; /* the same sections, by `code` */
	/* by thread u: events of u with smaller ids are over, by starting and joining threads;
	 * each thread's now, all threads' so far */
	const uint32_t **past;
	GPtrArray *pasts;
	GHashTable *best; /* code and A (owned) -> index in found + 1 */
	GArray *found;    /* struct mined */
	/* by place of an atomic access (location and stack, gint64, owned): 1: the program's,
	 * 2: the standard library's own */
	GHashTable *owners;
};

/* -- sections ------------------------------------------------------------------------------ */

struct lane {
	uint32_t depth;
	struct section now;
	GArray *touches; /* struct touch */
};

static void note_touch(struct lane *l, uint32_t variable, uint32_t event, bool reads,
                       bool writes)
{
	struct touch *x = NULL;

	for (guint i = 0; i < l->touches->len && x == NULL; i++) {
		struct touch *known = &g_array_index(l->touches, struct touch, i);

		if (known->variable == variable)
			x = known;
	}
	if (x == NULL) {
		struct touch new = { variable, NONE, NONE };

		g_array_append_val(l->touches, new);
		x = &g_array_index(l->touches, struct touch, l->touches->len - 1);
	}
	/* a read of the section's own write takes no value from another thread */
	if (reads && x->read == NONE && x->write == NONE)
		x->read = event;
	if (writes && x->write == NONE)
		x->write = event;
}

static void list_touch(GHashTable *lists, uint32_t variable, uint32_t section)
{
	GArray *list = g_hash_table_lookup(lists, GUINT_TO_POINTER(variable));

	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(lists, GUINT_TO_POINTER(variable), list);
	}
	g_array_append_val(list, section);
}

static uint32_t code_of_section(const struct mining *m, uint32_t begin)
{
	const struct event *e = &m->t->events[begin];
	uint32_t before = trace_previous(m->t, begin);
	const GArray *mine = m->by_thread[e->thread];

	if (before != NONE && m->t->events[before].op == OP_WAKE && mine->len > 0) {
		const struct section *last =
		        &g_array_index(m->sections, struct section,
		                       g_array_index(mine, uint32_t, mine->len - 1));
		if (last->waits && m->t->events[last->at.begin].target == e->target)
			return last->code;
	}
	return own_code_place(m->t, begin).location;
}

static struct section section_begun(const struct mining *m, uint32_t event)
{
	uint32_t thread = m->t->events[event].thread;

	return (struct section){ .at = { thread, event, NONE }, .past = m->past[thread] };
}

static void end_section(struct mining *m, struct lane *l, uint32_t event)
{
	uint32_t number = m->sections->len;

	l->now.code = code_of_section(m, l->now.at.begin);
	l->now.at.end = event;
	l->now.first = m->touches->len;
	l->now.count = l->touches->len;
	g_array_append_vals(m->touches, l->touches->data, l->touches->len);
	g_array_append_val(m->sections, l->now);
	g_array_append_val(m->by_thread[l->now.at.thread], number);
	list_touch(m->by_code, l->now.code, number);
	for (guint i = 0; i < l->touches->len; i++) {
		const struct touch *x = &g_array_index(l->touches, struct touch, i);

		if (x->write != NONE)
			list_touch(m->writers, x->variable, number);
		if (x->read != NONE)
			list_touch(m->readers, x->variable, number);
	}
	g_array_set_size(l->touches, 0);
}

/* Is it a function of std::atomic or its kin, which a program calls for its own atomics? */
static bool is_atomics(const char *function)
{
	return g_str_has_prefix(function, "std::atomic") ||
	       g_str_has_prefix(function, "std::__atomic") ||
	       g_str_has_prefix(function, "std::operator");
}

/* Is it an atomic access that the standard library makes for itself, as of shared_ptr's count?
 * A program has no unit of work of that. */
static bool is_library_atomic(const struct mining *m, uint32_t event)
{
	const struct trace *t = m->t;
	uint32_t stack = t->stacks_count ? trace_stack(t, event) : 0;
	gint64 key = (gint64)t->events[event].location << 32 | stack;
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(m->owners, &key));

	if (known == 0) {
		g_autoptr(GArray) frames = trace_frames(t, event, stack);

		known = 1;
		for (guint i = 0; i < frames->len; i++) {
			const struct frame *f = &g_array_index(frames, struct frame, i);

			if (own_code_has(t, f))
				break;
			if (!is_atomics(trace_string(t, f->function)))
				known = 2;
		}
		gint64 *kept = g_new(gint64, 1);
		*kept = key;
		g_hash_table_insert(m->owners, kept, GUINT_TO_POINTER(known));
	}
	return known == 2;
}

/* Thread `to` goes on behind event `end` of thread `from`. */
static void join_past(struct mining *m, uint32_t to, uint32_t from, uint32_t end)
{
	uint32_t count = m->t->threads_count, *joined = g_new(uint32_t, count + 1);

	for (uint32_t u = 0; u < count; u++)
		joined[u] = MAX(m->past[to][u], m->past[from][u]);
	joined[from] = MAX(joined[from], end + 1);
	m->past[to] = joined;
	g_ptr_array_add(m->pasts, joined);
}

static void note_event(struct mining *m, struct lane *l, uint32_t event)
{
	const struct event *e = &m->t->events[event];

	if (e->op == OP_FORK)
		join_past(m, e->target, e->thread, event);
	else if (e->op == OP_JOIN)
		join_past(m, e->thread, e->target, event);
	if (event_inert(e))
		return;
	if (op_acquires(e->op)) {
		if (l->depth++ == 0)
			l->now = section_begun(m, event);
	} else if (op_releases(e->op)) {
		if (l->depth > 0 && --l->depth == 0)
			end_section(m, l, event);
	} else if (l->depth > 0 && e->op == OP_WAIT) {
		l->now.waits = true;
	} else if (op_is_access(e->op) && (l->depth > 0 || op_is_atomic(e->op))) {
		struct wide run = event_variables(m->t, e);

		if (l->depth == 0 && is_library_atomic(m, event))
			return;
		for (uint32_t v = run.first; v < run.first + MIN(run.count, 16); v++)
			note_touch(l, v, event, op_reads(e->op), op_writes(e->op));
		if (l->depth == 0) { /* an atomic access by itself */
			l->now = section_begun(m, event);
			end_section(m, l, event);
		}
	}
}

static void find_sections(struct mining *m)
{
	g_autofree struct lane *lanes = g_new0(struct lane, m->t->threads_count + 1);

	for (uint32_t u = 0; u < m->t->threads_count; u++)
		lanes[u].touches = g_array_new(FALSE, FALSE, sizeof(struct touch));
	for (uint32_t e = 0; e < m->t->events_count && m->sections->len < MOST_SECTIONS; e++)
		note_event(m, &lanes[m->t->events[e].thread], e);
	for (uint32_t u = 0; u < m->t->threads_count; u++)
		g_array_unref(lanes[u].touches);
}

/* -- pairs --------------------------------------------------------------------------------- */

static const struct section *section_at(const struct mining *m, uint32_t i)
{
	return &g_array_index(m->sections, struct section, i);
}

/* May the other section come between the two in some run? */
static bool may_be_between(const struct section *a, const struct section *b,
                           const struct section *other)
{
	return a->past[other->at.thread] <= other->at.begin &&
	       other->past[b->at.thread] <= b->at.begin;
}

static const struct touch *touch_of(const struct mining *m, const struct section *s,
                                    uint32_t variable)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		const struct touch *x = &g_array_index(m->touches, struct touch, i);

		if (x->variable == variable)
			return x;
	}
	return NULL;
}

static uint64_t distance(const struct mined *x)
{
	uint32_t low = MIN(x->a.begin, x->other.begin), high = MAX(x->b.end, x->other.end);

	return high - low;
}

/* The outermost frame of the program's own files: libraries may have started the thread;
 * without one the outermost frame. */
static guint outermost_own(const struct trace *t, const GArray *frames)
{
	for (guint i = frames->len; i-- > 0;)
		if (own_code_has(t, &g_array_index(frames, struct frame, i)))
			return i;
	return frames->len - 1;
}

/* The function of a unit of work, as far as the stack shows: the one called by the thread's
 * outermost function, inlined or not. */
static uint32_t unit_function(const struct mining *m, uint32_t event)
{
	const struct trace *t = m->t;
	g_autoptr(GArray) frames =
	        trace_frames(t, event, t->stacks_count ? trace_stack(t, event) : 0);
	guint i;

	if (frames->len == 0)
		return 0;
	i = outermost_own(t, frames);
	return g_array_index(frames, struct frame, i > 0 ? i - 1 : 0).function;
}

static uint64_t code_of(const struct mining *m, uint32_t event)
{
	const struct location *l = &m->t->locations[m->t->events[event].location];

	return l->address != 0 ? l->address : l->line;
}

/* The section with the neighbouring sections of the same unit of work: of the same function,
 * one behind the other in the code, not split by a wait. */
static struct mined_section unit_around(const struct mining *m, const struct mined_section *s)
{
	const GArray *mine = m->by_thread[s->thread];
	struct mined_section unit = *s;
	uint32_t function = unit_function(m, s->begin);
	guint at = 0;

	while (at < mine->len &&
	       section_at(m, g_array_index(mine, uint32_t, at))->at.begin != s->begin)
		at++;
	for (guint i = at; i-- > 0;) {
		const struct section *x = section_at(m, g_array_index(mine, uint32_t, i));

		if (x->waits || code_of(m, x->at.begin) >= code_of(m, unit.begin) ||
		    unit_function(m, x->at.begin) != function)
			break;
		unit.begin = x->at.begin;
	}
	for (guint i = at; i + 1 < mine->len; i++) {
		const struct section *x = section_at(m, g_array_index(mine, uint32_t, i)),
		                     *y = section_at(m, g_array_index(mine, uint32_t, i + 1));

		if (x->waits || code_of(m, y->at.begin) <= code_of(m, x->at.begin) ||
		    unit_function(m, y->at.begin) != function)
			break;
		unit.end = y->at.end;
	}
	return unit;
}

/* Keeps one pair for each instance of A: the one with the nearest section of another thread. */
static void keep(struct mining *m, struct mined *x)
{
	char *code = g_strdup_printf("%s %d %u %u %u", x->rule, x->done, x->a.begin,
	                             x->codes[1], x->codes[2]);
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(m->best, code));

	x->happened = x->other.begin > x->a.end && x->other.end < x->b.begin;
	if (known == 0) {
		g_array_append_val(m->found, *x);
		g_hash_table_insert(m->best, code, GUINT_TO_POINTER(m->found->len));
		return;
	}
	if (distance(x) < distance(&g_array_index(m->found, struct mined, known - 1)))
		g_array_index(m->found, struct mined, known - 1) = *x;
	g_free(code);
}

/* Two sections of one thread that seem meant as one, and what of the finding is known. */
struct meant {
	const struct section *a, *b;
	uint32_t index; /* of `a` among the sections */
	struct mined like;
};

/* Try the sections of other threads in a list that are nearest to A: from its place in both
 * directions. */
static void each_near(struct mining *m, const GArray *list, const struct meant *p,
                      void (*try)(struct mining *, const struct meant *,
                                  const struct section *))
{
	guint tried = 0, count = list ? list->len : 0;
	/* the first section that ends after it */
	guint low = search_end(i, 0u, count, g_array_index(list, uint32_t, i) < p->index);

	for (guint k = 0; list && k < list->len && tried < TRIED; k++) {
		guint up = low + k, down = low - k - 1;

		for (int side = 0; side < 2; side++) {
			guint i = side ? down : up;
			const struct section *r;

			if (i >= list->len)
				continue;
			tried++;
			r = section_at(m, g_array_index(list, uint32_t, i));
			if (r->at.thread != p->a->at.thread && may_be_between(p->a, p->b, r))
				try(m, p, r);
		}
	}
}

/* What is known of the finding, with the section of another thread in it. */
static struct mined with_other(const struct meant *p, const struct section *r)
{
	const struct section *sections[] = { p->a, p->b, r };
	struct mined x = p->like;
	x.a = p->a->at;
	x.b = p->b->at;
	x.other = r->at;
	for (int i = 0; i < 3; i++)
		x.codes[i] = sections[i]->code;
	return x;
}

static void try_one(struct mining *m, const struct meant *p, const struct section *r)
{
	struct mined x = with_other(p, r);
	x.events[1] = x.events[2] = touch_of(m, r, x.variables[0])->write;
	if (!x.done || (r->at.begin > x.a.end && r->at.end < x.b.begin))
		keep(m, &x);
}

static void try_both(struct mining *m, const struct meant *p, const struct section *r)
{
	struct mined x = with_other(p, r);
	const struct touch *s = touch_of(m, r, x.variables[0]),
	                   *t = touch_of(m, r, x.variables[1]);

	if (s == NULL || t == NULL || s->read == NONE || t->read == NONE || s->write != NONE ||
	    t->write != NONE)
		return;
	x.events[1] = s->read;
	x.events[2] = t->read;
	keep(m, &x);
}

/* Another thread's check of the same code, after the act: the finding assumes it before the
 * act. */
static void try_check(struct mining *m, const struct meant *p, const struct section *r)
{
	struct mined x = with_other(p, r);
	const struct touch *t = touch_of(m, r, x.variables[0]);

	if (t == NULL || t->read == NONE || t->write != NONE || r->at.begin < x.b.end)
		return;
	x.events[1] = x.events[2] = t->read;
	x.unrecorded = true;
	keep(m, &x);
}

static bool writes_any(const struct mining *m, const struct section *s)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (g_array_index(m->touches, struct touch, i).write != NONE)
			return true;
	return false;
}

/* Two sections of one thread, and the variables that both touch. */
static void pair_common(struct mining *m, uint32_t i, const struct section *a,
                        const struct section *b)
{
	for (uint32_t k = a->first; k < a->first + a->count; k++) {
		const struct touch *x = &g_array_index(m->touches, struct touch, k);
		const struct touch *y = touch_of(m, b, x->variable);
		struct meant p = { .a = a, .b = b, .index = i };
		struct mined *like = &p.like;

		like->variables[0] = like->variables[1] = x->variable;
		if (y == NULL)
			continue;
		if (x->read != NONE && x->write == NONE && y->write != NONE) {
			like->rule = "check then act";
			like->events[0] = x->read;
			like->events[3] = y->write;
			each_near(m, g_hash_table_lookup(m->by_code, GUINT_TO_POINTER(a->code)),
			          &p, try_check);
		} else if (x->write != NONE && y->read != NONE && y->write == NONE) {
			like->rule = "read back";
			like->events[0] = x->write;
			like->events[3] = y->read;
		} else if (x->read != NONE && x->write == NONE && writes_any(m, b)) {
			like->rule = "check then act";
			like->done = true;
			like->events[0] = x->read;
			like->events[3] = y->read;
		} else {
			continue;
		}
		each_near(m, g_hash_table_lookup(m->writers, GUINT_TO_POINTER(x->variable)), &p,
		          try_one);
	}
}

static bool is_own(const struct mining *m, const struct section *s, uint32_t variable)
{
	return touch_of(m, s, variable) == NULL;
}

static void pair_halves(struct mining *m, uint32_t i, const struct section *a,
                        const struct section *b)
{
	for (uint32_t k = a->first; k < a->first + a->count; k++)
		for (uint32_t l = b->first; l < b->first + b->count; l++) {
			const struct touch *x = &g_array_index(m->touches, struct touch, k),
			                   *y = &g_array_index(m->touches, struct touch, l);
			struct meant p = { .a = a,
				           .b = b,
				           .index = i,
				           .like = { .rule = "halves",
				                     .variables = { x->variable, y->variable },
				                     .events = { x->write, NONE, NONE,
				                                 y->write } } };

			if (x->write != NONE && y->write != NONE && is_own(m, a, y->variable) &&
			    is_own(m, b, x->variable))
				each_near(m,
				          g_hash_table_lookup(m->readers,
				                              GUINT_TO_POINTER(x->variable)),
				          &p, try_both);
		}
}

/* Is no wait between the two sections, and no section that touches a variable of A? */
static bool may_be_one(const struct mining *m, const GArray *mine, guint i, guint j)
{
	const struct section *a = section_at(m, g_array_index(mine, uint32_t, i));

	for (guint k = i; k < j; k++) {
		const struct section *s = section_at(m, g_array_index(mine, uint32_t, k));

		if (s->waits)
			return false;
		for (uint32_t x = a->first; k > i && x < a->first + a->count; x++)
			if (touch_of(m, s, g_array_index(m->touches, struct touch, x).variable))
				return false;
	}
	return true;
}

static void find_pairs(struct mining *m, const GArray *mine)
{
	for (guint i = 0; i < mine->len; i++)
		for (guint j = i + 1; j < mine->len && j <= i + NEIGHBOURS; j++) {
			uint32_t number = g_array_index(mine, uint32_t, i);
			const struct section *a = section_at(m, number),
			                     *b = section_at(m,
			                                     g_array_index(mine, uint32_t, j));

			if (!may_be_one(m, mine, i, j))
				break;
			/* the same code again is the next round of a loop */
			if (a->code == b->code)
				continue;
			pair_common(m, number, a, b);
			pair_halves(m, number, a, b);
		}
}

static gint by_begin(gconstpointer a, gconstpointer b)
{
	uint32_t x = ((const struct mined *)a)->a.begin, y = ((const struct mined *)b)->a.begin;

	return x < y ? -1 : x > y;
}

static uint64_t code_hash(const struct mined *x)
{
	uint64_t hash = g_str_hash(x->rule) + x->done;

	for (int i = 0; i < 3; i++)
		hash = hash * 1000003 + x->codes[i];
	return hash;
}

/* Keep INSTANCES of each code, spread from its first to its last: a value that has nearly run
 * out may matter. */
static void choose(struct mining *m)
{
	g_autoptr(GHashTable) counts =
	        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_autoptr(GHashTable) seen =
	        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	guint kept = 0;

	g_array_sort(m->found, by_begin);
	for (guint i = 0; i < m->found->len; i++) {
		gint64 code = (gint64)code_hash(&g_array_index(m->found, struct mined, i));
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, &code));

		g_hash_table_replace(counts, g_memdup2(&code, sizeof code),
		                     GUINT_TO_POINTER(n + 1));
	}
	for (guint i = 0; i < m->found->len; i++) {
		struct mined *x = &g_array_index(m->found, struct mined, i);
		gint64 code = (gint64)code_hash(x);
		guint all = GPOINTER_TO_UINT(g_hash_table_lookup(counts, &code));
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(seen, &code));
		bool chosen = all <= INSTANCES;

		for (guint k = 0; k < INSTANCES && !chosen; k++)
			chosen = n == k * (all - 1) / (INSTANCES - 1);
		g_hash_table_replace(seen, g_memdup2(&code, sizeof code),
		                     GUINT_TO_POINTER(n + 1));
		if (chosen)
			g_array_index(m->found, struct mined, kept++) = *x;
	}
	g_array_set_size(m->found, kept);
}

/* Extend the sections to their whole units of work, so that a serial run keeps these whole. */
static void widen(struct mining *m)
{
	for (guint i = 0; i < m->found->len; i++) {
		struct mined *x = &g_array_index(m->found, struct mined, i);

		x->other = unit_around(m, &x->other);
		x->begin = unit_around(m, &x->a).begin;
		x->end = unit_around(m, &x->b).end;
	}
}

static void free_list(gpointer list)
{
	g_array_unref(list);
}

GArray *mined_find(const struct trace *t, uint32_t limit, bool *cut)
{
	g_autofree uint32_t *none = g_new0(uint32_t, t->threads_count + 1);
	struct mining m = {
		.t = t,
		.sections = g_array_new(FALSE, FALSE, sizeof(struct section)),
		.touches = g_array_new(FALSE, FALSE, sizeof(struct touch)),
		.by_thread = arrays_new(t->threads_count, sizeof(uint32_t)),
		.writers = g_hash_table_new_full(NULL, NULL, NULL, free_list),
		.readers = g_hash_table_new_full(NULL, NULL, NULL, free_list),
		.by_code = g_hash_table_new_full(NULL, NULL, NULL, free_list),
		.past = g_new0(const uint32_t *, t->threads_count + 1),
		.pasts = g_ptr_array_new_with_free_func(g_free),
		.owners = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.best = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.found = g_array_new(FALSE, FALSE, sizeof(struct mined))
	};
	for (uint32_t u = 0; u < t->threads_count; u++)
		m.past[u] = none;
	find_sections(&m);
	for (uint32_t u = 0; u < t->threads_count; u++)
		find_pairs(&m, m.by_thread[u]);
	choose(&m);
	widen(&m);
	*cut = m.found->len > limit || m.sections->len >= MOST_SECTIONS;
	if (m.found->len > limit)
		g_array_set_size(m.found, limit);
	arrays_free(m.by_thread, t->threads_count);
	g_hash_table_destroy(m.writers);
	g_hash_table_destroy(m.readers);
	g_hash_table_destroy(m.by_code);
	g_hash_table_destroy(m.owners);
	g_hash_table_destroy(m.best);
	g_ptr_array_unref(m.pasts);
	g_free(m.past);
	g_array_unref(m.sections);
	g_array_unref(m.touches);
	return m.found;
}

/* -- from a cycle ----------------------------------------------------------------------------
 */

/* The last event of the thread, behind `from` and not behind `to`, at which it holds no lock;
 * NONE where it holds one all along. */
static uint32_t free_between(const struct trace *t, uint32_t from, uint32_t to)
{
	struct event_list mine = trace_thread_events(t, t->events[from].thread);
	uint32_t depth = 0, found = NONE;

	for (uint64_t i = 0; i < mine.count && mine.items[i] <= to; i++) {
		const struct event *e = &t->events[mine.items[i]];

		if (depth == 0 && mine.items[i] > from)
			found = mine.items[i];
		if (event_inert(e))
			continue;
		if (op_acquires(e->op))
			depth++;
		else if (op_releases(e->op) && depth > 0)
			depth--;
	}
	return found;
}

bool mined_of_cycle(const struct trace *t, const struct finding *f, struct mined *m)
{
	const struct cycle_unit *units = (const void *)f->units->data;
	const struct cycle_edge *edges = (const void *)(f->edges ? f->edges->data : NULL);
	uint32_t from, to;

	if (f->units->len != 2 || edges == NULL || f->edges->len != 2 ||
	    units[0].thread == units[1].thread || units[0].end == NONE || units[1].end == NONE)
		return false;
	from = edges[0].events[edges[0].from == 0 ? 0 : 1];
	to = edges[1].events[edges[1].to == 0 ? 1 : 0];
	if (t->events[from].thread != units[0].thread ||
	    t->events[to].thread != units[0].thread || from >= to)
		return false;
	*m = (struct mined){ .rule = "cycle",
		             .a = { units[0].thread, units[0].begin, from },
		             .b = { units[0].thread, free_between(t, from, to), units[0].end },
		             .begin = units[0].begin,
		             .end = units[0].end,
		             .other = { units[1].thread, units[1].begin, units[1].end } };
	return m->b.begin != NONE;
}

/* -- as a finding -------------------------------------------------------------------------- */

/* The innermost call, inlined ones too, that both events lie in: from the outermost on, as far
 * as the functions and the places of their calls are the same. */
static char *common_function(const struct trace *t, uint32_t a, uint32_t b)
{
	g_autoptr(GArray) x = trace_frames(t, a, t->stacks_count ? trace_stack(t, a) : 0);
	g_autoptr(GArray) y = trace_frames(t, b, t->stacks_count ? trace_stack(t, b) : 0);
	const char *name = NULL;

	for (guint i = x->len, k = y->len; i-- > 0 && k-- > 0;) {
		const struct frame *one = &g_array_index(x, struct frame, i),
		                   *two = &g_array_index(y, struct frame, k);

		if (one->function != two->function)
			break;
		name = trace_string(t, one->function);
		if (one->location != two->location)
			break;
	}
	return g_strdup(name && *name ? name : trace_site_name(t, a));
}

static void add_unit(const struct trace *t, struct finding *f, uint32_t begin, uint32_t end)
{
	struct cycle_unit u = { .unit = common_function(t, begin, end),
		                .thread = t->events[begin].thread,
		                .begin = begin,
		                .end = end };

	g_array_append_val(f->units, u);
}

struct finding *mined_finding(const struct trace *t, const struct mined *m)
{
	struct finding *f =
	        finding_new(FINDING_ATOMIC_SET_VIOLATION, m->events[0], m->events[1]);
	struct cycle_edge edges[2] = {
		{ .from = 0,
		  .to = 1,
		  .variable = m->variables[0],
		  .events = { m->events[0], m->events[1] } },
		{ .from = 1,
		  .to = 0,
		  .variable = m->variables[1],
		  .events = { m->events[2], m->events[3] } },
	};

	f->verdict = m->happened ? VERDICT_HAPPENED : VERDICT_RACE;
	f->note = m->rule;
	f->by = "mined";
	f->grade = 'C';
	f->counted_all = true;
	f->sets = g_ptr_array_new_with_free_func(g_free);
	f->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_vals(f->variables, m->variables,
	                    m->variables[0] == m->variables[1] ? 1 : 2);
	for (guint i = 0; i < f->variables->len; i++)
		g_ptr_array_add(f->sets, g_strdup(trace_variable_name(
		                                 t, g_array_index(f->variables, uint32_t, i))));
	f->mixed = f->sets->len > 1;
	f->units = g_array_new(FALSE, FALSE, sizeof(struct cycle_unit));
	f->edges = g_array_new(FALSE, FALSE, sizeof(struct cycle_edge));
	add_unit(t, f, m->begin, m->end);
	add_unit(t, f, m->other.begin, m->other.end);
	g_array_append_vals(f->edges, edges, 2);
	return f;
}

/* Does a finding of the report begin and end with the same accesses? */
static bool is_reported(const struct report *r, const struct mined *m)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const struct cycle_edge *edges =
		        (const void *)(f->edges ? f->edges->data : NULL);

		if (edges != NULL && f->edges->len == 2 && edges[0].events[0] == m->events[0] &&
		    edges[1].events[1] == m->events[3])
			return true;
	}
	return false;
}

void mined_report(struct trace *t, struct report *r)
{
	enum { MOST = 1000 };
	g_autoptr(GHashTable) codes =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	bool cut = false;

	if (!trace_need(t, INDEX_VARIABLES | INDEX_THREADS, NULL))
		return;
	g_autoptr(GArray) found = mined_find(t, MOST, &cut);
	for (guint i = 0; i < found->len; i++) {
		const struct mined *m = &g_array_index(found, struct mined, i);

		if (m->done || is_reported(r, m))
			continue;
		char *code = g_strdup_printf("%s %s %s", m->rule,
		                             trace_location_name(t, m->events[0]),
		                             trace_location_name(t, m->events[3]));

		/* the table takes the text, also one that it has */
		if (!g_hash_table_add(codes, code))
			continue;
		struct finding *f = mined_finding(t, m);
		f->verdict = VERDICT_CANDIDATE;
		report_add(r, f);
	}
	if (g_hash_table_size(codes) > 0)
		report_note(r,
		            "what candidates do when another comes between is not known from a "
		            "trace: heddle check runs them on the program");
	if (cut)
		report_note(r, "only the first %d candidates were looked at", MOST);
}
