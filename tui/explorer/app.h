/*
 * app.h - the explorer: a stack of views over a session, requests in, a grid out.
 *
 * Knows nothing of curses: keys come in through app_key, the picture is drawn into a grid
 * by app_draw.  screen.h puts it on a terminal; tests and scripts do without.
 */
#ifndef HEDDLE_APP_H
#define HEDDLE_APP_H

#include "tui/explorer/grid.h"
#include "tui/explorer/job.h"
#include "tui/explorer/keys.h"
#include "tui/explorer/session.h"
#include "tui/explorer/source.h"

struct app;
/* The reader has said yes; `words` are those of app_ask, to be taken over or freed. */
typedef void app_answer(struct app *app, char **words);

/* A view: what app.c and every other view know of it.  All but open, draw and close may be
 * NULL. */
struct view_ops {
	const char *title;
	/* The state (owned by the view; ended by close). */
	void *(*open)(struct app *app);
	void (*close)(void *state);
	/* It comes to the top, or what it shows has changed. */
	void (*show)(struct app *app, void *state);
	/* Body of this size: scroll so that the cursor is seen.  Before each draw. */
	void (*fit)(struct app *app, void *state, int rows, int columns);
	/* Changes nothing. */
	void (*draw)(const struct app *app, const void *state, struct pane pane);
	/* `count` is 0 when none was typed.  False: not understood here. */
	bool (*request)(struct app *app, void *state, enum request request, uint64_t count);
	/* Is there something for this request now?  What is not is left out of the hints; NULL:
	 * all.
	 */
	bool (*offers)(const struct app *app, const void *state, enum request request);
	/* Look for `text`, on from the cursor. False: the session looks among the events. */
	bool (*search)(struct app *app, void *state, const char *text, int direction);
	/* A click at a place of the body; `again`: on what was selected already. */
	void (*select)(struct app *app, void *state, int row, int column, bool again);
	/* The line under the cursor, for the clipboard. */
	void (*copy)(const struct app *app, const void *state, GString *out);
};
extern const struct view_ops *const view_table[VIEW_COUNT];
#define VIEW(name, table, word, request, of) extern const struct view_ops table;
#include "tui/explorer/views.def"
#undef VIEW

struct visit {
	enum view_kind view;
	int entry;
	uint32_t event;
	uint32_t pair[2];
};

struct app_options {
	int rows, columns;
	bool ascii;       /* no UTF-8 */
	bool quiet_start; /* start no analyses by itself (tests of single views) */
	double budget_pair, budget_total;
};

enum { MINIMUM_ROWS = 24, MINIMUM_COLUMNS = 80 };

struct app {
	struct session *session; /* owned */
	struct app_options options;
	struct jobs jobs;
	struct bindings bindings;
	struct sources sources;
	struct grid grid;
	void *states[VIEW_COUNT]; /* by view; NULL until it is first opened */
	enum view_kind stack[VIEW_COUNT + 1];
	int depth;
	GArray *places;      /* struct visit: where one was */
	GString *text;       /* what the text view shows */
	char *text_title;    /* owned */
	struct guide *guide; /* borrowed: the lesson that is open (guide.h), or NULL */
	guint reported;      /* the race of the report that one was led to, until a key; or 0 */
	char *tree_path;     /* owned: the exploration asked for, or NULL */
	GString *clipboard;  /* to be sent to the terminal; empty when there is nothing */
	char *message;       /* owned; the last line of the screen, or NULL */
	bool message_is_error;
	uint64_t count; /* digits typed so far */
	bool line_open; /* the command line has the keys */
	bool quit;
	bool suspend, redraw; /* asked for; the terminal does it */
	char **after; /* owned: a program's words, to run with the terminal given back; or NULL
	               */
	bool after_is_heddle; /* it is another explorer: its screen needs no words round it */
	char *question;       /* owned: has the last line until y, or any other key; or NULL */
	app_answer *question_yes;
	char **question_words; /* owned: for question_yes */
	bool scripted;         /* a script has the keys: `wait` may wait */
};

struct app *app_new(struct session *session, const struct app_options *options);
void app_free(struct app *app);
void app_resize(struct app *app, int rows, int columns);
/* A key; while the command line is open it goes there (command_line.h). */
void app_key(struct app *app, int key);
void app_request(struct app *app, enum request request, uint64_t count);
void app_mouse(struct app *app, int row, int column, int button);
void app_draw(struct app *app); /* into app->grid */
/* Results of jobs, when jobs.wake is readable. */
void app_collect(struct app *app);
/* For scripts: wait until some job has a result, and collect it. */
void app_await(struct app *app);

enum view_kind app_view(const struct app *app);
/* Go to a view; the place one leaves is kept for Backspace. */
void app_go(struct app *app, enum view_kind view);
/* Leave the top view; false on the first. */
bool app_leave(struct app *app);
/* Make `event` the current one; with `jump` the old place is kept. */
void app_goto(struct app *app, uint32_t event, bool jump);
/* What the top view shows may have changed. */
void app_refresh(struct app *app);
void app_say(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
void app_complain(struct app *app, const struct error *error);
/* Ask before what cannot be undone: `y` calls `yes` with the words (taken over), any other key
 * drops them. */
void app_ask(struct app *app, char *question, app_answer *yes, char **words);
/* Run a program (its words are taken over) once the terminal can be lent to it. */
void app_run_after(struct app *app, char **words);
/* Show the text (taken over) in the text view. */
void app_show_text(struct app *app, const char *title, GString *text);

/* -- where a view stands, for lessons ---------------------------------------------------- */

enum witness_place { WITNESS_ELSEWHERE, WITNESS_AT_BEGIN, WITNESS_AT_END, WITNESS_SCHEDULED };
/* SCHEDULED: the reader chose the threads, and both of the pair are next. */
enum witness_place witness_view_at(const struct app *app);
/* Is a run that ended in an error under the cursor of the exploration? */
bool explore_view_at_failure(const struct app *app);
/* "hb", ..., "closure"; NULL when the view was never open. */
const char *order_view_word(const struct app *app);

/* -- work beside the screen (work.c) ---------------------------------------------------- */

void app_start_index(struct app *app);
/* The index, then every analysis that the trace allows. */
void app_start_work(struct app *app);
/* Make the order if it is not there; false while it is being made. */
bool app_need_order(struct app *app, enum order_kind kind);
/* Decide the pair in question exactly; the result becomes an entry. */
void app_decide_pair(struct app *app, uint32_t first, uint32_t second);
/* Is that under way for the pair that begins with `first`? */
bool app_decides(const struct app *app, uint32_t first);

/* Look for a schedule with fewer switches than the witness of the selected finding has, which
 * it then gets. */
void app_fewer_switches(struct app *app);

/* -- helpers of views -------------------------------------------------------------------- */

static inline const struct trace *app_trace(const struct app *app)
{
	return app->session->trace;
}
/* Lists: moves the cursor for DOWN UP PAGE_* FIRST LAST; false for other requests. */
bool list_request(struct list *list, enum request request, uint64_t count);
/* The glyph and the style of a verdict. */
const char *verdict_glyph(const struct finding *f);
/* A title and a part of the source file at a frame of the stack of an event, its line in the
 * middle and marked; nothing and false when there is no source. */
bool draw_source(const struct app *app, struct pane pane, uint32_t event, unsigned frame);
/* The source line at a location, without its indentation; borrowed, NULL when there is none. */
const char *source_line(const struct app *app, uint32_t location);
/* The events of the thread around an event, when there is no source. */
void draw_neighbours(const struct app *app, struct pane pane, uint32_t event);

#endif
