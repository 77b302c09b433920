/*
 * view_witness.h - what the parts of the witness view share: the two orders side by side
 * (view_witness.c), a line for each turn (turns.c), being the scheduler (scheduler.c), and who
 * stands where at a step (stage_pane.c).
 */
#ifndef HEDDLE_VIEW_WITNESS_H
#define HEDDLE_VIEW_WITNESS_H

#include "tui/explorer/app.h"
#include "tui/explorer/prose.h"
#include "tui/explorer/schedule.h"

enum row_kind { ROW_EVENT, ROW_FOLD, ROW_SWITCH, ROW_BOTH };
struct row {
	enum row_kind kind;
	guint index; /* into the sequence; of a switch, into the switches */
};

/* What one thread does between two switches; or the row of that kind, as it is. */
struct turn {
	enum row_kind kind;   /* ROW_SWITCH: a turn */
	guint begin, end;     /* of the sequence */
	uint64_t first, last; /* of `rows`: its first event, and its last */
	guint why;            /* the switch that ends it, into the switches; or NONE */
	int moved;            /* of its events, those that moved up less those moved down */
};
struct turns {
	bool shown;
	GArray *list;  /* struct turn */
	GArray *lanes; /* uint32_t: the threads that have a turn, ascending */
	uint64_t top;
};

struct witness_view {
	uint32_t pair[2];
	bool missing;                  /* code that was not recorded counted when it was made */
	const struct finding *finding; /* what is shown, or NULL */
	const GArray *source;          /* the finding's witness that `w` is of; for comparing */
	GHashTable *shortened;         /* findings that were asked for fewer switches */
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
	struct turns turns; /* the same in short: a line a turn */
	char *verdict;      /* owned: the checker's word */
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

/* What event `i` of the witness writes and reads in this schedule.  What the pair sees is open:
 * the value that is there, or the other's. */
void append_witness_event(const struct app *app, const struct witness_view *v, guint i,
                          GString *out);
/* "4 switches, 2 needed" */
void append_switch_count(const struct witness_view *v, GString *out);
/* What the schedule shows, as its line says it: the two race, each waits for another. */
const char *witness_claim_words(const struct witness_view *v);
/* Why the old thread does not go on, in as few words as half a screen has room for. */
void append_switch_reason(const struct trace *t, const struct witness_view *v,
                          const struct context_switch *s, GString *out);
/* The rule with the step's number, who stands where, values. */
void draw_witness_foot(const struct app *app, const struct witness_view *v, struct pane p);

/* -- a line for each turn (turns.c) ------------------------------------------------------- */

void turns_init(struct turns *turns);
void turns_release(struct turns *turns);
/* The turns of v->rows; forgets those of another witness. */
void turns_make(struct witness_view *v, const struct trace *t);
void turns_fit(struct witness_view *v, int rows);
void turns_draw(const struct app *app, const struct witness_view *v, struct pane p);
/* False: not understood here, the view's own. */
bool turns_request(struct app *app, struct witness_view *v, enum request request,
                   uint64_t count);
/* A click at a row of the body. */
void turns_select(struct witness_view *v, int row);

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
