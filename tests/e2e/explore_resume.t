#!/bin/bash
# heddle explore --resume: an exploration in parts covers what one in one go covers, also when a part
# is killed; the state is of one exploration, and nothing else in its place is used or lost.
# HEDDLE_SYNC_PROGRAMS=N, HEDDLE_SYNC_FIRST=N: other random programs (see explore_random.t).
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
samples=$PWD/samples
cd "$scratch" || exit 1
${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread

part() { # OPTIONS: one part of the exploration; sets $more
	run "$HEDDLE" explore --budget 0 --resume state --format json "$@" -- ./sync log "${arguments[@]}"
	more=$(json '(grep /limit of runs/, @{$d->{gaps}}) ? "yes" : "no"')
}
summary() {
	json '"$d->{states} $d->{executions} " . @{$d->{races}} . " " . @{$d->{gaps}} . " " .
		join "; ", sort map { "$_->{kind} $_->{count}" } @{$d->{errors}}'
}
first=${HEDDLE_SYNC_FIRST:-1}
for seed in $(seq "$first" $((first + ${HEDDLE_SYNC_PROGRAMS:-12} - 1))); do
	./oracle "$seed" >expected && [ "$(wc -l <expected)" -le 60 ] || continue
	read -ra arguments <expected
	rm -f log state
	run "$HEDDLE" explore --budget 0 --format json -- ./sync log "${arguments[@]}"
	whole="$status $(summary) $(sort -u log | cksum)"
	rm -f log
	parts=0 more=yes
	while [ "$more" = yes ] && [ $parts -lt 200 ]; do
		parts=$((parts + 1))
		part --runs $((seed % 4 + parts))
	done
	is "$status $(summary) $(sort -u log | cksum)" "$whole" "random program $seed in $parts parts"
done

# Runs that are planned in pieces, and killed processes.
$HEDDLE cc -g -O1 "$(ls "$samples"/bounded-buffer/*.c | grep -v fixed | head -1)" -o buffer -pthread
run timeout 300 "$HEDDLE" explore --budget 0 --runs 40 --format json -- ./buffer
rm -f state
for ((i = 0; i < 40; i++)); do
	"$HEDDLE" explore --budget 0 --runs 1 --resume state --format json -- ./buffer >part.json 2>part.err
	[ $? -le 3 ] || break
	if [ $((i % 8)) = 3 ]; then # one that is killed, whenever that is, leaves a state to go on from
		"$HEDDLE" explore --budget 0 --resume state -- ./buffer >/dev/null 2>&1 &
		sleep 0.1
		kill -KILL $! 2>/dev/null
		wait $! 2>/dev/null
	fi
	grep -q '"complete": true' part.json && break
done
is "$(cat part.err)" "" "explored in single runs, some of them killed"
out=$(cat part.json)
unlike "$(json 'join "; ", @{$d->{gaps}}')" "otherwise" "runs that are planned again are as they were"

# The state of one exploration is of no other.
arguments=(1k10w00h10 r00)
rm -f state log
part --runs 1
cp state kept
run "$HEDDLE" explore --resume state -- ./sync log 1k10w01h10 r00
is $status 2 "other arguments are refused"
like "$err" "state: is of another exploration: there arguments 'log' '1k10w00h10' 'r00', here arguments 'log' '1k10w01h10' 'r00'" \
	"with both"
run "$HEDDLE" explore --resume state --steps 7 -- ./sync log "${arguments[@]}"
like "$err" "there steps 0, here steps 7" "other options are refused"
cp sync sync2
printf x >>sync2
run "$HEDDLE" explore --resume state -- ./sync2 log "${arguments[@]}"
like "$err" "state: is of another exploration: there program " "another build is refused"
is "$(cksum <state)" "$(cksum <kept)" "none of them touches the state"
for damage in 's/^heddle/Heddle/' 's/....\z//s' 's/(.{100})./$1x/s' 's/\A.*//s'; do
	perl -0777 -pe "$damage" kept >state
	cp state damaged
	run "$HEDDLE" explore --resume state -- ./sync log "${arguments[@]}"
	is "$status $(cksum <state)" "2 $(cksum <damaged)" "damaged ($damage): refused, and left"
	like "$err" "^heddle: (.*/)?state: .*; give --resume a file of its own, or delete this one" "with the remedy"
done
run "$HEDDLE" explore --resume /nowhere/state -- ./sync log "${arguments[@]}"
is $status 2 "a state that cannot be written is told before the first run"

# Several jobs, in parts: one state, which any number of jobs go on from.
./oracle 101 >expected
read -ra arguments <expected
run "$HEDDLE" explore --budget 0 --format json -- ./sync log "${arguments[@]}"
found() {
	json '"$d->{states} " . join "; ", sort map { $_->{kind} } @{$d->{errors}}'
}
whole="$status $(found)"
more=1 parts=0
while [ $more != 0 ] && [ $parts -lt 100 ]; do
	parts=$((parts + 1))
	run "$HEDDLE" explore --budget 0 --runs $((10 + parts)) -j $((parts % 3 + 1)) --resume jobs --format json -- ./sync log "${arguments[@]}"
	more=$(json 'scalar grep /limit of runs|schedules are left/, @{$d->{gaps}}')
done
is "$status $(found) $((parts > 1))" "$whole 1" "one to three jobs in $parts parts cover the same"
is "$(ls jobs.task.* 2>/dev/null)" "" "and leave no tasks"
# Killed when the program has been run so many times more, the jobs with it; and run again.
rm -f jobs log
for lines in 3 9 20; do
	before=$(cat log 2>/dev/null | wc -l)
	setsid env "LINES$lines=1" "$HEDDLE" explore --budget 0 -j 2 --resume jobs -- ./sync log "${arguments[@]}" >/dev/null 2>&1 &
	while kill -0 $! 2>/dev/null && [ "$(cat log 2>/dev/null | wc -l)" -lt $((before + lines)) ]; do sleep 0.01; done
	kill -KILL -- -$! 2>/dev/null
	wait $! 2>/dev/null
done
run "$HEDDLE" explore --budget 0 -j 2 --resume jobs --format json -- ./sync log "${arguments[@]}"
is "$status $(found)" "$whole" "killed three times, and gone on from, whatever the environment"
# What a killed division has left: its base alone, some of its tasks, or tasks of which one is damaged.
run "$HEDDLE" explore --budget 0 --runs 2 --resume left -- ./sync log "${arguments[@]}"
run "$HEDDLE" merge left --tasks 3 -o left.task
mkdir kept.tasks && cp left left.task.* kept.tasks
go_on() { # REMOVED...: without these files
	cp kept.tasks/* . && rm -f -- "$@"
	run "$HEDDLE" explore --budget 0 -j 2 --resume left --format json -- ./sync log "${arguments[@]}"
}
go_on left.task.1 left.task.2 left.task.3
is "$status $(found) $(ls left.task.* 2>/dev/null)" "$whole " "a base without tasks is no hindrance"
go_on left.task.2
is "$status $(found) $(ls left.task.* 2>/dev/null)" "$whole " "nor are tasks of which one is not there"
head -c 100 kept.tasks/left.task.2 >cut && mv cut kept.tasks/left.task.2
go_on
like "$status $err" "^2 .*left.task.2: is damaged or cut off" "a damaged task is told"
is "$(ls left.task.* | wc -l)" 4 "... and the others stay"
run "$HEDDLE" explore --budget 0 -j 2 --resume jobs -- ./sync log "${arguments[@]}" more
is $status 2 "other arguments are refused with jobs, too"
cp kept shared && chmod 660 shared
run "$HEDDLE" explore --resume shared -- ./sync log "${arguments[@]}"
like "$status $err" "^2 .*shared: belongs to another user, or may be written by others" "a state that others may write sets no environment"
env -i "$HEDDLE" explore --runs 1 --resume bare -- ./sync log "${arguments[@]}" >/dev/null
run "$HEDDLE" explore --budget 0 --resume bare --format json -- ./sync log "${arguments[@]}"
is "$status $(found)" "$whole" "a state of an empty environment"
run stat -c %a kept
is "$out" 600 "the state is for its user alone"

# Threads are contexts of one kernel thread until a run needs more: what was explored is explored again.
"$HEDDLE" cc -g -O1 -DN=4 -DLATE "$root/tests/e2e/programs/turns.c" -o late -pthread
again() { json '"$d->{states} ".($d->{complete} ? "complete" : "open")." ".($d->{abandoned} > 0 ? "again" : "once")'; }
run "$HEDDLE" explore --resume late.state --runs 3 --format json -- ./late
is "$(again)" "3 open once" "runs of one kernel thread"
for part in 1 2 3 4 5 6 7 8; do # how many it takes is no matter
	run "$HEDDLE" explore --resume late.state --runs 12 --format json -- ./late
	[ $status = 3 ] || break
done
is "$(again)" "24 complete again" "a later part has a run that needs kernel threads: all are made again with them"
like "$out" "a run needs kernel threads" "... and the report says so"
run "$HEDDLE" explore --runs 3 --resume late.whole --format json -- ./late
run "$HEDDLE" merge late.whole --tasks 2 -o late.tasks
for task in 1 2; do
	run "$HEDDLE" explore --resume late.tasks.$task --runs 8 --format json -- ./late
done
run "$HEDDLE" merge late.tasks.* -o late.joined
run "$HEDDLE" explore --resume late.joined --format json -- ./late
is "$(again)" "24 complete again" "a task begins anew, and the join is of runs of one kind"
# (which share has the run that needs them is chance: here the first share has them in any case)
"$HEDDLE" cc -g -O1 -DN=4 "$root/tests/e2e/programs/turns.c" -o early -pthread
for share in 1 2 3; do
	if [ $share = 1 ]; then export HEDDLE_KERNEL_THREADS=1; else unset HEDDLE_KERNEL_THREADS; fi
	"$HEDDLE" explore --shard $share/3 --format json -- ./early >late.share$share
done
run "$HEDDLE" merge --format json late.share*
is "$(json '($d->{states} >= 24 ? "all" : "few")." ".($d->{complete} ? "complete" : "open")')" "all complete" "shares decide each for itself"
like "$out" "classes that shards of both kinds met count twice" "... and their join says so"
run "$HEDDLE" explore -j 3 --format json -- ./late
is "$(again)" "24 complete again" "... and jobs together"
done_testing
