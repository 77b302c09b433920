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

# what recordings know beside the operation
cat >"$scratch/flags.txt" <<'T'
#! heddle 1
#! truncated
T1|wait(c);timed|1
T1|wake(c);timeout|2
T2|tryfail(l);shared|1
T1|ar(x)=1;seq_cst,failed|2
T1|aw(x);rel,volatile|2
T1|r(x)=4;volatile|2
T1|snd(g);failed|3
T1|call(o.m)|4
T1|ret(o.m)=3;left|5
T
"$HEDDLE" convert "$scratch/flags.txt" "$scratch/flags.hdl"
run "$HEDDLE" convert "$scratch/flags.hdl" -
is "$out" "$(cat "$scratch/flags.txt")" "words after the operation, and an early end, by way of binary"
for line in 'wait(c);acq,timed' 'wait(c);' 'r(x);acq' 'r(x);timed' 'ar(x);timed' 'ar(x);acq,acq' 'rel(l);timed'; do
	printf 'T|%s|1\nT|w(x)|2\n' "$line" >"$scratch/wrong.txt"
	run "$HEDDLE" info "$scratch/wrong.txt"
	is "$status" 2 "$line is refused"
	like "$err" 'wrong.txt:1: expected' "$line: where"
done
# what was read with --lenient stays readable
printf 'T1|acq(l)|1\nT2|acq(l)|2\nT1|rel(l)|3\nT2|rel(l)|4\nT1|w(x)|5\n' >"$scratch/taken.std"
"$HEDDLE" convert --lenient "$scratch/taken.std" "$scratch/taken.txt" 2>"$scratch/err"
run "$HEDDLE" convert "$scratch/taken.txt" "$scratch/again.txt"
is "$status" 0 "a text of a trace read with --lenient is read"
is "$(cat "$scratch/again.txt")" "$(cat "$scratch/taken.txt")" "and is the same"

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
