/*
 * openmp.c - constructs of OpenMP, one each letter of the first argument.  Those in capitals have a
 * race on `bad`; the others none.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12 };
static int a[N], b[N], sum, bad, turn, chain[N];
static omp_lock_t lock;
static omp_nest_lock_t nest;

static int fibonacci(int n)
{
	int x, y;
	if (n < 2)
		return n;
#pragma omp task shared(x)
	x = fibonacci(n - 1);
#pragma omp task shared(y)
	y = fibonacci(n - 2);
#pragma omp taskwait
	return x + y;
}

static void loops(char c)
{
	switch (c) {
	case 'f': /* parallel for, its end */
	case 'F':
#pragma omp parallel for num_threads(3)
		for (int i = 0; i < N; i++) {
			a[i] = i;
			if (c == 'F')
				bad += i;
		}
		for (int i = 0; i < N; i++)
			sum += a[i];
		break;
	case 'd': /* dynamic, the implicit barrier after it */
	case 'D': /* and without it */
#pragma omp parallel num_threads(3)
	{
		if (c == 'd') {
#pragma omp for schedule(dynamic, 2)
			for (int i = 0; i < N; i++)
				a[i] = i;
		} else {
#pragma omp for schedule(dynamic, 2) nowait
			for (int i = 0; i < N; i++)
				a[i] = bad = i;
		}
#pragma omp for schedule(guided)
		for (int i = 0; i < N; i++)
			b[i] = c == 'd' ? a[N - 1 - i] : bad;
	}
		sum = b[3];
		break;
	case 'r': /* reduction */
#pragma omp parallel for num_threads(3) reduction(+ : sum) schedule(runtime)
		for (int i = 0; i < N; i++)
			sum += i;
		break;
	case 'o': /* ordered */
	case 'O':
#pragma omp parallel for ordered num_threads(3) schedule(static, 1)
		for (int i = 0; i < N; i++) {
#pragma omp ordered
			turn = turn * 2 + i;
			if (c == 'O')
				bad = i;
		}
		sum = turn;
		break;
	case 'x': /* doacross */
#pragma omp parallel for ordered(1) num_threads(3) schedule(static, 1)
		for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
			chain[i] = chain[i - 1] + 1;
#pragma omp ordered depend(source)
		}
		sum = chain[N - 1];
		break;
	}
}

static void regions(char c)
{
	switch (c) {
	case 'b': /* barrier */
	case 'B':
#pragma omp parallel num_threads(3)
	{
		int me = omp_get_thread_num();
		a[me] = me;
		if (c == 'b') {
#pragma omp barrier
		} else {
			bad = me;
		}
		int other = a[c == 'b' ? (me + 1) % 3 : me];
#pragma omp atomic
		sum += other;
	}
		break;
	case 'c': /* critical sections: unnamed, and two names that exclude nothing of each other */
	case 'C':
#pragma omp parallel num_threads(3)
	{
		if (c == 'C' && omp_get_thread_num() == 1) {
#pragma omp critical(one)
			bad++;
		} else if (c == 'C') {
#pragma omp critical(two)
			bad++;
		}
#pragma omp critical
		sum++;
#pragma omp critical(one)
		turn++;
	}
		break;
	case 's': /* single, with its barrier and copyprivate */
	case 'S':
#pragma omp parallel num_threads(3)
	{
		int got = 0;
#pragma omp single copyprivate(got)
		{
			got = 7;
			turn = 1;
		}
		if (c == 'S')
			bad = got;
#pragma omp critical
		sum += got + turn;
	}
		break;
	case 'm': /* master and sections */
#pragma omp parallel num_threads(3)
	{
#pragma omp master
		turn = 5;
#pragma omp barrier
#pragma omp sections
		{
#pragma omp section
			a[0] = turn;
#pragma omp section
			a[1] = turn;
		}
#pragma omp single
		sum = a[0] + a[1];
	}
		break;
	case 'l': /* locks */
	case 'L':
		omp_init_lock(&lock);
		omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(3)
	{
		omp_set_lock(&lock);
		sum++;
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		turn++;
		omp_unset_nest_lock(&nest);
		turn++;
		omp_unset_nest_lock(&nest);
		while (!omp_test_lock(&lock))
			;
		sum++;
		omp_unset_lock(&lock);
		if (c == 'L')
			bad++;
	}
		omp_destroy_lock(&lock);
		omp_destroy_nest_lock(&nest);
		break;
	case 'n': /* nested regions */
		omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		int inner = 0;
#pragma omp parallel num_threads(2)
		{
#pragma omp critical
			inner++;
		}
#pragma omp critical
		sum += inner;
	}
		break;
	}
}

static void tasks(char c)
{
#pragma omp parallel num_threads(3)
#pragma omp single
	switch (c) {
	case 't': /* tasks and taskwait, recursively */
		sum = fibonacci(6);
		break;
	case 'T': /* without it */
		for (int i = 0; i < 2; i++) {
#pragma omp task firstprivate(i)
			bad = i;
		}
		break;
	case 'g': /* a taskgroup waits for all that comes of it */
#pragma omp taskgroup
		for (int i = 0; i < 3; i++) {
#pragma omp task firstprivate(i)
			{
#pragma omp task firstprivate(i)
				a[i] = i + 1;
			}
		}
		sum = a[0] + a[1] + a[2];
		break;
	case 'G': /* taskwait waits for children alone */
#pragma omp task
	{
#pragma omp task
		bad = 1;
	}
#pragma omp taskwait
		bad = 2;
		break;
	case 'p': /* depend */
	case 'P':
#pragma omp task depend(out : turn)
		turn = 1;
#pragma omp task depend(in : turn)
		a[0] = turn;
#pragma omp task depend(in : turn)
	{
		a[1] = turn;
		if (c == 'P')
			bad = 1;
	}
#pragma omp task depend(in : turn)
		if (c == 'P')
			bad = 2;
#pragma omp task depend(inout : turn)
		turn += a[0] + a[1];
#pragma omp taskwait
		sum = turn;
		break;
	case 'k': /* taskloop */
	case 'K':
#pragma omp taskloop num_tasks(4)
		for (int i = 0; i < N; i++) {
			a[i] = i;
			if (c == 'K')
				bad = i;
		}
		for (int i = 0; i < N; i++)
			sum += a[i];
		break;
	}
}

int main(int argc, char **argv)
{
	for (const char *c = argv[1]; *c; c++) {
		sum = 0;
		if (strchr("fFdDroOx", *c))
			loops(*c);
		else if (strchr("bBcCsSmlLn", *c))
			regions(*c);
		else
			tasks(*c);
		printf("%c %d\n", *c, sum);
	}
	return 0;
}
