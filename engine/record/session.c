/* session.c - see session.h. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "debuginfo/debuginfo.h"
#include "engine/base/file.h"
#include "engine/record/interpose.h"
#include "engine/record/joined.h"
#include "engine/record/import/live.h"
#include "engine/record/import/missing.h"
#include "engine/record/recorded.h"
#include "engine/record/session.h"
#include "engine/record/surroundings.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"

void session_release(struct recording *s)
{
	record_facts_release(&s->facts);
	trace_close(s->trace);
	g_free(s->output);
	g_free(s->log);
	memset(s, 0, sizeof(*s));
}

/* The program's last component and ".hdl". Owned by the caller. */
static char *session_default_output(const char *program)
{
	char *base = g_path_get_basename(program);
	char *output = g_strconcat(base, ".hdl", NULL);
	g_free(base);
	return output;
}

/* The path of the log: beside the trace, where it is found if this process crashes; without
 * one, that of a nameless file `*file`, which disappears with the processes that have it. */
static bool log_path(const struct session_options *o, const char *output, char *path,
                     size_t room, int *file, struct error *error)
{
	if (o->nothing_kept) {
		*file = file_open_nameless(g_get_tmp_dir());
		if (*file < 0)
			return error_set(error, g_get_tmp_dir(),
			                 "set TMPDIR to a folder with room",
			                 "cannot write the recording: %s", g_strerror(errno));
		g_autofree char *name = file_descriptor_path(*file);
		g_strlcpy(path, name, room);
		return true;
	}
	char *absolute = g_canonicalize_filename(output, NULL);
	int n = g_snprintf(path, room, "%s.log-%d", absolute, (int)getpid());
	g_free(absolute);
	if (n < 0 || (size_t)n >= room)
		return error_set(error, output, "choose a shorter one with -o",
		                 "the path is too long");
	return true;
}

bool session_start_at(const char *program, const char *function, struct log_config *config,
                      struct error *error)
{
	char *path;
	bool instrumented, clang_name;
	if (!record_check_program(program, &path, &instrumented, &clang_name, error))
		return false;
	struct debuginfo *d = debuginfo_open(path, NULL, error);
	bool ok = d != NULL;
	if (ok) {
		uint32_t id = debuginfo_function_named(d, function);
		const struct debug_function *f = id == NONE ? NULL : debuginfo_function(d, id);
		if (f && f->high > f->low) {
			config->start_low = f->low;
			config->start_high = f->high;
		} else {
			ok = error_set(error, path,
			               "name one that is not inlined, and build with -g",
			               "--start-at: there is no function '%s' in it", function);
		}
	}
	debuginfo_close(d);
	g_free(path);
	return ok;
}

/* Keeps the log, as the run may not be reproducible. The message gives its path, and whether
 * it is complete. */
static void keep_log(const char *log, const struct record_facts *facts, struct error *error)
{
	bool cut = facts->status == LOG_FULL || facts->status == LOG_LIMIT;
	const char *all =
	        cut ? "what was recorded until there was no more room" : "the whole recording";
	char *shown = g_path_get_basename(log);
	char *remedy = g_strdup_printf("%s is kept in %s beside it, and opens as a trace; "
	                               "'heddle convert %s TRACE.hdl' tries again",
	                               all, shown, shown);
	struct error was = *error;
	error_set(error, was.where, remedy, "%s", was.what);
	g_free(remedy);
	g_free(shown);
}

/* A recording whose trace is made while it runs. */
struct followed {
	struct recording *s;
	const char *log;
	const struct session_options *options;
	struct live *live; /* NULL: the trace is made afterwards */
};

/* Can the log be followed? Chunks must be whole and stay in place, and unless analyses wait for
 * them another processor must be free to read them, which the processes of a suite need. */
static bool can_follow(const struct session_options *o)
{
	return o->watch.begin ||
	       (o->disk_alone && o->joined == NULL && !o->free_mode && !o->compress &&
	        !o->keep_events && g_get_num_processors() > 1);
}

static void follow(void *context, int buffer)
{
	struct followed *f = context;
	const struct session_options *o = f->options;
	struct error error; /* appears again when the trace is made */
	if (o->nothing_kept)
		f->s->facts.writer = trace_writer_nowhere();
	else if (o->disk_alone)
		f->s->facts.writer = trace_writer_open(f->s->output, &error);
	if (f->s->facts.writer || !o->disk_alone)
		f->live = live_start(f->log, buffer, f->s->output, &f->s->facts,
		                     o->watch.begin ? &o->watch : NULL);
}

/* Writes the log's trace to its file; opens it, too, unless only the file is wanted. */
static bool make_trace(const struct session_options *options, struct followed *f,
                       const struct progress *progress, struct error *error)
{
	struct recording *s = f->s;
	struct record_facts *facts = &s->facts;
	if (options->nothing_kept && f->live == NULL)
		return error_set(error, options->argv[0], "record a trace, without --no-trace",
		                 "the recording cannot be read while the program runs");
	if (options->disk_alone && facts->writer == NULL &&
	    (facts->writer = trace_writer_open(s->output, error)) == NULL) {
		struct error other; /* for the facts, up to the log's end */
		s->trace = record_import(f->log, s->output, facts, progress, &other);
		return false;
	}
	s->trace = f->live ? live_finish(f->live, progress, error)
	                   : record_import(f->log, s->output, facts, progress, error);
	struct trace_writer *writer = g_steal_pointer(&facts->writer);
	if (s->result.log_error && facts->status != LOG_LIMIT) {
		facts->status = LOG_FULL;
		facts->error = s->result.log_error;
	}
	if (s->trace == NULL) {
		trace_writer_abandon(writer);
		return false;
	}
	if (options->nothing_kept) {
		trace_writer_abandon(writer);
		return true;
	}
	record_note_ending(s->trace, facts, &s->result);
	if (writer)
		return trace_writer_end(writer, s->trace, error);
	return trace_write(s->trace, s->output, TRACE_BINARY, NULL, NULL, error);
}

/* The run came to nothing. */
static void unfollow(struct followed *f)
{
	struct error error;
	if (f->live)
		trace_close(live_finish(f->live, NULL, &error));
	trace_writer_abandon(g_steal_pointer(&f->s->facts.writer));
}

const char *const session_filters[] = { "hb", "wcp", "commute", "variables", NULL };
static const uint32_t filter_flags[] = {
	[FILTER_HB] = LOG_FILTER_HB,
	[FILTER_WCP] = LOG_FILTER_WCP,
	[FILTER_COMMUTE] = LOG_FILTER_COMMUTE,
	[FILTER_VARIABLES] = LOG_FILTER_VARIABLES,
};

/* Plain accesses are compared in the program: nothing else asks for them. */
bool session_has_shadow(const struct session_options *o)
{
	return o->nothing_kept && o->filter == FILTER_VARIABLES && !o->free_mode;
}

/* The options that determine its schedule and recording, as words of `heddle record`. */
static char *options_words(const struct session_options *o)
{
	GString *out = g_string_new(NULL);
	g_string_printf(out, "--mode %s ", o->free_mode ? "free" : "controlled");
	strategy_append(&o->strategy, out);
	if (o->memory != WEAK_SC)
		g_string_append_printf(out, " --memory %s", weak_model_words[o->memory]);
	if (o->filter)
		g_string_append_printf(out, " --filter %s", session_filters[o->filter - 1]);
	if (o->sample)
		g_string_append_printf(out, " --sample %" PRIu32, o->sample);
	g_string_append_printf(out, "%s%s%s", o->no_values ? " --no-values" : "",
	                       o->no_missing ? " --no-missing" : "",
	                       o->no_inputs ? " --no-inputs" : "");
	return g_string_free(out, FALSE);
}

/* The tables of a trace that is made grow to megabytes. By default malloc puts them into its
 * heap after the first of them has been freed, where each growth copies them and leaves a hole:
 * so they have mappings of their own. */
static void map_tables(void)
{
	enum { TABLE = 1 << 20 };
	mallopt(M_MMAP_THRESHOLD, TABLE);
}

/* `nameless`: the log's file, where it has no name; the caller closes it. */
static bool record_session(const struct session_options *options, struct recording *s,
                           const struct progress *progress, int *nameless, struct error *error)
{
	map_tables();
	struct record_options o = { .argv = options->argv,
		                    .stdout_path = options->stdout_path,
		                    .stderr_path = options->stderr_path,
		                    .timeout_ms = options->timeout_ms,
		                    .joined = options->joined };
	char *library;
	memset(s, 0, sizeof(*s));
	s->output = options->output ? g_strdup(options->output)
	                            : session_default_output(options->argv[0]);
	o.config.flags =
	        (options->free_mode ? 0 : LOG_CONTROLLED) |
	        (options->no_values ? 0 : LOG_VALUES) | filter_flags[options->filter] |
	        (session_has_shadow(options) ? LOG_SHADOW : 0) |
	        (options->no_edc ? 0 : LOG_SECTIONS) | (options->sample ? LOG_SAMPLE : 0) |
	        (options->no_inputs ? 0 : LOG_KEEP_INPUTS) |
	        (options->no_missing || options->filter == FILTER_COMMUTE || options->sample
	                 ? 0
	                 : LOG_MISSING) |
	        (options->compress && !options->keep_events ? LOG_COMPRESSED : 0);
	if (options->joined && options->nothing_kept)
		o.config.flags |= LOG_AWAITS;
	strategy_configure(&options->strategy, &o.config);
	o.config.memory = options->memory;
	o.config.sample = options->sample;
	o.config.max_bytes = options->max_bytes;
	/* An event takes about 10 bytes, at most 20. */
	o.config.keep_bytes = options->keep_events ? options->keep_events * 20 + LOG_CHUNK : 0;
	if (options->start_at &&
	    !session_start_at(options->argv[0], options->start_at, &o.config, error))
		return false;
	if ((!options->nothing_kept && !file_may_become(s->output, FILE_TRACE, error)) ||
	    !log_path(options, s->output, o.config.log, sizeof(o.config.log), nameless, error))
		return false;
	if (!missing_lines(options->specs, o.config.missing, sizeof(o.config.missing), error) ||
	    !interposer_of(options->specs, o.argv[0], &library, error))
		return false;
	o.preload = library;
	char *surroundings = surroundings_of(o.joined ? o.joined->pid : 0);
	recorded_remember(o.argv);
	char *how = options_words(options);
	s->facts.surroundings = surroundings;
	s->facts.how = how;
	s->facts.forked = options->joined && options->joined->forked;
	s->facts.argv = options->argv;
	s->facts.specs = options->specs;
	s->facts.start_at = options->start_at;
	s->facts.suppressions = options->suppressions;
	struct followed followed = { .s = s, .log = o.config.log, .options = options };
	o.context = &followed;
	if (can_follow(options))
		o.running = follow;
	bool ran = record_run(&o, &s->result, error);
	interposer_remove(library);
	if (!ran) {
		unfollow(&followed);
		s->facts.surroundings = s->facts.how = NULL;
		g_free(surroundings);
		g_free(how);
		return false;
	}
	bool wanted = !s->result.unwanted;
	if (!wanted)
		unfollow(&followed);
	bool ok = wanted ? make_trace(options, &followed, progress, error)
	                 : error_cancelled(error);
	s->facts.surroundings = s->facts.how = NULL;
	g_free(surroundings);
	g_free(how);
	if ((ok || !wanted) && !options->nothing_kept) {
		unlink(o.config.log); /* the trace is complete, or nobody wants it */
	} else if (!ok && !options->nothing_kept) {
		s->log = g_strdup(o.config.log);
		keep_log(s->log, &s->facts, error);
	}
	return ok;
}

bool session_record(const struct session_options *options, struct recording *s,
                    const struct progress *progress, struct error *error)
{
	int nameless = -1;
	bool ok = record_session(options, s, progress, &nameless, error);
	if (nameless >= 0)
		close(nameless);
	return ok;
}
