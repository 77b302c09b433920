/*
 * explorer.h - the full-screen explorer: `heddle open`.
 */
#ifndef HEDDLE_EXPLORER_H
#define HEDDLE_EXPLORER_H

#include "tui/explorer/app.h"
#include "tui/explorer/screen/screen.h"

/* The configuration (config.c). */
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
	const char *notes;                        /* file for marks; NULL: beside the trace */
	const GPtrArray *specifications;          /* char *: paths; may be NULL */
	const char *at;                           /* initial event as text; or NULL */
	struct guide *guide;                      /* borrowed: the lesson (guide.h), or NULL */
	const char *tree;                         /* the exploration, or NULL */
	const char *say;                          /* the first message, or NULL */
};
/* Takes ownership of the trace. Returns the exit status; `error` is set for status 2. */
int explorer_run(struct trace *trace, const struct explorer_options *options,
                 struct error *error);
/*
 * Play the lesson of options->guide by its keys, without a terminal, from the guide's step on:
 * tasks must be undone before their keys and done after them, facts must hold, answers be
 * accepted. True at the end, or when a new recording is needed (guide->wish); else false and
 * `error`. Takes ownership of the trace.
 */
bool explorer_play(struct trace *trace, const struct explorer_options *options,
                   struct error *error);

#endif
