/* final.c - see final.h. */
#include "engine/explore/final.h"

#include "engine/order/past.h"

#include <inttypes.h>
#include <string.h>

struct finals {
	GPtrArray *names;            /* char *: requested names, then others of the condition */
	struct condition *condition; /* or NULL */
};

static void add_name(struct finals *f, const char *name)
{
	if (!g_ptr_array_find_with_equal_func(f->names, name, g_str_equal, NULL))
		g_ptr_array_add(f->names, g_strdup(name));
}

struct finals *finals_new(const char *names, const char *check, struct error *error)
{
	struct condition *c = NULL;
	if (check && (c = condition_new(check, "--check", NULL, NULL, error)) == NULL)
		return NULL;
	struct finals *f = g_new0(struct finals, 1);
	f->names = g_ptr_array_new_with_free_func(g_free);
	f->condition = c;
	char **words = names ? g_strsplit(names, ",", -1) : NULL;
	bool good = names == NULL || *words != NULL;
	for (char **w = words; w && *w; w++) {
		good &= *g_strstrip(*w) != '\0';
		add_name(f, *w);
	}
	g_strfreev(words);
	if (!good) {
		error_set(error, "--final", "name one variable or more, as in --final x,y",
		          "expected the names of variables, found '%s'", names);
		finals_free(f);
		return NULL;
	}
	for (guint i = 0; c && i < condition_names(c)->len; i++)
		add_name(f, condition_names(c)->pdata[i]);
	return f;
}

void finals_free(struct finals *f)
{
	if (f == NULL)
		return;
	g_ptr_array_unref(f->names);
	condition_free(f->condition);
	g_free(f);
}

const GPtrArray *finals_names(const struct finals *f)
{
	return f->names;
}

const char *finals_check(const struct finals *f)
{
	return f->condition ? condition_text(f->condition) : NULL;
}

/* -- values at the end --------------------------------------------------------------------- */

uint32_t final_variable(const struct trace *t, const char *name)
{
	for (uint32_t v = 0; v < t->variables_count; v++)
		if (t->variables[v].block == NONE &&
		    strcmp(trace_string(t, t->variables[v].name), name) == 0)
			return v;
	return NONE;
}

uint32_t final_write(const struct trace *t, uint32_t variable)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	for (uint64_t i = list.count; i-- > 0;)
		if (op_writes(t->events[list.items[i]].op))
			return list.items[i];
	return NONE;
}

/* The final value as index of trace.values; 0: unknown. */
static uint32_t final_value(const struct trace *t, uint32_t variable)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	uint32_t write = final_write(t, variable);
	if (write != NONE)
		return core_value_written(t, write);
	for (uint64_t i = 0; i < list.count; i++)
		if (core_value_read(t, list.items[i]) != 0)
			return core_value_read(t, list.items[i]);
	return 0;
}

static struct condition_value value_at_end(const struct trace *t, const char *name)
{
	uint32_t v = final_variable(t, name);
	return v == NONE ? (struct condition_value){ 0 }
	                 : trace_condition_value(t, v, &t->values[final_value(t, v)]);
}

struct end_of_run {
	const struct finals *f;
	const struct trace *t;
};

static struct condition_value value_of(void *self, uint32_t name)
{
	const struct end_of_run *end = self;
	return value_at_end(end->t, condition_names(end->f->condition)->pdata[name]);
}

enum truth finals_hold(const struct finals *f, const struct trace *t, GString *story)
{
	if (f->condition == NULL)
		return TRUTH_YES;
	for (guint i = 0; i < f->names->len; i++) {
		const char *name = f->names->pdata[i];
		struct condition_value value = value_at_end(t, name);
		g_string_append_printf(story, "%s%s = ", i ? ", " : "", name);
		if (value.known)
			g_string_append_printf(story, "%" PRId64, value.number);
		else
			g_string_append(story, "?");
	}
	struct end_of_run end = { f, t };
	return condition_holds(f->condition, value_of, &end);
}
