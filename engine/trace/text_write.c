/*
 * text_write.c - traces as text: our format, and STD for RAPID.
 */
#include "engine/trace/formats.h"
#include "engine/trace/storage.h"

#include <string.h>

static inline bool kept(const uint64_t *keep, uint64_t event)
{
	return keep == NULL || keep[event / 64] >> event % 64 & 1;
}

/* -- names that keep overlaps ----------------------------------------------------------------
 */

/*
 * Text says by name and offset which accesses overlap.  A recording's variables have names
 * of their own (acct.balance, acct.deposits); where an access covers several of them, all
 * of that run are written as offsets from the first: acct.balance+8.
 */
struct naming {
	const struct trace *t;
	uint32_t *run_start; /* by variable: the first of its run, or itself */
};

static bool named_by_offset(const struct trace *t, const struct variable *v)
{
	if (v->base >= t->string_offsets_count - 1)
		return false;
	const char *base = trace_string(t, v->base), *name = trace_string(t, v->name);
	size_t length = strlen(base);
	if (length == 0 || strncmp(base, name, length) != 0)
		return false;
	const char *rest = name + length;
	return *rest == '\0' ||
	       (*rest == '+' && rest[1 + strspn(rest + 1, "0123456789")] == '\0');
}

static void naming_init(struct naming *n, const struct trace *t)
{
	n->t = t;
	n->run_start = g_new(uint32_t, t->variables_count + 1);
	for (uint32_t v = 0; v < t->variables_count; v++)
		n->run_start[v] = v;
	for (uint64_t i = 0; i < t->wides_count; i++)
		for (uint32_t k = 1; k < t->wides[i].count; k++) {
			uint32_t v = t->wides[i].first + k;
			n->run_start[v] = MIN(n->run_start[v], t->wides[i].first);
		}
	/* Runs that touch are one. */
	for (uint32_t v = 0; v < t->variables_count; v++)
		n->run_start[v] = n->run_start[n->run_start[v]];
}

static void append_string(const struct trace *t, uint32_t string, GString *out)
{
	const char *text = trace_string(t, string);
	append_escaped(out, text, strlen(text));
}

static void append_variable(const struct naming *n, const struct event *e, GString *out)
{
	const struct trace *t = n->t;
	uint32_t v = event_variables(t, e).first, first = n->run_start[v];
	append_string(t, t->variables[first].name, out);
	if (first == v)
		return;
	if (named_by_offset(t, &t->variables[v])) {
		g_string_truncate(out,
		                  out->len - strlen(trace_string(t, t->variables[first].name)));
		append_string(t, t->variables[v].name, out);
		return;
	}
	g_string_append_printf(out, "+%" G_GUINT64_FORMAT,
	                       t->variables[v].address - t->variables[first].address);
}

/* -- our format
 * ---------------------------------------------------------------------------------- */

static void append_head(const struct trace *t, GString *out)
{
	g_string_append(out, "#! heddle 1\n");
	if (t->filtered)
		g_string_append(out, "#! filtered\n");
	for (uint64_t i = 0; i < t->notes_count; i++)
		g_string_append_printf(out, "#! note %s %s\n", trace_string(t, t->notes[i].key),
		                       trace_string(t, t->notes[i].value));
	for (uint64_t i = 0; i < t->atomic_sets_count; i++) {
		const struct value *members = &t->values[t->atomic_sets[i].members];
		g_string_append_printf(out, "#! atomic-set %s",
		                       trace_string(t, t->atomic_sets[i].name));
		for (uint32_t k = 0; k < members->count; k++) {
			g_string_append_c(out, ' ');
			trace_append_value(t, t->value_lists[members->first + k], out);
		}
		g_string_append_c(out, '\n');
	}
	for (uint64_t i = 0; i < t->instances_count; i++)
		if (t->instances[i].type)
			g_string_append_printf(out, "#! object %s %s\n",
			                       trace_string(t, t->instances[i].name),
			                       trace_string(t, t->instances[i].type));
	for (uint64_t i = 0; i < t->objects_count; i++)
		if (t->objects[i].count)
			g_string_append_printf(out, "#! semaphore %s %d\n",
			                       trace_string(t, t->objects[i].name),
			                       t->objects[i].count);
	for (uint64_t i = 0; i < t->threads_count; i++)
		if (t->threads[i].stack != NONE)
			g_string_append_printf(
			        out, "#! stack %s %s\n", trace_string(t, t->threads[i].name),
			        trace_string(t, t->blocks[t->threads[i].stack].name));
}

/* Where the location's name is not its source position, a directive says it. */
static void append_sources(const struct trace *t, GString *out)
{
	GString *position = g_string_new(NULL);
	for (uint64_t i = 0; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		if (l->line == 0 || l->file == 0)
			continue;
		g_string_printf(position, "%s:%u", trace_string(t, l->file), l->line);
		if (l->column)
			g_string_append_printf(position, ":%u", l->column);
		const char *name = trace_string(t, l->name);
		if (*name && strcmp(name, position->str) != 0 && !strpbrk(name, " \t"))
			g_string_append_printf(out, "#! source %s %s\n", name, position->str);
	}
	g_string_free(position, TRUE);
}

/* The event with its variable renamed where it must be. */
static void append_event(const struct naming *n, uint32_t event, GString *out)
{
	const struct trace *t = n->t;
	const struct event *e = &t->events[event];
	if (!op_is_access(e->op) ||
	    n->run_start[event_variables(t, e).first] == event_variables(t, e).first) {
		trace_append_line(t, event, out);
		return;
	}
	GString *line = g_string_new(NULL), *name = g_string_new(NULL);
	trace_append_line(t, event, line);
	trace_append_variable(t, e, name);
	char *open = strchr(strchr(line->str, '|'), '(') + 1;
	g_string_append_len(out, line->str, open - line->str);
	append_variable(n, e, out);
	g_string_append(out, open + name->len);
	g_string_free(line, TRUE);
	g_string_free(name, TRUE);
}

static void print_text(const struct trace *t, const uint64_t *keep, GString *out)
{
	struct naming n;
	naming_init(&n, t);
	append_head(t, out);
	append_sources(t, out);
	for (uint64_t e = 0; e < t->events_count; e++) {
		if (!kept(keep, e))
			continue;
		append_event(&n, e, out);
		g_string_append_c(out, '\n');
	}
	g_free(n.run_start);
}

/* -- STD
 * --------------------------------------------------------------------------------------------
 */

static bool std_can_say(const struct event *e)
{
	switch (e->op) {
	case OP_READ:
	case OP_WRITE:
	case OP_ACQ:
	case OP_REL:
	case OP_FORK:
	case OP_JOIN:
	case OP_BEGIN:
	case OP_END:
		return !event_inert(e);
	default:
		return false;
	}
}

static bool is_number(const char *text)
{
	return *text && strlen(text) < 10 && text[strspn(text, "0123456789")] == '\0';
}

/* RAPID wants integers: the locations themselves when all are, else their indexes. */
static bool locations_are_numbers(const struct trace *t)
{
	for (uint64_t e = 0; e < t->events_count; e++)
		if (!is_number(trace_location_name(t, e)))
			return false;
	return true;
}

/* Which life of its block's name a variable belongs to: STD cannot say, so all but the
 * first get a name of their own. */
static uint32_t *block_lives(const struct trace *t)
{
	uint32_t *life = g_new0(uint32_t, t->blocks_count + 1);
	GHashTable *seen = g_hash_table_new(NULL, NULL);
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		gpointer key = GUINT_TO_POINTER(t->blocks[i].name);
		life[i] = GPOINTER_TO_UINT(g_hash_table_lookup(seen, key));
		g_hash_table_insert(seen, key, GUINT_TO_POINTER(life[i] + 1));
	}
	g_hash_table_destroy(seen);
	return life;
}

static void append_std(const struct naming *n, const uint32_t *lives, bool numbers,
                       uint32_t event, GString *out)
{
	const struct trace *t = n->t;
	const struct event *e = &t->events[event];
	append_string(t, t->threads[e->thread].name, out);
	g_string_append_printf(out, "|%s(", op_table[e->op].word);
	if (op_is_access(e->op)) {
		uint32_t block = t->variables[event_variables(t, e).first].block;
		append_variable(n, e, out);
		if (block != NONE && lives[block])
			g_string_append_printf(out, "@%u", lives[block]);
	} else {
		trace_append_operand(t, event, out);
	}
	g_string_append(out, ")|");
	if (numbers)
		g_string_append(out, trace_location_name(t, event));
	else
		g_string_append_printf(out, "%u", e->location);
	g_string_append_c(out, '\n');
}

static void print_std(const struct trace *t, const uint64_t *keep, GString *out,
                      uint64_t *left_out)
{
	struct naming n;
	naming_init(&n, t);
	uint32_t *lives = block_lives(t);
	bool numbers = locations_are_numbers(t);
	for (uint64_t e = 0; e < t->events_count; e++) {
		if (!kept(keep, e))
			continue;
		if (std_can_say(&t->events[e]))
			append_std(&n, lives, numbers, e, out);
		else
			++*left_out;
	}
	g_free(lives);
	g_free(n.run_start);
}

void trace_print(const struct trace *t, enum trace_format format, const uint64_t *keep,
                 GString *out, uint64_t *left_out)
{
	uint64_t ignored = 0;
	if (left_out)
		*left_out = 0;
	if (format == TRACE_STD)
		print_std(t, keep, out, left_out ? left_out : &ignored);
	else
		print_text(t, keep, out);
}
