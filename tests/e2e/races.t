#!/bin/bash
# heddle races: shards, the traces at hand, bad usage; the rest is in tests/e2e/cases/races.
. tests/e2e/lib.sh
cases=$root/tests/e2e/cases/races
cd "$scratch" || exit 1

all=0
for i in 1 2 3; do
	run "$HEDDLE" races "$cases/sites.txt" --analysis m2 --pairs events --shard $i/3 --format json
	all=$((all + $(json 'scalar @{$d->{findings}}')))
done
is "$all" 2 "the shards together have everything, once"

# the traces at hand: what an exact search finds
cd "$root" || exit 1
for known in account:3 mergesort:53 critical-small:3 array-small:0 twostage:20; do
	run "$HEDDLE" races "tests/traces/${known%:*}.std" --analysis m2 --pairs events --format json
	is "$(json 'scalar @{$d->{findings}}')" "${known#*:}" "${known%:*}: every racy pair"
done
run "$HEDDLE" races tests/traces/derby.std --analysis m2
is "$status" 1 "derby, 75 thousand events"
like "$out" "derby.std: [0-9]+ findings by m2 in 75076 events" "derby's summary"

# witnesses that a report does not keep are checked all the same
run "$HEDDLE" races "$cases/figure_1a.std" --format json --witness-events 0
is "$status $(json 'join " ", map { $_->{verdict} . (exists $_->{witness} ? " kept" : "") } @{$d->{findings}}')" "1 race" \
	"--witness-events 0: no witness"
like "$(json 'join "; ", @{$d->{notes}}')" "witnesses checked and not kept.*: 1" "which a note counts"

# of many variables the text names four, and counts the others; the JSON has all
vs=(a b c d e f)
for u in 1 2; do for v in "${vs[@]}"; do echo "T$u|w($v)|$u"; done; done >"$scratch/many.std"
run "$HEDDLE" races "$scratch/many.std" --analysis lockset
like "$out" "data-race  on a, b, c, d and 2 more  \(6\)" "four names and a number"
run "$HEDDLE" races "$scratch/many.std" --analysis lockset --format json
is "$(json 'join " ", $d->{findings}[0]{variable}, @{$d->{findings}[0]{variables}}, exists $d->{findings}[0]{more} ? "more" : ""')" \
	"a a b c d e f " "all names in the JSON"

# bad usage and input
for bad in "--analysis nonsense" "--pairs nonsense" "--shard 3/2" "--shard 0/2" "--budget 1" \
	"--candidates nonsense" "--verdicts nonsense" "--format nonsense" "--nonsense"; do
	run "$HEDDLE" races "$cases/figure_1a.std" $bad
	is "$status" 2 "races $bad is refused"
	is "$(printf '%s' "$err" | grep -c '^heddle: ')" 1 "races $bad: one message"
done
run "$HEDDLE" races "$scratch/none.std"
is "$status" 2 "a trace that is not there"
run "$HEDDLE" races
is "$status" 2 "no trace at all"
run "$HEDDLE" deadlocks nowhere.txt
is "$status" 2 "the same of deadlocks"
like "$err" "nowhere.txt" "which names it"
done_testing
