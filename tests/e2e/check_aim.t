#!/bin/bash
# heddle check: where no run is explored, runs are driven to where a read sees something else.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
# Two stages under two locks, behind too much work to explore. B has to come between A's stages,
# after many steps in which nothing of that is decided.
cat >stages.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int one, two;
static volatile int work;
static void *a(void *p)
{
	pthread_mutex_lock(&first);
	one = 1;
	pthread_mutex_unlock(&first);
	pthread_mutex_lock(&second);
	two = 2;
	pthread_mutex_unlock(&second);
	return p;
}
static void *b(void *p)
{
	pthread_mutex_lock(&first);
	int seen = one;
	pthread_mutex_unlock(&first);
	if (seen) {
		pthread_mutex_lock(&second);
		assert(two == 2);
		pthread_mutex_unlock(&second);
	}
	return p;
}
int main(void)
{
	pthread_t s, t;
	for (int i = 0; i < 12000; i++)
		work++;
	pthread_create(&s, 0, a, 0);
	pthread_create(&t, 0, b, 0);
	pthread_join(s, 0);
	pthread_join(t, 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 stages.c -o stages -pthread || exit 1
run "$HEDDLE" check --budget 600 -o s --no-harm --format json -- ./stages
is "$(json '(grep { $_->{kind} eq "assertion" } @{$d->{findings}})[0]{kind}')" assertion "the assertion fails"
ok "$(json '(grep { $_->{strategy} eq "aimed" } @{$d->{runs}}) ? 0 : 1')" "there are runs with an aim"
ok "$(json '$d->{exploration} ? 1 : 0')" "and no exploration"
like "$(json 'join " ", @{$d->{coverage}}')" "[0-9]+ runs were driven to where a read sees something else" "it is said"

# A pair that prediction does not decide when it has no time for the solver: the try failed, and in which section of
# the other thread it could have failed as well is the solver's question. Where one of the two waits, the try succeeds.
cat >tries.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static volatile int work;
static void pause_in(pthread_mutex_t *own, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(own);
		pthread_mutex_unlock(own);
	}
}
static void *holds(void *p)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	x = 1;
	pthread_mutex_lock(&m);
	pause_in(&own, 200);
	pthread_mutex_unlock(&m);
	return p;
}
static void *tries(void *p)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pause_in(&own, 100);
	if (pthread_mutex_trylock(&m) == 0)
		pthread_mutex_unlock(&m);
#ifdef BRANCH
	else
#endif
		x = 2;
	return p;
}
int main(void)
{
	pthread_t s, t;
	for (int i = 0; i < 12000; i++)
		work++;
	pthread_create(&s, 0, holds, 0);
	pthread_create(&t, 0, tries, 0);
	pthread_join(s, 0);
	pthread_join(t, 0);
	return x > 100;
}
C
"$HEDDLE" cc -g -O1 tries.c -o tries -pthread || exit 1
"$HEDDLE" cc -g -O1 -DBRANCH tries.c -o branch -pthread || exit 1
list() { json 'join "; ", map { "$_->{kind} " . join "-", sort map { $_->{line} } @{$_->{sites}} } @{$d->{findings}}'; }
run "$HEDDLE" check -o t --budget 600,0 --runs 1 --no-harm --format json -- ./tries
is "$(list)" "data-race 17-32" "a run where one of the two waits shows the race"
is "$(json '$d->{runs}[$d->{findings}[0]{runs}[0]]{strategy}')" aimed "no other run does"
ok "$(json '$d->{complete}{"data-race"} ? 0 : 1')" "with it nothing is open"
run "$HEDDLE" races --budget 0,0 --verdicts all --format json t.run0.hdl
is "$(json 'join " ", map { $_->{verdict} } @{$d->{findings}}')" unknown "which the recording left undecided"
run "$HEDDLE" check -o b --budget 600,0 --runs 1 --no-harm --format json -- ./branch
is "$status $(list)" "3 " "a pair that no aimed run reaches stays open"
ok "$(json '$d->{complete}{"data-race"} ? 1 : 0')" "so the answer is not complete"
like "$(json 'join " ", @{$d->{coverage}}')" "Not decided, .*whether there is a data race between tries.c:17 and tries.c:32 .heddle races --budget 60,600 b.run0.hdl" "it is named, with the command that takes longer"
run "$HEDDLE" check -o b --budget 600 --runs 1 --no-harm --format json -- ./branch
is "$(list)" "data-race 17-32" "the solver decides it"
run "$HEDDLE" check --budget 60, -- ./tries
is "$status" 2 "a budget of which half is missing"
done_testing
