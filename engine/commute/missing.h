/*
 * missing.h - which findings on invocations calls into code that is not instrumented may order.
 */
#ifndef HEDDLE_COMMUTE_MISSING_H
#define HEDDLE_COMMUTE_MISSING_H

#include "engine/commute/cov.h"
#include "engine/commute/edc.h"
#include "engine/commute/rd2.h"

/*
 * Findings that disappear when the calls are barrier pairs become candidates that name the
 * calls (finding.missing; engine/predict/predict.h), with a note; costs the analysis once
 * more where the trace has such calls. False and `error` when cancelled.
 */
bool rd2_mark_missing(struct model *m, const struct rd2_options *options, struct report *report,
                      const struct progress *progress, struct error *error);
bool cov_mark_missing(struct model *m, const struct cov_options *options, struct report *report,
                      const struct progress *progress, struct error *error);
bool edc_mark_missing(struct model *m, const struct edc_options *options, struct report *report,
                      const struct progress *progress, struct error *error);

#endif
