#!/bin/bash
# heddle orders: each fence that it says a program has to have leaves no failing run when the program has
# it, and each other one of its candidates does leave one. Pairs; fences that could be left out; what
# was searched.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Each atomic operation stands in a line of its own, with a place for a fence on either side.
cat >fences.h <<'C'
#include <pthread.h>
#include <stdatomic.h>
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FENCE(side, line) JOIN(side, line)
#define STORE(x, v, o) FENCE(B, __LINE__)() atomic_store_explicit(&x, v, memory_order_##o)
#define LOAD(v, x, o) FENCE(B, __LINE__)() v = atomic_load_explicit(&x, memory_order_##o); FENCE(A, __LINE__)()
C
for line in $(seq 1 40); do
	for side in A B; do
		printf '#ifndef %s%d\n#define %s%d()\n#endif\n' $side "$line" $side "$line"
	done
done >>fences.h

program() { # NAME FIRST-THREAD SECOND-THREAD FAILS: bodies, of one statement a line
	{
		printf '#include "fences.h"\nstatic atomic_int x, y;\nstatic int a, b, c, data;\n'
		printf 'static void *other(void *p)\n{\n%b\n\treturn p;\n}\n' "$2"
		printf 'int main(void)\n{\n\tpthread_t t;\n\tpthread_create(&t, 0, other, 0);\n%b\n' "$3"
		printf '\tpthread_join(t, 0);\n\treturn %s;\n}\n' "$4"
	} >"$1.c"
}
program publish 'data = 1;\nSTORE(x, 1, release);' 'LOAD(a, x, relaxed);\nif (a) b = data;' 'a && !b'
program look 'STORE(y, 1, relaxed);\nSTORE(x, 1, relaxed);' 'LOAD(a, x, acquire);\nLOAD(b, y, relaxed);' 'a && !b'
program half 'STORE(x, 1, relaxed);\natomic_thread_fence(memory_order_seq_cst);\nLOAD(a, y, relaxed);' \
	'STORE(y, 1, relaxed);\nLOAD(b, x, relaxed);' '!a && !b'
program both 'STORE(x, 1, relaxed);\nLOAD(a, y, relaxed);' 'STORE(y, 1, relaxed);\nLOAD(b, x, relaxed);' '!a && !b'

# The fences that are candidates, as "SIDE LINE ORDER".
candidates() {
	grep -n 'STORE\|LOAD' "$1.c" | while IFS=: read -r line text; do
		case $text in
		*STORE*) echo "B $line release" ;;
		*LOAD*) printf 'A %d acquire\nB %d seq_cst\n' "$line" "$line" ;;
		esac
	done
}
fails() { # NAME, -D...: does a run fail, with these fences?
	run "$HEDDLE" cc -g -O1 "${@:2}" -w "$1.c" -o changed -pthread
	run "$HEDDLE" explore --budget 100 --memory rc11 --format json -- ./changed
	[ "$(json '@{$d->{errors}} + @{$d->{races}} ? 1 : 0')" = 1 ]
}

for name in publish look half both; do
	run "$HEDDLE" cc -g -O1 -w "$name.c" -o "$name" -pthread
	run "$HEDDLE" orders --format json -- "./$name"
	is "$status" 1 "$name: runs fail"
	said=$(json 'join "\n", map { my ($l) = $_->{location} =~ /:(\d+)/;
		($_->{fence} eq "before" ? "B" : "A") . " $l $_->{instead}" }
		grep { $_->{fence} && !$_->{pair} } @{$d->{stronger}}' | sort)
	pair=$(json 'join " ", map { my ($l) = $_->{location} =~ /:(\d+)/;
		($_->{fence} eq "before" ? "B" : "A") . "$l=$_->{instead}" }
		grep { $_->{fence} && $_->{pair} } @{$d->{stronger}}')
	is "$(json '$d->{searched}{fences}')" "$(candidates $name | wc -l)" "$name: so many fences were tried"
	right=$(candidates $name | while read -r side line order; do
		fails $name "-D$side$line()=atomic_thread_fence(memory_order_$order);" || echo "$side $line $order"
	done | sort)
	is "$said" "$right" "$name: the fences that it says are those that are right"
	if [ $name != both ]; then
		like "$said" '[AB]' "$name: there is one"
		continue
	fi
	flags=()
	for fence in $pair; do
		flags+=("-D${fence%=*}()=atomic_thread_fence(memory_order_${fence#*=});")
	done
	is "${#flags[@]}" 2 "$name: a pair of fences"
	! fails $name "${flags[@]}"
	ok $? "$name: the pair is right"
	run "$HEDDLE" orders --pairs 1 --format json -- "./$name"
	is "$(json '"$d->{searched}{pairs} " . ($d->{searched}{"pairs-left"} > 0 ? 1 : 0) . ($d->{complete} ? 1 : 0)')" \
		"1 10" "$name: a bound of pairs is said"
	run "$HEDDLE" orders --pairs 1 -- "./$name"
	like "$out" 'searched: [0-9]+ orders, [0-9]+ fences, 1 pairs; [0-9]+ more pairs were not' \
		"$name: in the text, too"
done

# A fence that nobody needs could be left out.
cat >spare.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *put(void *p)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store_explicit(&y, 1, memory_order_release);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, put, 0);
	int b = atomic_load_explicit(&y, memory_order_acquire);
	int a = atomic_load_explicit(&x, memory_order_relaxed);
	pthread_join(t, 0);
	return b && !a;
}
C
run "$HEDDLE" cc -g -O1 spare.c -o spare -pthread
run "$HEDDLE" orders -- ./spare
is "$status" 0 "no run fails"
like "$out" 'spare.c:7: fence: seq_cst, could be left out' "a fence that could be left out"

# An operation of a C++ atomic is where the program has it, not in the header that it is inlined from.
cat >own.cc <<'C'
#include <atomic>
#include <thread>
static std::atomic<int> flag;
static int data;
int main()
{
	std::thread t([] {
		data = 1;
		flag.store(1, std::memory_order_release);
	});
	int seen = 1;
	if (flag.load(std::memory_order_relaxed))
		seen = data;
	t.join();
	return !seen;
}
C
run "$HEDDLE" c++ -g -O1 own.cc -o own -pthread
run "$HEDDLE" orders -- ./own
like "$out" 'own.cc:12: load of flag[^:]*: relaxed, has to be acquire' "the place of a C++ atomic"
done_testing
