/*
 * tree.c - see tree.h.
 */
#include "tui/explorer/exploration/tree.h"

#include "engine/base/input.h"

#include <jansson.h>
#include <string.h>

static void run_clear(void *data)
{
	struct tree_run *r = data;
	char *owned[] = { r->reversal, r->thread, r->place,   r->variable, r->end,
		          r->story,    r->trace,  r->printed, r->output,   r->no_return };
	for (size_t i = 0; i < G_N_ELEMENTS(owned); i++)
		g_free(owned[i]);
	g_ptr_array_unref(r->pairs);
}

static void error_clear(void *data)
{
	struct tree_error *e = data;
	g_free(e->end);
	g_free(e->story);
	g_free(e->where);
}

static void race_clear(void *data)
{
	struct tree_race *r = data;
	g_free(r->where);
	g_free(r->variable);
}

void tree_free(struct tree *tree)
{
	if (tree == NULL)
		return;
	g_free(tree->path);
	g_free(tree->program);
	g_free(tree->memory);
	g_free(tree->place);
	g_array_unref(tree->runs);
	g_array_unref(tree->errors);
	g_array_unref(tree->pairs);
	g_ptr_array_unref(tree->reasons);
	g_ptr_array_unref(tree->threads);
	g_free(tree);
}

static char *text_of(const json_t *item, const char *key)
{
	const char *text = json_string_value(json_object_get(item, key));
	return g_strdup(text ? text : "");
}

static uint64_t number_of(const json_t *item, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(item, key));
	return n > 0 ? (uint64_t)n : 0;
}

static GPtrArray *texts_of(const json_t *list)
{
	GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		g_ptr_array_add(texts, g_strdup(text ? text : ""));
	}
	return texts;
}

/* Is the variable one of the standard library's own, as the counts of shared_ptr are? */
static bool is_of_library(const char *variable)
{
	return g_str_has_prefix(variable, "std::") || g_str_has_prefix(variable, "__");
}

static struct tree_run read_run(const json_t *item)
{
	const json_t *parent = json_object_get(item, "parent");
	const json_t *error = json_object_get(item, "error");
	const char *variable = json_string_value(json_object_get(item, "variable"));
	return (struct tree_run){
		.error = json_is_integer(error) ? json_integer_value(error) : -1,
		.inside = json_is_true(json_object_get(item, "inside-library")) && variable &&
		          is_of_library(variable),
		.switches = number_of(item, "switches"),
		.no_return = g_strdup(""),
		.printed = text_of(item, "printed"),
		.output = text_of(item, "output"),
		.run = (uint32_t)number_of(item, "run"),
		.parent = json_is_integer(parent) ? (uint32_t)json_integer_value(parent) : NONE,
		.redundant = json_is_true(json_object_get(item, "redundant")),
		.reversal = text_of(item, "flip"),
		.thread = text_of(item, "thread"),
		.place = text_of(item, "place"),
		.variable = text_of(item, "variable"),
		.end = text_of(item, "end"),
		.story = text_of(item, "story"),
		.trace = text_of(item, "trace"),
		.status = json_integer_value(json_object_get(item, "status")),
		.events = number_of(item, "events"),
		.pruned = number_of(item, "pruned"),
		.commuting = number_of(item, "commuting-pairs"),
		.pairs = texts_of(json_object_get(item, "commuting")),
	};
}

/* Sorts runs so that descendants directly follow their parent. */
static GArray *in_tree_order(const GArray *given)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(struct tree_run));
	guint n = given->len;
	g_autofree uint32_t *first = g_new(uint32_t, n + 1), *last = g_new(uint32_t, n + 1);
	uint32_t *next = g_new(uint32_t, n + 1), *open = g_new(uint32_t, n + 1), depth = 0;
	memset(first, 0xff, sizeof *first * (n + 1));
	for (guint i = 0; i < n; i++) { /* linked in order */
		uint32_t parent = g_array_index(given, struct tree_run, i).parent;
		next[i] = NONE;
		if (parent == NONE)
			continue;
		if (first[parent] == NONE)
			first[parent] = i;
		else
			next[last[parent]] = i;
		last[parent] = i;
	}
	for (uint32_t at = n ? 0 : NONE; at != NONE;) {
		struct tree_run r = g_array_index(given, struct tree_run, at);
		r.depth = depth;
		r.last = next[at] == NONE;
		g_array_append_val(out, r);
		if (first[at] != NONE) {
			open[depth++] = at;
			at = first[at];
			continue;
		}
		while (at != NONE && next[at] == NONE)
			at = depth ? open[--depth] : NONE;
		if (at != NONE)
			at = next[at];
	}
	g_free(next);
	g_free(open);
	return out;
}

/* Are runs numbered from 0, each with an earlier parent? */
static bool is_tree(const GArray *runs)
{
	for (guint i = 0; i < runs->len; i++) {
		const struct tree_run *r = &g_array_index(runs, struct tree_run, i);
		if (r->run != i || (i == 0 ? r->parent != NONE : r->parent >= i))
			return false;
	}
	return runs->len > 0;
}

static bool read_runs(struct tree *tree, const json_t *root)
{
	const json_t *list = json_object_get(root, "runs");
	g_autoptr(GArray) given = g_array_new(FALSE, FALSE, sizeof(struct tree_run));
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct tree_run r = read_run(json_array_get(list, i));
		g_array_append_val(given, r);
	}
	bool good = is_tree(given);
	if (good) {
		tree->runs = in_tree_order(given);
		tree->place = g_new(uint32_t, tree->runs->len + 1);
		for (guint i = 0; i < tree->runs->len; i++)
			tree->place[tree_at(tree, i)->run] = i;
	}
	for (guint i = 0; !good && i < given->len; i++)
		run_clear(&g_array_index(given, struct tree_run, i));
	if (good)
		g_array_set_clear_func(tree->runs, run_clear);
	return good;
}

/* "a.c:3 and b.c:7" */
static char *places_of(const json_t *list)
{
	GString *text = g_string_new(NULL);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *place = json_string_value(json_array_get(list, i));
		g_string_append_printf(text, "%s%s", i ? " and " : "", place ? place : "?");
	}
	return g_string_free(text, FALSE);
}

static uint32_t run_number(const struct tree *tree, const json_t *item, const char *key,
                           uint32_t otherwise)
{
	const json_t *number = json_object_get(item, key);
	json_int_t n = json_is_integer(number) ? json_integer_value(number) : -1;
	return n >= 0 && n < tree->runs->len ? (uint32_t)n : otherwise;
}

/* Errors and races; those without runs in the list are left out. */
static void read_found(struct tree *tree, const json_t *root)
{
	const json_t *errors = json_object_get(root, "errors");
	for (size_t i = 0; i < json_array_size(errors); i++) {
		const json_t *item = json_array_get(errors, i);
		uint32_t run = run_number(tree, item, "run", 0);
		struct tree_error e = { .end = text_of(item, "kind"),
			                .story = text_of(item, "story"),
			                .where = places_of(json_object_get(item, "locations")),
			                .status = json_integer_value(
			                        json_object_get(item, "status")),
			                .count = number_of(item, "count"),
			                .run = run,
			                .shortest = run_number(tree, item, "shortest", run) };
		e.story[strcspn(e.story, "\n")] = '\0';
		g_array_append_val(tree->errors, e);
	}
	g_autoptr(GHashTable) known =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const json_t *races = json_object_get(root, "races");
	for (size_t i = 0; i < json_array_size(races); i++) {
		const json_t *item = json_array_get(races, i);
		struct tree_race r = { .where = places_of(json_object_get(item, "locations")),
			               .variable = text_of(item, "variable"),
			               .run = run_number(tree, item, "run", 0) };
		if (g_hash_table_add(known, g_strdup(r.where)))
			g_array_append_val(tree->pairs, r);
		else
			race_clear(&r);
	}
}

static void append_event(GString *story, const char *before, const json_t *e)
{
	if (!json_is_object(e)) {
		g_string_append_printf(story, "\n%s: the program's beginning", before);
		return;
	}
	const char *thread = json_string_value(json_object_get(e, "thread"));
	const char *text = json_string_value(json_object_get(e, "operation"));
	const char *place = json_string_value(json_object_get(e, "location"));
	g_string_append_printf(story, "\n%s: %s: %s (%s)", before, thread ? thread : "?",
	                       text ? text : "?", place ? place : "?");
}

/* Lines about the point of no return of the failing runs that have one. */
static void read_points(struct tree *tree, const json_t *errors)
{
	for (size_t i = 0; i < json_array_size(errors); i++) {
		const json_t *point =
		        json_object_get(json_array_get(errors, i), "point-of-no-return");
		for (guint k = 0; point && k < tree->runs->len; k++) {
			struct tree_run *r = &g_array_index(tree->runs, struct tree_run, k);
			if (r->run != number_of(point, "run"))
				continue;
			GString *story = g_string_new(NULL);
			append_event(story, "Last step after which it can still end well",
			             json_object_get(point, "passes"));
			append_event(story, "Point of no return",
			             json_object_get(point, "fails"));
			append_event(story, "A run that ends well goes on instead with",
			             json_object_get(point, "instead"));
			g_free(r->no_return);
			r->no_return = g_string_free(story, FALSE);
		}
	}
}

struct tree *tree_open(const char *path, struct error *error)
{
	json_auto_t *root = input_json(path, "tree", error);
	if (root == NULL)
		return NULL;
	struct tree *tree = g_new0(struct tree, 1);
	tree->path = g_strdup(path);
	tree->program = text_of(root, "program");
	bool named = json_is_string(json_object_get(root, "memory"));
	tree->memory = named ? text_of(root, "memory") : g_strdup("sc");
	tree->executions = number_of(root, "executions");
	tree->states = number_of(root, "states");
	tree->pruned = number_of(root, "pruned");
	tree->waiting = number_of(root, "waiting");
	tree->complete = json_is_true(json_object_get(root, "complete"));
	const json_t *bound = json_object_get(root, "bound");
	tree->bound = json_is_true(json_object_get(bound, "complete"))
	                      ? json_integer_value(json_object_get(bound, "preemptions"))
	                      : -1;
	tree->races = json_array_size(json_object_get(root, "races")) > 0;
	tree->races_open = json_array_size(json_object_get(root, "races-open")) > 0;
	tree->reasons = g_ptr_array_new_with_free_func(g_free);
	tree->threads = texts_of(json_object_get(root, "threads"));
	const json_t *gaps = json_object_get(root, "gaps");
	for (size_t i = 0; i < json_array_size(gaps); i++) {
		const char *gap = json_string_value(json_array_get(gaps, i));
		g_ptr_array_add(tree->reasons, g_strdup(gap ? gap : ""));
	}
	const json_t *estimate = json_object_get(root, "estimate");
	const json_t *spread = json_object_get(estimate, "spread");
	tree->estimate = number_of(estimate, "classes");
	tree->low = (uint64_t)MAX(json_integer_value(json_array_get(spread, 0)), 0);
	tree->high = (uint64_t)MAX(json_integer_value(json_array_get(spread, 1)), 0);
	tree->errors = g_array_new(FALSE, FALSE, sizeof(struct tree_error));
	tree->pairs = g_array_new(FALSE, FALSE, sizeof(struct tree_race));
	g_array_set_clear_func(tree->errors, error_clear);
	g_array_set_clear_func(tree->pairs, race_clear);
	bool good = read_runs(tree, root);
	if (good) {
		read_found(tree, root);
		read_points(tree, json_object_get(root, "errors"));
	}
	for (guint i = 0; good && i < tree->runs->len; i++)
		tree->uses |= strcmp(g_array_index(tree->runs, struct tree_run, i).end,
		                     "use-after-free") == 0;
	if (good)
		return tree;
	tree->runs = g_array_new(FALSE, FALSE, sizeof(struct tree_run));
	tree->place = NULL;
	tree_free(tree);
	error_set(error, place_line(path, 0).text, "make it with heddle explore -o FILE",
	          "is no tree of runs");
	return NULL;
}

char *tree_of_trace(const char *trace, uint32_t *run)
{
	const char *end = g_str_has_suffix(trace, ".hdl") ? trace + strlen(trace) - 4 : trace;
	const char *digits = end;
	while (digits > trace && g_ascii_isdigit(digits[-1]))
		digits--;
	if (digits == end || digits - trace < 5 || strncmp(digits - 4, ".run", 4) != 0)
		return NULL;
	*run = (uint32_t)g_ascii_strtoull(digits, NULL, 10);
	return g_strndup(trace, (gsize)(digits - 4 - trace));
}

uint32_t tree_thread_of(const struct tree *tree, const char *text)
{
	size_t length = strcspn(text, " '");
	for (guint i = 0; i < tree->threads->len; i++) {
		const char *name = tree->threads->pdata[i];
		if (strcspn(name, " ") == length && strncmp(name, text, length) == 0)
			return i;
	}
	return NONE;
}

bool tree_run_failed(const struct tree_run *run)
{
	return strcmp(run->end, "exit") != 0;
}
