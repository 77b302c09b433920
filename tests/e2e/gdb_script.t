#!/bin/bash
# docs/heddle.gdb prints a trace's events and vector clocks.
. tests/e2e/lib.sh
has gdb "heddle.gdb" || { done_testing; exit; }
debugged() { # COMMAND...: in gdb, where T2's acquire joins the clock of T1's release
	local c commands=()
	for c; do commands+=(-ex "$c"); done
	# a stopped program is killed, so LeakSanitizer has nothing to say
	run env -u LD_PRELOAD timeout 300 gdb -nx -q -batch -iex 'set debuginfod enabled off' \
		-x "$root/docs/heddle.gdb" -ex 'break clocks_join' \
		-ex "run races --analysis wcp $scratch/lock.std" "${commands[@]}" "$HEDDLE"
}
cat >"$scratch/lock.std" <<'T'
#! heddle 1
T1|fork(T2)|a.c:1
T1|w(x)=3|a.c:3
T1|acq(l)|a.c:2
T1|rel(l)|a.c:4
T2|acq(l)|a.c:5
T2|w(x)=4|a.c:6
T2|rel(l)|a.c:7
T
debugged
case $out in
*"Breakpoint 1, clocks_join"*) ;;
*)
	skip "heddle.gdb" "gdb cannot run a program here: $(tail -1 <<<"$err")"
	done_testing
	exit
	;;
esac
debugged "heddle clock c" "heddle clock c to" "heddle clock c 7"
like "$out" "^thread 0 \(row 0\): \[0 0\] / \[0 0\]$" "a clock of two planes"
is "$(grep -c '^thread 1 ' <<<"$out")" 2 "all clocks, or one thread's"
like "$err" "there are 2 threads, no 7" "a thread that is none"
debugged "frame function causality_step" "heddle event c->t event" "heddle event c->t 0 99" "heddle event c->t 70" \
	"heddle event c->t"
is "$(grep -c '^4 T2|acq(l)|a.c:5$' <<<"$out")" 2 "an event, by an expression and in a list"
like "$out" "^1 T1\|w\(x\)=3\|a.c:3$" "an access with its value"
like "$out" "^0 T1\|fork\(T2\)\|a.c:1$" "an operation on a thread"
is "$(grep -c '^[0-9]* T[12]|' <<<"$out")" 8 "a list ends with the trace"
like "$err" "events has 7 rows, no 70" "an event that is none"
like "$err" "usage: heddle event TRACE ID" "and what it takes"
done_testing
