/*
 * bench_load.c - how fast traces load: text, binary as it comes, binary with a warm index;
 * beside them the bare scan of the events in memory.
 *
 *     bench_load [EVENTS | TRACE]     default: 2,000,000 events made here
 */
#include "engine/trace/formats.h"
#include "engine/trace/index.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text of eight threads over locked, shared and local variables. */
static char *make_text(uint64_t events)
{
	GString *text = g_string_new(NULL);
	uint64_t random = 88172645463325252u;
	for (unsigned t = 1; t < 8; t++)
		g_string_append_printf(text, "T0|fork(T%u)|%u\n", t, t);
	for (uint64_t i = 7; i < events; i += 4) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		unsigned t = random % 8, l = (random >> 8) % 64, v = (random >> 16) % 20000;
		g_string_append_printf(text, "T%u|acq(L%u)|%u\nT%u|r(V%u)|%u\n", t, l, 100 + l,
		                       t, v, 200 + v % 2000);
		g_string_append_printf(text, "T%u|w(V%u)|%u\nT%u|rel(L%u)|%u\n", t, v,
		                       201 + v % 2000, t, l, 100 + l);
	}
	return g_string_free(text, FALSE);
}

static void line(const char *what, const struct trace *t, uint64_t bytes, gint64 microseconds)
{
	double seconds = MAX(microseconds, 1) / 1e6;
	printf("%-28s %9.1f ms %9.2f M events/s %9.1f MB/s\n", what, seconds * 1e3,
	       (double)t->events_count / seconds / 1e6, (double)bytes / seconds / 1e6);
}

static struct trace *timed_open(const char *what, const char *path)
{
	struct error e;
	GStatBuf st;
	gint64 from = g_get_monotonic_time();
	struct trace *t = trace_open(path, NULL, NULL, &e);
	gint64 to = g_get_monotonic_time();
	if (t == NULL) {
		fprintf(stderr, "bench_load: %s: %s\n", e.where, e.what);
		exit(2);
	}
	g_stat(path, &st);
	line(what, t, (uint64_t)st.st_size, to - from);
	return t;
}

static void scan(const struct trace *t)
{
	gint64 from = g_get_monotonic_time();
	uint64_t writes = 0;
	for (uint64_t i = 0; i < t->events_count; i++)
		writes += op_writes(t->events[i].op);
	line("bare scan in memory", t, t->events_count * sizeof *t->events,
	     g_get_monotonic_time() - from);
	if (writes == 0)
		puts("no writes");
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	bool given = argc > 1 && events == 0;
	char *folder = g_dir_make_tmp("heddle-bench-XXXXXX", NULL);
	char *text = given ? g_strdup(argv[1]) : g_build_filename(folder, "t.txt", NULL);
	char *binary = g_build_filename(folder, "t.hdl", NULL);
	char *cache = g_build_filename(folder, "cache", NULL);
	g_setenv("XDG_CACHE_HOME", cache, TRUE);
	if (!given) {
		char *content = make_text(events);
		g_file_set_contents(text, content, -1, NULL);
		g_free(content);
	}
	struct error e;
	struct trace *t = timed_open("text", text);
	if (!trace_write(t, binary, TRACE_BINARY, NULL, NULL, &e))
		fprintf(stderr, "bench_load: %s: %s\n", e.where, e.what);
	trace_close(t);
	t = timed_open("binary, checked", binary);
	gint64 from = g_get_monotonic_time();
	trace_need(t, INDEX_ALL, NULL);
	line("index of all, made and kept", t, t->events_count * 16,
	     g_get_monotonic_time() - from);
	trace_close(t);
	t = timed_open("binary, index warm", binary);
	from = g_get_monotonic_time();
	trace_need(t, INDEX_ALL, NULL);
	line("index of all, warm", t, t->events_count * 16, g_get_monotonic_time() - from);
	scan(t);
	trace_close(t);
	char *kept = g_build_filename(cache, "heddle", NULL);
	GDir *dir = g_dir_open(kept, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		char *path = g_build_filename(kept, name, NULL);
		g_unlink(path);
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(kept);
	g_rmdir(cache);
	g_free(kept);
	g_unlink(binary);
	if (!given)
		g_unlink(text);
	g_rmdir(folder);
	g_free(cache);
	g_free(binary);
	g_free(text);
	g_free(folder);
	return 0;
}
