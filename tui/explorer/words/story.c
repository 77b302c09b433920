/*
 * story.c - see story.h. Uses only the finding, its witness and the trace.
 */
#include "engine/trace/shown.h"
#include "engine/trace/own_code.h"
#include "tui/explorer/words/story.h"

#include "tui/explorer/schedule.h"
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/exploration/return_point.h"
#include "tui/explorer/words/weak_order.h"

struct story {
	const struct session *s;
	const struct trace *t;
	struct sources *sources;
	const struct finding *f;
	GArray *prose;
	int columns;
};

static void blank(struct story *story)
{
	prose_add(story->prose, STYLE_TEXT, NONE, "%s", "");
}

static void heading(struct story *story, const char *text)
{
	blank(story);
	prose_add(story->prose, STYLE_HEADING, NONE, "%s", text);
}

static const char *thread_of(const struct story *story, uint32_t event)
{
	return trace_thread_name(story->t, story->t->events[event].thread);
}

/* -- the two sides ------------------------------------------------------------------- */

/* "T1 writes acct.balance in deposit bank.c:31, holding m:" and the source line */
static void tell_side(struct story *story, uint32_t event)
{
	const struct session *s = story->s;
	const struct trace *t = story->t;
	g_autoptr(GString) text = g_string_new(NULL), held = g_string_new(NULL);
	session_append_role(s, t->events[event].thread, text);
	g_string_append_c(text, ' ');
	if (!describe_action(t, event, text))
		describe_event(s, event, text);
	g_string_append(text, " in ");
	describe_place(s, event, text);
	describe_locks(s, event, held);
	g_string_append_printf(text, ", holding %s:", held->len ? held->str : "no lock");
	prose_add(story->prose, style_of_thread(t->events[event].thread), event, "  %s",
	          text->str);
	const struct location *l = own_code_location(t, event);
	const char *line = l->file && l->line ? sources_line(story->sources,
	                                                     trace_string(t, l->file), l->line)
	                                      : NULL;
	prose_add(story->prose, STYLE_TEXT, event, "      %s", line ? line : "(no source)");
}

/* The lines of a library's by which the two places race, if there are several pairs of them. */
static void tell_exact(struct story *story)
{
	enum { MOST = 6 };
	const struct finding *f = story->f;
	guint count = f->exact ? f->exact->len : 0;
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; count > 1 && i < MIN(count, MOST); i++) {
		const char *names[2];
		finding_exact_names(story->t, f, i, names);
		g_string_append(text, i ? ", " : "  inside of ");
		append_escaped(text, names[0], strlen(names[0]));
		g_string_append(text, " with ");
		append_escaped(text, names[1], strlen(names[1]));
	}
	if (count > MOST)
		g_string_append_printf(text, " and %u more", count - MOST);
	if (text->len > 0)
		prose_add(story->prose, STYLE_DIM, f->first, "%s", text->str);
}

/* -- the recording ------------------------------------------------------------------- */

/* " (bank.c:32)", where the event has a place. */
static void append_line(const struct story *story, uint32_t event, GString *out)
{
	g_autoptr(GString) line = g_string_new(NULL);
	describe_line(story->t, event, line);
	if (line->len)
		g_string_append_printf(out, " (%s)", line->str);
}

/* "T1's unlock m (bank.c:32) came before T2's lock m (bank.c:56)" for each edge between
 * threads. */
static void tell_edges(struct story *story, const GArray *steps)
{
	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		if (story->t->events[step->from].thread == story->t->events[step->to].thread)
			continue;
		g_autoptr(GString) text = g_string_new(NULL);
		g_string_append_printf(text, "%s: ", thread_of(story, step->from));
		describe_event(story->s, step->from, text);
		append_line(story, step->from, text);
		g_string_append_printf(text, ", then %s: ", thread_of(story, step->to));
		describe_event(story->s, step->to, text);
		append_line(story, step->to, text);
		prose_add(story->prose, STYLE_TEXT, step->to, "      %s", text->str);
	}
}

/* The pair is unordered in the recording: name the synchronisation that would order it. */
static void tell_missing(struct story *story)
{
	const struct session *s = story->s;
	const struct finding *f = story->f;
	g_autoptr(GString) text = g_string_new("  ");
	if (s->missing)
		missing_code_silence(s, f->first, f->second, text);
	else if (session_selected(s) && missing_code_refutes(s, session_selected(s)))
		g_string_append(text,
		                "But calls into code that was not recorded may have kept "
		                "them apart, which any such detector would have to ask (M).");
	if (text->len > 2)
		prose_add(story->prose, STYLE_TEXT, NONE, "%s", text->str);
}

static void tell_recording(struct story *story)
{
	const struct order *hb = session_order(story->s, ORDER_KIND_HB);
	const struct finding *f = story->f;
	heading(story, "As it was recorded");
	bool missing = story->s->missing;
	if (hb == NULL || !order_ordered_unobserved(hb, f->first, f->second)) {
		prose_add(story->prose, STYLE_TEXT, f->first,
		          "  %s was first (event %u), then %s (%u)%s",
		          thread_of(story, f->first), f->first, thread_of(story, f->second),
		          f->second,
		          hb ? "; nothing that happened between them keeps them apart, so any "
		               "race detector of this run can see it."
		             : ".");
		tell_missing(story);
		return;
	}
	struct path path = { 0 };
	prose_add(
	        story->prose, STYLE_TEXT, f->first,
	        "  %s was first (event %u), then %s (%u). In this run they were kept apart%s:",
	        thread_of(story, f->first), f->first, thread_of(story, f->second), f->second,
	        missing ? ", or may have been by calls into code that was not recorded"
	                : ", which is why happens-before detectors are silent");
	if (order_path(hb, f->first, f->second, &path) && path.steps)
		tell_edges(story, path.steps);
	path_release(&path);
}

/* -- the other order ----------------------------------------------------------------- */

/* A block of one thread without a switch: [begin, end) of the witness. */
struct run {
	guint begin, end;
	bool last_of_pair; /* the run ends before an event of the pair */
};

static uint32_t witness_at(const struct story *story, guint i)
{
	return g_array_index(story->f->witness, uint32_t, i);
}

/* Number of events at the witness's end that are its claim. */
static guint claimed_tail(const struct finding *f)
{
	g_autoptr(GArray) claimed = finding_claimed(f);
	bool all_next =
	        (f->kind == FINDING_DATA_RACE && !is_weak_order(f)) || f->requests != NULL;
	return all_next ? MIN(claimed->len, f->witness->len) : 0;
}

static GArray *runs_of(const struct story *story, guint from, guint to)
{
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(struct run));
	const struct trace *t = story->t;
	for (guint i = from; i < to;) {
		struct run run = { i, i + 1 };
		uint32_t thread = t->events[witness_at(story, i)].thread;
		while (run.end < to && t->events[witness_at(story, run.end)].thread == thread)
			run.end++;
		g_array_append_val(runs, run);
		i = run.end;
	}
	for (guint k = to; k < story->f->witness->len;
	     k++) /* events of the pair end their blocks */
		for (guint r = runs->len; r-- > 0;) {
			struct run *run = &g_array_index(runs, struct run, r);
			if (t->events[witness_at(story, run->begin)].thread !=
			    t->events[witness_at(story, k)].thread)
				continue;
			run->last_of_pair = true;
			break;
		}
	return runs;
}

/* Events mentioned when space is short: synchronisation, and accesses of the pair's
 * variable. */
static bool tells(const struct trace *t, uint32_t event, uint32_t pair)
{
	const struct event *e = &t->events[event];
	if (op_table[e->op].class == OP_CLASS_CALL || e->op == OP_LEAVE || e->op == OP_BRANCH)
		return false;
	if (!op_is_access(e->op))
		return e->op != OP_ENTER;
	return events_overlap(t, e, &t->events[pair]);
}

void story_append_turn(const struct stage *stage, guint begin, guint end, uint32_t pair,
                       GString *out)
{
	enum { MOST = 6 };
	const struct trace *t = stage->session->trace;
	guint shown = 0, left_out = 0;
	for (guint i = begin; i < end; i++) {
		uint32_t event = g_array_index(stage->events, uint32_t, i);
		bool wanted = end - begin <= MOST ? t->events[event].op != OP_LEAVE
		                                  : tells(t, event, pair) || i + 1 == end;
		if (!wanted || shown == MOST) {
			left_out += t->events[event].op != OP_LEAVE;
			continue;
		}
		g_string_append(out, shown++ ? ", " : "");
		stage_describe(stage, event, i, out);
	}
	if (left_out)
		g_string_append_printf(out, "%s%u %sevent%s", shown ? ", and " : "", left_out,
		                       shown ? "other " : "", plural(left_out));
}

static bool has_line(const struct trace *t, uint32_t event)
{
	return t->locations[t->events[event].location].line != 0;
}

/* "bank.c:30 to bank.c:32": the first and last source lines. */
static void append_places(const struct story *story, const struct run *run, GString *out)
{
	guint first = run->begin, last = run->end - 1;
	while (first < last && !has_line(story->t, witness_at(story, first)))
		first++;
	while (last > first && !has_line(story->t, witness_at(story, last)))
		last--;
	uint32_t a = witness_at(story, first), b = witness_at(story, last);
	gsize start = out->len;
	g_string_append(out, ", ");
	describe_line(story->t, a, out);
	if (out->len == start + 2) { /* an entry that no own code calls */
		g_string_truncate(out, start);
		return;
	}
	g_autoptr(GString) to = g_string_new(NULL);
	describe_line(story->t, b, to);
	if (!g_str_has_suffix(out->str, to->str))
		g_string_append_printf(out, " to %s", to->str);
}

static void tell_run(struct story *story, const struct stage *stage, const struct run *run,
                     const int8_t *moves, guint number)
{
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t first = witness_at(story, run->begin), last = witness_at(story, run->end - 1);
	int moved = 0;
	for (guint i = run->begin; i < run->end; i++)
		moved += moves[i];
	g_string_append_printf(text, "%u. %s", number, thread_of(story, first));
	append_places(story, run, text);
	g_string_append(text, ": ");
	story_append_turn(stage, run->begin, run->end, story->f->first, text);
	if (run->last_of_pair) {
		uint32_t next = stage_next(stage, story->t->events[first].thread, run->end);
		g_string_append(text, "; and stops before ");
		describe_line(story->t, next == NONE ? last : next, text);
	}
	if (moved)
		g_string_append_printf(text, "   %s",
		                       moved > 0 ? "▲ moved up" : "▼ moved down");
	prose_add(story->prose, style_of_thread(story->t->events[first].thread), first, "  %s",
	          text->str);
}

/* Length of the prefix that equals the recording, if large. */
static guint as_recorded(const struct story *story)
{
	enum { MANY = 24 };
	guint n = story->f->witness->len, same = 0;
	g_autofree uint32_t *least = g_new(uint32_t, n + 1); /* least id from here on */
	least[n] = NONE;
	for (guint i = n; i-- > 0;)
		least[i] = MIN(least[i + 1], witness_at(story, i));
	while (same < n - claimed_tail(story->f) && witness_at(story, same) == least[same])
		same++;
	return same >= MANY ? same : 0;
}

static void tell_schedule(struct story *story)
{
	enum { MOST_RUNS = 12 };
	char number[32];
	GArray *events = story->f->witness;
	guint end = events->len - claimed_tail(story->f), from = as_recorded(story);
	struct stage stage;
	g_autofree int8_t *moves = schedule_moves(events);
	stage_init(&stage, story->s, events, false);
	g_autoptr(GArray) runs = runs_of(story, from, end);
	heading(story,
	        is_weak_order(story->f)
	                ? "How it happens: no order of the events turns the two round; one "
	                  "thread may see the other's steps late"
	                : "How it happens: the same events in another order, the checker "
	                  "accepts it");
	if (from)
		prose_add(story->prose, STYLE_DIM, witness_at(story, from - 1),
		          "  First %s events in the order of the recording.",
		          grouped(from, number));
	guint skipped = runs->len > MOST_RUNS ? runs->len - MOST_RUNS : 0;
	if (skipped)
		prose_add(story->prose, STYLE_DIM, NONE,
		          "  %s%u turn%s that the witness shows (w).",
		          from ? "Then " : "First ", skipped, plural(skipped));
	for (guint i = skipped; i < runs->len; i++)
		tell_run(story, &stage, &g_array_index(runs, struct run, i), moves, i + 1);
	stage_release(&stage);
}

/* -- the outcome --------------------------------------------------------------------------- */

/* "100" */
static void append_value_at(const struct story *story, const struct stage *stage, guint step,
                            uint32_t event, GString *out)
{
	const struct event *e = &story->t->events[event];
	uint32_t writer, value = stage_value(stage, step, e->target, &writer);
	if (value)
		shown_append(story->t, e->target, value, event, out);
	else
		g_string_append(out, "what was there before");
}

/* A read and a write: the value read in either order. */
static void tell_read(struct story *story, const struct stage *stage, uint32_t read,
                      uint32_t write)
{
	guint before = story->f->witness->len - 2;
	const struct trace *t = story->t;
	uint32_t aux = t->events[write].aux;
	uint32_t written =
	        trace_value(t, aux).kind == V_PAIR ? trace_value(t, aux).second : aux;
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_append_printf(text, "%s first: it reads ", thread_of(story, read));
	append_value_at(story, stage, before, read, text);
	g_string_append_printf(text, ". %s first: %s reads ", thread_of(story, write),
	                       thread_of(story, read));
	if (written)
		shown_append(t, shown_variable(&t->events[write]), written, write, text);
	else
		g_string_append(text, "what was written");
	g_string_append_c(text, '.');
	prose_add(story->prose, STYLE_TEXT, read, "  %s", text->str);
}

static void tell_race_end(struct story *story)
{
	const struct finding *f = story->f;
	const struct trace *t = story->t;
	const struct event *a = &t->events[f->first], *b = &t->events[f->second];
	if (is_weak_order(f)) {
		g_autoptr(GString) text = g_string_new(NULL);
		describe_weak_order(story->s, f, text);
		prose_add(story->prose, STYLE_RACE, f->second, "  %s", text->str);
		return;
	}
	g_autoptr(GString) text = g_string_new("Now ");
	bool same = a->target == b->target && !((a->flags | b->flags) & EVENT_WIDE);
	describe_about_to(story->s, f->first, false, text);
	g_string_append(text, ", and ");
	describe_about_to(story->s, f->second, same, text);
	prose_add(story->prose, STYLE_RACE, f->first, "  %s: nothing decides who is first.",
	          text->str);
	g_string_truncate(text, 0);
	explain_memory(story->s, f, text);
	if (text->len)
		prose_add(story->prose, STYLE_TEXT, NONE, " %s", text->str);
	if ((a->flags | b->flags) & EVENT_WIDE || a->target != b->target)
		return;
	struct stage stage;
	stage_init(&stage, story->s, f->witness, false);
	if (a->op == OP_READ || a->op == OP_AREAD)
		tell_read(story, &stage, f->first, f->second);
	else if (b->op == OP_READ || b->op == OP_AREAD)
		tell_read(story, &stage, f->second, f->first);
	else
		prose_add(story->prose, STYLE_TEXT, f->second,
		          "  Both write: the one that comes second wins, the other's value is "
		          "lost.");
	stage_release(&stage);
}

static void tell_end(struct story *story, const struct entry *entry)
{
	g_autoptr(GString) text = g_string_new(NULL);
	if (story->f->kind == FINDING_DATA_RACE) {
		tell_race_end(story);
	} else {
		explain_entry(story->s, entry, text);
		prose_add(story->prose, STYLE_RACE, story->f->second, "  %s", text->str);
	}
	heading(story, "To see it on the program");
	g_autoptr(GString) events = g_string_new(NULL);
	g_autoptr(GArray) claimed = finding_claimed(story->f);
	for (guint i = 0; i < claimed->len; i++)
		g_string_append_printf(events, " %u", g_array_index(claimed, uint32_t, i));
	prose_add(story->prose, STYLE_TEXT, NONE,
	          "  heddle witness %s%s%s -o race.wit; heddle replay --witness race.wit -- "
	          "PROGRAM   (in the explorer: w, r)",
	          trace_name(story->t), events->str, story->s->missing ? " --missing" : "");
}

/* -- the story ----------------------------------------------------------------------------- */

static void tell_title(struct story *story, const struct entry *entry)
{
	static const char *const verdicts[] = {
		[VERDICT_RACE] = "can happen",
		[VERDICT_HAPPENED] = "happened in this very run",
		[VERDICT_UNKNOWN] = "nobody knows yet whether it can happen",
		[VERDICT_CANDIDATE] = "not decided yet",
		[VERDICT_IMPOSSIBLE] = "cannot happen, in any order of this run's events",
	};
	g_autofree char *kind =
	        g_strdelimit(g_strdup(finding_kind_word(story->f->kind)), "-", ' ');
	prose_add(story->prose, STYLE_HEADING, story->f->first, "%s on %s: %s", kind,
	          entry->variable,
	          story->f->missing ? "can happen, unless missing code orders it"
	                            : verdicts[story->f->verdict]);
	blank(story);
}

/* Without a witness: the proof, or the state of the analysis. */
static void tell_known(struct story *story, const struct entry *entry)
{
	const struct session *s = story->s;
	const struct finding *f = story->f;
	heading(story,
	        f->verdict == VERDICT_IMPOSSIBLE ? "Why it cannot happen" : "What is known");
	g_autoptr(GString) text = g_string_new(NULL);
	if (f->verdict != VERDICT_IMPOSSIBLE)
		explain_entry(s, entry, text);
	else if (describe_common_lock(s, f->first, f->second, text))
		g_string_prepend(text, "Both hold one lock, and it has one holder: ");
	if (text->len)
		prose_add(story->prose, STYLE_TEXT, f->first, "  %s", text->str);
	if (f->verdict == VERDICT_IMPOSSIBLE)
		prose_add_proof(story->prose, s, f->proof, story->columns, PROOF_OF_PAIR);
}

GArray *story_tell(const struct session *s, struct sources *sources, const struct entry *entry,
                   const struct finding *finding, int columns)
{
	struct story story = { s,           s->trace,
		               sources,     finding ? finding : entry->finding,
		               prose_new(), columns };
	const struct finding *f = story.f;
	tell_title(&story, entry);
	if (f->missing != NULL)
		prose_add(story.prose, STYLE_TEXT, NONE, "  A %s %s.",
		          finding_kind_noun(f->kind), f->missing);
	if (f->requests && f->requests->len > 0) {
		for (guint i = 0; i < f->requests->len; i++)
			tell_side(&story, g_array_index(f->requests, uint32_t, i));
	} else {
		tell_side(&story, f->first);
		if (f->second != f->first)
			tell_side(&story, f->second);
		tell_exact(&story);
	}
	if (f->kind == FINDING_DATA_RACE)
		tell_recording(&story);
	if (f->witness && f->witness->len) {
		tell_schedule(&story);
		tell_end(&story, entry);
	} else {
		tell_known(&story, entry);
	}
	if (s->point)
		return_point_tell(s, sources, story.prose);
	return story.prose;
}
