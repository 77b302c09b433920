/*
 * late.c - tokens of a missing call's list whose names are known only at the end of a
 * recording. Until then they are ordinary values with unique texts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/trace/builder/builder_private.h"

uint32_t builder_late(struct builder *b, struct late late)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "\1%d %" PRIx64 " %" PRIx64, late.kind, late.at,
	                 late.bytes);
	uint32_t value = builder_value(b, V_TOKEN, text, (size_t)n);
	if (b->lates == NULL) {
		b->lates = g_array_new(FALSE, FALSE, sizeof(struct late));
		b->late_keys = g_hash_table_new(NULL, NULL);
	}
	if (!g_hash_table_contains(b->late_keys, GUINT_TO_POINTER(value))) {
		g_array_append_val(b->lates, late);
		g_hash_table_insert(b->late_keys, GUINT_TO_POINTER(value),
		                    GUINT_TO_POINTER(b->lates->len));
	}
	return value;
}

struct spelling {
	struct builder *b;
	GHashTable *tokens; /* text -> value + 1; keys owned */
	GString **names;    /* by late, owned: names from the namer */
	GArray **of;        /* by late, owned: its values (uint32_t) */
};

static uint32_t token_of(struct spelling *s, const char *text)
{
	struct builder *b = s->b;
	gpointer found = g_hash_table_lookup(s->tokens, text);
	if (found == NULL) {
		struct value v = { .kind = V_TOKEN };
		v.string = builder_append_string(b, text, strlen(text));
		*(struct value *)column_push(&b->values_array) = v;
		found = GUINT_TO_POINTER((guint)b->values_array.count);
		g_hash_table_insert(s->tokens, g_strdup(text), found);
	}
	return GPOINTER_TO_UINT(found) - 1;
}

static GArray *tokens_of(struct spelling *s, const GString *names)
{
	GArray *values = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (gsize at = 0; at < names->len; at += strlen(names->str + at) + 1) {
		uint32_t value = token_of(s, names->str + at);
		g_array_append_val(values, value);
	}
	return values;
}

/* Rewrite list `value` with late tokens resolved, each value once. */
static void spell_list(struct spelling *s, uint32_t value, GHashTable *seen)
{
	struct builder *b = s->b;
	struct value list = *AT(&b->values_array, struct value, value);
	g_autoptr(GArray) spelt = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	bool any = false;
	g_hash_table_remove_all(seen);
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t v = *AT(b->value_lists, uint32_t, list.first + i);
		guint late = GPOINTER_TO_UINT(
		        g_hash_table_lookup(b->late_keys, GUINT_TO_POINTER(v)));
		const GArray *values = late ? s->of[late - 1] : NULL;
		any |= late > 0;
		for (guint k = 0; k < (late ? values->len : 1); k++) {
			uint32_t one = late ? *AT(values, uint32_t, k) : v;
			if (g_hash_table_add(seen, GUINT_TO_POINTER(one)))
				g_array_append_val(spelt, one);
		}
	}
	if (any) {
		list.first = b->value_lists->len;
		list.count = spelt->len;
		g_array_append_vals(b->value_lists, spelt->data, spelt->len);
		*AT(&b->values_array, struct value, value) = list;
	}
}

/* Request all names before adding any, since `view` borrows tables that move. */
static void ask(struct spelling *s, const struct trace *view)
{
	const struct namer *n = s->b->namer;
	for (guint i = 0; i < s->b->lates->len; i++) {
		s->names[i] = g_string_new(NULL);
		if (n != NULL && n->late != NULL)
			n->late(n->context, view, *AT(s->b->lates, struct late, i),
			        s->names[i]);
	}
	for (guint i = 0; i < s->b->lates->len; i++)
		s->of[i] = tokens_of(s, s->names[i]);
}

void builder_settle_late(struct builder *b, const struct trace *view)
{
	if (b->lates == NULL)
		return;
	struct spelling s = { .b = b,
		              .tokens = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
		                                              NULL),
		              .names = g_new0(GString *, b->lates->len),
		              .of = g_new0(GArray *, b->lates->len) };
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	ask(&s, view);
	for (guint i = 0, n = (guint)b->values_array.count; i < n; i++)
		if (AT(&b->values_array, struct value, i)->kind == V_LIST)
			spell_list(&s, i, seen);
	for (guint i = 0; i < b->lates->len; i++) {
		g_string_free(s.names[i], TRUE);
		g_array_free(s.of[i], TRUE);
	}
	g_free(s.names);
	g_free(s.of);
	g_hash_table_destroy(s.tokens);
}
