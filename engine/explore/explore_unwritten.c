/*
 * explore_unwritten.c - reads of memory that nothing was written to since its block was
 * allocated, or its thread began.
 *
 * A trace alone does not tell: code that is not recorded may have written there. So a read
 * before which no event writes to its variable is judged by two more executions of its run's
 * schedule, in which fresh memory has contents that differ in each bit (log_fill_byte). If the
 * read sees these in both, nothing had been written.
 */
#include "engine/explore/explore_private.h"
#include "engine/record/layout.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"

/* Executions of a pair of places that show written memory; then no more is asked. */
enum { MOST_ASKED = 3 };
enum { MOST_UNWRITTEN = 64 };

/* A read before which no event writes to its variable. */
struct unwritten {
	uint32_t event;
	char *key;      /* owned */
	bool known;     /* a read at these places is a finding already */
	bool stays;     /* it may be a read of unwritten memory, */
	uint64_t added; /* and the code adds this to its value */
};

static void unwritten_clear(void *data)
{
	g_free(((struct unwritten *)data)->key);
}

/* Does an allocation, or a thread, begin the life of the variable's memory? */
static bool has_beginning(const struct trace *t, const bool *stacks, uint32_t variable)
{
	uint32_t block = t->variables[variable].block;
	return block != NONE && (t->blocks[block].alloc != NONE || stacks[block]);
}

static uint32_t block_of(const struct trace *t, uint32_t event)
{
	return t->variables[event_variables(t, &t->events[event]).first].block;
}

static char *key_of(const struct trace *t, uint32_t event)
{
	uint32_t alloc = t->blocks[block_of(t, event)].alloc;
	return g_strdup_printf("%s unwritten %s", own_code_place_name(t, event),
	                       alloc != NONE ? own_code_place_name(t, alloc) : "");
}

/* Bytes of an access, if a read of one variable has a known value; else 0. */
static uint32_t read_size(const struct trace *t, uint32_t event)
{
	uint32_t size = t->variables[t->events[event].target].size;
	uint32_t value = past_value_read(t, event); /* 0 of several variables */
	return value != 0 && trace_value(t, value).kind == V_INT && size <= sizeof(uint64_t)
	               ? size
	               : 0;
}

/* Is it known to be no struct or array? Memory without a type may be a part of a copy. */
static bool is_scalar(const struct trace *t, uint32_t variable)
{
	const struct block *b = &t->blocks[t->variables[variable].block];
	bool known = b->alloc != NONE
	                     ? b->type != 0
	                     : !g_str_has_prefix(trace_variable_name(t, variable), "local@");
	return known && shown_has_form(t, variable);
}

/* Its first reads, one for each pair of places; an array of struct unwritten. */
static GArray *find_suspects(struct exploration *x)
{
	const struct trace *t = x->trace;
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct unwritten));
	g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree bool *written = g_new0(bool, t->variables_count + 1);
	g_autofree bool *stacks = trace_stacks(t);
	g_array_set_clear_func(found, unwritten_clear);
	for (uint32_t e = 0; e < t->events_count && found->len < MOST_UNWRITTEN; e++) {
		const struct event *a = &t->events[e];
		if (!op_is_access(a->op) || event_inert(a))
			continue;
		struct wide of = event_variables(t, a);
		if (op_reads(a->op) && of.count == 1 && !written[of.first] &&
		    has_beginning(t, stacks, of.first) && read_size(t, e) > 0 &&
		    t->blocks[block_of(t, e)].free >= e) { /* NONE is greater than all events */
			struct unwritten u = { .event = e, .key = key_of(t, e), .stays = true };
			guint asked =
			        GPOINTER_TO_UINT(g_hash_table_lookup(x->unwritten, u.key));
			u.known = g_hash_table_contains(x->errors, u.key);
			if (asked < MOST_ASKED && is_scalar(t, of.first) &&
			    !g_hash_table_contains(keys, u.key)) {
				g_hash_table_add(keys, u.key);
				g_array_append_val(found, u);
			} else {
				g_free(u.key);
			}
		}
		for (uint32_t v = of.first; op_writes(a->op) && v < of.first + of.count; v++)
			written[v] = true;
	}
	return found;
}

static uint64_t bits_of(const struct trace *t, uint32_t value, uint32_t size)
{
	uint64_t bits = (uint64_t)trace_value(t, value).integer;
	return size < sizeof bits ? bits & ((UINT64_C(1) << 8 * size) - 1) : bits;
}

/* Does the read see what fresh memory has there? */
static bool sees_fill(const struct trace *t, uint32_t event, uint32_t fill)
{
	const struct variable *v = &t->variables[t->events[event].target];
	bool heap = t->blocks[v->block].alloc != NONE;
	uint32_t size = read_size(t, event);
	uint64_t value = size > 0 ? bits_of(t, past_value_read(t, event), size) : 0;
	for (uint32_t i = 0; i < size; i++)
		if ((value >> 8 * i & 0xff) != log_fill_byte(fill, heap ? v->address + i : 0))
			return false;
	return size > 0;
}

/* Does the thread's write update what it has just read, in the same line? */
static bool updates(const struct trace *t, uint32_t read, uint32_t write)
{
	const struct location *a = &t->locations[t->events[read].location];
	const struct location *b = &t->locations[t->events[write].location];
	return t->events[write].target == t->events[read].target && a->line == b->line &&
	       a->file == b->file;
}

/* Line `line` of a text, from 1; owned by the caller; NULL: there is none. */
static char *line_of(const char *text, uint32_t line)
{
	for (; line > 1 && text != NULL; line--) {
		text = strchr(text, '\n');
		text = text != NULL ? text + 1 : NULL;
	}
	return text != NULL && line > 0 ? g_strndup(text, strcspn(text, "\n")) : NULL;
}

/* The source line of an event; owned by the caller; NULL: it is not known. */
static char *source_of(const struct trace *t, uint32_t event)
{
	const struct location *l = &t->locations[t->events[event].location];
	g_autofree char *text = NULL;
	if (l->file == 0 || !g_file_get_contents(trace_string(t, l->file), &text, NULL, NULL))
		return NULL;
	return line_of(text, l->line);
}

/* Is the write that of a compound assignment, as "sum += slot->value", which takes the value of
 * its own target, too? */
static bool accumulates(const struct trace *t, uint32_t write)
{
	enum { NEAR = 16 }; /* events of the statement before the write */
	uint32_t read = trace_previous(t, write);
	for (int i = 0; i < NEAR && read != NONE &&
	                (!op_is_access(t->events[read].op) ||
	                 t->events[read].target != t->events[write].target);
	     i++)
		read = trace_previous(t, read);
	if (read == NONE || !op_reads(t->events[read].op) ||
	    !op_is_access(t->events[read].op) || !updates(t, read, write))
		return false;
	g_autofree char *line = source_of(t, write);
	return line != NULL && g_regex_match_simple("[-+*/%&|^]=|<<=|>>=", line, 0, 0);
}

/* Does the write put the value that was read to another place, of the same size? */
static bool copies(const struct trace *t, uint32_t read, uint32_t write)
{
	const struct event *a = &t->events[read], *b = &t->events[write];
	return b->target != a->target &&
	       past_value_written(t, write) == past_value_read(t, read) &&
	       t->variables[b->target].size == t->variables[a->target].size &&
	       !accumulates(t, write);
}

/* The thread's write of the value, updated or copied, before its hook (gcc has that of a copy
 * first) or later; NONE: there is none. */
static uint32_t write_of(const struct trace *t, uint32_t event)
{
	const struct event *a = &t->events[event];
	uint32_t first = trace_previous(t, event);
	bool next = true;
	if (a->op == OP_RMW)
		return event;
	for (uint32_t e = first != NONE ? first : event; e != NONE; e = trace_next(t, e)) {
		const struct event *w = &t->events[e];
		if (!op_is_access(w->op) || e == event)
			continue;
		bool writes = w->op == OP_WRITE && event_variables(t, w).count == 1;
		if (writes &&
		    ((e > event && next && updates(t, event, e)) || copies(t, event, e)))
			return e;
		next &= e < event || !op_writes(w->op);
	}
	return NONE;
}

/*
 * Does the code use the value, as far as its later writes show? It does not where it copies the
 * value, as a struct's padding is copied. *added: what it adds to it in an update. In
 * executions that read different values this differs where bits are put in place of others, as
 * a store to a bit-field does, or all are replaced (an exchange), so that nothing depends on
 * what was read.
 */
static bool uses_value(const struct trace *t, uint32_t event, uint64_t *added)
{
	uint32_t write = write_of(t, event), size = read_size(t, event);
	uint32_t value = write != NONE ? past_value_written(t, write) : 0;
	*added = 0;
	if (write == NONE)
		return true;
	if (value == 0 || trace_value(t, value).kind != V_INT)
		return false;
	*added = (bits_of(t, value, size) - bits_of(t, past_value_read(t, event), size))
	         << (64 - 8 * size);
	return t->events[write].target == t->events[event].target;
}

/* The last member in a variable's name ("slot[2].pair.a" and "s->a[1]": "a"); owned by the
 * caller; NULL: it names none. */
static char *member_of(const char *name)
{
	size_t length = strlen(name), start;
	while (length > 0 && name[length - 1] == ']')
		while (length > 0 && name[--length] != '[')
			;
	for (start = length; start > 0; start--)
		if (!g_ascii_isalnum(name[start - 1]) && name[start - 1] != '_')
			break;
	bool member = (start > 0 && name[start - 1] == '.') ||
	              (start > 1 && name[start - 1] == '>' && name[start - 2] == '-');
	return member && start < length ? g_strndup(name + start, length - start) : NULL;
}

static bool matches(const char *text, const char *format, const char *member)
{
	g_autofree char *pattern = g_strdup_printf(format, member);
	return g_regex_match_simple(pattern, text, 0, 0);
}

/*
 * Does the code at the place of the read name the member that is read? A compiler makes the
 * copy of a struct, or of std::optional, reads of its members, also of those that nothing uses;
 * these reads have the place of the copy ("copy = *slot"), not that of a member. Compilers put
 * a read at the "->" or "." (gcc) or the name (clang) of the member; at the "[" of its element;
 * or at the operator that updates it.
 */
static bool is_named(const struct trace *t, uint32_t event)
{
	const struct location *l = &t->locations[t->events[event].location];
	g_autofree char *member = member_of(trace_variable_name(t, t->events[event].target));
	g_autofree char *line = source_of(t, event);
	if (member == NULL || op_is_atomic(t->events[event].op)) /* no copy is atomic */
		return true;
	if (line == NULL || l->column == 0 || l->column > strlen(line))
		return false;
	const char *at = line + l->column - 1;
	g_autofree char *before = g_strndup(line, l->column - 1);
	bool updates = g_regex_match_simple("^(\\+\\+|--|[-+*/%&|^]=|<<=|>>=|\\[)", at, 0, 0);
	return matches(at, "^(->|\\.)?\\s*%s\\b", member) ||
	       matches(at, "^(\\+\\+|--)[\\w\\s.>()*\\[\\]-]*?\\b%s\\b", member) ||
	       (updates && matches(before, "\\b%s\\s*(\\[[^]]*\\]\\s*)*$", member));
}

static bool is_same_event(const struct trace *a, const struct trace *b, uint32_t event)
{
	const struct event *x = &a->events[event], *y = &b->events[event];
	return event < b->events_count && x->thread == y->thread && x->op == y->op &&
	       event_variables(b, y).count == 1 &&
	       a->variables[x->target].address == b->variables[y->target].address &&
	       a->variables[x->target].size == b->variables[y->target].size;
}

/* Is it a variable of the standard library's own, of which a program knows nothing? */
static bool is_library_variable(const char *name)
{
	for (const char *at = name; *at != '\0'; at++)
		if (own_code_is_library_member(at))
			return true;
	return g_str_has_prefix(name, "std::") || g_str_has_prefix(name, "__gnu_cxx::");
}

/* Notes, once, that it is not known of two places whether the read comes before all writes. */
static void note_unknown(struct exploration *x, const struct unwritten *u, const char *why)
{
	const struct trace *t = x->trace;
	g_autoptr(GString) name = g_string_new(NULL);
	trace_append_variable(t, &t->events[u->event], name);
	bool library = is_library_variable(name->str);
	char *note =
	        library ? g_strdup_printf("no more was asked whether some variables of the "
	                                  "standard library's own are read before anything "
	                                  "was written to them: %s",
	                                  why)
	                : g_strdup_printf("no more was asked whether %s is read before "
	                                  "anything was written to it at %s: %s",
	                                  name->str, own_code_place_name(t, u->event), why);
	if (g_ptr_array_find_with_equal_func(x->report->notes, note, g_str_equal, NULL))
		g_free(note);
	else
		g_ptr_array_add(x->report->notes, note);
}

/* The read is no finding in this run; `why`: not known in others, or NULL. Such an answer comes
 * MOST_ASKED times at most. */
static void settle(struct exploration *x, struct unwritten *u, const char *why)
{
	guint asked = 1 + GPOINTER_TO_UINT(g_hash_table_lookup(x->unwritten, u->key));
	u->stays = false;
	g_hash_table_replace(x->unwritten, g_strdup(u->key), GUINT_TO_POINTER(asked));
	if (asked == MOST_ASKED && why != NULL)
		note_unknown(x, u, why);
}

/* What an execution with such contents of fresh memory, or NULL, shows of the read. */
static void judge(struct exploration *x, struct unwritten *u, struct trace *run, uint32_t fill)
{
	uint64_t before = u->added;
	if (run == NULL || !trace_need(run, INDEX_THREADS, x->progress) ||
	    !is_same_event(x->trace, run, u->event)) {
		settle(x, u, "other contents of fresh memory led elsewhere before");
	} else if (!sees_fill(run, u->event, fill)) {
		uint32_t value = past_value_read(run, u->event);
		bool zero = value != 0 && trace_value(run, value).integer == 0;
		bool stack = x->trace->blocks[block_of(x->trace, u->event)].alloc == NONE;
		/* zeros are calloc's, or a new mapping's; frames that a thread's first had
		 * before, and parameters that a function keeps in its frame, are written
		 * without a hook */
		settle(x, u,
		       zero || stack ? NULL : "code that is not recorded had written there");
	} else if (!uses_value(run, u->event, &u->added) || (fill == 2 && u->added != before)) {
		settle(x, u, NULL);
	} else if (!is_named(x->trace, u->event)) {
		settle(x, u, "the code there does not name it, and may copy all members");
	}
}

/* Executes the run once more with such contents of fresh memory; leaves of the suspects those
 * that see them. */
static void ask(struct exploration *x, const struct plan *plan, uint32_t fill, GArray *suspects)
{
	struct plan again = *plan; /* borrows its arrays */
	struct plan_run run = { 0 };
	struct error error;
	again.fill = fill;
	x->report->filled++;
	bool good = plan_follow(&again, x->options->argv, 0, NULL, NULL, &run, &error);
	x->interrupted |= run.result.interrupted != 0;
	for (guint i = 0; i < suspects->len; i++) {
		struct unwritten *u = &g_array_index(suspects, struct unwritten, i);
		if (u->stays && !u->known)
			judge(x, u, good ? run.trace : NULL, fill);
	}
	plan_run_release(&run);
}

static bool any_open(const GArray *suspects)
{
	for (guint i = 0; i < suspects->len; i++) {
		const struct unwritten *u = &g_array_index(suspects, struct unwritten, i);
		if (u->stays && !u->known)
			return true;
	}
	return false;
}

static struct explore_use *use_new(const struct exploration *x, const struct unwritten *u)
{
	const struct trace *t = x->trace;
	const struct event *e = &t->events[u->event];
	uint32_t block = block_of(t, u->event), alloc = t->blocks[block].alloc;
	GString *story = g_string_new(trace_thread_name(t, e->thread));
	g_string_append(story, " reads ");
	trace_append_variable(t, e, story);
	if (alloc != NONE)
		g_string_append_printf(
		        story,
		        ", to which nothing was written since %s allocated its block at %s",
		        trace_thread_name(t, t->events[alloc].thread),
		        own_code_place_name(t, alloc));
	else
		g_string_append(story, ", to which nothing was written, on a thread's stack");
	struct explore_use *use = g_new(struct explore_use, 1);
	*use = (struct explore_use){ .key = g_strdup(u->key),
		                     .place = g_strdup(own_code_place_name(t, u->event)),
		                     .story = g_string_free(story, FALSE) };
	return use;
}

GPtrArray *explore_find_unwritten(struct exploration *x, const struct plan *plan, bool strayed)
{
	GPtrArray *found = g_ptr_array_new_with_free_func(explore_use_free);
	if (strayed)
		return found;
	GArray *suspects = find_suspects(x);
	for (uint32_t fill = 1; fill <= 2 && any_open(suspects); fill++)
		ask(x, plan, fill, suspects);
	for (guint i = 0; i < suspects->len; i++) {
		const struct unwritten *u = &g_array_index(suspects, struct unwritten, i);
		if (!u->stays)
			continue;
		g_ptr_array_add(found, use_new(x, u));
		bool sums = x->options->memory == MEMORY_SC;
		if (sums && x->trace->events[u->event].op == OP_RMW) /* another may be first */
			explore_give_up_sums(x);
	}
	g_array_unref(suspects);
	return found;
}
