/*
 * became.h - the fate of findings that one report has and another lacks: proved impossible, not
 * executed, ...
 */
#ifndef HEDDLE_BECAME_H
#define HEDDLE_BECAME_H

#include "engine/predict/predict.h"
#include "tui/batch/reports/report_match.h"

/* enumerator, word, sentence about the report or trace without the finding */
#define FATES(FATE) \
	FATE(IMPOSSIBLE, "impossible", "proved impossible") \
	FATE(UNKNOWN, "unknown", "unknown: neither a witness nor a proof") \
	FATE(SUPPRESSED, "suppressed", "suppressed there") \
	FATE(NOT_EXECUTED, "not-executed", "not executed") \
	FATE(NOT_ACCESSED, "not-accessed", "executed, without an access to the variable") \
	FATE(ORDERED, "ordered", "executed, and always in one order or one thread") \
	FATE(ELSEWHERE, "elsewhere", "the same functions race on the variable at other lines") \
	FATE(NOT_REPORTED, "not-reported", "not reported")
enum fate {
#define FATE(name, word, text) FATE_##name,
	FATES(FATE)
#undef FATE
	        FATE_COUNT
};
const char *fate_word(enum fate fate);
const char *fate_text(enum fate fate);

struct became {
	enum fate fate;
	json_t *place;   /* place that was not executed or without access; owned, or NULL */
	json_t *finding; /* the impossible or unknown finding; owned, or NULL */
};

/* Where a finding is looked for. Borrowed; each may be NULL, and without the trace or the
 * options only the report is consulted. */
struct became_there {
	const struct report_file *report;
	struct trace *t; /* the trace that the report was made from */
	const struct race_options *race;
};

/*
 * For each finding of `gone` with state `alone` in `side`: its fate there. An array with an
 * entry for each finding, for became_free; NULL and `error` when cancelled.
 */
struct became *became_find(const struct report_file *gone, const struct match_side *side,
                           enum match_state alone, const struct became_there *there,
                           const struct progress *progress, struct error *error);
/* Moves findings' places in files that the trace lacks to the file that now has the
 * function. */
void became_rename(struct report_file *findings, const struct trace *t);
void became_free(struct became *became, const struct report_file *gone);

#endif
