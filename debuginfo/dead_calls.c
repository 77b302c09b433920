/* dead_calls.c - which function a call or a jump of machine code leads to. */
#include "debuginfo/dead_private.h"

#include <string.h>

/* The hooks of a program that has them linked in (`heddle cc`). */
static void read_hooks(struct code *c, const GElf_Shdr *header, Elf_Data *data)
{
	for (size_t i = 0; header->sh_entsize != 0 && i < data->d_size / header->sh_entsize;
	     i++) {
		GElf_Sym s;
		if (gelf_getsym(data, (int)i, &s) == NULL || s.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(s.st_info) != STT_FUNC)
			continue;
		char *name = elf_strptr(c->m.elf, header->sh_link, s.st_name);
		if (name != NULL && g_str_has_prefix(name, "__tsan_"))
			g_hash_table_insert(c->linkage, (gpointer)(uintptr_t)s.st_value, name);
	}
}

void dead_read_linkage(struct code *c)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(c->m.elf, section)) != NULL) {
		GElf_Shdr header, strings;
		Elf_Data *data = NULL, *symbols = NULL;
		if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS ||
		    (data = elf_getdata(section, NULL)) == NULL || data->d_buf == NULL)
			continue;
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			read_hooks(c, &header, data);
		if (header.sh_type != SHT_RELA || header.sh_entsize == 0)
			continue;
		Elf_Scn *of = elf_getscn(c->m.elf, header.sh_link);
		if (of == NULL || gelf_getshdr(of, &strings) == NULL ||
		    (symbols = elf_getdata(of, NULL)) == NULL)
			continue;
		for (size_t i = 0; i < data->d_size / header.sh_entsize; i++) {
			GElf_Rela rela;
			GElf_Sym symbol;
			if (gelf_getrela(data, (int)i, &rela) == NULL ||
			    (GELF_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
			     GELF_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT) ||
			    gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol) == NULL)
				continue;
			char *name = elf_strptr(c->m.elf, strings.sh_link, symbol.st_name);
			if (name != NULL && symbol.st_shndx == SHN_UNDEF)
				g_hash_table_insert(c->slots,
				                    (gpointer)(uintptr_t)rela.r_offset, name);
		}
	}
}

/* The word of the linkage through which a call or jump goes; NULL: it does not. */
static const char *by_slot(const struct code *c, const cs_insn *i)
{
	const cs_x86_op *to = &i->detail->x86.operands[0];
	if (to->type != X86_OP_MEM || to->mem.base != X86_REG_RIP ||
	    to->mem.index != X86_REG_INVALID)
		return NULL;
	uint64_t slot = i->address + i->size + (uint64_t)to->mem.disp;
	return g_hash_table_lookup(c->slots, (gpointer)(uintptr_t)slot);
}

const char *dead_linkage_at(struct code *c, uint64_t address)
{
	const char *known = g_hash_table_lookup(c->linkage, (gpointer)(uintptr_t)address);
	if (known != NULL)
		return known;
	size_t count;
	bool linkage;
	uint64_t at = address;
	const uint8_t *bytes = machine_at(&c->m, address, &count, &linkage);
	known = "";
	for (int k = 0; k < 2 && bytes != NULL && linkage; k++) {
		if (!capstone.disasm_iter(c->m.decoder, &bytes, &count, &at, c->m.i))
			break;
		const char *name = c->m.i->id == X86_INS_JMP ? by_slot(c, c->m.i) : NULL;
		known = name != NULL ? name : known;
	}
	g_hash_table_insert(c->linkage, (gpointer)(uintptr_t)address, (gpointer)known);
	return known;
}

const char *dead_callee(struct code *c, const cs_insn *i)
{
	const cs_x86_op *to = &i->detail->x86.operands[0];
	if (to->type != X86_OP_IMM)
		return by_slot(c, i);
	const char *name = dead_linkage_at(c, (uint64_t)to->imm);
	return name[0] != '\0' ? name : NULL;
}

const char *dead_called_before(struct code *c, uint64_t address)
{
	static const struct {
		size_t size;
		uint8_t begin[2];
		size_t begin_size;
	} forms[] = { { 5, { 0xe8 }, 1 },
		      { 6, { 0xff, 0x15 }, 2 } }; /* call, call *SLOT(%rip) */
	for (size_t k = 0; k < G_N_ELEMENTS(forms); k++) {
		size_t count;
		bool linkage;
		uint64_t at = address - forms[k].size;
		const uint8_t *bytes = machine_at(&c->m, at, &count, &linkage);
		if (bytes == NULL || count < forms[k].size ||
		    memcmp(bytes, forms[k].begin, forms[k].begin_size) != 0)
			continue;
		const char *name =
		        capstone.disasm_iter(c->m.decoder, &bytes, &count, &at, c->m.i)
		                ? dead_callee(c, c->m.i)
		                : NULL;
		if (name != NULL)
			return name;
	}
	return NULL;
}

static bool begins_with_any(const char *name, const char *const *beginnings)
{
	for (; name != NULL && *beginnings != NULL; beginnings++)
		if (g_str_has_prefix(name, *beginnings))
			return true;
	return false;
}

static bool is_any(const char *name, const char *const *names)
{
	return name != NULL && g_strv_contains(names, name);
}

bool dead_is_atomic_hook(const char *callee)
{
	return callee != NULL && g_str_has_prefix(callee, "__tsan_atomic") &&
	       strstr(callee, "fence") == NULL;
}

bool dead_is_lock(const char *callee)
{
	static const char *const names[] = { "mtx_lock",
		                             "mtx_trylock",
		                             "pthread_mutex_lock",
		                             "pthread_mutex_trylock",
		                             "pthread_rwlock_rdlock",
		                             "pthread_rwlock_tryrdlock",
		                             "pthread_rwlock_trywrlock",
		                             "pthread_rwlock_wrlock",
		                             "pthread_spin_lock",
		                             "pthread_spin_trylock",
		                             "sem_trywait",
		                             NULL };
	return is_any(callee, names);
}

bool dead_is_release(const char *callee)
{
	static const char *const names[] = { "mtx_unlock",
		                             "pthread_mutex_unlock",
		                             "pthread_rwlock_unlock",
		                             "pthread_spin_unlock",
		                             "sem_post",
		                             NULL };
	return is_any(callee, names);
}

bool dead_is_silent_hook(const char *callee)
{
	static const char *const beginnings[] = { "__tsan_read",     "__tsan_write",
		                                  "__tsan_func_",    "__tsan_unaligned_",
		                                  "__tsan_volatile", "__tsan_atomic_",
		                                  "__tsan_vptr_",    NULL };
	return begins_with_any(callee, beginnings);
}

bool dead_ends_program(const char *callee)
{
	static const char *const names[] = { "abort",
		                             "exit",
		                             "_exit",
		                             "_Exit",
		                             "quick_exit",
		                             "_ZSt9terminatev",
		                             "__assert_fail",
		                             "__stack_chk_fail",
		                             NULL };
	return is_any(callee, names);
}

bool dead_unwinds(const char *callee)
{
	static const char *const names[] = { "__cxa_throw",  "__cxa_rethrow", "_Unwind_Resume",
		                             "pthread_exit", "thrd_exit",     NULL };
	return is_any(callee, names);
}

bool dead_returns_twice(const char *callee)
{
	static const char *const names[] = { "_setjmp",    "setjmp", "__sigsetjmp", "sigsetjmp",
		                             "getcontext", "vfork",  NULL };
	return is_any(callee, names);
}
