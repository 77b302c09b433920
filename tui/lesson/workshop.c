/*
 * workshop.c - the student's folder: copies, compiles and records the sample by the commands
 * that the lesson prints.
 */
#include "tui/lesson/lesson.h"

#include "engine/base/editor.h"
#include "engine/base/child.h"
#include "engine/base/file.h"
#include "engine/base/input.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Samples end within a second; `timeout` reports commands that do not. */
enum { RUN_SECONDS = 20, STATUS_TIMEOUT = 124 };

/* -- the folder ---------------------------------------------------------------------------- */

static bool copy_file(const char *from, const char *to, struct error *error)
{
	size_t length;
	g_autofree char *text = input_text(from, "lesson's file", &length, error);
	return text != NULL && file_write_whole(to, text, length, error);
}

/* Copies the files into the folder, except those that exist there: the student may have
 * edited them. */
static bool bring(const struct workshop *w, const GPtrArray *names, struct error *error)
{
	bool good = true;
	for (guint i = 0; i < names->len && good; i++) {
		g_autofree char *from =
		        g_build_filename(w->lesson->folder, names->pdata[i], NULL);
		g_autofree char *to = g_build_filename(w->folder, names->pdata[i], NULL);
		if (!g_file_test(to, G_FILE_TEST_EXISTS))
			good = copy_file(from, to, error);
	}
	return good;
}

static char *in_folder(const struct workshop *w, const char *suffix)
{
	g_autofree char *program = lesson_program(w->lesson);
	return g_strconcat(w->folder, "/", program, suffix, NULL);
}

bool workshop_open(struct workshop *w, const struct lesson *lesson, const char *folder,
                   struct error *error)
{
	memset(w, 0, sizeof *w);
	w->lesson = lesson;
	w->temporary = folder == NULL;
	w->folder = folder ? g_canonicalize_filename(folder, NULL)
	                   : g_dir_make_tmp("heddle-lesson-XXXXXX", NULL);
	if (w->folder == NULL || g_mkdir_with_parents(w->folder, 0777) < 0) {
		error_set(error, w->folder ? w->folder : g_get_tmp_dir(),
		          "name another one with -d", "no folder can be made there: %s",
		          g_strerror(errno));
		w->temporary = false;
		workshop_close(w);
		return false;
	}
	w->trace = in_folder(w, ".hdl");
	w->tree = lesson->explore ? in_folder(w, ".explored") : NULL;
	if (bring(w, lesson->sources, error) && bring(w, lesson->plain, error) &&
	    bring(w, lesson->specs, error) && bring(w, lesson->files, error))
		return true;
	workshop_close(w);
	return false;
}

void workshop_close(struct workshop *w)
{
	if (w->temporary && w->folder)
		file_remove_tree(w->folder);
	g_free(w->folder);
	g_free(w->trace);
	g_free(w->shown);
	g_free(w->tree);
	memset(w, 0, sizeof *w);
}

/* -- commands ------------------------------------------------------------------------------ */

static void append_options(GString *out, const char *options)
{
	g_auto(GStrv) words = NULL;
	if (!g_shell_parse_argv(options, NULL, &words, NULL))
		return;
	for (char **w = words; *w; w++) {
		bool simple = strspn(*w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		                         "0123456789-_=./,+") == strlen(*w);
		g_autofree char *quoted = simple ? g_strdup(*w) : g_shell_quote(*w);
		g_string_append_printf(out, " %s", quoted);
	}
}

static void append_names(GString *out, const GPtrArray *names)
{
	for (guint i = 0; i < names->len; i++)
		g_string_append_printf(out, " %s", (char *)names->pdata[i]);
}

/* "mailbox.c" -> "mailbox.o" */
static char *object_of(const char *source)
{
	const char *dot = strrchr(source, '.');
	return g_strdup_printf("%.*s.o", dot ? (int)(dot - source) : (int)strlen(source),
	                       source);
}

static void add_plain(GPtrArray *recipe, const struct lesson *l, GString *objects)
{
	for (guint i = 0; i < l->plain->len; i++) {
		g_autofree char *object = object_of(l->plain->pdata[i]);
		GString *line = g_string_new("cc");
		append_options(line, l->compile);
		g_string_append_printf(line, " -c %s -o %s", (char *)l->plain->pdata[i],
		                       object);
		g_string_append_printf(objects, " %s", object);
		g_ptr_array_add(recipe, g_string_free(line, FALSE));
	}
}

static bool is_cxx(const char *name)
{
	return g_str_has_suffix(name, ".cc") || g_str_has_suffix(name, ".cpp") ||
	       g_str_has_suffix(name, ".cxx");
}

bool lesson_spec_binds(const struct lesson *l, guint i)
{
	g_autofree char *path = g_build_filename(l->folder, l->specs->pdata[i], NULL),
	                *text = NULL;
	return g_file_get_contents(path, &text, NULL, NULL) &&
	       g_regex_match_simple("^\\s*bind\\s", text, G_REGEX_MULTILINE, 0);
}

GPtrArray *lesson_recipe(const struct lesson *l, bool mended)
{
	GPtrArray *recipe = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) objects = g_string_new(NULL);
	g_autofree char *program = lesson_program(l);
	if (mended && l->fix_plain)
		append_names(objects, l->plain);
	else
		add_plain(recipe, l, objects);
	GString *line = g_string_new(is_cxx(l->sources->pdata[0]) ? "heddle c++" : "heddle cc");
	append_options(line, l->compile);
	append_names(line, l->sources);
	g_string_append_printf(line, "%s -o %s", objects->str, program);
	g_ptr_array_add(recipe, g_string_free(line, FALSE));
	line = g_string_new("heddle record -q");
	append_options(line, l->record);
	for (guint i = 0; i < l->specs->len; i++)
		if (lesson_spec_binds(l, i))
			g_string_append_printf(line, " --spec %s", (char *)l->specs->pdata[i]);
	g_string_append_printf(line, " -o %s.hdl -- ./%s", program, program);
	g_ptr_array_add(recipe, g_string_free(line, FALSE));
	if (l->explore) {
		line = g_string_new("heddle explore -q");
		append_options(line, l->explore);
		g_string_append_printf(line, " -o %s.explored -- ./%s", program, program);
		g_ptr_array_add(recipe, g_string_free(line, FALSE));
	}
	return recipe;
}

/* SIGINT goes to the running program, not to the lesson; file sizes are bounded. */
static void prepare_child(gpointer unused)
{
	enum { MOST_BYTES = 1 << 29 };
	const struct rlimit files = { MOST_BYTES, MOST_BYTES };
	setrlimit(RLIMIT_FSIZE, &files);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	dup2(STDOUT_FILENO, STDERR_FILENO);
}

/* The argument vector of a command under `timeout`; `heddle` is this binary. NULL-terminated,
 * for g_strfreev; NULL: not parsable. */
static char **words_of(const char *command)
{
	char **argv = NULL, *limit = g_strdup_printf("%d", RUN_SECONDS);
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	GPtrArray *words = g_ptr_array_new();
	const char *const before[] = { "timeout", "--foreground", "-k", "5", limit };
	if (!g_shell_parse_argv(command, NULL, &argv, NULL)) {
		g_ptr_array_unref(words);
		g_free(limit);
		return NULL;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(before); i++)
		g_ptr_array_add(words, g_strdup(before[i]));
	for (char **word = argv; *word; word++)
		g_ptr_array_add(words,
		                g_strdup(word == argv && self && strcmp(*word, "heddle") == 0
		                                 ? self
		                                 : *word));
	g_ptr_array_add(words, NULL);
	g_strfreev(argv);
	g_free(limit);
	return (char **)g_ptr_array_free(words, FALSE);
}

int workshop_run(const struct workshop *w, const char *command, GString *said)
{
	char **argv = words_of(command), *out = NULL;
	int status = 0;
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	bool ran = argv && g_spawn_sync(w->folder, argv, NULL, G_SPAWN_SEARCH_PATH,
	                                prepare_child, NULL, &out, NULL, &status, NULL);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	if (out)
		g_string_append(said, out);
	g_free(out);
	g_strfreev(argv);
	if (!ran)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The reason for a program's end by timeout or by the student. */
static const char *ended(int status)
{
	return status == STATUS_TIMEOUT || status == 128 + SIGKILL
	               ? "did not end: does a thread wait for a lock that nobody releases, or "
	                 "does a loop never stop?"
	       : status == 128 + SIGINT ? "was interrupted"
	                                : NULL;
}

static bool is_recording(const char *command)
{
	return g_str_has_prefix(command, "heddle record") ||
	       g_str_has_prefix(command, "heddle explore");
}

/* The compiler must succeed; the program may end in any way. */
bool workshop_make(struct workshop *w, GString *said, struct error *error)
{
	g_autoptr(GPtrArray) recipe = lesson_recipe(w->lesson, w->mended);
	bool good = true;
	g_clear_pointer(&w->shown, g_free);
	for (guint i = 0; i < recipe->len && good; i++) {
		const char *command = recipe->pdata[i];
		g_autoptr(GString) here = g_string_new(NULL);
		int status = workshop_run(w, command, here);
		bool bad = is_recording(command) ? status == 125 || status == 127 || status == 2
		                                 : status != 0;
		if (g_str_has_prefix(command, "heddle record"))
			w->status = status;
		if (ended(status))
			good = error_set(error, command, NULL, "%s", ended(status));
		else if (bad)
			good = error_set(error, command,
			                 is_recording(command)
			                         ? "'heddle doctor' looks what is missing here"
			                         : "see what the compiler says",
			                 "failed with status %d", status);
		/* The exploration's report is shown in its view. */
		if (bad || !g_str_has_prefix(command, "heddle explore"))
			g_string_append(said, here->str);
	}
	if (good && access(w->trace, R_OK) < 0)
		good = error_set(error, w->trace, NULL, "was not recorded");
	return good;
}

bool workshop_mend(struct workshop *w, struct error *error)
{
	const struct lesson *l = w->lesson;
	for (guint i = 0; i < l->fixed->len; i++) {
		g_autofree char *from = g_build_filename(l->folder, l->fixed->pdata[i], NULL);
		g_autofree char *to = g_build_filename(w->folder, l->sources->pdata[i], NULL);
		if (!copy_file(from, to, error))
			return false;
	}
	w->mended = true;
	return true;
}

bool workshop_edit(const struct workshop *w, unsigned line, struct error *error)
{
	g_autofree char *path = g_build_filename(w->folder, w->lesson->sources->pdata[0], NULL);
	g_auto(GStrv) words = editor_words(path, line);
	int status = child_run(words, false);
	return status == 0 ||
	       error_set(error, editor_name(), "set EDITOR to one that is installed",
	                 "the editor ended with status %d",
	                 WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
