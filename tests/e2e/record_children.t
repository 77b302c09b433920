#!/bin/bash
# record --children: each instrumented program below a command is recorded, and the command sees no
# difference.  Time limits are guards alone.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 "$programs/children.c" -o children -pthread
$HEDDLE cc -g -O1 "$programs/race.c" -o race -pthread
cat >racy.c <<'C'
#include <pthread.h>
static int racy;
static void *f(void *p) { racy++; return p; }
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, 0, f, 0);
	racy++;
	pthread_join(t, 0);
	return argc > 1 ? 3 : 0;
}
C
$HEDDLE cc -g -O1 racy.c -o racy -pthread
children() { run timeout 300 $HEDDLE record --children "$@"; }
gone() { [ -z "$(running children)" ]; }
said() { grep -q waits said; }
# the lines of the summary, without events
told() { printf '%s\n' "$err" | sed -n 's/^heddle:   //p' | sed 's/  [0-9]* events*, /: /'; }

# ---- a script with every kind of end and of child, which compares standard error ----
cat >suite.sh <<'S'
for how in kill abort segv _exit quick_exit exit stderr name popen posix_spawn fork system alone self shell; do
	{ ./children $how; } >out 2>err
	echo "$how: $? $(cat out) / $(grep -v 'suite.sh: line' err)"
done
S
chmod +x suite.sh
bash suite.sh >plain.txt 2>/dev/null
children -o t -- bash suite.sh
is "$status" 0 "the script ends as ever"
is "$(diff plain.txt .out)" "" "each program's status, output and standard error are as without Heddle"
is "$(told)" "children.1.hdl: killed
children.2.hdl: signal 6 (Aborted)
children.3.hdl: signal 11 (Segmentation fault)
children.4.hdl: exit status 7
children.5.hdl: exit status 8
children.6.hdl: exit status 9
children.7.hdl: exit status 0
children.8.hdl: exit status 0
children.9.hdl: exit status 0
children.10.hdl: exit status 0
children.11.hdl: exit status 9
children.12.hdl: exit status 9
children.13.hdl: exit status 9
children.14.hdl: exit status 9
children.15.hdl: exit status 9
children.16.hdl: exit status 9
children.17.hdl: exit status 6
children.17.1.hdl: exit status 6, by fork
children.18.hdl: became another program
children.19.hdl: exit status 0
children.20.hdl: became another program" "each process has a trace, with its end"
is "$(ls -A t | grep -c '^children.[0-9.]*.hdl$') $(ls -A t | wc -l)" "21 21" "and nothing else is left in the folder"
good=0
for f in t/*.hdl; do $HEDDLE races "$f" >/dev/null 2>&1 && good=$((good + 1)); done
is "$good" 21 "which other commands read"
run $HEDDLE info t/children.18.hdl
like "$out" "it became another program" "a trace ends where another program begins"
run $HEDDLE info t/children.1.hdl
like "$out" "it was killed" "or where the process was killed"
run $HEDDLE info t/children.3.hdl
like "$out" "signal 11" "or with its signal"
children -o u -- bash suite.sh
is "$(for i in 1 3 7 12 17 19; do cmp t/children.$i.hdl u/children.$i.hdl; done)" "" "one seed is one run: byte for byte"
timeout 300 $HEDDLE record -q --children -o pid -- bash -c './children pid >out & echo $! $$ >want; wait'
is "$(cat out)" "$(cat want)" "a process keeps its number and its parent"

# ---- as tests run: make -j2, libtool's wrappers, names, a test that fails ----
cat >Makefile <<'M'
all: 1 2 3 4 5 6
1 2 3 4 5 6:
	./children name; ./race >/dev/null || test $$? = 5
	./racy fails || test $$? = 3
M
children -o made -- make -s -j2 all
is "$status" 0 "make -j2"
is "$(ls made | sed 's/\..*//' | sort | uniq -c | tr -s ' \n' ' ')" " 6 children 6 race 6 racy " "a trace of each process"
mkdir -p .libs
cp children .libs/lt-wrapped
cat >wrapped <<'S'
#!/bin/sh
LD_LIBRARY_PATH="/nowhere:$LD_LIBRARY_PATH"
export LD_LIBRARY_PATH
exec ./.libs/lt-wrapped ${1+"$@"}
S
chmod +x wrapped
children -o lt -- ./wrapped exit
is "$status $(ls lt)" "9 wrapped.1.hdl" "a script of libtool's, by its own name"
odd="-r x
\$(touch pwned)"
cp children "./$odd"
long=$(printf 'a%.0s' {1..250})
cp children "./$long"
children -o odd -- sh -c '"./$1" exit; ./$2 exit; exit 0' sh "$odd" "$long"
is "$status $(ls odd | cut -c1-30 | tr '\n' ' ')" "0 _r_x___touch_pwned_.1.hdl aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa " "odd names"
ok $([ ! -e pwned ]; echo $?) "are never commands"
mkdir mine && echo mine >mine/racy.1.hdl && ln -s "$scratch/nowhere" mine/racy.2.hdl
children -o mine -- ./racy
is "$(cat mine/racy.1.hdl) $(readlink mine/racy.2.hdl) $(told)" "mine $scratch/nowhere racy.3.hdl: exit status 0" "files that are there stay as they are"
deep=$(printf 'd%.0s' {1..120})
children -o "$deep" -- ./racy
is "$status $(ls "$deep")" "0 racy.1.hdl" "a folder with a name that is too long for a socket's"

# ---- refusals ----
touch file
children -o file -- true
is "$status" 125 "a file in the folder's place"
like "$err" "^heddle: file: cannot make the folder" "is said"
children -o t -- ./nothing
is "$status" 125 "no such command"
like "$err" "nothing: cannot run it: No such file" "is said"
children --before true -- true
is "$status" 125 "--before"
children -o none -- true
is "$status" 0 "nothing to be recorded"
like "$err" "no process asked to be recorded" "is said"
if [ "$(id -u)" != 0 ]; then
	mkdir -m 500 closed
	children -o closed -- true
	is "$status" 125 "a folder that cannot be written to"
else
	skip "a folder that cannot be written to" "root may write everywhere"
fi
(
	exec 9<t
	flock -x 9
	timeout 300 $HEDDLE record --children -o t -- true 2>locked
	echo $? >>locked
)
like "$(cat locked)" "another 'heddle record --children' is writing there" "a folder that another one writes to"

# ---- what is not recorded ----
children -o t -- ./children cleared
is "$status" 9 "a program with an empty environment runs"
like "$err" "with an environment without HEDDLE_CHILDREN, which was not recorded" "and is named"
echo 'int y; __attribute__((constructor)) static void f(void) { y++; }' >late.c
$HEDDLE cc -g -shared -fPIC late.c -o late.so
cat >loads.c <<'C'
#include <dlfcn.h>
int main(void) { return dlopen("./late.so", RTLD_NOW) ? 0 : 1; }
C
gcc loads.c -o loads
children -o t -- ./loads
is "$status" 0 "a program that loads instrumented code late runs"
like "$err" "not recorded: .*/loads, which loads instrumented code" "and is named"
children -o nested -- sh -c "$HEDDLE record -q -o inner.hdl -- ./children system; echo \$?"
is "$out $(told) $([ -s inner.hdl ]; echo $?)" "9 children.1.hdl: exit status 9 0" "under a recorder of its own: that one has the process, and its children are recorded here"

# ---- processes that go on, signals ----
mkfifo fifo
exec 7<>fifo
children -o left -- bash -c './children waits <fifo >said & until grep -q waits said; do sleep 0.02; done; ./racy; exit 2'
is "$status" 2 "the command's end is the end"
like "$err" "children.1  no trace: its process went on" "of a process that goes on the log is kept"
echo >&7
log=$(ls left/children.1.hdl.log-*)
await gone
run $HEDDLE info "$log"
is "$status" 0 "which opens like a trace"
>said
$HEDDLE record -q --children -o term -- ./children waits <fifo >said 2>/dev/null &
await said
kill -TERM $!
wait $!
is "$? $(ls term)" "143 children.1.hdl" "SIGTERM is passed to the command, and the trace is made"
exec 7>&-

# ---- without traces, as a suite that is to fail ----
cat >fails.sh <<'S'
./racy; echo $?
./racy fails; echo $?
./children; echo $?
./children kill; echo $?
S
children --no-trace --report all.json -- sh fails.sh
is "$out" "1
3
0
137" "a test with a race fails, one that failed ends as it did, others succeed"
is "$status" 1 "and so does the command"
like "$err" "data-race  on racy" "the race is printed"
is "$(printf '%s' "$err" | grep -c data-race)" 1 "once"
like "$err" "in racy.1, racy.2" "with the processes that have it"
like "$err" "racy.1  [0-9]+ events, exit status 0, 1 finding: made exit status 1" "and what became of them"
out=$(cat all.json)
is "$(json 'join " ", map { "$_->{kind} @{$_->{processes}}" } @{$d->{findings}}')" "data-race racy.1 racy.2" "one report of all"
run $HEDDLE diff all.json all.json
is "$status" 0 "which other commands read"
children -q --no-trace -- sh -c './children; ./children exit'
is "$status $err" "9 sh: 0 findings by hb in 2 processes, not complete: 'heddle record --children --strategy random --seed 1' keeps traces for 'heddle races'" "a suite without races, quietly"
children --live -o live -- sh -c './racy; ./racy'
is "$status" 0 "--live changes no status"
like "$err" "in racy.1, racy.2" "and prints what it finds"
run $HEDDLE races live/racy.1.hdl
is "$status" 1 "which the trace has, too"

# ---- the traces of a suite, analysed ----
run $HEDDLE races made/*.hdl
is "$status" 1 "races of several traces"
like "$out" "^    in racy.1.hdl, racy.2.hdl, racy.3.hdl, racy.4.hdl and 2 more" "each finding once, with the traces that have it"
like "$out" "^18 traces: [0-9]+ findings? by auto in [0-9]+ events" "and one last line"
run $HEDDLE races made/*.hdl --format json
is "$(json 'join " ", map { scalar @{$_->{traces}} } grep { $_->{variable} eq "racy" } @{$d->{findings}}')" 6 "as JSON"
mkdir reports
for f in made/*.hdl; do $HEDDLE races --format json "$f" >reports/"$(basename "$f")"; done
is "$($HEDDLE races made/*.hdl --format json | sed 's/"18 traces"/"18 reports"/')" "$($HEDDLE merge reports/* --format json)" "as merge makes it of their reports"
run $HEDDLE races made/children.1.hdl made/children.2.hdl
is "$status" 0 "traces without a race"
like "$out" "^2 traces: 0 findings by auto in [0-9]+ events, complete: in all reorderings of each of these runs" "are complete where all are"
$HEDDLE races --analysis hb --format json made/racy.1.hdl >reports/other
run $HEDDLE merge reports/racy.1.hdl reports/other
is "$status" 2 "reports of two analyses"
like "$err" 'other: its "analysis" is another one than that of racy.1.hdl' "are not merged"
run $HEDDLE races made/racy.1.hdl made/racy.2.hdl --shard 1/2
is "$status" 2 "a share of several traces"

# ---- children by fork that go on in the program, as test frameworks make them ----
cat >framework.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int racy, locked;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct node { int value; } *block;
static void *f(void *p)
{
	racy++;
	block->value++;
	pthread_mutex_lock(&m);
	locked++;
	pthread_mutex_unlock(&m);
	return p;
}
static int test(int number)
{
	pthread_t t;
	pthread_mutex_unlock(&m); /* the parent has locked it */
	pthread_create(&t, 0, f, 0);
	if (number == 1)
		racy++;
	pthread_join(t, 0);
	block->value++;
	return number == 2 ? 4 : 0;
}
static int forked(int number)
{
	int status;
	pid_t child = fork();
	if (child == 0 && number == 3)
		_exit(forked(1));
	if (child == 0)
		exit(test(number));
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
static int waits(void) /* in the parent, with another thread */
{
	pthread_t t;
	pthread_mutex_unlock(&m);
	pthread_create(&t, 0, f, 0);
	int status = forked(0);
	pthread_join(t, 0);
	return status;
}
int main(int argc, char **argv)
{
	block = malloc(sizeof *block);
	block->value = 1;
	for (int i = 0; i < 100000 && argc > 1; i++)
		free(malloc(i % 100 + 1));
	pthread_mutex_lock(&m);
	for (int i = 0; i < 4; i++) {
		printf("%d: %d\n", i, forked(i));
		fflush(stdout);
	}
	printf("beside a thread: %d\n", waits());
	return 0;
}
C
$HEDDLE cc -g -O1 framework.c -o framework -pthread
./framework >plain.txt
children -o f1 -- ./framework
is "$status $(diff plain.txt .out)" "0 " "a framework that forks for each test"
is "$(told)" "framework.1.hdl: exit status 0
  not recorded, though they ran code of the program: child processes that created threads of their own
framework.1.1.hdl: exit status 0, by fork
framework.1.2.hdl: exit status 0, by fork
framework.1.3.hdl: exit status 4, by fork
framework.1.4.hdl: exit status 0, by fork
framework.1.4.1.hdl: exit status 0, by fork" "each child has a trace, but that of a process with another thread"
children -o f2 -- ./framework
same=0
for n in 1 1.1 1.2 1.3 1.4 1.4.1; do cmp -s f1/framework.$n.hdl f2/framework.$n.hdl && same=$((same + 1)); done
is "$same" 6 "one seed is one run, byte for byte"
run $HEDDLE races f1/framework.1.1.hdl
is "$status" 0 "the test without a race has none"
unlike "$out$err" "misuse|not held" "nor misuse of the mutex that its parent had locked"
run $HEDDLE races f1/framework.1.2.hdl
is "$status" 1 "that with a race has it"
like "$out" "data-race  on racy" "by its name"
run $HEDDLE convert f1/framework.1.2.hdl out.txt --to text
like "$(cat out.txt)" "T1\|w4\(block->value\)=2" "a block of before the fork has its name, and its value"
like "$(grep -n 'rel(m)' out.txt)" "main" "and the mutex is released"
run $HEDDLE replay --trace f1/framework.1.2.hdl -- ./framework
is "$status" 125 "no replay of a child"
like "$err" "is of a child by fork" "as is said"
children -o f3 -- ./framework much
run $HEDDLE races f3/framework.1.2.hdl
like "$out" "data-race  on racy.*|racy, block" "a child of a process with many events"
like "$out" "[0-9]{6} events, complete" "has them all"
children --no-trace -- ./framework much
is "$(printf '%s' "$out" | tr '\n' ' ')" "0: 0 1: 1 2: 4 3: 1 beside a thread: 0" "nor is one missed without traces"
children --no-trace -- ./framework
is "$(printf '%s' "$out" | tr '\n' ' ')" "0: 0 1: 1 2: 4 3: 1 beside a thread: 0" "without traces a test with a race fails"
like "$err" "in framework.1.2, framework.1.4.1" "and is named"

# ---- programs built the ordinary way ----
if gcc -fsanitize=thread -g -O1 racy.c -o plain -pthread 2>/dev/null; then
	children --no-trace -- sh -c './plain; echo $?'
	is "$out" 1 "gcc -fsanitize=thread"
	like "$err" "data-race  on racy" "is recorded in the place of libtsan"
else
	skip "gcc -fsanitize=thread" "it does not link here"
fi
if has clang "programs by clang"; then
	CC=clang $HEDDLE cc -g -O1 racy.c -o by-clang -pthread
	children -o clang -- sh -c './by-clang'
	is "$(told)" "by-clang.1.hdl: exit status 0" "clang"
fi
done_testing
