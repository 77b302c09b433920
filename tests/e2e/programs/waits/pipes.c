#include "waits.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGE = 4096 };
static int ends[2], count;
static char page[PAGE];

/* Waits for a byte with a lock that the other needs to write it. */
static void *reads_locked(void *arg)
{
	char x;
	BUG(LOCK(a);, )
	if (read(ends[0], &x, 1) != 1)
		return NULL;
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}
static void *writes_locked(void *arg)
{
	LOCK(a);
	if (write(ends[1], "x", 1) != 1)
		return NULL;
	UNLOCK(a);
	return arg;
}
static void empty(void)
{
	if (pipe(ends) == 0)
		run(reads_locked, writes_locked, NULL);
}

/* There is room for one page, and two are written with the lock held. */
static void *fills(void *arg)
{
	BUG(LOCK(a);, )
	for (int i = 0; i < 2; i++)
		if (write(ends[1], page, PAGE) != PAGE)
			return NULL;
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}
static void *drains(void *arg)
{
	char got[PAGE];
	LOCK(a);
	UNLOCK(a);
	for (int i = 0; i < 17; i++)
		if (read(ends[0], got, PAGE) != PAGE)
			return NULL;
	return arg;
}
static void full(void)
{
	if (pipe(ends) != 0)
		return;
	for (int i = 0; i < 15; i++)
		if (write(ends[1], page, PAGE) != PAGE)
			return;
	run(drains, fills, NULL);
}

/* One write of more than there is room for. */
static void *fills_at_once(void *arg)
{
	static char much[18 * PAGE];
	BUG(LOCK(a);, )
	if (write(ends[1], much, sizeof much) != sizeof much)
		return NULL;
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}
static void *drains_all(void *arg)
{
	char got[PAGE];
	LOCK(a);
	UNLOCK(a);
	for (size_t n = 0; n < 18 * PAGE;)
		n += (size_t)read(ends[0], got, PAGE);
	return arg;
}
static void at_once(void)
{
	if (pipe(ends) == 0)
		run(drains_all, fills_at_once, NULL);
}

/* The end of what is written does not come while the lock is held. */
static void *reads_end(void *arg)
{
	char x;
	BUG(LOCK(a);, )
	while (read(ends[0], &x, 1) == 1)
		;
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}
static void *closes_locked(void *arg)
{
	if (write(ends[1], "xy", 2) != 2)
		return NULL;
	LOCK(a);
	close(ends[1]);
	UNLOCK(a);
	return arg;
}
static void closed(void)
{
	if (pipe(ends) == 0)
		run(reads_end, closes_locked, NULL);
}

/* The answer to a request needs the lock that is held while it is waited for. */
static void *asks(void *arg)
{
	char x;
	BUG(LOCK(a);, )
	if (write(ends[0], "?", 1) != 1 || read(ends[0], &x, 1) != 1)
		return NULL;
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}
static void *answers(void *arg)
{
	char x;
	if (read(ends[1], &x, 1) != 1)
		return NULL;
	LOCK(a);
	if (write(ends[1], "!", 1) != 1)
		return NULL;
	UNLOCK(a);
	return arg;
}
static void pair(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
		run(asks, answers, NULL);
}

/* The same with an event counter. */
static void *waits_event(void *arg)
{
	uint64_t n;
	BUG(LOCK(b);, )
	if (read(ends[0], &n, sizeof n) != sizeof n)
		return NULL;
	BUG(, LOCK(b);)
	UNLOCK(b);
	return arg;
}
static void *sets_event(void *arg)
{
	uint64_t one = 1;
	LOCK(b);
	if (write(ends[0], &one, sizeof one) != sizeof one)
		return NULL;
	UNLOCK(b);
	return arg;
}
static void events(void)
{
	ends[0] = eventfd(0, 0);
	run(waits_event, sets_event, NULL);
}

/* A byte is written only by who comes first, and both read one. */
static void *one_of_two(void *arg)
{
	char x;
	LOCK(a);
	int first = count++ == 0;
	UNLOCK(a);
	if (first && write(ends[1], BUG("x", "xy"), BUG(1, 2)) < 1)
		return NULL;
	return read(ends[0], &x, 1) == 1 ? arg : NULL;
}
static void too_few(void)
{
	if (pipe(ends) == 0)
		run(one_of_two, one_of_two, NULL);
}

static const struct way ways[] = {
	{ "empty", { 0 }, empty },   { "full", { 0 }, full },     { "at_once", { 0 }, at_once },
	{ "closed", { 0 }, closed }, { "pair", { 0 }, pair },     { "event", { 0 }, events },
	{ "too_few", { 0 }, too_few }, { NULL },
};
