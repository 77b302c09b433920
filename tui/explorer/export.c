/*
 * export.c - see export.h.
 */
#include "tui/explorer/export.h"

#include "tui/explorer/guide.h"
#include "tui/explorer/story.h"

#include "engine/witness/witness.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool make_witness(const struct session *s, struct witness *w, struct error *error)
{
	const struct finding *f = session_finding(s);
	memset(w, 0, sizeof *w);
	if (f == NULL || f->witness == NULL)
		return error_set(error, "", NULL, "this pair has no witness to write");
	w->claim = session_claim(f);
	w->under_missing = s->missing && f->kind == FINDING_DATA_RACE;
	w->trace_name = g_strdup(trace_name(s->trace));
	w->trace_digest = trace_digest(s->trace);
	w->events = g_array_copy(f->witness);
	w->pair = finding_claimed(f);
	return true;
}

static bool write_witness(const struct session *s, const char *path, struct error *error)
{
	struct witness w;
	if (!make_witness(s, &w, error))
		return false;
	bool good = witness_write(s->trace, &w, path, error);
	witness_release(&w);
	return good;
}

/* -- Markdown ------------------------------------------------------------------------ */

/* The story, as it is on the screen. */
static void append_story(const struct app *app, const struct entry *entry, GString *out)
{
	enum { COLUMNS = 96 };
	const struct finding *f = session_finding(app->session);
	GArray *prose =
	        story_tell(app->session, (struct sources *)&app->sources, entry, f, COLUMNS);
	GString *text = g_string_new(NULL);
	prose_print(prose, COLUMNS, false, text);
	g_string_append_printf(out, "```\n%s```\n", text->str);
	g_string_free(text, TRUE);
	g_array_free(prose, TRUE);
}

/* The whole sequence; of a very long one the end, where the pair is. */
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
	                       verdict_word(f->verdict), entry->where, trace_name(s->trace));
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
	GString *escaped = g_string_new(NULL);
	append_escaped(escaped, text, strlen(text));
	string = json_string(escaped->str);
	g_string_free(escaped, TRUE);
	return string;
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
	GString *words = g_string_new(NULL);
	explain_entry(s, entry, words);
	json_object_set_new(root, "explanation", string_of(words->str));
	g_string_free(words, TRUE);
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

/* The cycle of an atomic-set violation: its units and what conflicts. */
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
		             g_strdup_printf("%s %u, %u",
		                             trace_string(t, t->variables[e->variable].name),
		                             e->events[0], e->events[1]),
		             true, false);
	}
}

/* What can be drawn here: in the order view its chain, else the finding's cycle. */
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

/* -- which -------------------------------------------------------------------------- */

static const struct {
	const char *suffix;
	bool graph; /* else a finding has to be selected */
	char *(*make)(const struct app *, const struct entry *); /* NULL: no graph here */
} forms[] = { { ".md", false, to_markdown },
	      { ".json", false, to_json },
	      { ".dot", true, to_dot },
	      { ".svg", true, to_svg } };

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

static char *default_name(const struct app *app)
{
	const struct session *s = app->session;
	return g_strdup_printf("%s-%u-%u%s", trace_name(s->trace), s->pair[0], s->pair[1],
	                       suffix_for(app));
}

static bool write_form(const struct app *app, const char *name, struct error *error)
{
	const struct entry *entry = session_selected(app->session);
	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
		if (!g_str_has_suffix(name, forms[i].suffix))
			continue;
		if (entry == NULL && !forms[i].graph)
			return error_set(error, "", NULL, "no finding is selected");
		char *text = forms[i].make(app, entry);
		if (text == NULL)
			return error_set(
			        error, "",
			        "ask from the order view, or for an atomic-set violation",
			        "there is no graph to draw here");
		bool good = file_write_whole(name, text, strlen(text), error);
		g_free(text);
		return good;
	}
	return error_set(error, name, NULL,
	                 "expected a name that ends in .md, .json, .wit, .dot or .svg");
}

bool export_write(struct app *app, const char *path, char **written, struct error *error)
{
	char *name = path ? g_strdup(path) : default_name(app);
	bool good = g_str_has_suffix(name, ".wit") ? write_witness(app->session, name, error)
	                                           : write_form(app, name, error);
	if (good)
		*written = name;
	else
		g_free(name);
	return good;
}

/* --exe, else the command that was recorded, else the executable that the recording names
 * first; quoted for the shell. */
static char *recorded_program(const struct session *s)
{
	const struct trace *t = s->trace;
	if (s->executable)
		return g_shell_quote(s->executable);
	for (uint64_t i = 0; i < t->notes_count; i++)
		if (strcmp(trace_string(t, t->notes[i].key), "recording-command") == 0)
			return g_strdup(trace_string(t, t->notes[i].value));
	for (uint64_t i = 0; i < t->modules_count; i++) {
		const char *path = trace_string(t, t->modules[i].path);
		if (*path && strstr(path, ".so") == NULL)
			return g_shell_quote(path);
	}
	return NULL;
}

/* How much of the arguments are options of `heddle replay`: what begins with "--", up to a "--"
 * alone; the rest is the program. */
static size_t replay_options(const char *arguments)
{
	size_t at = 0;
	while (g_str_has_prefix(arguments + at, "--")) {
		size_t word = strcspn(arguments + at, " ");
		bool last = word == 2;
		at += word + strspn(arguments + at + word, " ");
		if (last)
			break;
	}
	return at;
}

bool export_replay(struct app *app, const char *arguments, struct error *error)
{
	const struct session *s = app->session;
	size_t rest = replay_options(arguments);
	char *options = g_strchomp(g_strndup(arguments, rest));
	if (g_str_has_suffix(options, " --") || strcmp(options, "--") == 0)
		options[strlen(options) - 2] = '\0';
	char *program = arguments[rest] ? g_strdup(arguments + rest) : recorded_program(s);
	if (program == NULL) {
		g_free(options);
		return error_set(error, "",
		                 "say `replay PROGRAM ARGUMENTS`, or open with --exe PROGRAM",
		                 "the trace does not name the program");
	}
	char *folder = g_path_get_dirname(s->trace->path ? s->trace->path : ".");
	char *path = g_strdup_printf("%s/%s-%u-%u.wit", folder, trace_name(s->trace),
	                             s->pair[0], s->pair[1]);
	g_free(folder);
	bool good = write_witness(s, path, error);
	if (good) {
		char self[4096];
		ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
		self[MAX(length, 0)] = '\0';
		char *quoted_self = g_shell_quote(self), *quoted_path = g_shell_quote(path);
		g_free(app->after_command);
		app->after_command =
		        g_strdup_printf("%s replay %s%s--witness %s -- %s", quoted_self,
		                        options, *options ? " " : "", quoted_path, program);
		g_free(quoted_self);
		g_free(quoted_path);
		if (app->guide)
			app->guide->replaying = true;
	}
	g_free(path);
	g_free(program);
	g_free(options);
	return good;
}
