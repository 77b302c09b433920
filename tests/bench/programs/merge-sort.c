/* merge-sort.c - a parallel merge sort without a race: four threads, COUNT numbers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
	int *numbers, *room, count, splits;
};

static void merge(int *a, int *room, int count, int middle)
{
	int i = 0, j = middle, k = 0;
	while (i < middle && j < count)
		room[k++] = a[i] <= a[j] ? a[i++] : a[j++];
	while (i < middle)
		room[k++] = a[i++];
	while (j < count)
		room[k++] = a[j++];
	for (i = 0; i < count; i++)
		a[i] = room[i];
}

static void sort(int *a, int *room, int count)
{
	if (count < 2)
		return;
	int middle = count / 2;
	sort(a, room, middle);
	sort(a + middle, room + middle, count - middle);
	merge(a, room, count, middle);
}

static void *run(void *argument)
{
	struct job *job = argument;
	if (job->splits == 0) {
		sort(job->numbers, job->room, job->count);
		return NULL;
	}
	int middle = job->count / 2;
	struct job left = { job->numbers, job->room, middle, job->splits - 1 };
	struct job right = { job->numbers + middle, job->room + middle, job->count - middle,
		             job->splits - 1 };
	pthread_t other;
	pthread_create(&other, NULL, run, &left);
	run(&right);
	pthread_join(other, NULL);
	merge(job->numbers, job->room, job->count, middle);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 250000;
	int *numbers = malloc(count * sizeof *numbers), *room = malloc(count * sizeof *room);
	unsigned seed = 1;
	for (int i = 0; i < count; i++)
		numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 8);
	struct job all = { numbers, room, count, 2 };
	run(&all);
	for (int i = 1; i < count; i++)
		if (numbers[i - 1] > numbers[i])
			return 1;
	printf("sorted\n");
	return 0;
}
