/*
 * lesson_class.c - see lesson_class.h.
 */
#include "tui/batch/lesson_class.h"

#include "engine/base/input.h"
#include "tui/drawing/columns.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static char *student_of(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	char *dot = strrchr(name, '.');
	if (dot && dot != name)
		*dot = '\0';
	GString *text = g_string_new(NULL);
	append_escaped(text, name, strlen(name));
	return g_string_free(text, FALSE);
}

/* The list of lessons in a student's file; NULL and `error`: the file has none. */
static json_t *read_lessons(const char *path, struct error *error)
{
	json_auto_t *root = input_json(path, "file", error);
	json_t *lessons = json_object_get(root, "lessons"), *item;
	bool good = json_is_array(lessons);
	size_t i;
	json_array_foreach(lessons, i, item) good &=
	        json_is_string(json_object_get(item, "name"));
	if (good)
		json_incref(lessons);
	else if (root != NULL)
		error_set(error, path,
		          "a student makes it with heddle lesson --format json > NAME.json",
		          "is no progress in lessons");
	return good ? lessons : NULL;
}

static int number_of(const json_t *lesson, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(lesson, key));
	return (int)CLAMP(n, 0, 99999);
}

/* "finished: 1 wrong answer, 2 hints", "step 3 of 7"; nothing for a lesson not begun. */
static void append_state(const json_t *lesson, GString *out)
{
	static const struct {
		const char *key, *one, *many;
	} counts[] = { { "wrong", "wrong answer", "wrong answers" },
		       { "hints", "hint", "hints" },
		       { "skipped", "step left out", "steps left out" } };
	bool finished = json_is_true(json_object_get(lesson, "finished"));
	int step = number_of(lesson, "step");
	if (!finished && step <= 1)
		return;
	if (finished)
		g_string_append(out, "finished");
	else
		g_string_append_printf(out, "step %d of %d", step, number_of(lesson, "steps"));
	for (size_t i = 0, listed = 0; i < G_N_ELEMENTS(counts); i++) {
		int n = number_of(lesson, counts[i].key);
		if (n > 0)
			g_string_append_printf(out, "%s%d %s", listed++ ? ", " : ": ", n,
			                       n == 1 ? counts[i].one : counts[i].many);
	}
}

static void print_student(const char *path, const json_t *lessons)
{
	g_autoptr(GString) states = g_string_new(NULL), state = g_string_new(NULL);
	g_autofree char *student = student_of(path);
	guint finished = 0;
	const json_t *lesson;
	size_t i;
	json_array_foreach(lessons, i, lesson)
	{
		finished += json_is_true(json_object_get(lesson, "finished"));
		g_string_truncate(state, 0);
		append_state(lesson, state);
		if (state->len == 0)
			continue;
		const char *name = json_string_value(json_object_get(lesson, "name"));
		g_autoptr(GString) text = g_string_new(NULL);
		append_escaped(text, name, strlen(name));
		g_string_append(states, "    ");
		append_padded(states, text->str, 22);
		g_string_append_printf(states, "%s\n", state->str);
	}
	printf("%s: %u of %u finished\n%s", student, finished, (guint)json_array_size(lessons),
	       states->str);
}

bool lesson_class_print(const GPtrArray *files, bool json, struct error *error)
{
	json_t *all = json_array(), *lessons;
	bool good = true;
	for (guint i = 0; good && i < files->len; i++) {
		good = (lessons = read_lessons(files->pdata[i], error)) != NULL;
		if (good)
			json_array_append_new(all, lessons);
	}
	json_auto_t *students = json_array();
	for (guint i = 0; good && i < files->len; i++) {
		g_autofree char *student = student_of(files->pdata[i]);
		if (json)
			json_array_append_new(students,
			                      json_pack("{s:s, s:O}", "student", student,
			                                "lessons", json_array_get(all, i)));
		else
			print_student(files->pdata[i], json_array_get(all, i));
	}
	if (good && json) {
		json_auto_t *root =
		        json_pack("{s:s, s:O}", "heddle", HEDDLE_VERSION, "students", students);
		json_dumpf(root, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(all);
	return good;
}
