/*
 * commands.h - shared by the files with the explorer's commands: commands.c runs and completes
 * them, commands_*.c define them.
 */
#ifndef HEDDLE_COMMANDS_H
#define HEDDLE_COMMANDS_H

#include "tui/explorer/commands/command_line.h"

/* A command; false and `error` on failure. */
typedef bool word_function(struct app *app, const char *arguments, struct error *error);
#define WORD(function, name, others, arguments, completes, help) word_function word_##function;
#define WORD_BY(...)
#include "tui/explorer/commands/words.def"
#undef WORD
#undef WORD_BY

/* Several commands that differ in `how` alone. */
typedef bool word_by_function(struct app *app, int how, const char *arguments,
                              struct error *error);
enum { BACK = -1, FORWARD = 1 };
enum { AT_PLACE = 0, AT_READS = 1, AT_WRITES = 2, AT_ONCE = 4 };
word_by_function by_step;       /* an enum step_kind, negative: back */
word_by_function by_leave;      /* direction: out of the selected frame's function */
word_by_function by_run;        /* direction: to a breakpoint */
word_by_function by_breakpoint; /* AT_... */
word_by_function by_disabling;  /* false: enables */

/* A positive number of steps; default 1. */
uint64_t count_of(const char *arguments);
/* An event by number, `$` or bookmark; NONE and `error`. */
uint32_t event_of(const struct app *app, const char *text, struct error *error);
/* A variable by name; NONE and `error`. */
uint32_t variable_of(const struct app *app, const char *name, struct error *error);
bool need_index(const struct app *app, struct error *error);
bool need_events(const struct app *app, struct error *error);
/* Locations of "bank.c:31", "src/bank.c:31" or "deposit": uint32_t. Caller frees. */
GArray *locations_of(const struct trace *t, const char *place);
/* locations_of, also for "31", a line of the selected event's file. */
GArray *places_of(const struct app *app, const char *place);
bool is_one_of(const GArray *locations, uint32_t location);
/* Tables of `info`. */
void info_display(const struct app *app, const char *rest, GString *out);
void info_locals(const struct app *app, const char *rest, GString *out);
/* Tables of `info` and targets of `view`; NULL after the last. */
const char *info_name(size_t i);
const char *view_name(size_t i);

#endif
