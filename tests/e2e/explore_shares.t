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
run "$HEDDLE" merge share1.json share2.json share3.json
like "$out" "^[.]/share: 0 findings in [0-9]+ runs, $all of them different, complete for this input: " "as text, of the whole"
run "$HEDDLE" explore --budget 100 --shard 1/3 -- ./share
like "$out" ", complete for share 1/3 of what follows from the first run$" "one share alone promises its part"

# errors of several shares: their numbers of runs are those of the join
sed -i 's/result(void) { return 0; }/result(void) { return got == 5 ? order : 0; }/; s/static void one(void) { /static int order;\n&order = got; /' share.c
run "$HEDDLE" cc -g -O1 -I "$root/tests/e2e/cases/explore" share.c -o share -pthread
for i in 1 2 3; do
	"$HEDDLE" explore --budget 100 --format json --shard $i/3 -- ./share >share$i.json
done
run "$HEDDLE" merge share1.json share2.json share3.json --format json
is "$(json 'join " ", map { my $e = $_; map { my $r = $d->{runs}[$e->{$_}];
	$r->{end} eq $e->{kind} && $r->{status} == $e->{status} ? "right" : "$e->{status}: $_ $e->{$_} is $r->{end} $r->{status}" } "run", "shortest" } @{$d->{errors}}' | tr ' ' '\n' | sort -u)" \
	right "the runs of errors are runs of the join"
ok "$(json '@{$d->{errors}} < 2 ? 1 : 0')" "there are several errors"
done_testing
