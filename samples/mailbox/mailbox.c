/* mailbox: the flag that hands the letter over; think of it as a library. */
#include <sched.h>
#include <stdatomic.h>

#include "mailbox.h"

static atomic_int full;

void mailbox_announce(void)
{
	atomic_store(&full, 1);
}

void mailbox_await(void)
{
	while (!atomic_load(&full))
		sched_yield();
}
