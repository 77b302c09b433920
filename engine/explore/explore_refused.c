/*
 * explore_refused.c - the recorder did not run the program, as a bind line names an unknown
 * function: an error of the specification.
 */
#include "engine/explore/explore_private.h"

#include <string.h>

/* "FILE:LINE" of the function's bind line, or of the first file. */
static struct place bind_place(const GPtrArray *files, const char *function)
{
	struct place place = place_line(files->pdata[0], 0);
	for (guint i = 0; i < files->len; i++) {
		char *text = NULL;
		if (!g_file_get_contents(files->pdata[i], &text, NULL, NULL))
			continue;
		char **lines = g_strsplit(text, "\n", -1);
		for (guint line = 0; lines[line] != NULL; line++) {
			const char *bind = strstr(lines[line], "bind ");
			const char *name = bind ? strstr(bind, function) : NULL;
			char after = name ? name[strlen(function)] : 'x';
			if (name != NULL && !g_ascii_isalnum(after) && after != '_')
				place = place_line(files->pdata[i], line + 1);
		}
		g_strfreev(lines);
		g_free(text);
	}
	return place;
}

bool explore_is_refused(const struct exploration *x, const struct plan_run *run,
                        struct error *error)
{
	enum { REFUSED = 125 };
	const char prefix[] = "heddle: ", suffix[] = "; leave its bind line out";
	if (x->interposer == NULL || run->result.status != REFUSED ||
	    run->facts.instrumented > 0 || run->printed == NULL)
		return false;
	char *text = g_strdup(run->printed);
	char *end = strstr(text, suffix), *colon = strstr(text, ": ");
	if (colon != NULL)
		colon = strstr(colon + 2, ": ");
	bool refused = g_str_has_prefix(text, prefix) && colon != NULL && end > colon;
	if (refused) {
		*colon = *end = 0;
		const char *function = text + strlen(prefix);
		struct place place = bind_place(x->options->spec_files, function);
		error_set(error, place.text,
		          "leave the bind line out, or bind a function of the program or of a "
		          "library that it is linked with",
		          "%s cannot be bound: %s", function, colon + 2);
	}
	g_free(text);
	return refused;
}
