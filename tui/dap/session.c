/* session.c - see dap.h: the requests that begin and end a session, and the loop. */
#include "tui/dap/session.h"

#include <signal.h>
#include <string.h>

/* ---- messages ---- */

/* Prints a line of the adapter's own. */
static void say(struct dap_session *s, const char *line)
{
	send_output(s, "console", line, strlen(line));
}

static void respond(struct dap_session *s, const json_t *to, json_t *body, const char *why)
{
	const char *command = text_of(to, "command");
	json_t *j = json_pack("{sssOsssb}", "type", "response", "request_seq",
	                      json_object_get(to, "seq"), "command", command ? command : "",
	                      "success", why == NULL);
	if (why) {
		json_t *text = json_bytes(why, strlen(why));
		json_object_set(j, "message", text);
		/* editors take it for a format: braces would be places for values */
		json_object_set_new(j, "body",
		                    json_pack("{s{sisssos{so}}}", "error", "id", 1, "format",
		                              "{why}", "showUser", json_true(), "variables",
		                              "why", text));
	} else if (json_object_size(body) > 0) {
		json_object_set(j, "body", body);
	}
	wire_send(&s->wire, j);
}

/* ---- initialize, launch ---- */

static bool initialize(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	static const char *const able[] = {
		"supportsConfigurationDoneRequest",
		"supportsFunctionBreakpoints",
		"supportsConditionalBreakpoints",
		"supportsHitConditionalBreakpoints",
		"supportsDataBreakpoints",
		"supportsEvaluateForHovers",
		"supportsStepBack",
		"supportsSetVariable",
		"supportsSteppingGranularity",
		"supportsTerminateRequest",
	};
	const char *format = text_of(args, "pathFormat");
	if (format && strcmp(format, "path") != 0) {
		g_string_printf(why, "pathFormat '%s' is not known; use 'path'", format);
		return false;
	}
	s->line_base = json_is_false(json_object_get(args, "linesStartAt1")) ? 0 : 1;
	for (size_t i = 0; i < G_N_ELEMENTS(able); i++)
		json_object_set_new(body, able[i], json_true());
	return true;
}

/* A path of 'launch', from `folder`; owned by the caller. */
static char *absolute(const char *path, const char *folder)
{
	return g_canonicalize_filename(path, folder);
}

/* Adds "--NAME=PATH", with the path from 'launch', else from the command line. */
static void add_path(GPtrArray *options, const json_t *args, const char *name,
                     const char *given, const char *folder)
{
	const char *asked = text_of(args, name);
	if (!asked && !given)
		return;
	char *path = absolute(asked ? asked : given, asked ? folder : NULL);
	g_ptr_array_add(options, g_strdup_printf("--%s", name));
	g_ptr_array_add(options, path);
}

/* The program and its arguments; NULL and `why`. */
static char **program_of(const struct dap_session *s, const json_t *args, const char *folder,
                         GString *why)
{
	const char *program = text_of(args, "program");
	const json_t *list = json_object_get(args, "args");
	if (!program && !s->start->argv) {
		g_string_assign(why, "no program: 'launch' has to name it ('program'), or the "
		                     "command line after --");
		return NULL;
	}
	GPtrArray *words = g_ptr_array_new();
	if (!program) {
		for (char *const *w = s->start->argv; *w; w++)
			g_ptr_array_add(words, g_strdup(*w));
		if (folder && strchr(words->pdata[0], '/')) { /* of another folder */
			char *path = absolute(words->pdata[0], NULL);
			g_free(words->pdata[0]);
			words->pdata[0] = path;
		}
	} else {
		g_ptr_array_add(words, strchr(program, '/') ? absolute(program, folder)
		                                            : g_strdup(program));
	}
	size_t i;
	json_t *word;
	bool texts = true;
	if (program)
		json_array_foreach(list, i, word)
		{
			texts &= json_is_string(word);
			g_ptr_array_add(words, g_strdup(json_string_value(word)));
		}
	if (!texts || (list && !json_is_array(list) && !json_is_null(list))) {
		g_string_assign(why, "'args' has to be an array of texts");
		g_ptr_array_set_free_func(words, g_free);
		g_ptr_array_free(words, TRUE);
		return NULL;
	}
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

/* Heddle's explanation of this run comes first. */
static void say_why(struct dap_session *s)
{
	GString *why = g_string_new(NULL);
	g_string_truncate(s->target.stream, 0);
	json_decref(target_command(&s->target,
	                           "-interpreter-exec console \"monitor heddle why\"", why));
	send_output(s, "console", s->target.stream->str, s->target.stream->len);
	g_string_truncate(s->target.notes, 0);
	g_string_free(why, TRUE);
}

static bool launch(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)body;
	if (s->launched) {
		g_string_assign(why, "the program is there already");
		return false;
	}
	const char *cwd = text_of(args, "cwd");
	char *folder = cwd ? absolute(cwd, NULL) : NULL;
	if (folder && !g_file_test(folder, G_FILE_TEST_IS_DIR)) {
		g_string_printf(why, "%s: is no folder; see 'cwd'", folder);
		g_free(folder);
		return false;
	}
	char **argv = program_of(s, args, folder, why);
	if (!argv) {
		g_free(folder);
		return false;
	}
	GPtrArray *options = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < s->start->options->len; i++)
		g_ptr_array_add(options, g_strdup(s->start->options->pdata[i]));
	add_path(options, args, "witness", s->start->witness, folder);
	add_path(options, args, "trace", s->start->trace, folder);
	s->entry = json_is_true(json_object_get(args, "stopOnEntry"));
	s->launched = target_open(&s->target, options, argv, folder, s->start->timeout, why);
	if (!s->launched)
		target_close(&s->target);
	g_ptr_array_free(options, TRUE);
	g_strfreev(argv);
	g_free(folder);
	return s->launched;
}

static bool configuration_done(struct dap_session *s, const json_t *args, json_t *body,
                               GString *why)
{
	(void)args;
	(void)body;
	if (s->configured) {
		g_string_assign(why, "the configuration is done already");
		return false;
	}
	s->configured = true;
	return true;
}

static bool leave(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)args;
	(void)body;
	(void)why;
	target_close(&s->target);
	s->launched = false;
	return true;
}

/* ---- the table ---- */

enum needs {
	NEEDS_NOTHING,
	NEEDS_PROGRAM, /* launched */
	NEEDS_STOP,    /* needs a stopped program: refused while it runs */
	WAITS_FOR_STOP /* interrupts the run */
};

static const struct {
	const char *name;
	request *serve;
	enum needs needs;
} requests[] = {
	{ "initialize", initialize, NEEDS_NOTHING },
	{ "launch", launch, NEEDS_NOTHING },
	{ "attach", launch, NEEDS_NOTHING },
	{ "setBreakpoints", set_breakpoints, WAITS_FOR_STOP },
	{ "setFunctionBreakpoints", set_function_breakpoints, WAITS_FOR_STOP },
	{ "setExceptionBreakpoints", set_exception_breakpoints, NEEDS_NOTHING },
	{ "dataBreakpointInfo", data_breakpoint_info, NEEDS_STOP },
	{ "setDataBreakpoints", set_data_breakpoints, WAITS_FOR_STOP },
	{ "configurationDone", configuration_done, NEEDS_PROGRAM },
	{ "threads", list_threads, NEEDS_PROGRAM },
	{ "stackTrace", list_frames, NEEDS_STOP },
	{ "scopes", list_scopes, NEEDS_STOP },
	{ "variables", list_variables, NEEDS_STOP },
	{ "setVariable", set_variable, NEEDS_STOP },
	{ "evaluate", evaluate, NEEDS_STOP },
	{ "source", read_source, NEEDS_PROGRAM },
	{ "continue", go_continue, NEEDS_STOP },
	{ "next", go_next, NEEDS_STOP },
	{ "stepIn", step_in, NEEDS_STOP },
	{ "stepOut", step_out, NEEDS_STOP },
	{ "stepBack", step_back, NEEDS_STOP },
	{ "reverseContinue", reverse_continue, NEEDS_STOP },
	{ "pause", pause_run, NEEDS_PROGRAM },
	{ "terminate", leave, NEEDS_NOTHING },
	{ "disconnect", leave, NEEDS_NOTHING },
};

/* Sends the events that follow the answer to a request. */
static void follow_up(struct dap_session *s, const char *command)
{
	GString *why = g_string_new(NULL);
	if (strcmp(command, "launch") == 0 || strcmp(command, "attach") == 0) {
		send_event(s, "initialized", NULL);
		say_why(s);
	} else if (strcmp(command, "configurationDone") == 0) {
		renew_threads(s);
		if (s->entry)
			tell_stop(s, "entry", "the beginning of main", NULL);
		else if (!go_on(s, "-exec-continue", why))
			tell_stop(s, "exception", why->str, NULL);
	} else if (strcmp(command, "terminate") == 0) {
		send_event(s, "terminated", NULL);
	} else if (strcmp(command, "disconnect") == 0) {
		s->over = true;
	}
	g_string_free(why, TRUE);
}

/* May the request be served now? False: it was put off, or `why` says why not. */
static bool is_time(struct dap_session *s, enum needs needs, json_t *message, GString *why)
{
	if (needs != NEEDS_NOTHING && !s->launched) {
		g_string_assign(why, "the program is not there: send 'launch' first");
		return false;
	}
	if (!s->running || needs == NEEDS_NOTHING || needs == NEEDS_PROGRAM)
		return true;
	if (needs == NEEDS_STOP) {
		g_string_assign(why, "the program runs: 'pause' it first");
		return false;
	}
	g_queue_push_tail(s->waiting, json_incref(message));
	/* a step is short, and would not continue as the same step */
	if (!s->interrupted && s->going && g_str_has_prefix(s->going, "-exec-continue")) {
		s->interrupted = true;
		json_decref(target_command(&s->target, "-exec-interrupt", why));
		g_string_truncate(why, 0);
	}
	return false;
}

static void serve(struct dap_session *s, json_t *message)
{
	const char *type = text_of(message, "type"), *command = text_of(message, "command");
	json_t *given = json_object_get(message, "arguments");
	GString *why = g_string_new(NULL);
	if (!type || strcmp(type, "request") != 0 || !command ||
	    !json_is_integer(json_object_get(message, "seq"))) {
		/* Ignored: responses, as the adapter sends no requests, and texts that are no
		 * message. */
		if (!type || strcmp(type, "response") != 0)
			say(s, "heddle: a message that is no request\n");
		g_string_free(why, TRUE);
		return;
	}
	size_t i = 0;
	while (i < G_N_ELEMENTS(requests) && strcmp(requests[i].name, command) != 0)
		i++;
	json_t *args = json_is_object(given) ? json_incref(given) : json_object();
	json_t *body = json_object();
	if (i == G_N_ELEMENTS(requests))
		g_string_printf(why, "heddle does not serve '%s'", command);
	else if (given && !json_is_object(given) && !json_is_null(given))
		g_string_assign(why, "'arguments' has to be an object");
	bool good = why->len == 0 && is_time(s, requests[i].needs, message, why);
	if (good) {
		good = requests[i].serve(s, args, body, why);
		respond(s, message, body, good ? NULL : why->str);
		if (good)
			follow_up(s, command);
	} else if (why->len > 0) {
		respond(s, message, NULL, why->str);
	}
	json_decref(args);
	json_decref(body);
	g_string_free(why, TRUE);
}

/* ---- the loop ---- */

static void turn(struct dap_session *s)
{
	struct mi_record *r = s->launched ? g_queue_pop_head(s->target.records) : NULL;
	json_t *message;
	if (r) {
		take_record(s, r);
		mi_release(r);
		g_free(r);
	} else if (s->launched && s->target.lost) {
		say(s, "heddle: gdb or its server has ended\n");
		target_close(&s->target);
		s->launched = false;
		send_event(s, "terminated", NULL);
	} else if (!s->running && (message = g_queue_pop_head(s->waiting)) != NULL) {
		serve(s, message);
		json_decref(message);
	} else if (!s->running && s->interrupted) {
		GString *why = g_string_new(NULL);
		s->interrupted = false;
		char *command = g_strdup(s->going);
		if (!go_on(s, command, why))
			tell_stop(s, "exception", why->str, NULL);
		g_free(command);
		g_string_free(why, TRUE);
	} else if ((message = g_queue_pop_head(s->wire.received)) != NULL) {
		serve(s, message);
		json_decref(message);
	} else if (s->wire.gone) {
		s->over = true;
	} else {
		target_wait(&s->target, -1);
	}
}

static void free_numbers(gpointer list)
{
	g_array_free(list, TRUE);
}

static void free_data_point(gpointer data)
{
	struct data_point *d = data;
	g_free(d->name);
	g_free(d->type);
	g_free(d);
}

static void release(struct dap_session *s)
{
	forget_stop(s);
	target_close(&s->target);
	for (json_t *m; (m = g_queue_pop_head(s->waiting)) != NULL;)
		json_decref(m);
	g_queue_free(s->waiting);
	g_free(s->going);
	g_array_free(s->threads, TRUE);
	g_ptr_array_free(s->frames, TRUE);
	g_ptr_array_free(s->sets, TRUE);
	g_ptr_array_free(s->objects, TRUE);
	g_hash_table_destroy(s->sources);
	g_array_free(s->functions, TRUE);
	g_array_free(s->watches, TRUE);
	g_hash_table_destroy(s->pending);
	g_ptr_array_free(s->data, TRUE);
	g_hash_table_destroy(s->files);
	wire_close(&s->wire);
}

bool dap_serve(const struct dap_start *start, struct error *error)
{
	struct dap_session s = {
		.start = start,
		.line_base = 1,
		.waiting = g_queue_new(),
		.threads = g_array_new(FALSE, FALSE, sizeof(struct dap_thread)),
		.frames = g_ptr_array_new(),
		.sets = g_ptr_array_new(),
		.objects = g_ptr_array_new_with_free_func(g_free),
		.sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_numbers),
		.functions = g_array_new(FALSE, FALSE, sizeof(int)),
		.watches = g_array_new(FALSE, FALSE, sizeof(struct watch)),
		.pending = g_hash_table_new(g_direct_hash, g_direct_equal),
		.data = g_ptr_array_new_with_free_func(free_data_point),
		.files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
	wire_open(&s.wire, start->in, start->out);
	s.target = (struct target){ .client = &s.wire, .said = send_output, .context = &s };
	signal(SIGPIPE, SIG_IGN);
	while (!s.over)
		turn(&s);
	bool ok = !s.wire.bad;
	if (!ok)
		*error = s.wire.error;
	release(&s);
	return ok;
}
