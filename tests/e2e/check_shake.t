#!/bin/bash
# heddle check where an exploration cannot order all operations: hundreds of schedules by chance find what a few recordings
# do not, and the run that fails is recorded and analysed like any other.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
# In which order messages come through the queue is not explored.
cat >messages.c <<'C'
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mqd_t queue;
static void *work(void *name)
{
	return mq_send(queue, name, 1, 0) == 0 ? name : NULL;
}
int main(void)
{
	enum { COUNT = 5 };
	static char names[] = "abcde";
	pthread_t threads[COUNT];
	char order[COUNT + 1] = "";
	char own[40];
	struct mq_attr size = { .mq_maxmsg = COUNT, .mq_msgsize = 1 };
	snprintf(own, sizeof own, "/heddle%d", (int)getpid());
	queue = mq_open(own, O_CREAT | O_RDWR, 0600, &size);
	mq_unlink(own);
	if (queue < 0)
		return 1;
	for (int i = 0; i < COUNT; i++)
		pthread_create(&threads[i], 0, work, &names[i]);
	for (int i = 0; i < COUNT; i++)
		pthread_join(threads[i], 0);
	for (int i = 0; i < COUNT; i++)
		if (mq_receive(queue, &order[i], 1, NULL) != 1)
			return 1;
	pthread_mutex_lock(&lock);
	if (order[0] == 'd' && order[1] == 'b' && order[2] == 'e')
		pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return 0;
}
C
"$HEDDLE" cc -g -O1 messages.c -o messages -pthread
run "$HEDDLE" check --budget 600 --format json -- ./messages
is "$(json 'join " ", map { $_->{kind} } grep { $_->{happened} } @{$d->{findings}}')" "deadlock lock-misuse" \
	"a thread locks twice in one order of the others' messages"
like "$(json 'join " ", @{$d->{coverage}}')" "schedules? w(as|ere) run by chance" "and the report says that it came by chance"
again=$(json '(grep { $_->{kind} eq "deadlock" } @{$d->{findings}})[0]->{again}')
like "$again" "^heddle record --strategy .* -- ./messages$" "with the command that records it again"
again="$HEDDLE ${again#heddle } "
run ${again/record/record -q -o again.hdl}
run "$HEDDLE" deadlocks again.hdl
like "$out" "held by main" "which records the deadlock"

# Nothing of that where every schedule is explored.
cat >fine.c <<'C'
#include <pthread.h>
static void *nothing(void *unused) { return unused; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, nothing, 0);
	pthread_join(thread, 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 fine.c -o fine -pthread
run "$HEDDLE" check -- ./fine
unlike "$out" "by chance" "a program that is explored needs no chance"
done_testing
