#!/bin/bash
# --suppressions: ThreadSanitizer's files and the explorer's marks.
. tests/e2e/lib.sh
samples=$root/samples
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 "$samples/bank/bank.c" -o bank -pthread &&
	"$HEDDLE" record -q --seed 1 -o bank.hdl -- ./bank >/dev/null 2>&1

suppressed() { # suppressed LINE 0|1 NAME: what the line does to the race of deposit and report
	printf '# ours\n\n%s\n' "$1" >supp
	run "$HEDDLE" races bank.hdl --suppressions supp
	is "$status" "$2" "$3"
}
suppressed 'race:deposit' 0 "a function"
like "$out" '^suppressed: 1 finding by race:deposit \(supp:3\)' "the line that suppresses is named"
like "$out" 'no other data race' "and nothing is called free of races"
unlike "$out" '^race: ' "the finding is not listed"
suppressed 'race:report' 0 "the other function"
suppressed 'race:worker' 0 "a caller"
suppressed 'race_top:worker' 1 "race_top is about the innermost function"
suppressed 'race_top:deposit' 0 "which this is"
suppressed 'race:^epos' 1 "the beginning"
suppressed 'race:^dep*it$' 0 "any text, to the end"
suppressed 'race:depos$' 1 "the end"
suppressed 'race:samples/bank/*.c' 0 "a file"
suppressed 'race:acct.balance' 0 "a variable"
suppressed 'race:dep.sit' 1 "a dot is a dot"
suppressed 'deadlock:deposit' 1 "another kind"
suppressed 'data-race:deposit' 0 "the kind by its own name"
suppressed 'called_from_lib:deposit' 1 "called_from_lib is about libraries"
suppressed 'thread:*' 1 "types without findings are accepted"
suppressed 'signal:deposit' 1 "also signal"
for bad in 'rce:x' 'race' 'race:'; do
	suppressed "$bad" 2 "refused: $bad"
	like "$err" "supp:3: expected TYPE:PATTERN, found '$bad'; types are race" "with its place and what is possible"
done
run "$HEDDLE" races bank.hdl --suppressions nowhere
is "$status" 2 "no such file"
like "$err" "nowhere" "named"

echo 'race:deposit' >supp
run "$HEDDLE" races bank.hdl --suppressions supp --format json
is "$status" 0 "in JSON it does not count"
is "$(json '$d->{findings}[0]{suppressed}')" "race:deposit (supp:1)" "but is there, with the line"
run "$HEDDLE" races bank.hdl --suppressions supp --format sarif
is "$(json '$d->{runs}[0]{results}[0]{suppressions}[0]{justification}')" "race:deposit (supp:1)" "and in SARIF"
run "$HEDDLE" check --budget 600 --runs 2 --suppressions supp -- ./bank
is "$status" 0 "check: nothing that counts"
like "$out" 'suppressed: 1 finding' "and says so"
run "$HEDDLE" check --budget 600 --runs 2 --suppressions supp --format json -- ./bank
is "$(json '$d->{findings}[0]{suppressed}')" "race:deposit (supp:1)" "check in JSON"

# kept by record
printf '# ours\nrace:deposit' >supp
run "$HEDDLE" record -q --seed 1 --suppressions supp -o kept.hdl -- ./bank
is "$status" 0 "record takes them"
run "$HEDDLE" races kept.hdl
is "$status" 0 "and every later command knows them"
like "$out" 'suppressed: 1 finding by race:deposit \(kept.hdl:2\)' "by the trace's name"
run "$HEDDLE" check kept.hdl
is "$status" 0 "check of the trace, too"
echo 'rce:x' >bad
run "$HEDDLE" record -q --suppressions bad -o never.hdl -- ./bank
is "$status" 125 "record refuses a damaged file"
[ ! -e never.hdl ]
ok $? "before it runs the program"

# marks of the explorer
cat >bank.hdl.notes <<'N'
{"heddle-notes": 1, "findings": [
 {"finding": "data-race|bank.c:23|bank.c:33|", "mark": "benign", "note": "a statistic"}]}
N
run "$HEDDLE" races bank.hdl --suppressions bank.hdl.notes
is "$status" 0 "what is marked benign is suppressed"
like "$out" 'suppressed: 1 finding by marked benign: a statistic \(bank.hdl.notes\)' "with the note"
sed -i s/benign/real/ bank.hdl.notes
run "$HEDDLE" races bank.hdl --suppressions bank.hdl.notes
is "$status" 1 "what is marked real is not"
echo '{"other": 1}' >other
run "$HEDDLE" races bank.hdl --suppressions other
is "$status" 2 "other JSON is refused"
echo '{"heddle-notes": 1, "findings": ' >other
run "$HEDDLE" races bank.hdl --suppressions other
is "$status" 2 "so is damaged JSON"
done_testing
