/*
 * print.h - reports as text, JSON and SARIF.  Format and output; no analysis here.
 */
#ifndef HEDDLE_PRINT_H
#define HEDDLE_PRINT_H

#include "engine/trace/index.h"
#include "tui/batch/command.h"

#include <stdio.h>

struct changes;
struct places;
struct race_options;
struct report_file;

struct print_options {
	enum output_format format;
	bool all_verdicts;
	struct json_t *options;       /* what the analysis was asked for; owned, or NULL */
	char *shard, *digest;         /* "2/8" and the trace's SHA-256; owned, or NULL */
	struct report_file *baseline; /* --baseline: its findings are known; owned, or NULL */
	/* For --baseline: how to ask what became of a race that is gone; borrowed, or NULL. */
	const struct race_options *race;
	struct trace *trace;           /* the same */
	bool predicted;                /* atomic --predict */
	bool no_witness;               /* leave the sequences out */
	struct json_t *switches;       /* of the only finding's witness; borrowed, or NULL */
	const struct changes *changes; /* against the baseline; borrowed, or NULL */
};
void print_options_release(struct print_options *o);
/* --format and --baseline.  False: said what is wrong. */
bool print_options_parse(const struct arguments *a, struct print_options *o);
#define OPTION_BASELINE \
	{ \
		"baseline", "REPORT", \
		        "an earlier report (JSON): only what is new counts for the exit " \
		        "status", \
		        0 \
	}

/* A report to standard output; returns the exit status. */
int print_report(const struct report *report, const struct print_options *options);
/* What "complete" promises of that analysis, as "complete: in all reorderings of this run ...,
 * no other data race".  The caller's. */
struct promise {
	const char *analysis, *shard; /* shard: "2/8", or NULL */
	bool any;                     /* it has found something */
	bool values;    /* --values: reads see the same value, from whichever write */
	bool predicted; /* atomic --predict: not only of the run */
};
char *complete_sentence(const struct promise *promise);
/* The status that a finding or the lack of any gives. */
bool verdict_is_found(enum verdict verdict);

/* As JSON; a finding at a time, so that the witnesses of a large report need not all be
 * there as JSON values. */
void report_print_json(const struct report *report, const struct print_options *options,
                       FILE *out);
bool print_lists(const struct finding *finding, const struct print_options *options);
/* One finding, all but its witness; the caller's. */
struct json_t *finding_json(const struct places *places, const struct trace *t,
                            const struct finding *f);

/* SARIF, a finding (as JSON) at a time; sarif_end frees it. */
struct sarif;
struct sarif *sarif_begin(FILE *out);
void sarif_add(struct sarif *s, const struct json_t *finding,
               const char *baseline_state); /* or NULL */
void sarif_end(struct sarif *s);

/* A chain, or a proof's steps: a line each, in the user's names and places. */
void print_steps(const struct trace *t, const struct path *path);
/* A proof, with the same sentences; the caller's. */
struct json_t *proof_json(const struct trace *t, const struct proof *proof);
/* JSON is UTF-8: what is not, and control bytes, are written as \xHH text. */
struct json_t *json_text(const char *text);
/* A line about the racy reads that keep an impossible pair apart, if any. */
void print_behind(const struct trace *t, const struct finding *f, const char *indent);
/* "behind": [{"read", "write", "variable", "location"}, ...]; nothing where there is none. */
void json_set_behind(const struct trace *t, const struct finding *f, struct json_t *j);
/* Frame by frame, innermost first: "deposit bank.c:23". */
void append_frame(const struct trace *t, const struct frame *f, GString *out);
/* With control bytes escaped; the caller's. */
char *variable_name(const struct trace *t, uint32_t variable);
/* A name as it may be printed: itself, or escaped and kept until the program ends. */
const char *printable(const char *name);
const char *printable_thread(const struct trace *t, uint32_t event);

#endif
