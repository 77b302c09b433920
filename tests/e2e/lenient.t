#!/bin/bash
# --lenient takes a lock from its holder: what rests on that lock is proved by nobody.
. tests/e2e/lib.sh
note='"notes": \["[^]]*--lenient took them'
verdicts='join " ", map { "$_->{first}-$_->{second}:$_->{verdict}:" . ($_->{budget} // "") } @{$d->{findings}}'
cat >"$scratch/stolen.std" <<'T'
T1|acq(l)|1
T1|w(x)|2
T2|acq(l)|3
T2|w(x)|4
T2|rel(l)|5
T1|rel(l)|6
T
run "$HEDDLE" races "$scratch/stolen.std"
is "$status" 2 "without --lenient such a trace is refused"
for analysis in auto smt m2 rdit; do
	run "$HEDDLE" races --lenient --analysis $analysis --verdicts all --pairs events \
		--format json "$scratch/stolen.std"
	is "$(json '$d->{complete} ? 1 : 0')" 0 "$analysis: not complete"
	like "$out" "$note" "$analysis: and says why"
	is "$(json "$verdicts")" '1-3:unknown:lenient' \
		"$analysis: what a lock would rule out is unknown"
done
run "$HEDDLE" witness --lenient "$scratch/stolen.std" 1 3
is "$status" 3 "witness: unknown"
like "$out" 'locks changed holders without a release' "witness: and why"
run "$HEDDLE" races --lenient --analysis lockset --format json "$scratch/stolen.std"
is "$(json '$d->{complete} ? 1 : 0')" 0 "lockset is not complete either"
is "$(json 'scalar @{$d->{notes}}')" 1 "and says it once"
# T2 and T3 take a and b crosswise; T2 does so after it has read what T1 wrote in l.
cat >"$scratch/deadlock.std" <<'T'
T1|acq(l)|1
T1|w(y)|1
T2|acq(l)|3
T2|r(y)|3
T2|rel(l)|4
T2|acq(a)|2
T2|acq(b)|5
T2|rel(b)|6
T2|rel(a)|7
T1|rel(l)|8
T3|acq(b)|11
T3|acq(a)|12
T3|rel(a)|13
T3|rel(b)|14
T
run "$HEDDLE" deadlocks --lenient --verdicts all --format json "$scratch/deadlock.std"
is "$(json '$d->{complete} ? 1 : 0')" 0 "deadlocks: not complete"
like "$out" "$note" "deadlocks: and says why"
is "$(json "$verdicts")" '6-11:unknown:lenient' "deadlocks: nothing is proved"
# The use before the free: only l keeps them so.
cat >"$scratch/free.std" <<'T'
main|alloc(p,8)|1
main|fork(T1)|2
main|fork(T2)|3
T1|acq(l)|4
T1|w(y)|5
T1|w(p.f)|6
T2|acq(l)|8
T2|r(y)|9
T2|free(p)|10
T2|rel(l)|12
T1|rel(l)|13
T
run "$HEDDLE" commute --lenient --analysis cov --verdicts all --format json "$scratch/free.std"
is "$(json '$d->{complete} ? 1 : 0')" 0 "commute: not complete"
like "$out" "$note" "commute: and says why"
is "$(json "$verdicts")" '5-8:unknown:lenient' "commute: nothing is proved"
cat >"$scratch/sets.std" <<'T'
#! atomic-set S x y
T1|ubeg(u,S)|1
T1|acq(l)|2
T1|w(x)|3
T2|acq(l)|4
T2|ubeg(v,S)|5
T2|w(x)|6
T2|w(y)|7
T2|uend(v)|8
T2|rel(l)|9
T1|w(y)|10
T1|rel(l)|11
T1|uend(u)|12
T
run "$HEDDLE" atomic --lenient --predict --format json "$scratch/sets.std"
is "$(json '$d->{complete} ? 1 : 0')" 0 "atomic: not complete"
like "$out" "$note" "atomic: and says why"
# A filtered trace has lost observations: no proofs from it.
cat >"$scratch/whole.std" <<'T'
T1|w(z)|1
T1|w(x)|2
T2|r(x)|3
T2|r(x)|3
T2|r(x)|3
T2|w(z)|4
T
run "$HEDDLE" races --verdicts all --pairs events --format json "$scratch/whole.std"
like "$out" '"impossible"' "a whole trace has a proof"
run "$HEDDLE" filter "$scratch/whole.std" -o "$scratch/part.hdl"
run "$HEDDLE" races --lenient --verdicts all --pairs events --format json "$scratch/part.hdl"
is "$(json '$d->{complete} ? 1 : 0')" 0 "a filtered trace: not complete"
unlike "$out" '"impossible"' "a filtered trace: nothing is impossible"
like "$out" '"budget": "filtered"' "a filtered trace: why"
done_testing
