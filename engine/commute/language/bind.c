/*
 * bind.c - prototypes of bind lines: the role of each parameter of a C function (the object, or
 * an argument or result of the method) and the type of its value in a trace.
 */
#include "engine/commute/language/spec.h"

#include <string.h>

static const struct {
	const char *words;
	enum bind_type type;
	uint32_t size;
} scalar_types[] = {
	{ "void", BIND_VOID, 0 },
	{ "bool", BIND_BOOL, 1 },
	{ "_Bool", BIND_BOOL, 1 },
	{ "gboolean", BIND_BOOL, 4 },
	{ "char", BIND_SIGNED, 1 },
	{ "signed char", BIND_SIGNED, 1 },
	{ "unsigned char", BIND_UNSIGNED, 1 },
	{ "short", BIND_SIGNED, 2 },
	{ "unsigned short", BIND_UNSIGNED, 2 },
	{ "int", BIND_SIGNED, 4 },
	{ "unsigned", BIND_UNSIGNED, 4 },
	{ "unsigned int", BIND_UNSIGNED, 4 },
	{ "long", BIND_SIGNED, 8 },
	{ "unsigned long", BIND_UNSIGNED, 8 },
	{ "long long", BIND_SIGNED, 8 },
	{ "unsigned long long", BIND_UNSIGNED, 8 },
	{ "int8_t", BIND_SIGNED, 1 },
	{ "uint8_t", BIND_UNSIGNED, 1 },
	{ "int16_t", BIND_SIGNED, 2 },
	{ "uint16_t", BIND_UNSIGNED, 2 },
	{ "int32_t", BIND_SIGNED, 4 },
	{ "uint32_t", BIND_UNSIGNED, 4 },
	{ "int64_t", BIND_SIGNED, 8 },
	{ "uint64_t", BIND_UNSIGNED, 8 },
	{ "size_t", BIND_UNSIGNED, 8 },
	{ "ssize_t", BIND_SIGNED, 8 },
	{ "off_t", BIND_SIGNED, 8 },
	{ "intptr_t", BIND_SIGNED, 8 },
	{ "uintptr_t", BIND_UNSIGNED, 8 },
	{ "mode_t", BIND_UNSIGNED, 4 },
	{ "pid_t", BIND_SIGNED, 4 },
	{ "socklen_t", BIND_UNSIGNED, 4 },
	{ "gsize", BIND_UNSIGNED, 8 },
	{ "guint", BIND_UNSIGNED, 4 },
	{ "gint", BIND_SIGNED, 4 },
	{ "guint32", BIND_UNSIGNED, 4 },
	{ "gint64", BIND_SIGNED, 8 },
	{ "guint64", BIND_UNSIGNED, 8 },
	{ "gpointer", BIND_POINTER, 8 },
	{ "gconstpointer", BIND_POINTER, 8 },
};

static bool type_understood(struct bind_parameter *p, const char *type)
{
	g_auto(GStrv) words = g_strsplit_set(type, " \t\n", -1);
	g_autoptr(GString) plain = g_string_new(NULL);
	int stars = 0;
	bool known = true;
	for (char **w = words; *w; w++) {
		char *word = *w;
		if (*word == 0 || strcmp(word, "const") == 0 || strcmp(word, "volatile") == 0 ||
		    strcmp(word, "restrict") == 0)
			continue;
		if (strcmp(word, "*") == 0) {
			stars++;
			continue;
		}
		known &= stars == 0; /* a name after a star is not part of the type */
		if (plain->len > 0)
			g_string_append_c(plain, ' ');
		g_string_append(plain, word);
	}
	known &= stars > 0 && plain->len > 0;
	if (stars > 0) {
		p->type = stars == 1 && (strcmp(plain->str, "char") == 0 ||
		                         strcmp(plain->str, "gchar") == 0)
		                  ? BIND_STRING
		                  : BIND_POINTER;
		p->size = 8;
	}
	for (size_t i = 0; !known && stars == 0 && i < G_N_ELEMENTS(scalar_types); i++)
		if (strcmp(plain->str, scalar_types[i].words) == 0) {
			p->type = scalar_types[i].type;
			p->size = scalar_types[i].size;
			known = true;
		}
	if (!known && g_str_has_prefix(plain->str, "enum ")) {
		p->type = BIND_SIGNED;
		p->size = 4;
		known = true;
	}
	return known;
}

/* "const char *k" -> type and name. Stars are separated first. A lone word is a type; of
 * several, the last is the name, unless it is a star, or makes a type with the words before it
 * ("unsigned long"). */
static bool parse_parameter(struct bind_parameter *p, const char *text)
{
	GString *apart = g_string_new(NULL);
	for (const char *c = text; *c; c++)
		g_string_append_printf(apart, *c == '*' ? " %c " : "%c", *c);
	char *type = g_strstrip(g_string_free(apart, FALSE));
	char *blank = strrchr(type, ' ');
	bool named = blank != NULL && (g_ascii_isalpha(blank[1]) || blank[1] == '_') &&
	             !type_understood(p, type);
	if (named) {
		*blank = 0;
		p->name = g_strdup(blank + 1);
	}
	bool ok = type_understood(p, type);
	p->type_text = type;
	return ok;
}

static uint32_t name_find(const struct spec_method *m, const char *name, uint32_t from,
                          uint32_t to)
{
	for (uint32_t i = from; name != NULL && i < to; i++)
		if (strcmp(m->names[i], name) == 0)
			return i;
	return NONE;
}

/* `void **v` for a result v: its value is the pointed-to word when the function returns. */
static bool written_through(struct bind_parameter *p)
{
	char *star = strrchr(p->type_text, '*');
	if (star == NULL)
		return false;
	g_autofree char *type = g_strndup(p->type_text, (gsize)(star - p->type_text));
	return type_understood(p, type) && p->type != BIND_VOID;
}

/* Assign each parameter's role; false and *expected when a name of the method has no source. */
static bool assign_roles(const struct spec_method *m, struct spec_bind *b,
                         const char **expected)
{
	uint32_t total = m->arguments + m->results;
	g_autofree bool *found = g_new0(bool, total + 1);
	bool self = b->global, ok = true;
	for (guint i = 0; i < b->parameters->len; i++) {
		struct bind_parameter *p =
		        &g_array_index(b->parameters, struct bind_parameter, i);
		uint32_t at = name_find(m, p->name, 0, m->arguments);
		if (p->name != NULL && strcmp(p->name, "self") == 0) {
			p->role = BIND_SELF;
			self = true;
		} else if (at != NONE) {
			p->role = BIND_NAME;
			p->index = at;
			found[at] = true;
		} else if ((at = name_find(m, p->name, m->arguments, total)) != NONE) {
			if (!written_through(p)) {
				*expected = "a pointer to a type that is known where a "
				            "parameter is a result";
				ok = false;
			}
			p->role = BIND_OUT;
			p->index = at;
			found[at] = true;
		}
	}
	uint32_t at = name_find(m, b->result.name, m->arguments, total);
	if (at != NONE) {
		b->result.role = BIND_NAME;
		b->result.index = at;
		found[at] = true;
	} else if (b->result.name != NULL && strcmp(b->result.name, "self") == 0) {
		b->result.role = BIND_SELF; /* open() makes the object */
		self = true;
	} else if (b->result.name != NULL) {
		*expected = "the name of one of the method's results after '->'";
		ok = false;
	}
	if (ok && !self) {
		*expected = "a parameter named self (the object), or 'global self'";
		ok = false;
	}
	for (uint32_t i = 0; ok && i < total; i++)
		if (!found[i]) {
			*expected = i < m->arguments
			                    ? "a parameter for each argument of the method"
			                    : "a value for each result of the method";
			ok = false;
		}
	return ok;
}

static bool parse_parameters(struct spec_bind *b, const char *text, const char **expected)
{
	g_auto(GStrv) list = g_strsplit(text, ",", -1);
	bool ok = true;
	for (char **one = list; ok && *one; one++) {
		char *stripped = g_strstrip(*one);
		if (list[1] == NULL && (*stripped == 0 || strcmp(stripped, "void") == 0))
			break;
		if (strcmp(stripped, "...") == 0)
			break; /* a variadic tail is ignored */
		if (strcmp(stripped, "global self") == 0) {
			b->global = true;
			continue;
		}
		struct bind_parameter p = { 0 };
		ok = parse_parameter(&p, stripped);
		g_array_append_val(b->parameters, p);
		if (!ok)
			*expected = "a C type that is known (a pointer, an integer type, bool)";
	}
	return ok;
}

static void clear_parameter(void *parameter)
{
	struct bind_parameter *p = parameter;
	g_free(p->type_text);
	g_free(p->name);
}

static bool function_name(const char *name)
{
	if (!g_ascii_isalpha(*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!g_ascii_isalnum(*name) && *name != '_' && *name != ':')
			return false;
	return true;
}

struct spec_bind *spec_bind_parse(const struct spec_method *m, const char *text,
                                  const char **expected)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	struct spec_bind *b = g_new0(struct spec_bind, 1);
	b->text = g_strdup(text);
	b->parameters = g_array_new(FALSE, FALSE, sizeof(struct bind_parameter));
	g_array_set_clear_func(b->parameters, clear_parameter);
	*expected = NULL;
	if (open == NULL || close == NULL || close < open) {
		*expected = "parameters in parentheses";
	} else {
		b->function = g_strstrip(g_strndup(text, (gsize)(open - text)));
		g_autofree char *inner = g_strndup(open + 1, (gsize)(close - open - 1));
		g_autofree char *after = g_strstrip(g_strdup(close + 1));
		if (!function_name(b->function))
			*expected = "the name of a function before '('";
		else if (*after != 0 && !g_str_has_prefix(after, "->"))
			*expected = "'-> TYPE NAME' or nothing after the parameters";
		else if (parse_parameters(b, inner, expected)) {
			const char *result = *after ? after + 2 : "void";
			if (!parse_parameter(&b->result, result))
				*expected = "a C type that is known after '->'";
			else
				assign_roles(m, b, expected);
		}
	}
	if (*expected == NULL)
		return b;
	spec_bind_free(b);
	return NULL;
}
