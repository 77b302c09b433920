#!/bin/bash
# heddle explore on threads that communicate by pipes, pairs of sockets and eventfds: random programs
# (programs/random_channels.pl) against all interleavings.
# HEDDLE_PROGRAMS=N: so many programs, HEDDLE_FIRST=N: the first seed.
. tests/e2e/lib.sh
generator=$PWD/tests/e2e/programs/random_channels.pl
cd "$scratch" || exit 1

first=${HEDDLE_FIRST:-1}
blocked=0
for seed in $(seq "$first" $((first + ${HEDDLE_PROGRAMS:-24} - 1))); do
	perl "$generator" "$seed" >prog.c
	$HEDDLE cc -g -O$((seed % 2)) prog.c -o prog -pthread
	run timeout 300 "$HEDDLE" explore --seed $((seed % 4)) --format json -- ./prog
	found=$(json 'my %seen; join "\n", sort grep { !$seen{$_}++ } (map { $_->{printed} } grep { !defined $_->{error} } @{$d->{runs}}), (map { "blocked" } @{$d->{errors}}), (map { "race" } @{$d->{races}}), "$d->{states} classes"')
	gaps=$(json 'join "; ", @{$d->{gaps}}')
	is "$(sort <<<"$found"); $gaps" "$(sed -n 's/^\/\/= //p' prog.c | sort); " "program $seed"
	[[ $found != *blocked* ]] || blocked=$((blocked + 1))
done
is "$((blocked > 0))$((blocked < count))" 11 "in some programs threads wait for ever, in some not"
done_testing
