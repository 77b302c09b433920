/*
 * builder_values.c - interned values: integers that are not small, strings, tokens, old>new
 * pairs, lists, and arguments and results of invocations. Equal values have equal indices.
 */
#include "engine/base/scattered.h"
#include "engine/trace/builder/builder_private.h"

static uint64_t value_hash_of(const struct value *v)
{
	return mix((uint64_t)v->integer ^ (uint64_t)v->kind << 56 ^ (uint64_t)v->count << 40);
}

static uint64_t value_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	return value_hash_of(AT(&b->values_array, struct value, i));
}

static uint32_t value_new(struct builder *b, struct value v)
{
	if (b->values_array.count >= VALUE_INTEGER) {
		if (b->failure == NULL)
			b->failure = g_strdup("too many values");
		return 0;
	}
	*(struct value *)column_push(&b->values_array) = v;
	return (uint32_t)b->values_array.count - 1;
}

static uint32_t value_intern(struct builder *b, struct value v)
{
	if (2 * (b->values.count + 1) > b->values.mask)
		builder_table_grow(&b->values, value_hash, b);
	uint32_t at = value_hash_of(&v) & b->values.mask;
	for (; b->values.slots[at]; at = (at + 1) & b->values.mask) {
		uint32_t i = b->values.slots[at] - 1;
		if (memcmp(AT(&b->values_array, struct value, i), &v, sizeof v) == 0)
			return i;
	}
	uint32_t index = value_new(b, v);
	b->values.slots[at] = index + 1;
	b->values.count++;
	return index;
}

static struct integer_slot *integer_find(const struct integers *t, int64_t integer)
{
	uint64_t at = integer_slot(t, integer);
	while (t->slots[at].value && t->slots[at].integer != integer)
		at = (at + 1) & t->mask;
	return &t->slots[at];
}

static void integers_resize(struct integers *t, uint64_t size)
{
	struct integers old = *t;
	t->slots = scattered_new0(struct integer_slot, size);
	t->mask = size - 1;
	t->shift = 66 - (unsigned)__builtin_ctzll(size);
	for (uint64_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value)
			*integer_find(t, old.slots[i].integer) = old.slots[i];
	g_free(old.slots);
}

void builder_begin_integers(struct builder *b)
{
	enum { FIRST = 1024 };
	integers_resize(&b->integers, FIRST);
}

static uint32_t integer_far(struct builder *b, int64_t integer)
{
	struct integers *t = &b->integers;
	struct integer_slot *slot = integer_find(t, integer);
	if (slot->value)
		return slot->value - 1;
	if (4 * (t->count + 1) > 3 * t->mask) {
		integers_resize(t, 2 * (t->mask + 1));
		slot = integer_find(t, integer);
	}
	uint32_t index = value_new(b, (struct value){ .kind = V_INT, .integer = integer });
	t->count++;
	*slot = (struct integer_slot){ integer, index + 1 };
	return index;
}

uint32_t builder_integer(struct builder *b, int64_t integer)
{
	if (!builder_is_interned(integer))
		return VALUE_INTEGER | (uint32_t)integer;
	const struct integer_slot *s = &b->integers.slots[integer_slot(&b->integers, integer)];
	return s->value && s->integer == integer ? s->value - 1 : integer_far(b, integer);
}

uint32_t builder_value(struct builder *b, enum value_kind kind, const char *text, size_t length)
{
	struct value v = { .kind = kind };
	if (kind == V_STRING)
		v.string = builder_bytes(b, text, length);
	else if (kind == V_TOKEN)
		v.string = builder_string(b, text, length);
	return value_intern(b, v);
}

uint32_t builder_pair(struct builder *b, uint32_t old_value, uint32_t new_value)
{
	struct value v = { .kind = V_PAIR };
	v.first = old_value;
	v.second = new_value;
	return value_intern(b, v);
}

static uint64_t list_hash_of(const uint32_t *items, uint32_t count)
{
	return hash_bytes((const char *)items, count * sizeof *items);
}

static uint64_t list_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	const struct value *v = AT(&b->values_array, struct value, i);
	return list_hash_of(AT(b->value_lists, uint32_t, v->first), v->count);
}

uint32_t builder_list(struct builder *b, const uint32_t *values, uint32_t count)
{
	if (2 * (b->lists_table.count + 1) > b->lists_table.mask)
		builder_table_grow(&b->lists_table, list_hash, b);
	uint32_t at = list_hash_of(values, count) & b->lists_table.mask;
	for (; b->lists_table.slots[at]; at = (at + 1) & b->lists_table.mask) {
		const struct value *v =
		        AT(&b->values_array, struct value, b->lists_table.slots[at] - 1);
		if (v->count == count &&
		    (count == 0 || memcmp(b->value_lists->data + 4 * (size_t)v->first, values,
		                          count * sizeof *values) == 0))
			return b->lists_table.slots[at] - 1;
	}
	struct value v = { .kind = V_LIST, .count = count };
	v.first = b->value_lists->len;
	g_array_append_vals(b->value_lists, values, count);
	uint32_t index = value_intern(b, v);
	b->lists_table.slots[at] = index + 1;
	b->lists_table.count++;
	return index;
}

uint32_t builder_invocation(struct builder *b, uint32_t method, const uint32_t *arguments,
                            uint32_t argument_count, const uint32_t *results,
                            uint32_t result_count)
{
	struct invocation_part p = { .method = method,
		                     .arguments = (uint16_t)argument_count,
		                     .results = (uint16_t)result_count,
		                     .values = b->value_lists->len };
	g_array_append_vals(b->value_lists, arguments, argument_count);
	g_array_append_vals(b->value_lists, results, result_count);
	g_array_append_val(b->invocations, p);
	return b->invocations->len - 1;
}
