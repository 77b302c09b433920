/*
 * load.c - finds and reads specification files: the shipped ones, those that a recording used,
 * and those that the user names.
 */
#include "engine/base/compare.h"
#include "engine/base/home.h"
#include "engine/base/input.h"
#include "engine/commute/language/spec.h"

#include <string.h>
#include <unistd.h>

char *spec_path(const char *path)
{
	char *shipped = NULL;
	if (*path && strchr(path, '/') == NULL && !g_file_test(path, G_FILE_TEST_EXISTS)) {
		static const char *const folders[] = { "specs", "specs/bind", "specs/missing" };
		for (size_t i = 0; i < G_N_ELEMENTS(folders) && !shipped; i++) {
			g_autofree char *relative = g_build_filename(folders[i], path, NULL);
			shipped = home_find(relative);
		}
	}
	return shipped ? shipped : g_strdup(path);
}

bool specs_load(struct specs *s, const char *name, struct error *error)
{
	size_t length;
	g_autofree char *path = spec_path(name);
	g_autofree char *source = input_text(path, "specification", &length, error);
	return source && specs_parse(s, path, source, length, error);
}

/* The shipped files (home_find("specs")), sorted by name.  None found is no error. */
static bool specs_load_shipped(struct specs *s, struct error *error)
{
	g_autofree char *folder = home_find("specs");
	g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;
	bool ok = true;
	while (dir && (name = g_dir_read_name(dir)) != NULL)
		if (g_str_has_suffix(name, ".spec"))
			g_ptr_array_add(names, g_build_filename(folder, name, NULL));
	g_ptr_array_sort(names, compare_texts);
	for (guint i = 0; ok && i < names->len; i++)
		ok = specs_load(s, names->pdata[i], error);
	return ok;
}

struct specs *specs_open(const GPtrArray *paths, struct error *error)
{
	struct specs *s = specs_new();
	bool ok = specs_load_shipped(s, error);
	for (guint i = 0; ok && paths != NULL && i < paths->len; i++) {
		ok = specs_load(s, paths->pdata[i], error);
		g_ptr_array_add(s->files, g_strdup(paths->pdata[i]));
	}
	if (ok)
		return s;
	specs_free(s);
	return NULL;
}

GPtrArray *specs_choose(const GPtrArray *given, const GPtrArray *recorded, GPtrArray *notes)
{
	GPtrArray *chosen = g_ptr_array_new_with_free_func(g_free);
	const GPtrArray *from = given != NULL && given->len > 0 ? given : recorded;
	for (guint i = 0; i < from->len; i++) {
		const char *path = from->pdata[i];
		bool there = from == given || access(path, R_OK) == 0;
		if (there)
			g_ptr_array_add(chosen, g_strdup(path));
		if (from == recorded && notes != NULL)
			g_ptr_array_add(
			        notes,
			        g_strdup_printf(there ? "by %s, which it was recorded with"
			                              : "not by %s, which it was recorded "
			                                "with: not there; name it by --spec",
			                        path));
	}
	return chosen;
}
