/*
 * print.h - reports as text, JSON and SARIF.
 */
#ifndef HEDDLE_PRINT_H
#define HEDDLE_PRINT_H

#include "engine/trace/index.h"
#include "tui/batch/command.h"
#include "tui/batch/print/finding_json.h"
#include "tui/batch/print/names.h"

#include <stdio.h>

struct changes;
struct places;
struct race_options;
struct report_file;
struct suppressions;

struct print_options {
	enum output_format format;
	bool all_verdicts;
	struct json_t *options;            /* the analysis's options; owned, or NULL */
	char *shard, *digest;              /* "2/8" and the trace's SHA-256; owned, or NULL */
	struct report_file *baseline;      /* --baseline: known findings; owned, or NULL */
	struct suppressions *suppressions; /* --suppressions; owned, or NULL */
	/* --baseline: options for the fate of races that are gone; borrowed, or NULL. */
	const struct race_options *race;
	struct trace *trace;           /* the same */
	bool predicted;                /* atomic --predict */
	bool no_witness;               /* without witnesses */
	struct json_t *switches;       /* switches of the only finding's witness; borrowed,
	                                * or NULL */
	const struct changes *changes; /* relative to the baseline; borrowed, or NULL */
	/* The comparison as JSON (changes_members), where wanted; borrowed, or NULL. */
	const struct json_t *members;
};
void print_options_release(struct print_options *o);
/* --format, --baseline and --suppressions. False: the error has been printed. */
bool print_options_parse(const struct arguments *a, struct print_options *o);
#define OPTION_BASELINE \
	{ \
		"baseline", "REPORT", \
		        "an earlier report (JSON): only new findings count for the exit " \
		        "status", \
		        0 \
	}

/* Opens the files of --suppressions; NULL without any. False: the error has been printed. */
bool suppressions_parse(const struct arguments *a, struct suppressions **suppressions);
#define OPTION_SUPPRESSIONS \
	{ \
		"suppressions", "FILE", \
		        "ThreadSanitizer's suppressions, or TRACE.notes: findings that do " \
		        "not count; may be repeated", \
		        0 \
	}

/* Print a report on standard output; returns the exit status. */
int print_report(const struct report *report, const struct print_options *options);
/* Prints a finding of a pair as text, from a trace of parts: `numbers` are its events in the
 * whole. */
void report_print_pair(FILE *out, const struct trace *t, const struct finding *f,
                       const uint32_t numbers[2]);
/* The same as an element of "findings" in a JSON report; owned by the caller. `numbers`: NULL
 * where the whole is not kept. */
struct json_t *report_pair_json(const struct trace *t, const struct finding *f,
                                const uint32_t numbers[2]);
struct promise {
	const char *analysis, *shard; /* shard: "2/8", or NULL */
	const char *scope;            /* as in struct report, or NULL */
	bool any;                     /* it has findings */
	bool several;                 /* of several traces */
	bool values;                  /* --values: reads see the same value, from any write */
	bool predicted;               /* atomic --predict: the claim is not only about the
	                               * run */
	bool same_pairing;            /* struct report has it */
	bool uninstrumented;          /* accesses are missing: report_lacks_calls */
};
/* The promise of a complete analysis: "complete: in all reorderings of this run ..., no other
 * data race". Owned by the caller. */
char *complete_sentence(const struct promise *promise);
/* Prints the report as JSON, one finding at a time, so that the witnesses of a large report
 * are not all in memory. */
void report_print_json(const struct report *report, const struct print_options *options,
                       FILE *out);
bool print_lists(const struct finding *finding, const struct print_options *options);

/* SARIF, or lines for editors (FORMAT_QUICKFIX), one finding (as JSON) at a time; freed by
 * sarif_end. */
struct sarif;
struct sarif *sarif_begin(FILE *out, enum output_format format);
void sarif_add(struct sarif *s, const struct json_t *finding,
               const char *baseline_state); /* or NULL */
void sarif_end(struct sarif *s);
/* The last steps of a schedule, as "schedule" of a finding given to sarif_add, with those of
 * the claimed events marked. Owned by the caller. */
struct json_t *sarif_schedule(const struct places *places, const struct trace *t,
                              const GArray *events, const GArray *claimed);
/* "T1 writes acct.balance (bank.c:23) while T2 reads it (bank.c:33): nothing keeps the two
 * apart"; owned by the caller. */
char *finding_sentence(const struct trace *t, const struct finding *f);

/* A chain or proof: a line for each step, in the user's names. */
void print_steps(const struct trace *t, const struct path *path);
/* A line on the racy reads that keep an impossible pair apart, if any. */
void print_behind(const struct trace *t, const struct finding *f, const char *indent);

#endif
