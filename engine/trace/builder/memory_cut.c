/*
 * memory_cut.c - from places to variables: the places of each address range, in order, are cut
 * where one of them begins or ends, so that each access covers whole variables.
 */
#include "engine/base/compare.h"
#include "engine/base/scattered.h"
#include "engine/base/search.h"
#include "engine/trace/builder/builder_private.h"
#include "engine/trace/binary/tape.h"

#include <stdlib.h>

/* The `spot` of a key for the rest of a place whose beginning was in an earlier batch; its
 * `place` is then the range of variables that the place has so far. */
#define REST (NONE - 1)
/* A place and its position. `spot`: its index in the builder's spots; NONE for a place of a
 * recording's line, whose size the line has. */
struct order_key {
	uint32_t region, place, spot;
	bool goes_on; /* the next batch of places has the rest of this one */
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
	/* Of the part of the region that the batch covers. */
	GArray *cuts;           /* uint64_t: where places begin or end */
	GArray *ends;           /* uint64_t: where places end */
	GArray *first;          /* uint32_t: by cut, the variable that begins there */
	GArray *reaches;        /* uint64_t: ends of the places that go on in the next batch */
	struct order_key *keys; /* the batch; owned */
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
		builder_adopt_early_places(b);
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
