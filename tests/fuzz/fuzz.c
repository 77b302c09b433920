/*
 * fuzz.c - mutation fuzzing of every format that Heddle reads, for a given time.
 *
 *     fuzz CORPUS OUT SECONDS SEED WORKERS [FORMAT...]   what `make fuzz` runs
 * (tests/fuzz/run.sh) fuzz --read FORMAT FILE                            one input again, in
 * this process
 *
 * An input is a file of the corpus, damaged by mutate.h.  It is read in a child of this
 * process, many a second, and now and then by commands of the program itself.  A failure is: a
 * signal (the sanitizers' and BUG's too), more processor time than a small input may take, an
 * exit status that is not documented, a refusal without a message, control bytes on the
 * terminal.  Each is kept once or twice in OUT/failures, with the command that repeats it.
 */
#include "tests/fuzz/fuzz.h"

#include "tests/support/mutate.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FORMATS_MAX = 32,
	READ_SECONDS = 20,    /* of the processor, for one input in this process */
	COMMAND_SECONDS = 60, /* the same for a command (the sanitizers make it slow) */
	WALL_SECONDS = 300,   /* nothing waits so long, on however busy a machine */
	KEPT = 2,             /* of failures that look the same */
	SANITIZER_STATUS = 99,
};

/* Counts, shared by the workers and their children. */
struct counts {
	_Atomic uint64_t read[FORMATS_MAX], commands[FORMATS_MAX], failures[FORMATS_MAX];
	_Atomic uint32_t kept;
};

struct worker {
	const char *corpus, *out;
	char *folder;                   /* its own: where inputs and results lie, and home */
	GPtrArray *inputs[FORMATS_MAX]; /* GString: whole ones */
	GHashTable *seen;               /* how a failure looks -> how often */
	struct counts *counts;
	time_t until;
};

/* ---- the corpus ---- */

static GString *read_whole(const char *path)
{
	char *bytes;
	gsize length;

	if (!g_file_get_contents(path, &bytes, &length, NULL))
		return NULL;
	GString *s = g_string_new_len(bytes, (gssize)length);
	g_free(bytes);
	return s;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void load_corpus(struct worker *w)
{
	GDir *dir = g_dir_open(w->corpus, 0, NULL);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (const char *name; dir && (name = g_dir_read_name(dir));)
		g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, by_name);
	for (size_t f = 0; fuzz_formats[f].name; f++) {
		w->inputs[f] = g_ptr_array_new();
		for (guint i = 0; i < names->len; i++) {
			char *path = g_build_filename(w->corpus, names->pdata[i], NULL);
			if (g_str_has_suffix(path, fuzz_formats[f].suffix))
				g_ptr_array_add(w->inputs[f], read_whole(path));
			g_free(path);
		}
		if (w->inputs[f]->len == 0) {
			fprintf(stderr, "fuzz: no %s in %s\n", fuzz_formats[f].suffix,
			        w->corpus);
			exit(2);
		}
	}
	g_ptr_array_free(names, TRUE);
	if (dir)
		g_dir_close(dir);
}

/* A damaged input, written to `path`. Caller frees. */
static GString *next_input(const struct worker *w, size_t f, const char *path)
{
	const GPtrArray *all = w->inputs[f];
	const GString *from = all->pdata[mutate_below(all->len)];
	GString *s = g_string_new_len(from->str, (gssize)from->len);

	fuzz_formats[f].mutate(s, all->pdata[mutate_below(all->len)]);
	FILE *file = fopen(path, "wb");
	if (file == NULL || fwrite(s->str, 1, s->len, file) != s->len || fclose(file) != 0) {
		fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	return s;
}

/* ---- failures ---- */

/* The line that tells one failure from another, with its addresses and numbers left out. */
static char *looks_like(const char *why, const char *said)
{
	static const char *const marks[] = { "SUMMARY: ", "runtime error: ", "heddle: BUG",
		                             "GLib" };
	GString *s = g_string_new(why);

	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		const char *at = strstr(said, marks[i]);
		if (at == NULL)
			continue;
		g_string_append_c(s, ' ');
		g_string_append_len(s, at, (gssize)strcspn(at, "\n"));
		break;
	}
	return g_string_free(s, FALSE);
}

/* Faults of libdwarf and libelf are theirs: debuginfo/guard.c keeps them from us. */
static bool is_of_library(const char *said)
{
	static const char *const frames[] = { "    #0 ", "    #1 ", "    #2 ", "    #3 " };

	for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
		const char *at = strstr(said, frames[i]);
		size_t length = at ? strcspn(at, "\n") : 0;

		if (at && (g_strstr_len(at, (gssize)length, "libdwarf.so") ||
		           g_strstr_len(at, (gssize)length, "libelf.so")))
			return true;
	}
	return false;
}

static void keep_failure(struct worker *w, size_t f, const char *why, const char *command,
                         const char *said_path)
{
	GString *said = read_whole(said_path);
	if (said && is_of_library(said->str)) {
		g_string_free(said, TRUE);
		return;
	}
	char *looks = looks_like(why, said ? said->str : "");
	char *key = g_strdup_printf("%s %s", fuzz_formats[f].name, looks);
	uintptr_t before = (uintptr_t)g_hash_table_lookup(w->seen, key);

	w->counts->failures[f]++;
	g_hash_table_insert(w->seen, key, (void *)(before + 1));
	if (before < KEPT) {
		char *folder =
		        g_strdup_printf("%s/failures/%s-%d-%u", w->out, fuzz_formats[f].name,
		                        (int)getpid(), w->counts->kept++);
		char *input = g_build_filename(w->folder, "input", NULL);
		char *to = g_strconcat(folder, "/input", fuzz_formats[f].suffix, NULL);
		char *text = g_strdup_printf("%s\n\ncd %s && %s\n", looks, folder, command);
		char *note = g_build_filename(folder, "command", NULL),
		     *output = g_build_filename(folder, "said", NULL);
		GString *bytes = read_whole(input);

		g_mkdir_with_parents(folder, 0755);
		g_file_set_contents(to, bytes->str, (gssize)bytes->len, NULL);
		g_file_set_contents(note, text, -1, NULL);
		g_file_set_contents(output, said ? said->str : "", said ? (gssize)said->len : 0,
		                    NULL);
		printf("FAILURE %s: %s\n    see %s/command\n", fuzz_formats[f].name, looks,
		       folder);
		fflush(stdout);
		g_string_free(bytes, TRUE);
		g_free(output), g_free(note), g_free(text), g_free(to), g_free(input),
		        g_free(folder);
	}
	if (said)
		g_string_free(said, TRUE);
	g_free(looks);
}

/* Why a status of waitpid is a failure, or NULL. `other`: any exit status may be the recorded
 * program's own. */
static char *why_status(int status, bool other)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
		return g_strdup("too much processor time");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return g_strdup("too much processor time");
	if (WIFSIGNALED(status))
		return g_strdup_printf("signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == SANITIZER_STATUS)
		return g_strdup("sanitizer");
	if (WEXITSTATUS(status) > 3 && !other)
		return g_strdup_printf("exit status %d", WEXITSTATUS(status));
	return NULL;
}

/* ---- in this process ---- */

static void redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || dup2(fd, to) < 0)
		_exit(2);
	close(fd);
}

static void limit_time(unsigned seconds)
{
	struct itimerval timer = { .it_value.tv_sec = seconds };
	setitimer(ITIMER_PROF, &timer, NULL);
	alarm(WALL_SECONDS);
}

static void read_one(size_t f, const char *path, const GString *s)
{
	limit_time(READ_SECONDS);
	fuzz_formats[f].read(path, s);
}

/* Inputs for about a second, in a child; the last one is on disk when it dies. */
static void read_many(struct worker *w, size_t f)
{
	char *input = g_build_filename(w->folder, "input", NULL),
	     *said = g_build_filename(w->folder, "said", NULL), *why;
	uint64_t seed = mutate_random();
	int status;

	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		int64_t end = g_get_monotonic_time() + G_USEC_PER_SEC;
		redirect(said, 1);
		redirect(said, 2);
		mutate_seed(seed);
		do {
			GString *s = next_input(w, f, input);
			read_one(f, input, s);
			g_string_free(s, TRUE);
			w->counts->read[f]++;
		} while (g_get_monotonic_time() < end);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	why = why_status(status, false);
	if (why == NULL && WEXITSTATUS(status) != 0)
		why = g_strdup_printf("exit status %d", WEXITSTATUS(status));
	if (why) {
		char *self = g_file_read_link("/proc/self/exe", NULL);
		char *command = g_strdup_printf("%s --read %s input%s", self,
		                                fuzz_formats[f].name, fuzz_formats[f].suffix);
		keep_failure(w, f, why, command, said);
		g_free(command);
		g_free(self);
	}
	g_free(why);
	g_free(said);
	g_free(input);
}

/* ---- through the program ---- */

/* The words of a command, with files in their places; `place` is where its input goes. */
static char **words_of(const struct worker *w, const char *command, char **place)
{
	char **words = g_strsplit(command, " ", -1);
	GPtrArray *out = g_ptr_array_new();

	g_ptr_array_add(out, g_strdup(g_getenv("HEDDLE")));
	*place = g_build_filename(w->folder, "input", NULL);
	for (char **x = words; *x; x++) {
		if (**x == '@')
			g_ptr_array_add(out, g_strdup(*place));
		else if (**x == '%' && g_str_has_prefix(*x, "%module"))
			g_ptr_array_add(out, g_build_filename(w->folder, *x + 1, NULL));
		else if (**x == '%')
			g_ptr_array_add(out, g_build_filename(w->corpus, *x + 1, NULL));
		else if (**x == '&') {
			const char *in = (*x)[1] == '$' ? g_getenv(*x + 2) : *x + 1;

			g_free(*place);
			*place = g_build_filename(w->folder, in, NULL);
		} else
			g_ptr_array_add(out, g_strdup(*x));
	}
	g_ptr_array_add(out, NULL);
	g_strfreev(words);
	return (char **)g_ptr_array_free(out, FALSE);
}

static int run(const struct worker *w, char **words, const char *out, const char *said)
{
	int64_t end = g_get_monotonic_time() + WALL_SECONDS * G_USEC_PER_SEC;
	int status;

	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		struct rlimit cpu = { COMMAND_SECONDS, COMMAND_SECONDS + 1 }, core = { 0, 0 },
		              size = { 1 << 28, 1 << 28 };
		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_CORE, &core);
		setrlimit(RLIMIT_FSIZE, &size);
		redirect(out, 1);
		redirect(said, 2);
		int null = open("/dev/null", O_RDONLY);
		dup2(null, 0);
		setpgid(0, 0);
		if (chdir(w->folder) != 0)
			_exit(127);
		g_setenv("HOME", w->folder, true);
		execv(words[0], words);
		_exit(127);
	}
	for (useconds_t nap = 500; waitpid(child, &status, WNOHANG) == 0;
	     nap = MIN(nap * 2, 20000)) {
		if (g_get_monotonic_time() > end) {
			kill(-child, SIGKILL);
			waitpid(child, &status, 0);
			return SIGALRM; /* a signal, for why_status */
		}
		usleep(nap);
	}
	return status;
}

/* Would it do something to a terminal, or deceive who reads it? */
static bool is_plain(const GString *s)
{
	if (!g_utf8_validate(s->str, (gssize)s->len, NULL))
		return false;
	for (const char *at = s->str; at < s->str + s->len; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);
		if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) ||
		    c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
		    (c >= 0x2066 && c <= 0x2069))
			return false;
	}
	return true;
}

static char *why_output(int status, const char *out, const char *said)
{
	GString *o = read_whole(out), *s = read_whole(said);
	const char *why = NULL;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 2 && s->len == 0)
		why = "refused without a message";
	else if (!is_plain(s))
		why = "control bytes in a message";
	else if (!is_plain(o))
		why = "control bytes in the output";
	g_string_free(o, TRUE);
	g_string_free(s, TRUE);
	return g_strdup(why);
}

static void run_one(struct worker *w, size_t f)
{
	const struct fuzz_format *format = &fuzz_formats[f];
	const char *command =
	        format->commands[mutate_below(g_strv_length((char **)format->commands))];
	char *place, **words = words_of(w, command, &place);
	char *input = g_build_filename(w->folder, "input", NULL),
	     *said = g_build_filename(w->folder, "said", NULL),
	     *out = g_build_filename(w->folder, "out", NULL), *why;
	GString *s = next_input(w, f, input);
	bool elsewhere = strcmp(place, input) != 0;
	bool runs = strstr(command, " -- ") != NULL;

	if (elsewhere)
		g_file_set_contents(place, s->str, (gssize)s->len, NULL);
	int status = run(w, words, out, said);
	w->counts->commands[f]++;
	why = why_status(status, runs);
	if (why == NULL)
		why = why_output(status, out, said);
	if (why) {
		GString *line = g_string_new(NULL);
		if (elsewhere)
			g_string_append_printf(line, "cp input%s %s && ", format->suffix,
			                       place);
		g_string_append_printf(line, "HOME=%s", w->folder);
		for (char **x = words; *x; x++) {
			char *quoted = strcmp(*x, input) == 0
			                       ? g_strconcat("input", format->suffix, NULL)
			                       : g_shell_quote(*x);
			g_string_append_printf(line, " %s", quoted);
			g_free(quoted);
		}
		keep_failure(w, f, why, line->str, said);
		g_string_free(line, TRUE);
	}
	if (elsewhere)
		g_unlink(place);
	g_free(why), g_free(out), g_free(said), g_free(input), g_free(place);
	g_strfreev(words);
	g_string_free(s, TRUE);
}

/* ---- workers ---- */

static bool is_wanted(char **wanted, const char *name)
{
	return *wanted == NULL || g_strv_contains((const char *const *)wanted, name);
}

static void work(struct worker *w, char **wanted)
{
	w->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	load_corpus(w);
	while (time(NULL) < w->until) {
		for (size_t f = 0; fuzz_formats[f].name && time(NULL) < w->until; f++) {
			int64_t end = g_get_monotonic_time() + 3 * G_USEC_PER_SEC;

			if (!is_wanted(wanted, fuzz_formats[f].name))
				continue;
			if (fuzz_formats[f].read)
				read_many(w, f);
			do
				run_one(w, f);
			while (g_get_monotonic_time() < end);
		}
	}
	_exit(0);
}

static int summary(const struct counts *c)
{
	uint64_t failures = 0;

	printf("%-16s %12s %12s %9s\n", "format", "in process", "commands", "failures");
	for (size_t f = 0; fuzz_formats[f].name; f++) {
		printf("%-16s %12" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT
		       " %9" G_GUINT64_FORMAT "\n",
		       fuzz_formats[f].name, (uint64_t)c->read[f], (uint64_t)c->commands[f],
		       (uint64_t)c->failures[f]);
		failures += c->failures[f];
	}
	return failures > 0;
}

static int repeat(const char *name, const char *path)
{
	GString *s = read_whole(path);

	for (size_t f = 0; s && fuzz_formats[f].name; f++) {
		if (strcmp(fuzz_formats[f].name, name) != 0 || fuzz_formats[f].read == NULL)
			continue;
		for (int i = 0; i < 50; i++) { /* what else is drawn by lot comes up, too */
			mutate_seed((uint64_t)i + 1);
			read_one(f, path, s);
		}
		printf("%s: read\n", path);
		return 0;
	}
	fprintf(stderr, "fuzz: no format %s, or no file %s\n", name, path);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--read") == 0)
		return repeat(argv[2], argv[3]);
	if (argc < 6 || g_getenv("HEDDLE") == NULL) {
		fprintf(stderr, "usage: HEDDLE=PROGRAM fuzz CORPUS OUT SECONDS SEED WORKERS "
		                "[FORMAT...]\n");
		return 2;
	}
	uint64_t seed = strtoull(argv[4], NULL, 10);
	unsigned workers = (unsigned)strtoul(argv[5], NULL, 10);
	struct counts *counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool died = false;

	/* GLib says that it was asked for nonsense, and goes on: not here */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
	for (unsigned i = 0; i < workers; i++) {
		struct worker w = { .corpus = argv[1], .out = argv[2], .counts = counts };
		w.until = time(NULL) + strtol(argv[3], NULL, 10);
		w.folder = g_strdup_printf("%s/worker%u", w.out, i);
		fflush(NULL);
		if (fork() == 0) {
			mutate_seed(seed * 1000003 + i);
			work(&w, argv + 6);
		}
		g_free(w.folder);
	}
	for (int status; wait(&status) > 0;)
		died |= status != 0;
	if (died)
		fprintf(stderr, "fuzz: a worker died\n");
	return summary(counts) || died;
}
