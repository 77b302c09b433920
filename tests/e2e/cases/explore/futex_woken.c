/* How many a wake wakes, and which one, are outcomes; so is a time limit. */
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word, first, second;
static const struct timespec soon = { 1, 0 };
static void *one(void *p) {
 first = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &soon, 0, 0) && errno == ETIMEDOUT; return p; }
static void *two(void *p) {
 second = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &soon, 0, 0) && errno == ETIMEDOUT; return p; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0);
 long n = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
 pthread_join(a, 0); pthread_join(b, 0);
 assert(n == 2 - first - second);
 assert(n == 0 || second); return 0; }

//: explore --seed {0,1}
//= exit 1
//= states 3
//= complete yes
//= errors signal@futex_woken.c:19
