#!/bin/bash
# OpenMP on the compiler's ordinary libgomp: its synchronisation is in the trace, so ordered accesses
# are no races and the true ones stay; its waits are the scheduler's.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
export TMPDIR=$scratch
cd "$scratch" || exit 1
echo 'int main(void) { return 0; }' >try.c
if ! gcc -fopenmp try.c -o try 2>/dev/null || ! ./try; then
	echo "1..0 # SKIP the compiler has no OpenMP"
	exit 0
fi
found() { # sets $found to the racy variables of a trace, each once
	run $HEDDLE races "$1" --format json
	found=$(json 'my %v; $v{$_} = 1 for map { @{$_->{variables}} } @{$d->{findings}}; join(" ", sort keys %v) . ($d->{complete} ? " complete" : "")')
}

$HEDDLE cc -g -O1 -fopenmp "$programs/omp.c" -o omp -pthread
run timeout 300 $HEDDLE record -o omp.hdl -- ./omp
is "$status $(printf '%s' "$out" | tr '\n' ' ')" "0 0 0 2016 2016 4032 6048" "three parallel loops run as ever"
unlike "$err" "not modelled" "every wait is known"
found omp.hdl
is "$found" "hits complete" "one true race; a critical section and the region's end order the rest"
unlike "$out" "not instrumented" "nothing was called that nobody knows"
$HEDDLE convert omp.hdl --to text omp.txt
like "$(cat omp.txt)" 'acq\(omp_critical\)\|omp.c:12' "the critical section has a name"
like "$(cat omp.txt)" 'enter\(main::omp\)\|omp.c:8' "the region's function is called where the region is"
run $HEDDLE races omp.hdl --format json
read -r e f <<<"$(json 'join " ", map { "$_->{first} $_->{second}" } $d->{findings}[0]')"
$HEDDLE witness omp.hdl $e $f -o omp.wit >/dev/null
run timeout 300 $HEDDLE replay --witness omp.wit -- ./omp
is "$status" 0 "its witness happens"
like "$err" "stopped before the pair" "before the pair"
run timeout 300 $HEDDLE record -q --mode free -o free.hdl -- ./omp
found free.hdl
is "$found" "hits" "free mode: the same"

$HEDDLE cc -g -O1 -fopenmp "$programs/openmp.c" -o openmp -pthread
for c in f d r o x b c s m l n t g p k; do
	for seed in 1 2; do
		run timeout 300 $HEDDLE record -q --seed $seed -o c.hdl -- ./openmp $c
		is "$status" 0 "$c, seed $seed"
		found c.hdl
		is "$found" " complete" "no race"
	done
	run timeout 300 $HEDDLE record -q --mode free -o free.hdl -- ./openmp $c
	found free.hdl
	is "$found" "" "nor in free mode"
done
# Tasks that depend on what no task before them had: nothing is waited for, and nothing said.
cat >depend.c <<'C'
#include <stdio.h>
int main(void)
{
	int a = 0, b = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task depend(in : a) depend(out : b)
		b = a + 1;
#pragma omp task depend(inout : a)
		a = 2;
#pragma omp task depend(in : a, b)
		printf("%d %d\n", a, b);
	}
	return 0;
}
C
if $HEDDLE cc -g -O1 -fopenmp depend.c -o depend -pthread 2>/dev/null; then
	for mode in controlled free; do
		run timeout 300 $HEDDLE record -q --mode $mode -o depend.hdl -- ./depend
		is "$status $out $err" "0 2 1 " "depend, $mode: no word of messages that were never sent"
		found depend.hdl
		is "${found% complete}" "" "depend, $mode: the order of the tasks is known"
	done
else
	skip "tasks that depend" "they do not compile here"
fi
# Waits of libgomp's own: a loop with `ordered`.
run timeout 300 $HEDDLE record -o c.hdl -- ./openmp o
like "$err" "this schedule may not come again" "ordered sections: said"
# Regions within regions: threads that end with theirs, at a speed of their own.
for seed in 3 4; do
	for again in one two three; do
		run timeout 300 $HEDDLE record -q --seed $seed -o $again.hdl -- ./openmp n
	done
	ok $(cmp -s one.hdl two.hdl && cmp -s one.hdl three.hdl; echo $?) "nested regions, seed $seed: the same bytes"
done
# A race between two tasks shows where two threads run them.
for c in F D O B C S L T G P K; do
	seen=0
	for seed in 1 2 3 4; do
		run timeout 300 $HEDDLE record -q --seed $seed -o c.hdl -- ./openmp $c
		is "$status" 0 "$c, seed $seed"
		found c.hdl
		like "$found" "^(bad)? complete$" "nothing but one variable races"
		[ "$found" = " complete" ] && continue
		seen=$((seen + 1))
		[ $c != O ] && [ $seen -le 2 ] || continue # ordered: libgomp's own waits
		read -r e f <<<"$(json 'join " ", map { "$_->{first} $_->{second}" } $d->{findings}[0]')"
		rm -f c.wit
		$HEDDLE witness c.hdl $e $f -o c.wit >/dev/null
		run timeout 300 $HEDDLE replay --witness c.wit -- ./openmp $c
		is "$status" 0 "its witness happens"
		run timeout 300 $HEDDLE record -q --seed $seed -o again.hdl -- ./openmp $c
		ok $(cmp -s c.hdl again.hdl; echo $?) "one seed, the same bytes"
	done
	ok $([ $seen -ge 1 ]; echo $?) "$c: the race is found"
done

# A deadlock beside idle threads of a team is one.
cat >dead.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	int n = 0;
#pragma omp parallel num_threads(3)
#pragma omp critical
	n++;
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
	return n;
}
C
$HEDDLE cc -g -O1 -fopenmp dead.c -o dead -pthread
run timeout 300 $HEDDLE record -o dead.hdl -- ./dead
is "$status" 134 "main waits for itself while the team sleeps"
like "$err" "main.* waits for mutex m" "and it is said"
# clang's library is missing code: each pair that it orders says so, and --missing leaves it out.
if has clang "clang's OpenMP" && echo 'int main(void){return 0;}' >no.c && clang -fopenmp no.c -o no 2>/dev/null; then
	cat >llvm.c <<'C'
#include <stdio.h>
static int a[64], sum, turns, done;
int main(void)
{
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 64; i++)
		a[i] = i;
#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		turns++;
#pragma omp barrier
#pragma omp single
		{
			sum = turns + a[63];
#pragma omp task
			done = sum;
#pragma omp taskwait
			done++;
		}
	}
	printf("%d\n", done);
	return 0;
}
C
	CC=clang "$HEDDLE" cc -g -O1 llvm.c -o llvm -fopenmp
	run timeout 300 "$HEDDLE" record -q -o llvm.hdl -- ./llvm
	is "$status $out" "0 67" "clang's OpenMP: the same output"
	run "$HEDDLE" races llvm.hdl --format json
	is "$(json 'join ",", grep { $_ ne "candidate" } map { $_->{verdict} } @{$d->{findings}}')" "" "each finding says what may order it"
	run "$HEDDLE" races llvm.hdl --missing --format json
	is "$(json 'scalar @{$d->{findings}}')" 0 "none is left with --missing"
else
	skip "clang's OpenMP" "its library is not installed"
fi
done_testing
