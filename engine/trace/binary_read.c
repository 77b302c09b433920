/*
 * binary_read.c - opening a binary trace: map it, and check that every index in it lies in
 * its table, so that nothing later can go astray.
 *
 * The checks are linear passes without branches that depend on the data; they run once on
 * opening (a hundred million events: about a second).
 */
#include "engine/trace/binary.h"
#include "engine/trace/binary_digest.h"
#include "engine/trace/formats.h"
#include "engine/trace/storage.h"

#include <string.h>
#include <sys/mman.h>

bool binary_is(const void *bytes, size_t length)
{
	return length >= 5 && memcmp(bytes, BINARY_MAGIC, 5) == 0;
}

static bool refuse(const char *path, struct error *error, const char *expected,
                   const char *found)
{
	return error_set(
	        error, place_line(path, 0).text,
	        "record or convert it again; the file is damaged or of another version",
	        "expected %s, found %s", expected, found);
}

static bool check_header(const char *path, const struct binary_header *h, size_t length,
                         struct error *error)
{
	char found[64];
	if (length < sizeof *h)
		return refuse(path, error, "a whole header", "a file that ends inside it");
	if (memcmp(h->magic, BINARY_MAGIC, sizeof h->magic) != 0)
		return refuse(path, error, "the mark of a binary trace",
		              "another one (was the file changed by a text transfer?)");
	if (h->byte_order != 0x01020304)
		return refuse(path, error, "this machine's byte order", "the other one");
	g_snprintf(found, sizeof found, "version %u", h->version);
	if (h->version != TRACE_VERSION)
		return refuse(path, error, "version " G_STRINGIFY(TRACE_VERSION), found);
	g_snprintf(found, sizeof found, "%zu bytes of %" G_GUINT64_FORMAT, length, h->length);
	if (h->length != length)
		return refuse(path, error, "the whole file", found);
	if (h->sections > 64 ||
	    sizeof *h + h->sections * sizeof(struct binary_section) > length)
		return refuse(path, error, "a table of sections",
		              "one that goes beyond the end");
	if (h->digest != binary_digest(h, (const struct binary_section *)(h + 1)))
		return refuse(path, error, "a header that agrees with its checksum",
		              "one that does not");
	return true;
}

static const struct binary_section *find_section(const struct binary_header *h,
                                                 const char *name)
{
	const struct binary_section *s = (const struct binary_section *)(h + 1);
	for (uint32_t i = 0; i < h->sections; i++)
		if (strncmp(s[i].name, name, sizeof s[i].name) == 0)
			return &s[i];
	return NULL;
}

static bool take_section(const char *path, const struct binary_header *h, const char *name,
                         uint32_t element, const void **data, uint64_t *count,
                         struct error *error)
{
	const struct binary_section *s = find_section(h, name);
	char expected[64];
	g_snprintf(expected, sizeof expected, "a section %s of elements of %u bytes", name,
	           element);
	if (s == NULL || s->element != element)
		return refuse(path, error, expected, s ? "one of another layout" : "none");
	if (s->offset % 8 || s->offset > h->length ||
	    s->count > (h->length - s->offset) / element)
		return refuse(path, error, expected,
		              "one that goes beyond the end of the file");
	*data = (const char *)h + s->offset;
	*count = s->count;
	return true;
}

/* -- every index in its table
 * ---------------------------------------------------------------------- */

/* Each check returns whether all are in range; NONE is allowed where `none` says so. */
static inline bool in(uint32_t index, uint64_t count, bool none)
{
	return index < count || (none && index == NONE);
}

static bool strings_good(const struct trace *t)
{
	if (t->string_offsets_count < 2 || t->string_offsets[0] != 0)
		return false;
	for (uint64_t i = 1; i < t->string_offsets_count; i++) {
		uint32_t end = t->string_offsets[i];
		if (end <= t->string_offsets[i - 1] || end > t->string_bytes_count ||
		    t->string_bytes[end - 1] != '\0')
			return false;
	}
	return true;
}

static bool value_good(const struct trace *t, uint64_t strings, uint64_t i)
{
	const struct value *v = &t->values[i];
	if (v->kind == V_STRING || v->kind == V_TOKEN)
		return v->string < strings;
	if (v->kind == V_PAIR)
		return v->first < i && v->second < i;
	if (v->kind == V_LIST)
		return v->first <= t->value_lists_count &&
		       v->count <= t->value_lists_count - v->first;
	return v->kind <= V_LIST;
}

static bool values_good(const struct trace *t, uint64_t strings)
{
	bool good = t->values_count > 0;
	for (uint64_t i = 0; i < t->values_count; i++)
		good &= value_good(t, strings, i);
	for (uint64_t i = 0; i < t->value_lists_count; i++)
		good &= t->value_lists[i] < t->values_count &&
		        t->values[t->value_lists[i]].kind < V_PAIR;
	for (uint64_t i = 0; i < t->invocations_count; i++) {
		const struct invocation_part *p = &t->invocations[i];
		good &= p->method < strings &&
		        (uint64_t)p->values + p->arguments + p->results <= t->value_lists_count;
	}
	return good;
}

static bool memory_good(const struct trace *t, uint64_t strings)
{
	bool good = true;
	for (uint64_t i = 0; i < t->variables_count; i++)
		good &= t->variables[i].name < strings &&
		        in(t->variables[i].block, t->blocks_count, true);
	for (uint64_t i = 0; i < t->wides_count; i++)
		good &= t->wides[i].count > 0 && t->wides[i].first < t->variables_count &&
		        t->wides[i].count <= t->variables_count - t->wides[i].first;
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		const struct block *b = &t->blocks[i];
		good &= b->name < strings && b->type < strings &&
		        in(b->alloc, t->events_count, true) &&
		        in(b->free, t->events_count, true);
	}
	return good;
}

static bool places_good(const struct trace *t, uint64_t strings)
{
	bool good = t->locations_count > 0;
	for (uint64_t i = 0; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		good &= l->name < strings && l->file < strings && l->function < strings &&
		        l->site < t->sites_count && in(l->module, t->modules_count, true) &&
		        (l->inlined == NONE || l->inlined < t->locations_count);
	}
	for (uint64_t i = 0; i < t->sites_count; i++)
		good &= t->sites[i] < strings;
	for (uint64_t i = 0; i < t->contexts_count; i++) {
		const struct context *c = &t->contexts[i];
		good &= (i == 0 || c->parent < i) && c->function < strings &&
		        c->call < t->locations_count;
	}
	for (uint64_t i = 0; i < t->modules_count; i++)
		good &= t->modules[i].path < strings && t->modules[i].build_id < strings;
	return good;
}

static bool names_good(const struct trace *t, uint64_t strings)
{
	bool good = t->threads_count <= UINT16_MAX;
	for (uint64_t i = 0; i < t->threads_count; i++) {
		const struct thread *h = &t->threads[i];
		good &= h->name < strings && in(h->parent, t->threads_count, true) &&
		        in(h->fork, t->events_count, true) &&
		        in(h->stack, t->blocks_count, true);
	}
	for (uint64_t i = 0; i < t->objects_count; i++)
		good &= t->objects[i].name < strings;
	for (uint64_t i = 0; i < t->messages_count; i++)
		good &= t->messages[i] < strings;
	for (uint64_t i = 0; i < t->instances_count; i++)
		good &= t->instances[i].name < strings && t->instances[i].type < strings;
	for (uint64_t i = 0; i < t->atomic_sets_count; i++)
		good &= t->atomic_sets[i].name < strings &&
		        t->atomic_sets[i].members < t->values_count;
	for (uint64_t i = 0; i < t->notes_count; i++)
		good &= t->notes[i].key < strings && t->notes[i].value < strings;
	return good;
}

/* An event's operand and the rest of it; the bounds come from a table by operation. */
static bool events_good(const struct trace *t, uint64_t strings)
{
	const uint64_t bounds[] = {
		[OPERAND_NOTHING] = UINT64_MAX,
		[OPERAND_VARIABLE] = t->variables_count,
		[OPERAND_OBJECT] = t->objects_count,
		[OPERAND_THREAD] = t->threads_count,
		[OPERAND_MESSAGE] = t->messages_count,
		[OPERAND_BLOCK] = t->blocks_count,
		[OPERAND_INSTANCE] = t->instances_count,
		[OPERAND_NAME] = strings,
	};
	uint64_t limit[256], wide_limit[256], aux_limit[256];
	for (int op = 0; op < 256; op++) {
		bool known = op < OP_COUNT;
		limit[op] = known ? bounds[op_table[op].operand] : 0;
		wide_limit[op] = known && op_is_access(op) ? t->wides_count : limit[op];
		aux_limit[op] = known && op_table[op].operand == OPERAND_INSTANCE
		                        ? t->invocations_count
		                        : t->values_count;
	}
	bool good = true;
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		const uint64_t *bound = e->flags & EVENT_WIDE ? wide_limit : limit;
		good &= (e->target < bound[e->op]) & (e->thread < t->threads_count) &
		        (e->location < t->locations_count) & (e->aux < aux_limit[e->op]) &
		        ((e->flags & EVENT_ORDER_MASK) <= ORDER_SEQ_CST);
	}
	for (uint64_t i = 0; i < t->stacks_count; i++)
		good &= t->stacks[i] < t->contexts_count;
	return good && (t->stacks_count == 0 || t->stacks_count == t->events_count);
}

static bool check_tables(const char *path, const struct trace *t, struct error *error)
{
	if (!strings_good(t))
		return refuse(path, error, "strings that end", "a broken table of strings");
	uint64_t strings = t->string_offsets_count - 1;
	if (!values_good(t, strings))
		return refuse(path, error, "values in their tables", "one outside");
	if (!memory_good(t, strings))
		return refuse(path, error, "variables and blocks in their tables",
		              "one outside");
	if (!places_good(t, strings))
		return refuse(path, error, "locations and call stacks in their tables",
		              "one outside");
	if (!names_good(t, strings))
		return refuse(path, error, "threads and objects in their tables",
		              "one outside");
	if (t->events_count >= NONE || !events_good(t, strings))
		return refuse(path, error, "events that speak of what is in the tables",
		              "one that does not");
	return true;
}

static bool take_sections(const char *path, struct trace *t, const struct binary_header *h,
                          struct error *error)
{
#define TABLE(member, type)                                                                    \
	{                                                                                      \
		const void *data;                                                              \
		if (!take_section(path, h, #member, sizeof(type), &data, &t->member##_count,   \
		                  error))                                                      \
			return false;                                                          \
		t->member = data;                                                              \
	}
	TRACE_TABLES(TABLE)
#undef TABLE
	return true;
}

struct trace *binary_read(const char *path, void *bytes, size_t length, struct error *error)
{
	const struct binary_header *h = bytes;
	struct trace *t = trace_new(path);
	t->storage->map = bytes;
	t->storage->map_length = length;
	if (!check_header(path, h, length, error) || !take_sections(path, t, h, error) ||
	    !check_tables(path, t, error)) {
		trace_close(t);
		return NULL;
	}
	t->complete = h->flags & BINARY_COMPLETE;
	t->filtered = h->flags & BINARY_FILTERED;
	t->values_exact = h->flags & BINARY_VALUES_EXACT;
	t->order_exact = h->flags & BINARY_ORDER_EXACT;
	return t;
}
