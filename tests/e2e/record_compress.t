#!/bin/bash
# heddle record --compress: the same trace from a smaller log, and what a kill leaves of it.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >steps.c <<'C'
#include <pthread.h>
#include <unistd.h>
static int a[4096], last;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
	for (int i = 0; i < 40000; i++) {
		pthread_mutex_lock(&m);
		a[i * 7 % 4096] += i;
		a[i % 4096]++;
		pthread_mutex_unlock(&m);
	}
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t;
	char c = argv[0][0];
	pthread_create(&t, 0, work, 0);
	work(0);
	pthread_join(t, 0);
	last = 1;
	if (argc > 1 && (write(1, "x", 1) != 1 || read(0, &c, 1) < 0))
		return 1;
	last = 2;
	return 4;
}
C
$HEDDLE cc -O1 -g steps.c -o steps -pthread
run $HEDDLE record -q -o plain.hdl -- ./steps
run $HEDDLE record -q --compress -o small.hdl -- ./steps
is "$status" 4 "the program's exit status"
ok "$(cmp -s plain.hdl small.hdl; echo $?)" "the trace is that of a log as it is"
run $HEDDLE record -q --compress --mode free -o free.hdl -- ./steps
is "$status" 4 "free mode"
$HEDDLE convert free.hdl free.txt --to text
is "$(grep -c '|acq(m)|' free.txt)" 80000 "with every event of the order"
is "$(ls ./*.log-* 2>/dev/null | wc -l)" 0 "no log is left"
run $HEDDLE record --compress --last 1000 -- ./steps
is "$status" 125 "not with --last"
like "$err" "--last" "said"

# The recorder is killed when chunks have become frames, then the program.
blocks() { stat -c %b "$1" 2>/dev/null || echo 999999; }
compressed() { [ "$(blocks "$log")" -lt 6000 ]; } # 512-byte blocks; a log of 5 MB and more has 10000
wait_killed() { # MODE OUTPUT: leaves its log
	rm -f in out
	mkfifo in out
	$HEDDLE record -q --compress --mode "$1" -o "$2" -- ./steps wait <in >out 2>/dev/null &
	recorder=$!
	exec 8>in 9<out
	read -r -n1 -u9 _ # it has come to its read
	log=$(echo "$2".log-*)
	read -r program _ </proc/$recorder/task/$recorder/children
	await compressed
	kill -9 $recorder
	{ wait $recorder; } 2>/dev/null
	kill -9 "$program"
	exec 8>&- 9<&-
	await [ ! -e "/proc/$program" ]
}
for mode in controlled free; do
	wait_killed $mode $mode.hdl
	size=$(stat -c %s "$log")
	ok "$(compressed && [ "$size" -gt 5000000 ]; echo $?)" \
		"$mode: $size bytes in $(blocks "$log") blocks"
	run $HEDDLE convert "$log" killed.txt --to text
	is "$status" 0 "$mode: the log of a killed recorder opens"
	events=$(grep -c '|acq(m)|' killed.txt)
	ok "$([ "$events" -gt 60000 ] && [ "$events" -le 80000 ]; echo $?)" \
		"$mode: up to the last whole chunk ($events of 80000)"
done

cp --sparse=always "$log" damaged
printf 'damaged here' | dd of=damaged bs=1 seek=$((4096 + 3 * 1048576 + 200)) conv=notrunc 2>/dev/null
run $HEDDLE info damaged
is "$status" 0 "one damaged frame of several: the rest opens"
like "$err" "1 compressed chunks of the recording are damaged" "said"

# Elsewhere: what is there opens, or is refused in words.
for at in 1052680 1052700 1060000 3149832; do
	cp --sparse=always "$log" damaged
	printf '\377\377\377\377\377\377\377\377' | dd of=damaged bs=1 seek=$at conv=notrunc 2>/dev/null
	run $HEDDLE info damaged
	ok "$([ "$status" -le 2 ]; echo $?)" "damaged at $at: exit status $status"
done
head -c 1500000 "$log" >cut
run $HEDDLE info cut
ok "$([ "$status" -le 2 ]; echo $?)" "cut off: exit status $status"
done_testing
