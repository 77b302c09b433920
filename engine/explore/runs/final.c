/* final.c - see final.h. */
#include "engine/explore/runs/final.h"

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

struct access_value access_value(const struct trace *t, uint32_t event, bool written)
{
	const struct event *e = &t->events[event];
	struct wide run = event_variables(t, e);
	const struct variable *first = &t->variables[run.first];
	const struct variable *last = &t->variables[run.first + run.count - 1];
	struct access_value v = { .address = first->address,
		                  .size = last->address + MAX(last->size, 1) - first->address };
	uint32_t value = e->aux;
	if (e->op == OP_RMW && value != 0)
		value = written ? trace_value(t, value).second : trace_value(t, value).first;
	v.known =
	        value != 0 && trace_value(t, value).kind == V_INT && v.size <= sizeof v.integer;
	v.integer = v.known ? (uint64_t)trace_value(t, value).integer : 0;
	return v;
}

struct wide final_range(const struct trace *t, const char *name)
{
	struct wide range = { 0 };
	for (uint32_t v = 0; v < t->variables_count && range.count == 0; v++)
		if (t->variables[v].block == NONE &&
		    strcmp(trace_variable_name(t, v), name) == 0)
			range = (struct wide){ v, 1 };
	if (range.count == 0)
		return range;
	struct event_list list = event_list_at(&t->index->variable_events, range.first);
	for (uint64_t i = 0; i < list.count; i++) {
		struct wide run = event_variables(t, &t->events[list.items[i]]);
		if (run.first == range.first)
			range.count = MAX(range.count, run.count);
	}
	return range;
}

uint32_t final_write(const struct trace *t, uint32_t variable)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	for (uint64_t i = list.count; i-- > 0;)
		if (op_writes(t->events[list.items[i]].op))
			return list.items[i];
	return NONE;
}

uint32_t *final_writes(const struct trace *t, struct wide range)
{
	uint32_t *writes = g_new(uint32_t, range.count + 1);
	for (uint32_t i = 0; i < range.count; i++)
		writes[i] = final_write(t, range.first + i);
	return writes;
}

/* Does the access show the variable's value at the end? */
static bool tells_final(const struct trace *t, const struct variable *v, uint32_t write,
                        uint32_t e, struct access_value *tells)
{
	if (write != NONE && e != write)
		return false;
	*tells = access_value(t, e, write != NONE);
	return tells->known && v->address - tells->address < tells->size;
}

/* Adds the bytes of a part of a final value; false: unknown. */
static bool add_final_bytes(const struct trace *t, uint32_t variable, uint64_t from,
                            uint64_t *integer)
{
	const struct variable *v = &t->variables[variable];
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	uint32_t write = final_write(t, variable);
	struct access_value tells = { 0 };
	uint64_t i = 0;
	while (i < list.count && !tells_final(t, v, write, list.items[i], &tells))
		i++;
	if (i == list.count || v->address + v->size - from > sizeof *integer)
		return false;
	for (uint64_t a = v->address; a < v->address + v->size; a++)
		*integer |= (tells.integer >> 8 * (a - tells.address) & 0xff) << 8 * (a - from);
	return true;
}

static struct condition_value value_at_end(const struct trace *t, const char *name)
{
	struct wide range = final_range(t, name);
	uint64_t integer = 0, size = 0;
	for (uint32_t i = 0; i < range.count; i++) {
		uint64_t from = t->variables[range.first].address;
		if (!add_final_bytes(t, range.first + i, from, &integer))
			return (struct condition_value){ 0 };
		size += t->variables[range.first + i].size;
	}
	unsigned unused = size < sizeof integer ? (unsigned)(64 - 8 * size) : 0;
	return size == 0 ? (struct condition_value){ 0 }
	                 : (struct condition_value){
		                   .known = true,
		                   .bytes = unused ? (unsigned)size : 0,
		                   .number = (int64_t)(integer << unused) >> unused,
	                   };
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
