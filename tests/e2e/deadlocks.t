#!/bin/bash
# Predictable deadlocks: cycles of locks, what rules them out, and their verdicts.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Two locks in opposite order; the recording itself went well.
cat >opposite.txt <<'T'
main|fork(T1)|m.c:1
main|fork(T2)|m.c:2
T1|acq(a)|m.c:10
T1|acq(b)|m.c:11
T1|rel(b)|m.c:12
T1|rel(a)|m.c:13
T2|acq(b)|m.c:20
T2|acq(a)|m.c:21
T2|rel(a)|m.c:22
T2|rel(b)|m.c:23
T
run "$HEDDLE" deadlocks opposite.txt --format json
is "$status" 1 "opposite order: found"
is "$(json '$d->{findings}[0]{kind} . " " . $d->{findings}[0]{verdict}')" "deadlock race" "with the verdict of a race"
is "$(json 'join ",", @{$d->{findings}[0]{requests}}')" 3,7 "the requests are the inner acquires"
is "$(json '$d->{complete} ? 1 : 0')" 1 "nothing is unknown"
is "$(json 'join ",", sort { $a <=> $b } @{$d->{findings}[0]{witness}}')" 0,1,2,3,6,7 "the witness holds both outer acquires"
is "$(json 'join ",", sort @{$d->{findings}[0]{witness}}[-2, -1]')" 3,7 "and ends with the requests"
run "$HEDDLE" deadlocks opposite.txt
like "$out" "race: deadlock" "as text"
run "$HEDDLE" deadlocks opposite.txt --format sarif
like "$out" '"ruleId": "deadlock"' "as SARIF"

# A guard lock around both: no cycle at all.
{
	sed -n 1,2p opposite.txt
	echo 'T1|acq(g)|m.c:9'
	grep ^T1 opposite.txt
	echo 'T1|rel(g)|m.c:14'
	echo 'T2|acq(g)|m.c:19'
	grep ^T2 opposite.txt
	echo 'T2|rel(g)|m.c:24'
} >guard.txt
run "$HEDDLE" deadlocks guard.txt --verdicts all --format json
is "$status" 0 "a guard lock: nothing"
is "$(json 'scalar @{$d->{findings}}')" 0 "not even a candidate"

# The threads never run at once.
sed 's/^main|fork(T2).*//' opposite.txt | sed '/^T2|acq(b)/i main|join(T1)|m.c:3\nmain|fork(T2)|m.c:4' >joined.txt
run "$HEDDLE" deadlocks joined.txt --verdicts all --format json
is "$status" 0 "one after the other: nothing"

# A value passed on inside the sections orders them in every reordering.
cat >observed.txt <<'T'
T1|acq(a)|1
T1|acq(b)|2
T1|w(x)|3
T1|rel(b)|4
T1|rel(a)|5
T2|r(x)|6
T2|acq(b)|7
T2|acq(a)|8
T
run "$HEDDLE" deadlocks observed.txt
is "$status" 0 "ordered by an observation: nothing"


# Three threads in a ring; no two of them alone.
cat >ring.txt <<'T'
T1|acq(a)|1
T1|acq(b)|2
T1|rel(b)|3
T1|rel(a)|4
T2|acq(b)|5
T2|acq(c)|6
T2|rel(c)|7
T2|rel(b)|8
T3|acq(c)|9
T3|acq(a)|10
T3|rel(a)|11
T3|rel(c)|12
T
run "$HEDDLE" deadlocks ring.txt --format json
is "$(json 'join ",", @{$d->{findings}[0]{requests}}')" 1,5,9 "three philosophers"

# Readers do not keep readers out.
sed 's/acq(\([ab]\))/racq(\1)/; s/rel(\([ab]\))/rrel(\1)/' opposite.txt >readers.txt
run "$HEDDLE" deadlocks readers.txt
is "$status" 0 "readers only: nothing"
sed 's/^T1|racq(b)/T1|acq(b)/; s/^T1|rrel(b)/T1|rel(b)/; s/^T2|racq(a)/T2|acq(a)/; s/^T2|rrel(a)/T2|rel(a)/' readers.txt >writers.txt
run "$HEDDLE" deadlocks writers.txt
is "$status" 1 "each writes what the other reads: found"

# One finding for a pair of source lines, one for each pair of requests when asked.
{ cat opposite.txt; sed -n '3,$p' opposite.txt; } >twice.txt
run "$HEDDLE" deadlocks twice.txt --format json
is "$(json 'scalar @{$d->{findings}}')" 1 "by lines: one"
run "$HEDDLE" deadlocks twice.txt --pairs events --format json
is "$(json 'scalar @{$d->{findings}}')" 4 "by events: four"

run "$HEDDLE" deadlocks opposite.txt --budget many
is "$status" 2 "a budget that is none"
like "$err" "--budget" "is named"
run "$HEDDLE" deadlocks nowhere.txt
is "$status" 2 "no such file"
like "$err" "nowhere.txt" "is named"
done_testing
