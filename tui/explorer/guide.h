/*
 * guide.h - a lesson beside the explorer: one step at a time in a pane of its own, what the
 * student does compared with what the step asks for, hints, answers.
 *
 * The lesson is data (tui/lesson/lesson.h).  Recording anew is not done here: the guide says
 * that it is wanted, the explorer ends, and who ran it begins again on the new recording.
 */
#ifndef HEDDLE_GUIDE_H
#define HEDDLE_GUIDE_H

#include "tui/explorer/app.h"
#include "tui/lesson/lesson.h"

enum guide_size { GUIDE_SHOWN, GUIDE_LARGE, GUIDE_HIDDEN, GUIDE_SIZES };
/* Why the explorer ended. */
enum guide_wish { GUIDE_NOTHING, GUIDE_RECORD, GUIDE_EDIT, GUIDE_MEND };

struct guide {
	const struct lesson *lesson; /* borrowed */
	const char *folder;          /* borrowed: the student's */
	guint step;
	bool done;      /* the step */
	bool skipping;  /* on was asked for once before it was done */
	guint hints;    /* so many are shown */
	char *reply;    /* owned: to an answer; or NULL */
	bool changed;   /* what is shown was recorded anew */
	char *wrong;    /* owned: why the changed program is not right; NULL: it is, or is as it
	                   was */
	bool replaying; /* a replay was asked for and is about to run */
	bool replayed;  /* the program was run along a witness, in this step */
	bool finished;  /* the last step was left */
	struct lesson_progress counts; /* mistakes and hints so far; the rest is unused */
	enum guide_size size;
	enum guide_wish wish;
	unsigned edit_line; /* of the lesson's first source, at the selected finding; 0: none */
	bool unkept;        /* the progress is nobody's: it is not saved */
};

void guide_init(struct guide *g, const struct lesson *lesson, const char *folder);
void guide_release(struct guide *g);
/* Begin at the first step, whatever was kept. */
void guide_restart(struct guide *g);
/* Is the step done now?  After every key and every result of a job. */
void guide_notice(struct app *app);
/* On, back, hint, size, answer, edit, mend, record; false for other requests. */
bool guide_request(struct app *app, enum request request);
void guide_answer(struct app *app, const char *text);
/* Draw the pane into `body` and make `body` what is left of it. */
void guide_draw(const struct app *app, struct pane *body);
/* The part of `body` that views have. */
struct pane guide_rest(const struct app *app, struct pane body);

/* -- checks (guide_checks.c) ------------------------------------------------------------- */

/* Do all? The first that does not, or NULL. */
const struct lesson_check *checks_failing(const struct app *app, const GPtrArray *checks);

#endif
