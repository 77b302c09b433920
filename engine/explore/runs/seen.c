/*
 * seen.c - the value that a read sees, as a number that is equal in all runs.
 *
 * It identifies the sequence of the read's bytes, since the variables that the bytes are
 * divided into depend on all accesses of a run: a byte of a known value is this value, or the
 * block and place in it if the whole value is a pointer; any other is known by its write and
 * the place in it. So a read that all of a run's accesses leave whole, and the same read in a
 * run where others touch single bytes of it, have one number.
 */
#include "engine/explore/runs/history_private.h"

#include "engine/explore/runs/final.h"
#include "engine/explore/runs/unseen.h"
#include "engine/trace/unexplained.h"

#include <string.h>

enum { PAGE = 4096 };

/* -- initial values ------------------------------------------------------------------------ */

/* A page of static data. */
struct initial_page {
	bool asked, loaded; /* loaded: the following are the bytes of the loaded program */
	uint8_t bytes[PAGE];
	uint64_t *learned; /* by byte, from reads: its number; or NULL; owned */
};

static void free_page(gpointer data)
{
	struct initial_page *page = data;
	g_free(page->learned);
	g_free(page);
}

void initials_begin(struct initials *i)
{
	i->pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_page);
	i->unseen = unseen_new();
}

void initials_end(struct initials *i)
{
	g_hash_table_unref(i->pages);
	g_hash_table_unref(i->unseen);
}

static bool learn_byte(const struct initials *i, uint64_t address, uint64_t number);

uint64_t initials_count(const struct initials *i)
{
	GHashTableIter iter;
	void *value;
	uint64_t count = 0;
	g_hash_table_iter_init(&iter, i->pages);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		for (int b = 0; ((struct initial_page *)value)->learned && b < PAGE; b++)
			count += ((struct initial_page *)value)->learned[b] != 0;
	return count;
}

void initials_archive(struct initials *i, struct archive *a)
{
	GHashTableIter iter;
	void *key, *value;
	size_t count = archive_count(a, initials_count(i), 2);
	for (size_t n = 0; archive_reads(a) && n < count; n++) {
		uint64_t address = archive_number(a, 0);
		learn_byte(i, address, archive_number(a, 0));
	}
	g_hash_table_iter_init(&iter, i->pages);
	while (!archive_reads(a) && g_hash_table_iter_next(&iter, &key, &value)) {
		const struct initial_page *page = value;
		for (int b = 0; page->learned && b < PAGE; b++)
			if (page->learned[b]) {
				archive_number(a, *(uint64_t *)key + (uint64_t)b);
				archive_number(a, page->learned[b]);
			}
	}
}

static struct initial_page *page_at(const struct initials *i, uint64_t address)
{
	uint64_t begin = address / PAGE * PAGE;
	struct initial_page *page = g_hash_table_lookup(i->pages, &begin);
	if (page != NULL)
		return page;
	page = g_new0(struct initial_page, 1);
	g_hash_table_insert(i->pages, g_memdup2(&begin, sizeof begin), page);
	return page;
}

/* False: another number is known. */
static bool learn_byte(const struct initials *i, uint64_t address, uint64_t number)
{
	struct initial_page *page = page_at(i, address);
	if (page->learned == NULL)
		page->learned = g_new0(uint64_t, PAGE);
	uint64_t *known = &page->learned[address % PAGE];
	*known = *known ? *known : number;
	return *known == number;
}

void initials_adopt(struct initials *i, const struct initials *other)
{
	GHashTableIter iter;
	void *key, *value;
	g_hash_table_iter_init(&iter, other->pages);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const struct initial_page *page = value;
		for (int b = 0; page->learned && b < PAGE; b++)
			if (page->learned[b])
				learn_byte(i, *(uint64_t *)key + (uint64_t)b, page->learned[b]);
	}
}

/* -- bytes --------------------------------------------------------------------------------- */

static uint64_t plain_byte(uint64_t integer, uint64_t at)
{
	return history_mix(4, integer >> 8 * at & 0xff);
}

/* Value that the bytes of an access hold. */
struct held {
	struct access_value value;
	uint64_t pointer; /* number of the whole value as a pointer, or as that of a child
	                   * process, if it is one; else 0 */
};
static const struct held nothing;

/* `viewer`: as in history_pointer. */
static void find_pointer(const struct history *h, struct held *held, uint32_t event,
                         uint32_t viewer)
{
	const struct access_value *v = &held->value;
	bool kernels = v->known && v->size >= sizeof(pid_t) &&
	               history_kernel_number(h, v->integer, &held->pointer);
	if (v->known && !kernels && v->size == sizeof(uint64_t))
		history_pointer(h, v->integer, event, viewer, &held->pointer);
}

static struct held held_by(const struct history *h, uint32_t event, bool written,
                           uint32_t viewer)
{
	struct held held = { .value = access_value(h->trace, event, written) };
	find_pointer(h, &held, event, viewer);
	return held;
}

static bool holds(const struct held *held, uint64_t address)
{
	return held->value.known && address - held->value.address < held->value.size;
}

static uint8_t byte_of(const struct held *held, uint64_t address)
{
	return (uint8_t)(held->value.integer >> 8 * (address - held->value.address));
}

static uint64_t byte_number(const struct held *held, uint64_t address)
{
	uint64_t at = address - held->value.address;
	return held->pointer ? history_mix(held->pointer, at)
	                     : plain_byte(held->value.integer, at);
}

/* The number of a byte of static data's initial value; 0: unknown. */
static uint64_t initial_byte(const struct history *h, const struct variable *v,
                             uint64_t address)
{
	if (v->block != NONE)
		return 0;
	struct initial_page *page = page_at(h->initials, address);
	uint64_t learned = page->learned ? page->learned[address % PAGE] : 0;
	if (!page->asked) /* only after the program was loaded for a run */
		page->loaded = h->initials->read != NULL &&
		               h->initials->read(h->initials->context, address / PAGE * PAGE,
		                                 page->bytes, PAGE);
	page->asked = true;
	return learned        ? learned
	       : page->loaded ? plain_byte(page->bytes[address % PAGE], 0)
	                      : 0;
}

bool history_begins_with(const struct history *h, uint32_t variable, uint64_t *integer)
{
	const struct variable *v = &h->trace->variables[variable];
	uint64_t value = 0;
	for (uint32_t i = 0; i < v->size; i++) {
		uint64_t number = initial_byte(h, v, v->address + i), byte = 0;
		while (byte < 256 && plain_byte(byte, 0) != number)
			byte++;
		if (byte == 256 || i == sizeof value)
			return false;
		value |= byte << 8 * i;
	}
	*integer = value;
	return v->size > 0;
}

void history_learn_initials(struct history *h)
{
	const struct trace *t = h->trace;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op) || !op_reads(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(t, x);
		struct event_list writers = trace_writers(t, e);
		struct held own = { 0 };
		for (uint32_t i = 0; i < run.count; i++) {
			const struct variable *v = &t->variables[run.first + i];
			if (writers.items[i] != NONE || v->block != NONE ||
			    channel_steps_variable(t, run.first + i))
				continue;
			if (!own.value.known)
				own = held_by(h, e, false, x->thread);
			bool same = true;
			for (uint32_t k = 0; k < v->size && holds(&own, v->address + k); k++)
				same &= learn_byte(h->initials, v->address + k,
				                   byte_number(&own, v->address + k));
			if (!same && h->otherwise == NONE &&
			    !unexplained_is_known(t, run.first + i, x->thread))
				h->otherwise = e;
		}
	}
}

/* -- sequences of bytes -------------------------------------------------------------------- */

/* Bytes of a value. Unknown bytes are joined if one write made them. */
struct bytes {
	const struct history *h;
	uint32_t viewer; /* history_pointer */
	uint64_t number;
	uint64_t from, length; /* for the unknown bytes at the end: offset in their write */
	uint32_t write;        /* theirs; NONE: initially */
};

static void end_unknown(struct bytes *b)
{
	if (b->length == 0)
		return;
	b->number = history_mix(b->number, history_write_number(b->h, b->write, b->viewer));
	b->number = history_mix(history_mix(b->number, b->from), b->length);
	b->length = 0;
}

static void add_known(struct bytes *b, uint64_t number)
{
	end_unknown(b);
	b->number = history_mix(b->number, number);
}

static void add_unknown(struct bytes *b, uint32_t write, uint64_t at)
{
	if (b->length == 0 || b->write != write || at != b->from + b->length) {
		end_unknown(b);
		b->write = write;
		b->from = at;
	}
	b->length++;
}

/* The number of a byte of known value whose last write (NONE: initially) is `write`; 0: it is
 * unknown. `wrote`: the value written; `own`: the value that the read itself saw of it, or
 * unknown. */
static uint64_t known_byte(const struct history *h, const struct variable *v, uint64_t address,
                           uint32_t write, const struct held *wrote, const struct held *own)
{
	bool mine = holds(own, address);
	if (holds(wrote, address) &&
	    (!mine || byte_of(own, address) == byte_of(wrote, address)))
		return byte_number(wrote, address);
	if (mine)
		return byte_number(own, address);
	return write == NONE ? initial_byte(h, v, address) : 0;
}

static struct held written_by(const struct history *h, uint32_t write, uint32_t viewer)
{
	return write == NONE ? nothing : held_by(h, write, true, viewer);
}

/* The offset of a byte in its write; of initial ones in their variable's memory. */
static uint64_t place_in(const struct held *wrote, uint64_t address)
{
	return address - wrote->value.address;
}

static void add_variable(struct bytes *b, uint32_t variable, uint32_t write,
                         const struct held *own)
{
	const struct variable *v = &b->h->trace->variables[variable];
	struct held wrote = written_by(b->h, write, b->viewer);
	for (uint64_t a = v->address; a < v->address + MAX(v->size, 1); a++) {
		uint64_t number = known_byte(b->h, v, a, write, &wrote, own);
		if (number != 0)
			add_known(b, number);
		else
			add_unknown(b, write, place_in(&wrote, a));
	}
}

static uint64_t number_of(const struct history *h, uint32_t read, const uint32_t *writers,
                          bool ended)
{
	const struct trace *t = h->trace;
	struct wide run = event_variables(t, &t->events[read]);
	struct event_list recorded = trace_writers(t, read);
	struct held own = ended ? nothing : held_by(h, read, false, t->events[read].thread);
	struct bytes b = { .h = h, .viewer = h->trace->events[read].thread, .number = 8 };
	for (uint32_t i = 0; i < run.count; i++)
		add_variable(&b, run.first + i, writers[i],
		             writers[i] == recorded.items[i] ? &own : &nothing);
	end_unknown(&b);
	return b.number;
}

uint64_t history_find_seen(const struct history *h, uint32_t read)
{
	if (lifetimes_ended(h->lifetimes, read) != NONE)
		return SEEN_AFTER_END; /* garbage */
	return number_of(h, read, trace_writers(h->trace, read).items, false);
}

uint64_t history_would_see(const struct history *h, uint32_t read, const uint32_t *writers)
{
	uint32_t count = event_variables(h->trace, &h->trace->events[read]).count;
	bool ended = lifetimes_ended(h->lifetimes, read) != NONE;
	if (!ended &&
	    memcmp(writers, trace_writers(h->trace, read).items, sizeof *writers * count) == 0)
		return history_seen(h, read); /* as recorded */
	return number_of(h, read, writers, ended);
}

uint64_t history_would_read(const struct history *h, uint32_t read, uint64_t integer)
{
	uint32_t viewer = h->trace->events[read].thread;
	struct held held = { .value = access_value(h->trace, read, false) };
	struct bytes b = { .h = h, .viewer = viewer, .number = 8 };
	held.value.known = true;
	held.value.integer = integer;
	find_pointer(h, &held, read, viewer);
	for (uint64_t a = held.value.address; holds(&held, a); a++)
		add_known(&b, byte_number(&held, a));
	return b.number;
}

uint64_t history_would_hold(const struct history *h, uint32_t read, uint64_t integer)
{
	struct access_value v = access_value(h->trace, read, false);
	struct bytes b = { .h = h, .viewer = h->trace->events[read].thread, .number = 8 };
	for (uint32_t i = 0; i < v.size; i++)
		add_known(&b, plain_byte(i < sizeof integer ? integer : 0, i % 8));
	return b.number;
}

/* -- final values -------------------------------------------------------------------------- */

/* Bytes that hold their initial values count as untouched: which bytes belong to the variable
 * depends on the run's accesses. */
struct thread_prefix history_final(const struct history *h, struct wide range,
                                   const uint32_t *writers)
{
	const struct trace *t = h->trace;
	const struct variable *first = &t->variables[range.first];
	uint64_t name = history_mix(11, g_str_hash(trace_variable_name(t, range.first)));
	uint64_t sum = name;
	for (uint32_t i = 0; i < range.count; i++) {
		const struct variable *v = &t->variables[range.first + i];
		struct held wrote = written_by(h, writers[i], NONE);
		for (uint64_t a = v->address; a < v->address + MAX(v->size, 1); a++) {
			uint64_t now = known_byte(h, v, a, writers[i], &wrote, &nothing);
			if (now == 0)
				now = history_mix(history_write_number(h, writers[i], NONE),
				                  place_in(&wrote, a));
			if (now != initial_byte(h, v, a))
				sum += history_mix(now, a - first->address);
		}
	}
	/* the number joins name and value, since callers add the numbers of several
	 * variables */
	uint64_t number = history_mix(name, sum);
	return (struct thread_prefix){ .who = name, .prefix = number, .alike = number };
}

void history_add_finals(struct history *h, const GPtrArray *names)
{
	for (guint i = 0; i < names->len; i++) {
		struct wide range = final_range(h->trace, names->pdata[i]);
		if (range.count == 0)
			continue;
		uint32_t *writers = final_writes(h->trace, range);
		struct thread_prefix part = history_final(h, range, writers);
		g_array_append_val(h->finals, part);
		g_free(writers);
	}
}
