#!/bin/bash
# heddle explore: a run whose threads are contexts of one kernel thread, in a process whose memory is put back after it,
# is the same as one with kernel threads in a process of its own; and where it cannot be, it has them.
# HEDDLE_KERNEL_THREADS: 1: always; 0: a run that needs them is an error; else as usual.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

explored() { # THREADS PROGRAM: the report, what was printed, and the exit status
	rm -f one_thread.out
	HEDDLE_KERNEL_THREADS=$1 run timeout 300 "$HEDDLE" explore --budget 200 --runs 60 --format json -- "$2" </dev/null
	# where libraries lie that a run loads may differ
	printf '%s\n%s\n%s\n' "$status" "$err" "$out" | sed '/"class":/d; s/0x[0-9a-f]*/0x/g'
}
# those whose runs need kernel threads: by what they call; more threads than are kept; another stack; handlers; a wait for a
# file's lock
needs=" 9 10 14 18 20 22 23 26 27 28 32 "
cp "$programs/one_thread.c" .
for case in $(seq 0 29) 31 32; do
	"$HEDDLE" cc -g -O1 -DCASE="$case" "$programs/one_thread.c" -o "./p$case" -pthread 2>cc.err || cat cc.err
	is "$(explored 2 "./p$case")" "$(explored 1 "./p$case")" "case $case: as with kernel threads"
	explored 0 "./p$case" >report
	[[ $needs = *" $case "* ]] && needed=1 || needed=0
	is "$(grep -c 'ended before its run began' report)" "$needed" "case $case: needs kernel threads: $needed"
done

"$HEDDLE" cc -g -O1 -DCASE=30 "$programs/one_thread.c" -o ./p30 -pthread
explored 2 ./p30 >report
# six, and three with other contents of fresh memory: pthread_create writes to a variable on main's stack without a hook
is "$(wc -l <one_thread.out) $(sort -u one_thread.out | wc -l)" "9 1" "nine runs, one process"
explored 1 ./p30 >report
is "$(sort -u one_thread.out | wc -l)" 9 "with kernel threads each has its own"
done_testing
