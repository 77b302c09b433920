#!/bin/bash
# Threads that run code of the program and are not recorded, since no call of pthread_create starts them, or a child process
# creates them: every report says so. In each program such a thread and main increment x at any time, or two in the child.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
note='not recorded, though they ran code of the program: threads that neither pthread_create nor thrd_create started'

cat >unseen.c <<'C'
#define _GNU_SOURCE
#include <aio.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
static int x, done;
static char stack[1 << 16];
static void run(union sigval v)
{
	x++;
	__atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
}
static int clone_run(void *p)
{
	run((union sigval){ 0 });
	for (;;)
		pause();
}
int main(int n, char **words)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = run };
	struct mq_attr size = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	static char byte[4];
	struct aiocb b = { .aio_fildes = open("/dev/zero", O_RDONLY), .aio_buf = byte, .aio_nbytes = 4,
		           .aio_sigevent = e };
	char name[32];
	if (strcmp(words[1], "aio") == 0) {
		if (aio_read(&b) != 0)
			return 77;
	} else if (strcmp(words[1], "queue") == 0) {
		snprintf(name, sizeof name, "/unseen%d", (int)getpid());
		mqd_t q = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
		mq_unlink(name);
		if (q < 0 || mq_notify(q, &e) != 0 || mq_send(q, "a", 1, 0) != 0)
			return 77;
	} else if (strcmp(words[1], "clone") == 0) {
		clone(clone_run, stack + sizeof stack,
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, 0);
	} else {
		run((union sigval){ 0 });
	}
	x++;
	while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST))
		usleep(100);
	return 0;
}
C
$HEDDLE cc -w -g -O1 unseen.c -o unseen -pthread -lrt
for how in aio queue clone; do
	timeout 300 ./unseen $how
	if [ $? = 77 ]; then
		ok 0 "no such thread here: $how # SKIP"
		continue
	fi
	for mode in controlled free; do
		run timeout 300 $HEDDLE record --mode $mode -o t.hdl -- ./unseen $how
		is "$status" 0 "the program ends as alone: $how, $mode mode"
		like "$err" "$note" "the recording says it: $how, $mode mode"
		run $HEDDLE races t.hdl
		like "$out" "0 findings .*not complete: a part of the program was not recorded" "and the races' last line"
		like "$out" "^note: $note" "and a note"
	done
	run $HEDDLE deadlocks t.hdl
	like "$out" "not complete" "and the deadlocks'"
	run timeout 300 $HEDDLE explore -- ./unseen $how
	like "$status $out" "^3 .*not complete" "an exploration is not complete: $how"
	like "$out" "$note" "and says this reason"
done
run timeout 300 $HEDDLE check -- ./unseen queue
like "$out" "^    - what was not recorded, though it ran code of the program: threads that neither" "a check says it"
run timeout 300 $HEDDLE record -o t.hdl -- ./unseen none
unlike "$err" "not recorded" "without such a thread nothing is said"
run $HEDDLE races t.hdl
like "$out" "complete: in all" "and the races are complete"
run timeout 300 $HEDDLE explore -- ./unseen none
like "$status $out" "^0 .*complete for this input" "and the exploration"

cat >child.c <<'C'
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int x;
static void *run(void *p) { x++; return p; }
int main(int n, char **words)
{
	pthread_t t;
	if (fork() == 0) {
		if (strcmp(words[1], "threads") == 0 && pthread_create(&t, NULL, run, NULL) == 0)
			pthread_join(t, NULL);
		_exit(0);
	}
	x++;
	return wait(NULL) < 0;
}
C
"$HEDDLE" cc -g -O1 child.c -o child -pthread || exit 1
note='not recorded, though they ran code of the program: child processes that created threads of their own'
for mode in controlled free; do
	run timeout 300 "$HEDDLE" record --mode $mode -o t.hdl -- ./child threads
	is "$status" 0 "threads of a child process, $mode mode"
	like "$err" "$note" "the recording says it, $mode mode"
	for command in races deadlocks commute atomic; do
		run "$HEDDLE" $command t.hdl
		like "$out" "0 findings .*not complete" "the last line of $command says it"
	done
done
like "$out" "^note: $note" "and a note which ones"
run timeout 300 "$HEDDLE" explore -- ./child threads
like "$out" "^note: $note" "and an exploration"
run timeout 300 "$HEDDLE" record -o t.hdl -- ./child alone
unlike "$err" "code of the program" "a child process of one thread makes no race"
run "$HEDDLE" races t.hdl
like "$out" "complete: in all" "and the races of its parent are complete"

# A witness may want a timer's thread before the recorded place: the replay waits for it.
cat >tick.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static int ticks;
static void tick(union sigval v) { ticks++; }
int main(void)
{
	timer_t t;
	struct sigevent e = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick };
	struct itimerspec s = { { 0, 0 }, { 0, 50000000 } };
	timer_create(CLOCK_MONOTONIC, &e, &t);
	timer_settime(t, 0, &s, NULL);
	printf("%d\n", ticks);
	sleep(1);
	printf("%d\n", ticks);
	timer_delete(t);
	return 0;
}
C
"$HEDDLE" cc -g -O1 tick.c -o tick -pthread || exit 1
run "$HEDDLE" record -q --seed 1 -o tick.hdl -- ./tick
run "$HEDDLE" races tick.hdl --format json
read -r first second <<<"$(json 'join " ", map { ($_->{first}, $_->{second}) } @{$d->{findings}}[0]')"
run "$HEDDLE" witness tick.hdl "$first" "$second" -o tick.wit
run timeout 300 "$HEDDLE" replay --witness tick.wit -- ./tick
is "$status" 0 "a race with a timer's thread is replayed"
like "$err" "T1 first:" "both ways"
done_testing
