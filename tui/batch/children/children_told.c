/*
 * children_told.c - what `heddle record --children` says at its end, and its report. A race in
 * a library that every test links is one finding, with the processes that have it.
 */
#include "tui/batch/children/children.h"

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tui/batch/print/finding_json.h"
#include "tui/batch/print/names.h"
#include "tui/batch/reports/traces_merge.h"

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

/* The reports of the processes, with the names of these; NULL: no process has one. */
static GPtrArray *reports_of(const struct children *c)
{
	GPtrArray *parts = g_ptr_array_new_with_free_func((GDestroyNotify)report_file_free);
	for (guint i = 0; i < c->processes->len; i++) {
		const struct child_process *p = c->processes->pdata[i];
		json_auto_t *report = json_loads(p->report, 0, NULL);
		if (report != NULL)
			g_ptr_array_add(parts, report_file_of_json(p->name, report));
	}
	return parts;
}

/* The findings of all processes, each once, with "processes". NULL where none was compared. */
static struct report_file *joined_report(const struct children *c, const GPtrArray *parts)
{
	struct error error;
	g_autofree char *name = g_path_get_basename(c->argv[0]);
	struct report_file *all =
	        parts->len ? traces_merge(parts, name, "processes", &error) : NULL;
	if (parts->len && all == NULL)
		BUG("our own reports: %s", error.what);
	return all;
}

void children_report(const struct children *c, FILE *out)
{
	g_autoptr(GPtrArray) parts = reports_of(c);
	g_autofree char *name = g_path_get_basename(c->argv[0]);
	struct report_file *all = joined_report(c, parts);
	json_auto_t *head = all ? json_incref(all->head)
	                        : json_pack("{sssosssisbs[]}", "heddle", HEDDLE_VERSION,
	                                    "trace", json_text(name), "analysis", "hb",
	                                    "events", 0, "complete", false, "processes");
	char *text = json_dumps(head, 0);
	fprintf(out, "%.*s, \"findings\": [", (int)strlen(text) - 1, text);
	free(text);
	for (guint i = 0; all && i < all->findings->len; i++) {
		const struct filed_finding *f =
		        &g_array_index(all->findings, struct filed_finding, i);
		fprintf(out, "%s\n%.*s", i ? "," : "", (int)f->length, f->text);
	}
	fputs("\n]}\n", out);
	report_file_free(all);
}

/* ---- as text ---- */

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
	if (p->attended.unwanted) {
		if (*p->notes)
			fprintf(stderr, "heddle:   %s  became another program\n", p->name);
		print_notes(p);
		return;
	}
	if (was_recorded(p)) {
		g_autofree char *ending = ending_of(&p->attended);
		fprintf(stderr, "heddle:   %s%s  %" PRIu64 " event%s, %s", p->name, suffix,
		        p->attended.events, plural(p->attended.events), ending);
		if (p->attended.forked)
			fputs(", by fork", stderr);
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
		fprintf(stderr, "heddle:   %s  %s: its recorder ended with signal %d (%s)\n",
		        p->name, c->folder ? "no trace" : "not looked at", p->ended_by,
		        strsignal(p->ended_by));
		if (c->folder)
			fprintf(stderr, "heddle:     its log, %s%s.log-*, opens like one\n",
			        p->name, suffix);
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
	g_autoptr(GPtrArray) parts = reports_of(c);
	struct report_file *all = joined_report(c, parts);
	guint count = recorded_count(c), found = all ? all->findings->len : 0;
	guint misused = 0;
	for (guint i = 0; i < found; i++)
		finding_print(g_array_index(all->findings, struct filed_finding, i).fields,
		              stderr);
	report_file_free(all);
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
