/*
 * binary.h - the binary trace (docs/trace-binary.md): a header, a table of sections, and
 * the tables of struct trace as they lie in memory.  Private to engine/trace.
 */
#ifndef HEDDLE_BINARY_H
#define HEDDLE_BINARY_H

#include "engine/trace/trace.h"

#define BINARY_MAGIC "\x89HDLT\r\n\n"

enum binary_flag {
	BINARY_COMPLETE = 1,
	BINARY_FILTERED = 2,
	BINARY_VALUES_EXACT = 4,
	BINARY_ORDER_EXACT = 8,
};

struct binary_section {
	char name[24];    /* the table's, NUL-padded */
	uint32_t element; /* bytes of an element: a table of another layout is refused */
	uint32_t reserved;
	uint64_t offset, count;
};

struct binary_header {
	char magic[8];
	uint32_t version; /* TRACE_VERSION */
	uint32_t flags;
	uint32_t byte_order; /* 0x01020304 as the writer stores it */
	uint32_t sections;
	uint64_t length; /* of the whole file */
	uint64_t digest; /* of the header with this 0, and of the section table */
};

bool binary_is(const void *bytes, size_t length);
/* Takes the mapping over, also on failure. */
struct trace *binary_read(const char *path, void *bytes, size_t length, struct error *error);
bool binary_write(const struct trace *t, const char *path, const uint64_t *keep,
                  struct error *error);

#endif
