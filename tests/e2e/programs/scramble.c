/*
 * scramble.c - ThreadSanitizer's hooks, and locks, for prop_dead.c: before each atomic
 * operation, acquire or try they write rubbish into the registers and the bytes of the stack
 * that are said to be dead there (lines of the file that SCRAMBLE names: return address,
 * registers, ranges), and now and then another thread's value into the atomic. At the end a
 * digest of all operations and values is printed, which the rubbish must not change.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SITES = 1 << 16, MOST_OPERATIONS = 20000 };

struct site {
	unsigned long address;
	unsigned registers, count, from[8], bytes[8];
};

static struct site *sites;
static unsigned count;
static uintptr_t program;
static uint64_t others = 1, rubbish = 7, digest = 14695981039346656037ull;
static unsigned operations, registers_written, bytes_written;
/* rbx, rbp, r12 to r15, rsp of the caller. */
__attribute__((visibility("hidden"))) uint64_t kept[7];

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	program = info->dlpi_addr;
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("SCRAMBLE");
	FILE *f = name ? fopen(name, "r") : NULL;
	dl_iterate_phdr(find_program, NULL);
	if (!f)
		return;
	sites = calloc(MOST_SITES, sizeof *sites);
	for (struct site *s = sites; count < MOST_SITES; s++, count++) {
		if (fscanf(f, "%lx %x %u", &s->address, &s->registers, &s->count) != 3)
			break;
		for (unsigned i = 0; i < s->count; i++)
			if (fscanf(f, "%u %u", &s->from[i], &s->bytes[i]) != 2)
				break;
	}
	fclose(f);
}

static void end(void)
{
	fprintf(stderr, "%u %u\n", registers_written, bytes_written);
	printf("%016lx %u\n", (unsigned long)digest, operations);
	fflush(stdout);
}

__attribute__((destructor)) static void end_program(void)
{
	end();
}

static void add(uint64_t word)
{
	digest = (digest ^ word) * 1099511628211ull;
}

__attribute__((visibility("hidden"), used)) void scramble(void)
{
	uintptr_t sp = kept[6], pc = *(uintptr_t *)sp - program;
	for (unsigned i = 0; i < count; i++) {
		if (sites[i].address != pc)
			continue;
		for (unsigned r = 0; r < 6; r++)
			if (sites[i].registers >> r & 1) {
				kept[r] = next(&rubbish) << 32 ^ next(&rubbish);
				registers_written++;
			}
		for (unsigned k = 0; k < sites[i].count; k++)
			for (unsigned b = 0; b < sites[i].bytes[k]; b++) {
				((uint8_t *)sp)[8 + sites[i].from[k] + b] =
				        (uint8_t)next(&rubbish);
				bytes_written++;
			}
		break;
	}
}

/* An operation comes: another thread may have been there. */
static void come(void *p, unsigned size, unsigned kind)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uint64_t chance = next(&others);
	if (++operations == MOST_OPERATIONS) { /* it may go on for ever */
		end();
		_exit(0);
	}
	if (chance % 3 == 0 && (uintptr_t)p - here > 1 << 20)
		*(uint8_t *)p += (uint8_t)(chance >> 8 & 3);
	add(kind << 8 | size);
}

#define ENTRY(name) \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name \
	        ":\n" \
	        "movq %rbx, kept(%rip)\nmovq %rbp, kept+8(%rip)\nmovq %r12, kept+16(%rip)\n" \
	        "movq %r13, kept+24(%rip)\nmovq %r14, kept+32(%rip)\n" \
	        "movq %r15, kept+40(%rip)\nmovq %rsp, kept+48(%rip)\n" \
	        "pushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\n" \
	        "call scramble\n" \
	        "popq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\n" \
	        "movq kept(%rip), %rbx\nmovq kept+8(%rip), %rbp\nmovq kept+16(%rip), %r12\n" \
	        "movq kept+24(%rip), %r13\nmovq kept+32(%rip), %r14\n" \
	        "movq kept+40(%rip), %r15\njmp real_" #name "\n" \
	        ".size " #name ", . - " #name "\n.popsection\n");

#define FETCH(bits, type, name, kind) \
	ENTRY(__tsan_atomic##bits##_fetch_##name) \
	__attribute__((visibility("hidden"))) \
	type real___tsan_atomic##bits##_fetch_##name(type *p, type v, int order) \
	{ \
		(void)order; \
		come(p, sizeof *p, kind); \
		type old = __atomic_fetch_##name(p, v, 5); \
		add(old); \
		add(v); \
		return old; \
	}
#define COMPARE(bits, type, name) \
	ENTRY(__tsan_atomic##bits##_compare_exchange_##name) \
	__attribute__((visibility("hidden"))) int \
	        real___tsan_atomic##bits##_compare_exchange_##name(type *p, type *e, type v, \
	                                                           int a, int b) \
	{ \
		(void)a; \
		(void)b; \
		come(p, sizeof *p, 3); \
		add(*e); \
		add(v); \
		int done = __atomic_compare_exchange_n(p, e, v, 0, 5, 5); \
		add(*e); \
		return done; \
	}
#define ALL(bits, type) \
	ENTRY(__tsan_atomic##bits##_load) \
	__attribute__((visibility("hidden"))) \
	type real___tsan_atomic##bits##_load(type *p, int order) \
	{ \
		(void)order; \
		come(p, sizeof *p, 1); \
		type v = *p; \
		add(v); \
		return v; \
	} \
	ENTRY(__tsan_atomic##bits##_store) \
	__attribute__((visibility("hidden"))) void real___tsan_atomic##bits##_store( \
	        type *p, type v, int order) \
	{ \
		(void)order; \
		come(p, sizeof *p, 2); \
		add(v); \
		*p = v; \
	} \
	ENTRY(__tsan_atomic##bits##_exchange) \
	__attribute__((visibility("hidden"))) \
	type real___tsan_atomic##bits##_exchange(type *p, type v, int order) \
	{ \
		(void)order; \
		come(p, sizeof *p, 4); \
		type old = *p; \
		*p = v; \
		add(old); \
		add(v); \
		return old; \
	} \
	FETCH(bits, type, add, 5) \
	FETCH(bits, type, sub, 6) \
	FETCH(bits, type, and, 7) \
	FETCH(bits, type, or, 8) \
	FETCH(bits, type, xor, 9) \
	COMPARE(bits, type, strong) \
	COMPARE(bits, type, weak)
ALL(8, uint8_t)
ALL(32, uint32_t)
ALL(64, uint64_t)

/* Locks: a try may fail. */
ENTRY(pthread_mutex_lock)
__attribute__((visibility("hidden"))) int real_pthread_mutex_lock(void *m)
{
	(void)m;
	add(10);
	return 0;
}
ENTRY(pthread_mutex_trylock)
__attribute__((visibility("hidden"))) int real_pthread_mutex_trylock(void *m)
{
	(void)m;
	uint64_t chance = next(&others);
	if (++operations == MOST_OPERATIONS) {
		end();
		_exit(0);
	}
	add(11 + chance % 3);
	return chance % 3 ? 16 : 0;
}

#define SILENT(name) \
	void name(void *p); \
	void name(void *p) \
	{ \
		(void)p; \
	}
SILENT(__tsan_read1)
SILENT(__tsan_read2)
SILENT(__tsan_read4)
SILENT(__tsan_read8)
SILENT(__tsan_read16)
SILENT(__tsan_write1)
SILENT(__tsan_write2)
SILENT(__tsan_write4)
SILENT(__tsan_write8)
SILENT(__tsan_write16)
SILENT(__tsan_unaligned_read4)
SILENT(__tsan_unaligned_read8)
SILENT(__tsan_unaligned_write4)
SILENT(__tsan_unaligned_write8)
SILENT(__tsan_read_range)
SILENT(__tsan_write_range)
SILENT(__tsan_func_entry)
SILENT(__tsan_func_exit)
SILENT(__tsan_init)
SILENT(__tsan_vptr_update)
SILENT(__tsan_vptr_read)
