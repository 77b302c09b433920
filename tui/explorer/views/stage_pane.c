/*
 * stage_pane.c - the state at a step of a schedule: for each thread its next source line, the
 * locks held, the lock or event waited for; then values.
 */
#include "tui/explorer/views/view_witness.h"
#include "engine/trace/own_code.h"

#include <string.h>

enum {
	NAME_LEAST = 8,
	NAME = 12,
	WIDE_NAME = 20,
	MOST_THREADS = 8,
	OTHER_ROWS = 2 /* the rule, the values */,
	UNSEEN = 4
};

/* -- selection of threads ------------------------------------------------------------------ */

/* Does the thread take part in the schedule? In one that still grows, any thread may. */
static bool takes_part(const struct stage *stage, uint32_t thread)
{
	return stage->grows || stage_last(stage, thread, stage->events->len) != NONE;
}

static uint32_t threads_of(const struct stage *stage)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < stage->session->trace->threads_count; i++)
		count += takes_part(stage, i);
	return count;
}

/* Number of threads that fit a quarter of the body. */
static uint32_t room_for(const struct stage *stage, int rows)
{
	return MIN(threads_of(stage), (uint32_t)CLAMP(rows / 4 - 1, 2, MOST_THREADS));
}

int stage_pane_rows(const struct stage *stage, int rows)
{
	return OTHER_ROWS + (int)room_for(stage, rows);
}

/* Priority when threads do not fit: the pair's, the one that moved last, holders of locks,
 * others, those that moved later first; shown in thread order. */
static int rank_of(const struct stage *stage, uint32_t thread, guint step,
                   const uint32_t pair[2], const GArray *locks)
{
	const struct trace *t = stage->session->trace;
	for (int i = 0; i < 2; i++)
		if (pair[i] != NONE && t->events[pair[i]].thread == thread)
			return 0;
	if (step &&
	    t->events[g_array_index(stage->events, uint32_t, step - 1)].thread == thread)
		return 1;
	for (guint i = 0; i < locks->len; i++)
		if (t->events[g_array_index(locks, uint32_t, i)].thread == thread)
			return 2;
	return takes_part(stage, thread) ? 3 : UNSEEN;
}

/* A thread that may be shown. */
struct seat {
	uint32_t thread;
	int rank;
	guint moved; /* its last step, counted from 1; 0: none yet */
};

static int by_rank(gconstpointer a, gconstpointer b)
{
	const struct seat *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->moved != y->moved)
		return x->moved > y->moved ? -1 : 1;
	return x->thread < y->thread ? -1 : 1;
}

static void choose(const struct stage *stage, guint step, const uint32_t pair[2],
                   const GArray *locks, uint32_t room, uint8_t *shown)
{
	uint32_t threads = stage->session->trace->threads_count;
	g_autoptr(GArray) seats = g_array_new(FALSE, FALSE, sizeof(struct seat));
	for (uint32_t i = 0; i < threads; i++) {
		uint32_t last = stage_last(stage, i, step);
		struct seat seat = { i, rank_of(stage, i, step, pair, locks),
			             last == NONE ? 0 : stage_position(stage, last) + 1 };
		if (seat.rank < UNSEEN)
			g_array_append_val(seats, seat);
	}
	g_array_sort(seats, by_rank);
	for (guint i = 0; i < MIN(room, seats->len); i++)
		shown[g_array_index(seats, struct seat, i).thread] = 1;
}

/* -- a thread's line ------------------------------------------------------------------ */

static uint32_t holder_of(const struct trace *t, const GArray *locks, uint32_t object,
                          uint32_t thread)
{
	for (guint i = 0; i < locks->len; i++) {
		const struct event *e = &t->events[g_array_index(locks, uint32_t, i)];
		if (e->target == object && e->thread != thread)
			return e->thread;
	}
	return NONE;
}

static void append_waiting(const struct stage *stage, guint step, const GArray *locks,
                           uint32_t next, GString *out)
{
	const struct trace *t = stage->session->trace;
	const struct event *e = &t->events[next];
	uint32_t other = op_acquires(e->op) && !event_inert(e)
	                         ? holder_of(t, locks, e->target, e->thread)
	                         : NONE;
	bool joins = e->op == OP_JOIN && e->target < t->threads_count &&
	             stage_next(stage, e->target, step) != NONE;
	if (other == NONE && !joins && e->op != OP_WAKE)
		return;
	g_string_append(out, out->len ? ", waits for " : "waits for ");
	describe_operand(t, next, out);
	if (other != NONE)
		g_string_append_printf(out, " of %s", trace_thread_name(t, other));
}

void stage_append_status(const struct stage *stage, uint32_t thread, guint step,
                         const GArray *locks, uint32_t next, GString *out)
{
	const struct trace *t = stage->session->trace;
	for (guint i = 0; i < locks->len; i++) {
		uint32_t acquire = g_array_index(locks, uint32_t, i);
		if (t->events[acquire].thread != thread)
			continue;
		g_string_append(out, out->len ? ", " : "holds ");
		describe_lock(t, acquire, out);
	}
	if (next != NONE)
		append_waiting(stage, step, locks, next, out);
}

/* "bank.c:31", or nothing. */
static void append_line(const struct trace *t, uint32_t event, GString *out)
{
	const struct location *l = own_code_location(t, event);
	if (l->file == 0 || l->line == 0)
		return;
	g_autofree char *base = g_path_get_basename(trace_string(t, l->file));
	append_escaped(out, base, strlen(base));
	g_string_append_printf(out, ":%u", l->line);
}

/* Has the source line a word? One of braces alone has not: what is done there is the end of a
 * scope, as a destructor's release of a lock. */
static bool says_something(const char *line)
{
	for (; line && *line; line++)
		if (g_ascii_isalnum(*line) || (unsigned char)*line >= 0x80)
			return true;
	return false;
}

static void draw_next(const struct app *app, struct pane p, int row, uint32_t next,
                      enum style style)
{
	const struct trace *t = app_trace(app);
	g_autoptr(GString) text = g_string_new(NULL);
	append_line(t, next, text);
	int place = MIN(MAX(text_columns(text->str), 12), p.columns / 2);
	pane_field(p, row, 0, place, STYLE_DIM, text->str);
	const char *line = source_line(app, own_code_place(t, next).location);
	g_string_truncate(text, 0);
	if (line)
		g_string_append(text, line);
	if (!says_something(line)) {
		g_string_append(text, line ? "  " : "");
		describe_event(app->session, next, text);
	}
	pane_text(p, row, place + 1, style, text->str);
}

static void draw_thread(const struct app *app, const struct stage_shown *s, const GArray *locks,
                        uint32_t thread, struct pane p, int row)
{
	const struct trace *t = app_trace(app);
	const struct stage *stage = s->stage;
	guint step = s->step;
	uint32_t next = stage_next(stage, thread, step);
	bool of_pair = next != NONE && (next == s->pair[0] || next == s->pair[1]);
	bool begun = stage_last(stage, thread, step) != NONE;
	enum style style = of_pair ? STYLE_RACE : begun ? style_of_thread(thread) : STYLE_DIM;
	g_autoptr(GString) status = g_string_new(NULL);
	stage_append_status(stage, thread, step, locks, next, status);
	if (of_pair)
		pane_text(p, row, 0, STYLE_RACE, "▸");
	int name = MAX(
	        session_threads_columns(app->session, p.columns >= 100 ? WIDE_NAME : NAME) + 1,
	        NAME_LEAST);
	pane_field(p, row, 1, name, style_of_thread(thread),
	           session_thread_within(app->session, thread, name - 1));
	int width = MIN(text_columns(status->str), p.columns / 2);
	struct pane middle = pane_part(p, 0, 2 + name, -1, p.columns - 3 - name - width);
	uint32_t last = stage_last(stage, thread, step);
	if (next == NONE && last != NONE && op_wants(t->events[last].op))
		draw_next(app, middle, row, last, STYLE_OPEN);
	else if (next == NONE)
		pane_text(middle, row, 0, STYLE_DIM, describe_no_more(t, last));
	else if (!begun)
		pane_text(middle, row, 0, STYLE_DIM, "has not begun");
	else
		draw_next(app, middle, row, next, style);
	pane_field(p, row, p.columns - width, width,
	           strstr(status->str, "waits") ? STYLE_OPEN : STYLE_LOCK, status->str);
}

int stage_sentence_rows(const char *sentence, int columns)
{
	enum { MOST = 3 };
	int width = MAX(columns - 2, 1);
	/* a line may end some columns early */
	return sentence ? CLAMP((text_columns(sentence) + 8) / width + 1, 1, MOST) : 0;
}

void stage_pane_draw(const struct app *app, const struct stage_shown *s, const char *title,
                     const char *sentence, struct pane p)
{
	const struct trace *t = app_trace(app);
	const struct stage *stage = s->stage;
	guint step = s->step;
	g_autoptr(GArray) locks = stage_locks(stage, step);
	g_autofree uint8_t *shown = g_new0(uint8_t, t->threads_count + 1);
	int sentence_rows = stage_sentence_rows(sentence, p.columns);
	int room = p.rows - OTHER_ROWS - sentence_rows, row = 1 + sentence_rows;
	choose(stage, step, s->pair, locks, (uint32_t)MAX(room, 0), shown);
	pane_rule(p, 0, title);
	if (sentence)
		pane_paragraph(pane_part(p, 1, 1, sentence_rows, p.columns - 2), 0, 0,
		               STYLE_RACE, sentence);
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (shown[i])
			draw_thread(app, s, locks, i, p, row++);
	/* memory has no single value at a step of such a run */
	g_autoptr(GString) text =
	        g_string_new(app->session->weak ? "last stored  " : "values  ");
	gsize before = text->len;
	stage_append_values(stage, step, text);
	if (text->len == before)
		g_string_append(text, "none is known yet");
	pane_text(p, p.rows - 1, 1, text->len == before ? STYLE_DIM : STYLE_TEXT, text->str);
}
