/*
 * once.c - see once.h.
 */
#include "engine/trace/once.h"

#include <string.h>

static const char *name_of(const struct trace *t, uint64_t message)
{
	return trace_string(t, t->messages[message]);
}

bool once_begins_at(const struct trace *t, uint32_t event)
{
	const struct event *x = &t->events[event];

	return x->op == OP_SND && g_str_has_suffix(name_of(t, x->target), MESSAGE_BEGINS);
}

uint32_t *once_begins(const struct trace *t)
{
	uint32_t *begins = g_new(uint32_t, t->messages_count + 1);
	g_autoptr(GHashTable) by_name =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint32_t e = 0; t->messages_count > 0 && e < t->events_count; e++) {
		const char *name =
		        once_begins_at(t, e) ? name_of(t, t->events[e].target) : NULL;

		if (name != NULL)
			g_hash_table_insert(
			        by_name, g_strndup(name, strlen(name) - strlen(MESSAGE_BEGINS)),
			        GUINT_TO_POINTER(e + 1));
	}
	for (uint64_t m = 0; m < t->messages_count; m++)
		begins[m] = GPOINTER_TO_UINT(g_hash_table_lookup(by_name, name_of(t, m))) - 1;
	return begins;
}

bool *once_messages(const struct trace *t)
{
	bool *once = g_new0(bool, t->messages_count + 1);
	g_autoptr(GHashTable) begun =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint64_t m = 0; m < t->messages_count; m++) {
		const char *name = name_of(t, m);

		if (g_str_has_suffix(name, MESSAGE_BEGINS))
			g_hash_table_add(
			        begun, g_strndup(name, strlen(name) - strlen(MESSAGE_BEGINS)));
	}
	for (uint64_t m = 0; m < t->messages_count; m++)
		once[m] = g_hash_table_contains(begun, name_of(t, m));
	return once;
}
