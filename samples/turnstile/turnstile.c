/*
 * turnstile: a server that counts visitors, and now and then one too few.
 *
 *     turnstile SOCKET     whoever connects says in one byte how many they are
 *     turnstile            five groups come by themselves
 *
 * The guard accepts the groups and sends each to a gate, a thread that asks how many they are
 * and adds that to the count.  All stay until closing time.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { GROUPS = 5, GATES = 2 };

static int visitors;

/* From the guard to the gates, in turn. */
static int queue[GROUPS + GATES], sent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;

static void send_to_gate(int group)
{
	pthread_mutex_lock(&lock);
	queue[sent++] = group;
	pthread_cond_broadcast(&came);
	pthread_mutex_unlock(&lock);
}

static int next_group(int place)
{
	pthread_mutex_lock(&lock);
	while (place >= sent)
		pthread_cond_wait(&came, &lock);
	int group = queue[place];
	pthread_mutex_unlock(&lock);
	return group;
}

static void *gate(void *first)
{
	int group;
	for (int place = *(int *)first; (group = next_group(place)) >= 0; place += GATES) {
		unsigned char people = 0;
		if (read(group, &people, 1) == 1)
			visitors += people;
	}
	return NULL;
}

/* Groups from the street. */
static int guard(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct epoll_event event = { .events = EPOLLIN };
	int door = socket(AF_UNIX, SOCK_STREAM, 0), watch = epoll_create1(0);
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (bind(door, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(door, GROUPS) != 0 || epoll_ctl(watch, EPOLL_CTL_ADD, door, &event) != 0) {
		perror(path);
		return 1;
	}
	for (int i = 0; i < GROUPS; i++) {
		epoll_wait(watch, &event, 1, -1);
		send_to_gate(accept(door, NULL, NULL));
	}
	close(door);
	return 0;
}

/* Groups out of nowhere. */
static int rehearsal(void)
{
	for (int i = 0; i < GROUPS; i++) {
		unsigned char people = 1 + i % 3;
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
		    write(ends[1], &people, 1) != 1)
			return 1;
		close(ends[1]);
		send_to_gate(ends[0]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static int first[GATES] = { 0, 1 };
	pthread_t gates[GATES];
	for (int i = 0; i < GATES; i++)
		pthread_create(&gates[i], NULL, gate, &first[i]);
	int status = argc > 1 ? guard(argv[1]) : rehearsal();
	for (int i = 0; i < GATES; i++)
		send_to_gate(-1);
	for (int i = 0; i < GATES; i++)
		pthread_join(gates[i], NULL);
	printf("%d visitors\n", visitors);
	return status;
}
