/*
 * infer.c - inference of atomic sets and units of work where none are declared: Marathon's
 * heuristics (section 4.1), adapted from classes to C (docs/atomicity.md).
 *
 * The result is an `atomics` block as a user could write it, applied like any other. Two passes
 * over the events collect its input: functions that are never units, variables in no set; and
 * the locks held at accesses.
 */
#include "engine/atomic/held.h"
#include "engine/atomic/infer.h"
#include "engine/base/hash.h"
#include "engine/predict/effort.h"

#include <string.h>

#define HELD_MOST 16 /* locks considered of those that a thread holds */

/* A global accessed by an activation in a critical section. */
struct global_under {
	uint32_t acquire, variable;
};

/* An open activation. */
struct open_call {
	uint32_t function;
	bool library; /* it and all of its callers are the C++ library's, as std::thread's are
	               */
	GArray *globals;   /* struct global_under, of open critical sections; or NULL */
	GArray *instances; /* const char *, interned: instances it accessed itself; or NULL */
};

struct walk_lane {
	GArray *frames; /* struct open_call; the first is the thread itself */
	GArray *held;   /* struct held_lock */
};

struct infer_walk {
	struct inference *k;
	struct walk_lane *lanes; /* by thread */
	GHashTable *lock_counts; /* variable << 32 | lock -> count */
};

/* -- walking ------------------------------------------------------------------------------ */

static struct open_call *top_frame(struct walk_lane *l)
{
	return &g_array_index(l->frames, struct open_call, l->frames->len - 1);
}

static void push_frame(const struct trace *t, struct walk_lane *l, uint32_t function)
{
	struct open_call f = { .function = function };
	f.library =
	        l->frames->len == 0 ||
	        (top_frame(l)->library && g_str_has_prefix(trace_string(t, function), "std::"));
	g_array_append_val(l->frames, f);
}

static void pop_frame(struct walk_lane *l)
{
	struct open_call *f = top_frame(l);
	if (f->globals)
		g_array_free(f->globals, TRUE);
	if (f->instances)
		g_array_free(f->instances, TRUE);
	g_array_set_size(l->frames, l->frames->len - 1);
}

static void walk_begin(struct infer_walk *w)
{
	w->lanes = g_new0(struct walk_lane, w->k->t->threads_count + 1);
	for (uint64_t i = 0; i < w->k->t->threads_count; i++) {
		w->lanes[i].frames = g_array_new(FALSE, FALSE, sizeof(struct open_call));
		w->lanes[i].held = g_array_new(FALSE, FALSE, sizeof(struct held_lock));
		push_frame(w->k->t, &w->lanes[i], 0);
	}
}

static void walk_end(struct infer_walk *w)
{
	for (uint64_t i = 0; i < w->k->t->threads_count; i++) {
		while (w->lanes[i].frames->len)
			pop_frame(&w->lanes[i]);
		g_array_free(w->lanes[i].frames, TRUE);
		g_array_free(w->lanes[i].held, TRUE);
	}
	g_free(w->lanes);
}

static bool infer_goes_on(struct inference *k, double part, const char *name)
{
	k->late |= k->deadline != 0 && effort_microseconds() > k->deadline;
	k->cancelled |= !progress_tick(k->progress, part, name);
	return !k->late && !k->cancelled;
}

/* One pass: `access` is called for each access, `other` for each other event before its effect
 * on frames and locks; either may be NULL. */
static void infer_walk(struct infer_walk *w, void (*access)(struct infer_walk *, uint32_t),
                       void (*other)(struct infer_walk *, uint32_t))
{
	const struct trace *t = w->k->t;
	walk_begin(w);
	for (uint32_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		struct walk_lane *l = &w->lanes[e->thread];
		if (i % 65536 == 0 && !infer_goes_on(w->k, 0.2, "inferring atomic sets"))
			break;
		if (event_inert(e))
			continue;
		if (op_is_access(e->op)) {
			if (access)
				access(w, i);
			continue;
		}
		if (other)
			other(w, i);
		if (e->op == OP_ENTER)
			push_frame(t, l, e->target);
		else if (e->op == OP_LEAVE && l->frames->len > 1)
			pop_frame(l);
		else if (op_acquires(e->op) || op_releases(e->op))
			held_note(l->held, i, e);
	}
	walk_end(w);
}

/* -- pass 1: roles of functions ----------------------------------------------------------- */

static void none_is_a_unit(struct inference *k, const struct walk_lane *l)
{
	for (guint i = 1; i < l->frames->len; i++)
		k->never[g_array_index(l->frames, struct open_call, i).function] = true;
}

/* Functions that are never units: start routines of threads, signal and exit handlers (called
 * from the C library's frames), functions that create or join threads or wait for input, and
 * their callers. */
static void note_role(struct infer_walk *w, uint32_t event)
{
	struct inference *k = w->k;
	const struct event *e = &k->t->events[event];
	const struct walk_lane *l = &w->lanes[e->thread];
	if (e->op == OP_FORK || e->op == OP_JOIN)
		none_is_a_unit(k, l);
	if (e->op != OP_ENTER)
		return;
	const struct open_call *caller =
	        &g_array_index(l->frames, struct open_call, l->frames->len - 1);
	enum atomic_call call = atomic_call_named(trace_string(k->t, e->target));
	if (call == CALL_INPUT)
		none_is_a_unit(k, l);
	if (call != CALL_OTHER || caller->library ||
	    atomic_call_named(trace_string(k->t, caller->function)) == CALL_HANDLE)
		k->never[e->target] = true;
}

/* -- pass 2: locks, globals, owners ------------------------------------------------------- */

static void count_lock(struct infer_walk *w, uint32_t v, uint32_t object)
{
	gpointer key = GSIZE_TO_POINTER((uint64_t)v << 32 | object);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(w->lock_counts, key)) + 1;
	struct lock_use *use = &w->k->locks[v];
	g_hash_table_insert(w->lock_counts, key, GUINT_TO_POINTER(n));
	if (n > use->count)
		*use = (struct lock_use){ object, n };
}

static bool is_open(const struct walk_lane *l, uint32_t acquire)
{
	for (guint i = 0; i < l->held->len; i++)
		if (g_array_index(l->held, struct held_lock, i).acquire == acquire)
			return true;
	return false;
}

/* Two globals of one file that an activation accesses in one critical section are in one
 * set. */
static void join_globals(struct infer_walk *w, struct walk_lane *l, uint32_t v,
                         uint32_t acquire)
{
	struct inference *k = w->k;
	struct open_call *f = top_frame(l);
	if (f->globals == NULL)
		f->globals = g_array_new(FALSE, FALSE, sizeof(struct global_under));
	for (guint i = f->globals->len; i-- > 0;) {
		const struct global_under *u =
		        &g_array_index(f->globals, struct global_under, i);
		if (!is_open(l, u->acquire)) {
			g_array_remove_index_fast(f->globals, i);
			continue;
		}
		if (u->acquire != acquire)
			continue;
		if (u->variable == v)
			return;
		if (k->places->at[u->variable].file == k->places->at[v].file)
			k->joined[infer_root(k, v)] = infer_root(k, u->variable);
	}
	struct global_under u = { acquire, v };
	g_array_append_val(f->globals, u);
}

static bool touched_itself(const struct open_call *f, const char *instance)
{
	for (guint i = 0; f->instances && i < f->instances->len; i++)
		if (g_array_index(f->instances, const char *, i) == instance)
			return true;
	return false;
}

#define INSTANCES_MOST 8 /* the latest instances that an activation accessed */

/* A function that accesses an object and the object that a pointer in it leads to treats the
 * two as one. */
static void note_instance(struct infer_walk *w, struct walk_lane *l, uint32_t v)
{
	struct inference *k = w->k;
	struct open_call *f = top_frame(l);
	const struct atomic_place *p = &k->places->at[v];
	uint32_t block = k->t->variables[v].block;
	uint32_t holder = block == NONE ? NONE : k->holder[block];
	if (holder < k->t->variables_count && touched_itself(f, k->places->at[holder].instance))
		k->together[holder] = true;
	if (p->member == NULL || touched_itself(f, p->instance))
		return;
	if (f->instances == NULL)
		f->instances = g_array_new(FALSE, FALSE, sizeof p->instance);
	if (f->instances->len == INSTANCES_MOST)
		g_array_remove_index(f->instances, 0);
	g_array_append_val(f->instances, p->instance);
}

static void note_locks(struct infer_walk *w, uint32_t event)
{
	struct inference *k = w->k;
	const struct event *e = &k->t->events[event];
	struct walk_lane *l = &w->lanes[e->thread];
	struct wide run = event_variables(k->t, e);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (!k->places->at[v].local)
			note_instance(w, l, v);
		if (!infer_counts(k, v) || event < g_array_index(k->since, uint32_t, v))
			continue;
		for (guint i = 0; i < MIN(l->held->len, HELD_MOST); i++) {
			const struct held_lock *h =
			        &g_array_index(l->held, struct held_lock, i);
			count_lock(w, v, h->object);
			if (infer_is_scalar_global(k, v))
				join_globals(w, l, v, h->acquire);
		}
	}
}

/* -- ownership ---------------------------------------------------------------------------- */

/* The only variable off the stacks that ever held a pointer into a block. */
static void note_holder(void *context, uint32_t variable, uint32_t block)
{
	struct inference *k = context;
	if (k->places->at[variable].local || k->t->variables[variable].block == block)
		return;
	if (k->holder[block] == NONE)
		k->holder[block] = variable;
	else if (k->holder[block] != variable)
		k->holder[block] = SEVERAL;
}

static void note_shares(void *context, uint32_t variable, uint32_t block)
{
	struct inference *k = context;
	k->shares[variable] |= k->holder[block] != variable;
}

/* -- the inference ------------------------------------------------------------------------ */

static void inference_init(struct inference *k, struct trace *t)
{
	k->t = t;
	k->m = atomic_model_new(t);
	layout_begin(&k->layout, t, k->m, 'C');
	k->places = k->layout.places;
	k->block = spec_atomics_new("inferred", "what is inferred", 0);
	k->block->only_shared = true;
	k->since = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	k->locks = g_new(struct lock_use, t->variables_count + 1);
	k->joined = g_new(uint32_t, t->variables_count + 1);
	k->shares = g_new0(bool, t->variables_count + 1);
	k->together = g_new0(bool, t->variables_count + 1);
	k->holder = g_new(uint32_t, t->blocks_count + 1);
	memset(k->holder, 0xff, (t->blocks_count + 1) * sizeof *k->holder);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		k->locks[v] = (struct lock_use){ NONE, 0 };
		k->joined[v] = v;
	}
	k->never = g_new0(bool, t->string_offsets_count + 1);
	for (uint32_t s = 1; s + 1 < t->string_offsets_count; s++)
		k->never[s] = strcmp(trace_string(t, s), "main") == 0;
}

static void inference_release(struct inference *k)
{
	layout_end(&k->layout);
	spec_atomics_free(k->block);
	g_array_free(k->since, TRUE);
	g_free(k->locks);
	g_free(k->joined);
	g_free(k->shares);
	g_free(k->together);
	g_free(k->holder);
	g_free(k->never);
}

static bool collect_facts(struct inference *k)
{
	struct infer_walk w = { .k = k, .lock_counts = g_hash_table_new(hash_pointer, NULL) };
	infer_walk(&w, NULL, note_role);
	if (infer_goes_on(k, 0.2, "inferring atomic sets")) {
		atomic_sharing(k->t, k->since);
		atomic_pointers(k->t, note_holder, k);
		atomic_pointers(k->t, note_shares, k);
		infer_walk(&w, note_locks, NULL);
	}
	g_hash_table_unref(w.lock_counts);
	return infer_goes_on(k, 0.4, "inferring atomic sets");
}

static void add_splits(struct inference *k, const GPtrArray *words)
{
	k->block->splits = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; words && i < words->len; i++)
		g_ptr_array_add(k->block->splits, g_strdup(words->pdata[i]));
	for (guint i = 0; words == NULL && spec_split_words[i]; i++)
		if (strcmp(spec_split_words[i], "none") != 0)
			g_ptr_array_add(k->block->splits, g_strdup(spec_split_words[i]));
	atomic_model_split(k->m, k->t, k->block->splits);
}

/* Returns early when cancelled or late. */
static void infer_run(struct inference *k, const struct infer_options *options)
{
	if (!collect_facts(k))
		return;
	add_splits(k, options ? options->splits : NULL);
	if (options && options->heap)
		infer_heap(k);
	else
		infer_sets(k);
	g_ptr_array_add(k->layout.blocks, k->block);
	layout_sets(&k->layout);
	if (!infer_goes_on(k, 0.6, "inferring units of work"))
		return;
	k->layout.deadline = k->deadline;
	layout_discover_units(&k->layout, k->never);
	infer_units(k);
	layout_units(&k->layout);
	k->late |= k->layout.late;
	infer_habits(k);
}

static void note_closed(const struct inference *k)
{
	const struct atomic_functions *f = k->layout.functions;
	k->m->closed = g_new0(bool, k->t->string_offsets_count + 1);
	for (uint64_t s = 0; s < f->count; s++)
		k->m->closed[s] = f->at[s].known && !f->at[s].open;
}

static void note_inferred(const struct inference *k)
{
	guint sets = k->m->sets->len, kinds = k->block->sets->len;
	if (sets == 0)
		return;
	g_ptr_array_add(
	        k->m->notes,
	        g_strdup_printf(
	                "%u atomic set%s of %u kind%s (variables that belong together) and the "
	                "units of work on them (functions that should run as one step) are "
	                "inferred%s: --sets prints them",
	                sets, plural(sets), kinds, plural(kinds),
	                k->layout.functions->any
	                        ? ", approximately: an argument is taken to point to "
	                          "memory that its function touched"
	                        : ""));
}

struct atomic_model *atomic_model_inferred(struct trace *t, const struct infer_options *options,
                                           const struct progress *progress)
{
	struct inference k = { 0 };
	inference_init(&k, t);
	k.progress = progress;
	k.deadline = options ? effort_deadline(options->seconds) : 0;
	infer_run(&k, options);
	bool good = !k.cancelled;
	k.m->late = k.late;
	if (k.late) {
		g_ptr_array_add(
		        k.m->notes,
		        g_strdup("the time for inferring atomic sets and units of work was "
		                 "over (--budget gives more): what they would show is not "
		                 "looked for"));
	} else if (good) {
		k.m->inferred = infer_print(&k);
		note_inferred(&k);
		note_closed(&k);
	}
	struct atomic_model *m = k.m;
	inference_release(&k);
	if (good)
		return m;
	atomic_model_free(m);
	return NULL;
}
