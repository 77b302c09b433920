// t's write races with main's last read 
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int data;
static void *t(void *p) { pthread_mutex_lock(&m); data = 4; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0); pthread_join(b, 0); return data != 4; }

//: explore
//= exit 1
//= racy exp_race.c:4+exp_race.c:5
//= executions 1
