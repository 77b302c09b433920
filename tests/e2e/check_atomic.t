#!/bin/bash
# heddle check: violations of atomicity in programs whose units of work are inlined, static or the
# threads' routines themselves, by running another thread's section in between; none in the fixes.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
for s in suns-account:suns_account linked-list:linked_list pipeline:pipeline bounded-buffer:bounded_buffer; do
	dir=$root/samples/${s%:*}
	"$HEDDLE" cc -g -O1 "$dir/${s#*:}.c" -o bug -pthread || exit 1
	"$HEDDLE" cc -g -O1 "$dir/fixed.c" -o fixed -pthread || exit 1
	run "$HEDDLE" check --budget 600 -o bug --runs 4 --format json -- ./bug
	is "$status $(json 'join " ", map { "$_->{kind} $_->{harm}" } grep { $_->{harm} eq "differs" } @{$d->{findings}}[0]')" \
		"1 atomic-set-violation differs" "${s%:*}: an outcome that no order of whole units has"
	ok "$(json '(grep { $_->{difference} } @{$d->{findings}}) ? 0 : 1')" "and what it is"
	run "$HEDDLE" check --budget 600 -o fixed --runs 4 --format json -- ./fixed
	is "$status $(json 'scalar @{$d->{findings}}')" "0 0" "${s%:*}, fixed: nothing"
done

# the routines of the threads themselves, and two independent deposits, which are none
cat >two.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1, sold;
static int deposits;
static void *agent(void *p)
{
	pthread_mutex_lock(&m);
	int free = seats;
	pthread_mutex_unlock(&m);
	if (free > 0) {
		pthread_mutex_lock(&m);
		seats--;
		sold++;
		pthread_mutex_unlock(&m);
	}
	return p;
}
static void *payer(void *p)
{
	pthread_mutex_lock(&m);
	deposits++;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
	deposits += 2;
	pthread_mutex_unlock(&m);
	return p;
}
int main(int argc, char **argv)
{
	void *(*routine)(void *) = argc > 1 && strcmp(argv[1], "pay") == 0 ? payer : agent;
	pthread_t s, t;
	pthread_create(&s, 0, routine, 0);
	pthread_create(&t, 0, routine, 0);
	pthread_join(s, 0);
	pthread_join(t, 0);
	printf("%d sold, %d paid\n", sold, deposits);
	return 0;
}
C
"$HEDDLE" cc -g -O1 two.c -o two -pthread || exit 1
run "$HEDDLE" check --budget 600 -o two --runs 6 --format json -- ./two
is "$status $(json '$d->{findings}[0]{kind} . " " . $d->{findings}[0]{difference}')" "1 atomic-set-violation seats is -1, not 0" "start routines: the seat is sold twice"
like "$(json '$d->{findings}[0]{text}')" "agent of T[12] is not atomic: agent of T[12] (can come|comes) in between on seats" "in words"
run "$HEDDLE" check --budget 600 -o two --runs 6 --format json -- ./two pay
is "$status $(json 'scalar @{$d->{findings}}')" "0 0" "two deposits are two units"

# the same with atomics and no lock: two sell the last seat; a compare-and-swap, which looks again
cat >atomics.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int seats = 1, sold;
static void *agent(void *p)
{
	if (p) {
		int n = atomic_load(&seats);
		while (n > 0 && !atomic_compare_exchange_strong(&seats, &n, n - 1))
			;
		if (n > 0)
			atomic_fetch_add(&sold, 1);
	} else if (atomic_load(&seats) > 0) {
		atomic_fetch_sub(&seats, 1);
		atomic_fetch_add(&sold, 1);
	}
	return p;
}
int main(int argc, char **argv)
{
	pthread_t s, t;
	pthread_create(&s, 0, agent, argv[1]);
	pthread_create(&t, 0, agent, argv[1]);
	pthread_join(s, 0);
	pthread_join(t, 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 atomics.c -o atomics -pthread || exit 1
run "$HEDDLE" check --budget 600 -o a --runs 4 --format json -- ./atomics
is "$status $(json 'join " ", map { "$_->{kind} $_->{difference}" } @{$d->{findings}}')" "1 atomic-set-violation seats is -1, not 0" "a check and an act on an atomic"
run "$HEDDLE" check --budget 600 -o a --runs 4 --format json -- ./atomics swap
is "$status $(json 'scalar @{$d->{findings}}')" "0 0" "compare and swap: nothing"
"$HEDDLE" record -q -o a.hdl -- ./atomics
run "$HEDDLE" atomic a.hdl --format json
is "$(json 'scalar @{$d->{findings}}')" 0 "of a trace alone nothing is shown"
run "$HEDDLE" atomic --all a.hdl --format json
is "$(json 'join " ", map { "$_->{verdict} $_->{note} $_->{by} $_->{grade}" } @{$d->{findings}}')" "candidate check then act mined C" "but with --all, as a candidate"
run "$HEDDLE" atomic --all a.hdl
like "$out" "whether the outcome is one of no serial order is not known" "which says that it is one"

# the counts of the standard library's own are no unit of the program's work
cat >counts.cc <<'C'
#include <atomic>
#include <memory>
#include <thread>
static std::atomic<int> seats{1};
int main()
{
	auto p = std::make_shared<int>(1);
	auto work = [p] {
		for (int i = 0; i < 2; i++) {
			std::weak_ptr<int> w = p;
			auto q = w.lock();
			(void)q;
		}
		if (seats.load() > 0)
			seats.fetch_sub(1);
	};
	std::thread a(work), b(work);
	a.join();
	b.join();
}
C
for level in -O0 -O1; do
	"$HEDDLE" c++ -g $level counts.cc -o counts -pthread && "$HEDDLE" record -q -o counts.hdl -- ./counts
	run "$HEDDLE" atomic --all counts.hdl --format json
	is "$(json 'join " ", map { map { $_->{variable} } @{$_->{edges}} } @{$d->{findings}}')" "seats._M_i seats._M_i" \
		"$level: the program's atomic alone"
done

# what main does before it starts the threads comes between none of theirs, though all places of
# std::atomic lie in one header
cat >stack.cc <<'C'
#include <atomic>
#include <cstdio>
#include <thread>
struct node {
	int v;
	node *next;
};
static std::atomic<node *> top;
static void push(node *n)
{
	n->next = top.load();
	while (!top.compare_exchange_weak(n->next, n))
		;
}
static node *pop()
{
	node *n = top.load();
	while (n && !top.compare_exchange_weak(n, n->next))
		;
	return n;
}
int main()
{
	push(new node{ 1 });
	push(new node{ 2 });
	std::thread a([] {
		if (node *n = pop()) {
			printf("%d\n", n->v);
			delete n;
		}
	});
	std::thread b([] {
		node *x = pop(), *y = pop();
		delete y;
		if (x)
			push(x);
	});
	a.join();
	b.join();
}
C
"$HEDDLE" c++ -g -O1 stack.cc -o stack -pthread || exit 1
run "$HEDDLE" check --budget 60 --format json -- ./stack
is "$(json 'join " ", sort { $a cmp $b } map { map { $_->{thread} } @{$_->{cycle}} } grep { $_->{kind} eq "atomic-set-violation" } @{$d->{findings}}')" \
	"T1 T2" "a pop between another thread's two, and no push of main"
done_testing
