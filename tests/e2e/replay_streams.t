#!/bin/bash
# Replay of programs that read from outside through the C library's streams, and from FIFOs that
# files of procfs that they open by name: what they read is in the recording.
. tests/e2e/lib.sh
export TMPDIR=$scratch
cd "$scratch" || exit 1

last() { echo $(($($HEDDLE info -q "$1" | awk '$1 == "events" { print $2 }') - 1)); }
# again TRACE COMMAND...: follows the recording to its end, with nothing on standard input
again() {
	local trace=$1
	shift
	run $HEDDLE replay --trace "$trace" --until "$(last "$trace")" -- "$@" </dev/null
}
# follow TRACE COMMAND...: the first race of it, on the program
follow() {
	local trace=$1 first second
	shift
	run $HEDDLE races "$trace" --format json
	read -r first second < <(json 'join " ", map { "$_->{first} $_->{second}" } $d->{findings}[0] // ()')
	rm -f a.wit
	run $HEDDLE witness "$trace" $first $second -o a.wit
	run $HEDDLE replay --trace "$trace" --witness a.wit -- "$@" </dev/null
}

# ---- standard input ----

cat >lines.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <pthread.h>
#include <string>
static long sum;
static void *add(void *p) { sum += *(long *)p; return NULL; }
int main(int, char **argv)
{
	long n = 0, own = 7;
	char *line = NULL, word[100] = "";
	size_t room = 0;
	std::string text;
	pthread_t t;
	pthread_create(&t, NULL, add, &own);
	switch (argv[1][0]) {
	case 'c': for (int c; (c = getchar()) != EOF;) n += c == 'x'; break;
	case 'l': while (getline(&line, &room, stdin) > 0) n += strlen(line); break;
	case 's': while (scanf("%99s", word) == 1) n += strlen(word); break;
	case 'r': { static char all[60000]; n = fread(all, 1, sizeof(all), stdin); break; }
	case 'u': setvbuf(stdin, NULL, _IONBF, 0); while (fgetc(stdin) != EOF) n++; break;
	case 'i': while (std::cin >> text) n += text.size(); break;
	case 'f': std::ios::sync_with_stdio(false); while (std::getline(std::cin, text)) n += text.size(); break;
	}
	sum += n;
	pthread_join(t, NULL);
	printf("%ld\n", sum);
	free(line);
	return 0;
}
C
$HEDDLE c++ -g -O1 lines.cc -o lines -pthread
perl -e 'print "xx yyy\n" x 2000' >text
for how in c:4007 l:14007 s:10007 r:14007 u:14007 i:10007 f:12007; do
	cat text | $HEDDLE record -q -o lines.hdl -- ./lines ${how%:*} >out
	is "$(cat out)" ${how#*:} "standard input by ${how%:*}"
	again lines.hdl ./lines ${how%:*}
	is "$status $out" "0 ${how#*:}" "is given again"
	unlike "$err" "left the witness" "all of it"
done
follow lines.hdl ./lines f
is "$status" 0 "and the race of that program happens without it"
like "$err" "stopped before the pair" "both ways"

# Somebody else runs while one waits for input, and nothing had to be taken by force.
(sleep 0.7; echo xxx) | $HEDDLE record -o wait.hdl -- ./lines c 2>err >out
is "$(cat out)" 10 "a thread that waits for a line"
unlike "$(cat err)" "may not" "is known to wait"
$HEDDLE record -q -o file.hdl -- ./lines c <text >out
is "$(cat out)" 4007 "a file on standard input"
unlike "$($HEDDLE info -q file.hdl)" "recording-input" "is not kept"
$HEDDLE replay --trace file.hdl --until "$(last file.hdl)" -- ./lines c <text >out 2>err
is "$(cat out)" 4007 "and read again"

# ---- FIFOs by name ----

cat >fifo.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static long sum;
static void *add(void *p) { sum += *(long *)p; return NULL; }
static void *say(void *path)
{
	int fd = open(path, O_WRONLY);
	sum += write(fd, "hello", 5);
	close(fd);
	return NULL;
}
int main(int argc, char **argv)
{
	char text[100];
	long own = 7, n = 0;
	pthread_t t;
	pthread_create(&t, NULL, argv[1][0] == 'b' ? say : add, argv[1][0] == 'b' ? (void *)argv[2] : &own);
	if (argv[1][0] == 's') {
		FILE *f = fopen(argv[2], "r");
		while (fgets(text, sizeof(text), f)) n += strlen(text);
		fclose(f);
	} else {
		int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
		for (ssize_t k; (k = read(fd, text, sizeof(text))) > 0;) n += k;
		close(fd);
	}
	sum += n;
	pthread_join(t, NULL);
	printf("%ld\n", sum);
	return argc == 0;
}
C
$HEDDLE cc -g -O1 fifo.c -o fifo -pthread
for how in read stream; do
	mkfifo door
	cat text >door &
	run timeout 300 $HEDDLE record -o fifo.hdl -- ./fifo $how door
	is "$out" 14007 "a FIFO by name, $how"
	unlike "$err" "may not" "is known to wait for its other end"
	rm door
	wait
	again fifo.hdl ./fifo $how door
	is "$status $out" "0 14007" "is given again, and need not be there"
	follow fifo.hdl ./fifo $how door
	is "$status" 0 "$how: the race of that program happens"
	like "$err" "stopped before the pair" "both ways"
done
mkfifo door
run timeout 300 $HEDDLE record -o both.hdl -- ./fifo both door
is "$out" 10 "a FIFO between two threads"
unlike "$($HEDDLE info -q both.hdl)" "recording-inputs  *[0-9]* calls, [1-9]" "is nothing from outside"
run $HEDDLE replay --trace both.hdl --until "$(last both.hdl)" -- ./fifo both door </dev/null
is "$status $out" "0 10" "and stays a real one"

# ---- a handler ends a wait that has no limit ----

cat >wait.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>
static volatile sig_atomic_t stop;
static long sum;
static void on_term(int n) { stop = n; }
static void *add(void *p) { sum += 7; return p; }
int main(int argc, char **argv)
{
	pthread_t t;
	int n = 0;
	struct pollfd in = { .fd = 0, .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN };
	int set = epoll_create1(0);
	epoll_ctl(set, EPOLL_CTL_ADD, 0, &e);
	signal(SIGTERM, on_term);
	close(creat("ready", 0600));
	pthread_create(&t, NULL, add, NULL);
	while (!stop) {
		fd_set r;
		FD_ZERO(&r);
		FD_SET(0, &r);
		int k = argv[1][0] == 'p' ? poll(&in, 1, -1) : argv[1][0] == 'e' ? epoll_wait(set, &e, 1, -1) : select(1, &r, NULL, NULL, NULL);
		if (k < 0) n += errno == EINTR;
	}
	sum += n;
	pthread_join(t, NULL);
	close(creat("handled", 0600));
	while (read(0, &n, 1) < 0) continue;
	printf("%d %d\n", sum > 7, (int)stop);
	return 3;
}
C
$HEDDLE cc -O1 wait.c -o wait -pthread
mkfifo silent
handled_or_ended() { # it may not yet wait when the first signal comes
	[ -e handled ] || ! kill -TERM $recorder 2>/dev/null || ! sleep 0.1
}
for how in poll epoll select; do
	rm -f ready handled
	$HEDDLE record -q -o wait.hdl -- ./wait $how <silent >out &
	recorder=$!
	exec 8>silent
	await [ -e ready ]
	await handled_or_ended
	exec 8>&- # which it waits for: no signal comes when it has ended
	wait $recorder
	is "$? $(cat out)" "3 1 15" "$how without a limit ends when a handler has run"
	again wait.hdl ./wait $how
	is "$status $out" "3 1 15" "and does so on replay"
done

# ---- files that the kernel makes up ----

# /proc/self/stat begins with the process's number, which is another one in each run
cat >kernel.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <pthread.h>
#include <string>
#include <unistd.h>
static long sum;
static void *add(void *p) { sum += *(long *)p; return NULL; }
int main(int, char **argv)
{
	char text[100] = "";
	std::string word;
	long own = 7;
	pthread_t t;
	pthread_create(&t, NULL, add, &own);
	int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);
	int fd = argv[1][0] == 'a' ? openat(folder, "stat", O_RDONLY) : open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	switch (argv[1][0]) {
	case 'a':
	case 'r': if (read(fd, text, 50) < 0) return 1; break;
	case 'p': if (pread(fd, text, 50, 0) < 0) return 1; break;
	case 'l': if (read(fd, text, 50) < 0 || lseek(fd, 0, SEEK_SET) != 0 || read(fd, text, 60) != 60) return 1; break;
	case 's': {
		FILE *f = fopen("/proc/self/stat", "r");
		if (!fgets(text, sizeof(text), f)) return 1;
		rewind(f);
		if (fscanf(f, "%99s", text) != 1) return 1;
		fclose(f);
		break;
	}
	case 'i': {
		std::ifstream in("/proc/self/stat");
		in >> word;
		snprintf(text, sizeof(text), "%s", word.c_str());
		break;
	}
	}
	sum += atol(text);
	pthread_join(t, NULL);
	printf("%ld %d\n", sum - 7, atoi(text) == getpid());
	return 0;
}
C
$HEDDLE c++ -g -O1 kernel.cc -o kernel -pthread
for how in read:r openat:a pread:p seek:l stream:s ifstream:i; do
	$HEDDLE record -q -o kernel.hdl -- ./kernel ${how#*:} >out
	like "$(cat out)" "^[0-9]+ 1$" "a file of procfs by ${how%:*} has the process's number"
	again kernel.hdl ./kernel ${how#*:}
	is "$status $out" "0 $(sed 's/1$/0/' out)" "on replay it has that of the recording"
	unlike "$err" "left the witness" "all of it is followed"
done
follow kernel.hdl ./kernel i
is "$status" 0 "and the race of that program happens after it"
$HEDDLE record -q --no-inputs -o kernel.hdl -- ./kernel s >out
like "$(cat out)" " 1$" "--no-inputs reads it"
unlike "$($HEDDLE info -q kernel.hdl)" "recording-input" "and keeps nothing of it"
done_testing
