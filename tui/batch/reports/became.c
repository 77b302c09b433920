/*
 * became.c - the fate of findings that one report has and another lacks; see became.h.
 *
 * For a race that is gone the analysis runs again with all verdicts, restricted to pairs of
 * sites in the race's functions: all verdicts of the whole trace would cost its number of
 * candidates.
 */
#include "tui/batch/reports/became.h"

#include "tui/batch/print/places.h"
#include "tui/batch/print/finding_json.h"

#include <string.h>

static const struct {
	const char *word, *text;
} fates[] = {
#define FATE(name, word, text) { word, text },
	FATES(FATE)
#undef FATE
};

const char *fate_word(enum fate fate)
{
	return fates[fate].word;
}

const char *fate_text(enum fate fate)
{
	return fates[fate].text;
}

/* -- moved files --------------------------------------------------------------------------- */

/* Source files of the trace: the base name of each function's file, "" when two files have a
 * function of that name; and the set of all files. */
struct names {
	GHashTable *file_of; /* function (owned) -> file (owned) */
	GHashTable *files;   /* owned */
};

static void names_init(struct names *n, const struct trace *t)
{
	struct places *places = places_new(t);

	n->file_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	n->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (uint32_t l = 0; l < t->locations_count; l++) {
		json_auto_t *place = places_location_json(places, l);
		const char *function = json_word(place, "function"),
		           *file = base_name(json_word(place, "file")),
		           *known = g_hash_table_lookup(n->file_of, function);

		if (known == NULL)
			g_hash_table_insert(n->file_of, g_strdup(function), g_strdup(file));
		else if (strcmp(known, file) != 0)
			g_hash_table_insert(n->file_of, g_strdup(function), g_strdup(""));
		g_hash_table_add(n->files, g_strdup(file));
	}
	places_free(places);
}

static void names_release(struct names *n)
{
	g_hash_table_destroy(n->file_of);
	g_hash_table_destroy(n->files);
}

/* Exact places, and those in the user's own files. */
static const char *const place_lists[] = { "sites", "places" };

static void rename_place(const struct names *n, json_t *place)
{
	const char *function = json_word(place, "function"),
	           *now = *function ? g_hash_table_lookup(n->file_of, function) : NULL;

	if (now != NULL && *now &&
	    !g_hash_table_contains(n->files, base_name(json_word(place, "file"))))
		json_object_set_new(place, "file", json_string(now));
}

/* A copy of the finding, with places in files that the trace lacks moved to the file that now
 * has the function. A new reference. */
static json_t *with_new_names(const struct names *n, const json_t *finding)
{
	json_t *moved = json_deep_copy(finding), *place;
	size_t i;

	for (size_t k = 0; k < G_N_ELEMENTS(place_lists); k++)
		json_array_foreach(json_object_get(moved, place_lists[k]), i, place)
		        rename_place(n, place);
	return moved;
}

/* -- accesses by function ------------------------------------------------------------------ */

struct ground {
	struct trace *t;
	const struct race_options *race; /* borrowed; NULL: races are not looked for again */
	GHashTable *areas;   /* area (owned) -> GArray of uint32_t, locations (owned) */
	GHashTable *touched; /* location and variable as an int64 (owned) */
	bool *has_access;    /* by location */
};

static gint64 two(uint32_t a, uint32_t b)
{
	return (gint64)((uint64_t)a << 32 | b);
}

static void add_key(GHashTable *set, gint64 key)
{
	if (!g_hash_table_contains(set, &key))
		g_hash_table_add(set, g_memdup2(&key, sizeof(key)));
}

/* Areas of the findings whose fate is wanted. */
static GHashTable *areas_asked(json_t *const *asked, guint count)
{
	GHashTable *areas = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
	                                          (GDestroyNotify)g_array_unref);

	for (guint i = 0; i < count * G_N_ELEMENTS(place_lists); i++) {
		const char *list = place_lists[i % G_N_ELEMENTS(place_lists)];
		size_t k;
		json_t *place;

		json_array_foreach(json_object_get(asked[i / G_N_ELEMENTS(place_lists)], list),
		                   k, place)
		        g_hash_table_replace(areas, match_area(place),
		                             g_array_new(FALSE, FALSE, sizeof(uint32_t)));
	}
	return areas;
}

static void note_accesses(struct ground *g, const bool *asked)
{
	const struct trace *t = g->t;

	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];

		if (!asked[e->location] || !op_is_access(e->op) || event_inert(e))
			continue;
		g->has_access[e->location] = true;
		struct wide run = event_variables(t, e);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			add_key(g->touched, two(e->location, v));
	}
}

static void ground_init(struct ground *g, const struct became_there *there, GHashTable *areas)
{
	struct trace *t = there->t;
	g_autofree bool *asked = g_new0(bool, t->locations_count + 1);
	struct places *places = places_new(t);

	*g = (struct ground){ .t = t, .race = there->race, .areas = areas };
	g->has_access = g_new0(bool, t->locations_count + 1);
	g->touched = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (uint32_t l = 0; l < t->locations_count; l++) {
		json_auto_t *place = places_location_json(places, l);
		g_autofree char *area = match_area(place);
		GArray *locations = g_hash_table_lookup(areas, area);

		if (locations != NULL) {
			g_array_append_val(locations, l);
			asked[l] = true;
		}
	}
	places_free(places);
	note_accesses(g, asked);
}

static void ground_release(struct ground *g)
{
	g_hash_table_destroy(g->touched);
	g_free(g->has_access);
}

/* Is the line near? For places of which only the file is known. */
static bool is_near(const struct trace *t, uint32_t location, const json_t *place)
{
	json_int_t line = json_integer_value(json_object_get(place, "line"));

	return *json_word(place, "function") || *json_word(place, "name") ||
	       ABS((json_int_t)t->locations[location].line - CLAMP(line, 0, UINT32_MAX)) <=
	               MATCH_LINES;
}

/* Locations of the trace that may correspond to a place (uint32_t); owned by the caller. */
static GArray *locations_at(const struct ground *g, const json_t *place)
{
	g_autofree char *area = match_area(place);
	const GArray *all = g_hash_table_lookup(g->areas, area);
	GArray *near = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; all != NULL && i < all->len; i++) {
		uint32_t l = g_array_index(all, uint32_t, i);

		if (is_near(g->t, l, place))
			g_array_append_val(near, l);
	}
	return near;
}

static bool has_name(const json_t *finding, const struct trace *t, uint32_t variable)
{
	g_autofree char *name = variable_name(t, variable);
	bool found = false;
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(finding, "variables"), i, v) found |=
	        g_strcmp0(json_string_value(v), name) == 0;
	return found;
}

/* Relation of a place's function to a finding's variable in the trace. */
enum doing { DOES_NOT_RUN, DOES_NOT_TOUCH, DOES_TOUCH };

static enum doing doing_at(const struct ground *g, const json_t *finding, const json_t *place)
{
	g_autoptr(GArray) locations = locations_at(g, place);
	enum doing doing = locations->len > 0 ? DOES_NOT_TOUCH : DOES_NOT_RUN;
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, g->touched);
	while (doing == DOES_NOT_TOUCH && g_hash_table_iter_next(&iter, &key, NULL)) {
		uint64_t pair = *(const uint64_t *)key;

		for (guint i = 0; i < locations->len; i++) {
			if (g_array_index(locations, uint32_t, i) == pair >> 32 &&
			    has_name(finding, g->t, (uint32_t)pair))
				doing = DOES_TOUCH;
		}
	}
	return doing;
}

/* -- running the analysis again ------------------------------------------------------------ */

static void want_pairs(GHashTable *wanted, const struct ground *g, const json_t *finding)
{
	const json_t *sites = finding_places(finding);
	/* a call of the library's is no access itself */
	bool calls = json_object_get(finding, "places") != NULL;
	g_autoptr(GArray) a = locations_at(g, json_array_get(sites, 0)),
	                  b = locations_at(g, json_array_get(sites, 1));

	for (guint i = 0; i < a->len; i++) {
		uint32_t l = g_array_index(a, uint32_t, i);

		for (guint k = 0; (calls || g->has_access[l]) && k < b->len; k++) {
			uint32_t m = g_array_index(b, uint32_t, k);
			uint32_t x = g->t->locations[l].site, y = g->t->locations[m].site;

			if (calls || g->has_access[m])
				add_key(wanted, two(MIN(x, y), MAX(x, y)));
		}
	}
}

static bool is_wanted(const void *context, uint32_t site_a, uint32_t site_b)
{
	gint64 key = two(site_a, site_b);

	return g_hash_table_contains((GHashTable *)context, &key);
}

static bool is_race(const json_t *f)
{
	return strcmp(json_word(f, "kind"), finding_kind_word(FINDING_DATA_RACE)) == 0 &&
	       json_array_size(json_object_get(f, "sites")) == 2;
}

/* A report with all verdicts on the pairs; NULL and `error` when cancelled. */
static struct report_file *ask_again(struct trace *t, const struct race_options *race,
                                     GHashTable *wanted, const struct progress *progress,
                                     struct error *error)
{
	struct print_options print = { .all_verdicts = true, .no_witness = true };
	struct race_options options = *race;

	/* orders have no verdict but "candidate" */
	if (!analysis_is_sound(race->analysis) || race->analysis == ANALYSIS_SHB ||
	    race->analysis == ANALYSIS_SYNCP)
		options.analysis = ANALYSIS_AUTO;
	options.all_verdicts = true;
	options.pairs_events = false;
	options.shards = 1;
	options.witness_events = 0;
	options.wanted = is_wanted;
	options.wanted_context = wanted;
	struct report *r = races_find(t, &options, progress, error);
	if (r == NULL)
		return NULL;
	struct report_file *answer = report_file_of(r, &print);
	report_free(r);
	return answer;
}

/* -- judging -------------------------------------------------------------------------- */

/* The most similar finding of a report with verdict found or not found; or NULL. */
static json_t *nearest(const struct report_file *r, const json_t *finding, bool found)
{
	uint32_t best = NONE;
	json_t *near = NULL;

	for (guint i = 0; r != NULL && i < r->findings->len; i++) {
		json_t *f = g_array_index(r->findings, struct filed_finding, i).fields;

		if (filed_is_found(f) != found ||
		    strcmp(json_word(f, "kind"), json_word(finding, "kind")) != 0)
			continue;
		uint32_t lines = match_distance(f, finding);
		if (lines < best) {
			best = lines;
			near = f;
		}
	}
	return near;
}

/* Is a place not executed, or its variable not accessed there? */
static bool judge_places(struct became *b, const struct ground *g, const json_t *finding)
{
	size_t i;
	json_t *place;

	json_array_foreach(json_object_get(finding, "sites"), i, place)
	{
		enum doing doing = doing_at(g, finding, place);

		if (doing == DOES_TOUCH || (doing == DOES_NOT_TOUCH && !is_race(finding)))
			continue;
		b->fate = doing == DOES_NOT_RUN ? FATE_NOT_EXECUTED : FATE_NOT_ACCESSED;
		b->place = json_incref(place);
		return true;
	}
	return false;
}

static void judge(struct became *b, const struct ground *g, const json_t *finding,
                  const struct report_file *there, const struct report_file *again)
{
	json_t *other = nearest(again, finding, false);

	if (other == NULL)
		other = nearest(there, finding, false);
	b->fate = FATE_NOT_REPORTED;
	if (other != NULL) {
		b->finding = json_incref(other);
		bool none = strcmp(json_word(other, "verdict"),
		                   verdict_word(VERDICT_IMPOSSIBLE)) == 0;
		b->fate = filed_is_suppressed(other) ? FATE_SUPPRESSED
		          : none                     ? FATE_IMPOSSIBLE
		                                     : FATE_UNKNOWN;
	} else if (g == NULL || judge_places(b, g, finding)) {
		;
	} else if (nearest(again, finding, true) != NULL) {
		b->fate = FATE_ELSEWHERE;
	} else if (is_race(finding) && again != NULL &&
	           json_is_true(json_object_get(again->head, "complete"))) {
		b->fate = FATE_ORDERED;
	}
}

/* -- all findings -------------------------------------------------------------------------- */

/* By finding: its copy with the trace's file names where its fate is wanted, else NULL. */
static json_t **findings_asked(const struct report_file *gone, const struct match_side *side,
                               enum match_state alone, const struct trace *t)
{
	json_t **asked = g_new0(json_t *, gone->findings->len + 1);
	struct names names = { 0 };

	if (t != NULL)
		names_init(&names, t);
	for (guint i = 0; i < gone->findings->len; i++) {
		json_t *f = g_array_index(gone->findings, struct filed_finding, i).fields;

		if (filed_is_found(f) && side->state[i] == alone)
			asked[i] = t != NULL ? with_new_names(&names, f) : json_incref(f);
	}
	if (t != NULL)
		names_release(&names);
	return asked;
}

/* Analyses the pairs of sites of the wanted findings again, if a trace is given; false and
 * `error` when cancelled. */
static bool ask_all(json_t *const *asked, guint count, const struct ground *g,
                    const struct progress *progress, struct report_file **again,
                    struct error *error)
{
	g_autoptr(GHashTable) wanted =
	        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	bool good = true;

	for (guint i = 0; i < count; i++) {
		if (asked[i] != NULL && is_race(asked[i]))
			want_pairs(wanted, g, asked[i]);
	}
	if (g->race != NULL && g_hash_table_size(wanted) > 0) {
		*again = ask_again(g->t, g->race, wanted, progress, error);
		good = *again != NULL;
	}
	return good;
}

struct became *became_find(const struct report_file *gone, const struct match_side *side,
                           enum match_state alone, const struct became_there *there,
                           const struct progress *progress, struct error *error)
{
	struct trace *t = there->t;
	guint count = gone->findings->len;
	struct became *all = g_new0(struct became, count + 1);
	g_autofree json_t **asked = findings_asked(gone, side, alone, t);
	g_autoptr(GHashTable) areas = areas_asked(asked, count);
	struct report_file *again = NULL;
	struct ground ground;
	bool good = true;

	if (t != NULL) {
		ground_init(&ground, there, areas);
		good = ask_all(asked, count, &ground, progress, &again, error);
	}
	for (guint i = 0; i < count; i++) {
		if (good && asked[i] != NULL)
			judge(&all[i], t != NULL ? &ground : NULL, asked[i], there->report,
			      again);
		json_decref(asked[i]);
	}
	report_file_free(again);
	if (t != NULL)
		ground_release(&ground);
	if (good)
		return all;
	became_free(all, gone);
	return NULL;
}

void became_rename(struct report_file *findings, const struct trace *t)
{
	struct names names = { 0 };

	names_init(&names, t);
	for (guint i = 0; i < findings->findings->len; i++) {
		struct filed_finding *f =
		        &g_array_index(findings->findings, struct filed_finding, i);
		json_t *moved = with_new_names(&names, f->fields);

		json_decref(f->fields);
		f->fields = moved;
	}
	names_release(&names);
}

void became_free(struct became *became, const struct report_file *gone)
{
	for (guint i = 0; became != NULL && i < gone->findings->len; i++) {
		json_decref(became[i].place);
		json_decref(became[i].finding);
	}
	g_free(became);
}
