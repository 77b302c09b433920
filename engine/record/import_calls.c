/*
 * import_calls.c - invocations (LOG_CALL, LOG_RET): their objects, and arguments and results,
 * which the log has in the format of text traces.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "engine/record/import_private.h"

/* An object's name: type and number if small (fd3), else an ordinal. An address is a new object
 * in a new block, or after a call that makes one (fd3#2). */
static uint32_t instance_of(struct import *im, const char *type, uint64_t self, bool made)
{
	const struct block_life *life = self < 65536 ? NULL : import_life(im, self);
	g_autofree char *key =
	        g_strdup_printf("%s %" PRIx64 " %u", type, self, life ? life->block : NONE);
	g_autofree char *counter =
	        self < 65536 ? g_strdup_printf("%s%" PRIu64, type, self) : g_strdup(type);
	gpointer found = g_hash_table_lookup(im->instances, key);
	if (!found || made) {
		uint32_t count =
		        GPOINTER_TO_UINT(g_hash_table_lookup(im->instances, counter)) + 1;
		g_autofree char *name = self >= 65536 ? g_strdup_printf("%s%u", counter, count)
		                        : count > 1   ? g_strdup_printf("%s#%u", counter, count)
		                                      : g_strdup(counter);
		uint32_t instance = builder_instance(im->b, name, strlen(name));
		builder_instance_type(im->b, instance,
		                      builder_string(im->b, type, strlen(type)));
		builder_instance_address(im->b, instance,
		                         self < 65536 ? self : import_address(im, self));
		g_hash_table_insert(im->instances, g_strdup(counter), GUINT_TO_POINTER(count));
		found = GUINT_TO_POINTER(instance + 1);
		g_hash_table_insert(im->instances, g_strdup(key), found);
	}
	return GPOINTER_TO_UINT(found) - 1;
}

static int hex_digit(char c)
{
	return g_ascii_isxdigit(c) ? g_ascii_xdigit_value(c) : 0;
}

/* Parse a string up to its closing quote, unescaped; advances *at. */
static uint32_t string_value(struct import *im, const char **at)
{
	g_autoptr(GString) s = g_string_new(NULL);
	const char *c = *at + 1;
	for (; *c && *c != '"'; c++) {
		if (*c != '\\' || !c[1]) {
			g_string_append_c(s, *c);
		} else if (*++c == 'x' && c[1] && c[2]) {
			g_string_append_c(s, (char)(hex_digit(c[1]) * 16 + hex_digit(c[2])));
			c += 2;
		} else {
			g_string_append_c(s, *c == 'n' ? '\n' : *c);
		}
	}
	*at = *c ? c + 1 : c;
	return builder_value(im->b, V_STRING, s->str, s->len);
}

/* Parse a value of the text format; advances *at. */
static uint32_t one_value(struct import *im, const char **at)
{
	static const struct {
		const char *word;
		enum value_kind kind;
	} words[] = { { "nil", V_NIL }, { "false", V_FALSE }, { "true", V_TRUE } };
	if (**at == '"')
		return string_value(im, at);
	size_t length = strcspn(*at, ",");
	const char *start = *at;
	char *end;
	*at += length;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strlen(words[i].word) == length &&
		    memcmp(start, words[i].word, length) == 0)
			return builder_value(im->b, words[i].kind, start, length);
	errno = 0;
	gint64 n = g_ascii_strtoll(start, &end, 10);
	if (length > 0 && end == start + length && errno == 0)
		return builder_integer(im->b, (int64_t)import_value(im, (uint64_t)n));
	g_autofree char *valid = g_utf8_make_valid(start, (gssize)length);
	return builder_value(im->b, V_TOKEN, valid, strlen(valid));
}

static GArray *values_of(struct import *im, const char *text)
{
	GArray *values = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	while (*text) {
		uint32_t value = one_value(im, &text);
		g_array_append_val(values, value);
		text += *text == ',';
	}
	return values;
}

void import_invocation(struct import *im, struct lane *lane, enum log_tag tag, unsigned flags,
                       uint64_t pc, const uint64_t *w)
{
	g_autofree char *text = g_malloc0(w[2] + 3); /* NUL-terminated in any case */
	memcpy(text, w + 3, w[2]);
	const char *type = text, *method = type + strlen(type) + 1;
	const char *list = method < text + w[2] ? method + strlen(method) + 1 : method;
	g_autoptr(GArray) values = values_of(im, list < text + w[2] ? list : "");
	const uint32_t *v = (const uint32_t *)values->data;
	struct event e = { .op = tag == LOG_CALL ? OP_CALL : OP_RET,
		           .target = instance_of(im, type, w[1], flags & LOG_MADE),
		           .flags = tag == LOG_RET && flags & LOG_LEFT ? EVENT_LEFT : 0,
		           .location = import_location(im, pc) };
	e.aux = builder_invocation(im->b, builder_string(im->b, method, strlen(method)), v,
	                           tag == LOG_CALL ? values->len : 0, v,
	                           tag == LOG_CALL ? 0 : values->len);
	import_event(im, lane, e);
}
