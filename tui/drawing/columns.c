/* columns.c - see columns.h. */
#include "tui/drawing/columns.h"

#include <stdio.h>

struct drawn text_next(const char *text)
{
	struct drawn d = { .bytes = 1, .columns = 4 };
	gunichar rune = g_utf8_get_char_validated(text, -1);
	bool bad = rune == (gunichar)-1 || rune == (gunichar)-2;
	/* Bytewise: continuation bytes are no characters. */
	if (bad || rune < 0x20 || rune == 0x7f || text_hidden(rune)) {
		snprintf(d.escape, sizeof d.escape, "\\x%02X", (unsigned char)*text);
		return d;
	}
	d.bytes = (guchar)g_utf8_skip[(guchar)*text];
	d.rune = rune;
	d.columns = g_unichar_iszerowidth(rune) ? 0 : g_unichar_iswide(rune) ? 2 : 1;
	return d;
}

int text_columns(const char *text)
{
	int columns = 0;
	while (*text) {
		struct drawn d = text_next(text);
		text += d.bytes;
		columns += d.columns;
	}
	return columns;
}

void append_padded(GString *out, const char *text, int width)
{
	g_string_append(out, text);
	for (int n = text_columns(text); n < width; n++)
		g_string_append_c(out, ' ');
	g_string_append_c(out, ' ');
}

void append_wrapped(GString *out, const char *text, int indent, int width)
{
	int at = indent;
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	for (char **word = words; *word; word++) {
		int columns = text_columns(*word);
		if (at > indent && at + 1 + columns > width) {
			g_string_append_printf(out, "\n%*s", indent, "");
			at = indent;
		}
		g_string_append_printf(out, "%s%s", at > indent ? " " : "", *word);
		at += columns + (at > indent);
	}
	g_string_append_c(out, '\n');
}
