#!/bin/bash
# --format quickfix: a line for each place of a finding that editors read; vim goes to it.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cp "$root/samples/bank/bank.c" .
"$HEDDLE" cc -g -O1 bank.c -o bank -pthread || exit 1
"$HEDDLE" record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
run "$HEDDLE" races bank.hdl --format quickfix
is "$status" 1 "a race: the same status as in other formats"
is "$(wc -l <<<"$out")" 2 "a line for each place"
like "$(head -1 <<<"$out")" "^/.*/bank.c:23:[0-9]+: data-race: T1 writes acct.balance" "file, line, column, text"
like "$(tail -1 <<<"$out")" "^/.*/bank.c:33:[0-9]+: data-race: the other place: " "and the other place"
echo "$out" >races.err
run "$HEDDLE" races bank.hdl --format json
echo "$out" >old.json
run "$HEDDLE" check --no-harm --format quickfix bank.hdl
like "$out" "^/.*/bank.c:23:[0-9]+: data-race: " "check"
run "$HEDDLE" diff old.json bank.hdl --format quickfix
like "$out" "bank.c:23:[0-9]+: data-race: " "diff"
"$HEDDLE" check --no-harm --format json bank.hdl >a.json
cp a.json b.json
run "$HEDDLE" merge a.json b.json --format quickfix
like "$out" "bank.c:23:[0-9]+: data-race: " "merge"
run "$HEDDLE" explore --format quickfix -- ./bank
like "$out" "^bank.c:[0-9]+:1: [a-z-]+: " "explore"
unlike "$out" "executions" "and nothing else"
run "$HEDDLE" deadlocks bank.hdl --format quickfix
is "$status$out" 0 "nothing found: no line"
run "$HEDDLE" races bank.hdl --format quick
like "$status $err" "2 .*quickfix" "another word is refused, with those there are"
if ! command -v vim >/dev/null; then
	skip "vim reads it" "vim is not installed"
	done_testing
	exit
fi
timeout 300 vim -Nu NONE -es -c "set errorformat=%f:%l:%c:\ %m" -c "cfile races.err" \
	-c "call writefile([bufname('%') . ' ' . line('.') . ' ' . len(getqflist())], 'at.txt')" -c "qa!" </dev/null >/dev/null 2>&1
like "$(cat at.txt)" "bank.c 23 2$" "vim stands at the first place"
done_testing
