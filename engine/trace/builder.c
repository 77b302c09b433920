/*
 * builder.c - makes a trace from events one after the other: interns, checks that the
 * trace is well-formed, and cuts memory into variables.
 *
 * Hash tables here are open addressing over integers: no allocation per event.
 */
#include "engine/trace/builder.h"
#include "engine/trace/storage.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* -- growing arrays and hash tables ------------------------------------------------------- */

#define ARRAY(type)        GArray *
#define AT(array, type, i) (&g_array_index(array, type, i))

/* A set of indexes; the caller compares and hashes what they stand for. */
struct table {
	uint32_t *slots; /* index + 1; 0: free */
	uint32_t mask, count;
};

static void table_grow(struct table *h, uint64_t (*hash)(const void *, uint32_t),
                       const void *of)
{
	uint32_t size = h->slots ? 2 * (h->mask + 1) : 64;
	uint32_t *old = h->slots, old_size = h->slots ? h->mask + 1 : 0;
	h->slots = g_new0(uint32_t, size);
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

static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static inline uint64_t hash_bytes(const char *text, size_t length)
{
	uint64_t h = length * UINT64_C(0x9e3779b97f4a7c15);
	while (length >= 8) {
		uint64_t word;
		memcpy(&word, text, 8);
		h = mix(h ^ word);
		text += 8;
		length -= 8;
	}
	uint64_t word = 0;
	if (length)
		memcpy(&word, text, length);
	return mix(h ^ word);
}

/* -- state ----------------------------------------------------------------------------------
 */

struct region {        /* a run of addresses: a named base in one block's life */
	uint32_t name; /* string */
	uint32_t block;
	uint64_t address; /* recordings */
};

struct spot {                  /* a place: what an access's target is until the end */
	uint32_t region, name; /* name: string as the text has it, 0: none */
	uint64_t offset;
	uint32_t size;
	uint32_t pad;
};

struct holder { /* of a lock in shared mode */
	uint32_t thread, count;
};

struct lock {
	uint32_t owner;  /* thread, NONE: nobody */
	uint32_t depth;  /* of the owner's acquires, in either mode */
	GArray *readers; /* struct holder; NULL: none ever */
};

struct scope { /* an open scope */
	uint32_t event;
	uint8_t op;
};

struct thread_state {
	GArray *scopes; /* struct scope */
	uint64_t first_line;
	uint32_t context;
	bool started, forked, ended, joined;
};

struct node { /* of the calling-context tree, with its key */
	uint32_t parent, function, call;
};

/* What strings stand for, by string id; NONE: nothing yet. */
struct meaning {
	uint32_t thread, object, message, instance, location;
	uint32_t block, first_block; /* its current life, its first */
	uint32_t spot, spot_at;      /* the place of size 0 ..., valid while spot_at == lives */
	uint32_t spot_size;
	uint32_t size; /* directive */
};

struct string_slot { /* of the hash table of strings; see key_of */
	uint64_t low, high;
	uint32_t string, length; /* string: index + 1; 0: free */
};

/* Interning finds most of what it looks for among the recent: one cache miss less each. */
#define RECENT 16384u /* a power of two */
struct recent_integer {
	int64_t integer;
	uint32_t value; /* plus one */
};
struct recent_spot {
	struct spot spot;
	uint32_t index; /* plus one */
};

struct builder {
	char *name;
	bool lenient;
	struct trace *t;
	GArray *string_bytes, *string_offsets, *meanings;
	struct string_slot *strings;
	uint32_t strings_mask;
	struct table values, lists_table, spots_table, regions_table, nodes, sites_table;
	GArray *events, *stacks, *values_array, *value_lists, *threads, *objects, *messages,
	        *blocks, *instances, *invocations, *locations, *sites, *contexts, *modules,
	        *atomic_sets, *notes;
	GArray *regions, *spots, *locks, *states;
	struct recent_integer *recent_integers;
	struct recent_spot *recent_spots;
	uint32_t lives; /* blocks made or named so far: place caches are valid between */
	bool any_scope; /* ENTER or LEAVE was seen: there are stacks */
	uint64_t dropped_releases, stolen_locks;
	const struct namer *namer;
	GPtrArray *warnings;
};

/* -- strings --------------------------------------------------------------------------------
 */

static const char *string_at(const struct builder *b, uint32_t string, size_t *length)
{
	uint32_t from = *AT(b->string_offsets, uint32_t, string);
	uint32_t to = *AT(b->string_offsets, uint32_t, string + 1);
	*length = to - from - 1;
	return b->string_bytes->data + from;
}

static const char *text_of(const struct builder *b, uint32_t string)
{
	size_t length;
	return string_at(b, string, &length);
}

/* The bytes of a string of up to 16, or a hash of a longer one: two strings of one length
 * up to 16 are the same when their keys are. */
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
	return mix(key->low ^ key->high * UINT64_C(0x9e3779b97f4a7c15) ^ key->length) & mask;
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
		    memcmp(string_at(b, string, &length), text, key->length) == 0)
			return string;
	}
	*at = slot;
	return NONE;
}

static uint32_t string_find(const struct builder *b, const char *text, size_t length)
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

uint32_t builder_string(struct builder *b, const char *text, size_t length)
{
	struct string_slot key;
	uint32_t slot = 0;
	uint32_t count = b->string_offsets->len - 1;
	if (b->strings == NULL || 2 * (count + 1) > b->strings_mask)
		strings_grow(b);
	key_of(text, length, &key);
	uint32_t found = string_probe(b, text, &key, &slot);
	if (found != NONE)
		return found;
	char nul = 0;
	/* The text may be a string of this table, which moves as it grows. */
	char *copy = length > 16 ? g_strndup(text, length) : NULL;
	char small[16];
	if (copy == NULL && length)
		memcpy(small, text, length);
	g_array_append_vals(b->string_bytes, copy ? copy : small, (guint)length);
	g_array_append_val(b->string_bytes, nul);
	g_free(copy);
	uint32_t end = b->string_bytes->len;
	g_array_append_val(b->string_offsets, end);
	struct meaning m;
	memset(&m, 0xff, sizeof m);
	m.size = 0;
	g_array_append_val(b->meanings, m);
	key.string = count + 1;
	b->strings[slot] = key;
	return count;
}

static inline struct meaning *meaning_of(struct builder *b, uint32_t string)
{
	return AT(b->meanings, struct meaning, string);
}

/* The index that a string has in one of the tables; `member` of its meaning. */
#define NAMED(member, array, type, init) \
	uint32_t string = builder_string(b, name, length); \
	struct meaning *m = meaning_of(b, string); \
	if (m->member == NONE) { \
		type item = init; \
		m->member = b->array->len; \
		g_array_append_val(b->array, item); \
	} \
	return m->member

static struct thread_state *state_of(struct builder *b, uint32_t thread)
{
	while (b->states->len <= thread) {
		struct thread_state s = { 0 };
		g_array_append_val(b->states, s);
	}
	return AT(b->states, struct thread_state, thread);
}

uint32_t builder_thread(struct builder *b, const char *name, size_t length)
{
	NAMED(thread, threads, struct thread, ((struct thread){ string, NONE, NONE, NONE }));
}

uint32_t builder_object(struct builder *b, const char *name, size_t length)
{
	NAMED(object, objects, struct object, ((struct object){ string, 0, 0 }));
}

uint32_t builder_message(struct builder *b, const char *name, size_t length)
{
	NAMED(message, messages, uint32_t, string);
}

uint32_t builder_instance(struct builder *b, const char *name, size_t length)
{
	NAMED(instance, instances, struct instance, ((struct instance){ string, 0 }));
}

/* -- locations ------------------------------------------------------------------------------
 */

/* "FILE:LINE" or "FILE:LINE:COL": cut from the back. */
static bool source_position(const char *text, size_t length, size_t *file, uint32_t numbers[2])
{
	int found = 0;
	size_t end = length;
	while (found < 2) {
		size_t from = end;
		while (from > 0 && g_ascii_isdigit(text[from - 1]))
			from--;
		if (from == end || end - from > 9 || from < 2 || text[from - 1] != ':')
			break;
		numbers[1] = numbers[0];
		numbers[0] = (uint32_t)strtoul(text + from, NULL, 10);
		end = from - 1;
		found++;
	}
	if (found < 2)
		numbers[1] = 0;
	*file = end;
	return found > 0;
}

static uint64_t site_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	return mix(*AT(b->sites, uint32_t, i));
}

static uint32_t site_of(struct builder *b, uint32_t string)
{
	if (2 * (b->sites_table.count + 1) > b->sites_table.mask)
		table_grow(&b->sites_table, site_hash, b);
	uint32_t at = mix(string) & b->sites_table.mask;
	for (; b->sites_table.slots[at]; at = (at + 1) & b->sites_table.mask)
		if (*AT(b->sites, uint32_t, b->sites_table.slots[at] - 1) == string)
			return b->sites_table.slots[at] - 1;
	g_array_append_val(b->sites, string);
	b->sites_table.slots[at] = b->sites->len;
	b->sites_table.count++;
	return b->sites->len - 1;
}

/* The site of a location: "FILE:LINE" without the column, as its name or its source says. */
static void location_site(struct builder *b, uint32_t location)
{
	struct location *l = AT(b->locations, struct location, location);
	uint32_t string = l->name, numbers[2] = { 0, 0 };
	size_t length, file;
	const char *name = string_at(b, l->name, &length);
	char *text = NULL;
	if (source_position(name, length, &file, numbers))
		text = g_strdup_printf("%.*s:%u", (int)file, name, numbers[0]);
	else if (l->file && l->line)
		text = g_strdup_printf("%s:%u", text_of(b, l->file), l->line);
	if (text)
		string = builder_string(b, text, strlen(text));
	g_free(text);
	AT(b->locations, struct location, location)->site = site_of(b, string);
}

uint32_t builder_location(struct builder *b, const char *name, size_t length)
{
	uint32_t string = builder_string(b, name, length);
	struct meaning *m = meaning_of(b, string);
	if (m->location != NONE)
		return m->location;
	uint32_t location = m->location = b->locations->len;
	struct location l = { .name = string, .module = NONE, .inlined = NONE };
	uint32_t numbers[2] = { 0, 0 };
	size_t file;
	if (source_position(name, length, &file, numbers)) {
		l.line = numbers[0];
		l.column = numbers[1];
		l.file = builder_string(b, name, file);
	}
	g_array_append_val(b->locations, l);
	location_site(b, location);
	return location;
}

void builder_source(struct builder *b, uint32_t location, const char *file, uint32_t line,
                    uint32_t column)
{
	uint32_t string = builder_string(b, file, strlen(file));
	struct location *l = AT(b->locations, struct location, location);
	l->file = string;
	l->line = line;
	l->column = column;
	location_site(b, location);
}

void builder_inlined(struct builder *b, uint32_t location, uint32_t function, uint32_t inlined)
{
	struct location *l = AT(b->locations, struct location, location);
	/* A place is known by its name alone, and in recursive templates of C++ one line may be
	 * inlined at another and the other way round: the first chain stays. */
	for (uint32_t at = inlined; at != NONE;
	     at = AT(b->locations, struct location, at)->inlined)
		if (at == location)
			return;
	l->function = function;
	l->inlined = inlined;
}

uint32_t builder_code(struct builder *b, uint32_t module, uint64_t address)
{
	char *name = module == NONE ? g_strdup_printf("0x%" G_GINT64_MODIFIER "x", address)
	                            : g_strdup_printf("module%u+0x%" G_GINT64_MODIFIER "x",
	                                              module, address);
	uint32_t location = builder_location(b, name, strlen(name));
	struct location *l = AT(b->locations, struct location, location);
	l->module = module;
	l->address = address;
	g_free(name);
	return location;
}

/* -- values ---------------------------------------------------------------------------------
 */

static uint64_t value_hash_of(const struct value *v)
{
	return mix((uint64_t)v->integer ^ (uint64_t)v->kind << 56 ^ (uint64_t)v->count << 40);
}

static uint64_t value_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	return value_hash_of(AT(b->values_array, struct value, i));
}

static uint32_t value_intern(struct builder *b, struct value v)
{
	if (2 * (b->values.count + 1) > b->values.mask)
		table_grow(&b->values, value_hash, b);
	uint32_t at = value_hash_of(&v) & b->values.mask;
	for (; b->values.slots[at]; at = (at + 1) & b->values.mask) {
		uint32_t i = b->values.slots[at] - 1;
		if (memcmp(AT(b->values_array, struct value, i), &v, sizeof v) == 0)
			return i;
	}
	g_array_append_val(b->values_array, v);
	b->values.slots[at] = b->values_array->len;
	b->values.count++;
	return b->values_array->len - 1;
}

uint32_t builder_integer(struct builder *b, int64_t integer)
{
	struct recent_integer *recent =
	        &b->recent_integers[mix((uint64_t)integer) & (RECENT - 1)];
	if (recent->value == 0 || recent->integer != integer) {
		recent->value =
		        value_intern(b, (struct value){ .kind = V_INT, .integer = integer }) +
		        1;
		recent->integer = integer;
	}
	return recent->value - 1;
}

uint32_t builder_value(struct builder *b, enum value_kind kind, const char *text, size_t length)
{
	struct value v = { .kind = kind };
	if (kind == V_STRING || kind == V_TOKEN)
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
	const struct value *v = AT(b->values_array, struct value, i);
	return list_hash_of(AT(b->value_lists, uint32_t, v->first), v->count);
}

uint32_t builder_list(struct builder *b, const uint32_t *values, uint32_t count)
{
	if (2 * (b->lists_table.count + 1) > b->lists_table.mask)
		table_grow(&b->lists_table, list_hash, b);
	uint32_t at = list_hash_of(values, count) & b->lists_table.mask;
	for (; b->lists_table.slots[at]; at = (at + 1) & b->lists_table.mask) {
		const struct value *v =
		        AT(b->values_array, struct value, b->lists_table.slots[at] - 1);
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

/* -- memory ---------------------------------------------------------------------------------
 */

static uint64_t region_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	const struct region *r = AT(b->regions, struct region, i);
	return mix((uint64_t)r->name << 32 ^ r->block);
}

static uint32_t region_intern(struct builder *b, uint32_t name, uint32_t block)
{
	if (2 * (b->regions_table.count + 1) > b->regions_table.mask)
		table_grow(&b->regions_table, region_hash, b);
	uint32_t at = mix((uint64_t)name << 32 ^ block) & b->regions_table.mask;
	for (; b->regions_table.slots[at]; at = (at + 1) & b->regions_table.mask) {
		uint32_t i = b->regions_table.slots[at] - 1;
		const struct region *r = AT(b->regions, struct region, i);
		if (r->name == name && r->block == block)
			return i;
	}
	struct region r = { .name = name, .block = block };
	g_array_append_val(b->regions, r);
	b->regions_table.slots[at] = b->regions->len;
	b->regions_table.count++;
	return b->regions->len - 1;
}

uint32_t builder_region(struct builder *b, const char *name, uint64_t address, uint64_t size,
                        uint32_t block)
{
	uint32_t region = region_intern(b, builder_string(b, name, strlen(name)), block);
	AT(b->regions, struct region, region)->address = address;
	return region;
}

static uint64_t spot_hash_of(const struct spot *s)
{
	return mix(mix((uint64_t)s->region << 32 ^ s->size) ^ s->offset);
}

static uint64_t spot_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	return spot_hash_of(AT(b->spots, struct spot, i));
}

static bool same_spot(const struct spot *a, const struct spot *b)
{
	return a->region == b->region && a->offset == b->offset && a->size == b->size;
}

static uint32_t spot_intern(struct builder *b, struct spot s)
{
	uint64_t hash = spot_hash_of(&s);
	struct recent_spot *recent = &b->recent_spots[hash & (RECENT - 1)];
	if (recent->index && same_spot(&recent->spot, &s))
		return recent->index - 1;
	recent->spot = s;
	if (2 * (b->spots_table.count + 1) > b->spots_table.mask)
		table_grow(&b->spots_table, spot_hash, b);
	uint32_t at = (uint32_t)hash & b->spots_table.mask;
	for (; b->spots_table.slots[at]; at = (at + 1) & b->spots_table.mask) {
		uint32_t i = b->spots_table.slots[at] - 1;
		if (same_spot(AT(b->spots, struct spot, i), &s)) {
			recent->index = i + 1;
			return i;
		}
	}
	g_array_append_val(b->spots, s);
	b->spots_table.slots[at] = b->spots->len;
	b->spots_table.count++;
	recent->index = b->spots->len;
	return b->spots->len - 1;
}

uint32_t builder_place(struct builder *b, uint32_t region, uint64_t offset, uint32_t size)
{
	return spot_intern(b,
	                   (struct spot){ .region = region, .offset = offset, .size = size });
}

static uint32_t block_named(struct builder *b, const char *name, size_t length)
{
	uint32_t string = string_find(b, name, length);
	return string == NONE ? NONE : meaning_of(b, string)->block;
}

/* The block "*p" of which "p->f" and "p[i]" are parts, as recordings name them. */
static uint32_t block_pointed_to(struct builder *b, const char *name, size_t end)
{
	char *pointed = g_strdup_printf("*%.*s", (int)end, name);
	uint32_t block = block_named(b, pointed, end + 1);
	g_free(pointed);
	return block;
}

/* The block that the name lies in now (or lay in first): the longest beginning that names
 * a block, up to the end or to what continues a block's name. */
static uint32_t block_around(struct builder *b, const char *name, size_t length, bool first)
{
	for (size_t end = length; end > 0; end--) {
		bool arrow = end + 1 < length && name[end] == '-' && name[end + 1] == '>';
		if (end < length && name[end] != '+' && name[end] != '.' && name[end] != '[' &&
		    !arrow)
			continue;
		uint32_t block = arrow ? NONE : block_named(b, name, end);
		if (block == NONE && end < length && (arrow || name[end] == '['))
			block = block_pointed_to(b, name, end);
		if (block != NONE)
			return block;
	}
	return NONE;
}

/* "p+12": the base's length and the offset; no such end: the whole name, offset 0. */
static size_t base_length(const char *name, size_t length, uint64_t *offset)
{
	size_t from = length;
	while (from > 0 && g_ascii_isdigit(name[from - 1]))
		from--;
	*offset = 0;
	if (from == length || length - from > 18 || from < 2 || name[from - 1] != '+')
		return length;
	*offset = g_ascii_strtoull(name + from, NULL, 10);
	return from - 1;
}

uint32_t builder_place_text(struct builder *b, const char *name, size_t length, uint32_t size)
{
	uint32_t string = builder_string(b, name, length);
	struct meaning *m = meaning_of(b, string);
	if (m->spot != NONE && m->spot_at == b->lives && m->spot_size == size)
		return m->spot;
	struct spot s = { .name = string, .size = size };
	uint32_t block = b->blocks->len ? block_around(b, name, length, false) : NONE;
	size_t base = base_length(name, length, &s.offset);
	s.region = region_intern(b, builder_string(b, name, base), block);
	m = meaning_of(b, string);
	m->spot = spot_intern(b, s);
	m->spot_at = b->lives;
	m->spot_size = size;
	return m->spot;
}

uint32_t builder_block(struct builder *b, const char *name, size_t length, uint64_t size,
                       uint64_t address)
{
	uint32_t string = builder_string(b, name, length);
	struct block block = {
		.name = string, .alloc = NONE, .free = NONE, .size = size, .address = address
	};
	g_array_append_val(b->blocks, block);
	b->lives++;
	struct meaning *m = meaning_of(b, string);
	m->block = b->blocks->len - 1;
	if (m->first_block == NONE)
		m->first_block = m->block;
	return m->block;
}

uint32_t builder_block_find(struct builder *b, const char *name, size_t length)
{
	uint32_t string = string_find(b, name, length);
	return string == NONE ? NONE : meaning_of(b, string)->block;
}

/* -- facts beside the events ------------------------------------------------------------------
 */

void builder_size_directive(struct builder *b, const char *name, size_t length, uint32_t size)
{
	meaning_of(b, builder_string(b, name, length))->size = size;
}

void builder_semaphore(struct builder *b, uint32_t object, int32_t count)
{
	AT(b->objects, struct object, object)->count = count;
}

void builder_instance_type(struct builder *b, uint32_t instance, uint32_t type)
{
	AT(b->instances, struct instance, instance)->type = type;
}

void builder_stack_block(struct builder *b, uint32_t thread, uint32_t block)
{
	AT(b->threads, struct thread, thread)->stack = block;
}

void builder_atomic_set(struct builder *b, uint32_t name, uint32_t members)
{
	struct atomic_set s = { name, members };
	g_array_append_val(b->atomic_sets, s);
}

void builder_note(struct builder *b, const char *key, const char *value)
{
	struct note n;
	n.key = builder_string(b, key, strlen(key));
	n.value = builder_string(b, value, strlen(value));
	g_array_append_val(b->notes, n);
}

uint32_t builder_module(struct builder *b, const char *path, const char *build_id,
                        uint64_t base)
{
	struct module m = { .base = base };
	m.path = builder_string(b, path, strlen(path));
	m.build_id = builder_string(b, build_id, strlen(build_id));
	g_array_append_val(b->modules, m);
	return b->modules->len - 1;
}

void builder_object_address(struct builder *b, uint32_t object, uint64_t address)
{
	AT(b->objects, struct object, object)->address = address;
}

void builder_warn(struct builder *b, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_ptr_array_add(b->warnings, g_strdup_vprintf(format, ap));
	va_end(ap);
}

void builder_namer(struct builder *b, const struct namer *namer)
{
	b->namer = namer;
}

uint32_t builder_event_count(const struct builder *b)
{
	return b->events->len;
}

/* -- well-formedness
 * ---------------------------------------------------------------------------- */

struct refusal {
	struct builder *b;
	struct error *error;
	uint64_t line;
};

static bool refuse(const struct refusal *r, const char *remedy, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static bool refuse(const struct refusal *r, const char *remedy, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	error_set(r->error, place_line(r->b->name, r->line).text, remedy, "%s", what);
	g_free(what);
	return false;
}

static const char *object_name(const struct builder *b, uint32_t object)
{
	return text_of(b, AT(b->objects, struct object, object)->name);
}

static const char *thread_name(const struct builder *b, uint32_t thread)
{
	return text_of(b, AT(b->threads, struct thread, thread)->name);
}

static struct lock *lock_of(struct builder *b, uint32_t object)
{
	while (b->locks->len <= object) {
		struct lock l = { .owner = NONE };
		g_array_append_val(b->locks, l);
	}
	return AT(b->locks, struct lock, object);
}

static struct holder *reader_of(struct lock *l, uint32_t thread)
{
	for (guint i = 0; l->readers && i < l->readers->len; i++)
		if (AT(l->readers, struct holder, i)->thread == thread)
			return AT(l->readers, struct holder, i);
	return NULL;
}

static const char *const lenient_remedy =
        "--lenient takes the holder to have released it there";
static const char *const drop_remedy = "--lenient drops such releases";

/* Nobody else may hold the lock in a mode that excludes this acquire. */
static bool acquire_free(const struct refusal *r, struct lock *l, const struct event *e)
{
	struct builder *b = r->b;
	uint32_t other = NONE;
	if (l->owner != NONE && l->owner != e->thread)
		other = l->owner;
	for (guint i = 0; e->op == OP_ACQ && l->readers && i < l->readers->len; i++)
		if (AT(l->readers, struct holder, i)->thread != e->thread)
			other = AT(l->readers, struct holder, i)->thread;
	if (other == NONE)
		return true;
	if (!b->lenient)
		return refuse(r, lenient_remedy,
		              "expected lock %s to be free, found it acquired by %s while %s "
		              "holds it",
		              object_name(b, e->target), thread_name(b, e->thread),
		              thread_name(b, other));
	b->stolen_locks++;
	l->owner = NONE;
	l->depth = 0;
	if (l->readers && e->op == OP_ACQ)
		g_array_set_size(l->readers, 0);
	return true;
}

static bool check_acquire(const struct refusal *r, struct event *e)
{
	struct lock *l = lock_of(r->b, e->target);
	if (l->owner == e->thread) { /* re-entrant, in either mode */
		l->depth++;
		e->flags |= EVENT_INERT;
		return true;
	}
	if (!acquire_free(r, l, e))
		return false;
	struct holder *h = reader_of(l, e->thread);
	if (h) { /* in shared mode, whatever is asked for now: the outermost pair counts */
		h->count++;
		e->flags |= EVENT_INERT;
		return true;
	}
	if (e->op == OP_ACQ) {
		l->owner = e->thread;
		l->depth = 1;
	} else {
		struct holder new_holder = { e->thread, 1 };
		if (l->readers == NULL)
			l->readers = g_array_new(FALSE, FALSE, sizeof(struct holder));
		g_array_append_val(l->readers, new_holder);
	}
	return true;
}

static bool check_release(const struct refusal *r, struct event *e)
{
	struct lock *l = lock_of(r->b, e->target);
	if (l->owner == e->thread && (e->op == OP_REL || l->depth > 1)) {
		if (--l->depth)
			e->flags |= EVENT_INERT;
		else
			l->owner = NONE;
		return true;
	}
	struct holder *h = reader_of(l, e->thread);
	if (h && (e->op == OP_RREL || h->count > 1)) {
		if (--h->count)
			e->flags |= EVENT_INERT;
		else
			g_array_remove_index_fast(
			        l->readers, (guint)(h - AT(l->readers, struct holder, 0)));
		return true;
	}
	if (!r->b->lenient)
		return refuse(r, drop_remedy,
		              "expected %s to hold lock %s%s, found a release of it",
		              thread_name(r->b, e->thread), object_name(r->b, e->target),
		              e->op == OP_RREL ? " in shared mode" : "");
	r->b->dropped_releases++;
	e->flags |= EVENT_INERT;
	return true;
}

static bool check_fork(const struct refusal *r, const struct event *e)
{
	struct builder *b = r->b;
	struct thread_state *s = state_of(b, e->target);
	const char *remedy = "put the fork before the thread's events, and only once";
	if (e->target == e->thread || s->started)
		return refuse(r, remedy,
		              "expected no event of %s before its fork, found one at line "
		              "%" G_GUINT64_FORMAT,
		              thread_name(b, e->target),
		              e->target == e->thread ? r->line : s->first_line);
	if (s->forked)
		return refuse(r, remedy, "expected one fork of %s, found a second",
		              thread_name(b, e->target));
	s->forked = true;
	struct thread *thread = AT(b->threads, struct thread, e->target);
	thread->parent = e->thread;
	thread->fork = b->events->len;
	return true;
}

static bool check_join(const struct refusal *r, const struct event *e)
{
	if (e->target == e->thread)
		return refuse(r, "a thread cannot wait for its own end",
		              "expected another thread to join, found %s itself",
		              thread_name(r->b, e->thread));
	state_of(r->b, e->target)->joined = true;
	return true;
}

/* Which operation opens the scope that this one closes. */
static enum op opener(enum op op)
{
	return op == OP_RET    ? OP_CALL
	       : op == OP_UEND ? OP_UBEG
	       : op == OP_BACK ? OP_MISS
	                       : OP_ENTER;
}

static const char *scope_name(const struct builder *b, const struct event *e)
{
	return text_of(b, op_table[e->op].operand == OPERAND_INSTANCE
	                          ? AT(b->instances, struct instance, e->target)->name
	                          : e->target);
}

static bool same_scope(const struct builder *b, const struct event *open, const struct event *e)
{
	if (open->target != e->target)
		return false;
	return e->op != OP_RET ||
	       AT(b->invocations, struct invocation_part, open->aux)->method ==
	               AT(b->invocations, struct invocation_part, e->aux)->method;
}

static bool check_close(const struct refusal *r, const struct event *e)
{
	struct builder *b = r->b;
	GArray *scopes = state_of(b, e->thread)->scopes;
	for (guint i = scopes ? scopes->len : 0; i-- > 0;) {
		const struct scope *s = AT(scopes, struct scope, i);
		if (s->op != opener(e->op))
			continue;
		const struct event *open = AT(b->events, struct event, s->event);
		if (!same_scope(b, open, e))
			return refuse(r, "scopes of a kind nest",
			              "expected the end of %s, which is open (event %u), found "
			              "%s(%s)",
			              scope_name(b, open), s->event, op_table[e->op].word,
			              scope_name(b, e));
		g_array_remove_index(scopes, i);
		return true;
	}
	return refuse(r, "scopes of a kind nest",
	              "expected an open %s of thread %s, found %s(%s)",
	              op_table[opener(e->op)].word, thread_name(b, e->thread),
	              op_table[e->op].word, scope_name(b, e));
}

static void open_scope(struct builder *b, const struct event *e)
{
	struct thread_state *s = state_of(b, e->thread);
	struct scope scope = { b->events->len, e->op };
	if (s->scopes == NULL)
		s->scopes = g_array_new(FALSE, FALSE, sizeof scope);
	g_array_append_val(s->scopes, scope);
}

static bool check_thread(const struct refusal *r, const struct event *e)
{
	struct thread_state *s = state_of(r->b, e->thread);
	const char *name = thread_name(r->b, e->thread);
	if (s->ended || s->joined)
		return refuse(r, "a thread's events end with its end and its join",
		              "expected no event of %s after its %s, found %s", name,
		              s->ended ? "end" : "join", op_table[e->op].word);
	if (e->op == OP_BEGIN && s->started)
		return refuse(r, "begin is a thread's first event",
		              "expected begin as the first event of %s, found one at line "
		              "%" G_GUINT64_FORMAT,
		              name, s->first_line);
	return true;
}

static void note_block(struct builder *b, const struct event *e)
{
	struct block *block = AT(b->blocks, struct block, e->target);
	if (e->op == OP_ALLOC)
		block->alloc = b->events->len;
	else if (block->free == NONE)
		block->free = b->events->len;
}

static bool check_event(const struct refusal *r, struct event *e)
{
	switch (e->op) {
	case OP_ACQ:
	case OP_RACQ:
		return check_acquire(r, e);
	case OP_REL:
	case OP_RREL:
		return check_release(r, e);
	case OP_FORK:
		return check_fork(r, e);
	case OP_JOIN:
		return check_join(r, e);
	case OP_RET:
	case OP_UEND:
	case OP_BACK:
	case OP_LEAVE:
		return check_close(r, e);
	default:
		return true;
	}
}

/* -- call stacks
 * --------------------------------------------------------------------------------- */

static uint64_t context_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	const struct context *c = AT(b->contexts, struct context, i);
	return mix(mix((uint64_t)c->parent << 32 ^ c->function) ^ c->call);
}

static uint32_t context_child(struct builder *b, struct context c)
{
	if (2 * (b->nodes.count + 1) > b->nodes.mask)
		table_grow(&b->nodes, context_hash, b);
	uint32_t at = mix(mix((uint64_t)c.parent << 32 ^ c.function) ^ c.call) & b->nodes.mask;
	for (; b->nodes.slots[at]; at = (at + 1) & b->nodes.mask) {
		uint32_t i = b->nodes.slots[at] - 1;
		if (memcmp(AT(b->contexts, struct context, i), &c, sizeof c) == 0)
			return i;
	}
	g_array_append_val(b->contexts, c);
	b->nodes.slots[at] = b->contexts->len;
	b->nodes.count++;
	return b->contexts->len - 1;
}

/* An ENTER's own event is in the new context, a LEAVE's still in the old one. */
static void add_stack(struct builder *b, struct thread_state *s, const struct event *e)
{
	if (e->op == OP_ENTER && !b->any_scope) {
		b->any_scope = true;
		g_array_set_size(b->stacks, b->events->len); /* zeroes: empty stacks */
	}
	if (!b->any_scope)
		return;
	if (e->op == OP_ENTER)
		s->context = context_child(
		        b, (struct context){ s->context, e->target, e->location });
	g_array_append_val(b->stacks, s->context);
	if (e->op == OP_LEAVE)
		s->context = AT(b->contexts, struct context, s->context)->parent;
}

bool builder_add(struct builder *b, struct event e, uint64_t line, struct error *error)
{
	struct refusal r = { b, error, line };
	if (b->events->len >= NONE - 1)
		return refuse(&r, "split the trace", "more than four thousand million events");
	if (!check_thread(&r, &e) || !check_event(&r, &e))
		return false;
	struct thread_state *s = state_of(b, e.thread);
	if (!s->started)
		s->first_line = line;
	s->started = true;
	s->ended = e.op == OP_END;
	if (e.op == OP_CALL || e.op == OP_UBEG || e.op == OP_MISS || e.op == OP_ENTER)
		open_scope(b, &e);
	if (e.op == OP_ALLOC || e.op == OP_FREE)
		note_block(b, &e);
	add_stack(b, s, &e);
	g_array_append_val(b->events, e);
	return true;
}

/* -- the end: memory into variables
 * ------------------------------------------------------------------ */

struct order_key { /* a place and where it is */
	uint32_t region, spot;
	uint64_t offset;
	uint64_t end;
};

static int by_place(const void *x, const void *y)
{
	const struct order_key *a = x, *b = y;
	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1; /* the longest first */
	return a->spot < b->spot ? -1 : a->spot > b->spot;
}

/* Where a place has no size: the directive's; else, among accesses with sizes, the longest
 * at its offset or one byte. */
static uint32_t directive_size(struct builder *b, const struct spot *s)
{
	return s->size ? s->size : s->name ? meaning_of(b, s->name)->size : 0;
}

static int by_number(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;
	return *a < *b ? -1 : *a > *b;
}

struct cutter {
	struct builder *b;
	GArray *variables; /* struct variable */
	GArray *wides;     /* struct wide */
	struct wide *of;   /* by spot: its run; count 1 or more */
	GArray *cuts;      /* uint64_t, of one region */
};

/* Sizes for the places of one region that have none. */
static void settle_sizes(struct order_key *keys, size_t count)
{
	bool sized = false;
	for (size_t i = 0; i < count; i++)
		sized |= keys[i].end > keys[i].offset;
	if (!sized)
		return;
	for (size_t i = 0; i < count; i++)
		if (keys[i].end == keys[i].offset)
			keys[i].end = i && keys[i - 1].offset == keys[i].offset
			                      ? keys[i - 1].end
			                      : keys[i].offset + 1;
}

static uint32_t variable_name_at(struct cutter *c, const struct order_key *key, uint64_t offset)
{
	struct builder *b = c->b;
	const struct spot *s = AT(b->spots, struct spot, key->spot);
	if (offset == key->offset && s->name)
		return s->name;
	const struct region *r = AT(b->regions, struct region, s->region);
	char *text =
	        offset ? g_strdup_printf("%s+%" G_GUINT64_FORMAT, text_of(b, r->name), offset)
	               : g_strdup(text_of(b, r->name));
	uint32_t name = builder_string(b, text, strlen(text));
	g_free(text);
	return name;
}

static void add_variable(struct cutter *c, const struct order_key *key, uint64_t offset,
                         uint64_t size)
{
	const struct region *r = AT(c->b->regions, struct region, key->region);
	bool recorded = AT(c->b->spots, struct spot, key->spot)->name == 0;
	struct variable v = { .block = r->block,
		              .address = r->address + offset,
		              .size = (uint32_t)size,
		              .base = recorded ? key->region : r->name };
	v.name = variable_name_at(c, key, offset);
	g_array_append_val(c->variables, v);
}

/* The first cut at or after an offset. */
static guint cut_at(const GArray *cuts, uint64_t offset)
{
	guint low = 0, high = cuts->len;
	while (low < high) {
		guint middle = (low + high) / 2;
		if (g_array_index(cuts, uint64_t, middle) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void collect_cuts(struct cutter *c, const struct order_key *keys, size_t count)
{
	g_array_set_size(c->cuts, 0);
	for (size_t i = 0; i < count; i++) {
		g_array_append_val(c->cuts, keys[i].offset);
		g_array_append_val(c->cuts, keys[i].end);
	}
	qsort(c->cuts->data, c->cuts->len, sizeof(uint64_t), by_number);
	guint kept = 0;
	for (guint i = 0; i < c->cuts->len; i++) {
		uint64_t cut = g_array_index(c->cuts, uint64_t, i);
		if (kept == 0 || g_array_index(c->cuts, uint64_t, kept - 1) != cut)
			g_array_index(c->cuts, uint64_t, kept++) = cut;
	}
	g_array_set_size(c->cuts, kept);
}

/* Every stretch between two cuts that some place covers is a variable; keys are by offset,
 * so one sweep finds the places that reach over each. */
static void cut_region(struct cutter *c, struct order_key *keys, size_t count)
{
	settle_sizes(keys, count);
	collect_cuts(c, keys, count);
	guint n = c->cuts->len;
	uint32_t *index = g_new(uint32_t, n);
	uint64_t reach = 0;
	size_t next = 0, widest = 0;
	bool any = false;
	for (guint i = 0; i < n; i++) {
		uint64_t at = g_array_index(c->cuts, uint64_t, i);
		for (; next < count && keys[next].offset == at; next++)
			if (!any || keys[next].end > reach ||
			    keys[next].offset == keys[next].end) {
				reach = MAX(reach, keys[next].end);
				widest = next;
				any = true;
			}
		index[i] = c->variables->len;
		/* name after a place that begins here, where there is one */
		size_t key = next && keys[next - 1].offset == at ? next - 1 : widest;
		uint64_t size = i + 1 < n ? g_array_index(c->cuts, uint64_t, i + 1) - at : 0;
		bool point = next && keys[next - 1].offset == at && keys[next - 1].end == at;
		if (any && (reach > at || point))
			add_variable(c, &keys[key], at, reach > at ? size : 0);
	}
	for (size_t i = 0; i < count; i++) {
		guint from = cut_at(c->cuts, keys[i].offset);
		guint to = cut_at(c->cuts, keys[i].end);
		c->of[keys[i].spot] =
		        (struct wide){ index[from], to > from ? index[to] - index[from] : 1 };
	}
	g_free(index);
}

/*
 * A block that nothing in the trace allocates (a thread's stack; freed only) was there from
 * the beginning: what was accessed before the trace first spoke of the block lies in it too.
 */
static void adopt_early_places(struct builder *b)
{
	guint regions = b->regions->len;
	uint32_t *into = g_new(uint32_t, regions + 1);
	for (guint i = 0; i < regions; i++) {
		struct region r = *AT(b->regions, struct region, i);
		size_t length;
		const char *name = string_at(b, r.name, &length);
		uint32_t block = r.block == NONE ? block_around(b, name, length, true) : NONE;
		into[i] = i;
		if (block != NONE && AT(b->blocks, struct block, block)->alloc == NONE)
			into[i] = region_intern(b, r.name, block);
	}
	for (guint i = 0; i < b->spots->len; i++) {
		struct spot *s = AT(b->spots, struct spot, i);
		if (s->name)
			s->region = into[s->region];
	}
	g_free(into);
}

static void cut_memory(struct cutter *c)
{
	struct builder *b = c->b;
	if (b->blocks->len)
		adopt_early_places(b);
	size_t n = b->spots->len;
	struct order_key *keys = g_new(struct order_key, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct spot *s = AT(b->spots, struct spot, i);
		keys[i] = (struct order_key){ s->region, (uint32_t)i, s->offset,
			                      s->offset + directive_size(b, s) };
	}
	qsort(keys, n, sizeof *keys, by_place);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && keys[to].region == keys[from].region; to++)
			;
		cut_region(c, keys + from, to - from);
	}
	g_free(keys);
}

/* Places into variables, in every access. */
static void resolve_targets(struct cutter *c)
{
	struct builder *b = c->b;
	uint32_t *wide = g_new(uint32_t, b->spots->len + 1);
	for (guint i = 0; i < b->spots->len; i++) {
		wide[i] = NONE;
		if (c->of[i].count > 1) {
			wide[i] = c->wides->len;
			g_array_append_val(c->wides, c->of[i]);
		}
	}
	for (guint i = 0; i < b->events->len; i++) {
		struct event *e = AT(b->events, struct event, i);
		if (!op_is_access(e->op))
			continue;
		uint32_t spot = e->target;
		e->target = wide[spot] == NONE ? c->of[spot].first : wide[spot];
		if (wide[spot] != NONE)
			e->flags |= EVENT_WIDE;
	}
	g_free(wide);
}

/* -- the end: tables into the trace
 * -------------------------------------------------------------------- */

static void *take(struct trace *t, GArray **array, uint64_t *count)
{
	*count = (*array)->len;
	void *data = g_array_free(*array, FALSE);
	*array = NULL;
	return trace_own(t, data);
}

static void move_tables(struct builder *b, struct cutter *c, struct trace *t)
{
#define MOVE(member, array) t->member = take(t, &(array), &t->member##_count)
	MOVE(events, b->events);
	MOVE(stacks, b->stacks);
	MOVE(values, b->values_array);
	MOVE(value_lists, b->value_lists);
	MOVE(variables, c->variables);
	MOVE(wides, c->wides);
	MOVE(threads, b->threads);
	MOVE(objects, b->objects);
	MOVE(messages, b->messages);
	MOVE(blocks, b->blocks);
	MOVE(instances, b->instances);
	MOVE(invocations, b->invocations);
	MOVE(locations, b->locations);
	MOVE(sites, b->sites);
	MOVE(contexts, b->contexts);
	MOVE(modules, b->modules);
	MOVE(atomic_sets, b->atomic_sets);
	MOVE(notes, b->notes);
	MOVE(string_offsets, b->string_offsets);
	MOVE(string_bytes, b->string_bytes);
#undef MOVE
}

static uint32_t escape_string(struct builder *b, const GString *name)
{
	return builder_string(b, name->str, name->len);
}

/* The tables as they stand, borrowed: strings and locations may still move. */
static struct trace trace_view(struct builder *b, struct cutter *c)
{
	struct trace t = { 0 };
#define LEND(member, array) \
	t.member = (void *)(array)->data; \
	t.member##_count = (array)->len
	LEND(events, b->events);
	LEND(stacks, b->stacks);
	LEND(values, b->values_array);
	LEND(value_lists, b->value_lists);
	LEND(variables, c->variables);
	LEND(wides, c->wides);
	LEND(threads, b->threads);
	LEND(objects, b->objects);
	LEND(blocks, b->blocks);
	LEND(locations, b->locations);
	LEND(contexts, b->contexts);
	LEND(modules, b->modules);
	LEND(string_offsets, b->string_offsets);
	LEND(string_bytes, b->string_bytes);
#undef LEND
	return t;
}

static void name_locations(struct builder *b, const struct namer *n)
{
	for (guint i = 0; n->location && i < b->locations->len; i++) {
		/* The array may move while locations are added. */
		struct location l = *AT(b->locations, struct location, i);
		if (l.module == NONE)
			continue;
		n->location(n->context, b, &l);
		*AT(b->locations, struct location, i) = l;
		location_site(b, i);
	}
}

/* Ask the namer once for everything; locations last, for they move the tables. */
static void ask_names(struct builder *b, struct cutter *c)
{
	const struct namer *n = b->namer;
	if (n == NULL)
		return;
	GString *name = g_string_new(NULL);
	struct trace view = trace_view(b, c);
	if (n->begin)
		n->begin(n->context, &view);
	for (guint i = 0; n->block && i < b->blocks->len; i++) {
		struct block *block = AT(b->blocks, struct block, i);
		g_string_truncate(name, 0);
		n->block(n->context, b, block, name);
		if (name->len)
			block->name = escape_string(b, name);
	}
	for (guint i = 0; n->object && i < b->objects->len; i++) {
		g_string_truncate(name, 0);
		n->object(n->context, AT(b->objects, struct object, i), name);
		if (name->len)
			AT(b->objects, struct object, i)->name = escape_string(b, name);
	}
	for (guint i = 0; n->variable && i < c->variables->len; i++) {
		struct variable *v = AT(c->variables, struct variable, i);
		g_string_truncate(name, 0);
		n->variable(n->context, &view, v, name);
		if (name->len)
			v->name = escape_string(b, name);
	}
	g_string_free(name, TRUE);
	name_locations(b, n);
}

uint32_t builder_open_scopes(const struct builder *b)
{
	guint open = 0;
	for (guint i = 0; i < b->states->len; i++) {
		const GArray *scopes = AT(b->states, struct thread_state, i)->scopes;
		open += scopes ? scopes->len : 0;
	}
	return open;
}

static void warn_of_leniency(struct builder *b)
{
	if (b->dropped_releases)
		builder_warn(b,
		             "dropped %" G_GUINT64_FORMAT
		             " release(s) of locks that were not held",
		             b->dropped_releases);
	if (b->stolen_locks)
		builder_warn(b,
		             "%" G_GUINT64_FORMAT
		             " acquire(s) of locks that another thread held: it is taken to "
		             "have released them there",
		             b->stolen_locks);
}

static bool values_everywhere(const struct trace *t)
{
	bool any = false;
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if (!op_is_access(e->op) || event_inert(e))
			continue;
		any = true;
		if (e->aux == 0)
			return false;
	}
	return any;
}

struct trace *builder_finish(struct builder *b, bool complete, struct error *error)
{
	struct cutter c = { .b = b,
		            .variables = g_array_new(FALSE, TRUE, sizeof(struct variable)),
		            .wides = g_array_new(FALSE, FALSE, sizeof(struct wide)),
		            .of = g_new0(struct wide, b->spots->len + 1),
		            .cuts = g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
	cut_memory(&c);
	resolve_targets(&c);
	ask_names(b, &c);
	warn_of_leniency(b);
	struct trace *t = b->t;
	b->t = NULL;
	move_tables(b, &c, t);
	t->complete = complete;
	t->order_exact = true;
	t->locks_taken = b->stolen_locks > 0;
	t->values_exact = values_everywhere(t);
	g_ptr_array_free(t->warnings, TRUE);
	t->warnings = b->warnings;
	b->warnings = NULL;
	g_free(c.of);
	g_array_free(c.cuts, TRUE);
	builder_free(b);
	return t;
}

/* -- making and ending
 * --------------------------------------------------------------------------------- */

struct builder *builder_new(const char *name, const struct trace_options *options)
{
	struct builder *b = g_new0(struct builder, 1);
	b->name = g_strdup(name);
	b->lenient = options && options->lenient;
	b->t = trace_new(name);
	b->warnings = g_ptr_array_new_with_free_func(g_free);
	b->recent_integers = g_new0(struct recent_integer, RECENT);
	b->recent_spots = g_new0(struct recent_spot, RECENT);
#define NEW(member, type) b->member = g_array_new(FALSE, TRUE, sizeof(type))
	NEW(string_bytes, char);
	NEW(string_offsets, uint32_t);
	NEW(meanings, struct meaning);
	NEW(events, struct event);
	NEW(stacks, uint32_t);
	NEW(values_array, struct value);
	NEW(value_lists, uint32_t);
	NEW(threads, struct thread);
	NEW(objects, struct object);
	NEW(messages, uint32_t);
	NEW(blocks, struct block);
	NEW(instances, struct instance);
	NEW(invocations, struct invocation_part);
	NEW(locations, struct location);
	NEW(sites, uint32_t);
	NEW(contexts, struct context);
	NEW(modules, struct module);
	NEW(atomic_sets, struct atomic_set);
	NEW(notes, struct note);
	NEW(regions, struct region);
	NEW(spots, struct spot);
	NEW(locks, struct lock);
	NEW(states, struct thread_state);
#undef NEW
	uint32_t zero = 0;
	g_array_append_val(b->string_offsets, zero);
	builder_string(b, "", 0);
	builder_value(b, V_NONE, "", 0);
	builder_location(b, "", 0);
	context_child(b, (struct context){ 0, 0, 0 });
	return b;
}

static void free_array(GArray *array)
{
	if (array)
		g_array_free(array, TRUE);
}

void builder_free(struct builder *b)
{
	if (b == NULL)
		return;
	for (guint i = 0; i < b->locks->len; i++)
		free_array(AT(b->locks, struct lock, i)->readers);
	for (guint i = 0; i < b->states->len; i++)
		free_array(AT(b->states, struct thread_state, i)->scopes);
	GArray *arrays[] = { b->string_bytes, b->string_offsets, b->meanings,    b->events,
		             b->stacks,       b->values_array,   b->value_lists, b->threads,
		             b->objects,      b->messages,       b->blocks,      b->instances,
		             b->invocations,  b->locations,      b->sites,       b->contexts,
		             b->modules,      b->atomic_sets,    b->notes,       b->regions,
		             b->spots,        b->locks,          b->states };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		free_array(arrays[i]);
	struct table *tables[] = { &b->values,        &b->lists_table, &b->spots_table,
		                   &b->regions_table, &b->nodes,       &b->sites_table };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		g_free(tables[i]->slots);
	g_free(b->strings);
	g_free(b->recent_integers);
	g_free(b->recent_spots);
	if (b->warnings)
		g_ptr_array_free(b->warnings, TRUE);
	trace_close(b->t);
	g_free(b->name);
	g_free(b);
}
