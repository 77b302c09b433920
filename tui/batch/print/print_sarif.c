/*
 * print_sarif.c - findings as SARIF 2.1.0, made from their JSON, so that reports, merged
 * reports and differences share it. A witness is a code flow: one thread flow for each thread,
 * and the execution order says how they interleave (SARIF 2.1.0, 3.36 to 3.38).
 */
#include "tui/batch/print/print.h"

#include "tui/batch/print/places.h"
#include "tui/batch/reports/report_file.h"
#include "tui/batch/print/finding_json.h"

#include <string.h>

/* Base of relative URIs, the name that code scanning services expect. */
#define ROOT "%SRCROOT%"

/* A rule for each kind of finding. */
static const struct rule {
	const char *name, *brief, *help;
} rules[FINDING_KIND_COUNT] = {
	[FINDING_DATA_RACE] = {
		"DataRace", "Two threads access memory at the same time, and one writes.",
		"Nothing orders the two accesses: no lock that both hold, no join, no release that the other "
		"acquires. C and C++ leave the behaviour undefined. Protect both accesses with one lock, or make "
		"them atomic with an order that publishes what else has to be seen.",
	},
	[FINDING_COMMUTATIVITY_RACE] = {
		"CommutativityRace", "Two calls on one object can come in either order, and the order matters.",
		"The object is safe by itself, but its callers are not ordered, and the specification says that "
		"the two calls do not commute. Order the callers, or use one call that does both.",
	},
	[FINDING_ORDER_VIOLATION] = {
		"OrderViolation", "Two operations happen in this order by chance only.",
		"Another schedule turns the two round, for example an initialisation and its first use. Order "
		"them: start the user after the initialisation, join, or wait for a condition.",
	},
	[FINDING_USE_AFTER_FREE] = {
		"UseAfterFree", "An object can be used after it was freed or destroyed.",
		"Nothing keeps the use before the end of the object's life. Join the user first, or count "
		"references.",
	},
	[FINDING_ATOMIC_SET_VIOLATION] = {
		"AtomicSetViolation", "Units of work interleave so that no serial order explains the result.",
		"Each access may be protected, but the unit as a whole is not: another unit comes between. Hold "
		"the lock over the whole unit of work.",
	},
	[FINDING_DEADLOCK] = {
		"Deadlock", "Threads wait for each other in a cycle.",
		"Take the locks in one order everywhere, or take both at once.",
	},
	[FINDING_STUCK] = {
		"Stuck", "A thread waits for something that cannot come any more.",
		"Typical reasons: a signal that came before the wait, a condition that is not looked at again, a "
		"lock that is never released. Wait in a loop over the condition, and change the condition under "
		"the lock.",
	},
	[FINDING_LOCK_MISUSE] = {
		"LockMisuse", "A lock is used against its contract.",
		"For example it is released by a thread that does not hold it, or destroyed while held. The "
		"behaviour is undefined.",
	},
	[FINDING_UNINITIALISED_READ] = {
		"UninitialisedRead", "Memory is read that nothing was written to.",
		"What it has depends on what the allocator left there. Initialise the memory, or wait until the "
		"thread that initialises it has done so.",
	},
	[FINDING_CRASH] = { "Crash", "The program ends by a signal under some schedule.",
	                    "The schedule is in the witness; replay it to see the program crash." },
	[FINDING_ASSERTION] = { "Assertion", "An assertion or a condition fails under some schedule.",
	                        "The schedule is in the witness; replay it to see the failure." },
	[FINDING_EXIT] = { "ExitStatus", "The exit status depends on the schedule.",
	                   "The schedule is in the witness; replay it to see the failure." },
};

struct sarif {
	FILE *out;
	bool any, lines;     /* any: a finding was printed; lines: for editors, not SARIF */
	char *root;          /* root of the sources; owned: an absolute path without final
	                      * '/' */
	GHashTable *marks;   /* fingerprints so far (owned): a set */
	GHashTable *sources; /* path (owned) to its lines (char **, owned), or to NULL */
};

/* -- source files -------------------------------------------------------------------------- */

/* The working copy's top folder, else the working directory. */
static char *source_root(void)
{
	char *start = g_get_current_dir(), *folder = g_strdup(start);

	for (;;) {
		g_autofree char *git = g_build_filename(folder, ".git", NULL);
		if (g_file_test(git, G_FILE_TEST_EXISTS)) {
			g_free(start);
			return folder;
		}
		char *up = g_path_get_dirname(folder);
		bool last = strcmp(up, folder) == 0;
		g_free(folder);
		folder = up;
		if (last)
			break;
	}
	g_free(folder);
	return start;
}

/* The path below the root; NULL when it is elsewhere. */
static const char *below_root(const struct sarif *s, const char *path)
{
	size_t length = strlen(s->root);

	if (strncmp(path, s->root, length) == 0 && path[length] == '/')
		return path + length + 1;
	return g_path_is_absolute(path) ? NULL : path;
}

static char **lines_of(struct sarif *s, const char *path)
{
	gpointer known;

	if (g_hash_table_lookup_extended(s->sources, path, NULL, &known))
		return known;
	char *text = NULL, **lines = NULL;
	if (g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
	    g_file_get_contents(path, &text, NULL, NULL))
		lines = g_strsplit(text, "\n", -1);
	g_free(text);
	g_hash_table_insert(s->sources, g_strdup(path), lines);
	return lines;
}

/* Append a line of a source file without its white space; false when it cannot be read. */
static bool append_line(struct sarif *s, const char *path, json_int_t line, GString *out)
{
	g_autofree char *whole = g_path_is_absolute(path)
	                                 ? g_strdup(path)
	                                 : g_build_filename(s->root, path, NULL);
	char **lines = lines_of(s, whole);
	bool there = lines != NULL && line > 0 && line <= (json_int_t)g_strv_length(lines);

	for (const char *c = there ? lines[line - 1] : ""; *c != '\0'; c++)
		if (!g_ascii_isspace(*c))
			g_string_append_c(out, *c);
	return there;
}

/* -- locations ----------------------------------------------------------------------------- */

static json_t *artifact(const struct sarif *s, const char *path)
{
	const char *below = below_root(s, path);
	g_autofree char *uri = below ? g_uri_escape_string(below, "/", FALSE)
	                             : g_filename_to_uri(path, NULL, NULL);
	json_t *j = json_pack("{so}", "uri", json_text(uri ? uri : path));

	if (below != NULL)
		json_object_set_new(j, "uriBaseId", json_string(ROOT));
	return j;
}

/* A place without a source file has only a logical location. */
static json_t *sarif_location(const struct sarif *s, const json_t *site)
{
	const char *file = json_word(site, "file"), *function = json_word(site, "function");
	json_t *line = json_object_get(site, "line"), *location = json_object();

	if (*file) {
		json_t *physical = json_pack("{so}", "artifactLocation", artifact(s, file));
		if (line != NULL)
			json_object_set_new(physical, "region",
			                    json_pack("{sO}", "startLine", line));
		json_object_set_new(location, "physicalLocation", physical);
	}
	if (*function || *file == '\0')
		json_object_set_new(
		        location, "logicalLocations",
		        json_pack("[{soso}]", "fullyQualifiedName",
		                  json_text(*function ? function : json_word(site, "name")),
		                  "kind", json_string(*function ? "function" : "module")));
	return location;
}

/* -- code flows ---------------------------------------------------------------------------- */

enum { FLOW_MOST = 1000 }; /* steps of a code flow: its last ones */

static json_t *flow_of_thread(json_t *flows, const char *thread)
{
	json_t *flow;
	size_t i;

	json_array_foreach(flows, i, flow) if (strcmp(json_word(flow, "id"), thread) ==
	                                       0) return json_object_get(flow, "locations");
	flow = json_pack("{sos{}so}", "id", json_text(thread), "message", "locations",
	                 json_array());
	json_object_set_new(json_object_get(flow, "message"), "text", json_text(thread));
	json_array_append_new(flows, flow);
	return json_object_get(flow, "locations");
}

json_t *sarif_schedule(const struct places *places, const struct trace *t, const GArray *events,
                       const GArray *claimed)
{
	json_t *steps = json_array();
	g_autoptr(GString) text = g_string_new(NULL);
	guint first = events->len > FLOW_MOST ? events->len - FLOW_MOST : 0;

	for (guint i = first; i < events->len; i++) {
		uint32_t event = g_array_index(events, uint32_t, i);
		const struct event *x = &t->events[event];
		bool claim = false;

		if (x->op == OP_ENTER || x->op == OP_LEAVE)
			continue;
		for (guint k = 0; k < claimed->len; k++)
			claim |= g_array_index(claimed, uint32_t, k) == event;
		bool turn =
		        i == 0 ||
		        t->events[g_array_index(events, uint32_t, i - 1)].thread != x->thread;
		g_string_truncate(text, 0);
		trace_append_words(t, event, text);
		json_array_append_new(
		        steps, json_pack("{sIsosososs}", "order", (json_int_t)i + 1, "thread",
		                         json_text(trace_thread_name(t, x->thread)), "text",
		                         json_text(text->str), "site",
		                         places_json(places, event), "importance",
		                         claim  ? "essential"
		                         : turn ? "important"
		                                : "unimportant"));
	}
	return steps;
}

static json_t *code_flow(const struct sarif *s, const json_t *schedule)
{
	json_t *flows = json_array(), *step;
	size_t i;

	json_array_foreach(schedule, i, step)
	{
		json_t *location = sarif_location(s, json_object_get(step, "site"));

		json_object_set_new(location, "message",
		                    json_pack("{sO}", "text", json_object_get(step, "text")));
		json_array_append_new(
		        flow_of_thread(flows, json_word(step, "thread")),
		        json_pack("{sososO}", "location", location, "executionOrder",
		                  json_incref(json_object_get(step, "order")), "importance",
		                  json_object_get(step, "importance")));
	}
	return json_pack(
	        "{s{ss}so}", "message", "text",
	        "A schedule that shows it: each thread's steps, numbered in the order in which "
	        "they run.",
	        "threadFlows", flows);
}

/* -- fingerprints -------------------------------------------------------------------------- */

/* An identity for each finding of the kind at these places, wherever their lines have moved:
 * by the text of the lines where all can be read, else by function and the line in it. */
static char *fingerprint(struct sarif *s, const json_t *f, bool by_text)
{
	g_autoptr(GString) key = g_string_new(json_word(f, "kind"));
	const json_t *places = finding_places(f), *site;
	size_t i;
	bool good = json_array_size(places) > 0;
	/* the first of a library's variables differs from run to run */
	bool named =
	        finding_kind_of(f) != FINDING_DATA_RACE || json_object_get(f, "places") == NULL;

	json_array_foreach((json_t *)places, i, site)
	{
		const char *file = json_word(site, "file"), *below = below_root(s, file);

		g_string_append_printf(key, "|%s|%s|%s|", below ? below : base_name(file),
		                       json_word(site, "function"), json_word(site, "name"));
		if (by_text && *file)
			good &= append_line(s, file,
			                    json_integer_value(json_object_get(site, "line")),
			                    key);
		else
			g_string_append_printf(
			        key, "%" JSON_INTEGER_FORMAT,
			        json_integer_value(json_object_get(
			                site,
			                json_object_get(site, "offset") ? "offset" : "line")));
	}
	g_string_append_printf(key, "|%s|%s", named ? json_word(f, "variable") : "",
	                       json_word(f, "story"));
	char *sum =
	        good ? g_compute_checksum_for_string(G_CHECKSUM_SHA256, key->str, -1) : NULL;
	if (sum == NULL)
		return NULL;
	for (unsigned copy = 1;; copy++) {
		char *mark = g_strdup_printf("%.32s:%u", sum, copy);

		if (g_hash_table_add(s->marks, mark)) {
			g_free(sum);
			return g_strdup(mark);
		}
	}
}

static json_t *fingerprints(struct sarif *s, const json_t *f)
{
	static const char *const names[] = { "placesInFunction/v1", "sourceText/v1" };
	json_t *j = json_object();

	for (int by_text = 0; by_text < 2; by_text++) {
		g_autofree char *mark = fingerprint(s, f, by_text);

		if (mark != NULL)
			json_object_set_new(j, names[by_text], json_text(mark));
	}
	return j;
}

/* -- results ------------------------------------------------------------------------------- */

static char *message(const json_t *f)
{
	const char *variable = json_word(f, "variable"), *verdict = json_word(f, "verdict");
	GString *text = g_string_new(NULL);

	if (*json_word(f, "text"))
		g_string_append_printf(text, "%s.", json_word(f, "text"));
	else if (*json_word(f, "story"))
		g_string_append_printf(text, "%s.", json_word(f, "story"));
	else
		g_string_append_printf(text, "%s%s%s.", json_word(f, "kind"),
		                       *variable ? " on " : "", variable);
	g_string_replace(text, "\n", "; ", 0);
	if (strcmp(verdict, verdict_word(VERDICT_HAPPENED)) == 0)
		g_string_append(text, " It happened in the recorded run.");
	else if (strcmp(verdict, verdict_word(VERDICT_RACE)) == 0)
		g_string_append(text, " It can happen: a checked schedule shows it.");
	else
		g_string_append_printf(text, " Verdict: %s.", verdict);
	if (*json_word(f, "difference"))
		g_string_append_printf(text, " What it does: %s.", json_word(f, "difference"));
	return g_string_free(text, FALSE);
}

static void set_level(json_t *result, const char *verdict)
{
	bool sure = strcmp(verdict, verdict_word(VERDICT_RACE)) == 0 ||
	            strcmp(verdict, verdict_word(VERDICT_HAPPENED)) == 0;
	const char *kind = strcmp(verdict, verdict_word(VERDICT_IMPOSSIBLE)) == 0 ? "pass"
	                   : strcmp(verdict, verdict_word(VERDICT_UNKNOWN)) == 0  ? "open"
	                                                                          : "fail";

	json_object_set_new(result, "kind", json_string(kind));
	json_object_set_new(result, "level",
	                    json_string(strcmp(kind, "fail") != 0 ? "none"
	                                : sure                    ? "error"
	                                                          : "warning"));
}

static void set_rule(json_t *result, const char *kind)
{
	json_object_set_new(result, "ruleId", json_string(kind));
	for (int k = 0; k < FINDING_KIND_COUNT; k++)
		if (strcmp(finding_kind_word((enum finding_kind)k), kind) == 0)
			json_object_set_new(result, "ruleIndex", json_integer(k));
}

/* The first place is the location, the others are related ones; all in the user's own files
 * where the exact site is inside of a library. */
static void set_locations(const struct sarif *s, json_t *result, const json_t *f)
{
	json_t *locations = json_array(), *related = json_array(), *site;
	const json_t *own = json_object_get(f, "places");
	size_t i;

	json_array_foreach(own ? (json_t *)own : json_object_get(f, "sites"), i, site)
	{
		json_t *location = sarif_location(s, site);

		if (i > 0) {
			json_object_set_new(location, "id", json_integer((json_int_t)i));
			json_object_set_new(location, "message",
			                    json_pack("{ss}", "text", "the other place"));
		}
		json_array_append_new(i == 0 ? locations : related, location);
	}
	json_object_set_new(result, "locations", locations);
	json_object_set_new(result, "relatedLocations", related);
}

/* "FILE:LINE:COLUMN: TEXT" for the finding's first place, and for each other one a line that
 * names its thread; all in the user's own files where they have a line. */
static void add_lines(const struct sarif *s, const json_t *f)
{
	const json_t *own = json_object_get(f, "places"), *site;
	g_autofree char *text = message(f);
	size_t i;

	if (json_array_size(json_object_get(f, "sites")) == 0)
		fprintf(s->out, "heddle: %s: %s\n", json_word(f, "kind"), text);
	g_strdelimit(text, "\n\r", ' ');
	char *before = NULL; /* the place on the previous line */
	json_array_foreach(own ? (json_t *)own : json_object_get(f, "sites"), i, site)
	{
		const char *file = json_word(site, "file");
		int line = (int)json_integer_value(json_object_get(site, "line"));
		int column = (int)json_integer_value(json_object_get(site, "column"));
		char *place = *file && line
		                      ? g_strdup_printf("%s:%d:%d", file, line, MAX(column, 1))
		                      : g_strdup(json_word(site, "name"));

		if (g_strcmp0(place, before) != 0)
			fprintf(s->out, "%s: %s: %s%s\n", printable(place),
			        json_word(f, "kind"), i > 0 ? "the other place: " : "", text);
		g_free(before);
		before = place;
	}
	g_free(before);
}

void sarif_add(struct sarif *s, const json_t *f, const char *baseline_state)
{
	if (s->lines) {
		bool absent = baseline_state && strcmp(baseline_state, "absent") == 0;

		if (!absent && *json_word(f, "suppressed") == '\0' &&
		    strcmp(json_word(f, "verdict"), verdict_word(VERDICT_IMPOSSIBLE)) != 0)
			add_lines(s, f);
		return;
	}
	json_t *result = json_object(), *schedule = json_object_get(f, "schedule");
	const char *suppressed = json_word(f, "suppressed");
	g_autofree char *text = message(f);

	set_rule(result, json_word(f, "kind"));
	set_level(result, json_word(f, "verdict"));
	json_object_set_new(result, "message", json_pack("{so}", "text", json_text(text)));
	set_locations(s, result, f);
	json_object_set_new(result, "partialFingerprints", fingerprints(s, f));
	if (json_array_size(schedule) > 0)
		json_object_set_new(result, "codeFlows",
		                    json_pack("[o]", code_flow(s, schedule)));
	if (baseline_state != NULL)
		json_object_set_new(result, "baselineState", json_string(baseline_state));
	if (*suppressed)
		json_object_set_new(result, "suppressions",
		                    json_pack("[{sssssO}]", "kind", "external", "status",
		                              "accepted", "justification",
		                              json_object_get(f, "suppressed")));
	fputs(s->any ? ",\n   " : "\n   ", s->out);
	json_dumpf(result, s->out, 0);
	s->any = true;
	json_decref(result);
}

/* -- the file ------------------------------------------------------------------------------ */

static json_t *rules_json(void)
{
	json_t *list = json_array();

	for (int k = 0; k < FINDING_KIND_COUNT; k++) {
		const struct rule *r = &rules[k];

		json_array_append_new(
		        list, json_pack("{sssss{ss}s{ss}s{ss}s{ss}s{s[sss]ss}}", "id",
		                        finding_kind_word((enum finding_kind)k), "name",
		                        r->name, "shortDescription", "text", r->brief,
		                        "fullDescription", "text", r->brief, "help", "text",
		                        r->help, "defaultConfiguration", "level", "error",
		                        "properties", "tags", "concurrency", "correctness",
		                        "threads", "precision", "very-high"));
	}
	return list;
}

struct sarif *sarif_begin(FILE *out, enum output_format format)
{
	struct sarif *s = g_new0(struct sarif, 1);
	s->out = out;
	s->lines = format == FORMAT_QUICKFIX;
	if (s->lines)
		return s;
	json_auto_t *list = rules_json();
	char *rule_text = json_dumps(list, 0);

	s->root = source_root();
	s->marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
	                                   (GDestroyNotify)g_strfreev);
	g_autofree char *with_slash = g_strconcat(s->root, "/", NULL);
	g_autofree char *uri = g_filename_to_uri(with_slash, NULL, NULL);
	fprintf(out,
	        "{\n \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
	        " \"version\": \"2.1.0\",\n"
	        " \"runs\": [{\n"
	        "  \"tool\": {\"driver\": {\"name\": \"heddle\", \"version\": \"" HEDDLE_VERSION
	        "\", \"semanticVersion\": \"" HEDDLE_VERSION "\", \"rules\": %s}},\n"
	        "  \"originalUriBaseIds\": {\"%s\": {\"uri\": \"%s\"}},\n"
	        "  \"columnKind\": \"unicodeCodePoints\",\n"
	        "  \"results\": [",
	        rule_text, ROOT, uri ? uri : "file:///");
	free(rule_text);
	return s;
}

void sarif_end(struct sarif *s)
{
	if (s->lines) {
		g_free(s);
		return;
	}
	fputs("\n  ]\n }]\n}\n", s->out);
	g_hash_table_destroy(s->marks);
	g_hash_table_destroy(s->sources);
	g_free(s->root);
	g_free(s);
}
