/*
 * trace.c - opening and closing traces, and names for people.
 */
#include "engine/trace/binary.h"
#include "engine/trace/formats.h"
#include "engine/trace/index_private.h"
#include "engine/trace/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const struct op_info op_table[OP_COUNT] = {
#define OP(name, text, kind, group) [OP_##name] = { text, OPERAND_##kind, OP_CLASS_##group },
#include "engine/trace/ops.def"
#undef OP
};

/* -- storage ------------------------------------------------------------------------------- */

struct trace *trace_new(const char *path)
{
	struct trace *t = g_new0(struct trace, 1);
	t->path = g_strdup(path);
	t->storage = g_new0(struct trace_storage, 1);
	t->storage->owned = g_ptr_array_new_with_free_func(g_free);
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	return t;
}

void *trace_own(struct trace *t, void *array)
{
	g_ptr_array_add(t->storage->owned, array);
	return array;
}

void trace_warn(struct trace *t, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_ptr_array_add(t->warnings, g_strdup_vprintf(format, ap));
	va_end(ap);
}

void trace_close(struct trace *t)
{
	if (t == NULL)
		return;
	index_free(t->index);
	g_ptr_array_free(t->storage->owned, TRUE);
	if (t->storage->map)
		munmap(t->storage->map, t->storage->map_length);
	g_free(t->storage);
	if (t->warnings)
		g_ptr_array_free(t->warnings, TRUE);
	g_free(t->path);
	g_free(t);
}

/* -- opening ---------------------------------------------------------------------------------
 */

static bool map_file(const char *path, void **bytes, size_t *length, struct error *error)
{
	struct stat st;
	const char *remedy = "name a trace that you can read";
	struct place where = place_line(path, 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		int why = errno;
		if (fd >= 0)
			close(fd);
		return error_set(error, where.text, remedy, "cannot open the trace: %s",
		                 g_strerror(why));
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(error, where.text, remedy, "expected a file, found a %s",
		                 S_ISDIR(st.st_mode) ? "folder" : "device or pipe");
	}
	*length = (size_t)st.st_size;
	*bytes = *length ? mmap(NULL, *length, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	int why = errno;
	close(fd);
	if (*bytes == MAP_FAILED)
		return error_set(error, where.text, remedy, "cannot map the trace: %s",
		                 g_strerror(why));
	return true;
}

struct trace *trace_open(const char *path, const struct trace_options *options,
                         const struct progress *progress, struct error *error)
{
	void *bytes;
	size_t length;
	if (!map_file(path, &bytes, &length, error))
		return NULL;
	if (binary_is(bytes, length))
		return binary_read(path, bytes, length, error);
	struct trace *t = text_read(path, bytes, length, options, progress, error);
	if (bytes)
		munmap(bytes, length);
	return t;
}

struct trace *trace_from_text(const char *name, const char *text, size_t length,
                              const struct trace_options *options, struct error *error)
{
	return text_read(name, text, length, options, NULL, error);
}

/* -- conflicts -------------------------------------------------------------------------------
 */

bool events_conflict(const struct trace *t, uint32_t a, uint32_t b)
{
	const struct event *x = &t->events[a], *y = &t->events[b];
	return x->thread != y->thread && op_is_access(x->op) && op_is_access(y->op) &&
	       (op_writes(x->op) || op_writes(y->op)) && !event_inert(x) && !event_inert(y) &&
	       events_overlap(t, x, y);
}

bool events_race_conflict(const struct trace *t, uint32_t a, uint32_t b)
{
	return !(op_is_atomic(t->events[a].op) && op_is_atomic(t->events[b].op)) &&
	       events_conflict(t, a, b);
}

/* -- names ------------------------------------------------------------------------------------
 */

const char *trace_name(const struct trace *t)
{
	const char *slash = strrchr(t->path, '/');
	return slash && slash[1] ? slash + 1 : t->path;
}

static void append_string(const struct trace *t, uint32_t string, GString *out)
{
	const char *text = trace_string(t, string);
	append_escaped(out, text, strlen(text));
}

void trace_append_variable(const struct trace *t, const struct event *e, GString *out)
{
	append_string(t, t->variables[event_variables(t, e).first].name, out);
}

/* A string as the text format writes it: quotes, \" \\ \n \xHH. */
static void append_quoted(const char *text, GString *out)
{
	g_string_append_c(out, '"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_printf(out, "\\%c", *c);
		else if (*c == '\n')
			g_string_append(out, "\\n");
		else if (*c < 0x20 || *c == 0x7f)
			g_string_append_printf(out, "\\x%02X", *c);
		else
			g_string_append_c(out, (char)*c);
	}
	g_string_append_c(out, '"');
}

static void append_list(const struct trace *t, const uint32_t *values, uint32_t count,
                        GString *out)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			g_string_append_c(out, ',');
		trace_append_value(t, values[i], out);
	}
}

void trace_append_value(const struct trace *t, uint32_t value, GString *out)
{
	const struct value *v = &t->values[value];
	switch ((enum value_kind)v->kind) {
	case V_NONE:
		break;
	case V_NIL:
		g_string_append(out, "nil");
		break;
	case V_FALSE:
		g_string_append(out, "false");
		break;
	case V_TRUE:
		g_string_append(out, "true");
		break;
	case V_INT:
		g_string_append_printf(out, "%" G_GINT64_FORMAT, v->integer);
		break;
	case V_STRING:
		append_quoted(trace_string(t, v->string), out);
		break;
	case V_TOKEN:
		append_string(t, v->string, out);
		break;
	case V_PAIR:
		trace_append_value(t, v->first, out);
		g_string_append_c(out, '>');
		trace_append_value(t, v->second, out);
		break;
	case V_LIST:
		append_list(t, t->value_lists + v->first, v->count, out);
		break;
	}
}

void trace_append_operand(const struct trace *t, uint32_t event, GString *out)
{
	const struct event *e = &t->events[event];
	switch (op_table[e->op].operand) {
	case OPERAND_NOTHING:
		break;
	case OPERAND_VARIABLE:
		trace_append_variable(t, e, out);
		break;
	case OPERAND_OBJECT:
		append_string(t, t->objects[e->target].name, out);
		break;
	case OPERAND_THREAD:
		append_string(t, t->threads[e->target].name, out);
		break;
	case OPERAND_MESSAGE:
		append_string(t, t->messages[e->target], out);
		break;
	case OPERAND_BLOCK:
		append_string(t, t->blocks[e->target].name, out);
		break;
	case OPERAND_INSTANCE:
		append_string(t, t->instances[e->target].name, out);
		break;
	case OPERAND_NAME:
		append_string(t, e->target, out);
		break;
	}
}

static uint64_t access_size(const struct trace *t, const struct event *e)
{
	struct wide run = event_variables(t, e);
	uint64_t size = 0;
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		size += t->variables[v].size;
	return size;
}

static const char *const order_words[] = { "", "rlx", "acq", "rel", "acq_rel", "seq_cst" };

static void append_access(const struct trace *t, const struct event *e, GString *out)
{
	uint64_t size = access_size(t, e);
	if (size)
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, size);
	g_string_append_c(out, '(');
	trace_append_variable(t, e, out);
	g_string_append_c(out, ')');
	if (e->aux) {
		g_string_append_c(out, '=');
		trace_append_value(t, e->aux, out);
	}
	if (op_is_atomic(e->op) && event_order(e) != ORDER_SEQ_CST)
		g_string_append_printf(out, ";%s", order_words[event_order(e)]);
}

static void append_call(const struct trace *t, const struct event *e, GString *out)
{
	const struct invocation_part *p = &t->invocations[e->aux];
	g_string_append_c(out, '(');
	append_string(t, t->instances[e->target].name, out);
	g_string_append_c(out, '.');
	append_string(t, p->method, out);
	for (uint32_t i = 0; i < p->arguments; i++) {
		g_string_append_c(out, ',');
		trace_append_value(t, t->value_lists[p->values + i], out);
	}
	g_string_append_c(out, ')');
	if (p->results) {
		g_string_append_c(out, '=');
		append_list(t, t->value_lists + p->values + p->arguments, p->results, out);
	}
}

void trace_append_operation(const struct trace *t, uint32_t event, GString *out)
{
	const struct event *e = &t->events[event];
	g_string_append(out, op_table[e->op].word);
	if (op_is_access(e->op)) {
		append_access(t, e, out);
		return;
	}
	if (op_table[e->op].operand == OPERAND_INSTANCE) {
		append_call(t, e, out);
		return;
	}
	g_string_append_c(out, '(');
	trace_append_operand(t, event, out);
	if (e->op == OP_FENCE)
		g_string_append(out, order_words[event_order(e)]);
	if (e->op == OP_ALLOC)
		g_string_append_printf(out, ",%" G_GUINT64_FORMAT, t->blocks[e->target].size);
	if ((e->op == OP_UBEG || e->op == OP_MISS) && t->values[e->aux].kind == V_LIST &&
	    t->values[e->aux].count) {
		g_string_append_c(out, ',');
		trace_append_value(t, e->aux, out);
	}
	g_string_append_c(out, ')');
}

void trace_append_line(const struct trace *t, uint32_t event, GString *out)
{
	const struct event *e = &t->events[event];
	append_string(t, t->threads[e->thread].name, out);
	g_string_append_c(out, '|');
	trace_append_operation(t, event, out);
	g_string_append_c(out, '|');
	append_string(t, t->locations[e->location].name, out);
}

const char *trace_thread_name(const struct trace *t, uint32_t thread)
{
	return trace_string(t, t->threads[thread].name);
}

const char *trace_location_name(const struct trace *t, uint32_t event)
{
	return trace_string(t, t->locations[t->events[event].location].name);
}

const char *trace_site_name(const struct trace *t, uint32_t event)
{
	return trace_string(t, t->sites[t->locations[t->events[event].location].site]);
}
