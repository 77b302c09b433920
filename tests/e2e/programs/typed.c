/* typed.c - two threads race for variables of many types. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum state { IDLE, BUSY = 5, BROKEN = -1 };
struct item {
	short small;
	enum state state;
	const char *next;
};
static int number = 7;
static long far;
static bool flag;
static char letter;
static enum state state;
static float single;
static double wide;
static unsigned plain;
static uint64_t large;
static int cells[4], *pointer;
static struct item *item;

static void *work(void *p)
{
	int local = -3, *shared = p;
	number = -2;
	far = -1;
	flag = true;
	letter = 'x';
	state = BROKEN;
	single = 0.1f;
	wide = -1e300;
	plain = 4294967295u;
	large = 1ull << 40;
	cells[2] = -4;
	pointer = &cells[2];
	item->small = -6;
	item->state = BUSY;
	item->next = NULL;
	*shared = local;
	return NULL;
}

int main(void)
{
	int mine = -5;
	pthread_t a, b;
	item = calloc(1, sizeof(*item));
	pthread_create(&a, NULL, work, &mine);
	pthread_create(&b, NULL, work, &mine);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return number == -2 ? 0 : 1;
}
