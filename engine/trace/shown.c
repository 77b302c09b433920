/* shown.c - values as people write them; see shown.h. */
#include "engine/trace/shown.h"

#include <string.h>

void shown_pattern(const char *name, GString *pattern)
{
	for (const char *c = name; *c != '\0';) {
		size_t run = strcspn(c, "[#");
		bool bracket = c[run] == '[';
		g_string_append_len(pattern, c, (gssize)(run + bracket));
		c += run;
		c += *c != '\0';
		while (g_ascii_isdigit(*c))
			c++;
	}
}

/* The note of a pattern, "int acct[].balance"; "" when the trace has no such note. */
static const char *form_noted(const struct trace *t, const char *pattern)
{
	for (uint64_t i = 0; i < t->notes_count; i++) {
		const char *value = trace_string(t, t->notes[i].value);
		const char *space = strchr(value, ' ');
		if (strcmp(trace_string(t, t->notes[i].key), SHOWN_NOTE) == 0 &&
		    space != NULL && strcmp(space + 1, pattern) == 0)
			return value;
	}
	return "";
}

/* The form of a variable. In a trace's text a local variable is part of a stack:
 * "stack@main.main::mine". */
static const char *form_of(const struct trace *t, uint32_t variable)
{
	g_autoptr(GString) pattern = g_string_new(NULL);
	shown_pattern(trace_variable_name(t, variable), pattern);
	const char *dot =
	        strncmp(pattern->str, "stack@", 6) == 0 ? strchr(pattern->str, '.') : NULL;
	const char *found = form_noted(t, pattern->str);
	if (*found == '\0' && dot != NULL)
		found = form_noted(t, dot + 1);
	return found;
}

bool shown_has_form(const struct trace *t, uint32_t variable)
{
	return *form_of(t, variable) != '\0';
}

static int64_t extended(int64_t value, uint32_t size)
{
	unsigned unused = size > 0 && size < sizeof value ? 64 - 8 * size : 0;
	return (int64_t)((uint64_t)value << unused) >> unused;
}

struct enumerator {
	const char *name; /* in the form */
	size_t length;
	int64_t number;
};

/* The enumerator at `*at` of an enumeration's form, from its ':' on; moves `*at` behind it. */
static bool next_enumerator(const char **at, struct enumerator *e)
{
	if (*at == NULL || **at == ' ' || **at == '\0')
		return false;
	const char *equals = strchr(*at + 1, '=');
	char *end = NULL;
	e->name = *at + 1;
	e->number = equals ? g_ascii_strtoll(equals + 1, &end, 10) : 0;
	if (equals == NULL || end == equals + 1 || (*end != ',' && *end != ' '))
		return false;
	e->length = (size_t)(equals - e->name);
	*at = end;
	return true;
}

/* The name that an enumeration has for the value. */
static bool append_enumerator(const char *form, int64_t value, int64_t as_signed, GString *out)
{
	struct enumerator e;
	for (const char *at = strchr(form, ':'); next_enumerator(&at, &e);) {
		if (e.number != value && e.number != as_signed)
			continue;
		g_string_append_len(out, e.name, (gssize)e.length);
		return true;
	}
	return false;
}

bool shown_enumerator(const struct trace *t, const char *name, size_t length, int64_t *value)
{
	struct enumerator e;
	for (uint64_t i = 0; i < t->notes_count; i++) {
		const char *form = trace_string(t, t->notes[i].value);
		if (strcmp(trace_string(t, t->notes[i].key), SHOWN_NOTE) != 0 ||
		    !g_str_has_prefix(form, "enum:"))
			continue;
		for (const char *at = strchr(form, ':'); next_enumerator(&at, &e);) {
			if (e.length != length || memcmp(e.name, name, length) != 0)
				continue;
			*value = e.number;
			return true;
		}
	}
	return false;
}

static void append_character(int64_t value, GString *out)
{
	static const char letters[] = "0......abtnvfr";
	if (value >= 0 && value < (int64_t)sizeof letters - 1 && letters[value] != '.')
		g_string_append_printf(out, "'\\%c'", letters[value]);
	else if (value == '\'' || value == '\\')
		g_string_append_printf(out, "'\\%c'", (char)value);
	else if (value >= ' ' && value <= '~')
		g_string_append_printf(out, "'%c'", (char)value);
	else
		g_string_append_printf(out, "%" G_GINT64_FORMAT, value);
}

/* With as few digits as give the same number again: 0.1f is 0.1, not 0.100000001. */
static bool append_float(int64_t value, uint32_t size, GString *out)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
	float single = 0;
	double number;
	if (size == sizeof single) {
		uint32_t bits = (uint32_t)value;
		memcpy(&single, &bits, sizeof single);
		number = (double)single;
	} else if (size == sizeof number) {
		memcpy(&number, &value, sizeof number);
	} else {
		return false;
	}
	bool is_single = size == sizeof single;
	int digits = is_single ? 6 : 15, most = is_single ? 9 : 17;
	for (bool same = false; !same; digits++) {
		g_snprintf(format, sizeof format, "%%.%dg", digits);
		g_ascii_formatd(text, sizeof text, format, number);
		double back = g_ascii_strtod(text, NULL);
		same = digits == most || (is_single ? (float)back == single : back == number);
	}
	g_string_append(out, text);
	return true;
}

static void append_pointer(const struct trace *t, int64_t value, uint32_t event, GString *out)
{
	if (value == 0) {
		g_string_append(out, "NULL");
		return;
	}
	struct object_at at = { NONE, NONE };
	if (value > UINT16_MAX)
		at = trace_object_at(t, (uint64_t)value, event);
	const char *block = at.block != NONE ? trace_string(t, t->blocks[at.block].name) : "";
	const char *variable = at.variable != NONE ? trace_variable_name(t, at.variable) : "";
	if (*block ==
	    '*') { /* "*job": the pointer is job, not the address of its first member */
		append_escaped(out, block + 1, strlen(block + 1));
		return;
	}
	if (*variable) {
		g_string_append_c(out, '&');
		append_escaped(out, variable, strlen(variable));
		return;
	}
	g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", value);
}

static bool is_form(const char *form, const char *word)
{
	size_t length = strlen(word);
	return strncmp(form, word, length) == 0 && (form[length] == ' ' || form[length] == ':');
}

/* An operation on a channel, as the recorder packs it (LOG_CHANNEL_VALUE in record/layout.h):
 * which one, in the upper byte; the bytes of a write; a number. */
static void append_channel_value(uint64_t value, GString *out)
{
	static const char *const words[] = { NULL,
		                             "made",
		                             "copied",
		                             "closed",
		                             "asks to read",
		                             "asks to write",
		                             "asks for what is ready" };
	uint64_t op = value >> 56;
	if (op == 0 || op >= G_N_ELEMENTS(words))
		g_string_append_printf(out, "%d", (int32_t)value);
	else
		g_string_append(out, words[op]);
}

static void append_integer(const struct trace *t, uint32_t variable, int64_t value,
                           uint32_t event, GString *out)
{
	const char *form = variable != NONE ? form_of(t, variable) : "";
	uint32_t size = variable != NONE ? t->variables[variable].size : 0;
	int64_t as_signed = extended(value, size);
	if (is_form(form, "int"))
		g_string_append_printf(out, "%" G_GINT64_FORMAT, as_signed);
	else if (is_form(form, "uint") &&
	         (uint64_t)value >> 44 == 0) /* else probably an address */
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, (uint64_t)value);
	else if (is_form(form, "bool") && (value == 0 || value == 1))
		g_string_append(out, value ? "true" : "false");
	else if (is_form(form, "char"))
		append_character(as_signed, out);
	else if (is_form(form, "pointer"))
		append_pointer(t, value, event, out);
	else if (is_form(form, "channel"))
		append_channel_value((uint64_t)value, out);
	else if (is_form(form, "float") && append_float(value, size, out))
		return;
	else if (is_form(form, "enum") && append_enumerator(form, value, as_signed, out))
		return;
	else if (value > (int64_t)UINT32_MAX || is_form(form, "uint"))
		g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", value);
	else
		g_string_append_printf(out, "%" G_GINT64_FORMAT, value);
}

void shown_append(const struct trace *t, uint32_t variable, uint32_t value, uint32_t event,
                  GString *out)
{
	const struct value v = trace_value(t, value);
	if (v.kind == V_PAIR) {
		shown_append(t, variable, v.first, event, out);
		if (variable != NONE && is_form(form_of(t, variable), "channel"))
			return;
		g_string_append_c(out, '>');
		shown_append(t, variable, v.second, event, out);
	} else if (v.kind == V_INT) {
		append_integer(t, variable, v.integer, event, out);
	} else {
		trace_append_value(t, value, out);
	}
}

uint32_t shown_variable(const struct event *e)
{
	return op_is_access(e->op) && !(e->flags & EVENT_WIDE) ? e->target : NONE;
}
