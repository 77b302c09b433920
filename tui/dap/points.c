/* points.c - breakpoints of lines, functions and data. */
#include "tui/dap/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static json_t *unverified(const char *why)
{
	return json_pack("{sbso}", "verified", 0, "message", json_bytes(why, strlen(why)));
}

/* The number of hits to ignore: 2 for "3", the third time; -1 and `why` for another text. */
static long ignored(const json_t *point, GString *why)
{
	const char *text = text_of(point, "hitCondition");
	if (!text || !*text)
		return 0;
	while (strchr(" >=", *text) && *text)
		text++;
	char *end;
	guint64 count = g_ascii_strtoull(text, &end, 10);
	if (g_ascii_isdigit(*text) && *end == '\0' && count >= 1 && count <= INT32_MAX)
		return (long)count - 1;
	g_string_assign(why, "the number of hits has to be a number: 3 stops from the third "
	                     "on");
	return -1;
}

static void delete_point(struct dap_session *s, int number)
{
	GString *why = g_string_new(NULL);
	json_decref(target_ask(&s->target, why, "-break-delete %d", number));
	g_string_free(why, TRUE);
	g_hash_table_remove(s->pending, GINT_TO_POINTER(number));
}

/* gdb's number of the breakpoint of an answer; 0: none. */
static int number_of(const json_t *bkpt)
{
	const char *number = text_of(bkpt, "number");
	return number ? atoi(number) : 0;
}

static bool has_code(const json_t *bkpt)
{
	const char *address = text_of(bkpt, "addr");
	return address && strcmp(address, "<PENDING>") != 0;
}

/* The breakpoint in the editor's form; `bkpt` is gdb's. */
static json_t *describe(const struct dap_session *s, const json_t *bkpt)
{
	const json_t *first = json_array_get(json_object_get(bkpt, "locations"), 0);
	const char *line = text_of(bkpt, "line"), *path = text_of(bkpt, "fullname");
	if (!line)
		line = text_of(first, "line");
	if (!path)
		path = text_of(first, "fullname");
	json_t *j = json_pack("{sisb}", "id", number_of(bkpt), "verified", has_code(bkpt));
	if (line)
		json_object_set_new(j, "line",
		                    json_integer(atoi(line) - 1 + (int)s->line_base));
	if (path)
		json_object_set_new(j, "source", json_pack("{ss}", "path", path));
	if (!has_code(bkpt))
		json_object_set_new(j, "message",
		                    json_string("the program has no code there (was it built "
		                                "with -g from this file?)"));
	return j;
}

/* Sets a breakpoint at gdb's `location` and returns it; NULL and `why`. */
static json_t *insert(struct dap_session *s, const char *location, const json_t *point,
                      GString *why)
{
	const char *condition = text_of(point, "condition");
	long before = ignored(point, why);
	if (before < 0)
		return NULL;
	GString *command = g_string_new("-break-insert -f");
	if (condition && *condition) {
		g_string_append(command, " -c ");
		mi_append_quoted(command, condition);
	}
	if (before > 0)
		g_string_append_printf(command, " -i %ld", before);
	g_string_append_printf(command, " %s", location);
	json_t *answer = target_command(&s->target, command->str, why);
	json_t *bkpt = json_incref(json_object_get(answer, "bkpt"));
	json_decref(answer);
	g_string_free(command, TRUE);
	return bkpt;
}

static char *line_location(const char *path, json_int_t line)
{
	GString *text = g_string_new("--source ");
	mi_append_quoted(text, path);
	g_string_append_printf(text, " --line %" JSON_INTEGER_FORMAT, line);
	return g_string_free(text, FALSE);
}

/* Sets a breakpoint by the file's path; if the program was built elsewhere, by the file's
 * name. */
static json_t *insert_line(struct dap_session *s, const char *path, const json_t *point,
                           GString *why)
{
	const json_t *given = json_object_get(point, "line");
	json_int_t line = json_integer_value(given) + 1 - (json_int_t)s->line_base;
	if (!json_is_integer(given) || line < 1 || line > INT32_MAX) {
		g_string_assign(why, "'line' has to be the number of a line");
		return NULL;
	}
	char *location = line_location(path, line);
	json_t *bkpt = insert(s, location, point, why);
	g_free(location);
	if (!bkpt || has_code(bkpt))
		return bkpt;
	char *name = g_path_get_basename(path);
	location = line_location(name, line);
	json_t *other = insert(s, location, point, why);
	g_free(location);
	g_free(name);
	bool better = other && has_code(other);
	json_t *worse = better ? bkpt : other;
	if (worse)
		delete_point(s, number_of(worse));
	json_decref(worse);
	return better ? other : bkpt;
}

/* Keep a new breakpoint and answer for it; `bkpt` is released. */
static void answer_for(struct dap_session *s, json_t *bkpt, GArray *numbers, const GString *why,
                       json_t *answers)
{
	int number = number_of(bkpt);
	if (number)
		g_array_append_val(numbers, number);
	if (number && !has_code(bkpt))
		g_hash_table_add(s->pending, GINT_TO_POINTER(number));
	json_array_append_new(answers, number ? describe(s, bkpt) : unverified(why->str));
	json_decref(bkpt);
}

static void delete_all(struct dap_session *s, GArray *numbers)
{
	for (guint i = 0; i < numbers->len; i++)
		delete_point(s, g_array_index(numbers, int, i));
	g_array_set_size(numbers, 0);
}

/* An array of objects, which a list of breakpoints is; NULL and `why`. */
static const json_t *points_of(const json_t *args, GString *why)
{
	const json_t *list = json_object_get(args, "breakpoints"), *item;
	size_t i;
	bool good = !list || json_is_array(list);
	json_array_foreach(list, i, item) good &= json_is_object(item);
	static json_t *none;
	if (!none)
		none = json_array();
	if (!good)
		g_string_assign(why, "'breakpoints' has to be an array of objects");
	return good ? list ? list : none : NULL;
}

bool set_breakpoints(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	const json_t *list = points_of(args, why), *item;
	const char *path = needed_text(json_object_get(args, "source"), "path", why);
	if (!list || !path)
		return false;
	GArray *numbers = g_hash_table_lookup(s->sources, path);
	if (!numbers) {
		numbers = g_array_new(FALSE, FALSE, sizeof(int));
		g_hash_table_insert(s->sources, g_strdup(path), numbers);
	}
	delete_all(s, numbers);
	json_t *answers = json_array();
	size_t i;
	json_array_foreach(list, i, item)
	        answer_for(s, insert_line(s, path, item, why), numbers, why, answers);
	json_object_set_new(body, "breakpoints", answers);
	return true;
}

bool set_function_breakpoints(struct dap_session *s, const json_t *args, json_t *body,
                              GString *why)
{
	const json_t *list = points_of(args, why), *item;
	if (!list)
		return false;
	delete_all(s, s->functions);
	json_t *answers = json_array();
	size_t i;
	json_array_foreach(list, i, item)
	{
		const char *name = needed_text(item, "name", why);
		GString *location = g_string_new("--function ");
		mi_append_quoted(location, name ? name : "");
		answer_for(s, name ? insert(s, location->str, item, why) : NULL, s->functions,
		           why, answers);
		g_string_free(location, TRUE);
	}
	json_object_set_new(body, "breakpoints", answers);
	return true;
}

bool set_exception_breakpoints(struct dap_session *s, const json_t *args, json_t *body,
                               GString *why)
{
	(void)s;
	(void)args;
	(void)why;
	json_object_set_new(body, "breakpoints", json_array());
	return true;
}

void breakpoint_modified(struct dap_session *s, const json_t *bkpt)
{
	int number = number_of(bkpt);
	if (number && has_code(bkpt) &&
	    g_hash_table_remove(s->pending, GINT_TO_POINTER(number)))
		send_event(s, "breakpoint",
		           json_pack("{ssso}", "reason", "changed", "breakpoint",
		                     describe(s, bkpt)));
}

/* ---- data ---- */

/* The number that an expression has in a frame; false and `why`. */
static bool number_at(struct dap_session *s, const char *frame, const char *format,
                      const char *expression, guint64 *number, GString *why)
{
	char *text = g_strdup_printf(format, expression);
	char *command = g_strdup_printf("-data-evaluate-expression%s", frame);
	json_t *answer = ask_quoted(s, why, command, text);
	const char *value = text_of(answer, "value");
	char *end = NULL;
	if (value)
		*number = g_ascii_strtoull(value, &end, 10);
	bool ok = end && end != value;
	json_decref(answer);
	g_free(command);
	g_free(text);
	return ok;
}

/* The expression's variable, where it is in memory; NULL and `why`. */
static struct data_point *data_point_of(struct dap_session *s, const char *frame,
                                        const char *expression, GString *why)
{
	enum { MOST = 32 }; /* bytes that the processor watches: four words */
	guint64 size, address;
	if (!number_at(s, frame, "(unsigned long)sizeof(%s)", expression, &size, why) ||
	    !number_at(s, frame, "(unsigned long)&(%s)", expression, &address, why))
		return NULL;
	if (size == 0 || size > MOST) {
		g_string_printf(why,
		                "%s has %" PRIu64 " bytes; the processor watches up to %d: "
		                "choose a member or an element",
		                expression, size, MOST);
		return NULL;
	}
	char *command = g_strdup_printf("-var-create%s - *", frame);
	json_t *object = ask_quoted(s, why, command, expression);
	const char *type = text_of(object, "type"), *name = text_of(object, "name");
	struct data_point *d = g_new0(struct data_point, 1);
	*d = (struct data_point){ .name = g_strdup(expression),
		                  .type = g_strdup(type ? type : ""),
		                  .address = address,
		                  .size = size };
	if (name)
		json_decref(target_ask(&s->target, why, "-var-delete %s", name));
	json_decref(object);
	g_free(command);
	return d;
}

bool data_breakpoint_info(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	const char *name = needed_text(args, "name", why);
	const json_t *set = json_object_get(args, "variablesReference");
	if (!name)
		return false;
	GString *frame = g_string_new(NULL);
	char *expression = NULL;
	if (json_integer_value(set) > 0) {
		const char *object = find_object(s, set, name, why);
		expression = object ? path_expression(s, object, why) : NULL;
		if (object && !expression)
			g_string_assign(why, "gdb has no expression for it");
		name_set_frame(s, set, frame);
	} else if (name_frame(s, json_object_get(args, "frameId"), frame, why)) {
		expression = g_strdup(name);
	}
	struct data_point *d =
	        expression ? data_point_of(s, frame->str, expression, why) : NULL;
	if (d) {
		char id[16];
		g_snprintf(id, sizeof(id), "%u", s->data->len);
		g_ptr_array_add(s->data, d);
		json_object_set_new(body, "dataId", json_string(id));
		json_object_set_new(body, "description", json_string(d->name));
		json_object_set_new(body, "accessTypes",
		                    json_pack("[sss]", "write", "read", "readWrite"));
		json_object_set_new(body, "canPersist", json_false());
	} else {
		json_object_set_new(body, "dataId", json_null());
		json_object_set_new(body, "description", json_bytes(why->str, why->len));
	}
	g_free(expression);
	g_string_free(frame, TRUE);
	return true;
}

/* gdb's watchpoint of `d`; its number, or 0 and `why`. */
static int watch(struct dap_session *s, const struct data_point *d, const char *access,
                 GString *why)
{
	const char *option = !access                            ? ""
	                     : strcmp(access, "read") == 0      ? " -r"
	                     : strcmp(access, "readWrite") == 0 ? " -a"
	                                                        : "";
	char *typed = g_strdup_printf("*(%s *)%" PRIu64, d->type, d->address);
	char *bytes = g_strdup_printf("*(char (*)[%" PRIu64 "])%" PRIu64, d->size, d->address);
	char *command = g_strdup_printf("-break-watch%s", option);
	json_t *answer = ask_quoted(s, why, command, typed), *point = NULL;
	if (!answer) /* the value of such a type cannot be written in this form */
		answer = ask_quoted(s, why, command, bytes);
	const char *key;
	json_object_foreach(answer, key, point) if (number_of(point)) break;
	int number = number_of(point);
	json_decref(answer);
	g_free(command);
	g_free(bytes);
	g_free(typed);
	return number;
}

static json_t *set_data_point(struct dap_session *s, const json_t *item, GString *why)
{
	const char *id = needed_text(item, "dataId", why);
	const char *condition = text_of(item, "condition");
	char *end = NULL;
	guint64 index = id ? g_ascii_strtoull(id, &end, 10) : 0;
	long before = ignored(item, why);
	if (!id || before < 0)
		return unverified(why->str);
	if (end == id || *end || index >= s->data->len)
		return unverified("this 'dataId' is of no variable of this session");
	struct watch w = { watch(s, s->data->pdata[index], text_of(item, "accessType"), why),
		           (guint)index };
	if (!w.number)
		return unverified(why->str);
	bool good = true;
	if (condition && *condition) {
		char *command = g_strdup_printf("-break-condition %d", w.number);
		json_t *answer = ask_quoted(s, why, command, condition);
		good = answer != NULL;
		json_decref(answer);
		g_free(command);
	}
	if (!good) {
		delete_point(s, w.number);
		return unverified(why->str);
	}
	if (before > 0)
		json_decref(
		        target_ask(&s->target, why, "-break-after %d %ld", w.number, before));
	g_array_append_val(s->watches, w);
	return json_pack("{sisb}", "id", w.number, "verified", 1);
}

bool set_data_breakpoints(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	const json_t *list = points_of(args, why), *item;
	if (!list)
		return false;
	for (guint i = 0; i < s->watches->len; i++)
		delete_point(s, g_array_index(s->watches, struct watch, i).number);
	g_array_set_size(s->watches, 0);
	json_t *answers = json_array();
	size_t i;
	json_array_foreach(list, i, item)
	        json_array_append_new(answers, set_data_point(s, item, why));
	json_object_set_new(body, "breakpoints", answers);
	return true;
}

const char *watched_name(const struct dap_session *s, const char *number)
{
	for (guint i = 0; number && i < s->watches->len; i++) {
		const struct watch *w = &g_array_index(s->watches, struct watch, i);
		if (w->number == atoi(number))
			return ((struct data_point *)s->data->pdata[w->data])->name;
	}
	return NULL;
}
