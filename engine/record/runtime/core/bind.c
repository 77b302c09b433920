/*
 * bind.c - functions for the library of the bind lines (engine/record/interpose.c makes it):
 * the values of a call as text, the open invocations, and the jump at the entry of a function
 * of the program itself.
 *
 * The library's functions have the prototypes of the bound ones and replace them: for
 * functions of other libraries by the loader's rules, for the program's own because their
 * entry jumps to them. `heddle cc` leaves five bytes of no-ops at every entry; only these are
 * overwritten, so that the function itself works behind them as before.
 */
#include <link.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt.h"

/* A bound function, as interpose.c writes it into the library. */
struct heddle_bound {
	const char *type, *method;
	const char *arguments, *result; /* a letter for each value: see put_value */
	int makes;                      /* each call makes a new object */
};

int heddle_bound_begin(const struct heddle_bound *b, const void *self, const void *pc,
                       const void *frame, const uint64_t *values);
void heddle_bound_end(int open, const uint64_t *values);
void heddle_bound_patch(const char *name, uint64_t address, void *replacement, void **real);
void heddle_bound_missing(const char *name);

/* ---- values, as a text trace writes them ---- */

struct text {
	char bytes[2048];
	size_t length;
};

static void put(struct text *t, char c)
{
	if (t->length < sizeof(t->bytes) - 1)
		t->bytes[t->length++] = c;
}

static void put_word(struct text *t, const char *w)
{
	while (*w)
		put(t, *w++);
}

static void put_number(struct text *t, uint64_t n, unsigned base)
{
	char digits[24];
	int count = 0;
	do
		digits[count++] = "0123456789abcdef"[n % base];
	while (n /= base);
	while (count)
		put(t, digits[--count]);
}

static void put_string(struct text *t, const char *s)
{
	put(t, '"');
	for (; *s && t->length < sizeof(t->bytes) - 8; s++) {
		if (*s == '"' || *s == '\\')
			put(t, '\\');
		if ((unsigned char)*s < 32 || *s == 127) {
			put_word(t, "\\x");
			put(t, "0123456789ABCDEF"[*s >> 4 & 15]);
			put(t, "0123456789ABCDEF"[*s & 15]);
		} else {
			put(t, *s);
		}
	}
	put(t, '"');
}

/* Appends a value: s string, i integer, u unsigned, b truth, p pointer. */
static void put_value(struct text *t, char kind, uint64_t value)
{
	switch (kind) {
	case 'i':
		if ((int64_t)value < 0)
			put(t, '-');
		put_number(t, (int64_t)value < 0 ? -value : value, 10);
		break;
	case 'u':
		put_number(t, value, 10);
		break;
	case 'b':
		put_word(t, value ? "true" : "false");
		break;
	default:
		if (value == 0) {
			put_word(t, "nil");
		} else if (kind == 's') {
			put_string(t, (const char *)value);
		} else {
			put(t, 'p');
			put_number(t, value, 16);
		}
	}
}

static void put_values(struct text *t, const char *kinds, const uint64_t *values)
{
	t->length = 0;
	for (unsigned i = 0; values && kinds[i]; i++) {
		if (i)
			put(t, ',');
		put_value(t, kinds[i], values[i]);
	}
	t->bytes[t->length] = 0;
}

/* ---- open invocations ---- */

static void close_call(struct thread *t, const uint64_t *values)
{
	const struct open_call *c = &t->calls.open[--t->calls.open_count];
	struct text text;
	put_values(&text, c->bound->result, values);
	invoke_record(t, LOG_RET, values ? 0 : LOG_LEFT, c->pc, c->bound->type, c->self,
	              c->bound->method, text.bytes);
}

/*
 * Returns a number for heddle_bound_end; 0 when the call is not recorded: when recording is
 * off, and inside of an invocation of the same object, of which the call is a part.
 */
EXPORT int heddle_bound_begin(const struct heddle_bound *b, const void *self, const void *pc,
                              const void *frame, const uint64_t *values)
{
	struct thread *t = recording();
	int error = errno;
	if (!t)
		return 0;
	t->calls.bound_pc = (uintptr_t)pc;
	/* The stack grows down: a frame that is not above this one was left unseen
	 * (setcontext, __builtin_longjmp). */
	while (t->calls.open_count &&
	       t->calls.open[t->calls.open_count - 1].frame <= (uintptr_t)frame)
		close_call(t, NULL);
	for (unsigned i = 0; i < t->calls.open_count; i++)
		if (t->calls.open[i].self == self && t->calls.open[i].bound->type == b->type)
			return 0;
	if (t->calls.open_count == MAX_OPEN_CALLS)
		return 0;
	struct text text;
	put_values(&text, b->arguments, values);
	sched_point(t); /* threads may meet in the library's function */
	invoke_record(t, LOG_CALL, b->makes ? LOG_MADE : 0, (uintptr_t)pc, b->type, self,
	              b->method, text.bytes);
	t->calls.begun = t->ordinal;
	t->calls.open[t->calls.open_count++] =
	        (struct open_call){ (uintptr_t)frame, (uintptr_t)pc, self, b };
	errno = error;
	return t->calls.open_count;
}

/* `values`: the results; NULL when the call was left without any (an exception). */
EXPORT void heddle_bound_end(int open, const uint64_t *values)
{
	struct thread *t = recording();
	int error = errno;
	if (!t)
		return;
	while (t->calls.open_count > (unsigned)open)
		close_call(t, NULL);
	if (open > 0 && t->calls.open_count == (unsigned)open) {
		plan_point(t);
		close_call(t, values);
	}
	errno = error;
}

/* ---- invocations that longjmp leaves ---- */

/*
 * Reads the stack pointer that a jump goes back to from glibc's buffer, where it lies xored
 * with the thread's pointer guard and rotated (sysdeps/x86_64/pointer_guard.h).
 */
static uintptr_t stack_pointer_in(const struct __jmp_buf_tag *buffer)
{
	enum { STACK_POINTER = 6 };
	uintptr_t sp = (uintptr_t)buffer->__jmpbuf[STACK_POINTER];
	__asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(sp) : : "cc");
	return sp;
}

/*
 * Ends the calls whose frames a jump removes from the stack: later events of the thread are
 * not in their scope. A jump to another stack (a coroutine's) ends none.
 */
static __attribute__((noinline)) void leave_calls(const struct __jmp_buf_tag *buffer)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), sp = stack_pointer_in(buffer);
	struct thread *t = recording();
	int error = errno;
	if (!t || here < t->life.stack_low || sp < here || sp > t->life.stack_high)
		return;
	while (t->calls.open_count && t->calls.open[t->calls.open_count - 1].frame < sp) {
		plan_point(t);
		close_call(t, NULL);
	}
	missing_jump(t, sp);
	errno = error;
}

/* _FORTIFY_SOURCE replaces each by __longjmp_chk. */
_Noreturn void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value);
#define JUMP(name) \
	INTERPOSED(name); \
	_Noreturn void interposed_##name(struct __jmp_buf_tag buffer[1], int value) \
	{ \
		if (unlikely(me->calls.open_count > 0 || me->missing.region_count > 0)) \
			leave_calls(buffer); \
		REAL(name)(buffer, value); \
		__builtin_unreachable(); \
	}
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/* ---- functions of the program itself ---- */

enum { PATCH = 5, STUB = 16 };

static int program_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	*(uintptr_t *)bias = info->dlpi_addr;
	return 1; /* the program comes first */
}

_Noreturn static void refuse(const char *name, const char *why)
{
	rt_say("%s: %s; leave its bind line out", name, why);
	_exit(125);
}

/* A page of memory within reach of a jump from `near`. */
static uint8_t *page_near(uintptr_t near)
{
	for (uintptr_t step = 1; step < 1000; step++)
		for (int side = -1; side <= 1; side += 2) {
			uintptr_t at = (near & ~0xfffull) + side * (intptr_t)(step << 20);
			void *p =
			        mmap((void *)at, 4096, PROT_READ | PROT_WRITE,
			             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (p == (void *)at)
				return p;
			if (p != MAP_FAILED)
				munmap(p, 4096);
		}
	return NULL;
}

/* A jump to any address, within reach of the function. Never freed: the program runs through
 * it. */
static uint8_t *stub_for(uintptr_t function, const void *target)
{
	static uint8_t *page;
	static unsigned used;
	if (!page || used + STUB > 4096 ||
	    (uintptr_t)(page - (uint8_t *)function + 0x70000000) > 0xe0000000) {
		page = page_near(function);
		used = 0;
	}
	if (!page || mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0)
		return NULL;
	uint8_t *stub = page + used;
	static const uint8_t jump[6] = { 0xff, 0x25, 0, 0, 0, 0 }; /* jmp *0(%rip) */
	__builtin_memcpy(stub, jump, sizeof(jump));
	__builtin_memcpy(stub + sizeof(jump), &target, sizeof(target));
	used += STUB;
	return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0 ? stub : NULL;
}

bool entry_jump(uint8_t *entry, const void *target)
{
	uint8_t *stub = stub_for((uintptr_t)entry, target);
	uintptr_t from = (uintptr_t)entry & ~0xfffull;
	size_t pages = ((uintptr_t)entry + PATCH + 0xfff - from) & ~0xfffull;
	int32_t offset = (int32_t)(stub - (entry + PATCH));
	if (!stub || raw_syscall(SYS_mprotect, (long)from, (long)pages, PROT_READ | PROT_WRITE,
	                         0, 0, 0) != 0)
		return false; /* no function of the C library may be called now: it may be
		               * the one that is patched */
	entry[0] = 0xe9;      /* jmp */
	__builtin_memcpy(entry + 1, &offset, sizeof(offset));
	return raw_syscall(SYS_mprotect, (long)from, (long)pages, PROT_READ | PROT_EXEC, 0, 0,
	                   0) == 0;
}

/*
 * Make the function whose patchable bytes are at `address` of the program's file begin with a
 * jump to `replacement`. *real is the address at which `replacement` calls the original
 * function. Called by a constructor, before the program's own code.
 */
EXPORT void heddle_bound_patch(const char *name, uint64_t address, void *replacement,
                               void **real)
{
	uintptr_t bias = 0;
	dl_iterate_phdr(program_bias, &bias);
	uint8_t *entry = (uint8_t *)(bias + address);
	if (!entry_jump(entry, replacement))
		refuse(name, "its entry cannot be changed");
	*real = entry + PATCH;
}

/* Notes that neither the program nor a library loaded at its start has the function; a
 * library loaded later could not get the call. */
EXPORT void heddle_bound_missing(const char *name)
{
	refuse(name, "no library that is loaded at the program's start has this function");
}
