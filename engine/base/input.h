/*
 * input.h - a whole file to read: an ordinary one is mapped, a stream ("-" for standard
 * input, a pipe of the shell's) is read to its end.  Never waits for a pipe that nobody
 * writes into.
 */
#ifndef HEDDLE_INPUT_H
#define HEDDLE_INPUT_H

#include "engine/base/base.h"

#include <sys/stat.h>

struct input {
	void *bytes; /* mapped and private; NULL when there are none */
	size_t length;
	bool stream; /* it cannot be opened a second time */
	struct stat file; /* of the ordinary file that is mapped; not with `stream` */
};

/* `kind` says what it is in messages: "cannot open the KIND: ...". */
bool input_open(const char *path, const char *kind, struct input *in, struct error *error);
void input_close(struct input *in);
/* The same as a string with a NUL behind it; the caller's.  NULL on failure. */
char *input_text(const char *path, const char *kind, size_t *length, struct error *error);
/* Behind the mark that some editors put before UTF-8, if it is there; *length is made less. */
const char *input_skip_mark(const char *text, size_t *length);

#endif
