/* gdb_server.c - see gdb_server.h. */
#include "engine/debug/gdb_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/file.h"

/* Threads are named to the client by the runtime's number and 1; those that it does not know
 * (an uninstrumented library's own) come after. */
enum { STRANGERS = 100000 };
#define ANY_THREAD UINT32_MAX

/* ---- to the client ---- */

static bool write_out(struct gdb_server *s, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(s->out, bytes, length);
		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = s->out, .events = POLLOUT };
			enum { TAKES = 30000 }; /* milliseconds */
			if (poll(&p, 1, TAKES) > 0)
				continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			s->travel.f.gone = true;
			return false;
		}
		bytes += n;
		length -= (size_t)n;
	}
	return true;
}

static void send_bytes(struct gdb_server *s, const char *data, size_t length)
{
	g_string_truncate(s->sent, 0);
	packet_append(data, length, s->sent);
	write_out(s, s->sent->str, s->sent->len);
}

static void send_text(struct gdb_server *s, const char *data)
{
	send_bytes(s, data, strlen(data));
}

/* gdbserver's last answer. */
static void send_reply(struct gdb_server *s)
{
	send_bytes(s, s->travel.f.reply->str, s->travel.f.reply->len);
}

static void send_console(struct gdb_server *s, const char *text)
{
	GString *out = g_string_new("O");
	hex_append(text, strlen(text), out);
	send_text(s, out->str);
	g_string_free(out, TRUE);
}

/* ---- threads ---- */

static unsigned client_id(struct gdb_server *s, int tid)
{
	uint32_t number = travel_number(&s->travel, tid);
	if (number != UINT32_MAX)
		return number + 1;
	for (guint i = 0; i < s->strangers->len; i++)
		if (g_array_index(s->strangers, int, i) == tid)
			return STRANGERS + i;
	g_array_append_val(s->strangers, tid);
	return STRANGERS + s->strangers->len - 1;
}

static int tid_of(struct gdb_server *s, unsigned id)
{
	if (id >= STRANGERS)
		return id - STRANGERS < s->strangers->len
		               ? g_array_index(s->strangers, int, id - STRANGERS)
		               : 0;
	return id > 0 ? travel_tid(&s->travel, id - 1) : 0;
}

/* gdbserver's threads, as the client names them; owned by the caller. */
static GArray *list_threads(struct gdb_server *s)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(unsigned));
	bool more = inferior_ask(&s->travel.f, "qfThreadInfo");
	while (more && s->travel.f.reply->str[0] == 'm') {
		char **ids = g_strsplit(s->travel.f.reply->str + 1, ",", -1);
		for (char **id = ids; *id; id++) {
			unsigned named = client_id(s, (int)strtol(*id, NULL, 16));
			g_array_append_val(list, named);
		}
		g_strfreev(ids);
		more = inferior_ask(&s->travel.f, "qsThreadInfo");
	}
	return list;
}

static void send_threads(struct gdb_server *s)
{
	GArray *list = list_threads(s);
	GString *out = g_string_new("m");
	for (guint i = 0; i < list->len; i++)
		g_string_append_printf(out, "%s%x", i ? "," : "",
		                       g_array_index(list, unsigned, i));
	send_text(s, list->len ? out->str : "l");
	g_string_free(out, TRUE);
	g_array_free(list, TRUE);
}

static void send_thread_name(struct gdb_server *s, unsigned id)
{
	const char *name = id > 0 && id < STRANGERS && s->thread_name
	                           ? s->thread_name(s->context, id - 1)
	                           : NULL;
	GString *out = g_string_new(NULL);
	if (!name)
		name = "not of the recording";
	hex_append(name, strlen(name), out);
	send_text(s, out->str);
	g_string_free(out, TRUE);
}

/* ---- a program that was run again: gdbserver has to learn of the client again ---- */

/* gdbserver asks for symbols of the thread library, by which it finds thread-local variables.
 */
static void answer_symbols(struct gdb_server *s)
{
	enum { MOST = 1000 };
	bool asked = inferior_ask(&s->travel.f, "qSymbol::");
	for (int i = 0;
	     i < MOST && asked && g_str_has_prefix(s->travel.f.reply->str, "qSymbol:"); i++) {
		char *name = g_strdup(s->travel.f.reply->str + strlen("qSymbol:"));
		const char *value = g_hash_table_lookup(s->symbols, name);
		asked = inferior_ask(&s->travel.f, "qSymbol:%s:%s", value ? value : "", name);
		g_free(name);
	}
}

static void renew(struct gdb_server *s)
{
	if (s->runs == s->travel.runs)
		return;
	s->runs = s->travel.runs;
	for (int i = 0; i < 2; i++)
		if (s->signals[i])
			inferior_ask(&s->travel.f, "%s", s->signals[i]);
	if (g_hash_table_size(s->symbols) > 0)
		answer_symbols(s);
}

/* Makes the client's current thread gdbserver's. */
static bool select_thread(struct gdb_server *s)
{
	int tid = s->general == ANY_THREAD ? 0 : tid_of(s, s->general);
	if (tid == 0)
		tid = travel_tid(&s->travel, s->travel.present.thread);
	return inferior_ok(&s->travel.f, "Hg%x", (unsigned)tid);
}

/* ---- stops ---- */

static void send_stop(struct gdb_server *s, const char *reason, unsigned id, int signal)
{
	if (s->notes->len > 0)
		send_console(s, s->notes->str);
	g_string_truncate(s->notes, 0);
	s->general = id; /* after a stop the client takes this thread as current */
	g_snprintf(s->last_stop, sizeof(s->last_stop), "T%02x%sthread:%x;", (unsigned)signal,
	           reason, id);
	send_text(s, s->last_stop);
}

/* Appends the reason of the stop, from gdbserver's stop packet: "swbreak:;" or
 * "watch:ADDRESS;". */
static void append_reason(const struct stop *stop, GString *out)
{
	if (stop->text[0] != 'T' || strlen(stop->text) < 3)
		return;
	char **fields = g_strsplit(stop->text + 3, ";", -1);
	for (char **p = fields; *p; p++)
		if (strstr(*p, "watch:") || g_str_has_prefix(*p, "swbreak:") ||
		    g_str_has_prefix(*p, "hwbreak:"))
			g_string_append_printf(out, "%s;", *p);
	g_strfreev(fields);
}

/* Was a ^C read together with the packet that lets the program run? */
static bool take_interrupt(GString *bytes)
{
	size_t acks = strspn(bytes->str, "+-");
	bool interrupt = acks < bytes->len && bytes->str[acks] == '\003';
	if (interrupt)
		g_string_erase(bytes, 0, (gssize)acks + 1);
	return interrupt;
}

static void set_deadline(struct gdb_server *s)
{
	struct inferior *f = &s->travel.f;
	f->interrupted = take_interrupt(s->bytes);
	f->late = false;
	f->deadline =
	        s->timeout ? g_get_monotonic_time() + s->timeout * (gint64)G_USEC_PER_SEC : 0;
}

static void send_result(struct gdb_server *s, enum travel_result r, const struct stop *stop,
                        bool backward)
{
	struct travel *t = &s->travel;
	unsigned here = client_id(s, travel_tid(t, t->present.thread));
	const struct log_header *header = t->f.process.header;
	GString *reason = g_string_new(NULL);
	switch (r) {
	case TRAVEL_THERE:
		append_reason(stop, reason);
		if (backward)
			send_stop(s, reason->str, here, SIGTRAP);
		else
			send_stop(s, reason->str, client_id(s, stop->tid), stop->signal);
		break;
	case TRAVEL_BEGIN:
		g_string_append(s->notes, "heddle: this is the beginning of the run\n");
		send_stop(s, "replaylog:begin;", here, SIGTRAP);
		break;
	case TRAVEL_END:
		g_string_append(s->notes, "heddle: this is the end of the run\n");
		if (header->status == LOG_DIVERGED)
			g_string_append(
			        s->notes,
			        "heddle: the program has left the recording on the "
			        "way: it did something else ('monitor heddle where')\n");
		if (t->present.end)
			here = client_id(s, t->end_tid);
		send_stop(s, "replaylog:end;", here, SIGTRAP);
		break;
	case TRAVEL_PAIR:
		g_string_append(s->notes, "heddle: both threads stand before the pair "
		                          "('monitor heddle where')\n");
		send_stop(s, "", here, SIGTRAP);
		break;
	case TRAVEL_INTERRUPTED:
		g_string_append_printf(s->notes, "heddle: %s; it %s\n",
		                       t->f.late ? "that took too long" : "interrupted",
		                       t->moved ? "stands after the last event before, since "
		                                  "where it was is far from any"
		                                : "stays where it was");
		send_stop(s, "", here, SIGINT);
		break;
	case TRAVEL_ELSEWHERE:
		g_string_append(s->notes, "heddle: the program did not do the same again, or "
		                          "a breakpoint cannot be set; it stays here\n");
		send_stop(s, "", here, SIGINT);
		break;
	default:
		s->lost = true;
		break;
	}
	g_string_free(reason, TRUE);
	t->moved = false;
	t->f.interrupted = t->f.late = false;
	renew(s);
}

static enum travel_result go_backward(struct gdb_server *s, bool step, struct stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	g_array_set_size(s->strangers, 0);
	set_deadline(s);
	if (!step)
		return travel_back(&s->travel, stop);
	return travel_step_back(&s->travel,
	                        s->stepping > 0 && s->stepping < STRANGERS ? s->stepping - 1
	                                                                   : UINT32_MAX,
	                        stop);
}

static enum travel_result go_forward(struct gdb_server *s, const char *packet,
                                     struct stop *stop)
{
	memset(stop, 0, sizeof(*stop));
	set_deadline(s);
	if (s->turn) {
		s->turn = false;
		enum travel_result r =
		        travel_turn_pair(&s->travel, s->travel.f.first == 1 ? 2 : 1);
		if (r != TRAVEL_PAIR && r != TRAVEL_THERE)
			return r;
		if (r == TRAVEL_PAIR)
			packet = "vCont;c"; /* its threads are elsewhere by now */
		renew(s);
	}
	return travel_forward(&s->travel, packet, stop);
}

/* "c", "s", "C05", "S05", "rSTART,END" */
static bool is_action(const char *a)
{
	uint64_t start, end;
	int at = 0;
	if (strcmp(a, "c") == 0 || strcmp(a, "s") == 0)
		return true;
	if (*a == 'r')
		return sscanf(a, "r%16lx,%16lx%n", &start, &end, &at) == 2 && a[at] == '\0';
	return (*a == 'C' || *a == 'S') && g_ascii_isxdigit(a[1]) && g_ascii_isxdigit(a[2]) &&
	       a[3] == '\0';
}

/* vCont with the client's threads; NULL for a malformed one. Owned by the caller. */
static char *translate_actions(struct gdb_server *s, const char *packet)
{
	GString *out = g_string_new("vCont");
	char **actions = g_strsplit(packet + strlen("vCont;"), ";", -1);
	bool good = actions[0] != NULL;
	for (char **a = actions; *a && good; a++) {
		char *colon = strchr(*a, ':');
		long id = colon ? strtol(colon + 1, NULL, 16) : -1;
		if (colon)
			*colon = '\0';
		good = is_action(*a);
		g_string_append_printf(out, ";%s", *a);
		if (colon && id > 0) {
			int tid = tid_of(s, (unsigned)id);
			good &= tid != 0;
			g_string_append_printf(out, ":%x", (unsigned)tid);
		}
	}
	g_strfreev(actions);
	if (!good)
		g_string_free(out, TRUE);
	return good ? g_string_free(out, FALSE) : NULL;
}

/* ---- the packets ---- */

/* Translates "c", "s", "C05", "S05" to vCont for the thread of Hc. */
static char *old_actions(struct gdb_server *s, const char *packet)
{
	char action[8] = { packet[0] };
	unsigned signal = 0;
	if (g_ascii_isupper(packet[0]) && sscanf(packet + 1, "%2x", &signal) == 1)
		g_snprintf(action, sizeof(action), "%c%02x", packet[0], signal & 255);
	else
		action[0] = g_ascii_tolower(packet[0]);
	int tid = s->stepping ? tid_of(s, s->stepping) : 0;
	if (tid == 0)
		tid = travel_tid(&s->travel, s->travel.present.thread);
	return g_strdup_printf("vCont;%s:%x;c", action, (unsigned)tid);
}

/* The conditions of a breakpoint, ";X3,220127;X...", each of the length it states. */
static bool are_conditions(const char *text)
{
	unsigned size;
	while (*text) {
		int at = 0;
		if (sscanf(text, ";X%4x,%n", &size, &at) != 1 || at == 0)
			return false;
		text += at;
		for (unsigned i = 0; i < 2 * size; i++)
			if (!g_ascii_isxdigit(*text++))
				return false;
	}
	return true;
}

/* Z and z: kept for both directions; inserted while the program runs. */
static void change_breakpoint(struct gdb_server *s, const char *packet)
{
	struct travel *t = &s->travel;
	unsigned kind;
	uint64_t address, size;
	int length = 0;
	if (sscanf(packet + 1, "%1u,%16lx,%4lx%n", &kind, &address, &size, &length) < 3 ||
	    kind > 4 || !are_conditions(packet + 1 + length)) {
		send_text(s, "E01");
		return;
	}
	char *key = g_strdup_printf("Z%u,%lx,%lx", kind, address, size);
	if (packet[0] == 'z') {
		g_hash_table_remove(t->breakpoints, key);
		send_text(s, "OK");
		g_free(key);
		return;
	}
	/* Can it be set at all?  The hardware has four watchpoints. */
	bool ok = inferior_ask(&t->f, "%s", packet);
	if (ok && strcmp(t->f.reply->str, "OK") == 0) {
		inferior_ask(&t->f, "z%s", key + 1);
		g_string_assign(t->f.reply, "OK");
		g_hash_table_replace(t->breakpoints, g_strdup(key), g_strdup(packet));
	}
	if (ok)
		send_reply(s);
	else
		send_text(s, "E01");
	g_free(key);
}

/* The features that this server and gdbserver have in common. */
static void send_features(struct gdb_server *s)
{
	static const char *const ours[] = { "PacketSize=",
		                            "qXfer:auxv:read",
		                            "qXfer:features:read",
		                            "qXfer:libraries-svr4:read",
		                            "augmented-libraries-svr4-read",
		                            "qXfer:siginfo:read",
		                            "qXfer:exec-file:read",
		                            "QPassSignals",
		                            "QProgramSignals",
		                            "ConditionalBreakpoints",
		                            "swbreak",
		                            "hwbreak",
		                            "vContSupported",
		                            NULL };
	GString *out = g_string_new("ReverseStep+;ReverseContinue+;QStartNoAckMode+");
	if (inferior_ask(&s->travel.f, "qSupported:xmlRegisters=i386;swbreak+;hwbreak+;"
	                               "vContSupported+")) {
		char **has = g_strsplit(s->travel.f.reply->str, ";", -1);
		for (char **h = has; *h; h++)
			for (const char *const *o = ours; *o; o++)
				if (g_str_has_prefix(*h, *o))
					g_string_append_printf(out, ";%s", *h);
		g_strfreev(has);
	}
	send_text(s, out->str);
	g_string_free(out, TRUE);
}

static void send_monitor(struct gdb_server *s, const char *hex)
{
	char command[512] = "";
	size_t n = hex_read(hex, command, sizeof(command) - 1);
	command[n] = '\0';
	GString *answer = g_string_new(NULL), *out = g_string_new(NULL);
	s->monitor(s->context, s, command, answer);
	hex_append(answer->str, answer->len, out);
	send_text(s, out->len ? out->str : "OK");
	g_string_free(out, TRUE);
	g_string_free(answer, TRUE);
}

static void keep(char **where, const char *packet)
{
	g_free(*where);
	*where = g_strdup(packet);
}

/* qSymbol:VALUE:NAME is an answer to gdbserver's question. */
static void keep_symbol(struct gdb_server *s, const char *packet)
{
	const char *value = packet + strlen("qSymbol:"), *name = strchr(value, ':');
	enum { MOST = 10000 };
	if (name && name > value && name[1] && g_hash_table_size(s->symbols) < MOST)
		g_hash_table_replace(s->symbols, g_strdup(name + 1),
		                     g_strndup(value, (gsize)(name - value)));
}

/* Packets that are passed to gdbserver as they are; it does not check them closely. */
static bool passes(const char *packet)
{
	static const char hex[] = "[0-9a-fA-F]";
	static const char *const known[] = {
		"g",
		"p@{1,4}",
		("qXfer:(auxv|features|libraries-svr4|siginfo|exec-file):read:"
		 "[A-Za-z0-9_.=;-]{0,200}:@{1,8},@{1,5}"),
		"qGetTLSAddr:@{1,8},@{1,16},@{1,16}",
		"qOffsets",
		"qSymbol:@{0,16}:@{0,2000}",
		"Q(Pass|Program)Signals:[0-9a-fA-F;]{0,2000}",
		"vFile:setfs:@{1,8}",
		"vFile:open:@{2,8192},0,@{1,8}", /* for reading */
		"vFile:pread:@{1,8},@{1,5},@{1,16}",
		"vFile:(fstat|close):@{1,8}",
		"vFile:readlink:@{2,8192}",
	};
	static GRegex *all;
	if (!all) {
		GString *text = g_string_new("^(");
		for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
			g_string_append_printf(text, "%s%s", i ? "|" : "", known[i]);
		g_string_append(text, ")$");
		g_string_replace(text, "@", hex, 0);
		all = g_regex_new(text->str, G_REGEX_OPTIMIZE | G_REGEX_DOLLAR_ENDONLY, 0,
		                  NULL);
		g_string_free(text, TRUE);
	}
	return g_regex_match(all, packet, 0, NULL);
}

static bool all_hex(const char *text)
{
	return text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
}

/* "MADDRESS,SIZE:BYTES" */
static bool writes_memory(const char *packet)
{
	uint64_t address;
	unsigned size;
	int at = 0;
	enum { MOST = 0x4000 };
	return sscanf(packet, "M%16lx,%8x:%n", &address, &size, &at) == 2 && at > 0 &&
	       size <= MOST && strlen(packet + at) == 2 * (size_t)size && all_hex(packet + at);
}

/* Makes the program go to the place that the client shows. */
static bool settle(struct gdb_server *s)
{
	if (!s->travel.ahead)
		return true;
	set_deadline(s);
	if (travel_settle(&s->travel) != TRAVEL_THERE)
		s->lost = true;
	renew(s);
	return !s->lost;
}

/* Does the answer depend on the program's present place? */
static bool is_of_place(const char *packet)
{
	return strchr("gGpM", packet[0]) || g_str_has_prefix(packet, "qXfer:siginfo") ||
	       g_str_has_prefix(packet, "qGetTLSAddr");
}

/* Registers are written as a whole: as many as gdbserver has. */
static bool writes_registers(struct gdb_server *s, const char *packet)
{
	return packet[0] == 'G' && all_hex(packet + 1) && settle(s) && select_thread(s) &&
	       inferior_ask(&s->travel.f, "g") && strlen(packet) == s->travel.f.reply->len + 1;
}

/* Memory is read here: at a stop the program is as it would be without breakpoints. */
static void send_memory(struct gdb_server *s, const char *packet)
{
	enum { MOST = 0x4000 };
	char bytes[MOST];
	uint64_t address, size;
	int at = 0;
	if (sscanf(packet, "m%16lx,%16lx%n", &address, &size, &at) != 2 || packet[at]) {
		send_text(s, "E01");
		return;
	}
	size = MIN(size, MOST);
	uint64_t page = 4096 - address % 4096; /* read only up to the end of the page if the
	                                          next one is not mapped */
	if (!travel_recall(&s->travel, address, bytes, size) && !settle(s))
		return;
	if (size > page && !travel_recall(&s->travel, address, bytes, size))
		size = page;
	GString *out = g_string_new(NULL);
	if (travel_recall(&s->travel, address, bytes, size))
		hex_append(bytes, size, out);
	send_text(s, out->len ? out->str : "E01");
	g_string_free(out, TRUE);
}

/* Thread-local variables: the thread's id is in the packet. */
static void send_tls(struct gdb_server *s, const char *packet)
{
	const char *rest = packet + strlen("qGetTLSAddr:");
	int tid = tid_of(s, (unsigned)strtoul(rest, NULL, 16));
	const char *comma = strchr(rest, ',');
	if (tid && comma &&
	    inferior_ask(&s->travel.f, "qGetTLSAddr:%x%s", (unsigned)tid, comma))
		send_reply(s);
	else
		send_text(s, "E01");
}

static void pass(struct gdb_server *s, const char *packet, size_t length)
{
	uint32_t number = s->general == ANY_THREAD || s->general >= STRANGERS
	                          ? s->travel.present.thread
	                          : s->general - 1;
	const char *kept =
	        strcmp(packet, "g") == 0 ? travel_registers(&s->travel, number) : NULL;
	if (kept) {
		send_text(s, kept);
		return;
	}
	if (is_of_place(packet) && !settle(s))
		return;
	/* gdbserver asks back, and then hears of nothing else */
	bool symbol = g_str_has_prefix(packet, "qSymbol:");
	if (symbol)
		keep_symbol(s, packet);
	if (g_str_has_prefix(packet, "QPassSignals:"))
		keep(&s->signals[0], packet);
	if (g_str_has_prefix(packet, "QProgramSignals:"))
		keep(&s->signals[1], packet);
	if (g_str_has_prefix(packet, "qGetTLSAddr:"))
		send_tls(s, packet);
	else if ((symbol || select_thread(s)) &&
	         inferior_ask_bytes(&s->travel.f, packet, length))
		send_reply(s);
	else
		send_text(s, "E01");
}

static void set_thread(struct gdb_server *s, const char *packet)
{
	char *end;
	long id = strtol(packet[1] ? packet + 2 : packet + 1, &end, 16);
	if ((packet[1] != 'g' && packet[1] != 'c') || *end ||
	    (id > 0 && tid_of(s, (unsigned)id) == 0)) {
		send_text(s, "E01");
		return;
	}
	if (packet[1] == 'g')
		s->general = id > 0 ? (uint32_t)id : ANY_THREAD;
	else
		s->stepping = id > 0 ? (uint32_t)id : 0;
	send_text(s, "OK");
}

/* A question with a short answer: true when it was one. */
static bool answer_question(struct gdb_server *s, const char *p)
{
	char text[64];
	if (g_str_has_prefix(p, "qSupported")) {
		send_features(s);
	} else if (strcmp(p, "QStartNoAckMode") == 0) {
		send_text(s, "OK");
		s->silent = true;
	} else if (strcmp(p, "vCont?") == 0) {
		send_text(s, "vCont;c;C;s;S;r");
	} else if (strcmp(p, "?") == 0) {
		send_text(s, s->last_stop);
	} else if (strcmp(p, "qfThreadInfo") == 0) {
		send_threads(s);
	} else if (strcmp(p, "qsThreadInfo") == 0) {
		send_text(s, "l");
	} else if (g_str_has_prefix(p, "qThreadExtraInfo,")) {
		send_thread_name(s, (unsigned)strtoul(strchr(p, ',') + 1, NULL, 16));
	} else if (strcmp(p, "qC") == 0) {
		g_snprintf(text, sizeof(text), "QC%x",
		           client_id(s, travel_tid(&s->travel, s->travel.present.thread)));
		send_text(s, text);
	} else if (g_str_has_prefix(p, "qAttached")) {
		send_text(s, "1");
	} else if (g_str_has_prefix(p, "qRcmd,")) {
		send_monitor(s, p + strlen("qRcmd,"));
	} else if (p[0] == 'H') {
		set_thread(s, p);
	} else if (p[0] == 'T') {
		send_text(s, tid_of(s, (unsigned)strtoul(p + 1, NULL, 16)) ? "OK" : "E01");
	} else if (p[0] == 'Z' || p[0] == 'z') {
		change_breakpoint(s, p);
	} else {
		return false;
	}
	return true;
}

/* False: the client says good bye. */
static bool serve_packet(struct gdb_server *s, const char *p, size_t length)
{
	struct stop stop = { 0 };
	char *actions = NULL;
	if (strlen(p) != length) { /* no text */
		send_text(s, "");
		return true;
	}
	if (p[0] == 'D' || p[0] == 'k' || g_str_has_prefix(p, "vKill")) {
		if (p[0] != 'k')
			send_text(s, "OK");
		return false;
	}
	if (strcmp(p, "bs") == 0 || strcmp(p, "bc") == 0) {
		send_result(s, go_backward(s, p[1] == 's', &stop), &stop, true);
	} else if (g_str_has_prefix(p, "vCont;") || (p[0] && strchr("cCsS", p[0]))) {
		actions = p[0] == 'v' ? translate_actions(s, p) : old_actions(s, p);
		if (actions)
			send_result(s, go_forward(s, actions, &stop), &stop, false);
		else
			send_text(s, "E01");
		g_free(actions);
	} else if (p[0] == 'm') {
		send_memory(s, p);
	} else if (!answer_question(s, p)) {
		if (passes(p) || writes_memory(p) || writes_registers(s, p))
			pass(s, p, length);
		else
			send_text(s, "");
	}
	return true;
}

/* More bytes of the client's; false: it is gone. */
static bool hear(struct gdb_server *s)
{
	char bytes[16384];
	struct inferior *f = &s->travel.f;
	if (f->from_client->len > 0) { /* came while the program ran */
		g_string_append_len(s->bytes, f->from_client->str, (gssize)f->from_client->len);
		g_string_truncate(f->from_client, 0);
		return true;
	}
	for (;;) {
		struct pollfd p[] = { { .fd = s->in, .events = POLLIN },
			              { .fd = f->outputs[0].from, .events = POLLIN },
			              { .fd = f->outputs[1].from, .events = POLLIN } };
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			return false;
		if (p[1].revents || p[2].revents)
			inferior_drain(f);
		if (!p[0].revents)
			continue;
		ssize_t n = read(s->in, bytes, sizeof(bytes));
		if (n > 0)
			g_string_append_len(s->bytes, bytes, n);
		if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
			return true;
		return false;
	}
}

bool gdb_server_run(struct gdb_server *s, struct error *error)
{
	struct travel *t = &s->travel;
	s->bytes = g_string_new(NULL);
	s->packet = g_string_new(NULL);
	s->sent = g_string_new(NULL);
	s->strangers = g_array_new(FALSE, FALSE, sizeof(int));
	s->symbols = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	s->general = ANY_THREAD;
	s->runs = t->runs;
	g_snprintf(s->last_stop, sizeof(s->last_stop), "T05thread:%x;", t->present.thread + 1);
	bool stays = true;
	while (stays && !t->f.gone) {
		switch (packet_next(s->bytes, s->packet)) {
		case PACKET_NONE:
			stays = hear(s);
			break;
		case PACKET_DATA:
			if (!s->silent)
				write_out(s, "+", 1);
			stays = serve_packet(s, s->packet->str, s->packet->len);
			break;
		case PACKET_BAD:
			if (!s->silent)
				write_out(s, "-", 1);
			break;
		case PACKET_NAK:
			write_out(s, s->sent->str, s->sent->len);
			break;
		default:
			break;
		}
		if (s->lost || t->f.server <= 0 || t->f.debug == NULL)
			return t->f.gone ||
			       error_set(error, t->f.argv[0], NULL,
			                 "gdbserver or the program is lost%s%s%s%s",
			                 *t->lost.what ? ": " : "", t->lost.where,
			                 *t->lost.where ? ": " : "", t->lost.what);
	}
	return true;
}

void gdb_server_release(struct gdb_server *s)
{
	GString *strings[] = { s->bytes, s->packet, s->sent };
	for (size_t i = 0; i < G_N_ELEMENTS(strings); i++)
		if (strings[i])
			g_string_free(strings[i], TRUE);
	if (s->strangers)
		g_array_free(s->strangers, TRUE);
	if (s->symbols)
		g_hash_table_destroy(s->symbols);
	g_free(s->signals[0]);
	g_free(s->signals[1]);
}
