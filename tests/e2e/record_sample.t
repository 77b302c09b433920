#!/bin/bash
# `record --sample`: one window in N of the plain accesses is recorded, with all synchronisation.
# In controlled mode the run is that of the same seed without it, so each pair of places that
# happens-before and lockset find is one of the whole recording; every report says that accesses
# were sampled, and is never complete.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Threads that do what a random number says: accesses under
# locks and without, a hot race, and one in a function that is called once.
cat >many.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define KEPT __attribute__((noinline, noclone))
enum { WORDS = 4, ROUNDS = 1500 };
static volatile long words[WORDS], hot, cold, guarded;
static char from[64], to[64];
static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static unsigned seed;
KEPT static void once(void)
{
	cold++;
}
KEPT static void work(unsigned x, int n)
{
	for (; n; n--) {
		words[x >> 20 & 3] += n;
		if (n % 16 == 0)
			hot++;
	}
}
static void *run(void *p)
{
	unsigned x = seed * 7919 + (unsigned)(long)p;
	once();
	for (int i = 0; i < ROUNDS; i++) {
		x = x * 1664525 + 1013904223;
		pthread_mutex_t *lock = &locks[x >> 24 & 1];
		if (x >> 28 & 3)
			pthread_mutex_lock(lock);
		work(x, x >> 12 & 31);
		if (x >> 28 & 3)
			pthread_mutex_unlock(lock);
		pthread_mutex_lock(&locks[0]);
		guarded++;
		memcpy(to, from, x >> 8 & 63);
		pthread_mutex_unlock(&locks[0]);
	}
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t[3];
	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
$HEDDLE cc -g -O1 many.c -o many -pthread || echo "# cannot build many"

# others TRACE: all of its events but plain accesses, calls and returns
others() {
	$HEDDLE convert -q "$1" "$1.txt"
	grep -v '^#' "$1.txt" | grep -Ev '\|(r[0-9]*\(|w[0-9]*\(|enter|leave)' | cut -d'|' -f1,2
}
# pairs TRACE ANALYSIS: "place place variable" of each, sorted
pairs() {
	$HEDDLE races -q --analysis "$2" --format json "$1" | perl -ne '
		my ($sites, $variables) = /"sites": \[(.*?)\].*"variables": \[(.*?)\]/ or next;
		my @sites = sort map { s/"//gr } $sites =~ /("line": \d+, "column": \d+, "function": "[^"]*")/g;
		$pairs{"@sites $_"} = 1 for $variables =~ /"([^"]*)"/g;
		END { print "$_\n" for sort keys %pairs }'
}
plain() { grep -cE '\|(r|w)[0-9]*\(' "$1.txt"; }

other_runs=0 others_found=0 found=0 all=0 kept=0 made=0
for seed in 1 2 3 4; do
	how="-q --seed $seed --strategy $(echo random pct noise rr | cut -d' ' -f$seed) --no-missing"
	$HEDDLE record $how -o whole.hdl -- ./many $seed
	others whole.hdl >whole.others
	made=$((made + $(plain whole.hdl)))
	for analysis in hb lockset; do
		pairs whole.hdl $analysis >whole.$analysis
		all=$((all + $(wc -l <whole.$analysis)))
	done
	for rate in 3 40; do
		$HEDDLE record $how --sample $rate -o less.hdl -- ./many $seed
		others less.hdl | cmp -s - whole.others || other_runs=$((other_runs + 1))
		kept=$((kept + $(plain less.hdl)))
		for analysis in hb lockset; do
			pairs less.hdl $analysis >less.pairs
			found=$((found + $(wc -l <less.pairs)))
			others_found=$((others_found + $(comm -13 whole.$analysis less.pairs | wc -l)))
		done
	done
	$HEDDLE record $how --sample 1 -o less.hdl -- ./many $seed
	others less.hdl >/dev/null
	for analysis in hb lockset; do
		pairs less.hdl $analysis | cmp -s - whole.$analysis || others_found=$((others_found + 100))
	done
done
is "$other_runs" 0 "the sampled recording is of the same run"
is "$others_found" 0 "its pairs are pairs of the whole, and one window in one has them all"
ok $((found <= all / 2)) "many are found ($found of $((2 * all)))"
ok $((kept * 3 >= made)) "much is left out ($kept accesses of $((2 * made)))"

# What a report and the trace say of themselves.
for name in first less; do
	run $HEDDLE record --seed 3 --sample 40 -o $name.hdl -- ./many 3
	is "$status" 0 "--sample 40"
done
run cmp first.hdl less.hdl
is "$status" 0 "one seed is one sample"
run $HEDDLE info less.hdl
like "$out" '^less.hdl, accesses sampled \(one window in 40\)' "info says it first"
run $HEDDLE info --format json less.hdl
is "$(json '$d->{sampled}')" 40 "and its JSON"
is "$(json '$d->{recording}{"recording-sample"}')" 40 "with the note"
ok $(($(json '$d->{recording}{"recording-left-out"}') < 10000)) "and how many were left out"
run $HEDDLE races --analysis hb less.hdl
is "$status" 1 "HB finds races"
like "$out" 'on hot .*\[accesses sampled: one window in 40\]' "the hot one, which says that it is of a sample"
like "$out" 'on cold .*\[accesses sampled' "and one in a function that is called once"
unlike "$out" 'on guarded' "and none under the lock"
like "$out" 'findings? by hb in [0-9]+ events, not complete: accesses were sampled \(one window in 40\)' "the last line says so"
like "$(printf '%s\n' "$out" | tail -1)" '^note: accesses were sampled \(record --sample 40: one window in 40\)' "and the note after it"
unlike "$out" ', complete|impossible:' "nothing is complete or impossible"
run $HEDDLE races --analysis hb --format json less.hdl
is "$(json '$d->{sampled}')" 40 "a report as JSON"
is "$(json '$d->{findings}[0]{sampled}')" 40 "each finding, too"
is "$(json '$d->{complete} ? 1 : 0')" 0 "is not complete"
for analysis in lockset wcp; do
	run $HEDDLE races --analysis $analysis less.hdl
	like "$out" 'not complete: accesses were sampled' "$analysis is not complete"
done
for analysis in auto shb syncp m2 smt; do
	run $HEDDLE races --analysis $analysis less.hdl
	is "$status" 2 "$analysis refuses it"
	like "$err" 'recorded with --sample 40, which leaves accesses out, .*; use --analysis hb; or record without --sample' \
		"$analysis says why, and what to do"
done
run $HEDDLE races --analysis syncp --lenient less.hdl
like "$out" 'not complete: accesses were sampled' "syncp --lenient is never complete"
unlike "$out" 'impossible:' "nor calls anything impossible"
run $HEDDLE deadlocks less.hdl
is "$status" 2 "deadlocks refuse it"
like "$err" 'recorded with --sample 40, .*; record without --sample; or --lenient' "with their own remedy"
for command in atomic commute; do
	run $HEDDLE $command less.hdl
	unlike "$out" ', complete' "$command is not complete"
	like "$out" 'accesses were sampled \(one window in 40\)' "$command says why"
done
run $HEDDLE replay --trace less.hdl -- ./many 3
is "$status" 125 "no replay"
like "$err" 'recorded with --sample 40, .*; record it without --sample, with the same --seed' "with the remedy"
$HEDDLE convert -q less.hdl less.txt
run $HEDDLE races --analysis hb less.txt
like "$out" 'not complete: accesses were sampled \(one window in 40\)' "a text says it, too"

# Free mode: the same, whatever the schedule.
run $HEDDLE record -q --mode free --sample 40 -o free.hdl -- ./many 1
is "$status" 0 "free mode"
run $HEDDLE info free.hdl
like "$out" '^free.hdl, accesses sampled \(one window in 40\), order approximate' "says both"
ok $(($(printf '%s\n' "$out" | awk '$1 == "recording-left-out" { print $2 }') < 10000)) "much is left out there, too"
run $HEDDLE races --analysis hb free.hdl
unlike "$out" 'on guarded' "no race under the lock"
like "$out" 'not complete: accesses were sampled \(one window in 40\)' "the last line"
gcc -g -O1 -fsanitize=thread many.c -o plain -pthread || echo "# cannot build plain"
run $HEDDLE record -q --mode free --sample 1000000 -o free.hdl -- ./plain 1
is "$status" 0 "a program built with gcc's -fsanitize=thread"
run $HEDDLE races --analysis hb free.hdl
like "$out" 'on cold ' "the first calls are there"

# A thread of which no access is in the sample is in the trace: its creation comes before its end.
cat >short.c <<'C'
#include <pthread.h>
static int one, other;
static void *run(void *p)
{
	*(int *)p += 1;
	return p;
}
int main(void)
{
	for (int i = 0; i < 400; i++) {
		pthread_t t;
		pthread_create(&t, 0, run, i % 2 ? &one : &other);
		pthread_join(t, 0);
	}
	return one + other - 400;
}
C
$HEDDLE cc -g -O1 short.c -o short -pthread || echo "# cannot build short"
for mode in free controlled; do
	run $HEDDLE record -q --mode $mode --sample 1000000 -o short.hdl -- ./short
	is "$status" 0 "short threads: $mode"
	$HEDDLE convert -q short.hdl short.txt
	is "$(cut -d'|' -f1 short.txt | grep -v '^#' | sort -u | wc -l)" 401 "each has an event"
	ok $(($(plain short) >= 1000)) "and few have their accesses ($(plain short))"
	run $HEDDLE races --analysis hb short.hdl
	is "$status" 0 "none races"
done

# Bad options: one message each.
for bad in 0 1000001 x -1 ''; do
	run $HEDDLE record -q --sample "$bad" -o bad.hdl -- ./many
	is "$status" 125 "--sample '$bad'"
	like "$err" "^heddle: record: --sample.* '$bad'" "is said"
done
for other in "--filter" "--last 100" "--memory tso" "--live"; do
	run $HEDDLE record -q $other --sample 10 -o bad.hdl -- ./many
	is "$status" 125 "not with $other"
	like "$err" '^heddle: record: --(sample|live) is not for --' "which is said"
done
[ -e bad.hdl ]
is $? 1 "and nothing is written"

# A note of a trace is a number, whatever a file says.
sed 's/recording-sample 40/recording-sample \x1b[31m/' less.txt >odd.txt
run $HEDDLE races --analysis hb odd.txt
like "$out" 'one window in 1\)' "a note that is none"

# Who waits by looking gives way.
$HEDDLE cc -g -O1 "$root/tests/e2e/programs/spin_flags.c" -o spin -pthread || echo "# cannot build spin"
for strategy in random pct noise rr; do
	run timeout 300 $HEDDLE record -q --sample 1000 --strategy $strategy -o spin.hdl -- ./spin
	is "$status" 0 "a program that spins ends: $strategy"
done
done_testing
