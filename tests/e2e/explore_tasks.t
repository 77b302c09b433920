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

# The base: beside its tasks, as their division has made it.
[ "$(stat -c %s a.base)" -lt "$(stat -c %s start)" ] && [ "$(stat -c %s a.1)" -lt "$(stat -c %s a.base)" ]
ok $? "what is known is in the base alone"
run "$HEDDLE" merge a.* --format json
is "$(json 'scalar grep /left out/, @{$d->{gaps}}')" 0 "the base may be named among its tasks"
run "$HEDDLE" merge a.1 a.2 a.3 b.base
like "$status $err" "^2 .*b.base: is the base of another division than a.1" "the base of another division"
for words in "merge a.base" "merge a.base b.base" "explore --resume a.base -- ./sync log ${arguments[*]}"; do
	run "$HEDDLE" $words
	like "$status $err" "^2 .*a.base: is the base of tasks, which has nothing to explore; name one of its tasks" "$words"
done
cp a.2 task && cp a.base base
run "$HEDDLE" merge start --tasks 3 -o again
refused() { # PATTERN NAME: what is done with the task, and changes nothing
	local words
	for words in "merge a.1 a.2 a.3 --tasks 2 -o new" "explore --resume a.2 --runs 2 -- ./sync log ${arguments[*]}"; do
		run "$HEDDLE" $words
		like "$status $err" "^2 heddle: $1" "$2: ${words%% *}"
	done
	is "$(ls new.* 2>/dev/null) $(cksum <a.2)" " $(cksum <task)" "$2: nothing is written"
}
rm a.base
refused "a.[12]: has its base in a.base, which is not there; copy it there" "no base"
cp again.base a.base
refused "a.[12]: has its base in a.base, which is another file by now" "that of another division of the same state"
cp start a.base
refused "a.[12]: has its base in a.base, which is another file by now" "a state in its place"
cp "$root/LICENSE" a.base
refused "a.base: is no state of an exploration" "a foreign file in its place"
head -c 300 base >a.base
refused "a.base: is damaged or cut off" "a base that is cut off"
perl -0777 -pe 's/^.{200}\K(.)/chr(ord($1) ^ 1)/se' base >a.base
refused "a.base: is damaged or cut off" "a damaged base"
cp base a.base && chmod 620 a.base
run "$HEDDLE" explore --resume a.2 --runs 2 -- ./sync log "${arguments[@]}"
like "$status $err" "^2 .*a.base: belongs to another user, or may be written by others" "a base that others may write sets no environment"
chmod 600 a.base
mkdir far && cp a.2 far/task
run "$HEDDLE" explore --resume far/task --runs 2 -- ./sync log "${arguments[@]}"
like "$status $err" "^2 .*far/task: has its base in far/a.base" "a task elsewhere"
cp a.base far
run "$HEDDLE" explore --budget 0 --resume far/task --format json -- ./sync log "${arguments[@]}"
is "$(json '$d->{complete} ? "complete" : "open"')" complete "... with its base"
run "$HEDDLE" merge a.1 far/task a.3 --format json
unlike "$out" "left out" "... and back among the others"

# An object that is not as specified voids what was explored before, whichever task meets it.
cat >inside.c <<'C'
#include <pthread.h>
static int n, *where = &n;
static volatile int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noipa)) void counter_inc(int *c)
{
	pthread_mutex_lock(&m);
	++*c;
	pthread_mutex_unlock(&m);
}
static void *one(void *p)
{
	counter_inc(&n);
	if (x)
		*where = 5; /* not in the first run */
	return p;
}
static void *two(void *p)
{
	x = 1;
	counter_inc(&n);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return n == 5;
}
C
cat >inc.spec <<'S'
object counter {
  method inc()
  commute inc, inc : true
  state n : int
  effect inc() { n := n + 1 }
  bind inc = "counter_inc(int *self)"
}
S
$HEDDLE cc -g -O1 inside.c -o inside -pthread
specified() { json '"$d->{states} @{$d->{notes}} " . join " ", sort map { $_->{kind} } @{$d->{errors}}'; }
run "$HEDDLE" explore --budget 0 --spec inc.spec --format json -- ./inside
whole="$status $(specified)"
"$HEDDLE" explore --runs 1 --spec inc.spec --resume spec0.1 -- ./inside >/dev/null
round=0 voided=0
while run "$HEDDLE" merge spec$round.* --tasks 3 -o spec$((round + 1)) --format json && grep -q 'schedules are left' <<<"$out"; do
	round=$((round + 1))
	voided=$((voided > $(json '$d->{abandoned}') ? voided : $(json '$d->{abandoned}')))
	for task in spec$round.[1-9]; do
		"$HEDDLE" explore --budget 0 --runs 3 --spec inc.spec --resume $task -- ./inside >/dev/null
	done
	[ $round -lt 30 ] || break
done
is "$status $(specified)" "$whole" "an object that is not as specified, in $round rounds"
[ $voided -gt 0 ] && [ $round -gt 1 ]
ok $? "... which was met in a task ($voided runs are void)"
cp b.1 kept
run "$HEDDLE" merge b.1 b.2 -o joined
is "$(cksum <b.1)" "$(cksum <kept)" "a join leaves its tasks as they are"
job joined 1000
run "$HEDDLE" merge joined --format json
is "$(json '$d->{complete} ? "complete" : "open"')" complete "and can be gone on from"
done_testing
