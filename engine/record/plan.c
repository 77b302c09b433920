/* plan.c - see plan.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/record/inputs.h"
#include "engine/record/interpose.h"
#include "engine/record/plan.h"
#include "engine/record/session.h"
#include "engine/trace/ending.h"

void plan_release(struct plan *p)
{
	GArray *arrays[] = { p->steps, p->events, p->threads, p->answers };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		if (arrays[i])
			g_array_free(arrays[i], TRUE);
	if (p->inputs)
		g_byte_array_free(p->inputs, TRUE);
	if (p->specs)
		g_ptr_array_unref(p->specs);
	memset(p, 0, sizeof(*p));
}

void plan_run_release(struct plan_run *r)
{
	record_facts_release(&r->facts);
	trace_close(r->trace);
	g_free(r->cause);
	memset(r, 0, sizeof(*r));
}

/* An event's record has its operation's name. */
static const uint8_t tag_of[OP_COUNT] = {
#define EVENT_0(name)
#define EVENT_1(name)             [OP_##name] = LOG_##name,
#define TAG(name, words, visible) EVENT_##visible(name)
	LOG_TAGS(TAG)
#undef TAG
};

/* ---- threads: the runtime's number is in the name that the import gave ---- */

static uint32_t number_of(const struct trace *t, uint32_t thread)
{
	const char *name = trace_thread_name(t, thread);
	unsigned n;
	if (strcmp(name, "main") == 0)
		return 0;
	return sscanf(name, "T%u", &n) == 1 && n < 0x8000 ? n : NONE;
}

static const char *note_of(const struct trace *t, const char *key)
{
	for (uint64_t i = 0; i < t->notes_count; i++)
		if (strcmp(trace_string(t, t->notes[i].key), key) == 0)
			return trace_string(t, t->notes[i].value);
	return NULL;
}

/* The events of each thread that the runtime counts, and those it counted but the import
 * left out (NONE). */
struct thread_events {
	GArray *events;  /* uint32_t */
	GArray *repeats; /* struct repeat: of events that were made again, by index */
	guint repeat;    /* first that is not in the plan yet */
	uint32_t next;   /* first that is not in the plan yet */
	uint32_t children;
};

struct repeat {
	uint64_t index, count;
};

/* "THREAD:INDEX:COUNT," ...: the thread's event was made again, so often, before anybody made
 * another. */
static void collect_repeats(const struct trace *t, struct thread_events *all)
{
	const char *at = note_of(t, "recording-repeats");
	uint32_t *by_number = g_new(uint32_t, 0x8000);
	for (unsigned i = 0; i < 0x8000; i++)
		by_number[i] = NONE;
	for (uint64_t i = 0; i < t->threads_count; i++) {
		all[i].repeats = g_array_new(FALSE, FALSE, sizeof(struct repeat));
		if (number_of(t, i) != NONE)
			by_number[number_of(t, i)] = i;
	}
	while (at && *at) {
		uint64_t part[3];
		for (int i = 0; i < 3; i++) {
			char *end;
			part[i] = g_ascii_strtoull(at, &end, 10);
			at = *end ? end + 1 : end;
		}
		struct repeat r = { part[1], part[2] };
		if (part[0] < 0x8000 && by_number[part[0]] != NONE)
			g_array_append_val(all[by_number[part[0]]].repeats, r);
	}
	g_free(by_number);
}

static struct thread_events *collect(const struct trace *t)
{
	struct thread_events *all = g_new0(struct thread_events, t->threads_count);
	GHashTable *dropped = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const char *note = note_of(t, "recording-dropped");
	char **words = g_strsplit(note ? note : "", ",", -1);
	for (char **w = words; *w; w++)
		g_hash_table_add(dropped, g_strdup(*w));
	g_strfreev(words);
	for (uint64_t i = 0; i < t->threads_count; i++)
		all[i].events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	collect_repeats(t, all);
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *event = &t->events[e];
		if (tag_of[event->op] == 0)
			continue;
		GArray *events = all[event->thread].events;
		while (g_hash_table_size(dropped)) {
			char key[64];
			snprintf(key, sizeof(key), "%u:%u", number_of(t, event->thread),
			         events->len);
			if (!g_hash_table_contains(dropped, key))
				break;
			uint32_t none = NONE;
			g_array_append_val(events, none);
		}
		uint32_t id = e;
		g_array_append_val(events, id);
	}
	g_hash_table_destroy(dropped);
	return all;
}

static void thread_events_free(const struct trace *t, struct thread_events *all)
{
	for (uint64_t i = 0; i < t->threads_count; i++) {
		g_array_free(all[i].events, TRUE);
		g_array_free(all[i].repeats, TRUE);
	}
	g_free(all);
}

/* How often the thread's event of this index was made again; indexes are asked for in order. */
static uint64_t repeats_of(struct thread_events *mine, uint32_t index)
{
	uint64_t count = 0;
	for (; mine->repeat < mine->repeats->len; mine->repeat++) {
		struct repeat *r = &g_array_index(mine->repeats, struct repeat, mine->repeat);
		if (r->index > index)
			break;
		if (r->index == index)
			count += r->count;
	}
	return count;
}

static void add_step(const struct trace *t, struct plan *p, uint32_t thread, uint32_t e,
                     bool exact, uint64_t repeats)
{
	struct log_step step = { .thread = number_of(t, thread), .repeats = repeats };
	if (e != NONE) {
		const struct event *event = &t->events[e];
		const struct location *l = &t->locations[event->location];
		step.tag = tag_of[event->op];
		step.late = event->op == OP_WAKE && event->flags & EVENT_TRY;
		if (exact && l->module != NONE && l->module < t->modules_count)
			step.pc = t->modules[l->module].base + l->address + 1;
	}
	g_array_append_val(p->steps, step);
	g_array_append_val(p->events, e);
}

static void add_threads(const struct trace *t, struct plan *p)
{
	uint32_t children[0x8000] = { 0 };
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
		thread->ordinal = children[parent]++;
	}
}

/* "THREAD:CLOCK:SECONDS:NANOSECONDS," ..., by thread in the order of its questions. */
static gint by_thread(gconstpointer a, gconstpointer b)
{
	const struct log_answer *x = *(struct log_answer *const *)a;
	const struct log_answer *y = *(struct log_answer *const *)b;
	return x->thread != y->thread ? (x->thread < y->thread ? -1 : 1) : x < y ? -1 : x > y;
}

static void add_answers(const struct trace *t, struct plan *p)
{
	const char *at = note_of(t, "recording-clocks");
	GArray *raw = g_array_new(FALSE, FALSE, sizeof(struct log_answer));
	while (at && *at) {
		int64_t part[4];
		for (int i = 0; i < 4; i++) {
			char *end;
			part[i] = g_ascii_strtoll(at, &end, 10);
			at = *end ? end + 1 : end;
		}
		struct log_answer a = { .thread = part[0],
			                .clock = part[1],
			                .seconds = part[2],
			                .nanoseconds = part[3] };
		g_array_append_val(raw, a);
	}
	GPtrArray *sorted = g_ptr_array_new();
	for (guint i = 0; i < raw->len; i++)
		g_ptr_array_add(sorted, &g_array_index(raw, struct log_answer, i));
	g_ptr_array_sort(sorted, by_thread);
	for (guint i = 0; i < sorted->len; i++)
		g_array_append_vals(p->answers, sorted->pdata[i], 1);
	g_ptr_array_free(sorted, TRUE);
	g_array_free(raw, TRUE);
}

static bool add_inputs(const struct trace *t, struct plan *p, struct error *error)
{
	const char *note = note_of(t, INPUTS_BYTES_NOTE);
	if (!note)
		return true;
	p->inputs = inputs_unpack(note, &p->input_count);
	return p->inputs ||
	       error_set(error, trace_name(t), "record the program again",
	                 "what came from outside (" INPUTS_BYTES_NOTE ") is damaged");
}

/* The thread's events up to (and with) `e`, or without it. */
static void add_up_to(const struct trace *t, struct plan *p, struct thread_events *all,
                      uint32_t e, bool with, bool exact)
{
	uint32_t thread = t->events[e].thread;
	struct thread_events *mine = &all[thread];
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

/* The step that ends the invocation that begins at step `i`, when nothing of another thread
 * comes between; else `i`. */
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

/* Leave out what is inside of invocations (rule 5: it need not be as in the recording). */
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

/* Where an event of a thread is: how many of its invocations have ended before, and which
 * it is after the last of these (what is inside of them may differ in another run). */
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

/* A read that fails is announced, and does not come. */
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
	const char *recording = note_of(t, "recording");
	if (!recording || t->modules_count == 0)
		return error_set(error, trace_name(t),
		                 "record the program with 'heddle record'",
		                 "is no recording of a program, so there is nothing to replay");
	if (strcmp(recording, "controlled") != 0)
		return error_set(error, trace_name(t), "record it again without --mode free",
		                 "was recorded in free mode, whose order is not known exactly");
	plan_init(p);
	const char *seed = note_of(t, "recording-seed");
	p->seed = seed ? g_ascii_strtoull(seed, NULL, 10) : 1;
	bool exact = note_of(t, "recording-addresses") == NULL;
	p->specs = trace_recorded_specs(t);
	p->start_at = note_of(t, "recording-start");
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
	thread_events_free(t, all);
	return true;
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

void plan_go_on(struct plan *p, const struct trace *t, uint32_t thread)
{
	add_step(t, p, thread, NONE, false, 0);
	p->open_end = true;
}

/* ---- following ---- */

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

static void find_reached(const struct plan *p, struct plan_run *run)
{
	run->reached[0] = run->reached[1] = NONE;
	if (!run->trace)
		return;
	struct thread_events *all = collect(run->trace);
	for (uint64_t i = 0; i < run->trace->threads_count; i++) {
		for (int k = 0; k < 2; k++)
			if (p->pair[k] != NONE && number_of(run->trace, i) == p->pair_thread[k])
				run->reached[k] =
				        event_at(run->trace, all[i].events, p->pair_place[k]);
	}
	thread_events_free(run->trace, all);
}

/* The program came to the same instructions; was it with the same object, too? */
static bool are_apart(const struct plan_run *run)
{
	const struct event *at[2];
	for (int k = 0; k < 2; k++) {
		if (run->reached[k] == NONE)
			return false;
		at[k] = &run->trace->events[run->reached[k]];
		if (!op_is_access(at[k]->op))
			return false;
	}
	return !events_overlap(run->trace, at[0], at[1]);
}

static void explain_divergence(const struct plan *p, struct plan_run *run)
{
	unsigned position, thread;
	char what[32];
	uint64_t pc, expected;
	run->at = NONE;
	if (sscanf(run->facts.diverged, "%u %u %31s %" SCNx64 " %" SCNx64, &position, &thread,
	           what, &pc, &expected) != 5)
		return;
	if (position < p->events->len)
		run->at = g_array_index(p->events, uint32_t, position);
	for (unsigned side = 0; position >= p->events->len && side < 2; side++)
		if (p->pair[side] != NONE && p->pair_thread[side] == thread)
			run->at = p->pair[side];
	GString *text = g_string_new(NULL);
	char *who = thread ? g_strdup_printf("T%u", thread) : g_strdup("main");
	if (strcmp(what, "place") == 0 || strcmp(what, "operation") == 0) {
		g_string_append_printf(text, "%s did something else, at ", who);
		record_describe(&run->facts, pc, text, NULL);
		g_string_append(text, p->other_build
		                              ? ""
		                              : ": it saw another value or input than in the "
		                                "recording");
	} else if (strcmp(what, "order") == 0) {
		g_string_append_printf(text, "%s came first, at ", who);
		record_describe(&run->facts, pc, text, NULL);
	} else if (strcmp(what, "blocked") == 0) {
		g_string_append_printf(text, "%s is blocked", who);
		if (pc) {
			g_string_append(text, " at ");
			record_describe(&run->facts, pc, text, NULL);
		}
	} else if (strcmp(what, "spins") == 0) {
		g_string_append_printf(
		        text,
		        "%s goes on and on without an event: it waits, in code that is not "
		        "instrumented, for what another thread would do",
		        who);
	} else if (strcmp(what, "input") == 0) {
		g_string_append_printf(text, "%s %s", who,
		                       run->facts.input ? run->facts.input : "");
	} else if (strcmp(what, "ended") == 0) {
		g_string_append_printf(text, "%s had already ended", who);
	} else {
		g_string_append(text, "its thread had not been created");
	}
	if (p->other_build)
		g_string_append(text, "; it is another program, or another build, than was "
		                      "recorded");
	g_free(who);
	run->cause = g_string_free(text, FALSE);
}

/* Its log has no name: nothing is left behind, however we end. */
static bool run_for_trace(struct record_options *o, struct plan_run *run, struct error *error)
{
	int fd = file_open_nameless(g_get_tmp_dir());
	if (fd < 0)
		return error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot write the log of the replay: %s", g_strerror(errno));
	char *path = file_descriptor_path(fd);
	g_strlcpy(o->config.log, path, sizeof(o->config.log));
	g_free(path);
	if (record_run(o, &run->result, error))
		run->trace =
		        record_import(o->config.log, "the replay", &run->facts, NULL, error);
	close(fd);
	return run->trace != NULL;
}

/* What the runtime is told of the plan; `bytes` is filled with the plan itself. */
static void configure(const struct plan *p, unsigned first, struct record_options *o,
                      GByteArray *bytes)
{
	struct log_config *c = &o->config;
	c->flags = LOG_CONTROLLED | LOG_VALUES | LOG_REPLAY;
	if (p->explore) {
		c->flags |= LOG_EXPLORE | LOG_MISSING;
		if (p->max_steps) /* what is left of them after the plan */
			c->steps =
			        p->max_steps > p->steps->len ? p->max_steps - p->steps->len : 1;
	}
	c->seed = p->seed;
	c->strategy = p->strategy;
	/* The witness whole, and then some: what comes after it may never end. */
	c->max_bytes = (p->max_bytes ? p->max_bytes
	                : p->explore ? RECORD_MAX_EXPLORED
	                             : RECORD_MAX_BYTES) +
	               p->steps->len * 64ull;
	c->plan_length = p->steps->len;
	c->thread_count = p->threads->len;
	c->answer_count = p->answers->len;
	c->first = first;
	c->pair[0] = p->pair_thread[0];
	c->pair[1] = p->pair_thread[1];
	c->hold = o->stopped != NULL;
	for (guint i = 0; p->poison != NONE && i < p->events->len; i++)
		if (g_array_index(p->events, uint32_t, i) == p->poison)
			c->poison = i + 1;
	g_byte_array_append(bytes, (const void *)p->steps->data,
	                    p->steps->len * sizeof(struct log_step));
	g_byte_array_append(bytes, (const void *)p->threads->data,
	                    p->threads->len * sizeof(struct log_thread));
	g_byte_array_append(bytes, (const void *)p->answers->data,
	                    p->answers->len * sizeof(struct log_answer));
	if (p->inputs && !p->explore) {
		g_byte_array_append(bytes, p->inputs->data, p->inputs->len);
		c->input_count = p->input_count;
		c->input_bytes = p->inputs->len;
	}
	o->plan = bytes->data;
	o->plan_bytes = bytes->len;
}

/* Did all of the plan happen, and did the threads then stand before the pair? */
static bool came_to_the_pair(const struct plan *p, const struct plan_run *run)
{
	return run->facts.replayed + p->open_end >= p->steps->len &&
	       (!p->stops || run->facts.stopped->len > 0);
}

/* Did the run come to the plan's end? */
static void judge(const struct plan *p, struct plan_run *run)
{
	bool starved = run->facts.status == LOG_STARVED;
	if (starved) /* the signal is ours */
		run->result.status = run->result.signal = 0;
	run->diverged = run->facts.diverged != NULL;
	if (run->diverged) {
		explain_divergence(p, run);
	} else if (p->explore ? run->facts.replayed + p->open_end < p->steps->len &&
	                                run->facts.replayed > 0
	                      : !came_to_the_pair(p, run)) {
		run->diverged = true;
		run->at = run->facts.replayed < p->steps->len
		                  ? g_array_index(p->events, uint32_t, run->facts.replayed)
		                  : p->pair[0];
		run->cause = run->result.timed_out
		                     ? g_strdup_printf("its end was not reached within %u s "
		                                       "(--timeout)",
		                                       p->timeout_ms / 1000)
		                     : g_strdup(starved ? "the recorded input came to an end "
		                                          "before the pair"
		                                        : "the program ended before the pair");
	}
	find_reached(p, run);
	run->apart = are_apart(run);
}

bool plan_follow(const struct plan *p, char **argv, unsigned first,
                 void (*stopped)(void *context, pid_t pid), void *context, struct plan_run *run,
                 struct error *error)
{
	char *library = NULL;
	memset(run, 0, sizeof(*run));
	if (!p->explore && !interposer_of(p->specs, argv[0], &library, error))
		return false;
	struct record_options o = { .argv = argv,
		                    .stopped = stopped,
		                    .context = context,
		                    .preload = p->interposer ? p->interposer : library,
		                    .server = p->server,
		                    .stdout_path = p->output,
		                    .stderr_path = p->errors,
		                    .timeout_ms = p->timeout_ms };
	run->facts.argv = argv;
	run->facts.specs = p->specs;
	run->facts.debug = record_server_debug(p->server);
	bool ok = !p->start_at || session_start_at(argv[0], p->start_at, &o.config, error);
	if (ok) {
		GByteArray *bytes = g_byte_array_new();
		configure(p, first, &o, bytes);
		ok = run_for_trace(&o, run, error);
		g_byte_array_free(bytes, TRUE);
	}
	interposer_remove(library);
	if (ok)
		judge(p, run);
	return ok;
}

void plan_append_stack(const struct trace *t, const struct plan *p, const struct plan_run *run,
                       unsigned side, GString *out)
{
	for (guint i = 0; i < run->facts.stopped->len; i++) {
		char **words = g_strsplit(run->facts.stopped->pdata[i], " ", -1);
		guint n = g_strv_length(words);
		if (n >= 2 && (unsigned)atoi(words[0]) == side) {
			uint64_t place = 0;
			for (guint k = 2; k < n; k++) {
				uint64_t function, call;
				if (sscanf(words[k], "%" SCNx64 ":%" SCNx64, &function,
				           &call) != 2)
					continue;
				g_string_append_printf(out, "    #%u ", k - 2);
				gsize before = out->len;
				record_describe(&run->facts, function, NULL, out);
				g_string_append(out, out->len == before ? "?" : "");
				g_string_append_c(out, ' ');
				if (k == 2)
					g_string_append(out,
					                trace_location_name(t, p->pair[side]));
				else
					record_describe(&run->facts, place, out, NULL);
				g_string_append_c(out, '\n');
				place = call;
			}
		}
		g_strfreev(words);
	}
}
