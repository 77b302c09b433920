/*
 * finding.c - construction of findings and reports.
 */
#include "engine/trace/formats.h"
#include "engine/trace/unexplained.h"
#include "engine/finding.h"
#include "engine/trace/channel.h"

#include "engine/trace/own_code.h"
#include "engine/trace/own_site.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static const char *const kind_words[] = {
#define KIND(name, word) word,
	FINDING_KINDS(KIND)
#undef KIND
};
static const char *const verdict_words[] = {
#define VERDICT(name, word) word,
	VERDICTS(VERDICT)
#undef VERDICT
};
static const char *const rule_texts[] = {
#define RULE(name, text) text,
	STEP_RULES(RULE)
#undef RULE
};

static const char *const wait_words[] = {
#define WAIT(name, word) word,
	WAITS_FOR(WAIT)
#undef WAIT
};

static const char *const method_words[] = {
#define METHOD(name, word) word,
	PROOF_METHODS(METHOD)
#undef METHOD
};

const char *proof_method_word(enum proof_method method)
{
	return method_words[method];
}

const char *finding_kind_word(enum finding_kind kind)
{
	return kind_words[kind];
}

const char *finding_kind_noun(enum finding_kind kind)
{
	switch (kind) {
	case FINDING_DEADLOCK:
		return "deadlock";
	case FINDING_ORDER_VIOLATION:
	case FINDING_ATOMIC_SET_VIOLATION:
		return "violation";
	case FINDING_USE_AFTER_FREE:
		return "use after free";
	case FINDING_STUCK:
		return "wait without end";
	case FINDING_LOCK_MISUSE:
		return "misuse";
	case FINDING_UNINITIALISED_READ:
		return "read of uninitialised memory";
	case FINDING_CRASH:
		return "crash";
	case FINDING_ASSERTION:
		return "failed check";
	case FINDING_EXIT:
		return "exit status";
	default:
		return "race";
	}
}

const char *verdict_word(enum verdict verdict)
{
	return verdict_words[verdict];
}

const char *finding_verdict_text(enum finding_kind kind, enum verdict verdict)
{
	if (verdict == VERDICT_RACE && kind != FINDING_DATA_RACE &&
	    kind != FINDING_COMMUTATIVITY_RACE)
		return "can happen";
	return verdict_words[verdict];
}

const char *wait_for_word(enum wait_for what)
{
	return wait_words[what];
}

const char *step_rule_text(enum step_rule rule)
{
	return rule_texts[rule];
}

bool step_reading(const struct step *step, uint32_t *read, uint32_t *write)
{
	switch ((enum step_rule)step->rule) {
	case STEP_CLOSURE_READ:
		*read = step->from;
		*write = step->detail;
		return true;
	case STEP_CLOSURE_WRITE:
		*read = step->detail;
		*write = step->to;
		return true;
	case STEP_NOT_BETWEEN:
		*read = step->to;
		*write = step->detail;
		return true;
	default:
		return false;
	}
}

void path_add(struct path *path, uint32_t from, uint32_t to, enum step_rule rule,
              uint32_t detail)
{
	struct step step = { .from = from, .to = to, .rule = rule, .detail = detail };
	if (path->steps == NULL)
		path->steps = g_array_new(FALSE, FALSE, sizeof step);
	g_array_append_val(path->steps, step);
}

/* Arrays may be shared (a site pair's witness by two findings), so references are dropped. */
static void free_array(GArray *array)
{
	if (array)
		g_array_unref(array);
}

void path_release(struct path *path)
{
	free_array(path->steps);
	path->steps = NULL;
}

struct finding *finding_new(enum finding_kind kind, uint32_t first, uint32_t second)
{
	struct finding *f = g_new0(struct finding, 1);
	f->kind = kind;
	f->first = MIN(first, second);
	f->second = MAX(first, second);
	f->count = 1;
	return f;
}

GArray *finding_claimed(const struct finding *f)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (f->requests) {
		g_array_append_vals(events, f->requests->data, f->requests->len);
	} else if (f->units) {
		for (guint i = 0; i < f->units->len; i++)
			g_array_append_val(events,
			                   g_array_index(f->units, struct cycle_unit, i).begin);
	} else {
		g_array_append_val(events, f->first);
		g_array_append_val(events, f->second);
	}
	return events;
}

static void append_thread(const struct trace *t, uint32_t thread, GString *out)
{
	const char *name = trace_thread_name(t, thread);

	append_escaped(out, name, strlen(name));
}

void append_waited(const struct trace *t, const struct wait *w, GString *out)
{
	gsize from = out->len;

	const char *name = w->what == WAIT_CHANNEL ? channel_waited_for(t, w->event) : NULL;

	if (name != NULL) {
		append_escaped(out, name, strlen(name));
		return;
	}

	trace_append_operand(t, w->event, out);
	/* a message through a channel has its name after the channel's */
	const char *dot = w->what == WAIT_CHANNEL ? strchr(out->str + from, '.') : NULL;
	if (dot != NULL)
		g_string_truncate(out, (gsize)(dot - out->str));
}

/* The events of the schedule that ends in a wait: of a predicted finding its witness, else the
 * recording. */
struct schedule {
	const struct finding *witnessed; /* NULL: the recording */
	uint32_t count;                  /* all its events */
	uint32_t end;                    /* those before the wait */
};

static uint32_t schedule_event(const struct schedule *s, uint32_t i)
{
	if (s->witnessed == NULL || i < s->witnessed->recorded)
		return i;
	return g_array_index(s->witnessed->witness, uint32_t, i - s->witnessed->recorded);
}

/* False: a predicted wait without a witness, of which no more is known. */
static bool schedule_of(const struct trace *t, const struct finding *f, const struct wait *w,
                        struct schedule *s)
{
	if (op_wants(t->events[w->event].op)) {
		*s = (struct schedule){ NULL, (uint32_t)t->events_count, w->event };
		return true;
	}
	if (f == NULL || f->witness == NULL)
		return false;
	*s = (struct schedule){ f, f->recorded + f->witness->len, 0 };
	s->end = s->count;
	return true;
}

/* Adds the last write to a futex by another thread: a futex has no holder, and that write
 * says most about it. */
static void append_writer(const struct trace *t, const struct schedule *s, const struct wait *w,
                          GString *out)
{
	const struct event *want = &t->events[w->event];
	const char *word = trace_string(t, t->objects[want->target].name);

	for (uint32_t i = s->end; i-- > 0;) {
		uint32_t e = schedule_event(s, i);
		const struct event *x = &t->events[e];

		if (!op_is_access(x->op) || !op_writes(x->op) || x->thread == want->thread ||
		    strcmp(trace_variable_name(t, x->target), word) != 0)
			continue;
		g_string_append(out, ", written last by ");
		append_thread(t, x->thread, out);
		g_string_append_printf(out, " at %s", own_code_place_name(t, e));
		return;
	}
}

/* Was one other thread alone woken on the object after the signal, the i-th event? NONE: none,
 * or several. */
static uint32_t woken_after(const struct trace *t, const struct schedule *s, uint32_t i)
{
	uint32_t object = t->events[schedule_event(s, i)].target, woken = NONE, count = 0;

	while (++i < s->count) {
		const struct event *x = &t->events[schedule_event(s, i)];

		if (x->op != OP_WAKE || x->flags & EVENT_TRY || x->target != object)
			continue; /* EVENT_TRY: by no signal */
		woken = x->thread;
		count++;
	}
	return count == 1 ? woken : NONE;
}

/* Explains why a wait at a condition is not ended: the last signal comes before it, or wakes
 * another thread. */
static void append_signal(const struct trace *t, const struct schedule *s, const struct wait *w,
                          GString *out)
{
	const struct event *want = &t->events[w->event];
	uint32_t signal = NONE, began = NONE;

	for (uint32_t i = s->end; i-- > 0 && (signal == NONE || began == NONE);) {
		const struct event *x = &t->events[schedule_event(s, i)];

		if (x->target != want->target || op_table[x->op].operand != OPERAND_OBJECT)
			continue;
		if ((x->op == OP_SIGNAL || x->op == OP_BROADCAST) && signal == NONE)
			signal = i;
		if (x->op == OP_WAIT && x->thread == want->thread && began == NONE)
			began = i;
	}
	if (signal == NONE) {
		g_string_append(out, ", which no thread has signalled");
		return;
	}
	uint32_t event = schedule_event(s, signal), woken = woken_after(t, s, signal);

	g_string_append_printf(out, ", whose last %s, by ",
	                       t->events[event].op == OP_SIGNAL ? "signal" : "broadcast");
	append_thread(t, t->events[event].thread, out);
	g_string_append_printf(out, " at %s, ", own_code_place_name(t, event));
	if (began != NONE && signal < began)
		g_string_append(out, "came before that wait");
	else if (woken != NONE) {
		g_string_append(out, "woke ");
		append_thread(t, woken, out);
	} else
		g_string_append(out, "did not wake it");
}

void append_wait(const struct trace *t, const struct finding *f, const struct wait *w,
                 GString *out)
{
	struct schedule s;
	bool known = schedule_of(t, f, w, &s);

	append_thread(t, t->events[w->event].thread, out);
	g_string_append_printf(out, " waits for %s ",
	                       w->what == WAIT_JOIN ? "the end of" : wait_for_word(w->what));
	append_waited(t, w, out);
	if (known && w->what == WAIT_FUTEX)
		append_writer(t, &s, w, out);
	if (known && w->what == WAIT_CONDITION)
		append_signal(t, &s, w, out);
	if (w->holder != NONE) {
		g_string_append(out, ", held by ");
		append_thread(t, w->holder, out);
	}
}

void finding_complete(struct finding *finding)
{
	GArray *whole = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t),
	                                  finding->recorded + finding->witness->len);

	g_array_set_size(whole, finding->recorded);
	for (uint32_t e = 0; e < finding->recorded; e++)
		g_array_index(whole, uint32_t, e) = e;
	g_array_append_vals(whole, finding->witness->data, finding->witness->len);
	g_array_unref(finding->witness);
	finding->witness = whole;
	finding->recorded = 0;
}

void finding_free(struct finding *f)
{
	if (f == NULL)
		return;
	free_array(f->variables);
	free_array(f->exact);
	free_array(f->witness);
	free_array(f->behind);
	proof_free(f->proof);
	for (int i = 0; i < 2; i++) {
		g_free(f->methods[i]);
		g_free(f->points[i]);
	}
	g_free(f->condition);
	g_free(f->missing);
	g_free(f->story);
	if (f->sets)
		g_ptr_array_free(f->sets, TRUE);
	for (guint i = 0; f->units && i < f->units->len; i++)
		g_free(g_array_index(f->units, struct cycle_unit, i).unit);
	free_array(f->units);
	free_array(f->edges);
	free_array(f->requests);
	free_array(f->waits);
	g_free(f);
}

void finding_add_pair(struct finding *f, const struct exact_pair *pair)
{
	if (f->exact == NULL)
		f->exact = g_array_new(FALSE, FALSE, sizeof(struct exact_pair));
	for (guint i = 0; i < f->exact->len; i++)
		if (memcmp(finding_exact(f, i)->sites, pair->sites, sizeof pair->sites) == 0)
			return;
	if (f->exact->len < EXACT_MOST)
		g_array_append_val(f->exact, *pair);
}

void finding_add_exact(const struct trace *t, struct finding *f, uint32_t e1, uint32_t e2)
{
	uint32_t a = t->locations[t->events[e1].location].site;
	uint32_t b = t->locations[t->events[e2].location].site;
	uint32_t own_a = own_site(t, e1), own_b = own_site(t, e2);
	bool turn = own_a > own_b || (own_a == own_b && a > b);
	struct exact_pair pair = { { turn ? b : a, turn ? a : b },
		                   { MIN(e1, e2), MAX(e1, e2) } };
	if (a != own_a || b != own_b)
		finding_add_pair(f, &pair);
}

void finding_exact_names(const struct trace *t, const struct finding *f, guint i,
                         const char *names[2])
{
	const uint32_t *sites = finding_exact(f, i)->sites;
	bool turn = own_site(t, f->first) > own_site(t, f->second);
	names[0] = trace_string(t, t->sites[sites[turn]]);
	names[1] = trace_string(t, t->sites[sites[!turn]]);
}

struct proof *proof_new(enum proof_method method)
{
	struct proof *p = g_new0(struct proof, 1);
	p->method = method;
	return p;
}

void proof_free(struct proof *p)
{
	if (p == NULL)
		return;
	path_release(&p->cycle);
	g_free(p);
}

struct report *report_new(const struct trace *trace, const char *analysis)
{
	struct report *r = g_new0(struct report, 1);
	r->trace = trace;
	r->analysis = analysis;
	r->findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
	r->notes = g_ptr_array_new_with_free_func(g_free);
	return r;
}

void report_free(struct report *r)
{
	if (r == NULL)
		return;
	g_ptr_array_free(r->findings, TRUE);
	g_ptr_array_free(r->notes, TRUE);
	g_clear_pointer(&r->behind, g_ptr_array_unref);
	g_free(r->open_because);
	g_free(r);
}

void report_add(struct report *r, struct finding *finding)
{
	g_ptr_array_add(r->findings, finding);
}

static int by_events(gconstpointer a, gconstpointer b)
{
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->second > y->second) - (x->second < y->second);
}

static const struct {
	const char *word, *text;
} open_reasons[] = { { NULL, "the time ran out (--budget)" },
#define REASON(name, word, text) { word, text },
	             OPEN_REASONS(REASON)
#undef REASON
};

const char *open_reason_word(enum open_reason reason)
{
	return open_reasons[reason].word;
}

const char *open_reason_text(enum open_reason reason)
{
	return open_reasons[reason].text;
}

enum open_reason open_reason_of(const char *word)
{
	for (size_t i = 1; i < G_N_ELEMENTS(open_reasons); i++)
		if (g_strcmp0(open_reasons[i].word, word) == 0)
			return (enum open_reason)i;
	return OPEN_NO;
}

/* Why a proof from this trace is not accepted, or OPEN_NO. */
static enum open_reason doubt(const struct trace *t, const struct proof *p)
{
	if (t->filtered)
		return OPEN_FILTERED;
	if (!t->order_exact) /* the stores that reads see are then guessed */
		return OPEN_INEXACT;
	/* a proof by order alone does not use locks */
	return t->locks_taken && (p == NULL || p->method != PROOF_CONE) ? OPEN_LENIENT
	                                                                : OPEN_NO;
}

bool finding_limit(const struct trace *t, struct finding *f)
{
	enum open_reason why = f->verdict == VERDICT_IMPOSSIBLE ? doubt(t, f->proof) : OPEN_NO;

	if (why == OPEN_NO)
		return false;
	f->verdict = VERDICT_UNKNOWN;
	f->open = why;
	f->by = NULL;
	proof_free(f->proof);
	f->proof = NULL;
	return true;
}

/* Does the analysis of that name find the same in a filtered trace as in the whole one? */
static bool filter_keeps(const struct trace *t, const char *analysis)
{
	static const char *const hb[] = { "rd2", "lockset", "hb", NULL };
	static const char *const wcp[] = { "rd2", "lockset", "hb",  "cp",
		                           "wcp", "dc",      "wdc", NULL };
	static const char *const commute[] = { "rd2", NULL };
	const char *filter = trace_note(t, TRACE_FILTER_NOTE);
	const char *const *kept = g_strcmp0(filter, "wcp") == 0                  ? wcp
	                          : g_strcmp0(filter, TRACE_FILTER_COMMUTE) == 0 ? commute
	                                                                         : hb;
	if (trace_sampled(t))
		return false;
	if (filter == NULL) /* a filter for the lockset analysis keeps all it needs */
		return strcmp(analysis, "lockset") == 0;
	return g_strv_contains(kept, analysis);
}

/* Notes of a recording that limit what is said of it. `open`: why a report is not complete
 * then; NULL: it may be. `note` has the trace's own text for %s. */
static const struct limit {
	const char *key;
	enum { OF_ALL, OF_DEADLOCKS, OF_OTHERS } of; /* reports that it limits */
	const char *open, *note;
} limits[] = {
	{ TRACE_UNSEEN_NOTE, OF_OTHERS, "atomic instructions are not in the trace",
	  "atomic instructions that are not in the trace, the first at %s: what conflicts with "
	  "their accesses is not found, and what is ordered by them alone is taken for "
	  "unordered" },
	{ TRACE_LACKING_NOTE, OF_ALL, "a part of the program was not recorded",
	  "not recorded, though they ran code of the program: %s; what they did is in no "
	  "finding" },
	{ TRACE_UNSEEN_CALLS_NOTE, OF_OTHERS, NULL,
	  "called while other threads ran, and not instrumented: %s; what conflicts with the "
	  "accesses that these make is not found" },
	{ TRACE_WRITER_FIRST_NOTE, OF_DEADLOCKS, "a lock lets a waiting writer go first",
	  "a reader-writer lock lets a waiting writer go before readers: waits of a reader for a "
	  "writer that only waits are found where they happened, and not predicted" },
};

static void limit_by_notes(struct report *r)
{
	bool deadlocks = strcmp(r->analysis, "deadlocks") == 0;
	for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
		const struct limit *l = &limits[i];
		const char *text = trace_note(r->trace, l->key);
		if (text == NULL || (l->of != OF_ALL && deadlocks != (l->of == OF_DEADLOCKS)))
			continue;
		if (l->open != NULL)
			report_open(r, "%s", l->open);
		const char *place = strstr(l->note, "%s");
		if (place != NULL)
			report_note(r, "%.*s%s%s", (int)(place - l->note), l->note, text,
			            place + 2);
		else
			report_note(r, "%s", l->note);
	}
}

/* A deadlock's waits depend on no value. */
static void limit_by_unexplained(struct report *r)
{
	if (strcmp(r->analysis, "deadlocks") == 0)
		return;
	const struct unexplained_read *first = unexplained_first(r->trace);
	if (first == NULL)
		return;
	g_autoptr(GString) what = g_string_new(NULL);
	unexplained_append(r->trace, first, what);
	report_open(r, "code that is not recorded wrote to memory");
	report_note(r,
	            "%s: " UNEXPLAINED_WRITER " wrote it, and what conflicts with this, or is "
	            "ordered by it, is not known",
	            what->str);
}

static void limit_by_filter(struct report *r)
{
	const struct trace *t = r->trace;
	const char *filter = trace_note(t, TRACE_FILTER_NOTE);
	if (trace_sampled(t)) {
		report_open(r, "accesses were sampled");
		report_note(r,
		            "accesses were sampled (record --sample %" PRIu64
		            ": one window in %" PRIu64 "): what races among the others is not "
		            "found, and nothing is proved impossible",
		            trace_sampled(t), trace_sampled(t));
		return;
	}
	report_open(r, "the trace was filtered");
	if (filter)
		report_note(
		        r,
		        "recorded with --filter %s: values and which write a read saw are not "
		        "known, so something may be missed, and nothing is proved impossible; "
		        "record without --filter for that",
		        filter);
	else
		report_note(r, "the trace was filtered: what was dropped may be missed, and "
		               "nothing is proved impossible");
}

void report_limit(struct report *r)
{
	const struct trace *t = r->trace;
	bool doubtful = t->locks_taken || t->filtered || !t->order_exact;
	r->open_listed &= !doubtful;
	for (guint i = 0; doubtful && i < r->findings->len; i++)
		finding_limit(t, r->findings->pdata[i]);
	if (t->locks_taken) {
		report_open(r, "locks changed holders without a release");
		report_note(r,
		            "locks changed holders without a release (--lenient took them, or "
		            "a thread unlocked what it did not hold): their critical sections "
		            "have no end here, so something may be missed, and what only "
		            "locks would rule out is unknown");
	}
	limit_by_notes(r);
	limit_by_unexplained(r);
	/* lockset and lock order use synchronisation only, which is exact */
	if (!t->order_exact && strcmp(r->analysis, "lockset") != 0) {
		report_open(r, "the order of accesses is approximate");
		report_note(r,
		            "the order of accesses is approximate (a recording in free mode): "
		            "which write a read saw is a guess, and nothing is proved "
		            "impossible; record in controlled mode to be exact");
	}
	if (t->filtered && filter_keeps(t, r->analysis) && strcmp(r->analysis, "rd2") != 0 &&
	    g_strcmp0(trace_note(t, TRACE_FILTER_NOTE), TRACE_FILTER_VARIABLES) == 0)
		report_note(
		        r,
		        "recorded with --filter variables: every variable that races does so "
		        "at one of these pairs of places, and may at others; record with "
		        "--filter hb for all");
	if (t->filtered && filter_keeps(t, r->analysis) && own_sites_in_library(t))
		report_note(r, "the trace is filtered: where several places of yours in one "
		               "thread access the same memory by one line of a library's, only "
		               "the first of them may be here");
	if (t->filtered && !filter_keeps(t, r->analysis))
		limit_by_filter(r);
}

void report_sort(struct report *r)
{
	g_ptr_array_sort(r->findings, by_events);
}

void report_finish(struct report *r)
{
	report_limit(r);
	report_sort(r);
}

void report_open(struct report *r, const char *format, ...)
{
	va_list ap;
	r->complete = r->open_listed = false;
	if (r->open_because != NULL)
		return;
	va_start(ap, format);
	r->open_because = g_strdup_vprintf(format, ap);
	va_end(ap);
}

/* A sample and a spent budget go first, as these sentences name a remedy. */
char *report_why_open(const struct report *r)
{
	if (r->complete)
		return NULL;
	if (trace_sampled(r->trace))
		return g_strdup_printf("accesses were sampled (one window in %" PRIu64 ")",
		                       trace_sampled(r->trace));
	if (r->budget_spent)
		return g_strdup("the budget ran out (--budget gives more)");
	return g_strdup(r->open_because);
}

void report_note(struct report *r, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_ptr_array_add(r->notes, g_strdup_vprintf(format, ap));
	va_end(ap);
}
