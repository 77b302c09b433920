#!/bin/bash
# heddle check where a program waits for a futex by system calls of its own: such a wait that never ended is a finding with
# its place; others are not predicted, and that is said where not every schedule was run.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >lost.c <<'C'
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
/* a lock of the program's own, whose holder may forget to wake: 0 free, 1 held, 2 held and waited for */
static atomic_int word;
static int shared;
static void take(void)
{
	int seen = 0;
	if (atomic_compare_exchange_strong(&word, &seen, 1))
		return;
	while (atomic_exchange(&word, 2) != 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}
static void give(void)
{
#ifdef FIXED
	if (atomic_exchange(&word, 0) == 2)
#else
	int held = atomic_load(&word); /* the wait may begin here */
	atomic_store(&word, 0);
	if (held == 2)
#endif
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static void *work(void *p)
{
	take();
	shared++;
	give();
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return shared - 2;
}
C
"$HEDDLE" cc -g -O1 lost.c -o lost -pthread && "$HEDDLE" cc -DFIXED -g -O1 lost.c -o fixed -pthread || exit 1
run "$HEDDLE" check --budget 600 --no-harm -o l --format json -- ./lost
is "$status" 1 "a wake-up that is lost"
stuck='(grep { $_->{kind} eq "stuck" } @{$d->{findings}})[0]'
is "$(json "$stuck"'->{happened} ? "happened" : "can"')" happened "it happened in a run"
is "$(json 'join " ", map { "$_->{for} $_->{location}" } grep { $_->{for} ne "join" } @{'"$stuck"'->{waits}}')" \
	"futex lost.c:16" "what the thread waits for, and where"
like "$(json "$stuck"'->{text}')" "waits for futex word, written last by T[12] at lost.c:2[47]" "and who wrote the word last"
is "$(json '($d->{complete}{stuck} ? 1 : 0) . join " ", grep { /futex/ } @{$d->{coverage}}')" 1 "every schedule was run"
run "$HEDDLE" deadlocks "$(json "$stuck"'->{trace}')"
like "$out" "waits for futex word, written last by" "the same of its trace alone"
# a recording, in which such waits are no steps
for ((seed = 1; seed < 60; seed++)); do
	"$HEDDLE" record -q --seed $seed -o e.hdl -- ./lost >/dev/null 2>&1
	run "$HEDDLE" deadlocks e.hdl
	[[ $out == *"waits for futex word, written last by"* ]] && break
done
like "$out" "waits for futex word, written last by" "and of a recording"
run "$HEDDLE" check --budget 600 --no-harm -o e --format json e.hdl
ok "$(json '$d->{complete}{stuck} ? 1 : 0')" "of a trace alone others may be missing"
like "$(json 'join " ", @{$d->{coverage}}')" "Not covered: waits for a futex, by system calls" "which is said"
run "$HEDDLE" check --budget 600 --no-harm -o f --format json -- ./fixed
is "$status $(json 'join " ", map { $_->{kind} } @{$d->{findings}}')" "0 " "nothing in its fix"
ok "$(json '$d->{complete}{stuck} ? 0 : 1')" "of which every schedule was run"

# An unlock of freed memory has no effect in the trace: no wait for ever is predicted of that.
cat >freed.c <<'C'
// control: the same with a lock
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct ctx { pthread_mutex_t m; pthread_cond_t c; int done; };
static void *t1(void *p) { struct ctx *c = p; pthread_mutex_lock(&c->m); c->done = 1; pthread_mutex_unlock(&c->m); pthread_mutex_lock(&c->m);pthread_mutex_unlock(&c->m); return 0; }
int main() { struct ctx *c = malloc(sizeof *c); pthread_mutex_init(&c->m, 0); pthread_cond_init(&c->c, 0); c->done = 0;
  pthread_t t; pthread_create(&t, 0, t1, c); for (;;) { pthread_mutex_lock(&c->m); if (c->done) break; pthread_mutex_unlock(&c->m); usleep(100); } pthread_mutex_unlock(&c->m);
  usleep(1000); free(c); pthread_join(t, 0); return 0; }
C
"$HEDDLE" cc -g -O1 freed.c -o freed -pthread || exit 1
run "$HEDDLE" check --budget 600 -o u --format json -- ./freed
is "$(json 'join " ", sort { $a cmp $b } map { $_->{kind} } @{$d->{findings}}')" "use-after-free" "a lock in freed memory is used: one finding, and no thread is stuck"

# The same by hand: T1 ends while it holds the lock; after a misuse nobody knows who holds it.
cat >held.txt <<'T'
#! heddle 1
main|fork(T1)|1
main|acq(m)|5
main|rel(m)|6
T1|acq(m)|2
T1|end()|4
T
sed 's/^T1|end/T1|misuse(m,unlock-by-other)|3\n&/' held.txt >misused.txt
for name in held misused; do
	run "$HEDDLE" deadlocks --format json $name.txt
	is "$(json 'join " ", map { "$_->{kind}:$_->{verdict}" } @{$d->{findings}}')" \
		"$([ $name = held ] && echo stuck:race)" "$name: what is predicted"
done
done_testing
