// a child made by clone() (a process, SIGCHLD) that runs instrumented code
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <sys/wait.h>
long counter;
static void *inc(void *a) { for (int i = 0; i < 3; i++) __sync_fetch_and_add(&counter, 1); return 0; }
static int child(void *a) { __sync_fetch_and_add(&counter, 1); _exit(0); }
static char stack[64 << 10] __attribute__((aligned(64)));
int main() {
  pthread_t t;
  pthread_create(&t, 0, inc, 0);
  int pid = clone(child, stack + sizeof stack, SIGCHLD, 0);
  while (wait(0) != pid) ;
  pthread_join(t, 0);
  puts("DONE");
}
