/*
 * infer.c - atomic sets and units of work when nobody has declared any: Marathon's
 * heuristics (section 4.1) carried over from classes to C, as docs/atomicity.md says.
 *
 * Three passes over the events: which variables are shared and under which locks; from
 * that the sets; then which activations of which functions are units on which of them.
 */
#include "debuginfo/debuginfo.h"
#include "engine/atomic/model.h"
#include "engine/atomic/places.h"
#include "engine/finding.h"

#include <string.h>

#define HELD_MOST 16 /* locks looked at of those that a thread holds */

struct function { /* of the recorded program, by string id of its name */
	GPtrArray
	        *types; /* char *: pointee types of its parameters, without "struct"; or NULL */
	bool never;     /* main, a start routine, creates or joins threads */
	bool known;
};

struct held {
	uint32_t acquire, object;
	uint32_t activation; /* serial of the activation that last touched a global under it */
	uint32_t global;     /* and that global's variable, or NONE */
};

struct bound { /* the first instance of a parameter's type that an activation touched */
	const char *type, *instance;
};

struct cover { /* the critical sections that hold all accesses of an activation to a set */
	uint32_t set;
	uint32_t acquires[4];
	uint32_t count;
};

struct open_call { /* an open activation */
	uint32_t event, function, serial;
	GArray *bounds;       /* struct bound, or NULL */
	GArray *covers;       /* struct cover, or NULL */
	GHashTable *cover_of; /* set -> index in covers + 1 */
};

struct lane {
	GArray *frames; /* struct open_call */
	GArray *held;   /* struct held */
	bool started;
};

struct shared {                    /* by variable */
	uint32_t thread;           /* the first to touch it */
	uint32_t since;            /* the second thread's first access; NONE: not shared */
	uint32_t lock, lock_count; /* held at most accesses */
	uint32_t joined;           /* union-find over scalar globals */
	bool excluded;             /* atomic or volatile */
};

struct inference {
	struct trace *t;
	struct atomic_model *m;
	struct atomic_places *places;
	struct shared *shared;
	struct function *functions; /* by string id */
	struct lane *lanes;         /* by thread */
	GHashTable *lock_counts;    /* variable << 32 | lock -> count */
	GArray **sets;              /* by event: what it opens */
	GHashTable *opened;         /* event << 32 | set: in `sets` already */
	GHashTable *block_lines;    /* lines of the atomics block: text, in order */
	GString *block;
	uint32_t serial;
	bool debug;
};

struct habit { /* of one function on sets of one kind */
	uint32_t covered, total;
};

struct atomic_habits {
	GHashTable *by_code; /* "function:kind" -> struct habit *, owned */
	GHashTable
	        *uncovered; /* set of "event:set": activations under no one critical section */
	GPtrArray *kinds;   /* by set: char *, owned */
};

void atomic_habits_free(struct atomic_habits *h)
{
	if (h == NULL)
		return;
	g_hash_table_unref(h->by_code);
	g_hash_table_unref(h->uncovered);
	g_ptr_array_unref(h->kinds);
	g_free(h);
}

/* Two ids as one key; GLib's own hash looks at the low half of a pointer alone. */
static gpointer pair_key(uint32_t a, uint32_t b)
{
	return GSIZE_TO_POINTER((uint64_t)a << 32 | b);
}

static guint pair_hash(gconstpointer key)
{
	return (guint)(GPOINTER_TO_SIZE(key) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* -- walking ------------------------------------------------------------------------------ */

static struct open_call *top_frame(struct lane *l)
{
	return l->frames->len ? &g_array_index(l->frames, struct open_call, l->frames->len - 1)
	                      : NULL;
}

static void push_frame(struct inference *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	struct open_call f = { .event = event, .function = e->target, .serial = ++k->serial };
	g_array_append_val(k->lanes[e->thread].frames, f);
}

static void pop_frame(struct inference *k, uint32_t thread)
{
	struct lane *l = &k->lanes[thread];
	struct open_call *f = top_frame(l);
	if (f == NULL)
		return;
	if (f->bounds)
		g_array_free(f->bounds, TRUE);
	if (f->covers) {
		g_array_free(f->covers, TRUE);
		g_hash_table_unref(f->cover_of);
	}
	g_array_set_size(l->frames, l->frames->len - 1);
}

static void note_lock(struct inference *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	GArray *held = k->lanes[e->thread].held;
	if (op_acquires(e->op)) {
		struct held h = { event, e->target, 0, NONE };
		g_array_append_val(held, h);
		return;
	}
	for (guint i = held->len; i-- > 0;)
		if (g_array_index(held, struct held, i).object == e->target) {
			g_array_remove_index(held, i);
			return;
		}
}

static void walk_begin(struct inference *k)
{
	for (uint64_t i = 0; i < k->t->threads_count; i++) {
		k->lanes[i].frames = g_array_new(FALSE, FALSE, sizeof(struct open_call));
		k->lanes[i].held = g_array_new(FALSE, FALSE, sizeof(struct held));
		k->lanes[i].started = false;
	}
}

static void walk_end(struct inference *k)
{
	for (uint32_t i = 0; i < k->t->threads_count; i++) {
		while (k->lanes[i].frames->len)
			pop_frame(k, i);
		g_array_free(k->lanes[i].frames, TRUE);
		g_array_free(k->lanes[i].held, TRUE);
	}
}

/* One pass: `access` sees every access of the trace with frames and locks as they are. */
static void walk(struct inference *k, void (*access)(struct inference *, uint32_t),
                 void (*leave)(struct inference *, uint32_t thread),
                 void (*other)(struct inference *, uint32_t))
{
	walk_begin(k);
	for (uint32_t i = 0; i < k->t->events_count; i++) {
		const struct event *e = &k->t->events[i];
		if (event_inert(e))
			continue;
		if (op_is_access(e->op)) {
			access(k, i);
		} else if (e->op == OP_ENTER) {
			if (other)
				other(k, i);
			push_frame(k, i);
		} else if (e->op == OP_LEAVE) {
			if (leave)
				leave(k, e->thread);
			pop_frame(k, e->thread);
		} else if (op_acquires(e->op) || op_releases(e->op)) {
			note_lock(k, i);
		} else if (other) {
			other(k, i);
		}
	}
	for (uint32_t i = 0; leave && i < k->t->threads_count; i++)
		for (; k->lanes[i].frames->len; pop_frame(k, i))
			leave(k, i);
	walk_end(k);
}

/* -- pass 1: who shares what -----------------------------------------------------------------
 */

static void note_sharing(struct inference *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	struct wide run = event_variables(k->t, e);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		struct shared *s = &k->shared[v];
		if (s->thread == NONE)
			s->thread = e->thread;
		else if (s->thread != e->thread && s->since == NONE)
			s->since = event;
		s->excluded |= op_is_atomic(e->op) || e->flags & EVENT_VOLATILE;
	}
}

/* Under the C++ library alone: std::thread calls the start routine. */
static bool is_outermost(const struct inference *k, const struct lane *l)
{
	for (guint i = 0; i < l->frames->len; i++) {
		uint32_t function = g_array_index(l->frames, struct open_call, i).function;
		if (!g_str_has_prefix(trace_string(k->t, function), "std::"))
			return false;
	}
	return true;
}

/* Start routines are the outermost functions of threads; who creates or joins is no unit. */
static void note_role(struct inference *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	struct lane *l = &k->lanes[e->thread];
	if (e->op == OP_ENTER && is_outermost(k, l))
		k->functions[e->target].never = true;
	if (e->op != OP_FORK && e->op != OP_JOIN)
		return;
	for (guint i = 0; i < l->frames->len; i++)
		k->functions[g_array_index(l->frames, struct open_call, i).function].never =
		        true;
}

static bool counts(const struct inference *k, uint32_t variable, uint32_t event)
{
	const struct shared *s = &k->shared[variable];
	return s->since != NONE && event >= s->since && !s->excluded &&
	       !k->places->at[variable].local;
}

/* -- pass 2: locks and globals
 * ----------------------------------------------------------------- */

static uint32_t find_root(struct inference *k, uint32_t v)
{
	while (k->shared[v].joined != v)
		v = k->shared[v].joined = k->shared[k->shared[v].joined].joined;
	return v;
}

static bool is_scalar_global(const struct inference *k, uint32_t v)
{
	return k->places->at[v].member == NULL && k->t->variables[v].block == NONE;
}

/* Two globals of one file that an activation touches in one critical section are one set. */
static void join_globals(struct inference *k, uint32_t v, struct held *h, uint32_t activation)
{
	if (h->global != NONE && h->activation == activation &&
	    k->places->at[h->global].file == k->places->at[v].file)
		k->shared[find_root(k, v)].joined = find_root(k, h->global);
	h->global = v;
	h->activation = activation;
}

static void note_locks(struct inference *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	struct lane *l = &k->lanes[e->thread];
	const struct open_call *f = top_frame(l);
	struct wide run = event_variables(k->t, e);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (!counts(k, v, event))
			continue;
		for (guint i = 0; i < MIN(l->held->len, HELD_MOST); i++) {
			struct held *h = &g_array_index(l->held, struct held, i);
			gpointer key = pair_key(v, h->object);
			guint n =
			        GPOINTER_TO_UINT(g_hash_table_lookup(k->lock_counts, key)) + 1;
			g_hash_table_insert(k->lock_counts, key, GUINT_TO_POINTER(n));
			if (n > k->shared[v].lock_count) {
				k->shared[v].lock_count = n;
				k->shared[v].lock = h->object;
			}
			if (is_scalar_global(k, v))
				join_globals(k, v, h, f ? f->serial : 0);
		}
	}
}

/* -- sets
 * --------------------------------------------------------------------------------------- */

struct instance_locks { /* the locks that guard an instance's members */
	uint32_t locks[8], count;
};

static void note_instance_lock(struct instance_locks *i, uint32_t lock)
{
	for (uint32_t k = 0; k < i->count; k++)
		if (i->locks[k] == lock)
			return;
	if (lock != NONE && i->count < G_N_ELEMENTS(i->locks))
		i->locks[i->count++] = lock;
}

static GHashTable *locks_of_instances(struct inference *k)
{
	GHashTable *all = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		if (k->shared[v].since == NONE)
			continue;
		const char *instance = k->places->at[v].instance;
		struct instance_locks *i = g_hash_table_lookup(all, instance);
		if (i == NULL)
			g_hash_table_insert(all, (gpointer)instance,
			                    i = g_new0(struct instance_locks, 1));
		note_instance_lock(i, k->shared[v].lock);
	}
	return all;
}

static const char *set_name(struct inference *k, uint32_t v, const struct instance_locks *locks,
                            GString *name)
{
	const struct atomic_place *p = &k->places->at[v];
	g_string_truncate(name, 0);
	if (is_scalar_global(k, v)) {
		uint32_t root = find_root(k, v);
		g_string_append_printf(name, "global %s", k->places->at[root].instance);
		return name->str;
	}
	if (p->type[0])
		g_string_append_printf(name, "struct %s ", p->type);
	size_t length = strlen(p->instance);
	bool arrow = g_str_has_suffix(p->instance, "->");
	g_string_append_printf(name, "%s%.*s", arrow ? "*" : "",
	                       (int)(length - (arrow ? 2 : 0)), p->instance);
	if (locks->count > 1) {
		uint32_t lock = k->shared[v].lock;
		g_string_append_printf(
		        name, lock == NONE ? ", unlocked" : ", under %s",
		        lock == NONE ? "" : trace_string(k->t, k->t->objects[lock].name));
	}
	return name->str;
}

/* Sets of one type and lock role are of one kind: for habits and for the atomics block. */
static char *set_kind(struct inference *k, uint32_t v, const struct instance_locks *locks)
{
	const struct atomic_place *p = &k->places->at[v];
	if (is_scalar_global(k, v))
		return g_strdup_printf("global %s", k->places->at[find_root(k, v)].instance);
	uint32_t role = 0;
	if (locks->count <= 1)
		return g_strdup(p->type[0] ? p->type : p->instance);
	while (role < locks->count && locks->locks[role] != k->shared[v].lock)
		role++;
	return g_strdup_printf("%s#%u", p->type[0] ? p->type : p->instance, role);
}

static void make_sets(struct inference *k)
{
	GHashTable *instances = locks_of_instances(k);
	GArray *memberships = g_array_new(FALSE, FALSE, sizeof(struct membership));
	GString *name = g_string_new(NULL);
	for (uint32_t v = 0; v < k->t->variables_count; v++) {
		uint32_t since = k->shared[v].since;
		g_array_append_val(k->m->since, since);
		if (!counts(k, v, NONE))
			continue;
		const struct instance_locks *locks =
		        g_hash_table_lookup(instances, k->places->at[v].instance);
		set_name(k, v, locks, name);
		uint32_t set = atomic_model_set(k->m, name->str, 'C');
		if (set == k->m->habits->kinds->len)
			g_ptr_array_add(k->m->habits->kinds, set_kind(k, v, locks));
		struct membership x = { v, set };
		g_array_append_val(memberships, x);
	}
	atomic_model_members(k->m, k->t, memberships);
	g_array_free(memberships, TRUE);
	g_string_free(name, TRUE);
	g_hash_table_unref(instances);
}

/* -- functions
 * ------------------------------------------------------------------------------------ */

static void add_parameter_types(struct function *f, struct debuginfo *d,
                                const struct debug_function *g)
{
	static const char *const words[] = { "struct ", "union ", "class " };
	for (uint32_t i = 0; i < g->parameter_count; i++) {
		uint32_t to = debuginfo_pointee(d, debuginfo_local(d, g->variables + i).type);
		if (to == NONE)
			continue;
		GString *name = g_string_new(NULL);
		debuginfo_type_name(d, to, name);
		for (size_t w = 0; w < G_N_ELEMENTS(words); w++)
			if (g_str_has_prefix(name->str, words[w]))
				g_string_erase(name, 0, (gssize)strlen(words[w]));
		if (f->types == NULL)
			f->types = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(f->types, g_string_free(name, FALSE));
	}
}

/* Functions with external linkage, or whose address is taken, are units on the objects that
 * their parameters point to; what is static is a unit only for what it touches itself. */
static void read_functions(struct inference *k)
{
	for (uint32_t i = 0; i < MIN(k->t->modules_count, 64); i++) {
		const char *path = trace_string(k->t, k->t->modules[i].path);
		if (i > 0 && (path[0] != '/' || g_str_has_prefix(path, "/lib") ||
		              g_str_has_prefix(path, "/usr/lib")))
			continue;
		struct debuginfo *d = debuginfo_open(
		        path, trace_string(k->t, k->t->modules[i].build_id), NULL);
		for (uint32_t s = 1; d && s + 1 < k->t->string_offsets_count; s++) {
			struct function *f = &k->functions[s];
			uint32_t id =
			        f->known ? debuginfo_function_named(d, trace_string(k->t, s))
			                 : NONE;
			const struct debug_function *g =
			        id == NONE ? NULL : debuginfo_function(d, id);
			if (g != NULL && (g->external || g->address_taken) && f->types == NULL)
				add_parameter_types(f, d, g);
			if (g != NULL)
				k->debug = true;
		}
		debuginfo_close(d);
	}
}

/* -- pass 3: units
 * ------------------------------------------------------------------------------- */

static void add_open_set(struct inference *k, uint32_t event, uint32_t set)
{
	GArray **sets = &k->sets[event];
	if (!g_hash_table_add(k->opened, pair_key(event, set)))
		return;
	if (*sets == NULL)
		*sets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(*sets, set);
}

static void note_cover(struct lane *l, struct open_call *f, uint32_t set)
{
	if (f->covers == NULL) {
		f->covers = g_array_new(FALSE, FALSE, sizeof(struct cover));
		f->cover_of = g_hash_table_new(NULL, NULL);
	}
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(f->cover_of, GUINT_TO_POINTER(set)));
	if (known) {
		struct cover *c = &g_array_index(f->covers, struct cover, known - 1);
		uint32_t kept = 0;
		for (uint32_t a = 0; a < c->count; a++)
			for (guint h = 0; h < l->held->len; h++)
				if (g_array_index(l->held, struct held, h).acquire ==
				    c->acquires[a]) {
					c->acquires[kept++] = c->acquires[a];
					break;
				}
		c->count = kept;
		return;
	}
	struct cover c = { .set = set };
	for (guint h = 0; h < l->held->len && c.count < G_N_ELEMENTS(c.acquires); h++)
		c.acquires[c.count++] = g_array_index(l->held, struct held, h).acquire;
	g_array_append_val(f->covers, c);
	g_hash_table_insert(f->cover_of, GUINT_TO_POINTER(set),
	                    GUINT_TO_POINTER(f->covers->len));
}

/* Is the instance the one that the activation was (as far as we can see) called for? */
static bool is_bound(struct inference *k, struct open_call *f, const struct atomic_place *p)
{
	const GPtrArray *types = k->functions[f->function].types;
	bool wanted = false;
	for (guint i = 0; types && p->type[0] && i < types->len && !wanted; i++)
		wanted = strcmp(types->pdata[i], p->type) == 0;
	if (!wanted)
		return false;
	if (f->bounds == NULL)
		f->bounds = g_array_new(FALSE, FALSE, sizeof(struct bound));
	for (guint i = 0; i < f->bounds->len; i++) {
		const struct bound *b = &g_array_index(f->bounds, struct bound, i);
		if (b->type == p->type)
			return b->instance == p->instance;
	}
	struct bound b = { p->type, p->instance };
	g_array_append_val(f->bounds, b);
	return true;
}

static void touch(struct inference *k, struct lane *l, uint32_t v, uint32_t set)
{
	for (guint i = 0; i < l->frames->len; i++) {
		struct open_call *f = &g_array_index(l->frames, struct open_call, i);
		bool innermost = i + 1 == l->frames->len;
		if (k->functions[f->function].never ||
		    !(innermost || is_bound(k, f, &k->places->at[v])))
			continue;
		add_open_set(k, f->event, set);
		note_cover(l, f, set);
	}
}

static void note_touch(struct inference *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	const uint32_t *start = (const uint32_t *)(void *)k->m->member_start->data;
	struct wide run = event_variables(k->t, e);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		for (uint32_t i = start[v]; i < start[v + 1] && counts(k, v, event); i++)
			touch(k, &k->lanes[e->thread], v,
			      g_array_index(k->m->members, uint32_t, i));
}

static void append_block_line(struct inference *k, const char *line)
{
	if (g_hash_table_add(k->block_lines, g_strdup(line)))
		g_string_append_printf(k->block, "  %s\n", line);
}

static void identifier(GString *out, const char *text)
{
	for (; *text; text++)
		g_string_append_c(out, g_ascii_isalnum(*text) || *text == '_' ? *text : '_');
}

static void block_unit(struct inference *k, uint32_t function, uint32_t set)
{
	GString *line = g_string_new("unit ");
	g_string_append_printf(line, "%s on ", trace_string(k->t, function));
	identifier(line, k->m->habits->kinds->pdata[set]);
	append_block_line(k, line->str);
	g_string_free(line, TRUE);
}

static void note_habits(struct inference *k, uint32_t thread)
{
	struct open_call *f = top_frame(&k->lanes[thread]);
	struct atomic_habits *h = k->m->habits;
	for (guint i = 0; f && f->covers && i < f->covers->len; i++) {
		const struct cover *c = &g_array_index(f->covers, struct cover, i);
		char *code =
		        g_strdup_printf("%u:%s", f->function, (char *)h->kinds->pdata[c->set]);
		struct habit *habit = g_hash_table_lookup(h->by_code, code);
		if (habit == NULL)
			g_hash_table_insert(h->by_code, g_strdup(code),
			                    habit = g_new0(struct habit, 1));
		habit->total++;
		habit->covered += c->count > 0;
		if (c->count == 0)
			g_hash_table_add(h->uncovered,
			                 g_strdup_printf("%u:%u", f->event, c->set));
		g_free(code);
		block_unit(k, f->function, c->set);
	}
}

/* -- grades
 * ------------------------------------------------------------------------------------------ */

#define HABIT_LEAST 3 /* activations, before one can speak of what is common */

static bool breaks_habit(const struct atomic_model *m, const struct trace *t,
                         const struct cycle_unit *u, const char *set)
{
	const struct atomic_habits *h = m->habits;
	guint s = GPOINTER_TO_UINT(g_hash_table_lookup(m->by_name, set)) - 1;
	if (s >= m->sets->len || t->events[u->begin].op != OP_ENTER)
		return false;
	char *key = g_strdup_printf("%u:%u", u->begin, s);
	char *code = g_strdup_printf("%u:%s", t->events[u->begin].target,
	                             (char *)h->kinds->pdata[s]);
	const struct habit *habit = g_hash_table_lookup(h->by_code, code);
	bool breaks = g_hash_table_contains(h->uncovered, key) && habit != NULL &&
	              habit->total >= HABIT_LEAST && 2 * habit->covered >= habit->total;
	g_free(key);
	g_free(code);
	return breaks;
}

char atomic_model_grade(const struct atomic_model *m, const struct trace *t,
                        const struct finding *f)
{
	if (m->habits == NULL)
		return f->grade;
	for (guint i = 0; !f->mixed && i < f->edges->len; i++) {
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		const char *set = f->sets->pdata[e->set];
		if (breaks_habit(m, t, &g_array_index(f->units, struct cycle_unit, e->from),
		                 set) ||
		    breaks_habit(m, t, &g_array_index(f->units, struct cycle_unit, e->to), set))
			return 'A';
	}
	return 'C';
}

/* -- the atomics block
 * ------------------------------------------------------------------------------- */

struct block_set { /* a line of the block, for all sets of one kind */
	GHashTable *seen;
	GString *members;
	const char *type;
	bool global;
};

static void free_block_set(gpointer data)
{
	struct block_set *b = data;
	g_hash_table_unref(b->seen);
	g_string_free(b->members, TRUE);
	g_free(b);
}

static void note_block_member(struct inference *k, GHashTable *kinds, GPtrArray *order,
                              uint32_t v, char *kind)
{
	const struct atomic_place *p = &k->places->at[v];
	const char *member = p->member ? p->member : p->instance;
	struct block_set *b = g_hash_table_lookup(kinds, kind);
	if (b == NULL) {
		b = g_new0(struct block_set, 1);
		b->seen = g_hash_table_new(g_str_hash, g_str_equal);
		b->members = g_string_new(NULL);
		b->global = g_str_has_prefix(kind, "global ");
		g_hash_table_insert(kinds, kind, b);
		g_ptr_array_add(order, kind);
	}
	if (!g_hash_table_add(b->seen, (gpointer)member))
		return;
	b->type = p->member ? p->type : "";
	g_string_append_printf(b->members, "%s%s", b->members->len ? ", " : "", member);
}

static void append_block_set(struct inference *k, const char *kind, const struct block_set *b)
{
	GString *line = g_string_new(b->global || b->type[0] ? "set " : "# set ");
	identifier(line, kind);
	if (b->global)
		g_string_append_printf(line, " : global %s", b->members->str);
	else if (b->type[0])
		g_string_append_printf(line, " : struct %s { %s }", b->type, b->members->str);
	else
		g_string_append_printf(line, " : of unknown type { %s }", b->members->str);
	append_block_line(k, line->str);
	g_string_free(line, TRUE);
}

static void block_sets(struct inference *k)
{
	const uint32_t *start = (const uint32_t *)(void *)k->m->member_start->data;
	GHashTable *kinds =
	        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_block_set);
	GPtrArray *order = g_ptr_array_new();
	for (uint32_t v = 0; v < k->t->variables_count; v++)
		for (uint32_t i = start[v]; i < start[v + 1]; i++) {
			uint32_t set = g_array_index(k->m->members, uint32_t, i);
			note_block_member(k, kinds, order, v, k->m->habits->kinds->pdata[set]);
		}
	for (guint i = 0; i < order->len; i++)
		append_block_set(k, order->pdata[i],
		                 g_hash_table_lookup(kinds, order->pdata[i]));
	g_ptr_array_unref(order);
	g_hash_table_unref(kinds);
}

/* -- the whole
 * --------------------------------------------------------------------------------------- */

static void inference_init(struct inference *k, struct trace *t)
{
	k->t = t;
	k->m = atomic_model_new(t);
	k->m->habits = g_new0(struct atomic_habits, 1);
	k->m->habits->by_code = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	k->m->habits->uncovered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	k->m->habits->kinds = g_ptr_array_new_with_free_func(g_free);
	k->m->splits |= UINT64_C(1) << OP_JOIN | UINT64_C(1) << OP_FORK |
	                UINT64_C(1) << OP_ARRIVE | UINT64_C(1) << OP_TAKE;
	k->places = atomic_places_new(t, true);
	k->shared = g_new(struct shared, t->variables_count + 1);
	for (uint32_t v = 0; v < t->variables_count; v++)
		k->shared[v] = (struct shared){ NONE, NONE, NONE, 0, v, false };
	k->functions = g_new0(struct function, t->string_offsets_count + 1);
	for (uint64_t i = 0; i < t->events_count; i++)
		if (t->events[i].op == OP_ENTER)
			k->functions[t->events[i].target].known = true;
	for (uint32_t s = 1; s + 1 < t->string_offsets_count; s++)
		if (strcmp(trace_string(t, s), "main") == 0)
			k->functions[s].never = true;
	k->lanes = g_new0(struct lane, t->threads_count + 1);
	k->lock_counts = g_hash_table_new(pair_hash, NULL);
	k->sets = g_new0(GArray *, t->events_count + 1);
	k->opened = g_hash_table_new(pair_hash, NULL);
	k->block_lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	k->block = g_string_new("atomics inferred {\n");
}

static void inference_release(struct inference *k)
{
	for (uint64_t e = 0; e < k->t->events_count; e++)
		if (k->sets[e])
			g_array_free(k->sets[e], TRUE);
	for (uint64_t s = 0; s < k->t->string_offsets_count; s++)
		if (k->functions[s].types)
			g_ptr_array_unref(k->functions[s].types);
	g_free(k->sets);
	g_free(k->functions);
	g_free(k->shared);
	g_free(k->lanes);
	g_hash_table_unref(k->lock_counts);
	g_hash_table_unref(k->opened);
	g_hash_table_unref(k->block_lines);
	atomic_places_free(k->places);
}

static bool infer(struct inference *k, const struct progress *progress)
{
	walk(k, note_sharing, NULL, note_role);
	if (!progress_tick(progress, 0.3, "inferring atomic sets"))
		return false;
	walk(k, note_locks, NULL, NULL);
	make_sets(k);
	if (!progress_tick(progress, 0.6, "inferring units of work"))
		return false;
	read_functions(k);
	block_sets(k);
	walk(k, note_touch, note_habits, NULL);
	atomic_model_opens(k->m, k->t, k->sets);
	return true;
}

struct atomic_model *atomic_model_inferred(struct trace *t, const struct progress *progress)
{
	struct inference k = { 0 };
	inference_init(&k, t);
	bool good = infer(&k, progress);
	g_string_append(k.block, "  split wait, join, fork, barrier, take\n}\n");
	k.m->inferred = g_string_free(k.block, FALSE);
	if (k.m->sets->len > 0)
		g_ptr_array_add(
		        k.m->notes,
		        g_strdup_printf("%u atomic sets and their units are inferred%s: --sets "
		                        "prints them",
		                        k.m->sets->len,
		                        k.debug ? ", units approximately" : ""));
	inference_release(&k);
	if (good)
		return k.m;
	atomic_model_free(k.m);
	return NULL;
}
