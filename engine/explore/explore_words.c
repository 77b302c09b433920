/*
 * explore_words.c - describes the difference between a run and its parent.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/reversals/reach_private.h"
#include "engine/trace/channel.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"

#include <string.h>

static char *value_text(const struct trace *t, uint32_t access, uint32_t value)
{
	GString *text = g_string_new(NULL);
	if (value == 0)
		g_string_append(text, "another value");
	else
		shown_append(t, shown_variable(&t->events[access]), value, access, text);
	return g_string_free(text, FALSE);
}

static void describe_wait(const struct exploration *x, const struct reversal *f,
                          struct pending *s)
{
	const struct trace *t = x->trace;
	GString *condition = g_string_new(NULL);
	const char *name = trace_string(t, t->objects[t->events[f->event].target].name);
	append_escaped(condition, name, strlen(name));
	s->reversal = g_strdup_printf("%s waits for %s %s %s signals it", s->thread,
	                              condition->str, f->other > f->event ? "after" : "before",
	                              trace_thread_name(t, t->events[f->other].thread));
	s->variable = g_string_free(condition, FALSE);
}

/* "T1 finds nothing in the pipe wake_fd, not 1 byte" */
static void describe_channel(const struct exploration *x, const struct reversal *f,
                             struct pending *s)
{
	g_autofree char *was = channel_steps_text_in_run(x->history->channels, f->event);
	const char *kind = channel_variable_kind(s->variable), *at = strrchr(s->variable, '@');
	const char *now =
	        f->text != NULL && strcmp(f->text, was) != 0 ? f->text : "something else";
	bool known = f->text != NULL && !g_str_has_prefix(now, was) && now == f->text;
	s->reversal = g_strdup_printf("%s finds %s in the %s %.*s%s%s", s->thread, now, kind,
	                              (int)(at - s->variable), s->variable,
	                              known ? ", not " : "", known ? was : "");
}

static void describe_read(const struct exploration *x, const struct reversal *f,
                          struct pending *s)
{
	const struct trace *t = x->trace;
	GString *variable = g_string_new(NULL), *name = g_string_new(NULL);
	trace_append_variable(t, &t->events[f->event], variable);
	s->variable = g_string_free(variable, FALSE);
	if (channel_steps_acts(x->history->channels, f->event) &&
	    channel_is_variable(s->variable)) {
		g_string_free(name, TRUE);
		describe_channel(x, f, s);
		return;
	}
	own_code_append_name(s->variable, name);
	char *old = value_text(t, f->event, past_value_read(t, f->event));
	char *now = f->text != NULL ? g_strdup(f->text)
	            : f->other == NONE && trace_writers(x->view->t, f->event).items[0] == NONE
	                    ? g_strdup("another value")
	            : f->other == NONE
	                    ? NULL
	                    : value_text(t, f->other, past_value_written(t, f->other));
	if (now == NULL)
		s->reversal = g_strdup_printf("%s reads the initial value of %s, not %s",
		                              s->thread, name->str, old);
	else
		s->reversal = g_strdup_printf("%s reads %s = %s, not %s", s->thread, name->str,
		                              now, old);
	g_string_free(name, TRUE);
	g_free(old);
	g_free(now);
}

static void describe_call(const struct exploration *x, const struct reversal *f,
                          struct pending *s)
{
	const struct view_call *call = view_call_of(x->view, f->event);
	const struct view_call *other = view_call_of(x->view, f->other);
	char *one = view_call_text(x->view, call), *two = view_call_text(x->view, other);
	s->variable = view_object_name(x->view, call->object);
	s->reversal = g_strdup_printf("%s, by %s, comes before %s, by %s", one, s->thread, two,
	                              trace_thread_name(x->trace, other->thread));
	g_free(one);
	g_free(two);
}

static void describe_return(const struct exploration *x, const struct reversal *f,
                            struct pending *s)
{
	const struct view_call *call = view_call_of(x->view, f->event);
	char *text = view_call_text(x->view, call);
	s->variable = view_object_name(x->view, call->object);
	s->reversal =
	        g_strdup_printf("%s, by %s, returns %s instead", text, s->thread, f->text);
	g_free(text);
}

/* The variable, object or (for a free) block of an operation. */
char *explore_used_name(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];
	GString *name = g_string_new(NULL);
	if (op_is_access(e->op)) {
		trace_append_variable(t, e, name);
	} else {
		const char *text =
		        trace_string(t, e->op == OP_FREE ? t->blocks[e->target].name
		                                         : t->objects[e->target].name);
		append_escaped(name, text, strlen(text));
	}
	return g_string_free(name, FALSE);
}

/* A block without an allocation is a stack. */
static bool in_stack(const struct trace *t, const struct event *e)
{
	uint32_t block = op_is_access(e->op) ? t->variables[event_variables(t, e).first].block
	                 : op_table[e->op].operand == OPERAND_OBJECT
	                         ? t->objects[e->target].block
	                         : NONE;
	return block != NONE && t->blocks[block].alloc == NONE;
}

/* Does the event's thread have a step after it? */
static bool goes_on(const struct trace *t, uint32_t event)
{
	for (event = trace_next(t, event); event != NONE; event = trace_next(t, event)) {
		const struct event *e = &t->events[event];
		enum op_class class = op_table[e->op].class;
		if (!event_inert(e) && class != OP_CLASS_SCOPE && class != OP_CLASS_MARKER)
			return true;
	}
	return false;
}

/* How the life of what `use` uses ends at `end`: "destroyed it at a.c:4" after its thread's
 * name, or with `before` "destroys it at a.c:4". */
static char *end_text(const struct trace *t, uint32_t use, uint32_t end, bool before)
{
	const struct event *e = &t->events[use];
	const char *place = own_code_place_name(t, end);
	const char *verb = before ? "frees" : "freed",
	           *it = e->op == OP_FREE ? "it" : "its block";
	if (t->events[end].op == OP_DESTROY && !op_is_access(e->op) &&
	    t->events[end].target == e->target) {
		verb = before ? "destroys" : "destroyed";
		it = "it";
	} else if (in_stack(t, e)) {
		return goes_on(t, end)
		               ? g_strdup_printf("%s from its function (last seen there at %s)",
		                                 before ? "returns" : "returned", place)
		               : g_strdup_printf("%s, whose stack it is (last seen at %s)",
		                                 before ? "ends" : "ended", place);
	}
	return g_strdup_printf("%s %s at %s", verb, it, place);
}

static const char *use_verb(const struct event *e)
{
	return !op_is_access(e->op) ? e->op == OP_FREE      ? "frees"
	                              : e->op == OP_DESTROY ? "destroys"
	                                                    : "uses"
	       : op_writes(e->op)   ? "writes"
	                            : "reads";
}

char *explore_use_text(const struct trace *t, uint32_t use, uint32_t end)
{
	const struct event *e = &t->events[use];
	g_autofree char *name = explore_used_name(t, use), *how = end_text(t, use, end, false);
	return g_strdup_printf("%s %s %s after %s %s", trace_thread_name(t, e->thread),
	                       use_verb(e), name, trace_thread_name(t, t->events[end].thread),
	                       how);
}

static void describe_use(const struct exploration *x, const struct reversal *f,
                         struct pending *s)
{
	s->variable = explore_used_name(x->trace, f->event);
	s->reversal = explore_use_text(x->trace, f->event, f->other);
}

char *explore_spurious_text(struct trace *t)
{
	uint32_t e = 0;
	if (!trace_need(t, INDEX_MATCH, NULL))
		return NULL;
	while (e < t->events_count && !sync_is_spurious(t, e))
		e++;
	if (e == t->events_count)
		return NULL;
	g_autofree char *name = explore_used_name(t, e);
	return g_strdup_printf("%s's wait for %s (%s) ends without a signal",
	                       trace_thread_name(t, t->events[e].thread), name,
	                       own_code_place_name(t, e));
}

static void describe_alive(const struct exploration *x, const struct reversal *f,
                           struct pending *s)
{
	const struct trace *t = x->trace;
	g_autofree char *how = end_text(t, f->event, f->other, true);
	s->variable = explore_used_name(t, f->event);
	s->reversal = g_strdup_printf("%s %s %s before %s %s", s->thread,
	                              use_verb(&t->events[f->event]), s->variable,
	                              trace_thread_name(t, t->events[f->other].thread), how);
}

static void describe_try(const struct exploration *x, const struct reversal *f,
                         struct pending *s)
{
	const struct trace *t = x->trace;
	s->variable = explore_used_name(t, f->event);
	if (f->other != NONE)
		s->reversal = g_strdup_printf("%s does not get %s, which %s has", s->thread,
		                              s->variable,
		                              trace_thread_name(t, t->events[f->other].thread));
	else
		s->reversal = g_strdup_printf(
		        "%s %s %s", s->thread,
		        f->kind == REVERSAL_FAILS ? "does not get" : "gets", s->variable);
}

static void describe_condition(const struct exploration *x, const struct reversal *f,
                               struct pending *s)
{
	const struct trace *t = x->trace;
	uint32_t on = f->event != NONE ? f->event : f->other;
	s->variable = on == NONE ? g_strdup("") : explore_used_name(t, on);
	if (f->kind == REVERSAL_SPURIOUS)
		s->reversal = g_strdup_printf(
		        "%s's wait for %s ends without a signal (a spurious wake-up)",
		        s->thread, s->variable);
	else if (f->kind == REVERSAL_TIMEOUT)
		s->reversal =
		        g_strdup_printf("%s's wait for %s times out", s->thread, s->variable);
	else if (f->other == NONE)
		s->reversal = g_strdup_printf("%s's wait for %s is signalled", s->thread,
		                              s->variable);
	else
		s->reversal =
		        g_strdup_printf("%s is woken by %s's signal of %s at %s", s->thread,
		                        trace_thread_name(t, t->events[f->other].thread),
		                        s->variable, own_code_place_name(t, f->other));
}

static void describe_barrier(const struct exploration *x, const struct reversal *f,
                             struct pending *s)
{
	bool last = x->trace->events[f->event].op == OP_DEPART &&
	            history_last_at_barrier(x->history, f->event);
	s->variable = explore_used_name(x->trace, f->event);
	s->reversal = g_strdup_printf(last ? "%s is not the last one to come to %s"
	                                   : "%s is the last one to come to %s",
	                              s->thread, s->variable);
}

static void describe_once(const struct exploration *x, const struct reversal *f,
                          struct pending *s)
{
	s->variable = g_strdup("");
	s->reversal =
	        g_strdup_printf("%s runs the function that is run once, not %s", s->thread,
	                        trace_thread_name(x->trace, x->trace->events[f->other].thread));
}

static void describe_stuck(const struct exploration *x, const struct reversal *f,
                           struct pending *s)
{
	(void)x;
	(void)f;
	s->variable = g_strdup("");
	s->reversal = g_strdup("all threads wait");
}

static void describe_going(const struct exploration *x, const struct reversal *f,
                           struct pending *s)
{
	s->variable = g_strdup("");
	if (f->other == NONE) {
		s->reversal = g_strdup_printf("%s goes on before the program ends", s->thread);
		return;
	}
	GString *what = g_string_new(NULL);
	trace_append_deed(x->trace, f->other, what);
	s->reversal = g_strdup_printf(
	        "%s goes on before %s's %s", s->thread,
	        trace_thread_name(x->trace, x->trace->events[f->other].thread), what->str);
	g_string_free(what, TRUE);
}

static void describe_handler(const struct exploration *x, const struct reversal *f,
                             struct pending *s)
{
	s->variable = g_strdup("");
	if (f->kind == REVERSAL_SENT) {
		bool before = x->trace->events[f->event].op == OP_RCV;
		s->reversal = g_strdup_printf("%s's signal comes %s the end of its thread",
		                              s->thread, before ? "before" : "after");
		return;
	}
	s->reversal = g_strdup_printf(f->kind == REVERSAL_HANDLED
	                                      ? "%s runs a signal's handler now"
	                                      : "%s goes on before it runs a signal's handler",
	                              s->thread);
}

static void describe_final(const struct exploration *x, const struct reversal *f,
                           struct pending *s)
{
	const struct trace *t = x->trace;
	GString *variable = g_string_new(NULL);
	trace_append_variable(t, &t->events[f->other], variable);
	char *value = value_text(t, f->other, past_value_written(t, f->other));
	s->variable = g_string_free(variable, FALSE);
	s->reversal = g_strdup_printf("%s = %s at the end, by %s", s->variable, value,
	                              trace_thread_name(t, t->events[f->other].thread));
	g_free(value);
}

static void describe_race(const struct exploration *x, const struct reversal *f,
                          struct pending *s)
{
	const struct trace *t = x->trace;
	const struct event *a = &t->events[f->other];
	s->variable = explore_used_name(t, f->event);
	s->reversal = g_strdup_printf(
	        "%s %s %s just before %s %s it", trace_thread_name(t, a->thread),
	        op_writes(a->op) ? "writes" : "reads", s->variable, s->thread,
	        op_writes(t->events[f->event].op) ? "writes" : "reads");
}

static void describe_early(const struct exploration *x, const struct reversal *f,
                           struct pending *s)
{
	bool access = op_is_access(x->trace->events[f->event].op);
	s->variable = explore_used_name(x->trace, f->event);
	s->reversal = g_strdup_printf("%s %s %s first", trace_thread_name(x->trace, f->thread),
	                              access ? "writes" : "uses", s->variable);
}

typedef void reversal_words(const struct exploration *x, const struct reversal *f,
                            struct pending *s);
static reversal_words *const words_of[REVERSAL_KINDS] = {
	[REVERSAL_READ] = describe_read,
	[REVERSAL_WAIT] = describe_wait,
	[REVERSAL_USE] = describe_use,
	[REVERSAL_ALIVE] = describe_alive,
	[REVERSAL_CALL] = describe_call,
	[REVERSAL_FAILS] = describe_try,
	[REVERSAL_SUCCEEDS] = describe_try,
	[REVERSAL_TIMEOUT] = describe_condition,
	[REVERSAL_SPURIOUS] = describe_condition,
	[REVERSAL_WOKEN] = describe_condition,
	[REVERSAL_SIGNALLED] = describe_condition,
	[REVERSAL_ONCE] = describe_once,
	[REVERSAL_STUCK] = describe_stuck,
	[REVERSAL_IDLE] = describe_stuck,
	[REVERSAL_LAST] = describe_barrier,
	[REVERSAL_GOES_ON] = describe_going,
	[REVERSAL_HANDLED] = describe_handler,
	[REVERSAL_LATER] = describe_handler,
	[REVERSAL_SENT] = describe_handler,
	[REVERSAL_FINAL] = describe_final,
	[REVERSAL_RETURNS] = describe_return,
	[REVERSAL_RACE] = describe_race,
	[REVERSAL_EARLY] = describe_early,
};

void explore_describe(const struct exploration *x, const struct reversal *f, struct pending *s)
{
	words_of[f->kind](x, f, s);
}
