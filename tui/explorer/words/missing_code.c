/*
 * missing_code.c - see missing_code.h. engine/partial has barrier pairs and their orders; here
 * are the texts and the switch.
 */
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/messages.h"

#include "engine/partial/calls.h"

const char *missing_code_sign(const struct session *s, uint32_t thread, uint32_t event)
{
	return s->calls != NULL && missing_calls_at(s->calls, s->trace, thread, event) != NONE
	               ? "░"
	               : " ";
}

bool missing_code_reason(const struct session *s, const struct step *step, GString *out)
{
	struct missing_reason reason;

	if (step->rule != STEP_MUST || step->detail != MUST_MISSING ||
	    !missing_reason(s->calls, s->trace, step->from, step->to, &reason))
		return false;
	g_string_append(out, "missing code: ");
	missing_reason_append(s->trace, &reason, step->from, step->to, out);
	return true;
}

static void append_calls(const struct session *s, uint64_t count, uint32_t thread,
                         const char *when, uint32_t event, GString *out)
{
	g_string_append(out, trace_thread_name(s->trace, thread));
	if (count == 0)
		g_string_append(out, " makes no call");
	else
		g_string_append_printf(out, " makes %" G_GUINT64_FORMAT " call%s", count,
		                       plural(count));
	g_string_append_printf(out, " into unrecorded code %s %u", when, event);
}

void missing_code_silence(const struct session *s, uint32_t first, uint32_t second,
                          GString *out)
{
	uint32_t a = s->trace->events[first].thread, b = s->trace->events[second].thread;

	if (s->calls == NULL)
		return;
	uint64_t after = missing_calls_of(s->calls, a) -
	                 missing_calls_before(s->calls, a, first + 1) +
	                 (missing_calls_at(s->calls, s->trace, a, first) != NONE);
	uint64_t before = missing_calls_before(s->calls, b, second);
	append_calls(s, after, a, "from", first, out);
	g_string_append(out, " on, ");
	append_calls(s, before, b, "before", second, out);
	g_string_append(out, ": no address that both sides may touch leads from the first to "
	                     "the second.");
}

bool missing_code_refutes(const struct session *s, const struct entry *entry)
{
	enum verdict v = entry->finding->verdict;

	return entry->finding->kind == FINDING_DATA_RACE && entry->sites[0] != NONE &&
	       (v == VERDICT_RACE || v == VERDICT_CANDIDATE) &&
	       session_seen(s, entry, ANALYSIS_RDIT) == 0;
}

enum verdict missing_code_verdict(const struct session *s, const struct entry *entry)
{
	if (!s->missing || !missing_code_refutes(s, entry))
		return entry->finding->verdict;
	return s->missing_complete ? VERDICT_IMPOSSIBLE : VERDICT_UNKNOWN;
}
