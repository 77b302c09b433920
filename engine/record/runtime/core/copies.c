/*
 * copies.c - copies of structures, `*to = *from`.  gcc calls the hook of the write first, then
 * that of the read, and then copies: at the read's hook the write is still to come, and its
 * value is what is read.  So such a write is recorded behind the read (hooks.c).
 *
 * Which writes these are, their code says: nothing is stored between the two calls.
 */
#include "hooks.h"

/* Of the next instruction, as far as it matters here. */
struct instruction {
	unsigned length; /* 0: one that no such code has */
	bool calls, stores;
	bool by_stack, by_frame; /* it stores below rsp, or below a frame in rbp */
};

/* The bytes of an operand that may be in memory: of its first byte and what follows. */
static unsigned operand_length(const uint8_t *p)
{
	unsigned mode = p[0] >> 6, base = p[0] & 7, length = 1;
	if (mode == 3)
		return length;
	if (base == 4) {
		base = p[1] & 7;
		length++;
	}
	return length + (mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0);
}

enum {
	NO_SUCH = 0,
	PLAIN,   /* no operands in memory */
	OPERAND, /* one in memory is read */
	RESULT,  /* is written */
	LIST = 15,
	BYTE = 16, /* and a constant of one byte, */
	WORD = 32, /* or of four */
};

/* What follows a prefix, by the opcode's byte. */
static unsigned kind_of(uint8_t opcode, uint8_t next)
{
	bool compares = (next >> 3 & 7) == 7;
	if (opcode < 0x40 && (opcode & 7) < 6) /* add, or, ..., cmp */
		return (opcode & 7) == 4                  ? PLAIN | BYTE
		       : (opcode & 7) == 5                ? PLAIN | WORD
		       : (opcode & 2) || opcode >> 3 == 7 ? OPERAND
		                                          : RESULT;
	switch (opcode) {
	case 0x63: /* movslq */
	case 0x84: /* test */
	case 0x85:
	case 0x8a: /* mov */
	case 0x8b:
	case 0x8d: /* lea */
		return OPERAND;
	case 0x69: /* imul */
		return OPERAND | WORD;
	case 0x6b:
		return OPERAND | BYTE;
	case 0x81:
		return (compares ? OPERAND : RESULT) | WORD;
	case 0x80:
	case 0x83:
		return (compares ? OPERAND : RESULT) | BYTE;
	case 0x88: /* mov */
	case 0x89:
	case 0xd1: /* shifts */
	case 0xd3:
		return RESULT;
	case 0xc1:
	case 0xc6:
		return RESULT | BYTE;
	case 0xc7:
		return RESULT | WORD;
	case 0x90:
	case 0x98: /* cltq */
	case 0x99:
		return PLAIN;
	case 0xf7: /* not and the like */
		return next >> 3 & 6 ? RESULT : NO_SUCH;
	default:
		return opcode >= 0xb8 && opcode <= 0xbf ? PLAIN | WORD : NO_SUCH;
	}
}

static unsigned kind_of_two(uint8_t opcode)
{
	switch (opcode) {
	case 0x11: /* vectors */
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x7e:
	case 0x7f:
	case 0xd6:
	case 0xe7:
		return RESULT;
	case 0x10:
	case 0x1e: /* endbr */
	case 0x1f: /* nop */
	case 0x28:
	case 0x57:
	case 0x6e:
	case 0x6f:
	case 0xaf: /* imul */
	case 0xb6: /* movzb and its kin */
	case 0xb7:
	case 0xbe:
	case 0xbf:
	case 0xef:
		return OPERAND;
	default:
		return opcode >= 0x40 && opcode < 0x50 ? OPERAND : NO_SUCH; /* cmov */
	}
}

static struct instruction read_instruction(const uint8_t *start)
{
	const uint8_t *p = start;
	bool short_words = false;
	while (*p == 0x66 || *p == 0xf2 || *p == 0xf3)
		short_words |= *p++ == 0x66;
	unsigned rex = *p >> 4 == 4 ? *p++ : 0;
	if (*p == 0xe8)
		return (struct instruction){ .length = (unsigned)(p + 5 - start),
			                     .calls = true };
	if (*p == 0xff && (p[1] >> 3 & 7) == 2)
		return (struct instruction){ .length = (unsigned)(p + 1 - start) +
			                               operand_length(p + 1),
			                     .calls = true };
	bool long_words = rex & 8 && *p >> 3 == 0xb8 >> 3;
	unsigned kind = *p == 0x0f ? kind_of_two(p[1]) : kind_of(*p, p[1]);
	p += *p == 0x0f ? 2 : 1;
	if (kind == NO_SUCH)
		return (struct instruction){ 0 };
	struct instruction i = { 0 };
	if ((kind & LIST) != PLAIN) {
		unsigned mode = *p >> 6;
		i.stores = (kind & LIST) == RESULT && mode != 3;
		i.by_stack = !(rex & 3) && mode != 3 && (*p & 7) == 4 && p[1] == 0x24;
		i.by_frame = !(rex & 1) && (*p & 7) == 5 &&
		             ((mode == 1 && p[1] & 0x80) || (mode == 2 && p[4] & 0x80));
		p += operand_length(p);
	}
	p += kind & BYTE ? 1 : !(kind & WORD) ? 0 : long_words ? 8 : short_words ? 2 : 4;
	i.length = (unsigned)(p - start);
	return i;
}

/* What follows the hook of a write. */
enum code {
	STORE,   /* the write, or something else: it has come before the next hook */
	COPY,    /* the read's hook, then both */
	PERHAPS, /* one of the two */
};
struct known { /* on `stack`: the write is to the thread's stack */
	uintptr_t pc, next;
	bool stack;
	enum code code;
};

/* `next`: where the next call returns to. */
static void read_code(struct known *k)
{
	enum { FAR = 24 };
	const uint8_t *p = (const uint8_t *)k->pc;
	k->code = STORE;
	for (unsigned n = 0, unsure = 0; n < FAR; n++) {
		struct instruction i = read_instruction(p);
		/* the compiler's own places are on the stack */
		if (i.length == 0 || (i.stores && (k->stack || !(i.by_stack || i.by_frame))))
			return;
		unsure |= i.stores && i.by_frame; /* rbp may have an address of the program's */
		p += i.length;
		if (i.calls) {
			k->next = (uintptr_t)p;
			k->code = unsure ? PERHAPS : COPY;
			return;
		}
	}
}

static const struct known *code_at(uintptr_t pc, bool stack)
{
	static struct known known[128];
	struct known *k = &known[(pc ^ stack) % 128];
	if (k->pc != pc || k->stack != stack) {
		*k = (struct known){ .pc = pc, .stack = stack };
		read_code(k);
	}
	return k;
}

/* `from`: NULL if the value is not known. */
static void write_copy(struct thread *t, const struct thread_copy *c, const void *from)
{
	unsigned code = (unsigned)__builtin_ctzl(c->size);
	bool one = c->size <= 16 && (c->size & (c->size - 1)) == 0, known = from && code < 4;
	if (unlikely(rt.memory))
		memory_before(t, LOG_WRITE, c->to, c->size);
	if (one)
		log_access(t, LOG_WRITE, c->flags | LOG_SECOND, c->pc, c->to, code, known,
		           known ? peek((uintptr_t)from, code) : 0);
	else
		log_range(t, LOG_WRITE, c->pc, c->to, c->size);
}

bool copy_begins(struct thread *t, const void *to, size_t size, unsigned flags, uintptr_t pc)
{
	uintptr_t address = (uintptr_t)to;
	if (!rt.controlled || t->epoch || t->unwritten || unlikely(rt.waiting))
		return false;
	const struct known *k =
	        code_at(pc, address >= t->life.stack_low && address < t->life.stack_high);
	if (k->code == STORE)
		return false;
	log_value(t);
	t->copy = (struct thread_copy){ to, size, flags, pc, k->next };
	t->todo |= TODO_COPY;
	if (k->code == PERHAPS)
		copy_unread(t);
	return true;
}

bool copy_reads(struct thread *t, enum log_tag tag, size_t size, uintptr_t pc,
                struct thread_copy *c)
{
	if (tag != LOG_READ || pc != t->copy.next || size != t->copy.size) {
		copy_unread(t);
		return false;
	}
	*c = t->copy; /* other threads may run before the read, and handlers */
	t->todo &= ~TODO_COPY;
	return true;
}

void copy_ends(struct thread *t, const struct thread_copy *c, const void *from)
{
	plan_point(t);
	write_copy(t, c, from);
}

void copy_unread(struct thread *t)
{
	struct thread_copy c = t->copy;
	t->todo &= ~TODO_COPY;
	write_copy(t, &c, NULL);
	t->todo &= ~TODO_OF_VALUE; /* not known */
}
