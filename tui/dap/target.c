/* target.c - see target.h. */
#include "tui/dap/target.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The message of replay_server.c when its socket listens. */
static const char ready[] = "heddle: waiting for gdb";

/* ---- output of the program ---- */

static void say_line(struct target *t, struct pipe_end *p, size_t length)
{
	bool heddle = g_str_has_prefix(p->partial->str, "heddle: ");
	if (!g_str_has_prefix(p->partial->str, ready))
		t->said(t->context, heddle ? "console" : p->category, p->partial->str, length);
	g_string_erase(p->partial, 0, (gssize)length);
}

/* Number of bytes at the end that begin a character of UTF-8 without completing it. */
static size_t unfinished(const GString *s)
{
	for (size_t n = 1; n <= 3 && n <= s->len; n++)
		if ((unsigned char)s->str[s->len - n] >= 0xc0)
			return g_utf8_get_char_validated(s->str + s->len - n, (gssize)n) ==
			                       (gunichar)-2
			               ? n
			               : 0;
	return 0;
}

static void pass_on(struct target *t, struct pipe_end *p, bool all)
{
	char *end;
	while (p->lines && (end = memchr(p->partial->str, '\n', p->partial->len)) != NULL)
		say_line(t, p, (size_t)(end - p->partial->str) + 1);
	/* keep a line that may still become Heddle's own */
	bool open =
	        p->lines && strncmp(p->partial->str,
	                            "heddle: ", MIN(p->partial->len, strlen("heddle: "))) == 0;
	size_t kept = all ? 0 : open ? p->partial->len : unfinished(p->partial);
	if (p->partial->len > kept) {
		t->said(t->context, p->category, p->partial->str, p->partial->len - kept);
		g_string_erase(p->partial, 0, (gssize)(p->partial->len - kept));
	}
}

static void drain(struct target *t, struct pipe_end *p)
{
	char bytes[16384];
	ssize_t n = -1;
	while (p->fd >= 0 && (n = read(p->fd, bytes, sizeof(bytes))) > 0) {
		g_string_append_len(p->partial, bytes, n);
		pass_on(t, p, false);
	}
	if (p->fd >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
		pass_on(t, p, true);
		close(p->fd);
		p->fd = -1;
	}
}

/* ---- gdb's lines ---- */

static void take_stream(struct target *t, const struct mi_record *r)
{
	const char *text = json_string_value(r->body);
	enum { MOST = 4 << 20 };
	if (r->kind == '&') /* its errors come with the result, too */
		return;
	if (t->stream->len < MOST)
		g_string_append(t->stream, text);
	if (r->kind == '@' && t->notes->len < MOST)
		g_string_append(t->notes, text);
}

static void take_line(struct target *t, const char *line)
{
	struct mi_record *r = g_new0(struct mi_record, 1);
	bool whole = mi_parse(line, r);
	if (whole && strchr("^*=", r->kind)) {
		g_queue_push_tail(t->records, r);
		return;
	}
	if (whole)
		take_stream(t, r);
	mi_release(r);
	g_free(r);
}

static void read_gdb(struct target *t)
{
	char bytes[16384], *end;
	ssize_t n = read(t->from_gdb, bytes, sizeof(bytes));
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		t->lost = true;
	if (n <= 0)
		return;
	g_string_append_len(t->bytes, bytes, n);
	while ((end = memchr(t->bytes->str, '\n', t->bytes->len)) != NULL) {
		size_t length = (size_t)(end - t->bytes->str);
		t->bytes->str[length] = '\0';
		take_line(t, t->bytes->str);
		g_string_erase(t->bytes, 0, (gssize)length + 1);
	}
}

void target_wait(struct target *t, int milliseconds)
{
	struct pollfd p[] = {
		{ .fd = t->client->gone ? -1 : t->client->in, .events = POLLIN },
		{ .fd = t->gdb && !t->lost ? t->from_gdb : -1, .events = POLLIN },
		{ .fd = t->bytes ? t->output.fd : -1, .events = POLLIN },
		{ .fd = t->bytes ? t->errors.fd : -1, .events = POLLIN },
	};
	enum { LOOK = 500 }; /* milliseconds between checks whether the server lives */
	if (t->server > 0 && (milliseconds < 0 || milliseconds > LOOK))
		milliseconds = LOOK;
	int some = poll(p, G_N_ELEMENTS(p), milliseconds);
	/* gdb may not notice that the server has ended while the program runs. */
	if (t->server > 0 && waitpid(t->server, NULL, WNOHANG) == t->server) {
		t->server = 0;
		t->lost = true;
	}
	if (some <= 0)
		return;
	/* The program wrote before it stopped, so its output comes first, then the stop. */
	if (p[1].revents || p[2].revents || p[3].revents) {
		drain(t, &t->output);
		drain(t, &t->errors);
	}
	if (p[1].revents)
		read_gdb(t);
	if (p[0].revents)
		wire_read(t->client);
}

/* ---- commands ---- */

/* Has the client left, or sent a request that cannot wait for a long command's end? */
static bool is_urgent(struct wire *client)
{
	static const char *const urgent[] = { "disconnect", "terminate", "pause" };
	if (client->gone)
		return true;
	for (GList *l = client->received->head; l; l = l->next) {
		const char *command = json_string_value(json_object_get(l->data, "command"));
		for (size_t i = 0; command && i < G_N_ELEMENTS(urgent); i++)
			if (strcmp(command, urgent[i]) == 0)
				return true;
	}
	return false;
}

/* The result with that token, removed from the records; or NULL. */
static struct mi_record *take_result(struct target *t, uint64_t token)
{
	for (GList *l = t->records->head; l; l = l->next) {
		struct mi_record *r = l->data;
		if (r->kind == '^' && r->token == token) {
			g_queue_delete_link(t->records, l);
			return r;
		}
	}
	return NULL;
}

static struct mi_record *await_result(struct target *t, uint64_t token, GString *why)
{
	enum { TICK = 200 }; /* milliseconds */
	const gint64 patience = G_USEC_PER_SEC / 2, limit = 20 * G_USEC_PER_SEC;
	gint64 begun = g_get_monotonic_time(), interrupted = 0;
	struct mi_record *r;
	while ((r = take_result(t, token)) == NULL && !t->lost) {
		target_wait(t, TICK);
		gint64 now = g_get_monotonic_time();
		if (!interrupted && now - begun > patience && is_urgent(t->client)) {
			interrupted = now;
			kill(t->gdb, SIGINT);
		}
		if (interrupted && now - interrupted > limit) {
			g_string_assign(why, "gdb does not answer");
			t->lost = true;
		}
	}
	if (!r && why->len == 0)
		g_string_assign(why, "gdb has ended");
	return r;
}

json_t *target_command(struct target *t, const char *command, GString *why)
{
	g_string_truncate(why, 0);
	if (t->gdb == 0 || t->lost) {
		g_string_assign(why, "the program is not there: send 'launch' first");
		return NULL;
	}
	char *line = g_strdup_printf("%" G_GUINT64_FORMAT "%s\n", ++t->token, command);
	size_t length = strlen(line), done = 0;
	while (done < length) {
		ssize_t n = write(t->to_gdb, line + done, length - done);
		if (n <= 0 && errno != EINTR) {
			t->lost = true;
			break;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	g_free(line);
	struct mi_record *r = await_result(t, t->token, why);
	if (!r)
		return NULL;
	json_t *body = NULL;
	if (strcmp(r->word, "error") == 0) {
		const char *message = json_string_value(json_object_get(r->body, "msg"));
		g_string_assign(why, message && *message ? message : "gdb refuses it");
	} else {
		body = json_incref(r->body);
	}
	mi_release(r);
	g_free(r);
	return body;
}

json_t *target_ask(struct target *t, GString *why, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	char *command = g_strdup_vprintf(format, list);
	va_end(list);
	json_t *body = target_command(t, command, why);
	g_free(command);
	return body;
}

/* ---- processes ---- */

static _Noreturn void become(const int fds[3], char *const *argv, const char *folder,
                             const char *path)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0); /* a ^C at the terminal is for the adapter */
	signal(SIGPIPE, SIG_DFL);
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	if (folder && chdir(folder) != 0)
		_exit(126);
	execvp(path, argv);
	_exit(127);
}

static bool make_pipe(int fds[2])
{
	return pipe2(fds, O_CLOEXEC) == 0;
}

static bool start_server(struct target *t, GPtrArray *options, char *const *argv,
                         const char *folder)
{
	GPtrArray *words = g_ptr_array_new();
	char *const first[] = { "heddle", "replay", "--gdb-server", t->socket };
	for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
		g_ptr_array_add(words, first[i]);
	for (guint i = 0; i < options->len; i++)
		g_ptr_array_add(words, options->pdata[i]);
	g_ptr_array_add(words, "--");
	for (; *argv; argv++)
		g_ptr_array_add(words, *argv);
	g_ptr_array_add(words, NULL);
	int out[2], err[2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	bool ok = null >= 0 && make_pipe(out) && make_pipe(err);
	if (ok) {
		const int fds[] = { null, out[1], err[1] };
		t->server = fork();
		if (t->server == 0)
			become(fds, (char *const *)words->pdata, folder, "/proc/self/exe");
		close(null);
		close(out[1]);
		close(err[1]);
		t->output.fd = out[0];
		t->errors.fd = err[0];
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		fcntl(err[0], F_SETFL, O_NONBLOCK);
	}
	g_ptr_array_free(words, TRUE);
	return ok && t->server > 0;
}

static bool start_gdb(struct target *t)
{
	static char *const argv[] = { "gdb",    "-nx",  "-q",
		                      "-i=mi3", "-iex", "set debuginfod enabled off",
		                      NULL };
	int in[2], out[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0 || !make_pipe(in) || !make_pipe(out))
		return false;
	const int fds[] = { in[0], out[1], null };
	t->gdb = fork();
	if (t->gdb == 0) {
		unsetenv("LD_PRELOAD");
		become(fds, argv, NULL, "gdb");
	}
	close(null);
	close(in[0]);
	close(out[1]);
	t->to_gdb = in[1];
	t->from_gdb = out[0];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	return t->gdb > 0;
}

/* Waits until the server listens. If it ends, its output goes to `why`. */
static bool await_server(struct target *t, unsigned seconds, GString *why)
{
	gint64 end = g_get_monotonic_time() + (gint64)seconds * G_USEC_PER_SEC;
	GString *said = g_string_new(NULL);
	bool listens = false, ended = false;
	while (!listens && !ended && !t->client->gone) {
		struct pollfd p[] = { { .fd = t->errors.fd, .events = POLLIN },
			              { .fd = t->client->in, .events = POLLIN } };
		poll(p, 2, 200);
		if (p[1].revents)
			wire_read(t->client);
		char bytes[4096];
		ssize_t n = read(t->errors.fd, bytes, sizeof(bytes));
		if (n > 0)
			g_string_append_len(said, bytes, n);
		const char *line = strstr(said->str, ready);
		listens = line && strchr(line, '\n');
		ended = n == 0 || (seconds && g_get_monotonic_time() > end);
	}
	if (listens) {
		g_string_append_len(t->errors.partial, said->str, (gssize)said->len);
		pass_on(t, &t->errors, false);
	} else {
		g_string_assign(why, said->len ? g_strstrip(said->str)
		                               : "heddle replay --gdb-server did not start");
	}
	g_string_free(said, TRUE);
	return listens;
}

bool target_open(struct target *t, GPtrArray *options, char *const *argv, const char *folder,
                 unsigned seconds, GString *why)
{
	char *gdb = g_find_program_in_path("gdb");
	bool installed = gdb != NULL;
	g_free(gdb);
	if (!installed) {
		g_string_assign(why, "gdb: is not installed; apt install gdb");
		return false;
	}
	t->lost = false;
	t->output = (struct pipe_end){ -1, g_string_new(NULL), "stdout", false };
	t->errors = (struct pipe_end){ -1, g_string_new(NULL), "stderr", true };
	t->to_gdb = t->from_gdb = -1;
	t->bytes = g_string_new(NULL);
	t->records = g_queue_new();
	t->stream = g_string_new(NULL);
	t->notes = g_string_new(NULL);
	t->folder = g_dir_make_tmp("heddle-dap-XXXXXX", NULL);
	if (!t->folder) {
		g_string_printf(why, "%s: cannot make a folder there", g_get_tmp_dir());
		return false;
	}
	t->socket = g_build_filename(t->folder, "gdb", NULL);
	if (!start_server(t, options, argv, folder)) {
		g_string_printf(why, "cannot start heddle: %s", g_strerror(errno));
		return false;
	}
	if (!await_server(t, seconds, why))
		return false;
	if (!start_gdb(t)) {
		g_string_printf(why, "cannot start gdb: %s", g_strerror(errno));
		return false;
	}
	static const char *const settings[] = {
		"-gdb-set mi-async on",       "-gdb-set sysroot /",      "-gdb-set confirm off",
		"-gdb-set pagination off",    "-gdb-set height 0",       "-gdb-set width 0",
		"-gdb-set remotetimeout 600", "-enable-pretty-printing",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
		json_decref(target_command(t, settings[i], why));
	json_t *connected = target_ask(t, why, "-target-select remote %s", t->socket);
	json_decref(connected);
	if (!connected)
		drain(t, &t->errors); /* the server says why */
	return connected != NULL;
}

/* Waits for a child that is about to end, and kills it if it does not. */
static void end_child(pid_t *child)
{
	enum { TRIES = 100, PAUSE = 20000 }; /* 2 s each, in microseconds */
	if (*child <= 0)
		return;
	for (int i = 0; i <= 2 * TRIES && waitpid(*child, NULL, WNOHANG) == 0; i++) {
		if (i == TRIES)
			kill(*child, SIGTERM);
		if (i == 2 * TRIES) {
			kill(*child, SIGKILL);
			waitpid(*child, NULL, 0);
			break;
		}
		g_usleep(PAUSE);
	}
	*child = 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void target_close(struct target *t)
{
	if (!t->bytes)
		return;
	/* the end of gdb's standard input makes gdb leave the server, which ends the program */
	close_fd(&t->to_gdb);
	if (t->gdb > 0)
		kill(t->gdb, SIGKILL);
	end_child(&t->gdb);
	close_fd(&t->from_gdb);
	if (t->server > 0 && t->socket && g_unlink(t->socket) == 0)
		kill(t->server, SIGTERM); /* gdb did not come to it */
	drain(t, &t->output);
	drain(t, &t->errors);
	struct pipe_end *ends[] = { &t->output, &t->errors };
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		close_fd(&ends[i]->fd);
		g_string_free(ends[i]->partial, TRUE);
	}
	end_child(&t->server);
	if (t->folder)
		g_rmdir(t->folder);
	g_free(t->folder);
	g_free(t->socket);
	for (struct mi_record *r; (r = g_queue_pop_head(t->records)) != NULL; g_free(r))
		mi_release(r);
	g_queue_free(t->records);
	GString *texts[] = { t->bytes, t->stream, t->notes };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_string_free(texts[i], TRUE);
	*t = (struct target){ .client = t->client, .said = t->said, .context = t->context };
}
