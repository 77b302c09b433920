/* A wake that comes before the sleep, and changes nothing that the sleep looks at, is lost. */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
static void *run(void *p) { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0);
 syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
 pthread_join(t, 0); return 0; }

//: explore --seed {0,1}
//= exit 1
//= states 2
//= complete yes
//= errors blocked@futex_lost.c:7
