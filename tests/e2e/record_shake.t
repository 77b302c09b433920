#!/bin/bash
# heddle shake and doctor.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -O1 "$programs/race.c" -o race -pthread
$HEDDLE cc -O1 "$programs/assert.c" -o assert -pthread
$HEDDLE cc -O1 "$programs/deadlock.c" -o deadlock -pthread

run $HEDDLE shake -n 5 --strategy rr -- ./race
is "$status" 0 "one outcome: nothing found"
like "$out" "5  exit status 5  balance 45 +--strategy rr --seed 1" "with its count, status, seed and last line"
run $HEDDLE shake -n 60 -- ./assert
is "$status" 1 "two outcomes: found"
like "$out" "signal 6" "the failing one"
again=$(printf '%s\n' "$out" | sed -n 's/.*signal 6.*\(--strategy .*--seed [0-9]*\).*/\1/p' | head -1)
run $HEDDLE record -q $again -o again.hdl -- ./assert
is "$status" 134 "its seed makes it come again: $again"
run $HEDDLE shake -n 3 --strategy random --format json -- ./deadlock
is "$status" 1 "deadlocks are found"
is "$(json '$d->{outcomes}[0]{end}')" "deadlock" "JSON: how it ended"
is "$(json '$d->{runs}')" 3 "JSON: how many runs"
is "$(json '$d->{outcomes}[0]{count}')" 3 "JSON: how often"
is "$(json '$d->{outcomes}[0]{seed}')" 1 "JSON: the seed"

# each line of the table comes again: its end and its output
for strategy in random pct noise rr; do
	run $HEDDLE shake -n 40 --strategy $strategy --depth 2 --format json -- ./assert
	bad=
	n=$(json 'scalar @{$d->{outcomes}}')
	lines=$(json 'join "\n", map { "$_->{status} $_->{line}\t--strategy $_->{strategy} --seed $_->{seed}" .
		(defined $_->{steps} ? " --depth $_->{depth} --steps $_->{steps}" : "") } @{$d->{outcomes}}')
	while IFS=$'\t' read -r want options; do
		run $HEDDLE record -q $options -o again.hdl -- ./assert
		[ "$status" = "${want%% *}" ] || bad+=" $options: $status, not ${want%% *};"
	done <<<"$(printf '%b' "$lines")"
	is "$bad" "" "$n outcomes of $strategy come again"
done

# seeds side by side share no run but by chance; shares have those of the whole
cat >drawn.c <<'C'
#include <sys/random.h>
int main(void)
{
	unsigned char drawn;
	return getrandom(&drawn, 1, 0) == 1 ? drawn % 120 : 126;
}
C
$HEDDLE cc drawn.c -o drawn
seeds() {
	run $HEDDLE shake --strategy random --tries 0 --runs 12 --format json "$@" -- ./drawn
	json 'join " ", sort { $a <=> $b } map { $_->{seed} } @{$d->{outcomes}}'
}
first=$(seeds --seed 1) second=$(seeds --seed 2) shares=$(seeds --seed 1 --shard 1/2; echo; seeds --seed 1 --shard 2/2)
is "$(printf '%s\n' $first $second | sort | uniq -d)" "" "seeds 1 and 2 share no run"
is "$(printf '%s\n' $first | grep -cx -e 1) $(printf '%s\n' $second | grep -cx -e 2)" "1 1" "the first run has the seed that was given"
is "$(printf '%s\n' $first | grep -vx -F -f <(printf '%s\n' $shares))" "" "both shares together have the runs of the whole"

# runs are forked, and have the addresses of a recording: a target of surw is an address
$HEDDLE cc -O1 "$programs/addresses.c" -o addresses -pthread
run $HEDDLE shake -n 3 --strategy pos --format json -- ./addresses
line=$(json '$d->{outcomes}[0]{line}')
run $HEDDLE record -q --strategy pos --seed 1 -o again.hdl -- ./addresses
is "$line" "$out" "addresses are those of a recording"

# an outcome that a recording does not have, as its addresses are others, says so; one by the schedule comes again by its turns
cat >elusive.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
static uintptr_t at;
static void *thread(void *p)
{
	at = (uintptr_t)malloc(10);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, 0, thread, 0);
	pthread_join(t, 0);
	if (argc < 2)
		printf("%ju\n", (uintmax_t)at);
	else
		assert(at == strtoumax(argv[1], 0, 10));
	return 0;
}
C
$HEDDLE cc -O1 elusive.c -o elusive -pthread
address=$($HEDDLE record -q --no-inputs -o elusive.hdl -- ./elusive)
run $HEDDLE shake -n 3 --format json -- ./elusive "$address"
is "$status $(json 'join " ", map { "$_->{status} " . ($_->{elusive} // "") } @{$d->{outcomes}}')" "1 134 1" "an outcome that depends on addresses"
run $HEDDLE shake -n 3 -- ./elusive "$address"
like "$out" "signal 6 .*, in 3 runs: not under record, where the addresses" "is said to"
HEDDLE_KERNEL_THREADS=1 run $HEDDLE shake -n 3 --format json -- ./elusive "$address"
is "$status" 0 "with kernel threads the addresses are those of a recording"

# of outcomes that differ in numbers alone no more are made again as recordings than are told apart
cat >orders.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static unsigned order;
static void *thread(void *p)
{
	for (int i = 0; i < 9; i++)
		order = order * 31 + (unsigned)(long)p;
	return p;
}
int main(void)
{
	enum { MANY = 4 };
	pthread_t t[MANY];
	FILE *f = fopen("orders.out", "a");
	fprintf(f, "%d\n", getpid());
	fclose(f);
	for (long i = 0; i < MANY; i++)
		pthread_create(&t[i], 0, thread, (void *)i);
	for (int i = 0; i < MANY; i++)
		pthread_join(t[i], 0);
	printf("order %u\n", order);
	return 0;
}
C
$HEDDLE cc -O1 orders.c -o orders -pthread
run $HEDDLE shake -n 100 --strategy random --format json -- ./orders
is "$(json 'join " ", map { "$_->{count} " . ($_->{outputs} > 16) } @{$d->{outcomes}}') $(sort -u orders.out | wc -l)" "100 1 12" \
	"eleven outcomes were made again, the others with the copy's process number"

# lines that differ in nearly every run make no outcomes of their own
$HEDDLE cc -g -O1 "$programs/progress.c" -o progress -pthread
run $HEDDLE shake -n 60 --format json -- ./progress
is "$status $(json 'join "; ", map { "$_->{line}" } sort { $a->{line} cmp $b->{line} } @{$d->{outcomes}}')" \
	"1 first was 1; first was 2" "60 runs with other progress each: an outcome for each result"
is "$(json 'my $n = 0; $n += $_->{outputs} for @{$d->{outcomes}}; "$n " . join ";", map { "$_->{line} $_->{texts} " . ($_->{"every-run"} ? 1 : 0) } @{$d->{"lines-left-out"}}')" \
	"11 #: step # of process 10 0" "which says what it did not compare"
run $HEDDLE shake -n 60 --strategy rr -- ./progress
is "$status" 0 "progress alone is nothing found"
like "$out" 'progress, not compared: "#: step # of process"' "as text"
run $HEDDLE shake -n 60 --strategy rr -- ./progress varies
is "$status" 1 "a result that varies is"
like "$out" 'varies from run to run.*"sum #" \(10 different' "and named"
run $HEDDLE shake -n 5 --strategy rr -- ./progress
like "$out" "5 runs, 5 outcomes" "few outcomes are told apart by all of their output"

# what a run did wrong is part of its outcome, also beyond what is recorded of it
run $HEDDLE shake -n 60 --strategy random --format json -- ./progress misuse
is "$(json 'join ";", map { "$_->{line} " . join ",", map { "$_->{kind} $_->{rule} $_->{verdict}" } @{$_->{findings}} } sort { $a->{line} cmp $b->{line} } @{$d->{outcomes}}')" \
	"first was 1 ;first was 2 lock-misuse unlock-not-held happened" "misuse of locks is a finding of its outcome"
run $HEDDLE shake -n 60 -- ./progress misuse
like "$out" "lock-misuse, in [0-9]+ runs?: .*unlocks what nobody has locked.*--strategy" "as text, with how to record it"
cat >long.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long x;
static void *work(void *p) { for (long i = 0; i < 2000000; i++) x++; pthread_mutex_lock(&m); return p; }
int main(void) {
	pthread_t t;
	pthread_mutex_lock(&m);
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -O1 long.c -o long -pthread
run $HEDDLE shake -n 1 --strategy rr --format json -- ./long
is "$status $(json '$d->{outcomes}[0]{end}')" "1 deadlock" "a deadlock beyond what is recorded of a run"
run $HEDDLE record --max-size 2 -o long.hdl -- ./long
like "$err" "deadlock after the recording had ended" "record says it as well"
run $HEDDLE shake -n 2 --strategy pct --format json -- ./long
ok $([ "$(json 'scalar grep { $_->{steps} > 0 } @{$d->{outcomes}}')" = "$(json 'scalar @{$d->{outcomes}}')" ]; echo $?) "pct is never told that a run has no steps"
run $HEDDLE shake -n 1 --strategy pct --steps 0 --format json -- ./long
is "$(json '$d->{outcomes}[0]{steps}')" 1000 "nor by the user"

# a call that is not modelled blocks: the watchdog lets the others go on, and says so
cat >unknown.c <<'C'
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int ends[2], x;
static void *reader(void *p) { char c = 0; syscall(SYS_read, ends[0], &c, 1); x++; return p; }
int main(void) {
	pthread_t t;
	if (pipe(ends)) return 1;
	pthread_create(&t, 0, reader, 0);
	for (volatile int i = 0; i < 1000; i++) x++;
	if (syscall(SYS_write, ends[1], "x", 1) != 1) return 1;
	pthread_join(t, 0);
	return x == 1001 ? 6 : 1;
}
C
$HEDDLE cc -O1 unknown.c -o unknown -pthread
stolen=0
for seed in 1 2 3 4; do
	run timeout 300 $HEDDLE record --seed $seed -o unknown.hdl -- ./unknown
	is "$status" 6 "a call that is not modelled: seed $seed"
	printf '%s' "$err" | grep -q "may not come again" && stolen=$((stolen + 1))
done
ok $([ $stolen -gt 0 ]; echo $?) "and the trace is marked: $stolen of 4"

# The program's descriptors are its own: the watchdog needs none of them, and takes none.
$HEDDLE cc -O1 "$programs/no_descriptors.c" -o no_descriptors -pthread
for seed in 1 2 3 4; do
	run timeout 300 $HEDDLE record -q --seed $seed -o no_descriptors.hdl -- ./no_descriptors
	is "$status $out" "0 63, 1" "a program at its limit of descriptors: seed $seed"
done

# A signal to the group, at any moment of the runs: once so many processes have been seen to begin below the command.
# Runs with kernel threads are such processes; without, one process makes many runs.
children() { # PID...: their children
	local pid
	for pid; do
		[ ! -r "/proc/$pid/task/$pid/children" ] || printf '%s' "$(<"/proc/$pid/task/$pid/children")"
	done 2>/dev/null
}
interrupted() { # PROCESSES COMMAND...
	local left=$1 last= below shake
	shift
	setsid "$@" >.out 2>.err </dev/null &
	shake=$!
	[ -r /proc/$shake/task/$shake/children ] || left=0
	while [ "$left" -gt 0 ] && [ -e /proc/$shake ]; do
		below=$(children $(children $(children $shake))) # of servers, of settled processes: runs
		[ -z "$below" ] || [ "$below" = "$last" ] || left=$((left - 1))
		last=${below:-$last}
	done
	kill -TERM -- -$shake
	wait $shake
	out=$(cat .out) err=$(cat .err)
}
mkdir left
interrupted 40 env HEDDLE_KERNEL_THREADS=1 TMPDIR="$PWD/left" $HEDDLE shake --runs 1000000 -- ./race
like "$out" "[0-9] runs, [0-9]+ outcomes?" "interrupted: a table of the runs until then"
is "$(ls left)" "" "and nothing is left behind"
bad=
for i in 1 1 1 2 2 3 4 5 6 7 8 9; do
	interrupted $i env HEDDLE_KERNEL_THREADS=1 $HEDDLE shake --runs 1000000 -- ./race
	printf '%s' "$out" | grep -q "[0-9] runs, " || bad="$bad $i: $err;"
	interrupted 1 $HEDDLE shake --runs 1000000 -- ./race
	printf '%s' "$out" | grep -q "[0-9] runs, " || bad="$bad $i, one kernel thread: $err;"
done
is "$bad" "" "whenever it comes"

# A signal to the group may end a run before it has begun, which is no reason to make it in another way: many signals,
# soon after the first process below the command.
bad=
for i in {1..60}; do
	setsid $HEDDLE shake --runs 20000 -- ./race >.out 2>.err </dev/null &
	shake=$!
	while [ -e /proc/$shake ] && [ -z "$(children $shake)" ]; do :; done
	perl -e 'select undef, undef, undef, rand(0.04)'
	kill -TERM -- -$shake
	wait $shake
	! grep "20000 runs, " .out >/dev/null || bad="$bad $i;"
done
is "$bad" "" "no signal is lost with a run that it ended"

# A program that signals the command, and ignores the signal itself: in none of the ways to make a run is it lost.
cat >signals.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static int x;
static void *add(void *p) { x++; return p; }
int main(int argc, char **argv)
{
	pthread_t t;
	signal(SIGTERM, SIG_IGN);
	pthread_create(&t, 0, add, 0);
	pthread_join(t, 0);
	if (argc > 1)
		kill(atoi(argv[1]), SIGTERM);
	return x != 1;
}
C
$HEDDLE cc -O1 signals.c -o signals -pthread
for command in "shake --runs 1000000" "check --runs 1000000 --budget 0 -o signals" "explore --seed 1 --runs 1000000 -o signals.x"; do
	run timeout 300 bash -c 'exec '"$HEDDLE $command"' -- ./signals $$'
	ok $([ "$status" -ne 124 ]; echo $?) "a signal during a run ends ${command%% *}: $status"
done
# of the two orders of a pair, the second is not run after a signal that ended the first
cat >pair.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static int x;
static void *add(void *p) { x++; return p; }
__attribute__((no_sanitize("thread"))) static void spin(void)
{
	for (volatile int i = 0;; i++)
		;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, 0, add, 0);
	x++;
	pthread_join(t, 0);
	if (argc > 1) {
		kill(atoi(argv[1]), SIGTERM);
		spin();
	}
	return 0;
}
C
$HEDDLE cc -g -O1 pair.c -o pair -pthread
$HEDDLE record -q -o pair.hdl -- ./pair
run $HEDDLE races pair.hdl --format json -q
$HEDDLE witness pair.hdl $(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"') -o pair.wit >/dev/null
run timeout 300 bash -c 'exec '"$HEDDLE"' replay --witness pair.wit -- ./pair $$'
is "$status" 143 "a signal ends the replay of two orders"
like "$err" "interrupted: run 2 of 2 was not made" "which says so"
run $HEDDLE shake -- ./missing
is "$status" 2 "a missing program"
like "$err" "missing" "is named"
run $HEDDLE shake
is "$status" 2 "no program"
run $HEDDLE doctor
is "$status" 0 "doctor is content here"
like "$out" "ok +heddle record" "it has recorded something"
run env CC=no-such-compiler $HEDDLE doctor
is "$status" 1 "without a compiler it is not"
like "$out" "MISSING +C compiler" "and says what is missing"
run env CC=no-such-compiler $HEDDLE doctor --format json
is "$status $(json '$d->{complete} ? "complete" : join ",", map { $_->{what} } grep { $_->{needed} && !$_->{ok} } @{$d->{checks}}')" \
	'1 C compiler ($CC),heddle cc' "the same as JSON"

odd=$(printf 'race\377\033[31m')
cp race "$odd"
run $HEDDLE shake --runs 2 --format json -- "./$odd"
is "$(json '$d->{program}')" './race\xFF\x1B[31m' "a program's name that is no UTF-8, in JSON"
run "$HEDDLE" shake -n 0 -- true
is "$status" 2 "no run at all shows nothing"
done_testing
