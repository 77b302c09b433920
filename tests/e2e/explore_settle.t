#!/bin/bash
# heddle explore: runs are forked from the beginning of main where that makes no difference, and from the program as
# it was loaded where its constructors have left something that copies of the process would share.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >settle.c <<'C'
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile int *shared, own, seen;
static int file = -1;
static pthread_t early;
static void *one(void *p) { own = 1; return p; }
static void *two(void *p) { seen = own; return p; }
static void *nothing(void *p) { return p; }
__attribute__((constructor)) static void construct(void)
{
	(void)nothing;
#if defined FILE_OPEN
	file = open("settle.c", O_RDONLY);
#elif defined MAPPED
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#elif defined EVENT
	own = 0;
#elif defined THREAD
	pthread_create(&early, 0, nothing, 0);
#endif
}
int main(void)
{
	pthread_t t[2];
	char byte;
	if (getenv("LD_BIND_NOW"))
		return 9; /* nobody but the recorder has set it */
	pthread_create(&t[0], 0, one, 0);
	pthread_create(&t[1], 0, two, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	if (early)
		pthread_join(early, 0);
	if (file >= 0) /* one byte a run, always the first */
		assert(read(file, &byte, 1) == 1 && byte == '#');
	if (shared)
		assert(++*shared == 1);
	return 0;
}
C
for how in PLAIN FILE_OPEN MAPPED EVENT THREAD; do
	run "$HEDDLE" cc -g -O1 "-D$how" settle.c -o settle -pthread
	run "$HEDDLE" explore --format json -- ./settle
	is "$(json '"$d->{states} ".@{$d->{errors}}.($d->{complete} ? " complete" : " @{$d->{gaps}}")')" "2 0 complete" "$how: each run as by itself"
done

# A run that ends by a signal.
cat >abort.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static volatile int p;
static void *one(void *a) { p = 0; return a; }
static void *two(void *a) { p = 1; return a; }
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, one, 0);
	pthread_create(&t[1], 0, two, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	if (p)
		abort();
	return 0;
}
C
run "$HEDDLE" cc -g -O1 abort.c -o abort -pthread
run "$HEDDLE" explore -o abort.tree --format json -- ./abort
is "$(json 'join " ", map { "$_->{kind}" } @{$d->{errors}}')" signal "a run that aborts does not end the process that all are forked from"
run "$HEDDLE" convert -q "$(echo abort.tree.run*.hdl)" abort.txt
like "$(grep 'T1|enter(one)' abort.txt)" '\|libc\.so\.6\+0x' "a thread's function is called by the C library, as in a recording"
done_testing
