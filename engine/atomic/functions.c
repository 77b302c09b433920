/*
 * functions.c - parameters and linkage of functions, from debug information; the C library's
 * blocking calls.
 */
#include "engine/atomic/functions.h"

#include <string.h>

static void add_parameters(struct atomic_function *f, struct atomic_places *p,
                           struct debuginfo *d, const struct debug_function *g)
{
	for (uint32_t i = 0; i < g->parameter_count; i++) {
		struct debug_local local = debuginfo_local(d, g->variables + i);
		uint32_t to = debuginfo_pointee(d, local.type);
		struct atomic_parameter x = {
			.type = to == NONE ? "" : atomic_places_type(p, d, to),
			.name = atomic_places_intern(p, local.name),
		};
		if (x.type[0] == '\0')
			continue;
		if (f->parameters == NULL)
			f->parameters = g_array_new(FALSE, FALSE, sizeof x);
		g_array_append_val(f->parameters, x);
	}
}

static void look_up_functions(struct atomic_functions *f, struct atomic_places *p,
                              struct debuginfo *d, const struct trace *t, const bool *entered)
{
	for (uint64_t s = 1; s + 1 < f->count; s++) {
		struct atomic_function *at = &f->at[s];
		if (!entered[s] || at->known)
			continue;
		uint32_t id = debuginfo_function_named(d, trace_string(t, (uint32_t)s));
		const struct debug_function *g = id == NONE ? NULL : debuginfo_function(d, id);
		if (g == NULL)
			continue;
		at->known = true;
		at->open = g->external || g->address_taken;
		add_parameters(at, p, d, g);
		f->any = true;
	}
}

struct atomic_functions *atomic_functions_new(const struct trace *t, struct atomic_places *p)
{
	struct atomic_functions *f = g_new0(struct atomic_functions, 1);
	f->count = t->string_offsets_count;
	f->at = g_new0(struct atomic_function, f->count + 1);
	g_autofree bool *entered = g_new0(bool, f->count + 1);
	for (uint64_t i = 0; i < t->events_count; i++)
		if (t->events[i].op == OP_ENTER)
			entered[t->events[i].target] = true;
	for (uint64_t i = 0; i < p->module_count; i++)
		if (p->modules[i] && debuginfo_has_dwarf(p->modules[i]))
			look_up_functions(f, p, p->modules[i], t, entered);
	return f;
}

void atomic_functions_free(struct atomic_functions *f)
{
	if (f == NULL)
		return;
	for (uint64_t s = 0; s < f->count; s++)
		if (f->at[s].parameters)
			g_array_free(f->at[s].parameters, TRUE);
	g_free(f->at);
	g_free(f);
}

guint atomic_function_takes(const struct atomic_function *f, const char *type)
{
	guint n = 0;
	for (guint i = 0; f->parameters && i < f->parameters->len; i++)
		n += g_array_index(f->parameters, struct atomic_parameter, i).type == type;
	return n;
}

/* -- calls of the C library --------------------------------------------------------------- */

#define SUFFIX "@libc"

static const struct {
	const char *name;
	enum atomic_call call;
} calls[] = {
	{ "sleep", CALL_SLEEP },        { "usleep", CALL_SLEEP },
	{ "nanosleep", CALL_SLEEP },    { "clock_nanosleep", CALL_SLEEP },
	{ "thrd_sleep", CALL_SLEEP },   { "poll", CALL_POLL },
	{ "ppoll", CALL_POLL },         { "select", CALL_POLL },
	{ "pselect", CALL_POLL },       { "epoll_wait", CALL_POLL },
	{ "epoll_pwait", CALL_POLL },   { "read", CALL_INPUT },
	{ "readv", CALL_INPUT },        { "recv", CALL_INPUT },
	{ "recvfrom", CALL_INPUT },     { "recvmsg", CALL_INPUT },
	{ "accept", CALL_INPUT },       { "accept4", CALL_INPUT },
	{ "sigwait", CALL_INPUT },      { "sigwaitinfo", CALL_INPUT },
	{ "sigtimedwait", CALL_INPUT }, { "getchar", CALL_INPUT },
	{ "getc", CALL_INPUT },         { "fgetc", CALL_INPUT },
	{ "fgets", CALL_INPUT },        { "fread", CALL_INPUT },
	{ "getline", CALL_INPUT },      { "scanf", CALL_INPUT },
	{ "fscanf", CALL_INPUT },       { "signal", CALL_HANDLE },
	{ "exit", CALL_HANDLE },
};

enum atomic_call atomic_call_named(const char *name)
{
	if (!g_str_has_suffix(name, SUFFIX))
		return CALL_OTHER;
	size_t length = strlen(name) - strlen(SUFFIX);
	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (strlen(calls[i].name) == length &&
		    strncmp(calls[i].name, name, length) == 0)
			return calls[i].call;
	return CALL_OTHER;
}
