/* layout.c - see layout.h. */
#include "tui/batch/print/layout.h"

#include <string.h>

enum { NARROWEST = 40, DEEPEST = 16 /* indent of a line's continuation */ };

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define RED    "\033[1;31m"
#define GREEN  "\033[1;32m"
#define YELLOW "\033[1;33m"
#define PLAIN  "\033[m"

/* Beginnings of lines: the verdict of a finding's heading, or the kind of a remark. */
static const struct {
	const char *word, *style;
	bool heading; /* the rest of the line is bold */
} beginnings[] = {
	{ "happened: ", RED, true },     { "race: ", RED, true },
	{ "can happen: ", RED, true },   { "candidate: ", YELLOW, true },
	{ "unknown: ", YELLOW, true },   { "present: ", RED, true },
	{ "hidden: ", YELLOW, true },    { "undecided: ", YELLOW, true },
	{ "impossible: ", GREEN, true }, { "fixed: ", GREEN, true },
	{ "note: ", DIM, false },
};

static bool starts(const char *line, size_t length, const char *with)
{
	size_t n = strlen(with);
	return length >= n && memcmp(line, with, n) == 0;
}

/* Where the continuation of a broken line begins: below the text after "note: " and the like,
 * otherwise two columns to the right of the line. */
static size_t hanging(const char *line, size_t length)
{
	size_t indent = 0, colon;
	while (indent < length && line[indent] == ' ')
		indent++;
	for (colon = indent; colon < length && g_ascii_isalpha(line[colon]);)
		colon++;
	bool word = indent == 0 && colon > 0 && colon + 1 < length && line[colon] == ':' &&
	            line[colon + 1] == ' ';
	return MIN(word ? colon + 2 : indent + 2, DEEPEST);
}

/* Is the line to be copied as a whole: a command? */
static bool is_command(const char *line, size_t length)
{
	size_t indent = strspn(line, " ");
	return indent > 0 && indent < length &&
	       starts(line + indent, length - indent, "heddle ");
}

static unsigned columns_of(gunichar c)
{
	return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
}

/* End of the longest part of the text that fits. */
static const char *fitting(const char *at, const char *end, unsigned columns)
{
	unsigned taken = 0;
	while (at < end) {
		taken += columns_of(g_utf8_get_char(at));
		if (taken > columns)
			break;
		at = g_utf8_next_char(at);
	}
	return MIN(at, end);
}

/* The last place in at..stop, where a line may end, that leaves something on it; NULL: none. */
static const char *last_break(const char *at, const char *stop)
{
	const char *from = at;
	while (from < stop && *from == ' ')
		from++;
	for (; stop > from; stop--)
		if (*stop == ' ')
			return stop;
	return NULL;
}

void text_break(GString *out, const char *at, const char *end, unsigned columns, unsigned used,
                size_t indent)
{
	for (;;) {
		const char *fit = fitting(at, end, columns - MIN(used, columns)), *stop;
		if (fit == end)
			break;
		stop = last_break(at, fit);
		if (stop == NULL) /* a word that is longer than the line */
			stop = memchr(fit, ' ', (size_t)(end - fit));
		if (stop == NULL)
			break;
		g_string_append_len(out, at, stop - at);
		for (at = stop; at < end && *at == ' ';)
			at++;
		if (at == end)
			return;
		g_string_append_printf(out, "\n%*s", (int)indent, "");
		used = (unsigned)indent;
	}
	g_string_append_len(out, at, end - at);
}

static void append_excerpt(const struct terminal_style *s, GString *out, const char *line,
                           const char *end)
{
	const char *fit = s->columns ? fitting(line, end, s->columns) : end;
	if (s->colour)
		g_string_append(out, DIM);
	g_string_append_len(out, line, fit - line);
	if (s->colour)
		g_string_append(out, PLAIN);
}

void terminal_lay_out(const struct terminal_style *s, GString *out, const char *line,
                      size_t length)
{
	static const char news[] = "new: ";
	const char *end = line + length, *at = line;
	const char *style = NULL;
	bool heading = false;
	if (starts(line, length, EXCERPT_MARK)) {
		append_excerpt(s, out, line, end);
		return;
	}
	if (starts(at, length, news))
		at += strlen(news);
	g_string_append_len(out, line, at - line);
	for (size_t i = 0; s->colour && i < G_N_ELEMENTS(beginnings); i++)
		if (starts(at, (size_t)(end - at), beginnings[i].word)) {
			size_t word = strlen(beginnings[i].word);
			style = beginnings[i].style;
			heading = beginnings[i].heading;
			g_string_append_printf(out, "%s%.*s" PLAIN "%s", style, (int)word, at,
			                       heading ? BOLD : "");
			at += word;
			break;
		}
	if (s->columns == 0 || is_command(line, length))
		g_string_append_len(out, at, end - at);
	else
		text_break(out, at, end, MAX(s->columns, NARROWEST), (unsigned)(at - line),
		           hanging(line, length));
	if (heading)
		g_string_append(out, PLAIN);
}
