#!/bin/bash
# weak_witness.t - witnesses of runs under a memory model: `explore --memory -o` and `heddle witness`
# write them, `verify` judges them by the axioms, `replay` drives the program along them; changed ones
# are refused; and `races` says which model a race needs.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

# ---- the failing run of each litmus program, as a witness ----
while read -r name model; do
	run "$HEDDLE" cc -g -O1 -pthread -Wno-tsan -o "$name" "$programs/litmus/$name.c"
	run "$HEDDLE" explore --memory "$model" -o "$name.tree" --format json -- "./$name"
	number=$(json '$d->{errors}[0]{run}')
	mv "$name.tree.run$number.wit" "$name.wit"
	trace=$name.tree.run$number.hdl
	run "$HEDDLE" verify --memory "$model" "$trace" "$name.wit"
	is "$status" 0 "$name, $model: the run is one of the model"
	run "$HEDDLE" verify --memory sc "$trace" "$name.wit"
	is "$status" 1 "$name, $model: and none under sc"
	run timeout 300 "$HEDDLE" replay --witness "$name.wit" -- "./$name"
	is "$status" 1 "$name, $model: the program does it along the witness"
	run "$HEDDLE" witness "$trace" -o "$name.own.wit"
	cmp -s "$name.wit" "$name.own.wit" || sed -i 1,2d "$name.wit" "$name.own.wit"
	cmp -s "$name.wit" "$name.own.wit"
	ok $? "$name, $model: 'heddle witness' writes the same"
done <<'T'
mp rc11
iriw_ra rc11
2_2w rc11
s rc11
wrc rc11
sb tso
r tso
T

# ---- changed ones ----
verify_changed() { # WHAT PERL: mp's witness, changed
	"$HEDDLE" witness mp.tree.run*[1-9].hdl >mp.wit
	perl -0pe "$2" mp.wit >changed.wit
	cmp -s mp.wit changed.wit
	is $? 1 "$1: there is something to change"
	run "$HEDDLE" verify mp.tree.run*[1-9].hdl changed.wit
}
verify_changed 'reads the store that it passed over' 's/# reads -\n//'
is "$status" 1 'a load said to read the last store, of another value, is refused'
verify_changed 'a step less' 's/^\d+ # T1\|aw\S+ \n//m; s/^\d+ # T1\|aw.*\n//m'
is "$status" 1 'a witness without a store is refused'
verify_changed 'two rows' 's/# reads -\n/# reads -\n# reads -\n/'
is "$status" 1 'a load with two stores is refused'
verify_changed 'a row of a store' 's/(\|aw4.*\n)/$1# reads -\n/'
is "$status" 1 'a store that is said to read is refused'
verify_changed 'an event that is not there' 's/\z/9999\n/'
is "$status" 2 'an event that the trace does not have is bad input'
verify_changed 'the other model' 's/memory rc11/memory tso/'
is "$status" 1 'it is none of tso'

# a lock that one thread holds is not taken by another, whatever the witness leaves out
printf '%s\n' '#! heddle 1' '#! note memory rc11' 'A|acq(m)|1' 'A|aw(x)=1;rlx|2' 'A|rel(m)|3' 'B|acq(m)|4' \
	'B|ar(x)=0;rlx|5' 'B|rel(m)|6' 'A|ar(x)=1;rlx|7' >lock.txt
printf '%s\n' '#! heddle-witness 1' '#! trace lock.txt -' '#! kind prefix' '#! memory rc11' 0 1 3 >lock.wit
run "$HEDDLE" verify lock.txt lock.wit
is "$status" 1 'a lock is not taken while another thread holds it'
like "$out" 'event 2, A.s unlock m at 3, on the same object' 'which it names'

# ---- which model a race needs ----
# store buffering lets both in; a plain race before it needs nothing
cat >guard.txt <<'T'
#! heddle 1
#! note memory tso
A|w(e)=1|a.c:1
B|w(e)=2|b.c:1
A|flush(0)|a.c:1
B|flush(1)|b.c:1
A|aw(x)=1;rlx|a.c:2
A|ar(y)=0;rlx|a.c:3
A|w(d)=1|a.c:4
B|aw(y)=1;rlx|b.c:2
B|ar(x)=0;rlx|b.c:3
B|w(d)=2|b.c:4
A|flush(4)|a.c:2
A|flush(6)|a.c:4
B|flush(7)|b.c:2
B|flush(9)|b.c:4
T
run "$HEDDLE" races --format json guard.txt
is "$status" 1 'a run with two races'
is "$(json 'join " ", map { "$_->{variable}:$_->{verdict}:$_->{memory}" } @{$d->{findings}}')" \
	'e:race:sc d:race:tso' 'one needs store buffers'
run "$HEDDLE" races guard.txt
like "$out" 'needs no weak memory' 'text says so of the one'
like "$out" 'no sequentially consistent run has these values, store buffers' 'and of the other'
for pair in '0 1:sc' '6 9:tso'; do
	run "$HEDDLE" witness guard.txt ${pair%:*} -o guard.wit
	is "$status" 1 "${pair%:*}: a witness"
	is "$(sed -n 's/^#! memory //p' guard.wit)" "$([ "${pair#*:}" = sc ] || echo tso)" "${pair%:*}: its model"
	run "$HEDDLE" verify guard.txt guard.wit
	is "$status" 0 "${pair%:*}: verify accepts it"
done
sed -i 's/#! pair 6 9/#! pair 4 8/' guard.wit
run "$HEDDLE" verify guard.txt guard.wit
is "$status" 1 'a pair of two atomics is no race'

# the real program: a guard that only rc11 opens, and one that tso opens, too
cat >guard.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
int data;
static void *first(void *p)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
#ifdef PASSED
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	data = 1;
#else
	if (atomic_load_explicit(&y, memory_order_relaxed) == 0)
		data = 1;
#endif
	return p;
}
static void *second(void *p)
{
#ifdef PASSED
	int a = atomic_load_explicit(&y, memory_order_relaxed);
	int b = atomic_load_explicit(&x, memory_order_relaxed);
	if (a == 1 && b == 0)
		data = 2;
#else
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	if (atomic_load_explicit(&x, memory_order_relaxed) == 0)
		data = 2;
#endif
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, first, 0);
	pthread_create(&b, 0, second, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
while read -r define model needs; do
	run "$HEDDLE" cc -g -O1 -pthread -Wno-tsan "-D$define" -o guard guard.c
	found= seed=0
	while [ -z "$found" ] && [ $seed -lt 60 ]; do
		seed=$((seed + 1))
		"$HEDDLE" record -q -o guard.hdl --memory "$model" --seed $seed -- ./guard
		run "$HEDDLE" races --format json guard.hdl
		found=$(json 'join " ", map { "$_->{variable} $_->{memory}" } @{$d->{findings}}')
	done
	is "$found" "data $needs" "$define under $model: the race needs $needs"
	pair=$(json 'join " ", map { $_->{first}, $_->{second} } $d->{findings}[0]')
	# shellcheck disable=SC2086
	run "$HEDDLE" witness guard.hdl $pair -o guard.wit
	run "$HEDDLE" verify guard.hdl guard.wit
	is "$status" 0 "$define under $model: its witness is accepted"
	run timeout 300 "$HEDDLE" replay --witness guard.wit -- ./guard
	is "$status" 0 "$define under $model: the program comes there"
	like "$err" 'T1 first:' 'and goes on in this order'
	like "$err" 'T2 first:' 'and in the other one'
done <<'T'
PASSED rc11 rc11
BUFFERED rc11 tso
BUFFERED tso tso
T
# a trace that is sequentially consistent
printf '%s\n' '#! heddle 1' 'A|w(d)=1|1' 'B|w(d)=2|2' >plain.txt
run "$HEDDLE" races --format json plain.txt
is "$(json '$d->{findings}[0]{memory}')" sc 'a race of an ordinary trace needs none'

# ---- orders that are tried: explore --order ----
order() { run "$HEDDLE" explore --memory rc11 "$@" --format json -- ./mp; }
order --order mp.c:5=release --order mp.c:6=acquire
is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{graphs}') $(json 'scalar @{$d->{orders}}')" "0 1 3 2" \
	'with release and acquire no run of mp fails'
order --order mp.c:5=release
is "$status $(json '$d->{complete} ? 1 : 0') $(json '$d->{errors}[0]{kind}')" '1 1 exit-status' 'release alone leaves one'
order --order mp.c:7=release
like "$(json 'join " ", @{$d->{gaps}}')" 'no run has an atomic operation there that can have this order' \
	'an order that no operation there can have is named'
is "$(json '$d->{complete} ? 1 : 0')" 0 'and nothing is complete'
run "$HEDDLE" explore --memory rc11 --order mp.c:5=release --order mp.c:6=acquire -- ./mp
like "$out" 'with release at mp.c:5 and acquire at mp.c:6 in place' 'text says which'
for bad in mp.c:5=strong mp.c:5 =release; do
	run "$HEDDLE" explore --memory rc11 --order $bad -- ./mp
	is "$status" 2 "--order $bad is refused"
done
run "$HEDDLE" explore --memory tso --order mp.c:5=release -- ./mp
is "$status" 2 '--order is about rc11'
done_testing
