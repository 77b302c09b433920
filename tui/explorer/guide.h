/*
 * guide.h - a lesson in a pane beside the explorer: shows a step, compares the student's
 * actions with its checks, gives hints, takes answers.
 *
 * The lesson is data (tui/lesson/lesson.h). For a new recording the guide sets `wish`, the
 * explorer ends, and its caller starts again on the new recording.
 */
#ifndef HEDDLE_GUIDE_H
#define HEDDLE_GUIDE_H

#include "tui/explorer/app.h"
#include "tui/lesson/lesson.h"

enum guide_size { GUIDE_SHOWN, GUIDE_LARGE, GUIDE_HIDDEN, GUIDE_SIZES };
/* The reason why the explorer ended. */
enum guide_wish { GUIDE_NOTHING, GUIDE_RECORD, GUIDE_EDIT, GUIDE_MEND };

struct guide {
	const struct lesson *lesson; /* borrowed */
	const char *folder;          /* borrowed: the student's */
	guint step;
	bool done;      /* of the step */
	bool skipping;  /* "next" was requested once before it was done */
	guint hints;    /* number of hints shown */
	char *reply;    /* owned: the response to an answer; or NULL */
	bool changed;   /* shows a new recording */
	char *wrong;    /* owned: why the changed program is wrong; NULL: right or unchanged */
	bool replaying; /* a replay is requested and will run */
	bool replayed;  /* a witness was replayed in this step */
	bool finished;  /* the last step was left */
	struct lesson_progress counts; /* mistakes and hints so far; the rest is unused */
	enum guide_size size;
	enum guide_wish wish;
	unsigned edit_line; /* line in the lesson's first source, at the selected finding; 0:
	                     * none */
	bool unsaved;       /* do not save the progress */
};

void guide_init(struct guide *g, const struct lesson *lesson, const char *folder);
void guide_release(struct guide *g);
/* Go to the first step, whatever the saved progress. */
void guide_restart(struct guide *g);
/* Check whether the step is done; after every key and job result. */
void guide_notice(struct app *app);
/* Next, back, hint, size, answer, edit, fix, record; false for other requests. */
bool guide_request(struct app *app, enum request request);
void guide_answer(struct app *app, const char *text);
/* Draw the pane into `body`, and reduce `body` to the rest. */
void guide_draw(const struct app *app, struct pane *body);
/* The part of `body` for views. */
struct pane guide_rest(const struct app *app, struct pane body);

/* -- checks (guide_checks.c) ------------------------------------------------------------- */

/* The first check that does not hold, or NULL. */
const struct lesson_check *checks_failing(const struct app *app, const GPtrArray *checks);

#endif
