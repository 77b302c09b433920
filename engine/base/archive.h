/*
 * archive.h - writes state to bytes, and reads it back: one function visits the fields for both
 * directions, so that encoder and decoder cannot differ.
 *
 * Numbers have seven bits a byte, the lowest first. A reader trusts nothing: whatever does not
 * fit (too short, out of range, too many) fails the archive, and all reads after that give
 * zeros.
 */
#ifndef HEDDLE_ARCHIVE_H
#define HEDDLE_ARCHIVE_H

#include "engine/base/base.h"

#include <glib.h>

struct archive;

/* archive_free. A reader borrows the bytes. */
struct archive *archive_writer(void);
struct archive *archive_reader(const void *bytes, size_t length);
void archive_free(struct archive *a);
/* The bytes written so far; owned by the archive. */
const GByteArray *archive_bytes(const struct archive *a);

bool archive_reads(const struct archive *a);
/* Reading: mark the archive as damaged. */
void archive_fail(struct archive *a);
/* Reading: was everything read, and nothing damaged? */
bool archive_ended(const struct archive *a);
/* Reading: the number of bytes that are left. */
size_t archive_left(const struct archive *a);

/* The number of a list's elements, `least` bytes or more each. */
size_t archive_count(struct archive *a, size_t count, size_t least);
uint64_t archive_number(struct archive *a, uint64_t number);
/* A number below `limit`. */
uint64_t archive_below(struct archive *a, uint64_t number, uint64_t limit);
/* A number below `limit`, or NONE. */
uint32_t archive_index(struct archive *a, uint32_t index, uint32_t limit);
/* Bytes as they are. */
void archive_raw(struct archive *a, void *bytes, size_t length);
/* A text, or NULL. Reading: *text is overwritten, and owned by the caller. */
void archive_text(struct archive *a, char **text);
/* Bytes of some length, or NULL. Reading: *bytes is overwritten, and owned by the caller. */
void archive_bytes_of(struct archive *a, GBytes **bytes);
/* An array of plain numbers (elements without pointers or padding). Reading: they are
 * appended. */
void archive_array(struct archive *a, GArray *array, size_t element);
/* Texts, with g_free as their function; NULL stays NULL. */
void archive_texts(struct archive *a, GPtrArray **texts);
/* The texts of a list from the `from`-th on. Reading: they are added. */
void archive_list(struct archive *a, GPtrArray *list, guint from);
/* A set of texts that it owns; writes no set of at most `from` texts. Reading: they are
 * added. */
void archive_set(struct archive *a, GHashTable *set, guint from);

/* A variable of an integer type, bool or enum. */
#define ARCHIVE(a, variable) \
	do { \
		uint64_t archived_ = archive_number((a), (uint64_t)(variable)); \
		(variable) = (__typeof__(variable))archived_; \
		if ((uint64_t)(variable) != archived_) \
			archive_fail(a); \
	} while (0)

#endif
