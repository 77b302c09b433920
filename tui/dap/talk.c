/* talk.c - the editor's and gdb's messages: events to the editor, fields of its requests. */
#include "tui/dap/session.h"

/* ---- events ---- */

void send_event(struct dap_session *s, const char *name, json_t *body)
{
	wire_send(&s->wire, json_pack("{ssssso}", "type", "event", "event", name, "body",
	                              body ? body : json_object()));
}

void send_output(void *session, const char *category, const char *text, size_t length)
{
	if (length > 0)
		send_event(session, "output",
		           json_pack("{ssso}", "category", category, "output",
		                     json_bytes(text, length)));
}

/* ---- arguments ---- */

const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

const char *needed_text(const json_t *args, const char *name, GString *why)
{
	const char *text = text_of(args, name);
	if (!text)
		g_string_printf(why, "'%s' has to be given, as a text", name);
	return text;
}

json_t *ask_quoted(struct dap_session *s, GString *why, const char *command,
                   const char *argument)
{
	GString *line = g_string_new(command);
	g_string_append_c(line, ' ');
	mi_append_quoted(line, argument);
	json_t *body = target_command(&s->target, line->str, why);
	g_string_free(line, TRUE);
	return body;
}
