// A read and a write, next after a failed try. The first section of T1 could hold the lock as well.
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; long data;
void *t1(void *a) { pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m); pthread_mutex_lock(&m); usleep(20000); pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; pthread_create(&t, 0, t1, 0); usleep(5000);
  if (pthread_mutex_trylock(&m)) data++; else pthread_mutex_unlock(&m);
  pthread_join(t, 0); }
