/*
 * memory.c - the memory of a trace under construction: blocks, address ranges, places of
 * accesses. memory_cut.c makes variables of them.
 *
 * Places of text traces are hashed, as names come in any order. In recordings every access
 * needs a look-up: places of one size are bits of lines (struct line), which are hashed; large
 * regions of which much is used have tables of them, too, and each site remembers the line of
 * its last access.
 */
#include "engine/base/scattered.h"
#include "engine/trace/builder/builder_private.h"
#include "engine/trace/binary/tape.h"

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
	bool stack = block != NONE && AT(b->blocks, struct block, block)->alloc == NONE;
	uint32_t frames = b->clues.frames_at->len;
	if (stack)
		g_array_set_size(b->clues.frames_at, frames + LINE);
	AT(b->regions, struct region, region)->lines++;
	*(struct line *)column_push(&b->lines) = (struct line){
		.low = low,
		.region = region,
		.block = block,
		.frames = frames,
		.code = (uint8_t)code,
		.step = (uint8_t)step,
		.stack = stack,
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
	const struct line *l = builder_line(b, place);
	if (G_UNLIKELY(l->code == ODD_SIZE))
		return builder_place_memory(b, place).address;
	return AT(b->regions, struct region, l->region)->address + l->low +
	       ((uint64_t)(place % LINE) << l->step);
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

void builder_adopt_early_places(struct builder *b)
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
