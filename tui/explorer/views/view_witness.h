/*
 * view_witness.h - shared parts of the witness view: the rows of both orders (view_witness.c),
 * side by side (witness_draw.c), their comparison (both_orders.c), a line per turn (turns.c),
 * manual scheduling (scheduler.c), and the threads' state at a step (stage_pane.c).
 */
#ifndef HEDDLE_VIEW_WITNESS_H
#define HEDDLE_VIEW_WITNESS_H

#include "tui/explorer/app.h"
#include "engine/witness/switches.h"
#include "tui/explorer/words/prose.h"
#include "tui/explorer/schedule.h"

/* POINT: between the last chance and the point of no return. */
enum row_kind { ROW_EVENT, ROW_FOLD, ROW_SWITCH, ROW_BOTH, ROW_POINT };
struct row {
	enum row_kind kind;
	guint index; /* index in the sequence (of a POINT, of the next event); of a switch,
	              * in the switches */
};

/* The events of one thread between two switches; or a row of that kind. */
struct turn {
	enum row_kind kind;   /* ROW_SWITCH: a turn */
	guint begin, end;     /* in the sequence */
	uint64_t first, last; /* in `rows`: indices of its first and last event */
	guint why;            /* index of the switch after it; or NONE */
	int moved;            /* number of events moved up less those moved down */
};
struct turns {
	bool shown;
	GArray *list;  /* struct turn */
	GArray *lanes; /* uint32_t: threads with a turn, ascending */
	uint64_t top;
};

struct witness_view {
	uint32_t pair[2];
	bool missing;                  /* missing code counted when it was made */
	const struct finding *finding; /* the subject, or NULL */
	const struct reached *reached; /* shown in place of a finding, or NULL */
	const GArray *source;          /* the finding's witness in `w`, for comparison */
	GHashTable *shortened;         /* findings whose shortening was requested */
	struct witness w;
	struct stage stage;      /* of w.events, if any */
	GArray *switches;        /* struct context_switch */
	GArray *rows, *recorded; /* struct row; `recorded` has indices into `sorted` */
	GArray *sorted;          /* uint32_t: the same events in recorded order */
	GArray *prose;           /* struct prose_row: the proof, without a witness */
	int8_t *moves;
	bool all_calls;      /* every call and return has a row */
	uint8_t *calls_left; /* by index: a call or return without a row (witness_calls.c) */
	guint calls_count;   /* of these */
	const struct return_point *point; /* point of no return of the run, when the rows
	                                   * were made; or NULL */
	guint fold;                   /* length of the folded prefix equal to the recording */
	int name_width, number_width; /* columns of a thread's name and an event's number */
	struct list list;             /* of `rows`, or of `prose` */
	int columns;
	uint64_t recorded_top;
	char *sentence;     /* owned: the claim, when the cursor is there; else NULL */
	struct turns turns; /* the short form */
	char *verdict;      /* owned: the checker's verdict */
	bool accepted;
	struct comparison *comparison; /* the running comparison (both_orders.c), or NULL;
	                                * the job owns it */
	bool asked_to_verify;          /* the user asked for the verdict, which is then shown */
	bool choosing;
	struct chooser chooser;
	uint32_t choice; /* the thread under the cursor */
};

/* -- parts that its forms share (witness_parts.c) -------------------------------------------- */

static inline uint32_t witness_event(const struct witness_view *v, guint i)
{
	return g_array_index(v->w.events, uint32_t, i);
}
/* Index of the event under the cursor, or of the next one below a separator. */
guint witness_cursor(const struct witness_view *v);
/* Draw an event with thread and number; `move` as in schedule_moves, in words if they fit. */
void draw_witness_event(const struct app *app, const struct witness_view *v, struct pane p,
                        int row, uint32_t event, const char *text, int8_t move);

/* Append values of event `i` in this schedule. The pair's are open: the current value, or the
 * other's. */
void append_witness_event(const struct app *app, const struct witness_view *v, guint i,
                          GString *out);
/* "4 switches, 2 needed" */
void append_switch_count(const struct witness_view *v, GString *out);
/* Rows of the foot, for a body of `rows`. */
int witness_foot_rows(const struct witness_view *v, int rows);
/* The claim in words: the two race, each waits for another. */
const char *witness_claim_words(const struct witness_view *v);
/* Append why the old thread cannot continue, briefly. */
void append_switch_reason(const struct session *session, const struct witness_view *v,
                          const struct context_switch *s, GString *out);
/* Draw the rule with the step's number, the threads' state, values. */
void draw_witness_foot(const struct app *app, const struct witness_view *v, struct pane p);

/* -- both orders on the screen (witness_draw.c) ------------------------------------------------ */

/* Of the view; `state` is a struct witness_view. */
void witness_fit(struct app *app, void *state, int rows, int columns);
void witness_draw(const struct app *app, const void *state, struct pane p);

/* -- both orders, compared (both_orders.c) ------------------------------------------------- */

/* Takes the comparison: w, stage, sorted, switches, moves, calls_left and verdict of `made`
 * pass to `v`. */
typedef void orders_taker(struct app *app, struct witness_view *v, struct witness_view *made);
/* Compare `w` (its parts pass) with the recorded order and judge it, then call `take`: now, or
 * later if it is long; `v` shows its old witness until then. `target`: of CLAIM_REACH. */
void both_orders_make(struct app *app, struct witness_view *v, const struct witness *w,
                      uint32_t target, orders_taker *take);
/* Free the parts that a taker takes. */
void both_orders_free(struct witness_view *v);
/* `v` no longer waits for it. */
void both_orders_leave(struct witness_view *v);

/* -- calls and returns (witness_calls.c) --------------------------------------------------- */

/* By index of the sequence: 1 for a call or return that needs no row. These are of functions
 * that are not the user's, and of those round no more than one other step. The first event of
 * each turn has a row. `count` is how many. Caller frees. */
uint8_t *witness_calls_left(const struct trace *t, const GArray *events, guint *count);

/* -- a line for each turn (turns.c) ------------------------------------------------------- */

void turns_init(struct turns *turns);
void turns_release(struct turns *turns);
/* Build the turns of v->rows, replacing old ones. */
void turns_make(struct witness_view *v, const struct trace *t);
void turns_fit(struct witness_view *v, int rows);
void turns_draw(const struct app *app, const struct witness_view *v, struct pane p);
/* False: not handled here. */
bool turns_request(struct app *app, struct witness_view *v, enum request request,
                   uint64_t count);
/* Append the events of the thread in the selected turn, and why it ends; false when turns are
 * not shown, or none is selected. */
bool turns_tell(const struct app *app, const struct witness_view *v, GString *out);
/* A click at a row of the body. */
void turns_select(struct witness_view *v, int row);

/* -- manual scheduling (scheduler.c) ------------------------------------------------------- */

void scheduler_start(struct app *app, struct witness_view *v, guint count);
bool scheduler_request(struct app *app, struct witness_view *v, enum request request);
void scheduler_draw(const struct app *app, const struct witness_view *v, struct pane p);

/* -- state of the threads (stage_pane.c) --------------------------------------------------- */

/* Number of rows it uses in a body of `rows`. */
int stage_pane_rows(const struct stage *stage, int rows);
/* The threads after `step` steps of a schedule. All borrowed. */
struct stage_shown {
	const struct stage *stage;
	guint step;
	const uint32_t *pair; /* two events (or NONE): marked where they are next */
};
/* For each participating thread: its next source line, the locks it holds, the lock or event it
 * waits for; then values. `title` (or NULL) is in the rule above; threads of the pair and of
 * the step have priority. `sentence` (or NULL) stands below the rule, in stage_sentence_rows
 * more rows. */
void stage_pane_draw(const struct app *app, const struct stage_shown *s, const char *title,
                     const char *sentence, struct pane p);
int stage_sentence_rows(const char *sentence, int columns);

#endif
