/* Threads of OpenMP's pool wait in the library for further work: they are at their end. Three add 1 in either order, and then
 * two of the same threads 2. */
#include <assert.h>
int main(void)
{
	int x = 0;
#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		x++;
	}
#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		x += 2;
	}
	assert(x == 7);
	return 0;
}

//: build -fopenmp
//: explore
//= exit 0
//= complete yes
//= states 12
