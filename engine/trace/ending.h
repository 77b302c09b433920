/*
 * ending.h - the ending of the recorded run: the note "recording-end", and wants.
 */
#ifndef HEDDLE_ENDING_H
#define HEDDLE_ENDING_H

#include "engine/trace/trace.h"

/* Note of a recording with a failed assertion: "FILE:LINE EXPRESSION". */
#define ASSERTION_NOTE "recording-assertion"

/* Where the recorded program crashed: the note "recording-crash", "THREAD ADDRESS PLACE". */
struct crash {
	char *thread;      /* owned: its name; NULL: not recorded */
	const char *place; /* owned by the trace: a location's name, or "" */
	uint64_t address;  /* the faulting address, or 0 */
	uint32_t event;    /* the read that failed, and so has no value; or NONE */
};
struct crash trace_crash(const struct trace *t); /* g_free thread */
/* Add the note. */
void trace_note_crash(struct trace *t, uint32_t thread, uint64_t address, uint32_t location);

/* enumerator, word in the note and in JSON */
#define ENDINGS(ENDING) \
	ENDING(UNKNOWN, "") /* not recorded */ \
	ENDING(EXIT, "exit") \
	ENDING(SIGNAL, "signal") \
	ENDING(STUCK, "stuck") /* no thread could continue */ \
	ENDING(CHECK, "check") /* --check or --final failed */ \
	ENDING(ERROR, "error") /* another error found by exploration */ \
	ENDING(CUT, "cut")     /* recording stopped by a limit or interruption */
enum ending_kind {
#define ENDING(name, word) ENDING_##name,
	ENDINGS(ENDING)
#undef ENDING
};
struct ending {
	enum ending_kind kind;
	int number;       /* EXIT: the status; SIGNAL: the signal */
	const char *text; /* CHECK, ERROR, CUT: as text; else ""; owned by the trace */
};

const char *ending_word(enum ending_kind kind);
struct ending trace_ending(const struct trace *t);
/* Did it end without an indication of an error? */
bool ending_good(const struct ending *ending);
/* "The run ended with exit status 3" without a full stop; nothing if not recorded. */
void ending_append(const struct ending *ending, GString *out);
/* Add the note; `text` may be NULL. */
void trace_note_ending(struct trace *t, enum ending_kind kind, int number, const char *text);

/* Is it an event of the first thread after its return from main(), as in the destructors of
 * static objects? Needs INDEX_THREADS; false where that return is more than some 10,000 events
 * before. */
bool trace_after_main(const struct trace *t, uint32_t event);

/* Note of a recording: how often its threads waited for a futex, by a system call of the
 * program's own. */
#define FUTEX_NOTE        "recording-futexes"
/* Note of an exploration's run, whose waits for futexes are steps, and whose rounds of
 * libstdc++'s spinning end early. */
#define FUTEX_STEPS_NOTE  "recording-futex-steps"
/* The lock of such a futex has the futex's name with this suffix. */
#define FUTEX_LOCK_SUFFIX "@futex"

#endif
