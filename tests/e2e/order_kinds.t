#!/bin/bash
# heddle explore: each operation whose outcome depends on the order is tried in every order, or the
# report names it and is not complete.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 -w "$programs/order_kinds.c" -o kinds -pthread
for kind in sem_clock mutex_clock condition_clock rwlock_clock c11 sleeps a_pipe a_socket polls an_eventfd; do
	run timeout 300 "$HEDDLE" explore --format json -- ./kinds $kind
	like "$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}') $(json 'join " ", map { $_->{kind} } @{$d->{errors}}')" \
		"^complete (blocked )?signal\$" "every order is tried: $kind"
done

while read -r kind words; do
	run timeout 300 "$HEDDLE" explore --format json --budget 250 -- ./kinds "$kind"
	like "$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}')" \
		"(^|; )$words: what comes of it may depend on the order" "named: $kind"
done <<'T'
cancel pthread_cancel
try_join a join that does not wait for as long as it takes
timed_join a join that does not wait for as long as it takes
clock_join a join that does not wait for as long as it takes
system_queue a message queue
system_semaphore semop
a_signal which thread takes a signal to the process
waits_for_signal waiting for a signal
random_numbers rand
environment setenv
a_stream a stream that several threads use
a_file writing to a file that may be read again
exclusive making a file that must not be there yet
locked_file flock
words strtok
a_timer a timer's signal
T
if has "${CXX:-c++}" "strings and streams"; then
	$HEDDLE c++ -g -O1 "$programs/order_strings.cc" -o strings
	n=0
	# a string's functions are compiled with the program, so that their orders are explored
	for words in complete "a std::ostream: .*" complete; do
		run timeout 300 "$HEDDLE" explore --format json -- ./strings $n
		like "$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}')" "^$words\$" \
			"strings and streams of two threads: $n"
		[ $n != 0 ] || is "$(json 'join " ", map { $_->{way}[0] } @{$d->{errors}}')" \
			"T2 reads text = 0, not 1 (order_strings.cc:18)" \
			"the order of two changes of a string"
		n=$((n + 1))
	done
fi
# a heading says "race" of races only
printf 'T0|alloc(p,8)|a.c:1\nT0|fork(T1)|a.c:2\nT1|w(p)|a.c:3\nT0|free(p)|a.c:4\n' >"$scratch/freed.txt"
run "$HEDDLE" commute --analysis cov "$scratch/freed.txt"
like "$out" '^can happen: use-after-free' "the heading of a use after free"
run "$HEDDLE" commute --analysis cov --format json "$scratch/freed.txt"
is "$(json '$d->{findings}[0]{verdict}')" race "its verdict in JSON"
printf 'T1|w(x)|a.c:3\nT2|w(x)|a.c:4\n' >"$scratch/race.txt"
run "$HEDDLE" races "$scratch/race.txt"
like "$out" '^race: data-race' "the heading of a data race"
done_testing
