/* inferior.c - see inferior.h. */
#include "engine/debug/inferior.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "engine/base/file.h"

enum { ANSWERS_WITHIN = 30, STARTS_WITHIN = 30, DIES_WITHIN = 5 }; /* seconds */

static gint64 in_seconds(int seconds)
{
	return g_get_monotonic_time() + seconds * (gint64)G_USEC_PER_SEC;
}

bool inferior_possible(struct error *error)
{
	char *path = g_find_program_in_path("gdbserver");
	bool found = path != NULL;
	g_free(path);
	return found || error_set(error, "gdbserver", "apt install gdbserver",
	                          "is not installed, and --gdb-server runs the program by it");
}

/* ---- the program's output ---- */

static void output_open(struct passed_output *o, int to)
{
	int ends[2];
	o->to = to;
	o->from = o->other = -1;
	if (isatty(to)) { /* so that the program writes line by line */
		struct termios raw;
		ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0)
			return;
		o->path = g_strdup(ptsname(ends[0]));
		ends[1] = open(o->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (ends[1] >= 0 && tcgetattr(ends[1], &raw) == 0) {
			cfmakeraw(&raw);
			tcsetattr(ends[1], TCSANOW, &raw);
		}
	} else {
		if (pipe2(ends, O_CLOEXEC) != 0)
			return;
		o->path = g_strdup_printf("/proc/self/fd/%d", ends[1]);
	}
	o->from = ends[0];
	o->other = ends[1];
	fcntl(o->from, F_SETFL, O_NONBLOCK);
}

static void output_close(struct passed_output *o)
{
	if (o->from >= 0)
		close(o->from);
	if (o->other >= 0)
		close(o->other);
	g_free(o->path);
	memset(o, 0, sizeof(*o));
	o->from = o->other = -1;
}

static void output_drain(struct passed_output *o)
{
	char bytes[4096];
	ssize_t n;
	while (o->from >= 0 && (n = read(o->from, bytes, sizeof(bytes))) > 0) {
		uint64_t begin = o->passed;
		o->passed += (uint64_t)n;
		if (o->passed <= o->shown)
			continue;
		uint64_t skip = o->shown > begin ? o->shown - begin : 0;
		file_write_all(o->to, bytes + skip, (size_t)n - skip, -1);
		o->shown = o->passed;
	}
}

void inferior_drain(struct inferior *f)
{
	output_drain(&f->outputs[0]);
	output_drain(&f->outputs[1]);
}

void inferior_show_again(struct inferior *f)
{
	inferior_drain(f);
	for (int i = 0; i < 2; i++)
		f->outputs[i].shown = f->outputs[i].passed;
}

/* ---- gdbserver ---- */

static _Noreturn void become_gdbserver(const char *terminal)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0); /* a ^C at the terminal is ours */
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execlp("gdbserver", "gdbserver", "--multi", terminal, (char *)NULL);
	_exit(127);
}

static bool open_server(struct inferior *f, struct error *error)
{
	struct termios raw;
	f->slave = -1;
	f->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	bool ok = f->terminal >= 0 && grantpt(f->terminal) == 0 && unlockpt(f->terminal) == 0;
	char *name = ok ? g_strdup(ptsname(f->terminal)) : NULL;
	ok = ok && (f->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0 &&
	     tcgetattr(f->slave, &raw) == 0;
	if (ok) {
		cfmakeraw(&raw);
		tcsetattr(f->slave, TCSANOW, &raw);
		f->server = fork();
		if (f->server == 0)
			become_gdbserver(name);
		ok = f->server > 0;
	}
	if (!ok)
		error_set(error, "gdbserver", NULL, "cannot start it: %s", g_strerror(errno));
	g_free(name);
	if (!ok)
		return false;
	f->reply = g_string_new(NULL);
	f->bytes = g_string_new(NULL);
	if (!inferior_ok(f, "QStartNoAckMode") || !inferior_ok(f, "!"))
		return error_set(error, "gdbserver", "does 'gdbserver --version' work?",
		                 "does not answer");
	return inferior_ask(f, "qSupported:xmlRegisters=i386;swbreak+;hwbreak+") ||
	       error_set(error, "gdbserver", NULL, "does not answer");
}

bool inferior_open(struct inferior *f, struct error *error)
{
	f->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	for (int i = 0; i < 2; i++)
		output_open(&f->outputs[i], f->outputs[i].to);
	f->plan->output = f->outputs[0].path;
	f->plan->errors = f->outputs[1].path;
	if (!f->outputs[0].path || !f->outputs[1].path)
		return error_set(error, "a pipe", NULL, "cannot make it: %s",
		                 g_strerror(errno));
	return open_server(f, error);
}

/* gdbserver reaps the process that it traces, and we after it. */
static void end_process(struct inferior *f)
{
	f->debug = NULL;
	if (f->process.pid <= 0)
		return;
	if (f->server > 0)
		inferior_ask(f, "vKill;%x", (unsigned)f->process.pid);
	kill(f->process.pid, SIGKILL);
	gint64 limit = in_seconds(DIES_WITHIN);
	pid_t done = 0;
	while ((done = waitpid(f->process.pid, NULL, WNOHANG)) == 0 &&
	       g_get_monotonic_time() < limit)
		g_usleep(200);
	if (done == 0 && f->server > 0) { /* its tracer's end lets it go */
		kill(f->server, SIGKILL);
		waitpid(f->server, NULL, 0);
		f->server = 0;
		waitpid(f->process.pid, NULL, 0);
	}
	f->process.pid = 0;
	plan_process_end(&f->process);
	inferior_drain(f);
}

void inferior_close(struct inferior *f)
{
	end_process(f);
	if (f->server > 0) {
		kill(f->server, SIGKILL);
		waitpid(f->server, NULL, 0);
	}
	if (f->terminal > 0)
		close(f->terminal);
	if (f->slave > 0)
		close(f->slave);
	output_close(&f->outputs[0]);
	output_close(&f->outputs[1]);
	if (f->reply)
		g_string_free(f->reply, TRUE);
	if (f->bytes)
		g_string_free(f->bytes, TRUE);
}

/* ---- waiting ---- */

static bool server_alive(struct inferior *f)
{
	if (f->server > 0 && waitpid(f->server, NULL, WNOHANG) == f->server)
		f->server = 0;
	return f->server > 0;
}

/* Handles the client's bytes while the program runs: ^C, or the end of the connection. */
static void hear_client(struct inferior *f)
{
	char bytes[4096];
	ssize_t n = read(f->client, bytes, sizeof(bytes));
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
		f->gone = true;
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] == '\003')
			f->interrupted = true;
		else if (f->from_client->len < PACKET_MOST)
			g_string_append_c(f->from_client, bytes[i]);
	}
}

/* Wait for a packet of gdbserver's, until `limit` (0: none).  False when it does not come. */
static bool next_packet(struct inferior *f, gint64 limit, bool client)
{
	enum { LOOK = 500 }; /* milliseconds: is gdbserver alive? */
	char bytes[8192];
	gint64 insist = 0; /* when SIGINT has not stopped it: it may be blocked */
	bool stopping = false;
	for (;;) {
		enum packet_kind kind;
		while ((kind = packet_next(f->bytes, f->reply)) != PACKET_NONE)
			if (kind == PACKET_DATA) {
				packet_expand(f->reply);
				return true;
			}
		gint64 now = g_get_monotonic_time();
		if (client && limit && now > limit && !stopping)
			f->late = true;
		if (client && (f->late || f->interrupted) && !stopping) {
			stopping = true;
			limit = in_seconds(ANSWERS_WITHIN);
			insist = in_seconds(2);
			kill(f->process.pid, SIGINT); /* gdbserver stops it there */
		}
		if (insist && now > insist) {
			insist = 0;
			kill(f->process.pid, SIGSTOP);
		}
		if (limit && now > limit)
			return false;
		struct pollfd p[] = { { .fd = f->terminal, .events = POLLIN },
			              { .fd = f->outputs[0].from, .events = POLLIN },
			              { .fd = f->outputs[1].from, .events = POLLIN },
			              { .fd = client ? f->client : -1, .events = POLLIN } };
		if (poll(p, 4, LOOK) <= 0) {
			if (!server_alive(f))
				return false;
			continue;
		}
		if (p[1].revents || p[2].revents)
			inferior_drain(f);
		if (p[3].revents)
			hear_client(f);
		if (f->gone)
			return false;
		ssize_t n = p[0].revents ? read(f->terminal, bytes, sizeof(bytes)) : 0;
		if (n > 0)
			g_string_append_len(f->bytes, bytes, n);
		else if (p[0].revents && (n == 0 || errno != EINTR))
			return false;
	}
}

static bool send_packet(struct inferior *f, const char *packet, size_t length)
{
	if (f->server <= 0)
		return false;
	GString *out = g_string_sized_new(length + 8);
	packet_append(packet, length, out);
	bool sent = file_write_all(f->terminal, out->str, out->len, -1);
	g_string_free(out, TRUE);
	return sent;
}

bool inferior_ask_bytes(struct inferior *f, const char *packet, size_t length)
{
	g_string_truncate(f->reply, 0);
	return send_packet(f, packet, length) &&
	       next_packet(f, in_seconds(ANSWERS_WITHIN), false);
}

static bool ask_list(struct inferior *f, const char *format, va_list list)
{
	char *packet = g_strdup_vprintf(format, list);
	bool answered = inferior_ask_bytes(f, packet, strlen(packet));
	g_free(packet);
	return answered;
}

bool inferior_ask(struct inferior *f, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	bool answered = ask_list(f, format, list);
	va_end(list);
	return answered;
}

bool inferior_ok(struct inferior *f, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	bool answered = ask_list(f, format, list);
	va_end(list);
	return answered && strcmp(f->reply->str, "OK") == 0;
}

/* ---- stops ---- */

static uint64_t register_value(const char *text)
{
	uint64_t value = 0;
	hex_read(text, &value, sizeof(value)); /* little-endian, as we are */
	return value;
}

static void read_stop(const GString *reply, struct stop *s)
{
	memset(s, 0, sizeof(*s));
	g_strlcpy(s->text, reply->str, sizeof(s->text));
	if (!strchr("TSWX", s->text[0]))
		return;
	s->kind = s->text[0] == 'S' ? 'T' : s->text[0];
	unsigned char number = 0;
	hex_read(s->text + 1, &number, 1);
	s->signal = number;
	if (s->text[0] != 'T')
		return;
	char **fields = g_strsplit(s->text + 3, ";", -1);
	for (char **p = fields; *p; p++) {
		char *value = strchr(*p, ':');
		if (!value)
			continue;
		*value++ = '\0';
		if (strcmp(*p, "thread") == 0)
			s->tid = (int)strtol(value, NULL, 16);
		else if (strcmp(*p, "10") == 0)
			s->pc = register_value(value);
		else if (strcmp(*p, "07") == 0)
			s->sp = register_value(value);
		else if (g_str_has_suffix(*p, "watch"))
			s->watch = true;
		s->reads |= strcmp(*p, "rwatch") == 0 || strcmp(*p, "awatch") == 0;
	}
	g_strfreev(fields);
}

bool inferior_resume(struct inferior *f, const char *packet, struct stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	if (!send_packet(f, packet, strlen(packet)))
		return false;
	do {
		if (!next_packet(f, f->deadline, true))
			return false;
	} while (f->reply->str[0] == 'O');
	read_stop(f->reply, stop);
	return stop->kind != 0;
}

bool inferior_read(const struct inferior *f, uint64_t address, void *bytes, size_t size)
{
	struct iovec here = { bytes, size }, there = { (void *)(uintptr_t)address, size };
	return f->process.pid > 0 &&
	       process_vm_readv(f->process.pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* ---- starting ---- */

static bool wait_until_ready(struct inferior *f, struct error *error)
{
	gint64 limit = in_seconds(STARTS_WITHIN);
	while (!f->debug->ready) {
		inferior_drain(f);
		if (waitpid(f->process.pid, NULL, WNOHANG) == f->process.pid) {
			f->process.pid = 0;
			return error_set(error, f->argv[0], "run it without heddle",
			                 "it ended before its main began");
		}
		if (g_get_monotonic_time() > limit)
			return error_set(error, f->argv[0], NULL,
			                 "its main was not reached within %d s", STARTS_WITHIN);
		g_usleep(100);
	}
	return true;
}

bool inferior_start(struct inferior *f, struct error *error)
{
	end_process(f);
	if (!server_alive(f))
		return error_set(error, "gdbserver", NULL, "has ended");
	for (int i = 0; i < 2; i++)
		f->outputs[i].passed = 0;
	if (f->input >= 0)
		lseek(STDIN_FILENO, f->input, SEEK_SET);
	if (!plan_start(f->plan, f->argv, f->first, &f->process, error))
		return false;
	f->debug = (volatile void *)((char *)f->process.header + LOG_DEBUG);
	f->debug->first = f->first;
	if (!wait_until_ready(f, error))
		return false;
	if (!inferior_ask(f, "vAttach;%x", (unsigned)f->process.pid) || f->reply->str[0] != 'T')
		return error_set(error, "gdbserver",
		                 "allow it: echo 0 >/proc/sys/kernel/yama/ptrace_scope",
		                 "cannot attach to the program");
	f->debug->go = 1;
	return true;
}
