/* handlers_install.c - all calls that install a handler: the kernel gets ours in its place. */
#include <sys/syscall.h>

#include "engine/record/runtime/libc/ranges.h"

#include "handlers_private.h"

INTERPOSED(sigaction);
INTERPOSED_AS(int, siginterrupt, (int number, int flag));
INTERPOSED_AS(int, sigignore, (int number));
INTERPOSED_AS(sighandler_t, sigset, (int number, sighandler_t handler));

/* Blocks all signals but the C library's own, which must come at any time. */
static void block_all(sigset_t *set)
{
	uint64_t mask = ~(3ull << 31);
	sigemptyset(set);
	memcpy(set, &mask, sizeof(mask));
}

/* What the program is told of an action that the kernel has: of its own handler, or the default
 * where the runtime's stands for that. */
static struct sigaction told(const struct sigaction *was, const struct sigaction *own)
{
	bool informed = was->sa_flags & SA_SIGINFO;
	if (informed && was->sa_sigaction == signal_comes)
		return *own;
	if (fault_is_ours(was) || endless_is_ours(was) ||
	    (informed && was->sa_sigaction == signal_reminder))
		return (struct sigaction){ .sa_handler = SIG_DFL };
	return *was;
}

static int install(int number, const struct sigaction *action, struct sigaction *old)
{
	if (number < 1 || number >= SIGNALS)
		return REAL(sigaction)(number, action, old);
	struct sigaction before = signal_handlers[number], wrapped, was;
	if (action) {
		wrapped = *action;
		if (!rt.on) {
			/* as it is: a child process, or the recording has ended */
		} else if (signal_is_handler(action)) {
			wrapped.sa_sigaction = signal_comes;
			wrapped.sa_flags |= SA_SIGINFO;
			if (signal_asynchronous(number))
				block_all(&wrapped.sa_mask);
		} else if (action->sa_handler == SIG_DFL && fault_is(number)) {
			fault_action(&wrapped);
		}
		signal_handlers[number] = *action;
		if (rt.on && signal_is_handler(action) && signal_asynchronous(number) &&
		    rt.controlled && !rt.async_handlers) {
			struct sigaction reminder = { .sa_sigaction = signal_reminder,
				                      .sa_flags = SA_SIGINFO | SA_RESTART };
			block_all(&reminder.sa_mask);
			if (number != REMINDER)
				REAL(sigaction)(REMINDER, &reminder, NULL);
			rt.async_handlers = true;
		}
	}
	int status = REAL(sigaction)(number, action ? &wrapped : NULL, &was);
	if (status)
		signal_handlers[number] = before;
	else if (old)
		*old = told(&was, &before);
	return status;
}

static int install_touching(int number, const struct sigaction *action, struct sigaction *old,
                            uintptr_t pc)
{
	if (action)
		READS_AT(action, sizeof(*action), pc);
	int status = install(number, action, old);
	if (status == 0 && old)
		WRITES_AT(old, sizeof(*old), pc);
	return status;
}

int interposed_sigaction(int number, const struct sigaction *restrict action,
                         struct sigaction *restrict old)
{
	return install_touching(number, action, old, CALLER());
}
EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return install_touching(number, action, old, CALLER());
}

/* Installs a handler with these flags, like signal(). */
static sighandler_t install_simple(int number, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	return install(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static uint64_t interrupting; /* siginterrupt(number, 1) was called */

static int restarts(int number)
{
	return number > 0 && number < SIGNALS && interrupting >> number & 1 ? 0 : SA_RESTART;
}

/* Names for signal() in various systems and standards. */
#define LIKE_SIGNAL(name, flags) \
	INTERPOSED_AS(sighandler_t, name, (int number, sighandler_t handler)); \
	sighandler_t interposed_##name(int number, sighandler_t handler) \
	{ \
		return install_simple(number, handler, flags); \
	}
LIKE_SIGNAL(signal, restarts(number))
LIKE_SIGNAL(bsd_signal, restarts(number))
LIKE_SIGNAL(ssignal, restarts(number))
LIKE_SIGNAL(sysv_signal, SA_RESETHAND | SA_NODEFER)
LIKE_SIGNAL(__sysv_signal, SA_RESETHAND | SA_NODEFER)

int interposed_siginterrupt(int number, int flag)
{
	struct sigaction action;
	if (install(number, NULL, &action) < 0)
		return -1;
	if (flag) {
		interrupting |= 1ull << number;
		action.sa_flags &= ~SA_RESTART;
	} else {
		interrupting &= ~(1ull << number);
		action.sa_flags |= SA_RESTART;
	}
	return install(number, &action, NULL);
}

/* System V's: returns the old disposition, or SIG_HOLD if the signal was blocked. */
sighandler_t interposed_sigset(int number, sighandler_t handler)
{
	sigset_t set, old;
	struct sigaction was;
	sigemptyset(&set);
	if (handler == SIG_ERR || sigaddset(&set, number) < 0) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (handler == SIG_HOLD) {
		if (pthread_sigmask(SIG_BLOCK, &set, &old) != 0 ||
		    install(number, NULL, &was) < 0)
			return SIG_ERR;
	} else {
		struct sigaction action = { .sa_handler = handler };
		if (install(number, &action, &was) < 0 ||
		    pthread_sigmask(SIG_UNBLOCK, &set, &old) != 0)
			return SIG_ERR;
	}
	return sigismember(&old, number) ? SIG_HOLD : was.sa_handler;
}
int interposed_sigignore(int number)
{
	return install_simple(number, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

/* The system call's own structure, with a return function of the caller's. */
struct kernel_action {
	sighandler_t handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};
bool handler_syscall(struct thread *t, long number, const long a[6], long *result)
{
	const struct kernel_action *new = (const void *)a[1];
	struct kernel_action *old = (void *)a[2];
	struct sigaction action = { .sa_handler = SIG_DFL }, was;
	if (number != SYS_rt_sigaction || a[3] != sizeof(uint64_t))
		return false;
	if (new) {
		action.sa_handler = new->handler;
		action.sa_flags = (int)new->flags & ~0x04000000; /* SA_RESTORER */
		memcpy(&action.sa_mask, &new->mask, sizeof(new->mask));
	}
	int error = errno;
	*result = install((int)a[0], new ? &action : NULL, &was) == 0 ? 0 : -errno;
	errno = error;
	if (*result == 0 && old)
		*old = (struct kernel_action){ was.sa_handler, (unsigned long)was.sa_flags,
			                       NULL, signal_kernel_mask(&was.sa_mask) };
	return true;
}
