/* waits.c - calls that wait, and threads that come, by way of the C library; `waits NAME`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

static int shared, set, queue, ends[2];
static mqd_t mailbox;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void expired(union sigval v)
{
	shared++;
	pthread_mutex_lock(&m);
	set = v.sival_int;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
}
static void timer(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD,
		              .sigev_notify_function = expired,
		              .sigev_value.sival_int = 7 };
	struct itimerspec when = { .it_value.tv_nsec = 1000000 };
	timer_t t;
	shared++;
	timer_create(CLOCK_MONOTONIC, &e, &t);
	timer_settime(t, 0, &when, 0);
	pthread_mutex_lock(&m);
	while (set != 7)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	shared++;
	timer_delete(t);
}

static void beside(void *(*start)(void *), void (*here)(void))
{
	pthread_t t;
	pthread_create(&t, 0, start, 0);
	here();
	pthread_join(t, 0);
}

static void *posts(void *p)
{
	shared = 1;
	mq_send(mailbox, "hello", 6, 0);
	return p;
}
static void takes(void)
{
	char text[16];
	mq_receive(mailbox, text, sizeof(text), 0);
	shared += text[0] == 'h';
}
static void posix_queue(void)
{
	struct mq_attr a = { .mq_maxmsg = 2, .mq_msgsize = 16 };
	char name[32];
	snprintf(name, sizeof(name), "/heddle%d", getpid());
	mailbox = mq_open(name, O_CREAT | O_RDWR, 0600, &a);
	mq_unlink(name);
	beside(posts, takes);
}

struct message {
	long type;
	char text[8];
};
static void *sends(void *p)
{
	struct message message = { 1, "hi" };
	shared = 1;
	msgsnd(queue, &message, 8, 0);
	return p;
}
static void gets(void)
{
	struct message message;
	msgrcv(queue, &message, 8, 0, 0);
	shared += message.text[0] == 'h';
}
static void old_queue(void)
{
	queue = msgget(IPC_PRIVATE, 0600);
	beside(sends, gets);
	msgctl(queue, IPC_RMID, 0);
}

static void *ups(void *p)
{
	struct sembuf up = { 0, 1, 0 };
	shared = 1;
	semop(queue, &up, 1);
	return p;
}
static void downs(void)
{
	struct sembuf down = { 0, -1, 0 };
	semop(queue, &down, 1);
	shared++;
}
static void old_semaphore(void)
{
	queue = semget(IPC_PRIVATE, 1, 0600);
	beside(ups, downs);
	semctl(queue, 0, IPC_RMID);
}

static void *reads_line(void *p)
{
	char line[32];
	FILE *f = fdopen(ends[0], "r");
	shared += fgets(line, sizeof(line), f) != 0 && strcmp(line, "line\n") == 0;
	fclose(f);
	return p;
}
static void writes_line(void)
{
	usleep(1000);
	if (write(ends[1], "line\n", 5) == 5)
		close(ends[1]);
}
static void stream(void)
{
	shared = pipe(ends) + 1;
	beside(reads_line, writes_line);
}

static void *tells(void *p)
{
	shared = 1;
	eventfd_write(queue, 1);
	return p;
}
static void hears(void)
{
	eventfd_t value;
	eventfd_read(queue, &value);
	shared += (int)value;
}
static void event(void)
{
	queue = eventfd(0, 0);
	beside(tells, hears);
}

static void *locks(void *p)
{
	for (int i = 0; i < 20; i++) {
		flockfile(stdout);
		sched_yield();
		funlockfile(stdout);
		fputs("", stdout);
	}
	return p;
}
static void here_too(void)
{
	locks(0);
	shared = 2;
}
static void locked(void)
{
	beside(locks, here_too);
}

/* A read that no library sees, while the only other thread sleeps. */
static void *reads_unseen(void *p)
{
	char byte;
	long result;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(0l), "D"((long)ends[0]), "S"(&byte), "d"(1l)
	                 : "rcx", "r11", "memory");
	shared += result == 1;
	return strrchr("a/b", '/') ? p : 0;
}
static void unseen(void)
{
	shared = pipe(ends) + 1;
	beside(reads_unseen, writes_line);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} all[] = { { "timer", timer },     { "posix-queue", posix_queue },
		    { "queue", old_queue }, { "semaphore", old_semaphore },
		    { "event", event },       { "stream", stream },   { "locked", locked },
		    { "unseen", unseen } };
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (count > 1 && strcmp(arguments[1], all[i].name) == 0)
			all[i].call();
	printf("%d\n", shared);
	return 0;
}
