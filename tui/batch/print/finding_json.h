/*
 * finding_json.h - the one shape of a finding outside of the engine: a JSON object with the
 * fields of docs/reports.md, "JSON". Reports write it and report files are read into it, so
 * that `merge`, `diff`, `check` and a baseline handle findings of their own and of a file
 * alike; the errors and races of an exploration are turned into it.
 */
#ifndef HEDDLE_FINDING_JSON_H
#define HEDDLE_FINDING_JSON_H

#include "engine/finding.h"

#include <jansson.h>
#include <stdio.h>

struct places;

/* One finding without its witness; owned by the caller. */
json_t *finding_json(const struct places *places, const struct trace *t,
                     const struct finding *f);
/* An element of an exploration's "errors" or "races" as a finding, with the element's own
 * fields beside; owned by the caller. */
json_t *finding_of_explored(const json_t *element);
/* Adds the elements of a list of `from` that `into` lacks. */
void json_add_elements(json_t *into, const json_t *from, const char *key);
/* "variables" and "exact" of the race that begins with entry i of the exploration's. */
struct explore_report;
void json_set_explored(const struct explore_report *report, guint i, json_t *j);
/* Does the verdict count as found, which decides the exit status? */
bool verdict_is_found(enum verdict verdict);
/* FINDING_KIND_COUNT for an unknown word. */
enum finding_kind finding_kind_of(const json_t *finding);

/* Findings that have disappeared, as `, "absent": [...]`. */
void findings_print_absent(const json_t *absent, FILE *out);

enum { NAMES_TOLD = 4 }; /* variables of a finding that its text names */
/* A finding's JSON for finding_print alone: in place of the places and of a proof's steps it
 * has "lines", each event that makes the finding with its operation and callers, and "needs",
 * a sentence on memory models; of the variables NAMES_TOLD, and "more", the number of others.
 * `numbers` (or NULL): of these events, in place of their indices. */
json_t *finding_json_for_text(const struct trace *t, const struct finding *f,
                              const uint32_t *numbers);
/* Print a finding as text: a heading, and lines that begin with four blanks. Events are given
 * by "lines", or else by "sites". */
void finding_print(const json_t *finding, FILE *out);
/* The places of a finding's events in the user's own files; borrowed. */
const json_t *finding_places(const json_t *finding);
/* A proof with its sentences; owned by the caller. */
json_t *proof_json(const struct trace *t, const struct proof *proof);
/* "behind": [{"read", "write", "variable", "location"}, ...], if any. */
void json_set_behind(const struct trace *t, const struct finding *f, json_t *j);
/* "reads", in a shard's report for `merge`: the reads that a proof rests on, whose races may
 * be findings of other shards, each with its own place, its write's place and the names of
 * its variables. */
void json_set_reads(const struct trace *t, const struct finding *f, json_t *j);
/* "suppressed", the line that suppresses the finding; nothing for NULL. */
void json_set_suppressed(json_t *finding, const char *line);

#endif
