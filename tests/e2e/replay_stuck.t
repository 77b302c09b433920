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
TMPDIR=$scratch/other timeout 60 $HEDDLE replay --witness spin.wit -- ./spin >spin.out 2>spin.err &
run timeout 60 $HEDDLE replay --witness mailbox.wit -- ./mailbox
is "$status" 125 "the program leaves it"
like "$err" "T2 goes on and on without an event.*not instrumented" "a reader that yields: says so"
like "$err" "expected next: T2 r4\(letter\)" "and where"
unlike "$err" "stopped before the pair" "it never stood before the pair"
is "$out" "letter 42" "the program goes on to its end"
wait $!
is "$?" 125 "the same of a reader that does not even yield"
like "$(cat spin.err)" "T2 goes on and on" "says so"
is "$(cat spin.out)" "letter 42" "goes on to its end"

run timeout 60 $HEDDLE record --strategy rr -o reversed.hdl -- ./reversed
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
run bash -c 'timeout 120 '"$HEDDLE"' record -q -o turns.hdl -- ./turns; e=$?; times >turns.times; exit $e'
is "$status" 0 "turns by inline assembly come to their end"
used=$(sed -n '2s/^\([0-9]*\)m\([0-9]*\)\..*/\1 * 60 + \2/p' turns.times)
ok $([ -n "$used" ] && [ "$((used))" -ge 2 ] && [ "$((used))" -lt 10 ]; echo $?) "in some seconds of the processor: $used"

$HEDDLE cc -g -O1 "$programs/forever.c" -o forever -pthread
$HEDDLE record -q -o forever.hdl -- ./forever
witness forever.hdl forever.wit
run timeout 60 $HEDDLE replay --witness forever.wit --timeout 1 --first 1 -- ./forever on
is "$status" 137 "a program that does not end after the pair"
like "$err" "does not end: Heddle ended it after 1 s" "is ended, and it says so"
like "$err" "stopped before the pair" "after the pair was shown"
run timeout 60 $HEDDLE replay --witness forever.wit --timeout 1 -- ./forever on on
is "$status" 125 "one that never comes to the pair"
like "$err" "its end was not reached within 1 s" "is ended, too"

done_testing
