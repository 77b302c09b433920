#!/bin/bash
# heddle fix-check: right fixes are accepted, with what makes the finding impossible; wrong ones are
# not, nor code that is not reached; new deadlocks are told.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cc() { "$HEDDLE" cc -g -O1 -w "$1" -o "$2" -pthread || exit 1; }
fates() { json 'join(" ", map { $_->{fate} } @{$d->{findings}}) . " new " . join(" ", map { $_->{kind} } @{$d->{new}})'; }
sample=$root/samples
for s in bank:bank last-seat:last_seat; do
	cc "$sample/${s%:*}/${s#*:}.c" "${s%:*}"
	cc "$sample/${s%:*}/fixed.c" "${s%:*}-fixed"
	"$HEDDLE" check -o "${s%:*}" --format json -- "./${s%:*}" >"${s%:*}.json" 2>/dev/null
done

run "$HEDDLE" fix-check bank.json -o f --format json -- ./bank-fixed
is "$status $(fates)" "0 fixed new " "a right fix, in a file of another name"
is "$(json '$d->{findings}[0]{why}')" "both now hold m" "what makes it impossible"
run "$HEDDLE" fix-check bank.json -o f --format json -- ./bank
is "$status $(fates)" "1 present new " "no fix"
ok "$(json '-e $d->{findings}[0]{now}{"witness-file"} ? 0 : 1')" "with a new witness"
run "$HEDDLE" fix-check bank.run0.hdl -o f -- ./bank-fixed
is "$status" 0 "OLD is a trace"
like "$out" "1 fixed, 0 present, 0 hidden, 0 undecided, 0 new" "as text"
like "$out" " bank.c:[0-9]+  in deposit, from worker bank.c:[0-9]+" "the old finding has its old places"
"$HEDDLE" races bank.run0.hdl --format json >races.json
run "$HEDDLE" fix-check races.json -o f --format json -- ./bank-fixed
is "$status $(fates)" "0 fixed new " "OLD is a report of races"
"$HEDDLE" explore --format json -- ./last-seat >explored.json 2>/dev/null
run "$HEDDLE" fix-check explored.json -o f --format json -- ./last-seat-fixed
is "$status $(fates)" "0 fixed new " "OLD is a report of explore"
run "$HEDDLE" fix-check last-seat.json -o f --format json -- ./last-seat-fixed
is "$status $(json '$d->{findings}[0]{why}')" "0 no schedule of this input shows it" "an exit status, by every schedule"

for kind in remove half other; do
	"$root/tests/wrong_fix.pl" $kind "$sample/bank/fixed.c" >bank.c || exit 1
	cc bank.c wrong
	run "$HEDDLE" fix-check bank.json -o f --format json -- ./wrong
	is "$status" 1 "a wrong fix is not accepted: $kind"
done
for kind in volatile sleep flag; do
	"$root/tests/wrong_fix.pl" $kind "$sample/bank/bank.c" >bank.c || exit 1
	cc bank.c wrong
	run "$HEDDLE" fix-check bank.json -o f --format json -- ./wrong
	is "$status" 1 "a wrong fix is not accepted: $kind"
	like "$(fates)" "^present" "the race is present: $kind"
done

# the fix of a violation of atomicity has no more the helpers that it was in
cc "$sample/pipeline/pipeline.c" pipeline
cc "$sample/pipeline/fixed.c" pipeline-fixed
"$HEDDLE" check -o p --runs 4 --format json -- ./pipeline >pipeline.json 2>/dev/null
run "$HEDDLE" fix-check pipeline.json -o f --runs 4 --format json -- ./pipeline-fixed
is "$status $(fates)" "0 $(json 'join(" ", map { "fixed" } @{$d->{findings}})') new " "one critical section of two"

# the reporter does not run any more: hidden
sed 's/pthread_create(&t2, NULL, reporter, NULL)/if (!getenv("REPORT")) return 0; else &/; s/#include <stdio.h>/&\n#include <stdlib.h>/' "$sample/bank/bank.c" >bank.c
cc bank.c hidden
run "$HEDDLE" fix-check bank.json -o f --format json -- ./hidden
is "$status $(fates)" "1 hidden new " "places that no run reaches: hidden"

# two locks in two orders: no race, but a deadlock
cat >locks.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *one(void *p) {
	pthread_mutex_lock(&a);
#ifdef FIX
	pthread_mutex_lock(&b);
#endif
	x++;
#ifdef FIX
	pthread_mutex_unlock(&b);
#endif
	pthread_mutex_unlock(&a);
	return p;
}
static void *two(void *p) {
	pthread_mutex_lock(&b);
#ifdef FIX
	pthread_mutex_lock(&a);
#endif
	x++;
#ifdef FIX
	pthread_mutex_unlock(&a);
#endif
	pthread_mutex_unlock(&b);
	return p;
}
int main(void)
{
	pthread_t s, t;
	pthread_create(&s, 0, one, 0);
	pthread_create(&t, 0, two, 0);
	pthread_join(s, 0);
	pthread_join(t, 0);
	return 0;
}
C
cc locks.c locks
"$HEDDLE" cc -g -O1 -DFIX locks.c -o locks-fixed -pthread
"$HEDDLE" check -o l --format json -- ./locks >locks.json 2>/dev/null
run "$HEDDLE" fix-check locks.json -o f --format json -- ./locks-fixed
is "$status $(json 'join(" ", map { $_->{fate} } @{$d->{findings}}) . " " . $d->{new}[0]{kind}')" \
	"1 $(json 'join(" ", map { "fixed" } @{$d->{findings}})') deadlock" "the race is fixed by a deadlock"

echo '{"heddle": "0.1.0", "findings": [{"kind": "weird", "verdict": "race", "sites": [{"file": 3}]}, {}]}' >odd.json
run "$HEDDLE" fix-check odd.json -o f --format json -- ./bank-fixed
is "$status $(fates)" "3 undecided undecided new " "findings that say nothing are undecided"
run "$HEDDLE" fix-check no-such.json -- ./bank
is "$status" 2 "no such report"
run "$HEDDLE" fix-check bank.json
is "$status" 2 "no program"
run "$HEDDLE" fix-check bank.json -- ./no-such-program
is "$status" 2 "no such program"
done_testing
