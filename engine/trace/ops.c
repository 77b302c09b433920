/*
 * ops.c - the table of operations (ops.def).
 */
#include "engine/trace/event.h"

const struct op_info op_table[OP_COUNT] = {
#define OP(name, text, kind, group, object, effect, sentence) \
	[OP_##name] = { .word = text, \
		        .verb = sentence, \
		        .operand = OPERAND_##kind, \
		        .class = OP_CLASS_##group, \
		        .use = USE_##object },
#define TRIED(name, text) [OP_##name].tried = text,
#include "engine/trace/ops.def"
#undef OP
};
