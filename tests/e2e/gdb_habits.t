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
	run timeout 120 "$HEDDLE" open sum.hdl --script commands.script
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
like "$err" "'T7' where a variable or a thread of the trace, or a number was expected" "it says so"
entered=$("$HEDDLE" convert sum.hdl - --to text | grep -v '^#' | grep -n '^T2|enter(add)' | cut -d: -f1)
commands "goto 0" "break add if thread == T2" continue "view trace"
like "$screen" "▸.*T2|▸ *$((entered - 1))" "it is the entry of T2"

printf '#! heddle 1\nT1|w(main::q.pending)=3|f.c:1\nT1|w(f::x)=1|f.c:2\nT1|w(g::x)=2|f.c:3\n' >sum.hdl
commands "goto 2" "print q.pending"
is "$status" 0 "a local variable without its function"
commands "goto 2" "print x"
is "$status" 2 "not where two functions have one"
run "$HEDDLE" explore -o tree -- ./sum
run "$HEDDLE" races tree
is "$status" 2 "a tree is no trace"
like "$err" "tree:1: this is JSON, a report or the tree of an exploration, and no trace; of an exploration's tree, open a run, as in 'heddle TREE.run0.hdl', and press X" "and the message says how to open it"
done_testing
