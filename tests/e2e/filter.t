#!/bin/bash
# `heddle filter`: redundant accesses are left out, counted, and the result says so.
. tests/e2e/lib.sh
cat >"$scratch/t.txt" <<'T'
main|fork(T1)|1
main|acq(l)|2
main|w(x)|3
main|w(x)|3
main|r(x)|4
main|rel(l)|5
main|acq(l)|2
main|w(x)|3
main|rel(l)|5
T1|w(x)|6
T1|w(x)|6
T1|w(x)|7
T
run "$HEDDLE" filter "$scratch/t.txt" -o "$scratch/lockset.txt"
is "$status" 0 "filters"
like "$err" 'dropped 3 of 12 events' "by the paper's rule, with a count"
run "$HEDDLE" filter "$scratch/t.txt" -o "$scratch/hb.hdl" --for hb --format json
is "$status" 0 "filters for HB"
is "$(json '$d->{dropped}')" 2 "a release keeps the access after it"
is "$(json '$d->{kept}')" 10 "and what is kept"
run "$HEDDLE" info --format json "$scratch/hb.hdl"
is "$(json '$d->{events}')" 10 "the trace written has that many events"
is "$(json '$d->{filtered} ? 1 : 0')" 1 "a binary trace says that it is filtered"
run "$HEDDLE" info --format json "$scratch/lockset.txt"
is "$(json '$d->{filtered} ? 1 : 0')" 1 "a text trace too"
run "$HEDDLE" races --analysis hb "$scratch/hb.hdl"
is "$status" 1 "HB takes it"
for analysis in shb syncp m2 smt; do
	run "$HEDDLE" races --analysis $analysis "$scratch/hb.hdl"
	is "$status" 2 "$analysis refuses it"
	like "$err" 'filtered' "$analysis says why"
	run "$HEDDLE" races --lenient --analysis $analysis "$scratch/hb.hdl"
	unlike "$status" '^2$' "$analysis takes it with --lenient"
done
run "$HEDDLE" filter "$scratch/t.txt"
is "$status" 2 "no output named"
run "$HEDDLE" filter "$scratch/t.txt" -o "$scratch/x" --for m2
is "$status" 2 "an analysis that it cannot promise for"
run "$HEDDLE" filter "$scratch/t.txt" -o -
is "$status" 0 "to standard output"
is "$(printf '%s\n' "$out" | grep -vc '^#')" 9 "nine events"
done_testing
