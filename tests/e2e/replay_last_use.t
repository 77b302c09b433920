#!/bin/bash
# Replay of a use after free whose use is an unlock, while the thread that frees ends the program:
# it does not end before the steps that the witness still has.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >pool.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct pool {
	pthread_mutex_t lock;
	int alive;
};
static void *worker(void *data)
{
	struct pool *p = data;
	pthread_mutex_lock(&p->lock);
	p->alive--;
	pthread_mutex_unlock(&p->lock);
	return NULL;
}
int main(void)
{
	struct pool *p = malloc(sizeof *p);
	pthread_t t;
	pthread_mutex_init(&p->lock, NULL);
	p->alive = 1;
	pthread_create(&t, NULL, worker, p);
	pthread_detach(t);
	while (__atomic_load_n(&p->alive, __ATOMIC_SEQ_CST))
		;
	free(p);
	return 0;
}
C
"$HEDDLE" cc -g -O1 pool.c -o pool -pthread
found=
for seed in 1 2 3 4 5 6 7 8; do
	"$HEDDLE" record -q --seed $seed -o pool.hdl -- ./pool
	run "$HEDDLE" commute --analysis cov pool.hdl --format json
	pair=$(json 'join " ", map { "$_->{first} $_->{second}" } (grep { $_->{kind} eq "use-after-free" && $_->{verdict} eq "race" } @{$d->{findings}})[0]')
	[ "$pair" != " " ] && found=1 && break
done
ok "$([ -n "$found" ]; echo $?)" "a use after free, the unlock"
run "$HEDDLE" witness pool.hdl $pair -o pool.wit
is "$status" 1 "has a witness"
run "$HEDDLE" replay --witness pool.wit -- ./pool
unlike "$err" "ended before the pair" "the program does not end before it"
like "$err" "stopped before the event|it came to" "the thread stands before its unlock"
like "$err" "that is a use after free: the block was freed before by" "which is said to be a use after free"
like "$err" "free .*pool.c:25" "and where it was freed"
done_testing
