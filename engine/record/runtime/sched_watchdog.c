/*
 * sched_watchdog.c - controlled mode: who has the token and does not come back.  It blocks in
 * something that is not modelled, spins in code that is not instrumented, or is gone by the
 * system call alone.  The threads that wait for the token look after it.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "sched_private.h"

/* What the kernel says of a thread: its state, and the ticks of processor time it has used. */
static char kernel_state(pid_t tid, uint64_t *ticks)
{
	enum { STATE = 3, USER = 14, SYSTEM = 15 }; /* fields, proc(5) */
	char path[64] = "/proc/self/task/", text[256];
	sched_append_number(path, sizeof(path), tid, 10);
	sched_append(path, sizeof(path), "/stat");
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	long n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	if (n <= 0)
		return '?';
	text[n] = 0;
	char *p = strrchr(text, ')');
	if (!p || p[1] != ' ')
		return '?';
	char state = p[2];
	*ticks = 0;
	unsigned field = STATE;
	for (p += 2; *p && field <= SYSTEM; p++) {
		if (*p == ' ')
			field++;
		else if (field == USER || field == SYSTEM) {
			uint64_t number = 0;
			for (; *p >= '0' && *p <= '9'; p++)
				number = number * 10 + (uint64_t)(*p - '0');
			*ticks += number;
			p--;
		}
	}
	return state;
}

/* The holder has long computed without a single event, where others could run: it spins in
 * code that is not instrumented, perhaps for what they would do. */
static bool spins_unseen(const struct thread *h, struct look *seen, char state, uint64_t ticks)
{
	enum { LONG = 200 }; /* ticks of 10 ms */
	if (!seen->timed) {
		seen->timed = true;
		seen->ticks = ticks;
	}
	return state == 'R' && h->gate == 0 && ticks - seen->ticks >= LONG;
}

void sched_watchdog(struct look *seen)
{
	sched_lock();
	struct thread *h = sched.holder;
	uint64_t events = h ? h->ordinal + h->counted : 0;
	if (h && h->state == STATE_RUNNING && sched.turns == seen->turns &&
	    events == seen->events && !h->go) {
		uint64_t ticks = 0;
		char state = kernel_state(h->tid, &ticks);
		if (state == '?' && h->tid > 0 &&
		    syscall(SYS_tgkill, rt.header->pid, h->tid, 0) != 0 && errno == ESRCH) {
			sched_bury(h);
			rt.header->stolen++;
			sched_hand_over(sched_choose(h, false));
			return;
		}
		bool spins = spins_unseen(h, seen, state, ticks);
		bool sleeps = state == 'S' || state == 'D';
		if (sched.ready ? sleeps || spins : sleeps && (sched.timed || sched.files)) {
			h->spins = spins;
			h->gate |= GATE_STOLEN;
			h->state = STATE_OUTSIDE;
			sched.outside++;
			rt.header->stolen++;
			sched_hand_over(sched_choose(h, false)); /* who waits for a time idles */
			return;
		}
	} else {
		*seen = (struct look){ .turns = sched.turns, .events = events };
	}
	sched_unlock();
}
