/*
 * lesson.h - lessons: a text file with samples, read into steps with tasks and checks. Format:
 * docs/lessons.md. Data only, without explorer or recording.
 */
#ifndef HEDDLE_LESSON_H
#define HEDDLE_LESSON_H

#include "engine/base/base.h"

/* Size of a step, which fits beside the explorer at 80x24. */
enum { LESSON_ROWS = 8, LESSON_COLUMNS = 78 };

enum check_kind {
#define CHECK(function, word, low, high, operands, help) CHECK_##function,
#include "tui/lesson/checks.def"
#undef CHECK
	CHECK_COUNT
};
struct lesson_check {
	enum check_kind kind;
	char **operands; /* owned, NULL-terminated */
	char *text;      /* owned: as written */
	unsigned line;
};
struct check_info {
	const char *word, *operands, *help;
	guint low, high;
};
extern const struct check_info check_table[CHECK_COUNT];

struct lesson_step {
	char *title;
	char *text;          /* owned: paragraphs, separated by blank lines; or NULL */
	char *task;          /* the task, or NULL */
	char *question;      /* or NULL */
	GPtrArray *choices;  /* char *, owned: a), b), ... */
	char *answer;        /* the answer to the question; several are separated by | */
	char *right;         /* response to the right answer; or NULL */
	char *keys;          /* keys for the task, as in `press`; or NULL */
	GPtrArray *hints;    /* char *, owned */
	GPtrArray *checks;   /* struct lesson_check *, owned: all must hold */
	GPtrArray *facts;    /* struct lesson_check *, owned: facts that text and answer rely
	                      * on */
	GPtrArray *commands; /* char *, owned: the task without the explorer */
	unsigned line;
};

struct lesson {
	char *path, *folder, *name; /* name: of the file, without .lesson */
	char *title, *teaches;
	unsigned order;     /* in the list */
	GPtrArray *sources; /* char *: compiled with heddle cc; the first names the program */
	GPtrArray *plain;   /* char *: compiled by the ordinary compiler */
	GPtrArray *fixed;   /* char *: replacements for the sources */
	GPtrArray *specs;   /* char * */
	GPtrArray *files;   /* char *: copied only */
	char *report;       /* owned: the report of another tool among them, or NULL */
	bool fix_plain;     /* the fix is to compile everything with heddle cc */
	char *compile, *record, *explore; /* options; explore NULL: no exploration */
	char *prints; /* regular expression for the last line of a right program's output; NULL:
	               * any */
	GPtrArray *steps; /* struct lesson_step *, owned */
};

/* NULL and one error for an invalid file. Owned by the caller. */
void lesson_free(struct lesson *lesson);
/* All shipped lessons and those in $XDG_DATA_HOME/heddle/lessons, in their order, without
 * invalid ones. Owned by the caller, with its elements. */
GPtrArray *lessons_all(void);
/* A lesson by name, or by path. */
struct lesson *lesson_find(const char *name, struct error *error);
/* The program's name: the first source without its suffix. Owned by the caller. */
char *lesson_program(const struct lesson *lesson);
/* Does `text` answer the step's question, by letter or words of a choice? */
bool lesson_answers(const struct lesson_step *step, const char *text);
/* Is the step's task to fix the program? */
bool lesson_step_mends(const struct lesson_step *step);
/* Text, task, question and choices in lines of at most `width` columns: char *, owned. */
GPtrArray *lesson_lines(const struct lesson_step *step, int width);
/* The table of checks in Markdown. */
void lesson_print_checks(GString *out);

/* -- the student's progress (progress.c): JSON in the XDG state folder --------------------- */

struct lesson_progress {
	guint step; /* last step shown, from 0 */
	bool finished;
	/* -- of the latest pass */
	guint wrong;   /* wrong answers */
	guint hints;   /* hints shown */
	guint skipped; /* steps skipped */
};
struct lesson_progress lesson_progress_load(const char *name);
/* "2 wrong answers, 1 hint", or "no mistake, no hint". */
void lesson_progress_append(struct lesson_progress progress, GString *out);
/* False when it cannot be saved. */
bool lesson_progress_save(const char *name, struct lesson_progress progress,
                          struct error *error);

/* -- the student's folder (workshop.c) ---------------------------------------------------- */

struct workshop {
	const struct lesson *lesson; /* borrowed */
	char *folder;                /* owned */
	bool temporary;              /* removed at the end */
	bool mended;                 /* the fixed version is in use */
	char *trace, *tree;          /* owned: the recording, the exploration or NULL */
	char *shown;                 /* owned: the run that shows the error, or NULL */
	int status;                  /* exit status of the recorded program, as in a shell */
};
/* Create the folder (NULL: temporary) and copy the sample's files, unless present. */
bool workshop_open(struct workshop *w, const struct lesson *lesson, const char *folder,
                   struct error *error);
/* Removes a temporary folder. */
void workshop_close(struct workshop *w);
/* Does the specification have bind lines? Then recording needs it, and the trace names it; else
 * only analyses do. */
bool lesson_spec_binds(const struct lesson *lesson, guint spec);
/* The commands to run in the folder: char *, owned. */
GPtrArray *lesson_recipe(const struct lesson *lesson, bool mended);
/* Run a command of the recipe's form in the folder, without a shell; its output is appended.
 * The status is as in a shell, or that of `timeout`. */
int workshop_run(const struct workshop *w, const char *command, GString *said);
/* Compile, record, explore; output is appended to `said`. */
bool workshop_make(struct workshop *w, GString *said, struct error *error);
/*
 * Is the changed program right? After workshop_make (whose output is `said`) it runs under many
 * schedules and is explored (judge.c). True: every run ends by itself with status 0 and the
 * right last line, and exploration finds no error or data race within its budget. False, with
 * the reason and a schedule in `why`, and that run's trace as w->shown, to be opened at once.
 */
bool workshop_judge(struct workshop *w, const GString *said, GString *why);
/* Replace the sources by the fixed version. */
bool workshop_mend(struct workshop *w, struct error *error);
/* Run $VISUAL or $EDITOR on the first source, at `line` (0: none) if the editor is known to
 * take +LINE. */
bool workshop_edit(const struct workshop *w, unsigned line, struct error *error);

#endif
