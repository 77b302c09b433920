#!/bin/bash
# From a pool that sometimes hangs at its end to the fix: the reports name the signal that another
# thread took, and with a broadcast in its place every schedule ends well.
. tests/e2e/lib.sh
cd "$scratch" || exit
program=$root/tests/e2e/programs/pool_stop.c
"$HEDDLE" cc -g -O1 "$program" -o pool -pthread
run "$HEDDLE" explore --until-error -o pool.tree -- ./pool
is "$status" 1 "a schedule hangs"
like "$out" 'T[12] waits for condition p->work .pool_stop.c:' "which thread waits, and where"
unlike "$out" '\(\)' "each step has a place, or none is said"
trace=$(grep -o 'pool.tree.run[0-9]*.hdl' <<<"$out" | tail -1)
line=$(grep -n 'the other one waits on' "$program" | cut -d: -f1)
run "$HEDDLE" deadlocks "$trace"
like "$out" "T[12] waits for condition p->work, whose last signal, by main at pool_stop.c:$line, (woke T[12]|came before that wait)" \
	"why it waits for ever"
printf '%s\n' wait 'save-screen first.txt' >first.script
COLUMNS=100 LINES=40 "$HEDDLE" open "$trace" --script first.script
like "$(tr -s '\n ' ' ' <first.txt)" "whose last signal, by main at pool_stop.c:$line" "so on the explorer's first screen"
"$HEDDLE" cc -g -O1 -DALL "$program" -o pool -pthread
run "$HEDDLE" explore -- ./pool
is "$status" 0 "the fix: no schedule hangs"
like "$out" '^./pool: 0 findings in [0-9]+ runs.*, complete for this input' "of all"

# the signal before the wait, none, and one that woke another thread
waits() { # EVENTS...: what is said of T1's wait
	printf '%s\n' '#! heddle 1' 'main|fork(T1)|a.c:1' 'main|fork(T2)|a.c:1' "$@" 'T1|want(c)|a.c:4' \
		'main|want(T1)|a.c:5' >events.txt
	run "$HEDDLE" deadlocks events.txt
	out=$(grep 'T1 waits for condition' <<<"$out" | sed 's/^ *//')
}
waits 'main|signal(c)|a.c:2' 'T1|acq(m)|a.c:3' 'T1|rel(m)|a.c:4' 'T1|wait(c)|a.c:4'
is "$out" "T1 waits for condition c, whose last signal, by main at a.c:2, came before that wait" "too early"
waits 'T1|acq(m)|a.c:3' 'T1|rel(m)|a.c:4' 'T1|wait(c)|a.c:4'
is "$out" "T1 waits for condition c, which no thread has signalled" "none"
both=('T1|acq(m)|a.c:3' 'T1|rel(m)|a.c:4' 'T1|wait(c)|a.c:4' 'T2|acq(m)|a.c:3' 'T2|rel(m)|a.c:4' 'T2|wait(c)|a.c:4')
waits "${both[@]}" 'main|signal(c)|a.c:2' 'T2|wake(c)|a.c:4' 'T2|acq(m)|a.c:4' 'T2|rel(m)|a.c:6'
is "$out" "T1 waits for condition c, whose last signal, by main at a.c:2, woke T2" "another thread's"
done_testing
