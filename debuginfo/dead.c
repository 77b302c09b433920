/*
 * dead.c - see dead.h.
 *
 * By function (an entry of .eh_frame): a walk over its instructions, along direct jumps.
 * Forward it finds which registers hold addresses of the frame, so that each access of the
 * frame is known by its place; then backward which places are read before they are
 * overwritten. When an address of the frame goes anywhere else than into an access or
 * ThreadSanitizer's hooks, any code may read the frame: all of it is live. The same holds
 * where jumps or exceptions lead to unknown places.
 */
#include "debuginfo/dead.h"

#include "debuginfo/machine.h"
#include "engine/base/base.h"
#include "engine/base/search.h"

#include <stdlib.h>
#include <string.h>

enum {
	WINDOW = 512,             /* bytes of a frame, from its return address down */
	MOST_INSTRUCTIONS = 3000, /* of a function */
	ALL_REGISTERS = (1 << DEAD_COUNT) - 1,
};

/* Registers of 64 bits. */
enum {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	REGISTERS
};

static const struct {
	uint16_t whole, half, word, low, high;
} names_of[REGISTERS] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, X86_REG_SPL },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, X86_REG_BPL },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_SIL },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_DIL },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, X86_REG_R8B },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, X86_REG_R9B },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, X86_REG_R10B },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, X86_REG_R11B },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, X86_REG_R12B },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, X86_REG_R13B },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, X86_REG_R14B },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, X86_REG_R15B },
};

/* The full register that a name is a part of, or REGISTERS. */
static unsigned register_of(unsigned name)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		if (name == names_of[r].whole || name == names_of[r].half ||
		    name == names_of[r].word || name == names_of[r].low ||
		    name == names_of[r].high)
			return r;
	return REGISTERS;
}

/* Bits of enum dead_register; 0: a call does not keep it, or it is the stack pointer. */
static uint8_t kept_bit(unsigned r)
{
	return r == RBX                    ? 1 << DEAD_RBX
	       : r == RBP                  ? 1 << DEAD_RBP
	       : r >= R12 && r < REGISTERS ? (uint8_t)(1 << (DEAD_R12 + (r - R12)))
	                                   : 0;
}

/* ---- one function ---- */

/* State of a register: no address of the frame; one of several, or perhaps none; else its
 * distance from the return address. */
enum { NO_ADDRESS = INT32_MIN, UNVISITED, SOME_ADDRESS };

struct bytes { /* a range of the frame from `at` on; negative distances from the return
	        * address */
	int32_t at, count;
};

struct node {
	uint64_t address;
	cs_insn *i;
	uint32_t next, target; /* nodes; NONE: none */
	int32_t before[REGISTERS];
	uint8_t saved;      /* the caller's registers that were written to the frame before */
	const char *callee; /* the called function of another module, or NULL */
	/* The instruction's effects on registers and frame. */
	bool anything; /* it leads to unknown code: everything is live before it */
	bool frame;    /* may read all of the frame */
	bool hook;     /* a call of an atomic operation */
	uint8_t reads, overwrites, saves;
	struct bytes read[2], written; /* written: overwritten */
	/* Registers and bytes of the frame that are live before the instruction. */
	uint8_t live;
	uint64_t live_frame[WINDOW / 64];
};

struct function {
	struct code *code;
	const struct extent *extent;
	struct node *nodes;
	uint32_t count, room;
	GHashTable *by_address; /* address -> node + 1 */
	GArray *open;           /* uint32_t: nodes still to be followed */
	bool unknown;           /* it cannot be followed */
	bool escapes;           /* an address of the frame has left the function's registers */
};

/* A function's extent, by .eh_frame. */
struct extent {
	uint64_t low, high;
	bool excepted; /* it has landing pads for exceptions */
};

struct code {
	struct machine m;
	GHashTable *slots;   /* address of a word of the linkage -> its symbol's name */
	GHashTable *linkage; /* address of code -> name of the function it leads to, or "" */
	GArray *extents;     /* struct extent, by address */
};

/* ---- names of calls ---- */

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

static void read_slots(struct code *c)
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

/* The function of another module that linkage code at the address leads to; "": not linkage
 * code. */
static const char *linkage_at(struct code *c, uint64_t address)
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
		if (!cs_disasm_iter(c->m.decoder, &bytes, &count, &at, c->m.i))
			break;
		const char *name = c->m.i->id == X86_INS_JMP ? by_slot(c, c->m.i) : NULL;
		known = name != NULL ? name : known;
	}
	g_hash_table_insert(c->linkage, (gpointer)(uintptr_t)address, (gpointer)known);
	return known;
}

static const char *callee_of(struct code *c, const cs_insn *i)
{
	const cs_x86_op *to = &i->detail->x86.operands[0];
	if (to->type != X86_OP_IMM)
		return by_slot(c, i);
	const char *name = linkage_at(c, (uint64_t)to->imm);
	return name[0] != '\0' ? name : NULL;
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

static bool is_atomic_hook(const char *callee)
{
	return callee != NULL && g_str_has_prefix(callee, "__tsan_atomic") &&
	       strstr(callee, "fence") == NULL;
}

/* Is it a function of the runtime that reads nothing of the frame for the program? */
static bool is_silent_hook(const char *callee)
{
	static const char *const beginnings[] = { "__tsan_read",     "__tsan_write",
		                                  "__tsan_func_",    "__tsan_unaligned_",
		                                  "__tsan_volatile", "__tsan_atomic_",
		                                  "__tsan_vptr_",    NULL };
	return begins_with_any(callee, beginnings);
}

static bool ends_program(const char *callee)
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

/* Does it continue in the callers, with the registers that they had? */
static bool unwinds(const char *callee)
{
	static const char *const names[] = { "__cxa_throw",  "__cxa_rethrow", "_Unwind_Resume",
		                             "pthread_exit", "thrd_exit",     NULL };
	return is_any(callee, names);
}

/* Can it return a second time, with the registers of the first return? */
static bool returns_twice(const char *callee)
{
	static const char *const names[] = { "_setjmp",    "setjmp", "__sigsetjmp", "sigsetjmp",
		                             "getcontext", "vfork",  NULL };
	return is_any(callee, names);
}

/* ---- extents ---- */

static uint64_t read_number(const uint8_t **at, const uint8_t *end)
{
	uint64_t number = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return number;
}

/* A common information entry of .eh_frame: the form of the entries that name it. */
struct common {
	bool known;    /* addresses are four bytes, relative to their own place */
	bool augments; /* with data of a given length */
	bool excepts;  /* with the landing pads' table in that data */
};

static struct common read_common(const uint8_t *entry, const uint8_t *end)
{
	struct common c = { false };
	const uint8_t *at = entry + 9; /* length, 0, version */
	const char *augmentation = (const char *)at;
	const uint8_t *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
	if (stop == NULL || augmentation[0] != 'z')
		return c;
	at = stop + 1;
	read_number(&at, end); /* of code */
	read_number(&at, end); /* of data */
	at += entry[8] == 1;   /* the register of return addresses */
	if (entry[8] != 1)
		read_number(&at, end);
	read_number(&at, end); /* the length */
	c.augments = true;
	for (const char *kind = augmentation + 1; *kind != '\0' && at < end; kind++) {
		if (*kind == 'R') {
			c.known = *at++ == 0x1b; /* signed, four bytes, relative */
		} else if (*kind == 'L') {
			c.excepts = true;
			at++;
		} else if (*kind == 'P') {
			uint8_t form = *at++;
			at += (form & 7) == 4 || (form & 7) == 0 ? 8 : (form & 7) == 2 ? 2 : 4;
		} else if (*kind != 'S' && *kind != 'B') {
			return (struct common){ false };
		}
	}
	return c;
}

static int by_low(gconstpointer a, gconstpointer b)
{
	const struct extent *x = a, *y = b;
	return x->low < y->low ? -1 : x->low > y->low;
}

/* False: the section has an entry of unknown form, so that no extent is certain. */
static bool read_extents(struct code *c, const GElf_Shdr *header, const Elf_Data *data)
{
	const uint8_t *begin = data->d_buf, *end = begin + data->d_size;
	for (const uint8_t *entry = begin; entry + 8 <= end;) {
		uint32_t length, back;
		int32_t offset;
		memcpy(&length, entry, 4);
		memcpy(&back, entry + 4, 4);
		if (length == 0)
			break;
		const uint8_t *next = entry + 4 + length;
		if (length < 4 || length > (size_t)(end - entry) - 4)
			return false;
		if (back != 0) {
			if (back > (size_t)(entry + 4 - begin) || length < 13)
				return false;
			struct common common = read_common(entry + 4 - back, end);
			if (!common.known || !common.augments)
				return false;
			struct extent e = { 0 };
			uint32_t size;
			memcpy(&offset, entry + 8, 4);
			memcpy(&size, entry + 12, 4);
			e.low = header->sh_addr + (uint64_t)(entry + 8 - begin) +
			        (uint64_t)(int64_t)offset;
			e.high = e.low + size;
			const uint8_t *at = entry + 16;
			uint64_t count = read_number(&at, next);
			for (; common.excepts && count > 0 && at < next; count--)
				e.excepted |= *at++ != 0;
			g_array_append_val(c->extents, e);
		}
		entry = next;
	}
	g_array_sort(c->extents, by_low);
	return true;
}

static const struct extent *extent_of(const struct code *c, uint64_t address)
{
	const struct extent *all = (const void *)c->extents->data;
	guint i = search_end(k, 0u, c->extents->len, all[k].low <= address);
	return i > 0 && address < all[i - 1].high ? &all[i - 1] : NULL;
}

/* ---- the walk ---- */

static uint32_t node_at(struct function *f, uint64_t address)
{
	gpointer key = (gpointer)(uintptr_t)address;
	gpointer known = g_hash_table_lookup(f->by_address, key);
	size_t count;
	bool linkage;
	uint64_t at = address;
	if (known != NULL)
		return GPOINTER_TO_UINT(known) - 1;
	const struct extent *e = extent_of(f->code, address);
	f->unknown |= e == NULL || (e->excepted && !f->extent->excepted);
	const uint8_t *bytes = machine_at(&f->code->m, address, &count, &linkage);
	cs_insn *i = bytes == NULL ? NULL : cs_malloc(f->code->m.decoder);
	if (i == NULL || f->count == MOST_INSTRUCTIONS ||
	    !cs_disasm_iter(f->code->m.decoder, &bytes, &count, &at, i)) {
		if (i != NULL)
			cs_free(i, 1);
		f->unknown |= f->count == MOST_INSTRUCTIONS;
		return NONE;
	}
	if (f->count == f->room) {
		f->room = f->room ? 2 * f->room : 64;
		f->nodes = g_renew(struct node, f->nodes, f->room);
	}
	struct node *n = &f->nodes[f->count];
	*n = (struct node){ .address = address, .i = i, .next = NONE, .target = NONE };
	n->before[RSP] = UNVISITED;
	g_hash_table_insert(f->by_address, key, GUINT_TO_POINTER(f->count + 1));
	return f->count++;
}

static bool is_address(int32_t value)
{
	return value != NO_ADDRESS && value != UNVISITED;
}

static bool is_known(int32_t value)
{
	return is_address(value) && value != SOME_ADDRESS;
}

/* Merges these registers into the node that follows. */
static void flow(struct function *f, uint32_t to, const int32_t *registers, uint8_t saved)
{
	struct node *n = &f->nodes[to];
	bool changed = n->before[RSP] == UNVISITED;
	if (changed) {
		memcpy(n->before, registers, sizeof n->before);
		n->saved = saved;
	}
	for (unsigned r = 0; r < REGISTERS; r++) {
		if (n->before[r] == registers[r] || n->before[r] == SOME_ADDRESS)
			continue;
		n->before[r] = SOME_ADDRESS;
		changed = true;
	}
	changed |= (n->saved & ~saved) != 0;
	n->saved &= saved;
	if (changed)
		g_array_append_val(f->open, to);
}

/* Effects of instructions that read and write their operands alone. */
enum does {
	DOES_OTHER,   /* not listed */
	DOES_MOVE,    /* overwrites its first operand, reads the second */
	DOES_ADDRESS, /* lea */
	DOES_COMPUTE, /* reads all operands, writes the first */
	DOES_LOOK,    /* reads all */
	DOES_SET,     /* overwrites one byte */
	DOES_PUSH,
	DOES_POP,
	DOES_LEAVE,
	DOES_NOTHING,
	DOES_CALL,
	DOES_JUMP,
	DOES_RETURN,
};

static enum does does_of(const struct code *c, const cs_insn *i)
{
	if (cs_insn_group(c->m.decoder, i, X86_GRP_CALL))
		return i->id == X86_INS_CALL ? DOES_CALL : DOES_OTHER;
	if (cs_insn_group(c->m.decoder, i, X86_GRP_JUMP))
		return DOES_JUMP;
	if (i->id >= X86_INS_SETAE && i->id <= X86_INS_SETS)
		return DOES_SET;
	if (i->id >= X86_INS_CMOVA && i->id <= X86_INS_CMOVS)
		return DOES_COMPUTE;
	switch (i->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		return DOES_MOVE;
	case X86_INS_LEA:
		return DOES_ADDRESS;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_ADC:
	case X86_INS_SBB:
	case X86_INS_NOT:
	case X86_INS_NEG:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_SHL:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_ROL:
	case X86_INS_ROR:
		return DOES_COMPUTE;
	case X86_INS_IMUL: /* with one operand it has implicit ones */
		return i->detail->x86.op_count > 1 ? DOES_COMPUTE : DOES_OTHER;
	case X86_INS_CMP:
	case X86_INS_TEST:
		return DOES_LOOK;
	case X86_INS_PUSH:
		return DOES_PUSH;
	case X86_INS_POP:
		return DOES_POP;
	case X86_INS_LEAVE:
		return DOES_LEAVE;
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
		return DOES_NOTHING;
	case X86_INS_RET:
		return DOES_RETURN;
	default:
		return DOES_OTHER;
	}
}

/* The place in the frame at which a memory operand begins; NO_ADDRESS: elsewhere;
 * SOME_ADDRESS: unknown. */
static int32_t place_of(struct function *f, const struct node *n, const cs_x86_op *op)
{
	unsigned base = register_of(op->mem.base), index = register_of(op->mem.index);
	if (index != REGISTERS && is_address(n->before[index]))
		f->escapes = true;
	if (base == REGISTERS || !is_address(n->before[base]))
		return NO_ADDRESS;
	if (!is_known(n->before[base]) || index != REGISTERS ||
	    op->mem.segment != X86_REG_INVALID || op->mem.disp > INT16_MAX ||
	    op->mem.disp < INT16_MIN)
		return SOME_ADDRESS;
	return n->before[base] + (int32_t)op->mem.disp;
}

static bool is_zeroing(const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	return (i->id == X86_INS_XOR || i->id == X86_INS_SUB) && x->op_count == 2 &&
	       x->operands[0].type == X86_OP_REG && x->operands[1].type == X86_OP_REG &&
	       x->operands[0].reg == x->operands[1].reg && x->operands[0].size >= 4;
}

/* Notes an operand that is read or written. */
static void use_operand(struct function *f, struct node *n, const cs_x86_op *op, bool read,
                        bool overwritten, bool known)
{
	if (op->type == X86_OP_REG) {
		uint8_t bit = kept_bit(register_of(op->reg));
		n->reads |= read ? bit : 0;
		n->overwrites |= overwritten && op->size >= 4 ? bit : 0;
	} else if (op->type == X86_OP_MEM) {
		n->reads |= kept_bit(register_of(op->mem.base)) |
		            kept_bit(register_of(op->mem.index));
		int32_t at = place_of(f, n, op);
		struct bytes bytes = { at, op->size };
		if (at == NO_ADDRESS)
			return;
		if (read && (at == SOME_ADDRESS || !known))
			n->frame = true;
		else if (read)
			n->read[0] = bytes;
		else if (overwritten && known && at != SOME_ADDRESS)
			n->written = bytes;
	}
}

/* The address of the frame that a register's operand holds, or NO_ADDRESS. */
static int32_t held(const struct node *n, const cs_x86_op *op)
{
	unsigned r = op->type == X86_OP_REG ? register_of(op->reg) : REGISTERS;
	return r != REGISTERS && is_address(n->before[r]) ? n->before[r] : NO_ADDRESS;
}

static void set(int32_t *after, const cs_x86_op *op, int32_t value)
{
	unsigned r = op->type == X86_OP_REG ? register_of(op->reg) : REGISTERS;
	if (r != REGISTERS)
		after[r] = value;
}

/* Other instructions read the operands that they name and those that capstone lists;
 * addresses of the frame in registers that they may use without naming them are no longer
 * tracked. */
static void do_other(struct function *f, struct node *n, int32_t *after)
{
	static const unsigned unnamed[] = { RAX, RCX, RDX, RBX, RSI, RDI, R11 };
	const cs_x86 *x = &n->i->detail->x86;
	cs_regs read, written;
	uint8_t reads = 0, writes = 0;
	if (cs_regs_access(f->code->m.decoder, n->i, read, &reads, written, &writes) !=
	    CS_ERR_OK)
		n->anything = true;
	for (int k = 0; k < x->op_count; k++) {
		use_operand(f, n, &x->operands[k], true, false, false);
		f->escapes |= held(n, &x->operands[k]) != NO_ADDRESS;
		set(after, &x->operands[k], NO_ADDRESS);
	}
	for (int k = 0; k < reads; k++)
		n->reads |= kept_bit(register_of(read[k]));
	for (size_t k = 0; k < G_N_ELEMENTS(unnamed); k++)
		f->escapes |= is_address(n->before[unnamed[k]]);
	for (int k = 0; k < writes; k++) {
		unsigned r = register_of(written[k]);
		if (r == RSP)
			f->escapes = true;
		if (r != REGISTERS)
			after[r] = NO_ADDRESS;
	}
}

static void do_move(struct function *f, struct node *n, int32_t *after)
{
	const cs_x86_op *to = &n->i->detail->x86.operands[0], *from = to + 1;
	int32_t value = held(n, from);
	use_operand(f, n, from, true, false, true);
	use_operand(f, n, to, false, true, true);
	uint8_t bit = from->type == X86_OP_REG ? kept_bit(register_of(from->reg)) : 0;
	if (value != NO_ADDRESS && (to->type != X86_OP_REG || to->size != 8))
		f->escapes = true;
	if (held(n, to) != NO_ADDRESS && to->size < 4)
		f->escapes = true;
	if (to->type == X86_OP_MEM && to->size == 8 && place_of(f, n, to) != NO_ADDRESS)
		n->saves = bit;
	set(after, to, to->size == 8 ? value : NO_ADDRESS);
}

static void do_address(struct function *f, struct node *n, int32_t *after)
{
	const cs_x86_op *to = &n->i->detail->x86.operands[0], *from = to + 1;
	int32_t at = place_of(f, n, from);
	n->reads |=
	        kept_bit(register_of(from->mem.base)) | kept_bit(register_of(from->mem.index));
	use_operand(f, n, to, false, true, true);
	f->escapes |= at == SOME_ADDRESS || (at != NO_ADDRESS && to->size != 8);
	set(after, to, at);
}

static void do_compute(struct function *f, struct node *n, int32_t *after)
{
	const cs_x86 *x = &n->i->detail->x86;
	const cs_x86_op *to = &x->operands[0], *with = to + 1;
	int32_t value = held(n, to);
	bool sums = n->i->id == X86_INS_ADD || n->i->id == X86_INS_SUB;
	if (is_zeroing(n->i)) {
		use_operand(f, n, to, false, true, true);
		set(after, to, NO_ADDRESS);
		return;
	}
	for (int k = 0; k < x->op_count; k++)
		use_operand(f, n, &x->operands[k], true, false, true);
	for (int k = 1; k < x->op_count; k++)
		f->escapes |= held(n, &x->operands[k]) != NO_ADDRESS;
	if (value != NO_ADDRESS && is_known(value) && sums && to->size == 8 &&
	    x->op_count == 2 && with->type == X86_OP_IMM && with->imm > INT16_MIN &&
	    with->imm < INT16_MAX)
		value += n->i->id == X86_INS_ADD ? (int32_t)with->imm : -(int32_t)with->imm;
	else if (value != NO_ADDRESS) {
		f->escapes = true;
		value = NO_ADDRESS;
	}
	set(after, to, value);
}

static void do_push(struct function *f, struct node *n, int32_t *after)
{
	const cs_x86_op *op = &n->i->detail->x86.operands[0];
	use_operand(f, n, op, true, false, true);
	f->escapes |= held(n, op) != NO_ADDRESS || op->size != 8 || !is_known(after[RSP]);
	n->saves = op->type == X86_OP_REG ? kept_bit(register_of(op->reg)) : 0;
	if (is_known(after[RSP])) {
		after[RSP] -= 8;
		n->written = (struct bytes){ after[RSP], 8 };
	}
}

static void do_pop(struct function *f, struct node *n, int32_t *after)
{
	const cs_x86_op *op = &n->i->detail->x86.operands[0];
	use_operand(f, n, op, false, true, true);
	n->written = (struct bytes){ 0, 0 };
	f->escapes |= op->type != X86_OP_REG || op->size != 8 || !is_known(after[RSP]);
	if (is_known(after[RSP])) {
		n->read[0] = (struct bytes){ after[RSP], 8 };
		after[RSP] += 8;
	}
	set(after, op, NO_ADDRESS);
}

static void do_leave(struct function *f, struct node *n, int32_t *after)
{
	n->reads |= 1 << DEAD_RBP;
	if (is_known(n->before[RBP])) {
		n->read[0] = (struct bytes){ n->before[RBP], 8 };
		after[RSP] = n->before[RBP] + 8;
	} else {
		f->escapes = true;
		after[RSP] = SOME_ADDRESS;
	}
	after[RBP] = NO_ADDRESS;
}

/* Bytes of the operand of an atomic operation: __tsan_atomic32_load. */
static int32_t operand_of(const char *callee)
{
	int bits = atoi(callee + strlen("__tsan_atomic"));
	return bits >= 8 && bits <= 128 ? bits / 8 : 16;
}

static void do_call(struct function *f, struct node *n, int32_t *after)
{
	static const unsigned lost[] = { RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11 };
	static const unsigned arguments[] = { RDI, RSI, RDX, RCX, R8, R9 };
	const char *callee = n->callee;
	const cs_x86_op *to = &n->i->detail->x86.operands[0];
	n->hook = is_atomic_hook(callee);
	if (to->type != X86_OP_IMM)
		use_operand(f, n, to, true, false, true);
	if (n->hook) {
		bool points = strstr(callee, "compare_exchange_") != NULL &&
		              !g_str_has_suffix(callee, "_val");
		f->escapes |= is_address(n->before[RDX]);
		f->escapes |= is_address(n->before[RSI]) && !points;
		for (int k = 0; k < 2; k++) { /* the atomic, and its expected value */
			int32_t at = n->before[arguments[k]];
			n->frame |= at == SOME_ADDRESS;
			if (is_known(at))
				n->read[k] = (struct bytes){ at, operand_of(callee) };
		}
	} else if (!is_silent_hook(callee)) {
		for (size_t k = 0; k < G_N_ELEMENTS(arguments); k++)
			f->escapes |= is_address(n->before[arguments[k]]);
		n->frame = true; /* arguments on the stack */
		n->anything |= unwinds(callee);
		f->unknown |= returns_twice(callee);
		/* An exception leads to landing pads of the function, or to its callers. */
		n->reads |= f->extent->excepted ? ALL_REGISTERS
		                                : (uint8_t)(ALL_REGISTERS & ~n->saved);
	}
	for (size_t k = 0; k < G_N_ELEMENTS(lost); k++)
		after[lost[k]] = NO_ADDRESS;
}

/* Does another function take over this one's frame (a tail call)? */
static bool is_last_call(const struct function *f, const struct node *n)
{
	uint64_t to = (uint64_t)n->i->detail->x86.operands[0].imm;
	return n->before[RSP] == 0 && n->i->id == X86_INS_JMP &&
	       (to < f->extent->low || to >= f->extent->high);
}

static void do_jump(struct function *f, struct node *n)
{
	const cs_x86_op *to = &n->i->detail->x86.operands[0];
	if (to->type == X86_OP_IMM && n->callee == NULL && n->i->id != X86_INS_XBEGIN) {
		n->anything = is_last_call(f, n);
		return;
	}
	n->anything = true;
	if (n->callee == NULL) /* into code that is not followed */
		f->escapes = true;
}

/* Applies one instruction to the state before it. */
static void step(struct function *f, struct node *n, int32_t *after)
{
	memcpy(after, n->before, sizeof n->before);
	n->anything = n->frame = n->hook = false;
	n->reads = n->overwrites = n->saves = 0;
	n->read[0] = n->read[1] = n->written = (struct bytes){ 0, 0 };
	const cs_x86 *x = &n->i->detail->x86;
	switch (does_of(f->code, n->i)) {
	case DOES_MOVE:
		do_move(f, n, after);
		break;
	case DOES_ADDRESS:
		do_address(f, n, after);
		break;
	case DOES_COMPUTE:
		do_compute(f, n, after);
		break;
	case DOES_LOOK:
		for (int k = 0; k < x->op_count; k++)
			use_operand(f, n, &x->operands[k], true, false, true);
		break;
	case DOES_SET:
		use_operand(f, n, &x->operands[0], false, true, true);
		f->escapes |= held(n, &x->operands[0]) != NO_ADDRESS;
		break;
	case DOES_PUSH:
		do_push(f, n, after);
		break;
	case DOES_POP:
		do_pop(f, n, after);
		break;
	case DOES_LEAVE:
		do_leave(f, n, after);
		break;
	case DOES_CALL:
		do_call(f, n, after);
		break;
	case DOES_JUMP:
		do_jump(f, n);
		break;
	case DOES_NOTHING:
		break;
	case DOES_RETURN:
		n->reads = ALL_REGISTERS;
		break;
	case DOES_OTHER:
		do_other(f, n, after);
		break;
	}
}

/* Adds nodes for the instruction's successors. */
static void follow(struct function *f, uint32_t at)
{
	int32_t after[REGISTERS];
	struct node *n = &f->nodes[at];
	enum does does = does_of(f->code, n->i);
	if ((does == DOES_CALL || does == DOES_JUMP) && n->callee == NULL)
		n->callee = callee_of(f->code, n->i);
	step(f, n, after);
	bool stops = cs_insn_group(f->code->m.decoder, n->i, X86_GRP_INT) ||
	             n->i->id == X86_INS_UD2 || n->i->id == X86_INS_HLT;
	n->anything |= stops;
	bool ends = n->anything || does == DOES_RETURN || n->i->id == X86_INS_JMP ||
	            (does == DOES_CALL && ends_program(n->callee));
	bool jumps = does == DOES_JUMP && !n->anything;
	uint64_t next = n->address + n->i->size, target = 0;
	if (jumps)
		target = (uint64_t)n->i->detail->x86.operands[0].imm;
	uint32_t nodes[2] = { ends ? NONE : node_at(f, next),
		              jumps ? node_at(f, target) : NONE };
	n = &f->nodes[at]; /* they may have moved */
	n->next = nodes[0];
	n->target = nodes[1];
	if ((!ends && nodes[0] == NONE) || (jumps && nodes[1] == NONE)) {
		n->anything = true;
		f->escapes = true;
	}
	for (int k = 0; k < 2; k++)
		if (nodes[k] != NONE)
			flow(f, nodes[k], after, n->saved | n->saves);
}

static void walk(struct function *f, uint64_t entry)
{
	int32_t registers[REGISTERS];
	for (unsigned r = 0; r < REGISTERS; r++)
		registers[r] = NO_ADDRESS;
	registers[RSP] = 0;
	uint32_t first = node_at(f, entry);
	if (first == NONE) {
		f->unknown = true;
		return;
	}
	flow(f, first, registers, 0);
	while (f->open->len > 0 && !f->unknown) {
		uint32_t at = g_array_index(f->open, uint32_t, f->open->len - 1);
		g_array_set_size(f->open, f->open->len - 1);
		follow(f, at);
	}
}

/* ---- liveness ---- */

static void mark(uint64_t *frame, struct bytes bytes, bool live)
{
	for (int32_t b = bytes.at; b < bytes.at + bytes.count; b++) {
		if (b < -WINDOW || b >= 0)
			continue;
		uint64_t bit = (uint64_t)1 << (b + WINDOW) % 64;
		if (live)
			frame[(b + WINDOW) / 64] |= bit;
		else
			frame[(b + WINDOW) / 64] &= ~bit;
	}
}

/* Updates the live set before a node; true when it has grown. */
static bool look_back(struct function *f, struct node *n)
{
	uint8_t live = 0;
	uint64_t frame[WINDOW / 64] = { 0 };
	uint32_t after[2] = { n->next, n->target };
	for (int k = 0; k < 2; k++) {
		if (after[k] == NONE)
			continue;
		live |= f->nodes[after[k]].live;
		for (int w = 0; w < WINDOW / 64; w++)
			frame[w] |= f->nodes[after[k]].live_frame[w];
	}
	live = n->anything ? ALL_REGISTERS : (uint8_t)((live & ~n->overwrites) | n->reads);
	mark(frame, n->written, false);
	mark(frame, n->read[0], true);
	mark(frame, n->read[1], true);
	if (n->anything || n->frame)
		memset(frame, 0xff, sizeof frame);
	bool more = live != n->live || memcmp(frame, n->live_frame, sizeof frame) != 0;
	n->live = live;
	memcpy(n->live_frame, frame, sizeof frame);
	return more;
}

/* The dead bytes of the frame above the stack pointer. */
static void find_ranges(const struct node *n, struct dead_site *site)
{
	int32_t from = n->before[RSP];
	if (!is_known(from) || from < -WINDOW)
		return;
	for (int32_t b = from; b < 0; b++) {
		if (n->live_frame[(b + WINDOW) / 64] >> (b + WINDOW) % 64 & 1)
			continue;
		int32_t end = b + 1;
		while (end < 0 &&
		       !(n->live_frame[(end + WINDOW) / 64] >> (end + WINDOW) % 64 & 1))
			end++;
		if (site->count == DEAD_RANGES)
			return;
		site->range[site->count].from = (uint16_t)(b - from);
		site->range[site->count++].bytes = (uint16_t)(end - b);
		b = end;
	}
}

static void find_sites(struct function *f, GArray *sites)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t k = f->count; k-- > 0;)
			more |= look_back(f, &f->nodes[k]);
	}
	for (uint32_t k = 0; k < f->count; k++) {
		const struct node *n = &f->nodes[k];
		struct dead_site site = { .address = n->address + n->i->size,
			                  .registers = (uint8_t)(ALL_REGISTERS & ~n->live) };
		if (!n->hook || n->address < f->extent->low || n->address >= f->extent->high)
			continue;
		if (!f->escapes && !f->extent->excepted)
			find_ranges(n, &site);
		if (site.registers != 0 || site.count > 0)
			g_array_append_val(sites, site);
	}
}

static void take_function(struct code *c, const struct extent *e, GArray *sites)
{
	struct function f = { .code = c,
		              .by_address = g_hash_table_new(NULL, NULL),
		              .open = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		              .extent = e };
	walk(&f, e->low);
	if (!f.unknown)
		find_sites(&f, sites);
	for (uint32_t k = 0; k < f.count; k++)
		cs_free(f.nodes[k].i, 1);
	g_free(f.nodes);
	g_hash_table_unref(f.by_address);
	g_array_free(f.open, TRUE);
}

/* ---- all together ---- */

/* Collects the functions with calls of atomic operations: possible ones are found without
 * following code. */
static void find_functions(struct code *c, uint64_t base, const Elf_Data *data,
                           GHashTable *functions)
{
	const uint8_t *p = data->d_buf;
	for (size_t i = 0; i + 6 <= data->d_size; i++) {
		bool direct = p[i] == 0xe8, by_word = p[i] == 0xff && p[i + 1] == 0x15;
		int32_t distance;
		if (!direct && !by_word)
			continue;
		memcpy(&distance, p + i + (direct ? 1 : 2), 4);
		uint64_t to = base + i + (direct ? 5 : 6) + (uint64_t)(int64_t)distance;
		const char *name =
		        direct ? linkage_at(c, to)
		               : g_hash_table_lookup(c->slots, (gpointer)(uintptr_t)to);
		const struct extent *e = is_atomic_hook(name) ? extent_of(c, base + i) : NULL;
		if (e != NULL)
			g_hash_table_add(functions, (gpointer)e);
	}
}

static int by_address(gconstpointer a, gconstpointer b)
{
	const struct dead_site *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void take_code(struct code *c, GArray *sites)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	bool known = true;
	elf_getshdrstrndx(c->m.elf, &names);
	read_slots(c);
	GHashTable *functions = g_hash_table_new(NULL, NULL);
	for (int pass = 0; pass < 2; pass++)
		while ((section = elf_nextscn(c->m.elf, section)) != NULL) {
			GElf_Shdr header;
			Elf_Data *data;
			if (gelf_getshdr(section, &header) == NULL ||
			    header.sh_type == SHT_NOBITS ||
			    (data = elf_getdata(section, NULL)) == NULL || data->d_buf == NULL)
				continue;
			const char *name = elf_strptr(c->m.elf, names, header.sh_name);
			if (pass == 0 && name != NULL && strcmp(name, ".eh_frame") == 0)
				known = read_extents(c, &header, data);
			else if (pass == 1 && known && header.sh_flags & SHF_EXECINSTR)
				find_functions(c, header.sh_addr, data, functions);
		}
	GHashTableIter each;
	gpointer extent;
	g_hash_table_iter_init(&each, functions);
	while (g_hash_table_iter_next(&each, &extent, NULL))
		take_function(c, extent, sites);
	g_hash_table_unref(functions);
	g_array_sort(sites, by_address);
}

GArray *debuginfo_dead(const char *path)
{
	GArray *sites = g_array_new(FALSE, FALSE, sizeof(struct dead_site));
	struct code c = { .slots = g_hash_table_new(NULL, NULL),
		          .linkage = g_hash_table_new(NULL, NULL),
		          .extents = g_array_new(FALSE, FALSE, sizeof(struct extent)) };
	if (machine_open(&c.m, path, true))
		take_code(&c, sites);
	machine_close(&c.m);
	g_hash_table_unref(c.slots);
	g_hash_table_unref(c.linkage);
	g_array_free(c.extents, TRUE);
	return sites;
}
