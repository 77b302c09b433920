#!/bin/bash
# Bad traces: exit status 2 and one message with the file, the line and what to do.
. tests/e2e/lib.sh
# refused CONTENT LINE REGEX NAME
refused() {
	printf "$1" >"$scratch/bad.txt"
	run "$HEDDLE" info "$scratch/bad.txt"
	is "$status" 2 "$4: exit status"
	like "$err" "^heddle: (.*/)?bad.txt:$2: .*$3" "$4: message"
	is "$(printf '%s\n' "$err" | wc -l)" 1 "$4: one line"
	is "$out" "" "$4: nothing on standard output"
}
refused 'T|w(x)|1\nT|foo(x)|1\n' 2 'expected an operation, found foo' "unknown operation"
refused 'T|w(x)\n' 1 'expected a third field' "missing field"
refused 'T|acq(l)|1\nU|acq(l)|2\n' 2 'lock l to be free.*U.*T' "lock acquired by two"
refused 'T|w(x)|1\n\n# c\nT|rel(l)|2\n' 4 'expected T to hold lock l' "release of a lock not held"
refused 'U|w(x)|1\nT|fork(U)|2\n' 2 'no event of U before its fork' "event before the fork"
refused 'T|end()|1\nT|w(x)|2\n' 2 'after its end' "event after the end"
refused 'U|w(x)|1\nT|join(U)|1\nU|w(x)|2\n' 3 'after its join' "event after the join"
refused 'T|call(o.m)|1\nT|ret(o.n)|2\n' 2 'expected the end of o.m, which is open .event 0., found ret.o.n.' "ret of another method"
refused 'T|uend(u)|1\n' 1 'expected an open ubeg' "uend of nothing"
refused 'T|back(m)|1\n' 1 'expected an open miss' "back of nothing"
refused 'T|leave(f)|1\n' 1 'expected an open enter' "leave of nothing"
refused 'T|w(x)|1\nT|w(\000)|1\n' 2 'NUL byte' "NUL byte"
refused 'T|w(\377)|1\n' 1 'UTF-8' "not UTF-8"
refused 'T|w(x)=5;acq|1\n' 1 'no order' "order of a plain access"
refused 'T|join(U)|1\nT|fork(U)|2\n' 2 'fork of U before its join' "a fork after the join"
for twice in 'semaphore s 1:semaphore s 0' 'size x 4:size x 8' 'object o dict:object o counter' \
	'source 1 a.c..3:source 1 b.c..3' 'stack T p:stack T q'; do
	first=${twice%%:*} second=${twice#*:}
	refused "#! ${first/../:}\nT|w(x)|1\n#! ${second/../:}\n" 3 "one '#! ${first%% *}' line of [a-zT1]*, found another" "two lines that contradict each other: $first"
done
printf '#! size x 4\n#! size x 4\nT|w(x)|1\n' >"$scratch/same.txt"
run "$HEDDLE" info "$scratch/same.txt"
is "$status" 0 "the same line twice is no contradiction"
refused '#! size x\n' 1 'size VARIABLE BYTES' "malformed directive"
refused 'T\033[31m|rel(l)|1\n' 1 'T\\x1B\[31m' "control bytes in names"

run "$HEDDLE" info "$scratch/none.txt"
is "$status" 2 "a file that is not there"
like "$err" 'none.txt' "is named"
run "$HEDDLE" info "$scratch"
is "$status" 2 "a folder"
head -c 100000 /dev/urandom >"$scratch/noise"
run timeout 300 "$HEDDLE" info "$scratch/noise"
is "$status" 2 "random bytes"
"$HEDDLE" convert tests/traces/account.std "$scratch/a.hdl"
head -c 300 "$scratch/a.hdl" >"$scratch/cut.hdl"
run "$HEDDLE" info "$scratch/cut.hdl"
is "$status" 2 "a binary trace that is cut off"
like "$err" 'cut.hdl' "is named"
cp "$scratch/a.hdl" "$scratch/flip.hdl"
printf '\377\377\377\377' | dd of="$scratch/flip.hdl" bs=1 seek=68 conv=notrunc 2>/dev/null
run "$HEDDLE" info "$scratch/flip.hdl"
is "$status" 2 "a damaged binary trace"
like "$err" 'damaged' "and what it is"
mv "$scratch/a.hdl" "$scratch/a.txt"
run "$HEDDLE" info "$scratch/a.txt"
is "$status" 0 "formats are told by content, not by suffix"

refused 'hello' 1 "expected a thread and" "a word, and no line end"
refused '{"a": 1}' 1 'this is JSON' "JSON in one line without an end"
refused 'T|w(x)|1\rT|w(x)|2\r' 1 'expected' "lines that end in CR alone"
printf 'T|w(' >"$scratch/cut.txt"
run "$HEDDLE" info "$scratch/cut.txt" --format json
is "$status $(json '$d->{events}')" "0 0" "a file that is cut off within its first line"
printf 'T|w(x)|1\nT|w(y)|\303' >"$scratch/cut.txt"
run "$HEDDLE" info "$scratch/cut.txt" --format json
is "$status $(json '$d->{events}')" "0 2" "a file that is cut off within a character"

# Names with control bytes, and files whose names are not UTF-8, in what every command prints.
x=$(printf '\0337')
printf '%s\n' "#! atomic-set S$x x$x y$x" "A$x|ubeg(u$x,S$x)|a$x.c:1" "A$x|r(x$x)|a$x.c:2" \
	"B$x|ubeg(v$x,S$x)|b$x.c:1" "B$x|w(x$x)|b$x.c:2" "B$x|w(y$x)|b$x.c:3" "B$x|uend(v$x)|" \
	"A$x|r(y$x)|a$x.c:3" "A$x|uend(u$x)|" >"$scratch/$(printf 'n\377\033.txt')"
odd=$scratch/$(printf 'n\377\033.txt')
for c in info races compare atomic commute deadlocks graph "explain 1 3" "witness 1 3" "atomic --sets"; do
	for format in "" "--format json" "--format sarif"; do
		set -- $c
		"$HEDDLE" "$1" "$odd" "${@:2}" $format >"$scratch/printed" 2>&1
		[ $? = 2 ] && [ -n "$format" ] && continue # it has no such format
		grep -q '[[:cntrl:]]' <(tr -d '\n' <"$scratch/printed")
		is $? 1 "$c $format: no control bytes"
		iconv -f UTF-8 -t UTF-8 "$scratch/printed" >/dev/null 2>&1
		is $? 0 "and UTF-8"
		case $format in *json)
			out=$("$HEDDLE" "$1" "$odd" "${@:2}" $format 2>/dev/null)
			is "$(json 'defined $d->{heddle}')" 1 "and JSON" ;;
		esac
	done
done

# Streams: standard input, the shell's pipes; a pipe that nobody writes into does not hang.
printf 'T|w(x)|1\nU|r(x)|2\n' >"$scratch/pair.txt"
run bash -c "cat '$scratch/pair.txt' | '$HEDDLE' races - --format json"
is "$status" 1 "a trace from standard input"
is "$(json '$d->{findings}[0]{second}')" 1 "is read whole"
run bash -c "'$HEDDLE' info <(cat '$scratch/a.txt') --format json"
is "$(json '$d->{events}')" 15 "a binary trace from a pipe of the shell"
run bash -c "'$HEDDLE' witness - 0 1 -q <'$scratch/pair.txt' | sed -n 's/^#! trace - //p'"
is "$out" "$(sha256sum "$scratch/pair.txt" | cut -d' ' -f1)" "and its sum is in the witness"
run "$HEDDLE" races - --format json
is "$status" 0 "an empty file is a trace without events"
like "$err" "the file is empty" "which is said"
is "$(json '$d->{warnings}[0]')" "the file is empty" "and in JSON"
mkfifo "$scratch/pipe"
for c in "info $scratch/pipe" "verify $scratch/pair.txt $scratch/pipe" "merge $scratch/pipe" \
	"lesson --class $scratch/pipe" "races $scratch/pair.txt --spec $scratch/pipe" "convert $scratch/pair.txt $scratch/pipe"; do
	run timeout 300 "$HEDDLE" $c
	is "$status" 2 "a pipe without another end: ${c%% *}"
	like "$err" '^heddle: (.*/)?pipe: ' "is named"
done
run "$HEDDLE" info /dev/zero
is "$status" 2 "a device"
run "$HEDDLE" info /proc/version
is "$status: $err" "2: heddle: /proc/version: cannot open the trace: it is a file of /proc; name a trace that you can read" "a file of /proc"
: >"$scratch/empty.txt"
for c in 'explain' 'witness'; do
	run "$HEDDLE" $c "$scratch/empty.txt" 0 1
	is "$status" 2 "$c of an empty trace"
	like "$err" 'there is no event [01], the trace has 0 events, counted from 0' "says how many it has"
done
run "$HEDDLE" doctor now
is "$status: $err" "2: heddle: doctor: takes options alone, found 'now'; see 'heddle doctor --help'" "a word to a command without"
run "$HEDDLE" record --seed 99999999999999999999 -- true
like "$err" '--seed: expected a number below 2\^64, found' "a number that no one can hold"
run "$HEDDLE" open "$scratch/pair.txt" --at 99999999999999999999999 --script /dev/null
is "$status: $err" "2: heddle: there is no event 99999999999999999999999: the trace has 0 to 1" "an event beyond all"
run bash -c "'$HEDDLE' convert '$scratch/pair.txt' '$scratch/closed.hdl' >&- 2>&- <&-"
run "$HEDDLE" info "$scratch/closed.hdl"
is "$status" 0 "a file written while the standard streams are closed holds no messages"

# What a beginner gives in the place of a trace, or of a command.
echo 'int main(void) { return 0; }' >"$scratch/bank.c"
cc "$scratch/bank.c" -o "$scratch/bank"
run "$HEDDLE" races "$scratch/bank"
is "$status" 2 "a program is no trace"
like "$err" "^heddle: (.*/)?bank: is a program, not a trace.*heddle record" "and how one gets a trace"
run "$HEDDLE" check "$scratch/bank"
is "$status" 2 "nor for check"
like "$err" "^heddle: (.*/)?bank: is a program, not a trace.*'heddle check -- $scratch/bank'" "which runs it"
run "$HEDDLE" "$scratch/bank.c"
is "$status" 2 "nor is a source file"
like "$err" "^heddle: (.*/)?bank.c: is source code, not a trace.*heddle cc" "and how one gets a trace"
run "$HEDDLE" recrod -- x
is "$status" 2 "a command misspelt"
like "$err" "did you mean 'record'" "is guessed"
run "$HEDDLE" record --max-size 200M -- true
like "$err" "--max-size: expected a number \(MB\), found '200M'" "a number with a unit: the unit is named"
for c in explore shake orders replay; do
	run "$HEDDLE" $c "$scratch/bank.c"
	like "$status $err" "^(2|125) heddle: $c: the program is given after --, found '[^']*bank.c' before it" \
		"$c: a trace or a program that does not stand after --"
done
run "$HEDDLE" zzz
unlike "$err" "did you mean" "what is like none is not"
"$HEDDLE" record -q -o "$scratch/bank.hdl" -- "$scratch/bank" 2>/dev/null
run "$HEDDLE" races "$scratch/bank.hdl"
is "$status" 0 "a program that is not instrumented: nothing found"
[ "$("$HEDDLE" info --format json "$scratch/bank.hdl" | sed -n 's/.*"events": *\([0-9]*\).*/\1/p' | head -n 1)" = 0 ] ||
	like "$out$err" "no access to memory" "and nothing was looked at"
run "$HEDDLE" -
is "$status" 2 "the explorer does not take its trace from where its keys come from"
done_testing
