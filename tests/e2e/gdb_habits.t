#!/bin/bash
# What fingers know from gdb works in the explorer's command line; a tree is no trace, and says so.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
export COLUMNS=100 LINES=30
"$HEDDLE" cc -g -O1 "$root/tests/e2e/programs/stale_sum.c" -fno-inline -o sum -pthread || exit 1
run "$HEDDLE" record -q --seed 1 -o sum.hdl -- ./sum
# commands COMMAND...: a script of them; its status and, from the screen then, $screen
commands() {
	rm -f s.txt
	printf '%s\n' "$@" "save-screen s.txt" >commands.script
	run timeout 300 "$HEDDLE" open sum.hdl --script commands.script
	screen=$(cat s.txt 2>/dev/null)
}
commands "goto 0" "break add" continue continue
is "$status" 0 "break FUNCTION stops at both threads' entries"
commands "goto 0" "break add" continue continue continue
is "$status" 2 "and nowhere else"
like "$err" "no breakpoint is met" "which is said"
commands "goto 0" "break add if thread == T2" continue
is "$status" 0 "a thread has a name"
commands "goto 0" "break add if thread == T2" continue continue
is "$status" 2 "and it is one thread"
commands "goto 0" "break add if thread == T7"
is "$status" 2 "no such thread"
like "$err" "the recording has no access to a variable 'T7'" "it says so"
entered=$("$HEDDLE" convert sum.hdl - --to text | grep -v '^#' | grep -n '^T2|enter(add)' | cut -d: -f1)
commands "goto 0" "break add if thread == T2" continue "view trace"
like "$screen" "▸ *$entered " "it is the first event of T2 inside"

printf '#! heddle 1\nT1|w(main::q.pending)=3|f.c:1\nT1|w(f::x)=1|f.c:2\nT1|w(g::x)=2|f.c:3\n' >sum.hdl
commands "goto 2" "print q.pending"
is "$status" 0 "a local variable without its function"
commands "goto 0" "break f.c:2 if q.pending == 3" continue
is "$status" 0 "in a condition, too"
commands "goto 0" "break f.c:2 if q.pending == 4" continue
is "$status" 2 "which is of that variable"
commands "goto 0" "break f.c:1 if x == 1"
like "$err" "the recording has no access to a variable 'x'" "not where two functions have one"
commands "goto 2" "print x"
like "$(tr '\n' ' ' <<<"$screen")" "f::x = 1 .*g::x = 2" "print shows both where two functions have one"

commands "goto 2" "info frame"
like "$screen" "event 2 of T1: .*in g f.c:3|event 2 of T1: " "info frame: where one is"
commands "goto 2" "display q.pending" "info display"
like "$screen" "q.pending" "info display: the variables that are kept"

# files of the explorer's own choice lie beside the trace
mkdir elsewhere traces
printf 'T1|w(%s)|f.c:1\nT1|w(%s)|f.c:1\nT2|w(%s)|f.c:2\nT2|w(%s)|f.c:2\n' a b a b >traces/two.txt
printf '%s\n' wait "export x.json" "press e" >e.script
(cd elsewhere && "$HEDDLE" open ../traces/two.txt --script ../e.script)
is "$(ls elsewhere; ls traces)" "$(printf 'x.json\ntwo.txt\ntwo.txt-0-2.md')" "e writes beside the trace"
run cat elsewhere/x.json
is "$(json 'join " ", $d->{variable}, @{$d->{variables}}')" "a a b" "the variables' names, and no count"
run "$HEDDLE" explore -o tree -- ./sum
run "$HEDDLE" races tree
is "$status" 2 "a tree is no trace"
like "$err" "tree:1: this is JSON, a report or the tree of an exploration, and no trace; of an exploration's tree, open a run, as in 'heddle TREE.run0.hdl', and press X" "and the message says how to open it"
done_testing
