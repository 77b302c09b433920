/*
 * memory.c - the memory of a trace under construction: blocks, address ranges, places of
 * accesses; and finally the variables.
 *
 * Places of text traces are hashed, as names come in any order. In recordings every access
 * needs a look-up: places of one size are bits of lines (struct line), which are hashed; large
 * regions of which much is used have tables of them, too, and each site remembers the line of
 * its last access.
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
		            .bytes = size,
		            .recorded = true };
	g_array_append_val(b->regions, r);
	return b->regions->len - 1;
}

void builder_free_lines(struct builder *b)
{
	for (guint i = 0; i < b->regions->len; i++) {
		struct line_tables *tables = AT(b->regions, struct region, i)->tables;
		for (int k = 0; tables && k < 2 * LINE_CODES; k++)
			g_free(tables->at[k / 2][k % 2]);
		g_clear_pointer(&AT(b->regions, struct region, i)->tables, g_free);
	}
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
	s.place = (uint32_t)b->spots.count;
	*(struct spot *)column_push(&b->spots) = s;
	b->spots_table.slots[at] = (uint32_t)b->spots.count;
	b->spots_table.count++;
	return (uint32_t)b->spots.count - 1;
}

/* -- places of recordings ------------------------------------------------------------------ */

static inline uint64_t line_key(uint32_t region, uint64_t low, unsigned code, unsigned step)
{
	return mix(low ^ (uint64_t)region << 32 ^ code << 4 ^ step);
}

static uint64_t line_hash(const void *of, uint32_t i)
{
	const struct builder *b = of;
	const struct line *l = AT(&b->lines, struct line, i);
	return line_key(l->region, l->low, l->code, l->step);
}

static uint32_t line_new(struct builder *b, uint32_t region, uint64_t low, unsigned code,
                         unsigned step)
{
	uint32_t block = AT(b->regions, struct region, region)->block;
	if (b->lines.count >= UINT32_MAX / LINE) {
		if (b->failure == NULL)
			b->failure = g_strdup("too many places in memory");
		return 0;
	}
	AT(b->regions, struct region, region)->lines++;
	*(struct line *)column_push(&b->lines) = (struct line){
		.low = low,
		.region = region,
		.block = block,
		.frames = b->clues.frames,
		.code = (uint8_t)code,
		.step = (uint8_t)step,
		.stack = block != NONE && AT(b->blocks, struct block, block)->alloc == NONE,
	};
	return (uint32_t)b->lines.count - 1;
}

static uint32_t line_intern(struct builder *b, uint32_t region, uint64_t low, unsigned code,
                            unsigned step)
{
	struct table *h = &b->lines_table;
	if (2 * (h->count + 1) > h->mask)
		builder_table_grow(h, line_hash, b);
	uint32_t at = (uint32_t)line_key(region, low, code, step) & h->mask;
	for (; h->slots[at]; at = (at + 1) & h->mask) {
		const struct line *l = AT(&b->lines, struct line, h->slots[at] - 1);
		if (l->low == low && l->region == region && l->code == code && l->step == step)
			return h->slots[at] - 1;
	}
	uint32_t line = line_new(b, region, low, code, step);
	h->slots[at] = line + 1;
	h->count++;
	return line;
}

/* Bytes of the regions whose lines have tables. */
enum { TABLE_FROM = 4096, TABLE_TO = 1 << 30 };

/* The entry of a line in its region's table; NULL: the region has none. It gets one when it has
 * a line for every few entries, so that a table costs less than the lines. */
static inline uint32_t *line_entry(struct region *r, uint64_t low, unsigned code, unsigned step)
{
	enum { ENTRIES = 16 };
	uint64_t count = (r->bytes >> (LINE_BITS + step)) + 1;
	if (r->bytes < TABLE_FROM || r->bytes > TABLE_TO || low >= r->bytes)
		return NULL;
	if (r->tables == NULL && r->lines < count / ENTRIES)
		return NULL;
	if (G_UNLIKELY(r->tables == NULL))
		r->tables = g_new0(struct line_tables, 1);
	uint32_t **at = &r->tables->at[code][step == code];
	if (G_UNLIKELY(*at == NULL) && r->lines >= count / ENTRIES)
		*at = g_new0(uint32_t, count);
	return *at ? &(*at)[low >> (LINE_BITS + step)] : NULL;
}

/* The entry of a line at the region's beginning: small blocks have no other lines, and these
 * are in no table. NULL: it is none. */
static inline uint32_t *begin_entry(struct region *r, uint64_t low, unsigned code,
                                    unsigned step)
{
	bool begins = low == 0 && step == code && code < G_N_ELEMENTS(r->begin);
	return begins ? &r->begin[code] : NULL;
}

static uint32_t line_of(struct builder *b, uint32_t region, uint64_t low, unsigned code,
                        unsigned step)
{
	struct region *r = AT(b->regions, struct region, region);
	uint32_t *entry = begin_entry(r, low, code, step);
	if (entry) {
		if (*entry == 0)
			*entry = line_new(b, region, low, code, step) + 1;
		return *entry - 1;
	}
	entry = line_entry(r, low, code, step);
	if (entry) {
		*entry = *entry ? *entry : line_intern(b, region, low, code, step) + 1;
		return *entry - 1;
	}
	uint64_t hash = (low >> LINE_BITS) ^ region * 37u ^ (code << 8) ^ (step << 4);
	struct recent_line *l = &b->recent_lines[hash % RECENT_LINES];
	if (l->line == 0 || l->low != low || l->region != region || l->code != code ||
	    l->step != step)
		*l = (struct recent_line){ low, region,
			                   line_intern(b, region, low, code, step) + 1,
			                   (uint8_t)code, (uint8_t)step };
	return l->line - 1;
}

static uint32_t odd_line(struct builder *b, uint32_t region)
{
	uint32_t line = line_new(b, region, 0, ODD_SIZE, 0);
	AT(&b->lines, struct line, line)->low = b->odd_spots->len;
	g_array_set_size(b->odd_spots, b->odd_spots->len + LINE);
	return line;
}

/* A place of another size: a struct spot, in a line of its region. */
static uint32_t odd_place(struct builder *b, uint32_t region, uint64_t offset, uint32_t size)
{
	uint64_t before = b->spots.count;
	struct spot sought = { .region = region, .offset = offset, .size = size };
	uint32_t spot = spot_intern(b, sought); /* spots may move */
	struct spot *s = AT(&b->spots, struct spot, spot);
	if (b->spots.count == before)
		return s->place;
	struct region *r = AT(b->regions, struct region, region);
	if (r->odd == 0 || ~AT(&b->lines, struct line, r->odd - 1)->met == 0)
		r->odd = odd_line(b, region) + 1;
	struct line *l = AT(&b->lines, struct line, r->odd - 1);
	uint32_t i = (uint32_t)__builtin_popcountll(l->met);
	s->place = (r->odd - 1) * LINE + i;
	l->met = l->met << 1 | 1;
	*AT(b->odd_spots, uint32_t, l->low + i) = spot;
	return s->place;
}

/* The code of a size, or ODD_SIZE. */
static inline unsigned size_code(uint32_t size)
{
	bool plain = size > 0 && size <= 16 && (size & (size - 1)) == 0;
	return plain ? (unsigned)__builtin_ctz(size) : ODD_SIZE;
}

/* A place that is not in the line `near`, which becomes the place's line if it has one of its
 * size. */
static uint32_t place_far(struct builder *b, uint64_t where, uint64_t offset,
                          struct near_line *near)
{
	uint32_t region = (uint32_t)(where >> 32) - 1, size = (uint32_t)where;
	unsigned code = size_code(size);
	if (code == ODD_SIZE)
		return odd_place(b, region, offset, size);
	unsigned step = offset & (size - 1) ? 0 : code;
	uint64_t low = offset >> (LINE_BITS + step) << (LINE_BITS + step);
	uint32_t line = line_of(b, region, low, code, step);
	*near = (struct near_line){ low, where, line * LINE, step };
	return near->first + (uint32_t)((offset - low) >> step);
}

uint32_t builder_access_place(struct builder *b, uint64_t where, uint64_t offset,
                              struct access_site *site)
{
	uint32_t size = (uint32_t)where;
	struct near_line *near = &site->near[(offset & (size - 1)) != 0];
	uint64_t i = (offset - near->low) >> near->step;
	return i < LINE && near->where == where ? near->first + (uint32_t)i
	                                        : place_far(b, where, offset, near);
}

uint64_t builder_noted(const struct builder *b, uint32_t first, uint32_t thread)
{
	const struct line *l = builder_line(b, first);
	if (!l->stack)
		return l->met & l->spent;
	return builder_is_own(b, l, thread) ? l->met & l->settled : 0;
}

struct place_memory builder_place_memory(const struct builder *b, uint32_t place)
{
	const struct line *l = builder_line(b, place);
	uint32_t i = place % LINE;
	struct place_memory m = { l->low + ((uint64_t)i << l->step), 1u << l->code, l->region,
		                  l->block };
	if (l->code == ODD_SIZE) {
		uint32_t spot = *AT(b->odd_spots, uint32_t, l->low + i);
		m.address = AT(&b->spots, struct spot, spot)->offset;
		m.size = AT(&b->spots, struct spot, spot)->size;
	}
	m.address += AT(b->regions, struct region, l->region)->address;
	return m;
}

uint64_t builder_local_address(const struct builder *b, uint32_t place)
{
	return builder_place_memory(b, place).address;
}

uint32_t builder_place(struct builder *b, uint32_t region, uint64_t offset, uint32_t size)
{
	struct near_line near = { 0 };
	uint32_t place = place_far(b, access_where(region, size), offset, &near);
	builder_line(b, place)->met |= line_bit(place);
	return place;
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
	if (now.block == NONE) { /* the object was named before its block was allocated */
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

/* Spot of a rest, of a place that an earlier batch has begun; `place` is its range. */
#define REST (NONE - 1)
/* A place and its position. `spot`: of a recording NONE in a line of its size. */
struct order_key {
	uint32_t region, place, spot;
	bool goes_on; /* a part, and the next batch of places has the rest */
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
	return a->place < b->place ? -1 : a->place > b->place;
}

/* The size of a place without one: the directive's; else the longest access at its offset, or
 * one byte. */
static uint32_t directive_size(struct builder *b, const struct spot *s)
{
	return s->size ? s->size : s->name ? builder_meaning(b, s->name)->size : 0;
}

enum { MADE = 64 };
struct cutter {
	struct builder *b;
	GArray *variables; /* struct variable */
	GArray *wides;     /* struct wide */
	uint32_t *places;  /* by place: its variable, or its range of variables */
	bool sized;        /* some place of the region has a size */
	/* of a part of the region: begins and ends of places; their ends; variable of each cut
	 */
	GArray *cuts, *ends, *first; /* uint64_t, uint64_t, uint32_t */
	GArray *reaches;             /* uint64_t: ends of those that go on in the next batch */
	struct order_key *keys;      /* the batch; owned */
	size_t key_count, key_room;
	/* variables that are still to be added to `variables` */
	struct variable made[MADE];
	uint32_t made_count;
};

/* Number of the next variable. */
static inline uint32_t next_variable(const struct cutter *c)
{
	return c->variables->len + c->made_count;
}

static void flush_made(struct cutter *c)
{
	g_array_append_vals(c->variables, c->made, c->made_count);
	c->made_count = 0;
}

/* Set missing sizes of places, where others of the region have one. */
static void settle_sizes(struct cutter *c, struct order_key *keys, size_t count)
{
	for (size_t i = 0; i < count && !c->sized; i++)
		c->sized = keys[i].end > keys[i].offset;
	if (!c->sized)
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
	bool recorded = r->recorded;
	struct variable v = { .block = r->block,
		              .address = r->address + offset,
		              .size = (uint32_t)size,
		              .base = recorded ? key->region : r->name };
	/* recordings' names are requested at the end */
	v.spelling = recorded ? NONE : variable_name_at(c, key, offset);
	c->made[c->made_count++] = v;
	if (c->made_count == MADE)
		flush_made(c);
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
	g_array_set_size(c->ends, (guint)count);
	g_array_set_size(c->cuts, (guint)(2 * count));
	uint64_t *ends = (uint64_t *)(void *)c->ends->data;
	uint64_t *cuts = (uint64_t *)(void *)c->cuts->data;
	size_t next = 0, end = 0, end_count = 0, cut_count = 0;
	for (size_t i = 0; i < count; i++)
		if (i == 0 || keys[i].end != keys[i - 1].end)
			ends[end_count++] = keys[i].end;
	sort_nearly(ends, end_count);
	while (next < count || end < end_count) {
		bool begins =
		        next < count && (end == end_count || keys[next].offset <= ends[end]);
		uint64_t cut = begins ? keys[next++].offset : ends[end++];
		if (cut_count == 0 || cuts[cut_count - 1] != cut)
			cuts[cut_count++] = cut;
	}
	g_array_set_size(c->ends, (guint)end_count);
	g_array_set_size(c->cuts, (guint)cut_count);
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
		g_array_index(c->first, uint32_t, i) = next_variable(c);
		/* named by a place that begins here, if any */
		size_t key = next && keys[next - 1].offset == at ? next - 1 : widest;
		uint64_t size = i + 1 < n ? g_array_index(c->cuts, uint64_t, i + 1) - at : 0;
		bool point = next && keys[next - 1].offset == at && keys[next - 1].end == at;
		if (any && (reach > at || point))
			add_variable(c, &keys[key], at, reach > at ? size : 0);
	}
}

/* Gives a place its variable, or its variables; those of its rest come later. */
static void take_variables(struct cutter *c, const struct order_key *key, struct wide range)
{
	if (key->spot == REST) {
		AT(c->wides, struct wide, key->place)->count += range.count;
		return;
	}
	c->places[key->place] = range.first;
	if (range.count == 1 && !key->goes_on)
		return;
	c->places[key->place] = c->wides->len | PLACE_WIDE;
	g_array_append_val(c->wides, range);
}

/* Places of one region, in order: all, or those that begin before a place, up to there. */
static void cut_places(struct cutter *c, struct order_key *keys, size_t count)
{
	settle_sizes(c, keys, count);
	collect_cuts(c, keys, count);
	sweep(c, keys, count);
	guint from = 0;
	for (size_t i = 0; i < count; i++) {
		from = cut_at(c->cuts, from, keys[i].offset);
		guint to = cut_at(c->cuts, from, keys[i].end);
		struct wide range = { g_array_index(c->first, uint32_t, from), 1 };
		if (to > from)
			range.count = g_array_index(c->first, uint32_t, to) - range.first;
		take_variables(c, &keys[i], range);
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
		        r.block == NONE && !r.recorded ? block_around(b, name, length) : NONE;
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

/* A region's places in order: its spots, or its lines of one size and step. */
struct stream {
	const struct order_key *spots, *spots_end;
	const uint32_t *lines, *lines_end;
	uint64_t rest;        /* places of the line before `lines` that are still to come */
	struct order_key key; /* the next place */
};

/* False at the end. */
static bool stream_next(const struct builder *b, struct stream *s)
{
	if (s->spots < s->spots_end) {
		s->key = *s->spots++;
		return true;
	}
	while (s->rest == 0) {
		if (s->lines == s->lines_end)
			return false;
		s->rest = AT(&b->lines, struct line, *s->lines++)->met;
	}
	uint32_t line = s->lines[-1], i = (uint32_t)__builtin_ctzll(s->rest);
	const struct line *l = AT(&b->lines, struct line, line);
	uint64_t offset = l->low + ((uint64_t)i << l->step);
	s->rest &= s->rest - 1;
	s->key = (struct order_key){ .region = l->region,
		                     .place = line * LINE + i,
		                     .spot = NONE,
		                     .offset = offset,
		                     .end = offset + (UINT64_C(1) << l->code) };
	return true;
}

enum { STREAMS = 10 }; /* five sizes at two steps each, except one byte; and spots */

/* Cuts the batch of places, up to the offset at which the next one begins. What reaches
 * beyond it is the first of the next batch, as rests: their number. */
static guint cut_keys(struct cutter *c, uint64_t limit)
{
	struct order_key *keys = c->keys;
	guint rests = 0;
	g_array_set_size(c->reaches, 0);
	settle_sizes(c, keys, c->key_count);
	for (size_t i = 0; i < c->key_count; i++) {
		keys[i].goes_on = keys[i].end > limit;
		if (!keys[i].goes_on)
			continue;
		g_array_append_val(c->reaches, keys[i].end);
		keys[i].end = limit;
	}
	if (c->key_count)
		cut_places(c, keys, c->key_count);
	for (size_t i = 0; i < c->key_count; i++) {
		if (!keys[i].goes_on)
			continue;
		uint32_t wide = keys[i].spot == REST ? keys[i].place
		                                     : c->places[keys[i].place] & ~PLACE_WIDE;
		keys[rests] =
		        (struct order_key){ .region = keys[i].region,
			                    .place = wide,
			                    .spot = REST,
			                    .offset = limit,
			                    .end = g_array_index(c->reaches, uint64_t, rests) };
		rests++;
	}
	c->key_count = rests;
	return rests;
}

/* The batch is one place, which is one variable: as most are. */
static inline void cut_one(struct cutter *c)
{
	const struct order_key *key = c->keys;
	c->sized = true;
	c->places[key->place] = next_variable(c);
	add_variable(c, key, key->offset, key->end - key->offset);
	c->key_count = 0;
}

static inline void add_key(struct cutter *c, const struct order_key *key)
{
	if (G_UNLIKELY(c->key_count == c->key_room)) {
		c->key_room = MAX(2 * c->key_room, 64);
		c->keys = g_renew(struct order_key, c->keys, c->key_room);
	}
	c->keys[c->key_count++] = *key;
}

/* The stream whose next place is the first one. */
static inline struct stream *first_stream(struct stream *streams, unsigned count)
{
	struct stream *first = streams;
	for (struct stream *s = streams + 1; s < streams + count; s++)
		if (s->key.offset < first->key.offset ||
		    (s->key.offset == first->key.offset && by_place(&s->key, &first->key) < 0))
			first = s;
	return first;
}

/* Cuts all places of the streams, sorted; in batches, since the keys of large regions would
 * take more memory than the variables. A batch ends where no place of it covers the next one,
 * and a long one anywhere. */
static void cut_streams(struct cutter *c, struct stream *streams, unsigned count)
{
	enum { MOST = 4096 };
	uint64_t reach = 0; /* end of the present batch's places: none covers this place */
	uint64_t last = 0;  /* offset of the last place */
	guint rests = 0;    /* of earlier batches' places in this one */
	bool sized = false; /* one of the present batch's places has a size */
	for (unsigned i = 0; i < count;)
		if (stream_next(c->b, &streams[i]))
			i++;
		else
			streams[i] = streams[--count];
	while (count > 0) {
		struct stream *first = first_stream(streams, count);
		const struct order_key *key = &first->key;
		bool apart = c->key_count > 0 && key->offset >= reach;
		bool most = c->key_count >= MOST + 2 * rests && key->offset > last;
		if (sized && apart && c->key_count == 1 && rests == 0 &&
		    c->keys[0].end > c->keys[0].offset)
			cut_one(c);
		else if (sized && (apart || most))
			rests = cut_keys(c, key->offset);
		last = key->offset;
		reach = MAX(reach, MAX(key->end, key->offset + 1));
		sized |= key->end > key->offset;
		add_key(c, key);
		if (!stream_next(c->b, first))
			*first = streams[--count];
	}
	cut_keys(c, UINT64_MAX);
}

static gint by_line(gconstpointer x, gconstpointer y, gpointer builder)
{
	const struct builder *b = builder;
	const struct line *l = AT(&b->lines, struct line, *(const uint32_t *)x),
	                  *m = AT(&b->lines, struct line, *(const uint32_t *)y);
	if (l->region != m->region)
		return l->region < m->region ? -1 : 1;
	if (l->code != m->code)
		return l->code < m->code ? -1 : 1;
	if (l->step != m->step)
		return l->step < m->step ? -1 : 1;
	return l->low < m->low ? -1 : l->low > m->low;
}

/* Indices of lines, by region, size and step; the caller's. */
static uint32_t *sorted_lines(struct builder *b)
{
	uint32_t *order = g_new(uint32_t, b->lines.count + 1);
	for (uint32_t i = 0; i < b->lines.count; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)b->lines.count, sizeof *order, by_line, b);
	return order;
}

/* Indices of spots, by region and offset; the caller's. */
static struct order_key *sorted_spots(struct builder *b)
{
	struct order_key *keys = g_new(struct order_key, b->spots.count + 1);
	for (uint32_t i = 0; i < b->spots.count; i++) {
		const struct spot *s = AT(&b->spots, struct spot, i);
		keys[i] = (struct order_key){ .region = s->region,
			                      .place = s->place,
			                      .spot = i,
			                      .offset = s->offset,
			                      .end = s->offset + directive_size(b, s) };
	}
	qsort(keys, b->spots.count, sizeof *keys, by_place);
	return keys;
}

/* Divide a region's lines, from lines[*next] on, into streams; the number of these. */
static unsigned line_streams(const struct builder *b, uint32_t region, const uint32_t *lines,
                             uint64_t *next, struct stream *streams)
{
	const struct line *last = NULL;
	unsigned count = 0;
	for (; *next < b->lines.count; ++*next) {
		const struct line *l = AT(&b->lines, struct line, lines[*next]);
		if (l->region != region)
			break;
		if (l->code == ODD_SIZE)
			continue;
		if (!last || last->code != l->code || last->step != l->step)
			streams[count++] = (struct stream){ .lines = lines + *next };
		streams[count - 1].lines_end = lines + *next + 1;
		last = l;
	}
	return count;
}

static void cut_regions(struct cutter *c)
{
	struct builder *b = c->b;
	g_autofree uint32_t *lines = sorted_lines(b);
	g_autofree struct order_key *spots = sorted_spots(b);
	uint64_t line = 0, from = 0, to = 0;
	for (guint region = 0; region < b->regions->len; region++, from = to) {
		struct stream streams[STREAMS];
		unsigned count = line_streams(b, region, lines, &line, streams);
		c->sized = false;
		while (to < b->spots.count && spots[to].region == region)
			to++;
		if (count == 0 && to > from) { /* mostly a text's */
			cut_places(c, spots + from, to - from);
			continue;
		}
		streams[count++] =
		        (struct stream){ .spots = spots + from, .spots_end = spots + to };
		cut_streams(c, streams, count);
	}
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

/* Replace places by variables in all accesses in memory. */
static void resolve_targets(struct builder *b, const uint32_t *places)
{
	struct event *events = (struct event *)(void *)b->events.data;
	for (uint64_t i = 0; b->writer == NULL && i < b->events.count; i++)
		resolve_target(places, &events[i]);
	for (uint64_t i = 0; i < b->clues.list.count; i++)
		resolve_target(places, &AT(&b->clues.list, struct clue, i)->event);
}

/* A place without accesses gets the value of the place before it, so that the table's
 * differences, which the file has, are mostly 0. */
static void fill_places(const struct builder *b, uint32_t *places)
{
	for (uint64_t i = 0; i < b->lines.count; i++) {
		const struct line *l = AT(&b->lines, struct line, i);
		for (uint32_t k = 0; k < LINE && ~l->met; k++)
			if (!(l->met >> k & 1) && i + k > 0)
				places[i * LINE + k] = places[i * LINE + k - 1];
	}
}

struct cut builder_cut_memory(struct builder *b)
{
	/* places of recordings are numbered by lines, those of texts are the spots */
	uint64_t places = b->lines.count ? b->lines.count * LINE : b->spots.count;
	struct cutter c = { .b = b,
		            .variables = g_array_new(FALSE, FALSE, sizeof(struct variable)),
		            .wides = g_array_new(FALSE, FALSE, sizeof(struct wide)),
		            .places = scattered_new0(uint32_t, places + 1),
		            .cuts = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		            .ends = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		            .first = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		            .reaches = g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
	if (b->blocks->len)
		adopt_early_places(b);
	cut_regions(&c);
	flush_made(&c);
	fill_places(b, c.places);
	resolve_targets(b, c.places);
	g_array_free(c.cuts, TRUE);
	g_array_free(c.ends, TRUE);
	g_array_free(c.first, TRUE);
	g_free(c.keys);
	g_array_free(c.reaches, TRUE);
	return (struct cut){ c.variables, c.wides, c.places, places };
}
