#!/bin/bash
# heddle explore: accesses that share only a part of their bytes.  What a read sees does not depend on how
# other accesses of a run divide its bytes; nor does a variable's value at the end.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >bytes.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
static volatile union { uint64_t whole; int halves[2]; uint8_t bytes[8]; } m;
static volatile int x;
static int *volatile pointer;
#ifdef DIVIDES /* only when it sees the write are the bytes divided: the same read has one identity */
static void *one(void *p) { if (m.whole == 0x100000001) m.bytes[5] = 0; return p; }
static void *two(void *p) { m.whole = 0x100000001; return p; }
#elif defined ZERO /* parts of what it held initially */
static void *one(void *p) { m.halves[1] = 0; m.bytes[2] = 0; return p; }
static void *two(void *p) { (void)m.whole; return p; }
#elif defined POINTER /* known by its block, and so is each part */
static void *one(void *p) { pointer = malloc(4); return p; }
static void *two(void *p) { free(malloc(64)); if (pointer) (void)((volatile uint8_t *)&pointer)[1]; return p; }
#else /* FINAL */
static void *one(void *p) { x = 300; *(volatile uint8_t *)&x = 7; return p; }
static void *two(void *p) { x = 511; return p; }
#endif
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, one, 0);
	pthread_create(&t[1], 0, two, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}
C
for row in "DIVIDES 2 2" "ZERO 1 1" "POINTER 2 2"; do
	set -- $row
	run "$HEDDLE" cc -g -O1 "-D$1" bytes.c -o bytes -pthread
	for seed in 0 1 2; do
		run "$HEDDLE" explore --format json --seed $seed -- ./bytes
		is "$(json '"$d->{executions} $d->{states} ".($d->{complete} ? "complete" : "open")')" "$2 $3 complete" \
			"$1, seed $seed: as many classes as values"
	done
done

run "$HEDDLE" cc -g -O1 -DFINAL bytes.c -o bytes -pthread
run "$HEDDLE" explore --format json --final x -- ./bytes
is "$(json '"$d->{states} ".($d->{complete} ? "complete" : "open")')" "2 complete" "a variable written in parts has two values at the end"
run "$HEDDLE" explore --format json --check 'x == 511 || x == 263' -- ./bytes
is "$(json '@{$d->{errors}}." ".($d->{complete} ? "complete" : "open")')" "0 complete" "and they are known to --check"
run "$HEDDLE" explore --format json --check 'x != 263' -- ./bytes
like "$(json '$d->{errors}[0]{story}')" 'x = 263' "which tells them"
done_testing
