#!/bin/bash
# What waits by the system call futex: a wait ends, by a wake or in virtual time, under every
# strategy; one seed is one trace; replay follows it; it orders nothing that the program does not.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
export TMPDIR=$scratch # others may replay at the same time
cd "$scratch" || exit 1
events() { $HEDDLE info --format json "$1" | sed -n 's/.*"events": \([0-9]*\),.*/\1/p' | head -1; }

$HEDDLE cc -g -O1 "$programs/futex.c" -o futex -pthread || echo "# cannot build futex"
run timeout 300 $HEDDLE record -q -o calls.hdl -- ./futex
is "$status $out" "0 1111111" "what it returns; a child that wakes"

run timeout 300 $HEDDLE record -q --strategy rr -o race.hdl -- ./futex race
is "$status" 0 "a wake ends a wait"
run $HEDDLE races race.hdl --format json -q
is "$(json 'join " ", map { $_->{variable} } @{$d->{findings}}')" "after" \
	"before the store: ordered; between store and wake: a race"
pair=$(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"')
run $HEDDLE witness race.hdl $pair -o race.wit
run timeout 300 $HEDDLE replay --witness race.wit -- ./futex race
is "$status" 0 "the race's witness is followed"
like "$err" "stopped before the pair" "to the pair, though nobody has woken the waiter"

# how many sleep is told by an address beside the word's, also where the kernel chooses addresses
gcc -o no_personality "$programs/no_personality.c"
$HEDDLE cc -g -O1 "$root/tests/e2e/cases/explore/futex_woken.c" -o woken -pthread
./no_personality true && refused=./no_personality
run timeout 300 ${refused:-} $HEDDLE explore --format json -- ./woken
is "$status $(json '"$d->{states} $d->{complete}"')" "1 3 1" "explored with random addresses"

if ! $HEDDLE c++ -std=c++20 -g -O1 "$programs/futex_ways.cc" -o ways -pthread 2>/dev/null; then
	ok 0 "what the C++ library waits for # SKIP no compiler for C++20"
	done_testing
	exit
fi
run timeout 300 $HEDDLE record -q -o time.hdl -- ./ways 0
is "$status $out" "0 1" "std::future waits for a time of the virtual clocks"
for s in random pct noise rr; do
	run timeout 300 $HEDDLE record -q --strategy $s -o one.hdl -- ./ways 1 2 3 4 5 6
	is "$status $out" "0 111111" "future, atomic, latch, barrier, semaphore, once under $s"
	run timeout 300 $HEDDLE record -q --strategy $s -o two.hdl -- ./ways 1 2 3 4 5 6
	cmp -s one.hdl two.hdl
	ok $? "one seed is one trace under $s"
	run timeout 300 $HEDDLE races one.hdl -q
	is "$status" 0 "no race under $s"
	last=$(($(events one.hdl) - 3))
	run timeout 300 $HEDDLE replay --trace one.hdl --until $last -- ./ways 1 2 3 4 5 6
	like "$err" "exit status 0" "replay follows it to its end under $s"
done
run timeout 300 $HEDDLE record -q --mode free -o free.hdl -- ./ways 1 2 3 4 6
is "$status $out" "0 11111" "free mode"
run timeout 300 $HEDDLE record -o never.hdl -- ./ways 7
is "$status" 134 "nobody wakes: a deadlock"
like "$err" "waits for futex" "and it says so"

done_testing
