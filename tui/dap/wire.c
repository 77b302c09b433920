/* wire.c - see wire.h. */
#include "tui/dap/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void wire_open(struct wire *w, int in, int out)
{
	*w = (struct wire){
		.in = in, .out = out, .bytes = g_string_new(NULL), .received = g_queue_new()
	};
}

void wire_close(struct wire *w)
{
	g_string_free(w->bytes, TRUE);
	for (json_t *m; (m = g_queue_pop_head(w->received)) != NULL;)
		json_decref(m);
	g_queue_free(w->received);
}

static bool refuse(struct wire *w, const char *what)
{
	w->bad = w->gone = true;
	return error_set(&w->error, "--dap", "connect an editor's debug adapter client", "%s",
	                 what);
}

/* The length in the header, which ends at `end`; -1: none. */
static gint64 content_length(const char *header, const char *end)
{
	static const char name[] = "Content-Length:";
	for (const char *line = header; line < end;) {
		const char *line_end = strstr(line, "\r\n");
		if (g_ascii_strncasecmp(line, name, strlen(name)) == 0) {
			const char *digits = line + strlen(name);
			digits += strspn(digits, " \t");
			char *stop;
			guint64 length = g_ascii_strtoull(digits, &stop, 10);
			stop += strspn(stop, " \t");
			return g_ascii_isdigit(*digits) && stop == line_end
			               ? (gint64)MIN(length, (guint64)G_MAXINT64)
			               : -1;
		}
		line = line_end + 2;
	}
	return -1;
}

/* Takes a message out of the bytes; false: none is complete, or the bytes are malformed. */
static bool take_message(struct wire *w)
{
	enum { HEADER_MOST = 1 << 12 };
	char *blank = memmem(w->bytes->str, w->bytes->len, "\r\n\r\n", 4);
	size_t header = blank ? (size_t)(blank - w->bytes->str) + 4 : w->bytes->len;
	if (header > HEADER_MOST)
		return refuse(w, "a header of the Debug Adapter Protocol does not end");
	if (!blank)
		return false;
	gint64 length = strlen(w->bytes->str) >= header - 4
	                        ? content_length(w->bytes->str, blank + 2)
	                        : -1;
	if (length < 0)
		return refuse(w, "a header of the Debug Adapter Protocol has no Content-Length "
		                 "that is a number");
	if (length > WIRE_MOST)
		return refuse(w, "a message is longer than 4 MiB (Content-Length)");
	if (w->bytes->len - header < (size_t)length)
		return false;
	json_error_t fault;
	json_t *message = json_loadb(w->bytes->str + header, (size_t)length, 0, &fault);
	g_string_erase(w->bytes, 0, (gssize)(header + (size_t)length));
	if (!json_is_object(message)) {
		json_decref(message);
		return refuse(w, "a message is no JSON object");
	}
	g_queue_push_tail(w->received, message);
	return true;
}

void wire_read(struct wire *w)
{
	char bytes[16384];
	ssize_t n = read(w->in, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		w->gone = true;
		if (w->bytes->len > 0)
			refuse(w, "the input ends within a message");
		return;
	}
	g_string_append_len(w->bytes, bytes, n);
	while (!w->bad && take_message(w))
		;
}

static void write_all(struct wire *w, const char *bytes, size_t length)
{
	enum { TAKES = 30000 }; /* milliseconds for which a client may leave bytes unread */
	while (length > 0 && !w->gone) {
		struct pollfd p = { .fd = w->out, .events = POLLOUT };
		if (poll(&p, 1, TAKES) == 0) {
			w->gone = true;
			return;
		}
		/* a pipe takes without waiting as much as it has room for */
		ssize_t n = write(w->out, bytes, MIN(length, 4096));
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			w->gone = true;
		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		}
	}
}

void wire_send(struct wire *w, json_t *message)
{
	json_object_set_new(message, "seq", json_integer(++w->sent));
	char *text = json_dumps(message, JSON_COMPACT);
	char *header = g_strdup_printf("Content-Length: %zu\r\n\r\n", strlen(text));
	write_all(w, header, strlen(header));
	write_all(w, text, strlen(text));
	g_free(header);
	free(text);
	json_decref(message);
}
