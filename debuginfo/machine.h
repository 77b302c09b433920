/*
 * machine.h - the machine code of an ELF file of x86-64, private to this folder: code.c and
 * dead_*.c read it.
 */
#ifndef HEDDLE_DEBUGINFO_MACHINE_H
#define HEDDLE_DEBUGINFO_MACHINE_H

#include <capstone/capstone.h>
#include <gelf.h>
#include <stdbool.h>

/* The functions of libcapstone. The library is loaded by the first machine_open, not with the
 * program: its tables hold addresses, which the loader sets one by one, in 5 MB of memory, and
 * most commands never decode code. */
#define CAPSTONE_CALLS(C) \
	C(open) C(close) C(option) C(malloc) C(free) C(disasm_iter) C(insn_group) C(regs_access)
struct capstone {
#define C(name) typeof(cs_##name) *name;
	CAPSTONE_CALLS(C)
#undef C
};
extern struct capstone capstone;
/* Ends the process with a message where the library is missing. */
void capstone_load(void);

struct machine {
	int file;
	Elf *elf;
	csh decoder;
	cs_insn *i; /* room for one instruction */
};
/* False: the file is not x86-64 code, or cannot be read; machine_close all the same.
 * `details`: the operands that instructions read and write are wanted, too. */
bool machine_open(struct machine *m, const char *path, bool details);
void machine_close(struct machine *m);
/* The section's code from the address on; NULL: none. `linkage`: it leads to other modules. */
const uint8_t *machine_at(const struct machine *m, uint64_t address, size_t *count,
                          bool *linkage);

#endif
