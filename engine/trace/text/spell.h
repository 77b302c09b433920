/*
 * spell.h - text of events: for people (escaped names) and for files (names that read back:
 * unique, without bytes that end an operand). Private to engine/trace.
 */
#ifndef HEDDLE_SPELL_H
#define HEDDLE_SPELL_H

#include "engine/trace/trace.h"

enum spelt {
	SPELT_THREAD,
	SPELT_VARIABLE,
	SPELT_OBJECT,
	SPELT_MESSAGE,
	SPELT_BLOCK,
	SPELT_INSTANCE,
	SPELT_LOCATION,
	SPELT_NAME, /* other strings: units, methods, functions */
	SPELT_KINDS,
};

struct spelling {
	const struct trace *t;
	bool raw;                  /* for files: raw bytes */
	bool shown;                /* values by the types of their variables (shown.h) */
	char **other[SPELT_KINDS]; /* by index: another spelling, or NULL; or NULL */
	uint64_t counts[SPELT_KINDS];
	GHashTable *tokens; /* reachable by missing calls -> other spelling; or NULL */
};

/* For people; needs no release. */
struct spelling spelling_for_people(const struct trace *t);
void spelling_for_files(struct spelling *s, const struct trace *t);
/* For formats without block lives: variables of two lives get two names. */
void spelling_part_lives(struct spelling *s);
void spelling_release(struct spelling *s);

/* A name in the trace, and the name as it is spelt. */
const char *spell_own_name(const struct trace *t, enum spelt kind, uint32_t index);
const char *spell_name(const struct spelling *s, enum spelt kind, uint32_t index);
void spell(const struct spelling *s, enum spelt kind, uint32_t index, GString *out);
void spell_list(const struct spelling *s, const uint32_t *values, uint32_t count, GString *out);
void spell_value(const struct spelling *s, uint32_t value, GString *out);
void spell_operand(const struct spelling *s, const struct event *e, GString *out);
void spell_line(const struct spelling *s, const struct event *e, GString *out);

/* Words after an operation's memory order, as in "wait(c);timed" and "ar(x);acq,failed". */
struct flag_word {
	enum op op;
	uint8_t flag; /* of enum event_flag */
	const char *word;
};
enum { FLAG_WORDS = 19 };
extern const struct flag_word flag_words[FLAG_WORDS];

extern const char *const memory_order_words[]; /* by enum memory_order_kind */

#endif
