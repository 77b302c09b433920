#!/bin/bash
# A service with more threads over its life than 16 bits can number: 70,000 in a trace, few alive at
# a time, and 35,000 recorded.  T1 lives all along, and a thread whose number has the same low 16
# bits races with it.
. tests/e2e/lib.sh
perl -e '
	print "main|fork(T1)|1\nT1|w(z)|2\n";
	for my $i (2 .. 70000) {
		print "main|fork(T$i)|1\nT$i|acq(m)|3\nT$i|w(x)|4\nT$i|rel(m)|5\n";
		print "T$i|w(z)|6\n" if $i == 65537;
		print "main|join(T$i)|7\n";
	}
	print "T1|acq(m)|8\nT1|r(x)|9\nT1|rel(m)|10\nmain|join(T1)|7\n"' >"$scratch/t.txt"
run "$HEDDLE" convert "$scratch/t.txt" "$scratch/t.hdl"
run "$HEDDLE" info --format json "$scratch/t.hdl"
is "$(json '$d->{threads}')" 70001 "threads of the binary trace"
is "$(json 'join " ", @{$d->{events_by_thread}}{qw(T1 T65536 T65537 T65538)}')" "4 3 4 3" \
	"events by thread"
# Of the trace in one place for the threads that follow each other, and as it is.
for a in lockset hb shb wcp syncp m2 auto; do
	run timeout 300 "$HEDDLE" races --analysis $a --format json "$scratch/t.hdl"
	is "$status:$(json 'join " ", map { "$_->{first} $_->{second}" } @{$d->{findings}}')" "1:1 327681" \
		"$a finds the race of T1 and T65537, and no other"
done
for command in deadlocks atomic commute 'commute --analysis rd2'; do
	# shellcheck disable=SC2086
	run timeout 300 "$HEDDLE" $command --format json "$scratch/t.hdl"
	is "$status:$(json 'scalar @{$d->{findings}}')" "0:0" "$command ends, and has nothing to say"
done
run timeout 300 "$HEDDLE" filter --for hb -o "$scratch/f.hdl" "$scratch/t.hdl"
run timeout 300 "$HEDDLE" races --analysis hb --lenient --format json "$scratch/f.hdl"
is "$(json 'scalar @{$d->{findings}}')" 1 "filter keeps the race"
printf 'wait\nquit\n' >"$scratch/script"
run timeout 300 "$HEDDLE" open --script "$scratch/script" "$scratch/t.hdl"
is "$status" 0 "the explorer's first screen"

# Many threads at one variable: the pairs are more than can be counted, so the budget ends the pass.
perl -e '
	my $n = 20000;
	print "main|fork(T$_)|1\n" for 1 .. $n;
	print "T$_|w(x)|2\n" for 1 .. $n;' >"$scratch/crowd.txt"
run "$HEDDLE" convert "$scratch/crowd.txt" "$scratch/crowd.hdl"
for a in hb shb wcp dc wdc; do
	run timeout 300 "$HEDDLE" races --analysis $a --budget 0.001,0.001 --format json "$scratch/crowd.hdl"
	is "$status:$(json 'scalar(@{$d->{findings}}) . " " . ($d->{complete} ? 1 : 0)')" "1:1 0" \
		"$a ends at its budget, with the race and not complete"
	is "$(json 'scalar grep { /--budget .* was gone/ } @{$d->{notes}}')" 1 "$a says so"
done

# One thread more than there may be.
perl -e 'print "T$_|begin()|1\n" for 1 .. 1048576' >"$scratch/many.txt"
run "$HEDDLE" info "$scratch/many.txt"
is "$status" 2 "too many threads are refused"
like "$err" '1048576.*more than 1048575 threads.*split the trace' "at their line"

cat >"$scratch/short.c" <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void *one(void *a)
{
	pthread_mutex_lock(&m);
	sum += (long)a;
	pthread_mutex_unlock(&m);
	return 0;
}
int main(void)
{
	enum { ALL = 35000, ALIVE = 8 };
	static pthread_t t[ALIVE];
	for (long i = 0; i < ALL + ALIVE; i++) {
		if (i >= ALIVE && (i - ALIVE) % 100 && pthread_join(t[i % ALIVE], 0))
			return 1;
		if (i < ALL && pthread_create(&t[i % ALIVE], 0, one, (void *)i))
			return 2;
		if (i < ALL && i % 100 == 0 && pthread_detach(t[i % ALIVE]))
			return 3;
	}
	pthread_mutex_lock(&m); /* the detached ones may still be running */
	pthread_mutex_unlock(&m);
}
C
cd "$scratch" || exit
run "$HEDDLE" cc -g -O1 short.c -o short
run timeout 300 "$HEDDLE" record -o r.hdl -- ./short
is "$status" 0 "a program with 35,000 threads, joined and detached, is recorded"
run "$HEDDLE" info --format json r.hdl
is "$(json '$d->{threads}')" 35001 "all of them are in the trace"
run timeout 300 "$HEDDLE" races --analysis hb --format json r.hdl
is "$status:$(json 'scalar @{$d->{findings}}')" "0:0" "nothing races"
cd "$root" || exit
done_testing
