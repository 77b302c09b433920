/*
 * unseen_writes.c - atomics that code writes which is not recorded (a precompiled standard
 * library, inline assembly; trace/unexplained.h).  Such code may synchronise, so a race between
 * two threads that use such an atomic becomes a candidate that names it.
 *
 * Two passes over the trace, one of them only if such an atomic exists.
 */
#include "engine/predict/predict.h"
#include "engine/trace/index.h"
#include "engine/trace/unexplained.h"

/* The atomic variables with unseen writes, and the threads that access them atomically: a set
 * of variable << 32 | thread. */
struct unseen {
	const struct trace *t;
	GHashTable *variables; /* those with unseen writes */
	GHashTable *users;     /* gint64 *, owned */
};

/* An atomic access of one variable whose value is known. */
static bool is_plain_atomic(const struct event *e)
{
	return op_is_atomic(e->op) && !(e->flags & EVENT_WIDE) && !event_inert(e) &&
	       e->aux != 0;
}

static void find_variables(struct unseen *u)
{
	g_autoptr(GArray) reads = unexplained_reads(u->t, G_MAXUINT);
	for (guint i = 0; i < reads->len; i++) {
		const struct unexplained_read *r =
		        &g_array_index(reads, struct unexplained_read, i);
		if (is_plain_atomic(&u->t->events[r->event]))
			g_hash_table_add(u->variables, GUINT_TO_POINTER(r->variable));
	}
}

static void find_users(struct unseen *u)
{
	for (uint64_t i = 0; i < u->t->events_count; i++) {
		const struct event *e = &u->t->events[i];
		if (is_plain_atomic(e) &&
		    g_hash_table_contains(u->variables, GUINT_TO_POINTER(e->target))) {
			gint64 *user = g_new(gint64, 1);
			*user = (gint64)e->target << 32 | e->thread;
			g_hash_table_add(u->users, user);
		}
	}
}

/* An atomic with unseen writes that both threads use, or NONE. */
static uint32_t common_variable(const struct unseen *u, uint32_t one, uint32_t other)
{
	GHashTableIter all;
	gpointer key;
	uint32_t least = NONE;

	g_hash_table_iter_init(&all, u->variables);
	while (g_hash_table_iter_next(&all, &key, NULL)) {
		uint32_t variable = GPOINTER_TO_UINT(key);
		gint64 first = (gint64)variable << 32 | one,
		       second = (gint64)variable << 32 | other;
		if (variable < least && g_hash_table_contains(u->users, &first) &&
		    g_hash_table_contains(u->users, &second))
			least = variable;
	}
	return least;
}

static unsigned mark(const struct unseen *u, struct report *report)
{
	const struct trace *t = u->t;
	unsigned marked = 0;

	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = report->findings->pdata[i];
		uint32_t variable = NONE;
		if (f->verdict != VERDICT_IMPOSSIBLE && f->verdict != VERDICT_HAPPENED)
			variable = common_variable(u, t->events[f->first].thread,
			                           t->events[f->second].thread);
		if (variable == NONE)
			continue;
		g_free(f->missing);
		f->missing = g_strdup_printf(
		        "only if the code that is not recorded and writes %s does not synchronise "
		        "the two",
		        trace_variable_name(t, variable));
		if (f->verdict == VERDICT_RACE)
			f->verdict = VERDICT_CANDIDATE;
		marked++;
	}
	return marked;
}

void races_mark_unseen(const struct trace *t, struct report *report)
{
	const uint64_t atomics = OPERATION(OP_AREAD) | OPERATION(OP_RMW);
	if (report->findings->len == 0 || !trace_has(t, atomics))
		return;
	struct unseen u = { t, g_hash_table_new(NULL, NULL),
		            g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL) };
	find_variables(&u);
	unsigned marked = 0;
	if (g_hash_table_size(u.variables) > 0) {
		find_users(&u);
		marked = mark(&u, report);
	}
	if (marked > 0)
		report_note(
		        report,
		        "%u of these are candidates: code that is not recorded wrote atomics "
		        "which both threads use, and may order them",
		        marked);
	g_hash_table_destroy(u.variables);
	g_hash_table_destroy(u.users);
}
