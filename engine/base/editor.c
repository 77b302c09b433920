/* editor.c - see editor.h. */
#include "engine/base/editor.h"

#include <stdlib.h>
#include <string.h>

const char *editor_name(void)
{
	const char *editor = getenv("VISUAL");
	if (editor == NULL || *editor == '\0')
		editor = getenv("EDITOR");
	return editor && *editor ? editor : "vi";
}

/* The option that gives an editor a line: "+LINE" before the file, or "--goto FILE:LINE"; an
 * editor without one would open a file of that name. */
enum line_style { NO_LINE, PLUS_LINE, GOTO_LINE };

static enum line_style style_of_editor(const char *editor)
{
	static const char *const plus[] = { "vi",    "vim",         "nvim", "nano",   "pico",
		                            "emacs", "emacsclient", "joe",  "jed",    "kak",
		                            "micro", "mg",          "ne",   "mcedit", NULL };
	static const char *const colon[] = { "code", "codium", "code-insiders", NULL };
	g_autofree char *word = g_strndup(editor, strcspn(editor, " \t"));
	g_autofree char *name = g_path_get_basename(word);
	return g_strv_contains(plus, name)    ? PLUS_LINE
	       : g_strv_contains(colon, name) ? GOTO_LINE
	                                      : NO_LINE;
}

char **editor_words(const char *path, unsigned line)
{
	const char *editor = editor_name();
	enum line_style style = line ? style_of_editor(editor) : NO_LINE;
	g_autoptr(GString) script = g_string_new(editor);
	g_autofree char *argument =
	        style == GOTO_LINE ? g_strdup_printf("%s:%u", path, line) : g_strdup(path);
	if (style == PLUS_LINE)
		g_string_append_printf(script, " +%u", line);
	g_string_append(script, style == GOTO_LINE ? " --wait --goto \"$1\"" : " \"$1\"");
	char *words[] = { "/bin/sh", "-c", script->str, "heddle", argument, NULL };
	return g_strdupv(words);
}
