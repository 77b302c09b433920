// Other operations on a block that another thread frees, with nothing to order them: K=1 post,
// 2 broadcast, 3 read lock, 4 spin lock, 5 trywait.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
struct ctx { sem_t s; pthread_cond_t c; pthread_rwlock_t rw; pthread_spinlock_t sp; };
static void *t1(void *p) { struct ctx *c = p; 
#if K==1
 sem_post(&c->s);
#elif K==2
 pthread_cond_broadcast(&c->c);
#elif K==3
 pthread_rwlock_rdlock(&c->rw); pthread_rwlock_unlock(&c->rw);
#elif K==4
 pthread_spin_lock(&c->sp); pthread_spin_unlock(&c->sp);
#elif K==5
 sem_trywait(&c->s);
#endif
 return 0; }
int main() { struct ctx *c = malloc(sizeof *c); sem_init(&c->s, 0, 0); pthread_cond_init(&c->c, 0); pthread_rwlock_init(&c->rw, 0); pthread_spin_init(&c->sp, 0);
  pthread_t t; pthread_create(&t, 0, t1, c); usleep(1000); free(c); pthread_join(t, 0); return 0; }
