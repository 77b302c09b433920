#!/bin/bash
# A thread that holds thousands of locks at once, let go in the order of their acquires or in
# the opposite one: what is held is not copied at each of them.
. tests/e2e/lib.sh
# many ORDER: the main thread takes 8,000 locks, another one two of them the other way round.
many() {
	awk -v fifo="$1" 'BEGIN {
		n = 8000
		print "main|fork(T1)|1"
		for (i = 0; i < n; i++)
			print "main|acq(l" i ")|2\nmain|w(v" i % 7 ")|3"
		for (i = 0; i < n; i++)
			print "main|rel(l" (fifo ? i : n - 1 - i) ")|4\nmain|w(v" i % 7 ")|5"
		print "T1|acq(l9)|6\nT1|acq(l8)|7\nT1|w(v0)|8\nT1|rel(l8)|9\nT1|rel(l9)|9"
	}' /dev/null
}
for fifo in 0 1; do
	many $fifo >"$scratch/$fifo.txt"
	run "$HEDDLE" deadlocks --format json "$scratch/$fifo.txt"
	is "$(json 'scalar @{$d->{findings}}')" 1 "the deadlock of l8 and l9"
	run "$HEDDLE" races --analysis syncp --format json "$scratch/$fifo.txt"
	like "$status" '^[01]$' "SyncP"
	run "$HEDDLE" races --analysis lockset --format json "$scratch/$fifo.txt"
	# T1 holds l8 and l9 at its write of v0: with neither main writes it at 0 and 7 of those
	# that it takes, and at 7994, or 14, 21, ... 7994, of those that it lets go.
	counts="$([ $fifo = 0 ] && echo 1 2 || echo 1141 2)"
	is "$(json 'join " ", sort map { "$_->{count}" } @{$d->{findings}}')" "$counts" \
		"accesses of v0 without l8 and l9"
done
done_testing
