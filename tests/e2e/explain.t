#!/bin/bash
# `heddle explain`: the chain that orders two events, in the user's names, or how far each
# order reaches.
. tests/e2e/lib.sh

cat >"$scratch/locked.txt" <<'END'
main|fork(T1)|a.c:1
main|fork(T2)|a.c:2
T1|w(x)|a.c:10
T1|acq(m)|a.c:11
T1|w(y)|a.c:12
T1|rel(m)|a.c:13
T2|acq(m)|a.c:20
T2|r(y)|a.c:21
T2|rel(m)|a.c:22
T2|r(x)|a.c:23
T2|w(z)|a.c:24
T1|r(z)|a.c:14
END

run "$HEDDLE" explain "$scratch/locked.txt" 2 9
is "$status" 0 "an answer is no finding"
like "$out" "\(wdc\)" "the order that says least is the reason"
like "$out" "critical sections on m hold conflicting accesses: T1's, released at a.c:13, before T2's read y at a.c:21" "the rule, the lock and the lines"

run "$HEDDLE" explain "$scratch/locked.txt" 2 9 --order hb
like "$out" "T1 releases m at a.c:13 before T2 acquires m at a.c:20" "happens-before goes through the lock"

run "$HEDDLE" explain "$scratch/locked.txt" 9 2 --order hb --format json
is "$(json '$d->{ordered} ? 1 : 0')" 1 "ordered, whichever event is named first"
is "$(json '$d->{first}')" 2 "first is first in the trace"
is "$(json '$d->{path}[0]{from}')" 2 "the chain begins at the first event"
is "$(json '$d->{path}[-1]{to}')" 9 "and ends at the second"
is "$(json 'join " ", map { $_->{rule} } @{$d->{path}}')" "program order lock program order" "each step has its rule"

run "$HEDDLE" explain "$scratch/locked.txt" 10 11 --format json
is "$(json '$d->{ordered} ? 1 : 0')" 0 "a race is not ordered by what it reads itself"
is "$(json '$d->{orders}[-1]{ordered} ? $d->{orders}[-1]{order} : "none"')" shb "though SHB has that edge"
run "$HEDDLE" explain "$scratch/locked.txt" 10 11
like "$out" "not ordered" "the text says so"
like "$out" "nothing of T2 is before 11" "and how far each order reaches"
like "$out" "no lock" "and which locks are held"

run "$HEDDLE" explain "$scratch/locked.txt" 0 5
like "$out" "a thread begins after it is forked" "must-orders have their reason"

for bad in "2 99" "2 x" "2 2" "2"; do
	run "$HEDDLE" explain "$scratch/locked.txt" $bad
	is "$status" 2 "refused: $bad"
done
run "$HEDDLE" explain "$scratch/locked.txt" 2 9 --order strange
is "$status" 2 "refused: an unknown order"
like "$err" "expected po, hb" "and says which there are"
# A conflicting pair is decided too: ordered in the recording is not the last word.
cat >"$scratch/pair.std" <<'T'
T1|w(x)|a.c:1
T1|acq(m)|a.c:2
T1|w(y)|a.c:3
T1|rel(m)|a.c:4
T2|acq(m)|a.c:11
T2|w(y)|a.c:12
T2|rel(m)|a.c:13
T2|w(x)|a.c:14
T
run "$HEDDLE" explain "$scratch/pair.std" 0 7
like "$out" 'ordered by' "ordered in the recording"
like "$out" 'they race: another order of the run brings them next to each other' "and yet a race"
run "$HEDDLE" explain "$scratch/pair.std" 2 5
like "$out" 'they cannot race, in any order of the run' "no race"
like "$out" 'T1 still holds m when it comes to write y at a.c:3, so before T2 acquires m at a.c:11' "why, in names and lines"
run "$HEDDLE" explain --format json "$scratch/pair.std" 2 5
is "$(json '$d->{verdict}')" impossible "the verdict as JSON"
like "$(json 'join "|", map { $_->{text} } @{$d->{proof}{steps}}')" 'T2 still holds m' "and its proof in sentences"
run "$HEDDLE" explain --order wdc "$scratch/pair.std" 2 5
unlike "$out" 'race' "an order that is asked for is all that is told"
# A proof by observation, and one by a read that must not lose its write.
cat >"$scratch/seen.std" <<'T'
T1|w(z)|a.c:1
T1|w(x)|a.c:2
T2|r(x)|a.c:3
T2|w(z)|a.c:4
T
run "$HEDDLE" witness "$scratch/seen.std" 0 3
is "$status" 0 "impossible by observation"
like "$out" 'T2 reads x at a.c:3, which T1 wrote at a.c:2' "the observation in words"
like "$out" 'but this pair is assumed to race: T1 before write z at a.c:1, T2 before write z at a.c:4' "what is asked in words"
# A closure's step names the read that it is there for, and what that has to see.
printf '%s\n' 'T1|acq(l)|1' 'T1|r(x)|2' 'T1|r(x)|3' 'T2|w(x)|4' 'T1|rel(l)|5' 'T2|acq(l)|6' \
	'T2|rel(l)|7' 'T2|w(x)|8' >"$scratch/initial.std"
run "$HEDDLE" witness "$scratch/initial.std" 2 7
is "$status" 0 "impossible by the closure"
like "$out" "T1's read x at 2 has to see the initial value" "a read of the initial value in words"
printf '%s\n' 'T1|acq(l)|1' 'T2|w(z)|2' 'T1|r(z)|3' 'T1|w(x)|4' 'T1|rel(l)|5' 'T2|w(z)|6' \
	'T2|acq(l)|7' 'T2|rel(l)|8' 'T2|r(x)|9' >"$scratch/between.std"
run "$HEDDLE" witness "$scratch/between.std" 3 8
is "$status" 0 "impossible by the closure"
like "$out" "T2's write z at 6 before T2's write z at 2: T1's read z at 3 has to see T2's write z at 2" \
	"another write between: the read and its write in words"
run "$HEDDLE" witness "$scratch/between.std" 3 8 --format json
like "$out" "has to see T2's write z at 2" "the same in JSON"
# A context switch tells who waits for what: a lock, here.
printf '%s\n' 'T2|acq(l)|1' 'T1|w(a)|2' 'T2|rel(l)|3' 'T1|acq(l)|4' 'T1|r(a)|5' 'T1|w(x)|6' 'T1|rel(l)|7' \
	'T2|w(x)|8' >"$scratch/switch.std"
run "$HEDDLE" witness "$scratch/switch.std" 5 7 --format json
is "$(json 'join "; ", map { "$_->{reason}:" . ($_->{waits} // "") . ":" . ($_->{for} // "") } @{$d->{findings}[0]{switches}}')" \
	"end:7:; end::" "few switches, all of them for the pair"
printf '%s\n' 'T1|w(a)|1' 'T2|r(a)|2' 'T2|w(b)|3' 'T1|r(b)|4' 'T1|w(x)|5' 'T2|w(x)|6' >"$scratch/sees.std"
run "$HEDDLE" witness "$scratch/sees.std" 4 5 --format json
is "$(json 'join "; ", map { "$_->{reason}:" . ($_->{waits} // "") . ":" . ($_->{for} // "") } @{$d->{findings}[0]{switches}}')" \
	"read:3:2; end:5:; end::" "a switch that a read needs names the read and its write"
like "$out" "needed: event 3, T1's read b at 4 must see event 2, T2's write b at 3" "and says so"
run "$HEDDLE" witness "$scratch/pair.std" 0 7
like "$err" 'T2 -> T1 before event' "a witness on standard output tells its switches beside it"
# The story of a pair: both sides, the recording, the other order, what comes of it.
printf '%s\n' 'main|fork(T1)|a.c:1' 'main|fork(T2)|a.c:2' 'T1|acq(m)|a.c:3' 'T1|w(x)=1|a.c:4' 'T1|rel(m)|a.c:5' \
	'T2|acq(m)|a.c:6' 'T2|rel(m)|a.c:7' 'T2|r(x)=1|a.c:8' 'T2|acq(m)|a.c:9' 'T2|w(y)=2|a.c:10' 'T2|rel(m)|a.c:11' \
	'T1|acq(m)|a.c:12' 'T1|r(y)=2|a.c:13' 'T1|rel(m)|a.c:14' >"$scratch/story.std"
run "$HEDDLE" explain "$scratch/story.std" 3 7 --story
is "$status" 0 "a story"
like "$out" 'data race on x: can happen' "its title"
like "$out" 'T1 writes x in a\.c:4, holding m:' "the first side and its lock"
like "$out" 'T2 reads x in a\.c:8, holding no lock:' "the second side"
like "$out" 'T1: unlock m \(a\.c:5\), then T2: lock m \(a\.c:6\)' "what kept them apart"
like "$out" 'T2, a\.c:6 to a\.c:7: lock m, unlock m; and stops before a\.c:8' "the other order, turn by turn"
like "$out" 'T1 first: T2 reads 1\.' "what comes of it"
is "$(awk 'length > 80' <<<"$out")" "" "no line is longer than a page"
run "$HEDDLE" explain "$scratch/story.std" 9 12 --story
is "$status" 0 "the story of a pair that cannot race"
like "$out" 'cannot happen, in any order' "says so"
like "$out" 'Both hold one lock, and it has one holder: m' "and the plain reason"
run "$HEDDLE" explain "$scratch/story.std" 3 5 --story
is "$status" 2 "no story of two events that do not conflict"
like "$err" 'needs two accesses that conflict' "the reason"
run "$HEDDLE" explain "$scratch/story.std" 3 7 --story --format json
is "$status" 2 "a story is text"
run env LC_ALL=C "$HEDDLE" explain "$scratch/story.std" 3 7 --story
is "$(tr -d '\n -~' <<<"$out")" "" "ASCII alone where the locale knows no more"
printf '%s\n' 'T1|w(x)=1|a.c:1' 'T2|r(x)=1|a.c:2' >"$scratch/words.txt"
run "$HEDDLE" explain "$scratch/words.txt" 0 1
is "$(head -2 <<<"$out")" "event 0, T1's write x: 1 at a.c:1
event 1, T2's read x: 1 at a.c:2" "the two events are in words"
unlike "$out" '[|]' "and no line is of the trace's text"
done_testing
