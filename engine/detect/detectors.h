/*
 * detectors.h - findings of every kind but data races, which have analyses of their own
 * (predict.h): one table, so that the explorer, `diff` and whoever asks "what is wrong in this
 * trace?" run the same analyses with the same options.
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
	struct trace *trace;              /* borrowed */
	const struct specs *specs;        /* borrowed; NULL: only deadlocks can be looked for */
	double budget_pair, budget_total; /* seconds of the solver */
	bool all_verdicts;                /* list candidates proved impossible, too */
	struct model *model; /* set by detectors that make one: the trace's invocations;
	                      * owned by the caller, model_free */
};

/* The word that a report of this detector has as its analysis. */
const char *detector_word(enum detector d);
/* What is being done, for a line of progress. */
const char *detector_title(enum detector d);
/* Can the trace have findings of this kind, and are specifications there if it needs them? */
bool detector_applies(enum detector d, const struct detection *on);
/* The report (owned by the caller), or NULL with `error`, which is "cancelled" when the
 * progress callback said stop. */
struct report *detector_run(enum detector d, struct detection *on,
                            const struct progress *progress, struct error *error);

#endif
