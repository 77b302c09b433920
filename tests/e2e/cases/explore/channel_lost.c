/* A wake-up by a pipe that is written to only for a thread that sleeps; wrong: it says so after it has looked. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static int wake_fd[2], wrong;
static atomic_int sleeping, items;
static void *consumer(void *none)
{
	for (;;) {
		char c;
		if (!wrong)
			sleeping = 1;
		if (items)
			return none;
		sleeping = 1;
		read(wake_fd[0], &c, 1);
	}
}
int main(int argc, char **argv)
{
	pthread_t t;
	wrong = argc > 1;
	pipe(wake_fd);
	pthread_create(&t, NULL, consumer, NULL);
	items++;
	if (sleeping)
		write(wake_fd[1], "x", 1);
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 0
//= complete yes
//: explore @ wrong
//= exit 1
//= errors blocked@channel_lost.c:16
//= complete yes
//: explore @ wrong
//~ out T1 waits for channel wake_fd@pipe \(channel_lost.c:16\)
//- out point of no return
