/*
 * builder.c - makes a trace: interning of names and values, facts beside the events, and the
 * tables' way into the trace at the end.
 */
#include "engine/trace/builder_private.h"
#include "engine/trace/storage.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

void builder_table_grow(struct table *h, uint64_t (*hash)(const void *, uint32_t),
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

/* -- strings --------------------------------------------------------------------------------
 */

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

/* A new string at the end of the table, whether it is there already or not. */
uint32_t builder_append_string(struct builder *b, const char *text, size_t length)
{
	if (b->string_bytes->len + length >= NONE - 1) {
		if (b->failure == NULL)
			b->failure = g_strdup("its names take more than 4 GB");
		return 0;
	}
	/* The text may be a string of this table, which moves as it grows. */
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

/* A recording's names come from files of any encoding; those of a trace are UTF-8. */
static uint32_t escaped_string(struct builder *b, const char *text, size_t length)
{
	GString *name = g_string_new(NULL);
	append_escaped(name, text, length);
	uint32_t string = builder_string(b, name->str, name->len);
	g_string_free(name, TRUE);
	return string;
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
	if (!g_utf8_validate(text, (gssize)length, NULL))
		return escaped_string(b, text, length);
	BUG_ON(b->sealed);
	builder_append_string(b, text, length);
	struct meaning m;
	memset(&m, 0xff, sizeof m);
	m.size = 0;
	g_array_append_val(b->meanings, m);
	key.string = count + 1;
	b->strings[slot] = key;
	return count;
}

/* The index that a string has in one of the tables; `member` of its meaning. */
#define NAMED(member, array, type, init) \
	uint32_t string = builder_string(b, name, length); \
	struct meaning *m = builder_meaning(b, string); \
	if (m->member == NONE) { \
		type item = init; \
		m->member = b->array->len; \
		g_array_append_val(b->array, item); \
	} \
	return m->member

struct thread_state *builder_state(struct builder *b, uint32_t thread)
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
		builder_table_grow(&b->sites_table, site_hash, b);
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
	const char *name = builder_string_at(b, l->name, &length);
	char *text = NULL;
	if (source_position(name, length, &file, numbers))
		text = g_strdup_printf("%.*s:%u", (int)file, name, numbers[0]);
	else if (l->file && l->line)
		text = g_strdup_printf("%s:%u", builder_text(b, l->file), l->line);
	if (text)
		string = builder_string(b, text, strlen(text));
	g_free(text);
	AT(b->locations, struct location, location)->site = site_of(b, string);
}

uint32_t builder_location(struct builder *b, const char *name, size_t length)
{
	uint32_t string = builder_string(b, name, length);
	struct meaning *m = builder_meaning(b, string);
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
		builder_table_grow(&b->values, value_hash, b);
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
		builder_table_grow(&b->lists_table, list_hash, b);
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

/* -- facts beside the events ------------------------------------------------------------------
 */

void builder_size_directive(struct builder *b, const char *name, size_t length, uint32_t size)
{
	builder_meaning(b, builder_string(b, name, length))->size = size;
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
	return (uint32_t)b->events.count;
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

static void move_tables(struct builder *b, struct cut *c, struct trace *t)
{
#define MOVE(member, array) t->member = take(t, &(array), &t->member##_count)
	t->events = trace_own_column(t, &b->events, &t->events_count);
	t->stacks = trace_own_column(t, &b->stacks, &t->stacks_count);
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
static struct trace trace_view(struct builder *b, struct cut *c)
{
	struct trace t = { 0 };
#define LEND(member, array) \
	t.member = (void *)(array)->data; \
	t.member##_count = (array)->len
	t.events = (void *)b->events.data;
	t.events_count = b->events.count;
	t.stacks = (void *)b->stacks.data;
	t.stacks_count = b->stacks.count;
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

static void name_blocks(struct builder *b, const struct namer *n, GString *name)
{
	for (guint i = 0; n->block && i < b->blocks->len; i++) {
		struct block *block = AT(b->blocks, struct block, i);
		g_string_truncate(name, 0);
		n->block(n->context, b, block, name);
		if (name->len)
			block->name = escape_string(b, name);
	}
}

static void name_objects(struct builder *b, const struct namer *n, GString *name)
{
	for (guint i = 0; n->object && i < b->objects->len; i++) {
		g_string_truncate(name, 0);
		n->object(n->context, AT(b->objects, struct object, i), name);
		if (name->len)
			AT(b->objects, struct object, i)->name = escape_string(b, name);
	}
}

/* A recording has millions of variables, and their names are told apart already: they are
 * not interned.  Nothing is interned after them. */
static void name_variables(struct builder *b, const struct trace *view, struct cut *c,
                           GString *name)
{
	const struct namer *n = b->namer;
	b->sealed = true;
	for (guint i = 0; i < c->variables->len; i++) {
		struct variable *v = AT(c->variables, struct variable, i);
		if (v->name != NONE)
			continue;
		g_string_truncate(name, 0);
		if (n && n->variable)
			n->variable(n->context, view, v, name);
		if (name->len == 0)
			builder_append_plain_name(b, v, name);
		v->name = builder_append_string(b, name->str, name->len);
	}
}

/* Ask the namer once for everything. */
static void ask_names(struct builder *b, struct cut *c)
{
	const struct namer *n = b->namer;
	GString *name = g_string_new(NULL);
	struct trace view = trace_view(b, c);
	if (n && n->begin)
		n->begin(n->context, &view);
	if (n) {
		name_blocks(b, n, name);
		name_objects(b, n, name);
		name_locations(b, n);
		view = trace_view(b, c); /* the tables have moved */
	}
	name_variables(b, &view, c, name);
	view = trace_view(b, c);
	builder_settle_late(b, &view);
	g_string_free(name, TRUE);
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
	struct cut c = builder_cut_memory(b);
	ask_names(b, &c);
	if (b->failure) {
		error_set(error, place_line(b->name, 0).text, "record less, with --max-size",
		          "%s", b->failure);
		g_array_free(c.variables, TRUE);
		g_array_free(c.wides, TRUE);
		builder_free(b);
		return NULL;
	}
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
	b->recent_lines = g_new0(struct recent_line, RECENT_LINES);
	const char *folder = options ? options->folder : NULL;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	column_init(&b->events, sizeof(struct event), folder, memory / 8);
	column_init(&b->stacks, sizeof(uint32_t), folder, memory / 32);
	column_init(&b->nodes, RADIX * sizeof(uint32_t), NULL, 0);
#define NEW(member, type) b->member = g_array_new(FALSE, TRUE, sizeof(type))
	NEW(string_bytes, char);
	NEW(string_offsets, uint32_t);
	NEW(meanings, struct meaning);
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
	builder_context(b, (struct context){ 0, 0, 0 });
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
	GArray *arrays[] = { b->string_bytes, b->string_offsets, b->meanings,
		             b->values_array, b->value_lists,    b->threads,
		             b->objects,      b->messages,       b->blocks,
		             b->instances,    b->invocations,    b->locations,
		             b->sites,        b->contexts,       b->modules,
		             b->atomic_sets,  b->notes,          b->regions,
		             b->spots,        b->locks,          b->states };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		free_array(arrays[i]);
	struct table *tables[] = { &b->values,        &b->lists_table,    &b->spots_table,
		                   &b->regions_table, &b->contexts_table, &b->sites_table };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		g_free(tables[i]->slots);
	g_free(b->strings);
	g_free(b->recent_integers);
	g_free(b->recent_lines);
	g_free(b->failure);
	column_free(&b->events);
	column_free(&b->stacks);
	column_free(&b->nodes);
	if (b->warnings)
		g_ptr_array_free(b->warnings, TRUE);
	trace_close(b->t);
	free_array(b->lates);
	if (b->late_keys)
		g_hash_table_destroy(b->late_keys);
	g_free(b->name);
	g_free(b);
}
