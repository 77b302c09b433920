#!/bin/bash
# The strategies that know the next event (pos, surw, turns), the portfolio of `shake --strategy auto`, and the
# schedules of fewest switches.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 -no-pie "$programs/order.c" -o order -pthread
"$HEDDLE" cc -O1 "$programs/assert.c" -o assert -pthread
"$HEDDLE" cc -O1 "$programs/deadlock.c" -o deadlock -pthread

# Three events in each of two threads: 20 orders.  Pearson's chi-square of 400 runs against all being equally likely;
# with 19 degrees of freedom it is above 43.8 once in 1,000.
chi() {
	json 'my $x = 0; $x += ($_->{count} - 20) ** 2 / 20 for @{$d->{outcomes}};
		int($x + 20 * (20 - @{$d->{outcomes}}))'
}
next=0x$(nm order | sed -n 's/ [bB] next$//p')
run "$HEDDLE" shake --runs 400 --tries 0 --target "$next+4=6,3,3" --format json -- ./order
is "$([ "$(chi)" -lt 44 ]; echo $?)" 0 "surw: each order of the target's events is equally likely ($(chi))"
run "$HEDDLE" shake --runs 400 --tries 0 --strategy random --format json -- ./order
is "$([ "$(chi)" -gt 44 ]; echo $?)" 0 "which chance alone does not give ($(chi))"
run "$HEDDLE" shake --runs 300 --tries 0 --strategy pos --format json -- ./order
is "$(json '$d->{outcomes}[10] ? "yes" : "no"')" yes "pos meets more than half of them"

# turns: two events of the second thread, one of the first, the rest
run "$HEDDLE" record -q --turns 0:2,2:2,1:2 --seed 0 -o turns.hdl -- ./order
is "$out" "2 3 4" "turns: the second thread's events first, then the first one's"
for wrong in "--turns 1:2,x" "--turns 1:" "--target 0x10=3" "--target 0x10+4=70000"; do
	run "$HEDDLE" record $wrong -- ./order
	like "$status $err" "^(125|2) .*expected" "$wrong is refused"
done

# the portfolio: the same for one seed, each outcome comes again, shares are whole
run "$HEDDLE" shake --strategy auto --seed 5 --runs 30 --format json -- ./assert
first=$out
is "$status" 1 "auto: the failing outcome is found"
run "$HEDDLE" shake --strategy auto --seed 5 --runs 30 --format json -- ./assert
is "$out" "$first" "the same for one seed"
bad=
while IFS=$'\t' read -r want options; do
	run "$HEDDLE" record -q $options -o again.hdl -- ./assert
	[ "$status" = "$want" ] || bad+=" $options: $status, not $want;"
done <<<"$(out=$first json 'join "\n", map { my $o = $_; map { "$o->{status}\t$_" }
	$o->{options}, $o->{fewest} ? $o->{fewest}{options} : () } @{$d->{outcomes}}' | sed 's/\\n/\n/g')"
is "$bad" "" "each of its outcomes comes again by its line, and by the turns of fewest switches"
for i in 1 2; do "$HEDDLE" shake --strategy auto --seed 5 --runs 30 --shard $i/2 --format json -- ./assert >s$i.json; done
run "$HEDDLE" merge --format json s1.json s2.json
is "$status $(json '$d->{runs}')" "1 30" "shares of it are joined"
run "$HEDDLE" shake --strategy auto --seed 5 --runs 30 -j 2 --format json -- ./assert
is "$(json '$d->{runs}')" 30 "processes divide them"

# fewest switches
run "$HEDDLE" shake --runs 60 -- ./assert
like "$out" "signal 6 .* switch(es)? of threads, no fewer found in [0-9]+ runs: --strategy turns --turns [0-9:,]+ --seed 0" \
	"a failing run with the fewest switches"
again=$(printf '%s\n' "$out" | sed -n 's/.* runs: \(--strategy turns.*\)/\1/p' | head -1)
run "$HEDDLE" record -q $again -o again.hdl -- ./assert
is "$status" 134 "comes again: $again"
run "$HEDDLE" shake --runs 60 --tries 0 -- ./assert
is "$(printf '%s\n' "$out" | grep -c 'no fewer')" 0 "--tries 0 looks for none"
run "$HEDDLE" shake --strategy auto --runs 20 --until-error --format json -- ./deadlock
is "$status $(json '$d->{"first-failure"} <= $d->{runs} ? "yes" : "no"') $(json 'scalar grep { $_->{end} eq "deadlock" && $_->{fewest} } @{$d->{outcomes}}')" \
	"1 yes 1" "--until-error ends at the first failing run"

# a use of freed memory that changes nothing that is seen
cat >used.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int *block;
static void *use(void *unused)
{
	*block = 1;
	return NULL;
}
int main(void)
{
	pthread_t t;
	block = malloc(sizeof(int));
	pthread_create(&t, NULL, use, NULL);
	free(block);
	return pthread_join(t, NULL);
}
C
"$HEDDLE" cc -g -O1 used.c -o used -pthread 2>/dev/null
run "$HEDDLE" shake --strategy auto --runs 20 -- ./used
like "$out" "use after free, in [0-9]+ runs .*: T1 writes .* after main freed its block at used.c:14" "a use after free is an outcome"
done_testing
