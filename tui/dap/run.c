/* run.c - the run goes on, forward and backward, and stops. */
#include "tui/dap/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- it goes on ---- */

bool go_on(struct dap_session *s, const char *command, GString *why)
{
	g_string_truncate(s->target.notes, 0);
	json_t *body = target_command(&s->target, command, why);
	if (!body)
		return false;
	json_decref(body);
	if (command != s->going) {
		g_free(s->going);
		s->going = g_strdup(command);
	}
	s->going_token = s->target.token;
	s->running = true;
	s->shown = s->paused = false;
	forget_stop(s);
	return true;
}

/* A step of the thread that the request names. */
static bool step(struct dap_session *s, const json_t *args, const char *line,
                 const char *instruction, bool back, GString *why)
{
	const struct dap_thread *t =
	        find_thread(s, json_integer_value(json_object_get(args, "threadId")));
	const char *granularity = text_of(args, "granularity");
	if (!t) {
		g_string_assign(why, "no such thread ('threadId')");
		return false;
	}
	bool fine = granularity && strcmp(granularity, "instruction") == 0;
	/* A thread that waits in the recorder for its turn comes back from there first. */
	unsigned level = back ? 0 : first_level(s, t->gdb);
	bool finish = level > 0 || strcmp(line, "finish") == 0;
	GString *command = g_string_new(NULL);
	g_string_printf(command, "-exec-%s --thread %s",
	                level > 0 ? "finish"
	                : fine    ? instruction
	                          : line,
	                t->gdb);
	if (finish)
		g_string_append_printf(command, " --frame %u", level > 0 ? level - 1 : 0);
	if (back) {
		g_string_append(command, " --reverse");
		json_decref(target_command(&s->target, "-gdb-set scheduler-locking on", why));
	}
	bool ok = go_on(s, command->str, why);
	g_string_free(command, TRUE);
	return ok;
}

bool go_next(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)body;
	return step(s, args, "next", "next-instruction", false, why);
}

bool step_in(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)body;
	return step(s, args, "step", "step-instruction", false, why);
}

bool step_out(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)body;
	return step(s, args, "finish", "finish", false, why);
}

bool step_back(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)body;
	return step(s, args, "next", "next-instruction", true, why);
}

bool go_continue(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)args;
	json_object_set_new(body, "allThreadsContinued", json_true());
	return go_on(s, "-exec-continue", why);
}

bool reverse_continue(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)args;
	(void)body;
	return go_on(s, "-exec-continue --reverse", why);
}

bool pause_run(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)args;
	(void)body;
	if (!s->running)
		return true;
	s->paused = true;
	json_t *answer = target_command(&s->target, "-exec-interrupt", why);
	json_decref(answer);
	return answer != NULL;
}

/* ---- it stops ---- */

/* gdb's reasons and the protocol's. */
static const struct {
	const char *gdb, *editor, *description;
} reasons[] = {
	{ "breakpoint-hit", "breakpoint", NULL },
	{ "watchpoint-trigger", "data breakpoint", NULL },
	{ "read-watchpoint-trigger", "data breakpoint", NULL },
	{ "access-watchpoint-trigger", "data breakpoint", NULL },
	{ "watchpoint-scope", "data breakpoint", "the watched variable is no longer there" },
	{ "end-stepping-range", "step", NULL },
	{ "function-finished", "step", NULL },
	{ "location-reached", "step", NULL },
	{ "no-history", "pause", "the beginning or the end of the run" },
};

/* "acct.balance: 100, then 150": the values that a watchpoint saw. */
static void describe_watch(struct dap_session *s, const json_t *record, json_t *body)
{
	static const char *const kinds[] = { "wpt", "hw-rwpt", "hw-awpt" };
	const json_t *value = json_object_get(record, "value"), *point = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(kinds) && !point; i++)
		point = json_object_get(record, kinds[i]);
	const char *number = text_of(point, "number"), *name = watched_name(s, number);
	const char *old = text_of(value, "old"), *new = text_of(value, "new");
	new = new ? new : text_of(value, "value");
	if (!number)
		return;
	json_object_set_new(body, "hitBreakpointIds", json_pack("[i]", atoi(number)));
	GString *text = g_string_new(name ? name : text_of(point, "exp"));
	if (old)
		g_string_append_printf(text, ": %s, then %s", old, new ? new : "?");
	else if (new)
		g_string_append_printf(text, ": %s", new);
	json_object_set_new(body, "description", json_bytes(text->str, text->len));
	json_object_set_new(body, "text", json_bytes(text->str, text->len));
	g_string_free(text, TRUE);
}

/* Heddle's remark on the stop becomes its description, and is printed. */
static bool describe_notes(struct dap_session *s, json_t *body)
{
	GString *notes = s->target.notes;
	const char *mark = strstr(notes->str, "heddle: ");
	if (!mark)
		return false;
	mark += strlen("heddle: ");
	char *words = g_strchomp(g_strndup(mark, strcspn(mark, "\n(")));
	json_object_set_new(body, "description", json_bytes(words, strlen(words)));
	json_object_set_new(body, "text", json_bytes(words, strlen(words)));
	g_free(words);
	send_output(s, "console", notes->str, notes->len);
	g_string_truncate(notes, 0);
	return true;
}

void tell_stop(struct dap_session *s, const char *reason, const char *description,
               const json_t *record)
{
	unsigned thread = thread_id(s, text_of(record, "thread-id"));
	json_t *body = json_pack("{sssb}", "reason", reason, "allThreadsStopped", 1);
	if (thread == 0 && s->threads->len > 0)
		thread = g_array_index(s->threads, struct dap_thread, 0).id;
	if (thread)
		json_object_set_new(body, "threadId", json_integer(thread));
	if (description)
		json_object_set_new(body, "description",
		                    json_bytes(description, strlen(description)));
	const char *number = text_of(record, "bkptno");
	if (number)
		json_object_set_new(body, "hitBreakpointIds", json_pack("[i]", atoi(number)));
	if (strcmp(reason, "data breakpoint") == 0)
		describe_watch(s, record, body);
	describe_notes(s, body);
	s->shown = true;
	send_event(s, "stopped", body);
}

/* The process has ended as gdb sees it: "exit-code" is octal. */
static void tell_exit(struct dap_session *s, const json_t *record)
{
	const char *code = text_of(record, "exit-code");
	bool killed = text_of(record, "signal-name") != NULL;
	send_event(s, "exited",
	           json_pack("{sI}", "exitCode",
	                     (json_int_t)(code     ? strtol(code, NULL, 8)
	                                  : killed ? 1
	                                           : 0)));
	send_event(s, "terminated", NULL);
}

static void take_stop(struct dap_session *s, const json_t *record)
{
	const char *reason = text_of(record, "reason"),
	           *signal = text_of(record, "signal-name");
	s->running = false;
	if (!s->configured) /* the stop at main, at the session's start */
		return;
	if (reason && g_str_has_prefix(reason, "exited")) {
		tell_exit(s, record);
		return;
	}
	bool sigint = signal && strcmp(signal, "SIGINT") == 0;
	if (s->interrupted && sigint && !s->paused)
		return; /* set breakpoints, and continue */
	s->interrupted = false;
	g_autoptr(GString) why = g_string_new(NULL);
	json_decref(target_command(&s->target, "-gdb-set scheduler-locking off", why));
	drop_objects(s);
	renew_threads(s);
	for (size_t i = 0; reason && i < G_N_ELEMENTS(reasons); i++)
		if (strcmp(reasons[i].gdb, reason) == 0) {
			tell_stop(s, reasons[i].editor, reasons[i].description, record);
			return;
		}
	bool stepped = !reason && !s->paused && s->going && !strstr(s->going, "continue");
	if (!signal || sigint)
		tell_stop(s, stepped ? "step" : "pause", NULL, record);
	else if (strcmp(signal, "SIGTRAP") == 0) /* by Heddle, before the pair */
		tell_stop(s, "breakpoint", NULL, record);
	else
		tell_stop(s, "exception", text_of(record, "signal-meaning"), record);
}

void take_record(struct dap_session *s, const struct mi_record *r)
{
	if (r->kind == '*' && strcmp(r->word, "stopped") == 0) {
		take_stop(s, r->body);
	} else if (r->kind == '*' && strcmp(r->word, "running") == 0) {
		s->running = true;
		if (s->shown) { /* by a command of the user's to gdb */
			s->shown = false;
			forget_stop(s);
			send_event(s, "continued",
			           json_pack("{sIsb}", "threadId", (json_int_t)1,
			                     "allThreadsContinued", 1));
		}
	} else if (r->kind == '=' && strcmp(r->word, "breakpoint-modified") == 0) {
		breakpoint_modified(s, json_object_get(r->body, "bkpt"));
	} else if (r->kind == '^' && strcmp(r->word, "error") == 0 && s->running &&
	           r->token == s->going_token) {
		/* it should have continued, and could not */
		s->running = s->interrupted = false;
		drop_objects(s);
		renew_threads(s);
		tell_stop(s, "exception", text_of(r->body, "msg"), NULL);
	}
}
