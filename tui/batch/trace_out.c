/* trace_out.c - see trace_out.h. */
#include "tui/batch/trace_out.h"

#include "engine/base/streams.h"

#include <string.h>

enum trace_format trace_out_format(const struct arguments *a, const char *path)
{
	static const char *const words[] = { "text", "std", "binary", NULL };
	enum trace_format by_suffix = g_str_has_suffix(path, ".std")   ? TRACE_STD
	                              : g_str_has_suffix(path, ".hdl") ? TRACE_BINARY
	                                                               : TRACE_TEXT;
	return argument_choice(a, "to", words, by_suffix);
}

bool trace_out_write(const struct trace *t, const char *path, enum trace_format format,
                     const uint64_t *keep, uint64_t *left_out, struct error *error)
{
	if (strcmp(path, "-") != 0)
		return trace_write(t, path, format, keep, left_out, error);
	if (format == TRACE_BINARY)
		return error_set(error, "standard output", "name a file",
		                 "a binary trace is mapped and needs a file");
	g_autoptr(GString) text = g_string_new(NULL);
	trace_print(t, format, keep, text, left_out);
	streams_put_data(text->str, text->len);
	return true;
}
