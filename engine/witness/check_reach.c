/* check_reach.c - see check_reach.h. */
#include "engine/witness/check_reach.h"

#include "engine/trace/shown.h"

#include <string.h>

/* -- names ---------------------------------------------------------------------------------- */

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
		const char *end = strstr(trace_variable_name(t, v), "::");
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
size_t named_length(void *trace, const char *text)
{
	const struct trace *t = trace;
	size_t longest = 0, length = identifier_length(text);
	for (uint64_t v = 0; v < t->variables_count; v++) {
		const char *name = trace_variable_name(t, v);
		size_t n = strlen(name);
		if (n > longest && stands(text, name, n))
			longest = n;
	}
	length = MAX(length, short_length(t, text));
	if (longest || length == 0)
		return longest;
	g_autofree char *word = g_strndup(text, length);
	struct named named = named_by(t, word);
	bool known = named.kind != NAMES_VARIABLE || named.index != NONE;
	return known ? length : 0;
}

uint32_t named_variable(const struct trace *t, const char *name)
{
	for (uint64_t v = 0; v < t->variables_count; v++)
		if (strcmp(trace_variable_name(t, v), name) == 0)
			return (uint32_t)v;
	return NONE;
}

uint32_t named_short(const struct trace *t, const char *name)
{
	uint32_t found = named_variable(t, name);
	bool exact = found != NONE;
	size_t length = strlen(name);
	for (uint64_t v = 0; !exact && length && v < t->variables_count; v++) {
		const char *full = trace_variable_name(t, v);
		size_t rest = strlen(full);
		if (rest < length + 2 || strcmp(full + rest - length, name) != 0 ||
		    strncmp(full + rest - length - 2, "::", 2) != 0)
			continue;
		if (found != NONE)
			return NONE;
		found = (uint32_t)v;
	}
	return found;
}

static bool constant(const char *name, int64_t *number)
{
	*number = strcmp(name, "true") == 0;
	return *number || strcmp(name, "false") == 0 || strcmp(name, "NULL") == 0;
}

struct named named_by(const struct trace *t, const char *name)
{
	uint32_t variable = named_variable(t, name);
	if (variable != NONE)
		return (struct named){ NAMES_VARIABLE, variable };
	if (strcmp(name, "thread") == 0)
		return (struct named){ NAMES_THREAD, NONE };
	if (strcmp(name, "event") == 0)
		return (struct named){ NAMES_EVENT, NONE };
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (strcmp(name, trace_thread_name(t, i)) == 0)
			return (struct named){ NAMES_NUMBER, NONE, i };
	variable = named_short(t, name);
	int64_t number;
	if (variable == NONE &&
	    (constant(name, &number) || shown_enumerator(t, name, strlen(name), &number)))
		return (struct named){ NAMES_NUMBER, NONE, number };
	return (struct named){ NAMES_VARIABLE, variable };
}

/* -- values --------------------------------------------------------------------------------- */

struct moment {
	const struct trace *t;
	const uint32_t *sequence;
	size_t length;
	uint32_t target;
	const GPtrArray *names;
};

static bool writes_to(const struct trace *t, const struct event *e, uint32_t variable)
{
	struct wide all = event_variables(t, e);
	return op_writes(e->op) && !event_inert(e) && variable >= all.first &&
	       variable < all.first + all.count;
}

/* Index of the value that an access gives the variable: of an access to this variable alone,
 * else 0, unknown. */
static uint32_t value_in(const struct trace *t, const struct event *e, bool written)
{
	if (e->aux == 0 || e->flags & EVENT_WIDE)
		return 0;
	const struct value v = trace_value(t, e->aux);
	return v.kind != V_PAIR ? e->aux : written ? v.second : v.first;
}

static uint32_t initial_value(const struct trace *t, uint32_t variable)
{
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if (!op_is_access(e->op))
			continue;
		struct wide all = event_variables(t, e);
		if (variable < all.first || variable >= all.first + all.count)
			continue;
		if (op_reads(e->op) && e->aux && !(e->flags & EVENT_WIDE))
			return value_in(t, e, false);
		if (op_writes(e->op))
			return 0;
	}
	return 0;
}

static uint32_t value_at(const struct moment *m, uint32_t variable)
{
	for (size_t i = m->length; i-- > 0;) {
		const struct event *e = &m->t->events[m->sequence[i]];
		if (op_is_access(e->op) && writes_to(m->t, e, variable))
			return value_in(m->t, e, true);
	}
	return initial_value(m->t, variable);
}

static struct condition_value value_of(void *self, uint32_t name)
{
	const struct moment *m = self;
	struct named n = named_by(m->t, m->names->pdata[name]);
	struct condition_value value = { .known = true };
	switch (n.kind) {
	case NAMES_VARIABLE:
		if (n.index == NONE)
			return (struct condition_value){ .known = false };
		return trace_condition_value(m->t, n.index, value_at(m, n.index));
	case NAMES_NUMBER:
		value.number = n.number;
		break;
	case NAMES_THREAD:
		value.number = m->t->events[m->target].thread;
		break;
	case NAMES_EVENT:
		value.number = m->target;
		break;
	}
	return value;
}

bool check_reach(const struct trace *t, const uint32_t *sequence, size_t length,
                 uint32_t target, const char *condition, GString *reason)
{
	struct error error;
	struct condition *c =
	        condition_new(condition, "#! condition", named_length, (void *)t, &error);
	if (c == NULL) {
		g_string_append_printf(reason, "the condition: %s", error.what);
		return false;
	}
	struct moment m = { t, sequence, length, target, condition_names(c) };
	enum truth truth = condition_holds(c, value_of, &m);
	condition_free(c);
	if (truth == TRUTH_UNKNOWN)
		g_string_append(reason,
		                "the condition: a value that it needs is not in the trace");
	else if (truth == TRUTH_NO)
		g_string_append_printf(
		        reason, "the condition: it does not hold before event %u", target);
	return truth == TRUTH_YES;
}
