#!/bin/bash
# A recorded order that is run again has the recording's messages: nothing parts there, and what is kept
# of the run (-o) has the races of the recording.
. tests/e2e/lib.sh
export TMPDIR=$scratch
cases=$root/tests/e2e/cases/recordings
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 "$cases/kernel_hands_over.c" -o kernel -pthread || exit 1
$HEDDLE cc -g -O1 "$cases/child_brings.c" -o child -pthread || exit 1
cat >pipe.c <<'C'
#include <pthread.h>
#include <unistd.h>
static int ends[2], x;
static void *takes(void *p)
{
	char byte;
	if (read(ends[0], &byte, 1) == 1)
		x++;
	return p;
}
int main(void)
{
	pthread_t t;
	if (pipe(ends) != 0)
		return 1;
	pthread_create(&t, NULL, takes, NULL);
	x = 5;
	if (write(ends[1], "ab", 2) != 2)
		return 1;
	pthread_join(t, NULL);
	return x - 6;
}
C
cat >input.c <<'C'
#include <pthread.h>
#include <unistd.h>
static int x;
static void *counts(void *p) /* its last call, the end of the input, makes no event */
{
	char byte;
	while (read(0, &byte, 1) == 1)
		x++;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, counts, NULL);
	pthread_join(t, NULL);
	return x - 3;
}
C
$HEDDLE cc -g -O1 pipe.c -o pipe -pthread && $HEDDLE cc -g -O1 input.c -o input -pthread || exit 1

# races_of TRACE: the pairs of lines
races_of() {
	run $HEDDLE races "$1" --format json
	json 'join " ", sort map { join "+", sort @{$_->{locations}} } @{$d->{findings}}'
}
# comes_again NAME PROGRAM...: recorded as t.hdl before
comes_again() {
	local name=$1 before
	shift
	run $HEDDLE replay -o again --trace t.hdl -- "$@" </dev/null
	is $status 0 "$name: the recorded order comes again"
	unlike "$err$out" "part" "$name: no event differs"
	before=$(races_of t.hdl)
	is "$(races_of again.run1.hdl)" "$before" "$name: the run that is kept has the recording's races"
}
run $HEDDLE record -q -o t.hdl -- ./pipe
comes_again "a pipe" ./pipe
for way in 0 1 2 3 4 5; do
	run $HEDDLE record -q -o t.hdl -- ./kernel $way
	comes_again "kernel_hands_over $way" ./kernel $way
done
for way in 0 1; do
	run $HEDDLE record -q -o t.hdl -- ./child $way
	comes_again "child_brings $way" ./child $way
done
printf 'abc' >three
cat three | $HEDDLE record -q -o t.hdl -- ./input
comes_again "the end of the input" ./input
done_testing
