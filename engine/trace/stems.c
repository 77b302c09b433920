/*
 * stems.c - see stems.h. The name of a block and some rest begins with a text only if one of
 * the text and the block's name begins with the other.
 */
#include "engine/trace/stems.h"

#include "engine/base/search.h"

#include <string.h>

enum answer { UNKNOWN, NO, YES };

struct stems {
	const struct trace *t;
	GPtrArray *texts;    /* without stars, sorted; borrowed */
	GHashTable *is_text; /* set of them */
	uint8_t *of_block;   /* enum answer */
};

static const char *without_stars(const char *text)
{
	return text + strspn(text, "*");
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct stems *stems_new(const struct trace *t, const char *const *texts)
{
	struct stems *s = g_new0(struct stems, 1);

	s->t = t;
	s->texts = g_ptr_array_new();
	s->is_text = g_hash_table_new(g_str_hash, g_str_equal);
	s->of_block = g_new0(uint8_t, t->blocks_count + 1);
	for (; *texts != NULL; texts++) {
		const char *text = without_stars(*texts);

		if (g_hash_table_add(s->is_text, (gpointer)text))
			g_ptr_array_add(s->texts, (gpointer)text);
	}
	g_ptr_array_sort(s->texts, by_text);
	return s;
}

void stems_free(struct stems *s)
{
	if (s == NULL)
		return;
	g_ptr_array_free(s->texts, TRUE);
	g_hash_table_destroy(s->is_text);
	g_free(s->of_block);
	g_free(s);
}

/* Is a text a beginning of the name, or the name one of a text? */
static bool meets_text(const struct stems *s, const char *name)
{
	g_autofree char *beginning = g_strdup(name);
	guint first = search_end(i, 0u, s->texts->len, strcmp(s->texts->pdata[i], name) < 0);
	bool meets = first < s->texts->len && g_str_has_prefix(s->texts->pdata[first], name);

	for (size_t end = strlen(name); !meets; end--) {
		beginning[end] = '\0';
		meets = g_hash_table_contains(s->is_text, beginning);
		if (end == 0)
			break;
	}
	return meets;
}

bool stems_may_begin(struct stems *s, uint32_t variable)
{
	const struct variable *v = &s->t->variables[variable];

	if (v->block == NONE || !(v->spelling & NAME_BY_RULE))
		return true;
	if (s->of_block[v->block] == UNKNOWN) {
		const char *name = trace_string(s->t, s->t->blocks[v->block].name);

		s->of_block[v->block] = meets_text(s, without_stars(name)) ? YES : NO;
	}
	return s->of_block[v->block] == YES;
}
