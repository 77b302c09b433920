/* outcome.c - see outcome.h. */
#include "engine/harm/outcome.h"

#include "engine/explore/final.h"
#include "engine/order/past.h"
#include "engine/trace/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SHOWN = 60 };

void outcome_release(struct outcome *o)
{
	g_free(o->stuck);
	g_free(o->printed);
	g_free(o->errors);
	if (o->values)
		g_hash_table_destroy(o->values);
	memset(o, 0, sizeof(*o));
}

/* Global variables with a source name; values that look like addresses are not compared, as
 * they are meaningless to the user. */
static bool is_global(const struct trace *t, uint32_t v)
{
	const char *name = trace_string(t, t->variables[v].name);

	if (t->variables[v].block != NONE || t->variables[v].size > 8)
		return false;
	return g_ascii_isalpha(*name) || *name == '_';
}

static bool last_value(const struct trace *t, uint32_t v, int64_t *value)
{
	uint32_t e = final_write(t, v), written = e == NONE ? 0 : core_value_written(t, e);
	const struct value *x = &t->values[written];

	if (written == 0 || x->kind != V_INT)
		return false;
	*value = x->integer;
	if (t->variables[v].size == 4)
		*value = (int32_t)x->integer;
	else if (t->variables[v].size == 2)
		*value = (int16_t)x->integer;
	return *value < (int64_t)1 << 40 && *value > -((int64_t)1 << 40);
}

static GHashTable *values_of(struct trace *t)
{
	GHashTable *values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	int64_t value;

	if (!trace_need(t, INDEX_VARIABLES, NULL))
		return values;
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (is_global(t, v) && last_value(t, v, &value))
			g_hash_table_replace(values,
			                     g_strdup(trace_string(t, t->variables[v].name)),
			                     g_memdup2(&value, sizeof value));
	}
	return values;
}

static char *stuck_threads(const struct record_facts *facts)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; facts->blocked && i < facts->blocked->len; i++) {
		g_string_append(text, text->len ? ", " : "");
		record_append_thread(
		        g_array_index(facts->blocked, struct record_wait, i).thread, text);
	}
	return g_string_free(text, FALSE);
}

static char *text_of(const char *path)
{
	char *text = NULL;

	if (path == NULL || !g_file_get_contents(path, &text, NULL, NULL))
		return g_strdup("");
	return text;
}

void outcome_take(struct outcome *o, struct trace *t, const struct record_facts *facts,
                  const struct record_result *result, const char *output, const char *errors)
{
	*o = (struct outcome){ .status = result->status, .signal = result->signal };
	o->cut = result->timed_out || result->interrupted || facts->status == LOG_CUT ||
	         facts->status == LOG_STARVED || facts->status == LOG_LIMIT ||
	         facts->status == LOG_FULL;
	if (facts->status == LOG_DEADLOCK)
		o->stuck = stuck_threads(facts);
	o->printed = text_of(output);
	o->errors = errors ? text_of(errors) : NULL;
	o->values = values_of(t);
}

bool outcome_good(const struct outcome *o)
{
	return o->stuck == NULL && !o->cut && o->signal == 0 && o->status == 0;
}

char *outcome_end(const struct outcome *o)
{
	if (o->stuck)
		return g_strdup_printf("stuck: %s", o->stuck);
	if (o->cut)
		return g_strdup("it does not end in time");
	if (o->signal)
		return g_strdup_printf("signal %d (%s)", o->signal, strsignal(o->signal));
	return g_strdup_printf("exit status %d", o->status);
}

static bool same_end(const struct outcome *a, const struct outcome *b)
{
	if ((a->stuck == NULL) != (b->stuck == NULL) || a->cut != b->cut)
		return false;
	return a->stuck || a->cut || (a->signal == b->signal && a->status == b->status);
}

/* A common variable with different values, first by name; or NULL. */
static const char *other_value(const struct outcome *a, const struct outcome *b)
{
	const char *found = NULL, *name;
	const int64_t *x, *y;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, a->values);
	while (g_hash_table_iter_next(&iter, (gpointer *)&name, (gpointer *)&x)) {
		y = g_hash_table_lookup(b->values, name);
		if (y != NULL && *x != *y && (found == NULL || strcmp(name, found) < 0))
			found = name;
	}
	return found;
}

unsigned outcome_differs(const struct outcome *a, const struct outcome *b)
{
	unsigned parts = 0;

	if (!same_end(a, b))
		parts |= OUTCOME_END;
	if (a->cut || b->cut) /* the rest was not waited for */
		return parts;
	if (strcmp(a->printed, b->printed) != 0)
		parts |= OUTCOME_PRINTED;
	/* values are only comparable at regular ends */
	if (same_end(a, b) && !a->stuck && !a->signal && other_value(a, b) != NULL)
		parts |= OUTCOME_VALUES;
	return parts;
}

/* The line of a text from `at` on, shortened, in quotes; "nothing" at its end. */
static char *line_at(const char *text, size_t at)
{
	size_t length = strcspn(text + at, "\n");

	if (text[at] == '\0')
		return g_strdup("nothing more");
	GString *line = g_string_new("\"");
	append_escaped(line, text + at, MIN(length, LINE_SHOWN));
	g_string_append(line, length > LINE_SHOWN ? "...\"" : "\"");
	return g_string_free(line, FALSE);
}

static char *other_line(const char *a, const char *b)
{
	size_t line = 0, i = 0;
	char *x, *y, *text;

	for (; a[i] && a[i] == b[i]; i++)
		if (a[i] == '\n')
			line = i + 1;
	/* one ends with a line of the other's */
	if ((a[i] == '\n' && b[i] == '\0') || (a[i] == '\0' && b[i] == '\n'))
		line = i + 1;
	x = line_at(a, MIN(line, strlen(a)));
	y = line_at(b, MIN(line, strlen(b)));
	text = g_strdup_printf("it prints %s, not %s", x, y);
	g_free(x);
	g_free(y);
	return text;
}

char *outcome_difference(const struct outcome *a, const struct outcome *b, unsigned parts)
{
	unsigned differ = outcome_differs(a, b) & parts;
	const char *name;
	char *x, *y, *text;

	if (differ & OUTCOME_END) {
		x = outcome_end(a);
		y = outcome_end(b);
		text = a->stuck ? g_strdup(x) : g_strdup_printf("%s, not %s", x, y);
		g_free(x);
		g_free(y);
		return text;
	}
	if (differ & OUTCOME_VALUES) {
		name = other_value(a, b);
		return g_strdup_printf("%s is %" PRId64 ", not %" PRId64, name,
		                       *(int64_t *)g_hash_table_lookup(a->values, name),
		                       *(int64_t *)g_hash_table_lookup(b->values, name));
	}
	return differ & OUTCOME_PRINTED ? other_line(a->printed, b->printed) : g_strdup("");
}
