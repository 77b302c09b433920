/* A counter that loads and stores; with "adds", one that adds. */
#include <pthread.h>
#include <stdatomic.h>
struct counter { atomic_int n; };
static struct counter c;
static int adds;
__attribute__((noipa)) void counter_inc(struct counter *c)
{
	if (adds)
		c->n++;
	else
		atomic_store(&c->n, atomic_load(&c->n) + 1);
}
__attribute__((noipa)) int counter_read(struct counter *c) { return c->n; }
static void *run(void *p) { counter_inc(&c); return p; }
int main(int argc, char **argv)
{
	pthread_t t, u;
	adds = argc > 1;
	pthread_create(&t, 0, run, 0);
	pthread_create(&u, 0, run, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	counter_read(&c);
	return 0;
}

//: explore --linearizable --spec $here/linear_counter.spec
//= exit 1
//= complete yes
//: explore --linearizable --spec $here/linear_counter.spec --format json @ adds
//= exit 0
//= complete yes
//= errors
