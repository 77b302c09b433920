/* replay_server.c - see replay_server.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/debug/gdb_server.h"
#include "engine/witness/switches.h"
#include "engine/record/interpose.h"
#include "engine/trace/own_code.h"
#include "tui/batch/print/print.h"
#include "tui/batch/replay/replay_server.h"

enum { EXIT_CANNOT = 2 };

struct gdb_session {
	const struct replay_server *r;
	GPtrArray *names; /* char *: names of threads, by the runtime's number */
};

/* ---- "monitor heddle" ---- */

static void append_event(const struct trace *t, uint32_t e, GString *out)
{
	append_escaped(out, trace_thread_name(t, t->events[e].thread),
	               strlen(trace_thread_name(t, t->events[e].thread)));
	g_string_append_c(out, ' ');
	trace_append_words(t, e, out);
	const char *place = own_code_place_name(t, e);
	g_string_append(out, *place ? " at " : "");
	append_escaped(out, place, strlen(place));
}

static void append_pair(const struct gdb_session *s, GString *out)
{
	const struct trace *t = s->r->trace;
	const GArray *pair = s->r->witness->pair;
	for (guint i = 0; pair && i < pair->len; i++) {
		uint32_t e = g_array_index(pair, uint32_t, i);
		if (e >= t->events_count)
			continue;
		g_string_append(out, i == 0 ? "  between " : "  and     ");
		append_event(t, e, out);
		g_string_append_printf(out, "  (event %" PRIu32 ")\n", e);
	}
}

/* The story: the finding, and the reason for each switch of the witness. */
static void why(const struct gdb_session *s, GString *out)
{
	const struct trace *t = s->r->trace;
	const struct witness *w = s->r->witness;
	if (!w->events) {
		g_string_append(out, "this is the recorded order of events; a witness "
		                     "(--witness) has a finding to tell of\n");
		return;
	}
	g_string_append_printf(out, "this run is the witness of a finding (%s):\n",
	                       claim_word(w->claim));
	append_pair(s, out);
	g_autoptr(GArray) switches = witness_switches(t, w);
	g_string_append_printf(out, "it has %u events and changes threads %u time%s:\n",
	                       w->events->len, switches->len, plural(switches->len));
	enum { MOST = 40 };
	for (guint i = 0; i < switches->len && i < MOST; i++) {
		const struct context_switch *c =
		        &g_array_index(switches, struct context_switch, i);
		uint32_t to = g_array_index(w->events, uint32_t, c->at);
		g_string_append(out, "  to ");
		append_event(t, to, out);
		g_string_append(out, ": ");
		witness_append_reason(t, c, out);
		g_string_append_c(out, '\n');
	}
	if (switches->len > MOST)
		g_string_append_printf(out, "  and %u more\n", switches->len - MOST);
}

static void where(const struct gdb_session *s, struct gdb_server *server, GString *out)
{
	const struct trace *t = s->r->trace;
	const struct plan *plan = s->r->plan;
	const struct inferior *f = &server->travel.f;
	const struct log_header *header = f->process.header;
	uint64_t done = header->replayed;
	g_string_append_printf(
	        out, "%s runs",
	        (char *)g_ptr_array_index(
	                s->names, MIN(server->travel.present.thread, s->names->len - 1)));
	if (server->travel.present.end) {
		g_string_append(out, "; this is the end of the run\n");
	} else if (done < plan->steps->len) {
		uint32_t e = NONE;
		uint64_t k = done;
		while (k < plan->events->len && e == NONE)
			e = g_array_index(plan->events, uint32_t, k++);
		g_string_append_printf(out, "; %" PRIu64 " of %u steps are done", done,
		                       plan->steps->len);
		if (e != NONE) {
			g_string_append_printf(out, "; next comes event %" PRIu32 ": ", e);
			append_event(t, e, out);
		}
		g_string_append_c(out, '\n');
	} else if (server->travel.at_pair || (f->debug->pair == 0 && plan->pair[0] != NONE)) {
		g_string_append(out, "; next come\n");
		append_pair(s, out);
	} else {
		g_string_append(out, plan->pair[0] == NONE ? "; the recorded order is over\n"
		                                           : "; the pair is over\n");
	}
	if (header->status == LOG_DIVERGED)
		g_string_append(out, "the program has left the recording: it did something "
		                     "else there\n");
	g_string_append_printf(
	        out, "clock %" PRIu64 "; the program was run %" PRIu64 " time%s\n",
	        f->debug->clock, server->travel.runs, plural(server->travel.runs));
}

static void other_order(const struct gdb_session *s, struct gdb_server *server, GString *out)
{
	const struct plan *plan = s->r->plan;
	if (server->travel.f.first == 0) {
		g_string_append(out, "there is no pair that could be turned: only the witness "
		                     "of two racing accesses has one\n");
		return;
	}
	server->turn = !server->turn;
	unsigned first = server->travel.f.first;
	if (server->turn)
		first = 3 - first;
	g_string_append(out, "from the pair on, with the other order: ");
	append_event(s->r->trace, plan->pair[first - 1], out);
	g_string_append(out, " goes first.\n"
	                     "It begins with the next 'continue' (where the pair is over, at "
	                     "the pair again).\n");
}

static void help(GString *out)
{
	g_string_append(out,
	                "monitor heddle why          the finding, and why the witness "
	                "changes threads\n"
	                "monitor heddle where        the event of the recording that comes "
	                "next\n"
	                "monitor heddle other-order  let the other of the pair go first\n"
	                "monitor heddle help\n");
}

static void answer_monitor(void *context, struct gdb_server *server, const char *command,
                           GString *out)
{
	const struct gdb_session *s = context;
	g_autofree char *word = g_strstrip(g_strdup(command));
	const char *w = word;
	if (g_str_has_prefix(w, "heddle"))
		w += strlen("heddle");
	while (*w == ' ')
		w++;
	if (strcmp(w, "why") == 0) {
		why(s, out);
	} else if (strcmp(w, "where") == 0) {
		where(s, server, out);
	} else if (strcmp(w, "other-order") == 0) {
		other_order(s, server, out);
	} else {
		if (*w && strcmp(w, "help") != 0)
			g_string_append(out, "there is no such command; there are\n");
		help(out);
	}
}

static const char *name_of(void *context, uint32_t number)
{
	const struct gdb_session *s = context;
	return number < s->names->len ? s->names->pdata[number] : NULL;
}

/* ---- the debugger ---- */

static bool is_path(const char *address)
{
	return strchr(address, '/') != NULL;
}

/* The port of "PORT" or "HOST:PORT", or -1 when it is not on this machine alone. */
static int port_of(const char *address)
{
	const char *colon = strrchr(address, ':'), *digits = colon ? colon + 1 : address;
	char *end;
	if (colon && colon != address && !g_str_has_prefix(address, "localhost:") &&
	    !g_str_has_prefix(address, "127.0.0.1:"))
		return -1;
	guint64 port = g_ascii_isdigit(*digits) ? g_ascii_strtoull(digits, &end, 10) : 65536;
	return port <= 65535 && *end == '\0' ? (int)port : -1;
}

bool replay_address_check(const char *option, const char *address, struct error *error)
{
	if (strcmp(address, "-") == 0 || is_path(address) || port_of(address) >= 0)
		return true;
	return error_set(error, option, "give a port, 'localhost:PORT', a path or '-'",
	                 "'%s' is no address on this machine", address);
}

static int listen_at(const char *address, struct error *error)
{
	int fd, one = 1;
	bool ok;
	if (is_path(address)) {
		struct sockaddr_un at = { .sun_family = AF_UNIX };
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		mode_t old = umask(077);
		ok = g_strlcpy(at.sun_path, address, sizeof(at.sun_path)) <
		             sizeof(at.sun_path) &&
		     bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
		umask(old);
	} else {
		struct sockaddr_in at = { .sin_family = AF_INET,
			                  .sin_port = htons((uint16_t)port_of(address)),
			                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		ok = bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
	}
	if (ok && listen(fd, 1) == 0)
		return fd;
	error_set(error, address,
	          is_path(address) ? "remove it, or give another path"
	                           : "give another port; 0: any that is free",
	          "cannot listen there: %s", g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static void say_where(const char *address, const char *invitation, int fd)
{
	struct sockaddr_in at = { 0 };
	socklen_t size = sizeof(at);
	if (is_path(address))
		fprintf(stderr, "heddle: %s %s\n", invitation, printable(address));
	else if (getsockname(fd, (struct sockaddr *)&at, &size) == 0)
		fprintf(stderr, "heddle: %s localhost:%u\n", invitation, ntohs(at.sin_port));
}

static bool accept_one(const char *address, const char *invitation, unsigned timeout,
                       int *client, struct error *error)
{
	int fd = listen_at(address, error), one = 1;
	if (fd < 0)
		return false;
	say_where(address, invitation, fd);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ready;
	do
		ready = poll(&p, 1, timeout ? (int)MIN(timeout, 86400) * 1000 : -1);
	while (ready < 0 && errno == EINTR);
	*client = ready > 0 ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;
	close(fd);
	if (is_path(address))
		unlink(address);
	if (*client < 0)
		return error_set(error, address, "connect sooner, or see --timeout",
		                 "no debugger came within %u s", timeout);
	setsockopt(*client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return true;
}

/* Takes standard input and output for the debugger: the program then writes to standard
 * error. */
static bool take_standard(int *in, int *out)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	*in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	*out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	bool ok = null >= 0 && *in >= 0 && *out >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	          dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
	if (null >= 0)
		close(null);
	return ok;
}

bool replay_client(const char *address, const char *invitation, unsigned timeout, int *in,
                   int *out, struct error *error)
{
	if (strcmp(address, "-") == 0)
		return take_standard(in, out) ||
		       error_set(error, address, NULL,
		                 "standard input and output are not there");
	bool ok = accept_one(address, invitation, timeout, in, error);
	*out = *in;
	return ok;
}

static GPtrArray *thread_names(uint32_t count)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t i = 0; i < count; i++) {
		GString *name = g_string_new(NULL);
		record_append_thread(i, name);
		g_ptr_array_add(names, g_string_free(name, FALSE));
	}
	return names;
}

static bool serve(const struct replay_server *r, int in, int out, struct error *error)
{
	struct gdb_session session = { r, thread_names(LOG_DEBUG_THREADS) };
	struct gdb_server s = { .in = in,
		                .out = out,
		                .timeout = r->timeout,
		                .monitor = answer_monitor,
		                .thread_name = name_of,
		                .context = &session,
		                .notes = g_string_new(NULL) };
	s.travel.f = (struct inferior){ .plan = r->plan,
		                        .argv = r->argv,
		                        .first = r->first,
		                        .client = in,
		                        .from_client = g_string_new(NULL),
		                        .outputs = { { .to = STDOUT_FILENO },
		                                     { .to = STDERR_FILENO } } };
	signal(SIGPIPE, SIG_IGN);
	bool ok = travel_open(&s.travel, error) && gdb_server_run(&s, error);
	travel_close(&s.travel);
	gdb_server_release(&s);
	g_string_free(s.notes, TRUE);
	g_string_free(s.travel.f.from_client, TRUE);
	g_ptr_array_free(session.names, TRUE);
	return ok;
}

int replay_serve(const struct replay_server *r)
{
	struct error error;
	char *library = NULL;
	int in = -1, out = -1;
	if (!inferior_possible(&error) ||
	    !replay_client(r->address, "waiting for gdb: target remote", r->timeout, &in, &out,
	                   &error)) {
		say_error(&error);
		return EXIT_CANNOT;
	}
	int status = EXIT_OURS;
	if (interposer_of(r->plan->specs, r->argv[0], &library, &error)) {
		r->plan->interposer = library;
		if (serve(r, in, out, &error))
			status = 0;
	}
	if (status)
		say_error(&error);
	interposer_remove(library);
	close(in);
	return status;
}
