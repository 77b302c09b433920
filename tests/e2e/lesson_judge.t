#!/bin/bash
# heddle lesson: a fix is right when the program ends by itself under every schedule, prints what
# a right one prints, and exploration finds nothing.  Each wrong fix takes the place of the
# lesson's own, and the lesson is played.
. tests/e2e/lib.sh
export XDG_STATE_HOME=$scratch/state HOME=$scratch TMPDIR=$scratch
mkdir -p "$XDG_STATE_HOME"

# judged SAMPLE LESSON SOURCE PERL: the lesson with a fix made of the source by a Perl edit
judged() {
	local folder=$scratch/$2
	rm -rf "$folder" && cp -r "samples/$1" "$folder"
	perl -0pe "$4" "samples/$1/$3" >"$folder/fixed.c"
	cmp -s "samples/$1/$3" "$folder/fixed.c" && [ -n "$4" ] && echo "# the edit changes nothing"
	run "$HEDDLE" lesson "$folder/$2.lesson" --play
}
wrong() { # wrong REASON DESCRIPTION
	is "$status" 2 "$2: is not accepted"
	like "$err" "the fix is not right: .*$1" "and why"
}
lock='static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m);'

judged account lost-update account.c \
	's/long balance = a->balance;/'"$lock"' long balance = a->balance; pthread_mutex_unlock(&m);/; s/(a->balance = balance;)/pthread_mutex_lock(&m); $1 pthread_mutex_unlock(&m);/'
wrong "prints 'balance -?[0-9]+', and a right one prints what matches '\^balance -20" "each access locked alone"
judged account lost-update account.c 's/balance \+= amount;//'
wrong "prints 'balance 100', and a right one" "the work left out"
judged account lost-update account.c \
	's/long balance = a->balance;/'"$lock"' long balance = a->balance;/; s/(a->balance = balance;)/$1 pthread_mutex_unlock(&m);/'
is "$status" 0 "the whole update under a lock: accepted"
judged account lost-update account.c 's/struct account \{\n\tlong/struct account {\n\tvolatile long/'
is "$status" 2 "volatile: not accepted"
judged account lost-update account.c 's/(long balance = a->balance;)/$1 for (volatile int i = 0; i >= 0; i = 0);/'
is "$status" 2 "an endless loop: the lesson goes on"
like "$err" "did not end: does a thread wait for a lock" "and says that the program did not end"

rm -rf "$scratch/shown" && cp -r samples/lock-order "$scratch/shown"
perl -0pe 's/\tpthread_mutex_(un)?lock\([^;]*;\n//g' samples/lock-order/lock_order.c >"$scratch/shown/fixed.c"
run "$HEDDLE" lesson "$scratch/shown/deadlock.lesson" --play -d "$scratch/work"
is "$status" 2 "a wrong fix, in a folder of the student's"
shown=$(ls "$scratch"/work/counterexample*.hdl 2>/dev/null | head -1)
run "$HEDDLE" info "${shown:-none}"
is "$status" 0 "the run that shows what is wrong is there, and is what is opened"

judged lock-order deadlock lock_order.c 's/\tpthread_mutex_(un)?lock\([^;]*;\n//g'
wrong "(prints|data race on (alice|bob).balance)" "all locks deleted"
judged lock-order deadlock lock_order.c 's/lock\(&from->lock\)/lock(&to->lock)/g; s/lock\(&to->lock\);\n\tpthread_mutex_lock\(&to->lock\)/lock(&to->lock);\n\tpthread_mutex_lock(&from->lock)/'
is "$status" 2 "the two locks in another wrong order"

judged two-locks two-locks two_locks.c 's/pthread_mutex_unlock\(&left\);//; s/&right/&left/g'
wrong "ended with status 134" "an unlock forgotten: the program hangs"
judged two-locks two-locks two_locks.c 's/served\+\+/__atomic_fetch_add(\&served, 1, 0)/g'
is "$status" 0 "atomic additions: accepted"

judged use-after-free use-after-free fixed.c 's/return 0;\n\}/return 3;\n}/'
wrong "ended with status 3" "another exit status"
# a lesson under a memory model: fixes are judged by exploration under it
flags='s/(&(?:left|right)(?:, 1)?), memory_order_relaxed/$1, memory_order_seq_cst/g;'
receipt='s/(&printed, 1), memory_order_relaxed/$1, memory_order_release/; s/(&printed), memory_order_relaxed/$1, memory_order_acquire/;'
flag_judged() { judged two-flags store-buffer two_flags.c "$1"; }
flag_judged 's/(, 1), memory_order_relaxed/$1, memory_order_release/g; s/(\(&\w+), memory_order_relaxed/$1, memory_order_acquire/g'
wrong "(print(s|ed) 'till 20|ends so: exit status 1|data race on till)" "release and acquire alone"
flag_judged "$flags"
wrong "(print(s|ed) 'till [0-9]+, receipt 0|ends so: exit status 1|error: exit-status)" "the receipt as it was"
flag_judged 's/(&(?:left|right), 1), memory_order_relaxed/$1, memory_order_seq_cst/g;'"$receipt"
wrong "(print(s|ed) 'till 20|ends so: exit status 1|data race on till)" "seq_cst stores and relaxed loads"
flag_judged "$receipt"
is "$status" 2 "the flags as they were"
flag_judged 's/(&\w+(?:, \d+)?), memory_order_relaxed/$1, memory_order_seq_cst/g'
is "$status $err" "0 " "seq_cst everywhere: accepted"
flag_judged 's/(\tif \(atomic_load_explicit\(&(?:left|right))/\tatomic_thread_fence(memory_order_seq_cst);\n$1/g;'"$receipt"
is "$status $err" "0 " "seq_cst fences between the flags: accepted"
done_testing
