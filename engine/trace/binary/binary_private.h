/*
 * binary_private.h - the layout of a binary trace (docs/trace-binary.md), for binary.c, which
 * reads, and binary_write.c.
 */
#ifndef HEDDLE_BINARY_PRIVATE_H
#define HEDDLE_BINARY_PRIVATE_H

#include "engine/trace/formats.h"
#include "engine/trace/storage.h"
#include "engine/trace/binary/tape.h"

enum { ALIGNMENT = 64, NAME_LENGTH = 24, MAX_SECTIONS = 256 };

/* Distinct from text; detects transfers that change line ends. */
static const char binary_magic[8] = { '\x89', 'H', 'D', 'L', 'T', '\r', '\n', '\n' };
static const uint32_t binary_byte_order = 0x01020304;

enum {
	FLAG_COMPLETE = 1,
	FLAG_FILTERED = 2,
	FLAG_VALUES_EXACT = 4,
	FLAG_ORDER_EXACT = 8,
	FLAG_LOCKS_TAKEN = 16,
	FLAG_STACKS = 32 /* events have call stacks */
};

struct header {
	char magic[8];
	uint32_t version, byte_order;
	uint32_t flags, sections;
	uint64_t length; /* of the file */
	uint64_t sum;    /* sum of the section table and of this header with sum 0 */
	uint64_t reserved[3];
};
_Static_assert(sizeof(struct header) == 64, "written as it is");

struct file_section {
	char name[NAME_LENGTH];
	uint32_t element; /* bytes */
	uint32_t packed;  /* bytes of the zstd frame that the elements are in; 0: in none; and
	                   * PACKED_DIFFERENCES */
	uint64_t offset, count;
	uint64_t sum;
};
_Static_assert(sizeof(struct file_section) == 56, "written as it is");

/* Sections from this size on are packed, except where that gains too little, or would exceed
 * the ratio that a reader accepts: a small file must not demand any amount of memory. */
enum { PACKED_FROM = 64 << 10, PACKED_MOST = 1000 /* times */ };

/* In the frame each 32-bit number of an element is replaced by its difference from that of
 * the previous element. */
#define PACKED_DIFFERENCES (UINT32_C(1) << 31)
static inline uint32_t packed_bytes(const struct file_section *s)
{
	return s->packed & ~PACKED_DIFFERENCES;
}

/* A set or a reach list: is the value a list of names? */
bool binary_is_list_of_names(const struct trace *t, uint32_t value);

/* binary_form.c: do the events, whose values are in range, make a trace? For each event in
 * order, but for accesses that follow an access of the same thread, form_event returns the
 * malformation; the end that of the tables that name events. NULL: well-formed. */
struct form;
struct form *binary_form_new(const struct trace *t);
const char *binary_form_event(struct form *form, uint32_t event);
const char *binary_form_end(const struct form *form);
void binary_form_free(struct form *form);

/* binary_events.c: checks the events, block by block in order: what is wrong with a block,
 * owned by the caller, or NULL. `must`: makes the must-order, too. The end takes what was found
 * to the trace, frees the check, and returns `good`, or false with *wrong, of the whole. */
struct events_check;
struct events_check *binary_events_new(const struct trace *t, uint32_t version, bool must);
void binary_events_watch(struct events_check *check, struct trace *t,
                         const struct trace_watch *watch);
char *binary_events_check(struct events_check *check, uint64_t from, uint64_t count);
bool binary_events_end(struct events_check *check, bool good, struct trace *t,
                       const char **wrong);

uint64_t binary_header_sum(const struct header *h, const struct file_section *sections);

#endif
