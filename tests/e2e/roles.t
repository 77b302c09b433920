#!/bin/bash
# Threads by role: the function in the user's own files that each was started with, and its argument.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
screen() { # TRACE VIEW
	printf '%s\n' wait "view $2" "save-screen screen.txt" >script
	COLUMNS=250 LINES=30 "$HEDDLE" open "$1" --script script
	cat screen.txt
}
"$HEDDLE" cc -g -O1 "$root/tests/e2e/programs/roles.c" -o roles -pthread || exit 1
run timeout 300 "$HEDDLE" record -q -o r.hdl -- ./roles
heads=$(screen r.hdl trace | sed -n 4p | sed 's/│.*//; s/  */ /g')
is "$heads" " event main T1 book(6) T2 finish(&jobs[1]) T3 finish(made) T4 look T5 book(-4) " \
	"numbers, objects, blocks, and no argument"
like "$(screen r.hdl state)" "T2 finish.* not begun|T2 finish" "in the state, too"
run "$HEDDLE" info r.hdl
unlike "$out" "thread-argument" "info leaves the note out"
run timeout 300 "$HEDDLE" explore -q -o r.tree --format json -- ./roles
is "$(json 'join ", ", @{$d->{threads}}')" "main, T1 book(6), T2 finish(&jobs[1]), T3 finish(made), T4 look, T5 book(-4)" \
	"and with an exploration"

CXX=${CXX:-g++}
CC=$CXX "$HEDDLE" cc -g -O1 "$root/tests/e2e/programs/lazy_config.cpp" -o lazy -pthread || exit 1
run timeout 300 "$HEDDLE" record -q -o l.hdl -- ./lazy
like "$(screen l.hdl trace | sed -n 4p)" "T1 main::lambda" "a thread of C++ by the function given to std::thread"

# the exploration's report names the user's own lines, too, and each pair of them once
run timeout 300 "$HEDDLE" explore -q --runs 40 -- ./lazy
races=$(grep -A2 "^race: data-race" <<<"$out" | paste -sd' ' | sed 's/ -- /\n/g' | tr -s ' ')
like "$races" "data-race on .* lazy_config.cpp:[0-9]+ lazy_config.cpp:[0-9]+" "races of an exploration are in the user's files"
unlike "$races" "[.]h:|_M_" "and not in the library's"
is "$(sort <<<"$races" | uniq -d)" "" "each once"
done_testing
