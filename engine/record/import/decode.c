/* decode.c - see decode.h. */
#include "engine/record/import/decode.h"

void log_reader_chunk(struct log_reader *reader, const uint64_t *at, const uint64_t *end)
{
	reader->at = at;
	reader->end = end;
	reader->second = 0;
	reader->damaged = false;
	for (uint32_t i = 0; i < reader->used_count; i++)
		reader->sites.at[reader->used[i]].key = 0;
	reader->used_count = 0;
}

static void set_site(struct log_reader *reader, unsigned slot, uint64_t key)
{
	if (!reader->sites.at[slot].key)
		reader->used[reader->used_count++] = (uint16_t)slot;
	reader->sites.at[slot].key = key;
}

static void set_key(struct log_record *r, uint64_t key)
{
	r->tag = log_word_tag(key);
	r->flags = log_word_flags(key) & LOG_SITE_FLAGS;
	r->code = log_site_code(key);
	r->pc = log_word_pc(key);
}

/* Restore the site's data of a short record, with the address difference; `field`: that of
 * the difference, which holds a count in ENTER and LEAVE. */
static bool repeat_site(struct log_reader *reader, struct log_record *r, unsigned slot,
                        uint64_t field, uint64_t offset)
{
	struct log_site *site = &reader->sites.at[slot];
	r->slot = slot;
	if (!site->key) {
		reader->damaged = true;
		return false;
	}
	set_key(r, site->key);
	if (r->tag == LOG_ENTER)
		r->left = field;
	else if (r->tag == LOG_LEAVE)
		r->pc = field;
	else
		site->address += offset;
	site->address &= LOG_ADDRESS_MASK;
	r->address = site->address;
	r->value = site->value;
	r->size = r->code == LOG_RANGE ? r->value : 1u << r->code;
	return true;
}

static bool next_half(struct log_reader *reader, struct log_record *r, uint64_t half)
{
	r->valued = false;
	return repeat_site(reader, r, log_half_slot(half), log_half_offset_field(half),
	                   log_half_offset(half));
}

static bool next_pair(struct log_reader *reader, struct log_record *r)
{
	uint64_t second, first = log_pair_halves(*reader->at++, &second);
	reader->second = second == LOG_HALF_NONE ? 0 : second | LOG_PAIR;
	return next_half(reader, r, first);
}

static bool next_short(struct log_reader *reader, struct log_record *r)
{
	uint64_t word = *reader->at++;
	if (!repeat_site(reader, r, log_short_slot(word), log_short_offset_field(word),
	                 log_short_offset(word)))
		return false;
	uint64_t delta = log_short_field(word);
	r->valued = delta != LOG_DELTA_UNKNOWN;
	if (delta == LOG_DELTA_FOLLOWS) {
		if (reader->at == reader->end)
			return false;
		r->value = *reader->at++;
		/* The program was killed before it wrote the value. */
		if (r->value == 0 && (reader->at == reader->end || *reader->at == 0))
			r->valued = false;
	} else if (r->valued) {
		r->value += log_short_difference(word);
	}
	reader->sites.at[r->slot].value = r->value;
	if (r->code == LOG_RANGE) {
		r->size = r->value;
		r->valued = false;
	}
	return true;
}

/* Overflow-safe, as a damaged log may have any number. */
static uint64_t words_of(uint64_t bytes)
{
	return bytes / 8 + (bytes % 8 != 0);
}

/* Words of the long record at `w`, or 0 when it does not end before `end`. */
static unsigned record_words(const uint64_t *w, const uint64_t *end)
{
	static const uint8_t fixed[LOG_TAG_COUNT] = {
#define TAG(name, words, visible) words,
		LOG_TAGS(TAG)
#undef TAG
	};
	unsigned tag = log_word_tag(w[0]), flags = log_word_flags(w[0]);
	uint64_t n = 1 + fixed[tag];
	switch (tag) {
	case LOG_READ:
	case LOG_WRITE:
	case LOG_AREAD:
	case LOG_AWRITE:
		n = w + 1 < end && log_place_code(w[1]) == LOG_RANGE ? 3
		    : flags & LOG_VALUE                              ? 3
		                                                     : 2;
		break;
	case LOG_MODULE:
		n = w + 6 < end ? 7 + words_of(w[6]) : UINT32_MAX;
		break;
	case LOG_CALL:
	case LOG_RET:
	case LOG_MISS:
		n = w + 2 < end ? 3 + words_of(w[2]) : UINT32_MAX;
		break;
	case LOG_INPUT:
		n = 1 + words_of(log_word_pc(w[0]));
		break;
	case LOG_NOTE:
	case LOG_RANDOM:
	case LOG_STOPPED:
	case LOG_CRASH:
		n = w + 1 < end ? 2 + words_of(w[1]) : UINT32_MAX;
		break;
	}
	return n <= (uint64_t)(end - w) ? n : 0;
}

static void fill_site(struct log_reader *reader, struct log_record *r, uint64_t first)
{
	uint64_t key = log_site_key(first, r->code);
	r->slot = log_site_slot(key);
	set_site(reader, r->slot, key);
	reader->sites.at[r->slot].address = r->address;
	reader->sites.at[r->slot].value = r->code == LOG_RANGE ? r->size
	                                  : r->valued          ? r->value
	                                                       : 0;
}

static void set_access(struct log_reader *reader, struct log_record *r, const uint64_t *w)
{
	r->address = log_place_address(w[1]);
	r->code = log_place_code(w[1]);
	r->size = r->code == LOG_RANGE ? w[2] : 1u << r->code;
	r->valued = r->flags & (LOG_VALUE | LOG_SMALL);
	if (r->tag == LOG_RMW) {
		r->old = w[2];
		r->value = w[3];
		return;
	}
	r->value = r->flags & LOG_SMALL ? log_place_value(w[1]) : 0;
	if (r->flags & LOG_VALUE && r->code != LOG_RANGE)
		r->value = w[2];
	if (r->code <= LOG_RANGE)
		fill_site(reader, r, w[0]);
}

bool log_reader_next(struct log_reader *reader, struct log_record *r)
{
	const uint64_t *w = reader->at;
	if (reader->second) {
		uint64_t second = reader->second;
		reader->second = 0;
		return next_half(reader, r, second);
	}
	if (w >= reader->end)
		return false;
	r->words = w;
	if (w[0] & LOG_SHORT)
		return w[0] & LOG_PAIR ? next_pair(reader, r) : next_short(reader, r);
	unsigned tag = log_word_tag(w[0]);
	bool known = tag != LOG_NOTHING && tag < LOG_TAG_COUNT;
	unsigned words = known ? record_words(w, reader->end) : 0;
	if (words == 0) {
		reader->damaged = w[0] != 0;
		return false;
	}
	reader->at += words;
	r->tag = tag;
	r->flags = log_word_flags(w[0]);
	r->pc = log_word_pc(w[0]);
	switch (tag) {
	case LOG_READ:
	case LOG_WRITE:
	case LOG_AREAD:
	case LOG_AWRITE:
	case LOG_RMW:
		set_access(reader, r, w);
		break;
	case LOG_FAR:
		log_reader_far(reader, w);
		break;
	case LOG_LEAVE:
		set_site(reader, log_site_slot(LOG_LEAVE), LOG_LEAVE);
		break;
	case LOG_ENTER:
		r->code = 0;
		r->left = 0;
		r->valued = true;
		r->address = log_frame_function(w[1]);
		r->value = log_frame_begin(w[1]);
		fill_site(reader, r, w[0]);
		break;
	}
	return true;
}
