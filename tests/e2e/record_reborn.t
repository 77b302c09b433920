#!/bin/bash
# record: a lock that is initialised again where one was destroyed is another one.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
# the objects of a trace, by their names
objects() {
	$HEDDLE convert "$1" - --to text 2>/dev/null | sed -En "s/.*\|$2\(([^)]*)\).*/\1/p" | sort -u | tr '\n' ' '
}

$HEDDLE cc -g -O1 "$programs/reborn.c" -o reborn -pthread
for mode in controlled free; do
	for way in calls heap initializers c11 over woken; do
		run timeout 300 $HEDDLE record --mode $mode -o $way.hdl -- ./reborn $way
		is "$status" 0 "$mode: $way runs"
		run $HEDDLE commute --analysis cov $way.hdl
		unlike "$out" "use-after-free" "$mode: $way has no use after free"
		run $HEDDLE info $way.hdl
		unlike "$out$err" "not well-formed" "$mode: $way is well-formed"
	done
	$HEDDLE record -q --mode $mode -o after.hdl -- ./reborn after
	run $HEDDLE commute --analysis cov --format json after.hdl
	is "$(json 'join " ", map { $_->{points}[0] =~ /locks.(\w+):free/ } grep { $_->{verdict} eq "happened" } @{$d->{findings}}')" \
		"mutex cond rwlock rwlock semaphore spin spin" "$mode: what is used after its destruction is reported"
done

for way in calls heap initializers c11 over named; do
	run $HEDDLE record -q -o $way.hdl -- ./reborn $way
done
is "$out" $'one\none' "a semaphore by name, opened twice, is one"
is "$(objects calls.hdl acq)" "locks.mutex locks.mutex#2 locks.rwlock locks.rwlock#2 locks.spin locks.spin#2 " \
	"each initialisation makes another lock"
is "$(objects calls.hdl arrive)$(objects calls.hdl post)" "locks.barrier locks.barrier#2 locks.semaphore locks.semaphore#2 " \
	"and another barrier, another semaphore"
is "$(objects heap.hdl acq)" "heap_locks#2->mutex heap_locks#2->rwlock heap_locks#2->spin heap_locks->mutex heap_locks->rwlock heap_locks->spin " \
	"in another life of a heap block it has that one's name"
is "$(objects initializers.hdl destroy | tr ' ' '\n' | sed 's/.*:://' | tr '\n' ' ')" \
	"l.cond l.cond#2 l.mutex l.mutex#2 l.rwlock l.rwlock#2 " "so does an initializer that no call assigns"
is "$(objects c11.hdl acq)" "mutex11 mutex11#2 " "C11's"
is "$(objects over.hdl acq)" "locks.mutex locks.mutex#2 locks.rwlock " "one that is initialised while it is held"
is "$(objects named.hdl take | wc -w)" 2 "a semaphore that was closed and made again is another one"

# what is predicted of a second life is found again by replay and by exploration
$HEDDLE record -q -o early.hdl -- ./reborn early >/dev/null
run $HEDDLE commute --analysis cov --format json early.hdl
is "$(json '$d->{findings}[0]{points}[0]')" "locks.mutex#2:read/write" "the second life's use is in danger"
$HEDDLE witness early.hdl $(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"') -o early.wit >/dev/null
run timeout 300 $HEDDLE replay --witness early.wit -- ./reborn early
is "$status $out" $'0 locked\ndestroyed' "and happens on replay"
like "$err" 'it came to +T2 failed try of locks.mutex#2' "which names the same lock"
run timeout 300 $HEDDLE explore -- ./reborn calls
is "$status" 0 "exploration finds nothing wrong with two lives"

# what --last has kept begins in the middle of a life
run $HEDDLE record -q --last 1000 -o last.hdl -- ./reborn calls
run $HEDDLE commute --analysis cov last.hdl
unlike "$out" "use-after-free" "--last: no use after free"
# Exploration finds the order of destruction and use that main's sleep hides.
run $HEDDLE explore -- ./reborn early
is "$status" 1 "explore: a lock destroyed before another thread uses it"
like "$out" "T2 uses locks.mutex#2 after main destroyed it at reborn.c:247" "which, and where"
done_testing
