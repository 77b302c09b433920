/*
 * output.h - programs that run beside the screen, and their output: a build, a new recording,
 * runs along a schedule. Shown by the view "output"; one at a time.
 */
#ifndef HEDDLE_OUTPUT_H
#define HEDDLE_OUTPUT_H

#include "tui/explorer/app.h"

struct output_side {
	char *title;   /* owned: "T1 first" */
	GString *text; /* owned: the output, as it came */
	char *end;     /* owned: "exit status 0"; NULL: not started, or still running */
	bool failed;
};
struct output {
	char *title;     /* owned: "rebuild: make" */
	GString *result; /* owned: the result, shown above */
	struct output_side sides[2];
	guint count; /* number of sides, shown beside each other */
	bool running;
	bool failed; /* the cursor goes to the first error's place */
	char *trace; /* owned: a new recording, which Enter opens; or NULL */
	guint revision;
};

/* A program to run, with its output on a side. */
struct output_step {
	char **argv; /* owned */
	guint side;
	unsigned seconds; /* then it is ended */
	bool needed;      /* if it fails, the remaining steps are left out */
	bool unseen;      /* its end is shown only if it did not end by itself */
	char *began;      /* owned: a line said before, or NULL */
	int status;       /* result: of waitpid, or -1 */
	bool ran;
};
struct output_task {
	struct output *output;     /* owned, until it runs */
	GPtrArray *steps;          /* struct output_step *, owned */
	char *folder;              /* owned: removed at the end, with its files; or NULL */
	const struct trace *trace; /* borrowed: the explorer's */
	/* Runs in the thread that runs the steps, after all of them: appends to `result`. */
	void (*compare)(struct output_task *task, GString *result);
	/* Runs on the screen's thread, at the end; or NULL. */
	void (*ended)(struct app *app, struct output_task *task);
	char *names[2]; /* owned: names of the sides, for `compare` */
	char *path;     /* owned: for `compare` and `ended` */
	struct app *app;
};
struct output_task *output_task_new(struct app *app, char *title);
void output_task_free(struct output_task *task);
/* The argument vector passes to the task. */
struct output_step *output_task_add(struct output_task *task, guint side, unsigned seconds,
                                    char **argv);
/* Shows the view and starts the task (ownership passes); false and `error` while another one
 * runs. */
bool output_begin(struct app *app, struct output_task *task, struct error *error);
void output_free(struct output *output); /* NULL is allowed */
/* The vector's words, then NULL; for output_task_add. */
char **output_words(const char *first, ...) G_GNUC_NULL_TERMINATED;

#endif
