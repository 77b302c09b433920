/*
 * app.h - the explorer: a stack of views over a session.
 *
 * Independent of curses: keys come by app_key, app_draw draws into a grid. screen.h shows it on
 * a terminal; tests and scripts need none.
 */
#ifndef HEDDLE_APP_H
#define HEDDLE_APP_H

#include "tui/explorer/screen/grid.h"
#include "tui/explorer/job.h"
#include "tui/explorer/screen/keys.h"
#include "tui/explorer/session.h"
#include "tui/explorer/source.h"
#include "tui/explorer/screen/split.h"

struct app;
/* Called when the user says yes; `words` from app_ask, ownership passes. */
typedef void app_answer(struct app *app, char **words);

/* A view, as seen by app.c and other views. All but open, draw and close may be NULL. */
struct view_ops {
	const char *title;
	/* Create the state, owned by the view; freed by close. */
	void *(*open)(struct app *app);
	void (*close)(void *state);
	/* Called when the view comes to the top or its contents may have changed. */
	void (*show)(struct app *app, void *state);
	/* Scroll so that the cursor is visible in a body of this size. Before each draw. */
	void (*fit)(struct app *app, void *state, int rows, int columns);
	/* Has no side effects. */
	void (*draw)(const struct app *app, const void *state, struct pane pane);
	/* `count`: 0 if no number was typed. False: not handled. */
	bool (*request)(struct app *app, void *state, enum request request, uint64_t count);
	/* Is the request possible now? Others are not hinted at; NULL: all are. */
	bool (*offers)(const struct app *app, const void *state, enum request request);
	/* Search for `text` from the cursor. False: the session searches the events. */
	bool (*search)(struct app *app, void *state, const char *text, int direction);
	/* A click in the body; `again`: on the selected item. */
	void (*select)(struct app *app, void *state, int row, int column, bool again);
	/* The line under the cursor, for the clipboard. */
	void (*copy)(const struct app *app, const void *state, GString *out);
};
#define VIEW(name, table, word, request, of) extern const struct view_ops table;
#include "tui/explorer/views/views.def"
#undef VIEW

enum line_kind { LINE_COMMAND, LINE_FIND, LINE_NOTE, LINE_ANSWER };

/* The frame around the views (app.c) and its command line, as seen by views and commands. */
struct app_ops {
	void (*request)(struct app *app, enum request request, uint64_t count);
	void (*command)(struct app *app, const char *line);
	/* Open the last line with a prompt and initial text. */
	void (*open_line)(struct app *app, enum line_kind kind, const char *beginning);
	void (*key)(struct app *app, int key);
	void (*draw)(struct app *app);
	void (*await)(struct app *app);
};

struct visit {
	enum view_kind view;
	int entry;
	uint32_t event;
	uint32_t pair[2];
};

struct app_options {
	int rows, columns;
	bool ascii;       /* no UTF-8 */
	bool quiet_start; /* start no analyses (tests of single views) */
	double budget_pair, budget_total;
};

/* The size that the views are made for; smaller screens fold them, down to LEAST. */
enum { USUAL_ROWS = 24, USUAL_COLUMNS = 80, LEAST_ROWS = 15, LEAST_COLUMNS = 60 };

struct app {
	const struct app_ops *ops;
	const struct view_ops *const *views; /* by enum view_kind */
	struct session *session;             /* owned */
	struct app_options options;
	struct jobs jobs;
	struct bindings bindings;
	struct sources sources;
	struct grid grid;
	struct splits splits;
	void *states[VIEW_COUNT]; /* by view; NULL until first opened */
	enum view_kind stack[VIEW_COUNT + 1];
	int depth;
	GArray *places;        /* struct visit: visited places */
	GString *text;         /* contents of the text view */
	char *text_title;      /* owned */
	struct guide *guide;   /* borrowed: the open lesson (guide.h), or NULL */
	guint reported;        /* race of the report shown at the start, until a key; or 0 */
	struct output *output; /* owned: a program beside the screen and its output
	                        * (output.h); or NULL */
	char *rebuilt;         /* owned: file of the last recording of :rebuild; or NULL */
	char *tree_path;       /* owned: the requested exploration, or NULL */
	bool runs_shown;       /* shows an exploration's runs instead of its outcomes */
	GString *clipboard;    /* text to send to the terminal; empty: none */
	char *message;         /* owned; the last line of the screen, or NULL */
	bool message_is_error;
	char *settled;  /* owned: the message that counts the findings, as it was last; or NULL
	                 */
	uint64_t count; /* digits typed so far */
	bool line_open; /* the command line has the keys */
	bool quit;
	bool suspend, redraw; /* requests to the terminal */
	char **after;         /* owned: command to run when the terminal is free; or NULL */
	bool after_is_heddle; /* it is another explorer, without a message around it */
	char *question;       /* owned: shown in the last line until a key; or NULL */
	app_answer *question_yes;
	char **question_words; /* owned: for question_yes */
	bool scripted;         /* keys come from a script, so that `wait` blocks */
};

struct app *app_new(struct session *session, const struct app_options *options);
void app_free(struct app *app);
void app_resize(struct app *app, int rows, int columns);
bool app_too_small(const struct app *app); /* only a notice is shown, and keys do nothing but
                                            * quit */
/* Handle a key; goes to the command line while that is open (command_line.h). */
static inline void app_key(struct app *app, int key)
{
	app->ops->key(app, key);
}
static inline void app_request(struct app *app, enum request request, uint64_t count)
{
	app->ops->request(app, request, count);
}
/* Run a command line. */
static inline void app_command(struct app *app, const char *line)
{
	app->ops->command(app, line);
}
static inline void app_open_line(struct app *app, enum line_kind kind, const char *beginning)
{
	app->ops->open_line(app, kind, beginning);
}
/* `button`: enum mouse_button. */
void app_mouse(struct app *app, int row, int column, int button);
static inline void app_draw(struct app *app) /* into app->grid */
{
	app->ops->draw(app);
}
/* Collect results of jobs, when jobs.wake is readable. */
void app_collect(struct app *app);
/* For scripts: wait for a result of a job and collect it. */
static inline void app_await(struct app *app)
{
	app->ops->await(app);
}

/* -- messages, views and places (views.c) --------------------------------------------------- */

enum view_kind app_view(const struct app *app);
/* Go to a view; the old place is kept for Backspace. */
void app_go(struct app *app, enum view_kind view);
/* Leave the top view; false on the first. */
bool app_leave(struct app *app);
/* Make `event` the current one; with `jump` the old place is kept. */
void app_goto(struct app *app, uint32_t event, bool jump);
/* Views' rows and texts are out of date: views below the top are closed, the top one is
 * opened anew. */
void app_forget(struct app *app);
/* The contents of the top view may have changed. */
void app_refresh(struct app *app);
void app_say(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
void app_complain(struct app *app, const struct error *error);
/* Ask before an irreversible action: `y` calls `yes` with the words (ownership passes), any
 * other key drops them. */
void app_ask(struct app *app, char *question, app_answer *yes, char **words);
/* Run a program when the terminal is free; takes ownership of the words. */
void app_run_after(struct app *app, char **words);
/* For app.c. */
void app_drop_question(struct app *app);
/* `message`: owned from here on, or NULL. */
void app_set_message(struct app *app, char *message, bool is_error);
/* Put a view on top; every view is at most once in the stack, and Findings is at the bottom. */
void app_raise(struct app *app, enum view_kind view);
/* Show the text (ownership passes) in the text view. */
void app_show_text(struct app *app, const char *title, GString *text);

/* -- positions in views, for lessons ------------------------------------------------------- */

enum witness_place { WITNESS_ELSEWHERE, WITNESS_AT_BEGIN, WITNESS_AT_END, WITNESS_SCHEDULED };
/* Is the cursor where both events of the pair are about to happen? */
bool witness_view_at_pair(const struct app *app);
/* SCHEDULED: the user chose the schedule, and both events of the pair are next. */
enum witness_place witness_view_at(const struct app *app);
/* Is a run with an error selected in the exploration? */
bool explore_view_at_failure(const struct app *app);
/* "hb", ..., "closure"; NULL when the view was never opened. */
const char *order_view_word(const struct app *app);

/* Mark the picked findings, else all of the selected folder, else the selected one; `note`
 * NULL: keep each note. Returns their number. */
guint findings_mark(struct app *app, enum triage triage, const char *note);
/* Group them into folders by that property, or "none". False: not one of grouping_words. */
bool findings_group(struct app *app, const char *word);

/* -- background work (work.c) -------------------------------------------------------------- */

void app_start_index(struct app *app);
/* Start the index, then all analyses that apply to the trace. */
void app_start_work(struct app *app);
/* Look for the run's point of no return in the exploration beside it, or in the requested
 * one. */
void app_need_point(struct app *app);
/* Start computing the order; false until it is ready. */
bool app_need_order(struct app *app, enum order_kind kind);
/* Decide the pair exactly; the result becomes an entry. */
void app_decide_pair(struct app *app, uint32_t first, uint32_t second);
/* Is such a decision running for a pair with this first event? */
bool app_decides(const struct app *app, uint32_t first);

/* Search for a witness of the selected finding with fewer context switches, which replaces
 * it. */
void app_fewer_switches(struct app *app);

/* -- helpers of views -------------------------------------------------------------------- */

static inline const struct trace *app_trace(const struct app *app)
{
	return app->session->trace;
}
/* Move the cursor for DOWN UP PAGE_* FIRST LAST; false for other requests. */
bool list_request(struct list *list, enum request request, uint64_t count);
/* Glyph and style of a verdict. */
const char *verdict_glyph(const struct finding *f);
/* Draw a title and the lines around a stack frame's line; false, and nothing drawn, without
 * source. */
bool draw_source(const struct app *app, struct pane pane, uint32_t event, unsigned frame);
/* The source line of a location without indentation; borrowed, NULL when unknown. */
static inline const char *source_line(const struct app *app, uint32_t location)
{
	const struct location *l = &app_trace(app)->locations[location];
	if (l->file == 0 || l->line == 0)
		return NULL;
	return sources_line((struct sources *)&app->sources,
	                    trace_string(app_trace(app), l->file), l->line);
}
/* Draw the thread's events around an event, as a substitute for source. */
void draw_neighbours(const struct app *app, struct pane pane, uint32_t event);

#endif
