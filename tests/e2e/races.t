#!/bin/bash
# heddle races: the figures of the M2 paper, verdicts, options, JSON, the traces at hand.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

figure_1a >1a.std
figure_1b >1b.std
races='join " ", map { "$_->{first}-$_->{second}" } grep { $_->{verdict} eq "race" } @{$d->{findings}}'

for analysis in m2 auto; do
	run "$HEDDLE" races 1a.std --analysis $analysis --pairs events --format json
	is "$status" 1 "figure 1a by $analysis: found"
	is "$(json "$races")" 1-6 "figure 1a by $analysis: the one race"
	is "$(json '$d->{complete} ? 1 : 0')" 1 "figure 1a by $analysis: and no other"
	run "$HEDDLE" races 1b.std --analysis $analysis --pairs events --format json
	is "$(json "$races")" 1-13 "figure 1b by $analysis: the one race"
	is "$(json '$d->{findings}[0]{witness}[-2] + $d->{findings}[0]{witness}[-1]')" 14 \
		"figure 1b by $analysis: the pair ends the witness"
	is "$(json '$d->{findings}[0]{variable}')" x "figure 1b by $analysis: its variable"
	is "$(json 'join ",", @{$d->{findings}[0]{locations}}')" 2,14 "figure 1b by $analysis: its places"
done
run "$HEDDLE" races 1a.std --analysis hb --pairs events --format json
is "$status" 0 "happens-before orders figure 1a's race"

# every candidate with its verdict, and the proof
run "$HEDDLE" races 1a.std --analysis m2 --pairs events --verdicts all --format json
is "$(json 'join " ", map { "$_->{first}-$_->{second}:$_->{verdict}" } @{$d->{findings}}')" \
	"1-4:impossible 1-6:race" "--verdicts all lists what is impossible"
is "$(json 'scalar @{$d->{findings}[0]{proof}{steps}} > 0 ? 1 : 0')" 1 "with its proof"
run "$HEDDLE" races 1a.std --analysis m2 --verdicts all --format json
is "$(json 'join " ", map { "$_->{first}-$_->{second}:$_->{verdict}" } @{$d->{findings}}')" \
	"1-4:impossible 1-6:race" "and by sites"

# by sites: one finding for a pair of lines, which names every variable
cat >sites.txt <<'T'
#! heddle 1
T1|w(a)|a.c:1
T1|w(b)|a.c:1:7
T1|w(c)|a.c:2
T2|r(a)|a.c:9:3
T2|r(b)|a.c:9
T2|r(a)|a.c:9
T
run "$HEDDLE" races sites.txt --analysis m2 --format json
is "$(json 'scalar @{$d->{findings}}')" 1 "columns do not make sites"
is "$(json 'join " ", sort @{$d->{findings}[0]{variables}}')" "a b" "every racy variable is named"
run "$HEDDLE" races sites.txt --analysis m2 --pairs events --format json
is "$(json "$races")" "0-3 1-4" "--pairs events lists each pair"

# candidates that an order leaves, shards, and a witness for a candidate
run "$HEDDLE" races 1a.std --analysis m2 --candidates hb --format json
is "$status" 0 "--candidates hb looks at no more than hb's pairs"
is "$(json '$d->{complete} ? 1 : 0')" 0 "and does not claim to be complete"
all=0
for i in 1 2 3; do
	run "$HEDDLE" races sites.txt --analysis m2 --pairs events --shard $i/3 --format json
	all=$((all + $(json 'scalar @{$d->{findings}}')))
done
is "$all" 2 "the shards together have everything, once"
run "$HEDDLE" races sites.txt --analysis lockset --witness --pairs events --format json
is "$(json "$races")" "0-3 1-4" "--witness finds witnesses for candidates"

# operations that are no locks
cat >ops.txt <<'T'
#! heddle 1
#! semaphore s 0
T1|w(x)|1
T1|post(s)|2
T1|w(y)|3
T2|take(s)|4
T2|w(x)|5
T2|w(y)|6
T
run "$HEDDLE" races ops.txt --analysis m2 --pairs events --format json
is "$(json "$races")" 2-5 "a semaphore orders what is before its post"
cat >sized.txt <<'T'
#! heddle 1
T1|w4(p)|1
T2|w4(p+4)|2
T2|w2(p+2)|3
T3|r1(p+1)|4
T
run "$HEDDLE" races sized.txt --analysis m2 --pairs events --format json
is "$(json "$races")" "0-2 0-3" "only accesses with a common byte"

# relaxed atomics keep two accesses apart in time, and do not order them
cat >relaxed.txt <<'T'
#! heddle 1
T1|w(x)|1
T1|aw(f);rlx|2
T2|ar(f);rlx|3
T2|r(x)|4
T
run "$HEDDLE" races relaxed.txt --pairs events --format json
is "$(json '$d->{findings}[0]{note}')" "visible only as a C11 race" "a race to C11 alone"
is "$(json 'join ",", @{$d->{findings}[0]{witness}}')" 0,1,2,3 "its witness holds both"
run "$HEDDLE" races relaxed.txt --analysis m2
is "$status" 0 "M2 knows only of predictable races"
sed 's/aw(f);rlx/aw(f);rel/; s/ar(f);rlx/ar(f);acq/' relaxed.txt >ordered.txt
run "$HEDDLE" races ordered.txt
is "$status" 0 "a release and an acquire order them"
sed 's/aw(f);rlx/w(f)/; s/ar(f);rlx/r(f)/' relaxed.txt >plain.txt
run "$HEDDLE" races plain.txt --pairs events --format json
is "$(json "$races")" 1-2 "behind a plain race there is only that"

# the traces at hand: what an exact search finds
cd "$root" || exit 1
for known in account:3 mergesort:53 critical-small:3 array-small:0 twostage:20; do
	run "$HEDDLE" races "tests/traces/${known%:*}.std" --analysis m2 --pairs events --format json
	is "$(json 'scalar @{$d->{findings}}')" "${known#*:}" "${known%:*}: every racy pair"
done
run "$HEDDLE" races tests/traces/derby.std --analysis m2
is "$status" 1 "derby, 75 thousand events"
like "$out" "derby.std: [0-9]+ findings by m2 in 75076 events" "derby's summary"

# bad usage and input
for bad in "--analysis nonsense" "--pairs nonsense" "--shard 3/2" "--shard 0/2" "--budget 1" \
	"--candidates nonsense" "--verdicts nonsense" "--format nonsense" "--nonsense"; do
	run "$HEDDLE" races "$scratch/1a.std" $bad
	is "$status" 2 "races $bad is refused"
	is "$(printf '%s' "$err" | grep -c '^heddle: ')" 1 "races $bad: one message"
done
run "$HEDDLE" races "$scratch/none.std"
is "$status" 2 "a trace that is not there"
run "$HEDDLE" races
is "$status" 2 "no trace at all"
# --spec: two puts of different keys commute, so they may be turned round, and x races.
cat >"$scratch/puts.std" <<'T'
#! object o dict
T1|w(x)|1
T1|act(o.put,"a",1)=nil|2
T2|act(o.put,"b",2)=nil|3
T2|w(x)|4
T
for analysis in auto smt; do
	run "$HEDDLE" races --analysis $analysis --format json "$scratch/puts.std"
	is "$(json 'scalar @{$d->{findings}}')" 0 "$analysis: without --spec invocations keep their order"
	run "$HEDDLE" races --analysis $analysis --spec specs/dict.spec --format json "$scratch/puts.std"
	is "$(json '$d->{findings}[0]{verdict}')" race "$analysis: with --spec those that commute do not"
	is "$(json '$d->{complete} ? 1 : 0')" 1 "$analysis: and all is decided"
done
run "$HEDDLE" witness --spec specs/dict.spec -o "$scratch/puts.wit" "$scratch/puts.std" 0 3
is "$status" 1 "witness --spec finds it too"
run "$HEDDLE" verify "$scratch/puts.std" "$scratch/puts.wit"
is "$status" 0 "and verify accepts it by the specification that the witness names"
sed 's/"b"/"a"/; s/=nil|3/=1|3/' "$scratch/puts.std" >"$scratch/same.std"
run "$HEDDLE" witness --spec specs/dict.spec "$scratch/same.std" 0 3
is "$status" 0 "the same key: the second put has seen the first, so there is none"
for other in "--analysis m2" "--values" "--missing"; do
	run "$HEDDLE" races $other --spec specs/dict.spec "$scratch/puts.std"
	is "$status" 2 "--spec does not go with $other"
done
done_testing
