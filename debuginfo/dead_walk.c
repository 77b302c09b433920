/*
 * dead_walk.c - a function's instructions and what each reads and overwrites, by a walk forward
 * from its entry along direct jumps.
 */
#include "debuginfo/dead_private.h"

#include <stdlib.h>
#include <string.h>

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

static uint32_t node_at(struct function *f, uint64_t address)
{
	gpointer key = (gpointer)(uintptr_t)address;
	gpointer known = g_hash_table_lookup(f->by_address, key);
	size_t count;
	bool linkage;
	uint64_t at = address;
	if (known != NULL)
		return GPOINTER_TO_UINT(known) - 1;
	const struct extent *e = dead_extent_at(f->code, address);
	f->unknown |= e == NULL || (e->excepted && !f->extent->excepted);
	const uint8_t *bytes = machine_at(&f->code->m, address, &count, &linkage);
	cs_insn *i = bytes == NULL ? NULL : capstone.malloc(f->code->m.decoder);
	if (i == NULL || f->count == MOST_INSTRUCTIONS ||
	    !capstone.disasm_iter(f->code->m.decoder, &bytes, &count, &at, i)) {
		if (i != NULL)
			capstone.free(i, 1);
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

bool dead_is_known(int32_t value)
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
	if (capstone.insn_group(c->m.decoder, i, X86_GRP_CALL))
		return i->id == X86_INS_CALL ? DOES_CALL : DOES_OTHER;
	if (capstone.insn_group(c->m.decoder, i, X86_GRP_JUMP))
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
	if (!dead_is_known(n->before[base]) || index != REGISTERS ||
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
	if (capstone.regs_access(f->code->m.decoder, n->i, read, &reads, written, &writes) !=
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
	if (value != NO_ADDRESS && dead_is_known(value) && sums && to->size == 8 &&
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
	f->escapes |= held(n, op) != NO_ADDRESS || op->size != 8 || !dead_is_known(after[RSP]);
	n->saves = op->type == X86_OP_REG ? kept_bit(register_of(op->reg)) : 0;
	if (dead_is_known(after[RSP])) {
		after[RSP] -= 8;
		n->written = (struct bytes){ after[RSP], 8 };
	}
}

static void do_pop(struct function *f, struct node *n, int32_t *after)
{
	const cs_x86_op *op = &n->i->detail->x86.operands[0];
	use_operand(f, n, op, false, true, true);
	n->written = (struct bytes){ 0, 0 };
	f->escapes |= op->type != X86_OP_REG || op->size != 8 || !dead_is_known(after[RSP]);
	if (dead_is_known(after[RSP])) {
		n->read[0] = (struct bytes){ after[RSP], 8 };
		after[RSP] += 8;
	}
	set(after, op, NO_ADDRESS);
}

static void do_leave(struct function *f, struct node *n, int32_t *after)
{
	n->reads |= 1 << DEAD_RBP;
	if (dead_is_known(n->before[RBP])) {
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
	bool lock = dead_is_lock(callee);
	n->looks = lock || dead_is_atomic_hook(callee);
	if (to->type != X86_OP_IMM)
		use_operand(f, n, to, true, false, true);
	if (lock || dead_is_release(callee)) {
		f->escapes |= is_address(n->before[RDI]);
	} else if (n->looks) {
		bool points = strstr(callee, "compare_exchange_") != NULL &&
		              !g_str_has_suffix(callee, "_val");
		f->escapes |= is_address(n->before[RDX]);
		f->escapes |= is_address(n->before[RSI]) && !points;
		for (int k = 0; k < 2; k++) { /* the atomic, and its expected value */
			int32_t at = n->before[arguments[k]];
			n->frame |= at == SOME_ADDRESS;
			if (dead_is_known(at))
				n->read[k] = (struct bytes){ at, operand_of(callee) };
		}
	} else if (!dead_is_silent_hook(callee)) {
		for (size_t k = 0; k < G_N_ELEMENTS(arguments); k++)
			f->escapes |= is_address(n->before[arguments[k]]);
		n->frame = true; /* arguments on the stack */
		n->anything |= dead_unwinds(callee);
		f->unknown |= dead_returns_twice(callee);
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
	n->anything = n->frame = n->looks = false;
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
		n->callee = dead_callee(f->code, n->i);
	step(f, n, after);
	bool stops = capstone.insn_group(f->code->m.decoder, n->i, X86_GRP_INT) ||
	             n->i->id == X86_INS_UD2 || n->i->id == X86_INS_HLT;
	n->anything |= stops;
	bool ends = n->anything || does == DOES_RETURN || n->i->id == X86_INS_JMP ||
	            (does == DOES_CALL && dead_ends_program(n->callee));
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

void dead_walk(struct function *f, uint64_t entry)
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
