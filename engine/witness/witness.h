/*
 * witness.h - witness files, and making witnesses readable: few context switches, each
 * with its reason.
 */
#ifndef HEDDLE_WITNESS_H
#define HEDDLE_WITNESS_H

#include "engine/witness/check.h"
#include "engine/finding.h"

struct witness { /* zero to init; witness_release */
	enum claim claim;
	char *trace_name, *trace_digest; /* owned; digest is SHA-256 of the trace file, hex */
	GArray *pair;                    /* uint32_t; of kind atomic: where units begin */
	GArray *events;                  /* uint32_t: the whole sequence */
	bool under_values, under_missing;
	GPtrArray *under_specs; /* char * "FILE:SHA256", owned */
};
void witness_release(struct witness *w);
/* "race", "c11-race", "cov", ...: as the header `kind` has it. */
const char *claim_word(enum claim claim);
bool witness_read(const char *path, struct witness *w, struct error *error);
/* Longer witnesses have no text beside their events' numbers: nobody reads them line by line,
 * and the text would be sixty times the rest.  Reading ignores it in any case. */
#define WITNESS_TEXT_LIMIT 100000u
/* The text of a witness file (reports.md, "Witness files"). */
void witness_print(const struct trace *t, const struct witness *w, GString *out);
bool witness_write(const struct trace *t, const struct witness *w, const char *path,
                   struct error *error);
/* SHA-256 of the trace's file as hex (owned by the caller), "" for a trace from memory. */
char *trace_digest(const struct trace *t);

/*
 * Reduce context switches: all events in another order at once (regroup.h), then moves one by one
 * by local search; every intermediate sequence is checked with witness_check.  `events` is replaced
 * in place.
 */
void witness_minimise(const struct trace *t, enum claim claim, const uint32_t *pair,
                      size_t pair_count, const struct check_options *options, GArray *events);
/* The same with a checker that is there, until `limit` events have been checked (and a trial
 * more). */
void witness_minimise_within(struct checker *checker, uint64_t limit, const struct trace *t,
                             enum claim claim, const uint32_t *pair, size_t pair_count,
                             GArray *events);

enum switch_reason {
	SWITCH_OPTIONAL,
	SWITCH_READS, /* a read of the old thread must see a write of another first */
	SWITCH_WRITE, /* a write must wait until a read of the old value is done */
	SWITCH_LOCK,  /* a lock must be free */
	SWITCH_MUST,  /* a must-order */
	SWITCH_END,   /* the old thread has come to its place in the pair, or to its end */
};
struct context_switch {
	uint32_t at; /* index in the sequence: events[at - 1], events[at] differ in thread */
	enum switch_reason reason;
	uint32_t waits;   /* the old thread's next event, which cannot be yet; or NONE */
	uint32_t because; /* the event of another thread that it waits for; or NONE */
};
/* "optional", "read", "write", "lock", "must-order", "end" */
const char *switch_word(enum switch_reason reason);
/* GArray of struct context_switch, owned by the caller. */
GArray *witness_switches(const struct trace *t, const struct witness *w);
/* Why, in the user's names: which read has to see which write, which lock, which order. */
void witness_append_reason(const struct trace *t, const struct context_switch *s, GString *out);

#endif
