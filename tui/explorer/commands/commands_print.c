/*
 * commands_print.c - print and display: values of variables, objects and expressions.
 *
 * The meaning of a name depends on the selected event and frame, as in a debugger: a local
 * variable of the frame comes first, `cells[i]` is the element that i has the number of, and
 * `job->arg` is of the object that job points to then. All of these are written as the names
 * that the recording has, which engine/base/condition.h reads.
 */
#include "engine/trace/shown.h"
#include "engine/witness/check_reach.h"
#include "tui/explorer/commands/commands.h"
#include "tui/explorer/messages.h"

#include <string.h>

enum { LONGEST_TEXT = 100000, DEEPEST = 20 };

/* -- variables ---------------------------------------------------------------------- */

static void append_name(const struct trace *t, uint32_t variable, GString *out)
{
	const char *name = trace_variable_name(t, variable);
	append_escaped(out, name, strlen(name));
}

static void append_print(const struct app *app, uint32_t v, GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	struct known_value known = session_value(s, v, s->event);
	append_name(t, v, out);
	g_string_append(out, " = ");
	if (known.value)
		shown_append(t, v, known.value, s->event, out);
	else
		g_string_append(out, known.event == NONE ? "its initial value" : "unknown");
	if (known.event != NONE)
		g_string_append_printf(
		        out, "  (%s by %s, event %u)",
		        op_writes(t->events[known.event].op) ? "written" : "read",
		        trace_thread_name(t, t->events[known.event].thread), known.event);
}

/* The event, from 1, since which the variable's block exists; 0: from the beginning. False:
 * not yet at the selected event. */
static bool is_there(const struct session *s, uint32_t variable, uint32_t *since)
{
	const struct trace *t = s->trace;
	uint32_t block = t->variables[variable].block;
	uint32_t alloc = block != NONE ? t->blocks[block].alloc : NONE;
	*since = alloc != NONE ? alloc + 1 : 0;
	return alloc == NONE || alloc <= s->event;
}

/* Append the variables that are members or elements of the object, or, with `prefix`, whose
 * names begin so. */
static void append_members(const struct app *app, const char *object, bool prefix, GString *out)
{
	const struct trace *t = app_trace(app);
	gsize length = strlen(object);
	uint32_t since;
	for (uint64_t v = 0; v < t->variables_count && out->len < LONGEST_TEXT; v++) {
		const char *name = trace_variable_name(t, v);
		const char *last = name;
		for (const char *at = name; (at = strstr(at, "::")); at += 2)
			last = at + 2;
		if (!g_str_has_prefix(name, object)) {
			if (!g_str_has_prefix(last, object))
				continue;
			name = last;
		}
		bool member = name[length] == '.' || name[length] == '[' || name[length] == '-';
		if ((!prefix && !member) || !is_there(app->session, (uint32_t)v, &since))
			continue;
		append_print(app, (uint32_t)v, out);
		g_string_append_c(out, '\n');
	}
}

/* -- pointers ------------------------------------------------------------------------ */

/* The variable of the object at an address that `accept` takes, or NONE. Of several blocks at
 * that address, the last up to the selected event. */
static uint32_t find_at(const struct session *s, uint64_t address, const char *member,
                        bool (*accept)(const struct trace *, uint32_t, const char *, GString *),
                        GString *name)
{
	const struct trace *t = s->trace;
	uint32_t found = NONE, best = 0, since;
	g_autoptr(GString) accepted = g_string_new(NULL);
	for (uint32_t v = 0; address > UINT16_MAX && v < t->variables_count; v++) {
		if (t->variables[v].address != address || t->variables[v].size == 0 ||
		    !is_there(s, v, &since) || (found != NONE && since < best) ||
		    !accept(t, v, member, accepted))
			continue;
		found = v;
		best = since;
		g_string_assign(name, accepted->str);
	}
	return found;
}

/* The name of `member` in the object that the variable is the first of: "n" and "q.first#3->m"
 * give "q.first#3->n". */
static bool name_member(const struct trace *t, uint32_t first, const char *member,
                        GString *name)
{
	g_string_assign(name, trace_variable_name(t, first));
	for (gsize n = name->len; n > 0; n--) {
		if (name->str[n - 1] != '.' && name->str[n - 1] != '>')
			continue;
		g_string_truncate(name, n);
		g_string_append(name, member);
		if (named_variable(t, name->str) != NONE)
			return true;
	}
	return false;
}

/* The name of the object that the variable is the first of: "q.first#3". */
static bool name_object(const struct trace *t, uint32_t first, const char *member,
                        GString *name)
{
	(void)member;
	g_string_assign(name, trace_variable_name(t, first));
	const char *arrow = g_strrstr(name->str, "->"), *dot = strrchr(name->str, '.');
	if (arrow || dot)
		g_string_truncate(name, (gsize)((arrow ? arrow : dot) - name->str));
	return true;
}

/* The address that a pointer holds at the selected event; false: not known, or no recorded
 * pointer. */
static bool pointed_to(const struct app *app, const char *pointer, uint64_t *address)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	uint32_t v = session_find_here(s, pointer);
	if (v == NONE || t->variables[v].size == 0)
		return false;
	struct condition_value value =
	        trace_condition_value(t, v, session_value(s, v, s->event).value);
	*address = (uint64_t)value.number;
	return value.known;
}

/* -- names of the selected frame ------------------------------------------------------------ */

struct reader {
	const struct app *app;
	const char *at;
	struct error *error;
	int depth;
};

static char *in_recorded_names(const struct app *app, const char *text, int depth,
                               struct error *error);
static bool evaluate(const struct app *app, const char *text, struct condition_value *value,
                     struct error *error);

static gsize identifier_length(const char *s)
{
	gsize n = 0;
	if (!g_ascii_isalpha(*s) && *s != '_')
		return 0;
	while (g_ascii_isalnum(s[n]) || s[n] == '_' || (s[n] == ':' && s[n + 1] == ':') ||
	       (n && s[n] == ':' && s[n - 1] == ':'))
		n++;
	return n;
}

/* "[i + 1]" as "[3]". */
static bool read_index(struct reader *r, GString *name)
{
	int open = 0;
	gsize n = 0;
	do {
		open += (r->at[n] == '[') - (r->at[n] == ']');
		if (r->at[n] == '\0')
			return refuse(r->error, NO_BRACKET, r->at);
		n++;
	} while (open > 0);
	char *inside = g_strndup(r->at + 1, n - 2), *index;
	struct condition_value value;
	bool good = (index = in_recorded_names(r->app, inside, r->depth + 1, r->error)) &&
	            evaluate(r->app, index, &value, r->error);
	if (good)
		g_string_append_printf(name, "[%" G_GINT64_FORMAT "]", value.number);
	g_free(inside);
	g_free(index);
	r->at += n;
	return good;
}

/* Reads "->n": the member of the object that pointer `name` points to at the selected event. */
static bool read_arrow(struct reader *r, GString *name)
{
	gsize length = identifier_length(r->at + 2);
	g_autofree char *member = g_strndup(r->at + 2, length);
	uint64_t address;
	bool known = pointed_to(r->app, name->str, &address);
	bool good = !known || address != 0 || refuse(r->error, NO_OBJECT_AT_NULL, name->str);
	if (!known || find_at(r->app->session, address, member, name_member, name) == NONE)
		g_string_append_printf(name, "->%s", member);
	r->at += 2 + length;
	return good;
}

/* Reads a name, with its members and elements. */
static bool read_name(struct reader *r, GString *out)
{
	const struct app *app = r->app;
	const struct trace *t = app_trace(app);
	gsize length = identifier_length(r->at);
	gsize recorded = named_length((void *)t, r->at), chain = length;
	while (r->at[chain] && (g_ascii_isalnum(r->at[chain]) || strchr("_.[]", r->at[chain]) ||
	                        (r->at[chain] == '-' && r->at[chain + 1] == '>') ||
	                        (r->at[chain] == '>' && r->at[chain - 1] == '-')))
		chain++;
	if (recorded > chain) { /* a recording's name, not C's: "q.first#3->n",
		                 * "stack@T1.f::x" */
		g_string_append_len(out, r->at, (gssize)recorded);
		r->at += recorded;
		return true;
	}
	g_autoptr(GString) name = g_string_new_len(r->at, (gssize)length);
	r->at += length;
	bool good = true;
	while (good) {
		if (*r->at == '[') {
			good = read_index(r, name);
		} else if (*r->at == '.' && identifier_length(r->at + 1)) {
			length = identifier_length(r->at + 1);
			g_string_append_len(name, r->at, (gssize)length + 1);
			r->at += length + 1;
		} else if (r->at[0] == '-' && r->at[1] == '>' && identifier_length(r->at + 2)) {
			good = read_arrow(r, name);
		} else {
			break;
		}
	}
	uint32_t v = session_find_here(app->session, name->str);
	g_string_append(out, v != NONE ? trace_variable_name(t, v) : name->str);
	return good;
}

/* The expression with its variables under their names in the recording at the selected event.
 * NULL and `error`. Caller frees. */
static char *in_recorded_names(const struct app *app, const char *text, int depth,
                               struct error *error)
{
	if (depth > DEEPEST) {
		refuse(error, NO_DEPTH, text);
		return NULL;
	}
	struct reader r = { app, text, error, depth };
	GString *out = g_string_new(NULL);
	bool good = true;
	while (good && *r.at) {
		gsize number = strspn(r.at, "0123456789abcdefxABCDEFX");
		if (g_ascii_isdigit(*r.at)) {
			g_string_append_len(out, r.at, (gssize)number);
			r.at += number;
		} else if (identifier_length(r.at)) {
			good = read_name(&r, out);
		} else {
			g_string_append_c(out, *r.at++);
		}
	}
	return g_string_free(out, !good);
}

/* -- expressions --------------------------------------------------------------------- */

static bool evaluate(const struct app *app, const char *text, struct condition_value *value,
                     struct error *error)
{
	const struct session *s = app->session;
	struct stop_condition *expression = stop_condition_new(s, text, error);
	uint32_t missing;
	if (expression == NULL)
		return false;
	*value = stop_condition_value(s, expression, s->event, &missing);
	stop_condition_free(expression);
	if (value->known)
		return true;
	if (missing == NONE)
		return refuse(error, NO_QUOTIENT, text);
	return refuse(error, NO_VALUE_YET, trace_variable_name(s->trace, missing));
}

static void append_formatted(struct condition_value value, char format, GString *out)
{
	guint64 bits = (guint64)value.number;
	if (value.bytes && value.bytes < sizeof bits)
		bits &= (UINT64_C(1) << (8 * value.bytes)) - 1;
	if (format == 'x')
		g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", bits);
	else if (format == 'o')
		g_string_append_printf(out, "0%" G_GINT64_MODIFIER "o", bits);
	else if (format == 'u')
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, bits);
	else
		g_string_append_printf(out, "%" G_GINT64_FORMAT, value.number);
	if (format == 'c' && value.number >= ' ' && value.number <= '~')
		g_string_append_printf(out, " '%c'", (char)value.number);
}

/* Show the members of an object, or the variables whose names begin with the text. */
static bool show_members(struct app *app, const char *object, bool prefix)
{
	GString *out = g_string_new(NULL);
	append_members(app, object, prefix, out);
	if (out->len == 0) {
		g_string_free(out, TRUE);
		return false;
	}
	app_show_text(app, object, out);
	return true;
}

/* The members of the object that a recorded pointer points to at the selected event. */
static bool show_pointed(struct app *app, const char *pointer, const char *typed,
                         struct error *error)
{
	g_autoptr(GString) object = g_string_new(NULL);
	uint64_t address = 0;
	bool good = true;
	if (!pointed_to(app, pointer, &address))
		good = refuse(error, NO_POINTER, typed);
	else if (address == 0)
		good = refuse(error, NO_OBJECT_AT_NULL, typed);
	else if (find_at(app->session, address, NULL, name_object, object) == NONE ||
	         (!show_members(app, object->str, false) &&
	          !show_members(app, object->str, true)))
		good = refuse(error, NO_OBJECT_RECORDED, typed);
	return good;
}

/* Prints `*p`. If the pointer is not recorded, its object may be, as "p->n". */
static bool print_object(struct app *app, const char *text, struct error *error)
{
	g_autofree char *pointer = in_recorded_names(app, text, 0, error);
	bool good = pointer != NULL;
	bool recorded = good && session_find_here(app->session, pointer) != NONE;
	if (good && (recorded || !show_members(app, pointer, false)))
		good = show_pointed(app, pointer, text, error);
	return good;
}

/* A plain name, not an expression? */
static bool is_name(const char *text)
{
	return identifier_length(text) > 0 && strpbrk(text, " +*/%<=&|!()") == NULL;
}

static bool print_text(struct app *app, const char *typed, const char *text, char format,
                       struct error *error)
{
	uint32_t v = session_find_short(app->session, text);
	g_autoptr(GString) out = g_string_new(NULL);
	struct condition_value value;
	bool good = true;
	if (v != NONE && format == '\0') {
		append_print(app, v, out);
		app_say(app, "%s", out->str);
	} else if (is_name(text) && v == NONE) {
		good = show_members(app, text, false) || show_members(app, text, true) ||
		       refuse(error, NO_VARIABLE, typed);
	} else if ((good = evaluate(app, text, &value, error))) {
		append_formatted(value, format, out);
		app_say(app, SAYS_VALUE, typed, out->str);
	}
	return good;
}

bool word_print(struct app *app, const char *arguments, struct error *error)
{
	char format = '\0';
	if (*arguments == '/') { /* gdb's /x */
		format = arguments[1];
		if (format == '\0' || strchr("xduoc", format) == NULL ||
		    (arguments[2] && arguments[2] != ' '))
			return refuse(error, NO_FORMAT, (int)strcspn(arguments, " "),
			              arguments);
		arguments += 2 + strspn(arguments + 2, " ");
	}
	if (*arguments == '\0')
		return refuse(error, WANTS_EXPRESSION);
	if (!need_index(app, error) || !need_events(app, error))
		return false;
	if (*arguments == '*' && is_name(arguments + 1))
		return print_object(app, arguments + 1, error);
	g_autofree char *text = in_recorded_names(app, arguments, 0, error);
	return text && print_text(app, arguments, text, format, error);
}

uint32_t variable_of(const struct app *app, const char *name, struct error *error)
{
	g_autofree char *text = in_recorded_names(app, name, 0, error);
	uint32_t v = text ? session_find_short(app->session, text) : NONE;
	if (text && v == NONE)
		refuse(error, NO_VARIABLE, name);
	return v;
}

/* -- display ------------------------------------------------------------------------- */

void info_display(const struct app *app, const char *rest, GString *out)
{
	const GArray *list = app->session->watches;
	for (guint i = 0; i < list->len; i++) {
		append_print(app, g_array_index(list, uint32_t, i), out);
		g_string_append_c(out, '\n');
	}
	if (list->len == 0)
		g_string_append(out, SAYS_NO_DISPLAY);
}

/* As gdb's: the variables of the selected frame. */
void info_locals(const struct app *app, const char *rest, GString *out)
{
	const struct trace *t = app_trace(app);
	gsize before = out->len;
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (!session_is_local(app->session, v))
			continue;
		append_print(app, v, out);
		g_string_append_c(out, '\n');
	}
	if (out->len == before)
		g_string_append(out, SAYS_NO_LOCALS);
	g_string_append(out, SAYS_LOCALS_RECORDED);
}

bool word_display(struct app *app, const char *arguments, struct error *error)
{
	uint32_t v = variable_of(app, arguments, error);
	if (v == NONE)
		return false;
	g_array_append_val(app->session->watches, v);
	app_refresh(app);
	return true;
}

bool word_undisplay(struct app *app, const char *arguments, struct error *error)
{
	GArray *watches = app->session->watches;
	uint32_t v = *arguments ? variable_of(app, arguments, error) : NONE;
	if (*arguments && v == NONE)
		return false;
	for (guint i = watches->len; i-- > 0;)
		if (v == NONE || g_array_index(watches, uint32_t, i) == v)
			g_array_remove_index(watches, i);
	app_refresh(app);
	return true;
}
