/*
 * target.h - the program that is debugged, as an adapter sees it: `heddle replay --gdb-server`
 * on a socket of a private folder, and Debian's gdb, driven by its machine interface, that is
 * connected to it.
 *
 * Both are started without a shell.  Nothing of a trace or a witness becomes a part of a gdb
 * command here: they are read by the server alone.
 */
#ifndef HEDDLE_TARGET_H
#define HEDDLE_TARGET_H

#include "tui/dap/mi.h"
#include "tui/dap/wire.h"

/* Receives the program's, Heddle's and gdb's output: category "stdout", "stderr", "console". */
typedef void target_said(void *context, const char *category, const char *text, size_t length);

/* An output that comes in pieces. */
struct pipe_end {
	int fd;           /* -1: closed */
	GString *partial; /* an unfinished character or, with `lines`, line */
	const char *category;
	bool lines; /* lines that begin with "heddle:" are Heddle's, not the program's */
};

struct target {
	struct wire *client;
	target_said *said;
	void *context;
	pid_t server, gdb; /* 0: not started */
	struct pipe_end output, errors;
	int to_gdb, from_gdb;
	GString *bytes; /* bytes of gdb's, not a whole line yet */
	char *folder;   /* private, with the socket; NULL: none */
	char *socket;
	uint64_t token;  /* of the last command */
	GQueue *records; /* struct mi_record *: executions, notifications, late errors */
	GString *stream; /* the console's and the server's text since it was emptied */
	GString *notes;  /* the server's alone */
	bool lost;       /* gdb or the server is gone */
};

/* Start the server with `options` of `heddle replay` and the program `argv` in `folder` (NULL:
 * the current one), and gdb; `seconds`: for the server to be ready, 0: no limit.  False and
 * `why`. */
bool target_open(struct target *t, GPtrArray *options, char *const *argv, const char *folder,
                 unsigned seconds, GString *why);
/* End both, and the program with them. */
void target_close(struct target *t);

/* Waits for input from the client, gdb or the program, at most `milliseconds` (-1: without
 * limit). */
void target_wait(struct target *t, int milliseconds);

/* Send gdb a command ("-thread-info", arguments quoted by mi_append_quoted) and wait for its
 * result, owned by the caller.  NULL and `why` for an error.  A client that leaves or asks for
 * a pause meanwhile interrupts the command. */
json_t *target_ask(struct target *t, GString *why, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
json_t *target_command(struct target *t, const char *command, GString *why);

#endif
