/*
 * code.c - the machine code of a program (x86-64, by capstone): atomic instructions, and
 * results of calls that no code looks at. Code that gcc and clang compile for ThreadSanitizer
 * calls a function for each atomic operation, so an atomic instruction is inline assembly, or
 * code that was compiled otherwise.
 */
#include "debuginfo/machine.h"
#include "debuginfo/private.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A lock prefix, or an exchange with memory, which has it implicitly. */
static bool is_atomic(const cs_insn *i)
{
	return strncmp(i->mnemonic, "lock", 4) == 0 ||
	       (i->id == X86_INS_XCHG && strchr(i->op_str, '[') != NULL);
}

/* May an instruction with a lock prefix go on with these bytes: one that reads memory and
 * writes it? Before its opcode may be further prefixes. */
static bool is_lockable(const uint8_t *bytes, size_t count)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64,
		                            0x65, 0x66, 0x67, 0xf2, 0xf3 };
	static const uint8_t opcodes[] = {
		0x80, 0x81, 0x83, 0x86, 0x87, 0xf6, 0xf7, 0xfe, 0xff
	};
	static const uint8_t two_bytes[] = { 0xab, 0xb0, 0xb1, 0xb3, 0xba,
		                             0xbb, 0xc0, 0xc1, 0xc7 };
	size_t i = 0;
	while (i < count &&
	       (memchr(prefixes, bytes[i], sizeof prefixes) || (bytes[i] & 0xf0) == 0x40))
		i++;
	if (i == count)
		return false;
	uint8_t opcode = bytes[i];
	if (opcode == 0x0f)
		return i + 1 < count && memchr(two_bytes, bytes[i + 1], sizeof two_bytes);
	/* add, or, adc, sbb, and, sub, xor to memory, but not cmp */
	return (opcode < 0x38 && (opcode & 6) == 0) ||
	       memchr(opcodes, opcode, sizeof opcodes) != NULL;
}

/* The end of the last bytes that look like the beginning of such an instruction: 0 for most
 * functions, which need not be decoded. */
static size_t last_candidate(const uint8_t *bytes, size_t count, bool fences)
{
	static const uint8_t mfence[] = { 0x0f, 0xae, 0xf0 };
	for (size_t i = count; fences && i >= sizeof mfence; i--)
		if (memcmp(bytes + i - sizeof mfence, mfence, sizeof mfence) == 0)
			return i - sizeof mfence + 1;
	if (fences)
		return 0;
	size_t last = 0;
	for (size_t i = 0; i + 1 < count; i++) {
		bool locked = bytes[i] == 0xf0 && is_lockable(bytes + i + 1, count - i - 1);
		bool exchange = (bytes[i] & 0xfe) == 0x86 && bytes[i + 1] < 0xc0; /* memory */
		if (locked || exchange)
			last = i + 1;
	}
	return last;
}

/* Address of the first atomic instruction, or fence, of the symbol; 0: none before its end, or
 * before bytes that are no instruction. */
static uint64_t scan_symbol(csh decoder, cs_insn *i, const struct elf_symbol *s,
                            const uint8_t *bytes, size_t count, bool fences)
{
	uint64_t address = s->address, end = address + last_candidate(bytes, count, fences);
	while (address < end && capstone.disasm_iter(decoder, &bytes, &count, &address, i))
		if (fences ? i->id == X86_INS_MFENCE : is_atomic(i))
			return i->address;
	return 0;
}

static uint64_t scan_section(const struct debuginfo *d, csh decoder, cs_insn *i,
                             const GElf_Shdr *header, const Elf_Data *data, bool fences)
{
	uint64_t base = header->sh_addr, end = base + data->d_size;
	for (guint k = 0; k < d->code_symbols->len; k++) {
		const struct elf_symbol *s = AT(d->code_symbols, struct elf_symbol, k);
		struct debug_place place;
		if (s->address < base || s->address >= end || s->size > end - s->address)
			continue;
		if (debuginfo_code(d, s->address, &place, 1) == 0 || place.line == 0)
			continue; /* without source lines: the compiler's or a library's */
		const uint8_t *bytes = (const uint8_t *)data->d_buf + (s->address - base);
		uint64_t found = scan_symbol(decoder, i, s, bytes, s->size, fences);
		if (found != 0)
			return found;
	}
	return 0;
}

static uint64_t scan_file(const struct debuginfo *d, Elf *elf, csh decoder, cs_insn *i,
                          bool fences)
{
	Elf_Scn *section = NULL;
	uint64_t found = 0;
	while (found == 0 && (section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		if (data != NULL && data->d_buf != NULL)
			found = scan_section(d, decoder, i, &header, data, fences);
	}
	return found;
}

void machine_close(struct machine *m)
{
	if (m->i != NULL) {
		capstone.free(m->i, 1);
		capstone.close(&m->decoder);
	}
	elf_end(m->elf);
	if (m->file >= 0)
		close(m->file);
}

bool machine_open(struct machine *m, const char *path, bool details)
{
	GElf_Ehdr header;
	memset(m, 0, sizeof *m);
	elf_version(EV_CURRENT);
	m->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	m->elf = m->file < 0 ? NULL : elf_begin(m->file, ELF_C_READ_MMAP, NULL);
	if (m->elf == NULL || gelf_getehdr(m->elf, &header) == NULL ||
	    header.e_machine != EM_X86_64)
		return false;
	capstone_load();
	if (capstone.open(CS_ARCH_X86, CS_MODE_64, &m->decoder) != CS_ERR_OK)
		return false;
	if (details) /* set before cs_malloc, which then allocates details, too */
		capstone.option(m->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	m->i = capstone.malloc(m->decoder);
	return m->i != NULL;
}

uint64_t debuginfo_atomic_instruction(const struct debuginfo *d)
{
	uint64_t *answer = &((struct debuginfo *)d)->atomic_instruction;
	uint64_t known = __atomic_load_n(answer, __ATOMIC_RELAXED);
	if (known == 0) {
		struct machine m;
		if (!known_answer(d, &known)) {
			bool good = machine_open(&m, d->path, false);
			known = 1 + (good ? scan_file(d, m.elf, m.decoder, m.i, false) : 0);
			machine_close(&m);
			known_keep_answer(d, known);
		}
		__atomic_store_n(answer, known, __ATOMIC_RELAXED);
	}
	return known - 1;
}

uint64_t debuginfo_fence_instruction(const struct debuginfo *d)
{
	struct machine m;
	bool good = machine_open(&m, d->path, false);
	uint64_t found = good ? scan_file(d, m.elf, m.decoder, m.i, true) : 0;
	machine_close(&m);
	return found;
}

/* ---- results ---- */

enum { MOST_INSTRUCTIONS = 200 };

/* Where a way is. */
struct following {
	struct machine *code;
	GArray *ways;     /* uint64_t: addresses that are still to be followed */
	GHashTable *been; /* addresses << 1 | low */
	bool low;         /* the lowest byte of the result is overwritten */
	/* The values of the two results, while known, and the value last compared with, while
	 * the flags show that comparison. */
	bool known, compared, flagged; /* flagged: the flags depend on the result */
	uint32_t values[2], with;
	uint64_t target; /* target of a jump that both results take; 0: none */
};

const uint8_t *machine_at(const struct machine *m, uint64_t address, size_t *count,
                          bool *linkage)
{
	Elf *elf = m->elf;
	Elf_Scn *section = NULL;
	size_t names = 0;
	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;
		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR) ||
		    address - header.sh_addr >= header.sh_size ||
		    (data = elf_getdata(section, NULL)) == NULL || data->d_buf == NULL)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		*linkage = name != NULL && g_str_has_prefix(name, ".plt");
		*count = data->d_size - (address - header.sh_addr);
		return (const uint8_t *)data->d_buf + (address - header.sh_addr);
	}
	return NULL;
}

static bool is_of_result(uint16_t reg)
{
	return reg == X86_REG_RAX || reg == X86_REG_EAX || reg == X86_REG_AX ||
	       reg == X86_REG_AL || reg == X86_REG_AH;
}

/* Does the instruction only set its register to 0 (xor eax, eax), so that it reads nothing? */
static bool is_zeroing(const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	return (i->id == X86_INS_XOR || i->id == X86_INS_SUB) && x->op_count == 2 &&
	       x->operands[0].type == X86_OP_REG && x->operands[1].type == X86_OP_REG &&
	       x->operands[0].reg == x->operands[1].reg && x->operands[0].size >= 4;
}

enum next { NEXT_GOES_ON, NEXT_OVERWRITES, NEXT_READS };

/* Is it a function that only jumps to the address in a variable, as those by which a program
 * calls the recording runtime? To its caller it is a function of another module. */
static bool is_stub(const uint8_t *code, size_t count)
{
	static const uint8_t marker[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
	static const uint8_t jump[] = { 0xff, 0x25 };               /* through a variable */
	if (count >= sizeof marker && memcmp(code, marker, sizeof marker) == 0) {
		code += sizeof marker;
		count -= sizeof marker;
	}
	return count >= sizeof jump && memcmp(code, jump, sizeof jump) == 0;
}

/* Follows a call or jump: a function of another module overwrites the result; one of this
 * module may not, as compilers know. */
static enum next follow_branch(struct following *f, const cs_insn *i, bool call)
{
	const cs_x86_op *to = &i->detail->x86.operands[0];
	size_t count;
	bool linkage;
	if (to->type != X86_OP_IMM)
		return call ? NEXT_OVERWRITES : NEXT_READS;
	const uint8_t *code = machine_at(f->code, (uint64_t)to->imm, &count, &linkage);
	if (code == NULL)
		return NEXT_READS;
	if (linkage || is_stub(code, count))
		return NEXT_OVERWRITES;
	if (call)
		return NEXT_GOES_ON;
	uint64_t target = (uint64_t)to->imm;
	g_array_append_val(f->ways, target);
	return i->id == X86_INS_JMP ? NEXT_OVERWRITES : NEXT_GOES_ON;
}

/* Computes a sum of the result and a constant, or a comparison with one. */
static bool computes(struct following *f, const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	bool tests = i->id == X86_INS_TEST, compares = tests || i->id == X86_INS_CMP;
	bool sums = i->id == X86_INS_ADD || i->id == X86_INS_SUB;
	if (!f->known || (!sums && !compares) || x->op_count != 2 ||
	    x->operands[0].type != X86_OP_REG || x->operands[0].reg != X86_REG_EAX)
		return false;
	bool itself = x->operands[1].type == X86_OP_REG && x->operands[1].reg == X86_REG_EAX;
	if (tests ? !itself : x->operands[1].type != X86_OP_IMM)
		return false;
	f->with = tests ? 0 : (uint32_t)x->operands[1].imm;
	f->compared = compares;
	f->flagged = true;
	for (int k = 0; k < 2 && sums; k++)
		f->values[k] += i->id == X86_INS_ADD ? f->with : -f->with;
	return true;
}

/* Does a jump after a comparison lead one way for both results? */
static bool decides(struct following *f, const cs_insn *i)
{
	bool taken[2];
	if (!f->compared || i->detail->x86.operands[0].type != X86_OP_IMM)
		return false;
	for (int k = 0; k < 2; k++) {
		uint32_t v = f->values[k];
		bool equal = v == f->with, below = v < f->with;
		switch (i->id) {
		case X86_INS_JE:
		case X86_INS_JNE:
			taken[k] = equal == (i->id == X86_INS_JE);
			break;
		case X86_INS_JB:
		case X86_INS_JAE:
			taken[k] = below == (i->id == X86_INS_JB);
			break;
		case X86_INS_JBE:
		case X86_INS_JA:
			taken[k] = (below || equal) == (i->id == X86_INS_JBE);
			break;
		default:
			return false;
		}
	}
	f->target = taken[0] ? (uint64_t)i->detail->x86.operands[0].imm : 0;
	return taken[0] == taken[1];
}

static enum next follow(struct following *f, const cs_insn *i)
{
	cs_regs read, written;
	uint8_t reads, writes;
	csh decoder = f->code->decoder;
	f->target = 0;
	if (capstone.regs_access(decoder, i, read, &reads, written, &writes) != CS_ERR_OK)
		return NEXT_READS;
	if (computes(f, i) || (capstone.insn_group(decoder, i, X86_GRP_JUMP) && decides(f, i)))
		return NEXT_GOES_ON;
	f->target = 0;
	for (int k = 0; k < reads; k++)
		if (read[k] == X86_REG_EFLAGS && f->flagged)
			return NEXT_READS;
	for (int k = 0; k < writes; k++)
		if (written[k] == X86_REG_EFLAGS && i->id != X86_INS_INC &&
		    i->id != X86_INS_DEC) /* which leave the carry */
			f->compared = f->flagged = false;
	for (int k = 0; k < reads; k++)
		if (is_of_result(read[k]) && !is_zeroing(i) &&
		    !(f->low && read[k] == X86_REG_AL))
			return NEXT_READS;
	if (capstone.insn_group(decoder, i, X86_GRP_RET) ||
	    capstone.insn_group(decoder, i, X86_GRP_INT))
		return NEXT_READS;
	if (capstone.insn_group(decoder, i, X86_GRP_CALL))
		return follow_branch(f, i, true);
	if (capstone.insn_group(decoder, i, X86_GRP_JUMP))
		return follow_branch(f, i, false);
	for (int k = 0; k < writes; k++)
		if (written[k] == X86_REG_RAX || written[k] == X86_REG_EAX)
			return i->id >= X86_INS_CMOVA && i->id <= X86_INS_CMOVS
			               ? NEXT_GOES_ON
			               : NEXT_OVERWRITES;
		else
			f->low |= written[k] == X86_REG_AL;
	return NEXT_GOES_ON;
}

/* Does following from `address` end with the result overwritten? */
static bool follow_way(struct following *f, uint64_t address)
{
	size_t count;
	bool linkage;
	const uint8_t *bytes = machine_at(f->code, address, &count, &linkage);
	cs_insn *i = f->code->i;
	f->low = f->compared = f->flagged = false;
	for (;;) {
		if (!g_hash_table_add(f->been, (gpointer)(uintptr_t)(address << 1 | f->low)))
			return !f->known;
		if (bytes == NULL || g_hash_table_size(f->been) > MOST_INSTRUCTIONS ||
		    !capstone.disasm_iter(f->code->decoder, &bytes, &count, &address, i))
			return false;
		enum next next = follow(f, i);
		if (next != NEXT_GOES_ON)
			return next == NEXT_OVERWRITES;
		if (f->target == 0)
			continue;
		address = f->target;
		bytes = machine_at(f->code, address, &count, &linkage);
	}
}

bool debuginfo_result_unseen(const char *path, uint64_t address, const int32_t *results)
{
	struct machine m;
	bool unseen = machine_open(&m, path, true);
	struct following f = { .code = &m,
		               .ways = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		               .been = g_hash_table_new(NULL, NULL) };
	g_array_append_val(f.ways, address);
	for (guint i = 0; unseen && i < f.ways->len; i++) {
		f.known = i == 0 && results != NULL;
		f.values[0] = f.known ? (uint32_t)results[0] : 0;
		f.values[1] = f.known ? (uint32_t)results[1] : 0;
		unseen = follow_way(&f, g_array_index(f.ways, uint64_t, i));
	}
	g_array_free(f.ways, TRUE);
	g_hash_table_unref(f.been);
	machine_close(&m);
	return unseen;
}
