/*
 * cmd_info.c - `heddle info`: the contents of a trace.
 */
#include "engine/trace/shown.h"
#include "engine/base/home.h"
#include "engine/predict/deadlock/stuck.h"
#include "engine/record/surroundings.h"
#include "engine/trace/ending.h"
#include "engine/trace/roles.h"
#include "tui/batch/command.h"
#include "tui/batch/print/places.h"
#include "tui/batch/print/print.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

struct counts {
	uint64_t by_op[OP_COUNT];
	uint64_t *by_thread;      /* owned */
	uint64_t tried[OP_COUNT]; /* those of by_op with a word of their own (TRIED in
	                           * ops.def) */
	uint64_t inert, values, locks, conditions, barriers, semaphores, locations, sites;
};

/* The tables hold more than the events use: an empty location, call sites. */
static void count_places(const struct trace *t, struct counts *c)
{
	g_autofree uint8_t *location = g_new0(uint8_t, t->locations_count + 1);
	g_autofree uint8_t *site = g_new0(uint8_t, t->sites_count + 1);
	for (uint64_t i = 0; i < t->events_count; i++) {
		uint32_t l = t->events[i].location;
		c->locations += !location[l];
		c->sites += !site[t->locations[l].site];
		location[l] = site[t->locations[l].site] = 1;
	}
}

static void count(const struct trace *t, struct counts *c)
{
	g_autofree uint8_t *use = g_new0(uint8_t, t->objects_count + 1);
	c->by_thread = g_new0(uint64_t, t->threads_count + 1);
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		/* both wants share a word */
		enum op op = e->op == OP_WANTJOIN ? OP_WANT : e->op;
		bool tried = e->flags & EVENT_TRY && op_table[op].tried != NULL;
		c->by_op[op] += !tried;
		c->tried[op] += tried;
		c->by_thread[e->thread]++;
		c->inert += event_inert(e) && !op_tells(e->op);
		c->values += op_is_access(e->op) && e->aux;
		if (op_table[e->op].operand == OPERAND_OBJECT)
			use[e->target] |= (uint8_t)(1 << op_table[e->op].use);
	}
	for (uint64_t i = 0; i < t->objects_count; i++) {
		c->locks += use[i] >> USE_LOCK & 1;
		c->conditions += use[i] >> USE_CONDITION & 1;
		c->barriers += use[i] >> USE_BARRIER & 1;
		c->semaphores += use[i] >> USE_SEMAPHORE & 1;
	}
	count_places(t, c);
}

/* A row of the summary. */
struct line {
	const char *name;
	uint64_t count;
};

static void summary(const struct trace *t, const struct counts *c, struct line lines[12])
{
	const struct line rows[12] = {
		{ "events", t->events_count },
		{ "threads", t->threads_count },
		{ "locks", c->locks },
		{ "variables", t->variables_count },
		{ "conditions", c->conditions },
		{ "barriers", c->barriers },
		{ "semaphores", c->semaphores },
		{ "blocks", t->blocks_count },
		{ "objects", t->instances_count },
		{ "locations", c->locations },
		{ "sites", c->sites },
		{ "values", c->values },
	};
	memcpy(lines, rows, sizeof rows);
}

/* -- calls of uninstrumented code ---------------------------------------------------------- */

/* Calls of uninstrumented code, by library: the part after @ of the function's name. */
struct missing {
	const char *library;
	uint64_t calls, functions;
};

static gint by_calls(gconstpointer a, gconstpointer b)
{
	const struct missing *x = a, *y = b;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->library, y->library);
}

/* GArray of struct missing, most calls first; borrows the trace's strings. */
static GArray *missing_calls(const struct trace *t, const struct counts *c)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(struct missing));
	g_autoptr(GHashTable) libraries = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) functions = g_hash_table_new(NULL, NULL);
	for (uint64_t i = 0; c->by_op[OP_MISS] && i < t->events_count; i++) {
		if (t->events[i].op != OP_MISS)
			continue;
		uint32_t function = t->events[i].target;
		const char *name = trace_string(t, function), *at = strrchr(name, '@');
		const char *library = at ? at + 1 : name;
		guint index = GPOINTER_TO_UINT(g_hash_table_lookup(libraries, library));
		if (index == 0) {
			struct missing m = { .library = library };
			g_array_append_val(list, m);
			index = list->len;
			g_hash_table_insert(libraries, (gpointer)library,
			                    GUINT_TO_POINTER(index));
		}
		struct missing *m = &g_array_index(list, struct missing, index - 1);
		m->calls++;
		m->functions += g_hash_table_add(functions, GUINT_TO_POINTER(function + 1));
	}
	g_array_sort(list, by_calls);
	return list;
}

static void json_set(json_t *object, const char *key, json_t *value)
{
	g_autoptr(GString) s = g_string_new(NULL);
	append_escaped(s, key, strlen(key));
	json_object_set_new(object, s->str, value);
}

/* The ending of the run, as recorded in the trace. */
static json_t *ending_json(const struct trace *t)
{
	struct ending e = trace_ending(t);
	g_autoptr(GString) text = g_string_new(NULL);
	ending_append(&e, text);
	json_t *j =
	        json_pack("{ssso}", "how", ending_word(e.kind), "text", json_text(text->str));
	if (e.kind == ENDING_EXIT)
		json_object_set_new(j, "status", json_integer(e.number));
	if (e.kind == ENDING_SIGNAL)
		json_object_set_new(j, "signal", json_integer(e.number));
	unsigned dropped;
	g_autoptr(GPtrArray) stuck = stuck_find(t, &dropped);
	json_t *findings = json_array();
	struct places *places = places_new(t);
	for (guint i = 0; i < stuck->len; i++) {
		json_array_append_new(findings, finding_json(places, t, stuck->pdata[i]));
		finding_free(stuck->pdata[i]);
	}
	places_free(places);
	json_object_set_new(j, "stuck", findings);
	return j;
}

static void print_ending(const struct trace *t)
{
	struct ending e = trace_ending(t);
	g_autoptr(GString) text = g_string_new(NULL);
	unsigned dropped;
	g_autoptr(GPtrArray) stuck = stuck_find(t, &dropped);
	ending_append(&e, text);
	if (text->len && !ending_good(&e))
		printf("%s.\n", text->str);
	for (guint i = 0; i < stuck->len; i++) {
		struct finding *f = stuck->pdata[i];
		printf("%s:\n",
		       f->kind == FINDING_DEADLOCK ? "A deadlock happened" : "Stuck for ever");
		for (guint k = 0; k < f->waits->len; k++) {
			const struct wait *w = &g_array_index(f->waits, struct wait, k);
			g_string_truncate(text, 0);
			append_wait(t, f, w, text);
			printf("  %s (%s)\n", text->str,
			       printable(trace_location_name(t, w->event)));
		}
		finding_free(f);
	}
	if (dropped > 0)
		printf("%s%u\n", STUCK_DROPPED, dropped);
}

/* Is the note for people? Some are for Heddle itself. */
static bool is_of_people(const struct trace *t, uint64_t note)
{
	const char *key = trace_string(t, t->notes[note].key);
	return strcmp(key, SHOWN_NOTE) != 0 && strcmp(key, ROLE_ARGUMENT_NOTE) != 0;
}

static void print_json(const struct trace *t, const struct counts *c)
{
	struct line lines[12];
	summary(t, c, lines);
	json_auto_t *j = json_pack("{ssso}", "heddle", HEDDLE_VERSION, "trace",
	                           json_text(trace_name(t)));
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		json_object_set_new(j, lines[i].name, json_integer((json_int_t)lines[i].count));
	json_t *operations = json_object(), *threads = json_object(), *notes = json_object();
	json_t *warnings = json_array();
	for (int op = 0; op < OP_COUNT; op++) {
		if (c->by_op[op])
			json_object_set_new(operations, op_table[op].word,
			                    json_integer((json_int_t)c->by_op[op]));
		if (c->tried[op])
			json_object_set_new(operations, op_table[op].tried,
			                    json_integer((json_int_t)c->tried[op]));
	}
	for (uint64_t i = 0; i < t->threads_count; i++)
		json_set(threads, trace_thread_name(t, i),
		         json_integer((json_int_t)c->by_thread[i]));
	for (uint64_t i = 0; i < t->notes_count; i++)
		if (is_of_people(t, i))
			json_set(notes, trace_string(t, t->notes[i].key),
			         json_text(trace_string(t, t->notes[i].value)));
	for (guint i = 0; i < t->warnings->len; i++)
		json_array_append_new(warnings, json_text(t->warnings->pdata[i]));
	g_autoptr(GArray) missing = missing_calls(t, c);
	json_t *libraries = json_object();
	for (guint i = 0; i < missing->len; i++) {
		const struct missing *m = &g_array_index(missing, struct missing, i);
		json_set(libraries, m->library,
		         json_pack("{sIsI}", "calls", (json_int_t)m->calls, "functions",
		                   (json_int_t)m->functions));
	}
	json_object_set_new(j, "missing", libraries);
	json_object_set_new(j, "ended", ending_json(t));
	json_object_set_new(j, "operations", operations);
	json_object_set_new(j, "events_by_thread", threads);
	json_object_set_new(j, "recording", notes);
	json_object_set_new(j, "warnings", warnings);
	json_object_set_new(j, "no_effect", json_integer((json_int_t)c->inert));
	json_object_set_new(j, "complete", json_boolean(t->complete));
	json_object_set_new(j, "filtered", json_boolean(t->filtered));
	if (trace_sampled(t))
		json_object_set_new(j, "sampled", json_integer((json_int_t)trace_sampled(t)));
	json_object_set_new(j, "order_exact", json_boolean(t->order_exact));
	json_object_set_new(j, "values_exact", json_boolean(t->values_exact));
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
}

static void print_name(const char *text, int width)
{
	g_autoptr(GString) s = g_string_new(NULL);
	append_escaped(s, text, strlen(text));
	printf("  %-*s", width, s->str);
}

/* "libevent.spec" for "libevent-2.1.so.7", if such a file is shipped and the trace was recorded
 * without it; owned by the caller, or NULL. */
static char *specification_for(const struct trace *t, const char *library)
{
	size_t length = strcspn(library, ".");
	for (size_t i = 0; i < length; i++)
		if (library[i] == '-' && g_ascii_isdigit(library[i + 1]))
			length = i;
	char *file = g_strdup_printf("%.*s.spec", (int)length, library);
	g_autofree char *relative = g_build_filename("specs", "missing", file, NULL);
	g_autofree char *path = home_find(relative);
	g_autoptr(GPtrArray) recorded = trace_recorded_specs(t);
	bool known = path == NULL;
	for (guint i = 0; i < recorded->len; i++) {
		g_autofree char *base = g_path_get_basename(recorded->pdata[i]);
		known |= strcmp(base, file) == 0;
	}
	if (!known)
		return file;
	g_free(file);
	return NULL;
}

static void print_missing(const struct trace *t, const struct counts *c)
{
	g_autoptr(GArray) missing = missing_calls(t, c);
	size_t longest = 12;
	for (guint i = 0; i < missing->len; i++)
		longest =
		        MAX(longest, strlen(g_array_index(missing, struct missing, i).library));
	if (missing->len)
		puts("missing code (races --missing, --analysis rdit)");
	for (guint i = 0; i < missing->len; i++) {
		const struct missing *m = &g_array_index(missing, struct missing, i);
		print_name(m->library, (int)MIN(longest, 40));
		g_autofree char *file = specification_for(t, m->library);
		printf(" %12" G_GUINT64_FORMAT "  call%s of %" G_GUINT64_FORMAT
		       " function%s%s%s%s\n",
		       m->calls, plural(m->calls), m->functions, plural(m->functions),
		       file ? " (record --spec " : "", file ? file : "",
		       file ? ": less that may be ordered)" : "");
	}
}

static void print_text(const struct trace *t, const struct counts *c)
{
	struct line lines[12];
	summary(t, c, lines);
	printf("%s%s", trace_name(t), t->complete ? "" : ", truncated");
	if (trace_sampled(t))
		printf(", accesses sampled (one window in %" PRIu64 ")", trace_sampled(t));
	else if (t->filtered)
		fputs(", filtered", stdout);
	puts(t->order_exact ? "" : ", order approximate");
	print_ending(t);
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		if (lines[i].count || i < 4)
			printf("  %-12s %12" G_GUINT64_FORMAT "\n", lines[i].name,
			       lines[i].count);
	puts("by operation");
	for (int op = 0; op < OP_COUNT; op++) {
		if (c->by_op[op])
			printf("  %-12s %12" G_GUINT64_FORMAT "\n", op_table[op].word,
			       c->by_op[op]);
		if (c->tried[op])
			printf("  %-12s %12" G_GUINT64_FORMAT "\n", op_table[op].tried,
			       c->tried[op]);
	}
	if (c->inert)
		printf("  %-12s %12" G_GUINT64_FORMAT "  (re-entrant or dropped)\n",
		       "no effect", c->inert);
	puts("by thread");
	for (uint64_t i = 0; i < t->threads_count; i++) {
		print_name(trace_thread_name(t, i), 12);
		printf(" %12" G_GUINT64_FORMAT "\n", c->by_thread[i]);
	}
	print_missing(t, c);
	if (t->notes_count)
		puts("recording");
	for (uint64_t i = 0; i < t->notes_count; i++) {
		if (!is_of_people(t, i))
			continue;
		const char *key = trace_string(t, t->notes[i].key);
		const char *value = trace_string(t, t->notes[i].value);
		g_autofree char *brief =
		        strcmp(key, SURROUNDINGS_NOTE) == 0 ? surroundings_brief(value) : NULL;
		print_name(key, 12);
		if (brief) {
			print_name(brief, 0);
			puts("");
			continue;
		}
		enum { SHOWN = 200 }; /* longer lists, for replay, are only in --format json */
		g_autofree char *cut = g_strndup(value, SHOWN);
		print_name(cut, 0);
		puts(strlen(value) > SHOWN ? " ..." : "");
	}
}

static int run(struct arguments *a)
{
	argument_words(a, 1, 1);
	enum output_format format = argument_format(a, false);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	g_autofree struct counts *c = g_new0(struct counts, 1);
	count(t, c);
	if (format == FORMAT_JSON)
		print_json(t, c);
	else
		print_text(t, c);
	g_free(c->by_thread);
	trace_close(t);
	return EXIT_NOTHING;
}

const struct command command_info = {
	.name = "info",
	.usage = "TRACE",
	.summary = "the contents of a trace: events, threads, locks, variables, by kind",
	.options = options,
	.run = run,
	.reads_weak = true,
};
