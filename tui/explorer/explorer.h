/*
 * explorer.h - the full-screen explorer on a trace: what `heddle open` runs.
 */
#ifndef HEDDLE_EXPLORER_H
#define HEDDLE_EXPLORER_H

#include "tui/explorer/app.h"
#include "tui/explorer/screen.h"

/* What the configuration says (config.c). */
struct config {
	struct screen_options screen;
	bool ascii;
	GPtrArray *keys; /* char *, owned: request, keys, request, keys, ... */
};
/* Read $XDG_CONFIG_HOME/heddle/config; without the file, the defaults. */
bool config_load(struct config *config, struct error *error);
void config_release(struct config *config);
void config_apply_keys(const struct config *config, struct app *app);

struct explorer_options {
	const char *executable, *script, *report; /* may be NULL */
	const char *notes;                        /* a file for marks; NULL: beside the trace */
	const GPtrArray *specifications;          /* char *: paths; may be NULL */
	const char *at;                           /* event to begin at, as text; or NULL */
	struct guide *guide;                      /* borrowed: the lesson (guide.h), or NULL */
	const char *tree;                         /* the exploration, or NULL */
	const char *say;                          /* the first message, or NULL */
};
/* Takes the trace over. The exit status; errors are filled in for status 2. */
int explorer_run(struct trace *trace, const struct explorer_options *options,
                 struct error *error);
/* Play the lesson of options->guide without a terminal, by the keys that it names, from the
 * guide's step on: each task has to be undone before its keys and done after them, each fact
 * to hold, each answer to be accepted.  True at the end, and where a program is to be recorded
 * anew (guide->wish says so); false and `error` at what does not hold.  Takes the trace over.
 */
bool explorer_play(struct trace *trace, const struct explorer_options *options,
                   struct error *error);

#endif
