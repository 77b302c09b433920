/* Each thread has a copy of its own that nobody brings up to date. All runs read the same, and are one class;
 * the read that comes after the write has returned is found all the same. */
#include <pthread.h>
#include <stdatomic.h>
struct counter { atomic_int own[2]; };
static struct counter c;
static _Thread_local int me;
__attribute__((noipa)) void counter_inc(struct counter *c) { c->own[me]++; }
__attribute__((noipa)) int counter_read(struct counter *c) { return c->own[me]; }
static void *reader(void *p) { me = 1; counter_read(&c); return p; }
static void *writer(void *p) { counter_inc(&c); return p; }
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, reader, 0);
	pthread_create(&u, 0, writer, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}

//: explore --linearizable --spec $here/linear_counter.spec -o tree
//= exit 1
//= states 1
//= executions 2
//= complete yes
//: sh mv tree.run1.hdl failing.hdl
//: commute failing.hdl --linearizable --spec $here/linear_counter.spec
//= exit 1
