/*
 * bench_explorer.c - how soon the explorer shows its first screen, and how soon it answers
 * keys, through a pty: `bench_explorer TRACE [RUNS]`.
 *
 * The first screen is there when the findings view's headings are; a key is answered when
 * the program has written something and then nothing for a moment, less that moment.
 */
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { QUIET_MS = 5, KEYS = 400 };

static int terminal;
static pid_t child;

static void start(const char *heddle, const char *trace)
{
	struct winsize size = { .ws_row = 50, .ws_col = 160 };
	child = forkpty(&terminal, NULL, NULL, &size);
	if (child == 0) {
		setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		execl(heddle, heddle, "open", trace, (char *)NULL);
		_exit(127);
	}
	fcntl(terminal, F_SETFL, O_NONBLOCK);
}

/* Read until `text` has been written; the time of it in microseconds. */
static gint64 wait_for(const char *text)
{
	GString *seen = g_string_new(NULL);
	gint64 now = 0;
	for (char bytes[65536];;) {
		struct pollfd fd = { .fd = terminal, .events = POLLIN };
		if (poll(&fd, 1, 120000) <= 0) {
			fprintf(stderr, "bench_explorer: waited in vain for '%s'\n", text);
			exit(2);
		}
		ssize_t n = read(terminal, bytes, sizeof bytes);
		if (n <= 0)
			exit(2);
		g_string_append_len(seen, bytes, n);
		now = g_get_monotonic_time();
		if (strstr(seen->str, text))
			break;
	}
	g_string_free(seen, TRUE);
	return now;
}

/* Read until nothing comes for a moment; when the last bytes came. */
static gint64 wait_for_quiet(gint64 from)
{
	gint64 last = from;
	for (char bytes[65536];;) {
		struct pollfd fd = { .fd = terminal, .events = POLLIN };
		if (poll(&fd, 1, last == from ? 500 : QUIET_MS) <= 0)
			return last;
		if (read(terminal, bytes, sizeof bytes) <= 0)
			return last;
		last = g_get_monotonic_time();
	}
}

static int ascending(const void *a, const void *b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	/* Each of them changes the screen wherever one is in the middle of a large trace. */
	static const char *const keys[] = { "j",    "n",     "N",    "}",  "\006", "{", "k",
		                            "\002", "1000n", "999b", "B",  "5N",   "S", "j",
		                            "q",    "s",     "q",    "3}", "2{",   "b" };
	static gint64 times[KEYS];
	const char *heddle = getenv("HEDDLE") ? getenv("HEDDLE") : "./heddle";
	if (argc < 2) {
		fprintf(stderr, "usage: bench_explorer TRACE\n");
		return 2;
	}
	gint64 began = g_get_monotonic_time();
	start(heddle, argv[1]);
	printf("first screen  %8.1f ms\n", (double)(wait_for("verdict") - began) / 1000);
	for (int quiet = 0; quiet < 4; quiet++) /* two seconds: progress is drawn until then */
		if (wait_for_quiet(0) != 0)
			quiet = 0;
	if (write(terminal, "T5000G", 6) != 6)
		return 2;
	wait_for_quiet(0);
	for (int i = 0; i < KEYS; i++) {
		const char *key = keys[i % G_N_ELEMENTS(keys)];
		gint64 from = g_get_monotonic_time();
		if (write(terminal, key, strlen(key)) < 0)
			return 2;
		times[i] = wait_for_quiet(from) - from;
		if (getenv("VERBOSE"))
			printf("%2zu '%s' %8.1f\n", i % G_N_ELEMENTS(keys), key,
			       (double)times[i] / 1000);
	}
	qsort(times, KEYS, sizeof *times, ascending);
	printf("key, median   %8.1f ms\nkey, 99%%      %8.1f ms\nkey, longest  %8.1f ms\n",
	       (double)times[KEYS / 2] / 1000, (double)times[KEYS * 99 / 100] / 1000,
	       (double)times[KEYS - 1] / 1000);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	return 0;
}
