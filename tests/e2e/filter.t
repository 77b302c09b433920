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
printf 'T|w(x)|1\nU|w(x)|2\n' >"$scratch/short.txt"
run "$HEDDLE" filter "$scratch/short.txt" -o "$scratch/same.hdl"
like "$err" 'dropped 0 of 2 events' "a trace without redundant events"
run "$HEDDLE" races "$scratch/same.hdl"
is "$status" 1 "is whole, and every analysis takes it"
run "$HEDDLE" filter "$scratch/t.txt"
is "$status" 2 "no output named"
run "$HEDDLE" filter "$scratch/t.txt" -o "$scratch/x" --for m2
is "$status" 2 "an analysis that it cannot promise for"
run "$HEDDLE" filter "$scratch/t.txt" -o -
is "$status" 0 "to standard output"
is "$(printf '%s\n' "$out" | grep -vc '^#')" 9 "nine events"

# The thesis's figure 3.4: one thread writes under three locks in turn (place 1) and reads without
# any (2), three write under one each (3) and without (4).  Its list has six pairs of places; a
# seventh, 3 and 4 of two threads, it does not name.  TREE leaves out the second and third read at 2, as their thread has said so, and the third write at
# 4, as two other threads have.
{
	for i in 1 2 3; do echo "T0|fork(T$i)|0"; done
	for i in 1 2 3; do printf 'T0|acq(L%d)|0\nT0|w(x)|1\nT0|rel(L%d)|0\nT0|r(x)|2\n' $i $i; done
	for i in 1 2 3; do printf 'T%d|acq(L%d)|0\nT%d|w(x)|3\nT%d|rel(L%d)|0\nT%d|w(x)|4\n' $i $i $i $i $i $i; done
} >"$scratch/figure.txt"
run "$HEDDLE" filter "$scratch/figure.txt" -o "$scratch/figure.less" --check --format json
is "$(json '"$d->{events} $d->{dropped}"')" "27 3" "figure 3.4: three are left out"
is "$(grep -c '|2$' "$scratch/figure.less") $(grep -c '^T3|w(x)|4$' "$scratch/figure.less")" "1 0" "those that the figure leaves out"
is "$(json '"$d->{check}{lockset}{pairs} $d->{check}{lockset}{lost} $d->{check}{lockset}{made_up}"')" "7 0 0" \
	"--check: the seven pairs of places are there, and no others"

# What --check says where something is lost: the write that is kept is before the release.
cat >"$scratch/lost.txt" <<'T'
T1|w(x)|1
T1|acq(l)|2
T1|rel(l)|3
T1|w(x)|1
T2|acq(l)|4
T2|rel(l)|5
T2|w(x)|6
T
run "$HEDDLE" filter "$scratch/lost.txt" -o "$scratch/less.txt" --check
is "$status" 0 "--check: what is lost is no error"
like "$err" 'hb +1 pair of locations, 1 lost, 0 made up' "happens-before loses its race by the published rule"
like "$err" 'lockset +1 pair of locations, 0 lost, 0 made up' "the lockset does not"
run "$HEDDLE" filter "$scratch/lost.txt" -o "$scratch/less.txt" --check --for hb
like "$err" 'hb +1 pair of locations, 0 lost, 0 made up' "nor does happens-before with --for hb"

# a name with the offset 0 stays what it is, so that reports of both name the variable alike
printf '#! heddle 1\nT1|w8(q+0)|1\nT1|w8(q+0)|1\nT2|r4(q+0)|2\n' >"$scratch/zero.txt"
run "$HEDDLE" filter "$scratch/zero.txt" -o "$scratch/zero2.txt" --to text
like "$(cat "$scratch/zero2.txt")" "T1\|w8\(q\+0\)" "w8(q+0) is written as it is"
done_testing
