/*
 * condition.c - evaluates breakpoint conditions on the session's trace. Names: `thread` and
 * `event` for the current event's, threads (their numbers), variables, also by the last
 * component of a qualified name (`hits` for `Cache::hits`).
 */
#include "engine/base/condition.h"

#include "tui/explorer/session.h"

#include <string.h>

enum named_kind { NAMES_VARIABLE, NAMES_NUMBER, NAMES_THREAD, NAMES_EVENT };
struct named {
	enum named_kind kind;
	uint32_t index; /* variable index, or the number */
};

struct stop_condition {
	struct condition *condition;
	GArray *named; /* struct named, by the condition's names */
};

static bool is_word(char c)
{
	return g_ascii_isalnum(c) || c == '_';
}

static size_t identifier_length(const char *s)
{
	size_t n = 0;
	while (g_ascii_isalnum(s[n]) || s[n] == '_' ||
	       (n > 0 && s[n] == ':' && s[n + 1] == ':') ||
	       (n > 1 && s[n] == ':' && s[n - 1] == ':'))
		n++;
	return n;
}

/* Is the name at `text`, as a whole word? */
static bool stands(const char *text, const char *name, size_t length)
{
	return strncmp(text, name, length) == 0 &&
	       !(length && is_word(name[length - 1]) && is_word(text[length]));
}

/* Length of the longest short name of a variable at `text`. */
static size_t short_length(const struct trace *t, const char *text)
{
	size_t longest = 0;
	for (uint64_t v = 0; v < t->variables_count; v++) {
		const char *end = strstr(trace_string(t, t->variables[v].name), "::");
		for (; end; end = strstr(end, "::")) {
			end += 2;
			size_t n = strlen(end);
			if (n > longest && stands(text, end, n))
				longest = n;
		}
	}
	return longest;
}

/* Length of the longest name of the trace at `text`, so that `a[1].b-c` needs no quotes; else
 * of a variable's short name, a thread's name, or a keyword. */
static size_t name_length(void *self, const char *text)
{
	const struct session *s = self;
	const struct trace *t = s->trace;
	size_t longest = 0, length = identifier_length(text);
	for (uint64_t v = 0; v < t->variables_count; v++) {
		const char *name = trace_string(t, t->variables[v].name);
		size_t n = strlen(name);
		if (n > longest && stands(text, name, n))
			longest = n;
	}
	length = MAX(length, short_length(t, text));
	if (longest || length == 0)
		return longest;
	char *word = g_strndup(text, length);
	bool known = strcmp(word, "thread") == 0 || strcmp(word, "event") == 0 ||
	             session_find_short(s, word) != NONE;
	for (uint32_t i = 0; i < t->threads_count && !known; i++)
		known = strcmp(word, trace_thread_name(t, i)) == 0;
	g_free(word);
	return known ? length : 0;
}

static struct named named_by(const struct session *s, const char *name)
{
	const struct trace *t = s->trace;
	uint32_t variable = session_find_variable(s, name);
	if (variable != NONE)
		return (struct named){ NAMES_VARIABLE, variable };
	if (strcmp(name, "thread") == 0)
		return (struct named){ NAMES_THREAD, NONE };
	if (strcmp(name, "event") == 0)
		return (struct named){ NAMES_EVENT, NONE };
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (strcmp(name, trace_thread_name(t, i)) == 0)
			return (struct named){ NAMES_NUMBER, i };
	return (struct named){ NAMES_VARIABLE, session_find_short(s, name) };
}

struct stop_condition *stop_condition_new(const struct session *s, const char *text,
                                          struct error *error)
{
	struct condition *c = condition_new(text, "", name_length, (void *)s, error);
	if (c == NULL)
		return NULL;
	struct stop_condition *stop = g_new0(struct stop_condition, 1);
	stop->condition = c;
	stop->named = g_array_new(FALSE, FALSE, sizeof(struct named));
	const GPtrArray *names = condition_names(c);
	for (guint i = 0; i < names->len; i++) {
		struct named o = named_by(s, names->pdata[i]);
		g_array_append_val(stop->named, o);
	}
	return stop;
}

void stop_condition_free(struct stop_condition *stop)
{
	if (stop == NULL)
		return;
	condition_free(stop->condition);
	g_array_unref(stop->named);
	g_free(stop);
}

struct place_in_time {
	const struct session *session;
	const struct stop_condition *stop;
	uint32_t event;
};

static struct condition_value variable_value(const struct session *s, uint32_t variable,
                                             uint32_t event)
{
	const struct value *v = &s->trace->values[session_value(s, variable, event).value];
	return trace_condition_value(s->trace, variable, v);
}

static struct condition_value value_of(void *self, uint32_t name)
{
	const struct place_in_time *at = self;
	const struct named *o = &g_array_index(at->stop->named, struct named, name);
	struct condition_value value = { .known = true };
	switch (o->kind) {
	case NAMES_VARIABLE:
		return variable_value(at->session, o->index, at->event);
	case NAMES_NUMBER:
		value.number = o->index;
		break;
	case NAMES_THREAD:
		value.number = at->session->trace->events[at->event].thread;
		break;
	case NAMES_EVENT:
		value.number = at->event;
		break;
	}
	return value;
}

bool stop_condition_holds(const struct session *s, const struct stop_condition *stop,
                          uint32_t event)
{
	struct place_in_time at = { s, stop, event };
	return condition_holds(stop->condition, value_of, &at) == TRUTH_YES;
}

/* -- values of another schedule ------------------------------------------------------------- */

GArray *stop_condition_variables(const struct stop_condition *stop)
{
	GArray *variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < stop->named->len; i++) {
		const struct named *o = &g_array_index(stop->named, struct named, i);
		uint32_t variable = o->kind == NAMES_VARIABLE ? o->index : NONE;
		g_array_append_val(variables, variable);
	}
	return variables;
}

struct given_values {
	struct place_in_time at;
	const uint32_t *values;
};

static struct condition_value given_value(void *self, uint32_t name)
{
	struct given_values *given = self;
	const struct named *o = &g_array_index(given->at.stop->named, struct named, name);
	const struct trace *t = given->at.session->trace;
	if (o->kind != NAMES_VARIABLE)
		return value_of(&given->at, name);
	return trace_condition_value(t, o->index, &t->values[given->values[name]]);
}

enum truth stop_condition_holds_with(const struct session *s, const struct stop_condition *stop,
                                     uint32_t event, const uint32_t *values)
{
	struct given_values given = { { s, stop, event }, values };
	return condition_holds(stop->condition, given_value, &given);
}
