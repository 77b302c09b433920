#!/bin/bash
# Code that is not instrumented, from the recording to the finding: libraries, what they call
# back, threads and programs, and what the user says of them.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
pairs() { json 'join " ", sort map { $_->{variable} } @{$d->{findings}}'; }
text() { "$HEDDLE" convert "$1" --to text text.txt && grep -v '^#' text.txt; }
races() { run "$HEDDLE" races "$@" --format json; }

# The sample: a library that hands letters over, and a counter that it does not.
make -s -C "$root/samples/courier" HEDDLE="$HEDDLE" OUT="$scratch" || exit 1
run "$HEDDLE" record -- ./courier
is "$status" 0 "courier is recorded"
races courier.hdl --analysis hb
is "$(pairs)" "letter#2->text stamps" "happens-before: what the library hands over is a false race"
races courier.hdl
like "$out" "6 calls went into code that is not instrumented" "and that is said"
is "$(json '$d->{uninstrumented} ? 1 : 0')" 1 "JSON says that accesses are missing"
run "$HEDDLE" races courier.hdl
like "$out" "complete: .* outside of code that is not instrumented$" "and the last line, of what it is complete"
run "$HEDDLE" deadlocks courier.hdl
like "$out" "complete: .* no deadlock or wait that never ends$" "which deadlocks are whole of"
races courier.hdl --analysis rdit
is "$(pairs)" "stamps" "rdit: the true race alone"
is "$(json '$d->{findings}[0]{verdict} . " " . ($d->{complete} ? 1 : 0)')" "race 1" "with a witness"
read -r e f < <(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"')
run "$HEDDLE" witness courier.hdl "$e" "$f" --missing -o stamps.wit
run "$HEDDLE" verify courier.hdl stamps.wit
is "$status" 0 "which the checker accepts, missing code and all"
races courier.hdl --analysis hb --pairs events
read -r e f < <(json 'my ($x) = grep { $_->{variable} =~ /text/ } @{$d->{findings}}; "$x->{first} $x->{second}"')
run "$HEDDLE" explain courier.hdl "$e" "$f" --missing
like "$out" "code that was not recorded may touch the same" "explain --missing shows what orders the letters"
like "$out" "they cannot race" "and that they cannot race"
run "$HEDDLE" info courier.hdl
like "$out" "libparcels.so +6  calls of 3 functions" "info counts the calls"
run "$HEDDLE" info courier.hdl --format json
is "$(json '"$d->{missing}{\"libparcels.so\"}{calls} $d->{missing}{\"libparcels.so\"}{functions}"')" "6 3" "as JSON, too"

# One seed, the same bytes; and a recording without them.
run "$HEDDLE" record -o again.hdl -- ./courier
cmp -s courier.hdl again.hdl
ok $? "one seed, the same trace"
run "$HEDDLE" record --no-missing -o without.hdl -- ./courier
unlike "$(text without.hdl)" '\|miss' "--no-missing leaves them out"
run "$HEDDLE" record --mode free -o free.hdl -- ./courier
races free.hdl --analysis rdit
unlike "$(pairs)" "text" "free mode: the letters are no race there either"
like "$(text free.hdl)" 'miss\(box_put@libparcels.so,block@parcels.c:18(#2)?,\*letter' "though it has no values"

# A letter that is freed before the next is made, which the allocator puts at the same address: in
# another order both are there at once, at two.
run "$HEDDLE" record --seed 3 -o reused.hdl -- ./courier
races reused.hdl
is "$(pairs) $(json '$d->{complete} ? 1 : 0')" "letter->text stamps 1" "an address used again orders nothing"

# The text format and back, filter, diff, merge.
t=$(text courier.hdl)
like "$t" 'T1\|miss\(box_put@libparcels.so,block@parcels.c:18,\*letter\)\|courier.c:25' \
	"what its arguments reach: the box, and what they point to"
like "$t" '\|miss\(box_new@libparcels.so\)' "no registers but those of the function's parameters"
"$HEDDLE" convert courier.hdl --to text c.txt
races c.txt --analysis rdit
is "$(pairs)" "stamps" "the same from its text"
"$HEDDLE" convert c.txt --to binary c.bin
races c.bin --analysis rdit
is "$(pairs)" "stamps" "and back"
run "$HEDDLE" filter courier.hdl --for hb -o filtered.hdl
is "$(text filtered.hdl | grep -c '|miss')" 6 "filter keeps them"
run "$HEDDLE" diff courier.hdl again.hdl --missing
is "$status" 0 "diff --missing: nothing new"
for i in 1 2; do
	"$HEDDLE" races courier.hdl --analysis rdit --shard $i/2 --format json >shard$i.json
done
run "$HEDDLE" merge shard1.json shard2.json
like "$out" "outside of code that is not instrumented" "joined shards say so"
run "$HEDDLE" merge shard1.json shard2.json --format json
is "$(pairs)" "stamps" "merge: the shards together"

# Callbacks, threads, exceptions and jumps through a library.
cat >lib.cc <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <stdexcept>
extern "C" {
typedef int (*fn)(void *);
struct job { fn f; void *x; };
struct big { long a[20]; };
static int hidden;
static void *body(void *p) { job *j = (job *)p; j->f(j->x); return p; }
int lib_thread(pthread_t *t, job *j) { return pthread_create(t, 0, body, j); }
int lib_call(fn f, void *x) { return f(x) + 1; }
int lib_tail(fn f, void *x) { return f(x); }
int lib_throw(int x) { if (x) throw std::runtime_error("lib"); return ++hidden; }
static jmp_buf here;
int lib_try(void (*f)(void)) { if (setjmp(here) == 0) { f(); return 1; } return 2; }
void lib_jump(void) { longjmp(here, 1); }
big lib_big(big b, int a1, int a2, int a3, int a4, int a5, int a6, int a7, double d)
{ b.a[0] += a1 + a2 + a3 + a4 + a5 + a6 + a7; b.a[19] += (long)d; return b; }
long double lib_long(long double x) { return x * 2; }
}
C
cat >user.cc <<'C'
#include <cstdio>
#include <pthread.h>
#include <setjmp.h>
#include <stdexcept>
extern "C" {
typedef int (*fn)(void *);
struct job { fn f; void *x; };
struct big { long a[20]; };
int lib_thread(pthread_t *, job *); int lib_call(fn, void *); int lib_tail(fn, void *); int lib_throw(int);
int lib_try(void (*)(void)); void lib_jump(void); long double lib_long(long double);
big lib_big(big, int, int, int, int, int, int, int, double);
}
static int inner_ran, work_ran, caught, jumped, tried;
static int inner(void *) { inner_ran++; return 3; }
static int work(void *x) { work_ran++; return lib_tail(inner, x); }
static int thrower(void *) { throw std::runtime_error("callback"); }
static jmp_buf out;
static int jumper(void *) { longjmp(out, 1); }
static void back_into(void) { tried++; lib_jump(); }
int main()
{
	pthread_t t;
	int v = 0;
	job j = { work, &v };
	lib_thread(&t, &j);
	pthread_join(t, NULL);
	try { lib_throw(1); } catch (std::exception &e) { caught++; }
	try { lib_call(thrower, &v); } catch (std::exception &e) { caught++; }
	if (setjmp(out) == 0) lib_call(jumper, &v); else jumped++;
	int twice = lib_try(back_into);
	big b = {};
	for (int i = 0; i < 20; i++) b.a[i] = i;
	b = lib_big(b, 1, 2, 3, 4, 5, 6, 7, 100.5);
	printf("%d %d %d %ld %ld %ld %Lf\n", caught, jumped, twice, b.a[0], b.a[10], b.a[19], lib_long(1.5L));
	return 0;
}
C
c++ -O1 -shared -fPIC lib.cc -o libodd.so && "$HEDDLE" c++ -g -O1 user.cc -o user -L. -lodd -Wl,-rpath,"$PWD" -pthread
for mode in controlled free; do
	run "$HEDDLE" record -q --mode $mode -o user.hdl -- ./user
	is "$status $out" "0 2 1 2 28 10 119 3.000000" "$mode: exceptions, jumps, arguments of all kinds go through"
	run "$HEDDLE" info user.hdl --format json
	is "$(json 'scalar grep { /well-formed/ } @{$d->{warnings}}')" 0 "$mode: and leave the trace well-formed"
done
run "$HEDDLE" record -q -o user.hdl -- ./user
of() { text user.hdl | sed -n "/$1/,/$2/{p;/$2/q}" | cut -d'|' -f1,2 | sed 's/,[^)]*//;s/=[0-9]*$//' | tr '\n' ' '; }
is "$(of 'T1|miss' 'T1|leave(work)')" "T1|miss(body@libodd.so) T1|back(body@libodd.so) T1|enter(work) \
T1|r4(work_ran) T1|w4(work_ran) T1|miss(lib_tail@libodd.so) T1|back(lib_tail@libodd.so) T1|enter(inner) \
T1|r4(inner_ran) T1|w4(inner_ran) T1|leave(inner) T1|miss(lib_tail@libodd.so) T1|back(lib_tail@libodd.so) T1|leave(work) " \
	"a thread of the library's, and what it calls back: outside of the missing code"
is "$(text user.hdl | grep -c '|miss(body')" 2 "which goes on afterwards"
is "$(of 'miss(lib_try' 'w4(b)' | grep -o 'leave(back_into) main|miss(lib_try@libodd.so)')" \
	"leave(back_into) main|miss(lib_try@libodd.so)" "a jump back into the library"
is "$(text user.hdl | grep -A1 'back(lib_throw' | grep -c '|leave')" 0 "an exception ends a call where it is caught"
open=$(text user.hdl | awk -F'|' '$2 ~ /^miss/ { n++ } $2 ~ /^back/ { n-- } $2 ~ /^w4\(jumped/ { print n }')
is "$open" 0 "a jump out of a call ends it"

# What a library keeps in static data orders all calls into it, unless the user knows better.
cat >flag.c <<'C'
#include <sched.h>
static int full[8];
void flag_set(int i) { __atomic_store_n(&full[i], 1, __ATOMIC_SEQ_CST); }
void flag_wait(int i) { while (!__atomic_load_n(&full[i], __ATOMIC_SEQ_CST)) sched_yield(); }
void flag_of(int *own) { (*own)++; }
C
cat >wait.c <<'C'
#include <pthread.h>
#include <unistd.h>
void flag_set(int), flag_wait(int), flag_of(int *);
int letter, other, one, two;
static void *a(void *x) { letter = 1; flag_set(0); return x; }
static void *b(void *x) { flag_wait(0); letter++; return x; }
static void *c(void *x) { other++; flag_of(x); return x; }
static void *d(void *x) { sleep(1); flag_of(x); other++; return x; }
int main(void)
{
	pthread_t t[4];
	pthread_create(&t[0], 0, a, 0);
	pthread_create(&t[1], 0, b, 0);
	pthread_create(&t[2], 0, c, &one);
	pthread_create(&t[3], 0, d, &two);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
cc -O1 -shared -fPIC flag.c -o libflag.so && "$HEDDLE" cc -g -O1 wait.c -o wait -L. -lflag -Wl,-rpath,"$PWD" -pthread
run "$HEDDLE" record -q -- ./wait
like "$(text wait.hdl)" 'miss\(flag_set@libflag.so,libflag.so\)' "its static data is an address that its calls reach"
races wait.hdl --analysis hb
is "$(pairs)" "letter other" "happens-before knows of neither"
races wait.hdl --analysis rdit
is "$(pairs)" "" "a library's static data may order everything"
printf 'missing {\n function flag_set(i) reaches global full\n function flag_wait(i) reaches global full\n function flag_of(own) reaches own\n}\n' >flag.spec
run "$HEDDLE" record -q --spec flag.spec -- ./wait
is "$status" 0 "a specification with missing code alone"
like "$(text wait.hdl)" 'miss\(flag_set@libflag.so,full\)' "says what a function reaches"
like "$(text wait.hdl)" 'miss\(flag_of@libflag.so,one\)' "and through which parameter"
races wait.hdl --analysis rdit
is "$(pairs)" "other" "so the true race is seen, and the letter is none"

# A library that is instrumented can be named all the same; the C library cannot.
"$HEDDLE" cc -g -O1 -shared -fPIC flag.c -o libflag.so
run "$HEDDLE" record -q -- ./wait
unlike "$(text wait.hdl)" '\|miss' "an instrumented library is no missing code"
printf 'missing { library "libflag.so*" }\n' >name.spec
run "$HEDDLE" record -q --spec name.spec -- ./wait
like "$(text wait.hdl)" 'miss\(flag_set@libflag.so' "but where a specification names it"
printf 'missing { function rand() }\n' >rand.spec
printf '#include <stdlib.h>\nint main(void) { return rand() == 0 || atoi("1") == 0; }\n' >rand.c
"$HEDDLE" cc -g -O1 rand.c -o rand
run "$HEDDLE" record -q --spec rand.spec -- ./rand
like "$(text rand.hdl)" 'miss\(rand@libc.so.6\)' "a function of the C library that is named"
unlike "$(text rand.hdl)" 'atoi@' "and no other"

# What is reached: deep inside of a large block (which is too large to be looked at whole, so the
# list is cut off), behind blocks that are gone, in a cycle (a, which is a; b: a#2; again: large#3).
cat >far.c <<'C'
void far_touch(void *p, void *q) { (void)p; (void)q; }
C
cat >reach.c <<'C'
#include <stdlib.h>
#include <string.h>
void far_touch(void *p, void *q);
struct node { struct node *next; char *data; };
int main(void)
{
	enum { MANY = 3000 };
	static void *gone[MANY];
	char *large = malloc(96 << 20);
	for (int i = 0; i < MANY; i++) gone[i] = malloc(32);
	char *wide = malloc(60000);
	for (int i = 0; i < MANY; i++) free(gone[i]);
	memset(gone, 0, sizeof(gone));
	char *again = malloc(40000);
	struct node *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	large[90 << 20] = again[39000] = wide[59000] = 1;
	*a = (struct node){ b, large + (90 << 20) };
	*b = (struct node){ a, again + 39000 };
	far_touch(a, NULL);
	far_touch(wide + 59000, b);
	return a->next != b || b->next != a;
}
C
cc -O1 -shared -fPIC far.c -o libfar.so && "$HEDDLE" cc -g -O1 reach.c -o reach -L. -lfar -Wl,-rpath,"$PWD"
for mode in controlled free; do
	run "$HEDDLE" record -q --mode $mode -o reach.hdl -- ./reach
	is "$(text reach.hdl | grep -o 'miss([^)]*)' | tr '\n' ' ')" \
		"miss(far_touch@libfar.so,*a,*a#2,*large,*large#3,libfar.so) miss(far_touch@libfar.so,*large#2,*a#2,*a,*large#3,*large,libfar.so) " \
		"$mode: blocks, deep inside, behind freed ones, in a cycle"
done

# A chain of blocks of many sizes, each with its successor in its last word, beside which stands a
# page that cannot be read; and a block of three pages whose second one cannot be, with a successor
# in its last word. The faults are the runtime's own: no handler of the program's sees one.
cat >chain.c <<'C'
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
void far_touch(void *p, void *q);
static volatile sig_atomic_t faults;
static void count(int number) { (void)number; faults++; }
int main(int argc, char **argv)
{
	enum { MANY = 200, PAGE = 4096 };
	void *after = NULL, *closed = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void **wide = memalign(PAGE, 3 * PAGE);
	const char *way = argc > 1 ? argv[1] : "";
	sigset_t set;
	if (strcmp(way, "handler") == 0) signal(SIGSEGV, count);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	if (strcmp(way, "blocked") == 0) sigprocmask(SIG_BLOCK, &set, NULL);
	mprotect(closed, PAGE, PROT_NONE);
	for (size_t i = 0; i < MANY; i++) {
		size_t words = 2 + i * 37 % 61;
		void **block = calloc(words, sizeof(*block));
		if (i % 20 == 7) block[0] = closed;
		block[words - 1] = after;
		after = block;
	}
	memset(wide, 0, 3 * PAGE);
	wide[0] = calloc(1, 24);
	wide[3 * PAGE / sizeof(*wide) - 1] = after;
	mprotect((char *)wide + PAGE, PAGE, PROT_NONE);
	far_touch(wide, NULL);
	return faults;
}
C
"$HEDDLE" cc -g -O1 chain.c -o chain -L. -lfar -Wl,-rpath,"$PWD"
for mode in controlled free; do
	for way in none handler blocked; do
		run "$HEDDLE" record -q --mode $mode -o chain.hdl -- ./chain $way
		is "$status $(text chain.hdl | grep -o 'miss([^)]*)' | tr ',' '\n' | wc -l)" "0 204" \
			"$mode, $way: each block behind the page that cannot be read, the function and its library"
	done
done

# A program that is not instrumented: its synchronisation inside of missing code.
printf '#include <pthread.h>\nstatic pthread_mutex_t m;static void *w(void *x) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return x; }\nint main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); return 0; }\n' >plain.c
cc -O1 plain.c -o plain -pthread
run "$HEDDLE" record -- ./plain
like "$err" "is not instrumented" "a program that is not instrumented"
t=$(text plain.hdl | cut -d'|' -f1,2 | tr '\n' ' ')
like "$t" '^main\|miss\(main@plain,plain\) main\|fork\(T1\) T1\|miss\(w@plain,plain\) T1\|acq\(m\) T1\|rel\(m\) T1\|back\(w@plain\) main\|join\(T1\)' \
	"its synchronisation is recorded, inside of missing code"

# Replay and exploration go by the program's own events.
races courier.hdl --analysis rdit
run timeout 300 "$HEDDLE" replay --witness stamps.wit -- ./courier
is "$status" 0 "the witness of a race with missing code happens"
like "$err" "stopped before the pair" "on the program"
done_testing
