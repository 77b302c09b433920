/* streams.c - see streams.h. */
#include "engine/base/streams.h"
#include "engine/base/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4 }; /* bytes of a character */

struct guarded_stream {
	int fd;
	char part[LONGEST]; /* an incomplete character */
	size_t held;
	GString *out;           /* reused by each write */
	stream_layout *lay_out; /* of whole lines, or NULL */
	GString *line;          /* with a layout: the line that has no end yet */
	GString *laid;          /* and the lines laid out, reused by each write */
};

static struct guarded_stream standard[] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };
static FILE *terminal;   /* the original stdout; NULL: unchanged */
static int data_failure; /* errno of a streams_put_data that failed, or 0 */

/* Number of bytes from `at` on that need no escape. */
static size_t plain_bytes(const char *at, const char *end)
{
	const char *from = at;
	while (at < end && ((*at >= 0x20 && *at < 0x7f) || *at == '\n' || *at == '\t'))
		at++;
	return (size_t)(at - from);
}

static void append_unicode(GString *out, gunichar c)
{
	if (c >= 0x10000)
		g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
		                       0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		g_string_append_printf(out, "\\u%04x", c);
}

/* Append one character or invalid byte; returns its bytes, 0: incomplete. */
static size_t append_one(GString *out, const char *at, const char *end, bool last)
{
	gunichar c = g_utf8_get_char_validated(at, end - at);
	if (c == (gunichar)-2 && !last)
		return 0;
	if (c == (gunichar)-1 || c == (gunichar)-2 || c < 0x20) {
		bool line_end = *at == '\r' && at + 1 < end && at[1] == '\n';
		if (*at == '\r' && at + 1 == end && !last)
			return 0;
		if (line_end)
			g_string_append_c(out, '\r');
		else
			g_string_append_printf(out, "\\x%02X", (unsigned char)*at);
		return 1;
	}
	size_t bytes = (size_t)(g_utf8_next_char(at) - at);
	if (c == 0x7f || text_hidden(c))
		append_unicode(out, c);
	else
		g_string_append_len(out, at, (gssize)bytes);
	return bytes;
}

/* Returns the bytes handled; the rest is an incomplete character. */
static size_t append_guarded(GString *out, const char *bytes, size_t length, bool last)
{
	const char *at = bytes, *end = bytes + length;
	while (at < end) {
		size_t plain = plain_bytes(at, end);
		g_string_append_len(out, at, (gssize)plain);
		at += plain;
		size_t one = at < end ? append_one(out, at, end, last) : 0;
		if (one == 0)
			break;
		at += one;
	}
	return (size_t)(at - bytes);
}

static void lay_out_line(struct guarded_stream *g)
{
	g->lay_out(g->laid, g->line->str, g->line->len);
	g_string_truncate(g->line, 0);
}

/* Writes g->out, with a layout its whole lines; the last line waits for its end. */
static bool write_out(struct guarded_stream *g)
{
	const char *at = g->out->str, *end = at + g->out->len, *newline;
	if (g->lay_out == NULL)
		return file_write_all(g->fd, at, g->out->len, -1);
	g_string_truncate(g->laid, 0);
	for (; (newline = memchr(at, '\n', (size_t)(end - at))) != NULL; at = newline + 1) {
		g_string_append_len(g->line, at, newline - at);
		lay_out_line(g);
		g_string_append_c(g->laid, '\n');
	}
	g_string_append_len(g->line, at, end - at);
	return file_write_all(g->fd, g->laid->str, g->laid->len, -1);
}

static ssize_t write_guarded(void *cookie, const char *bytes, size_t length)
{
	struct guarded_stream *g = cookie;
	g_autoptr(GString) joined = NULL;
	const char *from = bytes;
	size_t all = length;
	if (g->held) {
		joined = g_string_new_len(g->part, (gssize)g->held);
		g_string_append_len(joined, bytes, (gssize)length);
		from = joined->str;
		all = joined->len;
	}
	g_string_truncate(g->out, 0);
	size_t done = append_guarded(g->out, from, all, false);
	g->held = all - done;
	memcpy(g->part, from + done, g->held);
	return write_out(g) ? (ssize_t)length : 0;
}

static FILE *open_guarded(struct guarded_stream *g)
{
	cookie_io_functions_t functions = { .write = write_guarded };
	g->out = g_string_new(NULL);
	return fopencookie(g, "w", functions);
}

void streams_guard(void)
{
	FILE *out = open_guarded(&standard[0]), *err = open_guarded(&standard[1]);
	BUG_ON(terminal != NULL || out == NULL || err == NULL);
	fflush(NULL);
	setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, 1 << 16);
	setvbuf(err, NULL, _IONBF, 0);
	terminal = stdout;
	stdout = out;
	stderr = err;
}

void streams_lay_out(int fd, stream_layout *lay_out)
{
	struct guarded_stream *g = &standard[fd == STDERR_FILENO];
	BUG_ON(g->out == NULL || g->lay_out != NULL);
	fflush(fd == STDERR_FILENO ? stderr : stdout);
	g->lay_out = lay_out;
	g->line = g_string_new(NULL);
	g->laid = g_string_new(NULL);
}

static bool guarded_finish(struct guarded_stream *g)
{
	if (g->out == NULL || (g->held == 0 && (g->line == NULL || g->line->len == 0)))
		return true;
	g_string_truncate(g->out, 0);
	append_guarded(g->out, g->part, g->held, true);
	g->held = 0;
	bool good = write_out(g);
	if (!good || g->lay_out == NULL || g->line->len == 0)
		return good;
	g_string_truncate(g->laid, 0);
	lay_out_line(g); /* the last line has no end */
	return file_write_all(g->fd, g->laid->str, g->laid->len, -1);
}

bool streams_finish(void)
{
	fflush(stderr);
	guarded_finish(&standard[1]);
	if (data_failure) {
		errno = data_failure;
		return false;
	}
	return fflush(stdout) == 0 && !ferror(stdout) && guarded_finish(&standard[0]);
}

char *streams_guarded(const char *text)
{
	GString *out = g_string_new(NULL);
	append_guarded(out, text, strlen(text), true);
	return g_string_free(out, FALSE);
}

FILE *streams_terminal(void)
{
	return terminal ? terminal : stdout;
}

void streams_put_data(const char *bytes, size_t length)
{
	if (isatty(STDOUT_FILENO)) {
		fwrite(bytes, 1, length, stdout);
		return;
	}
	fflush(stdout);
	errno = 0;
	if ((fwrite(bytes, 1, length, streams_terminal()) != length ||
	     fflush(streams_terminal()) != 0) &&
	    data_failure == 0)
		data_failure = errno ? errno : EIO;
}
