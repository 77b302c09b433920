#!/bin/bash
# The scripts of docs/ci.md, run as they stand there on two tests, one with a race.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
mkdir ci reports
for script in heddle-test heddle-gate; do
	awk -v name="$script" '/^```sh/ { text = ""; in_block = 1; next } /^```/ { if (in_block && index(text, "# " name)) printf "%s", text; in_block = 0 } in_block { text = text $0 "\n" }' \
		"$root/docs/ci.md" >"ci/$script"
	chmod +x "ci/$script"
done
[ -s ci/heddle-test ] && [ -s ci/heddle-gate ]
ok $? "the document has both scripts"
mkdir bin && ln -s "$HEDDLE" bin/heddle && export PATH=$PWD/ci:$PWD/bin:$PATH
cp "$root/samples/bank/bank.c" "$root/samples/bank/fixed.c" .
"$HEDDLE" cc -g -O1 fixed.c -o fixed -pthread && "$HEDDLE" cc -g -O1 bank.c -o bank -pthread
export HEDDLE_BUDGET=20

run heddle-test ./fixed
is "$status" 0 "a test without a race passes"
like "$out" 'balance' "with its own output"
run heddle-gate
is "$status" 0 "the first report"
[ -e baseline.json ]
ok $? "becomes the baseline"
run heddle-test ./bank
is "$status" 0 "a race is no matter of the test's own verdict"
run heddle-gate
is "$status" 1 "but of the gate: it is new"
like "$out" 'new: .*data-race' "and named"
like "$(cat heddle.sarif)" '"ruleId": "data-race"' "and in the file for code scanning"
cp heddle.json baseline.json
run heddle-gate
is "$status" 0 "what the baseline has is known"
run heddle-test false
is "$status" 1 "a test that fails fails"
done_testing
