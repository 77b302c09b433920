#!/bin/bash
# heddle explore: shares of an exploration, joined again.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >share.c <<'C'
#include "two_threads.h"
static void add(void)
{
	pthread_mutex_lock(&m);
	got++;
	pthread_mutex_unlock(&m);
}
static void one(void) { add(), add(), add(); }
static void two(void) { add(), add(); }
static int result(void) { return 0; }
C
run "$HEDDLE" cc -g -O1 -I "$root/tests/e2e/cases/explore" share.c -o share -pthread
run "$HEDDLE" explore --budget 100 --format json -- ./share
all=$(json '$d->{states}')
for i in 1 2 3; do
	run "$HEDDLE" explore --budget 100 --format json --shard $i/3 -- ./share
	printf '%s\n' "$out" >share$i.json
	is "$(json '$d->{shard}')" "$i/3" "share $i says which"
done
run "$HEDDLE" merge share1.json share2.json share3.json --format json
is "$(json '"$d->{states} $d->{complete}"')" "$all 1" "the shares have all $all classes"
run "$HEDDLE" explore --shard 4/3 -- ./share
is "$status" 2 "no such share"
done_testing
