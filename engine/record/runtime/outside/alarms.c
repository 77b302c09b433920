/* alarms.c - timers whose end is a signal: it comes after they were set. */
#include <sys/time.h>
#include <unistd.h>

#include "engine/record/runtime/libc/ranges.h"

#include "handlers_private.h"

INTERPOSED(alarm, ualarm, setitimer);

void timer_signal(int number, bool armed, uintptr_t pc)
{
	struct thread *t = recording();
	rt.timers |= armed;
	if (armed)
		order_matters_later("a timer's signal");
	if (!t || !armed || number < 1 || number >= SIGNALS || !signal_has_handler(number))
		return;
	sched_point(t);
	signal_timer_message[number] = message_new(t);
	signal_log_message(t, LOG_SND, signals_are_held() ? LOG_HELD : 0,
	                   signal_timer_message[number], pc);
}

unsigned interposed_alarm(unsigned seconds)
{
	timer_signal(SIGALRM, seconds > 0, CALLER());
	return REAL(alarm)(seconds);
}
useconds_t interposed_ualarm(useconds_t first, useconds_t interval)
{
	timer_signal(SIGALRM, first > 0, CALLER());
	return REAL(ualarm)(first, interval);
}
int interposed_setitimer(__itimer_which_t which, const struct itimerval *restrict new,
                         struct itimerval *restrict old)
{
	timer_signal(which == ITIMER_REAL      ? SIGALRM
	             : which == ITIMER_VIRTUAL ? SIGVTALRM
	                                       : SIGPROF,
	             new && (new->it_value.tv_sec || new->it_value.tv_usec), CALLER());
	if (new)
		READS(new, sizeof(*new));
	int result = REAL(setitimer)(which, new, old);
	if (result == 0 && old)
		WRITES(old, sizeof(*old));
	return result;
}
