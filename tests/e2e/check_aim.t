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
run "$HEDDLE" check -o s --no-harm --format json -- ./stages
is "$(json '(grep { $_->{kind} eq "assertion" } @{$d->{findings}})[0]{kind}')" assertion "the assertion fails"
ok "$(json '(grep { $_->{strategy} eq "aimed" } @{$d->{runs}}) ? 0 : 1')" "there are runs with an aim"
ok "$(json '$d->{exploration} ? 1 : 0')" "and no exploration"
like "$(json 'join " ", @{$d->{coverage}}')" "[0-9]+ runs were driven to where a read sees something else" "it is said"
done_testing
