#!/bin/bash
# What the report of heddle check says to somebody who reads it for the first time: one fault is one finding, the summary says
# whether schedules are left, callers are the program's own.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
checked() { run timeout 300 "$HEDDLE" check -q "$@"; }

# A condition that is destroyed before its signal: the recorder's misuse and the analyses' use after the end are one.
cat >signal.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c;
static int n;
static void *run(void *p)
{
	pthread_mutex_lock(&m);
	n++;
	pthread_mutex_unlock(&m);
	pthread_cond_signal(&c);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_cond_init(&c, 0);
	pthread_create(&t, 0, run, 0);
	pthread_mutex_lock(&m);
	while (n == 0)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	pthread_cond_destroy(&c);
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -g -O1 signal.c -o signal -pthread
checked --format json -- ./signal
is "$(json 'join " ", map { "$_->{kind} $_->{locations}[0] $_->{locations}[1]" } @{$d->{findings}}')" \
	"use-after-free signal.c:22 signal.c:10" "a condition after its destruction: one finding"
is "$(json 'scalar(@{$d->{findings}[0]{runs}}) > 1')" 1 "with the runs of both"
checked -- ./signal
like "$out" "^./signal: 1 finding in [0-9]+ runs; every schedule that makes a difference was run$" "all schedules were run"

checked -j 2 -o shares -- ./signal
like "$out" "^./signal: 1 finding in [0-9]+ runs; every schedule that makes a difference was run$" "by shares"

# A use after free that its own other order shows leads to nothing else.
cat >used.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct conn { int fd; long bytes; };
static struct conn *table;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct conn *look(int take)
{
	pthread_mutex_lock(&m);
	struct conn *c = table;
	if (take)
		table = 0;
	pthread_mutex_unlock(&m);
	return c;
}
static void *run(void *p)
{
	struct conn *c = look(0);
	if (c)
		c->bytes += 10;
	return p;
}
static void *end(void *p)
{
	free(look(1));
	return p;
}
int main(void)
{
	pthread_t a, b;
	table = calloc(1, sizeof *table);
	pthread_create(&a, 0, run, 0);
	pthread_create(&b, 0, end, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
$HEDDLE cc -g -O1 used.c -o used -pthread
checked -- ./used
like "$out" "after T2 has freed it" "a use after free"
unlike "$out" "it leads to: " "which is not said to lead to itself"

# Without a full exploration the summary says so, and with traces it says nothing of schedules.
cat >long.cc <<'C'
#include <mutex>
#include <thread>
static int total;
static volatile int work;
static std::mutex a, b;
static void both(std::mutex &first, std::mutex &second)
{
	std::lock_guard<std::mutex> x(first);
	std::lock_guard<std::mutex> y(second);
	total++;
}
int main()
{
	std::thread one([] { both(a, b); }), other([] { both(b, a); });
	for (int i = 0; i < 30000; i++)
		work = work + 1;
	one.join();
	other.join();
}
C
$HEDDLE c++ -g -O1 long.cc -o long -pthread
checked --runs 4 --no-harm -o long -- ./long
like "$out" "^./long: 1 finding in [0-9]+ runs; not every schedule was run$" "schedules are left"
unlike "$out" "std::__invoke" "callers are the program's own"
checked long.run0.hdl
like "$out" "^[0-9]+ findings? in 1 run$" "traces"

# an assertion is at the line and in the thread that failed, whichever went on before the end
cat >failed.txt <<'T'
#! heddle 1
#! note recording-assertion a.c:7 x <= 1
#! note recording-crash main 0x0 a.c:7
#! note recording-end signal 6
main|fork(T1)|a.c:5
T1|w4(y)=1|a.c:20
main|r4(x)=2|a.c:7
T1|w4(y)=2|a.c:21
T
checked failed.txt
like "$out" "^    main +a.c:7$" "the assertion's own line and thread"

# a lock that both threads have locked, but for reading, is no protection; another one of the two has no part in it
cat >shared.txt <<'T'
#! heddle 1
T1|racq(l)|1
T1|w(x)|2
T1|w(y)|2
T1|rrel(l)|3
T2|racq(k)|4
T2|racq(l)|5
T2|r(x)|6
T2|rrel(l)|7
T2|rrel(k)|8
T2|racq(l)|9
T2|rrel(l)|10
T2|r(y)|11
T
run "$HEDDLE" races --pairs events shared.txt
like "$out" "T1 writes x .*2. while T2 reads it .*6.: both have locked l for reading only, and nothing else keeps" "a lock for reading"
like "$out" "T1 writes y .*2. while T2 reads it .*11.: nothing keeps the two apart" "unless one has unlocked it"

# atomics that hardware may reorder: the exploration that knows this is named
for order in rel rlx seq_cst; do
	printf '%s\n' "#! heddle 1" "T1|aw(x)=1;$order|1" "T2|ar(x)=1;seq_cst|2" >weak.txt
	checked weak.txt
	named="heddle explore --memory rc11"
	case $order in
	seq_cst) unlike "$out" "$named" "all atomics are seq_cst" ;;
	*) like "$out" "weak memory allows .*$named" "an atomic is $order" ;;
	esac
done

# members of a library's type go by the name of the whole, which is told once
cat >members.txt <<'T'
#! heddle 1
main|fork(T1)|a.c:1
T1|w4(m._M_t._M_left)=1|a.c:2
T1|w4(m._M_t._M_right)=1|a.c:2
main|w4(m._M_t._M_left)=2|a.c:3
main|w4(m._M_t._M_right)=2|a.c:3
T
checked members.txt
like "$out" "data-race +on m +.2 seen.$" "the name, once"

# what explored runs print counts, too, though these runs are not analysed
cat >handled.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static int hits;
static void handler(int signal)
{
	(void)signal;
#ifdef SEEN
	hits++;
#endif
}
static void *work(void *unused)
{
	hits++;
	return unused;
}
int main(void)
{
	pthread_t t;
	signal(SIGUSR1, handler);
	pthread_create(&t, NULL, work, NULL);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, NULL);
	printf("%d\n", hits);
	return 0;
}
C
for seen in -DSEEN -DUNSEEN; do
	"$HEDDLE" cc $seen -g -O1 handled.c -o handled -pthread
	run "$HEDDLE" check --budget 60 -- ./handled
	outputs="ended well printed 2 different outputs; --expect FILE says"
	case $seen in
	-DSEEN) like "$out" "$outputs" "a handler that a schedule has early, or not at all" ;;
	*) unlike "$out" "different outputs" "each schedule prints the same" ;;
	esac
done
done_testing
