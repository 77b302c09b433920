/*
 * text_read.c - reads the text format (docs/, a superset of RAPID's STD); recovers truncated
 * files.
 */
#include "engine/base/input.h"
#include "engine/trace/storage.h"
#include "engine/trace/text/text_reader.h"
#include "engine/trace/weak.h"

static bool read_line(struct reader *r, struct span s)
{
	if (s.length && s.at[s.length - 1] == '\r')
		s.length--;
	r->all = s;
	r->parsed = false;
	if (s.length == 0 || (*s.at <= ' ' && trimmed(s).length == 0))
		return true;
	if (*s.at == '#')
		return s.length < 2 || s.at[1] != '!' || text_directive(r, s);
	return text_event(r, s);
}

static uint64_t line_of(const char *text, const char *at)
{
	uint64_t line = 1;
	for (const char *c = text; (c = memchr(c, '\n', (size_t)(at - c))); c++)
		line++;
	return line;
}

/* A file truncated inside a character is shortened by its bytes. */
static bool check_bytes(struct reader *r, const char *text, size_t *length)
{
	const char *nul = memchr(text, '\0', *length);
	const char *end = text + *length;
	if (nul) {
		r->line = line_of(text, nul);
		return text_refuse(r, "a text trace has none; is this another kind of file?",
		                   "expected text, found a NUL byte");
	}
	if (!g_utf8_validate(text, (gssize)*length, &end)) {
		size_t rest = *length - (size_t)(end - text);
		if (g_utf8_get_char_validated(end, (gssize)rest) == (gunichar)-2) {
			*length -= rest;
			return true;
		}
		r->line = line_of(text, end);
		return text_refuse(r, "convert the file to UTF-8",
		                   "expected UTF-8, found the byte 0x%02X",
		                   (unsigned char)*end);
	}
	return true;
}

static void warn_of_directives(struct reader *r)
{
	GHashTableIter iter;
	gpointer name, count;
	g_hash_table_iter_init(&iter, r->unknown);
	while (g_hash_table_iter_next(&iter, &name, &count))
		builder_warn(r->b, "unknown directive %s (%u times) is not used", (char *)name,
		             GPOINTER_TO_UINT(count));
}

/* Could a line that does not parse be truncated? A first line without '|' is of another kind of
 * file, and one with a CR has other line ends. */
static bool may_be_cut(const struct reader *r, struct span s)
{
	return r->line > 1 || (s.length > 0 && *s.at != '{' && memchr(s.at, '|', s.length) &&
	                       !memchr(s.at, '\r', s.length));
}

/* A last line without newline that does not parse is where the file was truncated. */
static bool read_lines(struct reader *r, const char *text, size_t length,
                       const struct progress *progress, bool *complete)
{
	const char *end = text + length;
	for (const char *at = text; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct span s = { at, (size_t)((newline ? newline : end) - at) };
		r->line++;
		if (!read_line(r, s)) {
			if (newline || r->parsed || !may_be_cut(r, s))
				return false;
			builder_warn(r->b,
			             "line %" G_GUINT64_FORMAT
			             " is cut off: truncated after %u events",
			             r->line, builder_event_count(r->b));
			*complete = false;
		}
		at = newline ? newline + 1 : end;
		if ((r->line & 0xffff) == 0 &&
		    !progress_tick(progress, (double)(at - text) / length, "reading"))
			return error_cancelled(r->error);
	}
	return true;
}

static void warn_of_scopes(struct reader *r, bool *complete)
{
	uint32_t open = builder_open_scopes(r->b);
	if (open == 0)
		return;
	builder_warn(r->b, "the trace ends inside %u open scope%s: truncated", open,
	             plural(open));
	*complete = false;
}

struct trace *text_read(const char *name, const char *text, size_t length,
                        const struct trace_options *options, const struct progress *progress,
                        struct error *error)
{
	struct reader r = {
		.name = name,
		.b = builder_new(name, options),
		.error = error,
		.arguments = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.scratch = g_string_new(NULL),
		.unknown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
	};
	bool complete = true;
	text_fill_ops(&r);
	text = input_skip_mark(text, &length);
	bool good = length == 0 || (check_bytes(&r, text, &length) &&
	                            read_lines(&r, text, length, progress, &complete));
	struct trace *t = NULL;
	if (good) {
		if (length == 0) /* where a trace was to be written and was not */
			builder_warn(r.b, "the file is empty");
		warn_of_directives(&r);
		warn_of_scopes(&r, &complete);
		if (r.truncated && complete)
			builder_warn(r.b, "a trace that was truncated");
		complete &= !r.truncated;
		t = builder_finish(r.b, complete, error);
		if (t) {
			t->filtered = r.filtered;
			t->order_exact = !r.approximate_order;
			if (r.flushes && trace_model(t) != WEAK_TSO) {
				error_set(error, name, "add the line '#! note memory tso'",
				          "a store arrives by 'flush', but the trace is not "
				          "of tso");
				trace_close(g_steal_pointer(&t));
			}
		}
	} else {
		builder_free(r.b);
	}
	g_array_free(r.arguments, TRUE);
	g_string_free(r.scratch, TRUE);
	g_hash_table_destroy(r.unknown);
	g_hash_table_destroy(r.said);
	return t;
}
