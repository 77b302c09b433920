/* strict POSIX headers make signal() __sysv_signal, which is interposed as any other. One signal at a time,
   so this ends with 0 always. */
#define _XOPEN_SOURCE 600
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int n, stop; static int shared; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void on_usr(int s) { signal(s, on_usr); n++; }
static void *busy(void *a) { while (!stop) { pthread_mutex_lock(&m); shared++; pthread_mutex_unlock(&m); } return a; }
static void *killer(void *a) { for (int i = 0; i < 300; i++) { int k = n; kill(getpid(), SIGUSR1); while (n == k) sched_yield(); } stop = 1; return a; }
int main(void) { pthread_t t[2]; signal(SIGUSR1, on_usr); pthread_create(&t[0], 0, busy, 0); pthread_create(&t[1], 0, killer, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); puts("done"); return 0; }
