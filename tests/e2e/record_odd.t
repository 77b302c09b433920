#!/bin/bash
# record: processes, odd locks, late libraries, random bytes, --start-at with replay, gdb.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
text() { $HEDDLE convert "$1" out.txt --to text 2>/dev/null && cat out.txt; }

$HEDDLE cc -O1 "$programs/shared.c" -o shared -pthread
$HEDDLE cc -O1 -shared -fPIC "$programs/late.c" -o late.so
for seed in 1 2; do
	run timeout 300 $HEDDLE record --seed $seed -o shared.hdl -- ./shared ./late.so
	is "$status $out" "0 robust 1 0 0
shared 400 child 7
vfork 5 spawn 6 spawnp 6
exec in a child
failed exec -1
timed 1 1 1 1
key 1
c11 2 84
sigwait 1
late 1
exec at the end" "processes and odd locks: seed $seed"
done
like "$err" "its children were not recorded" "children are not recorded, and that is said"
t=$(text shared.hdl)
for line in 'T1\|acq\(robust\)' 'main\|acq\(robust\)' 'main\|rel\(robust\)' 'main\|tryfail\(timed\)' \
	'main\|tryfail\(rw\)' 'main\|enter\(late_touch\)' 'main\|w4\(late_value\)=3\|late.c:5' 'T[0-9]+\|w4\(counter\)=2'; do
	like "$t" "$line" "recorded: $line"
done
is "$(grep -c '|w4(s*.*value)=' out.txt)" 201 "the parent's half of the shared memory's writes, and the library's"

# GLib's locks are its own, and its queues hand on what no trace holds
for p in glib glib_pool; do
	$HEDDLE cc -g -O1 "$programs/$p.c" -o $p $(pkg-config --cflags --libs glib-2.0)
done
for seed in 1 2; do
	run timeout 300 $HEDDLE record --seed $seed -o glib.hdl -- ./glib
	is "$status $out" "0 60 3 3 21 0" "GLib's locks: seed $seed"
	unlike "$err" "not modelled" "are modelled"
	run $HEDDLE races glib.hdl
	is "$status" 0 "and leave no race"
done
t=$(text glib.hdl)
like "$t" 'T1\|acq\(m' "a GMutex is in the trace"
like "$t" 'main\|wait\(c' "a GCond"
run timeout 300 $HEDDLE record --mode free -o free.hdl -- ./glib
is "$status $out" "0 60 3 3 21 0" "in free mode"
run $HEDDLE races free.hdl
is "$status" 0 "too"
run timeout 300 $HEDDLE record -o pool.hdl -- ./glib_pool
is "$status $out" "0 45" "a pool of threads"
run $HEDDLE races pool.hdl --format json
is "$(json 'join " ", map { $_->{variable} } @{$d->{findings}}')" racy "has the one race"
pair=$(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"')
run $HEDDLE witness pool.hdl $pair -o pool.wit
run timeout 300 $HEDDLE replay --witness pool.wit -- ./glib_pool
is "$status" 0 "which happens"
like "$err" "stopped before the pair" "on the program"

# random bytes of every source follow the seed
cat >random.cc <<'C'
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sys/random.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
static unsigned sum;
static unsigned device() { std::random_device r; return r(); }
static unsigned call() { unsigned v = 0; return getrandom(&v, 4, 0) == 4 ? v : 0; }
static unsigned entropy() { unsigned v = 0; return getentropy(&v, 4) == 0 ? v : 0; }
static unsigned number() { unsigned v = 0; return syscall(SYS_getrandom, &v, 4, 0) == 4 ? v : 0; }
static unsigned descriptor() {
	unsigned v = 0;
	int fd = open("/dev/urandom", O_RDONLY);
	if (read(fd, &v, 4) != 4) v = 0;
	close(fd);
	return v;
}
static unsigned stream() {
	unsigned v = 0;
	FILE *f = fopen("/dev/urandom", "r");
	if (fread(&v, 4, 1, f) != 1) v = 0;
	fclose(f);
	return v;
}
static unsigned cxx_stream() {
	unsigned v = 0;
	std::ifstream f("/dev/urandom", std::ios::binary);
	f.read((char *)&v, 4);
	return v;
}
int main() {
	printf("%x %x %x %x %x %x %x\n", device(), call(), entropy(), number(), descriptor(), stream(), cxx_stream());
	std::thread t([] { sum += device(); });
	t.join();
	return sum == 0;
}
C
$HEDDLE c++ -O1 random.cc -o random -pthread
run $HEDDLE record -q --seed 3 -o one.hdl -- ./random
is "$status" 0 "seven sources of randomness"
first=$out
is "$(printf '%s' "$first" | tr ' ' '\n' | sort -u | wc -l)" 7 "each gives something else"
run $HEDDLE record -q --seed 3 -o two.hdl -- ./random
is "$out" "$first" "one seed, the same bytes"
cmp -s one.hdl two.hdl
ok $? "and the same trace"
run $HEDDLE record -q --seed 4 -o two.hdl -- ./random
for i in 1 2 3 4 5 6 7; do
	ok $([ "$(printf '%s' "$first" | cut -d' ' -f$i)" != "$(printf '%s' "$out" | cut -d' ' -f$i)" ]; echo $?) \
		"another seed, other bytes: source $i"
done

# clocks, sleeps and yields by the numbers of their system calls: as by name, virtual, and none of the machine's
cat >number.c <<'C'
#include <errno.h>
#include <stdatomic.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static atomic_int done;
static void *f(void *p)
{
	struct timespec hour = { 3600, 0 }, left;
	syscall(SYS_nanosleep, &hour, &left);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &hour, &left);
	done = 1;
	return p;
}
int main(void)
{
	struct timespec a, b, bad = { 0, -1 };
	struct timeval v;
	pthread_t t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &a);
	pthread_create(&t, 0, f, 0);
	while (!done)
		syscall(SYS_sched_yield);
	pthread_join(t, 0);
	clock_gettime(CLOCK_MONOTONIC, &b);
	syscall(SYS_gettimeofday, &v, NULL);
	long now = syscall(SYS_time, NULL);
	printf("%d %d", b.tv_sec - a.tv_sec >= 7200, now >= v.tv_sec && now <= v.tv_sec + 1);
	printf(" %ld", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, NULL));
	printf(" %d", errno == EFAULT);
	printf(" %ld", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &bad, NULL));
	printf(" %d", errno == EINVAL);
	printf(" %d\n", (int)(b.tv_nsec % 1000000));
	return 0;
}
C
$HEDDLE cc -O1 number.c -o number -pthread
run timeout 300 $HEDDLE record --seed 3 -o number.hdl -- ./number
is "$status" 0 "two hours of sleep by number take no time"
is "${out% *}" "1 1 -1 1 -1 1" "they are in the clock, and errors are the kernel's"
printf '%s' "$err" | grep -q "may not come again"
is $? 1 "nothing is said of calls that are not modelled"
first=$out
run timeout 300 $HEDDLE record -q --seed 3 -o again.hdl -- ./number
is "$out" "$first" "one seed, the same time"
for of in number again; do # the real-time clock begins at the real second
	"$HEDDLE" convert -q $of.hdl --to text - | sed '/^#/d; s/\(v.tv_sec)=\)[0-9]*/\1/' >$of.txt
done
cmp -s number.txt again.txt
ok $? "and the same trace"

# --start-at: what came before is not in the trace, and replay knows it
cat >start.c <<'C'
#include <pthread.h>
static int before, after;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((noinline)) void work(void) { after++; }
static void *f(void *p) { for (int i = 0; i < 50; i++) before++; work(); return p; }
int main(void) {
	pthread_t t;
	for (int i = 0; i < 100; i++) { pthread_mutex_lock(&m); before++; pthread_mutex_unlock(&m); }
	pthread_create(&t, 0, f, 0);
	work();
	pthread_join(t, 0);
	return after;
}
C
$HEDDLE cc -O1 start.c -o start -pthread
run $HEDDLE record -q --seed 1 --start-at work -o start.hdl -- ./start
is "$status" 2 "--start-at"
t=$(text start.hdl)
like "$t" "w4\(after\)=1" "from its first call on"
is "$(sed '/enter(work)/,$d' out.txt | grep -c '[rw]4(before)')" 0 "and not before"
run $HEDDLE races start.hdl --analysis shb --pairs events --format json
pair=$(json '(map { "$_->{first} $_->{second}" } grep { $_->{variables}[0] eq "after" } @{$d->{findings}})[0]')
$HEDDLE witness start.hdl $pair -o start.wit >/dev/null
run timeout 300 $HEDDLE replay --witness start.wit --first 1 -- ./start
is "$status" 2 "its witness on the program"
like "$err" "stopped before the pair" "comes to the pair"
unlike "$err" "left the witness|differs" "without leaving it"

# a program that becomes another user, in another root: its log is no longer its to open
cat >drop.c <<'C'
#include <grp.h>
#include <pthread.h>
#include <unistd.h>
static volatile int shared;
static void *work(void *p) { for (int i = 0; i < 30000; i++) shared++; return p; }
int main(int argc, char **argv)
{
	if (chroot(argv[1]) || chdir("/") || setgroups(0, 0) || setgid(65534) || setuid(65534))
		return 77;
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	work(0);
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -g -O1 drop.c -o drop -pthread
mkdir -m 700 private jail
for mode in controlled free; do
	run $HEDDLE record --mode $mode -o private/drop.hdl -- ./drop jail
	if [ "$status" = 77 ]; then
		ok 0 "another user, $mode # SKIP it cannot be tried: not root"
		continue
	fi
	is "$status" 0 "another user, $mode: no failure"
	unlike "$err" "Permission|recording stopped" "another user, $mode: recording goes on"
	run $HEDDLE info private/drop.hdl
	like "$out" "[ ,][0-9]+,?[0-9]* events|events +[0-9]" "another user, $mode: a trace"
	[ "$mode" = free ] || { events=$($HEDDLE info --format json private/drop.hdl | sed -n 's/.*"events": \([0-9]*\).*/\1/p' | head -n 1)
		[ "${events:-0}" -gt 100000 ]; ok $? "another user, $mode: all of its events"; }
done

# a debugger at the pair
if has gdb "gdb at the pair"; then
	printf 'set pagination off\nprint before\nprint after\ninfo threads\ndetach\nquit\n' |
		timeout 300 $HEDDLE replay --witness start.wit --first 1 --gdb -- ./start >gdb.out 2>gdb.err
	status=$?
	if grep -q 'ptrace: Operation not permitted' gdb.out gdb.err; then
		skip "gdb at the pair" "this machine does not let gdb attach"
	else
		is "$status" 2 "gdb at the pair, and on to the end"
		like "$(cat gdb.out)" '= 150|= 1[0-4][0-9]' "it sees the program's variables"
		like "$(cat gdb.out)" 'LWP' "and its threads"
		if gdb -batch -ex 'python print(1)' >/dev/null 2>&1; then
			like "$(cat gdb.out)" 'heddle: main is thread 1, before write after: 1 at start.c:4' "which of gdb's threads is which"
			unlike "$(sed -n '/^#/,$p' gdb.out | head -n 1)" 'raw_syscall' "and begins in the program's own frame"
		else
			ok 0 "which of gdb's threads is which # SKIP gdb has no Python"
			ok 0 "and begins in the program's own frame # SKIP gdb has no Python"
		fi
		like "$(cat gdb.err)" "stands before the pair" "and is told where it is"
	fi
fi
# gcc says that it does not know fences with -fsanitize=thread; the recorder does.
printf '%s\n' '#include <stdatomic.h>' 'int main(void) { atomic_thread_fence(memory_order_seq_cst); return 0; }' >fence.c
run "$HEDDLE" cc -O1 -Wall -Werror fence.c -o fence
is "$status $err" "0 " "a fence does not break a build with -Werror"
# The reason why the system does not start a program: here its loader is not there.
echo 'int main(void) { return 0; }' >loader.c
"$HEDDLE" cc loader.c -o loader -Wl,--dynamic-linker=/nowhere/ld.so
run "$HEDDLE" record -- ./loader
is "$status" 125 "a program that the system does not start"
like "$err" "loader: cannot start it: No such file or directory" "the system's reason"
done_testing
