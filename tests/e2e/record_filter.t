#!/bin/bash
# `record --filter`: what is left out while the program runs is only what other accesses say as
# well. Programs of random steps (programs/filtered.c) are recorded whole and filtered in the same
# schedule: the same synchronisation, and the same pairs of places and variables by each analysis
# that the filter is for. What is not known of such a trace is refused, or said.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 "$programs/filtered.c" -o filtered -pthread || echo "# cannot build filtered"

# others TRACE: all of its events but plain accesses, looks at atomics (a repeated one is counted
# where nothing was recorded since), calls and returns. (Names of blocks: see below.)
others() {
	$HEDDLE convert -q "$1" "$1.txt"
	grep -v '^#' "$1.txt" | grep -Ev '\|(a?r[0-9]*\(|w[0-9]*\(|enter|leave)' | cut -d'|' -f1,2 |
		sed -E 's/(alloc|free)\(\*?(shown|old|p|block@[^,)]*)(#[0-9]+)?/\1(block/'
}
# pairs TRACE ANALYSIS: "place place variable" of each, sorted. (Without values a block has the name
# of another pointer, and so another number.)
pairs() {
	$HEDDLE races -q --analysis "$2" --pairs events --format json "$1" | perl -ne '
		my ($sites, $variable) = /"sites": \[(.*?)\], "variable": "([^"]*)"/ or next;
		$variable =~ s/^(shown|late|old|p)(#\d+)?\b/block/;
		$variable =~ s{^block@.*\+(\d+)$}{"block[" . $1 / 4 . "]"}e;
		my @sites = sort map { s/"//gr } $sites =~ /("line": \d+, "column": \d+, "function": "[^"]*")/g;
		$pairs{"@sites $variable"} = 1;
		END { print "$_\n" for sort keys %pairs }'
}

# variables TRACE ANALYSIS: those that race, as above
variables() { pairs "$1" "$2" | sed 's/.* //' | sort -u; }

# unlike_live NAME HOW PROGRAM...: counts in $differ a run without a trace that does not print a race of
# each byte that races in whole.hdl, of the same run, or prints another; in $live_bytes these bytes.
differ=0 live_bytes=0
unlike_live() {
	local name=$1 how=$2
	shift 2
	$HEDDLE convert -q whole.hdl whole.txt
	$HEDDLE races -q --analysis hb --pairs events --format json whole.hdl >whole.json
	$HEDDLE record --no-trace $how -- "$@" 2>live.err
	perl "$root/tests/e2e/live_pairs.pl" whole.txt whole.json live.err >live.said || {
		differ=$((differ + 1))
		sed "s/^#/# $name, $how:/" live.said
	}
	live_bytes=$((live_bytes + $(sed -n 's/ bytes.*//p' live.said)))
}

seeds=${HEDDLE_FILTER_SEEDS:-8}
bad=0 other_runs=0 dropped=0 found=0 fewer=0 racing=0
for seed in $(seq "$seeds"); do
	strategy=$(echo random pct noise rr | cut -d' ' -f$((seed % 4 + 1)))
	how="-q --seed $seed --strategy $strategy"
	$HEDDLE record $how -o whole.hdl -- ./filtered "$seed" || bad=$((bad + 1))
	unlike_live filtered "$how" ./filtered "$seed"
	others whole.hdl >whole.others
	for analysis in lockset hb cp wcp dc wdc; do
		pairs whole.hdl $analysis >"whole.$analysis"
	done
	$HEDDLE record $how --filter variables -o less.hdl -- ./filtered "$seed" || bad=$((bad + 1))
	others less.hdl | cmp -s - whole.others || other_runs=$((other_runs + 1))
	for analysis in lockset hb; do
		sed 's/.* //' "whole.$analysis" | sort -u >whole.variables
		variables less.hdl $analysis >less.variables
		racing=$((racing + $(wc -l <whole.variables)))
		cmp -s whole.variables less.variables && continue
		fewer=$((fewer + 1))
		echo "# seed $seed, $strategy, --filter variables, $analysis:"
		diff whole.variables less.variables | head -3 | sed 's/^/# /'
	done
	for filter in hb wcp; do
		$HEDDLE record $how --filter $filter -o less.hdl -- ./filtered "$seed" || bad=$((bad + 1))
		others less.hdl | cmp -s - whole.others || other_runs=$((other_runs + 1))
		left=$($HEDDLE info -q less.hdl | awk '$1 == "recording-left-out" { print $2 }')
		dropped=$((dropped + ${left:-0}))
		analyses="lockset hb"
		[ $filter = wcp ] && analyses="$analyses cp wcp dc wdc"
		for analysis in $analyses; do
			pairs less.hdl $analysis >less.pairs
			found=$((found + $(wc -l <"whole.$analysis")))
			cmp -s "whole.$analysis" less.pairs && continue
			bad=$((bad + 1))
			echo "# seed $seed, $strategy, --filter $filter, $analysis:"
			diff "whole.$analysis" less.pairs | head -3 | sed 's/^/# /'
		done
	done
done
is "$other_runs" 0 "the filtered recording is of the same run"
is "$fewer" 0 "--filter variables has the same variables"
ok $((racing <= 10 * seeds)) "which are many ($racing)"
is "$bad" 0 "and has the same pairs of places and variables"
ok $((dropped <= 100 * seeds)) "much is left out ($dropped)"
ok $((found <= 100 * seeds)) "and there is much to find ($found)"

# Blocks handed on without synchronisation: an allocation is before others' accesses of its block, and
# not before those of its thread after it (x); and the same access is of another block when the memory
# has come again.
cat >blocks.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static volatile int x, *volatile given, *volatile late;
__attribute__((noinline)) static void set(volatile int *p)
{
	*p = 1;
}
static void *run(void *p)
{
	volatile int *mine = given;
	if (mine) {
		*mine = 1;
		x = 2;
	}
	volatile int *old = late;
	for (int i = 0; i < 40; i++)
		set(old + 8 + i % 2);
	return p;
}
int main(void)
{
	pthread_t t;
	late = malloc(64);
	pthread_create(&t, 0, run, 0);
	set(&x);
	given = malloc(32);
	set(&x);
	free((void *)late);
	late = malloc(64);
	late[8] = late[9] = 3;
	return pthread_join(t, 0);
}
C
$HEDDLE cc -g -O1 blocks.c -o blocks -pthread || echo "# cannot build blocks"
bad=0 published=0 again=0
for seed in $(seq 8); do
	$HEDDLE record -q --strategy random --seed "$seed" -o whole.hdl -- ./blocks
	pairs whole.hdl hb >whole.hb
	unlike_live blocks "-q --strategy random --seed $seed" ./blocks
	published=$((published + $(grep -c ' x$' whole.hb)))
	again=$((again + $(grep -c 'function: main .* block\[8\]' whole.hb)))
	for filter in hb wcp; do
		$HEDDLE record -q --strategy random --seed "$seed" --filter $filter -o less.hdl -- ./blocks
		pairs less.hdl hb | cmp -s whole.hb && continue
		bad=$((bad + 1))
		pairs less.hdl hb | diff whole.hb - | sed "s/^/# seed $seed, $filter: /"
	done
done
is "$bad" 0 "blocks that are handed on without synchronisation, and come again: the same pairs"
ok $((published == 0)) "of accesses after an allocation ($published)"
ok $((again == 0)) "and of memory that came again ($again)"

# Bytes: accesses of several sizes beside and over each other, unaligned and in ranges, by threads that
# synchronise now and then, and addresses that share places in the filter's table.
cat >bytes.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { SIZE = 48, FAR = 1 << 22, STEPS = 400 };
typedef uint16_t u16 __attribute__((aligned(1), may_alias));
typedef uint32_t u32 __attribute__((aligned(1), may_alias));
typedef uint64_t u64 __attribute__((aligned(1), may_alias));
static volatile unsigned char *memory;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned seed;
static __attribute__((no_sanitize_thread)) unsigned draw(unsigned *x, unsigned below)
{
	*x = *x * 1664525 + 1013904223;
	return (*x >> 12) % below;
}
static void access_one(unsigned *x, volatile unsigned char *p, unsigned at)
{
	int writes = draw(x, 4) == 0;
	switch (draw(x, 5)) {
	case 0:
		writes ? (void)(p[at] = 1) : (void)p[at];
		break;
	case 1:
		writes ? (void)(*(volatile u16 *)(p + at) = 1) : (void)*(volatile u16 *)(p + at);
		break;
	case 2:
		writes ? (void)(*(volatile u32 *)(p + at) = 1) : (void)*(volatile u32 *)(p + at);
		break;
	case 3:
		writes ? (void)(*(volatile u64 *)(p + at) = 1) : (void)*(volatile u64 *)(p + at);
		break;
	default:
		if (writes)
			memset((void *)(p + at), 1, 1 + draw(x, 7));
		else
			(void)memchr((void *)(p + at), 255, 1 + draw(x, 7));
	}
}
static void *run(void *p)
{
	unsigned x = seed * 7919 + (unsigned)(long)p, part = (unsigned)(long)p * 12;
	for (int i = 0; i < STEPS; i++) {
		unsigned what = draw(&x, 40);
		if (what == 0) {
			pthread_mutex_lock(&m);
			access_one(&x, memory, draw(&x, SIZE - 8));
			pthread_mutex_unlock(&m);
		} else { /* mostly its own bytes, and those beside them */
			access_one(&x, memory + (what & 1) * FAR, part + draw(&x, 6));
		}
	}
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t[3];
	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	memory = mmap(0, FAR + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
$HEDDLE cc -g -O1 bytes.c -o bytes -pthread || echo "# cannot build bytes"
# racing TRACE ANALYSIS: the bytes of the memory that two accesses of a finding have in common
racing() {
	$HEDDLE convert -q "$1" accesses.txt
	$HEDDLE races -q --analysis "$2" --pairs events --format json "$1" | perl -ne '
		BEGIN {
			open my $t, "<", "accesses.txt";
			/^#/ or push @a, /\|[rw](\d+)\((?!stack)[^()]*\[0\]\+?(\d*)\)/ ? [$2 || 0, $1] : 0
				while <$t>;
		}
		/"first": (\d+), "second": (\d+)/ && $a[$1] && $a[$2] or next;
		my ($x, $y) = @a[$1, $2];
		$_ >= $y->[0] && $_ < $y->[0] + $y->[1] && $bytes{$_}++ for $x->[0] .. $x->[0] + $x->[1] - 1;
		END { print "$_\n" for sort { $a <=> $b } keys %bytes }'
}
fewer=0 racing=0
for seed in $(seq "$seeds"); do
	$HEDDLE record -q --seed "$seed" -o whole.hdl -- ./bytes "$seed"
	$HEDDLE record -q --seed "$seed" --filter variables -o less.hdl -- ./bytes "$seed"
	unlike_live bytes "-q --seed $seed" ./bytes "$seed"
	for analysis in lockset hb; do
		racing whole.hdl $analysis >whole.bytes
		racing=$((racing + $(wc -l <whole.bytes)))
		racing less.hdl $analysis | diff whole.bytes - >differ && continue
		fewer=$((fewer + 1))
		sed "s/^/# seed $seed, $analysis: /" differ
	done
done
is "$fewer" 0 "--filter variables: the same bytes of accesses of all sizes"
ok $((racing <= 10 * seeds)) "which are many ($racing)"

# A plain write of an atomic ends what later reads of it synchronise with, also when the thread has made
# the same write before: so y races.
cat >ends.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
static volatile int x, y, turn;
__attribute__((noinline)) static void set(void)
{
	x = 1;
}
static void await(int n)
{
	while (turn != n)
		;
}
static void *one(void *p)
{
	set();
	turn = 1;
	await(2);
	set();
	turn = 3;
	return p;
}
static void *two(void *p)
{
	y = 1;
	await(1);
	atomic_store_explicit((volatile _Atomic int *)&x, 2, memory_order_release);
	turn = 2;
	return p;
}
static void *three(void *p)
{
	await(3);
	(void)atomic_load_explicit((volatile _Atomic int *)&x, memory_order_acquire);
	y = 2;
	return p;
}
int main(void)
{
	static void *(*const all[])(void *) = { one, two, three };
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, all[i], 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
$HEDDLE cc -g -O1 ends.c -o ends -pthread || echo "# cannot build ends"
for filter in hb wcp variables; do
	bad=0
	for seed in $(seq 8); do
		for strategy in random pct; do
			$HEDDLE record -q --strategy $strategy --seed "$seed" --filter $filter -o less.hdl -- ./ends
			$HEDDLE races --analysis hb less.hdl | grep -q ' on y$' || bad=$((bad + 1))
		done
	done
	is "$bad" 0 "a plain write of an atomic is not left out: --filter $filter"
done
for seed in $(seq 8); do
	$HEDDLE record -q --strategy random --seed "$seed" -o whole.hdl -- ./ends
	unlike_live ends "-q --strategy random --seed $seed" ./ends
done
is "$differ" 0 "--no-trace: a race of each byte that races, and no other"
ok $((live_bytes <= 20 * seeds)) "which are many ($live_bytes)"

# What the trace says of itself, and who takes it.
run $HEDDLE record --seed 3 --filter -o less.hdl -- ./filtered 3
is "$status" 0 "--filter alone"
run $HEDDLE info --format json less.hdl
is "$(json '$d->{recording}{"recording-filter"}')" hb "is for happens-before"
is "$(json '$d->{filtered} ? 1 : 0')" 1 "the trace says that it is filtered"
is "$(json '$d->{values_exact} ? 1 : 0')" 0 "and that it has no values"
is "$(json '$d->{order_exact} ? 1 : 0')" 1 "its order is exact"
run $HEDDLE races --analysis hb less.hdl
is "$status" 1 "HB takes it"
unlike "$out" 'recorded with' "and has nothing to add"
for analysis in auto shb syncp m2 smt; do
	run $HEDDLE races --analysis $analysis less.hdl
	is "$status" 2 "$analysis refuses it"
	like "$err" 'recorded with --filter hb, which leaves accesses out, .*; use --analysis hb; or record without --filter' \
		"$analysis says why, and what to do"
done
run $HEDDLE races --analysis syncp --lenient less.hdl
like "$out" 'not complete' "syncp --lenient is never complete"
like "$out" 'recorded with --filter hb: values and which write a read saw are not known' "and says why"
run $HEDDLE races --analysis wcp less.hdl
like "$out" 'recorded with --filter hb: ' "--filter hb is not for WCP"
run $HEDDLE races --analysis hb --missing less.hdl
is "$status" 2 "HB refuses it with --missing"
like "$err" 'and --missing needs them all' "and says why"
run $HEDDLE atomic less.hdl
like "$out$err" 'recorded with --filter hb: ' "nor for atomicity"
run $HEDDLE deadlocks less.hdl
is "$status" 2 "deadlocks refuse it"
like "$err" 'recorded with --filter hb, .*; record without --filter; or --lenient' "with their own remedy"
run $HEDDLE replay --trace less.hdl -- ./filtered 3
is "$status" 125 "no replay"
like "$err" 'recorded with --filter hb, .*; record it without --filter, with the same --seed' "with the remedy"
$HEDDLE convert -q less.hdl less.txt
run $HEDDLE races --analysis shb less.txt
like "$err" 'recorded with --filter hb' "a text has it, too"
run $HEDDLE record -q --filter=variables -o less.hdl -- ./filtered 3
run $HEDDLE races --analysis hb less.hdl
is "$status" 1 "HB takes --filter variables"
like "$out" 'recorded with --filter variables: every variable that races does so at one of these pairs of places' \
	"and says what may be missing"
run $HEDDLE races --analysis wcp less.hdl
like "$out" 'recorded with --filter variables: values' "it is not for WCP"
run $HEDDLE record -q --filter=wcp -o less.hdl -- ./filtered 3
run $HEDDLE races --analysis wcp less.hdl
unlike "$out" 'recorded with' "--filter wcp is for WCP"
run $HEDDLE record -q --filter ./filtered 3
is "$status" 0 "--filter takes no program for its word"
run $HEDDLE record -q --filter=m2 -o less.hdl -- ./filtered 3
is "$status" 125 "another analysis"
like "$err" "expected one of hb, wcp, commute, variables, found 'm2'" "is an error"
for other in "--last 100" "--memory tso"; do
	run $HEDDLE record $other --filter -- ./filtered 3
	is "$status" 125 "not with $other"
	like "$err" '--filter is not for --' "which is said"
done

# Free mode leaves out more than by itself.
$HEDDLE record -q --mode free -o free.hdl -- ./filtered 4
run $HEDDLE record -q --mode free --filter -o less.hdl -- ./filtered 4
is "$status" 0 "free mode"
run $HEDDLE info --format json less.hdl
is "$(json '$d->{recording}{"recording-filter"}')" hb "says so, too"

# Who spins on what is left out gives way under every strategy.
$HEDDLE cc -g -O1 "$root/tests/e2e/programs/spin_flags.c" -o spin -pthread || echo "# cannot build spin"
for filter in hb variables; do
	for strategy in random pct noise rr; do
		for seed in 1 2 3; do
			run timeout 300 $HEDDLE record -q --filter $filter --strategy $strategy --seed $seed \
				-o spin.hdl -- ./spin
			is "$status" 0 "a program that spins ends: --filter $filter, $strategy, seed $seed"
			[ $filter = variables ] || continue
			run timeout 300 $HEDDLE record --no-trace --strategy $strategy --seed $seed -- ./spin
			is "$status" 1 "and without a trace, with its races"
			like "$err" 'on ready\[0\]' "which are there"
		done
	done
done
run timeout 300 $HEDDLE record -q --filter commute -o none.hdl -- ./spin
is "$status" 0 "nor is it when no access is written"
run $HEDDLE races --analysis hb spin.hdl
like "$out" 'on ready\[0\]' "its race"
like "$out" 'on ready\[1\]' "and the other"

# --filter commute: of random steps on dictionaries, with and without a lock, the same
# commutativity races as of the whole recording, and the same other events.
cat >table.spec <<'S'
object dict {
  method put(k, v) / p
  method get(k) / v
  commute put(k1, v1) / p1, put(k2, v2) / p2 : k1 != k2 || (v1 == p1 && v2 == p2)
  commute put(k1, v1) / p1, get(k2) / _      : k1 != k2 || v1 == p1
  commute get, get : true
  bind put = "put(struct table *self, long k, long v) -> long p"
  bind get = "get(struct table *self, long k) -> long v"
}
S
cat >table.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#define KEPT __attribute__((noinline, noclone))
enum { TABLES = 2, KEYS = 3, STEPS = 30 };
static struct table {
	pthread_mutex_t lock;
	long value[KEYS];
} tables[TABLES];
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static volatile long plain[4];
static unsigned seed;
KEPT static long put(struct table *t, long k, long v)
{
	pthread_mutex_lock(&t->lock);
	long p = t->value[k];
	t->value[k] = v;
	pthread_mutex_unlock(&t->lock);
	return p;
}
KEPT static long get(struct table *t, long k)
{
	return t->value[k];
}
static void *run(void *p)
{
	unsigned x = seed * 7919 + (unsigned)(long)p;
	for (int i = 0; i < STEPS; i++) {
		x = x * 1664525 + 1013904223;
		struct table *t = &tables[x >> 9 & 1];
		int locked = x >> 11 & 1;
		if (locked)
			pthread_mutex_lock(&own);
		switch (x >> 13 & 3) {
		case 0:
			put(t, (x >> 16) % KEYS, x >> 20 & 1);
			break;
		case 1:
			plain[0] = get(t, (x >> 16) % KEYS);
			break;
		case 2:
			for (int n = x >> 16 & 255; n; n--)
				plain[x >> 24 & 3] += n;
			break;
		default:
			free(malloc(8));
		}
		if (locked)
			pthread_mutex_unlock(&own);
	}
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t[3];
	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	for (int i = 0; i < TABLES; i++)
		pthread_mutex_init(&tables[i].lock, 0);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
$HEDDLE cc -g -O1 table.c -o table -pthread || echo "# cannot build table"
# invocations FILE: the report's pairs of calls, without numbers of events
invocations() {
	$HEDDLE commute -q --pairs events --format json "$1" |
		perl -ne 'print "@$_\n" for map { [ join(" ", /"(line": \d+|methods": \[.*?\]|points": \[.*?\])/g) ] } grep { /"sites"/ } $_' |
		sort
}
other_runs=0 differ=0 found=0
for seed in $(seq "$seeds"); do
	how="-q --seed $seed --strategy $(echo random pct noise rr | cut -d' ' -f$((seed % 4 + 1))) --spec table.spec"
	$HEDDLE record $how --no-missing -o whole.hdl -- ./table "$seed"
	$HEDDLE record $how --filter commute -o less.hdl -- ./table "$seed"
	others whole.hdl >whole.others
	others less.hdl | cmp -s - whole.others || other_runs=$((other_runs + 1))
	invocations whole.hdl >whole.pairs
	invocations less.hdl >less.pairs
	found=$((found + $(wc -l <whole.pairs)))
	cmp -s whole.pairs less.pairs || differ=$((differ + 1))
done
is "$other_runs" 0 "--filter commute: the same run"
is "$differ" 0 "and the same commutativity races"
ok $((found <= seeds)) "of which there are many ($found)"
run $HEDDLE convert less.hdl less.txt
is "$(grep -cE '\|(r|w)[0-9]*\(' less.txt)" 0 "no plain access is written"
run $HEDDLE commute less.hdl
like "$out" ', complete: ' "RD2 is complete on it"
run $HEDDLE commute --analysis cov less.hdl
like "$out" 'recorded with --filter commute: ' "order violations are not"
run $HEDDLE races --analysis hb less.hdl
is "$status" 2 "races refuses it"
like "$err" 'use heddle commute; or record without --filter' "with the remedy"
# A thread that makes no call of the object is in the trace all the same: the order of its creation and
# its end is that of two calls.
cat >between.c <<'C'
#include <pthread.h>
static struct table {
	long value[4];
} table;
static volatile int ready, other;
static pthread_t second;
__attribute__((noinline, noclone)) long put(struct table *t, long k, long v)
{
	long p = t->value[k];
	t->value[k] = v;
	return p;
}
__attribute__((noinline, noclone)) long get(struct table *t, long k)
{
	return t->value[k];
}
static void *idle(void *p)
{
	other++;
	return p;
}
static void *run(void *p)
{
	put(&table, 0, 1);
	pthread_create(&second, 0, idle, 0);
	ready = 1;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	while (!ready)
		;
	pthread_join(second, 0);
	put(&table, 0, 2);
	return pthread_join(t, 0);
}
C
$HEDDLE cc -g -O1 between.c -o between -pthread || echo "# cannot build between"
for how in --no-missing "--filter commute" "--filter commute --mode free"; do
	$HEDDLE record -q --spec table.spec $how -o between.hdl -- ./between
	run $HEDDLE commute between.hdl
	like "$out" '^between.hdl: 0 findings' "two calls with a thread between them: $how"
done
# An access of a block comes after its allocation; without accesses that is not known, and said.
sed 's/static void \*idle/static volatile int *volatile shown;\n&/; s/other++;/other++;/
	s/pthread_create(&second, 0, idle, 0);/shown = malloc(8);/; s/pthread_join(second, 0);/*shown = 1;/
	s/#include <pthread.h>/&\n#include <stdlib.h>/' between.c >shown.c
$HEDDLE cc -g -O1 shown.c -o shown -pthread || echo "# cannot build shown"
$HEDDLE record -q --spec table.spec --no-missing -o shown.hdl -- ./shown
run $HEDDLE commute shown.hdl
like "$out" '^shown.hdl: 0 findings' "an access after an allocation orders two calls"
$HEDDLE record -q --spec table.spec --filter commute -o shown.hdl -- ./shown
run $HEDDLE commute shown.hdl
like "$out" '1 of the findings may be ordered after all: a block of memory was allocated between the two calls' \
	"--filter commute lacks it, and a note says so"
run $HEDDLE record --live --filter commute -o less.hdl -- ./table
is "$status" 125 "nothing to find live"
like "$err" '--live finds races of accesses' "which is said"
done_testing
