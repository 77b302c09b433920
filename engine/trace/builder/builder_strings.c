/*
 * builder_strings.c - interned strings, and tables of named items: threads, objects, messages,
 * instances. Several look-ups for each line of text: an open-addressed table on the first bytes
 * of strings, so that most touch one cache line.
 */
#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/trace/builder/builder_private.h"

void builder_table_grow(struct table *h, uint64_t (*hash)(const void *, uint32_t),
                        const void *of)
{
	uint32_t size = h->slots ? 2 * (h->mask + 1) : 64;
	uint32_t *old = h->slots, old_size = h->slots ? h->mask + 1 : 0;
	h->slots = scattered_new0(uint32_t, size);
	h->mask = size - 1;
	for (uint32_t i = 0; i < old_size; i++) {
		if (old[i] == 0)
			continue;
		uint32_t at = hash(of, old[i] - 1) & h->mask;
		while (h->slots[at])
			at = (at + 1) & h->mask;
		h->slots[at] = old[i];
	}
	g_free(old);
}

const char *builder_string_at(const struct builder *b, uint32_t string, size_t *length)
{
	uint32_t from = *AT(b->string_offsets, uint32_t, string);
	uint32_t to = *AT(b->string_offsets, uint32_t, string + 1);
	*length = to - from - 1;
	return b->string_bytes->data + from;
}

const char *builder_text(const struct builder *b, uint32_t string)
{
	size_t length;
	return builder_string_at(b, string, &length);
}

/* The bytes of a string of up to 16, or a hash of a longer one; for equal lengths up to 16,
 * equal keys mean equal strings. */
static inline void key_of(const char *text, size_t length, struct string_slot *key)
{
	uint32_t a, b;
	key->length = (uint32_t)length;
	key->high = 0;
	if (length > 16) {
		key->low = hash_bytes(text, length);
	} else if (length >= 8) {
		memcpy(&key->low, text, 8);
		memcpy(&key->high, text + length - 8, 8);
	} else if (length >= 4) {
		memcpy(&a, text, 4);
		memcpy(&b, text + length - 4, 4);
		key->low = (uint64_t)b << 32 | a;
	} else {
		key->low = 0;
		for (size_t i = 0; i < length; i++)
			key->low = key->low << 8 | (unsigned char)text[i];
	}
}

static inline uint32_t key_slot(const struct string_slot *key, uint32_t mask)
{
	return mix(key->low ^ hash_word(key->high) ^ key->length) & mask;
}

static inline uint32_t string_probe(const struct builder *b, const char *text,
                                    const struct string_slot *key, uint32_t *at)
{
	uint32_t slot = key_slot(key, b->strings_mask);
	for (; b->strings[slot].string; slot = (slot + 1) & b->strings_mask) {
		const struct string_slot *s = &b->strings[slot];
		if (s->low != key->low || s->high != key->high || s->length != key->length)
			continue;
		size_t length;
		uint32_t string = s->string - 1;
		if (key->length <= 16 ||
		    memcmp(builder_string_at(b, string, &length), text, key->length) == 0)
			return string;
	}
	*at = slot;
	return NONE;
}

uint32_t builder_string_find(const struct builder *b, const char *text, size_t length)
{
	struct string_slot key;
	uint32_t slot;
	key_of(text, length, &key);
	return string_probe(b, text, &key, &slot);
}

static void strings_grow(struct builder *b)
{
	uint32_t old_size = b->strings ? b->strings_mask + 1 : 0, size = MAX(2 * old_size, 256);
	struct string_slot *old = b->strings;
	b->strings = g_new0(struct string_slot, size);
	b->strings_mask = size - 1;
	for (uint32_t i = 0; i < old_size; i++) {
		if (old[i].string == 0)
			continue;
		uint32_t slot = key_slot(&old[i], b->strings_mask);
		while (b->strings[slot].string)
			slot = (slot + 1) & b->strings_mask;
		b->strings[slot] = old[i];
	}
	g_free(old);
}

/* Append a string, even if it exists. */
uint32_t builder_append_string(struct builder *b, const char *text, size_t length)
{
	if (b->string_bytes->len + length >= NONE - 1 ||
	    b->string_offsets->len > NAME_BY_RULE) {
		if (b->failure == NULL)
			b->failure = g_strdup("its names take more than 4 GB");
		return 0;
	}
	/* The text may be in this table, which moves as it grows. */
	guint from = b->string_bytes->len;
	bool own = text >= b->string_bytes->data && text < b->string_bytes->data + from;
	size_t at = own ? (size_t)(text - b->string_bytes->data) : 0;
	g_array_set_size(b->string_bytes, from + (guint)length + 1);
	char *bytes = b->string_bytes->data;
	if (length)
		memcpy(bytes + from, own ? bytes + at : text, length);
	bytes[from + length] = '\0';
	uint32_t end = b->string_bytes->len;
	g_array_append_val(b->string_offsets, end);
	return b->string_offsets->len - 2;
}

/* Recorded names come from files of any encoding; a trace's are UTF-8. */
static uint32_t escaped_string(struct builder *b, const char *text, size_t length)
{
	g_autoptr(GString) name = g_string_new(NULL);
	append_escaped(name, text, length);
	return builder_string(b, name->str, name->len);
}

/* `bytes`: arbitrary contents; else a name in UTF-8. */
static uint32_t intern(struct builder *b, const char *text, size_t length, bool bytes)
{
	struct string_slot key;
	uint32_t slot = 0;
	uint32_t count = b->string_offsets->len - 1;
	if (b->strings == NULL || 2 * (count + 1) > b->strings_mask)
		strings_grow(b);
	key_of(text, length, &key);
	uint32_t found = string_probe(b, text, &key, &slot);
	if (found != NONE && !b->any_bytes)
		return found;
	if (!bytes && !g_utf8_validate(text, (gssize)length, NULL))
		return escaped_string(b, text, length);
	if (found != NONE)
		return found;
	BUG_ON(b->sealed);
	b->any_bytes |= bytes;
	builder_append_string(b, text, length);
	struct meaning m;
	memset(&m, 0xff, sizeof m);
	m.size = 0;
	g_array_append_val(b->meanings, m);
	key.string = count + 1;
	b->strings[slot] = key;
	return count;
}

uint32_t builder_string(struct builder *b, const char *text, size_t length)
{
	return intern(b, text, length, false);
}

uint32_t builder_bytes(struct builder *b, const char *text, size_t length)
{
	return intern(b, text, length, !g_utf8_validate(text, (gssize)length, NULL));
}

/* The body of a function from a name to its index in the table `array`; a new name is added as
 * `init`. `member` of struct meaning keeps the index. */
#define NAMED(member, array, type, init) \
	uint32_t string = builder_string(b, name, length); \
	struct meaning *m = builder_meaning(b, string); \
	if (m->member == NONE) { \
		type item = init; \
		m->member = b->array->len; \
		g_array_append_val(b->array, item); \
	} \
	return m->member

void builder_more_states(struct builder *b, uint32_t thread)
{
	while (b->states->len <= thread) {
		struct thread_state s = { 0 };
		g_array_append_val(b->states, s);
	}
}

uint32_t builder_thread(struct builder *b, const char *name, size_t length)
{
	NAMED(thread, threads, struct thread,
	      ((struct thread){ string, NONE, NONE, NONE, NONE }));
}

uint32_t builder_object(struct builder *b, const char *name, size_t length)
{
	NAMED(object, objects, struct object,
	      ((struct object){ .name = string, .block = NONE }));
}

bool builder_is_object(const struct builder *b, const char *name, size_t length)
{
	uint32_t string = builder_string_find(b, name, length);

	return string != NONE && AT(b->meanings, struct meaning, string)->object != NONE;
}

bool builder_is_thread(const struct builder *b, const char *name, size_t length)
{
	uint32_t string = builder_string_find(b, name, length);

	return string != NONE && AT(b->meanings, struct meaning, string)->thread != NONE;
}

uint32_t builder_message(struct builder *b, const char *name, size_t length)
{
	NAMED(message, messages, uint32_t, string);
}

uint32_t builder_instance(struct builder *b, const char *name, size_t length)
{
	NAMED(instance, instances, struct instance, ((struct instance){ string, 0, 0 }));
}
