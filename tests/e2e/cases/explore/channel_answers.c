/* Requests and answers over a pair of sockets; wrong: two clients share it, and get each other's answers. */
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
static int s[2];
static void *serve(void *none)
{
	for (int n; recv(s[1], &n, sizeof n, 0) == sizeof n;) {
		n *= 2;
		send(s[1], &n, sizeof n, 0);
	}
	return none;
}
static void *ask(void *of)
{
	int n = (int)(long)of, twice = 0;
	send(s[0], &n, sizeof n, 0);
	recv(s[0], &twice, sizeof twice, 0);
	assert(twice == 2 * n);
	return of;
}
int main(int argc, char **argv)
{
	pthread_t server, t[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pthread_create(&server, NULL, serve, NULL);
	for (long i = 0; i < argc; i++)
		pthread_create(&t[i], NULL, ask, (void *)(i + 1));
	for (int i = 0; i < argc; i++)
		pthread_join(t[i], NULL);
	shutdown(s[0], SHUT_WR);
	pthread_join(server, NULL);
	return 0;
}

//: explore
//= exit 0
//= states 1
//= complete yes
//: explore @ wrong
//= exit 1
//= errors signal@channel_answers.c:19
//= complete yes
