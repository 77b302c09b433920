/*
 * travel_trail.c - the trail: registers and stack of the last instructions on the way to a
 * place.
 */
#include "engine/debug/travel_private.h"

#include <string.h>

void travel_footprint_free(void *p)
{
	struct footprint *f = p;
	g_free(f->registers);
	g_free(f);
}

bool travel_keep_footprint(struct travel *t, int64_t index)
{
	struct footprint *f = g_new0(struct footprint, 1);
	if (!travel_now(t, &f->at)) {
		travel_footprint_free(f);
		return false;
	}
	f->at.index = index;
	f->registers = g_strdup(t->f.reply->str);
	f->low = (f->at.sp - BELOW) & ~63ull;
	for (f->size = STACK_KEPT; f->size >= 64; f->size /= 2)
		if (inferior_read(&t->f, f->low, f->stack, f->size))
			break;
	g_ptr_array_add(t->trail, f);
	return true;
}

const struct footprint *travel_footprint(const struct travel *t, uint64_t clock, int64_t index)
{
	for (guint i = t->trail->len; i-- > 0;) {
		const struct footprint *f = t->trail->pdata[i];
		if (f->at.clock == clock && f->at.index == index)
			return f;
	}
	return NULL;
}

const char *travel_registers(const struct travel *t, uint32_t thread)
{
	const struct footprint *f =
	        t->ahead ? travel_footprint(t, t->present.clock, t->present.index) : NULL;
	return f && f->at.thread == thread ? f->registers : NULL;
}

bool travel_recall(struct travel *t, uint64_t address, void *bytes, size_t size)
{
	const struct footprint *f =
	        t->ahead ? travel_footprint(t, t->present.clock, t->present.index) : NULL;
	if (f && address >= f->low && size <= f->size && address - f->low <= f->size - size) {
		memcpy(bytes, f->stack + (address - f->low), size);
		return true;
	}
	const struct code_range *r = t->ahead ? code_map_known(&t->code, address) : NULL;
	return (!t->ahead || (r && address + size <= r->high)) &&
	       inferior_read(&t->f, address, bytes, size);
}
