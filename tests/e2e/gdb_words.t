#!/bin/bash
# gdb's words in the explorer, on a real recording: pointers are followed to the object that they
# point to at the event, locals are those of the frame, and a value that is not recorded is
# refused by name.
. tests/e2e/lib.sh
cd "$scratch" || exit
"$HEDDLE" cc -g -O0 "$root/tests/e2e/programs/printed.c" -o printed -pthread
run "$HEDDLE" record --seed 1 -o printed.hdl -- ./printed
is "$status" 0 "the program is recorded"
# Each thread has pushed three jobs, the first one last in the chain.
answer() { # COMMANDS...: what the last one shows
	printf '%s\n' wait 'goto 0' 'break last' 'continue' "$@" 'save-screen shown.txt' >answer.script
	rm -f shown.txt
	run env LINES=40 COLUMNS=120 "$HEDDLE" open printed.hdl --script answer.script
	[ -e shown.txt ] && out=$(tr -s ' ' <shown.txt)
}
answer 'print *q.first'
like "$out" '->n = 2 .written by T2' "*q.first is the job that was pushed last"
answer 'print *q.first->next'
like "$out" '->n = 1 ' "q.first->next is the one before"
answer 'print q.first->next->next->next->next->next->next->n'
like "$err" 'q.first->next is NULL here' "the chain ends: NULL is said"
answer 'finish' 'info locals'
like "$out" 'main::t.0. = 0x' "locals of the frame"
like "$out" 'most whose address is not taken, are not recorded' "and their limit"
answer 'print nosuch'
like "$err" "the recording has no access to a variable 'nosuch'" "a name that is not recorded"
answer 'print cells[q.head].nosuch'
like "$err" "no access to a variable 'cells.q.head..nosuch'" "in the words of the user"
answer 'finish' 'info frame'
like "$out" 'in main printed.c:45' "finish comes back to main"
done_testing
