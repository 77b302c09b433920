/*
 * spell.c - names and values as text; see spell.h.
 */
#include "engine/trace/text/spell.h"

#include <string.h>

/* The string of a name in the trace; not for variables. */
static uint32_t string_of(const struct trace *t, enum spelt kind, uint32_t index)
{
	switch (kind) {
	case SPELT_THREAD:
		return t->threads[index].name;
	case SPELT_OBJECT:
		return t->objects[index].name;
	case SPELT_MESSAGE:
		return t->messages[index];
	case SPELT_BLOCK:
		return t->blocks[index].name;
	case SPELT_INSTANCE:
		return t->instances[index].name;
	case SPELT_LOCATION:
		return t->locations[index].name;
	default:
		return index;
	}
}

static void append_text(const struct spelling *s, const char *text, GString *out)
{
	if (s->raw)
		g_string_append(out, text);
	else
		append_escaped(out, text, strlen(text));
}

const char *spell_own_name(const struct trace *t, enum spelt kind, uint32_t index)
{
	return kind == SPELT_VARIABLE ? trace_variable_name(t, index)
	                              : trace_string(t, string_of(t, kind, index));
}

const char *spell_name(const struct spelling *s, enum spelt kind, uint32_t index)
{
	char **other = s->other[kind];
	return other && other[index] ? other[index] : spell_own_name(s->t, kind, index);
}

void spell(const struct spelling *s, enum spelt kind, uint32_t index, GString *out)
{
	append_text(s, spell_name(s, kind, index), out);
}

/* Append a string that reads back as the same bytes and is safe to print: invalid UTF-8 and
 * control characters become \xHH. */
void trace_append_string(const char *text, GString *out)
{
	const char *end = text + strlen(text);
	g_string_append_c(out, '"');
	for (const char *next; text < end; text = next) {
		next = text + 1;
		if (*text == '"' || *text == '\\') {
			g_string_append_printf(out, "\\%c", *text);
		} else if (*text == '\n') {
			g_string_append(out, "\\n");
		} else {
			if (g_utf8_get_char_validated(text, end - text) < 0x110000)
				next = g_utf8_next_char(text);
			append_escaped(out, text, (size_t)(next - text));
		}
	}
	g_string_append_c(out, '"');
}

void spell_list(const struct spelling *s, const uint32_t *values, uint32_t count, GString *out)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			g_string_append_c(out, ',');
		spell_value(s, values[i], out);
	}
}

static const char *spelt_token(const struct spelling *s, const char *text)
{
	const char *other = s->tokens ? g_hash_table_lookup(s->tokens, text) : NULL;
	return other ? other : text;
}

void spell_value(const struct spelling *s, uint32_t value, GString *out)
{
	const struct value v = trace_value(s->t, value);
	switch ((enum value_kind)v.kind) {
	case V_NONE:
		break;
	case V_NIL:
		g_string_append(out, "nil");
		break;
	case V_FALSE:
		g_string_append(out, "false");
		break;
	case V_TRUE:
		g_string_append(out, "true");
		break;
	case V_INT:
		g_string_append_printf(out, "%" G_GINT64_FORMAT, v.integer);
		break;
	case V_STRING:
		trace_append_string(trace_string(s->t, v.string), out);
		break;
	case V_TOKEN:
		append_text(s, spelt_token(s, trace_string(s->t, v.string)), out);
		break;
	case V_PAIR:
		spell_value(s, v.first, out);
		g_string_append_c(out, '>');
		spell_value(s, v.second, out);
		break;
	case V_LIST:
		spell_list(s, s->t->value_lists + v.first, v.count, out);
		break;
	}
}

struct spelling spelling_for_people(const struct trace *t)
{
	return (struct spelling){ .t = t };
}

void trace_append_variable(const struct trace *t, const struct event *e, GString *out)
{
	struct spelling s = spelling_for_people(t);
	spell(&s, SPELT_VARIABLE, event_variables(t, e).first, out);
}

void trace_append_value(const struct trace *t, uint32_t value, GString *out)
{
	struct spelling s = spelling_for_people(t);
	spell_value(&s, value, out);
}
