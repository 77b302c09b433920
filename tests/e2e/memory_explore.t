#!/bin/bash
# heddle explore --memory, heddle orders: structures with the right orders and with one too weak, and
# what may be asked.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

build() { run "$HEDDLE" cc -g -O1 "${@:2}" "$programs/weak/$1.c" -o "$1" -pthread; }
explore() { run "$HEDDLE" explore --budget 100 --memory rc11 --format json -- "./$1"; }

for name in publish chaselev pool seqlock; do
	build "$name" -DWRITES=1
	explore "$name"
	is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{memory}')" "0 1 rc11" "$name: right"
	is "$(json '$d->{graphs} >= $d->{states} && $d->{"graphs-blocked"} == 0 ? 1 : 0')" 1 \
		"$name: no more classes than graphs"
	build "$name" -DWRITES=1 -DWEAK
	explore "$name"
	if [ $name = pool ]; then # what its tasks made is not seen
		is "$status $(json '$d->{complete} ? 1 : 0') $(json 'scalar @{$d->{races}}')" "1 1 1" "$name: too weak"
		continue
	fi
	is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{errors}[0]{kind}')" \
		"1 1 exit-status" "$name: too weak"
	like "$(json '$d->{runs}[$d->{errors}[0]{run}]{flip}')" 'reads .* though T[0-9] has stored' \
		"$name: the error's run says what it reads"
done

# Loops that wait: what a thread does between two equal states is left out, so these are complete.
# The program, its flags, the number of threads; graphs under tso and rc11 at -O1.
while read -r name flags threads graphs; do
	build "$name" ${flags:+"${flags//,/ }"} -DTHREADS="$threads"
	for model in tso rc11; do
		run "$HEDDLE" explore --budget 100 --memory $model --format json -- "./$name"
		is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{graphs}') $(json '$d->{"graphs-blocked"}')" \
			"0 1 $graphs 0" "$name $flags: $threads threads, $model"
	done
	[ "$threads" = 2 ] || continue
	build "$name" ${flags:+"${flags//,/ }"} -DWEAK
	explore "$name"
	is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{errors}[0]{kind}')" \
		"1 1 exit-status" "$name $flags: too weak"
done <<'E'
ticket -DNONE 2 2
ticket -DNONE 3 6
spinlock -DNONE 2 2
spinlock -DNONE 3 6
spinlock -DSWAP 2 2
spinlock -DSWAP 3 6
spinlock -DLOOK 2 2
spinlock -DLOOK 3 6
mcs -DNONE 2 6
mcs -DNONE 3 66
msqueue -DNONE 2 4
casloop -DNONE 2 2
casloop -DNONE 3 6
casloop -DAGAIN 2 2
casloop -DAGAIN 3 6
E

# What a failed compare-and-exchange leaves is counted: such rounds are no others' equal.
build casloop -DTHREADS=2 -DCOUNTED
explore casloop
is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{graphs}')" "0 1 4" "casloop: rounds that count"

# A loop that waits has one graph for each order of the threads.
cat >ticket.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next, serving;
static int count;
static void *add(void *p)
{
	int me = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
	while (atomic_load_explicit(&serving, memory_order_acquire) != me)
		;
	count++;
	atomic_store_explicit(&serving, me + 1, UNLOCK);
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return count != 3;
}
C
run "$HEDDLE" cc -g -O1 -DUNLOCK=memory_order_release ticket.c -o ticket -pthread
explore ticket
is "$status $(json '$d->{graphs}') $(json '$d->{states}')" "0 6 6" "ticket lock: 3! orders"
run "$HEDDLE" orders -- ./ticket
is "$status" 0 "orders: no run fails"
like "$out" 'no order can be weaker' "orders: none can be weaker"
run "$HEDDLE" cc -g -O1 -DUNLOCK=memory_order_relaxed ticket.c -o ticket -pthread
run "$HEDDLE" orders -- ./ticket
is "$status" 1 "orders: a data race"
like "$out" 'ticket.c:11: store to serving: relaxed, has to be release' "orders: the store that has to release"

# A load reads any store, however many there were since: 61 values beside each of two.
cat >many.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *store(void *p)
{
	for (int i = 1; i <= 60; i++)
		atomic_store_explicit(&y, i, memory_order_relaxed);
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, store, 0);
	int a = atomic_load_explicit(&x, memory_order_relaxed);
	int b = atomic_load_explicit(&y, memory_order_relaxed);
	pthread_join(t, 0);
	return a == 1 && b == 0;
}
C
run "$HEDDLE" cc -g -O1 many.c -o many -pthread
run "$HEDDLE" explore --memory rc11 --format json -- ./many
is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{graphs}') $(json '$d->{errors}[0]{kind}')" \
	"1 1 122 exit-status" "a load reads the first of 61 stores"
run "$HEDDLE" explore --memory tso --format json -- ./many
is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{graphs}')" "0 1 62" "not under tso"

# A loop that looks and has a bound: what comes after it is in no run, or else the loop is none.
cat >bounded.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int flag, other;
static void *wait(void *p)
{
	for (int i = 0; i < LOOKS; i++) {
		if (atomic_load(&flag))
			return p;
#ifdef OTHER
		if (atomic_load(&other))
			return p;
#endif
	}
	exit(7);
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, wait, 0);
	atomic_store(&flag, 1);
	pthread_join(t, 0);
	return 0;
}
C
for more in "-DLOOKS=40" "-DLOOKS=40 -DOTHER" "-DLOOKS=100000"; do
	# shellcheck disable=SC2086
	run "$HEDDLE" cc -g -O1 $more bounded.c -o bounded -pthread
	for model in tso rc11; do
		run "$HEDDLE" explore --budget 100 --memory $model --format json -- ./bounded
		found=$(json '$d->{complete} ? "complete" : join "\n", @{$d->{gaps}}, map { "error" } @{$d->{errors}}')
		like "$found" 'waits by looking, at bounded.c:[0-9]+: .* is not tried|error' \
			"a bounded loop is not taken to wait for ever: $more, $model"
	done
done

# Semaphores: a box that one thread fills and another empties; right, and when nobody waits until it
# is empty; two that wait for one post.
cat >box.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static sem_t full, empty;
static atomic_int box, sum;
static void *put(void *p)
{
	for (int i = 1; i <= 2; i++) {
		sem_wait(&empty);
		atomic_store_explicit(&box, i, memory_order_relaxed);
		sem_post(&full);
	}
	return p;
}
static void *get(void *p)
{
	for (int i = 1; i <= 2; i++) {
		sem_wait(&full);
		atomic_fetch_add_explicit(&sum,
			atomic_load_explicit(&box, memory_order_relaxed), memory_order_relaxed);
		if (EMPTY == 1)
			sem_post(&empty);
	}
	return p;
}
int main(void)
{
	pthread_t a, b;
	sem_init(&empty, 0, EMPTY);
	sem_init(&full, 0, 0);
	pthread_create(&a, 0, put, 0);
	pthread_create(&b, 0, get, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return atomic_load(&sum) != 3;
}
C
cat >lost.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static void *take(void *p) { sem_wait(&s); return p; }
int main(void)
{
	pthread_t a, b;
	sem_init(&s, 0, 0);
	pthread_create(&a, 0, take, 0);
	pthread_create(&b, 0, take, 0);
	sem_post(&s);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
run "$HEDDLE" cc -g -O1 lost.c -o lost -pthread
for model in tso rc11; do
	for empty in 1 2; do
		run "$HEDDLE" cc -g -O1 -DEMPTY=$empty box.c -o box -pthread
		run "$HEDDLE" explore --budget 100 --memory $model --format json -- ./box
		is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{graphs}')" \
			"$((empty - 1)) 1 $((2 * empty - 1))" "semaphores: room for $empty, $model"
	done
	run "$HEDDLE" explore --budget 100 --memory $model --format json -- ./lost
	is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{"graphs-blocked"}') $(json '$d->{errors}[0]{kind}')" \
		"1 1 2 blocked" "semaphores: one of two waits for ever, $model"
done

# Not everything is modelled, and that is said.
cat >wait.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static void *post(void *p) { sem_post(&s); return p; }
int main(void)
{
	pthread_t t;
	sem_init(&s, 0, 0);
	pthread_create(&t, 0, post, 0);
	sem_wait(&s);
	pthread_join(t, 0);
	sem_destroy(&s);
	sem_init(&s, 0, 0);
	sem_post(&s);
	return 0;
}
C
run "$HEDDLE" cc -g -O1 wait.c -o wait -pthread
run "$HEDDLE" explore --memory tso -- ./wait
is "$status" 3 "a semaphore that is made anew: not complete"
like "$out" 'does not model semaphores that are made anew' "a semaphore that is made anew: it says so"
# An access that no graph has: the program, the model, and what is said, or "complete".
cat >access.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
struct pair { long a, b; } both;
static struct { _Atomic int x; int y; } one;
static _Atomic long wide;
static int plain;
static volatile int ready;
static void *other(void *p)
{
#ifdef BEHIND
	memset((void *)&one.x, 0, sizeof one.x);
#elif defined ATOMICS
	__atomic_store_n((char *)&wide, 1, __ATOMIC_SEQ_CST);
#elif defined LARGE
	struct pair mine = { 1, 2 };
	memcpy(&both, &mine, sizeof both);
#elif defined PARTS
	*(volatile char *)&plain = 1;
#elif defined READ
	atomic_store(&one.x, 2);
#endif
	atomic_store(&one.x, 1);
	return p;
}
int main(void)
{
	pthread_t t;
	struct pair mine = { 0, 0 };
	memset(&one, 0, sizeof one);
#ifdef INITIAL
	memset(&one, 1, sizeof one);
#else
	atomic_store(&one.x, 0);
#endif
#ifdef EARLY
	memset((void *)&one.x, 0xff, sizeof one.x);
#endif
	pthread_create(&t, 0, other, 0);
#ifdef ATOMICS
	atomic_load(&wide);
#elif defined LARGE
	memcpy(&mine, &both, sizeof mine);
#elif defined PARTS
	ready = *(volatile int *)&plain;
#elif defined READ
	atomic_store(&one.x, 3);
#endif
	int seen = atomic_load(&one.x);
	pthread_join(t, 0);
#ifdef READ
	int now;
	memcpy(&now, (void *)&one.x, sizeof now);
	seen += now;
#endif
	return (seen + (int)mine.a) & 0;
}
C
# A run that ends by abort or exit has no threads that wait for ever.
cat >stop.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;
static void *other(void *p)
{
	if (atomic_load(&x))
		STOP;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	atomic_store(&x, 1);
	pthread_join(t, 0);
	return 0;
}
C
for stop in "abort()" "exit(0)" "_Exit(3)"; do
	run "$HEDDLE" cc -g -O1 "-DSTOP=$stop" stop.c -o stop -pthread
	for model in tso rc11; do
		run "$HEDDLE" explore --budget 100 --memory $model --format json -- ./stop
		is "$(json '$d->{graphs}') $(json '$d->{"graphs-blocked"}')" "2 0" "$stop, $model: nothing waits for ever"
	done
done
while read -r flags model what; do
	run "$HEDDLE" cc -g -O0 "-D$flags" access.c -o access -pthread
	run "$HEDDLE" explore --budget 100 --memory "$model" --format json -- ./access
	found=$(json 'join "; ", $d->{complete} ? "complete" : (), @{$d->{gaps}}')
	like "$found" "$what" "$flags, $model: $what"
done <<'E'
NOTHING tso ^complete$
NOTHING rc11 ^complete$
BEHIND rc11 ^complete$
EARLY tso ^complete$
EARLY rc11 ^complete$
ATOMICS tso several sizes
ATOMICS rc11 several sizes
LARGE tso several sizes
PARTS tso several sizes
READ rc11 ^complete$
E
# Threads that share nothing but atomics: one run for what each of them can read. When they share
# plain memory, too, what two of them read together makes the race.
cat >alone.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x[2];
int shared, own[2];
static void *write_both(void *p)
{
	for (int i = 0; i < 3; i++) {
		atomic_store_explicit(&x[0], i + 1, memory_order_relaxed);
		atomic_store_explicit(&x[1], i + 1, memory_order_relaxed);
	}
	return p;
}
static void *read_one(void *p)
{
	int me = *(int *)p, saw = atomic_load_explicit(&x[me], memory_order_relaxed);
#ifdef SHARED
	if (saw == 3)
		shared = me;
#elif defined FAILS
	if (saw == 3 && me == 1)
		abort();
#else
	own[me] = saw;
#endif
	return 0;
}
int main(void)
{
	static int number[2];
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		number[i] = i;
		pthread_create(&t, 0, read_one, &number[i]);
	}
	pthread_create(&t, 0, write_both, 0);
	pthread_exit(0);
}
C
while read -r flag model want; do
	run "$HEDDLE" cc -g -O1 -D"$flag" alone.c -o alone -pthread
	run "$HEDDLE" explore --budget 100 --memory "$model" --format json -- ./alone
	is "$(json 'join " ", $d->{complete} ? 1 : 0, @$d{qw(graphs executions)}, map { scalar @{$d->{$_}} } qw(errors races)')" \
		"1 $want" "threads that share atomics, $flag, $model: complete, graphs, runs, errors, races"
done <<'E'
OWN rc11 16 7 0 0
OWN tso 16 7 0 0
FAILS rc11 16 7 1 0
SHARED rc11 16 16 0 1
E
# Links that are written plainly and read as atomics, before and after they are first read so: the plain
# writes are events of the graphs, too. A push that does not release is a data race.
cat >links.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { struct node *_Atomic next; int v; };
static struct node nodes[2];
static struct node *_Atomic head;
static int bad;
static void push(struct node *n)
{
	struct node *h = atomic_load_explicit(&head, memory_order_relaxed);
	do *(struct node **)&n->next = h;
	while (!atomic_compare_exchange_strong_explicit(&head, &h, n, ORDER, memory_order_relaxed));
}
static struct node *pop(void)
{
	struct node *h = atomic_load_explicit(&head, memory_order_acquire);
	while (h && !atomic_compare_exchange_strong_explicit(&head, &h, atomic_load_explicit(&h->next, memory_order_relaxed), memory_order_acq_rel, memory_order_acquire))
		;
	return h;
}
static void *one(void *p)
{
	nodes[0].v = 1;
	push(&nodes[0]);
	return 0;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, one, 0);
	nodes[1].v = 2;
	push(&nodes[1]);
	struct node *a = pop();
	if (a == 0) abort();
#ifdef AGAIN
	push(a);
	struct node *b = pop();
	struct node *c = pop();
	if (b == c && c) abort();
#endif
	pthread_join(t, 0);
	return a->v == 0;
}
C
while read -r flags model want; do
	# shellcheck disable=SC2086
	run "$HEDDLE" cc -g -O1 -w ${flags//,/ } links.c -o links -pthread
	run "$HEDDLE" explore --budget 100 --memory "$model" --format json -- ./links
	is "$(json 'join " ", $d->{complete} ? 1 : 0, $d->{graphs}, map { scalar @{$d->{$_}} ? 1 : 0 } qw(errors races)')" \
		"$want" "plain links, $flags, $model: complete, graphs, errors, races"
done <<'E'
-DORDER=memory_order_release rc11 1 8 0 0
-DORDER=memory_order_release tso 1 8 0 0
-DORDER=memory_order_release,-DAGAIN rc11 1 43 0 0
-DORDER=memory_order_release,-DAGAIN tso 1 43 0 0
-DORDER=memory_order_relaxed rc11 1 8 0 1
E
# The text format keeps that a compare-and-exchange failed.
printf '%s\n' '#! heddle 1' 'T1|ar4(x)=0;rlx,failed|a' 'T1|ar4(x)=0;seq_cst,failed|b' 'T1|ar4(x)=0;acq|c' >failed.txt
run "$HEDDLE" convert failed.txt failed.hdl
run "$HEDDLE" convert failed.hdl again.txt
is "$(grep -c '^T1|ar4(x)=0;\(rlx,failed|a\|seq_cst,failed|b\|acq|c\)$' again.txt)" 3 \
	"convert keeps failed updates"
printf '%s\n' '#! heddle 1' 'T1|aw4(x)=0;rlx,failed|a' >wrong.txt
run "$HEDDLE" convert wrong.txt wrong.hdl
is "$status" 2 "a store is no failed update"
# A fence of inline assembly, which no hook sees: what is found may be what it forbids, and the report says so.
cat >fenced.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef __x86_64__
#define FENCE() __asm__ volatile("mfence" ::: "memory")
#else
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif
static atomic_int x, y, a, b;
static void *one(void *p)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	FENCE();
	a = atomic_load_explicit(&y, memory_order_relaxed);
	return p;
}
static void *two(void *p)
{
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	FENCE();
	b = atomic_load_explicit(&x, memory_order_relaxed);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	assert(a || b);
	return 0;
}
C
run "$HEDDLE" cc -g -O1 fenced.c -o fenced -pthread
run "$HEDDLE" explore --format json -- ./fenced
is "$(json '$d->{complete} . @{$d->{errors}}')" 10 "a fence of inline assembly: nothing to say without --memory"
if [ "$(uname -m)" = x86_64 ]; then
	run "$HEDDLE" explore --memory tso --format json -- ./fenced
	is "$(json '$d->{complete} ? 1 : 0')" 0 "with it the report is not complete"
	like "$(json 'join " ", @{$d->{gaps}}')" 'fenced.c:(13|20) \((one|two)\) has a fence of inline assembly' "and names the fence"
fi
for option in "--check x==1" "--final x" "--shard 1/2" "--jobs 2" "--results" "--seed 3"; do
	# shellcheck disable=SC2086
	run "$HEDDLE" explore --memory tso $option -- ./wait
	is "$status" 2 "--memory with $option is refused"
done
run "$HEDDLE" explore --memory arm -- ./wait
like "$status $err" '^2 .*sc, tso or rc11' "another model is refused"
done_testing
