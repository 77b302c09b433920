/*
 * base.c - errors, escapes, whole files.
 */
#include "engine/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	GString *s = g_string_new(NULL);
	append_escaped(s, from, strlen(from));
	g_strlcpy(to, s->str, size);
	/* The cut may have gone through a character. */
	const char *end;
	if (!g_utf8_validate(to, -1, &end))
		to[end - to] = '\0';
	g_string_free(s, TRUE);
}

bool error_set(struct error *error, const char *where, const char *remedy, const char *format,
               ...)
{
	if (error == NULL)
		return false;
	va_list ap;
	va_start(ap, format);
	char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	copy_escaped(error->where, sizeof error->where, where ? where : "");
	copy_escaped(error->what, sizeof error->what, what);
	copy_escaped(error->remedy, sizeof error->remedy, remedy ? remedy : "");
	g_free(what);
	return false;
}

/* The last component, and of a very long one its end. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	size_t length = strlen(name);
	return length > 200 ? name + length - 200 : name;
}

struct place place_line(const char *path, uint64_t line)
{
	struct place p;
	if (line == 0)
		snprintf(p.text, sizeof p.text, "%s", short_name(path));
	else
		snprintf(p.text, sizeof p.text, "%s:%" G_GUINT64_FORMAT, short_name(path),
		         line);
	return p;
}

struct place place_offset(const char *path, uint64_t offset)
{
	struct place p;
	snprintf(p.text, sizeof p.text, "%s: offset %" G_GUINT64_FORMAT, short_name(path),
	         offset);
	return p;
}

void append_escaped(GString *out, const char *text, size_t length)
{
	const char *end = text + length;
	while (text < end) {
		gunichar c = g_utf8_get_char_validated(text, end - text);
		bool broken = c == (gunichar)-1 || c == (gunichar)-2;
		bool control = !broken && (c < 0x20 || (c >= 0x7f && c < 0xa0));
		const char *next = broken ? text + 1 : g_utf8_next_char(text);
		if (broken || control)
			for (; text < next; text++)
				g_string_append_printf(out, "\\x%02X", (unsigned char)*text);
		else
			g_string_append_len(out, text, next - text);
		text = next;
	}
}

static bool write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

bool file_write_whole(const char *path, const void *bytes, size_t length, struct error *error)
{
	char *temporary = g_strdup_printf("%s.XXXXXX", path);
	int fd = g_mkstemp_full(temporary, O_RDWR | O_CLOEXEC, 0666);
	bool good = fd >= 0 && write_all(fd, bytes, length) && fsync(fd) == 0;
	int why = errno;
	if (fd >= 0 && close(fd) != 0 && good) {
		good = false;
		why = errno;
	}
	if (good && rename(temporary, path) != 0) {
		good = false;
		why = errno;
	}
	if (!good) {
		if (fd >= 0)
			unlink(temporary);
		error_set(error, place_line(path, 0).text,
		          "make room or choose another place; nothing was left behind",
		          "cannot write the file: %s", g_strerror(why));
	}
	g_free(temporary);
	return good;
}
