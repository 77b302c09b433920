#!/bin/bash
# heddle verify: every kind proves its own claim and no less: of an order violation that the two do
# not commute and that their order is turned round; what else is amiss in the file is said.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# verify TRACE KIND PAIR EVENTS... (and $options)
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
	run "$HEDDLE" verify "$trace" w.wit $options
}
options=

# two accesses that have nothing to do with each other
printf '#! heddle 1\nT1|r(x)|1\nT2|r(y)|2\n' >nothing.txt
verify nothing.txt cov "0 1" 0 1
is "$status" 1 "two reads of two variables are no order violation"
verify nothing.txt cov "0 1" 1 0
like "$out" "the pair: event 0, .* and event 1, .* are not of one object" "in neither order"

printf '#! heddle 1\nT1|acq(l)|1\nT1|rel(l)|2\nT2|acq(l)|3\nT2|rel(l)|4\n' >locks.txt
verify locks.txt cov "1 2" 0 1 2
is "$status" 1 "a release and an acquire are none"
verify locks.txt cov "0 2" 2 3 0
is "$status" 1 "nor are two acquires, turned round"

cat >dict.txt <<'T'
#! heddle 1
#! object d dict
T1|act(d.put,a,1)=nil|1
T2|act(d.get,b)=nil|2
T2|act(d.get,a)=1|3
T
verify dict.txt cov "0 1" 1 0
like "$out" "the pair: event 0, .* and event 1, .* commute" "invocations that commute are none"
verify dict.txt cov "0 2" 0 1 2
like "$out" "the pair: event 0 is not turned round" "nor is a pair in its recorded order"
verify dict.txt cov "0 2" 1 2 0
is "$status" 0 "turned round it is one"
sed '/object/d; s/d\./q./' dict.txt | sed 's/put/push/; s/get/pop/' >none.txt
verify none.txt cov "0 2" 1 2 0
like "$out" "of one without a specification" "without a specification there is none"

cat >memory.txt <<'T'
#! heddle 1
T1|alloc(p,8)|1
T1|fork(T2)|2
T2|w(p)|3
T1|free(p)|4
T2|r(p)|5
T2|acq(m)|6
T2|rel(m)|7
T1|destroy(m)|8
T
verify memory.txt cov "2 3" 0 1 3 2
is "$status" 0 "a use of a block after it was freed"
verify memory.txt cov "2 3" 0 1 2 3
is "$status" 1 "not before"
verify memory.txt cov "3 4" 0 1 2 4 3
like "$out" "wrong order in the trace already" "a use that came after it anyway"
verify memory.txt cov "3 5" 0 1 2 3 5
is "$status" 1 "a free and a lock"

cat >condition.txt <<'T'
#! heddle 1
T1|signal(c)|1
T2|wait(c)|2
T2|broadcast(c)|3
T
verify condition.txt cov "0 1" 1 0
is "$status" 0 "a wait that comes before the signal"
verify condition.txt cov "0 2" 1 2 0
like "$out" "commute" "a signal and a broadcast commute"

# kind race and a race of C11: which of the two was proved
printf '#! heddle 1\nT1|w(x)|1\nT1|aw(f);rlx|2\nT2|ar(f);rlx|3\nT2|r(x)|4\n' >c11.txt
verify c11.txt race "0 3" 0 1 2 3
is "$status" 0 "a race of C11 is of kind race, too"
like "$out" "note: proved is a race that is visible only as a C11 race" "and verify says so"
options="--format json"
verify c11.txt race "0 3" 0 1 2 3
is "$(json '"$d->{kind} $d->{proved} " . @{$d->{notes}}')" "race c11-race 1" "in JSON, too"
verify c11.txt race "1 2" 0 1 2
is "$(json '"$d->{kind} $d->{proved}"')" "race nothing" "what is refused proves nothing"
options=
verify c11.txt prefix "0 3" 0 1 2 3
like "$out" "note: kind prefix" "a prefix proves nothing of its pair"

# the file itself
printf '#! heddle-witness 1\n#! kind race\n#! pair 0 3\n#! pair 1 2\n0\n3\n' >twice.wit
run "$HEDDLE" verify c11.txt twice.wit
is "$status" 2 "two pairs"
like "$err" "twice.wit:4: expected each header once" "with the line"
printf '#! heddle-witness 1\n#! kind race\n#! kind cov\n#! pair 0 3\n0\n3\n' >twice.wit
run "$HEDDLE" verify c11.txt twice.wit
is "$status" 2 "two kinds"

printf '#! heddle-witness 1\n#! kind race\n#! pair 0 3 1\n0\n3\n' >twice.wit
run "$HEDDLE" verify c11.txt twice.wit
is "$status" 2 "a pair of three"
like "$err" "twice.wit:3: expected two events, found 3" "with the line"
printf '#! heddle-witness 1\n#! trace c11.txt zzzz\n#! kind race\n#! pair 0 3\n0\n3\n' >twice.wit
run "$HEDDLE" verify c11.txt twice.wit
is "$status" 2 "a sum that is none"
like "$err" "twice.wit:2: expected the trace's SHA-256" "is not passed over"
printf '#! heddle-witness 1\n#! kind atomic\n#! units 0 1\n#! pair 0 3\n0\n3\n' >twice.wit
run "$HEDDLE" verify c11.txt twice.wit
is "$status" 2 "units and a pair"

printf '#! heddle 1\nT1|w(x)|1\nT2|w(x)|2\n' >race.txt
run "$HEDDLE" witness race.txt 0 1 -o race.wit
sed 's/|2$/|3/' race.txt >other.txt
run "$HEDDLE" verify other.txt race.wit
is "$status" 1 "a witness of another content of the trace"
like "$out" "refused: the trace: .*another content" "which is said"
run "$HEDDLE" verify other.txt race.wit --lenient
is "$status" 0 "--lenient judges it by its events"
like "$out" "note: .*another content" "and says so"
run "$HEDDLE" verify other.txt race.wit --lenient --format json
is "$(json '@{$d->{notes}} . " " . $d->{accepted}')" "1 1" "in JSON, too"

# A place that is reached: the last event is next, and the condition holds by what comes before it.
cat >bank.txt <<'T'
#! heddle 1
main|fork(T1)|b.c:1
main|fork(T2)|b.c:2
T1|r(q::n)=100|b.c:12
T1|w(q::n)=150|b.c:12
T2|w(big)=7|b.c:20
T2|r(q::n)=150|b.c:23
T
reach() { # CONDITION PAIR EVENTS...
	local condition=$1 pair=$2
	shift 2
	printf '%s\n' '#! heddle-witness 1' '#! trace bank.txt -' '#! kind reach' "#! pair $pair" ${condition:+"#! condition $condition"} "$@" >w.wit
	run "$HEDDLE" verify bank.txt w.wit
}
reach "n == 100 && thread == T2" 5 0 1 4 5
is "$status" 0 "a place is reached in another order"
like "$out" "before the last of which this holds: n == 100 && thread == T2" "and the condition is said"
reach "n == 150" 5 0 1 4 5
is "$status" 1 "not with the recorded value"
like "$out" "the condition: it does not hold before event 5" "and why"
reach "n == 150" 5 0 1 4 2 3 5
is "$status" 0 "which holds in the recorded order"
reach "n == 100" 5 0 1 5
like "$out" "the place: event 5, .* is not next in its thread" "the thread has to come there"
reach "big == 3" 3 0 1 2 3
like "$out" "a value that it needs is not in the trace" "an unknown value proves nothing"
reach "nothing == 3" 3 0 1 2 3
like "$status $out" "^1 refused: the condition: the recording has no access to a variable 'nothing'" "nor does a name that is not in the trace"
reach "n ==" 3 0 1 2 3
like "$status $out" "^1 refused: the condition: .*its end" "nor half a condition"
reach "" 5 0 1 4 5
is "$status" 2 "without a condition it is no witness"
like "$err" "a header '#! condition' belongs to '#! kind reach'" "which is said"
reach "n == 100" "4 5" 0 1 4 5
like "$status $err" "^2 .*expected one event, to which a thread comes, found 2" "one event is the place"
done_testing
