#!/bin/bash
# Tries that failed: any holder would do, a destroyed lock comes first; more in tests/e2e/cases/races.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

# any other section of the lock makes the try fail as well
"$HEDDLE" cc -g -O1 "$programs/tryfail_any.c" -o any -pthread
"$HEDDLE" record -o any.hdl -- ./any >out 2>&1
run "$HEDDLE" races any.hdl --format json
is "$(json '"$d->{complete} $d->{findings}[0]{verdict} $d->{findings}[0]{variable}"')" "1 race data" "the race that another section's failure lets happen"
unlike "$out" '"note"' "an ordinary one"
cp "$root/tests/e2e/cases/races/failed_try.txt" any.txt
# claim TRACE KIND PAIR EVENTS...
claim() {
	printf '%s\n' '#! heddle-witness 1' "#! kind $2" "#! pair $3" "${@:4}" >c.wit
	run "$HEDDLE" verify "$1" c.wit
}
claim any.txt prefix "1 5" 0 4
is "$status" 0 "the checker accepts any holder"
claim any.txt prefix "1 5" 0 1 2 4
like "$out" "rule 2 \(observation\): event 4, .* failed as another thread held the lock exclusively" "but one there has to be"
cat >readers.txt <<'T'
#! heddle 1
T1|racq(l)|1
T2|tryfail(l)|2
T1|rrel(l)|3
T3|racq(l)|4
T3|rrel(l)|5
T1|acq(l)|6
T1|rel(l)|7
T
claim readers.txt prefix "0 1" 3 1
is "$status" 0 "beside one reader in the place of another"
sed 's/T1|racq/T1|acq/; s/T1|rrel/T1|rel/' readers.txt >writer.txt
claim writer.txt prefix "0 1" 3 1
is "$status" 1 "a try that failed beside a writer may have been one to share"

# a lock that failed because it was destroyed
"$HEDDLE" cc -g -O1 "$root/tests/e2e/cases/explore/service.c" -o service -pthread
"$HEDDLE" record --strategy noise --seed 8 -o service.hdl -- ./service >out 2>&1
"$HEDDLE" convert service.hdl service.txt
number() { grep -v '^#' service.txt | grep -n "$1" | head -1 | awk -F: '{ print $1 - 1 }'; } # of an event
if grep -q tryfail service.txt; then
	destroyed=$(number '|destroy(') failed=$(number '|tryfail(')
	run "$HEDDLE" races service.hdl --format json
	is "$(json '"$d->{complete} $d->{findings}[0]{note}"')" "1 visible only as a C11 race" "what only the failure keeps apart is a race of C11"
	is "$(json 'my @e = @{$d->{findings}[0]{witness}}; my %at; @at{@e} = 0..$#e; $at{'$destroyed'} < $at{'$failed'} ? "after" : "before"')" after "the failure comes after the destruction"
else
	ok 0 "# SKIP the schedule was another"
fi
cat >destroyed.txt <<'T'
#! heddle 1
T1|w(x)|1
T1|destroy(l)|2
T2|tryfail(l)|3
T2|w(x)|4
T
claim destroyed.txt race "0 3" 2 0 3
like "$out" "rule 2 \(observation\): event 2, .* failed after event 1, .*destroy l" "before it, it does not fail"
claim destroyed.txt c11-race "0 3" 0 1 2 3
is "$status" 0 "it orders nothing in C11"

done_testing
