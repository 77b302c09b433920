/* Three workers take four jobs from a pipe: each job goes to any of them. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int jobs[2], done;
static atomic_int sum;
static void *work(void *none)
{
	for (int n; read(jobs[0], &n, sizeof n) == sizeof n;) {
		atomic_fetch_add(&sum, n);
		eventfd_write(done, 1);
	}
	return none;
}
int main(void)
{
	pthread_t t[3];
	pipe(jobs);
	done = eventfd(0, EFD_SEMAPHORE);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 1; i <= 4; i++)
		write(jobs[1], &i, sizeof i);
	for (int i = 0; i < 4; i++) {
		eventfd_t n;
		eventfd_read(done, &n);
	}
	assert(sum == 10);
	close(jobs[1]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}

//: explore
//= exit 0
//= executions 81
//= states 81
//= complete yes
