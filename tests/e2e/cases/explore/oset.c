/* N threads add distinct keys to one mutex-protected sorted list set */
#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
#ifndef N
#define N 4
#endif
struct node { int key; struct node *next; };
static struct node *head;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int keys[N];
int set_add(int k) {
  struct node *n = malloc(sizeof *n), **p;
  n->key = k;
  pthread_mutex_lock(&m);
  for (p = &head; *p && (*p)->key < k; p = &(*p)->next) ;
  if (*p && (*p)->key == k) { pthread_mutex_unlock(&m); free(n); return 0; }
  n->next = *p; *p = n;
  pthread_mutex_unlock(&m);
  return 1;
}
void *t(void *a) { int r = set_add(*(int *)a); assert(r == 1); return 0; }
int main(void) {
  pthread_t th[N];
  for (int i = 0; i < N; i++) { keys[i] = i + 1; pthread_create(&th[i], 0, t, &keys[i]); }
  for (int i = 0; i < N; i++) pthread_join(th[i], 0);
  int c = 0, last = 0;
  for (struct node *n = head; n; n = n->next) { assert(n->key > last); last = n->key; c++; }
  assert(c == N);
  return 0;
}

//: build -DN=2
//: explore --spec $here/oset.spec --results
//= exit 0
//= complete yes
//: sh sed s/set_add/no_such/ $here/oset.spec >none.spec
//: explore --spec none.spec
//= exit 2
//~ err none.spec:6: no_such cannot be bound: .*leave the bind line out
