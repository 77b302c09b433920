/* loops on plain variables, of which the compiler has read one before the loop: they never end */
#include <pthread.h>
#include <stdlib.h>
static int flag, next;
static double f;
static struct { int a, b; } s;
static void *look(void *how)
{
	switch (*(int *)how) {
	case 0: while (!flag); break;
	case 1: while (flag < 3 && f == 0); break;
	case 2: while (s.a != s.b + 1); break;
	case 3:
		while (!flag);
		while (!next);
		break;
	case 4: for (;;);
	}
	return how;
}
static void *set(void *u) { flag = 7; f = 1; s.a = 1; next = 1; return u; }
int main(int argc, char **argv)
{
	int how = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t t[2];
	pthread_create(&t[0], 0, look, &how), pthread_create(&t[1], 0, set, 0);
	pthread_join(t[1], 0);
	if (how != 4) pthread_join(t[0], 0);
	return 0;
}

//: build -O1
//: explore {,--seed 2} @ 0
//= exit 1
//= errors blocked@loop_without_end.c:10
//= complete yes
//~ out T1 loops for ever: the loop reads no memory, and flag was read only before it \(loop_without_end.c:10\)
//: explore --memory tso @ 0
//= errors blocked@loop_without_end.c:10
//: explore --format json @ 1
//= complete yes
//: explore @ 2
//= errors blocked@loop_without_end.c:12
//= complete yes
//: explore @ 3
//= errors blocked@loop_without_end.c:14 blocked@loop_without_end.c:15
//= complete yes
//: explore @ 4
//= exit 0
//= errors
//= complete yes
//: shake --runs 10 @ 0
//~ out waits for ever
