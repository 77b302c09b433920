/*
 * import_shorts.c - short records of accesses, which most records are, of sites that were met
 * before: from the words of the log to the trace's tape in one loop. The event between them is
 * in memory only where analyses watch, or where there is no tape. Calls and returns, which are
 * many, come between them without an end of the loop.
 */
#include "engine/base/hash.h"
#include "engine/record/codec.h"
#include "engine/record/import/import_private.h"
#include "engine/trace/storage.h"
#include "engine/trace/binary/tape_row.h"

/* Accesses of a thread that are added at once. */
struct batch {
	struct import *im;
	struct lane *lane;
	struct log_reader *reader;
	struct access_room room;
	uint32_t count; /* of events that are there */
	uint32_t calls; /* of these, of ENTER and LEAVE */
	/* The word that ends at `at` has the event number at - zero of the batch. */
	const uint64_t *zero;
	bool more; /* next_shorts ended before it knew whether it had to */
};

static inline uint32_t number_at(const struct batch *batch, const uint64_t *at)
{
	return batch->room.first + (uint32_t)(at - batch->zero);
}

/* An access: `head` as of struct import_site. */
struct found {
	uint64_t head;
	uint32_t place, value;
};

/* Sites know lines for one thread, whose accesses to them the builder has noted, until memory
 * becomes another block. */
static void renew_right(struct import *im, struct lane *lane)
{
	if (lane->right == 0 || lane->lives != im->all_lives->len)
		lane->right = ++im->rights;
	lane->lives = im->all_lives->len;
}

/* Number of consecutive places from `low` on, 1 << step bytes apart, that lie in the life;
 * without a life, all or none. */
static uint8_t places_in_row(struct import *im, const struct block_life *life, uint64_t low,
                             unsigned step)
{
	uint64_t end = low + ((uint64_t)LINE_PLACES << step);
	if (life)
		return (uint8_t)MIN(LINE_PLACES, ((life->high - low - 1) >> step) + 1);
	life = import_life_below(im, end - 1);
	return !life || life->high <= low ? LINE_PLACES : 0;
}

/* The kept line of accesses of the site at an address; a line has at most two. */
static struct import_line *kept_line(struct import *im, const struct import_site *site,
                                     uint64_t address)
{
	unsigned code = log_site_code(site->key);
	uint64_t hash = hash_word(address >> (LINE_BITS + code) << 3 | code);
	return &im->lines[hash >> 53 & (LINES_KEPT - 1)];
}

static void keep_line(struct import *im, const struct import_site *site, uint64_t address)
{
	*kept_line(im, site, address) = (struct import_line){ .low = site->low,
		                                              .noted = site->noted,
		                                              .life = site->life,
		                                              .near = site->site.near[0],
		                                              .right = site->right,
		                                              .places = site->places };
}

/* A place that is not in the line where the site was last, which becomes its line; NONE:
 * import_record has to find it. */
static __attribute__((noinline)) uint32_t move_site(struct import *im, struct import_site *site,
                                                    const struct lane *lane, uint64_t address)
{
	struct block_life *life = site->life;
	const struct near_line *near = &site->site.near[0];
	if (site->key == 0 || log_site_code(site->key) == LOG_RANGE)
		return NONE;
	if (life == NULL || life->dead || address - life->low >= life->high - life->low) {
		life = import_life(im, address);
		if (life == NULL && im->rebase)
			return NONE;
		site->life = life;
		site->where = import_where(im, life, (uint32_t)site->where);
	}
	uint64_t low = life ? life->low : 0, offset = address - low;
	uint32_t place = builder_access_place(im->b, site->where, offset, &site->site);
	site->places = 0;
	if (near->where == site->where && offset % (uint32_t)site->where == 0) {
		site->low = low + near->low;
		site->noted = builder_noted(im->b, near->first, lane->thread);
		site->step = (uint8_t)near->step;
		site->places = places_in_row(im, life, site->low, near->step);
		site->right = lane->right;
		keep_line(im, site, address);
	}
	return place;
}

/* The value of an access at which the builder has to look. */
static inline uint32_t look(const struct batch *batch, const struct import_site *site,
                            uint32_t place, const uint64_t *at, unsigned how, uint64_t value)
{
	struct import *im = batch->im;
	if (G_UNLIKELY(im->rebase))
		value = import_value(im, value);
	return builder_look(im->b, site->head | batch->room.thread, place, number_at(batch, at),
	                    how, (int64_t)value);
}

/* The builder is to look at an access of the i-th place of its site's, unless it has noted the
 * place meanwhile and the value is plain. `small`: the value then; returns that of the event.
 */
static __attribute__((noinline)) uint32_t look_near(const struct batch *batch,
                                                    struct import_site *site, uint64_t i,
                                                    const uint64_t *at, uint32_t small,
                                                    uint64_t value)
{
	struct builder *b = batch->im->b;
	unsigned how = LOOK_AGAIN | (small ? LOOK_VALUED : 0);
	uint32_t first = site->site.near[0].first, place = first + (uint32_t)i;
	if (!(site->noted >> i & 1))
		site->noted = builder_noted(b, first, batch->room.thread);
	if (site->noted >> i & 1 || builder_noted_in_call(b, place, batch->room.thread)) {
		if (value < batch->room.plain || !small)
			return small;
		if (G_LIKELY(batch->im->rebase == NULL &&
		             !block_bounds_have(&batch->room.blocks, value)))
			return builder_integer(b, (int64_t)value);
		how |= LOOK_NOTED;
	}
	return look(batch, site, place, at, how, value);
}

/* Which of the places is at the address; not below site.places: none of them. */
static inline uint64_t site_index(const struct import_site *site, uint64_t address)
{
	uint64_t i = address - site->low;
	return i >> site->step | i << (-site->step & 63); /* large between two places */
}

/* The same where the thread has accessed the line by another instruction, or by this one before
 * the last time: false where none is kept. */
static bool move_back(struct import *im, struct import_site *site, const struct lane *lane,
                      uint64_t address)
{
	struct import_line *line = kept_line(im, site, address);
	uint64_t distance = address - line->low, i = distance >> line->near.step;
	if (line->right != lane->right || i >= line->places || site->key == 0 ||
	    distance != i << line->near.step ||
	    (uint32_t)line->near.where != (uint32_t)site->where)
		return false;
	if (!(line->noted >> i & 1))
		line->noted = builder_noted(im->b, line->near.first, lane->thread);
	site->low = line->low;
	site->noted = line->noted;
	site->life = line->life;
	site->where = line->near.where;
	site->site.near[0] = line->near;
	site->step = (uint8_t)line->near.step;
	site->places = line->places;
	site->right = line->right;
	return true;
}

/* The value of the short record at *at, from its site's last; moves *at to its last word.
 * False: the log may end before the value. `small`: as the event's; 0: not known. */
static inline __attribute__((always_inline)) bool short_value(const uint64_t **at,
                                                              const uint64_t *end,
                                                              uint64_t word, uint64_t *value,
                                                              uint32_t *small)
{
	uint64_t field = log_short_field(word);
	*small = 0;
	if (G_LIKELY(field > LOG_DELTA_FOLLOWS)) {
		*value += log_short_difference(word);
	} else if (field == LOG_DELTA_FOLLOWS) {
		if (end - *at <= 2 || ((*at)[1] == 0 && (*at)[2] == 0))
			return false;
		*value = *++*at;
	} else {
		return true;
	}
	*small = VALUE_INTEGER | (uint32_t)*value;
	return true;
}

/* An access of a site whose sizes differ, as of memcpy: its place; NONE: import_record has to.
 */
static uint32_t range_place(struct import *im, struct import_site *site, uint64_t address,
                            uint64_t size)
{
	struct block_life *life = site->life;
	if (life == NULL || life->dead || address - life->low >= life->high - life->low)
		site->life = life = import_life(im, address);
	if (life == NULL && im->rebase)
		return NONE;
	return builder_access_place(im->b, import_where(im, life, size),
	                            address - (life ? life->low : 0), &site->site);
}

/* The short record at `at` of the i-th place of its site's: its last word; NULL: the log may
 * end before its value. */
static __attribute__((noinline)) const uint64_t *
near_short(const struct batch *batch, const uint64_t *at, struct import_site *site,
           struct log_site *last, uint64_t i, struct found *f)
{
	uint64_t word = *at, value = last->value;
	const uint64_t *end = at;
	if (!short_value(&end, batch->reader->end, word, &value, &f->value))
		return NULL;
	f->head = site->head;
	f->place = site->site.near[0].first + (uint32_t)i;
	if (!(site->noted >> i & 1) || value >= batch->room.plain)
		f->value = look_near(batch, site, i, at, f->value, value);
	last->address += log_short_offset(word);
	last->value = value;
	return end;
}

/* The short record of the site at an address that it is not known to be near; false, and
 * nothing done, where import_record has to. f->value: that of the event if it is plain. */
static __attribute__((noinline)) bool far_short(struct batch *batch, struct import_site *site,
                                                uint64_t address, uint64_t value,
                                                const uint64_t *at, struct found *f)
{
	struct import *im = batch->im;
	unsigned how = f->value ? LOOK_VALUED : 0;
	if (log_site_code(site->key) == LOG_RANGE) { /* its value is its size */
		f->place = range_place(im, site, address, value);
		value = how = 0;
	} else {
		f->place = move_site(im, site, batch->lane, address);
	}
	if (f->place == NONE)
		return false;
	f->value = look(batch, site, f->place, at, how, value);
	return true;
}

/* The short record at `at` of this site, which is not where it was: its last word; NULL, and
 * nothing done, where import_record has to. */
static __attribute__((noinline)) const uint64_t *
other_short(struct batch *batch, const uint64_t *at, struct import_site *site,
            struct log_site *last, struct found *f)
{
	uint64_t word = *at, value = last->value;
	uint64_t address = (last->address + log_short_offset(word)) & LOG_ADDRESS_MASK;
	const uint64_t *end = at;
	if (site->key != last->key ||
	    !short_value(&end, batch->reader->end, word, &value, &f->value))
		return NULL;
	f->head = site->head;
	if (log_site_code(site->key) != LOG_RANGE &&
	    move_back(batch->im, site, batch->lane, address)) {
		uint64_t i = site_index(site, address);
		f->place = site->site.near[0].first + (uint32_t)i;
		if (!(site->noted >> i & 1) || value >= batch->room.plain)
			f->value = look_near(batch, site, i, at, f->value, value);
	} else if (!far_short(batch, site, address, value, at, f)) {
		return NULL;
	}
	last->address = address;
	last->value = value;
	return end;
}

/* One of two records in a word, an access without a value at that distance from its site's
 * last. False, and nothing done, where import_record has to. */
static bool half_again(struct batch *batch, uint64_t half, struct found *f)
{
	struct import *im = batch->im;
	const uint64_t *at = batch->zero + batch->count;
	const struct lane *lane = batch->lane;
	unsigned slot = log_half_slot(half);
	struct import_site *site = &im->sites[slot];
	struct log_site *last = &batch->reader->sites.at[slot];
	uint64_t address = (last->address + log_half_offset(half)) & LOG_ADDRESS_MASK;
	uint64_t i = site_index(site, address);
	bool near = i < site->places && site->right == lane->right;
	if (site->key != last->key)
		return false;
	f->place = near ? site->site.near[0].first + (uint32_t)i
	                : move_site(im, site, lane, address);
	if (f->place == NONE)
		return false;
	last->address = address;
	f->head = site->head;
	f->value = 0;
	if (!near)
		look(batch, site, f->place, at, 0, 0);
	else if (!(site->noted >> i & 1))
		look_near(batch, site, i, at, 0, 0);
	return true;
}

/* -- where the accesses go ------------------------------------------------------------------ */

/* The functions of the loop are made once for each. */
enum { TO_TAPE = 1, TO_ROOM = 2 };

static __attribute__((noinline)) void put_other(struct batch *batch, struct found f,
                                                const uint64_t *at)
{
	struct event e = access_event(f.head | batch->room.thread, f.place, f.value);
	builder_put_access(batch->im->b, &e, number_at(batch, at));
}

/* The access whose word is at `at`. */
static inline __attribute__((always_inline)) void put(struct batch *batch, struct tape_row *row,
                                                      const struct found *f, const uint64_t *at,
                                                      bool small, unsigned to)
{
	if (to & TO_ROOM)
		batch->room.events[at - batch->zero] =
		        access_event(f->head | batch->room.thread, f->place, f->value);
	if (to & TO_TAPE && G_UNLIKELY(!row_put(row, f->head, f->place, f->value, small))) {
		row_end(row);
		batch->room.tape->at = row->at;
		put_other(batch, *f, at);
		row_begin(row, batch->room.tape->tape, batch->room.tape->at,
		          batch->room.thread);
	}
}

static inline __attribute__((always_inline)) void begin(const struct batch *batch,
                                                        struct tape_row *row, unsigned to)
{
	const struct tape_end *t = batch->room.tape;
	if (to & TO_TAPE)
		row_begin(row, t->tape, t->at, batch->room.thread);
}

static inline __attribute__((always_inline)) void
end_row(struct batch *batch, const struct tape_row *row, unsigned to)
{
	if (to & TO_TAPE) {
		row_end(row);
		batch->room.tape->at = row->at;
	}
}

/* The short record ENTER at `at`, of a slot whose last one was of this kind, or a LEAVE: the
 * number of its events; 0, and nothing done, where import_record has to. */
static __attribute__((noinline)) uint32_t put_calls(struct batch *batch, const uint64_t *at)
{
	struct log_sites *sites = &batch->reader->sites;
	uint32_t number = number_at(batch, at), events;
	uint32_t room = batch->room.first + batch->room.count - number;
	if (G_UNLIKELY(batch->im->running != NULL))
		return 0; /* each record is shown to it */
	if (log_is_short(*at)) {
		struct log_site *last = &sites->at[log_short_slot(*at)];
		const struct log_record enter = {
			.tag = LOG_ENTER,
			.slot = log_short_slot(*at),
			.pc = log_word_pc(last->key),
			.address = last->address & LOG_ADDRESS_MASK,
			.value = last->value + log_short_difference(*at),
			.left = log_short_offset_field(*at),
		};
		if (log_short_field(*at) <= LOG_DELTA_FOLLOWS)
			return 0;
		events = import_calls(batch->im, batch->lane, &enter, number, room);
		if (events > 0)
			last->value = enter.value;
	} else {
		const struct log_record leave = { .tag = LOG_LEAVE, .pc = log_word_pc(*at) };
		if (sites->at[log_site_slot(LOG_LEAVE)].key != LOG_LEAVE)
			return 0; /* the first one in a chunk becomes its site's */
		events = import_calls(batch->im, batch->lane, &leave, number, room);
	}
	batch->calls += events;
	return events;
}

/* The same in the loop; *stop: where the room ends. */
static inline __attribute__((always_inline)) bool call_between(struct batch *batch,
                                                               struct tape_row *row,
                                                               const uint64_t *at,
                                                               const uint64_t **stop)
{
	row_end(row);
	batch->room.tape->at = row->at;
	uint32_t events = put_calls(batch, at);
	row_begin(row, batch->room.tape->tape, batch->room.tape->at, batch->room.thread);
	if (events == 0)
		return false;
	batch->zero -= events - 1; /* the record has one word */
	*stop -= MIN(*stop - at, (ptrdiff_t)events - 1);
	return true;
}

/* The compiler takes a number as it is here, and does not make it again by other steps. */
#define AS_IT_IS(number) __asm__("" : "+r"(number))

/* The next short records of a word of their own, or with a value's, as long as they are
 * accesses whose sites were met before. (What only other functions need is in the batch, the
 * loop's own in registers.) */
static inline __attribute__((always_inline)) void next_shorts(struct batch *batch, unsigned to)
{
	const uint64_t *at = batch->reader->at, *end = batch->reader->end;
	const uint64_t *stop = at + MIN(end - at, batch->room.count - batch->count);
	char *sites = (char *)batch->im->sites, *lasts = (char *)batch->reader->sites.at;
	uint32_t right = batch->lane->right;
	uint64_t plain = batch->room.plain;
	batch->zero = at - batch->count;
	struct tape_row row;
	begin(batch, &row, to);
	for (; at < stop; at++) {
		struct found f;
		uint64_t word = *at, slot = log_short_slot_or_more(word);
		if (G_UNLIKELY(slot >= LOG_SITES)) {
			if (!log_reader_far(batch->reader, at)) {
				if (to == TO_TAPE && !log_is_short_or_pair(word) &&
				    log_word_tag(word) == LOG_LEAVE &&
				    call_between(batch, &row, at, &stop))
					continue;
				break;
			}
			word = *++at;
			slot = log_short_slot(word);
			batch->zero++;
		}
		slot *= sizeof(struct log_site);
		AS_IT_IS(slot);
		struct import_site *site = (void *)(sites + slot * (sizeof(struct import_site) /
		                                                    sizeof(struct log_site)));
		struct log_site *last = (void *)(lasts + slot);
		uint64_t address = last->address + log_short_offset(word), value = last->value;
		uint64_t i = site_index(site, address), field = log_short_field(word);
		f.head = site->head;
		f.place = site->site.near[0].first + (uint32_t)i;
		bool near = site->key == last->key && i < site->places && site->right == right;
		if (G_LIKELY(near && field > LOG_DELTA_FOLLOWS)) {
			value += log_short_difference(word);
			last->address =
			        address; /* may be too large: masked where that counts */
			last->value = value;
			if (G_LIKELY(site->noted >> i & 1 && value < plain)) {
				f.value = VALUE_INTEGER | (uint32_t)value;
				put(batch, &row, &f, at, true, to);
				continue;
			}
			f.value = look_near(batch, site, i, at, VALUE_INTEGER | (uint32_t)value,
			                    value);
		} else if (to == TO_TAPE && log_word_tag(last->key) == LOG_ENTER) {
			if (!call_between(batch, &row, at, &stop))
				break;
			continue;
		} else {
			struct found other;
			const uint64_t *done =
			        near ? near_short(batch, at, site, last, i, &other)
			             : other_short(batch, at, site, last, &other);
			if (done == NULL)
				break;
			batch->zero += done - at;
			at = done;
			f = other;
		}
		put(batch, &row, &f, at, false, to);
	}
	batch->count = (uint32_t)(at - batch->zero);
	batch->more = at >= stop && at < end;
	batch->reader->at = at;
	end_row(batch, &row, to);
}

/* Are the next records, or is the next one, in a word of two? */
static bool at_pair(const struct log_reader *reader)
{
	return reader->second ||
	       (reader->at < reader->end && *reader->at >= (LOG_SHORT | LOG_PAIR));
}

/* The next records in words of two: the accesses, up to one that is none or whose site was not
 * met before. */
static inline __attribute__((always_inline)) void next_pairs(struct batch *batch, unsigned to)
{
	struct log_reader *reader = batch->reader;
	struct tape_row row;
	batch->more = false;
	batch->zero = reader->at;
	begin(batch, &row, to);
	for (; batch->count < batch->room.count && at_pair(reader); batch->count++) {
		uint64_t second = 0, half = reader->second;
		struct found f;
		if (!half)
			half = log_pair_halves(*reader->at, &second);
		if (!half_again(batch, half, &f))
			break;
		if (!reader->second)
			reader->at++;
		reader->second =
		        reader->second || second == LOG_HALF_NONE ? 0 : second | LOG_PAIR;
		put(batch, &row, &f, batch->zero + batch->count, false, to);
	}
	end_row(batch, &row, to);
}

#define MAKE(suffix, to) \
	static __attribute__((noinline)) void shorts_##suffix(struct batch *batch) \
	{ \
		next_shorts(batch, to); \
	} \
	static __attribute__((noinline)) void pairs_##suffix(struct batch *batch) \
	{ \
		next_pairs(batch, to); \
	}
MAKE(tape, TO_TAPE)
MAKE(room, TO_ROOM)
MAKE(both, TO_TAPE | TO_ROOM)
#undef MAKE

/* The next accesses of the thread. */
static void end_batch(const struct batch *batch)
{
	struct import *im = batch->im;
	struct error error;
	if (batch->count == 0 || builder_added(im->b, &batch->room, batch->count))
		return;
	for (uint32_t i = 0; i < batch->count; i++)
		if (!builder_add(im->b, batch->room.events[i], 0, &error))
			import_refused(im, batch->lane, batch->lane->ordinal + i, &error);
}

/* May the next record be one of these? */
static inline bool at_short(const struct log_reader *reader)
{
	return reader->second ||
	       (reader->at < reader->end &&
	        (log_is_short_or_pair(*reader->at) || log_word_tag(*reader->at) == LOG_FAR));
}

void import_shorts(struct import *im, struct lane *lane, struct log_reader *reader)
{
	typedef void next(struct batch *);
	static next *const shorts[] = { NULL, shorts_tape, shorts_room, shorts_both };
	static next *const pairs[] = { NULL, pairs_tape, pairs_room, pairs_both };
	struct batch batch;
	if (!at_short(reader))
		return;
	batch.im = im;
	batch.lane = lane;
	batch.reader = reader;
	renew_right(im, lane);
	while (builder_room(im->b, lane->thread, &batch.room)) {
		unsigned to =
		        (batch.room.tape ? TO_TAPE : 0) | (batch.room.events ? TO_ROOM : 0);
		bool more;
		if (im->rebase)
			batch.room.plain = 0; /* they may be addresses */
		batch.count = batch.calls = 0;
		batch.more = false;
		do {
			uint32_t before = batch.count;
			bool pair = at_pair(reader);
			(pair ? pairs : shorts)[to](&batch);
			/* each has gone on as far as it can */
			more = batch.count > before && (batch.more || at_pair(reader) != pair);
		} while (more && batch.count < batch.room.count);
		end_batch(&batch);
		lane->ordinal += batch.count - batch.calls;
		if (batch.count < batch.room.count)
			break;
	}
}
