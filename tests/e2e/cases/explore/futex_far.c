/* One place wakes by a word on a stack, then by a global one: addresses far from each other. */
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int global, *local, seen[2];
static void wait_for(int *word) {
 while (!__atomic_load_n(word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0); }
__attribute__((noinline)) static void wake(int *word) {
 __atomic_store_n(word, 1, __ATOMIC_SEQ_CST); syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }
static void *one(void *p) { wait_for(&global); seen[0] = 1; return p; }
static void *two(void *p) { wake(local); wake(&global); seen[1] = 1; return p; }
int main(void) { pthread_t a, b; int word = 0; local = &word;
 pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0); wait_for(local);
 pthread_join(a, 0); pthread_join(b, 0);
 assert(!seen[0] || !seen[1]); return 0; }

//: explore --seed {0,1,2}
//= exit 1
//= complete yes
//= executions 9
//= states 9
//- said has not come to its end
//= errors signal@futex_far.c:17
