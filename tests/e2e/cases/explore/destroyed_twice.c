/* objects that are destroyed twice, by two threads and by one; an unlock of a destroyed mutex */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static pthread_mutex_t m; static pthread_cond_t c; static sem_t s;
static void *end(void *how)
{
	if (how) sem_destroy(&s);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	int how = argc > 1 ? atoi(argv[1]) : 0;
	pthread_mutex_init(&m, 0), pthread_cond_init(&c, 0), sem_init(&s, 0, 0);
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, end, how == 0 ? t : 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	pthread_mutex_destroy(&m);
	if (how == 1)
		pthread_mutex_destroy(&m);
	pthread_cond_destroy(&c);
	if (how == 2)
		pthread_cond_destroy(&c);
	if (how == 3)
		pthread_mutex_unlock(&m);
	return 0;
}

//: explore {,--seed 2} @ 0
//= exit 1
//= errors use-after-free@destroyed_twice.c:8
//= complete yes
//: explore @ 1
//= errors use-after-free@destroyed_twice.c:20
//: explore @ 2
//= errors use-after-free@destroyed_twice.c:23
//: explore @ 3
//= errors lock-misuse@destroyed_twice.c:25
//: explore @ 4
//= exit 0
//= errors
