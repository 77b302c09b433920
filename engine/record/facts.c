/*
 * facts.c - data on a recording beside its trace (struct record_facts): modules, code places as
 * text, waits of a deadlock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "debuginfo/debuginfo.h"
#include "engine/record/import_private.h"
#include "engine/trace/ending.h"

void record_facts_release(struct record_facts *f)
{
	if (f->blocked)
		g_ptr_array_free(f->blocked, TRUE);
	if (f->stopped)
		g_ptr_array_free(f->stopped, TRUE);
	if (f->ended)
		g_ptr_array_free(f->ended, TRUE);
	if (f->missing)
		g_ptr_array_free(f->missing, TRUE);
	if (f->unordered)
		g_ptr_array_free(f->unordered, TRUE);
	if (f->ends)
		g_ptr_array_free(f->ends, TRUE);
	g_free(f->diverged);
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

void record_describe(const struct record_facts *facts, uint64_t pc, GString *place,
                     GString *function)
{
	const struct record_module *m = record_module_of(facts->modules, pc - 1);
	struct debuginfo *d = NULL;
	if (m && !record_is_c_library(m))
		d = facts->debug ? debug_store_open(facts->debug, m->path, m->build_id, NULL)
		                 : debuginfo_open(m->path, m->build_id, NULL);
	struct debug_place places[1];
	size_t n = d ? debuginfo_code(d, pc - 1 - m->bias, places, 1) : 0;
	if (place) {
		if (n && places[0].file[0])
			g_string_append_printf(place, "%s:%u",
			                       record_last_component(places[0].file),
			                       places[0].line);
		else
			record_append_offset(m, pc - 1, place);
	}
	if (function && n)
		g_string_append(function, places[0].function);
	if (!facts->debug)
		debuginfo_close(d);
}

void record_explain_deadlock(const struct trace *t, const struct record_facts *facts,
                             GString *out)
{
	for (guint i = 0; i < facts->blocked->len; i++) {
		unsigned thread;
		char kind[32] = "", holder[32] = "";
		uint64_t address, pc;
		if (sscanf(facts->blocked->pdata[i], "%u %31s %" SCNx64 " %31s %" SCNx64,
		           &thread, kind, &address, holder, &pc) != 5)
			continue;
		char *who = thread ? g_strdup_printf("T%u", thread) : g_strdup("main");
		const char *what = NULL;
		for (uint64_t k = 0; k < t->objects_count; k++)
			if (t->objects[k].address == address)
				what = trace_string(t, t->objects[k].name);
		bool join = strcmp(kind, "thread") == 0;
		g_string_append_printf(out, "%s waits for %s", who,
		                       strcmp(kind, "spinlock") == 0 ? "spin lock"
		                       : join                        ? "the end of "
		                                                     : kind);
		if (what && !join)
			g_string_append_printf(out, " %s", what);
		if (strcmp(holder, "-") != 0)
			g_string_append_printf(out, "%s%s%s", join ? "" : ", held by ",
			                       strcmp(holder, "0") == 0 ? "main" : "T",
			                       strcmp(holder, "0") == 0 ? "" : holder);
		else if (join)
			g_string_append(out, "a thread");
		g_string_append(out, " (");
		record_describe(facts, pc, out, NULL);
		g_string_append(out, ")\n");
		g_free(who);
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
	else if (r->interrupted && r->signal) /* else its handler let it end by itself */
		trace_note_ending(t, ENDING_CUT, 0, "it was interrupted");
	else if (r->signal)
		trace_note_ending(t, ENDING_SIGNAL, r->signal, NULL);
	else
		trace_note_ending(t, ENDING_EXIT, r->status, NULL);
}
