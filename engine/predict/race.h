/*
 * race.h - shared by the analyses of data races: findings, shards, notes, and facts of a trace
 * that one analysis computes and the others use.
 *
 * An analysis begins with race_tools_begin, asks race_in_shard for each pair of sites before
 * any work on it, makes its findings with race_finding, and ends with race_tools_end. The
 * analyses are listed in analyses.def, and called by predict.c.
 */
#ifndef HEDDLE_RACE_H
#define HEDDLE_RACE_H

#include "engine/predict/predict.h"

struct checker;
struct locksets;
struct m2;
struct order;

/* Knowledge of the sites of two accesses before an analysis begins. */
enum race_known {
	RACE_UNKNOWN,
	RACE_OF_SITES,    /* they race, on other variables */
	RACE_OF_VARIABLE, /* on this variable, too */
};
/* Facts of the whole trace, of some bytes an event, made by the first analysis that needs them
 * and used by the others. */
struct race_tools {
	struct checker *checker; /* for plain reorderings: no --values, no specifications */
	struct m2 *m2;           /* uses that checker */
	struct locksets *locksets;
	struct race_making *making; /* of these, on another thread; or NULL */
	/* Pairs that M2 has rejected, a witness being wanted: it would again. A set of keys
	 * race_pair_key; NULL: none yet. */
	GHashTable *rejected;
	/* The only variables that can have a race (race_suspects, pairs.h); or NULL. */
	const uint64_t *suspects;
	/* Verdicts of other analyses, by sites; NULL: none. */
	enum race_known (*known)(const void *context, uint32_t e1, uint32_t e2,
	                         uint32_t variable);
	const void *known_context;
	/* A witness that can begin with more than this number of recorded events does so (0:
	 * TAILS_LEAST); shorter ones are reordered for fewer context switches. */
	uint32_t tails;
	bool leaves; /* such a witness lacks these events (finding.recorded) */
};
enum { TAILS_LEAST = 1 << 17 };
/* The options' own tools, or `own`, which is emptied: race_tools_end is due. */
struct race_tools *race_tools_begin(const struct race_options *options, struct race_tools *own);
void race_tools_end(struct race_tools *own);
/* `tails`, or its default. */
uint32_t race_tools_tails(const struct race_tools *tools);
/* Made when first asked for; owned by the tools. The locksets are NULL when cancelled. */
struct checker *race_tools_checker(struct race_tools *tools, const struct trace *t,
                                   const struct race_options *options);
struct locksets *race_tools_locksets(struct race_tools *tools, struct trace *t);
/* The program order, for the caller, who frees it; NULL when cancelled. */
struct order *race_tools_take_order(struct race_tools *tools, struct trace *t,
                                    const struct progress *progress);
/* NULL when cancelled. */
struct m2 *race_tools_m2(struct race_tools *tools, struct trace *t,
                         const struct race_options *options, const struct progress *progress);

/* Both halves of a pair of events in a pointer, as a key. */
static inline gpointer race_pair_key(uint32_t e1, uint32_t e2)
{
	return (gpointer)((uintptr_t)e1 << 32 | e2);
}
/* Begins to make all of these on another thread, where there is a processor for it, and after
 * them what `last` makes, of a trace with the parts of the index that they need (all but
 * INDEX_SITES); whoever asks for one waits for it. Until race_tools_made or race_tools_end,
 * which wait for the thread, the trace may be read, but not changed, and the options stay. */
void race_tools_make_ahead(struct race_tools *tools, struct trace *t,
                           const struct race_options *options,
                           void (*last)(void *context, const struct progress *progress),
                           void *context);
void race_tools_made(struct race_tools *tools);

/* The note about witnesses that were not kept (race_options.witness_events). */
void report_note_left_out(struct report *report, uint64_t witnesses);

/* Adds the note that the budget ended before all pairs had been found; the report is then not
 * complete. */
void report_note_effort(struct report *report, const struct race_options *options);

/* Adds the note that invocations of one object kept the order of the trace, where several
 * threads have some: none are taken to commute. `remedy`: what to do about it. */
void report_note_invocations(struct report *report, const struct trace *t, const char *remedy);

/* A finding of kind data race for (e1, e2) with its variable filled in. */
struct finding *race_finding(const struct trace *t, uint32_t e1, uint32_t e2,
                             enum verdict verdict, const char *by);
/* The first variable that two overlapping accesses share. */
uint32_t race_variable(const struct trace *t, uint32_t e1, uint32_t e2);
/* Is the pair of sites (in either order) in this shard (--shard), and wanted by the caller? */
bool race_in_shard(const struct race_options *options, uint32_t site_a, uint32_t site_b);

#endif
