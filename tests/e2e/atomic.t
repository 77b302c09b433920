#!/bin/bash
# Atomic-set serializability on text traces: the paper's figures and the corners of the
# definition.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Figure 2 of the Marathon paper: three threads, three variables, no two units alone.
cat >figure2.txt <<'T'
#! heddle 1
#! atomic-set S x y z
T1|ubeg(u1,S)|
T2|ubeg(u2,S)|
T3|ubeg(u3,S)|
T1|w(x)|a.c:1
T2|r(x)|a.c:2
T2|w(y)|a.c:3
T3|r(y)|a.c:4
T3|w(z)|a.c:5
T1|r(z)|a.c:6
T1|uend(u1)|
T2|uend(u2)|
T3|uend(u3)|
T
run "$HEDDLE" atomic figure2.txt --format json
is "$status" 1 "figure 2: found"
is "$(json 'scalar @{$d->{findings}}')" 1 "figure 2: one cycle"
is "$(json 'join " ", map { $_->{unit} } @{$d->{findings}[0]{cycle}}')" "u1 u2 u3" "figure 2: three units"
is "$(json 'join " ", map { $_->{variable} } @{$d->{findings}[0]{edges}}')" "x y z" "figure 2: one variable an edge"
is "$(json '$d->{findings}[0]{verdict}')" happened "what happened has that verdict"
is "$(json '$d->{findings}[0]{mixed} ? 1 : 0')" 0 "one set is not mixed"
is "$(json '$d->{findings}[0]{cycle}[0]{begin} . "-" . $d->{findings}[0]{cycle}[0]{end}')" 0-9 "where the unit begins and ends"
is "$(json 'join ",", @{$d->{findings}[0]{edges}[0]{events}}')" 3,4 "the accesses of an edge"

run "$HEDDLE" atomic figure2.txt --post-mortem --format json
is "$(json 'join " ", map { $_->{unit} } @{$d->{findings}[0]{cycle}}')" "u1 u2 u3" "figure 2: after the fact, too"

# Figure 2 recorded one unit after the other: the cycle of three is predicted.
grep -e '^#' figure2.txt >apart.txt
for u in 1 2 3; do grep "^T$u|" figure2.txt; done >>apart.txt
run "$HEDDLE" atomic apart.txt
is "$status" 0 "figure 2, one unit after the other: nothing happened"
sed -i 's/r(x)/w(x)/; s/r(y)/w(y)/; s/r(z)/w(z)/' apart.txt # reads would keep what they have read
run "$HEDDLE" atomic apart.txt --predict -o apart.wit --format json
is "$(json 'join " ", map { $_->{unit} } @{$d->{findings}[0]{cycle}}')" "u1 u2 u3" "figure 2: three units are predicted"
is "$(json '$d->{findings}[0]{verdict}')" race "as what can happen"
is "$(json '$d->{complete} ? 1 : 0')" 1 "no cycle of three units is left"
run "$HEDDLE" verify apart.txt apart.wit
is "$status" 0 "verify accepts it"

# The same accesses, in two atomic sets that never meet: serializable each.
sed 's/^#! atomic-set.*/#! atomic-set S x\n#! atomic-set R y\n#! atomic-set Q z/; s/,S)/,S,R,Q)/' figure2.txt >mixed.txt
run "$HEDDLE" atomic mixed.txt --format json
is "$(json '$d->{findings}[0]{mixed} ? 1 : 0')" 1 "a cycle over several sets is mixed"
is "$(json 'join " ", sort @{$d->{findings}[0]{sets}}')" "Q R S" "and names its sets"

# An access outside of any unit is a unit of its own.
cat >outside.txt <<'T'
#! atomic-set S x
T1|ubeg(inc,S)|
T1|r(x)|c.c:1
T2|w(x)|c.c:9
T1|w(x)|c.c:2
T1|uend(inc)|
T
run "$HEDDLE" atomic outside.txt --format json
is "$(json 'join " ", sort map { $_->{unit} } @{$d->{findings}[0]{cycle}}')" "event 2 inc" "an access outside is 'event N'"

# A wait cuts the unit in two, and with it the false cycle of a bounded buffer.
cat >wait.txt <<'T'
#! atomic-set S n
T1|acq(m)|
T1|ubeg(get,S)|
T1|r(n)|b.c:1
T1|wait(c)|b.c:2
T1|rel(m)|
T2|acq(m)|
T2|ubeg(put,S)|
T2|w(n)|b.c:9
T2|signal(c)|
T2|uend(put)|
T2|rel(m)|
T1|wake(c)|
T1|acq(m)|
T1|r(n)|b.c:1
T1|uend(get)|
T1|rel(m)|
T
run "$HEDDLE" atomic wait.txt
is "$status" 0 "a wait splits the unit"
grep -v 'wait(\|wake(' wait.txt >nowait.txt
run "$HEDDLE" atomic nowait.txt
is "$status" 1 "without the wait it is one unit and not serializable"

# Repetitions are one finding with a count; --cycles caps the list and says so.
{
	echo '#! atomic-set S x y'
	for _ in 1 2 3; do
		printf 'T1|ubeg(a,S)|\nT1|r(x)|a.c:1\nT1|r(y)|a.c:2\nT2|ubeg(b,S)|\nT2|w(x)|b.c:1\n'
		printf 'T2|w(y)|b.c:2\nT2|uend(b)|\nT1|w(x)|a.c:3\nT1|w(y)|a.c:4\nT1|uend(a)|\n'
	done
} >repeat.txt
run "$HEDDLE" atomic repeat.txt --format json
is "$(json '(grep { $_->{count} == 3 } @{$d->{findings}}) > 0 ? 1 : 0')" 1 "repetitions are counted"
run "$HEDDLE" atomic repeat.txt --cycles 1 --format json
is "$(json 'scalar @{$d->{findings}}')" 1 "--cycles 1 lists one"
is "$(json '$d->{complete} ? 1 : 0')" 0 "and is not complete"
like "$(json '$d->{notes}[0]')" 'distinct cycles' "and says so"

# Figure 1 of the paper: serializable by atomic sets, not with the whole heap as one set.
cat >figure1.txt <<'T'
#! atomic-set account checking savings
#! atomic-set counter opCounter
T1|ubeg(transfer,account)|
T1|r(checking)|b.c:10
T1|w(checking)|b.c:10
T1|ubeg(inc,counter)|
T1|r(opCounter)|b.c:20
T1|w(opCounter)|b.c:20
T1|uend(inc)|
T2|ubeg(inc,counter)|
T2|r(opCounter)|b.c:20
T2|w(opCounter)|b.c:20
T2|uend(inc)|
T1|r(savings)|b.c:12
T1|w(savings)|b.c:12
T1|ubeg(inc,counter)|
T1|r(opCounter)|b.c:20
T1|w(opCounter)|b.c:20
T1|uend(inc)|
T1|uend(transfer)|
T
run "$HEDDLE" atomic figure1.txt
is "$status" 0 "figure 1: atomic-set serializable"
sed 's/^#! atomic-set account.*/#! atomic-set heap checking savings opCounter/; /^#! atomic-set counter/d; s/,account)/,heap)/; s/,counter)/,heap)/' figure1.txt >heap.txt
run "$HEDDLE" atomic heap.txt
is "$status" 1 "figure 1: not with the whole heap as one set"

# Prediction: what did not happen and can, with a witness that verify accepts.
cat >serial.txt <<'T'
#! atomic-set S x y
T1|acq(m)|
T1|ubeg(transfer,S)|
T1|w(x)|a.c:1
T1|rel(m)|
T1|acq(m)|
T1|w(y)|a.c:2
T1|uend(transfer)|
T1|rel(m)|
T2|acq(m)|
T2|ubeg(reset,S)|
T2|w(x)|a.c:9
T2|w(y)|a.c:10
T2|uend(reset)|
T2|rel(m)|
T
run "$HEDDLE" atomic serial.txt
is "$status" 0 "nothing happened"
run "$HEDDLE" atomic serial.txt --predict -o serial.wit --format json
is "$status" 1 "predicted"
is "$(json '$d->{findings}[0]{verdict}')" race "a prediction has the verdict race"
is "$(json 'scalar @{$d->{findings}[0]{witness}} > 0 ? 1 : 0')" 1 "and a witness"
like "$(cat serial.wit)" '^#! kind atomic' "the witness file says what it claims"
run "$HEDDLE" verify serial.txt serial.wit
is "$status" 0 "verify accepts it"
grep -v '^1[01] ' serial.wit >nocycle.wit
run "$HEDDLE" verify serial.txt nocycle.wit
is "$status" 1 "verify refuses a reordering without the cycle"
sed '/a.c:1$/{n;N;d}' serial.txt >locked.txt
run "$HEDDLE" atomic locked.txt --predict
is "$status" 0 "one critical section: nothing is predicted"
run "$HEDDLE" atomic serial.txt --predict --budget nonsense
is "$status" 2 "a budget of no numbers is bad usage"

# Sets and units from a specification.
cat >calls.txt <<'T'
T1|fork(T2)|
T1|enter(transfer)|
T1|w(acct.checking)|a.c:1
T2|enter(audit)|
T2|r(acct.checking)|b.c:1
T2|r(acct.savings)|b.c:2
T2|leave(audit)|
T1|w(acct.savings)|a.c:2
T1|leave(transfer)|
T
cat >bank.spec <<'S'
atomics bank {
  set account : struct account { checking, savings }
  unit transfer on account
  unit audit on account
}
S
run "$HEDDLE" atomic calls.txt --spec bank.spec --format json
is "$status" 1 "declared by a specification"
is "$(json 'join " ", map { $_->{unit} } @{$d->{findings}[0]{cycle}}')" "transfer audit" "units of the specification"
is "$(json 'join ",", @{$d->{findings}[0]{sets}}')" account "set of the specification"
is "$(json '$d->{findings}[0]{grade}')" B "declared ones have grade B"
sed 's/  unit audit.*//' bank.spec >half.spec
run "$HEDDLE" atomic calls.txt --spec half.spec
is "$status" 0 "what is no unit is single accesses"
printf 'atomics bank {\n  unit f on nothing\n}\n' >bad.spec
run "$HEDDLE" atomic calls.txt --spec bad.spec
is "$status" 2 "a specification that names no set"
like "$err" 'bad.spec:2' "is refused with its line"

# Graphs.
run "$HEDDLE" graph calls.txt --spec bank.spec -o calls.dot
is "$status" 0 "graph"
like "$(cat calls.dot)" 'acct.savings 5, 7' "DOT names the accesses of an edge"
run "$HEDDLE" graph calls.txt --spec bank.spec --kind conflict -o calls.svg
like "$(tr -d '\n' <calls.svg)" '^<svg .*acct.savings 5, 7.*</svg>$' "SVG, too"
# what lies between two cycles is on none
cat >between.txt <<'T'
#! atomic-set S x y
T1|ubeg(a,S)|
T1|w(x)|
T2|w(x)|
T1|w(x)|
T1|uend(a)|
T1|ubeg(between,S)|
T1|w(x)|
T1|w(y)|
T1|uend(between)|
T1|ubeg(c,S)|
T1|w(y)|
T2|w(y)|
T1|w(y)|
T1|uend(c)|
T
run "$HEDDLE" graph between.txt
like "$out" '"between 5' "a unit that is on no cycle is drawn"
run "$HEDDLE" graph between.txt --cycles
is "$(grep -c '"between 5' <<<"$out")" 0 "but not with --cycles"
like "$out" '"a ' "which draws those that are"
run "$HEDDLE" graph serial.txt --kind order -o order.svg
like "$(cat order.svg)" '^<svg ' "SVG"
run "$HEDDLE" graph serial.txt --kind order --order nonsense
is "$status" 2 "an unknown order is bad usage"

# Inferred from debug information: a lost update that no lock covers as a whole.
cat >hits.c <<'C'
#include <pthread.h>
struct counter { pthread_mutex_t lock; long hits, seen; };
static struct counter counter = { .lock = PTHREAD_MUTEX_INITIALIZER };
__attribute__((noinline)) void hit(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	long n = c->hits;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&c->lock);
	c->hits = n + 1;
	c->seen = 1;
	pthread_mutex_unlock(&c->lock);
}
void *visitor(void *x) { for (int i = 0; i < 4; i++) hit(&counter); return x; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, visitor, NULL);
	pthread_create(&b, NULL, visitor, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
"$HEDDLE" cc -g -O1 hits.c -o hits -pthread
"$HEDDLE" record -o hits.hdl --seed 1 -- ./hits 2>/dev/null
run "$HEDDLE" atomic hits.hdl --sets
like "$out" 'set counter : struct counter [{] hits, seen [}]' "the inferred set"
like "$out" 'unit hit on counter' "the inferred unit"
printf '%s\n' "$out" >inferred.spec
run "$HEDDLE" atomic hits.hdl --all --predict --format json
is "$status" 1 "the lost update is found"
is "$(json '(grep { join("", map { $_->{unit} } @{$_->{cycle}}) =~ /^(hit)+$/ } @{$d->{findings}}) > 0 ? 1 : 0')" 1 "between the units hit"
run "$HEDDLE" atomic hits.hdl --predict
like "$out" "cycles? of grade C [(]inferred only[)] (is|are) not listed: --all lists" "what is left out is counted"
unlike "$out" "no violation by these units" "and not called nothing"
run "$HEDDLE" atomic hits.hdl --spec inferred.spec --predict
is "$status" 1 "what was inferred can be saved and used"

# A predicted cycle of a real program, replayed: both units write both, the one in two critical
# sections.
cat >reset.c <<'C'
#include <pthread.h>
struct pair { pthread_mutex_t lock; long low, high; };
static struct pair pair = { .lock = PTHREAD_MUTEX_INITIALIZER };
__attribute__((noinline)) void pair_set(struct pair *p, long n)
{
	pthread_mutex_lock(&p->lock);
	p->low = n;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_lock(&p->lock);
	p->high = n + 1;
	pthread_mutex_unlock(&p->lock);
}
void *setter(void *n) 
{
	for (int i = 0; i < 3; i++)
		pair_set(&pair, (long)n);
	return n;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, setter, (void *)1);
	pthread_create(&b, NULL, setter, (void *)2);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
C
"$HEDDLE" cc -g -O1 -fno-inline -fno-optimize-sibling-calls reset.c -o reset -pthread
cat >pair.spec <<'S'
atomics pair {
  set pair : struct pair { low, high }
  unit pair_set on pair
}
S
for seed in 1 2 3 4 5 6 7 8; do # a seed whose run is serializable
	"$HEDDLE" record -q -o reset.hdl --seed $seed -- ./reset
	"$HEDDLE" atomic reset.hdl --spec pair.spec >/dev/null && break
done
run "$HEDDLE" atomic reset.hdl --spec pair.spec --predict -o reset.wit --format json
is "$(json '(grep { $_->{verdict} eq "race" && join("", map { $_->{unit} } @{$_->{cycle}}) =~ /^(pair_set)+$/ } @{$d->{findings}}) > 0 ? 1 : 0')" 1 "predicted for a real program"
run "$HEDDLE" verify reset.hdl reset.wit --spec pair.spec
is "$status" 0 "verify accepts it"
run "$HEDDLE" replay -w reset.wit -- ./reset
is "$status" 0 "and the program follows it"
like "$err" 'stopped before the event' "to the last event of the cycle"

run "$HEDDLE" atomic /nonexistent
is "$status" 2 "a missing trace is bad input"
like "$err" 'nonexistent' "the message names the file"

# A unit cut in two by a wait goes on with its thread's next event, not with another thread's that comes between.
cat >"$scratch/cut.txt" <<'T'
#! atomic-set S x y
T1|ubeg(u,S)|1
T1|acq(l)|2
T1|wait(c)|3
T2|ubeg(v,S)|4
T1|rel(l)|5
T1|w(x)|6
T2|w(x)|7
T2|w(y)|8
T2|uend(v)|9
T1|w(y)|10
T1|uend(u)|11
T
for way in "" --post-mortem; do
	run "$HEDDLE" atomic "$scratch/cut.txt" $way --format json
	is "$(json 'join " ", sort map { "$_->{unit} $_->{thread} $_->{begin}-$_->{end}" } @{$d->{findings}[0]{cycle}}')" \
		"u T1 4-10 v T2 3-8" "the part of a unit after a wait${way:+ ($way)}"
done
done_testing
