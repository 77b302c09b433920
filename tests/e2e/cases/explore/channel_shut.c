/* A thread that waits for requests is ended by a shutdown; wrong: a request may come after it. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
static int s[2];
static void *serve(void *none)
{
	char c;
	long got = 0;
	while (read(s[1], &c, 1) == 1)
		got++;
	return (void *)got;
}
static void *request(void *none)
{
	send(s[0], "x", 1, MSG_NOSIGNAL);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t server, client;
	void *got;
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pthread_create(&server, NULL, serve, NULL);
	pthread_create(&client, NULL, request, NULL);
	if (argc == 1)
		pthread_join(client, NULL);
	shutdown(s[1], SHUT_RDWR);
	if (argc > 1)
		pthread_join(client, NULL);
	pthread_join(server, &got);
	assert((long)got == 1);
	return 0;
}

//: explore
//= exit 0
//= states 1
//= complete yes
//: explore @ wrong
//= exit 1
//= errors signal@channel_shut.c:34
//= states 2
//= complete yes
