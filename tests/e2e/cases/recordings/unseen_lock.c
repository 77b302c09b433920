/* a spin lock of inline assembly, which is not seen: the race that it rules out is reported, but with the
 * reason to doubt it, and nothing is called complete */
#include <pthread.h>
#include <sched.h>
static int held, sum;
static void take(void)
{
	int old;
	do {
		old = 1;
		__asm__ volatile("xchgl %0, %1" : "+r"(old), "+m"(held) : : "memory");
		if (old)
			sched_yield();
	} while (old);
}
static void give(void)
{
	__asm__ volatile("movl $0, %0" : "=m"(held) : : "memory");
}
static void *run(void *p)
{
	take();
	sum++;
	give();
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	run(0);
	pthread_join(t, 0);
	return sum != 2;
}

//: record -o t.hdl --seed 1
//= exit 0
//: races t.hdl
//= complete no
//= racy unseen_lock.c:23+unseen_lock.c:23
//~ said the first at unseen_lock\.c:11 \(take\)
//: races t.hdl
//~ out \[atomic instructions are not in the trace, as at unseen_lock\.c:11 \(take\)\]
//~ out not complete: atomic instructions are not in the trace
//: deadlocks t.hdl
//= complete yes
