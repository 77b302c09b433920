/*
 * code.c - atomic instructions in the machine code of a program (x86-64, by capstone). What gcc
 * and clang compile for ThreadSanitizer calls a function for each atomic operation, so such an
 * instruction is inline assembly, or code that was compiled otherwise.
 */
#include "debuginfo/private.h"

#include <capstone/capstone.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

/* A lock prefix, or an exchange with memory, which has it implicitly. */
static bool is_atomic(const cs_insn *i)
{
	return strncmp(i->mnemonic, "lock", 4) == 0 ||
	       (i->id == X86_INS_XCHG && strchr(i->op_str, '[') != NULL);
}

/* The first one in the symbol's code; 0: none, or what is no code ends the search. */
static uint64_t scan_symbol(csh decoder, cs_insn *i, const struct elf_symbol *s,
                            const uint8_t *bytes, size_t count)
{
	uint64_t address = s->address;
	while (cs_disasm_iter(decoder, &bytes, &count, &address, i))
		if (is_atomic(i))
			return i->address;
	return 0;
}

static uint64_t scan_section(const struct debuginfo *d, csh decoder, cs_insn *i,
                             const GElf_Shdr *header, const Elf_Data *data)
{
	uint64_t base = header->sh_addr, end = base + data->d_size;
	for (guint k = 0; k < d->code_symbols->len; k++) {
		const struct elf_symbol *s = AT(d->code_symbols, struct elf_symbol, k);
		struct debug_place place;
		if (s->address < base || s->address >= end || s->size > end - s->address)
			continue;
		if (debuginfo_code(d, s->address, &place, 1) == 0 || place.line == 0)
			continue; /* nobody's source: the compiler's own, a library's */
		const uint8_t *bytes = (const uint8_t *)data->d_buf + (s->address - base);
		uint64_t found = scan_symbol(decoder, i, s, bytes, s->size);
		if (found != 0)
			return found;
	}
	return 0;
}

static uint64_t scan_file(const struct debuginfo *d, Elf *elf, csh decoder, cs_insn *i)
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
			found = scan_section(d, decoder, i, &header, data);
	}
	return found;
}

uint64_t debuginfo_atomic_instruction(const struct debuginfo *d)
{
	uint64_t found = 0;
	csh decoder;
	elf_version(EV_CURRENT);
	int file = open(d->path, O_RDONLY | O_CLOEXEC);
	Elf *elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
	GElf_Ehdr header;
	if (elf != NULL && gelf_getehdr(elf, &header) != NULL &&
	    header.e_machine == EM_X86_64 &&
	    cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) == CS_ERR_OK) {
		cs_insn *i = cs_malloc(decoder);
		found = scan_file(d, elf, decoder, i);
		cs_free(i, 1);
		cs_close(&decoder);
	}
	elf_end(elf);
	if (file >= 0)
		close(file);
	return found;
}
