/*
 * condition.c - evaluates breakpoint conditions on the session's trace. Names: `thread` and
 * `event` for the current event's, threads (their numbers), variables, also by the last
 * component of a qualified name (`hits` for `Cache::hits`).
 */
#include "engine/witness/check_reach.h"

#include "tui/explorer/session.h"

struct stop_condition {
	struct condition *condition;
	GArray *named; /* struct named, by the condition's names */
};

struct stop_condition *stop_condition_new(const struct session *s, const char *text,
                                          struct error *error)
{
	struct condition *c = condition_new(text, "", named_length, s->trace, error);
	if (c == NULL)
		return NULL;
	struct stop_condition *stop = g_new0(struct stop_condition, 1);
	stop->condition = c;
	stop->named = g_array_new(FALSE, FALSE, sizeof(struct named));
	const GPtrArray *names = condition_names(c);
	for (guint i = 0; i < names->len; i++) {
		struct named o = named_by(s->trace, names->pdata[i]);
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
	uint32_t missing; /* a variable whose value is unknown, or NONE */
};

static struct condition_value variable_value(const struct session *s, uint32_t variable,
                                             uint32_t event)
{
	return trace_condition_value(s->trace, variable,
	                             session_value(s, variable, event).value);
}

static struct condition_value value_of(void *self, uint32_t name)
{
	struct place_in_time *at = self;
	const struct named *o = &g_array_index(at->stop->named, struct named, name);
	struct condition_value value = { .known = true };
	switch (o->kind) {
	case NAMES_VARIABLE:
		value = variable_value(at->session, o->index, at->event);
		if (!value.known)
			at->missing = o->index;
		break;
	case NAMES_NUMBER:
		value.number = o->number;
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

struct condition_value stop_condition_value(const struct session *s,
                                            const struct stop_condition *stop, uint32_t event,
                                            uint32_t *missing)
{
	struct place_in_time at = { s, stop, event, NONE };
	struct condition_value value = condition_evaluate(stop->condition, value_of, &at);
	*missing = at.missing;
	return value;
}

bool stop_condition_holds(const struct session *s, const struct stop_condition *stop,
                          uint32_t event)
{
	struct place_in_time at = { s, stop, event, NONE };
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
	return trace_condition_value(t, o->index, given->values[name]);
}

enum truth stop_condition_holds_with(const struct session *s, const struct stop_condition *stop,
                                     uint32_t event, const uint32_t *values)
{
	struct given_values given = { { s, stop, event, NONE }, values };
	return condition_holds(stop->condition, given_value, &given);
}
