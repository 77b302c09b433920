/*
 * stores.c - stores by gcc that read the word that they write (bit-fields), which no hook of
 * the compiler's tells.
 */
#include "debuginfo/dead_private.h"
#include "debuginfo/debuginfo.h"

static bool same_place(const x86_op_mem *a, const x86_op_mem *b)
{
	return a->segment == b->segment && a->base == b->base && a->index == b->index &&
	       a->scale == b->scale && a->disp == b->disp;
}

/* An operand in memory that is none of the compiler's own places on the stack. */
static bool in_memory(const cs_x86_op *o)
{
	return o->type == X86_OP_MEM && o->mem.base != X86_REG_RSP &&
	       !(o->mem.base == X86_REG_RBP && o->mem.disp < 0);
}

/* The address of an operand relative to the instruction pointer is that of the file. */
static x86_op_mem place_of(const cs_insn *i, const cs_x86_op *o)
{
	x86_op_mem place = o->mem;
	if (place.base == X86_REG_RIP) {
		place.base = X86_REG_INVALID;
		place.disp += (int64_t)(i->address + i->size);
	}
	return place;
}

/* Up to the next call or jump: is a place read and then written, or both at once? */
static bool store_reads(const struct machine *m, uint64_t address)
{
	enum { MOST_LOADS = 8, FAR = 24 };
	x86_op_mem loads[MOST_LOADS];
	size_t known = 0, count = 0;
	bool linkage;
	const uint8_t *bytes = machine_at(m, address, &count, &linkage);
	if (bytes == NULL)
		return false;
	for (int n = 0;
	     n < FAR && capstone.disasm_iter(m->decoder, &bytes, &count, &address, m->i); n++) {
		const cs_x86 *x = &m->i->detail->x86;
		if (capstone.insn_group(m->decoder, m->i, X86_GRP_CALL) ||
		    capstone.insn_group(m->decoder, m->i, X86_GRP_JUMP) ||
		    capstone.insn_group(m->decoder, m->i, X86_GRP_RET))
			return false;
		for (uint8_t k = 0; m->i->id != X86_INS_LEA && k < x->op_count; k++) {
			const cs_x86_op *o = &x->operands[k];
			if (!in_memory(o))
				continue;
			x86_op_mem place = place_of(m->i, o);
			if (o->access & CS_AC_READ && known < MOST_LOADS)
				loads[known++] = place;
			for (size_t l = 0; o->access & CS_AC_WRITE && l < known; l++)
				if (same_place(&loads[l], &place))
					return true;
		}
	}
	return false;
}

/* Does the call before `address` lead to a function that is no hook of the compiler's, as
 * memcpy? What follows it is then no instrumented store. */
static bool follows_another_call(struct code *c, uint64_t address)
{
	const char *name = dead_called_before(c, address);
	return name != NULL && !g_str_has_prefix(name, "__tsan_");
}

void debuginfo_stores_that_read(const char *path, const uint64_t *addresses, size_t count,
                                bool *reads)
{
	struct code c = { .slots = g_hash_table_new(NULL, NULL),
		          .linkage = g_hash_table_new(NULL, NULL) };
	bool good = machine_open(&c.m, path, true);
	if (good)
		dead_read_linkage(&c);
	for (size_t i = 0; i < count; i++)
		reads[i] = good && store_reads(&c.m, addresses[i]) &&
		           !follows_another_call(&c, addresses[i]);
	machine_close(&c.m);
	g_hash_table_unref(c.slots);
	g_hash_table_unref(c.linkage);
}
