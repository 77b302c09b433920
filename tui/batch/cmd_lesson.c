/*
 * cmd_lesson.c - heddle lesson: lists lessons, opens one in the explorer or prints it, and
 * checks a teacher's own.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/batch/command.h"
#include "tui/batch/lesson_class.h"
#include "tui/batch/print/print.h"
#include "tui/explorer/explorer.h"
#include "tui/explorer/guide.h"
#include "tui/lesson/lesson.h"

/* -- the list --------------------------------------------------------------------------- */

static void list_text(const GPtrArray *all)
{
	for (guint i = 0; i < all->len; i++) {
		const struct lesson *l = all->pdata[i];
		struct lesson_progress p = lesson_progress_load(l->name);
		g_autoptr(GString) state = g_string_new(NULL);
		if (p.finished)
			g_string_append(state, "finished: ");
		else if (p.step)
			g_string_append_printf(state, "step %u of %u: ", p.step + 1,
			                       l->steps->len);
		if (state->len)
			lesson_progress_append(p, state);
		g_autoptr(GString) line = g_string_new(NULL);
		g_string_append_printf(line, "%2u. ", i + 1);
		append_padded(line, l->name, 20);
		g_string_append(line, l->title);
		printf("%s\n      %s\n", line->str, l->teaches);
		if (state->len)
			printf("      %s\n", state->str);
	}
	puts("\n'heddle lesson NAME' begins one, or goes on where you left it.");
}

static void list_json(const GPtrArray *all)
{
	json_t *list = json_array();
	for (guint i = 0; i < all->len; i++) {
		const struct lesson *l = all->pdata[i];
		struct lesson_progress p = lesson_progress_load(l->name);
		json_array_append_new(
		        list,
		        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:i, s:i, s:i}", "name",
		                  l->name, "title", l->title, "teaches", l->teaches, "file",
		                  l->path, "steps", (int)l->steps->len, "step", (int)p.step + 1,
		                  "finished", (int)p.finished, "wrong", (int)p.wrong, "hints",
		                  (int)p.hints, "skipped", (int)p.skipped));
	}
	json_auto_t *root = json_pack("{s:s, s:o}", "heddle", HEDDLE_VERSION, "lessons", list);
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
}

static int list(struct arguments *a)
{
	struct error error;
	g_autoptr(GPtrArray) all = lessons_all();
	if (all->len == 0) {
		error_set(&error, a->command->name,
		          "run the installed heddle, or that of the tree",
		          "the samples with their lessons are not beside heddle");
		return fail(&error);
	}
	if (argument_format(a, false) == FORMAT_JSON)
		list_json(all);
	else
		list_text(all);
	return EXIT_NOTHING;
}

/* -- text ---------------------------------------------------------------------------------- */

enum { TEXT_COLUMNS = 76 };

static void print_wrapped(const char *before, const char *text)
{
	g_autoptr(GString) out = g_string_new(before);
	append_wrapped(out, text, (int)text_columns(before), TEXT_COLUMNS);
	fputs(out->str, stdout);
}

/* `worksheet`: without answers. */
static void print_step(const struct lesson *l, guint i, bool worksheet)
{
	const struct lesson_step *s = l->steps->pdata[i];
	printf("\n%u. %s\n\n", i + 1, s->title);
	g_auto(GStrv) paragraphs = g_strsplit(s->text ? s->text : "", "\n\n", -1);
	for (char **p = paragraphs; *p; p++)
		if (**p)
			print_wrapped("   ", *p);
	if (s->task)
		print_wrapped("   In the explorer: ", s->task);
	if (s->keys && !worksheet)
		print_wrapped("   Keys: ", s->keys);
	for (guint c = 0; c < s->commands->len; c++)
		printf("       %s\n", (char *)s->commands->pdata[c]);
	if (s->question)
		print_wrapped("   Question: ", s->question);
	for (guint c = 0; c < s->choices->len; c++)
		printf("     %c) %s\n", 'a' + (int)c, (char *)s->choices->pdata[c]);
	if (s->answer && worksheet) {
		puts("   Answer: ______________________________");
	} else if (s->answer) {
		g_autofree char *answer =
		        g_strdup_printf("%s. %s", s->answer, s->right ? s->right : "");
		print_wrapped("   Answer: ", answer);
	}
}

static void print_recipe(const struct lesson *l, bool mended)
{
	g_autoptr(GPtrArray) recipe = lesson_recipe(l, mended);
	for (guint i = 0; i < recipe->len; i++)
		printf("    %s\n", (char *)recipe->pdata[i]);
}

/* The command that opens the recording. */
static void print_opening(const struct lesson *l)
{
	g_autofree char *program = lesson_program(l);
	printf("    heddle %s.hdl", program);
	for (guint i = 0; i < l->specs->len; i++)
		if (!lesson_spec_binds(l, i))
			printf(" --spec %s", (char *)l->specs->pdata[i]);
	putchar('\n');
}

/* Copies files by name: the lesson's folder may be the student's, and a worksheet lacks the
 * fix. */
static void print_copy(const struct lesson *l, bool worksheet)
{
	const GPtrArray *lists[] = { l->sources, l->plain, l->specs, l->files,
		                     worksheet ? NULL : l->fixed };
	g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
	printf("    mkdir %s-lesson\n    cp",
	       l->name); /* in a folder of its own: the program may have the lesson's name */
	for (size_t k = 0; k < G_N_ELEMENTS(lists); k++)
		for (guint i = 0; lists[k] && i < lists[k]->len; i++) {
			g_autofree char *path =
			        g_build_filename(l->folder, lists[k]->pdata[i], NULL);
			if (g_hash_table_add(known, lists[k]->pdata[i]))
				printf(" %s", path + (g_str_has_prefix(path, "./") ? 2 : 0));
		}
	printf(" %s-lesson\n    cd %s-lesson\n", l->name, l->name);
}

static int print_lesson(const struct lesson *l, bool worksheet)
{
	printf("%s\n%s\n\nThe program:\n\n", l->title, l->teaches);
	print_copy(l, worksheet);
	print_recipe(l, false);
	print_opening(l);
	for (guint i = 0; i < l->steps->len; i++)
		print_step(l, i, worksheet);
	if (worksheet)
		return EXIT_NOTHING;
	puts("\nThe fix:\n");
	for (guint i = 0; i < l->fixed->len; i++)
		printf("    cp %s %s\n", (char *)l->fixed->pdata[i],
		       (char *)l->sources->pdata[i]);
	print_recipe(l, true);
	print_opening(l);
	return EXIT_NOTHING;
}

/* -- the explorer -------------------------------------------------------------------------- */

/* Show the output of the compiler or program until a key. */
static void show(const char *said, const struct error *error)
{
	printf("%s", said);
	say_error(error);
	screen_await_key("[any key goes back to the lesson] ");
}

/* Does the action that the guide requests; false when no new recording was made. */
static bool fulfil(struct workshop *w, const struct guide *g, GString *said,
                   struct error *error)
{
	if (g->wish == GUIDE_EDIT && !workshop_edit(w, g->edit_line, error))
		return false;
	if (g->wish == GUIDE_MEND && !workshop_mend(w, error))
		return false;
	return workshop_make(w, said, error);
}

/* Set the pane's text on the changed program. */
static void judge(struct workshop *w, struct guide *g, const GString *said)
{
	g_autoptr(GString) why = g_string_new(NULL);
	g->changed = true;
	g_free(g->wrong);
	g->wrong = workshop_judge(w, said, why) ? NULL : g_strdup(printable(why->str));
}

static char *first_words(const GString *said)
{
	g_auto(GStrv) lines = g_strsplit(said->str, "\n", -1);
	guint count = g_strv_length(lines);
	const char *last = "";
	for (guint i = 0; i < count; i++)
		if (*lines[i] && !g_str_has_prefix(lines[i], "heddle:"))
			last = lines[i];
	return *last ? g_strdup_printf("recorded; the program printed: %s", last)
	             : g_strdup("recorded");
}

static struct trace *open_recording(const struct workshop *w, struct error *error)
{
	struct trace_options options = { 0 };
	return trace_open(w->shown ? w->shown : w->trace, &options, NULL, error);
}

/* Open the explorer, or play it, once. */
static bool visit(struct workshop *w, struct guide *g, const char *say, bool play,
                  struct error *error)
{
	const struct lesson *l = w->lesson;
	g_autoptr(GPtrArray) specs = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < l->specs->len; i++)
		if (!lesson_spec_binds(l, i))
			g_ptr_array_add(specs,
			                g_build_filename(w->folder, l->specs->pdata[i], NULL));
	g_autofree char *name = lesson_program(l),
	                *program = g_build_filename(w->folder, name, NULL);
	struct explorer_options options = { .executable = program,
		                            .guide = g,
		                            .tree = w->tree,
		                            .say = say,
		                            .specifications = specs };
	g_autofree char *report =
	        l->report ? g_build_filename(w->folder, l->report, NULL) : NULL;
	options.report = report;
	struct trace *trace = open_recording(w, error);
	return trace && (play ? explorer_play(trace, &options, error)
	                      : explorer_run(trace, &options, error) == EXIT_NOTHING);
}

static bool take_lesson(struct workshop *w, struct guide *g, bool play, struct error *error)
{
	g_autoptr(GString) said = g_string_new(NULL);
	bool good = workshop_make(w, said, error);
	if (!good)
		fputs(said->str, stderr);
	while (good) {
		g_autofree char *say =
		        w->shown ? g_strdup("not right yet: this is the run that shows it")
		                 : first_words(said);
		g->wish = GUIDE_NOTHING;
		good = visit(w, g, say, play, error);
		if (!good || g->wish == GUIDE_NOTHING)
			break;
		g_string_truncate(said, 0);
		if (fulfil(w, g, said, error)) {
			judge(w, g, said);
		} else if (play) {
			fputs(said->str, stderr);
			good = false;
		} else {
			show(said->str, error);
		}
	}
	return good;
}

static bool is_at_terminal(void)
{
	const char *term = getenv("TERM");
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term &&
	       strcmp(term, "dumb") != 0;
}

/* The lesson after this one in the list that is not finished, or NULL; owned by `all`. */
static const struct lesson *next_lesson(const GPtrArray *all, const struct lesson *l)
{
	bool met = false;
	for (guint i = 0; i < all->len; i++) {
		const struct lesson *other = all->pdata[i];
		if (met && !lesson_progress_load(other->name).finished)
			return other;
		met |= strcmp(other->name, l->name) == 0;
	}
	return NULL;
}

/* At the end of a lesson, offers the next. Returns the name of the lesson to go on with,
 * owned by the caller; or NULL. */
static char *offer_next(const struct lesson *l)
{
	g_autoptr(GPtrArray) all = lessons_all();
	const struct lesson *next = next_lesson(all, l);
	struct lesson_progress progress = lesson_progress_load(l->name);
	g_autoptr(GString) text = g_string_new(NULL);
	char *name = NULL, answer[16];
	lesson_progress_append(progress, text);
	printf("'%s' is done: %s.\n", l->title, text->str);
	if (next == NULL) {
		puts("That was the last lesson; 'heddle lesson' lists them all.");
	} else {
		printf("The next lesson is '%s', %s: heddle lesson %s\n", next->title,
		       next->teaches, next->name);
		printf("Enter goes on to it, q ends: ");
		fflush(stdout);
		if (isatty(STDIN_FILENO) && fgets(answer, sizeof answer, stdin) &&
		    *answer == '\n')
			name = g_strdup(next->name);
		else
			putchar('\n');
	}
	return name;
}

/* *next: the name of the lesson to go on with, owned by the caller; or NULL. */
static int open_lesson(struct arguments *a, const struct lesson *l, bool play, char **next)
{
	bool anew = play || argument_flag(a, "restart");
	struct error error;
	struct workshop w;
	struct guide g;
	if (!workshop_open(&w, l, argument_value(a, "directory"), &error))
		return fail(&error);
	guide_init(&g, l, w.folder);
	g.unsaved = play;
	if (anew)
		guide_restart(&g);
	if (!play && isatty(STDERR_FILENO))
		fprintf(stderr, "heddle: compiling and recording the lesson's program in %s\n",
		        w.folder);
	bool good = take_lesson(&w, &g, play, &error);
	bool finished = g.finished;
	guide_release(&g);
	workshop_close(&w);
	if (!good)
		return fail(&error);
	if (play)
		printf("%s: %u step%s played to the end\n", l->name, l->steps->len,
		       plural(l->steps->len));
	else if (!finished)
		printf("'heddle lesson %s' goes on here.\n",
		       g_str_has_suffix(a->words->pdata[0], ".lesson")
		               ? (char *)a->words->pdata[0]
		               : l->name);
	else
		*next = offer_next(l);
	return EXIT_NOTHING;
}

/* -- a teacher's own lesson ---------------------------------------------------------------- */

/* A well-formed template, of which every line is to be replaced. */
static const char draft[] =
        "#! heddle-lesson 1\n"
        "# docs/lessons.md explains every key.  'heddle lesson --check FILE' says whether the\n"
        "# file is well-formed, 'heddle lesson --play FILE' whether what it says is so.\n"
        "title: TITLE\n"
        "teaches: WHAT ONE KNOWS AFTERWARDS, IN A LINE\n"
        "source: %s\n"
        "# the same program without the mistake, which P takes\n"
        "fixed: fixed-%s\n"
        "# the last line that a right program prints, a regular expression\n"
        "prints: .*\n"
        "# with the seed the run is the same each time; try others, or --strategy noise\n"
        "record: --seed 1\n"
        "\n"
        "== What the program does\n"
        "SAY WHAT IT DOES, AND WHAT ONE EXPECTS. At most eight lines a step.\n"
        "task: Press s for the source of both sides.\n"
        "check: view source\n"
        "keys: s\n"
        "# a fact is checked by --play: the finding that the lesson is about\n"
        "fact: found data-race * race\n"
        "\n"
        "== Why\n"
        "question: WHAT DOES NOBODY HOLD AT BOTH ACCESSES?\n"
        "choice: a lock\n"
        "choice: the door\n"
        "answer: a\n"
        "right: SAID TO THE RIGHT ANSWER.\n"
        "hint: LOOK AT THE LINES ABOVE THE MARKED ONES\n"
        "\n"
        "== How it happens\n"
        "task: Press w for a schedule in which it happens, and go to its beginning with g.\n"
        "check: view witness\n"
        "check: begin\n"
        "keys: w g\n"
        "\n"
        "== Mend it\n"
        "task: E opens the program in your editor: mend it. P takes the fixed version.\n"
        "check: gone data-race *\n"
        "keys: P\n";

static int write_draft(const char *program)
{
	struct error error;
	char *name = g_path_get_basename(program), *dot = strrchr(name, '.');
	g_autofree char *folder = g_path_get_dirname(program);
	g_autofree char *stem = g_strndup(name, dot ? (gsize)(dot - name) : strlen(name));
	g_autofree char *file = g_strdup_printf("%s.lesson", stem);
	g_autofree char *path = strcmp(folder, ".") == 0 ? g_strdup(file)
	                                                 : g_build_filename(folder, file, NULL);
	bool good = false;
	if (!g_file_test(program, G_FILE_TEST_IS_REGULAR)) {
		error_set(&error, program, "name the program's source file",
		          "there is no such file");
	} else if (g_file_test(path, G_FILE_TEST_EXISTS)) {
		error_set(&error, path, "take it away first, or go on with it",
		          "there is such a lesson already");
	} else {
		g_autofree char *text = g_strdup_printf(draft, name, name);
		good = file_write_whole(path, text, strlen(text), &error);
	}
	if (good)
		printf("%s: fill it in, write fixed-%s beside it; 'heddle lesson --play %s' "
		       "says whether it is right\n",
		       path, name, path);
	g_free(name);
	return good ? EXIT_NOTHING : fail(&error);
}

static int run_lesson(struct arguments *a)
{
	struct error error;
	bool class = argument_flag(a, "class");
	argument_words(a, class ? 1 : 0, class ? 100000 : 1);
	if (class)
		return lesson_class_print(a->words, argument_format(a, false) == FORMAT_JSON,
		                          &error)
		               ? EXIT_NOTHING
		               : fail(&error);
	bool check = argument_flag(a, "check"), play = argument_flag(a, "play");
	bool worksheet = argument_flag(a, "worksheet");
	argument_format(a, false);
	if (argument_value(a, "new"))
		return write_draft(argument_value(a, "new"));
	if (a->words->len == 0)
		return check || play ? usage_error(a, "name the lesson to check") : list(a);
	int status = EXIT_NOTHING;
	g_autofree char *next = g_strdup(a->words->pdata[0]);
	while (next && status == EXIT_NOTHING) {
		struct lesson *l = lesson_find(next, &error);
		if (l == NULL)
			return fail(&error);
		g_clear_pointer(&next, g_free);
		if (check)
			printf("%s: a lesson of %u step%s\n", l->name, l->steps->len,
			       plural(l->steps->len));
		else if (play)
			status = open_lesson(a, l, true, &next);
		else if (worksheet || argument_flag(a, "text") || !is_at_terminal())
			status = print_lesson(l, worksheet);
		else
			status = open_lesson(a, l, false, &next);
		lesson_free(l);
	}
	return status;
}

static const struct command_option options[] = {
	{ "directory", "DIR",
	  "work in this folder and leave the program there (default: a temporary one)", 'd' },
	{ "text", NULL, "print the lesson with its commands, also at a terminal", 0 },
	{ "worksheet", NULL, "print it without keys, answers and fix, to hand out", 0 },
	{ "restart", NULL, "begin at the first step, not where you left it", 0 },
	{ "new", "PROGRAM.c", "write PROGRAM.lesson beside a program of yours, to be filled in",
	  0 },
	{ "check", NULL, "only say whether the lesson's file is well-formed", 0 },
	{ "play", NULL, "do all its tasks by its own keys, and check its facts and answers",
	  0 },
	{ "class", NULL,
	  "the progress of a class, from files that its students made with --format json", 0 },
	OPTION_FORMAT,
	{ 0 },
};

const struct command command_lesson = {
	.name = "lesson",
	.usage = "[NAME|FILE.lesson] [-d DIR] [--restart] [--text] [--worksheet] [--check] "
	         "[--play] [--new PROGRAM.c] | --class FILE.json...",
	.summary = "guided lessons for the class: without a name, their list",
	.details =
	        "A lesson compiles and records a sample and opens the explorer with a pane "
	        "that\n"
	        "says what to look at, sees whether it was done, and gives hints.  Without a\n"
	        "terminal it is printed.  docs/lessons.md says how to write one.",
	.options = options,
	.run = run_lesson,
	.converses = true,
};
