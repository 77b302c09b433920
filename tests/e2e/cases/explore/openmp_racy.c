/* A sum without `reduction`: an update may be lost. */
int main(void)
{
	int s = 0;
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 2; i++)
		s += i + 1;
	return s;
}

//: build -fopenmp
//: explore
//= complete yes
//= statuses 1 2 3 3
//~ racy openmp_racy.c:7.openmp_racy.c:7
