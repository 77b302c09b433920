/*
 * report_match.c - equality of findings of two reports; see report_match.h.
 */
#include "engine/base/compare.h"
#include "tui/batch/reports/report_match.h"
#include "tui/batch/print/finding_json.h"

#include <stdlib.h>
#include <string.h>

static const char *const state_words[] = {
#define STATE(name, word) word,
	MATCH_STATES(STATE)
#undef STATE
};

const char *match_state_word(enum match_state state)
{
	return state_words[state];
}

/* -- places --------------------------------------------------------------------------- */

static bool has_offset(const json_t *place)
{
	return json_object_get(place, "offset") != NULL;
}

static int line_of(const json_t *place, bool offset)
{
	const char *member = offset ? "offset" : "line";
	json_int_t line = json_integer_value(json_object_get(place, member));

	return (int)CLAMP(line, 0, INT32_MAX);
}

/* A place without its line: "report bank.c", or a name. */
char *match_area(const json_t *place)
{
	return g_strdup_printf("%s %s %s", json_word(place, "function"),
	                       base_name(json_word(place, "file")), json_word(place, "name"));
}

static char *exact(const json_t *place)
{
	g_autofree char *where = match_area(place);
	return g_strdup_printf("%s %d", where, line_of(place, has_offset(place)));
}

static uint32_t place_distance(const json_t *place, const json_t *other)
{
	g_autofree char *a = match_area(place), *b = match_area(other);
	/* a report of parts of a run (record --report) has lines alone */
	bool offset = has_offset(place) && has_offset(other);
	uint32_t lines = (uint32_t)abs(line_of(place, offset) - line_of(other, offset));
	bool known = *json_word(place, "function") || *json_word(place, "name");

	if (strcmp(a, b) != 0 || (!known && lines > MATCH_LINES))
		lines = NONE;
	return lines;
}

static bool share_variable(const json_t *f, const json_t *g)
{
	const json_t *a = json_object_get(f, "variables"), *b = json_object_get(g, "variables");
	size_t i, k;
	json_t *x, *y;

	if (a == NULL && b == NULL)
		return true;
	json_array_foreach((json_t *)a, i, x)
	{
		json_array_foreach((json_t *)b, k, y)
		{
			if (json_equal(x, y))
				return true;
		}
	}
	return false;
}

/* -- groups --------------------------------------------------------------------------- */

struct group {
	GArray *findings;     /* uint32_t */
	const json_t *fields; /* of the first */
	char *kind, *loose;   /* keys: the kind with everything but places; the kind with the
	                       * areas */
	struct group *other;
	bool moved;
};

static void append_sorted(GString *out, GPtrArray *words)
{
	g_ptr_array_sort(words, compare_texts);
	for (guint i = 0; i < words->len; i++)
		g_string_append_printf(out, "|%s", (const char *)words->pdata[i]);
	g_ptr_array_unref(words);
}

/* A method without arguments and results. */
static void append_methods(GString *out, const json_t *f)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	size_t i;
	json_t *m;

	json_array_foreach(json_object_get(f, "methods"), i, m)
	{
		const char *word = json_string_value(m);

		if (word != NULL)
			g_ptr_array_add(words, g_strndup(word, strcspn(word, "(")));
	}
	append_sorted(out, words);
}

static void append_units(GString *out, const json_t *f)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	size_t i;
	json_t *u;

	json_array_foreach(json_object_get(f, "cycle"), i, u)
	{
		const char *unit = json_word(u, "unit");

		/* event numbers differ between runs */
		g_ptr_array_add(words, g_strdup(g_str_has_prefix(unit, "event ") ? "" : unit));
	}
	append_sorted(out, words);
}

static char *kind_of(const json_t *f)
{
	GString *out = g_string_new(json_word(f, "kind"));

	append_methods(out, f);
	append_units(out, f);
	return g_string_free(out, FALSE);
}

static char *with_places(const char *kind, const json_t *f, char *spell(const json_t *place))
{
	GString *out = g_string_new(kind);
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	size_t i;
	json_t *place;

	json_array_foreach((json_t *)finding_places(f), i, place)
	        g_ptr_array_add(words, spell(place));
	append_sorted(out, words);
	return g_string_free(out, FALSE);
}

static void group_free(gpointer p)
{
	struct group *g = p;

	g_array_free(g->findings, TRUE);
	g_free(g->kind);
	g_free(g->loose);
	g_free(g);
}

/* The groups of a report: exact key (owned) -> struct group (owned). */
static GHashTable *groups_of(const struct report_file *r, GPtrArray *in_order)
{
	GHashTable *groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, group_free);

	for (guint i = 0; i < r->findings->len; i++) {
		const json_t *f = g_array_index(r->findings, struct filed_finding, i).fields;
		g_autofree char *kind = filed_is_found(f) ? kind_of(f) : NULL, *key = NULL;

		if (kind == NULL)
			continue;
		key = with_places(kind, f, exact);
		struct group *g = g_hash_table_lookup(groups, key);
		if (g == NULL) {
			g = g_new0(struct group, 1);
			g->findings = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g->fields = f;
			g->loose = with_places(kind, f, match_area);
			g->kind = g_steal_pointer(&kind);
			g_hash_table_insert(groups, g_steal_pointer(&key), g);
			g_ptr_array_add(in_order, g);
		}
		g_array_append_val(g->findings, i);
	}
	return groups;
}

/* Match groups of the same kind and places; `variable`: with a common variable. */
static void match_places(GHashTable *olds, GHashTable *news, bool variable)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, news);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		struct group *g = value, *same = g_hash_table_lookup(olds, key);

		if (same == NULL || same->other != NULL || g->other != NULL ||
		    (variable && !share_variable(g->fields, same->fields)))
			continue;
		g->other = same;
		same->other = g;
	}
}

/* -- nearest groups ------------------------------------------------------------------------ */

uint32_t match_distance(const json_t *f, const json_t *g)
{
	const json_t *a = finding_places(f), *b = finding_places(g);
	size_t count = json_array_size(a);
	uint64_t best = NONE;

	if (count != json_array_size(b) || !share_variable(f, g))
		return NONE;
	for (size_t shift = 0; shift < count; shift++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < count; i++) {
			uint32_t d = place_distance(json_array_get(a, i),
			                            json_array_get(b, (i + shift) % count));

			sum = d == NONE ? NONE : MIN(sum + d, NONE);
			if (sum >= NONE)
				break;
		}
		best = MIN(best, sum);
	}
	return (uint32_t)best;
}

struct near {
	uint32_t lines;
	struct group *old, *new;
};

static int by_lines(gconstpointer a, gconstpointer b)
{
	const struct near *x = a, *y = b;

	return (x->lines > y->lines) - (x->lines < y->lines);
}

/* Unmatched groups: area -> GPtrArray of old groups. */
static GHashTable *left_by_area(const GPtrArray *old)
{
	GHashTable *areas = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
	                                          (GDestroyNotify)g_ptr_array_unref);

	for (guint i = 0; i < old->len; i++) {
		struct group *g = old->pdata[i];
		GPtrArray *same = g_hash_table_lookup(areas, g->loose);

		if (g->other != NULL)
			continue;
		if (same == NULL) {
			same = g_ptr_array_new();
			g_hash_table_insert(areas, g->loose, same);
		}
		g_ptr_array_add(same, g);
	}
	return areas;
}

static void match_moved(const GPtrArray *old, const GPtrArray *new)
{
	g_autoptr(GHashTable) areas = left_by_area(old);
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct near));

	for (guint i = 0; i < new->len; i++) {
		struct group *g = new->pdata[i];
		GPtrArray *same =
		        g->other != NULL ? NULL : g_hash_table_lookup(areas, g->loose);

		for (guint k = 0; same != NULL && k < same->len; k++) {
			struct group *o = same->pdata[k];
			struct near n = { match_distance(o->fields, g->fields), o, g };

			if (n.lines != NONE)
				g_array_append_val(all, n);
		}
	}
	g_array_sort(all, by_lines);
	for (guint i = 0; i < all->len; i++) {
		struct near *n = &g_array_index(all, struct near, i);

		if (n->old->other != NULL || n->new->other != NULL)
			continue;
		n->old->other = n->new;
		n->new->other = n->old;
		n->old->moved = n->new->moved = n->lines > 0;
	}
}

/* -- reports ------------------------------------------------------------------------------- */

static void side_init(struct match_side *side, const struct report_file *r,
                      const GPtrArray *groups, enum match_state alone)
{
	guint count = r->findings->len;

	side->state = g_new0(enum match_state, count + 1);
	side->other = g_new(uint32_t, count + 1);
	memset(side->other, 255, (count + 1) * sizeof(uint32_t));
	for (guint i = 0; i < groups->len; i++) {
		const struct group *g = groups->pdata[i];

		for (guint k = 0; k < g->findings->len; k++) {
			uint32_t f = g_array_index(g->findings, uint32_t, k);

			side->state[f] = g->other == NULL ? alone
			                 : g->moved       ? MATCH_UPDATED
			                                  : MATCH_UNCHANGED;
			if (g->other != NULL)
				side->other[f] = g_array_index(g->other->findings, uint32_t, 0);
		}
	}
}

void match_reports(const struct report_file *old, const struct report_file *new,
                   struct match *match)
{
	g_autoptr(GPtrArray) in_old = g_ptr_array_new(), in_new = g_ptr_array_new();
	g_autoptr(GHashTable) olds = groups_of(old, in_old), news = groups_of(new, in_new);

	match_places(olds, news, true);
	match_moved(in_old, in_new);
	match_places(olds, news, false);
	side_init(&match->old, old, in_old, MATCH_ABSENT);
	side_init(&match->new, new, in_new, MATCH_NEW);
}

void match_release(struct match *match)
{
	struct match_side *sides[] = { &match->old, &match->new };

	for (int i = 0; i < 2; i++) {
		g_free(sides[i]->state);
		g_free(sides[i]->other);
	}
}
