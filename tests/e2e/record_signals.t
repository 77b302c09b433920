#!/bin/bash
# record: signal handlers, by whatever call they were installed, whatever they do, and whatever
# they end; recorded and plain runs end in the same way.  Time limits are guards alone.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
build() { $HEDDLE cc -w -g -O1 "$programs/$1.c" -o "${2:-$1}" -pthread ${3:-}; }
for p in handler_table handler_sysv handler_waits handler_stops_world handler_timer signal_sleep \
	signal_long_sleep signal_poll computes computes_cancel handler_often signal_to_waiter; do
	build $p
done
build handler_stops_world handler_stops_napping -DNAP

# a table of calls: what each does is what it does in a plain run
timeout 300 ./handler_table >plain.out
for how in "--seed 1" "--seed 2" "--strategy pct" "--mode free"; do
	run timeout 300 $HEDDLE record -q $how -o table.hdl -- ./handler_table
	is "$status" 0 "handlers and waits: it ends, $how"
	is "$(diff plain.out .out)" "" "each call does what it does alone, $how"
done

for how in "--seed 1" "--seed 2" "--seed 3" "--mode free"; do
	run timeout 300 $HEDDLE record -q $how -o p.hdl -- ./handler_sysv
	is "$status $out" "0 done" "System V's signal(), $how"
	for k in 1 2 3 4; do
		run timeout 300 $HEDDLE record -q $how -o p.hdl -- ./handler_waits $k
		is "$status $out" "0 DONE" "a handler that posts or waits, way $k, $how"
	done
	# a signal comes to a thread before it has begun
	run timeout 300 $HEDDLE record -q $how --seed 10163 -o p.hdl -- ./handler_waits 4
	is "$status $out" "0 DONE" "a signal to a thread that is being born, $how"
	for p in handler_stops_world handler_stops_napping; do
		run timeout 300 $HEDDLE record -q $how -o p.hdl -- ./$p
		is "$status $out" "0 DONE" "$p, $how"
	done
	run timeout 300 $HEDDLE record -q $how -o p.hdl -- ./handler_often
	is "$status $out" "0 DONE" "signals while the log takes room, $how"
	run timeout 300 $HEDDLE record -q $how -o p.hdl -- ./signal_to_waiter
	is "$status $out" "0 DONE" "signals to a waiting thread while all others are outside, $how"
	for k in 0 1 2; do
		run timeout 300 $HEDDLE record -q $how -o p.hdl -- ./handler_timer $k
		is "$status $out" "0 DONE" "a timer's handler, way $k, $how"
	done
done

# a thread that computes without events while all others sleep
run timeout 300 $HEDDLE record -o p.hdl -- ./computes
is "$status" 0 "computing while main sleeps: it ends"
like "$err" "blocked or spun in what is not modelled" "and that is said"
run timeout 300 $HEDDLE record -q -o p.hdl -- ./computes_cancel
is "$status $out" "0 1" "which another cancels"

# a server's main loop, ended by a signal; what follows is replayed
ended() { # PROGRAM [RECORD'S OPTIONS]: recorded, and terminated when it is ready
	local p=$1
	shift
	: >$p.out
	timeout 300 $HEDDLE record -q --max-size 20 "$@" -o $p.hdl -- ./$p >$p.out 2>$p.err &
	local recorder=$! child=
	await grep -q ready $p.out
	for child in $(pgrep -P $recorder); do # `timeout` runs the recorder, which passes it on
		kill -TERM $child
	done
	wait $recorder
	status=$?
}
for p in signal_sleep signal_long_sleep signal_poll; do
	ended $p --mode free
	is "$status $(tail -n 1 $p.out)" "0 stopped by 15" "$p: free mode"
	ended $p
	is "$status $(tail -n 1 $p.out)" "0 stopped by 15" "$p: a signal ends the sleep"
	$HEDDLE convert $p.hdl text --to text >/dev/null
	run $HEDDLE info $p.hdl --format json
	is "$(json '"$d->{ended}{how} $d->{ended}{status}"')" "exit 0" "$p: info says how it ended"
	ok $([ "$(wc -l <text)" -lt 5000 ]; echo $?) "it sleeps in real time, and few events are recorded"
	like "$(cat text)" 'main\|w4\(quit\)=15;volatile\|' "what the handler writes is in the trace"
	like "$(cat text)" 'main\|enter\(signal@libc\)\|'"$p.c" "as called from where the signal came"
	run $HEDDLE races $p.hdl --format json
	is "$(json 'join " ", map { $_->{variable} } @{$d->{findings}}')" stop_flag "$p: the race at the shutdown"
	pair=$(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"')
	run $HEDDLE witness $p.hdl $pair -o $p.wit
	run timeout 300 $HEDDLE replay --witness $p.wit -- ./$p
	is "$status" 0 "$p: its witness on the program"
	like "$err" "main first" "comes to the pair"
	unlike "$err" "left the witness|waits for more" "past the signal"
done

# a handler's race with another thread; what was done before the signal was sent is before it
cat >handler_race.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static int racy, sent;
static volatile sig_atomic_t done;
static void on_usr(int s) { racy++; sent++; done = 1; }
static void *sender(void *p) { sent = 5; pthread_kill(*(pthread_t *)p, SIGUSR1); racy++; return p; }
int main(void)
{
	pthread_t self = pthread_self(), t;
	signal(SIGUSR1, on_usr);
	pthread_create(&t, 0, sender, &self);
	while (!done)
		usleep(100);
	pthread_join(t, 0);
	return sent;
}
C
$HEDDLE cc -g -O1 handler_race.c -o handler_race -pthread
for how in "--seed 1" "--seed 2" "--strategy pct"; do
	run timeout 300 $HEDDLE record -q $how -o race.hdl -- ./handler_race
	is "$status" 6 "handler and sender, $how"
	run $HEDDLE races race.hdl --format json
	is "$(json 'join " ", sort map { $_->{variable} } @{$d->{findings}}')" racy \
		"the handler's access races, and the one before the signal does not, $how"
done
run timeout 300 $HEDDLE record -q --seed 1 -o one.hdl -- ./handler_race
run timeout 300 $HEDDLE record -q --seed 1 -o race.hdl -- ./handler_race
run $HEDDLE races race.hdl --format json
pair=$(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"')
run $HEDDLE witness race.hdl $pair -o race.wit
run timeout 300 $HEDDLE replay --witness race.wit -- ./handler_race
is "$status" 6 "its witness on the program"
unlike "$err" "left the witness" "with a signal that the program sends itself"
run $HEDDLE races race.hdl
like "$out" "in on_usr, from a signal, from usleep, from main handler_race.c:14" "a report says that a signal called the handler"
unlike "$out" "@libc" "and has no name of the trace's"

# a handler that waits for what its own thread holds: no signal can end that where all threads block it;
# one that another thread takes can
cat >handler_stuck.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;
static void on_usr(int s)
{
	if (!pthread_equal(pthread_self(), first))
		_exit(7);
	puts("ready");
	fflush(stdout);
	pthread_mutex_lock(&m);
}
static void *waits(void *p) { pthread_mutex_lock(&m); return p; }
int main(int argc, char **argv)
{
	pthread_t t;
	first = pthread_self();
	signal(SIGUSR1, on_usr);
	pthread_mutex_lock(&m);
	if (argc > 1)
		pthread_create(&t, 0, waits, 0);
	raise(SIGUSR1);
	return 0;
}
C
$HEDDLE cc -g -O1 handler_stuck.c -o handler_stuck -pthread
run timeout 300 $HEDDLE record -o stuck.hdl -- ./handler_stuck
like "$err" "deadlock: no thread can go on" "a handler that waits for its own thread"
run $HEDDLE deadlocks stuck.hdl
like "$out" "in on_usr, from a signal, from main" "whose report has the handler"
timeout 300 $HEDDLE record -q -o other.hdl -- ./handler_stuck 2 >other.out 2>other.err &
recorder=$!
await grep -qs ready other.out
for child in $(pgrep -P $recorder); do
	for program in $(pgrep -P $child); do
		kill -USR1 $program
	done
done
wait $recorder
is "$? $(cat other.err)" "7 " "a signal from outside that another thread takes"
done_testing
