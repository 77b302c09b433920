#!/bin/bash
# What stood in the way of somebody who used Heddle for the first time, from the top of that report: each on the
# screen that it was seen on. Where another test has it, the comment names it.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs first=$root/tests/e2e/programs/first_use
export HOME=$scratch XDG_STATE_HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_CACHE_HOME=$scratch
cd "$scratch" || exit 1

# look COLUMNS LINES TRACE COMMAND...: the screen after the commands, its words in $out; stops at a refusal
look() {
	local columns=$1 lines=$2 trace=$3
	shift 3
	rm -f look.txt
	printf '%s\n' wait "$@" wait "save-screen look.txt" >look.script
	run env LC_ALL=C.UTF-8 COLUMNS="$columns" LINES="$lines" timeout 300 "$HEDDLE" open "$trace" --script look.script
	[ "$status" = 0 ] || printf '# %s: %s\n' "$*" "$err"
	out=$(tr '\n' ' ' <look.txt | tr -s ' ')
}
build() { "$HEDDLE" cc -g -O1 "$1" -o "$2" -pthread; }

# 1. A deadlock that happened is on the first screen, and nothing there says that the run was clean.
build "$programs/stuck/dead_now.c" dead
timeout 300 "$HEDDLE" record -q -o dead.hdl -- ./dead >/dev/null 2>&1
look 80 24 dead.hdl
like "$out" "dead.hdl deadlock .*▸● happened deadlock.*main waits for lock b, held by T1" "1: a deadlock that happened comes first"
unlike "$out" "no race, in this run|nothing was missed" "1: and no word of peace"

# 2, 3. What an exploration ran into is among its outcomes, a use after free, too; nothing from outside is made up.
build "$first/freed_early.c" freed
timeout 300 "$HEDDLE" explore -q -o early -- ./freed >/dev/null 2>&1
look 80 24 early.run0.hdl "press X g"
like "$out" "✗ 1 use after free" "2: the use after free is an outcome"
like "$out" "T1 writes .p after T2 freed its block" "2: and is told"
build "$root/tests/e2e/cases/explore/service.c" shutdown
timeout 300 "$HEDDLE" explore -q --budget 60 -o closing -- ./shutdown >/dev/null 2>&1
look 100 30 closing.run0.hdl "press X"
like "$out" "✗ [0-9]+ use after free" "3: the uses after free of a shutdown"
unlike "$out" "diverged|clock, a file, a socket" "3: and no word of a clock or a file"

# 4. A race of another tool's report leads to the pair that can race (walks.t has the keys; screen_triage.c the marks).
build "$first/work_queue.c" wq
"$HEDDLE" record -q --seed 1 -o wq.hdl -- ./wq >/dev/null 2>&1
for i in '01 main work_queue.c:301' '02 wq_run_job work_queue.c:157'; do
	printf '    #0 %s (wq+0x2030)\n' "${i#* }"
done >frames
{
	printf 'WARNING: ThreadSanitizer: data race (pid=1)\n  Read of size 4 at 0x7b0c00000058 by main thread:\n'
	sed -n 1p frames
	printf '\n  Previous write of size 4 at 0x7b0c00000058 by thread T1:\n'
	sed -n 2p frames
} >report.txt
printf '%s\n' wait "press w" wait "save-screen look.txt" >report.script
run env LC_ALL=C.UTF-8 COLUMNS=80 LINES=24 timeout 300 "$HEDDLE" open wq.hdl --report report.txt --script report.script
like "$(cat look.txt)" "✓ checked" "4: a reported race has its witness"
unlike "$(cat look.txt)" "proved impossible" "4: and not the proof of another pair"

# 5: failed_tries.t (a lock that was destroyed cannot be tried before).

# 6. A race by memory order alone: no screen says that the two are next to each other.
build "$root/samples/publish/publish.c" publish
"$HEDDLE" record -q --seed 1 -o publish.hdl -- ./publish >/dev/null 2>&1
for keys in "" "press I" "press w"; do
	look 100 40 publish.hdl ${keys:+"$keys"}
	like "$out" "T1's store of ready .publish.c:19. is relaxed and does not publish it" "6: which store, ${keys:-the list}"
	unlike "$out" "is about to write|both are about to happen|it reads 42" "6: nobody is about to write, ${keys:-the list}"
done

# 7: lesson_judge.t and walks.t. 8: screen_words.t (no units: no promise). 9: diff_kinds.t.

# 10. The run that failed its check says so first (walks.t); so does one that used freed memory.
look 80 24 early.run1.hdl
like "$out" "● *(happened|use.free|use→free)" "10: what happened comes first"
unlike "$out" "nothing was missed" "10: and nothing is called complete before it"

# 11: screen_words.t (complete: of what). 12: first_steps.t. 13: walks.t, my_code.t, screen_words.c.

# 14. Values by their types, on the screen.
build "$programs/typed.c" typed
"$HEDDLE" record -q --seed 1 -o typed.hdl -- ./typed >/dev/null 2>&1
look 120 50 typed.hdl "press T"
like "$out" "number reads -2" "14: a negative number is one"

# 15. A split of the terminal, or a status line, is no reason to refuse.
for size in "79 24" "80 23" "60 15"; do
	# shellcheck disable=SC2086
	look $size wq.hdl
	like "$out" "✓ race.*work_queue.c:157" "15: ${size/ /x}"
done

# 16. What the list says of all pairs and the order view of one are told apart.
look 80 30 wq.hdl "press o"
like "$out" "That is this one pair; \"seen by\" in the list is about any of the pairs" "16: one pair, or any"

# 17: record.t (-fsanitize=thread). 18: replay_honest.t. 19: screen_triage.c (the_crash_comes_first).

# 20. Fingers that know gdb (gdb_habits.t has the rest).
look 80 24 wq.hdl "view trace" "print q.pending"
unlike "$(tail -1 look.txt)" "there is no|expected" "20: print knows a local variable without its function"

# 21. Small things.
look 80 24 wq.hdl "press w"
like "$out" "both are about to happen: they race" "21: the rule of the witness is whole at 80 columns"
look 100 24 wq.hdl "press w"
like "$out" "reads JOB_RUNNING or JOB_DONE" "21: a read that races says both values"
look 100 24 wq.hdl "press w -"
like "$out" "reads JOB_RUNNING or JOB_DONE" "21: by turns, too"
look 80 24 wq.hdl "press I"
unlike "$out" "First 1 turns|1 turns" "21: one turn"
look 80 24 wq.hdl "export exported.json"
unlike "$(grep '"variable"' exported.json)" ' \+[0-9]' "21: a name in JSON has no count"
# The rest: tour.t, manual.t (completion), sarif.t, install.t, lesson.t (worksheet), gdb_habits.t (a tree is no trace;
# where files are written).
done_testing
