/* terminal.c - see terminal.h. */
#include "tui/batch/print/terminal.h"

#include "engine/base/streams.h"
#include "tui/batch/print/layout.h"
#include "tui/explorer/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* -- the standard streams -------------------------------------------------------------------- */

static struct terminal_style styles[2]; /* of standard output and standard error */

static void lay_out_output(GString *out, const char *line, size_t length)
{
	terminal_lay_out(&styles[0], out, line, length);
}
static void lay_out_errors(GString *out, const char *line, size_t length)
{
	terminal_lay_out(&styles[1], out, line, length);
}

unsigned terminal_columns(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
	               ? size.ws_col
	               : 0;
}

void terminal_begin(void)
{
	static stream_layout *const layouts[] = { lay_out_output, lay_out_errors };
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	for (int i = 0; i < 2; i++) {
		struct winsize size;
		int fd = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
		if (!isatty(fd))
			continue;
		if (ioctl(fd, TIOCGWINSZ, &size) == 0)
			styles[i].columns = size.ws_col;
		styles[i].colour =
		        !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
		streams_lay_out(fd, layouts[i]);
	}
}

/* -- lines of source ------------------------------------------------------------------------- */

static struct sources excerpts; /* without `files`: none are printed */

void excerpts_begin(const char *trace)
{
	if (isatty(STDOUT_FILENO) && excerpts.files == NULL)
		sources_init(&excerpts, trace);
}

void excerpts_end(void)
{
	if (excerpts.files)
		sources_release(&excerpts);
	excerpts = (struct sources){ .files = NULL };
}

void excerpt_print(const char *file, uint32_t line, FILE *out)
{
	if (excerpts.files == NULL || out != stdout || *file == 0)
		return;
	const struct source_file *source = sources_get(&excerpts, file);
	const char *text = sources_line(&excerpts, file, line);
	if (text != NULL && *text && !source->newer)
		fprintf(out, "%s%s\n", EXCERPT_MARK, text);
}
