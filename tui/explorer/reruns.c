/*
 * reruns.c - the real program from the screen: a schedule again, both orders of a pair, a build
 * and a new recording. All of it is done by commands of this binary, each a process of its own;
 * their output is shown by output.h.
 */
#include "engine/base/child.h"
#include "engine/harm/memory.h"
#include "engine/harm/parting.h"
#include "engine/record/record.h"
#include "engine/trace/ending.h"
#include "engine/witness/witness.h"
#include "tui/explorer/commands/commands.h"
#include "tui/explorer/export.h"
#include "tui/explorer/output.h"
#include "tui/explorer/settings.h"
#include "tui/explorer/words/weak_memory.h"
#include "tui/explorer/messages.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RUN_SECONDS = 60,   /* of one run */
	MORE_SECONDS = 120, /* time that `heddle` may need for it beside that */
	BUILD_SECONDS = 1800,
	RECORD_SECONDS = 600,
	COMPARE_SECONDS = 300,
	STATUS_LEFT = 125, /* of `heddle replay`: the program left the schedule */
};

static char *self(void)
{
	char *path = g_file_read_link("/proc/self/exe", NULL);
	return path ? path : g_strdup("heddle");
}

static void add_all(GPtrArray *words, char *const *more)
{
	for (; *more; more++)
		g_ptr_array_add(words, g_strdup(*more));
}

static char **end_words(GPtrArray *words)
{
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

/* -- what came of it ------------------------------------------------------------------------ */

static struct trace *open_run(const struct output_task *task, unsigned number)
{
	struct error ignored;
	g_autofree char *name = g_strdup_printf("kept.run%u.hdl", number);
	g_autofree char *path = g_build_filename(task->folder, name, NULL);
	return trace_open(path, NULL, NULL, &ignored);
}

static bool is_whole(const struct trace *t)
{
	struct ending ending = trace_ending(t);
	return t->complete && ending.kind != ENDING_CUT;
}

static void tell_sides(const struct trace *const t[2], const struct parting *p,
                       const char *const names[2], GString *out)
{
	int width = MAX(text_columns(names[0]), text_columns(names[1]));
	for (int i = 0; i < 2; i++) {
		g_string_append_printf(out, "  %s:%*s", names[i],
		                       width - text_columns(names[i]) + 2, "");
		parting_append(t[i], p, i, out);
		g_string_append_c(out, '\n');
	}
}

/* "At the end acct.balance is 150, not 100 as with T2 first" */
static void tell_memory(struct trace *a, struct trace *b, const char *other, GString *out)
{
	struct memory m[2] = { { 0 }, { 0 } };
	memory_take(&m[0], a);
	memory_take(&m[1], b);
	GHashTable *x = m[0].globals, *y = m[1].globals;
	const char *name = x && y ? memory_difference(x, y) : NULL;
	if (name == NULL && m[0].heap && m[1].heap) {
		x = m[0].heap;
		y = m[1].heap;
		name = memory_difference(x, y);
	}
	if (name) {
		g_autofree char *text = memory_words(x, y, name);
		g_string_append_printf(out, "At the end %s as with %s.\n", text, other);
	}
	memory_release(&m[0]);
	memory_release(&m[1]);
}

static void compare_orders(struct output_task *task, GString *out)
{
	struct trace *t[2] = { open_run(task, 1), open_run(task, 2) };
	if (t[0] && t[1]) {
		struct parting p;
		bool whole[2] = { is_whole(t[0]), is_whole(t[1]) };
		bool part = parting_find(t[0], t[1], whole, true, &p);
		g_string_append(out, part ? "Here the two orders part:\n"
		                          : "Each thread does and sees the same in both "
		                            "orders.\n");
		if (part)
			tell_sides((const struct trace *const *)t, &p,
			           (const char *const *)task->names, out);
		parting_release(&p);
		tell_memory(t[0], t[1], task->names[1], out);
	} else {
		g_string_append(out, "One of the orders was not run to its end: its output is "
		                     "below.\n");
	}
	for (int i = 0; i < 2; i++)
		if (t[i])
			trace_close(t[i]);
}

static void compare_recorded(struct output_task *task, GString *out)
{
	struct error ignored;
	static const char *const names[2] = { "this run", "recorded" };
	struct trace *other = task->path ? trace_open(task->path, NULL, NULL, &ignored) : NULL;
	const struct trace *recorded = other ? other : task->trace;
	struct trace *run = open_run(task, 1);
	const struct trace *const t[2] = { run, recorded };
	struct parting p;
	const struct output_step *step = task->steps->pdata[0];
	if (step->ran && WIFEXITED(step->status) && WEXITSTATUS(step->status) == STATUS_LEFT)
		g_string_append(out, "The program did not go along this schedule: its output "
		                     "below tells where it left it, and why.\n");
	if (run == NULL) {
		g_string_append(out, "It was not run to its end: its output is below.\n");
	} else if (parting_find(run, recorded,
	                        (const bool[]){ is_whole(run), is_whole(recorded) }, false,
	                        &p)) {
		g_string_append(out, "Here this run and the recording part:\n");
		tell_sides(t, &p, names, out);
		parting_release(&p);
	} else {
		g_string_append(out,
		                "Each thread does and sees what it did in the recording.\n");
	}
	struct ending ending = trace_ending(recorded);
	g_autoptr(GString) text = g_string_new(NULL);
	ending_append(&ending, text);
	if (text->len)
		g_string_append_printf(out, "As recorded: %s.\n", text->str);
	if (run)
		trace_close(run);
	if (other)
		trace_close(other);
}

/* The program's own lines, without those of `heddle replay` between them. */
static GPtrArray *printed_lines(const struct output_side *side)
{
	GPtrArray *kept = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) lines = g_strsplit(side->text->str, "\n", -1);
	for (char **line = lines; *line; line++)
		if (**line && !g_str_has_prefix(*line, "heddle:") &&
		    !g_str_has_prefix(*line, "    #"))
			g_ptr_array_add(kept, g_strdup(*line));
	return kept;
}

static void append_printed(const GPtrArray *lines, guint i, GString *out)
{
	if (i >= lines->len) {
		g_string_append(out, "nothing more");
		return;
	}
	g_string_append(out, "“");
	append_escaped(out, lines->pdata[i], strlen(lines->pdata[i]));
	g_string_append(out, "”");
}

/* Adds how the ends differ, and the first printed line that does. */
static void tell_printed(struct app *app, struct output_task *task)
{
	struct output *o = app->output;
	const struct output_side *a = &o->sides[0], *b = &o->sides[1];
	if (a->end && b->end && strcmp(a->end, b->end) != 0)
		g_string_append_printf(o->result, "The ends differ: %s with %s, %s with %s.\n",
		                       a->end, task->names[0], b->end, task->names[1]);
	g_autoptr(GPtrArray) x = printed_lines(a), y = printed_lines(b);
	guint i = 0;
	while (i < x->len && i < y->len && strcmp(x->pdata[i], y->pdata[i]) == 0)
		i++;
	if (i < x->len || i < y->len) {
		g_string_append_printf(o->result, "Printed with %s: ", task->names[0]);
		append_printed(x, i, o->result);
		g_string_append_printf(o->result, ", with %s: ", task->names[1]);
		append_printed(y, i, o->result);
		g_string_append(o->result, ".\n");
	}
}

/* -- a schedule again ----------------------------------------------------------------------- */

/* `heddle replay -q ... -- PROGRAM`, its run kept in the task's folder. */
static char **replay_words(const struct output_task *task, const char *trace,
                           const char *witness, const char *first, char *const *program)
{
	GPtrArray *words = g_ptr_array_new();
	g_autofree char *prefix = g_build_filename(task->folder, "kept", NULL);
	g_autofree char *seconds = g_strdup_printf("%d", RUN_SECONDS), *heddle = self();
	char *fixed[] = { heddle,    "replay",      "-q",       "--timeout", seconds,
		          "--trace", (char *)trace, "--output", prefix,      NULL };
	add_all(words, fixed);
	if (witness) {
		g_ptr_array_add(words, g_strdup("--witness"));
		g_ptr_array_add(words, g_strdup(witness));
	}
	if (first) {
		g_ptr_array_add(words, g_strdup("--first"));
		g_ptr_array_add(words, g_strdup(first));
	}
	g_ptr_array_add(words, g_strdup("--"));
	add_all(words, program);
	return end_words(words);
}

static bool make_folder(struct output_task *task, struct error *error)
{
	GError *trouble = NULL;
	task->folder = g_dir_make_tmp("heddle-run-XXXXXX", &trouble);
	if (task->folder)
		return true;
	error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room", "%s",
	          trouble->message);
	g_error_free(trouble);
	return false;
}

/* The selected pair's witness as a file in the task's folder, owned; NULL and `error`. */
static char *write_witness(const struct app *app, const struct output_task *task,
                           struct error *error)
{
	g_autofree char *text = export_witness(app->session, error);
	char *path = text ? g_build_filename(task->folder, "kept.wit", NULL) : NULL;
	if (path && !file_write_whole(path, text, strlen(text), error))
		g_clear_pointer(&path, g_free);
	return path;
}

/* "T1 first" */
static char *first_name(const struct session *s, int side)
{
	const struct trace *t = s->trace;
	return g_strdup_printf("%s first",
	                       trace_thread_name(t, t->events[s->pair[side]].thread));
}

static bool add_witness(struct app *app, struct output_task *task, char *const *program,
                        struct error *error)
{
	const struct session *s = app->session;
	const struct finding *f = session_reached(s) ? NULL : session_finding(s);
	char *witness = write_witness(app, task, error);
	bool both = f && finding_claim(f) == CLAIM_RACE;
	for (int i = 0; witness && i < 1 + both; i++) {
		char first[] = { (char)('1' + i), '\0' };
		output_task_add(task, (guint)i, RUN_SECONDS + MORE_SECONDS,
		                replay_words(task, s->trace->path, witness, both ? first : NULL,
		                             program));
		if (both) {
			task->names[i] = first_name(s, i);
			task->output->sides[i].title = first_name(s, i);
		}
	}
	task->output->count = 1 + both;
	task->compare = both ? compare_orders : compare_recorded;
	task->ended = both ? tell_printed : NULL;
	g_free(witness);
	return witness != NULL;
}

enum what { WHAT_WITNESS, WHAT_RECORDED, WHAT_EXPLORED, WHATS };
static const char *const what_words[WHATS] = { "witness", "recorded", "explored" };

static char *title_of(const struct app *app, enum what what, uint32_t run)
{
	const struct entry *entry = session_selected(app->session);
	if (what == WHAT_RECORDED)
		return g_strdup("The recorded order, run again");
	if (what == WHAT_EXPLORED)
		return g_strdup_printf("Run %u of the exploration, run again", run);
	const struct reached *reached = session_reached(app->session);
	if (reached)
		return g_strdup_printf("On the real program: the order in which %s",
		                       reached->condition);
	return entry ? g_strdup_printf("On the real program: %s on %s, %s",
	                               finding_kind_noun(entry->finding->kind), entry->variable,
	                               entry->where)
	             : g_strdup("The witness on the real program");
}

/* `words`: the kind of run, the exploration's trace or "", the program. */
static bool start_run(struct app *app, char **words, struct error *error)
{
	enum what what = WHAT_WITNESS;
	uint32_t run = 0;
	while (strcmp(what_words[what], words[0]) != 0)
		what++;
	g_autofree char *explored =
	        what == WHAT_EXPLORED ? explore_view_trace(app, &run) : NULL;
	struct output_task *task = output_task_new(app, title_of(app, what, run));
	bool good = make_folder(task, error);
	if (good && what == WHAT_WITNESS) {
		good = add_witness(app, task, words + 2, error);
	} else if (good) {
		const char *trace = *words[1] ? words[1] : app_trace(app)->path;
		task->path = *words[1] ? g_strdup(words[1]) : NULL;
		task->compare = compare_recorded;
		output_task_add(task, 0, RUN_SECONDS + MORE_SECONDS,
		                replay_words(task, trace, NULL, NULL, words + 2));
	}
	if (!good)
		output_task_free(task);
	return good && output_begin(app, task, error);
}

static void run_asked(struct app *app, char **words)
{
	struct error error;
	if (!start_run(app, words, &error))
		app_complain(app, &error);
	g_strfreev(words);
}

static enum what what_of_view(const struct app *app)
{
	switch (app_view(app)) {
	case VIEW_EXPLORE:
		return WHAT_EXPLORED;
	case VIEW_TRACE:
		return WHAT_RECORDED;
	default:
		return WHAT_WITNESS;
	}
}

/* Does the selection have a schedule to run? */
static bool has_schedule(const struct session *s, struct error *error)
{
	const struct finding *f = s->pair[0] == NONE ? NULL : session_finding(s);
	if (session_reached(s) || (f && f->witness && f->witness->len))
		return true;
	if (f && f->verdict == VERDICT_IMPOSSIBLE)
		return refuse(error, NO_ORDER_TO_RUN);
	if (f && f->verdict == VERDICT_HAPPENED)
		return refuse(error, NO_OTHER_ORDER);
	return (s->pair[0] == NONE ? refuse(error, NO_FINDING) : refuse(error, NO_ORDER_KNOWN));
}

static bool run_what(struct app *app, enum what what, struct error *error)
{
	bool foreign = false;
	uint32_t run = 0;
	if (what == WHAT_WITNESS && !has_schedule(app->session, error))
		return false;
	if (app_trace(app)->path == NULL)
		return refuse(error, NO_FILE_TO_RUN);
	char *explored = what == WHAT_EXPLORED ? explore_view_trace(app, &run) : NULL;
	if (what == WHAT_EXPLORED && explored == NULL)
		return refuse(error, NO_TRACE_KEPT);
	g_auto(GStrv) program = export_program(app->session, &foreign, error);
	bool good = program != NULL;
	if (good) {
		GPtrArray *list = g_ptr_array_new();
		g_ptr_array_add(list, g_strdup(what_words[what]));
		g_ptr_array_add(list, g_strdup(explored ? explored : ""));
		add_all(list, program);
		char **words = end_words(list);
		if (foreign) {
			good = export_ask(app, program, run_asked, words, error);
		} else {
			good = start_run(app, words, error);
			g_strfreev(words);
		}
	}
	g_free(explored);
	return good;
}

bool word_rerun(struct app *app, const char *arguments, struct error *error)
{
	if (*arguments == '\0')
		return run_what(app, what_of_view(app), error);
	for (int i = 0; i < WHAT_EXPLORED; i++)
		if (strcmp(arguments, what_words[i]) == 0)
			return run_what(app, (enum what)i, error);
	return refuse(error, WANTS_SCHEDULE);
}

/* -- a build and a new recording ------------------------------------------------------------ */

/* Adds the recording's options, if they are known ones: a trace can contain anything. */
static void add_recorded_options(const struct trace *t, GPtrArray *words)
{
	static const char *const valued[] = { "--mode", "--strategy", "--depth", "--steps",
		                              "--seed", "--memory",   NULL };
	static const char *const flags[] = { "--no-values", "--no-missing", "--no-inputs",
		                             NULL };
	const char *how = trace_note(t, RECORDED_HOW_NOTE);
	const char *seed = trace_note(t, "recording-seed");
	g_autofree char *text = how    ? g_strdup(how)
	                        : seed ? g_strdup_printf("--seed %s", seed)
	                               : g_strdup("");
	g_auto(GStrv) given = g_strsplit(text, " ", -1);
	for (char **word = given; *word; word++) {
		if (g_strv_contains(flags, *word)) {
			g_ptr_array_add(words, g_strdup(*word));
		} else if (g_strv_contains(valued, *word) && word[1] && *word[1] &&
		           strspn(word[1], "abcdefghijklmnopqrstuvwxyz0123456789") ==
		                   strlen(word[1])) {
			g_ptr_array_add(words, g_strdup(*word++));
			g_ptr_array_add(words, g_strdup(*word));
		}
	}
	const char *start = trace_note(t, "recording-start");
	if (start && *start != '-') {
		g_ptr_array_add(words, g_strdup("--start-at"));
		g_ptr_array_add(words, g_strdup(start));
	}
}

/* `heddle record ... -o FILE -- PROGRAM` */
static char **record_words(const struct trace *t, const char *file, char *const *program)
{
	GPtrArray *words = g_ptr_array_new(), *specs = trace_recorded_specs(t);
	g_ptr_array_add(words, self());
	g_ptr_array_add(words, g_strdup("record"));
	add_recorded_options(t, words);
	for (guint i = 0; i < specs->len; i++) {
		g_ptr_array_add(words, g_strdup("--spec"));
		g_ptr_array_add(words, g_strdup(specs->pdata[i]));
	}
	char *fixed[] = { "-o", (char *)file, "--", NULL };
	add_all(words, fixed);
	add_all(words, program);
	g_ptr_array_unref(specs);
	return end_words(words);
}

/* "bank.rebuilt.hdl" beside the trace; the same one for each build of this explorer. */
static void name_rebuilt(struct app *app)
{
	const char *path = app_trace(app)->path;
	char *folder = g_path_get_dirname(path), *base = g_path_get_basename(path);
	if (access(folder, W_OK) != 0) {
		g_free(folder);
		folder = g_strdup(".");
	}
	char *dot = strrchr(base, '.');
	if (dot && dot != base)
		*dot = '\0';
	if (g_str_has_suffix(base, ".rebuilt"))
		base[strlen(base) - strlen(".rebuilt")] = '\0';
	g_autofree char *name = g_strdup_printf("%s.rebuilt.hdl", base);
	g_autofree char *whole = g_build_filename(folder, name, NULL);
	app->rebuilt = export_unused_name(whole);
	g_free(base);
	g_free(folder);
}

/* "Findings: 0 new, 1 known, 0 gone", which `heddle diff` says last. */
static void tell_findings(const struct output_side *side, GString *out)
{
	g_auto(GStrv) lines = g_strsplit(side->text->str, "\n", -1);
	for (guint i = g_strv_length(lines); i-- > 0;) {
		const char *counts = strstr(lines[i], " new, ") ? strstr(lines[i], ": ") : NULL;
		if (counts == NULL)
			continue;
		g_string_append_printf(out, "Findings%s.\n", counts);
		break;
	}
}

static void rebuilt(struct app *app, struct output_task *task)
{
	struct output *o = app->output;
	const struct output_step *build = task->steps->pdata[0], *record = NULL, *diff = NULL;
	sources_forget(&app->sources);
	if (task->steps->len > 2) {
		record = task->steps->pdata[1];
		diff = task->steps->pdata[2];
	}
	if (!build->ran) {
		g_string_append(o->result, "The build did not come to its end.\n");
	} else if (build->status != 0) {
		g_string_append(o->result,
		                "The build failed: n goes to the next place, V opens it in "
		                "the editor.\n");
	} else if (record == NULL) {
		g_string_append(o->result, "Built. The trace does not name a program to record "
		                           "again: open it with --exe PROGRAM.\n");
		o->failed = false;
	} else if (!record->ran || access(task->path, R_OK) != 0) {
		g_string_append(o->result,
		                "Built, and not recorded: what went wrong is below.\n");
	} else if (diff->ran) {
		g_string_append(o->result,
		                "Built, recorded with the same seed and strategy, and "
		                "compared. Enter opens the new recording.\n");
		tell_findings(&o->sides[0], o->result);
		o->trace = g_strdup(task->path);
		o->failed = false;
	} else {
		g_string_append(o->result,
		                "Built and recorded; the comparison did not end. Enter "
		                "opens the new recording.\n");
		o->trace = g_strdup(task->path);
	}
}

/* `words`: the build command, the program's words. */
static void start_rebuild(struct app *app, char **words)
{
	struct error error;
	struct output_task *task =
	        output_task_new(app, g_strdup_printf("Rebuild: %s", words[0]));
	struct output_step *build = output_task_add(
	        task, 0, BUILD_SECONDS, output_words("/bin/sh", "-c", words[0], NULL));
	build->needed = true;
	build->began = g_strdup_printf("$ %s", words[0]);
	if (words[1]) {
		if (app->rebuilt)
			g_remove(app->rebuilt); /* of the build before */
		else
			name_rebuilt(app);
		task->path = g_strdup(app->rebuilt);
		struct output_step *record =
		        output_task_add(task, 0, RECORD_SECONDS,
		                        record_words(app_trace(app), app->rebuilt, words + 1));
		g_autofree char *spelt = child_spelt(record->argv + 1);
		record->began = g_strdup_printf("$ heddle %s", spelt);
		g_autofree char *heddle = self();
		struct output_step *diff =
		        output_task_add(task, 0, COMPARE_SECONDS,
		                        output_words(heddle, "diff", "-q", "--",
		                                     app_trace(app)->path, app->rebuilt, NULL));
		diff->unseen = true;
		diff->began = g_strdup("$ heddle diff");
	}
	task->ended = rebuilt;
	if (!output_begin(app, task, &error))
		app_complain(app, &error);
	g_strfreev(words);
}

/* The command is typed here or was typed in this folder before; it never comes from a trace. */
static char *build_command(const char *typed, struct error *error)
{
	char *folder = g_get_current_dir(), *command = NULL;
	if (*typed == '\0') {
		command = settings_build(folder);
		if (command == NULL)
			refuse(error, NO_BUILD);
	} else if (!g_utf8_validate(typed, -1, NULL)) {
		refuse(error, NO_UTF8);
	} else if (settings_keep_build(folder, typed, error)) {
		command = g_strdup(typed);
	}
	g_free(folder);
	return command;
}

bool word_rebuild(struct app *app, const char *arguments, struct error *error)
{
	bool foreign = false, good = true;
	struct error none;
	if (app->output && app->output->running)
		return refuse(error, NO_SECOND_RUN, app->output->title);
	char *command = build_command(arguments, error);
	if (command == NULL)
		return false;
	g_auto(GStrv) program =
	        app_trace(app)->path ? export_program(app->session, &foreign, &none) : NULL;
	GPtrArray *list = g_ptr_array_new();
	g_ptr_array_add(list, command);
	if (program)
		add_all(list, program);
	char **words = end_words(list);
	if (program && foreign)
		good = export_ask(app, program, start_rebuild, words, error);
	else
		start_rebuild(app, words);
	return good;
}

/* -- which memory orders it needs ----------------------------------------------------------- */

/* `heddle WORDS -- PROGRAM` as a step. */
static struct output_step *add_heddle(struct output_task *task, GPtrArray *words,
                                      char **program)
{
	g_ptr_array_insert(words, 0, self());
	g_ptr_array_add(words, g_strdup("--"));
	add_all(words, program);
	struct output_step *step = output_task_add(task, 0, BUILD_SECONDS, end_words(words));
	g_autofree char *spelt = child_spelt(step->argv + 1);
	step->began = g_strdup_printf("$ heddle %s", spelt);
	return step;
}

/* Starts the exploration; first with the orders that the selected load's rows suggest, if
 * any. */
static void start_orders(struct app *app, char **program)
{
	struct error error;
	struct output_task *task =
	        output_task_new(app, g_strdup("which memory orders it needs"));
	g_autoptr(GPtrArray) against = weak_memory_against(app->session);
	if (against->len > 0) {
		char *beginning[] = { (char *)"explore", (char *)"--memory", (char *)"rc11",
			              NULL };
		GPtrArray *words = g_ptr_array_new();
		add_all(words, beginning);
		for (guint i = 0; i < against->len; i++) {
			g_ptr_array_add(words, g_strdup("--order"));
			g_ptr_array_add(words, g_strdup(against->pdata[i]));
		}
		add_heddle(task, words, program)->unseen = true;
	}
	GPtrArray *words = g_ptr_array_new();
	g_ptr_array_add(words, g_strdup("orders"));
	add_heddle(task, words, program);
	if (!output_begin(app, task, &error))
		app_complain(app, &error);
	g_strfreev(program);
}

bool word_orders(struct app *app, const char *arguments, struct error *error)
{
	bool foreign = false, good = true;
	g_auto(GStrv) program = export_program(app->session, &foreign, error);
	if (program == NULL)
		return false;
	if (foreign)
		good = export_ask(app, program, start_orders, g_strdupv(program), error);
	else
		start_orders(app, g_strdupv(program));
	return good;
}
