/*
 * text_write.c - writes traces as text: the complete text format, and STD of the RAPID
 * framework, which has reads, writes, mutexes, fork and join only, integer locations and no
 * comments.
 */
#include "engine/base/file.h"
#include "engine/trace/formats.h"
#include "engine/trace/text/spell.h"
#include "engine/trace/storage.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* bytes of text written at once */

struct printer {
	const struct trace *t;
	struct spelling spelling;
	const uint64_t *keep;
	GString *out;
	struct file_writer *file; /* gets `out` in pieces; NULL: it stays there */
	uint64_t left_out;
	/* -- STD only */
	uint32_t *location_numbers, next_number;
	GHashTable *nested; /* re-entrant acquires: thread << 32 | object -> depth */
};

static void hand_on(struct printer *p)
{
	if (p->file == NULL || p->out->len < PIECE)
		return;
	file_writer_put(p->file, p->out->str, p->out->len);
	g_string_truncate(p->out, 0);
}

static bool kept(const struct printer *p, uint64_t event)
{
	return p->keep == NULL || (p->keep[event / 64] >> (event % 64) & 1);
}

/* -- the text format -------------------------------------------------------------------- */

/* Is this source position what the reader finds in the location's name? */
static bool says_position(const struct trace *t, const struct location *l)
{
	g_autofree char *position = g_strdup_printf("%s:%u", trace_string(t, l->file), l->line);
	const char *name = trace_string(t, l->name);
	size_t length = strlen(position);
	return strncmp(name, position, length) == 0 &&
	       (name[length] == '\0' ||
	        (name[length] == ':' && strtoul(name + length + 1, NULL, 10) == l->column));
}

/* Directive words end at white space: is the name one word? */
static bool one_word(const GString *s)
{
	return s->len && !strpbrk(s->str, " \t\n\r");
}

static void print_sources(struct printer *p)
{
	const struct trace *t = p->t;
	g_autoptr(GString) name = g_string_new(NULL);
	/* Several code addresses may share a name, which has one directive. */
	g_autofree bool *said = g_new0(bool, t->string_offsets_count);
	for (uint32_t i = 0; i < t->locations_count; i++) {
		const struct location *l = &t->locations[i];
		if (l->file == 0 || l->line == 0 || said[l->name] || says_position(t, l))
			continue;
		said[l->name] = true;
		g_string_truncate(name, 0);
		spell(&p->spelling, SPELT_LOCATION, i, name);
		if (!one_word(name))
			continue;
		g_string_append_printf(p->out, "#! source %s %s:%u", name->str,
		                       trace_string(t, l->file), l->line);
		if (l->column)
			g_string_append_printf(p->out, ":%u", l->column);
		g_string_append_c(p->out, '\n');
		hand_on(p);
	}
}

static void print_sets(struct printer *p)
{
	const struct trace *t = p->t;
	for (uint64_t i = 0; i < t->atomic_sets_count; i++) {
		const struct value members = trace_value(t, t->atomic_sets[i].members);
		g_string_append_printf(p->out, "#! atomic-set %s",
		                       trace_string(t, t->atomic_sets[i].name));
		for (uint32_t m = 0; members.kind == V_LIST && m < members.count; m++) {
			g_string_append_c(p->out, ' ');
			spell_value(&p->spelling, t->value_lists[members.first + m], p->out);
		}
		g_string_append_c(p->out, '\n');
	}
}

/* "#! WORD NAME REST" */
static void print_fact(struct printer *p, const char *word, enum spelt kind, uint32_t index,
                       const char *rest)
{
	g_autoptr(GString) name = g_string_new(NULL);
	spell(&p->spelling, kind, index, name);
	if (one_word(name))
		g_string_append_printf(p->out, "#! %s %s %s\n", word, name->str, rest);
	hand_on(p);
}

/* By object: semaphores known by wants only; owned by the caller. */
static bool *wanted_semaphores(const struct trace *t)
{
	bool *wanted = g_new0(bool, t->objects_count + 1);

	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (x->op == OP_WANT && x->aux == 1)
			wanted[x->target] = true;
	}
	return wanted;
}

static void print_facts(struct printer *p)
{
	const struct trace *t = p->t;
	for (uint32_t i = 0; i < t->instances_count; i++)
		if (t->instances[i].type)
			print_fact(p, "object", SPELT_INSTANCE, i,
			           trace_string(t, t->instances[i].type));
	bool *wanted = wanted_semaphores(t);
	for (uint32_t i = 0; i < t->objects_count; i++) {
		char count[16];
		g_snprintf(count, sizeof count, "%d", t->objects[i].count);
		if (t->objects[i].count || wanted[i])
			print_fact(p, "semaphore", SPELT_OBJECT, i, count);
	}
	g_free(wanted);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		if (t->threads[i].stack == NONE)
			continue;
		g_autoptr(GString) block = g_string_new(NULL);
		spell(&p->spelling, SPELT_BLOCK, t->threads[i].stack, block);
		if (one_word(block))
			print_fact(p, "stack", SPELT_THREAD, i, block->str);
	}
	for (uint64_t i = 0; i < t->notes_count; i++) {
		const char *key = trace_string(t, t->notes[i].key);
		const char *value = trace_string(t, t->notes[i].value);
		if (*key && !strpbrk(key, " \t\n\r") && !strpbrk(value, "\n\r"))
			g_string_append_printf(p->out, "#! note %s %s\n", key, value);
	}
}

/* Directives "reads" and "after" name events by id, so a part of a trace, whose ids differ, has
 * none. */
static void print_weak(struct printer *p)
{
	for (uint64_t i = 0; p->keep == NULL && i < p->t->weak_count; i++) {
		const struct weak_source *w = &p->t->weak[i];

		g_string_append_printf(p->out, "#! %s %u ",
		                       w->kind == WEAK_READS ? "reads" : "after", w->event);
		if (w->store == NONE)
			g_string_append(p->out, "-\n");
		else
			g_string_append_printf(p->out, "%u\n", w->store);
		hand_on(p);
	}
}

/* Counts re-entrant acquires that are open, by thread << 32 | object. False for a release
 * without one, as --lenient drops it. */
static bool nest(GHashTable *open, const struct event *e)
{
	gint64 key = (gint64)e->thread << 32 | e->target;
	guint now = GPOINTER_TO_UINT(g_hash_table_lookup(open, &key));

	if (op_releases(e->op) && now == 0)
		return false;
	now = op_acquires(e->op) ? now + 1 : now - 1;
	g_hash_table_insert(open, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(now));
	return true;
}

/* Does the trace have events that a reader accepts with --lenient only: a release of a lock
 * that its thread does not hold, or locks taken from their holders? */
static bool needs_lenience(const struct trace *t)
{
	g_autoptr(GHashTable) held =
	        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	bool needs = t->locks_taken;

	for (uint64_t i = 0; i < t->events_count && !needs; i++) {
		const struct event *e = &t->events[i];

		if (!event_inert(e) || !(op_acquires(e->op) || op_releases(e->op)))
			continue;
		needs = !nest(held, e);
	}
	return needs;
}

static void print_header(struct printer *p)
{
	g_string_append(p->out, "#! heddle 1\n");
	if (p->t->filtered || p->keep)
		g_string_append(p->out, "#! filtered\n");
	if (!p->t->order_exact)
		g_string_append(p->out, "#! approximate order\n");
	if (!p->t->complete)
		g_string_append(p->out, "#! truncated\n");
	if (needs_lenience(p->t))
		g_string_append(p->out, "#! lenient\n");
	print_sets(p);
	print_facts(p);
	print_sources(p);
	print_weak(p);
}

static void print_text(struct printer *p)
{
	print_header(p);
	for (uint64_t e = 0; e < p->t->events_count; e++) {
		if (!kept(p, e) || (p->keep && p->t->events[e].op == OP_FLUSH))
			continue;
		spell_line(&p->spelling, &p->t->events[e], p->out);
		g_string_append_c(p->out, '\n');
		hand_on(p);
	}
}

/* -- STD --------------------------------------------------------------------------------- */

/* The number that is a location's name, or UINT32_MAX. */
static uint32_t own_number(const struct trace *t, uint32_t location)
{
	const char *name = trace_string(t, t->locations[location].name);
	size_t length = strlen(name);
	if (length == 0 || length > 9 || strspn(name, "0123456789") != length)
		return UINT32_MAX;
	return (uint32_t)strtoul(name, NULL, 10);
}

static void number_locations(struct printer *p)
{
	const struct trace *t = p->t;
	p->location_numbers = g_new(uint32_t, t->locations_count + 1);
	for (uint32_t i = 0; i < t->locations_count; i++) {
		p->location_numbers[i] = own_number(t, i);
		if (p->location_numbers[i] != UINT32_MAX)
			p->next_number = MAX(p->next_number, p->location_numbers[i] + 1);
	}
}

/* Other locations get numbers above all these. */
static uint32_t location_number(struct printer *p, uint32_t location)
{
	uint32_t *number = &p->location_numbers[location];
	if (*number == UINT32_MAX)
		*number = p->next_number++;
	return *number;
}

/* Can STD express the event? Includes re-entrant acquires and their releases (counted by RAPID,
 * too), but not releases dropped by --lenient. */
static bool std_says(struct printer *p, const struct event *e)
{
	if (e->op == OP_READ || e->op == OP_WRITE || e->op == OP_FORK || e->op == OP_JOIN)
		return true;
	if (e->op != OP_ACQ && e->op != OP_REL)
		return false;
	if (!event_inert(e))
		return true;
	return nest(p->nested, e);
}

/* RAPID ends an operand at the first ')' and a field at '|': replace such characters from
 * `from` on. */
static void make_std_name(GString *out, gsize from)
{
	for (char *c = out->str + from; *c; c++) {
		if (G_UNLIKELY(*c == '(' || *c == ')' || *c == '|'))
			*c = *c == '(' ? '<' : *c == ')' ? '>' : '!';
	}
}

static void append_number(GString *out, uint32_t number)
{
	char digits[16], *end = digits + sizeof(digits), *p = end;

	do
		*--p = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	g_string_append_len(out, p, end - p);
}

static void print_std_line(struct printer *p, const struct event *e, uint32_t variable)
{
	gsize from = p->out->len;

	spell(&p->spelling, SPELT_THREAD, e->thread, p->out);
	make_std_name(p->out, from);
	g_string_append_c(p->out, '|');
	g_string_append(p->out, op_table[e->op].word);
	g_string_append_c(p->out, '(');
	from = p->out->len;
	if (variable != NONE)
		spell(&p->spelling, SPELT_VARIABLE, variable, p->out);
	else
		spell_operand(&p->spelling, e, p->out);
	make_std_name(p->out, from);
	g_string_append_len(p->out, ")|", 2);
	append_number(p->out, location_number(p, e->location));
	g_string_append_c(p->out, '\n');
	hand_on(p);
}

/* STD has no sizes: an access to several variables is written once for each. */
static void print_std(struct printer *p)
{
	number_locations(p);
	spelling_part_lives(&p->spelling);
	p->nested = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (uint64_t i = 0; i < p->t->events_count; i++) {
		const struct event *e = &p->t->events[i];
		if (!kept(p, i))
			continue;
		if (!std_says(p, e)) {
			p->left_out++;
			continue;
		}
		if (!op_is_access(e->op)) {
			print_std_line(p, e, NONE);
			continue;
		}
		struct wide run = event_variables(p->t, e);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			print_std_line(p, e, v);
	}
	g_hash_table_destroy(p->nested);
	g_free(p->location_numbers);
}

/* -- both formats -------------------------------------------------------------------------- */

static void print(struct printer *p, enum trace_format format, uint64_t *left_out)
{
	BUG_ON(format == TRACE_BINARY);
	spelling_for_files(&p->spelling, p->t);
	if (format == TRACE_STD)
		print_std(p);
	else
		print_text(p);
	spelling_release(&p->spelling);
	if (left_out)
		*left_out = p->left_out;
}

void trace_print(const struct trace *t, enum trace_format format, const uint64_t *keep,
                 GString *out, uint64_t *left_out)
{
	struct printer p = { .t = t, .keep = keep, .out = out };
	print(&p, format, left_out);
}

bool trace_write(const struct trace *t, const char *path, enum trace_format format,
                 const uint64_t *keep, uint64_t *left_out, struct error *error)
{
	struct printer p = { .t = t, .keep = keep };
	if (left_out)
		*left_out = 0;
	if (!file_may_become(path, FILE_TRACE, error) ||
	    (p.file = file_writer_open(path, error)) == NULL)
		return false;
	if (trace_has_input(t))
		file_writer_private(p.file);
	if (format == TRACE_BINARY) {
		binary_write(t, keep, p.file);
	} else {
		p.out = g_string_sized_new(PIECE + 4096);
		print(&p, format, left_out);
		file_writer_put(p.file, p.out->str, p.out->len);
		g_string_free(p.out, TRUE);
	}
	return file_writer_commit(p.file, error);
}
