// OpenMP's tasks: one that is done at once waits for those that it depends on, also where another thread
// runs them; the memory that holds a task's arguments is nobody's when the task has ended.
#include <cstdio>
#include <cstring>

static int a[40];
static void fill(int &i)
{
#pragma omp task
	a[i] = i + 1;
}
static void arguments()
{
	int bad = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
	for (int i = 0; i < 40; i++)
		fill(i);
	for (int i = 0; i < 40; i++)
		bad += a[i] != i + 1;
	std::printf("bad %d\n", bad);
}

static void chain(bool waits)
{
	int x = 0, y = 2, seen = -1;
#pragma omp task depend(inout : x) shared(x)
	x++;
#pragma omp task depend(in : x) depend(inout : y) shared(x, y)
	y = y - x;
	if (waits) {
#pragma omp taskwait depend(in : x)
	} else {
#pragma omp task depend(in : x) if (0)
		{
		}
	}
	seen = x;
#pragma omp taskwait
	std::printf("x %d y %d\n", seen, y);
}

int main(int argc, char **argv)
{
	if (argc > 1 && std::strcmp(argv[1], "arguments") == 0) {
		arguments();
		return 0;
	}
#pragma omp parallel num_threads(4)
#pragma omp single
	chain(argc > 1 && std::strcmp(argv[1], "waits") == 0);
	return 0;
}

//: build -fopenmp
//: record -q --seed {1,2,3,4,5,6} -o t.hdl @ at-once
//= exit 0
//~ out ^x 1 y 1$
//: races t.hdl
//= findings 0
//: record -q --seed {1,2,3,4,5,6} -o t.hdl @ waits
//~ out ^x 1 y 1$
//: races t.hdl
//= findings 0
//: record -q --mode free -o t.hdl @ {at-once,waits}
//~ out ^x 1 y 1$
//: record -q --seed {1,2,3} -o t.hdl @ arguments
//~ out ^bad 0$
//: races t.hdl
//= findings 0
