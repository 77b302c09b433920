#!/bin/bash
# `heddle convert`: between the formats, without losing what they can say.
. tests/e2e/lib.sh
for f in tests/traces/*.std; do
	name=${f##*/}
	case $name in boundedbuffer-small.std) lenient=--lenient ;; *) lenient= ;; esac
	run "$HEDDLE" convert $lenient "$f" "$scratch/a.hdl"
	is "$status" 0 "$name to binary"
	run "$HEDDLE" convert "$scratch/a.hdl" "$scratch/a.std"
	is "$status" 0 "$name to STD"
	[ -z "$lenient" ] && is "$(cksum <"$scratch/a.std")" "$(cksum <"$f")" "$name comes back the same"
done

run "$HEDDLE" convert tests/fuzz/corpus/operations.txt "$scratch/ops.hdl"
is "$status" 0 "every operation, to binary"
"$HEDDLE" convert "$scratch/ops.hdl" "$scratch/ops.txt"
"$HEDDLE" convert tests/fuzz/corpus/operations.txt "$scratch/direct.txt"
is "$(cat "$scratch/ops.txt")" "$(cat "$scratch/direct.txt")" "text by way of binary is the same"
"$HEDDLE" convert "$scratch/ops.txt" "$scratch/again.txt"
is "$(cat "$scratch/again.txt")" "$(cat "$scratch/ops.txt")" "text of text is the same"
like "$(cat "$scratch/ops.txt")" 'act\(o\.put,"a\|b\\n\\x01",c1\)=nil,3' "strings keep their escapes"
like "$(cat "$scratch/ops.txt")" '^#! semaphore s 3' "directives are kept"
like "$(cat "$scratch/ops.txt")" '^#! source 345 src/account.c:41' "sources are kept"

run "$HEDDLE" convert --to std "$scratch/ops.hdl" -
is "$status" 0 "to STD on standard output"
like "$err" 'left out [0-9]+ of 46 events' "says how many events it left out"
unlike "$out" '^#' "STD has no comments"
unlike "$out" '\|[^|]*[^0-9|][^|]*$' "STD's locations are integers"

run "$HEDDLE" convert --to binary tests/traces/account.std -
is "$status" 2 "no binary trace on standard output"
run "$HEDDLE" convert tests/traces/account.std "$scratch/no/such/x.hdl"
is "$status" 2 "an output that cannot be written"
like "$err" 'x.hdl' "is named"
run "$HEDDLE" convert tests/traces/account.std /dev/full
is "$status" 2 "a full disk"
like "$err" 'cannot write' "is an error"
cp tests/traces/account.std "$scratch/keep.txt"
printf 'T|rel(l)|1\n' >"$scratch/bad.txt"
run "$HEDDLE" convert "$scratch/bad.txt" "$scratch/keep.txt"
is "$status" 2 "a bad input"
is "$(cat "$scratch/keep.txt")" "$(cat tests/traces/account.std)" "leaves the old output alone"
is "$(ls "$scratch" | grep -c 'hdl\.')" 0 "no temporary file is left behind"
run "$HEDDLE" convert tests/traces/account.std "$scratch/x.txt" --to nonsense
is "$status" 2 "an unknown format"
done_testing
