/*
 * memory.c - the memory of a trace under construction: blocks, address ranges, places of
 * accesses; and finally the variables.
 *
 * Places of text traces are hashed, as names come in any order. In recordings every access
 * needs a look-up: a region is a radix tree over offsets, whose entry for a byte is the first
 * place beginning there; no hashing, and places are sorted by address at the end.
 */
#include "engine/base/compare.h"
#include "engine/base/scattered.h"
#include "engine/base/search.h"
#include "engine/trace/builder_private.h"
#include "engine/trace/tape.h"

#include <stdlib.h>

/* -- regions and places -------------------------------------------------------------------- */

static uint64_t region_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	const struct region *r = AT(b->regions, struct region, i);
	return mix((uint64_t)r->name << 32 ^ r->block);
}

static uint32_t region_intern(struct builder *b, uint32_t name, uint32_t block)
{
	if (2 * (b->regions_table.count + 1) > b->regions_table.mask)
		builder_table_grow(&b->regions_table, region_hash, b);
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
	struct region r = { .name = builder_string(b, name, strlen(name)),
		            .block = block,
		            .address = address,
		            .levels = 1 };
	for (uint64_t rest = (size ? size - 1 : 0) / RADIX; rest; rest /= RADIX)
		r.levels++;
	g_array_append_val(b->regions, r);
	return b->regions->len - 1;
}

static uint64_t spot_hash_of(const struct spot *s)
{
	return mix(mix((uint64_t)s->region << 32 ^ s->size) ^ s->offset);
}

static uint64_t spot_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	return spot_hash_of(AT(&b->spots, struct spot, i));
}

static bool same_spot(const struct spot *a, const struct spot *b)
{
	return a->region == b->region && a->offset == b->offset && a->size == b->size;
}

static uint32_t spot_intern(struct builder *b, struct spot s)
{
	if (2 * (b->spots_table.count + 1) > b->spots_table.mask)
		builder_table_grow(&b->spots_table, spot_hash, b);
	uint32_t at = (uint32_t)spot_hash_of(&s) & b->spots_table.mask;
	for (; b->spots_table.slots[at]; at = (at + 1) & b->spots_table.mask) {
		uint32_t i = b->spots_table.slots[at] - 1;
		if (same_spot(AT(&b->spots, struct spot, i), &s))
			return i;
	}
	*(struct spot *)column_push(&b->spots) = s;
	b->spots_table.slots[at] = (uint32_t)b->spots.count;
	b->spots_table.count++;
	return (uint32_t)b->spots.count - 1;
}

/* -- places of recordings ------------------------------------------------------------------ */

static uint32_t node_new(struct builder *b)
{
	if (b->nodes.count == 0) /* 0 means none */
		memset(column_push(&b->nodes), 0, RADIX * sizeof(uint32_t));
	memset(column_push(&b->nodes), 0, RADIX * sizeof(uint32_t));
	return (uint32_t)b->nodes.count - 1;
}

/* The lowest node of the tree for an offset, with RADIX bytes. */
static uint32_t line_of(struct builder *b, uint32_t region, uint64_t offset)
{
	struct region *r = AT(b->regions, struct region, region);
	if (r->root == 0)
		r->root = node_new(b);
	uint32_t node = r->root;
	for (unsigned shift = (r->levels - 1) * RADIX_BITS; shift; shift -= RADIX_BITS) {
		uint64_t child = offset >> shift;
		BUG_ON(child >= RADIX);
		if (builder_node(b, node)[child] == 0) {
			uint32_t made = node_new(b); /* nodes may move */
			builder_node(b, node)[child] = made;
		}
		node = builder_node(b, node)[child];
		offset &= (UINT64_C(1) << shift) - 1;
	}
	return node;
}

static uint32_t node_of(struct builder *b, uint32_t region, uint64_t offset)
{
	uint64_t number = offset / RADIX;
	struct recent_line *recent = &b->recent_lines[(number ^ region * 37u) % RECENT_LINES];
	if (recent->number != number || recent->region != region || recent->node == 0)
		*recent = (struct recent_line){ number, region, line_of(b, region, offset) };
	return recent->node;
}

static uint32_t add_place(struct builder *b, uint32_t *entry, struct spot s)
{
	uint32_t code = place_size_code(s.size);
	for (uint32_t at = *entry; at;) {
		uint32_t index = (at & ENTRY_SPOT) - 1;
		const struct spot *known = AT(&b->spots, struct spot, index);
		if (at >> ENTRY_SHIFT == code && known->size == s.size)
			return index;
		at = known->next;
	}
	if ((uint32_t)b->spots.count >= ENTRY_SPOT) {
		if (b->failure == NULL)
			b->failure =
			        g_strdup_printf("more than %u places in memory", ENTRY_SPOT);
		return 0;
	}
	s.next = *entry;
	*(struct spot *)column_push(&b->spots) = s;
	*entry = (uint32_t)b->spots.count | code << ENTRY_SHIFT;
	return (uint32_t)b->spots.count - 1;
}

uint32_t builder_place_far(struct builder *b, uint32_t region, uint64_t offset, uint32_t size,
                           struct access_site *site)
{
	uint64_t line = offset / RADIX;
	if (site->node == 0 || site->line != line || site->region != region)
		*site = (struct access_site){ line, region, node_of(b, region, offset) };
	return add_place(b, builder_node(b, site->node) + offset % RADIX,
	                 (struct spot){ .region = region, .offset = offset, .size = size });
}

uint32_t builder_place(struct builder *b, uint32_t region, uint64_t offset, uint32_t size)
{
	struct access_site site = { 0 };
	return builder_place_far(b, region, offset, size, &site);
}

void builder_grow_places(struct builder *b, uint32_t place)
{
	uint32_t room = MAX(64, place + place / 2 + 1);
	b->places = scattered_realloc(b->places, b->places_room * sizeof *b->places,
	                              room * sizeof *b->places);
	memset(b->places + b->places_room, 0, (room - b->places_room) * sizeof *b->places);
	b->places_room = room;
}

/* -- places of text traces, blocks --------------------------------------------------------- */

static uint32_t block_named(struct builder *b, const char *name, size_t length)
{
	uint32_t string = builder_string_find(b, name, length);
	return string == NONE ? NONE : builder_meaning(b, string)->block;
}

/* The block "*p" of "p->f" and "p[i]", as named by recordings. */
static uint32_t block_pointed_to(struct builder *b, const char *name, size_t end)
{
	g_autofree char *pointed = g_strdup_printf("*%.*s", (int)end, name);
	return block_named(b, pointed, end + 1);
}

/* The block of the longest prefix that names one, up to the end or a suffix of a block's
 * name. */
static uint32_t block_around(struct builder *b, const char *name, size_t length)
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

/* A name is a different object in each life of the enclosing block. */
uint32_t builder_object_text(struct builder *b, const char *name, size_t length)
{
	uint32_t i = builder_object(b, name, length);
	struct meaning *m = builder_meaning(b, AT(b->objects, struct object, i)->name);
	struct object now = *AT(b->objects, struct object, i);
	if (b->blocks->len == 0 || m->object_at == b->lives)
		return i;
	m->object_at = b->lives;
	uint32_t block = block_around(b, name, length);
	if (block == now.block)
		return i;
	if (now.block == NONE) { /* named before its block was allocated */
		AT(b->objects, struct object, i)->block = block;
		return i;
	}
	now.block = block;
	g_array_append_val(b->objects, now);
	m->object = b->objects->len - 1;
	return m->object;
}

/* "p+12": length of the base, and the offset; otherwise the whole name, offset 0. */
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
	struct meaning *m = builder_meaning(b, string);
	if (m->spot != NONE && m->spot_at == b->lives && m->spot_size == size)
		return m->spot;
	struct spot s = { .name = string, .size = size };
	uint32_t block = b->blocks->len ? block_around(b, name, length) : NONE;
	size_t base = base_length(name, length, &s.offset);
	s.region = region_intern(b, builder_string(b, name, base), block);
	m = builder_meaning(b, string);
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
	struct meaning *m = builder_meaning(b, string);
	m->block = b->blocks->len - 1;
	if (m->first_block == NONE)
		m->first_block = m->block;
	return m->block;
}

uint32_t builder_block_find(struct builder *b, const char *name, size_t length)
{
	uint32_t string = builder_string_find(b, name, length);
	return string == NONE ? NONE : builder_meaning(b, string)->block;
}

/* -- variables from places ----------------------------------------------------------------- */

/* A place and its position. */
struct order_key {
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
		return a->end > b->end ? -1 : 1; /* longest first */
	return a->spot < b->spot ? -1 : a->spot > b->spot;
}

/* The size of a place without one: the directive's; else the longest access at its offset, or
 * one byte. */
static uint32_t directive_size(struct builder *b, const struct spot *s)
{
	return s->size ? s->size : s->name ? builder_meaning(b, s->name)->size : 0;
}

struct cutter {
	struct builder *b;
	GArray *variables; /* struct variable */
	GArray *wides;     /* struct wide */
	struct wide *of;   /* by spot: its range; count >= 1 */
	/* of one region: begins and ends of places; their ends; variable of each cut */
	GArray *cuts, *ends, *first; /* uint64_t, uint64_t, uint32_t */
	GArray *keys;                /* struct order_key */
};

/* Set missing sizes of a region's places. */
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

static void append_plain_name(const struct builder *b, uint32_t region, uint64_t offset,
                              GString *name)
{
	g_string_append(name, builder_text(b, AT(b->regions, struct region, region)->name));
	if (offset)
		g_string_append_printf(name, "+%" G_GUINT64_FORMAT, offset);
}

void builder_append_plain_name(const struct builder *b, const struct variable *v, GString *name)
{
	append_plain_name(b, v->base,
	                  v->address - AT(b->regions, struct region, v->base)->address, name);
}

static uint32_t variable_name_at(struct cutter *c, const struct order_key *key, uint64_t offset)
{
	struct builder *b = c->b;
	const struct spot *s = AT(&b->spots, struct spot, key->spot);
	if (offset == key->offset && s->name)
		return s->name;
	g_autoptr(GString) text = g_string_new(NULL);
	append_plain_name(b, s->region, offset, text);
	return builder_string(b, text->str, text->len);
}

static void add_variable(struct cutter *c, const struct order_key *key, uint64_t offset,
                         uint64_t size)
{
	const struct region *r = AT(c->b->regions, struct region, key->region);
	bool recorded = r->levels > 0;
	struct variable v = { .block = r->block,
		              .address = r->address + offset,
		              .size = (uint32_t)size,
		              .base = recorded ? key->region : r->name };
	/* names of recordings are requested at the end */
	v.name = recorded ? NONE : variable_name_at(c, key, offset);
	g_array_append_val(c->variables, v);
}

/* First cut at or after an offset, from cut `from` on. */
static guint cut_at(const GArray *cuts, guint from, uint64_t offset)
{
	guint low = from, high = cuts->len;
	for (guint step = 1; low + step < cuts->len; step *= 2) { /* galloping search */
		if (g_array_index(cuts, uint64_t, low + step) >= offset) {
			high = low + step;
			break;
		}
	}
	return search_end(i, low, high, g_array_index(cuts, uint64_t, i) < offset);
}

/* Ends of places are nearly sorted, as their begins are. */
static void sort_nearly(uint64_t *numbers, size_t count)
{
	size_t moves = 0, most = 32 * count;
	for (size_t i = 1; i < count; i++) {
		uint64_t number = numbers[i];
		size_t k = i;
		for (; k > 0 && numbers[k - 1] > number; k--)
			numbers[k] = numbers[k - 1];
		numbers[k] = number;
		moves += i - k;
		if (moves > most) {
			qsort(numbers, count, sizeof *numbers, compare_u64);
			return;
		}
	}
}

/* Sorted, distinct begins and ends of places. */
static void collect_cuts(struct cutter *c, const struct order_key *keys, size_t count)
{
	g_array_set_size(c->ends, 0);
	g_array_set_size(c->cuts, 0);
	for (size_t i = 0; i < count; i++)
		if (c->ends->len == 0 || keys[i].end != keys[i - 1].end)
			g_array_append_val(c->ends, keys[i].end);
	uint64_t *ends = (uint64_t *)(void *)c->ends->data;
	sort_nearly(ends, c->ends->len);
	size_t next = 0, end = 0;
	while (next < count || end < c->ends->len) {
		bool begins =
		        next < count && (end == c->ends->len || keys[next].offset <= ends[end]);
		uint64_t cut = begins ? keys[next++].offset : ends[end++];
		if (c->cuts->len == 0 ||
		    g_array_index(c->cuts, uint64_t, c->cuts->len - 1) != cut)
			g_array_append_val(c->cuts, cut);
	}
}

/* Every interval between two cuts covered by a place is a variable; keys are sorted by offset,
 * so one sweep finds the covering places. Sets c->first, the variable of each cut. */
static void sweep(struct cutter *c, const struct order_key *keys, size_t count)
{
	guint n = c->cuts->len;
	uint64_t reach = 0;
	size_t next = 0, widest = 0;
	bool any = false;
	g_array_set_size(c->first, n);
	for (guint i = 0; i < n; i++) {
		uint64_t at = g_array_index(c->cuts, uint64_t, i);
		for (; next < count && keys[next].offset == at; next++)
			if (!any || keys[next].end > reach ||
			    keys[next].offset == keys[next].end) {
				reach = MAX(reach, keys[next].end);
				widest = next;
				any = true;
			}
		g_array_index(c->first, uint32_t, i) = c->variables->len;
		/* named by a place that begins here, if any */
		size_t key = next && keys[next - 1].offset == at ? next - 1 : widest;
		uint64_t size = i + 1 < n ? g_array_index(c->cuts, uint64_t, i + 1) - at : 0;
		bool point = next && keys[next - 1].offset == at && keys[next - 1].end == at;
		if (any && (reach > at || point))
			add_variable(c, &keys[key], at, reach > at ? size : 0);
	}
}

static void cut_region(struct cutter *c, struct order_key *keys, size_t count)
{
	settle_sizes(keys, count);
	collect_cuts(c, keys, count);
	sweep(c, keys, count);
	guint from = 0;
	for (size_t i = 0; i < count; i++) {
		from = cut_at(c->cuts, from, keys[i].offset);
		guint to = cut_at(c->cuts, from, keys[i].end);
		uint32_t first = g_array_index(c->first, uint32_t, from);
		c->of[keys[i].spot] = (struct wide){
			first, to > from ? g_array_index(c->first, uint32_t, to) - first : 1
		};
	}
}

/* A block that is never allocated in the trace (a stack; freed only) existed from the
 * beginning: earlier accesses lie in it, too. */
static void adopt_early_places(struct builder *b)
{
	guint regions = b->regions->len;
	g_autofree uint32_t *into = g_new(uint32_t, regions + 1);
	for (guint i = 0; i < regions; i++) {
		struct region r = *AT(b->regions, struct region, i);
		size_t length;
		const char *name = builder_string_at(b, r.name, &length);
		uint32_t block =
		        r.block == NONE && r.levels == 0 ? block_around(b, name, length) : NONE;
		into[i] = i;
		if (block != NONE && AT(b->blocks, struct block, block)->alloc == NONE)
			into[i] = region_intern(b, r.name, block);
	}
	for (guint i = 0; i < (uint32_t)b->spots.count; i++) {
		struct spot *s = AT(&b->spots, struct spot, i);
		if (s->name)
			s->region = into[s->region];
	}
	for (guint i = 0; i < b->objects->len; i++) {
		struct object *o = AT(b->objects, struct object, i);
		size_t length;
		const char *name = builder_string_at(b, o->name, &length);
		uint32_t block = o->block == NONE && o->address == 0
		                         ? block_around(b, name, length)
		                         : NONE;
		if (block != NONE && AT(b->blocks, struct block, block)->alloc == NONE)
			o->block = block;
	}
}

/* For text traces: sorted by region and offset. */
static void cut_text(struct cutter *c)
{
	struct builder *b = c->b;
	size_t n = 0;
	g_autofree struct order_key *keys =
	        g_new(struct order_key, (uint32_t)b->spots.count + 1);
	for (guint i = 0; i < (uint32_t)b->spots.count; i++) {
		const struct spot *s = AT(&b->spots, struct spot, i);
		if (AT(b->regions, struct region, s->region)->levels == 0)
			keys[n++] = (struct order_key){ s->region, i, s->offset,
				                        s->offset + directive_size(b, s) };
	}
	qsort(keys, n, sizeof *keys, by_place);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && keys[to].region == keys[from].region; to++)
			;
		cut_region(c, keys + from, to - from);
	}
}

/* Append the places that begin at one byte, longest first. */
static void collect_entry(struct cutter *c, uint32_t entry)
{
	guint from = c->keys->len;
	while (entry) {
		uint32_t index = (entry & ENTRY_SPOT) - 1;
		const struct spot *s = AT(&c->b->spots, struct spot, index);
		struct order_key key = { s->region, index, s->offset, s->offset + s->size };
		guint at = c->keys->len;
		while (at > from && by_place(AT(c->keys, struct order_key, at - 1), &key) > 0)
			at--;
		g_array_insert_val(c->keys, at, key);
		entry = s->next;
	}
}

static void collect_node(struct cutter *c, uint32_t node, unsigned level)
{
	for (unsigned i = 0; i < RADIX; i++) {
		uint32_t child = builder_node(c->b, node)[i];
		if (child && level > 1)
			collect_node(c, child, level - 1);
		else if (child)
			collect_entry(c, child);
	}
}

static void cut_recorded(struct cutter *c)
{
	struct builder *b = c->b;
	for (guint i = 0; i < b->regions->len; i++) {
		const struct region *r = AT(b->regions, struct region, i);
		if (r->root == 0)
			continue;
		g_array_set_size(c->keys, 0);
		collect_node(c, r->root, r->levels);
		cut_region(c, (struct order_key *)(void *)c->keys->data, c->keys->len);
	}
}

/* By place: its variable, or its range of variables. */
static uint32_t *settle_places(struct cutter *c)
{
	uint32_t *places = g_new(uint32_t, (uint32_t)c->b->spots.count + 1);
	for (guint i = 0; i < (uint32_t)c->b->spots.count; i++) {
		places[i] = c->of[i].first;
		if (c->of[i].count == 1)
			continue;
		g_array_append_val(c->wides, c->of[i]);
		places[i] = (c->wides->len - 1) | PLACE_WIDE;
	}
	return places;
}

static inline void resolve_target(const uint32_t *places, struct event *e)
{
	if (!op_is_access(e->op))
		return;
	uint32_t place = places[e->target];
	e->target = place & ~PLACE_WIDE;
	if (place & PLACE_WIDE)
		e->flags |= EVENT_WIDE;
}

/* Replace places by variables in all accesses that are at hand. */
static void resolve_targets(struct builder *b, const uint32_t *places)
{
	struct event *events = (struct event *)(void *)b->events.data;
	for (uint64_t i = 0; b->writer == NULL && i < b->events.count; i++)
		resolve_target(places, &events[i]);
	for (guint i = 0; i < b->telling.told->len; i++)
		resolve_target(places, &AT(b->telling.told, struct told, i)->event);
}

struct cut builder_cut_memory(struct builder *b)
{
	struct cutter c = { .b = b,
		            .variables =
		                    g_array_sized_new(FALSE, FALSE, sizeof(struct variable),
		                                      (guint)b->spots.count),
		            .wides = g_array_new(FALSE, FALSE, sizeof(struct wide)),
		            .of = g_new0(struct wide, (uint32_t)b->spots.count + 1),
		            .cuts = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		            .ends = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		            .first = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		            .keys = g_array_new(FALSE, FALSE, sizeof(struct order_key)) };
	if (b->blocks->len)
		adopt_early_places(b);
	cut_recorded(&c);
	cut_text(&c);
	uint32_t *places = settle_places(&c);
	resolve_targets(b, places);
	g_free(c.of);
	g_array_free(c.cuts, TRUE);
	g_array_free(c.ends, TRUE);
	g_array_free(c.first, TRUE);
	g_array_free(c.keys, TRUE);
	return (struct cut){ c.variables, c.wides, places };
}
