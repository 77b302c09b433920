/*
 * command_arguments.c - arguments of commands, read: counts, events, places; whether the index
 * that a command needs is there.
 */
#include "tui/explorer/commands/commands.h"
#include "tui/explorer/messages.h"
#include "engine/trace/own_code.h"
#include <string.h>

uint64_t count_of(const char *arguments)
{
	guint64 n = g_ascii_strtoull(arguments, NULL, 10);
	return MAX(n, 1);
}

bool need_index(const struct app *app, struct error *error)
{
	return session_has(app->session, INDEX_ALL) || refuse(error, NO_INDEX_YET);
}

bool need_events(const struct app *app, struct error *error)
{
	return app->session->trace->events_count || refuse(error, NO_EVENTS);
}

uint32_t event_of(const struct app *app, const char *text, struct error *error)
{
	const struct session *s = app->session;
	for (guint i = 0; i < s->bookmarks->len; i++) {
		const struct bookmark *b = &g_array_index(s->bookmarks, struct bookmark, i);
		if (strcmp(b->name, text) == 0)
			return b->event;
	}
	return session_parse_event(s, text, error);
}

GArray *locations_of(const struct trace *t, const char *place)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const char *colon = strrchr(place, ':');
	guint64 line = colon ? g_ascii_strtoull(colon + 1, NULL, 10) : 0;
	for (uint64_t i = 1; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		const char *file = trace_string(t, l->file);
		gsize length = colon ? (gsize)(colon - place) : 0;
		bool same_file =
		        colon && strlen(file) >= length &&
		        strncmp(file + strlen(file) - length, place, length) == 0 &&
		        (strlen(file) == length || file[strlen(file) - length - 1] == '/');
		if ((same_file && line && l->line == line) ||
		    strcmp(trace_string(t, l->name), place) == 0 ||
		    (l->function && strcmp(trace_string(t, l->function), place) == 0)) {
			uint32_t location = (uint32_t)i;
			g_array_append_val(found, location);
		}
	}
	return found;
}

bool is_one_of(const GArray *locations, uint32_t location)
{
	for (guint i = 0; i < locations->len; i++)
		if (g_array_index(locations, uint32_t, i) == location)
			return true;
	return false;
}

/* Add the first place in each call of a function whose entries are recorded. */
static void add_bodies(const struct trace *t, const char *function, GArray *found)
{
	for (uint32_t e = 0; t->index && e < t->events_count; e++) {
		if (t->events[e].op != OP_ENTER ||
		    strcmp(trace_string(t, t->events[e].target), function) != 0)
			continue;
		uint32_t first = trace_next(t, e);
		uint32_t location = first != NONE ? t->events[first].location : 0;
		if (location && !is_one_of(found, location))
			g_array_append_val(found, location);
	}
}

GArray *places_of(const struct app *app, const char *place)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	GArray *found = locations_of(t, place);
	bool number = *place && place[strspn(place, "0123456789")] == '\0';
	if (found->len == 0 && !number)
		add_bodies(t, place, found);
	if (found->len || !number || t->events_count == 0)
		return found;
	g_array_unref(found);
	uint32_t here = s->event, before;
	while (own_code_location(t, here)->line == 0 &&
	       (before = session_step(s, here, STEP_THREAD, -1, 1)) != here)
		here = before; /* an event without a place */
	const char *file = trace_string(t, own_code_location(t, here)->file);
	g_autofree char *whole = g_strdup_printf("%s:%s", file, place);
	found = locations_of(t, whole);
	return found;
}
