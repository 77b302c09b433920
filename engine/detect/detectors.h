/*
 * detectors.h - one table of all detectors except data races (predict.h), so that the explorer,
 * `diff` and others run the same analyses with the same options.
 */
#ifndef HEDDLE_DETECTORS_H
#define HEDDLE_DETECTORS_H

#include "engine/commute/model.h"
#include "engine/finding.h"

enum detector {
#define DETECTOR(name, word, title, applies, find) DETECTOR_##name,
#include "engine/detect/detectors.def"
#undef DETECTOR
	DETECTOR_COUNT
};

struct detection {
	struct trace *trace;       /* borrowed */
	const struct specs *specs; /* borrowed; NULL: only detectors up to DEADLOCKS apply */
	double budget_pair, budget_total; /* seconds of the solver */
	double budget_sets; /* processor seconds for inferring atomic sets; 0: no limit */
	bool all_verdicts;  /* also list candidates proved impossible */
	bool list_unknown;  /* order violations: also list the unknown */
	struct model
	        *model; /* made by detectors that need it; the caller frees it (model_free) */
};

/* The analysis word of the detector's report. */
const char *detector_word(enum detector d);
/* Title for a line of progress. */
const char *detector_title(enum detector d);
/* Can the trace have such findings, and are the specifications given that the detector
 * needs? */
bool detector_applies(enum detector d, const struct detection *on);
/* The report (owned by the caller; its witnesses with few context switches, witness.h), or
 * NULL with `error`, which is cancelled when the progress callback returned false. */
struct report *detector_run(enum detector d, struct detection *on,
                            const struct progress *progress, struct error *error);

#endif
