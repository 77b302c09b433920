/*
 * mi.h - records of gdb's machine interface (GDB/MI), read and quoted.
 *
 * Source: "Debugging with GDB", chapter "The GDB/MI Interface", "GDB/MI Output Syntax".
 */
#ifndef HEDDLE_MI_H
#define HEDDLE_MI_H

#include <jansson.h>

#include "engine/base/base.h"

struct mi_record {
	/* '^' result, '*' execution, '=' notification, '~' console, '@' the target, '&' log;
	 * 0: no record (the prompt). */
	char kind;
	uint64_t token; /* token of the command that it answers; 0: none */
	char *word;     /* "done", "stopped", ...; NULL for a stream; owned */
	/* The results: tuples are objects, lists arrays (of the values, where they have names).
	 * The text of a stream.  Owned. */
	json_t *body;
};

/* Parses a line of gdb's without its end. False when it is no record; `record` is to be
 * released in any case. */
bool mi_parse(const char *line, struct mi_record *record);
void mi_release(struct mi_record *record);

/* Append `text` as one argument of a command: in quotes, so that it can neither end the command
 * nor begin another. */
void mi_append_quoted(GString *out, const char *text);

/* A JSON string of any bytes: invalid UTF-8 is replaced. */
json_t *json_bytes(const char *bytes, size_t length);

#endif
