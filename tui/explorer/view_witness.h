/*
 * view_witness.h - what the parts of the witness view share: the two orders side by side
 * (view_witness.c), being the scheduler (scheduler.c), and who stands where at a step
 * (stage_pane.c).
 */
#ifndef HEDDLE_VIEW_WITNESS_H
#define HEDDLE_VIEW_WITNESS_H

#include "tui/explorer/app.h"
#include "tui/explorer/prose.h"
#include "tui/explorer/schedule.h"

struct witness_view {
	uint32_t pair[2];
	bool missing;                  /* code that was not recorded counted when it was made */
	const struct finding *finding; /* what is shown, or NULL */
	struct witness w;
	struct stage stage;      /* of w.events, when there are any */
	GArray *switches;        /* struct context_switch */
	GArray *rows, *recorded; /* struct row; of `recorded` index is into `sorted` */
	GArray *sorted;          /* uint32_t: the same events as recorded */
	GArray *prose;           /* struct prose_row: the proof, where there is no witness */
	int8_t *moves;
	guint fold;                   /* so many first events are as recorded and folded */
	int name_width, number_width; /* columns of a thread's name and an event's number */
	struct list list;             /* of `rows`, or of `prose` */
	int columns;
	uint64_t recorded_top;
	char *verdict; /* owned: the checker's word */
	bool accepted;
	bool choosing;
	struct chooser chooser;
	uint32_t choice; /* the thread under the cursor */
};

/* Another witness is to be shown, or another pair (view_witness.c). */
void witness_view_show(struct app *app, struct witness_view *v);
/* An event with its thread and number: `move` as of schedule_moves, told in words where there
 * is room. */
void draw_witness_event(const struct app *app, const struct witness_view *v, struct pane p,
                        int row, uint32_t event, const char *text, int8_t move);

/* -- being the scheduler (scheduler.c) ---------------------------------------------------- */

void scheduler_start(struct app *app, struct witness_view *v, guint count);
bool scheduler_request(struct app *app, struct witness_view *v, enum request request);
void scheduler_draw(const struct app *app, const struct witness_view *v, struct pane p);

/* -- who stands where (stage_pane.c) ------------------------------------------------------ */

/* So many rows does it take of a body of `rows`. */
int stage_pane_rows(const struct stage *stage, int rows);
/* For each thread that takes part: the place that it stands before, with its source line, what
 * it holds and what it waits for; then values. `title` (or NULL) stands in the rule above; at
 * most two of `pair` (NONE) are marked; the threads of the pair and the one of the step come
 * first where not all have room. */
void stage_pane_draw(const struct app *app, const struct stage *stage, guint step,
                     const uint32_t pair[2], const char *title, struct pane p);

#endif
