#!/bin/bash
# Replay of programs that somebody talked to while they were recorded: what came from outside is
# in the recording, and nobody need come again.
. tests/e2e/lib.sh
export TMPDIR=$scratch
cd "$scratch" || exit 1

# pair TRACE: the events of the first race
pair() {
	run $HEDDLE races "$1" --format json
	json 'join " ", map { "$_->{first} $_->{second}" } $d->{findings}[0] // ()'
}

# ---- a server behind a socket: the sample ----

$HEDDLE cc -O1 "$root/samples/turnstile/turnstile.c" -o turnstile -pthread
cat >visit.pl <<'P'
use IO::Socket::UNIX;
for my $n (1, 2, 3, 1, 2) {
	my $s;
	for (1 .. 15000) { # however late the server is
		last if $s = IO::Socket::UNIX->new(Peer => $ARGV[0]);
		select undef, undef, undef, 0.02;
	}
	syswrite $s, chr $n;
	push @all, $s;
}
sysread $_, my $end, 1 for @all;
P
perl visit.pl door &
run $HEDDLE record -q -o door.hdl -- ./turnstile door
# the program's own race may lose some, by when the visitors come
like "$out" "^[1-9] visitors$" "recorded with visitors"
counted=$out
rm -f door
wait
run $HEDDLE info door.hdl
like "$out" "recording-inputs  *[0-9]* calls, [0-9]* bytes" "info says how much came from outside"
read -r first second <<<"$(pair door.hdl)"
run $HEDDLE witness door.hdl $first $second -o door.wit
is "$status" 1 "a race of the gates"
run $HEDDLE replay --witness door.wit -- ./turnstile door </dev/null
is "$status" 0 "its witness is followed, and nobody comes to the door"
like "$err" "stopped before the pair" "to the pair"
like "$err" "write visitors: " "at the count"
unlike "$err" "left the witness" "both ways"
is "$(printf '%s\n' "$out" | grep -c visitors)" 2 "and on to the end of the program"
like "$out" "^[1-8] visitors" "where one way has lost some"
ok $([ ! -e door ]; echo $?) "the door itself was not there"
last=$(($($HEDDLE info -q door.hdl | awk '$1 == "events" { print $2 }') - 1))
run $HEDDLE replay --trace door.hdl --until $last -- ./turnstile door </dev/null
is "$status" 0 "the recorded order, to its last event"
is "$out" "$counted" "counts what was counted then"

# left out on demand
perl visit.pl door &
run $HEDDLE record -q --no-inputs -o none.hdl -- ./turnstile door
rm -f door
wait
run $HEDDLE info none.hdl
unlike "$out" "recording-input" "--no-inputs keeps none"

# ---- another program asks for something else ----

cat >ask.c <<'C'
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
static int sum;
static void *add(void *p) { sum += *(int *)p; return NULL; }
int main(void)
{
	char text[64];
	int n, two = 2;
	pthread_t t;
	struct pollfd in = { .fd = 0, .events = POLLIN };
	pthread_create(&t, NULL, add, &two);
	while (poll(&in, 1, 120000) == 1 && (n = read(0, text, SIZE)) > 0)
		for (int i = 0; i < n; i++)
			sum += text[i] == 'x';
	pthread_join(t, NULL);
	printf("%d\n", sum);
	return 0;
}
C
sed 's/SIZE/8/' ask.c >small.c
sed 's/SIZE/64/' ask.c >large.c
$HEDDLE cc -O1 large.c -o large -pthread
cp large program
(printf 'xxxxxxxxxx' && sleep 0.2 && printf 'xx') | $HEDDLE record -q -o ask.hdl -- ./program >out
is "$(cat out)" 14 "a pipe on standard input is polled and read"
read -r first second <<<"$(pair ask.hdl)"
$HEDDLE witness ask.hdl $first $second -o ask.wit >/dev/null
run $HEDDLE replay --witness ask.wit -- ./program </dev/null
is "$status" 0 "replay does not read it"
like "$err" "stopped before the pair" "and comes to the race"
last=$(($($HEDDLE info -q ask.hdl | awk '$1 == "events" { print $2 }') - 1))
run $HEDDLE replay --trace ask.hdl --until $last -- ./program </dev/null
is "$out" 14 "with what was read then"
$HEDDLE cc -O1 small.c -o program -pthread
run $HEDDLE replay --trace ask.hdl --until $last -- ./program </dev/null
is "$status" 125 "a program that reads less at a time"
like "$err" "main asked for read of descriptor 0 for 8 bytes, where the recording has 1[02]" \
	"leaves the recording there"

# ---- a signal ends the server; a pipe between its threads stays a real one ----

cat >serve.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
static volatile sig_atomic_t stop;
static int jobs[2], total, told;
static void on_term(int n) { stop = n; }
static void *worker(void *p)
{
	char c;
	while (read(jobs[0], &c, 1) == 1 && c != 'q')
		total++;
	told = total;
	return p;
}
int main(void)
{
	pthread_t t;
	struct epoll_event e = { .events = EPOLLIN };
	int set = epoll_create1(0);
	char c;
	if (pipe(jobs) != 0)
		return 1;
	signal(SIGTERM, on_term);
	pthread_create(&t, NULL, worker, NULL);
	epoll_ctl(set, EPOLL_CTL_ADD, 0, &e);
	while (!stop) {
		if (epoll_wait(set, &e, 1, 100) == 1 && read(0, &c, 1) == 1) {
			total += 10;
			if (write(2, &c, 1) != 1)
				return 1;
			if (write(jobs[1], &c, 1) != 1)
				return 1;
		}
	}
	c = 'q';
	if (write(jobs[1], &c, 1) != 1)
		return 1;
	pthread_join(t, NULL);
	printf("%d\n", told);
	return 3;
}
C
$HEDDLE cc -O1 serve.c -o serve -pthread
mkfifo in
$HEDDLE record -q -o serve.hdl -- ./serve <in >serve.out 2>serve.err &
recorder=$!
exec 8>in
printf abc >&8
await grep -q abc serve.err # until it has read them
kill -TERM $recorder
wait $recorder
is $? 3 "a server that SIGTERM ends"
exec 8>&-
like "$(cat serve.out)" "^[0-9]+$" "and its sum, of which the race may lose some"
read -r first second <<<"$(pair serve.hdl)"
$HEDDLE witness serve.hdl $first $second -o serve.wit >/dev/null
run $HEDDLE replay --witness serve.wit -- ./serve </dev/null
is "$status" 3 "its replay ends as well: the signal is in the recording"
like "$err" "stopped before the pair" "after the race"

# ---- input is used up, and the thread that waits for more looks once a second whether it is to end ----

cat >clock.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t stop;
static atomic_int over;
static int ready;
static void end(int number) { stop = number; }
static void *maintains(void *p)
{
	ready = 1;
	while (!over)
		usleep(1000);
	return p;
}
/* A look at the descriptor, which no signal cuts short. */
static int served(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	char c;
	int n;
	while ((n = poll(&in, 1, 1000)) < 0)
		;
	return n > 0 && read(0, &c, 1) == 1;
}
int main(void)
{
	pthread_t t;
	signal(SIGTERM, end);
	pthread_create(&t, 0, maintains, 0);
	usleep(1000);
	int late = !ready; /* races: then one look more than in the recording */
	while (!stop)
		served();
	if (late)
		served();
	over = 1;
	pthread_join(t, 0);
	puts("ended");
	return 0;
}
C
$HEDDLE cc -g -O1 clock.c -o clock -pthread
mkfifo feed
$HEDDLE record -q --seed 1 -o clock.hdl -- ./clock <feed >clock.out &
recorded=$!
exec 7>feed
# each when the one before it has been read: then the handler is there as well
taken() { perl -e 'for (1 .. 3000) { ioctl STDOUT, 0x541b, $n = pack "i", 0 or die; exit if !unpack "i", $n; select undef, undef, undef, 0.02 }' >&7; }
for c in a b c; do
	printf $c >&7
	taken
	sleep 0.3
done
kill -TERM $recorded
wait $recorded
exec 7>&-
is "$(cat clock.out)" ended "recorded, with a signal at the end"
read -r first second <<<"$(pair clock.hdl)"
run $HEDDLE witness clock.hdl $first $second -o clock.wit
run $HEDDLE replay --witness clock.wit -- ./clock </dev/null
unlike "$err" "more input" "a wait with a time limit ends by itself"
is "$(grep -c 'ends with exit status 0' <<<"$err")" 2 "so that the program ends, in both orders"
done_testing
