/*
 * facts.c - data on a recording beside its trace (struct record_facts): modules, code places as
 * text, waits of a deadlock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/trace/own_code.h"
#include "debuginfo/debuginfo.h"
#include "engine/record/import/import_private.h"
#include "engine/trace/channel.h"
#include "engine/trace/ending.h"

void record_facts_release(struct record_facts *f)
{
	GArray *arrays[] = { f->blocked, f->stopped[0], f->stopped[1], f->ended,
		             f->ends,    f->missing,    f->states,     f->turns,
		             f->sums,    f->inits,      f->taken };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		if (arrays[i])
			g_array_free(arrays[i], TRUE);
	if (f->unordered)
		g_ptr_array_free(f->unordered, TRUE);
	g_free(f->input);
	if (f->modules) {
		for (guint i = 0; i < f->modules->len; i++) {
			struct record_module *m =
			        &g_array_index(f->modules, struct record_module, i);
			g_free(m->path);
			g_free(m->build_id);
		}
		g_array_free(f->modules, TRUE);
	}
	memset(f, 0, sizeof(*f));
}

const struct record_module *record_module_of(const GArray *modules, uint64_t address)
{
	for (guint i = 0; i < modules->len; i++) {
		const struct record_module *m =
		        &g_array_index(modules, struct record_module, i);
		if (address >= m->low && address < m->high)
			return m;
	}
	return NULL;
}

const char *record_last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const char *record_library(const struct record_facts *facts, uint64_t pc)
{
	const struct record_module *m = record_module_of(facts->modules, pc);
	return m ? record_last_component(m->path) : "code without a file";
}

bool record_is_c_library(const struct record_module *m)
{
	const char *name = record_last_component(m->path);
	return g_str_has_prefix(name, "libc.so") || g_str_has_prefix(name, "ld-linux");
}

void record_append_offset(const struct record_module *m, uint64_t address, GString *out)
{
	if (m)
		g_string_append_printf(out, "%s+0x%" PRIx64, record_last_component(m->path),
		                       address - m->bias);
	else
		g_string_append_printf(out, "0x%" PRIx64, address);
}

/* The innermost of the inlined places in the user's own files, or the innermost; NULL: none. */
static const struct debug_place *own_place(const struct debug_place *places, size_t n)
{
	for (size_t i = 0; i < n && own_code_is_on(); i++) {
		const struct debug_place *p = &places[i];
		const char *path = p->path[0] ? p->path : p->file;

		if (p->line && *path && own_code_has_file(path, p->function))
			return p;
	}
	return n ? places : NULL;
}

void record_describe(const struct record_facts *facts, uint64_t pc, GString *place,
                     GString *function)
{
	const struct record_module *m = record_module_of(facts->modules, pc - 1);
	struct debuginfo *d = NULL;
	if (m && !record_is_c_library(m))
		d = facts->debug ? debug_store_open(facts->debug, m->path, m->build_id, NULL)
		                 : debuginfo_open(m->path, m->build_id, NULL);
	enum { DEEPEST = 16 };
	struct debug_place places[DEEPEST] = { 0 };
	size_t n = d ? debuginfo_code(d, pc - 1 - m->bias, places, DEEPEST) : 0;
	const struct debug_place *own = own_place(places, MIN(n, DEEPEST));
	if (place) {
		if (own && own->file[0])
			g_string_append_printf(place, "%s:%u", record_last_component(own->file),
			                       own->line);
		else
			record_append_offset(m, pc - 1, place);
	}
	if (function && n)
		g_string_append(function, places[0].function);
	if (!facts->debug)
		debuginfo_close(d);
}

char *record_reads_text(const struct debuginfo *module, const char *name)
{
	static const char option[] = "-tsan-instrument-read-before-write=1";
	switch (debuginfo_reads(module)) {
	case READS_LEFT_OUT:
		return g_strdup_printf(
		        "%s: clang left out reads that a write of the same place follows (x++ has "
		        "only its write), so the values that they saw are unknown; build it with "
		        "heddle cc, or with -mllvm %s -grecord-command-line",
		        name, option);
	case READS_UNKNOWN:
		return g_strdup_printf(
		        "%s: rustc leaves out reads that a write of the same place follows (x += "
		        "1 has only its write), unless it was given -Cllvm-args=%s, which the "
		        "program does not tell",
		        name, option);
	default:
		return NULL;
	}
}

/* The first answer of `ask` for a module with events of the trace; NULL: none. */
static char *ask_modules(const struct record_facts *facts, const struct trace *trace,
                         char *ask(const struct trace *trace, const struct record_module *m,
                                   const struct debuginfo *d, GHashTable *asked),
                         GHashTable *asked)
{
	char *found = NULL;
	for (guint i = 0; found == NULL && i < facts->modules->len; i++) {
		const struct record_module *m =
		        &g_array_index(facts->modules, struct record_module, i);
		bool used = false;
		for (uint64_t l = 0; !used && l < trace->locations_count; l++)
			used = trace->locations[l].module == m->index;
		if (!used || record_is_c_library(m))
			continue;
		struct debuginfo *d = facts->debug ? debug_store_open(facts->debug, m->path,
		                                                      m->build_id, NULL)
		                                   : debuginfo_open(m->path, m->build_id, NULL);
		if (d != NULL)
			found = ask(trace, m, d, asked);
		if (!facts->debug)
			debuginfo_close(d);
	}
	return found;
}

static char *ask_reads(const struct trace *trace, const struct record_module *m,
                       const struct debuginfo *d, GHashTable *asked)
{
	return record_reads_text(d, record_last_component(m->path));
}

char *record_left_out_reads(const struct record_facts *facts, const struct trace *trace)
{
	return ask_modules(facts, trace, ask_reads, NULL);
}

/* "file:line (function)"; NULL: not in code with source lines. Owned by the caller. */
static char *instruction_place(const struct debuginfo *module, uint64_t address)
{
	enum { DEEPEST = 16 };
	struct debug_place places[DEEPEST] = { 0 };
	size_t n = address ? debuginfo_code(module, address, places, DEEPEST) : 0;
	const struct debug_place *own = own_place(places, MIN(n, DEEPEST));
	if (own == NULL)
		return NULL;
	return g_strdup_printf("%s:%u (%s)", record_last_component(own->file), own->line,
	                       places[0].function);
}

char *record_atomic_place(const struct debuginfo *module)
{
	return instruction_place(module, debuginfo_atomic_instruction(module));
}

char *record_atomic_text(const char *place)
{
	return g_strdup_printf(
	        "%s has an atomic instruction of inline assembly, or of code that is not "
	        "instrumented: what it reads and writes is not seen, nor which order it makes",
	        place);
}

static char *ask_instruction(const struct trace *trace, const struct record_module *m,
                             const struct debuginfo *d, GHashTable *asked)
{
	g_autofree char *place = record_atomic_place(d);
	return place ? record_atomic_text(place) : NULL;
}

char *record_atomic_instructions(const struct record_facts *facts, const struct trace *trace)
{
	return ask_modules(facts, trace, ask_instruction, NULL);
}

static char *ask_fence(const struct trace *trace, const struct record_module *m,
                       const struct debuginfo *d, GHashTable *asked)
{
	g_autofree char *place = instruction_place(d, debuginfo_fence_instruction(d));
	return place ? g_strdup_printf(
	                       "%s has a fence of inline assembly, which is not seen: "
	                       "loads may read older values in these runs than it allows",
	                       place)
	             : NULL;
}

char *record_fence_instructions(const struct record_facts *facts, const struct trace *trace)
{
	return ask_modules(facts, trace, ask_fence, NULL);
}

/* Marks the locations of the events that come while other threads may run, and of the calls
 * that lead to them. Each context is walked through once: stacks may be very deep. */
static void mark_run(const struct trace *t, bool *marked)
{
	bool several = false;
	g_autofree bool *walked = g_new0(bool, t->contexts_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		several |= t->events[e].op == OP_FORK;
		if (!several)
			continue;
		marked[t->events[e].location] = true;
		uint32_t at = e < t->stacks_count ? t->stacks[e] : 0;
		for (; at != 0 && !walked[at]; at = t->contexts[at].parent)
			walked[at] = marked[t->contexts[at].call] = true;
	}
}

/* Is the address in a function of the user's? The standard library's own pass what is theirs:
 * std::thread::joinable a thread's number, in each program. */
static bool is_own_function(const struct debuginfo *d, uint64_t address)
{
	enum { DEEPEST = 16 };
	struct debug_place places[DEEPEST] = { 0 };
	size_t n = MIN(debuginfo_code(d, address, places, DEEPEST), DEEPEST);
	const struct debug_place *outermost = n ? &places[n - 1] : NULL;
	return outermost &&
	       own_code_has_file(outermost->path[0] ? outermost->path : outermost->file,
	                         outermost->function);
}

static char *ask_unhooked(const struct trace *trace, const struct record_module *m,
                          const struct debuginfo *d, GHashTable *asked)
{
	g_autofree bool *marked = g_new0(bool, trace->locations_count + 1);
	g_autoptr(GArray) run = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	mark_run(trace, marked);
	for (uint64_t l = 0; l < trace->locations_count; l++) {
		uint64_t site = trace->locations[l].address ^ (uint64_t)m->index << 48;
		if (marked[l] && trace->locations[l].module == m->index &&
		    g_hash_table_add(asked, g_memdup2(&site, sizeof site)) &&
		    is_own_function(d, trace->locations[l].address))
			g_array_append_val(run, trace->locations[l].address);
	}
	if (run->len == 0)
		return NULL;
	g_autofree char *place = instruction_place(d, debuginfo_unhooked(d, run));
	return place ? g_strdup_printf(
	                       "%s has an access for which gcc calls no hook (a structure in memory that is "
	                       "passed by value, or that a function returns; __builtin_memset; "
	                       "a constant pointer to a member): what it reads or writes there "
	                       "is not seen (clang tells: CC=clang heddle cc)",
	                       place)
	             : NULL;
}

char *record_unhooked(const struct record_facts *facts, const struct trace *trace,
                      GHashTable *asked)
{
	return ask_modules(facts, trace, ask_unhooked, asked);
}

void record_append_thread(uint32_t number, GString *out)
{
	if (number == 0)
		g_string_append(out, "main");
	else
		g_string_append_printf(out, "T%u", number);
}

static const char *name_at(const struct trace *t, uint64_t address)
{
	const char *name = NULL;
	for (uint64_t i = 0; i < t->objects_count; i++)
		if (t->objects[i].address == address)
			name = trace_string(t, t->objects[i].name);
	return name;
}

/* The want of the thread in the trace, which its wait became; NONE: the trace cannot express
 * it, or its events are in the file alone. */
static uint32_t want_of(const struct trace *t, uint32_t number)
{
	if (t == NULL || t->events == NULL)
		return NONE;
	g_autoptr(GString) thread = g_string_new(NULL);
	record_append_thread(number, thread);
	for (uint32_t e = t->events_count; e-- > 0;) {
		enum op op = t->events[e].op;
		if (!op_wants(op) && op != OP_LEAVE) /* the wants are the last */
			return NONE;
		if (op_wants(op) &&
		    strcmp(trace_thread_name(t, t->events[e].thread), thread->str) == 0)
			return e;
	}
	return NONE;
}

/* The last event of the thread that looks at what it waits for; NONE: there is none. */
static uint32_t look_of(const struct trace *t, const struct record_wait *w)
{
	if (t == NULL || t->events == NULL || w->reason != FOR_LOOK)
		return NONE;
	for (uint32_t e = t->events_count; e-- > 0;) {
		const struct event *x = &t->events[e];
		bool access = op_is_access(x->op),
		     object = op_table[x->op].operand == OPERAND_OBJECT;
		if (t->threads[x->thread].recorded != w->thread || !(access || object))
			continue;
		uint64_t address = access ? t->variables[event_variables(t, x).first].address
		                          : t->objects[x->target].address;
		if (address == w->object)
			return e;
	}
	return NONE;
}

void record_append_wait_place(const struct trace *t, const struct record_facts *facts,
                              const struct record_wait *w, GString *out)
{
	uint32_t want = want_of(t, w->thread);
	want = want != NONE ? want : look_of(t, w);
	if (want != NONE)
		g_string_append(out, own_code_place_name(t, want));
	else
		record_describe(facts, w->pc, out, NULL);
}

/* "T1 waits for lock b, which it tries to take again and again, held by main": a thread that
 * looks at a lock. False: it does not. */
static bool explain_tries(const struct trace *t, const struct record_wait *w, GString *out)
{
	uint32_t look = look_of(t, w), holder = NONE;
	if (look == NONE || op_is_access(t->events[look].op))
		return false;
	uint32_t lock = t->events[look].target;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		bool of_lock = op_table[x->op].operand == OPERAND_OBJECT && x->target == lock &&
		               !event_inert(x);
		if (of_lock && op_acquires(x->op))
			holder = x->thread;
		else if (of_lock && op_releases(x->op) && x->thread == holder)
			holder = NONE;
	}
	g_string_append_printf(out,
	                       " waits for lock %s, which it tries to take again and again",
	                       trace_string(t, t->objects[lock].name));
	if (holder != NONE)
		g_string_append_printf(out, ", held by %s", trace_thread_name(t, holder));
	return true;
}

/* "T1 loops for ever: the loop reads nothing, and flag was read before it": a thread in a loop
 * that nobody can end. */
static void explain_loop(const struct trace *t, const struct record_facts *facts,
                         const struct record_wait *w, GString *out)
{
	uint32_t last = NONE;
	for (uint32_t e = 0; t != NULL && t->events != NULL && e < t->events_count; e++)
		if (t->threads[t->events[e].thread].recorded == w->thread)
			last = e;
	record_append_thread(w->thread, out);
	g_string_append(out, " loops for ever: the loop reads no memory");
	if (last != NONE && op_is_access(t->events[last].op) && op_reads(t->events[last].op))
		g_string_append_printf(
		        out, ", and %s was read only before it",
		        trace_variable_name(t, event_variables(t, &t->events[last]).first));
	g_string_append(out, " (");
	record_describe(facts, w->pc, out, NULL);
	g_string_append(out, ")\n");
}

static void explain_wait(const struct trace *t, const struct record_facts *facts,
                         const struct record_wait *w, GString *out)
{
	static const char *const words[LOG_WAIT_COUNT] = {
#define W(name, word) word,
		LOG_WAITS(W)
#undef W
	};
	bool join = w->reason == FOR_THREAD, channel = w->reason == FOR_FILE && w->message != 0;
	char *pipe = channel ? channel_name((unsigned)w->message) : NULL;
	const char *name = join ? NULL : channel ? pipe : name_at(t, w->object);
	uint32_t look = look_of(t, w), want = channel ? want_of(t, w->thread) : NONE;
	const char *asked = want != NONE ? channel_waited_for(t, want) : NULL;
	name = asked != NULL ? asked : name;
	if (name == NULL && look != NONE && op_is_access(t->events[look].op))
		name = trace_variable_name(t, event_variables(t, &t->events[look]).first);
	record_append_thread(w->thread, out);
	bool tries = explain_tries(t, w, out);
	if (!tries)
		g_string_append_printf(out, " waits for %s",
		                       channel ? "channel" : words[w->reason]);
	if (name && !tries)
		g_string_append_printf(out, "%s %s", w->reason == FOR_LOOK ? " of" : "", name);
	g_free(pipe);
	if (tries) {
		/* said */
	} else if (w->holder != NONE) {
		g_string_append(out, join ? " " : ", held by ");
		record_append_thread(w->holder, out);
	} else if (join) {
		g_string_append(out, " a thread");
	}
	g_string_append(out, " (");
	record_append_wait_place(t, facts, w, out);
	g_string_append(out, ")\n");
}

void record_explain_deadlock(const struct trace *t, const struct record_facts *facts,
                             GString *out)
{
	for (guint i = 0; i < facts->blocked->len; i++) {
		const struct record_wait *w =
		        &g_array_index(facts->blocked, struct record_wait, i);
		if (w->reason == FOR_LOOP)
			explain_loop(t, facts, w, out);
		else
			explain_wait(t, facts, w, out);
	}
}

void record_note_ending(struct trace *t, const struct record_facts *f,
                        const struct record_result *r)
{
	if (f->status == LOG_DEADLOCK)
		trace_note_ending(t, ENDING_STUCK, 0, NULL);
	else if (f->status == LOG_FULL || f->status == LOG_LIMIT)
		trace_note_ending(t, ENDING_CUT, 0,
		                  f->outcome == LOG_DEADLOCK
		                          ? "no more room for it; later no thread could go on"
		                          : "no more room for it");
	else if (r->timed_out)
		trace_note_ending(t, ENDING_CUT, 0, "its time was up");
	else if (f->status == LOG_CUT || f->status == LOG_STARVED)
		trace_note_ending(t, ENDING_CUT, 0,
		                  f->status == LOG_CUT ? "it took too many steps"
		                                       : "it waited for more input");
	else if (r->interrupted && r->signal) /* else a handler let the program end by itself */
		trace_note_ending(t, ENDING_CUT, 0, "it was interrupted");
	else if (r->unseen)
		trace_note_ending(t, ENDING_CUT, 0,
		                  r->became || f->status == LOG_EXECED
		                          ? "it became another program"
		                          : "it was killed");
	else if (r->signal)
		trace_note_ending(t, ENDING_SIGNAL, r->signal, NULL);
	else
		trace_note_ending(t, ENDING_EXIT, r->status, NULL);
}
