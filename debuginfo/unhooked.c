/*
 * unhooked.c - accesses for which gcc calls no hook in instrumented code: of a structure that
 * is passed to a function by value from memory, or returned into memory; of __builtin_memset
 * and its kin, where the size is known; of a constant pointer to a member.
 *
 * Each other access of memory that threads may share comes right behind the call of its hook,
 * and before the next call of any function, which may read what it writes. So a load between a
 * call of the program's and the next call is one without a hook, and so is a store of more than
 * the hooks since the last call have told. Memory of the frame, of constants and of
 * thread-locals is none that is shared.
 */
#include "debuginfo/dead_private.h"
#include "debuginfo/private.h"

#include <stdlib.h>
#include <string.h>

/* What a register holds, as far as its last write before in the code says. */
enum held { ANYTHING, OF_FRAME, OF_CONSTANTS };
enum { UNKNOWN = -1 }; /* other code leads here, or a hook has told a range */

struct walk {
	struct code *c;
	GHashTable *targets; /* of the function's jumps: an address + 1 */
	uint8_t held[X86_REG_ENDING];
	bool hooks;  /* the function calls some: it is not no_sanitize("thread") */
	bool called; /* the last call was none of a hook; and no other code leads here */
	int told;    /* bytes that hooks have told and no store has written yet; or UNKNOWN */
	x86_op_mem stored; /* what the last store wrote */
	uint64_t loaded;   /* the first load since the last call; 0: none */
};

static bool is_writable(const struct walk *w, uint64_t address)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	elf_getshdrstrndx(w->c->m.elf, &names);
	while ((section = elf_nextscn(w->c->m.elf, section)) != NULL) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) == NULL ||
		    address - header.sh_addr >= header.sh_size ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		const char *name = elf_strptr(w->c->m.elf, names, header.sh_name);
		return name != NULL &&
		       (strcmp(name, ".data") == 0 || strcmp(name, ".bss") == 0);
	}
	return false;
}

static uint64_t address_of(const cs_insn *i, const x86_op_mem *m)
{
	return i->address + i->size + (uint64_t)m->disp;
}

/* Register `r` as its 64 bits; another kind of register as itself. */
static x86_reg whole(x86_reg r)
{
	static const x86_reg low[][2] = {
		{ X86_REG_EAX, X86_REG_RAX }, { X86_REG_ECX, X86_REG_RCX },
		{ X86_REG_EDX, X86_REG_RDX }, { X86_REG_EBX, X86_REG_RBX },
		{ X86_REG_ESI, X86_REG_RSI }, { X86_REG_EDI, X86_REG_RDI },
	};
	for (size_t k = 0; k < G_N_ELEMENTS(low); k++)
		if (r == low[k][0])
			return low[k][1];
	return r;
}

/* May other threads use the place in memory? */
static bool is_shared(const struct walk *w, const cs_insn *i, const x86_op_mem *m)
{
	if (m->segment != X86_REG_INVALID || m->base == X86_REG_INVALID ||
	    m->base == X86_REG_RSP || m->base == X86_REG_RBP)
		return false;
	if (m->base == X86_REG_RIP)
		return is_writable(w, address_of(i, m));
	return w->held[m->base] == ANYTHING &&
	       (m->index == X86_REG_INVALID || w->held[m->index] == ANYTHING);
}

static enum held held_by(const struct walk *w, const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	const cs_x86_op *from = &x->operands[x->op_count > 1];
	bool copies = i->id == X86_INS_MOV || i->id == X86_INS_LEA || i->id == X86_INS_MOVABS;
	if (!copies && x->operands[0].access & CS_AC_READ) /* an address that is counted on */
		return (enum held)w->held[whole(x->operands[0].reg)];
	if (x->op_count != 2)
		return ANYTHING;
	if (i->id == X86_INS_LEA && from->mem.base == X86_REG_RIP)
		return is_writable(w, address_of(i, &from->mem)) ? ANYTHING : OF_CONSTANTS;
	x86_reg source = i->id == X86_INS_LEA       ? from->mem.base
	                 : from->type == X86_OP_REG ? from->reg
	                                            : X86_REG_INVALID;
	if (source == X86_REG_RSP || (source == X86_REG_RBP && i->id == X86_INS_LEA))
		return OF_FRAME;
	return (enum held)w->held[source];
}

/* Notes a load of shared memory behind a call that was none of a hook. */
static void note_load(struct walk *w, const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	if (!w->called || w->loaded != 0 || i->id == X86_INS_LEA || i->id == X86_INS_NOP)
		return;
	for (uint8_t k = 0; k < x->op_count; k++) {
		const cs_x86_op *o = &x->operands[k];
		if (o->type == X86_OP_MEM && !(o->access & CS_AC_WRITE) &&
		    is_shared(w, i, &o->mem))
			w->loaded = i->address;
	}
}

/* capstone takes tests for writes, and moves of vectors for nothing. */
static bool is_store(const cs_insn *i, const cs_x86_op *to)
{
	if (strncmp(i->mnemonic, "mov", 3) == 0 || strncmp(i->mnemonic, "vmov", 4) == 0)
		return true;
	return to->access & CS_AC_WRITE && i->id != X86_INS_TEST && i->id != X86_INS_CMP &&
	       i->id != X86_INS_BT;
}

/* The address of a store of shared memory that no hook has told, or 0. */
static uint64_t untold_store(struct walk *w, const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	const cs_x86_op *to = &x->operands[0];
	if (w->told == UNKNOWN || x->op_count == 0 || to->type != X86_OP_MEM ||
	    !is_store(i, to) || !is_shared(w, i, &to->mem))
		return 0;
	/* a bit-field's may be several of one place */
	if (w->told == 0 && memcmp(&w->stored, &to->mem, sizeof to->mem) != 0)
		return i->address;
	w->told = MAX(w->told - to->size, 0);
	w->stored = to->mem;
	return 0;
}

/* `told` behind a call; of a copy from memory to memory both hooks come before it. */
static int told_by(const struct walk *w, const char *hook)
{
	if (hook == NULL || strstr(hook, "atomic") || strstr(hook, "func_"))
		return 0;
	if (strstr(hook, "read"))
		return w->told;
	size_t digits = strcspn(hook, "0123456789");
	return strstr(hook, "vptr") ? (int)sizeof(void *)
	       : hook[digits]       ? atoi(hook + digits)
	                            : UNKNOWN;
}

/* A call: the loads before it may be its arguments. */
static uint64_t call(struct walk *w, const cs_insn *i)
{
	bool direct = i->detail->x86.operands[0].type == X86_OP_IMM;
	const char *name = dead_callee(w->c, i); /* which may decode code at `i` */
	bool hook = name != NULL && g_str_has_prefix(name, "__tsan_");
	bool begins = hook && strcmp(name, "__tsan_func_entry") == 0;
	uint64_t found = !hook && direct ? w->loaded : 0;
	w->hooks |= hook;
	w->called = !hook || begins;
	w->told = told_by(w, hook ? name : NULL);
	memset(&w->stored, 0, sizeof w->stored);
	w->loaded = 0;
	return found;
}

static uint64_t step(struct walk *w, const cs_insn *i)
{
	const struct machine *m = &w->c->m;
	if (g_hash_table_contains(w->targets, (gpointer)(uintptr_t)(i->address + 1)))
		w->called = false, w->loaded = 0, w->told = UNKNOWN;
	if (capstone.insn_group(m->decoder, i, X86_GRP_CALL))
		return call(w, i);
	if (capstone.insn_group(m->decoder, i, X86_GRP_JUMP) ||
	    capstone.insn_group(m->decoder, i, X86_GRP_RET)) {
		w->called &= i->id != X86_INS_JMP && i->id != X86_INS_RET;
		w->loaded = 0;
		if (i->id == X86_INS_JMP || i->id == X86_INS_RET)
			w->told = UNKNOWN;
		return 0;
	}
	note_load(w, i);
	uint64_t found = untold_store(w, i);
	const cs_x86_op *to = &i->detail->x86.operands[0];
	if (i->detail->x86.op_count > 0 && to->type == X86_OP_REG && to->access & CS_AC_WRITE)
		w->held[whole(to->reg)] = (uint8_t)held_by(w, i);
	return found;
}

static void find_targets(struct walk *w, const uint8_t *bytes, size_t count, uint64_t address)
{
	const struct machine *m = &w->c->m;
	while (count > 0 && capstone.disasm_iter(m->decoder, &bytes, &count, &address, m->i))
		if (capstone.insn_group(m->decoder, m->i, X86_GRP_JUMP) &&
		    m->i->detail->x86.operands[0].type == X86_OP_IMM)
			g_hash_table_add(
			        w->targets,
			        (gpointer)(uintptr_t)(m->i->detail->x86.operands[0].imm + 1));
}

static uint64_t walk_function(struct code *c, const struct elf_symbol *s)
{
	size_t count;
	bool linkage;
	uint64_t address = s->address, found = 0;
	const uint8_t *bytes = machine_at(&c->m, address, &count, &linkage);
	if (bytes == NULL)
		return 0;
	count = MIN(count, s->size);
	struct walk w = { .c = c, .targets = g_hash_table_new(NULL, NULL), .told = UNKNOWN };
	find_targets(&w, bytes, count, address);
	while (found == 0 &&
	       capstone.disasm_iter(c->m.decoder, &bytes, &count, &address, c->m.i)) {
		uint64_t here = step(&w, c->m.i);
		found = w.hooks ? here : 0;
	}
	g_hash_table_unref(w.targets);
	return found;
}

static int by_address(gconstpointer a, gconstpointer b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

uint64_t debuginfo_unhooked(const struct debuginfo *d, GArray *run)
{
	struct code c = { .slots = g_hash_table_new(NULL, NULL),
		          .linkage = g_hash_table_new(NULL, NULL) };
	uint64_t found = 0;
	bool good = machine_open(&c.m, d->path, true);
	if (good)
		dead_read_linkage(&c);
	g_array_sort(run, by_address);
	guint next = 0;
	for (guint k = 0; good && found == 0 && k < d->code_symbols->len; k++) {
		const struct elf_symbol *s = AT(d->code_symbols, struct elf_symbol, k);
		struct debug_place place;
		while (next < run->len && g_array_index(run, uint64_t, next) < s->address)
			next++;
		if (next < run->len &&
		    g_array_index(run, uint64_t, next) - s->address < s->size &&
		    debuginfo_code(d, s->address, &place, 1) != 0 && place.line != 0)
			found = walk_function(&c, s);
	}
	machine_close(&c.m);
	g_hash_table_unref(c.slots);
	g_hash_table_unref(c.linkage);
	return found;
}
