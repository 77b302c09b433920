/*
 * checkup_specs.c - the specifications that a program is checked with where the user named
 * none: those that lie beside it, and those that ship with bind lines, as far as their
 * functions are the program's or are called by it.
 */
#include "engine/base/home.h"
#include "engine/base/input.h"
#include "engine/commute/language/spec.h"
#include "engine/record/interpose.h"
#include "engine/record/record.h"
#include "tui/batch/check/checkup.h"

#include <string.h>

/* Shorter names first: glib.spec before glib-strings.spec, which binds the same functions. */
static gint by_length(gconstpointer a, gconstpointer b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return strlen(x) != strlen(y) ? (strlen(x) < strlen(y) ? -1 : 1) : strcmp(x, y);
}

/* Is the file something else that has that name, such as a package's description? Not one that
 * cannot be read: it may be a specification. */
static bool is_another_format(const char *file)
{
	struct error error;
	size_t length;
	g_autofree char *text = input_text(file, "specification", &length, &error);

	return text != NULL && !specs_declare(text);
}

/* The folder's specifications (char *, owned). */
static GPtrArray *specs_in(const char *folder)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
		g_autofree char *file = g_build_filename(folder, name, NULL);

		if (g_str_has_suffix(name, ".spec") && !is_another_format(file))
			g_ptr_array_add(files, g_steal_pointer(&file));
	}
	g_ptr_array_sort(files, by_length);
	return files;
}

/* Takes the folder's files that fit the program, unless an earlier one binds the same
 * functions. */
static void take_fitting(struct checkup *c, const char *folder, const char *program)
{
	g_autoptr(GPtrArray) files = specs_in(folder);

	for (guint i = 0; i < files->len; i++) {
		const char *file = files->pdata[i];
		struct error error = { 0 };

		switch (interposer_fits(c->own_specs, file, program, &error)) {
		case TRUTH_YES:
			g_ptr_array_add(c->own_specs, g_strdup(file));
			break;
		case TRUTH_UNKNOWN:
			checkup_uncovered(
			        c,
			        "what %s may say of the program's operations: it is no "
			        "specification that heddle can read (%s: %s)",
			        file, error.where, error.what);
			break;
		case TRUTH_NO:
			break;
		}
	}
}

void checkup_find_specs(struct checkup *c)
{
	struct error error = { 0 };
	g_autofree char *program = NULL, *folder = NULL, *shipped = NULL;
	bool instrumented, clang_name;

	if (c->argv == NULL || c->specs->len > 0 ||
	    !record_check_program(c->argv[0], &program, &instrumented, &clang_name, &error))
		return; /* recording reports the error in the program */
	folder = g_path_get_dirname(program);
	shipped = home_find("specs/bind");
	take_fitting(c, folder, program);
	if (shipped != NULL)
		take_fitting(c, shipped, program);
	for (guint i = 0; i < c->own_specs->len; i++)
		g_ptr_array_add(c->specs, c->own_specs->pdata[i]);
}
