#!/bin/bash
# An exploration divided into tasks, in rounds (heddle merge --tasks): the join covers what one
# exploration covers and counts nothing twice, also where jobs are killed and run again.
# HEDDLE_SYNC_PROGRAMS=N, HEDDLE_SYNC_FIRST=N: other random programs (see explore_random.t).
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1
${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread

# Classes, races, gaps, errors and their counts. How many classes some of these programs have depends on
# the order in which they are met (docs/exploration.md): of these the kinds of errors alone.
summary() {
	if [ "$counted" = no ]; then
		json 'join " ", sort map { $_->{kind} } @{$d->{errors}}'
		return
	fi
	json '"$d->{states} " . @{$d->{races}} . " " . @{$d->{gaps}} . " " .
		join "; ", sort map { "$_->{kind} $_->{count}" } @{$d->{errors}}'
}
job() { # STATE RUNS: one job of a round
	"$HEDDLE" explore --budget 0 --runs "$2" --resume "$1" -- ./sync log "${arguments[@]}" >/dev/null 2>job.err
	[ $? -le 3 ] && [ ! -s job.err ]
}
killed() { # STATE LINES: a job that is killed when the program has been run so many times more
	local before
	before=$(wc -l <log 2>/dev/null || echo 0)
	"$HEDDLE" explore --budget 0 --resume "$1" -- ./sync log "${arguments[@]}" >/dev/null 2>&1 &
	while kill -0 $! 2>/dev/null && [ "$(wc -l <log)" -lt $((before + $2)) ]; do sleep 0.01; done
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
}
first=${HEDDLE_SYNC_FIRST:-1}
rounds_of_all=0 all_counted=0
for seed in $(seq "$first" $((first + ${HEDDLE_SYNC_PROGRAMS:-8} - 1))); do
	./oracle "$seed" >expected && [ "$(wc -l <expected)" -le 60 ] || continue
	read -ra arguments <expected
	rm -f log round*
	counted=yes
	others=
	for order in 7 8 9; do
		run "$HEDDLE" explore --budget 0 --seed $order --format json -- ./sync log "${arguments[@]}"
		others="$others$(summary)|"
	done
	run "$HEDDLE" explore --budget 0 --format json -- ./sync log "${arguments[@]}"
	same=$(summary)
	[ "$same|$same|$same|" = "$others" ] && all_counted=$((all_counted + 1)) || counted=no
	whole="$status $(summary) $(sort -u log | cksum)"
	rm -f log
	job round0.1 $((seed % 5 + 1))
	good=$? round=0
	while [ $good = 0 ] && [ $round -lt 60 ]; do
		tasks=$((seed % 4 + round % 3 + 1))
		run "$HEDDLE" merge $(ls round$round.* | sort -r) --tasks $tasks -o round$((round + 1)) --format json
		round=$((round + 1))
		[ "$(json 'grep(/schedules are left/, @{$d->{gaps}}) ? "more" : "done"')" = more ] || break
		for task in round$round.[1-9]*; do
			[ $((RANDOM % 4)) = 0 ] && killed "$task" $((RANDOM % 9 + 1))
			job "$task" $((seed % 4 + round)) || good=1
		done
	done
	is "$good $status $(summary) $(sort -u log | cksum)" "0 $whole" "random program $seed in rounds"
	rounds_of_all=$((rounds_of_all + round))
done
[ $all_counted -gt 2 ]
ok $? "of $all_counted programs every count was compared"
[ $rounds_of_all -gt 8 ]
ok $? "several rounds each ($rounds_of_all in all)"

# What cannot be joined is refused, and nothing is overwritten.
arguments=(1k10k20k30 Y00z00 g00g00 w01p00x01)
rm -f round*
job start 1
run "$HEDDLE" merge start --tasks 3 -o a --format json
is "$(json '$d->{complete} ? "complete" : "open"')" open "a state that is divided is not complete"
run "$HEDDLE" merge start --tasks 3 -o a
is "$status" 2 "files that exist are never overwritten"
like "$err" "a.1: exists already, and may hold what a task has explored" "with the reason"
run "$HEDDLE" merge start --tasks 2 -o b
run "$HEDDLE" merge a.1 a.2 b.1
like "$status $err" "^2 .*b.1: is a task of another division than a.1" "tasks of two divisions"
run "$HEDDLE" merge a.1 a.2
like "$status $err" "^2 .*of 3 tasks these are missing: 3" "a task that is missing"
run "$HEDDLE" merge a.1 a.2 --lenient --format json
is "$(json '(grep /tasks 3 of 3 were left out/, @{$d->{gaps}}) ? "said" : "not"')" "said" "... is a gap with --lenient"
run "$HEDDLE" merge a.1 a.2 a.2
like "$status $err" "^2 .*a.2: is task 2 of 3, as a.2 is" "a task twice"
run "$HEDDLE" merge a.1 start
like "$status $err" "^2 .*start: is no task" "a state that is none"
job other 1
"$HEDDLE" explore --runs 1 --resume foreign -- ./sync log 1k10k20k30 Y00 g00 w01 >/dev/null
run "$HEDDLE" merge a.1 foreign
like "$status $err" "^2 .*foreign: is no task" "a state of another exploration"
run "$HEDDLE" merge foreign --tasks 3 -o f
run "$HEDDLE" merge a.1 a.2 f.3
like "$status $err" "^2 .*f.3: is a task of another division than a.1" "a task of another exploration"
run "$HEDDLE" explore --resume f.3 -- ./sync log "${arguments[@]}"
like "$status $err" "^2 .*f.3: is of another exploration: there arguments .*, here arguments" "... which is explored by its own program alone"
"$HEDDLE" explore --runs 1 --resume share --shard 1/2 -- ./sync log "${arguments[@]}" >/dev/null
run "$HEDDLE" merge share
like "$status $err" "^2 .*share: is the state of a share" "a share's state"
for bad in "--tasks 0 -o c" "--tasks 2" "--tasks 1000000 -o c" "--tasks 2 -o /nowhere/c"; do
	run "$HEDDLE" merge start $bad
	is "$status" 2 "$bad is refused"
done
run "$HEDDLE" merge "$root/LICENSE" --tasks 2 -o c
is "$status" 2 "what is no state"
head -c 100 a.1 >cut
run "$HEDDLE" merge cut a.2 a.3
like "$status $err" "^2 .*cut: is damaged or cut off" "a state that is cut off"
cp b.1 kept
run "$HEDDLE" merge b.1 b.2 -o joined
is "$(cksum <b.1)" "$(cksum <kept)" "a join leaves its tasks as they are"
job joined 1000
run "$HEDDLE" merge joined --format json
is "$(json '$d->{complete} ? "complete" : "open"')" complete "and can be gone on from"
done_testing
