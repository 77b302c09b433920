/*
 * spell_event.c - events and their operands as text; see spell.h.
 */
#include "engine/trace/index.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"
#include "engine/trace/text/spell.h"

#include <string.h>

const struct flag_word flag_words[FLAG_WORDS] = {
	{ OP_AREAD, EVENT_VOLATILE, "failed" },
	{ OP_READ, EVENT_VOLATILE, "volatile" },
	{ OP_WRITE, EVENT_VOLATILE, "volatile" },
	{ OP_AWRITE, EVENT_VOLATILE, "volatile" },
	{ OP_TRYFAIL, EVENT_SHARED, "shared" },
	{ OP_WAIT, EVENT_TRY, "timed" },
	{ OP_WAKE, EVENT_TRY, "timeout" },
	{ OP_SND, EVENT_TRY, "failed" },
	{ OP_RET, EVENT_LEFT, "left" },
	{ OP_RMW, EVENT_VOLATILE, "volatile" },
	{ OP_ACQ, EVENT_TIMED, "timed" },
	{ OP_RACQ, EVENT_TIMED, "timed" },
	{ OP_TAKE, EVENT_TIMED, "timed" },
	{ OP_TAKETRYFAIL, EVENT_TIMED, "timed" },
	{ OP_TRYFAIL, EVENT_TIMED, "timed" },
	{ OP_TRYFAIL, EVENT_SHARED | EVENT_TIMED, "shared-timed" },
	{ OP_SND, EVENT_SHARED, "signal" },
	{ OP_RCV, EVENT_SHARED, "signal" },
	{ OP_SND, EVENT_SHARED | EVENT_TRY, "end" },
};

const char *const memory_order_words[] = { "", "rlx", "acq", "rel", "acq_rel", "seq_cst" };

void spell_operand(const struct spelling *s, const struct event *e, GString *out)
{
	static const enum spelt kinds[] = {
		[OPERAND_VARIABLE] = SPELT_VARIABLE, [OPERAND_OBJECT] = SPELT_OBJECT,
		[OPERAND_THREAD] = SPELT_THREAD,     [OPERAND_MESSAGE] = SPELT_MESSAGE,
		[OPERAND_BLOCK] = SPELT_BLOCK,       [OPERAND_INSTANCE] = SPELT_INSTANCE,
		[OPERAND_NAME] = SPELT_NAME,
	};
	enum operand operand = op_table[e->op].operand;
	if (operand == OPERAND_VARIABLE)
		spell(s, SPELT_VARIABLE, event_variables(s->t, e).first, out);
	else if (operand != OPERAND_NOTHING)
		spell(s, kinds[operand], e->target, out);
}

/* Bytes covered by an access; 0 if the trace has no sizes. */
static uint64_t spell_access_size(const struct trace *t, const struct event *e)
{
	struct wide run = event_variables(t, e);
	uint64_t size = 0;
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		size += t->variables[v].size;
	return size;
}

static void spell_access(const struct spelling *s, const struct event *e, GString *out)
{
	uint64_t size = spell_access_size(s->t, e);
	if (size)
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, size);
	g_string_append_c(out, '(');
	spell_operand(s, e, out);
	g_string_append_c(out, ')');
	if (e->aux) {
		g_string_append_c(out, '=');
		if (s->shown)
			shown_append(s->t, shown_variable(e), e->aux,
			             (uint32_t)(e - s->t->events), out);
		else
			spell_value(s, e->aux, out);
	}
}

/* ";acq,failed": the memory order, and the event's flags, as in a file. */
static void spell_flags(const struct spelling *s, const struct event *e, GString *out)
{
	const char *word = NULL;
	bool failed = event_failed_update(e);

	for (size_t i = 0; i < FLAG_WORDS; i++) {
		if (flag_words[i].op == e->op &&
		    (e->flags & flag_words[i].flag) == flag_words[i].flag)
			word = flag_words[i].word;
	}
	if (s->shown || !(s->raw || failed))
		word = NULL;
	bool order = op_is_atomic(e->op) && event_order(e) != ORDER_PLAIN &&
	             (word != NULL || event_order(e) != ORDER_SEQ_CST);
	if (order || word != NULL)
		g_string_append_c(out, ';');
	if (order)
		g_string_append(out, memory_order_words[event_order(e)]);
	if (order && word != NULL)
		g_string_append_c(out, ',');
	if (word != NULL)
		g_string_append(out, word);
}

static void spell_call(const struct spelling *s, const struct event *e, GString *out)
{
	const struct trace *t = s->t;
	const struct invocation_part *p = &t->invocations[e->aux];
	g_string_append_c(out, '(');
	spell_operand(s, e, out);
	g_string_append_c(out, '.');
	spell(s, SPELT_NAME, p->method, out);
	if (p->arguments)
		g_string_append_c(out, ',');
	spell_list(s, t->value_lists + p->values, p->arguments, out);
	g_string_append_c(out, ')');
	if (p->results) {
		g_string_append_c(out, '=');
		spell_list(s, t->value_lists + p->values + p->arguments, p->results, out);
	}
}

static void spell_other(const struct spelling *s, const struct event *e, GString *out)
{
	const struct trace *t = s->t;
	g_string_append_c(out, '(');
	spell_operand(s, e, out);
	if (e->op == OP_FENCE)
		g_string_append(out, memory_order_words[event_order(e)]);
	if (e->op == OP_FLUSH)
		g_string_append_printf(out, "%u", e->aux);
	if (e->op == OP_ALLOC)
		g_string_append_printf(out, ",%" G_GUINT64_FORMAT, t->blocks[e->target].size);
	if ((e->op == OP_UBEG || e->op == OP_MISS) && trace_value(t, e->aux).kind == V_LIST &&
	    trace_value(t, e->aux).count) {
		g_string_append_c(out, ',');
		spell_value(s, e->aux, out);
	}
	if (e->op == OP_MISUSE) {
		g_string_append_c(out, ',');
		spell_value(s, e->aux, out);
	}
	g_string_append_c(out, ')');
}

static void spell_operation(const struct spelling *s, const struct event *e, GString *out)
{
	g_string_append(out, event_word(e));
	if (op_is_access(e->op))
		spell_access(s, e, out);
	else if (op_table[e->op].operand == OPERAND_INSTANCE)
		spell_call(s, e, out);
	else
		spell_other(s, e, out);
	spell_flags(s, e, out);
}

void spell_line(const struct spelling *s, const struct event *e, GString *out)
{
	spell(s, SPELT_THREAD, e->thread, out);
	g_string_append_c(out, '|');
	spell_operation(s, e, out);
	g_string_append_c(out, '|');
	spell(s, SPELT_LOCATION, e->location, out);
}

/* The function that an event enters or leaves, if it is a call of the C library; else NULL. */
static const char *library_call(const struct trace *t, const struct event *e)
{
	bool scope = e->op == OP_ENTER || e->op == OP_LEAVE;
	return scope ? own_code_library_call(trace_string(t, e->target)) : NULL;
}

const char *trace_verb(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];
	const struct trace_index *index = t->index;

	const char *call = library_call(t, e);
	if (call != NULL) {
		bool in = e->op == OP_ENTER;
		if (strcmp(call, SIGNAL_WORDS) == 0)
			return in ? "handle " : "end of handling ";
		return in ? "call " : "return from ";
	}
	if (e->op != OP_WAKE || !(e->flags & EVENT_TRY))
		return op_table[e->op].verb;
	if (index != NULL && index->parts & INDEX_MATCH && index->partner[event] != NONE &&
	    t->events[index->partner[event]].flags & EVENT_TRY)
		return "timed out on ";
	return "woken without a signal on ";
}

void trace_append_operand(const struct trace *t, uint32_t event, GString *out)
{
	struct spelling s = spelling_for_people(t);
	const char *call = library_call(t, &t->events[event]);
	if (call != NULL)
		g_string_append(out, call);
	else
		spell_operand(&s, &t->events[event], out);
}

void trace_append_operation(const struct trace *t, uint32_t event, GString *out)
{
	struct spelling s = spelling_for_people(t);
	s.shown = true;
	spell_operation(&s, &t->events[event], out);
}

/* Behind an operation: ": 5", a value as people write it, and the order of an atomic. */
static void append_details(const struct spelling *s, const struct event *e, GString *out)
{
	static const char *const words[] = { "",          ", relaxed", ", acquire",
		                             ", release", ", acq_rel", "" };

	if (op_is_access(e->op) && e->aux) {
		g_string_append(out, ": ");
		shown_append(s->t, shown_variable(e), e->aux, (uint32_t)(e - s->t->events),
		             out);
	} else if (e->op == OP_MISUSE) {
		g_string_append(out, ": ");
		spell_value(s, e->aux, out);
	}
	if (op_is_atomic(e->op))
		g_string_append(out, words[event_order(e)]);
}

/* "q.put(1), which returns 2", "call q.put(1)", "return from q.put: 2" */
static void append_call(const struct spelling *s, const struct event *e, GString *out)
{
	const struct trace *t = s->t;
	const struct invocation_part *p = &t->invocations[e->aux];

	spell_operand(s, e, out);
	g_string_append_c(out, '.');
	spell(s, SPELT_NAME, p->method, out);
	if (e->op != OP_RET) {
		g_string_append_c(out, '(');
		spell_list(s, t->value_lists + p->values, p->arguments, out);
		g_string_append_c(out, ')');
	}
	if (p->results == 0)
		return;
	g_string_append(out, e->op == OP_RET ? ": " : ", which returns ");
	spell_list(s, t->value_lists + p->values + p->arguments, p->results, out);
}

void trace_append_words(const struct trace *t, uint32_t event, GString *out)
{
	const struct event *e = &t->events[event];
	struct spelling s = spelling_for_people(t);

	g_string_append(out, trace_verb(t, event));
	if (e->op == OP_FLUSH) {
		trace_append_words(t, e->aux, out);
	} else if (e->op == OP_FENCE) {
		g_string_append(out, memory_order_words[event_order(e)]);
	} else if (op_table[e->op].class == OP_CLASS_CALL) {
		append_call(&s, e, out);
	} else {
		trace_append_operand(t, event, out);
		append_details(&s, e, out);
	}
}

void trace_append_deed(const struct trace *t, uint32_t event, GString *out)
{
	switch ((enum op)t->events[event].op) {
	case OP_BEGIN:
		g_string_append(out, "beginning");
		break;
	case OP_END:
		g_string_append(out, "end");
		break;
	case OP_WAKE:
		g_string_append(out, "waking on ");
		trace_append_operand(t, event, out);
		break;
	case OP_WANT:
	case OP_WANTJOIN:
		g_string_append(out, "wait for ");
		trace_append_operand(t, event, out);
		break;
	default:
		trace_append_words(t, event, out);
	}
}

void trace_append_event(const struct trace *t, uint32_t event, GString *out)
{
	const char *thread = trace_thread_name(t, t->events[event].thread);
	const char *place = own_code_place_name(t, event);

	g_string_append_printf(out, "event %u, ", event);
	append_escaped(out, thread, strlen(thread));
	g_string_append(out, "'s ");
	trace_append_deed(t, event, out);
	if (*place != '\0') {
		g_string_append(out, " at ");
		append_escaped(out, place, strlen(place));
	}
}

void trace_append_line(const struct trace *t, uint32_t event, GString *out)
{
	struct spelling s = spelling_for_people(t);
	spell_line(&s, &t->events[event], out);
}
