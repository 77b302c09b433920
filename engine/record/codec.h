/*
 * codec.h - the words of the recording log: for each the encoder, and the decoder beside it.
 * layout.h has the meaning of the fields.
 *
 * The runtime encodes (runtime/log/), decode.c decodes; both include this header and neither
 * shifts bits of a record by itself, so that a change of a field is made here alone.  Pure
 * functions: no memory, no state.  tests/unit/test_codec.c runs the runtime's encoder against
 * decode.c.
 */
#ifndef HEDDLE_CODEC_H
#define HEDDLE_CODEC_H

#include <stdbool.h>

#include "engine/record/layout.h"

#define CODEC static inline __attribute__((always_inline))

/* ---- numbers in fields ---- */

CODEC uint64_t log_field(uint64_t word, unsigned bits)
{
	return word & ((1ull << bits) - 1);
}

/* ---- the first word of a long record: its pc has LOG_PC_BITS, as LOG_SHORT is above ---- */

CODEC uint64_t log_word(enum log_tag tag, unsigned flags, uint64_t pc)
{
	return tag | flags << 8 | pc << LOG_PC_SHIFT;
}
CODEC unsigned log_word_tag(uint64_t word)
{
	return word & 255;
}
CODEC unsigned log_word_flags(uint64_t word)
{
	return word >> 8 & 255;
}
CODEC uint64_t log_word_pc(uint64_t word)
{
	return word >> LOG_PC_SHIFT;
}

/* ---- FAR: an address, whose highest bit is among the flags, as a word's marks LOG_SHORT ---- */

CODEC uint64_t log_far_word(uint64_t address)
{
	return log_word(LOG_FAR, address >> LOG_PC_BITS & 1, log_field(address, LOG_PC_BITS));
}
CODEC uint64_t log_far_address(uint64_t word)
{
	return log_word_pc(word) | (uint64_t)(log_word_flags(word) & 1) << LOG_PC_BITS;
}

/* ---- word 1 of a message ---- */

struct log_message_fields {
	uint32_t number;
	unsigned channel, pages, bytes; /* channel 0: not a channel of the process alone */
};
CODEC uint64_t log_message(uint64_t number, unsigned channel, unsigned pages, uint64_t bytes)
{
	uint64_t most = bytes < LOG_CHANNEL_MOST || bytes == LOG_CHANNEL_SHARED
	                        ? bytes
	                        : LOG_CHANNEL_MOST;

	number = log_field(number, LOG_MESSAGE_BITS);
	if (channel == 0)
		return number;
	return number | (uint64_t)channel << LOG_MESSAGE_BITS |
	       (uint64_t)pages << (LOG_MESSAGE_BITS + LOG_CHANNEL_BITS) |
	       most << (64 - LOG_BYTES_BITS);
}
CODEC struct log_message_fields log_message_parts(uint64_t word)
{
	return (struct log_message_fields){
		.number = (uint32_t)log_field(word, LOG_MESSAGE_BITS),
		.channel = (unsigned)log_field(word >> LOG_MESSAGE_BITS, LOG_CHANNEL_BITS),
		.pages = (unsigned)log_field(word >> (LOG_MESSAGE_BITS + LOG_CHANNEL_BITS),
		                             LOG_PAGES_BITS),
		.bytes = (unsigned)(word >> (64 - LOG_BYTES_BITS))
	};
}

/* ---- word 1 of an access: its address, size code, and a value below LOG_SMALL_LIMIT ---- */

CODEC uint64_t log_place(uint64_t address, unsigned code)
{
	return (address & LOG_ADDRESS_MASK) | (uint64_t)code << LOG_SIZE_SHIFT;
}
CODEC uint64_t log_place_small(uint64_t value) /* to be added */
{
	return value << LOG_SMALL_SHIFT;
}
CODEC uint64_t log_place_address(uint64_t word)
{
	return word & LOG_ADDRESS_MASK;
}
CODEC unsigned log_place_code(uint64_t word)
{
	return word >> LOG_SIZE_SHIFT & 7;
}
CODEC uint64_t log_place_value(uint64_t word)
{
	return word >> LOG_SMALL_SHIFT;
}

/* ---- word 1 of ENTER: a pc in the function, and where its frame begins ---- */

CODEC uint64_t log_frame_word(uint64_t function, uint64_t begin)
{
	return function | begin << LOG_FRAME_SHIFT;
}
CODEC uint64_t log_frame_function(uint64_t word)
{
	return word & LOG_ADDRESS_MASK;
}
CODEC uint64_t log_frame_begin(uint64_t word)
{
	return word >> LOG_FRAME_SHIFT;
}

/* ---- a CONFLICT: a word of memory at a multiple of 8, and bytes of it (bit set) ---- */

CODEC uint64_t log_conflict_memory(uint64_t address, unsigned bytes)
{
	return (address & LOG_ADDRESS_MASK) | (uint64_t)bytes << 48;
}
CODEC unsigned log_conflict_bytes(uint64_t word)
{
	return word >> 48 & 255;
}

/* ---- a short record: the differences from its site's entry ---- */

/*
 * Differences are stored in their fields with the lowest one as 0, so that one comparison
 * shows whether a difference fits, and no masking is needed. The field of one that does not
 * fit exceeds LOG_OFFSET_MOST, LOG_DELTA_MOST. A value's field begins at LOG_DELTA_LOWEST,
 * which is not included in the result here: only the difference is compared.
 */
CODEC uint64_t log_offset_field(uint64_t difference)
{
	return difference + LOG_OFFSET_BIAS;
}
CODEC uint64_t log_delta_field(uint64_t difference)
{
	return difference + LOG_DELTA_BIAS;
}
/* `delta`: LOG_DELTA_UNKNOWN, _FOLLOWS, or LOG_DELTA_LOWEST and a field. */
CODEC uint64_t log_short(unsigned slot, uint64_t delta, uint64_t offset_field)
{
	return LOG_SHORT | (uint64_t)slot << LOG_SLOT_SHIFT | delta << LOG_DELTA_SHIFT |
	       offset_field;
}
/* The addition to the record of an unknown value, once it is known. */
CODEC uint64_t log_short_known(uint64_t delta)
{
	return (delta - LOG_DELTA_UNKNOWN) << LOG_DELTA_SHIFT;
}
CODEC bool log_is_short(uint64_t word) /* and one record, no pair */
{
	return (int64_t)word < (int64_t)(LOG_SHORT | LOG_PAIR); /* the two highest bits: 10 */
}
CODEC bool log_is_short_or_pair(uint64_t word)
{
	return (word & LOG_SHORT) != 0;
}
CODEC unsigned log_short_slot(uint64_t word)
{
	return word >> LOG_SLOT_SHIFT & (LOG_SITES - 1);
}
CODEC uint64_t log_short_slot_or_more(uint64_t word) /* LOG_SITES or more: not log_is_short */
{
	return (word >> LOG_SLOT_SHIFT) - (LOG_SHORT >> LOG_SLOT_SHIFT);
}
CODEC uint64_t log_short_field(uint64_t word) /* may be LOG_DELTA_UNKNOWN or _FOLLOWS */
{
	return log_field(word >> LOG_DELTA_SHIFT, LOG_DELTA_BITS);
}
CODEC uint64_t log_short_difference(uint64_t word)
{
	return log_short_field(word) - LOG_DELTA_LOWEST - LOG_DELTA_BIAS;
}
CODEC uint64_t log_short_offset_field(uint64_t word)
{
	return log_field(word, LOG_OFFSET_BITS);
}
CODEC uint64_t log_short_offset(uint64_t word)
{
	return log_short_offset_field(word) - LOG_OFFSET_BIAS;
}

/* ---- two short records in a word (free mode): the first, and later the second ---- */

/* As log_offset_field; fits up to LOG_HALF_MOST. */
CODEC uint64_t log_half_field(uint64_t difference)
{
	return difference + LOG_HALF_BIAS;
}
CODEC uint64_t log_half_word(unsigned slot, uint64_t offset_field)
{
	return (uint64_t)slot << LOG_HALF_OFFSET_BITS | offset_field;
}
CODEC uint64_t log_pair(uint64_t first)
{
	return LOG_SHORT | LOG_PAIR | LOG_HALF_NONE << LOG_HALF_BITS | first;
}
/* The change of fields for the second record, as an operand of ^. */
CODEC uint64_t log_pair_second(uint64_t second)
{
	return (second ^ LOG_HALF_NONE) << LOG_HALF_BITS;
}
/* *second is LOG_HALF_NONE when the word holds one record. */
CODEC uint64_t log_pair_halves(uint64_t word, uint64_t *second)
{
	*second = log_field(word >> LOG_HALF_BITS, LOG_HALF_BITS);
	return log_field(word, LOG_HALF_BITS);
}
CODEC unsigned log_half_slot(uint64_t half)
{
	return half >> LOG_HALF_OFFSET_BITS & (LOG_SITES - 1);
}
CODEC uint64_t log_half_offset_field(uint64_t half)
{
	return log_field(half, LOG_HALF_OFFSET_BITS);
}
CODEC uint64_t log_half_offset(uint64_t half)
{
	return log_half_offset_field(half) - LOG_HALF_BIAS;
}

#endif
