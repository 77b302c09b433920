/*
 * text_reader.h - shared by the parts of the text reader: spans of a line, state, splitting of
 * lines. Private to engine/trace/text_*.c.
 */
#ifndef HEDDLE_TEXT_READER_H
#define HEDDLE_TEXT_READER_H

#include "engine/trace/builder/builder.h"

#include <string.h>

/* A range of the file's text, borrowed. */
struct span {
	const char *at;
	size_t length;
};

/* A word of up to twelve letters as a number, for hashing operations. */
struct word_key {
	uint64_t low;
	uint32_t high;
};

enum { OP_SLOTS = 256 };

struct reader {
	const char *name;
	struct builder *b;
	struct error *error;
	uint64_t line;
	struct span all;   /* the line, for messages */
	GArray *arguments; /* uint32_t: values of the current line */
	GString *scratch;
	GHashTable *unknown; /* unknown directives: name -> count */
	GHashTable *said;    /* directives allowed once per name -> the rest */
	bool filtered, approximate_order, truncated;
	bool flushes; /* a store arrives: its trace is of tso */
	bool parsed;  /* the current line is complete: an error in it is no truncation */
	/* By hash of an operation's word: op + 1, or OP_COUNT + op + 1 for its word with
	 * EVENT_TRY; 0: free. */
	uint8_t op_slots[OP_SLOTS];
	struct word_key op_keys[2 * OP_COUNT];
};

#define SHOW(span) (int)MIN((span).length, 60), (span).at

static inline bool span_is(struct span s, const char *word)
{
	return strlen(word) == s.length && memcmp(s.at, word, s.length) == 0;
}

static inline struct span part(struct span s, size_t from, size_t to)
{
	return (struct span){ s.at + from, to - from };
}

static inline struct span trimmed(struct span s)
{
	while (s.length && (*s.at == ' ' || *s.at == '\t'))
		s = part(s, 1, s.length);
	while (s.length && (s.at[s.length - 1] == ' ' || s.at[s.length - 1] == '\t'))
		s.length--;
	return s;
}

/* Reject the line; false (text_words.c). */
bool text_refuse(struct reader *r, const char *remedy, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Special bytes between parts of a line. */
enum mark {
	MARK_COMMA = 1,
	MARK_SEMICOLON = 2,
	MARK_BAR = 4,
	MARK_GREATER = 8,
	MARK_PARENTHESIS = 16, /* the closing one */
	MARK_OPEN = 32,
	MARK_CLOSE = 64,
	MARK_QUOTE = 128,
};
/* Position of the first of `wanted` (a set of marks) outside quotes and brackets opened after
 * `from`; s.length if none. */
size_t text_find(struct span s, size_t from, unsigned wanted);

/* Values (text_words.c): a decimal integer of 64 bits, any value, values split at commas
 * (appended to r->arguments), names split at commas as a list (`any`: the list is not
 * empty). */
bool text_integer(struct span s, int64_t *integer);
bool text_value(struct reader *r, struct span s, uint32_t *value);
bool text_values(struct reader *r, struct span s);
bool text_tokens(struct reader *r, struct span s, bool any, uint32_t *list);

/* Add an event line (text_event.c); needs the table of operations. */
void text_fill_ops(struct reader *r);
bool text_event(struct reader *r, struct span s);
/* A line that begins with #! (text_directive.c). */
bool text_directive(struct reader *r, struct span s);

#endif
