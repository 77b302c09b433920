/*
 * binary.c - reads the binary format: the tables of a trace as in memory, one section each, and
 * the events in blocks (reel.h). Description: docs/trace-binary.md.
 *
 * A corrupt file must never crash an analysis: every section and block has a checksum, and
 * opening checks all references in one pass over each table.
 */
#include "engine/base/scattered.h"
#include "engine/trace/binary/binary_private.h"
#include "engine/trace/index_private.h"
#include "engine/trace/binary/reel.h"

#include <stdarg.h>
#include <string.h>
#include <zstd.h>

/* -- reading ------------------------------------------------------------------------------ */

struct in {
	const char *path;
	struct trace *t;
	const char *bytes;
	size_t length;
	const struct file_section *sections;
	uint32_t count, version;
	const struct trace_watch *watch; /* or NULL */
	const struct progress *progress;
	bool vouched; /* an index of exactly this file exists, so its contents were checked
	               * before */
	struct error *error;
};

static bool broken(struct in *in, uint64_t offset, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static bool broken(struct in *in, uint64_t offset, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_autofree char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	error_set(in->error, place_offset(in->path, offset).text,
	          "the file is damaged or cut off: take another copy or record again", "%s",
	          what);
	return false;
}

bool binary_recognise(const void *bytes, size_t length)
{
	return length >= 5 && memcmp(bytes, binary_magic, 5) == 0;
}

static bool read_header(struct in *in, uint32_t *flags)
{
	struct header h;
	if (in->length < sizeof h)
		return broken(in, in->length, "expected a header of %zu bytes, found %zu",
		              sizeof h, in->length);
	memcpy(&h, in->bytes, sizeof h);
	if (memcmp(h.magic, binary_magic, sizeof binary_magic) != 0)
		return broken(in, 0,
		              "expected the mark of a binary trace, found one that a "
		              "text transfer has changed");
	if (h.version < TRACE_OLDEST || h.version > TRACE_VERSION)
		return error_set(
		        in->error, place_offset(in->path, 8).text,
		        "use the heddle that wrote it to convert it to text, or "
		        "record again",
		        "expected a binary trace of version %d to %d, found version %u",
		        TRACE_OLDEST, TRACE_VERSION, h.version);
	if (h.byte_order != binary_byte_order)
		return broken(in, 12, "expected the byte order of this machine, found 0x%08x",
		              h.byte_order);
	if (h.length != in->length)
		return broken(in, 24,
		              "expected %" G_GUINT64_FORMAT " bytes, found a file of %zu",
		              h.length, in->length);
	uint64_t table = (uint64_t)h.sections * sizeof(struct file_section);
	if (h.sections > MAX_SECTIONS || table > in->length - sizeof h)
		return broken(in, 20, "expected a table of sections, found a count of %u",
		              h.sections);
	in->count = h.sections;
	in->version = h.version;
	uint64_t at = in->length - table;
	if (at % 8)
		return broken(in, at, "expected the table of sections at a multiple of 8");
	in->sections = (const void *)(in->bytes + at);
	*flags = h.flags;
	in->t->storage->sum = h.sum;
	if (binary_header_sum(&h, in->sections) != h.sum)
		return broken(in, 32, "the sum of the header does not fit");
	return true;
}

static const struct file_section *find_section(const struct in *in, const char *name)
{
	for (uint32_t i = 0; i < in->count; i++)
		if (strncmp(in->sections[i].name, name, NAME_LENGTH) == 0)
			return &in->sections[i];
	return NULL;
}

/* Events are not in the section's sum: they have one for each block. */
static bool is_tape(const char *name)
{
	return strcmp(name, "event_bytes") == 0;
}

static bool unpack(struct in *in, const struct file_section *s, const void **data)
{
	size_t bytes = s->element * s->count, packed = packed_bytes(s), each = s->element / 4;
	if (bytes / packed >= PACKED_MOST || (packed < s->packed && s->element % 4) ||
	    ZSTD_getFrameContentSize(*data, packed) != bytes)
		return broken(in, s->offset, "section %.24s is not packed as it says", s->name);
	uint32_t *room = trace_own(in->t, scattered_lines(bytes + 1));
	if (ZSTD_decompress(room, bytes, *data, packed) != bytes)
		return broken(in, s->offset, "section %.24s is not packed as it says", s->name);
	for (size_t i = each; packed < s->packed && i < bytes / 4; i++)
		room[i] += room[i - each];
	*data = room;
	return true;
}

static bool read_section(struct in *in, const char *name, uint32_t element, const void **data,
                         uint64_t *count)
{
	const struct file_section *s = find_section(in, name);
	if (s == NULL && ((in->version < 7 && strcmp(name, "weak") == 0) ||
	                  (in->version < 9 && strcmp(name, "name_rules") == 0))) {
		*count = 0;
		return true;
	}
	if (s == NULL)
		return broken(in, 0, "expected a section %s, found none", name);
	if (s->element != element)
		return broken(in, s->offset, "expected elements of %u bytes in %s, found %u",
		              element, name, s->element);
	if (s->offset % ALIGNMENT || s->offset > in->length ||
	    packed_bytes(s) > in->length - s->offset || (s->packed && is_tape(name)) ||
	    (!packed_bytes(s) && s->count > (in->length - s->offset) / element) ||
	    (s->count >= NONE && !is_tape(name)))
		return broken(in, s->offset, "section %s reaches out of the file", name);
	*data = in->bytes + s->offset;
	*count = s->count;
	size_t bytes = packed_bytes(s) ? packed_bytes(s) : element * s->count;
	if (!is_tape(name) && sum_bytes(*data, bytes) != s->sum)
		return broken(in, s->offset, "the sum of section %s does not fit", name);
	return !packed_bytes(s) || unpack(in, s, data);
}

/* -- checks of references ------------------------------------------------------------------ */

#define CHECK(condition, table, i) \
	do { \
		if (G_UNLIKELY(!(condition))) \
			return broken(in, 0, "entry %" G_GUINT64_FORMAT " of %s: %s", \
			              (uint64_t)(i), table, #condition); \
	} while (0)

static inline bool below_or_none(uint32_t index, uint64_t count)
{
	return index < count || index == NONE;
}

static bool check_strings(struct in *in)
{
	const struct trace *t = in->t;
	CHECK(t->string_offsets_count >= 2, "string_offsets", 0);
	uint64_t last = t->string_offsets_count - 1;
	CHECK(t->string_offsets[0] == 0, "string_offsets", 0);
	CHECK(t->string_offsets[last] == t->string_bytes_count, "string_offsets", last);
	for (uint64_t i = 0; i < last; i++) {
		CHECK(t->string_offsets[i] < t->string_offsets[i + 1], "string_offsets", i);
		CHECK(t->string_offsets[i + 1] <= t->string_bytes_count, "string_offsets", i);
		CHECK(t->string_bytes[t->string_offsets[i + 1] - 1] == '\0', "string_offsets",
		      i);
	}
	return true;
}

/* An element of the table, or a small integer. */
static inline bool is_value(const struct in *in, uint32_t value)
{
	return value < in->t->values_count ||
	       (in->version >= SMALL_VALUES_FROM && value & VALUE_INTEGER && value != NONE);
}

/* is_value, and neither a pair nor a list. */
static bool is_plain_value(const struct in *in, uint32_t value)
{
	return is_value(in, value) && trace_value(in->t, value).kind < V_PAIR;
}

/* Pairs and lists must consist of plain values, so that no value contains itself. */
static bool check_values(struct in *in, uint64_t strings)
{
	const struct trace *t = in->t;
	CHECK(t->values_count >= 1 && t->values_count <= VALUE_INTEGER &&
	              trace_value(t, 0).kind == V_NONE,
	      "values", 0);
	for (uint64_t i = 0; i < t->value_lists_count; i++)
		CHECK(is_plain_value(in, t->value_lists[i]), "value_lists", i);
	for (uint64_t i = 0; i < t->values_count; i++) {
		const struct value v = trace_value(t, i);
		CHECK(v.kind <= V_LIST, "values", i);
		if (v.kind == V_STRING || v.kind == V_TOKEN)
			CHECK(v.string < strings, "values", i);
		if (v.kind == V_PAIR)
			CHECK(is_plain_value(in, v.first) && is_plain_value(in, v.second),
			      "values", i);
		if (v.kind != V_LIST)
			continue;
		CHECK((uint64_t)v.first + v.count <= t->value_lists_count, "values", i);
	}
	for (uint64_t i = 0; i < t->invocations_count; i++) {
		const struct invocation_part *p = &t->invocations[i];
		CHECK(p->method < strings, "invocations", i);
		CHECK((uint64_t)p->values + p->arguments + p->results <= t->value_lists_count,
		      "invocations", i);
	}
	for (uint64_t i = 0; i < t->atomic_sets_count; i++) {
		CHECK(t->atomic_sets[i].name < strings, "atomic_sets", i);
		CHECK(t->atomic_sets[i].members < t->values_count &&
		              binary_is_list_of_names(t, t->atomic_sets[i].members),
		      "atomic_sets", i);
	}
	return true;
}

/* In static data a rule counts elements. */
static bool has_rule(const struct trace *t, const struct variable *v)
{
	uint32_t rule = v->spelling & ~NAME_BY_RULE;
	return rule < t->name_rules_count &&
	       (v->block != NONE || t->name_rules[rule].step != 0);
}

static bool check_memory(struct in *in, uint64_t strings)
{
	const struct trace *t = in->t;
	for (uint64_t i = 0; i < t->variables_count; i++) {
		const struct variable *v = &t->variables[i];
		CHECK(v->spelling < strings || v->spelling & NAME_BY_RULE, "variables", i);
		CHECK(below_or_none(v->block, t->blocks_count), "variables", i);
		if (v->spelling & NAME_BY_RULE)
			CHECK(has_rule(t, v), "variables", i);
	}
	for (uint64_t i = 0; i < t->name_rules_count; i++) {
		CHECK(t->name_rules[i].path < strings, "name_rules", i);
		CHECK(t->name_rules[i].rest < strings, "name_rules", i);
	}
	for (uint64_t i = 0; i < t->wides_count; i++) {
		CHECK(t->wides[i].count >= 2, "wides", i);
		CHECK((uint64_t)t->wides[i].first + t->wides[i].count <= t->variables_count,
		      "wides", i);
	}
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		const struct block *b = &t->blocks[i];
		CHECK(b->name < strings && b->type < strings, "blocks", i);
		CHECK(below_or_none(b->alloc, t->events_count), "blocks", i);
		CHECK(below_or_none(b->free, t->events_count), "blocks", i);
	}
	return true;
}

static bool check_actors(struct in *in, uint64_t strings)
{
	const struct trace *t = in->t;
	CHECK(t->threads_count <= EVENT_THREADS, "threads", t->threads_count);
	for (uint64_t i = 0; i < t->threads_count; i++) {
		const struct thread *h = &t->threads[i];
		CHECK(h->name < strings, "threads", i);
		CHECK(below_or_none(h->parent, t->threads_count), "threads", i);
		CHECK(below_or_none(h->fork, t->events_count), "threads", i);
		CHECK(below_or_none(h->stack, t->blocks_count), "threads", i);
		CHECK(below_or_none(h->recorded, EVENT_THREADS), "threads", i);
	}
	for (uint64_t i = 0; i < t->clocks_count; i++)
		CHECK(t->clocks[i].thread < t->threads_count, "clocks", i);
	for (uint64_t i = 0; i < t->repeats_count; i++)
		CHECK(t->repeats[i].thread < t->threads_count, "repeats", i);
	for (uint64_t i = 0; i < t->drops_count; i++)
		CHECK(t->drops[i].thread < t->threads_count, "drops", i);
	for (uint64_t i = 0; i < t->weak_count; i++)
		CHECK(t->weak[i].event < t->events_count &&
		              below_or_none(t->weak[i].store, t->events_count) &&
		              t->weak[i].kind <= WEAK_AFTER,
		      "weak", i);
	for (uint64_t i = 0; i < t->objects_count; i++)
		CHECK(t->objects[i].name < strings &&
		              below_or_none(t->objects[i].block, t->blocks_count),
		      "objects", i);
	for (uint64_t i = 0; i < t->messages_count; i++)
		CHECK(t->messages[i] < strings, "messages", i);
	for (uint64_t i = 0; i < t->instances_count; i++)
		CHECK(t->instances[i].name < strings && t->instances[i].type < strings,
		      "instances", i);
	for (uint64_t i = 0; i < t->notes_count; i++)
		CHECK(t->notes[i].key < strings && t->notes[i].value < strings, "notes", i);
	return true;
}

/* Chains of inlining must have no cycle: each chain is followed once. */
static bool check_inlining(struct in *in)
{
	const struct trace *t = in->t;
	g_autofree uint8_t *seen =
	        g_new0(uint8_t, t->locations_count + 1); /* 1: on the way, 2: good */
	bool good = true;
	for (uint64_t i = 0; good && i < t->locations_count; i++) {
		uint32_t at = i;
		while (at != NONE && seen[at] == 0) {
			seen[at] = 1;
			at = t->locations[at].inlined;
		}
		good = at == NONE || seen[at] == 2;
		for (at = i; at != NONE && seen[at] == 1; at = t->locations[at].inlined)
			seen[at] = 2;
	}
	return good || broken(in, 0, "a location of the table is inlined into itself");
}

static bool check_places(struct in *in, uint64_t strings)
{
	const struct trace *t = in->t;
	CHECK(t->locations_count >= 1, "locations", 0);
	for (uint64_t i = 0; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		CHECK(l->name < strings && l->file < strings, "locations", i);
		CHECK(l->function < strings && l->site < t->sites_count, "locations", i);
		CHECK(below_or_none(l->module, t->modules_count), "locations", i);
		CHECK(below_or_none(l->inlined, t->locations_count), "locations", i);
	}
	for (uint64_t i = 0; i < t->sites_count; i++)
		CHECK(t->sites[i] < strings, "sites", i);
	for (uint64_t i = 0; i < t->modules_count; i++)
		CHECK(t->modules[i].path < strings && t->modules[i].build_id < strings,
		      "modules", i);
	CHECK(t->contexts_count >= 1, "contexts", 0);
	for (uint64_t i = 0; i < t->contexts_count; i++) {
		const struct context *c = &t->contexts[i];
		CHECK(c->parent < i || (i == 0 && c->parent == 0), "contexts", i);
		CHECK(c->function < strings && c->call < t->locations_count, "contexts", i);
	}
	return check_inlining(in);
}

static bool damaged(struct in *in, uint32_t block)
{
	const struct file_section *s = find_section(in, "event_bytes");
	return broken(in, s ? s->offset : 0,
	              "block %u of the events does not fit its sum or its number of events",
	              block);
}

/* Checks block by block, as the events may be decoded on demand. */
static bool check_blocks_of_events(struct in *in, struct events_check *c)
{
	enum { BLOCKS_A_TICK = 16 };
	const struct trace *t = in->t;
	uint64_t count = t->events_count;
	uint32_t bad;
	for (uint64_t e = 0; e < count; e += TAPE_BLOCK) {
		if (e / TAPE_BLOCK % BLOCKS_A_TICK == 0 &&
		    !progress_tick(in->progress, (double)e / (double)count,
		                   "checking the events"))
			return error_cancelled(in->error);
		(void)*(volatile const uint32_t *)&t->events[e].target;
		if (reel_damaged(t->storage->reel, &bad))
			return damaged(in, bad);
		g_autofree char *wrong = binary_events_check(c, e, MIN(TAPE_BLOCK, count - e));
		if (wrong != NULL)
			return broken(in, 0, "%s", wrong);
	}
	return true;
}

/* Checks the events. Where blocks are decoded on demand, also makes the must-order, which
 * nearly all readers need: it would decode them once more. */
static bool check_events(struct in *in)
{
	struct trace *t = in->t;
	const char *wrong;
	if (in->vouched)
		return true;
	bool must = t->storage->reel != NULL;
	struct events_check *c = binary_events_new(t, in->version, must);
	if (must && in->watch != NULL)
		binary_events_watch(c, t, in->watch);
	bool good = binary_events_end(c, check_blocks_of_events(in, c), t, &wrong);
	if (wrong != NULL)
		broken(in, 0, "%s", wrong);
	if (good && must)
		cache_store(t, t->index, 0);
	reel_checked(t->storage->reel);
	return good;
}

static bool check_tables(struct in *in)
{
	if (!check_strings(in))
		return false;
	uint64_t strings = in->t->string_offsets_count - 1;
	return check_values(in, strings) && check_memory(in, strings) &&
	       check_actors(in, strings) && check_places(in, strings) && check_events(in);
}

/* -- events -------------------------------------------------------------------------------- */

/* Checks the table of blocks: all but the last are full; none has more events than bytes. */
static bool check_blocks(struct in *in, const struct reel_source *r, uint64_t *events)
{
	uint64_t behind = in->length - (uint64_t)((const char *)r->bytes - in->bytes);
	CHECK(r->length + TAPE_EVENT <= behind, "event_bytes", r->length);
	*events = 0;
	for (uint64_t i = 0; i < r->blocks_count; i++) {
		const struct tape_block *b = &r->blocks[i];
		CHECK(b->offset <= r->length && b->bytes <= r->length - b->offset,
		      "event_blocks", i);
		CHECK(b->count <= TAPE_BLOCK && b->count < b->bytes, "event_blocks", i);
		CHECK(b->count == TAPE_BLOCK || i + 1 == r->blocks_count, "event_blocks", i);
		*events += b->count;
	}
	CHECK(*events < NONE, "event_blocks", 0);
	return true;
}

/* Opens the blocks of events; the events' references are checked by check_events. */
static bool read_events(struct in *in, bool stacks)
{
	struct trace *t = in->t;
	uint32_t bad;
	struct reel_source r = { .vouched = in->vouched,
		                 .file = t->storage->file.st_ino != 0,
		                 .stacks = stacks,
		                 .contexts = t->contexts,
		                 .contexts_count = t->contexts_count };
	if (!read_section(in, "event_bytes", 1, (const void **)&r.bytes, &r.length) ||
	    !read_section(in, "event_blocks", sizeof(struct tape_block),
	                  (const void **)&r.blocks, &r.blocks_count) ||
	    !read_section(in, "places", sizeof(uint32_t), (const void **)&r.places.at,
	                  &r.places.count) ||
	    !check_blocks(in, &r, &t->events_count))
		return false;
	if (r.places.count == 0)
		r.places.at = NULL;
	if (reel_read(t, &r, in->progress, &bad))
		return true;
	if (bad == NONE)
		return error_cancelled(in->error);
	return damaged(in, bad);
}

/* -- construction -------------------------------------------------------------------------- */

static void read_warnings(struct in *in)
{
	const void *data;
	uint64_t count;
	if (!find_section(in, "warnings") || !read_section(in, "warnings", 1, &data, &count))
		return;
	const char *at = data, *end = at + count;
	while (at < end) {
		const char *nul = memchr(at, '\0', (size_t)(end - at));
		size_t length = (size_t)((nul ? nul : end) - at);
		trace_warn(in->t, "%.*s", (int)MIN(length, 4096), at);
		at += length + 1;
	}
}

static bool read_tables(struct in *in)
{
	struct trace *t = in->t;
	uint32_t flags = 0;
	if (!read_header(in, &flags))
		return false;
	in->vouched = cache_vouches(t, &t->operations);
#define TABLE(member, type) \
	if (!read_section(in, #member, sizeof(type), (const void **)&t->member, \
	                  &t->member##_count)) \
		return false;
	TRACE_LISTS(TABLE)
#undef TABLE
	if (!read_events(in, flags & FLAG_STACKS))
		return false;
	t->complete = flags & FLAG_COMPLETE;
	t->filtered = flags & FLAG_FILTERED;
	t->values_exact = flags & FLAG_VALUES_EXACT;
	t->order_exact = flags & FLAG_ORDER_EXACT;
	t->locks_taken = flags & FLAG_LOCKS_TAKEN;
	read_warnings(in);
	return check_tables(in);
}

struct trace *binary_read(const char *path, void *bytes, size_t length, const struct stat *file,
                          const struct trace_watch *watch, const struct progress *progress,
                          struct error *error)
{
	struct trace *t = trace_new(path);
	struct in in = { .path = path,
		         .t = t,
		         .bytes = bytes,
		         .length = length,
		         .watch = watch,
		         .progress = progress,
		         .error = error };
	t->storage->map = bytes;
	t->storage->map_length = length;
	if (file)
		t->storage->file = *file;
	if (read_tables(&in))
		return t;
	trace_close(t);
	return NULL;
}
