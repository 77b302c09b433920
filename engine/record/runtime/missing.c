/*
 * missing.c - calls into code that is not instrumented: the trace gets the beginning and the
 * end of each, and what it may reach (RDIT's barrier pairs).
 *
 * Which modules are instrumented shows in their strings: each names the hooks.  In their tables
 * of imported functions (PLT, GOT) those of modules that are not get small functions of ours in
 * their place, which all jump to missing_call: it tells of the call, calls the real function
 * with a copy of the arguments on the stack, and tells of the return.  It has a frame like any
 * other, so exceptions and debuggers find their way through it.  The C library, the loader and
 * the compilers' libraries are modelled and no missing code.
 *
 * While such code has called back into the program, nothing of it runs in this thread; so the
 * region ends there and begins again when the function that was called back returns: two
 * barrier pairs instead of one around everything.
 *
 * Not seen: calls by addresses that no import table holds (virtual functions, what dlsym
 * found), and calls from one library that is not instrumented into another (they are inside).
 */
#include <fnmatch.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "sched_private.h"

enum {
	MAX_REGIONS = 256, /* of a thread; a call inside of so many is not recorded */
	MAX_MODULES = 4096,
	MAX_TARGETS = 1 << 14,
	STACK_ARGUMENTS = 256, /* bytes */
	STUB = 16,
	STUBS = 4096 / STUB - 1, /* on a page; the first place holds where they jump to */
	ALL_ARGUMENTS = 63,
};

struct region {
	uintptr_t sp; /* the caller's, before the call */
	uintptr_t function, pc;
	uint64_t arguments[6];
	unsigned mask; /* which of them count */
	uint32_t depth;
	bool away; /* in a function that it has called back */
};

static struct target {
	uintptr_t real;
	unsigned mask;
	const struct ordered *order; /* a modelled library's, exploration; or NULL */
	const char *name;
} targets[MAX_TARGETS];
static unsigned target_count;

enum kind { INSTRUMENTED, MODELLED, MISSING };
static struct module {
	uintptr_t bias, low, high;
	const ElfW(Phdr) * headers;
	unsigned header_count;
	enum kind kind;
	bool done;
} modules[MAX_MODULES];
static unsigned module_count;

/* ---- records ---- */

static void update(struct thread *t)
{
	const struct region *r = t->region_count ? &t->regions[t->region_count - 1] : NULL;
	t->callback_at = r && !r->away ? r->depth : UINT32_MAX;
	t->resume_below = r ? r->depth + r->away : 0;
}

/*
 * An exploration only wants to know which functions were called beside other threads: each
 * once, as a note.
 */
static bool only_noted(const struct region *r)
{
	enum { MOST = 64 };
	static uintptr_t known[MOST];
	static unsigned count;
	unsigned i = 0;
	if (!(rt.config.flags & LOG_EXPLORE))
		return false;
	while (i < count && known[i] != r->function)
		i++;
	if (i < count || count == MOST || r->function == 0 || sched_alone())
		return true;
	known[count++] = r->function;
	char text[32] = "";
	sched_append_number(text, sizeof(text), r->function, 16);
	log_note("missing", text);
	return true;
}

static void write_miss(struct thread *t, const struct region *r, unsigned flags)
{
	if (only_noted(r))
		return;
	const struct log_reached *list = NULL;
	bool cut;
	unsigned count = reach_scan(t, r->arguments, r->mask, &list, &cut);
	uint64_t function = r->function;
	if (!rt.controlled)
		log_epoch(t);
	uint64_t *w = log_blob(t, LOG_MISS, r->pc, &function, 1, list, count * sizeof(*list));
	if (w)
		w[0] |= (uint64_t)(flags | (cut ? LOG_MISS_CUT : 0)) << 8;
}

static void write_back(struct thread *t, const struct region *r)
{
	if (rt.config.flags & LOG_EXPLORE)
		return;
	if (t->pending)
		log_fill(t);
	if (t->stream->last != t->id)
		log_switch(t);
	if (!rt.controlled)
		log_epoch(t);
	uint64_t *w = log_room(t->stream, 2);
	w[1] = r->function;
	BARRIER();
	w[0] = log_word(LOG_BACK, 0, r->pc);
	t->stream->next = w + 2;
}

/* The innermost region is over. */
static void pop(struct thread *t)
{
	const struct region *r = &t->regions[--t->region_count];
	if (!r->away)
		write_back(t, r);
	update(t);
}

static bool push(struct thread *t, const struct region *r)
{
	if (!t->regions)
		t->regions = rt_pages(MAX_REGIONS * sizeof(*t->regions));
	if (!t->regions || t->region_count == MAX_REGIONS)
		return false;
	log_before(t); /* and the region around it is left, when this is a function it called */
	struct region *new = &t->regions[t->region_count++];
	*new = *r;
	new->depth = t->depth;
	write_miss(t, new, 0);
	update(t);
	return true;
}

uintptr_t missing_caller(void)
{
	const struct thread *t = me;
	return t->region_count ? t->regions[t->region_count - 1].pc : 0;
}

/* ---- functions that are called back ---- */

void missing_callback(struct thread *t)
{
	uintptr_t function = t->frames[t->emitted].function;
	if (function < LOG_CALL_COUNT && function != LOG_CALL_signal)
		return; /* it waits in the C library */
	struct region *r = &t->regions[t->region_count - 1];
	if (t->frames[t->emitted].call == (uintptr_t)missing_return)
		t->frames[t->emitted].call = r->pc;
	write_back(t, r);
	r->away = true;
	update(t);
}

void missing_settle(struct thread *t)
{
	while (t->region_count) {
		struct region *r = &t->regions[t->region_count - 1];
		if (t->emitted > r->depth || (t->emitted == r->depth && !r->away))
			break;
		if (t->emitted == r->depth) {
			r->away = false;
			write_miss(t, r, LOG_MISS_AGAIN);
			update(t);
			break;
		}
		pop(t); /* an exception has left it */
	}
}

void missing_left(struct thread *t)
{
	if (t->gate)
		return;
	t->dirty = 1;
	log_before(t);
}

/* The thread's call stack has no more than so many frames. */
static void cut_frames(struct thread *t, uint32_t depth)
{
	if (t->depth > depth) {
		t->depth = depth;
		t->low = depth < t->low ? depth : t->low;
		t->dirty = 1;
		context_renew(t);
	}
}

void missing_jump(struct thread *t, uintptr_t sp)
{
	while (t->region_count && t->regions[t->region_count - 1].sp <= sp)
		pop(t);
	if (!t->region_count)
		return;
	const struct region *r = &t->regions[t->region_count - 1];
	if (!r->away || t->depth <= r->depth || r->depth >= MAX_FRAMES)
		return;
	uintptr_t end = frame_return(&t->frames[r->depth], r->sp);
	if (end && end < sp) { /* back to the code that had called back */
		cut_frames(t, r->depth);
		log_before(t);
	}
}

/* An exception is caught: what was called by the frames below it has been left. */
EXPORT void *__cxa_begin_catch(void *exception);
void *__cxa_begin_catch(void *exception)
{
	if (unlikely(me->region_count > 0) && recording())
		missing_jump(me, (uintptr_t)__builtin_frame_address(0) + 16);
	return REAL(__cxa_begin_catch)(exception);
}

/* ---- a call ---- */

/* The frame of missing_call, from its lowest part on. */
struct call {
	uint64_t vectors[32]; /* xmm0-7 or ymm0-7 */
	uint64_t unused[5];
	uint64_t region; /* 1 + its index; 0: go to the function and forget it */
	uint64_t bytes;  /* of arguments on the stack */
	uint64_t real, r10, rax;
	uint64_t arguments[6]; /* rdi rsi rdx rcx r8 r9 */
	uint64_t bp, pc;
	uint64_t stack[];
};

void missing_call(void);
void missing_enter(unsigned index, struct call *c);
void missing_leave(struct call *c);
uint8_t missing_wide; /* the processor has vectors of 32 bytes */

/* clang-format off */
#define VECTORS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define SAVE_16(n) "\tmovaps %xmm" #n ", 32*" #n "(%rsp)\n"
#define SAVE_32(n) "\tvmovups %ymm" #n ", 32*" #n "(%rsp)\n"
#define LOAD_16(n) "\tmovaps 32*" #n "(%rsp), %xmm" #n "\n"
#define LOAD_32(n) "\tvmovups 32*" #n "(%rsp), %ymm" #n "\n"
#define EITHER(narrow, wide, label) \
	"\tcmpb $0, missing_wide(%rip)\n\tjne " label "1f\n" narrow \
	"\tjmp " label "2f\n" label "1:\n" wide label "2:\n"
__asm__(".pushsection .text\n"
	".globl missing_call\n.hidden missing_call\n.type missing_call, @function\n"
	"missing_call:\n"
	"\t.cfi_startproc\n"
	"\tpushq %rbp\n"
	"\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n"
	"\tmovq %rsp, %rbp\n"
	"\t.cfi_def_cfa_register 6\n"
	"\tsubq $384, %rsp\n"
	"\tmovq %rdi, -48(%rbp)\n\tmovq %rsi, -40(%rbp)\n\tmovq %rdx, -32(%rbp)\n"
	"\tmovq %rcx, -24(%rbp)\n\tmovq %r8, -16(%rbp)\n\tmovq %r9, -8(%rbp)\n"
	"\tmovq %rax, -56(%rbp)\n\tmovq %r10, -64(%rbp)\n"
	EITHER(VECTORS(SAVE_16), VECTORS(SAVE_32), "1")
	"\tmovl %r11d, %edi\n\tmovq %rsp, %rsi\n"
	"\tcall missing_enter\n"
	EITHER(VECTORS(LOAD_16), VECTORS(LOAD_32), "2")
	"\tmovq -80(%rbp), %rcx\n"
	"\tsubq %rcx, %rsp\n"
	"\tshrq $3, %rcx\n"
	"\tleaq 16(%rbp), %rsi\n\tmovq %rsp, %rdi\n"
	"\trep movsq\n"
	"\tmovq -48(%rbp), %rdi\n\tmovq -40(%rbp), %rsi\n\tmovq -32(%rbp), %rdx\n"
	"\tmovq -24(%rbp), %rcx\n\tmovq -16(%rbp), %r8\n\tmovq -8(%rbp), %r9\n"
	"\tmovq -56(%rbp), %rax\n\tmovq -64(%rbp), %r10\n"
	"\tmovq -72(%rbp), %r11\n"
	"\tcmpq $0, -88(%rbp)\n"
	"\tje 33f\n"
	"\tcall *%r11\n"
	".globl missing_return\n.hidden missing_return\nmissing_return:\n"
	"\tleaq -384(%rbp), %rsp\n"
	"\tmovq %rax, -56(%rbp)\n\tmovq %rdx, -32(%rbp)\n"
	EITHER(SAVE_16(0) SAVE_16(1), SAVE_32(0) SAVE_32(1), "4")
	"\tmovq %rsp, %rdi\n"
	"\tcall missing_leave\n"
	EITHER(LOAD_16(0) LOAD_16(1), LOAD_32(0) LOAD_32(1), "5")
	"\tmovq -56(%rbp), %rax\n\tmovq -32(%rbp), %rdx\n"
	"\t.cfi_remember_state\n"
	"\tleave\n"
	"\t.cfi_def_cfa 7, 8\n"
	"\tret\n"
	"\t.cfi_restore_state\n"
	"33:\n"
	"\tleave\n"
	"\t.cfi_def_cfa 7, 8\n"
	"\tjmp *%r11\n"
	"\t.cfi_endproc\n"
	".size missing_call, .-missing_call\n.popsection\n");
/* clang-format on */
_Static_assert(offsetof(struct call, bp) == 384, "as missing_call has it");
_Static_assert(offsetof(struct call, region) == 384 - 88, "as missing_call has it");

__attribute__((used)) void missing_enter(unsigned index, struct call *c)
{
	const struct target *target = &targets[index];
	uintptr_t sp = (uintptr_t)c->stack;
	c->real = target->real;
	c->region = c->bytes = 0;
	int error = errno;
	struct thread *t = rt.on ? recording() : NULL;
	if (t && target->order)
		order_call(t, target->order, target->name, c->arguments);
	if (!t || target->order)
		return;
	bool own = sp >= t->stack_low && sp < t->stack_high;
	/* Left behind by a way that is not seen. */
	while (own && t->region_count && t->regions[t->region_count - 1].sp <= sp)
		pop(t);
	sched_point(t); /* what libraries do is where threads meet */
	struct region r = {
		.sp = sp, .function = target->real, .pc = c->pc, .mask = target->mask
	};
	for (unsigned i = 0; i < 6; i++)
		r.arguments[i] = c->arguments[i];
	if (push(t, &r)) {
		c->region = t->region_count;
		c->bytes = STACK_ARGUMENTS;
		if (!own)
			c->bytes = 64;
		else if (t->stack_high - sp < STACK_ARGUMENTS)
			c->bytes = (t->stack_high - sp) & ~15ul;
	}
	errno = error;
}

__attribute__((used)) void missing_leave(struct call *c)
{
	struct thread *t = me;
	int error = errno;
	if (t->region_count < c->region)
		return;
	if (unlikely(t->gate) && !hook_slow(t)) {
		t->region_count = c->region - 1;
		update(t);
		return;
	}
	while (t->region_count > c->region)
		pop(t);
	cut_frames(t, t->regions[c->region - 1].depth);
	log_before(t); /* it goes on where a function that it called was left by a jump */
	if (t->region_count == c->region)
		pop(t);
	errno = error;
}

/* ---- threads ---- */

static const struct module *module_of(uintptr_t address)
{
	for (unsigned i = 0; i < module_count; i++)
		if (address - modules[i].low < modules[i].high - modules[i].low)
			return &modules[i];
	return NULL;
}

void missing_begin_thread(struct thread *t, const void *start, const void *argument)
{
	const struct module *m = rt.missing ? module_of((uintptr_t)start) : NULL;
	if (!m || m->kind != MISSING || t->gate)
		return;
	struct region r = { .sp = t->stack_high,
		            .function = (uintptr_t)start,
		            .arguments = { (uintptr_t)argument },
		            .mask = 1 };
	push(t, &r);
}

void missing_end_thread(struct thread *t)
{
	if (t->gate & GATE_OFF)
		t->region_count = 0;
	while (t->region_count)
		pop(t);
	update(t);
}

/* ---- which modules ---- */

static bool has_hooks(const struct dl_phdr_info *info)
{
	static const char hook[] = "__tsan_func_entry";
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type == PT_LOAD && !(ph->p_flags & PF_W) && ph->p_flags & PF_R &&
		    memmem((const void *)(info->dlpi_addr + ph->p_vaddr), ph->p_memsz, hook,
		           sizeof(hook) - 1))
			return true;
	}
	return false;
}

static bool modelled(const char *name)
{
	static const char *const known[] = {
		"libc.so*",      "libc-2*",        "ld-linux*",   "ld-2*",
		"libm.so*",      "libpthread.so*", "libdl.so*",   "librt.so*",
		"libresolv.so*", "libnss_*",       "libutil.so*", "libgcc_s.so*",
		"libstdc++.so*", "libc++*.so*",    "libtsan.so*", "libclang_rt.*",
		"libgomp.so*",
	};
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (fnmatch(known[i], name, 0) == 0)
			return true;
	return false;
}

/* The next line of the specifications whose first letter is `kind`, from *at on; its words
 * begin two characters on. */
static bool next_line(char kind, const char **at, char *line, size_t room)
{
	while (**at) {
		size_t n = strcspn(*at, "\n"), k = n < room - 1 ? n : room - 1;
		memcpy(line, *at, k);
		line[k] = 0;
		*at += n + ((*at)[n] == '\n');
		if (line[0] == kind)
			return true;
	}
	return false;
}

static bool named_library(const char *path, const char *name)
{
	const char *at = rt.config.missing;
	char line[1024];
	while (next_line('L', &at, line, sizeof(line)))
		if (fnmatch(line + 2, strchr(line + 2, '/') ? path : name, 0) == 0)
			return true;
	return false;
}

/* A function line; then *mask says which of its arguments reach something. */
static bool named_function(const char *name, unsigned *mask)
{
	const char *at = rt.config.missing;
	char line[1024];
	bool found = false;
	while (next_line('F', &at, line, sizeof(line))) {
		char *space = strchr(line + 2, ' ');
		if (!space)
			continue;
		*space = 0;
		if (strcmp(line + 2, name) != 0)
			continue;
		*mask = 0;
		for (const char *c = space + 1; *c >= '0' && *c <= '9'; c++)
			*mask = *mask * 10 + (*c - '0');
		found = true;
	}
	return found;
}

/* What the loader makes read-only holds nothing that threads could hand on. */
static void note_data(const struct module *m)
{
	uintptr_t relro_low = 0, relro_high = 0;
	for (unsigned i = 0; i < m->header_count; i++)
		if (m->headers[i].p_type == PT_GNU_RELRO) {
			relro_low = m->bias + m->headers[i].p_vaddr;
			relro_high = relro_low + m->headers[i].p_memsz;
		}
	for (unsigned i = 0; i < m->header_count; i++) {
		const ElfW(Phdr) *ph = &m->headers[i];
		uintptr_t low = m->bias + ph->p_vaddr, high = low + ph->p_memsz;
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W))
			continue;
		if (relro_low <= low && low < relro_high)
			low = relro_high;
		if (low < high)
			reach_data(low, high);
	}
}

void missing_module(const struct dl_phdr_info *info, const char *path, uintptr_t low,
                    uintptr_t high)
{
	if (!rt.missing || module_count == MAX_MODULES)
		return;
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	struct module *m = &modules[module_count++];
	*m = (struct module){ .bias = info->dlpi_addr,
		              .low = low,
		              .high = high,
		              .headers = info->dlpi_phdr,
		              .header_count = info->dlpi_phnum };
	bool c_library = low == rt.libc_low || low == rt.ld_low;
	m->kind = !c_library && named_library(path, name) ? MISSING
	          : modelled(name)                        ? MODELLED
	          : has_hooks(info)                       ? INSTRUMENTED
	                                                  : MISSING;
	if (m->kind != MODELLED)
		note_data(m);
}

/* ---- taking over the import tables ---- */

static bool in_code(const struct module *m, uintptr_t address)
{
	for (unsigned i = 0; i < m->header_count; i++) {
		const ElfW(Phdr) *ph = &m->headers[i];
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X &&
		    address - m->bias - ph->p_vaddr < ph->p_memsz)
			return true;
	}
	return false;
}

/* What may return twice, or never where it was called, or belongs to the unwinder. */
static bool left_alone(const char *name)
{
	static const char *const names[] = { "*setjmp",        "*longjmp*",   "vfork",
		                             "getcontext",     "swapcontext", "setcontext",
		                             "_Unwind_*",      "__cxa_*",     "__gxx_*",
		                             "__tls_get_addr", "_init",       "_fini" };
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

/* A small function that passes on to missing_call with the number of a target.  NULL: none. */
static void *stub_of(unsigned index)
{
	static uint8_t *page;
	static unsigned used = STUBS;
	if (used == STUBS) {
		page = rt_pages(4096);
		used = 0;
		if (!page)
			return NULL;
		void (*to)(void) = missing_call;
		memcpy(page, &to, sizeof(to));
	}
	uint8_t *stub = page + STUB * (1 + used++);
	int32_t offset = (int32_t)(page - (stub + 12));
	if (raw_syscall(SYS_mprotect, (long)page, 4096, PROT_READ | PROT_WRITE, 0, 0, 0) < 0)
		return NULL;
	stub[0] = 0x41; /* mov $index, %r11d */
	stub[1] = 0xbb;
	memcpy(stub + 2, &index, 4);
	stub[6] = 0xff; /* jmp *page(%rip) */
	stub[7] = 0x25;
	memcpy(stub + 8, &offset, 4);
	raw_syscall(SYS_mprotect, (long)page, 4096, PROT_READ | PROT_EXEC, 0, 0, 0);
	return stub;
}

static void *stub_for(uintptr_t real, unsigned mask, const struct ordered *order,
                      const char *name)
{
	static void *stubs[MAX_TARGETS];
	for (unsigned k = 0; k < target_count; k++)
		if (targets[k].real == real)
			return stubs[k];
	if (target_count == MAX_TARGETS)
		return NULL;
	targets[target_count] = (struct target){ real, mask, order, name };
	unsigned i = target_count++;
	return stubs[i] = stub_of(i);
}

static void put_slot(const struct module *m, uintptr_t *slot, void *value)
{
	for (unsigned i = 0; i < m->header_count; i++) {
		const ElfW(Phdr) *ph = &m->headers[i];
		uintptr_t low = m->bias + ph->p_vaddr, high = low + ph->p_memsz;
		if (ph->p_type != PT_GNU_RELRO || (uintptr_t)slot < low ||
		    (uintptr_t)slot >= high)
			continue;
		low &= ~4095ul;
		high &= ~4095ul;
		if ((uintptr_t)slot >= high)
			continue; /* the rest of a page is writable */
		if (raw_syscall(SYS_mprotect, low, high - low, PROT_READ | PROT_WRITE, 0, 0,
		                0) < 0)
			return;
		*slot = (uintptr_t)value;
		raw_syscall(SYS_mprotect, low, high - low, PROT_READ, 0, 0, 0);
		return;
	}
	*slot = (uintptr_t)value;
}

struct tables { /* of a module's dynamic section */
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * list[2];
	size_t bytes[2];
};

static struct tables tables_of(const struct module *m)
{
	struct tables x = { 0 };
	const ElfW(Dyn) *d = NULL;
	for (unsigned i = 0; i < m->header_count; i++)
		if (m->headers[i].p_type == PT_DYNAMIC)
			d = (const void *)(m->bias + m->headers[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) { /* the loader has made them absolute */
		case DT_SYMTAB:
			x.symbols = (const void *)d->d_un.d_ptr;
			break;
		case DT_STRTAB:
			x.strings = (const void *)d->d_un.d_ptr;
			break;
		case DT_JMPREL:
			x.list[0] = (const void *)d->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			x.bytes[0] = d->d_un.d_val;
			break;
		case DT_RELA:
			x.list[1] = (const void *)d->d_un.d_ptr;
			break;
		case DT_RELASZ:
			x.bytes[1] = d->d_un.d_val;
			break;
		}
	}
	return x;
}

/* Of OpenMP: what openmp.c does not know. */
static bool beyond_openmp(uintptr_t function, const char *name)
{
	static const char *const names[] = {
		"GOMP_parallel_*start", "GOMP_parallel_end", "GOMP_target*",
		"GOMP_teams*",          "GOACC_*",           "acc_*"
	};
	if (function < rt.gomp_low || function >= rt.gomp_high)
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

static void take_over_slot(const struct module *m, const char *name, uintptr_t *slot)
{
	uintptr_t real = *slot;
	if (!real || left_alone(name))
		return;
	if (real - m->low < m->high - m->low) { /* not bound yet: its own PLT */
		real = (uintptr_t)dlsym(RTLD_DEFAULT, name);
		if (!real || real - m->low < m->high - m->low)
			return;
	}
	const struct module *of = module_of(real);
	unsigned mask = ALL_ARGUMENTS;
	bool named = named_function(name, &mask);
	if (!of || !in_code(of, real) || of->kind == INSTRUMENTED)
		return;
	const struct ordered *order = NULL;
	if (of->kind == MODELLED && !named && !beyond_openmp(real, name)) {
		if (rt.config.flags & LOG_EXPLORE)
			order = order_named(name);
		if (order == NULL || order->kind == ORDER_NEVER)
			return;
	}
	void *stub = stub_for(real, mask, order, name);
	if (stub)
		put_slot(m, slot, stub);
}

static void take_over(const struct module *m)
{
	struct tables x = tables_of(m);
	for (unsigned k = 0; k < 2 && x.symbols && x.strings; k++)
		for (size_t i = 0; x.list[k] && i < x.bytes[k] / sizeof(*x.list[k]); i++) {
			const ElfW(Rela) *r = &x.list[k][i];
			unsigned type = ELF64_R_TYPE(r->r_info);
			const ElfW(Sym) *s = &x.symbols[ELF64_R_SYM(r->r_info)];
			if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
			    ELF64_R_SYM(r->r_info) && ELF64_ST_TYPE(s->st_info) != STT_OBJECT)
				take_over_slot(m, x.strings + s->st_name,
				               (uintptr_t *)(m->bias + r->r_offset));
		}
}

/* The program itself is not instrumented: all of it is one missing call. */
static void whole_program(struct thread *t)
{
	static bool done;
	if (done)
		return;
	done = true;
	if (modules[0].kind != MISSING)
		return;
	struct region r = { .sp = t->stack_high };
	push(t, &r);
}

void missing_take_over(void)
{
	if (!rt.missing || module_count == 0)
		return;
	missing_wide = __builtin_cpu_supports("avx") != 0;
	bool any = strstr(rt.config.missing, "F ") != NULL;
	for (unsigned i = 0; i < module_count; i++)
		any |= modules[i].kind == MISSING;
	if (any)
		reach_init();
	for (unsigned i = 0; i < module_count; i++) {
		if (modules[i].kind == INSTRUMENTED && !modules[i].done)
			take_over(&modules[i]);
		modules[i].done = true;
	}
	whole_program(me);
}
