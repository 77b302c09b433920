/* mi.c - see mi.h. */
#include "tui/dap/mi.h"

#include <string.h>

/* Bound on nested tuples and lists; gdb's own have fewer than ten. */
enum { DEEPEST = 200 };

json_t *json_bytes(const char *bytes, size_t length)
{
	char *valid = g_utf8_make_valid(bytes, (gssize)length);
	json_t *j = json_string(valid);
	g_free(valid);
	return j;
}

/* The byte of an escape whose backslash has been passed. */
static char unescape(const char **at)
{
	static const char letters[] = "abfnrtve", bytes[] = "\a\b\f\n\r\t\v\033";
	char c = *(*at)++;
	if (c >= '0' && c <= '7') {
		unsigned value = (unsigned)(c - '0');
		for (int i = 0; i < 2 && **at >= '0' && **at <= '7'; i++)
			value = 8 * value + (unsigned)(*(*at)++ - '0');
		return (char)value;
	}
	const char *letter = strchr(letters, c);
	return letter ? bytes[letter - letters] : c;
}

static json_t *parse_string(const char **at)
{
	GString *text = g_string_new(NULL);
	for (++*at; **at && **at != '"';) {
		char c = *(*at)++;
		if (c == '\\' && **at)
			c = unescape(at);
		g_string_append_c(text, c ? c : ' ');
	}
	json_t *j = **at == '"' ? json_bytes(text->str, text->len) : NULL;
	if (j)
		++*at;
	g_string_free(text, TRUE);
	return j;
}

static json_t *parse_value(const char **at, int depth);

/* Parses "NAME=VALUE"; NULL if malformed. */
static json_t *parse_result(const char **at, int depth, char **name)
{
	size_t length = strcspn(*at, "=,{}[]\"");
	if (length == 0 || (*at)[length] != '=')
		return NULL;
	*name = g_strndup(*at, length);
	*at += length + 1;
	json_t *value = parse_value(at, depth);
	if (!value)
		g_free(*name);
	return value;
}

/* Parses results up to `end`; false when they break off. */
static bool parse_results(const char **at, int depth, char end, json_t *object)
{
	while (**at != end) {
		char *name;
		json_t *value = parse_result(at, depth, &name);
		if (!value)
			return false;
		json_object_set_new(object, name, value);
		g_free(name);
		if (**at == ',')
			++*at;
		else if (**at != end)
			return false;
	}
	return true;
}

static bool parse_items(const char **at, int depth, json_t *array)
{
	while (**at != ']') {
		char *name = NULL;
		bool bare = strchr("\"{[", **at) != NULL;
		json_t *value = bare ? parse_value(at, depth) : parse_result(at, depth, &name);
		if (!value)
			return false;
		g_free(name);
		json_array_append_new(array, value);
		if (**at == ',')
			++*at;
		else if (**at != ']')
			return false;
	}
	return true;
}

static json_t *parse_value(const char **at, int depth)
{
	if (**at == '"')
		return parse_string(at);
	if ((**at != '{' && **at != '[') || depth >= DEEPEST)
		return NULL;
	bool tuple = *(*at)++ == '{';
	json_t *whole = tuple ? json_object() : json_array();
	if (tuple ? !parse_results(at, depth + 1, '}', whole)
	          : !parse_items(at, depth + 1, whole)) {
		json_decref(whole);
		return NULL;
	}
	++*at;
	return whole;
}

bool mi_parse(const char *line, struct mi_record *r)
{
	*r = (struct mi_record){ 0 };
	char *rest;
	r->token = g_ascii_strtoull(line, &rest, 10);
	const char *at = g_ascii_isdigit(*line) ? rest : line;
	if (*at == '\0' || !strchr("^*=~@&", *at))
		return false;
	r->kind = *at++;
	if (strchr("~@&", r->kind)) {
		r->body = *at == '"' ? parse_string(&at) : NULL;
		return r->body != NULL;
	}
	size_t length = strcspn(at, ",");
	r->word = g_strndup(at, length);
	at += length;
	r->body = json_object();
	return *at == '\0' || (++at, parse_results(&at, 0, '\0', r->body));
}

void mi_release(struct mi_record *r)
{
	g_free(r->word);
	json_decref(r->body);
	*r = (struct mi_record){ 0 };
}

void mi_append_quoted(GString *out, const char *text)
{
	g_string_append_c(out, '"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_printf(out, "\\%c", *c);
		else if (*c < ' ' || *c == 127)
			g_string_append_printf(out, "\\%03o", *c);
		else
			g_string_append_c(out, (char)*c);
	}
	g_string_append_c(out, '"');
}
