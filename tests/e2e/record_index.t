#!/bin/bash
# The recorder leaves the index of the trace that it has written: the one that a reader of the trace makes, byte
# for byte, which has checked and read all of its events.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >mixed.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
enum { THREADS = 70, ROUNDS = 60, LOOKS = 120 }; /* more than 64 threads, a million events */
struct node {
	struct node *next;
	long value;
	char odd[3];
	pthread_mutex_t own;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t all;
static sem_t places;
static struct node *list;
static int left = THREADS;
static volatile int looks[THREADS];

static void *work(void *argument)
{
	int me = (int)(long)argument;
	pthread_barrier_wait(&all);
	for (int i = 0; i < ROUNDS; i++) {
		struct node *mine = malloc(sizeof *mine), *other = NULL;
		pthread_mutex_init(&mine->own, NULL);
		mine->value = i;
		memset(mine->odd, i, sizeof mine->odd);
		for (int k = 0; k < LOOKS; k++)
			looks[me]++;
		sem_wait(&places);
		pthread_mutex_lock(&m);
		mine->next = list;
		list = mine;
		if (i % 3 && (other = mine->next) != NULL) {
			pthread_mutex_lock(&other->own);
			mine->next = other->next;
			pthread_mutex_unlock(&other->own);
		}
		pthread_mutex_unlock(&m);
		sem_post(&places);
		free(other);
	}
	pthread_mutex_lock(&m);
	left--;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&m);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	sem_init(&places, 0, 2);
	pthread_barrier_init(&all, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	pthread_mutex_lock(&m);
	while (left)
		pthread_cond_wait(&changed, &m);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
$HEDDLE cc -O1 -g mixed.c -o mixed -pthread
indexes() { find "$1" -name '*.index' 2>/dev/null; }
left_alike() { # NAME OPTION...
	local name=$1
	shift
	export XDG_CACHE_HOME=$scratch/recorder
	rm -rf recorder reader
	run $HEDDLE record -q "$@" -o t.hdl -- ./mixed
	is "$(indexes recorder | wc -l)" 1 "$name: the recorder leaves an index"
	export XDG_CACHE_HOME=$scratch/reader
	run $HEDDLE races --analysis hb t.hdl
	is "$(indexes reader | wc -l)" 1 "$name: a reader without it makes one"
	ok "$(cmp -s "$(indexes recorder)" "$(indexes reader)"; echo $?)" "$name: the same"
}
left_alike "while it runs" --seed 3
left_alike "from the log in the end" --seed 4 --compress
export XDG_CACHE_HOME=$scratch/recorder
run $HEDDLE races t.hdl --format json
with=$out
export XDG_CACHE_HOME=$scratch/none
run $HEDDLE races t.hdl --format json
is "$with" "$out" "and the same report with it"
printf 'x' | dd of=t.hdl bs=1 seek=100000 conv=notrunc 2>/dev/null
export XDG_CACHE_HOME=$scratch/recorder
run $HEDDLE races t.hdl
is "$status" 2 "a file that was changed since is checked"
like "$err" "does not fit its sum" "and refused"
done_testing
