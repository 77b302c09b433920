/* look.c - a stop looked at: threads, frames, variables, expressions, sources. */
#include "tui/dap/session.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/base.h"

/* ---- threads and frames ---- */

bool list_threads(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	(void)args;
	(void)why;
	if (s->threads->len == 0 && !s->running)
		renew_threads(s);
	json_t *list = json_array();
	for (guint i = 0; i < s->threads->len; i++) {
		const struct dap_thread *t = &g_array_index(s->threads, struct dap_thread, i);
		json_array_append_new(list, json_pack("{sIso}", "id", (json_int_t)t->id, "name",
		                                      json_bytes(t->name, strlen(t->name))));
	}
	json_object_set_new(body, "threads", list);
	return true;
}

static void free_frame(struct dap_frame *f)
{
	g_free(f->file);
	g_free(f);
}

static void free_variables(struct variables *v)
{
	g_hash_table_destroy(v->children);
	g_free(v->object);
	g_free(v);
}

void forget_stop(struct dap_session *s)
{
	s->frames_before += s->frames->len;
	s->sets_before += s->sets->len;
	for (guint i = 0; i < s->frames->len; i++)
		free_frame(s->frames->pdata[i]);
	for (guint i = 0; i < s->sets->len; i++)
		free_variables(s->sets->pdata[i]);
	g_ptr_array_set_size(s->frames, 0);
	g_ptr_array_set_size(s->sets, 0);
}

void drop_objects(struct dap_session *s)
{
	GString *why = g_string_new(NULL);
	for (guint i = 0; i < s->objects->len; i++)
		json_decref(target_ask(&s->target, why, "-var-delete %s",
		                       (char *)s->objects->pdata[i]));
	g_ptr_array_set_size(s->objects, 0);
	g_string_free(why, TRUE);
}

/* The index of a frame's or set's id; false: the id is of an earlier stop, or unknown. */
static bool index_of(const json_t *id, unsigned before, unsigned count, unsigned *index)
{
	json_int_t n = json_integer_value(id) - 1 - (json_int_t)before;
	*index = (unsigned)n;
	return json_is_integer(id) && n >= 0 && n < (json_int_t)count;
}

static void name_frame_at(const struct dap_session *s, unsigned index, GString *command)
{
	const struct dap_frame *f = s->frames->pdata[index];
	g_string_append_printf(command, " --thread %s --frame %u", f->thread, f->level);
}

bool name_frame(struct dap_session *s, const json_t *id, GString *command, GString *why)
{
	unsigned index;
	if (!id || json_is_null(id))
		return true;
	if (!index_of(id, s->frames_before, s->frames->len, &index)) {
		g_string_assign(why, "this 'frameId' is of no frame of this stop");
		return false;
	}
	name_frame_at(s, index, command);
	return true;
}

void name_set_frame(const struct dap_session *s, const json_t *set, GString *command)
{
	unsigned index;
	if (index_of(set, s->sets_before, s->sets->len, &index))
		name_frame_at(s, ((struct variables *)s->sets->pdata[index])->frame, command);
}

/* gdb's frames of a thread; NULL and `why`. */
static json_t *frames_of(struct dap_session *s, const char *thread, GString *why)
{
	enum { MOST = 1000 };
	json_t *answer = target_ask(&s->target, why, "-stack-list-frames --thread %s 0 %d",
	                            thread, MOST - 1);
	json_t *stack = json_incref(json_object_get(answer, "stack"));
	json_decref(answer);
	return stack;
}

/* The file of a frame, if it exists. */
static const char *file_of(const json_t *frame)
{
	const char *path = text_of(frame, "fullname");
	return path && g_path_is_absolute(path) && g_file_test(path, G_FILE_TEST_EXISTS) ? path
	                                                                                 : NULL;
}

/* The number of frames to hide: those above the first with a source file, if the recorder is
 * among them. */
static unsigned recorder_frames(const json_t *stack)
{
	bool recorder = false;
	size_t i;
	const json_t *frame;
	json_array_foreach(stack, i, frame)
	{
		const char *library = text_of(frame, "from");
		recorder |= library && strstr(library, "libheddle-record") != NULL;
		if (file_of(frame))
			return recorder ? (unsigned)i : 0;
	}
	return 0;
}

unsigned first_level(struct dap_session *s, const char *gdb_thread)
{
	GString *why = g_string_new(NULL);
	json_t *stack = frames_of(s, gdb_thread, why);
	unsigned level = recorder_frames(stack);
	json_decref(stack);
	g_string_free(why, TRUE);
	return level;
}

static json_t *shown_frame(struct dap_session *s, const char *thread, const json_t *frame)
{
	const char *function = text_of(frame, "func"), *path = file_of(frame);
	function = function ? function : "?";
	const char *line = text_of(frame, "line"), *level = text_of(frame, "level");
	const char *library = text_of(frame, "from"), *address = text_of(frame, "addr");
	struct dap_frame *f = g_new0(struct dap_frame, 1);
	g_strlcpy(f->thread, thread, sizeof(f->thread));
	f->level = level ? (unsigned)atoi(level) : 0;
	f->file = g_strdup(path);
	g_ptr_array_add(s->frames, f);
	int number = path && line ? atoi(line) - 1 + (int)s->line_base : 0;
	json_t *j = json_pack("{sIsosisi}", "id",
	                      (json_int_t)s->frames_before + (json_int_t)s->frames->len, "name",
	                      json_bytes(function, strlen(function)), "line", number, "column",
	                      path ? (int)s->line_base : 0);
	if (address)
		json_object_set_new(j, "instructionPointerReference", json_string(address));
	if (path) {
		char *name = g_path_get_basename(path);
		json_object_set_new(j, "source",
		                    json_pack("{soso}", "name", json_bytes(name, strlen(name)),
		                              "path", json_bytes(path, strlen(path))));
		g_hash_table_add(s->files, g_strdup(path));
		g_free(name);
	} else {
		json_object_set_new(j, "presentationHint", json_string("subtle"));
		if (library)
			json_object_set_new(j, "source",
			                    json_pack("{soss}", "name",
			                              json_bytes(library, strlen(library)),
			                              "presentationHint", "deemphasize"));
	}
	return j;
}

bool list_frames(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	const struct dap_thread *t =
	        find_thread(s, json_integer_value(json_object_get(args, "threadId")));
	if (!t) {
		g_string_assign(why, "no such thread ('threadId')");
		return false;
	}
	json_t *stack = frames_of(s, t->gdb, why);
	if (!stack)
		return false;
	json_int_t from = json_integer_value(json_object_get(args, "startFrame"));
	json_int_t most = json_integer_value(json_object_get(args, "levels"));
	size_t hidden = recorder_frames(stack), count = json_array_size(stack) - hidden;
	json_t *list = json_array();
	for (size_t i = (size_t)MAX(from, 0);
	     i < count && (most <= 0 || (json_int_t)i < MAX(from, 0) + most); i++)
		json_array_append_new(
		        list, shown_frame(s, t->gdb, json_array_get(stack, hidden + i)));
	json_object_set_new(body, "stackFrames", list);
	json_object_set_new(body, "totalFrames", json_integer((json_int_t)count));
	json_decref(stack);
	return true;
}

bool read_source(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	const char *path = needed_text(json_object_get(args, "source"), "path", why);
	gchar *text = NULL;
	gsize length;
	if (!path)
		return false;
	if (!g_hash_table_contains(s->files, path) ||
	    !g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
	    !g_file_get_contents(path, &text, &length, NULL)) {
		g_string_printf(why, "%s: no frame that was shown is of this file", path);
		return false;
	}
	json_object_set_new(body, "content", json_bytes(text, length));
	g_free(text);
	return true;
}

/* ---- variables ---- */

enum { VARIABLES_MOST = 1000 }; /* at once */

/* A new set; its id. */
static json_int_t add_set(struct dap_session *s, enum scope scope, unsigned frame,
                          const char *object)
{
	struct variables *v = g_new0(struct variables, 1);
	*v = (struct variables){ .scope = scope,
		                 .frame = frame,
		                 .object = g_strdup(object),
		                 .children = g_hash_table_new_full(g_str_hash, g_str_equal,
		                                                   g_free, g_free) };
	g_ptr_array_add(s->sets, v);
	return (json_int_t)s->sets_before + s->sets->len;
}

bool list_scopes(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	unsigned frame;
	if (!index_of(json_object_get(args, "frameId"), s->frames_before, s->frames->len,
	              &frame)) {
		g_string_assign(why, "this 'frameId' is of no frame of this stop");
		return false;
	}
	json_t *list = json_array();
	const struct dap_frame *f = s->frames->pdata[frame];
	json_array_append_new(list,
	                      json_pack("{sssssIsb}", "name", "Locals", "presentationHint",
	                                "locals", "variablesReference",
	                                add_set(s, SCOPE_LOCALS, frame, NULL), "expensive", 0));
	if (f->file) {
		char *base = g_path_get_basename(f->file);
		char *name = g_strdup_printf("Globals of %s", base);
		json_array_append_new(list, json_pack("{sosIsb}", "name",
		                                      json_bytes(name, strlen(name)),
		                                      "variablesReference",
		                                      add_set(s, SCOPE_GLOBALS, frame, NULL),
		                                      "expensive", 0));
		g_free(name);
		g_free(base);
	}
	json_object_set_new(body, "scopes", list);
	return true;
}

/* Has gdb's variable object children? */
static bool has_children(const json_t *object)
{
	const char *count = text_of(object, "numchild"), *more = text_of(object, "has_more");
	const char *hint = text_of(object, "displayhint");
	if (!text_of(object, "dynamic"))
		return count && atoi(count) > 0;
	/* a pretty-printer shows them, and creates them on demand */
	return more ? atoi(more) > 0 : !hint || strcmp(hint, "string") != 0;
}

char *path_expression(struct dap_session *s, const char *object, GString *why)
{
	json_t *answer = target_ask(&s->target, why, "-var-info-path-expression %s", object);
	const char *text = text_of(answer, "path_expr");
	/* Members of a value without a name have no expression either. */
	char *path = text && *text && !strstr(text, "()") ? g_strdup(text) : NULL;
	/* gdb puts each part into parentheses. */
	GRegex *part =
	        g_regex_new("(?<![\\w)])\\(([\\w.>\\[\\]:-]+)\\)(?=$|[.\\[)-])", 0, 0, NULL);
	for (bool more = path != NULL; more;) {
		char *shorter = g_regex_replace(part, path, -1, 0, "\\1", 0, NULL);
		more = shorter && strcmp(shorter, path) != 0;
		g_free(shorter ? path : NULL);
		path = shorter ? shorter : path;
	}
	g_regex_unref(part);
	json_decref(answer);
	return path;
}

/* A variable object of gdb's, as an element of a set of variables. */
static json_t *shown_variable(struct dap_session *s, struct variables *of, const char *name,
                              const json_t *object)
{
	const char *value = text_of(object, "value"), *type = text_of(object, "type");
	const char *own = text_of(object, "name");
	value = value ? value : "";
	json_int_t children =
	        has_children(object) ? add_set(s, SCOPE_OBJECT, of->frame, own) : 0;
	json_t *j = json_pack("{sososI}", "name", json_bytes(name, strlen(name)), "value",
	                      json_bytes(value, strlen(value)), "variablesReference", children);
	if (type)
		json_object_set_new(j, "type", json_bytes(type, strlen(type)));
	if (own) {
		g_hash_table_insert(of->children, g_strdup(name), g_strdup(own));
		GString *why = g_string_new(NULL);
		char *path = of->scope == SCOPE_OBJECT ? path_expression(s, own, why)
		                                       : g_strdup(name);
		if (path)
			json_object_set_new(j, "evaluateName", json_bytes(path, strlen(path)));
		g_free(path);
		g_string_free(why, TRUE);
	}
	return j;
}

/* gdb's variable object of an expression in a frame, which lasts until the next stop; NULL and
 * `why`. */
static json_t *create_object(struct dap_session *s, const char *frame, const char *expression,
                             GString *why)
{
	char *command = g_strdup_printf("-var-create%s - *", frame);
	json_t *object = ask_quoted(s, why, command, expression);
	g_free(command);
	if (object)
		g_ptr_array_add(s->objects, g_strdup(text_of(object, "name")));
	return object;
}

static void append_named(struct dap_session *s, struct variables *v, const char *frame,
                         const char *name, const char *value, json_t *list)
{
	GString *why = g_string_new(NULL);
	/* of two variables with one name the inner one is visible */
	bool hidden = g_hash_table_contains(v->children, name);
	json_t *object = hidden ? NULL : create_object(s, frame, name, why);
	if (object)
		json_array_append_new(list, shown_variable(s, v, name, object));
	else if (value || !hidden)
		json_array_append_new(list, json_pack("{sososi}", "name",
		                                      json_bytes(name, strlen(name)), "value",
		                                      value ? json_bytes(value, strlen(value))
		                                            : json_bytes(why->str, why->len),
		                                      "variablesReference", 0));
	json_decref(object);
	g_string_free(why, TRUE);
}

static bool list_locals(struct dap_session *s, struct variables *v, const char *frame,
                        json_t *list, GString *why)
{
	json_t *answer =
	        target_ask(&s->target, why, "-stack-list-variables%s --all-values", frame);
	const json_t *item, *all = json_object_get(answer, "variables");
	size_t i;
	json_array_foreach(all, i, item) if (text_of(item, "name"))
	        append_named(s, v, frame, text_of(item, "name"), text_of(item, "value"), list);
	json_decref(answer);
	return answer != NULL;
}

/* Lists the variables of the frame's source file; gdb's own interface lists those of the
 * whole program only. */
static bool list_globals(struct dap_session *s, struct variables *v, const char *frame,
                         json_t *list, GString *why)
{
	static const char names[] =
	        "python b = gdb.selected_frame().block(); "
	        "print('\\n'.join(s.name for x in (b.global_block, b.static_block) "
	        "for s in x if s.is_variable))";
	char *command = g_strdup_printf("-interpreter-exec%s console", frame);
	g_string_truncate(s->target.stream, 0);
	json_t *answer = ask_quoted(s, why, command, names);
	g_free(command);
	if (!answer)
		return false;
	json_decref(answer);
	char **lines = g_strsplit(s->target.stream->str, "\n", VARIABLES_MOST);
	for (char **name = lines; *name; name++)
		if (**name)
			append_named(s, v, frame, *name, NULL, list);
	g_strfreev(lines);
	return true;
}

/* "public" and its kin are no members, but groups of members. */
static bool is_access_group(const json_t *child)
{
	const char *name = text_of(child, "exp");
	return !text_of(child, "type") && name &&
	       (strcmp(name, "public") == 0 || strcmp(name, "protected") == 0 ||
	        strcmp(name, "private") == 0);
}

static void append_element(struct dap_session *s, struct variables *v, const char *index,
                           const json_t *child, json_t *list)
{
	char *name = g_strdup_printf("[%s]", index);
	json_array_append_new(list, shown_variable(s, v, name, child));
	g_free(name);
}

static bool list_children(struct dap_session *s, struct variables *v, const char *object,
                          json_int_t from, json_int_t count, json_t *list, GString *why)
{
	json_t *answer = target_ask(&s->target, why,
	                            "-var-list-children --all-values %s %" JSON_INTEGER_FORMAT
	                            " %" JSON_INTEGER_FORMAT,
	                            object, from, from + count);
	const json_t *child, *all = json_object_get(answer, "children");
	size_t i;
	json_array_foreach(all, i, child)
	{
		const char *name = text_of(child, "exp");
		if (is_access_group(child))
			list_children(s, v, text_of(child, "name"), 0, count, list, why);
		else if (name && name[strspn(name, "0123456789")] == '\0') /* of an array */
			append_element(s, v, name, child, list);
		else if (name)
			json_array_append_new(list, shown_variable(s, v, name, child));
	}
	const char *more = text_of(answer, "has_more");
	if (more && atoi(more) > 0 && count == VARIABLES_MOST)
		json_array_append_new(
		        list, json_pack("{sssssi}", "name", "...", "value",
		                        "more: evaluate an element or a slice (a[9]@10)",
		                        "variablesReference", 0));
	json_decref(answer);
	return answer != NULL;
}

static struct variables *find_set(const struct dap_session *s, const json_t *set, GString *why)
{
	unsigned index;
	if (index_of(set, s->sets_before, s->sets->len, &index))
		return s->sets->pdata[index];
	g_string_assign(why, "this 'variablesReference' is of no variable of this stop");
	return NULL;
}

const char *find_object(const struct dap_session *s, const json_t *set, const char *name,
                        GString *why)
{
	const struct variables *v = find_set(s, set, why);
	const char *object = v ? g_hash_table_lookup(v->children, name) : NULL;
	if (v && !object)
		g_string_printf(why, "'%s' is none of these variables", name);
	return object;
}

bool list_variables(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	json_int_t from = json_integer_value(json_object_get(args, "start"));
	json_int_t count = json_integer_value(json_object_get(args, "count"));
	struct variables *v = find_set(s, json_object_get(args, "variablesReference"), why);
	if (!v)
		return false;
	from = CLAMP(from, 0, INT32_MAX - VARIABLES_MOST);
	count = count > 0 && count < VARIABLES_MOST ? count : VARIABLES_MOST;
	json_t *list = json_array();
	GString *frame = g_string_new(NULL);
	name_frame_at(s, v->frame, frame);
	if (from == 0) /* asked for anew */
		g_hash_table_remove_all(v->children);
	bool ok = v->scope == SCOPE_LOCALS ? list_locals(s, v, frame->str, list, why)
	          : v->scope == SCOPE_GLOBALS
	                  ? list_globals(s, v, frame->str, list, why)
	                  : list_children(s, v, v->object, from, count, list, why);
	g_string_free(frame, TRUE);
	json_object_set_new(body, "variables", list);
	return ok;
}

bool set_variable(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	const char *name = needed_text(args, "name", why);
	const char *value = name ? needed_text(args, "value", why) : NULL;
	const char *object =
	        value ? find_object(s, json_object_get(args, "variablesReference"), name, why)
	              : NULL;
	if (!object)
		return false;
	char *command = g_strdup_printf("-var-assign %s", object);
	json_t *answer = ask_quoted(s, why, command, value);
	g_free(command);
	if (!answer)
		return false;
	static const char lasts[] =
	        "heddle: the change lasts until the next step backward: going back is running "
	        "the program again\n";
	send_output(s, "console", lasts, strlen(lasts));
	const char *now = text_of(answer, "value");
	json_object_set_new(body, "value",
	                    json_bytes(now ? now : value, strlen(now ? now : value)));
	json_decref(answer);
	return true;
}

/* ---- expressions and commands ---- */

/* A command of gdb's as a user types it, perhaps of several lines.  gdb reads it from a file,
 * so that one that asks for more lines finds the end of the file, not the adapter's commands.
 */
static bool run_command(struct dap_session *s, const char *frame, const char *typed,
                        GString *why)
{
	bool short_form = g_str_has_prefix(typed, "heddle");
	char *text = g_strdup_printf("%s%s\n", short_form ? "monitor " : "", typed);
	char *path = g_build_filename(s->target.folder, "typed", NULL);
	char *command = g_strdup_printf("-interpreter-exec%s console", frame);
	char *source = g_strdup_printf("source %s", path);
	struct error error;
	json_t *answer = NULL;
	g_string_truncate(s->target.stream, 0);
	if (file_write_whole(path, text, strlen(text), &error))
		answer = ask_quoted(s, why, command, source);
	else
		g_string_assign(why, error.what);
	g_unlink(path);
	char *mark = strstr(why->str, "Error in sourced command file:\n");
	if (mark)
		g_string_erase(why, 0,
		               mark + strlen("Error in sourced command file:\n") - why->str);
	bool ok = answer != NULL;
	json_decref(answer);
	g_free(source);
	g_free(command);
	g_free(path);
	g_free(text);
	return ok;
}

static bool evaluate_expression(struct dap_session *s, const char *frame, unsigned index,
                                const char *expression, json_t *body, GString *why)
{
	json_t *object = create_object(s, frame, expression, why);
	if (!object)
		return false;
	/* includes the members' values, which the object does not have */
	char *command = g_strdup_printf("-data-evaluate-expression%s", frame);
	json_t *answer = ask_quoted(s, why, command, expression);
	const char *value = text_of(answer ? answer : object, "value");
	const char *type = text_of(object, "type");
	value = value ? value : "";
	json_object_set_new(body, "result", json_bytes(value, strlen(value)));
	json_decref(answer);
	g_free(command);
	if (type)
		json_object_set_new(body, "type", json_bytes(type, strlen(type)));
	json_object_set_new(
	        body, "variablesReference",
	        json_integer(has_children(object) && index < s->frames->len
	                             ? add_set(s, SCOPE_OBJECT, index, text_of(object, "name"))
	                             : 0));
	json_decref(object);
	return true;
}

bool evaluate(struct dap_session *s, const json_t *args, json_t *body, GString *why)
{
	const char *expression = needed_text(args, "expression", why);
	const char *context = text_of(args, "context");
	const json_t *id = json_object_get(args, "frameId");
	GString *frame = g_string_new(NULL);
	unsigned index = UINT32_MAX;
	bool ok = expression && name_frame(s, id, frame, why);
	if (ok)
		index_of(id, s->frames_before, s->frames->len, &index);
	if (ok && context && strcmp(context, "repl") == 0) {
		ok = run_command(s, frame->str, expression, why);
		if (ok) {
			json_object_set_new(
			        body, "result",
			        json_bytes(s->target.stream->str, s->target.stream->len));
			json_object_set_new(body, "variablesReference", json_integer(0));
		} else if (g_str_has_prefix(why->str, "Undefined command") ||
		           g_str_has_prefix(why->str, "Ambiguous command")) {
			char *said = g_strdup(why->str);
			ok = evaluate_expression(s, frame->str, index, expression, body, why);
			if (!ok)
				g_string_assign(why, said);
			g_free(said);
		}
	} else if (ok) {
		ok = evaluate_expression(s, frame->str, index, expression, body, why);
	}
	g_string_free(frame, TRUE);
	return ok;
}
