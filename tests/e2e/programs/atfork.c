// a pthread_atfork handler's access in the parent is code of the program: two races
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
int glob; static void *w(void *p) { glob++; return 0; } static void h(void) { glob++; }
int main() { pthread_atfork(h, h, h); pthread_t t; pthread_create(&t, 0, w, 0); usleep(100000); int p = fork(); if (!p) _exit(0); waitpid(p, 0, 0); pthread_join(t, 0); puts("DONE"); }
