#!/bin/bash
# Locks, conditions, semaphores in a block are uses of it: after it was freed, and before it was
# allocated, they are wrong as an access is.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

# found PROGRAM FLAGS...: the events of the findings, one a line
found() {
	"$HEDDLE" cc -g -O1 "${@:2}" "$programs/$1.c" -o prog -pthread || return
	"$HEDDLE" record -o prog.hdl -- ./prog >record.out 2>&1
	run "$HEDDLE" commute --analysis cov prog.hdl --format json
	json 'join " ", $d->{complete} ? "complete" : "cut", map { $_->{kind} . " " . $_->{verdict} } @{$d->{findings}}'
}
one="complete use-after-free race"
is "$(found uaf_mutex -DK=1)" "$one" "a mutex in a block that is freed"
is "$(found uaf_mutex -DK=2)" "$one use-after-free race" "that is destroyed before, too"
is "$(found uaf_mutex -DK=3)" "$one" "an access"
printf '%s\n' wait "view findings" "save-screen f.txt" >f.script
run "$HEDDLE" open prog.hdl --script f.script
like "$(tr '\n' ' ' <f.txt)" '[a-zT0-9]+ frees [^ ]+ \([0-9]+\), and can do so before [a-zT0-9]+ (reads|writes) [^ ]+ \([0-9]+\)' "the explorer says what the two threads do"
is "$(found uaf_signal)" "$one" "a signal after the unlock"
for k in 1 2 3 4 5; do
	is "$(found uaf_sync -DK=$k)" "$one" "post, broadcast, read lock, spin lock, trywait: $k"
done
# a lock that is waited for when the run ends: no acquire, and yet a use of the block
is "$(found uaf_mutex -DK=4)" "complete use-after-free happened" "a lock in a freed block that is never taken"
run "$HEDDLE" commute --analysis cov prog.hdl
like "$out" "T1 +stands waiting for c->m +uaf_mutex.c:14" "the wait comes after the end"
run timeout 300 "$HEDDLE" explore --format json -- ./prog
is "$(json 'join " ", map { $_->{kind} } @{$d->{errors}}')" "use-after-free" "explore: the use, and what became of it"
is "$(json '$d->{complete} && $d->{executions} > 1')" 1 "the lock before the free is run, too"
like "$(json '$d->{errors}[0]{story}')" '^T1 waits for mutex' "a story of lines"
run timeout 300 "$HEDDLE" explore -o t.tree -- ./prog
printf '%s\n' wait "press X" "save-screen x.txt" >x.script
COLUMNS=100 LINES=30 "$HEDDLE" open t.tree.run0.hdl --script x.script
like "$(tr -s "\n " " " <x.txt)" "Every schedule of this input behaves as one of these runs, except for what its uses after free allow\." "the explorer promises no more"
like "$(cat x.txt)" "✗ +1 +use after free" "and shows the run"
unlike "$(cat x.txt)" 'x0A' "and its story"
cat >ended.txt <<'T'
#! heddle 1
T0|fork(T1)|1
T0|fork(T2)|2
T0|acq(k)|3
T0|destroy(m)|4
T0|want(T1)|5
T1|want(m)|6
T2|want(k)|7
T
run "$HEDDLE" commute --analysis cov ended.txt --format json
is "$(json 'join " ", map { "$_->{kind} $_->{first} $_->{second}" } @{$d->{findings}}')" "use-after-free 3 5" \
	"a wait for what was destroyed, and for nothing else"
# such a wait stands at the trace's end, wherever it is written
for end in "free(p)" "destroy(p.m)"; do
	printf '%s\n' '#! heddle 1' 'T0|alloc(p,40)|1' 'T0|fork(T1)|2' 'T0|acq(p.m)|3' 'T1|want(p.m)|4' \
		"T0|$end|5" 'T0|w(x)|6' >stands.txt
	run "$HEDDLE" commute --analysis cov stands.txt --format json
	is "$(json 'join " ", map { "$_->{kind} $_->{verdict} $_->{first} $_->{second}" } @{$d->{findings}}')" \
		"use-after-free happened 3 4" "a wait that never ended, written before $end"
	printf '%s\n' '#! heddle-witness 1' '#! kind cov' '#! pair 3 4' 0 1 2 4 3 >turned.wit
	run "$HEDDLE" verify stands.txt turned.wit
	is "$status" 1 "which no witness turns round, $end"
done
# check looks for it in a trace without a block, too
printf '%s\n' 'T0|fork(T1)|1' 'T0|acq(m)|2' 'T1|want(m)|3' 'T0|destroy(m)|4' >static.txt
run "$HEDDLE" check static.txt --format json
like "$(json 'join " ", map { "$_->{kind} $_->{verdict}" } @{$d->{findings}}')" "use-after-free happened" \
	"check: a wait for what was destroyed"
printf '%s\n' 'T0|fork(T1)|1' 'T1|acq(m)|2' 'T1|rel(m)|3' 'T0|destroy(m)|4' >static.txt
run "$HEDDLE" check static.txt --format json
like "$(json 'join " ", map { "$_->{kind} $_->{verdict}" } @{$d->{findings}}')" "use-after-free race" \
	"check: a lock that can come after its destruction"
printf '%s\n' 'T0|fork(T1)|1' 'T0|acq(m)|2' 'T0|wait(c)|3' 'T0|rel(m)|4' 'T1|signal(c)|5' 'T0|wake(c)|6' 'T0|acq(m)|7' >static.txt
run "$HEDDLE" check static.txt --format json
like "$(json 'join " ", map { "$_->{kind} $_->{verdict}" } @{$d->{findings}}')" "order-violation race" \
	"check: a signal that can come before the wait"

# the witness, and what the rules say of it
cat >locks.txt <<'T'
#! heddle 1
T0|alloc(p,40)|1
T0|fork(T1)|2
T1|acq(p.m)|3
T1|rel(p.m)|4
T0|free(p)|5
T
run "$HEDDLE" witness locks.txt 2 4 -o w.wit
is "$status" 1 "the lock after the free has a witness"
run "$HEDDLE" verify locks.txt w.wit
is "$status" 0 "which verify accepts"
# claim KIND PAIR EVENTS...
claim() {
	printf '%s\n' '#! heddle-witness 1' "#! kind $1" "#! pair $2" "${@:3}" >c.wit
	run "$HEDDLE" verify "${trace:-locks.txt}" c.wit
}
claim prefix "0 1" 0 1 4 2
like "$out" "rule 6 \(freed blocks\): event 2, .* comes after event 4" "no event but the pair's may"

# another life of the block is another lock
cat >lives.txt <<'T'
#! heddle 1
T0|alloc(p,40)|1
T0|acq(p.m)|2
T0|free(p)|3
T0|alloc(p,40)|4
T0|fork(T1)|5
T1|acq(p.m)|6
T1|w(x)|7
T1|rel(p.m)|8
T0|acq(p.m)|9
T0|rel(p.m)|10
T0|w(x)|11
T
run "$HEDDLE" races lives.txt --format json
is "$status" 1 "a lock that was never released ends with its block"
is "$(json '$d->{findings}[0]{verdict}')" race "the race beside the second one is found"
run "$HEDDLE" convert lives.txt lives.hdl
run "$HEDDLE" races lives.hdl --format json
is "$(json '$d->{findings}[0]{verdict}')" race "in the binary format, too"

# who is woken may come out after the end, and no access order is lost by it
cat >wake.txt <<'T'
#! heddle 1
T0|alloc(p,40)|1
T0|fork(T1)|2
T1|wait(p.c)|3
T0|signal(p.c)|4
T0|free(p)|5
T1|wake(p.c)|6
T
run "$HEDDLE" commute --analysis cov wake.txt --format json
unlike "$out" '"second": 5' "to be woken is no use"
trace=wake.txt claim prefix "0 1" 0 1 2 3 4 5
is "$status" 0 "nor by the checker's rules"
done_testing
