#!/bin/bash
# The ladder: every candidate ends as race, impossible or unknown; budgets, values, proofs.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

verdicts() { json 'join " ", map { "$_->{first}-$_->{second}:$_->{verdict}" } @{$d->{findings}}'; }
first() { json "\$d->{findings}[0]{$1}"; }

# The M2 paper's figure 1a: orders of any strength miss the race.
figure_1a >figure1a.txt
run "$HEDDLE" races figure1a.txt --pairs events --format json
is "$status" 1 "figure 1a: found"
is "$(verdicts)" "1-6:race" "figure 1a: one race"
is "$(json '$d->{analysis} . " " . ($d->{complete} ? 1 : 0)')" "auto 1" "auto is the default, and complete"
run "$HEDDLE" races figure1a.txt --analysis smt --pairs events --format json
is "$(verdicts)" "1-6:race" "figure 1a by the solver"
is "$(json 'join " ", @{$d->{findings}[0]{witness}}')" "3 4 5 0 1 6" "its witness ends with the pair"
run "$HEDDLE" races figure1a.txt --pairs events --verdicts all --format json
is "$(verdicts)" "1-4:impossible 1-6:race" "under one lock: impossible"
is "$(json '$d->{findings}[0]{proof}{method} ne "" ? 1 : 0')" 1 "with a proof"

run "$HEDDLE" races figure1a.txt --candidates hb --format json
is "$(json 'scalar(@{$d->{findings}}) . " " . ($d->{complete} ? 1 : 0)')" "0 0" "among what happens-before leaves unordered: none, and not complete"

# Figure 1b needs an order among critical sections.
figure_1b >figure1b.txt
run "$HEDDLE" races figure1b.txt --pairs events --format json
is "$(verdicts)" "1-13:race" "figure 1b: one race"

# Impossible only because of the sections: T3's must end before T1's begins, and must not.
cat >sections.txt <<'T'
T1|acq(l)|a.c:1
T1|aw(a)=1;rel|a.c:2
T1|w(x)|a.c:3
T1|rel(l)|a.c:4
T3|ar(a)=1;acq|a.c:5
T3|acq(l)|a.c:6
T3|aw(b)=1;rel|a.c:7
T3|rel(l)|a.c:8
T2|ar(b)=1;acq|a.c:9
T2|w(x)|a.c:10
T
run "$HEDDLE" races sections.txt --verdicts all --format json
is "$status" 0 "a proof by the solver: nothing found"
is "$(verdicts)" "2-9:impossible" "and the candidate is listed"
is "$(json '$d->{findings}[0]{by} . " " . $d->{findings}[0]{proof}{method}')" "smt solver" "settled by the solver"
is "$(json 'scalar(grep { $_->{rule} =~ /critical sections/ } @{$d->{findings}[0]{proof}{steps}}) > 0 ? 1 : 0')" 1 "the core names the sections"
is "$(json 'exists $d->{findings}[0]{proof}{given} ? 1 : 0')" 0 "no pairing is presumed"
is "$(json '$d->{complete} ? 1 : 0')" 1 "complete"
run "$HEDDLE" races sections.txt
is "$status" 0 "not listed unless asked"
unlike "$out" impossible "nor printed"

# No time for the solver: unknown, and says so.
run "$HEDDLE" races sections.txt --budget 0,0 --verdicts all --format json
is "$status" 3 "no budget: status 3"
is "$(verdicts)" "2-9:unknown" "no budget: unknown"
like "$(first budget)" "pair|total" "the budget is named"
is "$(json '$d->{complete} ? 1 : 0')" 0 "not complete"
{ cat sections.txt; printf 'T1|w(q)|a.c:20\nT2|w(q)|a.c:21\n'; } >both.txt
run "$HEDDLE" races both.txt --budget 0,0
is "$status" 1 "a finding wins over a spent budget"
run "$HEDDLE" races sections.txt --budget 1
is "$status" 2 "half a budget is bad usage"

# The same by a semaphore's pairing, which another schedule need not keep.
sed 's/aw(a)=1;rel/post(s)/; s/ar(a)=1;acq/take(s)/' sections.txt >pairing.txt
run "$HEDDLE" races pairing.txt --verdicts all --format json
is "$(verdicts)" "2-9:impossible" "by a semaphore: impossible"
is "$(json '$d->{findings}[0]{proof}{given}')" "same pairing" "given the pairing"

# --values: a read may see another write of the same value.
cat >values.txt <<'T'
T1|w(x)=1|1
T1|w(f)=1|2
T2|r(f)=1|3
T2|w(x)=2|4
T3|w(f)=1|5
T
run "$HEDDLE" races values.txt --pairs events --format json
unlike "$(verdicts)" "0-3:race" "by identity the flag orders the two writes"
run "$HEDDLE" races values.txt --pairs events --values --format json
like "$(verdicts)" "0-3:race" "by value it need not"

# Use after free is no data race of two accesses; an access after the free is not needed.
cat >block.txt <<'T'
T1|alloc(p,8)|1
T1|fork(T2)|2
T2|w(p.a)|3
T1|w(p.a)|4
T1|free(p)|5
T
run "$HEDDLE" races block.txt --pairs events --format json
is "$(verdicts)" "2-3:race" "inside a block, before its free"

# A relaxed atomic orders in time and not by happens-before.
cat >relaxed.txt <<'T'
T1|w(x)|1
T1|aw(f)=1;rlx|2
T2|ar(f)=1;rlx|3
T2|w(x)|4
T
run "$HEDDLE" races relaxed.txt --pairs events --format json
is "$(verdicts)" "0-3:race" "a relaxed flag: a race"
is "$(first note)" "visible only as a C11 race" "that is visible only by C11"
is "$(json 'join " ", @{$d->{findings}[0]{witness}}')" "0 1 2 3" "its witness holds both"
run "$HEDDLE" witness relaxed.txt 0 3 -o relaxed.wit
is "$status" 1 "witness gives it"
run "$HEDDLE" verify relaxed.txt relaxed.wit
is "$status" 0 "and verify accepts it"
sed 's/aw(f)=1;rlx/aw(f)=1;rel/; s/ar(f)=1;rlx/ar(f)=1;acq/' relaxed.txt >ordered.txt
run "$HEDDLE" races ordered.txt --pairs events --verdicts all --format json
is "$(verdicts)" "" "release and acquire: not even a candidate"

# By sites: one verdict for the pair of lines, a proof for all pairs or one race.
{
	for i in 1 2 3 4; do printf 'T1|acq(l)|s.c:1\nT1|w(x)|s.c:2\nT1|rel(l)|s.c:3\n'; done
	for i in 1 2 3 4; do printf 'T2|acq(l)|s.c:4\nT2|w(x)|s.c:5\nT2|rel(l)|s.c:6\n'; done
} >loops.txt
run "$HEDDLE" races loops.txt --verdicts all --format json
is "$(json 'scalar @{$d->{findings}}')" 1 "sixteen pairs, one finding"
is "$(first verdict)" impossible "impossible for all of them"
is "$(first count)" 16 "which are counted"
printf 'T2|w(x)|s.c:5\n' >>loops.txt
run "$HEDDLE" races loops.txt --format json
is "$(first verdict)" race "one outside of the lock makes it a race"

# Every trace of the sample set is settled whole.
for t in account twostage mergesort; do
	[ -f "$root/tests/traces/$t.std" ] || continue
	run "$HEDDLE" races "$root/tests/traces/$t.std" --pairs events --format json
	is "$(json '$d->{complete} ? 1 : 0')" 1 "$t is complete"
	case $t in account) want=3 ;; twostage) want=20 ;; mergesort) want=53 ;; esac
	is "$(json 'scalar @{$d->{findings}}')" "$want" "$t: $want racy pairs"
done
# A variable whose 4,200 pairs at two sites are no race, each for a reason of its own (T1's
# section cannot be open while T2 is after its own): M2 gives up and says so, auto does not.
perl -e 'print "T1|acq(l)|1\nT1|w(z)|2\nT1|w(x)|3\nT1|rel(l)|4\nT2|acq(l)|5\nT2|r(z)|6\nT2|rel(l)|7\nT2|w(x)|8\nT2|w(k)|9\nT1|r(k)|10\n" for 1..4200' >"$scratch/many.std"
run "$HEDDLE" races --analysis m2 --format json "$scratch/many.std"
is "$(json '$d->{complete} ? 1 : 0')" 0 "m2 stops after 4,096 pairs of a variable: not complete"
like "$out" 'given up after 4096 pairs without a race: 1;' "and says how many it gave up"
run "$HEDDLE" races --verdicts all --budget 10,100 --format json "$scratch/many.std"
is "$(json '$d->{complete} ? 1 : 0')" 1 "auto is complete"
is "$(json 'join " ", map { $_->{verdict} . ":" . $_->{count} } grep { "@{$_->{locations}}" eq "3 8" } @{$d->{findings}}')" \
	"impossible:17640000" "auto proves every pair of them"

# Many pairs that only C11's definition leaves open, each with a try along the whole recording
# that needs no solver: all of these together once took minutes, whatever the budget.
perl -e 'my $n = 20000;
	print "T1|w(x$_)|1\n" for 1..$n;
	print "T1|acq(l)|2\nT1|aw(f)=1;rlx|3\nT1|rel(l)|4\nT2|acq(l)|5\nT2|ar(f)=1;rlx|6\nT2|rel(l)|7\n";
	print "T2|w(x$_)|8\n" for 1..$n' >"$scratch/tries.std"
run timeout 600 "$HEDDLE" races --verdicts all --budget 0.1,0.3 --format json "$scratch/tries.std"
is "$status" 3 "many tries: the budget bounds them"
is "$(json '$d->{complete} ? 1 : 0')" 0 "not complete"
is "$(json 'join " ", sort keys %{{ map { $_->{verdict} . ":" . $_->{budget} => 1 } grep { $_->{verdict} eq "unknown" } @{$d->{findings}} }}')" \
	"unknown:total" "the budget is named"
run timeout 600 "$HEDDLE" races --pairs events --budget 0,0 "$scratch/tries.std"
is "$status" 3 "no budget at all: it ends, too"

# M2's own budget: pairs that take more than a quarter million steps are unknown without one.
for pairs in events sites; do
	run "$HEDDLE" races --analysis m2 --pairs $pairs --budget 0,0 --verdicts all --format json \
		"$root/tests/traces/bubblesort-small.std"
	like "$out" 'given up for --budget [(]0,0[)]' "m2 by $pairs, no budget: it says so"
	is "$(json '$d->{complete} ? 1 : 0')" 0 "not complete"
	is "$(json 'join " ", sort keys %{{ map { "$_->{verdict}:" . ($_->{budget} // "") => 1 } @{$d->{findings}} }}')" \
		"race: unknown:incomplete$([ $pairs = events ] && echo " unknown:pair")" "and names the budget"
done
done_testing
