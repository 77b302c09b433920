/* parting.c - see parting.h. */
#include "engine/harm/parting.h"

#include "engine/trace/channel.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"

#include <string.h>

/* Larger numbers are addresses mostly, which mean nothing in another run. */
static const int64_t LARGEST = (int64_t)1 << 40;

/* Does the event depend on the schedule alone: a wait of a thread, which may be a call of the C
 * library that shows as a frame ("read@libc"; input that is given again is not waited for), or
 * the arrival of its stores? */
static bool is_of_the_schedule(const struct trace *t, const struct event *e)
{
	return op_wants(e->op) || e->op == OP_FLUSH ||
	       ((e->op == OP_ENTER || e->op == OP_LEAVE) &&
	        g_str_has_suffix(trace_string(t, e->target), "@libc"));
}

/* -- are two events the same? --------------------------------------------------------------- */

static bool same_value(const struct trace *a, uint32_t x, const struct trace *b, uint32_t y)
{
	const struct value v = trace_value(a, x), w = trace_value(b, y);
	if (v.kind == V_NONE || w.kind == V_NONE)
		return true; /* not recorded */
	if (v.kind != w.kind)
		return false;
	switch (v.kind) {
	case V_INT: {
		bool addresses = (v.integer > LARGEST || v.integer < -LARGEST) &&
		                 (w.integer > LARGEST || w.integer < -LARGEST);
		return v.integer == w.integer || addresses;
	}
	case V_STRING:
	case V_TOKEN:
		return strcmp(trace_string(a, v.string), trace_string(b, w.string)) == 0;
	case V_PAIR:
		return same_value(a, v.first, b, w.first) &&
		       same_value(a, v.second, b, w.second);
	default:
		return true;
	}
}

/* "local@main+880" is a place on a stack without a name: how far in it lies follows from the
 * stack's address, and that from the environment. */
static void cut_distance(GString *name)
{
	const char *at = strchr(name->str, '@'), *plus = at ? strchr(at, '+') : NULL;
	if (plus)
		g_string_truncate(name, (gsize)(plus - name->str));
}

/* A place on a stack has the name of its variable only in a run in which all accesses of the
 * place are to that variable. */
static bool may_be_local(const char *unnamed, const char *name)
{
	return g_str_has_prefix(unnamed + (*unnamed == '"'), "local@") &&
	       strstr(name, "::") != NULL;
}

static bool in_stack(const struct trace *t, uint32_t variable)
{
	uint32_t block = t->variables[variable].block;
	return block != NONE && t->blocks[block].alloc == NONE;
}

/* "f::x" and "g::y": a place that two functions have in turn is named after the one whose
 * variable other threads use, which one of the runs may not have come to. */
static bool may_be_others(const char *x, const char *y)
{
	const char *in_x = strstr(x, "::"), *in_y = strstr(y, "::");
	return in_x != NULL && in_y != NULL &&
	       (in_x - x != in_y - y || strncmp(x, y, (size_t)(in_x - x)) != 0);
}

/* A heap block has a type's or pointer's name only in a run in which some access tells it. */
static bool may_be_block(const char *unnamed, const char *name)
{
	return g_str_has_prefix(unnamed + (*unnamed == '"'), "block@") &&
	       strstr(name, "block@") == NULL && strstr(name, "::") == NULL &&
	       (strpbrk(name, "*[") != NULL || strstr(name, "->") != NULL);
}

/* The text format quotes a name that has a number. */
static void cut_quotes(GString *name)
{
	if (name->len > 1 && name->str[0] == '"') {
		g_string_erase(name, 0, 1);
		g_string_truncate(name, name->len - 1);
	}
}

/* Names of heap blocks are numbered in the order of their allocation. */
static bool same_name(const char *x, const char *y)
{
	if (strcmp(x, y) == 0 || may_be_local(x, y) || may_be_local(y, x) ||
	    may_be_block(x, y) || may_be_block(y, x))
		return true;
	g_autoptr(GString) p = g_string_new(NULL), q = g_string_new(NULL);
	/* the first of a name has no number */
	bool numbered = strchr(x, '#') != NULL || strchr(y, '#') != NULL ||
	                (strchr(x, '@') != NULL && strchr(y, '@') != NULL);
	shown_pattern(x, p);
	shown_pattern(y, q);
	cut_quotes(p);
	cut_quotes(q);
	cut_distance(p);
	cut_distance(q);
	return numbered && g_string_equal(p, q);
}

/* Messages, and channels, are numbered in the order of their run. */
static bool same_message(const char *x, const char *y)
{
	struct channel_message m, n;
	uint32_t number;

	channel_message_read(x, &m, &number);
	channel_message_read(y, &n, &number);
	size_t word = strcspn(x, "0123456789");
	return m.what == n.what && m.bytes == n.bytes && m.room == n.room &&
	       word == strcspn(y, "0123456789") && strncmp(x, y, word) == 0;
}

static bool same_variable(const struct trace *a, uint32_t x, const struct trace *b, uint32_t y)
{
	const char *name = trace_variable_name(a, x), *other = trace_variable_name(b, y);
	return same_name(name, other) ||
	       (in_stack(a, x) && in_stack(b, y) && may_be_others(name, other));
}

static bool same_operand(const struct trace *a, uint32_t x, const struct trace *b, uint32_t y)
{
	const struct event *e = &a->events[x], *f = &b->events[y];
	if (op_is_access(e->op) && !((e->flags | f->flags) & EVENT_WIDE))
		return same_variable(a, e->target, b, f->target) &&
		       same_value(a, e->aux, b, f->aux);
	if (op_is_access(e->op))
		return true; /* accesses of a part: the split of names depends on the run's
		              * other accesses */
	if (e->op == OP_SND || e->op == OP_RCV)
		return same_message(trace_string(a, a->messages[e->target]),
		                    trace_string(b, b->messages[f->target]));
	g_autoptr(GString) p = g_string_new(NULL), q = g_string_new(NULL);
	trace_append_operand(a, x, p);
	trace_append_operand(b, y, q);
	return same_name(p->str, q->str);
}

/* Of code without source lines, places are addresses, or names where symbols are known. */
static bool same_place(const struct trace *a, uint32_t x, const struct trace *b, uint32_t y)
{
	const struct location *l = &a->locations[a->events[x].location],
	                      *m = &b->locations[b->events[y].location];
	return l->line == 0 || m->line == 0 ||
	       strcmp(trace_location_name(a, x), trace_location_name(b, y)) == 0;
}

static bool same_event(const struct trace *a, uint32_t x, const struct trace *b, uint32_t y)
{
	return a->events[x].op == b->events[y].op && same_place(a, x, b, y) &&
	       same_operand(a, x, b, y);
}

/* -- threads -------------------------------------------------------------------------------- */

/* GArray of uint32_t by thread: its events. */
static GPtrArray *by_thread(const struct trace *t)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	for (uint32_t u = 0; u < t->threads_count; u++)
		g_ptr_array_add(all, g_array_new(FALSE, FALSE, sizeof(uint32_t)));
	for (uint32_t e = 0; e < t->events_count; e++)
		if (!is_of_the_schedule(t, &t->events[e]))
			g_array_append_val((GArray *)all->pdata[t->events[e].thread], e);
	return all;
}

static uint32_t thread_named(const struct trace *t, const char *name)
{
	for (uint32_t u = 0; u < t->threads_count; u++)
		if (strcmp(trace_thread_name(t, u), name) == 0)
			return u;
	return NONE;
}

/* The event of `a` before which the same threads have taken turns in both runs; 0: they have
 * done so to the end of one run. A difference before that is none of the order: the run differs
 * by something else, such as the process's number. */
static uint32_t turns_part(const struct trace *a, const struct trace *b)
{
	uint32_t both = MIN(a->events_count, b->events_count), e = 0;
	g_autofree uint32_t *in_b = g_new(uint32_t, a->threads_count);
	for (uint32_t u = 0; u < a->threads_count; u++)
		in_b[u] = thread_named(b, trace_thread_name(a, u));
	while (e < both && in_b[a->events[e].thread] == b->events[e].thread)
		e++;
	return e < both ? e : 0;
}

/* The first index where they differ, of the events of `a` from `from` on; the shorter length if
 * one ends, NONE if they agree. */
static guint first_difference(const struct trace *a, const GArray *x, uint32_t from,
                              const struct trace *b, const GArray *y, const bool complete[2])
{
	guint both = MIN(x->len, y->len), i = 0;
	while (i < both && g_array_index(x, uint32_t, i) < from)
		i++;
	for (; i < both; i++)
		if (!same_event(a, g_array_index(x, uint32_t, i), b,
		                g_array_index(y, uint32_t, i)))
			return i;
	bool cut = x->len < y->len ? !complete[0] : !complete[1];
	return x->len == y->len || cut ? NONE : both;
}

bool parting_find(const struct trace *a, const struct trace *b, const bool complete[2],
                  bool one_plan, struct parting *parting)
{
	g_autoptr(GPtrArray) of_a = by_thread(a), of_b = by_thread(b);
	g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint64_t best = UINT64_MAX;
	const uint32_t from = one_plan ? turns_part(a, b) : 0;
	*parting = (struct parting){ { NONE, NONE }, NULL };
	for (uint32_t u = 0; u < a->threads_count; u++) {
		const char *name = trace_thread_name(a, u);
		uint32_t v = thread_named(b, name);
		const GArray *x = of_a->pdata[u], *y = v == NONE ? none : of_b->pdata[v];
		guint i = first_difference(a, x, from, b, y, complete);
		uint32_t e = i < x->len ? g_array_index(x, uint32_t, i) : NONE;
		if (i == NONE || (e == NONE ? (uint64_t)NONE + i : e) >= best)
			continue;
		best = e == NONE ? (uint64_t)NONE + i : e;
		g_free(parting->thread);
		parting->thread = g_strdup(name);
		parting->events[0] = e;
		parting->events[1] = i < y->len ? g_array_index(y, uint32_t, i) : NONE;
	}
	return parting->thread != NULL;
}

void parting_release(struct parting *parting)
{
	g_free(parting->thread);
	*parting = (struct parting){ { NONE, NONE }, NULL };
}

/* -- words ---------------------------------------------------------------------------------- */

static void append_place(const struct trace *t, uint32_t e, GString *out)
{
	const char *function = trace_string(t, own_code_place(t, e).function);
	g_string_append(out, " at ");
	if (*function) {
		own_code_append_function(function, out);
		g_string_append_c(out, ' ');
	}
	const char *place = own_code_place_name(t, e);
	append_escaped(out, place, strlen(place));
}

static void append_access(const struct trace *t, uint32_t event, GString *out)
{
	const struct event *e = &t->events[event];
	bool pair = e->aux != 0 && trace_value(t, e->aux).kind == V_PAIR;
	g_string_append(out, pair ? "changes " : op_reads(e->op) ? "reads " : "writes ");
	own_code_append_name(trace_variable_name(t, e->target), out);
	if (e->aux == 0)
		return;
	if (pair) {
		g_string_append(out, " from ");
		shown_append(t, e->target, trace_value(t, e->aux).first, event, out);
		g_string_append(out, " to ");
		shown_append(t, e->target, trace_value(t, e->aux).second, event, out);
		return;
	}
	g_string_append(out, op_reads(e->op) ? " as " : " := ");
	shown_append(t, e->target, e->aux, event, out);
}

/* The object that the thread waits for at its end, or NONE. */
static uint32_t waits_for(const struct trace *t, const char *thread)
{
	uint32_t u = thread_named(t, thread);
	for (uint32_t e = (uint32_t)t->events_count; e-- > 0;)
		if (t->events[e].thread == u)
			return op_wants(t->events[e].op) ? e : NONE;
	return NONE;
}

void parting_append(const struct trace *t, const struct parting *parting, int side,
                    GString *out)
{
	uint32_t event = parting->events[side];
	bool waits = event == NONE && (event = waits_for(t, parting->thread)) != NONE;
	append_escaped(out, parting->thread, strlen(parting->thread));
	if (event == NONE) {
		g_string_append(out, " does nothing more");
		return;
	}
	const struct event *e = &t->events[event];
	g_string_append_c(out, ' ');
	if (op_is_access(e->op) && !(e->flags & EVENT_WIDE)) {
		append_access(t, event, out);
	} else {
		g_autoptr(GString) operand = g_string_new(NULL);
		trace_append_operand(t, event, operand);
		g_string_append(out, waits ? "" : "comes to: ");
		g_string_append(out, trace_verb(t, event));
		own_code_append_name(operand->str, out);
	}
	append_place(t, event, out);
}
