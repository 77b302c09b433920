/*
 * explore_objects.c - specified objects that violate their specification: they are treated as
 * ordinary code, and the exploration restarts.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/runs/unseen.h"

#include <inttypes.h>

#define SUMS_ALL "(additions)" /* of x->plain: they tell runs apart */

/* The object's results do not determine its behaviour: the order of invocations matters. */
static void give_up_results(struct exploration *x, uint32_t object, const char *why)
{
	char *name = view_object_name(x->view, object);
	if (g_hash_table_add(x->ordered, scopes_object_key(x->trace, x->view->model, object)))
		g_ptr_array_add(x->report->notes,
		                g_strdup_printf("%s: %s; the order of its invocations counts",
		                                name, why));
	g_free(name);
	x->again = true;
}

void explore_give_up_results(struct exploration *x)
{
	const struct view *v = x->view;
	for (uint32_t i = 0; v->by_results != NULL && i < x->trace->instances_count; i++)
		if (v->by_results[i])
			give_up_results(x, i,
			                "a run is too much for the search over its states");
}

void explore_give_up_sums(struct exploration *x)
{
	if (!g_hash_table_add(x->plain, g_strdup(SUMS_ALL)))
		return;
	g_ptr_array_add(x->report->notes,
	                g_strdup("additions whose result is not used tell runs apart: the "
	                         "values of their memory are not known in each state"));
	x->again = true;
}

/* Is an invocation of the object one of a function that is not instrumented? What it reads and
 * writes is not in the trace. (After the CALL of an instrumented one comes its ENTER.) */
static bool is_unseen(const struct trace *t, uint32_t object)
{
	g_autofree bool *called = g_new0(bool, t->threads_count);

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *y = &t->events[e];
		if (called[y->thread] && y->op != OP_ENTER)
			return true;
		called[y->thread] = y->op == OP_CALL && y->target == object;
	}
	return false;
}

/* The object's invocations violate the specification: ignore it. */
static void give_up(struct exploration *x, uint32_t object, const char *what, const char *why)
{
	char *name = view_object_name(x->view, object);
	if (is_unseen(x->trace, object)) {
		g_autofree char *gap = g_strdup_printf(
		        "%s %s, and what its invocations do is not in the trace", name, what);
		explore_note_incomplete(x, gap);
	}
	g_hash_table_add(x->plain, scopes_object_key(x->trace, x->view->model, object));
	g_ptr_array_add(x->report->notes,
	                g_strdup_printf("%s %s: %s; its invocations count as what they read "
	                                "and write",
	                                name, what, why));
	g_free(name);
	x->again = true;
}

/* Do objects satisfy their specifications? Violations are errors of the run. */
void explore_judge_objects(struct exploration *x, struct explore_run *r)
{
	const struct view *v = x->view;
	for (guint i = 0; v->scopes != NULL && i < v->scopes->broken->len; i++) {
		const struct broken *b = v->scopes->broken->pdata[i];
		give_up(x, b->object, "is not atomic", b->why);
	}
	if (v->contradiction == NULL || x->again) {
		if (v->unruly != NONE && !x->again)
			give_up_results(x, v->unruly,
			                "its effects do not say all that is seen of it");
		return;
	}
	give_up(x, v->contradicted, "is not what its specification says",
	        "it returns something else");
	r->end = EXPLORE_SPECIFICATION;
	g_free(r->story);
	r->story = g_strdup(v->contradiction);
	explore_set_place(r, v->contradiction_at);
}

/* Among the objects whose specifications are ignored; no object has such a name. Owned by the
 * caller. */
static char *tried_lock(uint64_t lock)
{
	return g_strdup_printf("(lock %016" PRIx64 ", which is tried)", lock);
}

/* Rounds that take the lock were left out before a try showed it: all begins again. */
static void keep_sections_of(struct exploration *x, const struct history *h, uint32_t object,
                             char *key)
{
	g_hash_table_add(x->plain, key);
	g_ptr_array_add(
	        x->report->notes,
	        g_strdup_printf("%s is tried: each look of a thread that waits by "
	                        "looking under it counts",
	                        trace_string(h->trace, h->trace->objects[object].name)));
	x->again = true;
}

bool *explore_leaves_sections(const struct exploration *x, const struct history *h)
{
	const struct trace *t = h->trace;
	/* another share may see a try that this one does not */
	if (x->options->specs != NULL || x->options->bounded || x->options->shards > 1)
		return NULL;
	bool *leaves = g_new0(bool, t->objects_count + 1);
	for (uint32_t o = 0; o < t->objects_count; o++) {
		uint64_t lock = awaits_lock(h, o);
		g_autofree char *key = tried_lock(lock);
		leaves[o] = !g_hash_table_contains(x->plain, key) &&
		            !awaits_are_tried(x->awaits, lock);
	}
	return leaves;
}

void explore_see_tries(struct exploration *x, const struct await_rounds *rounds,
                       const struct history *h)
{
	awaits_see_tries(x->awaits, rounds, h);
	for (uint32_t o = 0; o < h->trace->objects_count; o++) {
		uint64_t lock = awaits_lock(h, o);
		g_autofree char *key = tried_lock(lock);
		if (awaits_are_seen(x->awaits, lock) && !g_hash_table_contains(x->plain, key))
			keep_sections_of(x, h, o, g_steal_pointer(&key));
	}
}

/* Has an earlier run, or one of another task, perhaps taken memory of a stack to be one
 * thread's?
 */
static bool stacks_were_taken(const struct exploration *x)
{
	return x->origin.extent.runs > 0 ||
	       (x->report->runs->len > 0 &&
	        (awaits_size(x->awaits).within > 0 || pasts_size(x->pasts).longer > 0 ||
	         pasts_size(x->pasts).made > 0));
}

void explore_see_memory(struct exploration *x, const struct history *h, struct await_memory *m)
{
	awaits_see_memory(x->awaits, h, m);
	uint32_t stack = m->new_on_stack, written = m->new_written;
	if (stack != NONE && x->options->shards > 1 && x->report->runs->len > 0)
		explore_note_incomplete(x, "in this share several threads use memory of a "
		                           "thread's stack, which another share may take to be "
		                           "that thread's alone");
	if (x->again)
		return;
	if (stack != NONE && stacks_were_taken(x))
		g_ptr_array_add(
		        x->report->notes,
		        g_strdup_printf("%s is on a thread's stack, and another thread uses "
		                        "it in some runs: each look at it counts",
		                        trace_variable_name(h->trace, stack)));
	else if (written != NONE)
		g_ptr_array_add(
		        x->report->notes,
		        g_strdup_printf("%s is written in some runs: each look at it counts",
		                        trace_variable_name(h->trace, written)));
	else
		return;
	x->again = true;
}

struct view_rules explore_view_rules(const struct exploration *x, const bool *left_out)
{
	return (struct view_rules){ .specs =
		                            x->options->linearizable ? NULL : x->options->specs,
		                    .plain = x->plain,
		                    .by_results = x->options->by_results,
		                    .ordered = x->ordered,
		                    .left_out = left_out };
}

uint8_t *explore_sums(struct exploration *x, const struct plan_run *run)
{
	const struct explore_options *o = x->options;
	if (o->specs != NULL || o->symmetry || o->memory != MEMORY_SC ||
	    g_hash_table_contains(x->plain, SUMS_ALL))
		return NULL;
	bool divided;
	uint8_t *sums =
	        sums_find(histories_initials(x->histories)->unseen, run->trace, run->facts.sums,
	                  o->finals ? finals_names(o->finals) : NULL, &divided);
	if (divided)
		explore_give_up_sums(x);
	return sums;
}
