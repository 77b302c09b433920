/*
 * ending.h - how the recorded run ended: a note of the recording, "recording-end", and its
 * wants.
 */
#ifndef HEDDLE_ENDING_H
#define HEDDLE_ENDING_H

#include "engine/trace/trace.h"

/* The note of a recording that an assertion failed in it: "FILE:LINE EXPRESSION". */
#define ASSERTION_NOTE "recording-assertion"

/* enumerator, word in the note and in JSON */
#define ENDINGS(ENDING) \
	ENDING(UNKNOWN, "") /* the trace does not say */ \
	ENDING(EXIT, "exit") \
	ENDING(SIGNAL, "signal") \
	ENDING(STUCK, "stuck") /* no thread could go on */ \
	ENDING(CHECK, "check") /* a condition of --check or --final did not hold */ \
	ENDING(ERROR, "error") /* an exploration found another error in it */ \
	ENDING(CUT, "cut")     /* its recording was ended: a limit, an interruption */
enum ending_kind {
#define ENDING(name, word) ENDING_##name,
	ENDINGS(ENDING)
#undef ENDING
};
struct ending {
	enum ending_kind kind;
	int number;       /* EXIT: the status; SIGNAL: the signal */
	const char *text; /* CHECK, ERROR, CUT: in words; "" otherwise; the trace's */
};

const char *ending_word(enum ending_kind kind);
struct ending trace_ending(const struct trace *t);
/* Did it end as programs that found nothing wrong do? */
bool ending_good(const struct ending *ending);
/* "The run ended with exit status 3" without a full stop; nothing where the trace does not say.
 */
void ending_append(const struct ending *ending, GString *out);
/* The note, for whoever made the trace; `text` may be NULL. */
void trace_note_ending(struct trace *t, enum ending_kind kind, int number, const char *text);

#endif
