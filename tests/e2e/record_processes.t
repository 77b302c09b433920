#!/bin/bash
# record: processes that the program makes, what is left in errno, and programs that cannot be
# recorded.  Time limits are guards alone.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
for p in process_table clone_child raw_fork atfork forks errno own_numbers child_slept_for shared_condition; do
	$HEDDLE cc -w -g -O1 "$programs/$p.c" -o $p -pthread
done

timeout 300 ./process_table >plain.out
timeout 300 ./errno >errno.plain
for how in "--seed 1" "--seed 2" "--seed 3" "--mode free"; do
	run timeout 300 $HEDDLE record $how -o p.hdl -- ./process_table
	is "$status $(diff plain.out .out)" "0 " "every way to make a process, $how"
	like "$err" "its children were not recorded" "and that children are not recorded is said, $how"
	run timeout 300 $HEDDLE record -q $how --max-size 100 -o p.hdl -- ./clone_child
	is "$status $out" "0 DONE" "a child by clone, $how"
	run timeout 300 $HEDDLE record -q $how --max-size 100 -o p.hdl -- ./raw_fork
	is "$status $out" "0 DONE" "children by the system call, $how"
	run timeout 300 $HEDDLE record -q $how --max-size 100 -o p.hdl -- ./forks 10 4
	is "$status $out" "0 DONE" "four threads that fork, $how"
	run timeout 300 $HEDDLE record -q $how --max-size 400 -o p.hdl -- ./errno
	is "$status $(diff errno.plain .out)" "0 " "each call leaves in errno what it leaves alone, $how"
	run timeout 300 $HEDDLE record -q $how --max-size 400 -o p.hdl -- ./shared_condition
	is "$status $out" "0 DONE" "a condition that threads and children wait for, $how"
done

for mode in free controlled; do
	run timeout 300 $HEDDLE record -q --mode $mode -o p.hdl -- ./child_slept_for
	is "$status $out" "0 " "sleeps that are for a child, and a child's handlers, $mode mode"
	run timeout 300 $HEDDLE record -q --mode $mode --max-size 40 -o p.hdl -- ./own_numbers
	is "$status $out" "0 0 wrong" "its descriptors have the numbers that they have alone, $mode mode"
done

run timeout 300 $HEDDLE record -q -o p.hdl -- ./atfork
is "$status $out" "0 DONE" "handlers of pthread_atfork"
run $HEDDLE races p.hdl --format json
is "$(json 'join " ", map { $_->{variable} } @{$d->{findings}}')" "glob" "are recorded in the parent"
run timeout 300 $HEDDLE record -q -o p.hdl -- ./process_table
$HEDDLE convert p.hdl text --to text >/dev/null
is "$(grep -c 'enter(child)' text)" 0 "nothing of a child is in the trace"

# a program that gives up all system calls: the recording ends, the program does not
cat >seccomp.c <<'C'
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static int shared;
static void *work(void *p) { shared++; return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) || write(1, "strict\n", 7) != 7)
		return 1;
	syscall(SYS_exit, 5);
}
C
$HEDDLE cc -g -O1 seccomp.c -o seccomp -pthread
if timeout 300 ./seccomp >/dev/null; [ $? = 5 ]; then
	run timeout 300 $HEDDLE record -o p.hdl -- ./seccomp
	is "$status $out" "5 strict" "strict seccomp: it ends as alone"
	like "$err" "gave up system calls .seccomp, strict mode.*the trace ends there" "and that is said"
	$HEDDLE convert p.hdl text --to text >/dev/null
	like "$(cat text)" 'T1\|w4\(shared\)=1\|' "the trace has what came before"
else
	ok 0 "no seccomp here # SKIP"
fi

# a child posts a semaphore, signals a condition and comes to a barrier, in memory that it shares: no deadlock
cat >shares.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static struct shared { sem_t s; pthread_mutex_t m; pthread_cond_t c; pthread_barrier_t b; int ready, done; } *p;
static void *work(void *u)
{
	sem_wait(&p->s);
	pthread_mutex_lock(&p->m);
	while (!p->ready)
		pthread_cond_wait(&p->c, &p->m);
	p->done++;
	pthread_cond_broadcast(&p->c);
	pthread_mutex_unlock(&p->m);
	return u;
}
static int child(void)
{
	usleep(10000);
	sem_post(&p->s);
	sem_post(&p->s);
	usleep(10000);
	pthread_mutex_lock(&p->m);
	p->ready = 1;
	pthread_cond_broadcast(&p->c);
	while (p->done < 2)
		pthread_cond_wait(&p->c, &p->m);
	pthread_mutex_unlock(&p->m);
	usleep(10000);
	pthread_barrier_wait(&p->b);
	return 0;
}
int main(void)
{
	p = mmap(0, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	pthread_barrierattr_t b;
	pthread_mutexattr_init(&m);
	pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
	pthread_barrierattr_init(&b);
	pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
	sem_init(&p->s, 1, 0);
	pthread_mutex_init(&p->m, &m);
	pthread_cond_init(&p->c, &c);
	pthread_barrier_init(&p->b, &b, 2);
	if (fork() == 0)
		_exit(child());
	pthread_t t[2];
	pthread_create(t, 0, work, 0);
	pthread_create(t + 1, 0, work, 0);
	pthread_barrier_wait(&p->b);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	printf("%d done\n", p->done);
	return wait(0) < 0;
}
C
$HEDDLE cc -g -O1 shares.c -o shares -pthread
for seed in 1 2 3; do
	run $HEDDLE record --seed $seed -o shares.hdl -- ./shares
	is "$status $out" "0 2 done" "seed $seed: waits that a child ends are no deadlock"
	unlike "$err" deadlock "seed $seed: and none is said"
done

# the owner of a robust mutex ends while another thread waits for it
cat >robust.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static pthread_mutex_t m;
static pthread_barrier_t b;
static void *leave(void *p)
{
	pthread_mutex_lock(&m);
	pthread_barrier_wait(&b);
	for (int i = 0; i < 20; i++)
		sched_yield(); /* the others come to the mutex */
	return p;
}
static void *work(void *p)
{
	int *status = p;
	*status = pthread_mutex_lock(&m);
	if (*status == 0 || *status == EOWNERDEAD)
		pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_mutexattr_t a;
	pthread_t t[3];
	int status[2];
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &a);
	pthread_barrier_init(&b, 0, 2);
	pthread_create(t, 0, leave, 0);
	pthread_barrier_wait(&b);
	pthread_create(t + 1, 0, work, status);
	pthread_create(t + 2, 0, work, status + 1);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	printf("%d\n", status[0] + status[1] == EOWNERDEAD + ENOTRECOVERABLE);
	return 0;
}
C
$HEDDLE cc -g -O1 robust.c -o robust -pthread
for seed in 1 2 3; do
	run $HEDDLE record -q --seed $seed -o robust.hdl -- ./robust
	is "$status $out" "0 1" "seed $seed: who waits for the mutex of a thread that ends is told"
done

# ThreadSanitizer's own runtime in the program
cat >own.c <<'C'
int main(void) { return 3; }
C
tried=0
if clang -fsanitize=thread own.c -o own 2>/dev/null; then
	tried=1
	run $HEDDLE record -o own.hdl -- ./own
	is "$status" 125 "clang's static runtime is refused"
	like "$err" "ThreadSanitizer's own runtime.*heddle cc" "with the way out"
	ok $([ ! -e own.hdl ]; echo $?) "and leaves no trace"
fi
if gcc -fsanitize=thread -static-libtsan own.c -o own 2>/dev/null; then
	tried=1
	run $HEDDLE record -o own.hdl -- ./own
	is "$status" 125 "gcc's, too"
fi
[ $tried = 1 ] || ok 0 "no static ThreadSanitizer runtime is installed # SKIP"
$HEDDLE cc own.c -o own
run $HEDDLE record -q -o own.hdl -- ./own
is "$status" 3 "what heddle cc builds is recorded"
done_testing
