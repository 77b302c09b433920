/*
 * input.h - reads a whole file: an ordinary file is mapped, a stream ("-", a pipe) is read to
 * its end. A pipe without a writer is an error, not a wait.
 */
#ifndef HEDDLE_INPUT_H
#define HEDDLE_INPUT_H

#include "engine/base/base.h"

#include <jansson.h>
#include <sys/stat.h>

struct input {
	void *bytes; /* mapped private; NULL when empty */
	size_t length;
	bool stream;      /* cannot be opened a second time */
	struct stat file; /* of the mapped file; not with `stream` */
};

/* `kind` names it in messages: "cannot open the KIND: ...". */
bool input_open(const char *path, const char *kind, struct input *in, struct error *error);
void input_close(struct input *in);
/* The same as a NUL-terminated string, owned by the caller. NULL on failure. */
char *input_text(const char *path, const char *kind, size_t *length, struct error *error);
/* The same as JSON, owned by the caller. NULL on failure. */
json_t *input_json(const char *path, const char *kind, struct error *error);
/* Skip a UTF-8 byte order mark; reduces *length. */
const char *input_skip_mark(const char *text, size_t *length);

#endif
