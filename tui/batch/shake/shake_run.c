/* shake_run.c - see shake_run.h. */
#include "tui/batch/shake/shake_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfo/debuginfo.h"
#include "engine/base/file.h"
#include "engine/explore/explore.h"
#include "engine/explore/hunt/portfolio.h"
#include "engine/record/record.h"

bool shaken_open(struct shaken *s, struct error *error)
{
	s->log = file_open_nameless(g_get_tmp_dir());
	s->output = file_open_nameless(g_get_tmp_dir());
	s->debug = debug_store_new();
	if (s->log < 0 || s->output < 0)
		return error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot keep what a run leaves: %s", g_strerror(errno));
	s->server = record_server_new(s->argv, NULL, NULL, false, error);
	return s->server != NULL;
}

void shaken_close(struct shaken *s)
{
	if (s->log >= 0)
		close(s->log);
	if (s->output >= 0)
		close(s->output);
	debug_store_free(s->debug);
	record_server_free(s->server);
	record_server_free(s->settled);
}

void shaken_run_release(struct shaken_run *run)
{
	trace_close(run->trace);
	if (run->turns)
		g_array_unref(run->turns);
	*run = (struct shaken_run){ 0 };
}

/* The run's output, of *length bytes; owned by the caller. The file is not opened for it: when
 * one that was emptied is closed, ext4 writes it to the disk. */
static char *read_output(const struct shaken *s, gsize *length)
{
	struct stat status = { 0 };
	char *text =
	        fstat(s->output, &status) == 0 ? g_try_malloc((gsize)status.st_size + 1) : NULL;
	ssize_t n = 1;
	*length = 0;
	while (text && n > 0 && *length < (gsize)status.st_size) {
		n = pread(s->output, text + *length, (gsize)status.st_size - *length,
		          (off_t)*length);
		*length += n > 0 ? (gsize)n : 0;
	}
	return text ? text : g_strdup("");
}

/* The outcome of a run, from the header of its log and its output. */
static struct shake_outcome *outcome_of(const struct record_result *result,
                                        const struct log_header *header, struct shaken *s)
{
	struct shake_outcome *out = g_new0(struct shake_outcome, 1);
	gsize length;
	g_autofree char *text = read_output(s, &length);
	out->deadlock = header->outcome == LOG_DEADLOCK;
	out->misuses = header->misuses;
	s->steps = header->steps;
	out->status = result->status;
	out->signal = result->signal;
	out->timed_out = result->timed_out;
	outcome_set_output(out, text, length);
	return out;
}

/* The header of a log; zero for none. */
static struct log_header header_of(const char *log)
{
	struct log_header header = { 0 };
	FILE *file = fopen(log, "rb");
	if (file && fread(&header, sizeof(header), 1, file) != 1)
		memset(&header, 0, sizeof(header));
	if (file)
		fclose(file);
	return header;
}

/* Notes in the outcome how its run was made. */
static void note_how(struct shake_outcome *o, const struct strategy *how, uint64_t number)
{
	GString *again = g_string_new(NULL);
	strategy_append(how, again);
	o->run = number;
	o->seed = how->seed;
	o->strategy = how->kind;
	o->steps = how->steps;
	o->again = g_string_free(again, FALSE);
}

static struct record_options options_of(const struct shaken *s, const struct strategy *how,
                                        const struct shaken_run *look)
{
	enum {
		LOOKED_AT = 16,
		ENOUGH = 4
	}; /* bounds in chunks; for the outcome alone the
	    * header suffices */
	struct record_options o = { .argv = s->argv, .timeout_ms = s->timeout_ms };
	o.config.flags = LOG_CONTROLLED | LOG_VALUES;
	strategy_configure(how, &o.config);
	o.config.memory = s->memory;
	o.config.max_bytes = (look ? LOOKED_AT : ENOUGH) * (uint64_t)LOG_CHUNK;
	return o;
}

/* Passes the trace of the last run to `look`, if it can be made, from the log or from the
 * settled server's memory (`log` NULL). */
static void look_at(struct shaken *s, const char *log, struct shaken_run *run,
                    struct shake_outcome *out)
{
	struct record_facts facts = { .debug = s->debug };
	struct error none;
	run->trace = log ? record_import(log, "a run", &facts, NULL, &none)
	                 : record_server_trace(s->settled, &facts, &none);
	run->turns = g_steal_pointer(&facts.turns);
	out->use = run->trace ? explore_first_use(run->trace) : NULL;
	record_facts_release(&facts);
}

/* Makes a run as `heddle record` does, in a process of its own; as shaken_try. */
static struct shake_outcome *make_run(struct shaken *s, const struct strategy *how,
                                      uint64_t number, struct shaken_run *look,
                                      struct error *error)
{
	struct record_result result = { 0 };
	struct record_options o = options_of(s, how, look);
	char *log = file_descriptor_path(s->log), *output = file_descriptor_path(s->output);
	o.server = s->server;
	g_strlcpy(o.config.log, log, sizeof(o.config.log));
	o.stdout_path = output;
	struct shake_outcome *out = NULL;
	bool ran = record_run(&o, &result, error);
	s->interrupted |= result.interrupted != 0;
	if (ran && !s->interrupted) {
		struct log_header header = header_of(log);
		out = outcome_of(&result, &header, s);
		note_how(out, how, number);
		if (look)
			look_at(s, log, look, out);
	}
	g_free(log);
	g_free(output);
	return out;
}

/* -- cheaper runs -------------------------------------------------------------------------- */

static bool begin_settled(struct shaken *s, struct record_options *o)
{
	struct error none;
	if (s->settled == NULL && !s->never_settles)
		s->settled = record_server_new(s->argv, NULL, NULL, true, &none);
	s->never_settles |= s->settled == NULL || !record_server_settles(s->settled, o) ||
	                    !record_server_begin(s->settled, o);
	return !s->never_settles;
}

struct shake_outcome *shaken_try(struct shaken *s, const struct strategy *how, uint64_t number,
                                 struct shaken_run *look, struct error *error)
{
	struct record_result result = { 0 };
	struct record_options o = options_of(s, how, look);
	enum record_end end = RECORD_REFUSED;
	char *output = file_descriptor_path(s->output);
	struct shake_outcome *out = NULL;
	o.stdout_path = output;
	while (end == RECORD_REFUSED && begin_settled(s, &o)) {
		memset(&result, 0, sizeof(result));
		end = record_server_end(s->settled, s->timeout_ms, &result);
		s->interrupted |= result.interrupted != 0;
		if (s->interrupted)
			break;
	}
	if (end == RECORD_ENDED && !s->interrupted) {
		out = outcome_of(&result, record_server_header(s->settled), s);
		note_how(out, how, number);
		if (look)
			look_at(s, NULL, look, out);
	}
	g_free(output);
	s->never_settles |= end != RECORD_ENDED;
	return out || s->interrupted ? out : make_run(s, how, number, look, error);
}

struct shake_outcome *shaken_confirm(struct shaken *s, const struct strategy *how,
                                     struct shake_outcome *o, const struct shaken_run *look,
                                     struct error *error)
{
	struct shaken_run again = { 0 };
	struct shake_outcome *recorded =
	        s->never_settles ? o : make_run(s, how, o->run, look ? &again : NULL, error);
	bool ends_so = recorded && outcome_same_end(recorded, o);
	const GArray *turns = look ? look->turns : NULL;
	if (recorded && !ends_so && (outcome_fails(o) || o->status != 0) && turns &&
	    turns->len <= LOG_TURNS) {
		struct strategy by_turns = { .kind = STRATEGY_TURNS, .turns = (GArray *)turns };
		shaken_run_release(&again);
		outcome_free(recorded);
		recorded = make_run(s, &by_turns, o->run, &again, error);
		ends_so = recorded && outcome_same_end(recorded, o);
	}
	shaken_run_release(&again);
	if (recorded == o)
		return o;
	if (recorded && !ends_so && (outcome_fails(o) || o->status != 0)) {
		outcome_free(recorded);
		o->elusive = true;
		return o;
	}
	outcome_free(o);
	return recorded;
}

bool outcome_fails(const struct shake_outcome *o)
{
	return (o->signal && !o->timed_out) || o->deadlock || o->misuses || o->use;
}

/* -- fewest switches ----------------------------------------------------------------------- */

struct fewest {
	struct shaken *s;
	const struct shake_outcome *wanted;
	GArray *turns;     /* the best schedule so far, */
	GArray *made;      /* all turns of its run, */
	unsigned switches; /* and their switches */
	unsigned tries, most;
	bool over;
};

static bool is_wanted(const struct fewest *f, const struct shake_outcome *o)
{
	const struct shake_outcome *w = f->wanted;
	return o->status == w->status && o->signal == w->signal && o->deadlock == w->deadlock &&
	       o->misuses == w->misuses && !o->use == !w->use &&
	       (!w->signal || strcmp(o->line, w->line) == 0);
}

/* Makes a run with these turns, taking them over. Does it end as wanted, with at most so many
 * switches? */
static bool try_turns(struct fewest *f, GArray *turns, unsigned switches)
{
	struct strategy how = { .kind = STRATEGY_TURNS, .turns = turns };
	struct shaken_run run = { 0 };
	struct error none;
	f->tries++;
	struct shake_outcome *o = make_run(f->s, &how, 0, &run, &none);
	f->over |= o == NULL;
	bool good = o && run.turns && run.turns->len > 0 && run.turns->len <= LOG_TURNS &&
	            is_wanted(f, o) && run.turns->len - 1 <= switches;
	if (good) {
		if (f->turns)
			g_array_unref(f->turns);
		if (f->made)
			g_array_unref(f->made);
		f->turns = g_array_ref(turns);
		f->made = g_array_ref(run.turns);
		f->switches = run.turns->len - 1;
	}
	outcome_free(o);
	shaken_run_release(&run);
	g_array_unref(turns);
	return good;
}

static bool may_try(const struct fewest *f)
{
	return f->tries < f->most && !f->over;
}

/* Parts of half the length, then of a quarter, ..., are taken out one after the other. */
static void take_out(struct fewest *f)
{
	for (guint part = (f->turns->len + 1) / 2; part > 0; part /= 2)
		for (guint at = 0; at < f->turns->len && may_try(f);)
			if (!try_turns(f, turns_without(f->turns, at, part), f->switches))
				at += part;
}

/* The turns left leave it open who runs after them, which may be a thread that only comes to
 * wait: one of all turns of the run is taken out, where that leaves fewer switches. */
static bool take_one_out(struct fewest *f)
{
	GArray *made = g_array_ref(f->made);
	bool good = false;
	for (guint at = 0; !good && at < made->len && f->switches > 0 && may_try(f); at++)
		good = try_turns(f, turns_without(made, at, 1), f->switches - 1);
	g_array_unref(made);
	return good;
}

void shaken_fewest(struct shaken *s, const struct strategy *how, struct shake_outcome *o,
                   unsigned most)
{
	struct fewest f = { .s = s, .wanted = o, .most = most };
	struct shaken_run run = { 0 };
	struct error none;
	if (most == 0 || s->memory != WEAK_SC)
		return;
	struct shake_outcome *again = make_run(s, how, 0, &run, &none);
	if (again && run.turns && run.turns->len <= LOG_TURNS && is_wanted(&f, again) &&
	    try_turns(&f, g_array_copy(run.turns), UINT_MAX)) {
		do
			for (guint before = 0; before != f.turns->len && may_try(&f);) {
				before = f.turns->len;
				take_out(&f);
			}
		while (take_one_out(&f));
		struct strategy best = { .kind = STRATEGY_TURNS, .turns = f.turns };
		GString *text = g_string_new(NULL);
		strategy_append(&best, text);
		o->fewest = g_string_free(text, FALSE);
		o->switches = f.switches;
		o->tries = f.tries;
		g_array_unref(f.turns);
		g_array_unref(f.made);
	}
	outcome_free(again);
	shaken_run_release(&run);
}
