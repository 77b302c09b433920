/*
 * import_calls.c - invocations (LOG_CALL, LOG_RET): their objects, and arguments and results,
 * which the log has in the format of text traces.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/record/import/import_private.h"

/* An object by its type and address: a different one in each block, and after a call that
 * makes one. */
struct specified {
	uint64_t self;
	uint32_t type,
	        block; /* type: a string of the builder; block: NONE outside of the heap */
	uint32_t instance;
};

static guint instance_hash(gconstpointer key)
{
	const struct specified *i = key;
	return (guint)(hash_word(i->self + i->type) >> 32) ^ i->block;
}

static gboolean instance_equal(gconstpointer a, gconstpointer b)
{
	const struct specified *x = a, *y = b;
	return x->self == y->self && x->type == y->type && x->block == y->block;
}

GHashTable *import_instances_new(void)
{
	return g_hash_table_new_full(instance_hash, instance_equal, g_free, NULL);
}

/* Names the object by its type and a number: a small one is the program's (fd3), else objects
 * of the type are counted; further objects of one number are counted, too (fd3#2). */
static uint32_t name_instance(struct import *im, const char *type, const struct specified *key)
{
	bool small = key->self < 65536;
	g_autofree char *counter =
	        small ? g_strdup_printf("%s%" PRIu64, type, key->self) : g_strdup(type);
	uint32_t count =
	        GPOINTER_TO_UINT(g_hash_table_lookup(im->instance_counts, counter)) + 1;
	g_autofree char *name = !small      ? g_strdup_printf("%s%u", counter, count)
	                        : count > 1 ? g_strdup_printf("%s#%u", counter, count)
	                                    : g_strdup(counter);
	uint32_t instance = builder_instance(im->b, name, strlen(name));
	builder_instance_type(im->b, instance, key->type);
	builder_instance_address(im->b, instance,
	                         small ? key->self : import_address(im, key->self));
	g_hash_table_insert(im->instance_counts, g_steal_pointer(&counter),
	                    GUINT_TO_POINTER(count));
	return instance;
}

static uint32_t instance_of(struct import *im, const char *type, uint64_t self, bool made)
{
	const struct block_life *life = self < 65536 ? NULL : import_life(im, self);
	struct specified key = { .self = self,
		                 .type = builder_string(im->b, type, strlen(type)),
		                 .block = life ? life->block : NONE };
	struct specified *known = g_hash_table_lookup(im->instances, &key);
	if (known && !made)
		return known->instance;
	if (!known) {
		known = g_memdup2(&key, sizeof(key));
		g_hash_table_add(im->instances, known);
	}
	known->instance = name_instance(im, type, &key);
	return known->instance;
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

/* An integer of at most 18 digits, as most values are. */
static bool integer_of(const char *text, size_t length, int64_t *n)
{
	size_t at = length > 0 && text[0] == '-';
	if (at == length || length > 18)
		return false;
	*n = 0;
	for (size_t i = at; i < length; i++) {
		if (!g_ascii_isdigit(text[i]))
			return false;
		*n = 10 * *n + (text[i] - '0');
	}
	*n = at ? -*n : *n;
	return true;
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
	const char *start = *at;
	size_t length = strcspn(start, ",");
	int64_t n;
	*at += length;
	if (integer_of(start, length, &n))
		return builder_integer(im->b, (int64_t)import_value(im, (uint64_t)n));
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strlen(words[i].word) == length &&
		    memcmp(start, words[i].word, length) == 0)
			return builder_value(im->b, words[i].kind, start, length);
	errno = 0;
	char *end;
	n = g_ascii_strtoll(start, &end, 10);
	if (length > 0 && end == start + length && errno == 0)
		return builder_integer(im->b, (int64_t)import_value(im, (uint64_t)n));
	g_autofree char *valid = g_utf8_make_valid(start, (gssize)length);
	return builder_value(im->b, V_TOKEN, valid, strlen(valid));
}

static void values_of(struct import *im, const char *text)
{
	g_array_set_size(im->values, 0);
	while (*text) {
		uint32_t value = one_value(im, &text);
		g_array_append_val(im->values, value);
		text += *text == ',';
	}
}

void import_invocation(struct import *im, struct lane *lane, enum log_tag tag, unsigned flags,
                       uint64_t pc, const uint64_t *w)
{
	char *text =
	        im->invocation; /* ends with three NULs, so each of its parts ends with one */
	if (w[2] + 3 > sizeof(im->invocation))
		text = g_malloc(w[2] + 3);
	memcpy(text, w + 3, w[2]);
	memset(text + w[2], 0, 3);
	const char *type = text, *method = type + strlen(type) + 1;
	const char *list = method < text + w[2] ? method + strlen(method) + 1 : method;
	values_of(im, list < text + w[2] ? list : "");
	const uint32_t *v = (const uint32_t *)im->values->data;
	uint32_t count = im->values->len;
	struct event e = { .op = tag == LOG_CALL ? OP_CALL : OP_RET,
		           .target = instance_of(im, type, w[1], flags & LOG_MADE),
		           .flags = tag == LOG_RET && flags & LOG_LEFT ? EVENT_LEFT : 0,
		           .location = import_location(im, pc) };
	e.aux = builder_invocation(im->b, builder_string(im->b, method, strlen(method)), v,
	                           tag == LOG_CALL ? count : 0, v, tag == LOG_CALL ? 0 : count);
	if (text != im->invocation)
		g_free(text);
	import_event(im, lane, e);
}
