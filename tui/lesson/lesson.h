/*
 * lesson.h - lessons for the class: a text file beside a sample, read into steps with what the
 * student is to do and how that is seen.  docs/lessons.md has the format.
 *
 * Data only: knows neither the explorer nor how programs are recorded.
 */
#ifndef HEDDLE_LESSON_H
#define HEDDLE_LESSON_H

#include "engine/base/base.h"

/* What fits below or above the explorer at 80x24, and so what a step may have. */
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
	char *text;      /* owned: as it was written */
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
	char *task;          /* what to do, or NULL */
	char *question;      /* or NULL */
	GPtrArray *choices;  /* char *, owned: a), b), ... */
	char *answer;        /* of a question; several are separated by | */
	char *right;         /* said to the right answer; or NULL */
	char *keys;          /* that do the task, as `press` has them; or NULL */
	GPtrArray *hints;    /* char *, owned */
	GPtrArray *checks;   /* struct lesson_check *, owned: all must hold */
	GPtrArray *facts;    /* the same: what the text and the answer rest on */
	GPtrArray *commands; /* char *, owned: the same without the explorer */
	unsigned line;
};

struct lesson {
	char *path, *folder, *name; /* name: the file's, without .lesson */
	char *title, *teaches;
	unsigned order;     /* in the list */
	GPtrArray *sources; /* char *: compiled with heddle cc; the first names the program */
	GPtrArray *plain;   /* char *: compiled by the ordinary compiler */
	GPtrArray *fixed;   /* char *: what replaces the sources, one by one */
	GPtrArray *specs;   /* char * */
	GPtrArray *files;   /* char *: only brought along */
	bool fix_plain;     /* the fix is to compile all with heddle cc */
	char *compile, *record, *explore; /* options; explore NULL: not explored */
	char *prints;     /* the last line of a right program's output, as a regular expression;
	                   * NULL:     any */
	GPtrArray *steps; /* struct lesson_step *, owned */
};

/* NULL and one error for a file that is no lesson. Owned by the caller. */
void lesson_free(struct lesson *lesson);
/* All lessons that ship, and those in $XDG_DATA_HOME/heddle/lessons, by their order; broken
 * ones are left out. Owned by the caller (an array that frees them). */
GPtrArray *lessons_all(void);
/* By its name among them, or a path to a file. */
struct lesson *lesson_find(const char *name, struct error *error);
/* The program's name: the first source's without its ending. Owned by the caller. */
char *lesson_program(const struct lesson *lesson);
/* Does `text` answer the step's question?  A letter or the words of a choice will do. */
bool lesson_answers(const struct lesson_step *step, const char *text);
/* Does the step ask for the program to be mended? */
bool lesson_step_mends(const struct lesson_step *step);
/* Text, task, question and choices as lines of at most `width` columns: char *, owned. */
GPtrArray *lesson_lines(const struct lesson_step *step, int width);
/* The table of checks in Markdown. */
void lesson_print_checks(GString *out);

/* -- how far the student is (progress.c): JSON in the XDG state folder ------------------- */

struct lesson_progress {
	guint step; /* that was shown last, from 0 */
	bool finished;
	/* the last time that it was gone through, as far as one is */
	guint wrong;   /* answers that were not right */
	guint hints;   /* that were asked for */
	guint skipped; /* steps left undone */
};
struct lesson_progress lesson_progress_load(const char *name);
/* "2 wrong answers, 1 hint", or "no mistake, no hint". */
void lesson_progress_append(struct lesson_progress progress, GString *out);
/* False when it cannot be kept. */
bool lesson_progress_save(const char *name, struct lesson_progress progress,
                          struct error *error);

/* -- the student's folder (workshop.c) ---------------------------------------------------- */

struct workshop {
	const struct lesson *lesson; /* borrowed */
	char *folder;                /* owned */
	bool temporary;              /* removed at the end */
	bool mended;                 /* the fixed version was taken */
	char *trace, *tree;          /* owned: the recording, the exploration or NULL */
	int status;                  /* how the recorded program ended, as a shell says it */
};
/* Make the folder (NULL: a temporary one) and put the sample's files there, unless they are. */
bool workshop_open(struct workshop *w, const struct lesson *lesson, const char *folder,
                   struct error *error);
/* Removes a temporary folder. */
void workshop_close(struct workshop *w);
/* Has the specification bind lines?  Then it is for recording, and the trace names it;
 * otherwise it is for who reads the trace. */
bool lesson_spec_binds(const struct lesson *lesson, guint spec);
/* What a shell would do in the folder, one command each: char *, owned. */
GPtrArray *lesson_recipe(const struct lesson *lesson, bool mended);
/* Compile, record, explore.  What the compiler and the program say is appended to `said`. */
bool workshop_make(struct workshop *w, GString *said, struct error *error);
/*
 * Is the changed program right?  It was recorded (workshop_make, which has its output in
 * `said`); now it is run under many schedules and explored (judge.c).  True: every run ends by
 * itself with status 0 and the right last line, and exploration finds neither an error nor a
 * data race within its budget.  False, and `why` in a sentence or two, with the schedule that
 * shows it.
 */
bool workshop_judge(const struct workshop *w, const GString *said, GString *why);
/* Replace the sources by the fixed version. */
bool workshop_mend(struct workshop *w, struct error *error);
/* Run $VISUAL or $EDITOR on the first source, on this terminal; at `line`, unless it is 0 or
 * the editor is none of those that are known to take +LINE. */
bool workshop_edit(const struct workshop *w, unsigned line, struct error *error);

#endif
