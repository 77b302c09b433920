/* consume.c - see consume.h. */
#include "tests/support/consume.h"

#include "engine/trace/formats.h"
#include "engine/trace/index.h"

void consume_trace(struct trace *t)
{
	GString *out = g_string_new(NULL);

	BUG_ON(!trace_need(t, INDEX_ALL, NULL));
	for (uint32_t e = 0; e < t->events_count; e++) {
		trace_append_line(t, e, out);
		trace_next(t, e);
		trace_previous(t, e);
		if (op_table[t->events[e].op].operand == OPERAND_INSTANCE)
			trace_invocation(t, e);
		if (op_reads(t->events[e].op) && !event_inert(&t->events[e]))
			trace_writers(t, e);
		trace_site_name(t, e);
		if (out->len > 1 << 16)
			g_string_truncate(out, 0);
	}
	g_string_truncate(out, 0);
	trace_print(t, TRACE_TEXT, NULL, out, NULL);
	trace_print(t, TRACE_STD, NULL, out, NULL);
	g_string_free(out, TRUE);
}

void consume_again(const struct trace *t)
{
	GString *once = g_string_new(NULL), *twice = g_string_new(NULL);
	struct error e = { .what = "" };
	struct trace *again;

	trace_print(t, TRACE_TEXT, NULL, once, NULL);
	again = trace_from_text("again", once->str, once->len, NULL, &e);
	if (again == NULL)
		BUG("%s: %s\n%s", e.where, e.what, once->str);
	BUG_ON(again->events_count != t->events_count);
	trace_print(again, TRACE_TEXT, NULL, twice, NULL);
	if (!g_string_equal(once, twice))
		BUG("written otherwise:\n%s\nand\n%s", once->str, twice->str);
	trace_close(again);
	g_string_free(once, TRUE);
	g_string_free(twice, TRUE);
}
