/*
 * arguments.c - shared by commands: parsed options, messages, progress, the trace that an
 * operand names. With print.c the only file that writes messages.
 */
#include "engine/record/record.h"
#include "engine/trace/weak.h"
#include "tui/batch/command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool quiet;

void messages_quiet(bool on)
{
	quiet = on;
}

/* -- messages ----------------------------------------------------------------------- */

static void say(const char *where, const char *what, const char *remedy)
{
	fflush(stdout);
	fprintf(stderr, "heddle: %s%s%s%s%s\n", where, *where ? ": " : "", what,
	        *remedy ? "; " : "", remedy);
}

void say_error(const struct error *error)
{
	say(error->where, error->what, error->remedy);
}

int fail(const struct error *error)
{
	say_error(error);
	return EXIT_BAD;
}

int usage_status(const struct command *c)
{
	return c && c->ends_as_program ? EXIT_OURS : EXIT_BAD;
}

int usage_error(const struct arguments *a, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_autofree char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	g_autoptr(GString) escaped = g_string_new(NULL);
	append_escaped(escaped, what, strlen(what));
	g_autofree char *remedy =
	        a->command ? g_strdup_printf("see 'heddle %s --help'", a->command->name)
	                   : g_strdup("see 'heddle --help'");
	say(a->command ? a->command->name : "", escaped->str, remedy);
	return usage_status(a->command);
}

int no_program(const struct arguments *a)
{
	if (a->words->len == 0)
		return usage_error(a, "no program given after --");
	return usage_error(a, "the program is given after --, found '%s' before it",
	                   (char *)a->words->pdata[0]);
}

/* -- progress ----------------------------------------------------------------------- */

static gint64 progress_began;
static gint64 progress_shown;

static bool progress_tick_stderr(void *context, double fraction, const char *what)
{
	gint64 now = g_get_monotonic_time();
	if (progress_began == 0)
		progress_began = now;
	if (now - progress_began < G_USEC_PER_SEC || now - progress_shown < G_USEC_PER_SEC / 10)
		return true;
	progress_shown = now;
	fflush(stderr);
	dprintf(STDERR_FILENO, "\r\033[K%s %3.0f%%", what, 100 * CLAMP(fraction, 0, 1));
	return true;
}

const struct progress *progress_on_stderr(void)
{
	static const struct progress on_terminal = { progress_tick_stderr, NULL };
	return !quiet && isatty(STDERR_FILENO) ? &on_terminal : NULL;
}

void progress_done(void)
{
	if (progress_shown)
		dprintf(STDERR_FILENO, "\r\033[K");
	progress_began = progress_shown = 0;
}

/* -- parsed options ----------------------------------------------------------------- */

const char *argument_value(const struct arguments *a, const char *name)
{
	for (guint i = a->option_names->len; i-- > 0;)
		if (strcmp(a->option_names->pdata[i], name) == 0)
			return a->option_values->pdata[i];
	return NULL;
}

bool argument_flag(const struct arguments *a, const char *name)
{
	return argument_value(a, name) != NULL;
}

GPtrArray *argument_values(const struct arguments *a, const char *name)
{
	GPtrArray *values = g_ptr_array_new();
	for (guint i = 0; i < a->option_names->len; i++)
		if (strcmp(a->option_names->pdata[i], name) == 0)
			g_ptr_array_add(values, a->option_values->pdata[i]);
	return values;
}

/* The unit of an option's number, as in "MB"; "" for a plain N. */
static const char *unit_of(const struct command *c, const char *name)
{
	const struct command_option *o = c->options;

	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->name && o->argument && strcmp(o->argument, "N") != 0 ? o->argument : "";
}

uint64_t argument_number(const struct arguments *a, const char *name, uint64_t otherwise)
{
	const char *text = argument_value(a, name);
	if (text == NULL)
		return otherwise;
	char *end;
	errno = 0;
	uint64_t number = strtoull(text, &end, 10);
	if (!g_ascii_isdigit(*text) || *end != '\0' || errno) {
		const char *unit = unit_of(a->command, name);
		exit(usage_error(a, "--%s: expected a number%s%s%s%s, found '%s'", name,
		                 *unit ? " (" : "", unit, *unit ? ")" : "",
		                 errno == ERANGE ? " below 2^64" : "", text));
	}
	return number;
}

void argument_budget(const struct arguments *a, double *pair, double *total)
{
	const char *text = argument_value(a, "budget"), *rest;
	char *end;
	if (text == NULL)
		return;
	*pair = g_ascii_strtod(text, &end);
	bool good = end != text && *end == ',' && *pair >= 0;
	rest = good ? end + 1 : end;
	*total = g_ascii_strtod(rest, &end);
	if (!good || end == rest || *end != '\0' || !(*total >= 0))
		exit(usage_error(
		        a, "--budget: expected two numbers of seconds as in 1,5, found '%s'",
		        text));
}

const char *argument_output(const struct arguments *a, bool may_print, enum file_kind kind)
{
	const char *path = argument_value(a, "output");
	struct error error;
	if (path == NULL)
		return NULL;
	if (strcmp(path, "-") != 0) {
		if (kind != FILE_KINDS && !file_may_become(path, kind, &error))
			exit(fail(&error));
		return path;
	}
	if (!may_print)
		exit(usage_error(a, "--output: expected a file, found '-'"));
	return NULL;
}

int argument_choice(const struct arguments *a, const char *name, const char *const *words,
                    int otherwise)
{
	const char *text = argument_value(a, name);
	if (text == NULL)
		return otherwise;
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	char *list = g_strjoinv(", ", (char **)words);
	int status = usage_error(a, "--%s: expected one of %s, found '%s'", name, list, text);
	g_free(list);
	exit(status);
}

void argument_words(const struct arguments *a, unsigned low, unsigned high)
{
	if (low > 0 && a->words->len == 0)
		exit(usage_error(a, "expected %s, found nothing", a->command->usage));
	if (a->words->len > 0 && high == 0)
		exit(usage_error(a, "takes options alone, found '%s'",
		                 (char *)a->words->pdata[0]));
	if (a->words->len < low || a->words->len > high)
		exit(usage_error(a, "expected %s, found %u word%s", a->command->usage,
		                 a->words->len, plural(a->words->len)));
}

enum output_format argument_format(const struct arguments *a, bool sarif)
{
	static const char *const words[] = { "text", "json", "sarif", "quickfix", NULL };
	static const char *const without[] = { "text", "json", NULL };
	return argument_choice(a, "format", sarif ? words : without, FORMAT_TEXT);
}

/* -- traces ------------------------------------------------------------------------- */

/* Is the operand a program or its source instead of a trace, a mistake of beginners? */
static bool is_no_trace(const struct arguments *a, const char *path, struct error *error)
{
	static const char *const sources[] = { ".c", ".cc", ".cpp", ".cxx", ".C", ".h" };
	char first[4] = "";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) /* a pipe would block */
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool program = fd >= 0 && read(fd, first, sizeof first) == sizeof first &&
	               memcmp(first, "\177ELF", sizeof first) == 0;
	if (fd >= 0)
		close(fd);
	if (program && a->command->takes_program) {
		g_autofree char *remedy =
		        g_strdup_printf("'heddle %s -- %s' runs it", a->command->name, path);
		return !error_set(error, name, remedy, "is a program, not a trace of it");
	}
	if (program)
		return !error_set(error, name, "'heddle record -- PROGRAM' makes the trace",
		                  "is a program, not a trace of it");
	for (size_t i = 0; fd >= 0 && i < G_N_ELEMENTS(sources); i++)
		if (g_str_has_suffix(path, sources[i]))
			return !error_set(error, name,
			                  "compile it with 'heddle cc', run it with 'heddle "
			                  "record': that makes the trace",
			                  "is source code, not a trace");
	return false;
}

static struct trace *read_watched(const struct arguments *a, const char *path,
                                  const struct trace_watch *watch, struct error *e)
{
	struct trace_options options = { .lenient = argument_flag(a, "lenient"),
		                         .watch = watch };
	struct trace *t = NULL;
	if (is_no_trace(a, path, e))
		return NULL;
	/* The log of a killed `heddle record` is imported. */
	t = record_is_log(path) ? record_import(path, path, NULL, progress_on_stderr(), e)
	                        : trace_open(path, &options, progress_on_stderr(), e);
	progress_done();
	g_autofree char *who = g_strdup_printf("'heddle %s'", a->command->name);
	if (t != NULL && !a->command->reads_weak && !trace_weak_allows(t, who, e)) {
		trace_close(t);
		t = NULL;
	}
	for (guint i = 0; t != NULL && !quiet && t->warnings && i < t->warnings->len; i++)
		say(trace_name(t), t->warnings->pdata[i], "");
	return t;
}

struct trace *read_trace(const struct arguments *a, const char *path, struct error *e)
{
	return read_watched(a, path, NULL, e);
}

struct trace *open_trace(const struct arguments *a, const char *path)
{
	return open_trace_watched(a, path, NULL);
}

struct trace *open_trace_watched(const struct arguments *a, const char *path,
                                 const struct trace_watch *watch)
{
	struct error e;
	struct trace *t = read_watched(a, path, watch, &e);
	if (t == NULL)
		say_error(&e);
	return t;
}

static volatile int interrupted;
/* The first signal asks the work to end; a second one ends the process, whatever it does. */
static void interrupt(int number)
{
	if (interrupted) {
		signal(number, SIG_DFL);
		raise(number); /* blocked until this handler returns */
	}
	interrupted = number;
}

const volatile int *catch_interruption(void)
{
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaction(signals[i], &action, NULL);
	record_note_signals(&interrupted);
	return &interrupted;
}
