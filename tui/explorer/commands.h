/*
 * commands.h - what the files of the command line's commands share: commands.c has their
 * table, runs and completes them; commands_*.c have the commands.  Nobody else includes it.
 */
#ifndef HEDDLE_COMMANDS_H
#define HEDDLE_COMMANDS_H

#include "tui/explorer/command_line.h"

/* A command: false and `error` when it cannot be done. */
typedef bool word_function(struct app *app, const char *arguments, struct error *error);
#define WORD(function, name, others, arguments, completes, help) word_function word_##function;
#include "tui/explorer/words.def"
#undef WORD

/* "expected WHAT"; false. */
bool expect(struct error *error, const char *what);
/* A number of steps, at least 1. */
uint64_t count_of(const char *arguments);
/* An event by number, `$` or the name of a bookmark; NONE and `error`. */
uint32_t event_of(const struct app *app, const char *text, struct error *error);
/* A variable by its name; NONE and `error`. */
uint32_t variable_of(const struct app *app, const char *name, struct error *error);
/* Locations that "bank.c:31", "src/bank.c:31" or "deposit" names: uint32_t. Caller frees. */
GArray *locations_of(const struct trace *t, const char *place);
bool need_index(const struct app *app, struct error *error);
bool need_events(const struct app *app, struct error *error);
/* What `info` has tables of, and `view` goes to; NULL after the last. */
const char *info_name(size_t i);
const char *view_name(size_t i);

#endif
