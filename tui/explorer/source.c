/*
 * source.c - finds source files by the recorded path, by its tails below the known folders, and
 * by its base name; reads each once.
 */
#include "tui/explorer/source.h"

#include <glib/gstdio.h>

#include <string.h>

enum { FILE_LIMIT = 16 << 20, TAB = 4 };

static void file_free(void *data)
{
	struct source_file *file = data;
	g_free(file->path);
	if (file->lines)
		g_ptr_array_free(file->lines, TRUE);
	g_free(file);
}

void sources_init(struct sources *s, const char *trace_path)
{
	s->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, file_free);
	s->folders = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(s->folders, g_path_get_dirname(trace_path ? trace_path : "."));
	g_ptr_array_add(s->folders, g_get_current_dir());
	GStatBuf status;
	s->recorded = trace_path && g_stat(trace_path, &status) == 0 ? status.st_mtime : 0;
}

void sources_release(struct sources *s)
{
	g_hash_table_destroy(s->files);
	g_ptr_array_free(s->folders, TRUE);
}

void sources_add_folder(struct sources *s, const char *folder)
{
	g_ptr_array_insert(s->folders, 0, g_strdup(folder));
	g_hash_table_remove_all(s->files);
}

void sources_forget(struct sources *s)
{
	g_hash_table_remove_all(s->files);
}

/* Expand tabs to narrow stops, since two sources often share the screen. */
static char *expand_tabs(const char *line, gsize length)
{
	GString *out = g_string_new(NULL);
	for (gsize i = 0; i < length; i++) {
		if (line[i] != '\t')
			g_string_append_c(out, line[i]);
		else
			do
				g_string_append_c(out, ' ');
			while (out->len % TAB);
	}
	return g_string_free(out, FALSE);
}

static GPtrArray *split_lines(const char *text, gsize length)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	for (const char *at = text, *end = text + length; at < end;) {
		const char *newline = memchr(at, '\n', end - at);
		const char *stop = newline ? newline : end;
		gsize width = stop - at;
		if (width && at[width - 1] == '\r')
			width--;
		g_ptr_array_add(lines, expand_tabs(at, width));
		at = stop + 1;
	}
	return lines;
}

static bool try_path(struct source_file *file, const char *path)
{
	g_autofree char *text = NULL;
	gsize length;
	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
	    !g_file_get_contents(path, &text, &length, NULL))
		return false;
	GStatBuf status;
	file->path = g_strdup(path);
	file->modified = g_stat(path, &status) == 0 ? status.st_mtime : 0;
	file->lines = split_lines(text, MIN(length, FILE_LIMIT));
	return true;
}

/* Below a folder: the recorded path, then ever shorter tails of it. */
static bool try_folder(struct source_file *file, const char *folder, const char *recorded)
{
	for (const char *tail = recorded; tail; tail = strchr(tail, '/')) {
		while (*tail == '/')
			tail++;
		g_autofree char *path = g_build_filename(folder, tail, NULL);
		bool found = *tail && try_path(file, path);
		if (found)
			return true;
	}
	return false;
}

const struct source_file *sources_get(struct sources *s, const char *recorded)
{
	struct source_file *file = g_hash_table_lookup(s->files, recorded);
	if (file)
		return file;
	file = g_new0(struct source_file, 1);
	if (!g_path_is_absolute(recorded) || !try_path(file, recorded))
		for (guint i = 0; i < s->folders->len && file->lines == NULL; i++)
			try_folder(file, s->folders->pdata[i], recorded);
	file->newer = file->lines && s->recorded && file->modified > s->recorded;
	g_hash_table_insert(s->files, g_strdup(recorded), file);
	return file;
}

const char *sources_line(struct sources *s, const char *recorded, uint32_t line)
{
	const struct source_file *file = sources_get(s, recorded);
	if (file->lines == NULL || line == 0 || line > file->lines->len)
		return NULL;
	const char *text = file->lines->pdata[line - 1];
	return text + strspn(text, " ");
}

const char *sources_place(struct sources *s, const char *place)
{
	const char *colon = strrchr(place, ':');
	if (colon == NULL || !g_ascii_isdigit(colon[1]))
		return NULL;
	g_autofree char *file = g_strndup(place, (gsize)(colon - place));
	return sources_line(s, file, (uint32_t)strtoul(colon + 1, NULL, 10));
}
