/*
 * command.h - the table of subcommands with options and functions, from which help,
 * completion and the manual are made (command.c), and the functions shared by commands
 * (arguments.c).
 */
#ifndef HEDDLE_COMMAND_H
#define HEDDLE_COMMAND_H

#include "engine/base/base.h"
#include "engine/base/file.h"
#include "engine/finding.h"

enum exit_status {
	EXIT_NOTHING = 0,
	EXIT_FOUND = 1,
	EXIT_BAD = 2,
	EXIT_BUDGET = 3,
	EXIT_OURS = 125
};

struct command_option {
	const char *name; /* long, without the dashes */
	/* "FILE", "N", "text|json"; "[text|json]": one of these, or nothing for the first; NULL
	 * for a flag */
	const char *argument;
	const char *help;
	char letter; /* short form, or 0 */
};

/* Parsed; strings borrowed from argv. */
struct arguments {
	const struct command *command;
	GPtrArray *words; /* operands */
	char **rest;      /* the program after "--" (NULL-terminated), or NULL */
	GPtrArray *option_names, *option_values;
};

struct command {
	const char *name;
	const char *usage;                    /* "TRACE [--analysis A]": the text after the
	                                       * name */
	const char *summary;                  /* one line */
	const char *details;                  /* for --help, or NULL */
	const struct command_option *options; /* ends with name NULL; or NULL */
	int (*run)(struct arguments *a);      /* the exit status */
	bool takes_program;                   /* "--" is followed by a program */
	bool ends_as_program; /* the exit status is the program's; 125: heddle's own errors */
	bool converses;       /* asks questions: its output is not laid out by lines */
	bool passes_through;  /* argv is passed unparsed in `rest` (cc, c++) */
	bool reads_weak;      /* accepts traces that are not sequentially consistent */
};

/* From commands.def: COMMAND(suffix) for `const struct command command_SUFFIX` in its
 * cmd_*.c. */
extern const struct command *const commands[];

/* Options; the last one given counts. */
bool argument_flag(const struct arguments *a, const char *name);
const char *argument_value(const struct arguments *a, const char *name); /* or NULL */
GPtrArray *argument_values(const struct arguments *a, const char *name); /* all; caller frees */
/* Unsigned number; prints bad usage and exits with 2 otherwise. */
uint64_t argument_number(const struct arguments *a, const char *name, uint64_t otherwise);
/* --budget PAIR,ALL: seconds for each pair and in all, which stay as they are without the option;
 * bad usage prints and exits with 2. */
void argument_budget(const struct arguments *a, double *pair, double *total);
/* --output: a path, or NULL for standard output. Where standard output is not possible (used by
 * the report or the program, or not text), - is bad usage: prints and exits; so it does where a
 * file of another kind would be lost (FILE_KINDS: a prefix, not looked at). */
const char *argument_output(const struct arguments *a, bool may_print, enum file_kind kind);
/* Index of one of the words (NULL-terminated); bad usage prints the words and exits with 2. */
int argument_choice(const struct arguments *a, const char *name, const char *const *words,
                    int otherwise);
/* The number of operands must be in low..high, else prints usage and exits with 2. */
void argument_words(const struct arguments *a, unsigned low, unsigned high);

/* --format text|json[|sarif|quickfix]; `sarif`: with both of these */
enum output_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SARIF, FORMAT_QUICKFIX };
enum output_format argument_format(const struct arguments *a, bool sarif);
#define OPTION_FORMAT \
	{ \
		"format", "text|json", "how to print (default: text)", 0 \
	}
#define OPTION_FORMAT_SARIF \
	{ \
		"format", "text|json|sarif|quickfix", \
		        "how to print (default: text); quickfix: FILE:LINE:COLUMN: TEXT for editors", \
		        0 \
	}
#define OPTION_BEFORE \
	{ \
		"before", "COMMAND", \
		        "a command of the shell that puts back what a run changes (files), run before each run", \
		        0 \
	}
#define OPTION_LENIENT \
	{ \
		"lenient", NULL, \
		        "warn of a fault of the input that can be passed over safely, and go on", \
		        0 \
	}

#define OPTION_PAIRS \
	{ \
		"pairs", "sites|events", \
		        "one finding for each pair of source lines (default), or for each pair of events", \
		        0 \
	}
#define OPTION_VALUES \
	{ \
		"values", NULL, "a read may see another write than it saw, of the same value", \
		        0 \
	}
#define OPTION_MISSING \
	{ \
		"missing", NULL, \
		        "a call into code that was not recorded keeps its order with all that touches memory which it can reach (barrier pairs)", \
		        0 \
	}

/* --quiet: no warnings and no progress from now on. */
void messages_quiet(bool on);
/* The only place that prints messages: "heddle: WHERE: WHAT; REMEDY". */
void say_error(const struct error *error);
int fail(const struct error *error); /* say_error and EXIT_BAD */
/* Exit status for bad usage; commands that end as their program leave 2 to the program. */
int usage_status(const struct command *c);
int usage_error(const struct arguments *a, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Prints the usage error of a command that needs a program, and got none. */
int no_program(const struct arguments *a);
/* Progress on standard error, if it is a terminal and the work takes over a second. */
const struct progress *progress_on_stderr(void);
void progress_done(void);
/* From now on SIGINT, SIGTERM and SIGHUP only make this number nonzero, so that an
 * interrupted command can report its results so far. */
const volatile int *catch_interruption(void);

/* Open the trace named by an operand, obeying --lenient; prints warnings. NULL: `error` is
 * set. */
struct trace *read_trace(const struct arguments *a, const char *path, struct error *error);
/* The same; on failure prints the error. */
struct trace *open_trace(const struct arguments *a, const char *path);
struct trace *open_trace_watched(const struct arguments *a, const char *path,
                                 const struct trace_watch *watch); /* NULL: the same */

int command_main(int argc, char **argv);

#endif
