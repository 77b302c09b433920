#!/bin/bash
# How a run ended: deadlocks and waits for ever that happened, crashes and failed checks are in the
# trace, in info and in deadlocks; tries are no requests; and a replay says whether its deadlock came.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs/stuck
cd "$scratch" || exit 1
for p in dead_now abba trylock ways; do
	"$HEDDLE" cc -g -O1 "$programs/$p.c" -o $p -pthread || exit 1
done
waits='join ", ", map { my $w = $_; join " ", map { $w->{$_} // "-" } qw(thread for object held-by) } @{$d->{findings}[0]{waits}}'

for bad in 'T1|want(a)|1 T1|r(x)|2' 'T1|fork(T2)|1 T2|want(a)|2 T1|join(T2)|3'; do
	tr ' ' '\n' <<<"$bad" >bad.txt
	run "$HEDDLE" info bad.txt
	is "$status" 2 "no event after a want"
	like "$err" "its last event" "and it says so"
done

# A successful trylock is no request that waits.
run timeout 300 "$HEDDLE" record -o try.hdl -- ./trylock
is "$status" 0 "two locks, one of them tried"
run "$HEDDLE" convert try.hdl try.txt --to text
like "$(cat try.txt)" '\|tryacq\(b\)\|' "the trace says that it was a try"
for t in try.hdl try.txt; do
	run "$HEDDLE" deadlocks $t --format json --verdicts all
	is "$status $(json 'scalar @{$d->{findings}}')" "0 0" "$t: no deadlock, not even a candidate"
done
run "$HEDDLE" info try.hdl --format json
is "$(json '$d->{operations}{tryacq}')" 1 "info counts it"
sed 's/tryacq/acq/' try.txt >locked.txt
run "$HEDDLE" deadlocks locked.txt
is "$status" 1 "with a lock in its place there is one"

# Recorded deadlocks.
run timeout 300 "$HEDDLE" record -o now.hdl -- ./dead_now
is "$status" 134 "the recording runs into the deadlock"
run "$HEDDLE" deadlocks now.hdl --format json
is "$status" 1 "it is in the trace"
is "$(json "$waits")" "main lock b T1, T1 lock a main" "main and T1"
is "$(json 'join ",", map { $_->[0] } @{$d->{findings}[0]{stacks}}')" "main dead_now.c:6,t dead_now.c:5" "in their functions"
is "$(json 'defined $d->{findings}[0]{witness} ? 1 : 0')" 1 "with a witness"
first=$(json '$d->{findings}[0]{first}') second=$(json '$d->{findings}[0]{second}')
run "$HEDDLE" convert now.hdl now.txt --to text
unlike "$(cat now.txt)" 'leave\((main|t)\)' "nobody leaves the functions that they are stuck in"
run "$HEDDLE" info now.txt
unlike "$out$err" "truncated" "which does not make the trace a truncated one"
run "$HEDDLE" info now.hdl
like "$out" "A deadlock happened" "info says it"
like "$out" "main waits for lock b, held by T1 \(dead_now.c:6\)" "with who waits for whom"
run "$HEDDLE" info now.hdl --format json
is "$(json '$d->{ended}{how}')" stuck "and how the run ended"
run "$HEDDLE" witness now.hdl "$first" "$second" -o now.wit
is "$status" 1 "a witness file of it"
run "$HEDDLE" verify now.hdl now.wit
is "$status" 0 "which is accepted"
run timeout 300 "$HEDDLE" replay --witness now.wit -- ./dead_now
is "$status" 134 "and replayed"
like "$err" "the deadlock of the witness happened" "it happens"
for seed in 1 2 3 4 5; do
	run timeout 300 "$HEDDLE" record --strategy noise --seed $seed -o ab.hdl -- ./abba
	[ "$status" = 134 ] || continue
	run "$HEDDLE" deadlocks ab.hdl
	is "$status" 1 "seed $seed: what happened is found"
	like "$out" "happened: deadlock" "as such"
done

# A witness whose deadlock does not come: the same program, but the second lock is a try.
sed 's/|tryacq(b)|/|acq(b)|/' try.txt >forged.txt
run "$HEDDLE" deadlocks forged.txt --format json
is "$(json '$d->{findings}[0]{verdict}')" race "a trace that claims a lock where there was a try"
sed -i 's/|tryacq(b)|/|acq(b)|/' forged.txt
e1=$(json '$d->{findings}[0]{requests}[0]') e2=$(json '$d->{findings}[0]{requests}[1]')
run "$HEDDLE" witness forged.txt "$e1" "$e2" -o forged.wit
sed -i '/^#! trace/d' forged.wit
run "$HEDDLE" verify try.hdl forged.wit
is "$status" 1 "the checker refuses it for the true trace"
like "$out$err" "a try, or limited in time" "since a try waits for nobody"
run timeout 300 "$HEDDLE" replay --trace try.hdl --witness forged.wit -- ./trylock
is "$status" 125 "a replay that does not come to its deadlock fails"
like "$err" "did not happen|left the witness" "and says so"

# Every way to wait.
expect() { # WAY STATUS KIND WAITS
	run timeout 300 "$HEDDLE" record -q -o w.hdl -- ./ways "$1"
	is "$status" "$2" "$1: how it ends"
	run "$HEDDLE" deadlocks w.hdl --format json
	is "$(json '$d->{findings}[0]{kind} . " " . $d->{findings}[0]{verdict}')" "$3 happened" "$1: found"
	is "$(json "$waits")" "$4" "$1: who waits for whom"
}
expect condition 134 stuck "main join T1 -, T1 condition c -"
expect semaphore 134 stuck "main join T1 -, T1 semaphore s -"
expect barrier 134 stuck "main join T1 -, T1 barrier b -"
expect join 134 deadlock "main join T1 -, T1 lock m main"
expect joins 134 stuck "main join T1 -, T1 join main -"
expect writer 134 deadlock "main join T1 -, T1 lock rw main"
expect orphan 134 stuck "main lock m T1"
expect self 134 deadlock "main lock m main"
run timeout 300 "$HEDDLE" record -q -o w.hdl -- ./ways timed
is "$status" 0 "a wait with a time limit ends"
run "$HEDDLE" deadlocks w.hdl --verdicts all
is "$status" 0 "and makes no deadlock"

# Who waits for a signal is not stuck.  It waits before the others below begin to, so that its
# quiet time is over when theirs is.
"$HEDDLE" record -q -o p.hdl -- ./ways pause 2>pause.err &
recorder=$!
started() { program=$(pgrep -P $recorder -x ways); }
await started
await grep -q '^State:.S' /proc/$program/status
# A handler is installed, and nothing that the program does ever ends the wait: a signal from
# another process could, so it takes a few seconds until it counts as one.
expect join-handler 134 deadlock "main join T1 -, T1 lock m main"
expect self-handler 134 deadlock "main lock m main"
kill -USR1 "$program"
wait $recorder
is "$?" 0 "a thread in pause is none"
unlike "$(cat pause.err)" deadlock "and nobody says so"

# Other ends.
ended() { # WAY HOW NUMBER
	run timeout 300 "$HEDDLE" record -q -o e.hdl -- ./ways "$1"
	run "$HEDDLE" info e.hdl --format json
	is "$(json '$d->{ended}{how} . " " . ($d->{ended}{status} // $d->{ended}{signal})')" "$2" "$1: in info"
	run "$HEDDLE" deadlocks e.hdl
	is "$status" 0 "$1: no deadlock"
}
ended status "exit 3"
ended abort "signal 6"
ended "" "exit 0"
done_testing
