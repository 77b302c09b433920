#!/bin/bash
# What an execution of an exploration costs, in all processes together: millions of instructions of
# the user's part and the kernel's (those of an exploration of one run taken off; 0 where the
# machine does not count them), microseconds of processor time, page faults,
# switches between threads; and the seconds of the whole. Needs perf.
#   tests/bench/explore/cost.sh
#   HEDDLE_KERNEL_THREADS=1 tests/bench/explore/cost.sh    a process for each run
HEDDLE=${HEDDLE:-$PWD/heddle}
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/counter.c" <<'EOF'
#include <pthread.h>
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *a)
{
	for (int i = 0; i < EACH; i++) {
		pthread_mutex_lock(&m);
		x++;
		pthread_mutex_unlock(&m);
	}
	return a;
}
int main(void)
{
	pthread_t t[N];
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], 0);
	return x != N * EACH;
}
EOF
counted=instructions:u,instructions:k,task-clock,page-faults,context-switches
count() { # FILE RUNS PROGRAM
	perf stat -x, -e $counted -o "$1" -- \
		"$HEDDLE" explore --budget 0 --runs "$2" --format json -- "$3" >"$scratch/report" 2>"$scratch/err"
}
row() { # NAME FLAGS FILE [RUNS]
	local cc=cc begun ended
	[ "${3%.cc}" = "$3" ] || cc=c++
	# shellcheck disable=SC2086
	"$HEDDLE" $cc -g -O1 $2 -I"$here" "$3" -o "$scratch/p" -pthread || exit 1
	count "$scratch/one" 1 "$scratch/p"
	begun=$(date +%s.%N)
	count "$scratch/all" "${4:-1000000}" "$scratch/p"
	ended=$(date +%s.%N)
	perl -MJSON::PP -0777 -e '
		my ($name, $one, $all, $report, $seconds) = @ARGV;
		my $n = JSON::PP->new->decode(do { open my $f, "<", $report; <$f> })->{executions};
		my @cost = map { open my $f, "<", $_; my %v = reverse join("", <$f>) =~ /^([\d.]+),[^,]*,([a-z:-]+),/mg;
			\%v } $one, $all;
		my @each = map { (($cost[1]{$_} // 0) - ($cost[0]{$_} // 0)) / ($n > 1 ? $n - 1 : 1) }
			qw(instructions:u instructions:k task-clock page-faults context-switches);
		printf "| %s | %d | %.2f | %.2f | %.0f | %.0f | %.0f | %.1f |\n", $name, $n,
			$each[0] / 1e6, $each[1] / 1e6, $each[2] * 1e3, $each[3], $each[4], $seconds;' \
		"$1" "$scratch/one" "$scratch/all" "$scratch/report" "$(echo "$ended - $begun" | bc)"
}
echo "| program | executions | user | kernel | microseconds | page faults | switches | seconds |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
row "2 threads, 5 increments each" "-DN=2 -DEACH=5" "$scratch/counter.c"
row "6 threads, one increment each" "-DN=6 -DEACH=1" "$scratch/counter.c"
row "ring, 8" "" "$here/ring.c"
row "fkp2013, 4" "-DLB=4" "$here/fkp.c"
row "workstealqueue, 4" "" "$here/workstealqueue.c"
row "set, mixed, 6 threads" "-DSET -DN=6 -DMIXED" "$here/structures.c"
row "hash table, mixed, 7 threads" "-DTABLE -DN=7 -DMIXED" "$here/structures.c"
row "union-find, mixed, 6 threads" "-DCLASSES -DN=6 -DMIXED" "$here/structures.c"
row "pool" "" "$here/pool.cc" 100
