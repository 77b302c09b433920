/* Descriptors that go, limits, many threads, other rights: the program does as it does alone. */
#include "two_threads.h"
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static int after(void)
{
	two(20);
	say();
	return 0;
}
static int limit(int which, rlim_t most)
{
	struct rlimit r = { most, most };
	return setrlimit(which, &r);
}

static int close_all(void)
{
	two(20);
	for (int i = 3; i < 2000; i++)
		close(i);
	return after();
}
static int close_range_all(void)
{
	two(20);
	syscall(SYS_close_range, 3, ~0u, 0);
	return after();
}
static int close_standard(void)
{
	two(20);
	for (int i = 0; i < 3; i++)
		close(i);
	two(20);
	return 9;
}
static int moved(void)
{
	dup2(1, 100);
	close(1);
	two(20);
	dprintf(100, "x=%d\n", x);
	return 0;
}
static int few_files(void) { limit(RLIMIT_NOFILE, 8); return after(); }
static int small_files(void)
{
	limit(RLIMIT_FSIZE, 4096);
	two(50000);
	say();
	return 0;
}
static int small_space(void) { limit(RLIMIT_AS, 200 << 20); return after(); }
static int no_memory(void)
{
	long n = 0;
	two(20);
	limit(RLIMIT_AS, 300 << 20);
	while (malloc(1 << 20))
		n++;
	printf("null %d\n", n > 10);
	return 0;
}
static int threads_at_once(void)
{
	enum { MANY = 1000 };
	static pthread_t t[MANY];
	pthread_attr_t a;
	int n = 0;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	while (n < MANY && pthread_create(&t[n], &a, count, (void *)2) == 0)
		n++;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("n=%d x=%d\n", n, x);
	return 0;
}
static int threads_in_turn(void)
{
	for (int i = 0; i < 3000; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, count, (void *)1) != 0)
			return 95;
		pthread_join(t, NULL);
	}
	say();
	return 0;
}
static int huge_stack(void)
{
	pthread_attr_t a;
	pthread_t t;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 1ul << 30);
	if (pthread_create(&t, &a, count, (void *)20) == 0)
		pthread_join(t, NULL);
	say();
	return 0;
}
static int elsewhere(void) { return chdir("/") || after(); }
static int in_a_jail(void)
{
	if (geteuid() == 0 && (mkdtemp((char[]){ "jailXXXXXX" }) == NULL || chroot("/tmp") || chdir("/")))
		return 94;
	two(30000);
	say();
	return 0;
}
static int nobody(void)
{
	if (geteuid() == 0 && setuid(65534) != 0)
		return 93;
	two(30000);
	say();
	return 0;
}
static int unshared(void) { unshare(CLONE_FILES); return after(); }
static int protects(void)
{
	mprotect((void *)((unsigned long)&x & ~4095ul), 4096, PROT_READ | PROT_WRITE);
	return after();
}
static int keeps_errno(void)
{
	errno = 0;
	two(20);
	printf("errno %d\n", errno);
	return 0;
}

static const struct way ways[] = {
	{ "close-all", close_all }, { "close-range", close_range_all },
	{ "close-standard", close_standard }, { "moved", moved }, { "few-files", few_files },
	{ "small-files", small_files }, { "small-space", small_space }, { "no-memory", no_memory },
	{ "threads-at-once", threads_at_once }, { "threads-in-turn", threads_in_turn },
	{ "huge-stack", huge_stack }, { "elsewhere", elsewhere }, { "jail", in_a_jail },
	{ "nobody", nobody }, { "unshared", unshared }, { "protects", protects },
	{ "errno", keeps_errno }, { NULL, NULL },
};
int main(int argc, char **argv) { return run_way(ways, argv[1]); }

//: record -q --mode {controlled,free} -o t.hdl @ {close-all,close-range}
//= exit 0
//~ out ^x=80$
//: record -q --mode {controlled,free} -o t.hdl @ close-standard
//= exit 9
//: record -q --mode {controlled,free} -o t.hdl @ {moved,few-files,elsewhere,unshared,protects}
//= exit 0
//~ out ^x=40$
//: record -q --mode {controlled,free} -o t.hdl @ huge-stack
//= exit 0
//~ out ^x=20$
//: record -q --mode {controlled,free} -o t.hdl @ small-space
//= exit 0
//~ out ^x=40$
//: record -q --mode {controlled,free} -o t.hdl @ no-memory
//= exit 0
//~ out ^null 1$
//: record -q --mode {controlled,free} -o t.hdl @ threads-at-once
//= exit 0
//~ out ^n=1000 x=2000$
//: record -q --mode {controlled,free} -o t.hdl @ threads-in-turn
//= exit 0
//~ out ^x=3000$
//: record -q --mode {controlled,free} -o t.hdl @ {jail,nobody}
//= exit 0
//~ out ^x=60000$
//: record -q --mode {controlled,free} -o t.hdl @ errno
//= exit 0
//~ out ^errno 0$
//: record -q --mode {controlled,free} -o t.hdl @ small-files
//= exit 125
//~ out ^x=100000$
//~ err File too large
