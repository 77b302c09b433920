#!/bin/bash
# heddle explore: a wait with a time limit that is signalled after the time of an earlier one was up,
# by pthreads and by GLib.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

statuses() { json 'join " ", sort { $a <=> $b } map { $_->{status} } grep { !$_->{redundant} } @{$d->{runs}}'; }

run "$HEDDLE" cc -g -O1 "$programs/two_waits.c" -o waits -pthread
for seed in 0 1 2; do
	run timeout 120 "$HEDDLE" explore --seed $seed --format json -- ./waits
	is "$(statuses) complete=$(json '$d->{complete} ? 1 : 0')" "1 2 11 complete=1" \
		"seed $seed: the signal ends neither wait, the second or the first"
done

run "$HEDDLE" cc -g -O1 -DGLIB "$programs/two_waits.c" -o glib_waits \
	$(pkg-config --cflags --libs glib-2.0) -pthread
run timeout 120 "$HEDDLE" explore --format json -- ./glib_waits
is "$(statuses)" "1 2 11" "the same by GLib's condition"
done_testing
