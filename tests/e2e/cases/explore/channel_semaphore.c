/* An eventfd as a semaphore of one; wrong: of two. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
static int fd;
static atomic_int inside;
static void *work(void *none)
{
	eventfd_t n;
	eventfd_read(fd, &n);
	assert(inside++ == 0);
	inside--;
	eventfd_write(fd, 1);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	fd = eventfd(argc, EFD_SEMAPHORE);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}

//: explore
//= exit 0
//= states 1
//= complete yes
//: explore @ wrong
//= exit 1
//= errors signal@channel_semaphore.c:12
//= complete yes
