#!/bin/bash
# heddle explore: memory of the program that functions of the C library read and write is recorded, or the report says that it
# is not; and a file's memory at two addresses, formats with numbered arguments.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Explores a program of these declarations, whose thread and main do these steps, each under one lock or unlocked; main prints got.
program() { # NAME DECLARATIONS THREAD MAIN [LOCKED]
	local lock="pthread_mutex_lock(&m);" unlock="pthread_mutex_unlock(&m);"
	[ "${5:-locked}" = locked ] || lock='' unlock=''
	cat >"$1.c" <<-C
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <fnmatch.h>
		#include <pthread.h>
		#include <semaphore.h>
		#include <signal.h>
		#include <spawn.h>
		#include <stdatomic.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/stat.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		#include <wchar.h>
		static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
		$2
		static void *run(void *p) { $lock $3; $unlock return p; }
		int main(void)
		{
			int got = 0;
			static pthread_t t;
			pthread_create(&t, 0, run, 0);
			$lock $4; $unlock
			pthread_join(t, 0);
			printf("%d\n", got);
			return 0;
		}
	C
	$HEDDLE cc -g -O1 -fno-builtin -w "$1.c" -o "$1" -pthread
	run timeout 300 "$HEDDLE" explore --budget 60 --format json -- "./$1"
}
outcomes() { json 'my %o = map { ($_->{printed} // "") => 1 } @{$d->{runs}}; join " ", sort keys %o'; }
complete() { json '$d->{complete} ? "complete" : "open"'; }
said() { json 'join " | ", @{$d->{gaps}}'; }
races() { json 'scalar @{$d->{races}}'; }

# Recorded: both outcomes are found.
program match 'static char s[8] = "a";' 'strcpy(s, "b")' 'got = fnmatch("b", s, 0)'
is "$(complete) $(outcomes)" "complete 0 1" "fnmatch"
program wide 'static wchar_t s[8] = L"12";' 'wcscpy(s, L"7")' 'got = wcstol(s, 0, 10)'
is "$(complete) $(outcomes)" "complete 12 7" "wcstol"
program month 'static struct tm tm = { .tm_mday = 1, .tm_year = 71 };' 'tm.tm_year = 70' 'got = timegm(&tm) > 0'
is "$(complete) $(outcomes)" "complete 0 1" "timegm"
program count 'static int n = 5; static sem_t s;' 'sem_getvalue(&s, &n)' 'got = n'
is "$(complete) $(outcomes)" "complete 0 5" "where sem_getvalue puts the count"
program returned 'static void *r; static void *one(void *p) { return (void *)3; }' \
	'pthread_t u; pthread_create(&u, 0, one, 0); pthread_join(u, &r)' 'got = (int)(long)r'
is "$(complete) $(outcomes)" "complete 0 3" "where a join puts what the thread returned"
program aligned 'static void *q;' 'posix_memalign(&q, 16, 16)' 'got = q != 0'
is "$(complete) $(outcomes)" "complete 0 1" "where posix_memalign puts the block"
program ends 'static int e[2];' 'pipe(e)' 'got = e[1] != 0'
is "$(complete) $(outcomes)" "complete 0 1" "where pipe puts the descriptors"
program handle 'static pthread_t u; static void *one(void *p) { return p; }' \
	'pthread_create(&u, 0, one, 0); pthread_join(u, 0)' 'got = u != 0' unlocked
is "$(races)" 1 "a thread's handle that is read beside its creation is a race"
program path 'static char s[32] = "/dev/null";' 's[1] = 0' 'got = open(s, O_RDONLY) < 0' unlocked
is "$(races)" 1 "the path of open"

program action 'static struct sigaction a;' 'a.sa_flags = SA_RESTART' \
	'struct sigaction old; sigaction(SIGUSR1, &a, 0); sigaction(SIGUSR1, 0, &old); got = (old.sa_flags & SA_RESTART) != 0'
is "$(complete) $(outcomes)" "complete 0 1" "what sigaction is given, and what it tells"
program attributes 'static pthread_attr_t a; __attribute__((constructor)) static void init(void) { pthread_attr_init(&a); }' \
	'pthread_attr_setstacksize(&a, 1 << 20)' 'size_t n; pthread_attr_getstacksize(&a, &n); got = n == 1 << 20'
is "$(complete) $(outcomes)" "complete 0 1" "attributes"
program set 'static sigset_t s;' 'sigaddset(&s, 3)' 'got = sigismember(&s, 3)'
is "$(complete) $(outcomes)" "complete 0 1" "a set of signals"

# Not recorded, which is said: functions that the runtime stands before, and others.
program text 'static wchar_t s[8] = L"12";' 'wcscpy(s, L"7")' 'wchar_t o[8]; got = swprintf(o, 8, L"%ls", s)'
is "$(complete) $(said)" "open swprintf: what comes of it may depend on the order, which is not explored" "swprintf"
program own 'static int x;' 'x = 1' 'struct sigaction a = { .sa_flags = x }; sigaction(SIGUSR1, &a, 0); got = x'
is "$(complete) $(outcomes)" "complete 0 1" "and with one on the thread's own stack nothing is said"
program numbered 'static int n;' 'sscanf("7", "%1$d", &n)' 'got = n'
like "$(complete) $(said)" "^open a format with numbered arguments: " "a format with numbered arguments"
program there 'static const char *name = "made";' 'close(open(name, O_CREAT | O_WRONLY, 0600))' \
	'struct stat s; got = stat(name, &s); unlink(name)'
like "$(complete) $(said)" "^open .*making a file that another thread looks for" "stat looks for a file that another thread makes"
program twice 'static atomic_int *x, *y; __attribute__((constructor)) static void maps(void) {
	int f = memfd_create("twice", 0); ftruncate(f, 4096);
	x = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); y = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); }' \
	'*x = 1' 'got = *y' unlocked
like "$(complete) $(said)" "^open memory of a file that is mapped at two addresses: " "a file's memory at two addresses"
# The number of a child process is another one in each run.
cat >child.c <<'C'
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
extern char **environ;
static void *run(void *p) { return p; }
int main(void)
{
	pthread_t t;
	pid_t p;
	char *words[] = { "true", 0 };
	pthread_create(&t, 0, run, 0);
	posix_spawn(&p, "/bin/true", 0, 0, words, environ);
	waitpid(p, 0, 0);
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -g -O1 child.c -o child -pthread
run timeout 300 "$HEDDLE" explore --runs 2 --format json -- ./child
like "$(complete) $(said)" "^open .*a child process, and its number: " "a child process by posix_spawn"

done_testing
