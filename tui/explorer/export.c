/*
 * export.c - see export.h.
 */
#include "tui/explorer/export.h"
#include "tui/explorer/html_page.h"

#include "tui/drawing/columns.h"
#include "tui/explorer/guide.h"
#include "tui/explorer/words/story.h"
#include "tui/explorer/messages.h"

#include "engine/predict/weak_races.h"
#include "engine/base/child.h"
#include "engine/base/streams.h"
#include "engine/record/recorded.h"
#include "engine/witness/witness.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool make_witness(const struct session *s, struct witness *w, struct error *error)
{
	const struct reached *r = session_reached(s);
	const struct finding *f = r ? NULL : session_finding(s);
	memset(w, 0, sizeof *w);
	if (r == NULL && (f == NULL || f->witness == NULL))
		return refuse(error, NO_WITNESS);
	if (r && strpbrk(r->condition, "\n\r\033"))
		return refuse(error, NO_LINE_FITS);
	w->trace_name = g_strdup(trace_name(s->trace));
	w->trace_digest = trace_digest(s->trace);
	if (r) {
		w->claim = CLAIM_REACH;
		w->condition = g_strdup(r->condition);
		w->events = g_array_copy(r->events);
		w->pair = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(w->pair, r->target);
		return true;
	}
	w->claim = finding_claim(f);
	w->under_missing = s->missing && f->kind == FINDING_DATA_RACE;
	w->events = g_array_copy(f->witness);
	w->pair = finding_claimed(f);
	if (s->weak)
		witness_add_memory(s->trace, f, w);
	return true;
}

/* The witness as text; NULL and `error` when the pair has none. */
char *export_witness(const struct session *s, struct error *error)
{
	struct witness w;
	if (!make_witness(s, &w, error))
		return NULL;
	GString *text = g_string_new(NULL);
	witness_print(s->trace, &w, text);
	witness_release(&w);
	return g_string_free(text, FALSE);
}

/* -- Markdown ------------------------------------------------------------------------ */

/* The story, as on the screen. */
static void append_story(const struct app *app, const struct entry *entry, GString *out)
{
	enum { COLUMNS = 96 };
	const struct finding *f = session_finding(app->session);
	g_autoptr(GArray) prose =
	        story_tell(app->session, (struct sources *)&app->sources, entry, f, COLUMNS);
	g_autoptr(GString) text = g_string_new(NULL);
	prose_print(prose, COLUMNS, false, text);
	g_string_append_printf(out, "```\n%s```\n", text->str);
}

/* The witness; if very long, only its end with the pair. */
static void append_witness(const struct session *s, const GArray *events, GString *out)
{
	enum { MOST = 1000 };
	guint first = events->len > MOST ? events->len - MOST : 0;
	g_string_append(out, "\n## Witness\n\n");
	if (first)
		g_string_append_printf(
		        out, "    … %u events before (all are in the .wit file)\n", first);
	for (guint i = first; i < events->len; i++) {
		uint32_t event = g_array_index(events, uint32_t, i);
		g_string_append_printf(
		        out, "    %8u  %-8s ", event,
		        trace_thread_name(s->trace, s->trace->events[event].thread));
		describe_event(s, event, out);
		g_string_append_c(out, '\n');
	}
}

static char *to_markdown(const struct app *app, const struct entry *entry)
{
	const struct session *s = app->session;
	const struct finding *f = entry->finding;
	GString *out = g_string_new(NULL);
	g_string_append_printf(out, "# %s on `%s`: %s\n\n%s in `%s`.\n\n",
	                       finding_kind_word(f->kind), entry->variable,
	                       finding_verdict_text(f->kind, f->verdict), entry->where,
	                       trace_name(s->trace));
	if (session_has(s, INDEX_ALL))
		append_story(app, entry, out);
	if (entry->triage)
		g_string_append_printf(out, "\nMarked %s.\n", triage_word(entry->triage));
	if (entry->note)
		g_string_append_printf(out, "\n%s\n", entry->note);
	if (f->witness)
		append_witness(s, f->witness, out);
	return g_string_free(out, FALSE);
}

/* -- JSON ---------------------------------------------------------------------------- */

static json_t *string_of(const char *text)
{
	json_t *string = json_string(text);
	if (string)
		return string;
	g_autoptr(GString) escaped = g_string_new(NULL);
	append_escaped(escaped, text, strlen(text));
	string = json_string(escaped->str);
	return string;
}

/* Adds the variables as reports do: the first, and all. */
static void add_variables(const struct trace *t, const struct finding *f, json_t *root)
{
	json_t *all = json_array();
	for (guint i = 0; i < f->variables->len; i++) {
		uint32_t v = g_array_index(f->variables, uint32_t, i);
		json_array_append_new(all, string_of(trace_variable_name(t, v)));
	}
	json_object_set(root, "variable", json_array_get(all, 0));
	json_object_set_new(root, "variables", all);
}

static char *to_json(const struct app *app, const struct entry *entry)
{
	const struct session *s = app->session;
	const struct finding *f = entry->finding;
	json_t *root = json_object(), *locations = json_array();
	json_object_set_new(root, "kind", json_string(finding_kind_word(f->kind)));
	json_object_set_new(root, "first", json_integer(f->first));
	json_object_set_new(root, "second", json_integer(f->second));
	json_object_set_new(root, "variable", string_of(entry->variable));
	if (f->variables && f->variables->len)
		add_variables(s->trace, f, root);
	json_array_append_new(locations, string_of(trace_site_name(s->trace, f->first)));
	json_array_append_new(locations, string_of(trace_site_name(s->trace, f->second)));
	json_object_set_new(root, "locations", locations);
	json_object_set_new(root, "verdict", json_string(verdict_word(f->verdict)));
	if (f->witness) {
		json_t *witness = json_array();
		for (guint i = 0; i < f->witness->len; i++)
			json_array_append_new(
			        witness, json_integer(g_array_index(f->witness, uint32_t, i)));
		json_object_set_new(root, "witness", witness);
	}
	g_autoptr(GString) words = g_string_new(NULL);
	explain_entry(s, entry, words);
	json_object_set_new(root, "explanation", string_of(words->str));
	if (entry->triage)
		json_object_set_new(root, "mark", json_string(triage_word(entry->triage)));
	if (entry->note)
		json_object_set_new(root, "note", string_of(entry->note));
	char *text = json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	char *copy = g_strconcat(text, "\n", NULL);
	free(text);
	return copy;
}

/* -- graphs -------------------------------------------------------------------------- */

/* The cycle of an atomic-set violation, with units and conflicts. */
static void draw_cycle(const struct trace *t, const struct finding *f, struct drawing *d)
{
	for (guint i = 0; i < f->units->len; i++) {
		const struct cycle_unit *u = &g_array_index(f->units, struct cycle_unit, i);
		drawing_node(d, u->thread, u->begin, u->end,
		             g_strdup_printf("%s %u-%u", u->unit, u->begin, u->end), true);
	}
	for (guint i = 0; i < f->edges->len; i++) {
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		drawing_edge(d, e->from, e->to,
		             g_strdup_printf("%s %u, %u", trace_variable_name(t, e->variable),
		                             e->events[0], e->events[1]),
		             true, false);
	}
}

/* Draw the order view's chain, if open, else the finding's cycle. */
static bool draw(const struct app *app, const struct entry *entry, struct drawing *d)
{
	const struct trace *t = app_trace(app);
	drawing_init(d, trace_name(t));
	if (app_view(app) == VIEW_EXPLORE)
		return explore_view_draw(app, d);
	for (uint32_t i = 0; i < t->threads_count; i++)
		g_ptr_array_add(d->lanes, g_strdup(trace_thread_name(t, i)));
	if (app_view(app) == VIEW_ORDER)
		return order_view_draw(app, d);
	if (entry == NULL || entry->finding->units == NULL || entry->finding->edges == NULL)
		return false;
	draw_cycle(t, entry->finding, d);
	return true;
}

static char *graph_text(const struct app *app, const struct entry *entry,
                        void (*write)(const struct drawing *, GString *))
{
	struct drawing d;
	GString *out = g_string_new(NULL);
	bool drawn = draw(app, entry, &d);
	if (drawn)
		write(&d, out);
	drawing_release(&d);
	return g_string_free(out, !drawn);
}

static char *to_dot(const struct app *app, const struct entry *entry)
{
	return graph_text(app, entry, drawing_dot);
}

static char *to_svg(const struct app *app, const struct entry *entry)
{
	return graph_text(app, entry, drawing_svg);
}

/* The page: from the list the whole report, from the exploration its tree, else the selected
 * finding. */
static char *to_page(const struct app *app, const struct entry *entry)
{
	if (app_view(app) == VIEW_EXPLORE)
		return page_of_exploration(app);
	return page_of_findings(app, app_view(app) == VIEW_FINDINGS ? NULL : entry);
}

/* -- which -------------------------------------------------------------------------- */

static const struct {
	const char *suffix;
	bool graph; /* with a graph no finding needs to be selected */
	char *(*make)(const struct app *, const struct entry *); /* NULL: no graph here */
} forms[] = { { ".md", false, to_markdown },
	      { ".json", false, to_json },
	      { ".dot", true, to_dot },
	      { ".svg", true, to_svg },
	      { ".html", true, to_page } };

static const char *suffix_for(const struct app *app)
{
	switch (app_view(app)) {
	case VIEW_WITNESS:
		return ".wit";
	case VIEW_GRAPH:
	case VIEW_ORDER:
	case VIEW_EXPLORE:
		return ".dot";
	default:
		return ".md";
	}
}

/* Default name: beside the trace, or in the working folder if that is not writable. */
static char *name_beside(const struct session *s, const char *suffix)
{
	g_autofree char *folder = g_path_get_dirname(s->trace->path ? s->trace->path : ".");
	g_autofree char *name = g_strdup_printf("%s-%u-%u%s", trace_name(s->trace), s->pair[0],
	                                        s->pair[1], suffix);
	bool here = strcmp(folder, ".") == 0 || access(folder, W_OK) != 0;
	return here ? g_strdup(name) : g_build_filename(folder, name, NULL);
}

/* The contents for the form chosen by `name`; NULL and `error` when nothing can be written. */
static char *make_form(const struct app *app, const char *name, struct error *error)
{
	const struct entry *entry = session_selected(app->session);
	if (g_str_has_suffix(name, ".wit"))
		return export_witness(app->session, error);
	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
		if (!g_str_has_suffix(name, forms[i].suffix))
			continue;
		g_autofree char *text = NULL;
		if (entry == NULL && !forms[i].graph)
			refuse(error, NO_FINDING);
		else if ((text = forms[i].make(app, entry)) == NULL)
			refuse(error, NO_GRAPH);
		return text ? streams_guarded(text) : NULL;
	}
	error_set(error, name, NULL,
	          "expected a name that ends in .md, .json, .wit, .dot, .svg or .html");
	return NULL;
}

/* -- files: none is overwritten without a question ----------------------------------------- */

static bool has_content(const char *path, const char *text)
{
	g_autofree char *old = NULL;
	gsize length = 0;
	return g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
	       g_file_get_contents(path, &old, &length, NULL) && length == strlen(text) &&
	       memcmp(old, text, length) == 0;
}

/* The first of STEM.SUFFIX, STEM.2.SUFFIX, ... that is free or has this content. */
static char *unused_name(const char *name, const char *text)
{
	const char *dot = strrchr(name, '.');
	char *path = g_strdup(name);
	for (unsigned n = 2; g_file_test(path, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK) &&
	                     !has_content(path, text);
	     n++) {
		g_free(path);
		path = g_strdup_printf("%.*s.%u%s", (int)(dot - name), name, n, dot);
	}
	return path;
}

char *export_unused_name(const char *name)
{
	return unused_name(name, "");
}

/* `words`: file name and contents. */
static void write_export(struct app *app, char **words)
{
	struct error error;
	if (file_write_whole(words[0], words[1], strlen(words[1]), &error))
		app_say(app, SAYS_WRITTEN, words[0]);
	else
		app_complain(app, &error);
	g_strfreev(words);
}

/* Scripts overwrite without a question, since they run repeatedly. */
void export_text(struct app *app, const char *name, const char *text)
{
	const char *words[] = { name, text, NULL };
	bool asks = !app->scripted && g_file_test(name, G_FILE_TEST_IS_REGULAR) &&
	            !has_content(name, text);
	if (asks)
		app_ask(app, g_strdup_printf(ASKS_OVERWRITE, name), write_export,
		        g_strdupv((char **)words));
	else
		write_export(app, g_strdupv((char **)words));
}

bool export_write(struct app *app, const char *path, struct error *error)
{
	char *name = path ? g_strdup(path) : name_beside(app->session, suffix_for(app));
	g_autofree char *text = make_form(app, name, error);
	if (text == NULL) {
		g_free(name);
		return false;
	}
	if (path == NULL) {
		char *unused = unused_name(name, text);
		g_free(name);
		name = unused;
	}
	export_text(app, name, text);
	g_free(name);
	return true;
}

/* -- replay -------------------------------------------------------------------------------- */

/* --exe, else the recorded command, else the recording's first module. */
char **export_program(const struct session *s, bool *foreign, struct error *error)
{
	const struct trace *t = s->trace;
	char *words[] = { s->executable, NULL };
	*foreign = false;
	if (s->executable)
		return g_strdupv(words);
	const char *command = trace_note(s->trace, "recording-command");
	char **parsed = NULL;
	if (command && !g_shell_parse_argv(command, NULL, &parsed, NULL)) {
		error_set(error, trace_name(t), "say `replay PROGRAM ARGUMENTS`",
		          "the recorded command is no list of words");
		return NULL;
	}
	for (uint64_t i = 0; parsed == NULL && i < t->modules_count; i++) {
		words[0] = (char *)trace_string(t, t->modules[i].path);
		if (*words[0] && strstr(words[0], ".so") == NULL)
			parsed = g_strdupv(words);
	}
	if (parsed == NULL)
		refuse(error, NO_PROGRAM);
	else
		*foreign = !recorded_here(parsed);
	return parsed;
}

/* The number of leading words that are options of `heddle replay`, which begin with "--", up to
 * "--"; the rest is the program. */
static guint replay_options(char **words)
{
	guint n = 0;
	while (words[n] && g_str_has_prefix(words[n], "--") && strcmp(words[n], "--") != 0)
		n++;
	return n;
}

/* Write the witness beside the trace; the path, or NULL and `error`. */
static char *write_replayed(const struct session *s, struct error *error)
{
	g_autofree char *text = export_witness(s, error);
	if (text == NULL)
		return NULL;
	g_autofree char *name = name_beside(s, ".wit");
	char *path = unused_name(name, text);
	if (!has_content(path, text) && !file_write_whole(path, text, strlen(text), error)) {
		g_free(path);
		path = NULL;
	}
	return path;
}

static void run_replay(struct app *app, char **words)
{
	app_run_after(app, words);
	if (app->guide)
		app->guide->replaying = true;
}

/* `heddle replay OPTIONS --witness PATH -- PROGRAM`. */
static char **replay_words(char **options, guint count, char *path, char **program)
{
	GPtrArray *words = g_ptr_array_new();
	char *self = g_file_read_link("/proc/self/exe", NULL);
	g_ptr_array_add(words, self ? self : g_strdup("heddle"));
	g_ptr_array_add(words, g_strdup("replay"));
	for (guint i = 0; i < count; i++)
		g_ptr_array_add(words, g_strdup(options[i]));
	g_ptr_array_add(words, g_strdup("--witness"));
	g_ptr_array_add(words, g_strdup(path));
	g_ptr_array_add(words, g_strdup("--"));
	for (; *program; program++)
		g_ptr_array_add(words, g_strdup(*program));
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

/* Asks before a program is run that is known from the trace only, and may be anything: shows
 * the whole command. */
bool export_ask(struct app *app, char **program, app_answer *yes, char **words,
                struct error *error)
{
	enum { READABLE = 800 }; /* columns: half of the smallest screen */
	g_autofree char *command = child_spelt(program);
	bool readable = text_columns(command) <= READABLE;
	if (readable)
		app_ask(app, g_strdup_printf(ASKS_FOREIGN, command), yes, words);
	else
		g_strfreev(words);
	return readable || refuse(error, NO_SHOWN_COMMAND);
}

bool export_replay(struct app *app, const char *arguments, struct error *error)
{
	g_auto(GStrv) typed = NULL;
	g_autoptr(GError) trouble = NULL;
	if (*arguments && !g_shell_parse_argv(arguments, NULL, &typed, &trouble)) {
		error_set(error, "", NULL, "%s", trouble->message);
		return false;
	}
	if (typed == NULL)
		typed = g_new0(char *, 1);
	guint options = replay_options(typed);
	char **rest = typed + options;
	if (*rest && strcmp(*rest, "--") == 0)
		rest++;
	bool foreign = false;
	g_auto(GStrv) program =
	        *rest ? g_strdupv(rest) : export_program(app->session, &foreign, error);
	g_autofree char *path = program ? write_replayed(app->session, error) : NULL;
	bool good = path != NULL;
	if (good) {
		char **words = replay_words(typed, options, path, program);
		if (foreign)
			good = export_ask(app, program, run_replay, words, error);
		else
			run_replay(app, words);
	}
	return good;
}
