/*
 * base.c - errors and escapes.
 */
#include "engine/base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void heddle_bug(const char *file, int line, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fprintf(stderr, "heddle: a fault of its own at %s:%d: ", file, line);
	vfprintf(stderr, format, ap);
	fputs("; please report it\n", stderr);
	va_end(ap);
	abort();
}

static void copy_escaped(char *to, size_t size, const char *from)
{
	g_autoptr(GString) s = g_string_new(NULL);
	append_escaped(s, from, strlen(from));
	g_strlcpy(to, s->str, size);
	/* The cut may split a character. */
	const char *end;
	if (!g_utf8_validate(to, -1, &end))
		to[end - to] = '\0';
}

bool error_set(struct error *error, const char *where, const char *remedy, const char *format,
               ...)
{
	if (error == NULL)
		return false;
	va_list ap;
	va_start(ap, format);
	g_autofree char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	copy_escaped(error->where, sizeof error->where, where ? where : "");
	copy_escaped(error->what, sizeof error->what, what);
	copy_escaped(error->remedy, sizeof error->remedy, remedy ? remedy : "");
	error->cancelled = false;
	return false;
}

bool error_cancelled(struct error *error)
{
	error_set(error, "", NULL, "cancelled");
	if (error != NULL)
		error->cancelled = true;
	return false;
}

/* -- memory that runs out ------------------------------------------------------------------- */

static int memory_end_status;
static void (*memory_end_restore)(void);

/* GLib's allocations fail by a fatal message, "...: failed to allocate N bytes", in whichever
 * thread. Nothing is freed or flushed: the state of the others is not known. */
static void memory_end(const char *domain, GLogLevelFlags level, const char *text, void *data)
{
	static const char asked[] = "failed to allocate ";
	const char *bytes = strstr(text, asked);
	char message[256];

	if (bytes == NULL) {
		g_log_default_handler(domain, level, text, data);
		return;
	}
	if (memory_end_restore != NULL)
		memory_end_restore();
	int length = g_snprintf(message, sizeof message,
	                        "heddle: out of memory: %s more are needed; raise the limit "
	                        "(ulimit -v), end other programs, or give it a shorter trace\n",
	                        bytes + sizeof asked - 1);
	(void)!write(STDERR_FILENO, message, MIN((size_t)length, sizeof message - 1));
	_exit(memory_end_status);
}

void memory_end_with(int status)
{
	memory_end_status = status;
	g_log_set_handler("GLib",
	                  (GLogLevelFlags)((unsigned)G_LOG_LEVEL_ERROR |
	                                   (unsigned)G_LOG_FLAG_FATAL |
	                                   (unsigned)G_LOG_FLAG_RECURSION),
	                  memory_end, NULL);
}

void memory_end_first(void (*restore)(void))
{
	memory_end_restore = restore;
}

/* The path as it was given; of a very long one its end, which names the file. */
static const char *end_of_path(const char *path)
{
	size_t length = strlen(path);
	return length > 200 ? path + length - 200 : path;
}

struct place place_line(const char *path, uint64_t line)
{
	struct place p;
	if (line == 0)
		snprintf(p.text, sizeof p.text, "%s", end_of_path(path));
	else
		snprintf(p.text, sizeof p.text, "%s:%" G_GUINT64_FORMAT, end_of_path(path),
		         line);
	return p;
}

struct place place_offset(const char *path, uint64_t offset)
{
	struct place p;
	snprintf(p.text, sizeof p.text, "%s: offset %" G_GUINT64_FORMAT, end_of_path(path),
	         offset);
	return p;
}

/* Invisible characters that Unicode does not class as format characters. */
static bool is_ignorable(gunichar c)
{
	static const gunichar ranges[][2] = {
		{ 0x034f, 0x034f },   { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 },
		{ 0x180b, 0x180f },   { 0x2060, 0x206f }, { 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f },   { 0xffa0, 0xffa0 }, { 0xfff0, 0xfff8 },
		{ 0xe0000, 0xe0fff },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

bool text_hidden(gunichar c)
{
	if (c < 0x80)
		return false;
	GUnicodeType type = g_unichar_type(c);
	return type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
	       type == G_UNICODE_LINE_SEPARATOR || type == G_UNICODE_PARAGRAPH_SEPARATOR ||
	       type == G_UNICODE_SURROGATE || is_ignorable(c);
}

void append_escaped(GString *out, const char *text, size_t length)
{
	const char *end = text + length;
	while (text < end) {
		const char *plain = text;
		while (plain < end && *plain >= 0x20 && *plain < 0x7f)
			plain++;
		if (plain > text) {
			g_string_append_len(out, text, plain - text);
			text = plain;
			continue;
		}
		gunichar c = g_utf8_get_char_validated(text, end - text);
		bool broken = c == (gunichar)-1 || c == (gunichar)-2;
		bool control = !broken && (c < 0x20 || c == 0x7f || text_hidden(c));
		const char *next = broken ? text + 1 : g_utf8_next_char(text);
		if (broken || control)
			for (; text < next; text++)
				g_string_append_printf(out, "\\x%02X", (unsigned char)*text);
		else
			g_string_append_len(out, text, next - text);
		text = next;
	}
}
