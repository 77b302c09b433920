/* outcome.c - see outcome.h. */
#include "engine/harm/outcome.h"

#include "engine/base/input.h"

#include <string.h>

enum { LINE_SHOWN = 60 };

void outcome_release(struct outcome *o)
{
	g_free(o->stuck);
	g_free(o->printed);
	g_free(o->errors);
	memory_release(&o->memory);
	memset(o, 0, sizeof(*o));
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

char *outcome_text(const char *path, struct error *error)
{
	size_t length = 0;
	g_autofree char *bytes = input_text(path, "output", &length, error);

	if (bytes == NULL)
		return NULL;
	if (memchr(bytes, 0, length) == NULL)
		return g_steal_pointer(&bytes);
	GString *text = g_string_sized_new(length + length / 8);
	for (gsize i = 0; i < length; i++) {
		if (bytes[i] == 0)
			g_string_append(text, "\\0");
		else
			g_string_append_c(text, bytes[i]);
	}
	return g_string_free(text, FALSE);
}

static char *text_of(const char *path)
{
	char *text = path ? outcome_text(path, NULL) : NULL;

	return text ? text : g_strdup("");
}

void outcome_take(struct outcome *o, struct trace *t, const struct record_facts *facts,
                  const struct record_result *result, const char *output, const char *errors)
{
	*o = (struct outcome){ .status = result->status, .signal = result->signal };
	o->cut = result->timed_out || result->interrupted || facts->status == LOG_CUT ||
	         facts->status == LOG_STARVED || facts->status == LOG_LIMIT ||
	         facts->status == LOG_FULL;
	o->starved = facts->status == LOG_STARVED;
	if (facts->status == LOG_DEADLOCK)
		o->stuck = stuck_threads(facts);
	o->printed = text_of(output);
	o->errors = errors ? text_of(errors) : NULL;
	memory_take(&o->memory, t);
	o->forked = (facts->happened & LOG_FORKED) != 0;
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

unsigned outcome_differs(const struct outcome *a, const struct outcome *b)
{
	unsigned parts = 0;

	if (!same_end(a, b))
		parts |= OUTCOME_END;
	if (a->cut || b->cut) /* a run that was cut off has no end to compare */
		return parts;
	if (strcmp(a->printed, b->printed) != 0)
		parts |= OUTCOME_PRINTED;
	/* values are only comparable at regular ends */
	if (!same_end(a, b) || a->stuck || a->signal)
		return parts;
	if (memory_difference(a->memory.globals, b->memory.globals) != NULL)
		parts |= OUTCOME_VALUES;
	if (memory_difference(a->memory.heap, b->memory.heap) != NULL)
		parts |= OUTCOME_HEAP;
	return parts;
}

bool outcome_same_so_far(const struct outcome *a, const struct outcome *b)
{
	return strcmp(a->printed, b->printed) == 0 &&
	       memory_difference(a->memory.globals, b->memory.globals) == NULL &&
	       memory_difference(a->memory.heap, b->memory.heap) == NULL;
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

	for (; a[i] && a[i] == b[i]; i++)
		if (a[i] == '\n')
			line = i + 1;
	/* one output ends where a line of the other ends */
	if ((a[i] == '\n' && b[i] == '\0') || (a[i] == '\0' && b[i] == '\n'))
		line = i + 1;
	g_autofree char *x = line_at(a, MIN(line, strlen(a)));
	g_autofree char *y = line_at(b, MIN(line, strlen(b)));
	return g_strdup_printf("it prints %s, not %s", x, y);
}

/* The tables of the first difference of memory in one of the parts; NULL: no difference. */
static const char *memory_of(const struct outcome *a, const struct outcome *b, unsigned differ,
                             GHashTable *tables[2])
{
	bool global = differ & OUTCOME_VALUES;

	if (!(differ & (OUTCOME_VALUES | OUTCOME_HEAP)))
		return NULL;
	tables[0] = global ? a->memory.globals : a->memory.heap;
	tables[1] = global ? b->memory.globals : b->memory.heap;
	return memory_difference(tables[0], tables[1]);
}

char *outcome_difference(const struct outcome *a, const struct outcome *b, unsigned parts)
{
	unsigned differ = outcome_differs(a, b) & parts;
	GHashTable *tables[2];
	const char *name;

	if (differ & OUTCOME_END) {
		g_autofree char *x = outcome_end(a), *y = outcome_end(b);
		return a->stuck ? g_strdup(x) : g_strdup_printf("%s, not %s", x, y);
	}
	/* of differing output, the variables behind it come first; the heap is compared last */
	name = memory_of(a, b, differ & OUTCOME_PRINTED ? differ & OUTCOME_VALUES : differ,
	                 tables);
	if (name != NULL)
		return memory_words(tables[0], tables[1], name);
	return differ & OUTCOME_PRINTED ? other_line(a->printed, b->printed) : g_strdup("");
}

const char *outcome_place(const struct outcome *a, const struct outcome *b, unsigned parts)
{
	unsigned differ = outcome_differs(a, b) & parts;
	GHashTable *tables[2];
	const char *name;

	if (differ & OUTCOME_END)
		return NULL;
	name = memory_of(a, b, differ & OUTCOME_PRINTED ? differ & OUTCOME_VALUES : differ,
	                 tables);
	return name ? ((const struct memory_value *)g_hash_table_lookup(tables[0], name))->place
	            : NULL;
}
