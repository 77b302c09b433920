/*
 * plan_run.c - see plan_run.h. A run's log has no name, so that no crash leaves it behind.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/record/interpose.h"
#include "engine/record/plan_run.h"
#include "engine/record/session.h"

void plan_run_release(struct plan_run *r)
{
	record_facts_release(&r->facts);
	trace_close(r->trace);
	g_free(r->cause);
	g_free(r->printed);
	memset(r, 0, sizeof(*r));
}

/* Did the threads stand at the pair's instructions, but with different variables? */
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

/* The planned event that did not come, or NONE. */
static uint32_t diverged_at(const struct plan *p, const struct record_divergence *d)
{
	if (d->step < p->events->len)
		return g_array_index(p->events, uint32_t, d->step);
	for (unsigned side = 2; side-- > 0;)
		if (p->pair[side] != NONE && p->pair_thread[side] == d->thread)
			return p->pair[side];
	return NONE;
}

static void explain_divergence(const struct plan *p, struct plan_run *run)
{
	const struct record_divergence *d = &run->facts.divergence;
	GString *text = g_string_new(NULL);
	run->at = diverged_at(p, d);
	if (d->why != DIVERGED_UNBORN)
		record_append_thread(d->thread, text);
	switch (d->why) {
	case DIVERGED_PLACE:
	case DIVERGED_OPERATION:
		g_string_append(text, " did something else, at ");
		record_describe(&run->facts, d->pc, text, NULL);
		if (!p->other_build)
			g_string_append(text, ": it saw another value or input than in the "
			                      "recording");
		break;
	case DIVERGED_ORDER:
		g_string_append(text, " came first, at ");
		record_describe(&run->facts, d->pc, text, NULL);
		break;
	case DIVERGED_BLOCKED:
		g_string_append(text, " is blocked");
		if (d->pc) {
			g_string_append(text, " at ");
			record_describe(&run->facts, d->pc, text, NULL);
		}
		break;
	case DIVERGED_SPINS:
		g_string_append(text,
		                " goes on and on without an event: it waits, in code that is "
		                "not instrumented, for what another thread would do");
		break;
	case DIVERGED_INPUT:
		g_string_append_printf(text, " %s", run->facts.input ? run->facts.input : "");
		break;
	case DIVERGED_ENDED:
		g_string_append(text, " had already ended");
		break;
	default:
		g_string_append(text, "its thread had not been created");
	}
	if (p->other_build)
		g_string_append(text, "; it is another program, or another build, than was "
		                      "recorded");
	run->cause = g_string_free(text, FALSE);
}

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

/* Fills in the runtime's configuration, and `bytes` with the plan. */
static void configure(const struct plan *p, unsigned first, struct record_options *o,
                      GByteArray *bytes)
{
	struct log_config *c = &o->config;
	c->flags = LOG_CONTROLLED | LOG_VALUES | LOG_REPLAY;
	if (p->explore) {
		c->flags |= LOG_EXPLORE | LOG_MISSING;
		if (p->max_steps) /* steps left after the plan */
			c->steps =
			        p->max_steps > p->steps->len ? p->max_steps - p->steps->len : 1;
	}
	c->flags |= p->futexes ? LOG_FUTEXES : 0;
	c->flags |= p->alike ? LOG_ALIKE : 0;
	c->seed = p->seed;
	c->strategy = p->strategy;
	c->target = p->target;
	c->turn_count = p->turns ? MIN(p->turns->len, LOG_TURNS) : 0;
	for (uint32_t i = 0; i < c->turn_count; i++)
		c->turns[i] = g_array_index(p->turns, struct log_turn, i);
	c->memory = p->memory;
	c->held = p->held;
	c->fill = p->fill;
	/* enough for the witness and some more: the run after it may never end */
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
	c->hold = o->stopped ? LOG_HOLD_PAIR : 0;
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

bool plan_stopped(const struct plan_run *run)
{
	return run->facts.stopped[0] != NULL || run->facts.stopped[1] != NULL;
}

/* Did all steps of the plan occur, and did the threads then stand before the pair? */
static bool came_to_the_pair(const struct plan *p, const struct plan_run *run)
{
	return run->facts.replayed + p->open_end >= p->steps->len &&
	       (!p->stops || plan_stopped(run));
}

/* Did the run come to the plan's end? */
static void judge(const struct plan *p, struct plan_run *run)
{
	bool starved = run->facts.status == LOG_STARVED;
	if (starved) /* the runtime sent the signal */
		run->result.status = run->result.signal = 0;
	run->diverged = run->facts.diverged;
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
	run->reached[0] = run->reached[1] = NONE;
	if (run->trace)
		plan_reached(p, run->trace, run->reached);
	run->apart = are_apart(run);
}

static struct record_options options_of(const struct plan *p, char **argv)
{
	return (struct record_options){ .argv = argv,
		                        .preload = p->interposer,
		                        .server = p->server,
		                        .stdout_path = p->output,
		                        .stderr_path = p->errors,
		                        .timeout_ms = p->timeout_ms };
}

static void note_plan(const struct plan *p, char **argv, struct plan_run *run)
{
	run->facts.argv = argv;
	run->facts.specs = p->specs;
	run->facts.debug = record_server_debug(p->server);
}

static void note_printed(const struct plan *p, struct plan_run *run)
{
	gsize length = 0;
	if (p->output != NULL && g_file_get_contents(p->output, &run->printed, &length, NULL))
		run->printed_length = length;
}

bool plan_begin(const struct plan *p, char **argv)
{
	struct record_options o = options_of(p, argv);
	GByteArray *bytes = g_byte_array_new();
	configure(p, 0, &o, bytes);
	bool begun = record_server_settles(p->server, &o) && record_server_begin(p->server, &o);
	g_byte_array_free(bytes, TRUE);
	return begun;
}

bool plan_end(const struct plan *p, char **argv, struct plan_run *run, struct error *error)
{
	memset(run, 0, sizeof(*run));
	note_plan(p, argv, run);
	enum record_end end = record_server_end(p->server, p->timeout_ms, &run->result);
	if (end == RECORD_REFUSED && !run->result.interrupted &&
	    !record_server_outgrown(p->server) && plan_begin(p, argv))
		end = record_server_end(p->server, p->timeout_ms, &run->result);
	if (end == RECORD_ENDED)
		run->trace = record_server_trace(p->server, &run->facts, error);
	else
		error_set(error, argv[0], NULL,
		          "a copy of it ended before its run began (status %d)",
		          run->result.status);
	if (run->trace == NULL)
		return false;
	if (record_server_printed(p->server))
		note_printed(p, run);
	else
		run->printed = g_strdup("");
	judge(p, run);
	return true;
}

void plan_cancel(const struct plan *p)
{
	record_server_cancel(p->server);
}

bool plan_follow(const struct plan *p, char **argv, unsigned first,
                 void (*stopped)(void *context, pid_t pid), void *context, struct plan_run *run,
                 struct error *error)
{
	char *library = NULL;
	if (p->explore && p->server != NULL && stopped == NULL && plan_begin(p, argv))
		return plan_end(p, argv, run, error);
	memset(run, 0, sizeof(*run));
	if (!p->explore && !interposer_of(p->specs, argv[0], &library, error))
		return false;
	struct record_options o = options_of(p, argv);
	o.stopped = stopped;
	o.context = context;
	if (library)
		o.preload = library;
	note_plan(p, argv, run);
	bool ok = !p->start_at || session_start_at(argv[0], p->start_at, &o.config, error);
	if (ok) {
		GByteArray *bytes = g_byte_array_new();
		configure(p, first, &o, bytes);
		ok = run_for_trace(&o, run, error);
		g_byte_array_free(bytes, TRUE);
	}
	interposer_remove(library);
	if (ok) {
		note_printed(p, run);
		judge(p, run);
	}
	return ok;
}

bool plan_start(const struct plan *p, char **argv, unsigned first, struct plan_process *process,
                struct error *error)
{
	struct record_options o = { .argv = argv,
		                    .preload = p->interposer,
		                    .stdout_path = p->output,
		                    .stderr_path = p->errors };
	memset(process, 0, sizeof(*process));
	process->buffer = -1;
	process->log = file_open_nameless(g_get_tmp_dir());
	if (process->log < 0)
		return error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot write the log of the replay: %s", g_strerror(errno));
	char *path = file_descriptor_path(process->log);
	g_strlcpy(o.config.log, path, sizeof(o.config.log));
	g_free(path);
	bool ok = !p->start_at || session_start_at(argv[0], p->start_at, &o.config, error);
	if (ok) {
		GByteArray *bytes = g_byte_array_new();
		configure(p, first, &o, bytes);
		o.config.hold = LOG_HOLD_CLOCK;
		ok = record_start(&o, &process->pid, &process->buffer, error);
		g_byte_array_free(bytes, TRUE);
	}
	if (ok) {
		process->header = mmap(NULL, LOG_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED,
		                       process->log, 0);
		if (process->header == MAP_FAILED) {
			process->header = NULL;
			ok = error_set(error, "the log", NULL, "cannot map it: %s",
			               g_strerror(errno));
		}
	}
	if (!ok)
		plan_process_end(process);
	return ok;
}

void plan_process_end(struct plan_process *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (p->header)
		munmap(p->header, LOG_HEADER);
	if (p->buffer > 0)
		close(p->buffer);
	if (p->log > 0)
		close(p->log);
	memset(p, 0, sizeof(*p));
}

void plan_append_stack(const struct trace *t, const struct plan *p, const struct plan_run *run,
                       unsigned side, GString *out)
{
	const GArray *frames = run->facts.stopped[side];
	uint64_t place = 0;
	for (guint i = 0; frames != NULL && i < frames->len; i++) {
		const struct log_stopped *f = &g_array_index(frames, struct log_stopped, i);
		g_string_append_printf(out, "    #%u ", i);
		gsize before = out->len;
		record_describe(&run->facts, f->function, NULL, out);
		g_string_append(out, out->len == before ? "? " : " ");
		if (i == 0)
			g_string_append(out, trace_location_name(t, p->pair[side]));
		else
			record_describe(&run->facts, place, out, NULL);
		g_string_append_c(out, '\n');
		place = f->call;
	}
}
