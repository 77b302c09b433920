#!/bin/bash
# heddle verify: each rule, broken, is named; files that are no witnesses are refused.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# verify TRACE KIND PAIR EVENTS...
verify() {
	local trace=$1 kind=$2 pair=$3
	shift 3
	{
		echo '#! heddle-witness 1'
		echo "#! trace $trace -"
		echo "#! kind $kind"
		echo "#! pair $pair"
		printf '%s\n' "$@"
	} >w.wit
	run "$HEDDLE" verify "$trace" w.wit
}

cat >locks.txt <<'T'
#! heddle 1
T1|acq(l)|1
T1|w(x)|2
T1|rel(l)|3
T2|acq(l)|4
T2|r(y)|5
T2|rel(l)|6
T2|r(x)|7
T
verify locks.txt race "1 6" 3 4 5 0 1 6
is "$status" 0 "a witness is accepted"
like "$out" "^accepted" "and said to be"
verify locks.txt race "1 6" 3 4 5 0 6 1
is "$status" 0 "the pair in either order"
verify locks.txt race "1 6" 0 3 4 5 1 6
is "$status" 1 "a lock held twice is refused"
like "$out" "refused: rule 3 \(locks\): event 3, T2.s lock l" "with the rule and where"
verify locks.txt race "1 6" 3 5 4 0 1 6
like "$out" "rule 1 \(prefixes\): event 5" "an event before its predecessor"
verify locks.txt race "1 6" 3 4 4 5 0 1 6
like "$out" "rule 1 \(prefixes\): event 4, .*twice" "an event twice"
verify locks.txt race "1 6" 3 4 5 1 6
is "$status" 1 "a pair that is not next"
verify locks.txt race "1 6" 3 4 5 0 1
like "$out" "the last two events are not" "a pair that is not last"
verify locks.txt race "0 3" 0 3
like "$out" "do not conflict" "a pair that does not conflict"
verify locks.txt race "1 6" 3 4 5 0 99 1 6
is "$status" 1 "an event that the trace has not"

cat >reads.txt <<'T'
#! heddle 1
T1|w(x)|1
T2|w(x)|2
T3|r(x)|3
T3|w(z)|4
T1|w(z)|5
T
verify reads.txt race "3 4" 0 1 2 3 4
is "$status" 0 "the observed write is the last"
verify reads.txt race "3 4" 1 0 2 3 4
like "$out" "rule 2 \(observation\): event 2, T3's read x at 3 sees event 0, T1's write x at 1, in the trace event 1, T2's write x at 2$" \
	"another write before the read"
verify reads.txt race "3 4" 0 2 3 4
like "$out" "rule 2 \(observation\).*sees event 0, .*in the trace event 1," "the observed write left out"

cat >must.txt <<'T'
#! heddle 1
main|w(x)|1
main|fork(T1)|2
T1|alloc(p,8)|3
T1|w(p.a)|4
T1|snd(g)|5
main|rcv(g)|6
main|r(p.a)|7
main|free(p)|8
T1|w(x)|9
T1|r(p.b)|10
T
verify must.txt race "0 8" 2 3 4 0 8
like "$out" "rule 4 \(must-order\): event 2, .*event 1, " "a thread before its fork"
verify must.txt prefix "0 8" 0 1 2 3 4 5 6 7 8
is "$status" 0 "the recording up to a use after free"
verify must.txt prefix "0 8" 0 1 2 3 4 5 6 7 8 9
like "$out" "rule 6 \(freed blocks\): event 9" "an access after the free"
verify must.txt prefix "0 8" 0 1 2 3 5
like "$out" "rule 4 \(must-order\): event 5, .*event 4," "a message before it is sent"

cat >conditions.txt <<'T'
#! heddle 1
#! semaphore s 0
T1|wait(c)|1
T2|signal(c)|2
T1|wake(c)|3
T2|post(s)|4
T1|take(s)|5
T1|arrive(b)|6
T2|arrive(b)|7
T1|depart(b)|8
T2|tryfail(m)|9
T
verify conditions.txt prefix "0 1" 0 1 2 3 4 5 6 7 8
is "$status" 0 "the recording itself"
verify conditions.txt prefix "0 1" 1 0 2
like "$out" "rule 4 \(must-order\): event 2, T1.s waking on c at 3 was ended by event 1" "a waker before its wait"
verify conditions.txt prefix "0 1" 1 0
is "$status" 0 "which is free while nobody is woken"
verify conditions.txt prefix "0 1" 0 1 2 4
like "$out" "rule 4 \(must-order\): event 4, T1.s take s" "a take before its post"
verify conditions.txt prefix "0 1" 0 1 2 3 4 5 7
like "$out" "rule 4 \(must-order\): event 7, T1.s leave b" "a departure before all have arrived"

cat >tries.txt <<'T'
#! heddle 1
T1|racq(l)|1
T2|racq(l)|2
T3|tryfail(l)|3
T1|rrel(l)|4
T2|rrel(l)|5
T3|acq(l)|6
T
verify tries.txt prefix "0 1" 1 2
is "$status" 0 "a try fails beside one reader"
verify tries.txt prefix "0 1" 2
like "$out" "rule 2 \(observation\): event 2, T3.s failed try of l" "a try fails with nobody there"
verify tries.txt prefix "0 1" 0 2 5
like "$out" "rule 3 \(locks\): event 5, T3.s lock l.*1 thread holds" "a writer beside a reader"

# a race that the observation of a relaxed atomic hides in time, and C11 does not order
cat >c11.txt <<'T'
#! heddle 1
T1|w(x)|1
T1|aw(f);rlx|2
T2|ar(f);rlx|3
T2|r(x)|4
T
verify c11.txt race "0 3" 1 2 0 3
is "$status" 1 "no reordering has the two next to each other"
verify c11.txt c11-race "0 3" 0 1 2 3
is "$status" 0 "but nothing in this one orders them for C11"
sed 's/aw(f);rlx/aw(f);rel/; s/ar(f);rlx/ar(f);acq/' c11.txt >ordered.txt
verify ordered.txt c11-race "0 3" 0 1 2 3
like "$out" "happens after" "a release and an acquire do"

cat >behind.txt <<'T'
#! heddle 1
T1|w(z)|1
T1|w(x)|2
T2|r(x)|3
T2|w(z)|4
T
verify behind.txt race "0 3" 0 1 2 3
is "$status" 1 "what comes after an ordinary race is not another one"

# files that are no witnesses
refused() {
	printf "$1" >bad.wit
	run "$HEDDLE" verify locks.txt bad.wit
	is "$status" 2 "$2"
	like "$err" "^heddle: .*bad.wit" "$2: names the file"
	is "$(printf '%s' "$err" | grep -c .)" 1 "$2: one message"
}
refused '' "an empty file"
refused 'T1|w(x)|1\n' "a trace"
refused '#! heddle-witness 2\n' "a version to come"
refused '#! heddle-witness 1\n#! kind nonsense\n' "an unknown kind"
refused '#! heddle-witness 1\n#! kind race\n1\n' "no pair"
refused '#! heddle-witness 1\n#! kind race\n#! pair 1\n' "half a pair"
refused '#! heddle-witness 1\n#! kind race\n#! pair 1 6\nx\n' "a line that is no event"
refused '#! heddle-witness 1\n#! kind race\n#! pair 1 6\n\0\n' "a NUL byte"
refused '#! heddle-witness 1\n#! kind race\n#! pair 1 6\n#! under nonsense\n' "an unknown rule"
run "$HEDDLE" verify locks.txt none.wit
is "$status" 2 "a file that is not there"
run "$HEDDLE" verify none.txt w.wit
is "$status" 2 "a trace that is not there"

# What editors leave in a file: the mark before UTF-8, CR LF; a digest in capitals.
run "$HEDDLE" witness locks.txt 1 6 -o w.wit
{ printf '\357\273\277'; sed -e '2s/[0-9a-f]\{64\}/\U&/' -e 's/$/\r/' w.wit; } >edited.wit
run "$HEDDLE" verify locks.txt edited.wit --format json
is "$status $err $(json '$d->{accepted} ? "accepted" : $d->{reason}')" "0  accepted" "an edited file, as JSON"
done_testing
