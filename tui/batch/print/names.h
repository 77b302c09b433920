/*
 * names.h - names as commands print them: with control bytes and invalid UTF-8 as \xHH, in text
 * and in JSON; and access to words of JSON objects.
 */
#ifndef HEDDLE_NAMES_H
#define HEDDLE_NAMES_H

#include "engine/trace/index.h"

#include <jansson.h>

/* Append a stack frame: "deposit bank.c:23". */
void append_frame(const struct trace *t, const struct frame *f, GString *out);
/* Escaped; owned by the caller. */
char *variable_name(const struct trace *t, uint32_t variable);
/* The name, escaped if necessary; valid until the program ends. */
const char *printable(const char *name);
const char *printable_thread(const struct trace *t, uint32_t event);

/* A JSON string, with invalid UTF-8 and control bytes as \xHH. */
json_t *json_text(const char *text);
/* Nothing for NULL. */
void json_set_word(json_t *object, const char *key, const char *word);
/* An array of them (char *); nothing for NULL or none. */
void json_set_sentences(json_t *object, const char *key, const GPtrArray *sentences);
/* A string member, or "". */
const char *json_word(const json_t *object, const char *key);
/* The i-th element of an array of strings, or "". */
const char *json_element(const json_t *array, size_t i);
/* Set "program", and "arguments" and "before" (the option's command) where it has some. */
void json_set_command(json_t *object, char *const *argv);
/* "--before 'rm -f out' ", for a line that makes a run again, or "". Owned by the caller. */
char *json_before(const json_t *object);
/* That command as a shell accepts it, with control bytes escaped; "": there is none. Owned by
 * the caller. */
char *json_command(const json_t *object);
/* The last component of a path. */
const char *base_name(const char *path);

#endif
