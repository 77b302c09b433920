/*
 * text_words.c - words of a trace line: ends of quotes and brackets, values, and messages on
 * rejected lines (line number, expected, found).
 */
#include "engine/trace/text/text_reader.h"

#include <stdarg.h>

bool text_refuse(struct reader *r, const char *remedy, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_autofree char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	error_set(r->error, place_line(r->name, r->line).text, remedy, "%s", what);
	return false;
}

/* Position after the closing quote of a string that begins at `i`; beyond the end if
 * unclosed. */
static size_t text_after_quote(struct span s, size_t i)
{
	for (i++; i < s.length && s.at[i] != '"'; i++)
		if (s.at[i] == '\\')
			i++;
	return MIN(i + 1, s.length + 1);
}

static const uint8_t marks[256] = {
	[','] = MARK_COMMA,
	[';'] = MARK_SEMICOLON,
	['|'] = MARK_BAR,
	['>'] = MARK_GREATER,
	['('] = MARK_OPEN,
	['['] = MARK_OPEN,
	[')'] = MARK_CLOSE | MARK_PARENTHESIS,
	[']'] = MARK_CLOSE,
	['"'] = MARK_QUOTE,
};

size_t text_find(struct span s, size_t from, unsigned wanted)
{
	int depth = 0;
	for (size_t i = from; i < s.length;) {
		unsigned mark = marks[(unsigned char)s.at[i]];
		if (mark == 0) {
			i++;
			continue;
		}
		if (depth == 0 && (mark & wanted))
			return i;
		if (mark == MARK_QUOTE) {
			i = text_after_quote(s, i);
			continue;
		}
		if (mark & MARK_OPEN)
			depth++;
		else if ((mark & MARK_CLOSE) && depth > 0)
			depth--;
		i++;
	}
	return s.length;
}

static int hex(char c)
{
	return g_ascii_xdigit_value(c);
}

/* Put the contents of a quoted string, unescaped, into r->scratch. */
static bool unquote(struct reader *r, struct span s)
{
	g_string_truncate(r->scratch, 0);
	for (size_t i = 1; i < s.length - 1; i++) {
		char c = s.at[i];
		if (c != '\\') {
			g_string_append_c(r->scratch, c);
			continue;
		}
		char e = s.at[++i];
		if (e == '"' || e == '\\')
			g_string_append_c(r->scratch, e);
		else if (e == 'n')
			g_string_append_c(r->scratch, '\n');
		else if (e == 'x' && i + 2 < s.length - 1 && hex(s.at[i + 1]) >= 0 &&
		         hex(s.at[i + 2]) >= 0) {
			char byte = (char)(hex(s.at[i + 1]) * 16 + hex(s.at[i + 2]));
			if (byte == 0)
				return text_refuse(
				        r, "a string cannot hold a NUL byte",
				        "expected a byte other than NUL, found \\x00");
			g_string_append_c(r->scratch, byte);
			i += 2;
		} else {
			return text_refuse(r, "the escapes of a string are \\\" \\\\ \\n \\xHH",
			                   "expected an escape, found \\%c", e);
		}
	}
	return true;
}

/* A decimal integer: its sign and its digits without leading zeroes; false for others. */
static bool split_integer(struct span s, bool *negative, struct span *digits)
{
	*negative = s.length && *s.at == '-';
	*digits = part(s, *negative ? 1 : 0, s.length);
	if (digits->length == 0)
		return false;
	for (size_t i = 0; i < digits->length; i++)
		if (!g_ascii_isdigit(digits->at[i]))
			return false;
	while (digits->length > 1 && *digits->at == '0')
		*digits = part(*digits, 1, digits->length);
	return true;
}

bool text_integer(struct span s, int64_t *integer)
{
	bool negative;
	struct span digits;
	uint64_t magnitude = 0;
	if (!split_integer(s, &negative, &digits) || digits.length > 19)
		return false;
	for (size_t i = 0; i < digits.length; i++)
		magnitude = magnitude * 10 + (uint64_t)(digits.at[i] - '0');
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*integer = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return true;
}

/* Integers beyond 64 bits are compared by their digits. */
static uint32_t big_integer(struct reader *r, bool negative, struct span digits)
{
	g_string_truncate(r->scratch, 0);
	if (negative)
		g_string_append_c(r->scratch, '-');
	g_string_append_len(r->scratch, digits.at, (gssize)digits.length);
	return builder_value(r->b, V_TOKEN, r->scratch->str, r->scratch->len);
}

bool text_value(struct reader *r, struct span s, uint32_t *value)
{
	int64_t integer;
	bool negative;
	struct span digits;
	s = trimmed(s);
	if (s.length == 0)
		return text_refuse(r, "write nil for no value",
		                   "expected a value, found nothing");
	if (*s.at == '"') {
		if (text_after_quote(s, 0) != s.length)
			return text_refuse(r, "strings end in a double quote",
			                   "expected one string, found %.*s", SHOW(s));
		if (!unquote(r, s))
			return false;
		*value = builder_value(r->b, V_STRING, r->scratch->str, r->scratch->len);
	} else if (text_integer(s, &integer)) {
		*value = builder_integer(r->b, integer);
	} else if (split_integer(s, &negative, &digits)) {
		*value = big_integer(r, negative, digits);
	} else {
		enum value_kind kind = span_is(s, "nil")     ? V_NIL
		                       : span_is(s, "true")  ? V_TRUE
		                       : span_is(s, "false") ? V_FALSE
		                                             : V_TOKEN;
		*value = builder_value(r->b, kind, s.at, s.length);
	}
	return true;
}

/* Values split at commas, appended to r->arguments. */
bool text_values(struct reader *r, struct span s)
{
	for (size_t from = 0;;) {
		size_t to = text_find(s, from, MARK_COMMA);
		uint32_t value;
		if (!text_value(r, part(s, from, to), &value))
			return false;
		g_array_append_val(r->arguments, value);
		if (to == s.length)
			return true;
		from = to + 1;
	}
}

/* Names split at commas as tokens, into a list value. */
bool text_tokens(struct reader *r, struct span s, bool any, uint32_t *list)
{
	g_array_set_size(r->arguments, 0);
	for (size_t from = 0; any;) {
		size_t to = text_find(s, from, MARK_COMMA);
		struct span name = trimmed(part(s, from, to));
		if (name.length == 0)
			return text_refuse(r, "separate names by single commas",
			                   "expected a name, found nothing");
		uint32_t value = builder_value(r->b, V_TOKEN, name.at, name.length);
		g_array_append_val(r->arguments, value);
		if (to == s.length)
			break;
		from = to + 1;
	}
	*list = builder_list(r->b, (uint32_t *)(void *)r->arguments->data, r->arguments->len);
	return true;
}
