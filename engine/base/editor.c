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

/* How the editor is told a line: "+LINE" before the file, or "--goto FILE:LINE"; others would
 * open a file of that name. */
enum line_style { NO_LINE, PLUS_LINE, GOTO_LINE };

static enum line_style style_of_editor(const char *editor)
{
	static const char *const plus[] = { "vi",    "vim",         "nvim", "nano",   "pico",
		                            "emacs", "emacsclient", "joe",  "jed",    "kak",
		                            "micro", "mg",          "ne",   "mcedit", NULL };
	static const char *const colon[] = { "code", "codium", "code-insiders", NULL };
	char *word = g_strndup(editor, strcspn(editor, " \t"));
	char *name = g_path_get_basename(word);
	enum line_style style = g_strv_contains(plus, name)    ? PLUS_LINE
	                        : g_strv_contains(colon, name) ? GOTO_LINE
	                                                       : NO_LINE;
	g_free(name);
	g_free(word);
	return style;
}

char **editor_words(const char *path, unsigned line)
{
	const char *editor = editor_name();
	enum line_style style = line ? style_of_editor(editor) : NO_LINE;
	GString *script = g_string_new(editor);
	char *argument =
	        style == GOTO_LINE ? g_strdup_printf("%s:%u", path, line) : g_strdup(path);
	if (style == PLUS_LINE)
		g_string_append_printf(script, " +%u", line);
	g_string_append(script, style == GOTO_LINE ? " --wait --goto \"$1\"" : " \"$1\"");
	char *words[] = { "/bin/sh", "-c", script->str, "heddle", argument, NULL };
	char **copy = g_strdupv(words);
	g_string_free(script, TRUE);
	g_free(argument);
	return copy;
}
