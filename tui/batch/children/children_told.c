/*
 * children_told.c - what `heddle record --children` says at its end, and its report. A race in
 * a library that every test links is one finding, with the processes that have it.
 */
#include "tui/batch/children/children.h"

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "tui/batch/print/finding_json.h"
#include "tui/batch/print/names.h"

static bool was_recorded(const struct child_process *p)
{
	return p->attended.done && p->attended.kept;
}

static guint recorded_count(const struct children *c)
{
	guint count = 0;
	for (guint i = 0; i < c->processes->len; i++)
		count += was_recorded(c->processes->pdata[i]);
	return count;
}

/* ---- findings ---- */

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Equal for one finding of several processes: its kind, analysis and places. Owned by the
 * caller. */
static char *key_of(const json_t *finding)
{
	g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) key = g_string_new(NULL);
	size_t i;
	json_t *site;
	json_array_foreach((json_t *)finding_places(finding), i, site)
	{
		char *text = json_dumps(site, JSON_COMPACT | JSON_SORT_KEYS);
		g_ptr_array_add(places, g_strdup(text));
		free(text);
	}
	g_ptr_array_sort(places, by_text);
	g_string_printf(key, "%s|%s", json_word(finding, "kind"), json_word(finding, "by"));
	for (guint n = 0; n < places->len; n++)
		g_string_append_printf(key, "|%s", (char *)places->pdata[n]);
	return g_string_free(g_steal_pointer(&key), FALSE);
}

/* The findings of all processes, each once, with "processes": the names of those that have it.
 * The notes of their reports that several have are collected in `notes`. */
static json_t *all_findings(const struct children *c)
{
	json_t *all = json_array();
	g_autoptr(GHashTable) known =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < c->processes->len; i++) {
		const struct child_process *p = c->processes->pdata[i];
		json_auto_t *report = json_loads(p->report, 0, NULL);
		json_t *finding;
		size_t n;
		json_array_foreach(json_object_get(report, "findings"), n, finding)
		{
			char *key = key_of(finding);
			json_t *first = g_hash_table_lookup(known, key);
			if (first == NULL) {
				first = finding;
				json_object_set_new(first, "processes", json_array());
				json_array_append(all, first);
				g_hash_table_insert(known, key, first);
			} else {
				g_free(key);
			}
			json_array_append_new(json_object_get(first, "processes"),
			                      json_text(p->name));
		}
	}
	return all;
}

char *children_report(const struct children *c)
{
	json_int_t events = 0;
	json_auto_t *findings = all_findings(c), *notes = json_array();
	g_autofree char *name = g_path_get_basename(c->argv[0]);
	for (guint i = 0; i < c->processes->len; i++) {
		const struct child_process *p = c->processes->pdata[i];
		json_auto_t *report = json_loads(p->report, 0, NULL);
		events += (json_int_t)p->attended.events;
		json_t *note;
		size_t n;
		json_array_foreach(json_object_get(report, "notes"), n, note)
		{
			bool has = false;
			for (size_t k = 0; k < json_array_size(notes); k++)
				has |= json_equal(json_array_get(notes, k), note);
			if (!has)
				json_array_append(notes, note);
		}
	}
	json_auto_t *report = json_pack(
	        "{sssosssIsbsssIsOsO}", "heddle", HEDDLE_VERSION, "trace", json_text(name),
	        "analysis", "hb", "events", events, "complete", false, "not-complete",
	        "other schedules were not looked at", "candidates",
	        (json_int_t)json_array_size(findings), "notes", notes, "findings", findings);
	return json_dumps(report, 0);
}

/* ---- as text ---- */

static void print_names(const json_t *names)
{
	enum { MOST = 4 };
	size_t count = json_array_size(names);
	fputs("    in ", stderr);
	for (size_t i = 0; i < MIN(count, (size_t)MOST); i++)
		fprintf(stderr, "%s%s", i ? ", " : "",
		        json_string_value(json_array_get(names, i)));
	if (count > MOST)
		fprintf(stderr, " and %zu more", count - MOST);
	fputc('\n', stderr);
}

static void print_findings(const json_t *findings)
{
	size_t i;
	json_t *finding;
	json_array_foreach((json_t *)findings, i, finding)
	{
		finding_print(finding, stderr);
		print_names(json_object_get(finding, "processes"));
	}
}

/* How the process ended, in words. Owned by the caller. */
static char *ending_of(const struct attended *a)
{
	if (a->became)
		return g_strdup("became another program");
	if (a->unseen)
		return g_strdup("killed");
	if (a->signal)
		return g_strdup_printf("signal %d (%s)", a->signal, strsignal(a->signal));
	return g_strdup_printf("exit status %d", a->status);
}

/* The lines of its attendant, without the word that begins them, before other lines. */
static void print_notes(const struct child_process *p)
{
	g_auto(GStrv) lines = g_strsplit(p->notes, "\n", -1);
	for (char **line = lines; *line; line++) {
		const char *said = *line;
		if (g_str_has_prefix(said, "heddle: "))
			said += strlen("heddle: ");
		if (*said)
			fprintf(stderr, "heddle:     %s\n", said);
	}
}

static void print_process(const struct children *c, const struct child_process *p)
{
	const char *suffix = c->folder ? ".hdl" : "";
	if (was_recorded(p)) {
		g_autofree char *ending = ending_of(&p->attended);
		fprintf(stderr, "heddle:   %s%s  %" PRIu64 " event%s, %s", p->name, suffix,
		        p->attended.events, plural(p->attended.events), ending);
		if (p->attended.findings)
			fprintf(stderr, ", %u finding%s", p->attended.findings,
			        plural(p->attended.findings));
		if (p->attended.answer)
			fprintf(stderr, ": made exit status %u", p->attended.answer);
		fputc('\n', stderr);
	} else if (p->left && c->folder) {
		fprintf(stderr,
		        "heddle:   %s  no trace: its process went on, and so does its "
		        "log, %s%s.log-*\n",
		        p->name, p->name, suffix);
	} else if (p->left) {
		fprintf(stderr, "heddle:   %s  not looked at: its process went on\n", p->name);
	} else if (p->ended_by) {
		fprintf(stderr,
		        "heddle:   %s  no trace: its recorder ended with signal %d (%s)\n",
		        p->name, p->ended_by, strsignal(p->ended_by));
	} else {
		fprintf(stderr, "heddle:   %s  not recorded\n", p->name);
	}
	print_notes(p);
}

static void print_late(const struct children *c)
{
	GList *names = g_list_sort(g_hash_table_get_keys(c->late), (GCompareFunc)strcmp);
	for (GList *i = names; i; i = i->next)
		fprintf(stderr,
		        "heddle: not recorded: %s, which loads instrumented code after its start: "
		        "'heddle record -- %s ...' records it\n",
		        printable(i->data), printable(i->data));
	g_list_free(names);
}

guint children_tell(const struct children *c, bool quiet, const char *again)
{
	g_autofree char *name = g_path_get_basename(c->argv[0]);
	json_auto_t *findings = all_findings(c);
	guint count = recorded_count(c), found = (guint)json_array_size(findings);
	guint misused = 0;
	print_findings(findings);
	if (!quiet)
		fprintf(stderr, "heddle: %u process%s of %s recorded%s%s\n", count,
		        count == 1 ? "" : "es", printable(name),
		        c->folder ? " in " : ", no traces",
		        c->folder ? printable(c->folder) : "");
	for (guint i = 0; i < c->processes->len; i++) {
		const struct child_process *p = c->processes->pdata[i];
		misused += p->attended.misused;
		if (!quiet || !was_recorded(p) || *p->notes)
			print_process(c, p);
	}
	print_late(c);
	if (c->processes->len == 0 && g_hash_table_size(c->late) == 0)
		fputs("heddle: no process asked to be recorded: build the programs with 'heddle "
		      "cc' (or -fsanitize=thread, without a static runtime), and leave "
		      "HEDDLE_CHILDREN and LD_LIBRARY_PATH in their environment\n",
		      stderr);
	if (found > 0 && !again)
		fprintf(stderr,
		        "%s: %u finding%s by hb in %u process%s, not complete: 'heddle races' of a "
		        "trace looks at other schedules\n",
		        printable(name), found, plural(found), count, count == 1 ? "" : "es");
	if (again)
		fprintf(stderr,
		        "%s: %u finding%s by hb in %u process%s, not complete: 'heddle record "
		        "%s' keeps traces for 'heddle races'\n",
		        printable(name), found, plural(found), count, count == 1 ? "" : "es",
		        again);
	return found + misused;
}
