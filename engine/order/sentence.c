/*
 * sentence.c - steps of a chain in the user's words: names of threads, locks, variables,
 * places.
 */
#include "engine/order/order.h"
#include "engine/trace/own_code.h"

#include <string.h>

static void append_thread(const struct trace *t, uint32_t event, GString *out)
{
	const char *name = trace_thread_name(t, t->events[event].thread);

	append_escaped(out, name, strlen(name));
}

static void append_place(const struct trace *t, uint32_t event, GString *out)
{
	const char *name = own_code_place_name(t, event);

	if (*name == '\0')
		return;
	g_string_append(out, " at ");
	append_escaped(out, name, strlen(name));
}

/* "T1's write x: 5 at bank.c:31" */
static void append_of(const struct trace *t, uint32_t event, GString *out)
{
	append_thread(t, event, out);
	g_string_append(out, "'s ");
	trace_append_deed(t, event, out);
	append_place(t, event, out);
}

/* "T1 VERB OPERAND at bank.c:31" */
static void append_verb(const struct trace *t, uint32_t event, const char *verb, GString *out)
{
	append_thread(t, event, out);
	g_string_append_printf(out, " %s ", verb);
	trace_append_operand(t, event, out);
	append_place(t, event, out);
}

static void append_object(const struct trace *t, const struct step *s, GString *out)
{
	const char *name = trace_string(t, t->objects[s->detail].name);

	append_escaped(out, name, strlen(name));
}

/* The reason for each edge of rule 4. */
static const char *const must_reason[] = {
	[MUST_FORK] = "a thread begins after it is forked",
	[MUST_JOIN] = "a join waits for the thread's end",
	[MUST_MESSAGE] = "a message is sent before it is received",
	[MUST_ALLOC] = "a block is allocated before it is used",
	[MUST_FREE] = "a block is freed before it is allocated again",
	[MUST_SEMAPHORE] = "this take needed this post",
	[MUST_BARRIER] = "all arrive at a barrier before any leaves it",
	[MUST_WAKER] = "a waiting thread is woken by this",
	[MUST_WAIT] = "the wait came before what woke it",
	[MUST_INVOCATION] =
	        "invocations of one object, which no specification lets change places here",
	[MUST_MISSING] = "code that was not recorded may touch the same",
};

static void append_two(const struct trace *t, const struct step *s, const char *reason,
                       GString *out)
{
	append_of(t, s->from, out);
	g_string_append(out, " before ");
	append_of(t, s->to, out);
	g_string_append_printf(out, ": %s", reason);
}

static void append_lock(const struct trace *t, const struct step *s, GString *out)
{
	if (!op_releases(t->events[s->from].op)) { /* in a proof: the section stays open */
		append_thread(t, s->from, out);
		g_string_append(out, " still holds ");
		trace_append_operand(t, s->to, out);
		g_string_append(out, " when it comes to ");
		trace_append_deed(t, s->from, out);
		append_place(t, s->from, out);
		g_string_append(out, ", so before ");
		append_verb(t, s->to, "acquires", out);
		return;
	}
	append_verb(t, s->from, "releases", out);
	g_string_append(out, " before ");
	append_verb(t, s->to, "acquires", out);
}

static void append_observation(const struct trace *t, const struct step *s, GString *out)
{
	if (!op_is_access(t->events[s->to].op)) {
		append_two(t, s, "the try failed because of it", out);
		return;
	}
	append_verb(t, s->to, "reads", out);
	g_string_append(out, ", which ");
	append_thread(t, s->from, out);
	g_string_append(out, " wrote");
	append_place(t, s->from, out);
}

static void append_sections(const struct trace *t, const struct step *s, const char *what,
                            GString *out)
{
	g_string_append(out, "critical sections on ");
	append_object(t, s, out);
	g_string_append_printf(out, " hold %s: ", what);
	append_thread(t, s->from, out);
	g_string_append(out, "'s, released");
	append_place(t, s->from, out);
	g_string_append(out, ", before ");
	append_of(t, s->to, out);
}

/* -- steps of proofs ---------------------------------------------------------------------- */

/* Two critical sections that exclude each other: ordered, or from the solver in either
 * order. */
static void append_excluded(const struct trace *t, const struct step *s, GString *out)
{
	if (op_releases(t->events[s->from].op)) {
		append_lock(t, s, out);
		g_string_append(out, ": their critical sections may not overlap");
		return;
	}
	g_string_append(out, "the critical sections on ");
	trace_append_operand(t, s->to, out);
	g_string_append(out, " that ");
	append_thread(t, s->from, out);
	g_string_append(out, " begins");
	append_place(t, s->from, out);
	g_string_append(out, " and ");
	append_thread(t, s->to, out);
	append_place(t, s->to, out);
	g_string_append(out, " may not overlap");
}

static void append_open(const struct trace *t, const struct step *s, GString *out)
{
	append_lock(t, s, out);
	g_string_append(out, ": that critical section is still open at the end");
}

/* "T1's read x: 1 at bank.c:31 has to see T2's write x: 1 at bank.c:20" */
static void append_sees(const struct trace *t, uint32_t read, uint32_t write, GString *out)
{
	append_of(t, read, out);
	g_string_append(out, " has to see ");
	if (write == NONE)
		g_string_append(out, "the initial value");
	else
		append_of(t, write, out);
}

/* No other write between a write and its read. */
static void append_no_write_between(const struct trace *t, const struct step *s, GString *out)
{
	uint32_t read, write;

	if (!step_reading(s, &read, &write))
		return;
	if (s->rule != STEP_NOT_BETWEEN) {
		append_two(t, s, "", out);
	} else { /* from the solver, on either side */
		append_of(t, s->from, out);
		g_string_append(out, ", but not in between: ");
	}
	append_sees(t, read, write, out);
}

static void append_asked(const struct trace *t, const struct step *s, GString *out)
{
	g_string_append(out, "but this pair is assumed to race: ");
	append_thread(t, s->to, out);
	g_string_append(out, " before ");
	trace_append_deed(t, s->to, out);
	append_place(t, s->to, out);
	g_string_append(out, ", ");
	append_thread(t, s->from, out);
	g_string_append(out, " before ");
	trace_append_deed(t, s->from, out);
	append_place(t, s->from, out);
}

static void append_constraint(const struct trace *t, const struct step *s, GString *out)
{
	if (s->from != s->to) {
		append_two(t, s, "a wait comes before what wakes it", out);
		return;
	}
	append_of(t, s->from, out);
	g_string_append(out, op_is_access(t->events[s->from].op)
	                             ? " sees one of the writes of that value"
	                             : " fails as it did");
}

void order_append_sentence(const struct trace *t, const struct step *s, GString *out)
{
	switch ((enum step_rule)s->rule) {
	case STEP_PROGRAM:
		append_two(t, s, "one thread", out);
		break;
	case STEP_MUST:
		append_two(t, s,
		           s->detail < G_N_ELEMENTS(must_reason) ? must_reason[s->detail]
		                                                 : step_rule_text(s->rule),
		           out);
		break;
	case STEP_LOCK:
		append_lock(t, s, out);
		break;
	case STEP_OBSERVATION:
		append_observation(t, s, out);
		break;
	case STEP_SYNCHRONISES:
		append_two(t, s, "a release that an acquire reads from", out);
		break;
	case STEP_CONFLICT_SECTION:
		append_sections(t, s, "conflicting accesses", out);
		break;
	case STEP_ORDERED_SECTION:
		append_sections(t, s, "ordered events", out);
		break;
	case STEP_CLOSURE_LOCK:
		append_excluded(t, s, out);
		break;
	case STEP_CLOSURE_READ:
	case STEP_CLOSURE_WRITE:
	case STEP_NOT_BETWEEN:
		append_no_write_between(t, s, out);
		break;
	case STEP_OPEN_SECTION:
		append_open(t, s, out);
		break;
	case STEP_ASSUMED:
		append_asked(t, s, out);
		break;
	case STEP_CONSTRAINT:
		append_constraint(t, s, out);
		break;
	default:
		append_two(t, s, step_rule_text(s->rule), out);
		break;
	}
}
