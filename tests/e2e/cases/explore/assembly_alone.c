/* atomic instructions of inline assembly alone, which is not seen: one run, and it is not all */
#include <pthread.h>
#include <stdio.h>
static int n;
static void add(int *p)
{
	__asm__ volatile("lock; incl %0" : "+m"(*p));
}
static void *run(void *p)
{
	add(&n);
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(t, 0, run, 0);
	pthread_create(t + 1, 0, run, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	printf("%d\n", n);
	return 0;
}

//: explore
//= exit 3
//= complete no
//~ said assembly_alone\.c:7 \(add\) has an atomic instruction of inline assembly
//: explore --memory rc11
//= complete no
//~ said assembly_alone\.c:7 \(add\) has an atomic instruction of inline assembly
//: record -q -o t.hdl @
//: races t.hdl
//~ err assembly_alone\.c:7 \(add\) has an atomic instruction of inline assembly
//~ join("",@{$d->{warnings}}) has an atomic instruction
