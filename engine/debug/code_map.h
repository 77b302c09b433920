/*
 * code_map.h - whose code is at an address of the debugged process: the program's or an
 * instrumented library's, or foreign code (the C library, the recording runtime), which a step
 * does not enter.
 *
 * Read from /proc/PID/maps when an address is not known yet, as libraries are loaded meanwhile.
 */
#ifndef HEDDLE_CODE_MAP_H
#define HEDDLE_CODE_MAP_H

#include "engine/debug/inferior.h"

struct code_range {
	uint64_t low, high;
	bool foreign; /* neither the program nor an instrumented library */
	bool runtime; /* of the recording runtime */
};
struct code_map {
	GArray *ranges; /* struct code_range */
	char *program;  /* path of the executable, owned; "": unknown */
};

void code_map_init(struct code_map *m);
void code_map_release(struct code_map *m); /* all zero is allowed */
/* Call once the program has been started, before the first question. */
void code_map_name_program(struct code_map *m, const struct inferior *f);
/* The range of an address as last read, or NULL. */
const struct code_range *code_map_known(const struct code_map *m, uint64_t pc);
/* The same, but an address that is not known is looked for in the process. */
const struct code_range *code_map_at(struct code_map *m, const struct inferior *f, uint64_t pc);
/* Does the code at `pc` lead out of the program: is it foreign, or a stub of the linker's that
 * jumps there? */
bool code_map_leads_out(struct code_map *m, const struct inferior *f, uint64_t pc);

#endif
