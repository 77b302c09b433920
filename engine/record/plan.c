/* plan.c - see plan.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/record/import/inputs.h"
#include "engine/record/codec.h"
#include "engine/record/plan.h"
#include "engine/trace/channel.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"

void plan_release(struct plan *p)
{
	GArray *arrays[] = { p->steps, p->events, p->threads, p->answers, p->turns };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		if (arrays[i])
			g_array_free(arrays[i], TRUE);
	if (p->inputs)
		g_byte_array_free(p->inputs, TRUE);
	if (p->specs)
		g_ptr_array_unref(p->specs);
	memset(p, 0, sizeof(*p));
}

/* An event's record has its operation's name. */
static const uint8_t tag_of[OP_COUNT] = {
#define EVENT_0(name)
#define EVENT_1(name)             [OP_##name] = LOG_##name,
#define TAG(name, words, visible) EVENT_##visible(name)
	LOG_TAGS(TAG)
#undef TAG
};

/* The runtime's number of a thread, or NONE. */
static uint32_t number_of(const struct trace *t, uint32_t thread)
{
	return t->threads[thread].recorded;
}

/* A thread's events as the runtime counted them, with those that the trace lacks (NONE), and
 * the number of them in the plan. */
struct thread_events {
	GArray *events;  /* uint32_t */
	GArray *drops;   /* uint64_t: indices of dropped events, ascending */
	GArray *repeats; /* struct recorded_repeat, by index */
	guint drop;      /* first drop that is not among the events yet */
	guint repeat;    /* first that is not in the plan yet */
	uint32_t next;   /* first event that is not in the plan yet */
};

static void append_drops(struct thread_events *mine)
{
	uint32_t none = NONE;
	for (; mine->drop < mine->drops->len; mine->drop++) {
		if (g_array_index(mine->drops, uint64_t, mine->drop) != mine->events->len)
			return;
		g_array_append_val(mine->events, none);
	}
}

static struct thread_events *collect(const struct trace *t)
{
	struct thread_events *all = g_new0(struct thread_events, t->threads_count);
	for (uint64_t i = 0; i < t->threads_count; i++) {
		all[i].events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		all[i].drops = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		all[i].repeats = g_array_new(FALSE, FALSE, sizeof(struct recorded_repeat));
	}
	for (uint64_t i = 0; i < t->drops_count; i++)
		g_array_append_val(all[t->drops[i].thread].drops, t->drops[i].index);
	for (uint64_t i = 0; i < t->repeats_count; i++)
		g_array_append_val(all[t->repeats[i].thread].repeats, t->repeats[i]);
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *event = &t->events[e];
		uint32_t id = e;
		if (tag_of[event->op] == 0)
			continue;
		append_drops(&all[event->thread]);
		g_array_append_val(all[event->thread].events, id);
	}
	return all;
}

static void thread_events_free(const struct trace *t, struct thread_events *all)
{
	for (uint64_t i = 0; i < t->threads_count; i++) {
		g_array_free(all[i].events, TRUE);
		g_array_free(all[i].drops, TRUE);
		g_array_free(all[i].repeats, TRUE);
	}
	g_free(all);
}

uint32_t *plan_event_numbers(const struct trace *t)
{
	uint32_t *numbers = g_new(uint32_t, t->events_count + 1);
	struct thread_events *all = collect(t);
	memset(numbers, 0xff, t->events_count * sizeof(*numbers));
	for (uint64_t u = 0; u < t->threads_count; u++)
		for (guint i = 0; i < all[u].events->len; i++) {
			uint32_t event = g_array_index(all[u].events, uint32_t, i);
			if (event != NONE)
				numbers[event] = i;
		}
	thread_events_free(t, all);
	return numbers;
}

/* Number of repetitions of the thread's event of this index; indexes must ascend. */
static uint64_t repeats_of(struct thread_events *mine, uint32_t index)
{
	uint64_t count = 0;
	for (; mine->repeat < mine->repeats->len; mine->repeat++) {
		const struct recorded_repeat *r =
		        &g_array_index(mine->repeats, struct recorded_repeat, mine->repeat);
		if (r->index > index)
			break;
		if (r->index == index)
			count += r->count;
	}
	return count;
}

/* The log's word for the message, as import_records.c reads it. */
static uint64_t message_word(const char *name)
{
	enum { PAGE = 4096 };
	struct channel_message m;
	uint32_t number = 0;

	channel_message_read(name, &m, &number);
	switch (m.what) {
	case CHANNEL_DATA:
		return log_message(number, m.channel, m.room / PAGE, m.bytes);
	case CHANNEL_CLOSED:
		return log_message(number, m.channel, 0, LOG_CHANNEL_CLOSED);
	case CHANNEL_SHARED:
		return log_message(number, m.channel, 0, LOG_CHANNEL_SHARED);
	default:
		return log_message(strtoul(name + strcspn(name, "0123456789"), NULL, 10), 0, 0,
		                   0);
	}
}

static void add_step(const struct trace *t, struct plan *p, uint32_t thread, uint32_t e,
                     bool exact, uint64_t repeats)
{
	struct log_step step = { .thread = number_of(t, thread), .repeats = repeats };
	if (e != NONE) {
		const struct event *event = &t->events[e];
		const struct location *l = &t->locations[event->location];
		step.tag = tag_of[event->op];
		step.late = (event->op == OP_WAKE && event->flags & EVENT_TRY) ||
		            (event->op == OP_RCV && event->flags & EVENT_SHARED);
		if (exact && l->module != NONE && l->module < t->modules_count)
			step.pc = t->modules[l->module].base + l->address + 1;
		if (event->op == OP_SND || event->op == OP_RCV) {
			uint64_t word =
			        message_word(trace_string(t, t->messages[event->target]));
			step.reads = (uint32_t)word;
			step.after = (uint32_t)(word >> 32);
		}
	}
	g_array_append_val(p->steps, step);
	g_array_append_val(p->events, e);
}

static void add_threads(const struct trace *t, struct plan *p)
{
	uint32_t *children = g_new0(uint32_t, t->threads_count + 1);
	struct log_thread root = { LOG_ALL_THREADS, 0 };
	g_array_append_val(p->threads, root);
	for (uint64_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op != OP_FORK)
			continue;
		uint32_t child = number_of(t, t->events[e].target);
		uint32_t parent = number_of(t, t->events[e].thread);
		if (child == NONE || parent == NONE)
			continue;
		while (p->threads->len <= child)
			g_array_append_val(p->threads, root);
		struct log_thread *thread =
		        &g_array_index(p->threads, struct log_thread, child);
		thread->parent = parent;
		thread->ordinal = children[t->events[e].thread]++;
	}
	g_free(children);
}

static gint by_thread(gconstpointer a, gconstpointer b)
{
	const struct log_answer *x = a, *y = b;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* By thread, each thread's in the order of its queries: the sort is stable. */
static void add_answers(const struct trace *t, struct plan *p)
{
	for (uint64_t i = 0; i < t->clocks_count; i++) {
		const struct recorded_clock *c = &t->clocks[i];
		struct log_answer a = { .thread = number_of(t, c->thread),
			                .clock = c->clock,
			                .seconds = c->seconds,
			                .nanoseconds = c->nanoseconds };
		if (a.thread != NONE)
			g_array_append_val(p->answers, a);
	}
	g_array_sort(p->answers, by_thread);
}

static bool add_inputs(const struct trace *t, struct plan *p, struct error *error)
{
	const char *note = trace_note(t, INPUTS_BYTES_NOTE);
	if (!note)
		return true;
	p->inputs = inputs_unpack(note, &p->input_count);
	return p->inputs ||
	       error_set(error, trace_name(t), "record the program again",
	                 "what came from outside (" INPUTS_BYTES_NOTE ") is damaged");
}

static void add_arrival(const struct trace *t, struct plan *p, uint32_t thread, uint32_t e)
{
	struct log_step step = { .thread = number_of(t, thread), .tag = LOG_FLUSH };

	g_array_append_val(p->steps, step);
	g_array_append_val(p->events, e);
}

/* The step of an event, searched from the end; p->steps->len: none. */
static guint step_of(const struct plan *p, uint32_t event)
{
	guint i = p->events->len;

	while (i-- > 0)
		if (g_array_index(p->events, uint32_t, i) == event)
			return i;
	return p->steps->len;
}

/* The entry of `said` for the event, or NULL. */
static const struct weak_source *row_of(const GArray *said, uint32_t event, enum weak_kind kind)
{
	for (guint i = 0; i < said->len; i++) {
		const struct weak_source *w = &g_array_index(said, struct weak_source, i);

		if (w->event == event && w->kind == kind)
			return w;
	}
	return NULL;
}

/* The step of the store, for the plan. A plain write has none: if last, it is read from
 * memory as it is; else the initial value is meant. */
static uint32_t reference(const struct trace *t, const struct plan *p, guint store, bool last)
{
	if (store == NONE)
		return STEP_INITIAL;
	if (!op_is_atomic(t->events[g_array_index(p->events, uint32_t, store)].op))
		return last ? STEP_LAST : STEP_INITIAL;
	return STEP_STORE + store;
}

bool plan_weak(struct plan *p, const struct trace *t, const GArray *said)
{
	uint32_t *last = g_new(uint32_t, t->variables_count + 1); /* by variable: a step */
	struct log_step *steps = (struct log_step *)(void *)p->steps->data;
	bool good = true;

	memset(last, 0xff, (t->variables_count + 1) * sizeof *last);
	for (guint i = 0; i < p->steps->len && said->len && good; i++) {
		uint32_t e = g_array_index(p->events, uint32_t, i);
		const struct event *x = e == NONE ? NULL : &t->events[e];
		if (x == NULL || !op_is_access(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(t, x);
		const struct weak_source *reads = row_of(said, e, WEAK_READS),
		                         *after = row_of(said, e, WEAK_AFTER);
		guint from = reads && reads->store != NONE ? step_of(p, reads->store) : NONE;
		guint behind = after && after->store != NONE ? step_of(p, after->store) : NONE;

		good = !(from != NONE && from >= i) && !(behind != NONE && behind >= i);
		if (good && op_is_atomic(x->op) && op_reads(x->op))
			steps[i].reads = reference(t, p, reads ? from : last[run.first],
			                           !reads || from == last[run.first]);
		if (good && x->op == OP_AWRITE)
			steps[i].after = after ? reference(t, p, behind, false) : STEP_LAST;
		for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
			last[v] = i;
	}
	g_free(last);
	return good;
}

/* Add the trace's reads-from and modification order (weak.h). */
static void add_weak(const struct trace *t, struct plan *p)
{
	GArray *said = g_array_new(FALSE, FALSE, sizeof(struct weak_source));

	g_array_append_vals(said, t->weak, (guint)t->weak_count);
	plan_weak(p, t, said);
	g_array_free(said, TRUE);
}

/* Adds the steps of e's thread up to `e`, and `e` itself if `with`. */
static void add_up_to(const struct trace *t, struct plan *p, struct thread_events *all,
                      uint32_t e, bool with, bool exact)
{
	uint32_t thread = t->events[e].thread;
	struct thread_events *mine = &all[thread];
	if (t->events[e].op == OP_FLUSH) {
		if (with)
			add_arrival(t, p, thread, e);
		return;
	}
	while (mine->next < mine->events->len) {
		uint32_t next = g_array_index(mine->events, uint32_t, mine->next);
		if (next != NONE && (next > e || (next == e && !with)))
			break;
		add_step(t, p, thread, next, exact, repeats_of(mine, mine->next));
		mine->next++;
		if (next == e)
			break;
	}
}

/* The step that ends the invocation begun at step `i`, when no other thread's step comes
 * between; else `i`. */
static guint end_of_call(const struct trace *t, const struct plan *p, guint i)
{
	uint32_t thread = g_array_index(p->steps, struct log_step, i).thread;
	int open = 0;
	for (guint k = i; k < p->steps->len; k++) {
		uint32_t e = g_array_index(p->events, uint32_t, k);
		if (g_array_index(p->steps, struct log_step, k).thread != thread)
			return i;
		if (e != NONE)
			open += (t->events[e].op == OP_CALL) - (t->events[e].op == OP_RET);
		if (open == 0)
			return k;
	}
	return i;
}

/* Drops steps inside of invocations: they may differ from the recording (rule 5). */
static void join_calls(const struct trace *t, struct plan *p)
{
	guint to = 0;
	for (guint i = 0; i < p->steps->len; i++, to++) {
		struct log_step *steps = (struct log_step *)(void *)p->steps->data;
		uint32_t *events = (uint32_t *)(void *)p->events->data;
		guint end = i;
		if (events[i] != NONE && t->events[events[i]].op == OP_CALL)
			end = end_of_call(t, p, i);
		steps[to] = steps[i];
		events[to] = events[i];
		if (end == i)
			continue;
		steps[++to] = steps[end];
		events[to] = events[end];
		steps[to].whole = 1;
		i = end;
	}
	g_array_set_size(p->steps, to);
	g_array_set_size(p->events, to);
}

/* The position of a thread's event: the number of invocations that ended before, and of events
 * since the last of these, since events inside of invocations may differ between runs. */
static struct plan_place place_of(const struct trace *t, const GArray *events, uint32_t index)
{
	struct plan_place place = { 0 };
	for (uint32_t i = 0; i < index; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);
		bool ends = e != NONE && t->events[e].op == OP_RET;
		place.calls += ends;
		place.after = ends ? 0 : place.after + 1;
	}
	return place;
}

void plan_init(struct plan *p)
{
	memset(p, 0, sizeof(*p));
	p->steps = g_array_new(FALSE, FALSE, sizeof(struct log_step));
	p->events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	p->threads = g_array_new(FALSE, FALSE, sizeof(struct log_thread));
	p->answers = g_array_new(FALSE, FALSE, sizeof(struct log_answer));
	p->seed = 1;
	p->poison = NONE;
	for (int i = 0; i < 2; i++) {
		p->pair[i] = NONE;
		p->pair_thread[i] = LOG_ALL_THREADS;
	}
}

/* Does the plan keep the invariants that the runtime relies on? */
static bool is_sound(const struct plan *p)
{
	uint32_t threads = p->threads->len;
	for (guint i = 0; i < p->steps->len; i++) {
		const struct log_step *s = &g_array_index(p->steps, struct log_step, i);
		if (s->thread >= threads || s->tag >= LOG_TAG_COUNT)
			return false;
	}
	for (guint i = 0; i < p->answers->len; i++) {
		const struct log_answer *a = &g_array_index(p->answers, struct log_answer, i);
		if (a->thread >= threads || (i > 0 && a[-1].thread > a->thread))
			return false;
	}
	return threads <= LOG_THREADS && p->strategy < STRATEGY_COUNT;
}

void plan_archive(struct plan *p, struct archive *a)
{
	if (archive_reads(a))
		plan_init(p);
	archive_array(a, p->steps, sizeof(struct log_step));
	archive_array(a, p->threads, sizeof(struct log_thread));
	archive_array(a, p->answers, sizeof(struct log_answer));
	ARCHIVE(a, p->seed);
	ARCHIVE(a, p->strategy);
	archive_raw(a, &p->target, sizeof p->target);
	if (archive_reads(a))
		p->turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	if (p->turns != NULL)
		archive_array(a, p->turns, sizeof(struct log_turn));
	else
		archive_count(a, 0, sizeof(struct log_turn));
	ARCHIVE(a, p->open_end);
	while (p->events->len < p->steps->len) { /* of a trace that is gone */
		static const uint32_t none = NONE;
		g_array_append_val(p->events, none);
	}
	p->explore = p->futexes = true;
	if (archive_reads(a) && !is_sound(p))
		archive_fail(a);
}

/* A read that crashes is announced to the plan, and never recorded. */
static bool ends_with_crash(const struct trace *t, const uint32_t *sequence, size_t length)
{
	struct crash crash = trace_crash(t);

	g_free(crash.thread);
	while (length > 0 && t->events[sequence[length - 1]].op == OP_LEAVE)
		length--;
	return length > 0 && crash.event != NONE && sequence[length - 1] == crash.event;
}

bool plan_make(const struct trace *t, const uint32_t *sequence, size_t length,
               const uint32_t pair[2], struct plan *p, struct error *error)
{
	memset(p, 0, sizeof(*p));
	const char *recording = trace_note(t, "recording");
	if (!recording || t->modules_count == 0)
		return error_set(error, trace_name(t),
		                 "record the program with 'heddle record'",
		                 "is no recording of a program, so there is nothing to replay");
	if (strcmp(recording, "controlled") != 0)
		return error_set(error, trace_name(t), "record it again without --mode free",
		                 "was recorded in free mode, whose order is not known exactly");
	if (trace_note(t, RECORDED_FORKED_NOTE))
		return error_set(
		        error, trace_name(t),
		        "keep the test framework from forking (Check: CK_FORK=no), and "
		        "record that",
		        "is of a child by fork, and a replay would go on in its parent");
	const char *filter = trace_note(t, TRACE_FILTER_NOTE);
	if (filter)
		return error_set(
		        error, trace_name(t),
		        "record it without --filter, with the same --seed, and replay that",
		        "was recorded with --filter %s, which leaves out accesses that "
		        "replay goes by",
		        filter);
	if (trace_sampled(t))
		return error_set(
		        error, trace_name(t),
		        "record it without --sample, with the same --seed, and replay that",
		        "was recorded with --sample %" PRIu64
		        ", which leaves out accesses that "
		        "replay goes by",
		        trace_sampled(t));
	if (t->filtered)
		return error_set(error, trace_name(t), "replay the whole trace",
		                 "was filtered, and lacks accesses that replay goes by");
	plan_init(p);
	const char *seed = trace_note(t, "recording-seed");
	p->seed = seed ? g_ascii_strtoull(seed, NULL, 10) : 1;
	bool exact = trace_note(t, "recording-addresses") == NULL;
	p->specs = trace_recorded_specs(t);
	p->start_at = trace_note(t, "recording-start");
	p->futexes = trace_note(t, FUTEX_STEPS_NOTE) != NULL;
	add_threads(t, p);
	add_answers(t, p);
	if (!add_inputs(t, p, error))
		return false;
	struct thread_events *all = collect(t);
	for (size_t i = 0; i < length; i++)
		add_up_to(t, p, all, sequence[i], true, exact);
	for (int i = 0; i < 2; i++) {
		p->pair[i] = pair[i];
		p->pair_thread[i] = LOG_ALL_THREADS;
		if (pair[i] == NONE)
			continue;
		p->stops |= tag_of[t->events[pair[i]].op] != 0;
		add_up_to(t, p, all, pair[i], false, exact);
		p->pair_thread[i] = number_of(t, t->events[pair[i]].thread);
		const struct thread_events *mine = &all[t->events[pair[i]].thread];
		p->pair_place[i] = place_of(t, mine->events, mine->next);
	}
	p->open_end = ends_with_crash(t, sequence, length);
	join_calls(t, p);
	p->memory = trace_model(t);
	add_weak(t, p);
	thread_events_free(t, all);
	return true;
}

void plan_stops(const struct trace *t, const GArray *requests, uint32_t pair[2])
{
	bool locks = true;
	for (guint i = 0; i < requests->len; i++) {
		uint32_t e = g_array_index(requests, uint32_t, i);
		locks &= e < t->events_count &&
		         (op_acquires(t->events[e].op) || op_wants(t->events[e].op));
	}
	for (guint i = 0; i < 2; i++)
		pair[i] = locks && i < requests->len ? g_array_index(requests, uint32_t, i)
		                                     : NONE;
}

void plan_leave_out(struct plan *p, const bool *left_out)
{
	guint to = 0;
	for (guint i = 0; i < p->steps->len; i++) {
		uint32_t e = g_array_index(p->events, uint32_t, i);
		if (e != NONE && left_out[e])
			continue;
		g_array_index(p->events, uint32_t, to) = e;
		g_array_index(p->steps, struct log_step, to++) =
		        g_array_index(p->steps, struct log_step, i);
	}
	g_array_set_size(p->events, to);
	g_array_set_size(p->steps, to);
}

void plan_any_outcome(struct plan *p)
{
	if (p->steps->len > 0)
		g_array_index(p->steps, struct log_step, p->steps->len - 1).tag = LOG_NOTHING;
}

void plan_wake(struct plan *p, bool late)
{
	if (p->steps->len > 0)
		g_array_index(p->steps, struct log_step, p->steps->len - 1).late = late;
}

void plan_end_wait(struct plan *p, const struct trace *t, uint32_t thread)
{
	add_step(t, p, thread, NONE, false, 0);
	g_array_index(p->steps, struct log_step, p->steps->len - 1).tag = LOG_WAKE;
	plan_wake(p, true);
}

void plan_go_on(struct plan *p, const struct trace *t, uint32_t thread)
{
	add_step(t, p, thread, NONE, false, 0);
	p->open_end = true;
}

void plan_handle(struct plan *p, const struct trace *t, uint32_t event)
{
	bool exact = trace_note(t, "recording-addresses") == NULL;
	add_step(t, p, t->events[event].thread, event, exact, 0);
	g_array_index(p->events, uint32_t, p->events->len - 1) = NONE;
}

void plan_hold(struct plan *p, const struct trace *t, uint32_t thread)
{
	p->held = number_of(t, thread) + 1;
}

/* The event at a position; the inverse of place_of. */
static uint32_t event_at(const struct trace *t, const GArray *events, struct plan_place place)
{
	uint32_t i = 0;
	for (; i < events->len && place.calls > 0; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);
		place.calls -= e != NONE && t->events[e].op == OP_RET;
	}
	i += place.after;
	return i < events->len ? g_array_index(events, uint32_t, i) : NONE;
}

void plan_reached(const struct plan *p, const struct trace *run, uint32_t reached[2])
{
	struct thread_events *all = collect(run);
	for (uint64_t i = 0; i < run->threads_count; i++) {
		for (int k = 0; k < 2; k++)
			if (p->pair[k] != NONE && number_of(run, i) == p->pair_thread[k])
				reached[k] = event_at(run, all[i].events, p->pair_place[k]);
	}
	thread_events_free(run, all);
}
