#!/bin/bash
# Tries at locks while recording: one that finds the lock taken fails at once, as it does without
# the recorder, whatever the lock's kind; the thread does not wait.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >tries.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t s;
static int shared; /* how the lock is held: 0 for writing, 1 for reading */
static void *try_all(void *p)
{
	printf("%s: write %d read", shared ? "read" : "write", pthread_rwlock_trywrlock(&rw) == EBUSY);
	int read = pthread_rwlock_tryrdlock(&rw);
	printf(" %d", read == EBUSY);
	if (read == 0)
		pthread_rwlock_unlock(&rw);
	struct timespec past = { 1, 0 };
	printf(" timed %d", pthread_rwlock_timedwrlock(&rw, &past) == ETIMEDOUT);
	printf(" mutex %d spin %d", pthread_mutex_trylock(&m) == EBUSY, pthread_spin_trylock(&spin) == EBUSY);
	printf(" semaphore %d\n", sem_trywait(&s) == -1 && errno == EAGAIN);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_spin_init(&spin, 0);
	sem_init(&s, 0, 0);
	for (shared = 0; shared < 2; shared++) {
		if (shared) pthread_rwlock_rdlock(&rw); else pthread_rwlock_wrlock(&rw);
		pthread_mutex_lock(&m);
		pthread_spin_lock(&spin);
		pthread_create(&t, NULL, try_all, NULL);
		pthread_join(t, NULL);
		pthread_spin_unlock(&spin);
		pthread_mutex_unlock(&m);
		pthread_rwlock_unlock(&rw);
	}
	return 0;
}
C
run "$HEDDLE" cc -g -O1 tries.c -o tries -pthread
is "$status" 0 "it compiles"
expected='write: write 1 read 1 timed 1 mutex 1 spin 1 semaphore 1
read: write 1 read 0 timed 1 mutex 1 spin 1 semaphore 1'
run timeout 300 ./tries
is "$out" "$expected" "by itself"
for mode in controlled free; do
	run timeout 300 "$HEDDLE" record -q --mode $mode -o tries.hdl -- ./tries
	is "$status" 0 "$mode: it ends"
	is "$out" "$expected" "$mode: every try fails that does without the recorder"
	"$HEDDLE" convert --to text tries.hdl tries.txt 2>/dev/null
	is "$(grep -c 'tryfail(rw)' tries.txt)" 5 "$mode: and is in the trace, of the lock for reading and writing"
done
done_testing
