#!/bin/bash
# heddle shake and doctor.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -O1 "$programs/race.c" -o race -pthread
$HEDDLE cc -O1 "$programs/assert.c" -o assert -pthread
$HEDDLE cc -O1 "$programs/deadlock.c" -o deadlock -pthread

run $HEDDLE shake -n 5 --strategy rr -- ./race
is "$status" 0 "one outcome: nothing found"
like "$out" "5  exit status 5  balance 45 +--strategy rr --seed 1" "with its count, status, seed and last line"
run $HEDDLE shake -n 60 -- ./assert
is "$status" 1 "two outcomes: found"
like "$out" "signal 6" "the failing one"
again=$(printf '%s\n' "$out" | sed -n 's/.*signal 6.*\(--strategy .*--seed [0-9]*\).*/\1/p' | head -1)
run $HEDDLE record -q $again -o again.hdl -- ./assert
is "$status" 134 "its seed makes it come again: $again"
run $HEDDLE shake -n 3 --format json -- ./deadlock
is "$status" 1 "deadlocks are found"
is "$(json '$d->{outcomes}[0]{end}')" "deadlock" "JSON: how it ended"
is "$(json '$d->{runs}')" 3 "JSON: how many runs"
is "$(json '$d->{outcomes}[0]{count}')" 3 "JSON: how often"
is "$(json '$d->{outcomes}[0]{seed}')" 1 "JSON: the seed"

# each line of the table comes again: its end and its output
for strategy in random pct noise rr; do
	run $HEDDLE shake -n 40 --strategy $strategy --depth 2 --format json -- ./assert
	bad=
	n=$(json 'scalar @{$d->{outcomes}}')
	lines=$(json 'join "\n", map { "$_->{status} $_->{line}\t--strategy $_->{strategy} --seed $_->{seed}" .
		(defined $_->{steps} ? " --depth $_->{depth} --steps $_->{steps}" : "") } @{$d->{outcomes}}')
	while IFS=$'\t' read -r want options; do
		run $HEDDLE record -q $options -o again.hdl -- ./assert
		[ "$status" = "${want%% *}" ] || bad+=" $options: $status, not ${want%% *};"
	done <<<"$(printf '%b' "$lines")"
	is "$bad" "" "$n outcomes of $strategy come again"
done

# a call that is not modelled blocks: the watchdog lets the others go on, and says so
cat >unknown.c <<'C'
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int ends[2], x;
static void *reader(void *p) { char c = 0; syscall(SYS_read, ends[0], &c, 1); x++; return p; }
int main(void) {
	pthread_t t;
	if (pipe(ends)) return 1;
	pthread_create(&t, 0, reader, 0);
	for (volatile int i = 0; i < 1000; i++) x++;
	if (syscall(SYS_write, ends[1], "x", 1) != 1) return 1;
	pthread_join(t, 0);
	return x == 1001 ? 6 : 1;
}
C
$HEDDLE cc -O1 unknown.c -o unknown -pthread
stolen=0
for seed in 1 2 3 4; do
	run timeout 30 $HEDDLE record --seed $seed -o unknown.hdl -- ./unknown
	is "$status" 6 "a call that is not modelled: seed $seed"
	printf '%s' "$err" | grep -q "may not come again" && stolen=$((stolen + 1))
done
ok $([ $stolen -gt 0 ]; echo $?) "and the trace is marked: $stolen of 4"

mkdir left
run env TMPDIR="$PWD/left" timeout -s TERM 4 $HEDDLE shake --runs 1000000 -- ./race
like "$out" "[0-9] runs, [0-9]+ outcomes?" "interrupted: a table of the runs until then"
is "$(ls left)" "" "and nothing is left behind"
run $HEDDLE shake -- ./missing
is "$status" 2 "a missing program"
like "$err" "missing" "is named"
run $HEDDLE shake
is "$status" 2 "no program"
run $HEDDLE doctor
is "$status" 0 "doctor is content here"
like "$out" "ok +heddle record" "it has recorded something"
run env CC=no-such-compiler $HEDDLE doctor
is "$status" 1 "without a compiler it is not"
like "$out" "MISSING +C compiler" "and says what is missing"
run env CC=no-such-compiler $HEDDLE doctor --format json
is "$status $(json '$d->{complete} ? "complete" : join ",", map { $_->{what} } grep { $_->{needed} && !$_->{ok} } @{$d->{checks}}')" \
	'1 C compiler ($CC),heddle cc' "the same as JSON"

odd=$(printf 'race\377\033[31m')
cp race "$odd"
run $HEDDLE shake --runs 2 --format json -- "./$odd"
is "$(json '$d->{program}')" './race\xFF\x1B[31m' "a program's name that is no UTF-8, in JSON"
done_testing
