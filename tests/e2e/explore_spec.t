#!/bin/bash
# heddle explore --spec: invocations of specified objects as single steps, which may commute.
. tests/e2e/lib.sh
generator=$PWD/tests/e2e/programs/random_program.pl
programs=$PWD/tests/bench/explore
cd "$scratch" || exit 1

build() { run "$HEDDLE" cc -g -O1 -I"$programs" "${@:2}" -o "$1" -pthread; }
explore() { # PROGRAM OPTIONS...
	run "$HEDDLE" explore --budget 100 --format json "${@:2}" -- "./$1"
}
found() { json '"$d->{executions} $d->{states} ".($d->{complete} ? "complete" : "open")'; }

# The counts that can be made by hand (Sun 2021, chapter 4).
cat >hand.c <<'C'
#include "structures.h"
#include "counter.h"
static struct counter c = { PTHREAD_MUTEX_INITIALIZER, 0 };
static struct set s = { PTHREAD_MUTEX_INITIALIZER, NULL };
static int x;
#if defined ADDS
static void *one(void *p) { set_add(&s, 1); return p; }
static void *two(void *p) { set_add(&s, 2); return p; }
#elif defined CONTAINS
static void *one(void *p) { set_add(&s, 1); return p; }
static void *two(void *p) { set_add(&s, 2); set_contains(&s, 1); return p; }
#elif defined FIRST_CONTAINS /* where the algorithm as printed finds one */
static void *one(void *p) { set_contains(&s, 1); return p; }
static void *two(void *p) { set_add(&s, 1); return p; }
#elif defined INC
static void *one(void *p) { counter_inc(&c); return p; }
static void *two(void *p) { counter_inc(&c); counter_inc(&c); return p; }
#else /* COUNTER-2INC-CF, COUNTER-SHB2 */
static void *one(void *p)
{
	counter_inc(&c);
	if (x == 0)
#ifdef CF
		x = 2;
#else
		counter_inc(&c);
#endif
	return p;
}
static void *two(void *p) { x = 1; counter_inc(&c); return p; }
#endif
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	return pthread_join(u, 0);
}
C
for row in "ADDS fine 1 2" "CONTAINS fine 2 3" "FIRST_CONTAINS fine 2 2" "INC counter 1 3" \
	"CF counter 2 3" "SHB2 counter 2 4"; do
	set -- $row
	build hand "-D$1" hand.c
	explore hand --spec "$programs/$2.spec"
	is "$(found)" "$3 $3 complete" "$1: $3"
	explore hand
	is "$(found)" "$4 $4 complete" "$1 without a specification: $4"
done

# What commutes is said, in the report and in the tree.
build hand -DADDS hand.c
run "$HEDDLE" explore --spec "$programs/fine.spec" -o hand.tree -- ./hand
like "$out" 'in run 0, 1 pair of calls commutes by the specification' "one pair is not turned round"
like "$out" 'set1\.add\(1\) / 1 by T1 at hand\.c:7 and set1\.add\(2\) / 1 by T2 at hand\.c:8: v1 != v2' "which, and why"
like "$(cat hand.tree)" '"commuting-pairs": 1' "also in the tree"
run "$HEDDLE" info hand.tree.run0.hdl
is "$status" 0 "the trace of the first run"

# Locks that a scope shares with the program are still locks.
cat >shared.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n, y;
__attribute__((noipa)) void counter_inc(int *c)
{
	pthread_mutex_lock(&m);
	++*c;
	pthread_mutex_unlock(&m);
}
static void *one(void *p)
{
	counter_inc(&n);
	return p;
}
static void *two(void *p)
{
	pthread_mutex_lock(&m);
	y++;
	pthread_mutex_unlock(&m);
	counter_inc(&n);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return n != 2; /* a look inside */
}
C
cat >inc.spec <<'S'
object counter {
  method inc()
  method read() / r
  commute inc, inc : true
  state n : int
  effect inc()      { n := n + 1 }
  effect read() / r { r == n }
  bind inc = "counter_inc(int *self)"
}
S
build shared shared.c
explore shared --spec inc.spec
is "$status $(found)" "0 1 1 complete" "a lock that the program also uses"
is "$(json '$d->{notes}[0]')" "the program looks inside counter1 at shared.c:30; only abstract states are covered" "a look inside is said"

# Not atomic: the object's events count as they are, and the report says why.
atomic() { # NAME REASON: the program is NAME.c
	build "$1" "$1.c"
	explore "$1"
	local plain=$(found)
	explore "$1" --spec inc.spec
	like "$(json '$d->{notes}[0]')" "counter1 is not atomic: $2" "$1: the reason"
	is "$(found)" "$plain" "$1: all the same, every class"
	is "$(json '$d->{abandoned}')" 1 "$1: begun again"
}
head='#include <pthread.h>\nstatic int n, *where = &n;\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;'
tail='static void *one(void *p) { counter_inc(&n); OTHER return p; }
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, one, 0);
	pthread_join(t, 0);
	return pthread_join(u, 0);
}'
method='__attribute__((noipa)) void counter_inc(int *c)'
printf "$head\n$method { ++*c; }\n${tail/OTHER/}\n" >unlocked.c
atomic unlocked "two invocations touch n with no lock in common"
printf "$head\n$method { pthread_mutex_lock(&m); ++*c; pthread_mutex_unlock(&m); }\n${tail/OTHER/n = 5;}\n" >inside.c
atomic inside "the program writes inside it"
printf "$head\n$method { if (pthread_mutex_trylock(&m)) return; ++*c; }\n${tail/OTHER/}\n" >kept.c
atomic kept "an invocation tries a lock in vain"

cat >ways.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
static int n, n2, other;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static __thread jmp_buf away;
static void *nothing(void *p) { return p; }
__attribute__((noipa)) void counter_inc(int *c)
{
	pthread_mutex_lock(&m);
	++*c;
#if defined WAITS
	if (*c == 1)
		pthread_cond_wait(&cond, &m);
	else
		pthread_cond_signal(&cond);
#elif defined SEMAPHORE
	static sem_t s;
	sem_init(&s, 0, 1);
	sem_wait(&s);
#elif defined CREATES
	pthread_t t;
	pthread_create(&t, 0, nothing, 0);
	pthread_join(t, 0);
#elif defined SHARES
	other++;
#elif defined TWICE
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
	++*c;
#elif defined KEEPS
	pthread_mutex_lock(&k);
	pthread_mutex_unlock(&m);
	return;
#elif defined JUMPS
	pthread_mutex_unlock(&m);
	longjmp(away, 1);
#elif defined CANCELLED
	pthread_mutex_unlock(&m);
	pthread_cancel(pthread_self());
	pthread_testcancel();
#endif
	pthread_mutex_unlock(&m);
}
static void *one(void *p)
{
	if (!setjmp(away))
		counter_inc(&n);
#ifdef KEEPS
	pthread_mutex_unlock(&k);
#endif
	return p;
}
static void *two(void *p)
{
#ifdef SHARES
	counter_inc(&n2);
#else
	one(p);
#endif
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	return pthread_join(u, 0);
}
C
for row in "WAITS waits for a condition" "SEMAPHORE waits for a semaphore" \
	"CREATES creates a thread" "SHARES it shares m with another object" \
	"TWICE others may come between two locked parts" "KEEPS keeps a lock" \
	"JUMPS was left by a jump" "CANCELLED was left by a jump, an exception or the end"; do
	build ways "-D${row%% *}" ways.c
	explore ways
	plain=$(found)
	explore ways --spec inc.spec
	like "$(json '$d->{notes}[0]." ".grep({ !/spurious/ } @{$d->{notes}})')" "is not atomic: .*${row#* }.* [12]\$" "${row%% *}: not atomic, and no other complaint"
	is "$(found)" "$plain" "${row%% *}: all the same, every class"
done

# Atomics alone make no lock necessary; that is taken on trust, and said.
printf "$head\n$method { __atomic_fetch_add(c, 1, __ATOMIC_SEQ_CST); }\n${tail/OTHER/}\n" >atomics.c
build atomics atomics.c
explore atomics --spec inc.spec
is "$(found) $(json '$d->{notes}[0]')" "1 1 complete counter1 is taken to be linearizable: its invocations meet in atomics, with no lock in common" "atomics alone"

# A wrong specification is an error, with the run.
sed 's/n := n + 1/n := n + 2/; s/^  bind inc.*/&\n  bind read = "counter_read(int *self) -> int r"/' inc.spec >wrong.spec
printf "$head\n$method { pthread_mutex_lock(&m); ++*c; pthread_mutex_unlock(&m); }\n__attribute__((noipa)) int counter_read(int *c) { pthread_mutex_lock(&m); int r = *c; pthread_mutex_unlock(&m); return r; }\n${tail/OTHER/counter_read(where);}\n" >wrong.c
build wrong wrong.c
explore wrong --spec wrong.spec -o wrong.tree
is "$status $(json '$d->{errors}[0]{kind}')" "1 specification" "a wrong effect is an error of the specification"
like "$(json '$d->{errors}[0]{story}')" 'counter1\.read\(\) / 1 contradicts the effects of counter, at wrong\.c' "shown with the invocation"
like "$(json '$d->{notes}[0]')" 'counter1 is not what its specification says' "and the object counts as its events"
is "$(json '$d->{errors}[0]{trace}')" wrong.tree.run0.hdl "with its run"

# Random programs: as many classes as all interleavings of steps have, from other first runs,
# too.
for seed in $(seq 1 "${HEDDLE_PROGRAMS:-5}"); do
	perl "$generator" "$seed" random.c random.spec >expected
	build random random.c
	for first in 0 $((seed + 10)); do
		explore random --spec random.spec --seed "$first"
		is "$(json '$d->{states}." ".$d->{complete}')" "$(cat expected) 1" "random program $seed, first run $first"
	done
done

# By results: what returns the same is the same, in whatever order.
for seed in $(seq 1 "${HEDDLE_PROGRAMS:-5}"); do
	perl "$generator" "$seed" random.c random.spec results >expected
	build random random.c
	for first in 0 $((seed + 10)); do
		explore random --spec random.spec --results --seed "$first"
		is "$(json '$d->{states}." ".$d->{complete}." ".$d->{abandoned}')" "$(cat expected) 1 0" "random program $seed by results, first run $first"
	done
done

# Threads that are alike, as far as nobody looks between their joins or creations.
cat >alike.c <<'C'
#include "counter.h"
static struct counter c = { PTHREAD_MUTEX_INITIALIZER, 0 };
static volatile int seen;
static void *inc(void *p) { counter_inc(&c); return p; }
int main(void)
{
	pthread_t t[N];
	for (int i = 0; i < N; i++) {
		pthread_create(&t[i], 0, inc, 0);
#ifdef EARLY
		if (i == 0)
			seen = counter_read(&c);
#endif
	}
	for (int i = 0; i < N; i++) {
		pthread_join(t[i], 0);
#ifdef LATE
		if (i == LATE)
			seen = counter_read(&c);
#endif
	}
	return 0;
}
C
for row in "-DN=9 1" "-DN=9_-DEARLY 2" "-DN=9_-DLATE=4 5" "-DN=9_-DLATE=8 1" "-DN=4_-DEARLY_-DLATE=1 6"; do
	set -- $row
	build alike ${1//_/ } alike.c
	explore alike --spec "$programs/counter.spec" --results
	is "$(found)" "$2 $2 complete" "threads that are alike, $1: $2"
done
build fkp -DLB=30 "$programs/fkp.c"
explore fkp --spec "$programs/counter.spec" --results
is "$(found)" "31 31 complete" "fkp2013: so many as its reader can see"

run "$HEDDLE" explore --spec nowhere.spec -- ./hand
is "$status" 2 "no such specification"
done_testing
