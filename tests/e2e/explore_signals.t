#!/bin/bash
# heddle explore: signals that a thread of the program sends to another: their handlers may run at any event of their
# thread. (Random programs: explore_random.t.)
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# compiled NAME: from standard input
compiled() {
	cat - >"$1.c"
	$HEDDLE cc -g -O1 "$1.c" -o "$1" -pthread
}

compiled locks <<'C'
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void add(void)
{
	pthread_mutex_lock(&m); /* here */
	n++;
	pthread_mutex_unlock(&m);
}
static void handle(int number) { add(); }
static void *work(void *argument)
{
	add();
	return 0;
}
int main(void)
{
	pthread_t t;
	signal(SIGUSR1, handle);
	pthread_create(&t, 0, work, 0);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, 0);
	return n < 1;
}
C
line=$(grep -n 'here' locks.c | cut -d: -f1)
run timeout 120 "$HEDDLE" explore -o kept --format json -- ./locks
is "$(json 'join ",", $d->{complete} ? 1 : 0, sort map { $_->{kind} . "@" . $_->{locations}[-1] } @{$d->{errors}}')" \
	"1,deadlock@locks.c:$line,lock-misuse@locks.c:$line" "a handler waits for a lock that its own thread holds"
run timeout 60 "$HEDDLE" explore --until-error -- ./locks
like "$out" "happened: " "also when one error is wanted"
run timeout 60 "$HEDDLE" explore --symmetry -- ./locks
like "$out" "not complete" "with --symmetry the places of handlers are not explored"
like "$out" "a signal's handler: what comes of it may depend on the order" "which is said"

compiled between <<'C'
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
static atomic_int n;
static void handle(int number) { n = 1; }
static void *work(void *argument)
{
	int first = n, second = n;
	assert(first == second);
	return 0;
}
int main(void)
{
	pthread_t t;
	signal(SIGUSR1, handle);
	pthread_create(&t, 0, work, 0);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, 0);
	return 0;
}
C
run timeout 120 "$HEDDLE" explore -o between.x -- ./between
like "$out" "happened: assertion" "a handler runs between two reads"
like "$out" "T1 runs a signal's handler now" "and the report says so"
like "$out" "complete for this input" "nothing is left open"
trace=$(grep -o 'between.x.run[0-9]*.hdl' <<<"$out" | head -1)
run timeout 60 "$HEDDLE" replay --trace "$trace" -- ./between
like "$out$err" "first == second" "the run is replayed"
like "$out$err" "each thread does and sees what it did in the recording" "as it was"

compiled stops <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
static atomic_int stop;
static void handle(int number) { stop = 1; }
static void *work(void *argument)
{
	while (!stop)
		;
	return 0;
}
int main(void)
{
	pthread_t t;
	signal(SIGUSR1, handle);
	pthread_create(&t, 0, work, 0);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, 0);
	return 0;
}
C
run timeout 120 "$HEDDLE" explore --format json -- ./stops
is "$(json 'join ",", $d->{complete} ? 1 : 0, scalar @{$d->{errors}}')" "1,0" "a loop that its thread's own handler ends"

# What is not explored is named.
compiled alarms <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void handle(int number) { }
static void *work(void *argument) { return 0; }
int main(void)
{
	pthread_t t;
	signal(SIGALRM, handle);
	alarm(1);
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	return 0;
}
C
run timeout 120 "$HEDDLE" explore -- ./alarms
like "$out" "not complete" "when a timer's signal comes is not explored"
like "$out" "a timer's signal: what comes of it may depend on the order" "which is said"

compiled twice <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
static atomic_int n;
static void handle(int number) { n++; }
static void *work(void *argument) { return 0; }
int main(void)
{
	pthread_t t;
	signal(SIGUSR1, handle);
	pthread_create(&t, 0, work, 0);
	pthread_kill(t, SIGUSR1);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, 0);
	return 0;
}
C
run timeout 120 "$HEDDLE" explore -- ./twice
like "$out" "a signal that is sent again before its handler runs: what comes of it may depend on the order" "two that may be one"
done_testing
