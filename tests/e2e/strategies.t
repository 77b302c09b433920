#!/bin/bash
# The strategies that know the next event (pos, surw, turns, pause), the portfolio of `shake`, and the
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
# With a target that no thread accesses, these events come in between: those that race are drawn anew, too. Where only
# the thread that went is, one of three orders makes more than 300 of 400 runs.
run "$HEDDLE" shake --runs 400 --tries 0 --target "$(printf 0x%x $((next + 65536)))+4=1,1,1" --format json -- ./order
first=$(json 'my @n = sort { $b <=> $a } map { $_->{count} } @{$d->{outcomes}}; $n[0] + $n[1] + $n[2]')
is "$([ "$first" -lt 280 ]; echo $?)" 0 "surw: in between as with pos ($first runs in the three most frequent orders)"

# surw: a thread that looks in vain, and reads the target each time, does not keep another from the target
cat >looks.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
int target;
static atomic_int ready;
static volatile int sum;
static void *looks(void *p)
{
	while (!ready) {
		sum += target;
		sched_yield();
	}
	return p;
}
static void *sets(void *p)
{
	sum += target;
	ready = 1;
	return p;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], 0, looks, 0);
	pthread_create(&t[1], 0, looks, 0);
	pthread_create(&t[2], 0, sets, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 -no-pie looks.c -o looks -pthread
target=0x$(nm looks | sed -n 's/ [bB] target$//p')
run "$HEDDLE" shake --runs 40 --timeout 60 --tries 0 --target "$target+4=90,40,40,1" --format json -- ./looks
is "$(json 'join " ", map { "$_->{end}: $_->{count}" } @{$d->{outcomes}}')" "exit status 0: 40" "surw: a thread that looks in vain waits"
run timeout 300 "$HEDDLE" record -q --turns 3:2,1 --seed 0 -o looks.hdl -- ./looks
is "$status" 0 "turns: two that look in vain, each while the other gives way, lose their turn to one that was stopped"

# turns: two events of the second thread, one of the first, the rest
run "$HEDDLE" record -q --turns 0:2,2:2,1:2 --seed 0 -o turns.hdl -- ./order
is "$out" "2 3 4" "turns: the second thread's events first, then the first one's"
for wrong in "--turns 1:2,x" "--turns 1:" "--target 0x10=3" "--target 0x10+4=70000"; do
	run "$HEDDLE" record $wrong -- ./order
	like "$status $err" "^(125|2) .*expected" "$wrong is refused"
done

# pause: others run between two locks, two sections, two accesses, and before older threads; one seed is one run
cat >windows.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
static void *first(void *unused)
{
#ifdef CIRCLE
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	x++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
#elif defined SECTIONS
	pthread_mutex_lock(&a);
	x = 1;
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(&b);
	y = 1;
	pthread_mutex_unlock(&b);
#elif defined ACCESSES
	x = 1;
	y = 1;
#else
	pthread_mutex_lock(&a);
	assert(x == 0);
	pthread_mutex_unlock(&a);
#endif
	return unused;
}
static void *second(void *unused)
{
#ifdef CIRCLE
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	x++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
#elif defined SECTIONS
	pthread_mutex_lock(&a);
	int seen = x;
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(&b);
	assert(y == seen);
	pthread_mutex_unlock(&b);
#elif defined ACCESSES
	int seen = x;
	assert(y == seen);
#else
	pthread_mutex_lock(&a);
	x = 1;
	pthread_mutex_unlock(&a);
#endif
	return unused;
}
int main(void)
{
	pthread_t s, t;
	pthread_create(&s, NULL, first, NULL);
	pthread_create(&t, NULL, second, NULL);
	pthread_join(s, NULL);
	return pthread_join(t, NULL);
}
C
for how in CIRCLE SECTIONS ACCESSES ORDER; do
	"$HEDDLE" cc -g -O1 -D$how windows.c -o windows -pthread 2>/dev/null
	run "$HEDDLE" shake --runs 4 --until-error --tries 0 --format json -- ./windows
	is "$status $(json '$d->{"first-failure"} ? "found" : "not found"')" "1 found" "$how: shake finds it in one of its first four runs"
	again=$(json 'my ($o) = grep { $_->{end} ne "exit status 0" } @{$d->{outcomes}}; $o->{options}')
	run "$HEDDLE" record -q $again -o one.hdl -- ./windows
	run "$HEDDLE" record -q $again -o two.hdl -- ./windows
	is "$(cmp one.hdl two.hdl && echo same)" same "$how: $again is one run"
	run "$HEDDLE" explore --until-error --format json -- ./windows
	is "$status $(json '$d->{errors}[0]{run} < 4 ? "found" : "not found"')" "1 found" "$how: so does explore"
done
"$HEDDLE" cc -g -O1 -DSECTIONS windows.c -o windows -pthread 2>/dev/null

# in a long run threads stop in later windows, too, and are interrupted where they may conflict
"$HEDDLE" cc -g -O1 "$programs/deep_window.c" -o deep -pthread
failing() { json 'my $n = 0; $n += $_->{count} for grep { $_->{end} ne "exit status 0" } @{$d->{outcomes}}; $n > 9 ? "often" : $n'; }
for how in pos surw periods pairs "pause --seed 10"; do
	run "$HEDDLE" shake --runs 40 --tries 0 --strategy $how --format json -- ./deep
	is "$(failing)" often "$how meets windows late in a long run"
done
# a pair without a data race is turned, too, as soon as the first four seeds of pause have been run; each run prints its number,
# and so is an outcome of its own
cat >numbered.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static atomic_int a;
static void *add(void *unused)
{
	a++;
	return unused;
}
int main(void)
{
	pthread_t s, t;
	pthread_create(&s, NULL, add, NULL);
	pthread_create(&t, NULL, add, NULL);
	pthread_join(s, NULL);
	pthread_join(t, NULL);
	printf("%d\n", (int)getpid());
	return 0;
}
C
"$HEDDLE" cc -g -O1 numbered.c -o numbered -pthread
run "$HEDDLE" shake --runs 5 --tries 0 --format json -- ./numbered
is "$(json 'join " ", map { $_->{strategy} } sort { $a->{run} <=> $b->{run} } @{$d->{outcomes}}')" \
	"pause pause pause pause turns" "a pair of atomic accesses is turned in the fifth run"

# each strategy that learns, alone
for how in pairs periods feedback surw; do
	run "$HEDDLE" shake --runs 60 --until-error --tries 0 --strategy $how --format json -- ./windows
	is "$status" 1 "$how alone finds an error between two sections"
	again=$(json 'my ($o) = grep { $_->{end} ne "exit status 0" } @{$d->{outcomes}}; $o->{options}')
	run "$HEDDLE" record -q $again -o one.hdl -- ./windows
	like "$err" Assertion "$how: its options make it again"
done
# a schedule that keeps no turn of the one that it varies is by pos from the first event on, also in a recording
lost=
for seed in 1 3 14 18 22; do
	run "$HEDDLE" shake --runs 60 --until-error --tries 0 --seed $seed --strategy feedback --format json -- ./windows
	[ "$status" = 1 ] || continue
	again=$(json 'my ($o) = grep { $_->{end} ne "exit status 0" } @{$d->{outcomes}}; $o->{options}')
	run "$HEDDLE" record -q $again -o one.hdl -- ./windows
	[[ $err == *Assertion* ]] || lost+=" $seed: $again"
done
is "$lost" "" "feedback: the options of each of five seeds make it again"
# a thread is stopped right after a read that races, while the writer goes on: what it has checked is out of date
cat >stale.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users = 1, closed;
static volatile int closing;
static void leave(void)
{
	pthread_mutex_lock(&lock);
	int left = --users;
	pthread_mutex_unlock(&lock);
	if (left == 0)
		closed = 1;
}
static void *close_it(void *unused)
{
	closing = 1;
	leave();
	return unused;
}
int main(void)
{
	pthread_t t;
	closed = 0;
	pthread_create(&t, NULL, close_it, NULL);
	if (!closing) {
		pthread_mutex_lock(&lock);
		users++;
		pthread_mutex_unlock(&lock);
		assert(!closed);
	}
	leave();
	pthread_join(t, NULL);
	return 0;
}
C
"$HEDDLE" cc -g -O1 stale.c -o stale -pthread
late=
for seed in 1 2 3 4 5; do
	run "$HEDDLE" shake --runs 9 --until-error --tries 0 --seed $seed --format json -- ./stale
	[ "$(json '$d->{"first-failure"} // 10')" -lt 10 ] || late+=" $seed"
done
is "$late" "" "a check that is out of date is found in nine runs, by each of five seeds"
# pairs: after a check was turned to before the other thread's update, the next to be turned is that update and its use:
# an object that each thread makes if there is none, among many races of other variables
cat >lazy.c <<'C'
#include <assert.h>
#include <pthread.h>
static int *volatile object, made[4];
static volatile int noise[24];
static void *user(void *p)
{
	int id = (int)(long)p;
	for (int i = 0; i < 12; i++)
		noise[i]++;
	if (object == 0)
		object = &made[id];
	int *first = object;
	for (int i = 12; i < 24; i++)
		noise[i]++;
	assert(object == first);
	return 0;
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], 0, user, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 lazy.c -o lazy -pthread
made=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
	run "$HEDDLE" shake --strategy pairs --tries 0 --until-error --seed $seed --runs 100 --format json -- ./lazy
	made=$((made + $(json '$d->{runs}')))
done
is "$([ "$made" -lt 300 ]; echo $?)" 0 "pairs: two turns at one variable come early ($made executions, ten seeds)"
run "$HEDDLE" record --strategy periods -- ./windows
like "$status $err" "^(2|125) .*periods" "one recording learns nothing"
cat >counted.c <<'C'
#include <assert.h>
#include <pthread.h>
static volatile int x, done;
static void *count(void *unused)
{
	for (int i = 0; i < 3; i++)
		x++;
	done = 1;
	return unused;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, count, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert(x == 9);
	return 0;
}
C
"$HEDDLE" cc -g -O1 counted.c -o counted -pthread
run "$HEDDLE" explore --until-error --format json -o counted.run -- ./counted
is "$(json 'my $e = $d->{errors}[0]; my $r = $d->{runs}; my ($f, $s) = map { $r->[$e->{$_}]{switches} } qw(run shortest);
	$s < $f && $s <= 6 && $r->[$e->{shortest}]{flip} =~ /^fewer switches than in run/ ? "fewer" : "$f $s"')" fewer \
	"explore --until-error shows a run with fewer switches"
ok $([ -s "counted.run.run$(json '$d->{errors}[0]{shortest}').hdl" ]; echo $?) "whose trace is kept"

# a loop over an array before the threads begin is no wait: the first run of an exploration is that of `record`
cat >filled.c <<'C'
#include <assert.h>
#include <pthread.h>
static int many[64];
static _Atomic int first;
static void *come(void *number)
{
	int none = 0;
	__atomic_compare_exchange_n(&first, &none, (int)(long)number, 0, 5, 5);
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	for (volatile int *i = many; i < many + 64; i++)
		*i = 7;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, come, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(first == 1);
	return 0;
}
C
"$HEDDLE" cc -g -O1 filled.c -o filled -pthread
run "$HEDDLE" record -q --strategy pause --seed 0 -o filled.hdl -- ./filled
is "$status" 134 "pause: after a loop over an array the newest thread goes first"
run "$HEDDLE" explore --until-error --runs 1 --format json -- ./filled
is "$(json '$d->{errors}[0]{run}')" 0 "so it does in the first run of explore --until-error"

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
like "$out" "signal 6 .* switch(es)? of threads, no fewer found in [0-9]+ runs" \
	"a failing run with the fewest switches"
said=$out
again=$(printf '%s\n' "$out" | sed -n '/signal 6/s/.* \(--strategy turns.*\)/\1/p' | head -1)
run "$HEDDLE" record -q $again -o again.hdl -- ./assert
is "$status" 134 "comes again: $again"
"$HEDDLE" convert again.hdl again.txt
switches_of() { grep -v '^#' "$1" | grep '|' | grep -v '|leave(' | cut -d'|' -f1 | uniq | tail -n +2 | wc -l; }
like "$said" " with $(switches_of again.txt) switch(es)? of threads, " "its switches are those of its trace"
turns=$(sed -n 's/.*--turns \([^ ]*\) .*/\1/p' <<<"$again") fewer=
IFS=, read -ra each <<<"$turns"
for i in "${!each[@]}"; do # without each of its turns
	rest=$(printf '%s\n' "${each[@]}" | sed "$((i + 1))d" | paste -sd,)
	[ -n "$rest" ] || continue
	run "$HEDDLE" record -q --strategy turns --turns "$rest" --seed 0 -o less.hdl -- ./assert
	[ "$status" = 134 ] || continue
	"$HEDDLE" convert less.hdl less.txt
	[ "$(switches_of less.txt)" -ge "$(switches_of again.txt)" ] || fewer+=" $rest"
done
is "$fewer" "" "without any of its turns it does not fail, or has no fewer switches"
# a lost update of two threads needs four: to the first, to the second, back to the first, to main, which waits for both. That
# main comes in between, as it waits for one of them, is none that the update needs
cat >lost.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int x;
static void *add(void *unused)
{
	x++;
	return unused;
}
int main(void)
{
	pthread_t s, t;
	pthread_create(&s, NULL, add, NULL);
	pthread_create(&t, NULL, add, NULL);
	pthread_join(s, NULL);
	pthread_join(t, NULL);
	if (x != 2)
		abort();
	return 7; /* the result of all runs that do not fail */
}
C
"$HEDDLE" cc -g -O1 lost.c -o lost -pthread
run "$HEDDLE" shake --runs 60 --until-error -- ./lost
like "$out" "signal 6 .* with 4 switches of threads" "the fewest switches of a lost update are four"
sed 's/abort();/x = 2;/' lost.c >seven.c
"$HEDDLE" cc -g -O1 seven.c -o seven -pthread
run "$HEDDLE" explore --until-error --runs 40 --format json -- ./seven
is "$(json 'join " ", $d->{complete} ? "complete" : "open", $d->{shortening} // 0')" "complete 0" \
	"an exit status that every run has is no error to end at, nor one to make shorter"
run "$HEDDLE" explore --until-error --runs 40 -- ./lost
like "$out" "signal 6 [^,]*, in 1 of 3 different runs" "an error is counted in the runs that differ"
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
