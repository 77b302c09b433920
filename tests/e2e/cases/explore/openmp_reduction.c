/* The same with `reduction`: nothing but the sum. */
int main(void)
{
	int s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(2)
	for (int i = 0; i < 2; i++)
		s += i + 1;
	return s != 3;
}

//: build -fopenmp
//: explore
//= exit 0
//= complete yes
//= errors
