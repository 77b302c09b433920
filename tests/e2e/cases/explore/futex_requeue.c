/* Other operations of a futex are a reason why a report is not complete. */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word, other, done;
static void *run(void *p) { if (!__atomic_load_n(&done, 5)) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0);
 __atomic_store_n(&word, 1, 5); __atomic_store_n(&done, 1, 5);
 syscall(SYS_futex, &word, FUTEX_REQUEUE_PRIVATE, 1, 0, &other, 0);
 pthread_join(t, 0); return 0; }

//: explore
//= complete no
//= errors
//~ said a futex in other ways than to wait and to wake
