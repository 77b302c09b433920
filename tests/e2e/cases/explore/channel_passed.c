/* What is not modelled is named: a look at bytes that stay, a descriptor in a message, several processes. */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static int s[2], p[2], how;
static void *put(void *none)
{
	send(s[1], "x", 1, 0);
	write(p[1], "y", 1);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t;
	char c, room[CMSG_SPACE(sizeof(int))];
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	pipe(p);
	how = argc > 1 ? argv[1][0] : 0;
	if (how == 'f' && fork() == 0)
		_exit(0);
	pthread_create(&t, NULL, put, NULL);
	if (how == 'p')
		recv(s[0], &c, 1, MSG_PEEK);
	if (how == 'm') {
		struct iovec v = { &c, 1 };
		struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
		memset(room, 0, sizeof room);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &p[0], sizeof(int));
		sendmsg(s[0], &m, 0);
	}
	recv(s[0], &c, 1, 0);
	read(p[0], &c, 1);
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 0
//= complete yes
//: explore @ peek
//= complete no
//~ said looking at the bytes of a socket \(MSG_PEEK\): what comes of it may depend on the order
//: explore @ message
//= complete no
//~ said a descriptor that is sent in a message: what comes of it may depend on the order
//: explore @ fork
//= complete no
//~ said several processes
