/* Which thread runs a task is explored in part, and named: where the first run goes otherwise, others are found. */
#include <omp.h>
static int creator, ran[2];
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
	{
		creator = omp_get_thread_num();
		for (int i = 0; i < 2; i++)
#pragma omp task firstprivate(i)
			ran[i] = omp_get_thread_num();
	}
	return creator * 4 + ran[0] * 2 + ran[1];
}

//: build -fopenmp
//: explore --seed {0,1}
//= complete no
//~ said which thread of a team runs a task of OpenMP: what comes of it may depend on the order
//- said did not follow its schedule
