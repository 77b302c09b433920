#!/bin/bash
# heddle check where an exploration cannot order all operations: hundreds of schedules by chance find what a few recordings
# do not, and the run that fails is recorded and analysed like any other.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
# The handler takes the lock that the code has which it interrupts, if the signal comes in these few steps.
cat >handler.c <<'C'
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void add(void)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
}
static void handler(int number) { add(); }
static void *work(void *unused)
{
	for (volatile int i = 0; i < 200; i++)
		;
	add();
	return unused;
}
int main(void)
{
	pthread_t thread;
	signal(SIGUSR1, handler);
	pthread_create(&thread, 0, work, 0);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 handler.c -o handler -pthread
run "$HEDDLE" check --budget 600 --format json -- ./handler
is "$(json 'join " ", map { $_->{kind} } grep { $_->{happened} } @{$d->{findings}}')" "deadlock lock-misuse" \
	"a handler locks what the interrupted code has locked"
like "$(json 'join " ", @{$d->{coverage}}')" "schedules? w(as|ere) run by chance" "and the report says that it came by chance"
again=$(json '(grep { $_->{kind} eq "deadlock" } @{$d->{findings}})[0]->{again}')
like "$again" "^heddle record --strategy .* -- ./handler$" "with the command that records it again"
again="$HEDDLE ${again#heddle } "
run ${again/record/record -q -o again.hdl}
run "$HEDDLE" deadlocks again.hdl
like "$out" "held by T1" "which records the deadlock"

# Nothing of that where every schedule is explored.
cat >fine.c <<'C'
#include <pthread.h>
static void *nothing(void *unused) { return unused; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, nothing, 0);
	pthread_join(thread, 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 fine.c -o fine -pthread
run "$HEDDLE" check -- ./fine
unlike "$out" "by chance" "a program that is explored needs no chance"
done_testing
