/*
 * libheddle.h - Heddle's engine as a library: open a trace, ask for races and deadlocks, print
 * or check witnesses.
 *
 * Objects belong to the caller, who ends them with the function of the same name; strings and
 * arrays that are not said to be the caller's belong to the object that they came from. A
 * function that can fail returns NULL (or 0) and stores a message into *error, unless `error`
 * is NULL; the caller frees the message with free(). Names in traces may hold any bytes: escape
 * them before they reach a terminal.
 *
 * One thread at a time may use a trace and its reports.
 */
#ifndef LIBHEDDLE_H
#define LIBHEDDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_trace heddle_trace;
typedef struct heddle_report heddle_report;

#define HEDDLE_NONE UINT32_MAX

/* "0.2.0" */
const char *heddle_version(void);

/* -- traces: of any format that `heddle` opens ------------------------------------------------ */

heddle_trace *heddle_trace_open(const char *path, char **error);
void heddle_trace_close(heddle_trace *trace); /* NULL is allowed */
/* Events are numbered from 0 to count - 1, in the order of the recorded run. */
uint64_t heddle_trace_event_count(const heddle_trace *trace);
uint32_t heddle_trace_thread_count(const heddle_trace *trace);
const char *heddle_trace_thread_name(const heddle_trace *trace, uint32_t thread);
/* The event as in the text format, "T1|w(x)=5|bank.c:31"; the caller's, free(). NULL for an
 * event that does not exist. */
char *heddle_event_text(const heddle_trace *trace, uint32_t event);
uint32_t heddle_event_thread(const heddle_trace *trace, uint32_t event);
/* Place: "" and 0 where it is unknown. */
const char *heddle_event_file(const heddle_trace *trace, uint32_t event);
uint32_t heddle_event_line(const heddle_trace *trace, uint32_t event);
const char *heddle_event_function(const heddle_trace *trace, uint32_t event);

/* -- findings --------------------------------------------------------------------------------- */

/* Data races by an analysis of `heddle races --analysis`; NULL: "auto", which gives every
 * candidate a verdict. Budgets are seconds of solving, for a pair and in all; 0, 0: those of
 * the command (1, 5). */
heddle_report *heddle_races(heddle_trace *trace, const char *analysis, double budget_pair,
                            double budget_all, char **error);
/* Deadlocks and threads that wait for ever, as `heddle deadlocks` has them. */
heddle_report *heddle_deadlocks(heddle_trace *trace, char **error);
void heddle_report_free(
        heddle_report *report); /* NULL is allowed; before its trace is closed */

uint32_t heddle_report_count(const heddle_report *report);
/* 1 when the analysis has missed nothing that it searches for (docs/verdicts.md). */
int heddle_report_complete(const heddle_report *report);
/* Words as in JSON: "data-race", "deadlock", "stuck"; "race", "happened", "candidate". NULL
 * when no finding has the number. */
const char *heddle_finding_kind(const heddle_report *report, uint32_t finding);
const char *heddle_finding_verdict(const heddle_report *report, uint32_t finding);
/* Its two events, HEDDLE_NONE where it has none. */
uint32_t heddle_finding_first(const heddle_report *report, uint32_t finding);
uint32_t heddle_finding_second(const heddle_report *report, uint32_t finding);
/* The name of its first variable, or "". */
const char *heddle_finding_variable(const heddle_report *report, uint32_t finding);
/* The witness: events in their new order, the pair last; NULL and 0 when it has none. */
const uint32_t *heddle_finding_witness(const heddle_report *report, uint32_t finding,
                                       size_t *length);

/* Does this order of events show that the two race? Decided by the rules alone, without any
 * analysis: 1; or 0 with the rule that is broken in *error. */
int heddle_check_race(const heddle_trace *trace, const uint32_t *events, size_t length,
                      uint32_t first, uint32_t second, char **error);

#ifdef __cplusplus
}
#endif

#endif
