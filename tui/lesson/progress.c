/*
 * progress.c - the student's progress: a JSON object in the XDG state folder, {"lost-update":
 * {"step": 3, "finished": false, "wrong": 1, "hints": 0, "skipped": 0}}.
 */
#include "tui/lesson/lesson.h"

#include <jansson.h>
#include <string.h>

static char *path_of_progress(void)
{
	return g_build_filename(g_get_user_state_dir(), "heddle", "lessons.json", NULL);
}

/* The progress in all lessons; NULL and `error` when the file is damaged. */
static json_t *load(struct error *error)
{
	g_autofree char *path = path_of_progress();
	json_error_t trouble;
	json_t *root = NULL;
	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		root = json_object();
	else if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		error_set(error, path, "remove it", "is no ordinary file");
	else if ((root = json_load_file(path, 0, &trouble)) == NULL || !json_is_object(root)) {
		error_set(error, path, "mend or remove it; it is left as it is",
		          "the progress in lessons cannot be read%s%s", root ? "" : ": ",
		          root ? "" : trouble.text);
		g_clear_pointer(&root, json_decref);
	}
	return root;
}

static guint count_of(const json_t *item, const char *key)
{
	json_int_t count = json_integer_value(json_object_get(item, key));
	return count > 0 && count < 100000 ? (guint)count : 0;
}

static void append_count(guint count, const char *word, GString *out)
{
	if (count)
		g_string_append_printf(out, "%s%u %s%s", out->len ? ", " : "", count, word,
		                       plural(count));
}

void lesson_progress_append(struct lesson_progress progress, GString *out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	append_count(progress.wrong, "wrong answer", text);
	append_count(progress.hints, "hint", text);
	append_count(progress.skipped, "step left out", text);
	if (progress.skipped > 1) /* "steps left out" */
		g_string_replace(text, "step left outs", "steps left out", 0);
	g_string_append(out, text->len ? text->str : "no mistake, no hint");
}

struct lesson_progress lesson_progress_load(const char *name)
{
	struct lesson_progress progress = { 0 };
	json_t *root = load(NULL), *item = json_object_get(root, name);
	json_int_t step = json_integer_value(json_object_get(item, "step"));
	progress.step = step > 0 && step < 10000 ? (guint)step : 0;
	progress.finished = json_is_true(json_object_get(item, "finished"));
	progress.wrong = count_of(item, "wrong");
	progress.hints = count_of(item, "hints");
	progress.skipped = count_of(item, "skipped");
	json_decref(root);
	return progress;
}

bool lesson_progress_save(const char *name, struct lesson_progress progress,
                          struct error *error)
{
	json_auto_t *root = load(error);
	if (root == NULL)
		return false;
	json_object_set_new(root, name,
	                    json_pack("{s:i, s:b, s:i, s:i, s:i}", "step", (int)progress.step,
	                              "finished", (int)progress.finished, "wrong",
	                              (int)progress.wrong, "hints", (int)progress.hints,
	                              "skipped", (int)progress.skipped));
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
	g_autofree char *path = path_of_progress(), *folder = g_path_get_dirname(path);
	g_mkdir_with_parents(folder, 0700);
	bool good = file_write_whole(path, text, strlen(text), error);
	free(text);
	return good;
}
