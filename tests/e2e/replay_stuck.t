#!/bin/bash
# Recording and replay come to an end where a thread spins in code that is not instrumented, or
# the program never ends, and say so.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
mailbox=$root/samples/mailbox
cd "$scratch" || exit 1
witness() { # TRACE WITNESS: of its first finding
	run $HEDDLE races "$1" --format json -q
	run $HEDDLE witness "$1" $(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"') -o "$2"
}

cp "$mailbox"/mailbox.[ch] "$mailbox/letter.c" .
sed 's/sched_yield()//' mailbox.c >spin.c
# the same with the reader created first: it spins while it is recorded
sed '/pthread_create/{s/writer/X/;s/reader/writer/;s/X/reader/}' letter.c >reversed.c
for f in mailbox spin; do
	${CC:-cc} -g -O1 -c $f.c
	$HEDDLE cc -g -O1 letter.c $f.o -o $f -pthread
done
$HEDDLE cc -g -O1 reversed.c spin.o -o reversed -pthread
for p in mailbox spin; do
	$HEDDLE record -q --strategy rr -o $p.hdl -- ./$p >/dev/null
	witness $p.hdl $p.wit
	is "$status" 1 "$p: a witness, right about what was recorded"
done
# both cost processor time: side by side
mkdir other
TMPDIR=$scratch/other timeout 300 $HEDDLE replay --witness spin.wit -- ./spin >spin.out 2>spin.err &
run timeout 300 $HEDDLE replay --witness mailbox.wit -- ./mailbox
is "$status" 125 "the program leaves it"
like "$err" "T2 goes on and on without an event.*not instrumented" "a reader that yields: says so"
like "$err" "expected next: T2 read letter" "and where"
unlike "$err" "stopped before the pair" "it never stood before the pair"
is "$out" "letter 42" "the program goes on to its end"
wait $!
is "$?" 125 "the same of a reader that does not even yield"
like "$(cat spin.err)" "T2 goes on and on" "says so"
is "$(cat spin.out)" "letter 42" "goes on to its end"

run timeout 300 $HEDDLE record --strategy rr -o reversed.hdl -- ./reversed
is "$status $out" "0 letter 42" "recording: who spins loses its turn"
like "$err" "spun in what is not modelled" "and the schedule may not come again"

# turns that are waited for in inline assembly: each would cost 2 s of the processor, as the first does
cat >turns.c <<'C'
#include <pthread.h>
static int turn, sum;
static void await(int mine)
{
	int now;
	do
		__asm__ volatile("movl %1, %0" : "=r"(now) : "m"(turn) : "memory");
	while (now != mine);
}
static void *run(void *p)
{
	for (int i = 0; i < 8; i++) {
		await(p != 0);
		sum++;
		__asm__ volatile("movl %1, %0" : "=m"(turn) : "r"(p == 0) : "memory");
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, &sum);
	run(0);
	pthread_join(t, 0);
	return sum != 16;
}
C
$HEDDLE cc -g -O1 turns.c -o turns -pthread
run bash -c 'timeout 300 '"$HEDDLE"' record -q -o turns.hdl -- ./turns; e=$?; times >turns.times; exit $e'
is "$status" 0 "turns by inline assembly come to their end"
used=$(sed -n '2s/^\([0-9]*\)m\([0-9]*\)\..*/\1 * 60 + \2/p' turns.times)
ok $([ -n "$used" ] && [ "$((used))" -ge 2 ] && [ "$((used))" -lt 10 ]; echo $?) "in some seconds of the processor: $used"

$HEDDLE cc -g -O1 "$programs/forever.c" -o forever -pthread
$HEDDLE record -q -o forever.hdl -- ./forever
witness forever.hdl forever.wit
run timeout 300 $HEDDLE replay --witness forever.wit --timeout 10 --first 1 -- ./forever on
is "$status" 137 "a program that does not end after the pair"
like "$err" "does not end: Heddle ended it after 10 s" "is ended, and it says so"
like "$err" "stopped before the pair" "after the pair was shown"
run timeout 300 $HEDDLE replay --witness forever.wit --timeout 1 -- ./forever on on
is "$status" 125 "one that never comes to the pair"
like "$err" "its end was not reached within 1 s" "is ended, too"


# a run that waits for ever, in which a thread's function ended last: its end is no step to stop at
cat >ends_last.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int x;
static void *ends(void *p)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, ends, NULL);
	pthread_cond_wait(&c, &m);
	return 0;
}
C
"$HEDDLE" cc -g -O0 ends_last.c -o ends_last -pthread && "$HEDDLE" record -q -o ends_last.hdl -- ./ends_last 2>/dev/null
"$HEDDLE" check --no-harm -o ends_last ends_last.hdl >/dev/null
like "$(grep -v '^#' ends_last.1.wit | tail -1)" "leave" "the witness ends with a function's end"
run timeout 300 "$HEDDLE" replay --witness ends_last.1.wit -- ./ends_last
unlike "$err" "left the witness" "it is followed"
like "$err" "it came to  T1 unlock m" "and stops at its last step"
like "$err" "main waits for condition c" "then comes the wait that never ends"
done_testing
