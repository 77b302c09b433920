/* A loop around a sleep on a futex, and a wake after the store: looked once, slept in vain, slept. */
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word; static int data;
static void *run(void *p) {
 while (!word) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
 assert(data == 1); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0);
 data = 1; word = 1; syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
 pthread_join(t, 0); return 0; }

//: explore --seed {0,1}
//= exit 0
//= states 3
//= complete yes
//= errors
