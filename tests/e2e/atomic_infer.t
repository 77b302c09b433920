#!/bin/bash
# Atomic sets inferred for recorded programs: what is a set, what is a unit, where units are
# cut, and that the inferred block, saved and read again, finds the same.
. tests/e2e/lib.sh
flags="-g -O1 -fno-inline -fno-optimize-sibling-calls"
build() { # NAME, from standard input
	cat >"$scratch/$1.c"
	run "$HEDDLE" cc $flags "$scratch/$1.c" -o "$scratch/$1" -pthread
	is "$status" 0 "$1 builds"
}
record() { # NAME SEED ARGUMENTS: strategy noise
	run "$HEDDLE" record -q --seed "$2" --strategy noise -o "$scratch/$1.hdl" -- "$scratch/$1" "${@:3}"
}
sets() { run "$HEDDLE" atomic "$scratch/$1.hdl" --sets "${@:2}"; }
# What a report finds, but for the names of sets and grades.
findings='join "\n", sort map { my $f = $_; join(" ", $f->{count}, map({ "$_->{unit}:$_->{begin}-$_->{end}" } @{$f->{cycle}}), map({ "$_->{variable}:$_->{events}[0],$_->{events}[1]" } @{$f->{edges}})) } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}'

# -- who is a unit: handlers, who waits for input or creates threads, start routines are not
build roles <<'C'
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
struct job { pthread_mutex_t lock; int done; const int limit; volatile int hot; _Atomic int fast; int plain; };
static struct job job = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int ends[2];
void bump(struct job *j)
{
	pthread_mutex_lock(&j->lock);
	j->done += j->limit == 0;
	j->plain++;
	j->hot++;
	j->fast++;
	pthread_mutex_unlock(&j->lock);
}
int look(struct job *j)
{
	pthread_mutex_lock(&j->lock);
	int d = j->done;
	pthread_mutex_unlock(&j->lock);
	return d;
}
void spin(struct job *j) { while (look(j) < 3) usleep(1000); bump(j); }
void spin_poll(struct job *j) { while (look(j) < 6) poll(NULL, 0, 1); bump(j); }
void take_input(struct job *j) { char c; bump(j); (void)!read(ends[0], &c, 1); bump(j); }
void at_end(void) { bump(&job); job.plain = 0; }
void on_fault(int n) { bump(&job); job.plain = n; _exit(0); }
void *worker(void *x) { for (int i = 0; i < 3; i++) bump(&job); take_input(&job); job.plain = 1; return x; }
void start(pthread_t *t) { job.plain = 2; pthread_create(t, NULL, worker, NULL); }
static void finish(void) { exit(0); }
int main(int argc, char **argv)
{
	pthread_t t;
	atexit(at_end);
	(void)!pipe(ends);
	start(&t);
	spin(&job);
	(void)!write(ends[1], "x", 1);
	spin_poll(&job);
	pthread_join(t, NULL);
	if (argc > 1) {
		signal(SIGSEGV, on_fault);
		*(volatile int *)0 = 1;
	}
	finish();
}
C
record roles 1
sets roles
like "$out" 'set job : struct job [{] done, plain [}]' "locks, const, volatile and _Atomic members are in no set"
for function in bump look spin spin_poll; do like "$out" "unit $function on job" "$function is a unit"; done
for function in main worker start take_input at_end; do unlike "$out" "unit $function" "$function is none"; done
run "$HEDDLE" convert "$scratch/roles.hdl" "$scratch/roles.txt" --to text
for call in usleep poll read exit; do like "$(cat "$scratch/roles.txt")" "enter\($call@libc\)" "the trace shows $call"; done
like "$(cat "$scratch/roles.txt")" 'w4\(job.plain\)' "and the members"
record roles 1 fault
sets roles
unlike "$out" "unit on_fault" "a signal handler is no unit"

# -- splits: polling loops are no false cycles, unless they are asked to be one unit
spins='scalar grep { join(" ", map { $_->{unit} } @{$_->{cycle}}) =~ /spin/ } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}'
shown=
for seed in 1 2 3 4 5 6 7 8; do
	record roles $seed
	run "$HEDDLE" atomic "$scratch/roles.hdl" --all --format json
	cut=$(json "$spins")
	run "$HEDDLE" atomic "$scratch/roles.hdl" --all --split none --format json
	[ "$(json "$spins")" -gt "$cut" ] && shown=$cut && break
done
is "$shown" 0 "sleep and poll cut units in two; --split none leaves them whole"
sets roles --split join,fork
like "$out" 'split join, fork$' "the block says where units are cut"
sets roles --split none
like "$out" 'split none$' "or nowhere beside waits"
run "$HEDDLE" atomic "$scratch/roles.hdl" --split often
is "$status" 2 "an unknown split is bad usage"

# -- the memory of a lock is no data, nor a set: one of the program's own, which it annotates; its other words
# are no set in an instance that is never locked, and an instance on a stack is in none
build latch <<'C'
#include <pthread.h>
#include <sched.h>
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long) __attribute__((weak));
void AnnotateRWLockReleased(const char *, int, const volatile void *, long) __attribute__((weak));
struct latch { unsigned word; int owner; };
struct box { struct latch latch; int left, right; };
static struct box kept, seen;
void latch_lock(struct latch *l)
{
	while (__atomic_exchange_n(&l->word, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	AnnotateRWLockAcquired("", 0, &l->word, 1);
	l->owner = 1;
}
void latch_unlock(struct latch *l)
{
	l->owner = 0;
	AnnotateRWLockReleased("", 0, &l->word, 1);
	__atomic_store_n(&l->word, 0, __ATOMIC_RELEASE);
}
void box_move(struct box *b)
{
	latch_lock(&b->latch);
	b->left--;
	b->right++;
	latch_unlock(&b->latch);
	latch_lock(&b->latch);
	latch_unlock(&b->latch);
}
void box_note(struct box *b) { b->left += b->latch.owner; }
void *worker(void *x)
{
	for (int i = 0; i < 4; i++) {
		box_move(x);
		box_note(&seen);
	}
	return x;
}
int main(void)
{
	struct box here = { { 0, 0 }, 3, 4 };
	pthread_t t;
	box_move(&kept); /* the one whose latch is seen to be one belongs to one thread */
	pthread_create(&t, NULL, worker, &here);
	seen.latch.owner = seen.left = 2;
	worker(&here);
	pthread_join(t, NULL);
}
C
record latch 3
sets latch
like "$out" 'set box : struct box [{] left [}]' "the memory of a lock of the program's own is in no set"
run "$HEDDLE" atomic "$scratch/latch.hdl" --format json
like "$(json 'join " ", "none", map { map { $_->{variable} } @{$_->{edges}} } grep { $_->{verdict} eq "happened" } @{$d->{findings}}')" \
	'^none( seen[.]left)*$' "nor in a cycle, nor is what lies on a stack"

# -- owned, unitfor, sets by lock, globals
build shapes <<'C'
#include <pthread.h>
#include <stdlib.h>
struct ring { int count, slots[4]; };
struct queue { pthread_mutex_t lock; struct ring *ring; long puts; };
struct node { struct node *next; int value; };
struct pair { pthread_mutex_t in, out; long taken, given; };
static struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct node *shared_node, *again;
static struct pair pair = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int high, low, alone;
void queue_put(struct queue *q, int x)
{
	pthread_mutex_lock(&q->lock);
	q->ring->slots[q->ring->count % 4] = x;
	q->puts++;
	pthread_mutex_unlock(&q->lock);
	pthread_mutex_lock(&q->lock);
	q->ring->count++;
	pthread_mutex_unlock(&q->lock);
}
void node_set(struct node *n, int x) { n->value = x; }
void ranges(int x)
{
	pthread_mutex_lock(&lock);
	if (x > high) high = x;
	if (x < low) low = x;
	pthread_mutex_unlock(&lock);
}
void lone(void) { pthread_mutex_lock(&lock); alone++; pthread_mutex_unlock(&lock); }
void take(struct pair *p) { pthread_mutex_lock(&p->out); p->taken++; pthread_mutex_unlock(&p->out); }
void give(struct pair *p) { pthread_mutex_lock(&p->in); p->given++; pthread_mutex_unlock(&p->in); }
void *worker(void *x)
{
	for (int i = 0; i < 3; i++) {
		queue_put(&queue, i);
		node_set(shared_node, i);
		ranges(i), lone(), take(&pair), give(&pair);
	}
	return x;
}
int main(void)
{
	pthread_t a, b;
	queue.ring = calloc(1, sizeof *queue.ring);
	again = shared_node = calloc(1, sizeof *shared_node);
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
record shapes 1
sets shapes
like "$out" 'owned struct queue . ring' "the only pointer to a block owns it"
like "$out" 'set pair_under_out : struct pair [{] taken [}]' "members under two locks are two sets"
like "$out" 'set pair_under_in : struct pair [{] given [}]' "named by the lock's role"
like "$out" 'set (high|low) : global (high, low|low, high)' "globals touched in one critical section are one set"
like "$out" 'set alone : global alone' "others are their own"
unlike "$out" 'owned struct node' "what two places point to is owned by neither"
printf '%s\n' "$out" >"$scratch/shapes.spec"
owned=
for seed in 1 2 3 4 5 6 7 8; do
	record shapes $seed
	run "$HEDDLE" atomic "$scratch/shapes.hdl" --all --format json
	[ "$(json 'scalar grep { my $f = $_; grep { $_->{variable} =~ /puts/ } @{$f->{edges}} and grep { $_->{variable} =~ /ring/ } @{$f->{edges}} } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}')" != 0 ] && owned=$seed && break
done
like "$owned" '[0-9]' "a cycle through a queue and the ring that it owns"

# -- saved, read again, edited
for seed in 1 2 3; do
	record shapes $seed
	sets shapes
	printf '%s\n' "$out" >"$scratch/saved.spec"
	run "$HEDDLE" atomic "$scratch/shapes.hdl" --all --format json
	inferred=$(json "$findings")
	run "$HEDDLE" atomic "$scratch/shapes.hdl" --spec "$scratch/saved.spec" --format json
	is "$(json "$findings")" "$inferred" "seed $seed: the saved block finds what was inferred"
done
sed -i '/unit queue_put/d' "$scratch/saved.spec"
run "$HEDDLE" atomic "$scratch/shapes.hdl" --spec "$scratch/saved.spec" --format json
is "$(json 'scalar grep { grep { $_->{unit} eq "queue_put" } @{$_->{cycle}} } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}')" 0 "what was edited out is gone"

# -- the whole heap as one set, for comparison
run "$HEDDLE" atomic "$scratch/shapes.hdl" --all --heap --format json
is "$(json 'join ",", sort keys %{{ map { $_ => 1 } map { @{$_->{sets}} } grep { $_->{verdict} ne "candidate" } @{$d->{findings}} }}')" heap "--heap has one set"

# -- unitfor: one parameter's object alone
build copies <<'C'
#include <pthread.h>
struct list { int n, sum; };
struct pool { int n, sum; };
static struct list list;
static struct pool pool;
void copy(struct list *to, struct pool *from) { to->n = from->n; to->sum = from->sum; }
void fill(struct pool *p) { p->n++; p->sum++; }
void reset(struct list *l) { l->n = 0; l->sum = 0; }
void *worker(void *x) { for (int i = 0; i < 6; i++) x ? fill(&pool), reset(&list) : copy(&list, &pool); return 0; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, &pool);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
cat >"$scratch/for.spec" <<'S'
atomics copies {
  set list : struct list { n, sum }
  set pool : struct pool { n, sum }
  unit fill on pool
  unit reset on list
  unitfor copy(from)
}
S
sed 's/copy(from)/copy(to)/' "$scratch/for.spec" >"$scratch/to.spec"
sed 's/copy(from)/copy(nothing)/' "$scratch/for.spec" >"$scratch/none.spec"
touched='join ",", sort keys %{{ map { my $f = $_; map { /event/ ? () : ($f->{sets}[0] => 1) } grep { $_ eq "copy" } map { $_->{unit} } @{$f->{cycle}} } grep { $_->{verdict} ne "candidate" } @{$d->{findings}} }}'
from= to=
for seed in 1 2 3 4 5 6 7 8; do
	record copies $seed
	run "$HEDDLE" atomic "$scratch/copies.hdl" --spec "$scratch/for.spec" --format json
	from="$from $(json 'join " ", map { @{$_->{sets}} } grep { grep { $_->{unit} eq "copy" } @{$_->{cycle}} } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}')"
	run "$HEDDLE" atomic "$scratch/copies.hdl" --spec "$scratch/to.spec" --format json
	to="$to $(json 'join " ", map { @{$_->{sets}} } grep { grep { $_->{unit} eq "copy" } @{$_->{cycle}} } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}')"
done
like "$from" pool "unitfor copy(from): a unit on the pool"
unlike "$from" list "and on nothing else"
like "$to" list "unitfor copy(to): a unit on the list"
unlike "$to" pool "and on nothing else"
run "$HEDDLE" atomic "$scratch/copies.hdl" --spec "$scratch/none.spec"
like "$out" 'copy has no parameter nothing' "a parameter that there is not is named"

# -- a bounded buffer: its waits would be cycles
build buffer <<'C'
#include <pthread.h>
struct buffer { pthread_mutex_t lock; pthread_cond_t change; int used, slots[2]; };
static struct buffer buffer = { .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER };
void put(struct buffer *b, int x)
{
	pthread_mutex_lock(&b->lock);
	while (b->used == 2)
		pthread_cond_wait(&b->change, &b->lock);
	b->slots[b->used++] = x;
	pthread_cond_broadcast(&b->change);
	pthread_mutex_unlock(&b->lock);
}
int get(struct buffer *b)
{
	pthread_mutex_lock(&b->lock);
	while (b->used == 0)
		pthread_cond_wait(&b->change, &b->lock);
	int x = b->slots[--b->used];
	pthread_cond_broadcast(&b->change);
	pthread_mutex_unlock(&b->lock);
	return x;
}
void *producer(void *x) { for (int i = 0; i < 8; i++) put(&buffer, i); return x; }
void *consumer(void *x) { for (int i = 0; i < 8; i++) get(&buffer); return x; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, producer, NULL);
	pthread_create(&b, NULL, consumer, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
with=0 without=0
for seed in 1 2 3 4; do
	record buffer $seed
	run "$HEDDLE" atomic "$scratch/buffer.hdl" --all --format json
	with=$((with + $(json 'scalar grep { $_->{verdict} ne "candidate" } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}')))
	run "$HEDDLE" convert "$scratch/buffer.hdl" "$scratch/buffer.txt" --to text
	# without its waits the same trace has no place to cut; the locks stay as they are
	grep -v '|wait(\||wake(' "$scratch/buffer.txt" >"$scratch/whole.txt"
	run "$HEDDLE" atomic "$scratch/whole.txt" --all --format json
	without=$((without + $(json 'scalar grep { $_->{verdict} ne "candidate" } grep { $_->{verdict} ne "candidate" } @{$d->{findings}}')))
done
is "$with" 0 "a correct bounded buffer has no cycle"
like "$without" '[1-9]' "which it has when waits do not cut its units"
done_testing
