#!/bin/bash
# What replay claims is what happened: another program or build is named, each way has the input from
# its start, surroundings that differ are said, and a use after free says who freed.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
export TMPDIR=$scratch
cd "$scratch" || exit 1
pair() {
	run $HEDDLE races "$1" --format json
	json 'join " ", map { "$_->{first} $_->{second}" } $d->{findings}[0] // ()'
}

for p in race ended numbers; do
	$HEDDLE cc -O1 "$programs/$p.c" -o $p -pthread
done
run $HEDDLE record -q -o race.hdl -- ./race
$HEDDLE witness race.hdl $(pair race.hdl) -o race.wit >/dev/null

# ---- a program that never comes to the pair ----

run $HEDDLE replay --witness race.wit -- /bin/true
is "$status" 125 "/bin/true is no replay"
like "$err" "the program ended before the pair" "since it ends before the pair"
like "$err" "/bin/true is another program, or another build, than was recorded" "and is another program"
unlike "$err" "no difference between the two ways" "so that nothing is said of two ways"
run $HEDDLE replay --witness race.wit -- ./ended
is "$status" 125 "nor is an instrumented program that does nothing"
like "$err" "the program ended before the pair" "which ends, too"
like "$err" "expected next: main create T1" "where main was to create a thread"
cat >crash.c <<'C'
int main(void) { volatile int *p = 0; return *p; }
C
$HEDDLE cc -O1 crash.c -o crash -pthread
run $HEDDLE replay --witness race.wit -- ./crash
is "$status" 125 "nor one that crashes on the way"

# ---- another build ----

sed 's/unlocked += amount/unlocked += amount + (amount == 77)/' "$programs/race.c" >other.c
grep -q 77 other.c || sed 's/unlocked++/unlocked += 2/' "$programs/race.c" >other.c
$HEDDLE cc -O2 other.c -o other -pthread
run $HEDDLE replay --witness race.wit -- ./other
is "$status" 125 "another build of it"
like "$err" "\./other is another program, or another build, than was recorded" "is named at the start"
like "$err" "left the witness: .*it is another program, or another build" "and where it leaves"
unlike "$err" "saw another value" "not called another value"
run $HEDDLE replay --witness race.wit -- ./race
unlike "$err" "another build" "the recorded one is not"
unlike "$err" "in the recording" "and nothing differs around it"

# ---- standard input from a file ----

seq 1 20 >numbers.in
$HEDDLE record -q -o numbers.hdl -- ./numbers <numbers.in >numbers.out
is "$(cat numbers.out)" 211 "numbers from a file"
$HEDDLE witness numbers.hdl $(pair numbers.hdl) -o numbers.wit >/dev/null
$HEDDLE replay --witness numbers.wit -- ./numbers <numbers.in >both.out 2>both.err
is $? 0 "both ways are followed"
unlike "$(cat both.err)" "left the witness" "to the end"
is "$(wc -l <both.out)" 2 "in two runs"
ok $(awk '$1 < 100 { bad = 1 } END { print bad + 0 }' both.out) "each of which reads all numbers"

# ---- surroundings ----

run env COLOUR_OF_TEST=blue $HEDDLE replay --witness race.wit -- ./race
like "$err" "environment: COLOUR_OF_TEST set, which the recording had not" "a variable more is named"
COLOUR_OF_TEST=red run $HEDDLE record -q -o red.hdl -- ./race
cp race.wit red.wit
run $HEDDLE info red.hdl --format json
unlike "$out" '[:=]red\b' "its value is not in the trace"
sed -i 's/^#! trace .*/#! trace red.hdl -/' red.wit
run env COLOUR_OF_TEST=green $HEDDLE replay --witness red.wit -- ./race
like "$err" "environment: another value of COLOUR_OF_TEST" "another value, too"
run $HEDDLE replay --witness red.wit -- ./race
like "$err" "environment: COLOUR_OF_TEST, which the recording had, not set" "and one less"
run sh -c "cd / && TMPDIR=$scratch $HEDDLE replay --witness $scratch/race.wit -- $scratch/race"
like "$err" "the working directory was $scratch in the recording" "another folder"
$HEDDLE replay --witness race.wit -- ./race </dev/null 2>pipe.err | cat >/dev/null
like "$(cat pipe.err)" "standard output is a pipe, in the recording a file" "another kind of standard output"

# Inherited descriptors are those of the recording, so that new ones get the same numbers.
cat >fd.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
static int x;
static void *add(void *p) { x++; return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, add, NULL);
	x++;
	pthread_join(t, NULL);
	printf("descriptor %d\n", open("/dev/null", O_RDONLY));
	return 0;
}
C
$HEDDLE cc -O1 fd.c -o fd -pthread
$HEDDLE record -q -o fd.hdl -- ./fd 7</dev/null 3</dev/null 4</dev/null 5<&- >fd.out
$HEDDLE witness fd.hdl $(pair fd.hdl) -o fd.wit >/dev/null
$HEDDLE replay --witness fd.wit -- ./fd 5</dev/null 3<&- 4<&- 6</dev/null 7<&- >fd2.out 2>/dev/null
is "$(sort -u fd2.out)" "$(cat fd.out)" "descriptors are given the numbers that they had"

# ---- a use after free ----

$HEDDLE cc -O1 "$root/samples/use-after-free/use_after_free.c" -o uaf -pthread
run $HEDDLE record -q -o uaf.hdl -- ./uaf
run $HEDDLE commute uaf.hdl --analysis cov --format json
read -r e f <<<"$(json 'join " ", map { "$_->{first} $_->{second}" } grep { $_->{kind} eq "use-after-free" } @{$d->{findings}}')"
$HEDDLE witness uaf.hdl $e $f -o uaf.wit >/dev/null
run $HEDDLE replay --witness uaf.wit -- ./uaf
like "$err" "that is a use after free: the block was freed before by" "replay says that the block was freed"
like "$err" "heddle:   (main|T[0-9]+) free .* at use_after_free.c:[0-9]+" "by whom and where"
like "$err" "it came to .*: (0x)?(a5|-?[0-9]+)" "with what is there now"
done_testing
