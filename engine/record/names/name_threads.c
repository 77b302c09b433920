/*
 * name_threads.c - thread-local variables: those of a module lie at the same distance below the
 * pointer of each thread.
 */
#include "engine/record/names/name_private.h"
#include "engine/record/record.h"

void names_thread(struct names *n, uint32_t thread, uint32_t number, uint64_t pointer)
{
	if (n->threads->len <= thread)
		g_array_set_size(n->threads, thread + 1);
	g_array_index(n->threads, struct name_thread, thread) =
	        (struct name_thread){ pointer, number };
}

/* The module that has the thread-local variable, and its address in the debug information. */
static struct debuginfo *local_module(struct names *n, uint64_t pointer, uint64_t address,
                                      uint32_t *module, uint64_t *at)
{
	for (uint32_t i = 0; i < n->modules->len; i++) {
		const struct name_module *m = &g_array_index(n->modules, struct name_module, i);
		uint64_t offset = address - (pointer - m->locals_below);
		if (offset >= m->locals_bytes)
			continue;
		*module = i;
		*at = DEBUG_THREAD_LOCAL + offset;
		return names_debuginfo(n, i);
	}
	return NULL;
}

static bool append_local_of(struct names *n, uint32_t thread, uint64_t address, uint64_t size,
                            GString *name)
{
	uint32_t module;
	uint64_t at;
	const struct name_thread *t = &g_array_index(n->threads, struct name_thread, thread);
	struct debuginfo *d =
	        t->pointer ? local_module(n, t->pointer, address, &module, &at) : NULL;
	const struct debug_variable *v = d ? debuginfo_data(d, at) : NULL;
	if (v == NULL)
		return false;
	g_string_append_printf(name, "%s@", names_variable(n, module, v));
	record_append_thread(t->number, name);
	names_append_offset(n, d, v, at - v->address, size, name);
	return true;
}

bool names_append_thread_local(struct names *n, uint32_t block, uint64_t address, uint64_t size,
                               GString *name)
{
	uint32_t threads = n->threads->len, of = NONE;
	if (n->trace == NULL)
		return false;
	if (block != NONE)
		of = names_stack_thread(n, block);
	if (of < threads)
		return append_local_of(n, of, address, size, name);
	/* the C library allocates the main thread's, where no stack is */
	for (uint32_t i = 0; i < threads; i++)
		if (append_local_of(n, i, address, size, name))
			return true;
	return false;
}
