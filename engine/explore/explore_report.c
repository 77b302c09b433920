/*
 * explore_report.c - construction of reports, names of endings, reasons for incompleteness.
 */
#include "engine/explore/explore_private.h"

#include <string.h>

static const struct {
	const char *word;
	enum finding_kind kind;
} ends[EXPLORE_END_COUNT + 1] = {
#define E(name, word, kind) { word, FINDING_##kind },
	EXPLORE_ENDS(E)
#undef E
	        { "", FINDING_KIND_COUNT },
};

const char *const explore_sought[] = { "failed assertions",
	                               "crashes",
	                               "exit statuses",
	                               "deadlocks",
	                               "waits that never end",
	                               "data races",
	                               "uses after free, destruction or return",
	                               "reads of uninitialised memory",
	                               "misuse of locks",
	                               "misuse of threads",
	                               "invalid times, sizes and alignments",
	                               NULL };

const char *const explore_unsought[] = {
	"reads of uninitialised memory in a stack frame that others had before",
	"reads of uninitialised memory whose type is not known",
	"reads of uninitialised members that the code at their place does not name (in a macro, of a copy)",
	"uses of local variables after their function returned by the thread itself, after main returned, or in every schedule",
	"arguments that other library functions refuse",
	"accesses that the compiler removed",
	"what depends on which of two addresses is lower",
	"what the program does after exec",
	NULL
};

const char *explore_end_word(enum explore_end end)
{
	return ends[end].word;
}

GArray *explore_outputs(const struct explore_report *r)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
	GArray *first = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < r->runs->len; i++) {
		struct explore_run *run = &g_array_index(r->runs, struct explore_run, i);

		if (run->end == EXPLORE_FINE && run->output != 0 &&
		    g_hash_table_add(seen, &run->output))
			g_array_append_val(first, i);
	}
	return first;
}

enum explore_end explore_end_of(const char *word)
{
	enum explore_end end = 0;

	while (end < EXPLORE_END_COUNT && strcmp(ends[end].word, word) != 0)
		end++;
	return end;
}

enum finding_kind explore_finding_kind(enum explore_end end, const char *story)
{
	bool asserted = story != NULL && strstr(story, ": Assertion `") != NULL;

	return asserted && ends[end].kind == FINDING_CRASH ? FINDING_ASSERTION : ends[end].kind;
}

/* Texts of a run of the report, each kept once: many runs have the same texts, and a million
 * runs are kept. */
enum { SHARED_TEXTS = 6 };

static void shared_texts(struct explore_run *r, char **texts[SHARED_TEXTS])
{
	char **const all[SHARED_TEXTS] = { &r->reversal, &r->thread, &r->place,
		                           &r->variable, &r->story,  &r->printed };
	memcpy(texts, all, sizeof all);
}

void explore_share_texts(struct explore_run *r)
{
	char **texts[SHARED_TEXTS];
	shared_texts(r, texts);
	for (size_t i = 0; i < SHARED_TEXTS; i++) {
		char *own = *texts[i];
		*texts[i] = own ? g_ref_string_new_intern(own) : NULL;
		g_free(own);
	}
}

static void run_clear(void *data)
{
	struct explore_run *r = data;
	char **texts[SHARED_TEXTS];
	shared_texts(r, texts);
	for (size_t i = 0; i < SHARED_TEXTS; i++)
		if (*texts[i] != NULL)
			g_ref_string_release(*texts[i]);
	g_free(r->trace);
	if (r->commuting)
		g_ptr_array_unref(r->commuting);
	if (r->places)
		g_ptr_array_unref(r->places);
	if (r->schedule)
		g_bytes_unref(r->schedule);
}

static void error_clear(void *data)
{
	struct explore_error *e = data;
	g_free(e->story);
	g_free(e->key);
	if (e->history)
		g_array_unref(e->history);
	if (e->places)
		g_ptr_array_unref(e->places);
}

static void race_clear(void *data)
{
	struct explore_race *r = data;
	g_free(r->first);
	g_free(r->second);
	g_free(r->variable);
	g_free(r->own_first);
	g_free(r->own_second);
}

static void atomic_clear(void *data)
{
	struct explore_atomic *a = data;
	g_free(a->place);
	g_free(a->variable);
}

static void event_clear(struct explore_event *e)
{
	g_free(e->thread);
	g_free(e->text);
	g_free(e->place);
	g_free(e->site);
}

static void point_clear(void *data)
{
	struct explore_point *p = data;
	event_clear(&p->passes);
	event_clear(&p->fails);
	event_clear(&p->instead);
}

struct explore_report *explore_report_new(void)
{
	struct explore_report *r = g_new0(struct explore_report, 1);
	r->runs = g_array_new(FALSE, FALSE, sizeof(struct explore_run));
	r->errors = g_array_new(FALSE, FALSE, sizeof(struct explore_error));
	r->races = g_array_new(FALSE, FALSE, sizeof(struct explore_race));
	r->points = g_array_new(FALSE, FALSE, sizeof(struct explore_point));
	g_array_set_clear_func(r->points, point_clear);
	r->atomics = g_array_new(FALSE, FALSE, sizeof(struct explore_atomic));
	g_array_set_clear_func(r->atomics, atomic_clear);
	r->reasons = g_ptr_array_new_with_free_func(g_free);
	r->notes = g_ptr_array_new_with_free_func(g_free);
	r->races_open = g_ptr_array_new_with_free_func(g_free);
	r->threads = g_ptr_array_new_with_free_func(g_free);
	g_array_set_clear_func(r->runs, run_clear);
	g_array_set_clear_func(r->errors, error_clear);
	g_array_set_clear_func(r->races, race_clear);
	return r;
}

void explore_report_free(struct explore_report *r)
{
	if (r == NULL)
		return;
	g_array_unref(r->runs);
	g_array_unref(r->errors);
	g_array_unref(r->races);
	g_array_unref(r->points);
	g_array_unref(r->atomics);
	g_ptr_array_unref(r->reasons);
	g_ptr_array_unref(r->notes);
	g_ptr_array_unref(r->races_open);
	g_ptr_array_unref(r->threads);
	g_free(r);
}

bool explore_race_same(const struct explore_report *r, guint i, guint k)
{
	const struct explore_race *a = &g_array_index(r->races, struct explore_race, i);
	const struct explore_race *b = &g_array_index(r->races, struct explore_race, k);
	return strcmp(a->own_first, b->own_first) == 0 &&
	       strcmp(a->own_second, b->own_second) == 0;
}

bool explore_race_begins(const struct explore_report *r, guint i)
{
	guint k = 0;
	while (k < i && !explore_race_same(r, i, k))
		k++;
	return k == i;
}

/* Add a reason for incompleteness, once. */
void explore_note_incomplete(struct exploration *x, const char *why)
{
	if (g_hash_table_contains(x->reasons, why))
		return;
	char *own = g_strdup(why);
	g_ptr_array_add(x->report->reasons, own);
	g_hash_table_add(x->reasons, own);
}

void explore_stop(struct exploration *x, const char *why)
{
	x->stop = x->stop ? x->stop : why;
}

void explore_sets(const struct exploration *x, GHashTable *sets[5])
{
	GHashTable *const all[5] = { x->errors, x->races, x->plain, x->ordered,
		                     x->finals_seen };
	memcpy(sets, all, sizeof all);
}
