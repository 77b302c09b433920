/*
 * command.c - finds the subcommand, parses its options, prints help. The functions that
 * commands call are in arguments.c.
 */
#include "engine/base/streams.h"
#include "engine/record/before.h"
#include "engine/record/record.h"
#include "tui/explorer/settings.h"
#include "tui/batch/command.h"
#include "tui/batch/print/layout.h"
#include "tui/batch/print/terminal.h"
#include "engine/trace/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUP(title)
#define COMMAND(suffix) extern const struct command command_##suffix;
#include "tui/batch/commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(suffix) &command_##suffix,
#include "tui/batch/commands.def"
#undef COMMAND
#undef GROUP
	NULL,
};

/* The overview: titles of groups, and commands. */
static const struct {
	const char *title; /* NULL: a command */
	const struct command *command;
} overview[] = {
#define GROUP(title)    { title, NULL },
#define COMMAND(suffix) { NULL, &command_##suffix },
#include "tui/batch/commands.def"
#undef COMMAND
#undef GROUP
};

/* options of every command */
static const struct command_option common_options[] = {
	{ "help", NULL, "show this help", 'h' },
	{ "quiet", NULL, "no warnings and no progress", 'q' },
	{ "version", NULL, "print the version", 0 },
	{ 0 },
};

/* -- parsing ------------------------------------------------------------------------ */

/* How well an option matches the typed word. */
typedef unsigned option_fit(const struct command_option *o, const char *name, size_t length);

/* The best matching option; `*ties`: number of equally good ones. */
static const struct command_option *best_option(const struct command *c, option_fit *fit,
                                                const char *name, size_t length, unsigned *ties)
{
	const struct command_option *tables[] = { c->options, common_options }, *best = NULL;
	unsigned most = 0;
	*ties = 0;
	for (int i = 0; i < 2; i++)
		for (const struct command_option *o = tables[i]; o && o->name; o++) {
			unsigned fits = fit(o, name, length);
			if (fits > most) {
				most = fits;
				best = o;
				*ties = 0;
			}
			*ties += fits != 0 && fits == most;
		}
	return best;
}

static unsigned fit_letter(const struct command_option *o, const char *name, size_t length)
{
	return o->letter != 0 && o->letter == *name;
}

/* Matches as GNU getopt: the name, or an unambiguous prefix. */
static unsigned fit_name(const struct command_option *o, const char *name, size_t length)
{
	if (length == 0 || strncmp(o->name, name, length) != 0)
		return 0;
	return o->name[length] == '\0' ? 2 : 1;
}

/* Similarity for suggestions: 100 less the edit distance (insertions and deletions), when
 * that is small. */
static unsigned likeness(const char *known, const char *name, size_t length)
{
	unsigned row[64] = { 0 };
	size_t width = strlen(known);
	if (width >= G_N_ELEMENTS(row))
		return 0;
	for (size_t i = 0; i < length; i++) { /* the longest common subsequence */
		unsigned diagonal = 0;
		for (size_t j = 0; j < width; j++) {
			unsigned above = row[j + 1];
			row[j + 1] = name[i] == known[j] ? diagonal + 1 : MAX(above, row[j]);
			diagonal = above;
		}
	}
	size_t apart = width + length - 2 * row[width];
	return apart <= 3 && row[width] > apart ? 100 - (unsigned)apart : 0;
}

static unsigned fit_alike(const struct command_option *o, const char *name, size_t length)
{
	return likeness(o->name, name, length);
}

static const struct command_option *find_option(const struct arguments *a, const char *word,
                                                size_t length)
{
	bool is_long = word[1] == '-';
	const char *name = word + 1 + is_long;
	unsigned ties;
	const struct command_option *o =
	        best_option(a->command, is_long ? fit_name : fit_letter, name, length, &ties);
	if (o != NULL && ties == 1)
		return o;
	if (o != NULL) {
		usage_error(a, "'%s' is the beginning of several options", word);
		return NULL;
	}
	o = is_long ? best_option(a->command, fit_alike, name, length, &ties) : NULL;
	if (o != NULL)
		usage_error(a, "unknown option '%s', did you mean '--%s'?", word, o->name);
	else
		usage_error(a, "unknown option '%s'", word);
	return NULL;
}

static void add_option(struct arguments *a, const struct command_option *o, char *value)
{
	g_ptr_array_add(a->option_names, (char *)o->name);
	g_ptr_array_add(a->option_values, value);
}

/* Of an argument that may be left out, the words that it can be; freed with g_strfreev. */
static char **option_words(const struct command_option *o)
{
	char *inside = g_strndup(o->argument + 1, strlen(o->argument) - 2);
	char **words = g_strsplit(inside, "|", -1);
	g_free(inside);
	return words;
}

/* Parse the option at argv[i]; returns the index of the last word used, or -1. */
static int parse_option(struct arguments *a, int argc, char **argv, int i)
{
	char *word = argv[i];
	bool is_long = word[1] == '-';
	char *equals = is_long ? strchr(word, '=') : NULL;
	size_t length = is_long ? (equals ? (size_t)(equals - word) : strlen(word)) - 2 : 0;
	const struct command_option *o = find_option(a, word, length);
	if (o == NULL)
		return -1;
	char *value = equals ? equals + 1 : (!is_long && word[2] ? word + 2 : NULL);
	if (o->argument == NULL) {
		if (value) {
			usage_error(a, "--%s takes no argument", o->name);
			return -1;
		}
		add_option(a, o, "");
		return i;
	}
	if (value == NULL && o->argument[0] == '[') {
		char **words = option_words(o);
		bool given = i + 1 < argc && g_strv_contains((const char **)words, argv[i + 1]);
		add_option(a, o, given ? argv[i + 1] : (char *)g_intern_string(words[0]));
		g_strfreev(words);
		return i + given;
	}
	if (value == NULL && ++i == argc) {
		usage_error(a, "--%s needs %s", o->name, o->argument);
		return -1;
	}
	value = value ? value : argv[i];
	if (*value == '\0') {
		usage_error(a, "--%s needs %s, found ''", o->name, o->argument);
		return -1;
	}
	add_option(a, o, value);
	return i;
}

static bool parse(struct arguments *a, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0 && a->command->takes_program) {
			a->rest = argv + i + 1;
			break;
		}
		if (strcmp(argv[i], "--") == 0) {
			while (++i < argc)
				g_ptr_array_add(a->words, argv[i]);
			break;
		}
		if (argv[i][0] == '-' && argv[i][1] != '\0') {
			i = parse_option(a, argc, argv, i);
			if (i < 0)
				return false;
		} else {
			g_ptr_array_add(a->words, argv[i]);
		}
	}
	return true;
}

/* -- help --------------------------------------------------------------------------- */

enum { OVERVIEW_COLUMN = 13, HELP_COLUMN = 37, HELP_WIDTH = 88, HELP_NARROWEST = 60 };

/* Prints text behind what stands on the line already; on a terminal it is broken between words
 * at its width, to go on after `indent` blanks. */
static void print_broken(const char *text, size_t used, size_t indent)
{
	unsigned columns = terminal_columns();
	g_autoptr(GString) out = g_string_new(NULL);

	if (columns < HELP_NARROWEST)
		g_string_append(out, text);
	else
		text_break(out, text, text + strlen(text), columns - 1, (unsigned)used, indent);
	puts(out->str);
}

/* Paragraphs, whose lines are joined and broken anew where the terminal is narrower than they
 * are; lines that begin with a blank stay as they are. */
static void print_details(const char *details)
{
	unsigned columns = terminal_columns();
	g_auto(GStrv) lines = g_strsplit(details, "\n", -1);
	g_autoptr(GString) paragraph = g_string_new(NULL);

	for (char **line = lines; *line; line++) {
		bool joins = columns > 0 && columns <= HELP_WIDTH && **line && **line != ' ' &&
		             line[1] && *line[1] && *line[1] != ' ';

		g_string_append(paragraph, *line);
		if (joins) {
			g_string_append_c(paragraph, ' ');
			continue;
		}
		print_broken(paragraph->str, 0, 0);
		g_string_set_size(paragraph, 0);
	}
}

static void print_options(const struct command_option *options)
{
	for (const struct command_option *o = options; o && o->name; o++) {
		g_autofree char *left = g_strdup_printf(
		        "%c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
		        o->letter ? "," : " ", o->name, o->argument ? " " : "",
		        o->argument ? o->argument : "");
		printf("  %-34s %s", left,
		       strlen(left) > 34 ? "\n                                     " : "");
		print_broken(o->help, HELP_COLUMN, HELP_COLUMN);
	}
}

static int print_help(const struct command *c)
{
	g_autofree char *usage = g_strdup_printf("usage: heddle %s%s%s", c->name,
	                                         *c->usage ? " " : "", c->usage);

	print_broken(usage, 0, strlen("usage: heddle ") + strlen(c->name) + 1);
	printf("\n%s%s\n", c->summary, g_str_has_suffix(c->summary, "?") ? "" : ".");
	if (c->details) {
		puts("");
		print_details(c->details);
	}
	if (c->passes_through)
		return 0;
	puts("\noptions:");
	print_options(c->options);
	print_options(common_options);
	return 0;
}

static int print_version(void)
{
	puts("heddle " HEDDLE_VERSION);
	return 0;
}

static int print_overview(void)
{
	puts("heddle: an explorer of races and schedules of multithreaded programs\n\n"
	     "usage: heddle TRACE                  explore a trace\n"
	     "       heddle COMMAND [ARGUMENTS]");
	for (size_t i = 0; i < G_N_ELEMENTS(overview); i++) {
		if (overview[i].title) {
			printf("\n%s:\n", overview[i].title);
			continue;
		}
		printf("  %-10s ", overview[i].command->name);
		print_broken(overview[i].command->summary, OVERVIEW_COLUMN, OVERVIEW_COLUMN);
	}
	puts("\n'heddle COMMAND --help' says more.  A TRACE of - is standard input.\n"
	     "Exit status: 0 nothing found, 1 something found, 2 bad usage or input, 3 a "
	     "budget\n"
	     "ran out before every candidate had a verdict.");
	return 0;
}

/* The table for shell completion and the manual. */
static int print_table(void)
{
	for (const struct command *const *c = commands; *c; c++) {
		printf("command\t%s\t%s\t%s\n", (*c)->name, (*c)->usage, (*c)->summary);
		const struct command_option *tables[] = { (*c)->options, common_options };
		for (int i = 0; i < 2 && !(*c)->passes_through; i++)
			for (const struct command_option *o = tables[i]; o && o->name; o++)
				printf("option\t%s\t--%s\t%s\t%s\n", (*c)->name, o->name,
				       o->argument ? o->argument : "", o->help);
	}
	return 0;
}

/* -- main --------------------------------------------------------------------------- */

static const struct command *find_command(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

/* Is the output a report for people, in place of data or another program's words? */
static bool reports_text(const struct arguments *a)
{
	const struct command_option *o = a->command->options;
	const char *format = argument_value(a, "format");

	while (o != NULL && o->name && strcmp(o->name, "format") != 0)
		o++;
	return o != NULL && o->name && !a->command->converses &&
	       (format == NULL || strcmp(format, "text") == 0);
}

/* A compiler's command. Its --help is Heddle's first, written before the compiler writes its
 * own to the same descriptor. */
static int pass_through(struct arguments *a, int argc)
{
	if (argc == 1 && strcmp(a->rest[0], "--help") == 0) {
		print_help(a->command);
		puts("\nThe compiler's own options:");
		if (!streams_finish())
			return EXIT_BAD;
	}
	return a->command->run(a);
}

static int run(const struct command *c, int argc, char **argv)
{
	struct arguments a = { .command = c,
		               .words = g_ptr_array_new(),
		               .option_names = g_ptr_array_new(),
		               .option_values = g_ptr_array_new() };
	int status;
	memory_end_with(usage_status(c));
	if (c->passes_through) {
		a.rest = argv;
		status = pass_through(&a, argc);
	} else if (!parse(&a, argc, argv)) {
		status = usage_status(c);
	} else if (argument_flag(&a, "help")) {
		status = print_help(c);
	} else if (argument_flag(&a, "version")) {
		status = print_version();
	} else {
		messages_quiet(argument_flag(&a, "quiet"));
		if (reports_text(&a))
			terminal_begin();
		record_before(argument_value(&a, "before"));
		status = c->run(&a);
		progress_done();
	}
	g_ptr_array_free(a.words, TRUE);
	g_ptr_array_free(a.option_names, TRUE);
	g_ptr_array_free(a.option_values, TRUE);
	return status;
}

/* Flushes the output; a failure to write is an error. */
static int flush_output(int status)
{
	if (streams_finish())
		return status;
	if (errno == EPIPE)
		return status;
	struct error e;
	error_set(&e, "standard output", "make room or write elsewhere", "cannot write: %s",
	          g_strerror(errno));
	return fail(&e);
}

/* Open closed standard streams in the wrong mode, so that no file takes their descriptor and
 * their use still fails. */
static void occupy_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/* The most similar command, or NULL. */
static const char *command_like(const char *word)
{
	const char *best = NULL;
	unsigned most = 0;
	for (size_t i = 0; commands[i]; i++) {
		unsigned fit = likeness(commands[i]->name, word, strlen(word));
		if (fit > most) {
			most = fit;
			best = commands[i]->name;
		}
	}
	return best;
}

static void nothing(int number)
{
}

/* Handler that makes a failed write an error, not a fatal signal. A handler, as started
 * programs do not inherit it. */
static void survive(int number)
{
	struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_RESTART }, old;
	if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

int command_main(int argc, char **argv)
{
	occupy_standard_streams();
	streams_guard();
	setlocale(LC_ALL, "");
	survive(SIGPIPE);
	survive(SIGXFSZ);
	settings_load_my_code();
	struct arguments none = { 0 };
	if (argc < 2) {
		print_overview();
		return EXIT_BAD;
	}
	const char *first = argv[1];
	if (!strcmp(first, "--help") || !strcmp(first, "-h") || !strcmp(first, "help")) {
		const struct command *c = argc > 2 ? find_command(argv[2]) : NULL;
		return flush_output(c ? print_help(c) : print_overview());
	}
	if (!strcmp(first, "--version"))
		return flush_output(print_version());
	if (!strcmp(first, "--table"))
		return flush_output(print_table());
	const struct command *c = find_command(first);
	if (c)
		return flush_output(run(c, argc - 2, argv + 2));
	/* `heddle TRACE` opens the trace. */
	const struct command *open = find_command("open");
	if (open && (first[0] == '-' || access(first, F_OK) == 0 || strpbrk(first, "./")))
		return flush_output(run(open, argc - 1, argv + 1));
	const char *alike = command_like(first);
	if (alike)
		return usage_error(&none,
		                   "'%s' is neither a command nor a file, did you mean '%s'?",
		                   first, alike);
	return usage_error(&none, "'%s' is neither a command nor a file", first);
}
