/*
 * witness.h - a witness, and its file. Fewer context switches: minimise.h; the reason for each:
 * switches.h.
 */
#ifndef HEDDLE_WITNESS_H
#define HEDDLE_WITNESS_H

#include "engine/witness/check.h"
#include "engine/finding.h"
#include "engine/trace/weak.h"

/* Initialise to zero; witness_release. */
struct witness {
	enum claim claim;
	char *trace_name,
	        *trace_digest; /* owned; the digest is SHA-256 of the trace file in hex */
	GArray *pair;          /* uint32_t; CLAIM_ATOMIC: first events of the units */
	GArray *events;        /* uint32_t: the whole sequence */
	bool under_values, under_missing;
	/* Header `memory`: the model that it is a run of; and its lines `# reads`, `# after`:
	 * struct weak_source, in its order. */
	enum weak_model memory;
	GArray *weak;
	GPtrArray *under_specs; /* char * "FILE:SHA256", owned */
	char *condition;        /* owned: CLAIM_REACH: the condition at the end; else NULL */
};
void witness_release(struct witness *w);
/* "race", "c11-race", "cov", ...: the header `kind`. */
const char *claim_word(enum claim claim);
/* Does it end with requests that wait (CLAIM_DEADLOCK, CLAIM_STUCK)? */
bool claim_waits(enum claim claim);
/* The claim of a finding's witness. */
enum claim finding_claim(const struct finding *f);
/* Does the checker accept the finding's witness? With one that begins as the trace does the
 * checker goes along the recording: with growing beginnings, once for many findings. */
bool finding_accepted(struct checker *c, const struct finding *f);
/* Number of recorded events that the witness of a race begins with, those that it lacks
 * (finding.recorded) included; 0 for other claims. */
uint32_t finding_recorded(const struct finding *f);
/* A witness of the recorded run itself, under its memory model; `path`: the trace's file,
 * beside which the witness will be. witness_release. */
void witness_of_run(const struct trace *t, const char *path, struct witness *w);
/* Does the trace have all events that the witness names? False and `error` otherwise. */
bool witness_fits(const struct trace *t, const struct witness *w, struct error *error);
bool witness_read(const char *path, struct witness *w, struct error *error);
/* Longer witnesses are written without the events' texts, which would be sixty times as large
 * as the rest. Reading ignores them. */
#define WITNESS_TEXT_LIMIT 100000u
/* Append the text of a witness file (reports.md, "Witness files"). */
void witness_print(const struct trace *t, const struct witness *w, GString *out);
bool witness_write(const struct trace *t, const struct witness *w, const char *path,
                   struct error *error);
/* SHA-256 of the trace's file in hex, owned by the caller; "" for a trace in memory. */
char *trace_digest(const struct trace *t);

#endif
