/*
 * sched_files.c - reads files of /proc beside the running program.
 *
 * A descriptor is the lowest free number, and the thread that the scheduler asks about may
 * open, close and dup2 at the same time: it would get another number than alone, or put its own
 * in the place of ours.  So the file is read by a thread of the kernel's with a table of
 * descriptors of its own, for which this one waits.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/syscall.h>

#include "sched_private.h"

struct reading {
	const char *path;
	char *text;
	size_t room;
	long result;
};

static void read_here(struct reading *r)
{
	long fd =
	        raw_syscall(SYS_openat, AT_FDCWD, (long)r->path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0) {
		r->result = fd;
		return;
	}
	r->result = raw_syscall(SYS_read, fd, (long)r->text, (long)r->room - 1, 0, 0, 0);
	raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Runs in that thread, whose table of descriptors has room for one even if the program has
 * reached its limit. */
static void read_beside(struct reading *r)
{
	if (raw_syscall(SYS_close_range, 0, ~0u, 0, 0, 0, 0) != 0)
		raw_syscall(SYS_close, 0, 0, 0, 0, 0, 0);
	read_here(r);
}

/* -errno when such a thread cannot be made. */
static long read_apart(struct reading *r)
{
	static char stack[1 << 14] __attribute__((aligned(16)));
	const long flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	                   CLONE_VFORK;
	long result;
	register void (*work)(struct reading *) __asm__("r12") = read_beside;
	register struct reading *argument __asm__("r13") = r;
	register long none __asm__("r10") = 0;
	register long no_tls __asm__("r8") = 0;
	__asm__ volatile("syscall\n\t"
	                 "test %%rax, %%rax\n\t"
	                 "jnz 1f\n\t"
	                 "xor %%ebp, %%ebp\n\t"
	                 "mov %%r13, %%rdi\n\t"
	                 "call *%%r12\n\t"
	                 "xor %%edi, %%edi\n\t"
	                 "mov %[exit], %%eax\n\t"
	                 "syscall\n\t"
	                 "1:"
	                 : "=a"(result)
	                 : "a"((long)SYS_clone), "D"(flags), "S"(stack + sizeof(stack)),
	                   "d"(0l), "r"(none), "r"(no_tls), "r"(work),
	                   "r"(argument), [exit] "i"(SYS_exit)
	                 : "rcx", "r11", "memory");
	return result;
}

long sched_read_file(const char *path, char *text, size_t room)
{
	struct reading r = { path, text, room, 0 };
	const uint64_t all = ~0ull;
	uint64_t mask = 0;
	struct thread *t = me;
	raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof(mask), 0, 0);
	/* another thread may ask now which signals the program blocks here (held.c) */
	__atomic_store_n(&t->signals.own_mask, mask, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&t->signals.mask_changes, 1, __ATOMIC_SEQ_CST);
	raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, 0, sizeof(mask), 0, 0);
	if (read_apart(&r) < 0)
		read_here(&r);
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
	__atomic_add_fetch(&t->signals.mask_changes, 1, __ATOMIC_SEQ_CST);
	text[r.result > 0 ? r.result : 0] = 0;
	return r.result;
}

void sched_append_number(char *out, size_t room, uint64_t n, unsigned base)
{
	char digits[32];
	unsigned k = 0;
	do
		digits[k++] = "0123456789abcdef"[n % base];
	while ((n /= base) && k < sizeof(digits));
	size_t at = strlen(out);
	while (k && at + 1 < room)
		out[at++] = digits[--k];
	out[at] = 0;
}

void sched_append(char *out, size_t room, const char *text)
{
	size_t at = strlen(out);
	while (*text && at + 1 < room)
		out[at++] = *text++;
	out[at] = 0;
}
