/*
 * linear_json.c - see linear_json.h.
 */
#include "tui/batch/print/linear_json.h"

#include "tui/batch/print/print.h"

static json_t *number_or_null(uint32_t number)
{
	return number == NONE ? json_null() : json_integer(number);
}

json_t *history_json(const GArray *shown)
{
	json_t *list = json_array();
	for (guint i = 0; i < shown->len; i++) {
		const struct linear_shown *s = &g_array_index(shown, struct linear_shown, i);
		json_array_append_new(
		        list, json_pack("{s:o, s:o, s:o, s:i, s:o, s:o}", "thread",
		                        json_text(s->thread), "invocation", json_text(s->text),
		                        "location", json_text(s->place), "call", (int)s->call,
		                        "return", number_or_null(s->ret), "order",
		                        number_or_null(s->order)));
	}
	return list;
}
