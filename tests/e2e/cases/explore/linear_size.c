/* A set whose size is counted after the member is there: whoever sees the member may be told the size
 * of before. With "first" it is counted first, which is no better. Without size, keys are histories
 * of their own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
struct set { atomic_bool in[3]; atomic_int n; };
static struct set s;
static int words;
__attribute__((noipa)) bool set_add(struct set *s, int v)
{
	if (words == 2)
		s->n++;
	bool fresh = !atomic_exchange(&s->in[v], true);
	if (words != 2 && fresh)
		s->n++;
	return fresh;
}
__attribute__((noipa)) bool set_has(struct set *s, int v) { return s->in[v]; }
__attribute__((noipa)) int set_size(struct set *s) { return s->n; }
static void *one(void *p) { set_add(&s, 1); return p; }
static void *two(void *p)
{
	set_has(&s, 1);
	if (words < 3)
		set_size(&s);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t, u;
	words = argc;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}

//: explore --linearizable --spec $here/linear_size.spec
//= exit 1
//= complete yes
//: explore --linearizable --spec $here/linear_size.spec --format json @ first
//= exit 0
//= complete yes
//: explore --linearizable --spec $here/linear_size.spec --format json @ without size
//= exit 0
//= complete yes
