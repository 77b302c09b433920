#!/bin/bash
# heddle diff, and --baseline: what is new, what is gone and why, what a fix left.
. tests/e2e/lib.sh
samples=$root/samples
cd "$scratch" || exit 1
states='join " ", (map { "$_->{baselineState}" } @{$d->{findings}}), map { "$_->{baselineState}:$_->{became}{fate}" } @{$d->{absent}}'

# the bank sample, its fix, and the bank with lines moved
record() { # record DIR SOURCE
	mkdir -p "$1" && cp "$2" "$1/bank.c"
	(cd "$1" && "$HEDDLE" cc -g -O1 bank.c -o bank -pthread && "$HEDDLE" record -q -o bank.hdl -- ./bank) >/dev/null 2>&1
}
record old "$samples/bank/bank.c"
record fixed "$samples/bank/fixed.c"
{ echo '/* one */'; echo '/* two */'; sed 's|audit = 0;|audit = 0; /* here\n\tand there */|' "$samples/bank/bank.c"; } >moved.c
record moved moved.c
run "$HEDDLE" diff old/bank.hdl fixed/bank.hdl
is "$status" 0 "a fix: nothing new"
like "$out" "^gone: race: data-race  on acct.balance" "what is gone"
like "$out" "now: proved impossible \(bank.c:18, bank.c:27\), by the closure" "it is proved impossible"
like "$out" "critical sections on m .* may not overlap" "with the proof"
like "$out" "fixed/bank.hdl against old/bank.hdl: 0 new, 0 known, 1 gone" "and counted"
run "$HEDDLE" diff fixed/bank.hdl old/bank.hdl
is "$status" 1 "the other way it is new"
like "$out" "^new: race: data-race  on acct.balance" "and named"
like "$out" "before: proved impossible" "it was impossible"
run "$HEDDLE" diff old/bank.hdl moved/bank.hdl
is "$status" 0 "lines that moved: nothing new"
like "$out" "^left: race: data-race  on acct.balance" "it is left"
like "$out" "was at deposit, bank.c:23; report, bank.c:33" "and where it was"
like "$out" "0 new, 1 known \(1 at other lines\), 0 gone" "counted so"
run "$HEDDLE" diff old/bank.hdl old/bank.hdl --format json
is "$(json "$states")" "unchanged" "a trace against itself"

# reports in their place
"$HEDDLE" races old/bank.hdl --format json >old.json
"$HEDDLE" races fixed/bank.hdl --format json >fixed.json
"$HEDDLE" races fixed/bank.hdl --verdicts all --format json >all.json
run "$HEDDLE" diff old.json fixed/bank.hdl --format json
is "$(json "$states")" "absent:impossible" "a report and a trace"
is "$(json '$d->{absent}[0]{became}{proof}{method}')" "closure" "the proof in JSON"
run "$HEDDLE" diff old.json fixed.json --format json
is "$(json "$states")" "absent:not-reported" "two reports know no more"
run "$HEDDLE" diff old.json all.json --format json
is "$(json "$states")" "absent:impossible" "but what they list"
run "$HEDDLE" diff old.json fixed/bank.hdl --format sarif
is "$(json '$d->{runs}[0]{results}[0]{baselineState}')" absent "as SARIF"

# --baseline
run "$HEDDLE" races old/bank.hdl --baseline old.json
is "$status" 0 "what the baseline knows is no finding"
unlike "$out" "^race:" "and is not listed"
like "$out" "against old.json: 0 new, 1 known, 0 gone" "but counted"
sed 's/"verdict": "[a-z]*"/"verdict": "unknown"/' old.json >open.json
run "$HEDDLE" races old/bank.hdl --baseline open.json
is "$status" 1 "what the baseline left open is not known"
like "$out" "against open.json: [1-9][0-9]* new, 0 known" "but new"
run "$HEDDLE" races old/bank.hdl --baseline fixed.json
is "$status" 1 "what it does not is one"
like "$out" "^new: race: data-race  on acct.balance" "said to be new"
run "$HEDDLE" races old/bank.hdl --baseline fixed.json --format json
is "$(json '$d->{findings}[0]{baselineState} . " " . $d->{baseline}{new}')" "new 1" "in JSON"
is "$(json 'scalar @{$d->{findings}[0]{witness}} > 0 ? 1 : 0')" 1 "with the witness"
run "$HEDDLE" races fixed/bank.hdl --baseline old.json
is "$status" 0 "a fix against the baseline"
like "$out" "^gone: race" "what it mended"
like "$out" "now: proved impossible" "for good"
run "$HEDDLE" races moved/bank.hdl --baseline old.json --format sarif
is "$(json '$d->{runs}[0]{results}[0]{baselineState}')" updated "SARIF: moved lines"
run "$HEDDLE" races old/bank.hdl --baseline no-such.json
is "$status" 2 "no baseline"
run "$HEDDLE" races old/bank.hdl --baseline old/bank.hdl
is "$status" 2 "no report"

# what else may have become of a finding: text traces, a function they are not told
trace() { printf '#! heddle 1\n%s\n' "$(printf '%s\n' "$@")" >"$name.txt"; }
name=before trace 'T1|fork(T2)|a.c:1' 'T1|w(x)|a.c:10' 'T1|w(y)|a.c:40' 'T1|w(z)|a.c:70' 'T1|w(u)|a.c:99' \
	'T2|w(x)|a.c:11' 'T2|w(y)|a.c:41' 'T2|w(z)|a.c:71' 'T2|w(u)|a.c:99'
name=after trace 'T1|fork(T2)|a.c:1' 'T1|w(x)|a.c:13' 'T1|w(q)|a.c:40' 'T2|w(x)|a.c:14' 'T2|w(q)|a.c:41' \
	'T2|w(u)|a.c:99' 'T1|join(T2)|a.c:98' 'T1|w(u)|a.c:99'
run "$HEDDLE" diff before.txt after.txt --format json
is "$(json "join ' ', map { \"\$_->{variable}:\$_->{baselineState}\" } @{\$d->{findings}}")" "x:updated q:unchanged" \
	"near lines and a common variable; the same lines"
is "$(json 'join " ", map { "$_->{variable}:$_->{became}{fate}" } @{$d->{absent}}')" "z:not-executed u:ordered" \
	"not executed; ordered"
sed 's/w(z)/r(w)/' before.txt >other.txt
run "$HEDDLE" diff before.txt other.txt --format json
is "$(json 'join " ", map { "$_->{variable}:$_->{became}{fate}" } @{$d->{absent}}')" "z:not-accessed" "not accessed"
sed 's/a.c:/b.c:/' before.txt >elsewhere.txt
run "$HEDDLE" diff before.txt elsewhere.txt
is "$status" 1 "another file is another place"
run "$HEDDLE" diff before.txt
is "$status" 2 "one operand"
run "$HEDDLE" diff before.txt not-there.txt
is "$status" 2 "no such trace"

# deadlocks, atomicity and commutativity have baselines too
name=dead trace 'T1|acq(l)|1' 'T1|acq(m)|2' 'T1|rel(m)|3' 'T1|rel(l)|4' 'T2|acq(m)|5' 'T2|acq(l)|6' 'T2|rel(l)|7' 'T2|rel(m)|8'
name=live trace 'T1|acq(l)|1' 'T1|acq(m)|2' 'T1|rel(m)|3' 'T1|rel(l)|4' 'T1|fork(T2)|9' 'T2|acq(m)|5' 'T2|acq(l)|6' 'T2|rel(l)|7' 'T2|rel(m)|8'
"$HEDDLE" deadlocks dead.txt --format json >dead.json
run "$HEDDLE" deadlocks dead.txt --baseline dead.json
is "$status" 0 "a known deadlock"
run "$HEDDLE" diff dead.txt live.txt --format json
like "$(json "$states")" "^absent:(impossible|not-reported)$" "a deadlock is gone"
run "$HEDDLE" diff live.txt dead.txt
is "$status" 1 "a new one"
name=atomic trace '#! atomic-set S x y' 'T1|ubeg(f,S)|1' 'T1|w(x)|2' 'T2|ubeg(g,S)|3' 'T2|w(x)|4' 'T2|w(y)|5' 'T2|uend(g)|6' 'T1|w(y)|7' 'T1|uend(f)|8'
run "$HEDDLE" atomic atomic.txt --all --format json
printf '%s' "$out" >atomic.json
is "$(json '@{$d->{findings}} > 0 ? 1 : 0')" 1 "an atomicity violation"
run "$HEDDLE" atomic atomic.txt --all --baseline atomic.json
is "$status" 0 "a known one"
odd=$(printf 'odd\377\033[31m.txt')
cp atomic.txt "$odd"
run "$HEDDLE" diff "$odd" atomic.txt
like "$out" '^atomic.txt against odd\\xFF\\x1B\[31m.txt:' "a file's name is printed without its control bytes"
# Marks of a reader are for all recordings that share a file of notes.
figure_1a >"$scratch/first.txt"
cp "$scratch/first.txt" "$scratch/second.txt"
printf 'wait\ntriage benign known for years\n' >"$scratch/mark"
printf 'wait\nfilter benign years\nsave-screen %s\n' "$scratch/marked.screen" >"$scratch/look"
run "$HEDDLE" open "$scratch/first.txt" --notes "$scratch/project.notes" --script "$scratch/mark"
is "$status" 0 "a finding is marked"
run "$HEDDLE" open "$scratch/second.txt" --notes "$scratch/project.notes" --script "$scratch/look"
is "$status" 0 "another recording is opened with these notes"
like "$(cat "$scratch/marked.screen")" "data race .*benign" "the same finding is marked there"
[ ! -e "$scratch/first.txt.notes" ]
ok $? "and nothing is written beside the trace"
done_testing
