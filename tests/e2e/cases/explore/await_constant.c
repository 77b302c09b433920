/* Several locks by an array of them: between a failed try and the end of its round the code reads the array, which nobody
 * writes while there are several threads. These reads are no looks. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static struct user {
	int first;
	struct user *next; /* whose first lock is the next one */
} users[3];
static int x;
static void take(struct user *u)
{
	for (;;) {
		pthread_mutex_lock(&m[u->first]);
		if (pthread_mutex_trylock(&m[u->next->first]) == 0)
			return;
		pthread_mutex_unlock(&m[u->first]);
	}
}
static void *run(void *p)
{
	struct user *u = p;
	take(u);
	x++;
	pthread_mutex_unlock(&m[u->next->first]);
	pthread_mutex_unlock(&m[u->first]);
	return 0;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		users[i] = (struct user){ i, &users[1 - i] };
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, run, &users[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	assert(x == 2);
	return 0;
}

//: build {-O0,-O1,-O2}
//: explore --seed {0,1}
//= exit 0
//= complete yes
//= states 2
