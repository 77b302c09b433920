#!/bin/bash
# Recording of invocations: by `bind` lines for a shared library that was built the ordinary
# way, and by hand with heddle.h.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >dict.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct dict { pthread_mutex_t lock; struct { const char *key; void *value; } slots[16]; };
struct dict *dict_new(void) {
	struct dict *d = calloc(1, sizeof *d);
	pthread_mutex_init(&d->lock, NULL);
	return d;
}
void *dict_put(struct dict *d, const char *key, void *value) {
	void *old = NULL;
	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < 16; i++)
		if (!d->slots[i].key || strcmp(d->slots[i].key, key) == 0) {
			old = d->slots[i].value;
			d->slots[i].key = key;
			d->slots[i].value = value;
			break;
		}
	pthread_mutex_unlock(&d->lock);
	return old;
}
unsigned dict_size(struct dict *d) {
	unsigned n = 0;
	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < 16; i++)
		n += d->slots[i].key != NULL;
	pthread_mutex_unlock(&d->lock);
	return n;
}
C
cat >conn.c <<'C'
#include <pthread.h>
#include <stdio.h>
struct dict;
struct dict *dict_new(void);
void *dict_put(struct dict *d, const char *key, void *value);
unsigned dict_size(struct dict *d);
static struct dict *o;
static const char *hosts[] = { "a.com", "b.com", "a.com" };
static void *connect_to(void *host) {
	dict_put(o, host, &o); /* line 10 */
	return NULL;
}
int main(void) {
	pthread_t t[3];
	o = dict_new();
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, connect_to, (void *)hosts[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%u\n", dict_size(o));
	return 0;
}
C
cat "$root/specs/dict.spec" >dict.spec
sed -i '$d' dict.spec
cat >>dict.spec <<'S'
  bind put  = "dict_put(struct dict *self, const char *k, void *v) -> void *p"
  bind size = "dict_size(struct dict *self) -> unsigned r"
}
S
gcc -g -shared -fPIC dict.c -o libdict.so -pthread || exit 1
run "$HEDDLE" cc -g conn.c -o conn -L. -ldict -Wl,-rpath,"$scratch" -pthread
is "$status" 0 "the program builds"
# what another one that was killed has left behind is removed, what may be in use is not
mkdir tmp
sleep 0 &
dead=$(printf %07d $!)
wait
living=$(printf %07d $$)
touch -d '2 hours ago' tmp/heddle-bind-$dead-abcdef.so tmp/heddle-bind-$dead-abcdef.so.c tmp/heddle-bind-$living-abcdef.so tmp/heddle-bind-mine.so
touch tmp/heddle-bind-$dead-fedcba.so
TMPDIR=$PWD/tmp run "$HEDDLE" record -q --spec dict.spec -o conn.hdl -- ./conn
is "$status $(ls tmp | sort | tr '\n' ' ')" \
	"0 $(printf '%s\n' heddle-bind-$dead-fedcba.so heddle-bind-$living-abcdef.so heddle-bind-mine.so | sort | tr '\n' ' ')" \
	"a library that was left behind is removed"

run "$HEDDLE" record --spec dict.spec -o conn.hdl -- ./conn
is "$status" 0 "and runs under the bind lines"
is "$out" 2 "as it always does"
run "$HEDDLE" convert conn.hdl conn.txt --to text
like "$(cat conn.txt)" '\|call\(dict1\.put,"(a|b)\.com",p[0-9a-f]+\)\|conn\.c:10$' "a call with its values and the caller's line"
like "$(cat conn.txt)" '\|ret\(dict1\.put\)=nil\|' "and its result"
like "$(cat conn.txt)" '\|ret\(dict1\.size\)=2\|' "an integer result"
like "$(cat conn.txt)" '^#! object dict1 dict$' "the object's type"
run "$HEDDLE" commute conn.hdl --format json
is "$status" 1 "the library's lock hides nothing"
is "$(json 'join ",", @{$d->{findings}[0]{locations}}')" "conn.c:10,conn.c:10" "the race is the program's"
like "$(json '$d->{findings}[0]{condition}')" '"a\.com" != "a\.com"' "between the duplicate hosts"
run "$HEDDLE" record -o plain.hdl -- ./conn
run "$HEDDLE" convert plain.hdl plain.txt --to text
unlike "$(cat plain.txt)" 'call\(' "without --spec there are no invocations"

# By hand.
cat >hand.c <<'C'
#include "engine/record/heddle.h"
#include <pthread.h>
static void *work(void *x) {
	static int object;
	heddle_call("counter", &object, "add", "5");
	heddle_ret("counter", &object, "add", "");
	heddle_call("counter", &object, "read", "");
	heddle_ret("counter", &object, "read", "\"odd \\\" text\"");
	return x;
}
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	work(0);
	return pthread_join(t, 0);
}
C
run "$HEDDLE" cc -g -I"$root" hand.c -o hand -pthread
is "$status" 0 "heddle.h needs no library"
run ./hand
is "$status" 0 "and does nothing outside of a recording"
run "$HEDDLE" record -o hand.hdl -- ./hand
run "$HEDDLE" convert hand.hdl hand.txt --to text
like "$(cat hand.txt)" 'call\(counter1\.add,5\)\|hand\.c:5' "by hand"
like "$(cat hand.txt)" 'ret\(counter1\.read\)="odd \\" text"' "a string"
run "$HEDDLE" commute hand.hdl
like "$out" 'add\(5\)' "and found by commute"

# Functions of the program itself: static, called by others of their kind, left by longjmp.
cat >own.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#define KEPT __attribute__((noinline, noclone))
struct dict { pthread_mutex_t lock; struct { const char *key; void *value; } slots[16]; };
static struct dict o = { .lock = PTHREAD_MUTEX_INITIALIZER };
static jmp_buf back;
static KEPT unsigned dict_size(struct dict *d) {
	unsigned n = 0;
	for (int i = 0; i < 16; i++)
		n += d->slots[i].key != NULL;
	return n;
}
static KEPT void *dict_put(struct dict *d, const char *key, void *value) {
	void *old = NULL;
	if (!key)
		longjmp(back, 1);
	pthread_mutex_lock(&d->lock);
	if (dict_size(d) < 16) /* a part of this call */
		for (int i = 0; i < 16; i++)
			if (!d->slots[i].key || strcmp(d->slots[i].key, key) == 0) {
				old = d->slots[i].value;
				d->slots[i].key = key;
				d->slots[i].value = value; /* line 25 */
				break;
			}
	pthread_mutex_unlock(&d->lock);
	return old;
}
static const char *hosts[] = { "a.com", "b.com", "a.com" };
static void *connect_to(void *host) {
	dict_put(&o, host, &o); /* line 33 */
	return NULL;
}
int main(void) {
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, connect_to, (void *)hosts[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (!setjmp(back))
		dict_put(&o, NULL, NULL);
	printf("%u\n", dict_size(&o));
	return 0;
}
C
for compiler in clang gcc; do
	has $compiler "bind lines of a program by $compiler" || continue
	for level in -O0 -O2; do
		way="$compiler $level"
		case $compiler in # clang changes parameters of static functions
		clang) sed 's/^static KEPT/KEPT/' own.c >kept.c ;;
		gcc) cp own.c kept.c ;;
		esac
		CC=$compiler run "$HEDDLE" cc -w -g $level kept.c -o own -pthread
		is "$status" 0 "$way: builds"
		is "$(./own)" 2 "and runs alone"
		run "$HEDDLE" record --spec dict.spec -o own.hdl -- ./own
		is "$status $out" "0 2" "$way: recorded"
		run "$HEDDLE" convert own.hdl own.txt --to text
		is "$(grep -c '|call(dict1\.put,"[ab]\.com",p[0-9a-f]*)|kept\.c:33$' own.txt)" 3 "$way: calls of a static function"
		is "$(grep -c '|call(dict1\.size' own.txt)" 1 "$way: a call within a call of the object is a part of it"
		like "$(cat own.txt)" '\|ret\(dict1\.put\);left\|' "$way: a call that longjmp left ends without a result"
		run "$HEDDLE" commute own.hdl --format json
		is "$(json 'join ",", @{$d->{findings}[0]{locations}}')" "kept.c:33,kept.c:33" "$way: a race in the program's own dictionary"
	done
done
like "$(grep 'kept.c:25' own.txt)" 'w8\(' "what is inside is recorded"
run "$HEDDLE" races own.hdl --analysis lockset --format json
is "$(json '(grep { /heddle-bind|\?/ } map { map { "$_->{place}" } map { @$_ } @{$_->{stacks} // []} } @{$d->{findings}}) ? 1 : 0')" 0 "stacks pass over the recorder"

# What a thread does behind a call that longjmp left is no part of the call: rule 5 does not
# keep it apart from another call of the object.
cat >left.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#define KEPT __attribute__((noinline, noclone))
struct dict { int puts; };
static struct dict o;
int x;
KEPT unsigned dict_size(struct dict *d) { return d->puts; }
static KEPT void fail(jmp_buf back) { JUMP(back, 1); }
KEPT void *dict_put(struct dict *d, const char *key, void *value) {
	if (!key)
		fail(value);
	x = 2; /* line 13 */
	return NULL;
}
static void *one(void *p) {
	jmp_buf inner;
	if (!setjmp(inner))
		dict_put(&o, NULL, inner);
	x = 1; /* line 20 */
	return p;
}
static void *two(void *p) { return dict_put(&o, "a", &o); }
int main(void) {
	pthread_t t[2];
	pthread_create(&t[0], NULL, one, NULL);
	pthread_create(&t[1], NULL, two, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
for jump in longjmp _longjmp siglongjmp "longjmp -O2 -D_FORTIFY_SOURCE=2"; do
	run "$HEDDLE" cc -w -g -DJUMP=$jump left.c -o left -pthread
	run "$HEDDLE" record --spec dict.spec -o left.hdl -- ./left
	is "$status" 0 "$jump: recorded"
	run "$HEDDLE" convert left.hdl left.txt --to text
	is "$(grep -n -A1 '|ret(dict1\.put);left|' left.txt | grep -c '|w4(x)=1|left\.c:20$')" 1 "$jump: the call ends before what comes next"
	run "$HEDDLE" races left.hdl --spec dict.spec --format json
	is "$(json 'join ",", sort @{$d->{findings}[0]{locations}}')" "left.c:13,left.c:20" "$jump: which races with the other call"
done
# A jump inside of the call leaves it open.
cat >within.c <<'C'
#include <setjmp.h>
struct dict { int puts; };
static struct dict o;
static int x;
__attribute__((noipa)) unsigned dict_size(struct dict *d) { return d->puts; }
__attribute__((noipa)) void *dict_put(struct dict *d, const char *key, void *value) {
	jmp_buf back;
	if (!setjmp(back))
		longjmp(back, 1);
	x = 2;
	return value;
}
int main(void) { return dict_put(&o, "a", &o) != &o; }
C
run "$HEDDLE" cc -w -g within.c -o within -pthread
run "$HEDDLE" record --spec dict.spec -o within.hdl -- ./within
run "$HEDDLE" convert within.hdl within.txt --to text
is "$(grep -o '|\(call\|ret\|w4\)(.*)' within.txt | grep -o 'w4\|call\|ret' | tr '\n' ' ')" "call w4 ret " "a jump within a call leaves it open"

# A C++ method, left by an exception.
cat >method.cc <<'C'
#include <stdexcept>
#include <thread>
struct Counter {
	int n = 0;
	__attribute__((noinline, noclone)) int add(int by) {
		if (by < 0)
			throw std::runtime_error("no");
		return n += by;
	}
};
static Counter c;
int main() {
	std::thread t([] { c.add(3); });
	t.join();
	try {
		c.add(-1);
	} catch (std::runtime_error &) {
	}
	return c.add(4) == 7 ? 0 : 1;
}
C
cat >method.spec <<'S'
object tally {
  method add(k) / r
  bind add = "Counter::add(Counter *self, int k) -> int r"
}
S
run "$HEDDLE" c++ -g -O1 method.cc -o method -pthread
run "$HEDDLE" record --spec method.spec -o method.hdl -- ./method
is "$status" 0 "a C++ method"
run "$HEDDLE" convert method.hdl method.txt --to text
is "$(grep -o '|\(call\|ret\)(tally.*)[=0-9-]*' method.txt | tr -d '\n')" \
	'|call(tally1.add,3)|ret(tally1.add)=3|call(tally1.add,-1)|ret(tally1.add)|call(tally1.add,4)|ret(tally1.add)=7' \
	"with its values, and without a result where it threw"

# commute takes the specifications of the recording; those of --spec in their place.
sed 's/object dict/object other/' dict.spec >other.spec
run "$HEDDLE" commute own.hdl --format json
like "$(json 'join " ", @{$d->{notes}}')" 'by \S*/dict\.spec, which it was recorded with' "commute says what it takes from the recording"
run "$HEDDLE" commute own.hdl --spec other.spec --format json
unlike "$(json 'join " ", @{$d->{notes}}')" 'recorded with' "--spec stands in its place"
sed 's/dict/thing/g' dict.spec >thing.spec
sed -i 's/thing_/dict_/g; s/struct thing/struct dict/g' thing.spec
run "$HEDDLE" record --spec thing.spec -o thing.hdl -- ./own
run "$HEDDLE" commute thing.hdl --format json
is "$(json 'join ",", @{$d->{findings}[0]{locations}}')" "kept.c:33,kept.c:33" "a type that only the recording's specification has"
mv thing.spec away.spec
run "$HEDDLE" commute thing.hdl --format json
is "$(json 'scalar @{$d->{findings}}')" 0 "which has gone"
like "$(json 'join " ", @{$d->{notes}}')" 'not by \S*/thing\.spec, .* name it by --spec' "as the report says"
run "$HEDDLE" commute thing.hdl --spec away.spec --format json
is "$(json 'join ",", @{$d->{findings}[0]{locations}}')" "kept.c:33,kept.c:33" "with it under its new name"

# A witness with invocations is driven on the program; the bind lines are found again.
run "$HEDDLE" commute own.hdl --analysis cov --pairs events --format json
first=$(json '(grep { $_->{verdict} eq "race" } @{$d->{findings}})[0]{first}')
second=$(json '(grep { $_->{verdict} eq "race" } @{$d->{findings}})[0]{second}')
run "$HEDDLE" witness own.hdl "$first" "$second" -o own.wit
is "$status" 1 "two puts of one host may change their order"
run "$HEDDLE" replay --witness own.wit -- ./own
is "$status" 0 "and do in the program"
like "$err" 'stopped before the event' "up to the last"
unlike "$err" 'left the witness' "all the way"

printf 'atomics own {\n  set all : global o\n}\n' >atomics.spec
run "$HEDDLE" replay --witness own.wit --spec atomics.spec -- ./own
is "$status" 0 "with a specification that has no bind lines, too"
unlike "$err" 'left the witness' "the recording's are kept then"
run "$HEDDLE" replay --witness own.wit --spec nothing.spec -- ./own
is "$status" 125 "one that is not there"
like "$err" 'nothing\.spec' "is named"

# What an object does to memory inside of its own invocations is its own affair (rule 5).
cat >affair.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#define KEPT __attribute__((noinline, noclone))
struct dict { pthread_mutex_t lock; int *block; };
static struct dict o = { .lock = PTHREAD_MUTEX_INITIALIZER };
KEPT unsigned dict_size(struct dict *d) {
	pthread_mutex_lock(&d->lock);
	unsigned n = d->block ? *d->block : 0; /* line 8 */
	pthread_mutex_unlock(&d->lock);
	return n;
}
KEPT void *dict_put(struct dict *d, const char *key, void *value) {
	pthread_mutex_lock(&d->lock);
	free(d->block); /* line 14 */
	d->block = NULL;
	pthread_mutex_unlock(&d->lock);
	return NULL;
}
static void *one(void *p) { dict_size(&o); return p; }
static void *two(void *p) { dict_put(&o, "a", &o); return p; }
int main(void) {
	pthread_t t[2];
	o.block = calloc(1, sizeof *o.block);
	pthread_create(&t[0], NULL, one, NULL);
	pthread_join(t[0], NULL);
	pthread_create(&t[1], NULL, two, NULL);
	pthread_join(t[1], NULL);
	return 0;
}
C
# Side by side, but in this order: the joins and forks between are taken out.
run "$HEDDLE" cc -w -g affair.c -o affair -pthread
run "$HEDDLE" record --spec dict.spec -o affair.hdl -- ./affair
run "$HEDDLE" convert affair.hdl affair.txt --to text
sed -i '/|join(T1)|/d; s/\(.*|fork(T1)|.*\)/\1\nmain|fork(T2)|affair.c:25/; /|fork(T2)|affair\.c:26$/d' affair.txt
read -r use free < <(grep -v '^#' affair.txt | awk '/\|r4\(.*\|affair\.c:8$/ { u = NR - 1 } /\|free\(/ { f = NR - 1 } END { print u, f }')
run "$HEDDLE" witness affair.txt $use $free --spec dict.spec
is "$status" 2 "a use and a free inside of one object's invocations"
like "$err" 'whose specification speaks for them' "are no pair"
run "$HEDDLE" commute affair.txt --analysis cov --verdicts all --format json --spec dict.spec
is "$(json '(grep { $_->{kind} eq "use-after-free" } @{$d->{findings}}) ? 1 : 0')" 0 "nor does cov list it"
sed '/dict1\./d' affair.txt >bare.txt
read -r use free < <(grep -v '^#' bare.txt | awk '/\|r4\(.*\|affair\.c:8$/ { u = NR - 1 } /\|free\(/ { f = NR - 1 } END { print u, f }')
run "$HEDDLE" witness bare.txt $use $free
is "$status" 0 "without the invocations it has a verdict"

# What cannot be.
sed 's/dict_size(/dict_sizes(/' dict.spec >nobody.spec
run "$HEDDLE" record --spec nobody.spec -- ./own
is "$status" 125 "no such function"
like "$err" 'dict_sizes: no library that is loaded' "is said"
gcc -g -fsanitize=thread own.c -o foreign -pthread 2>/dev/null
run "$HEDDLE" record --spec dict.spec -- ./foreign
is "$status" 125 "a program that heddle cc did not build"
like "$err" 'no room for a jump' "has no room at its entries"
if has clang "static functions of clang"; then
	CC=clang run "$HEDDLE" cc -w -g own.c -o clang -pthread
	run "$HEDDLE" record --spec dict.spec -- ./clang
	is "$status" 125 "static functions of clang"
	like "$err" 'leave out static' "are refused, with the remedy"
fi
sed 's/^static KEPT/static inline/' own.c >inline.c
run "$HEDDLE" cc -w -g -O2 inline.c -o inline -pthread
run "$HEDDLE" record --spec dict.spec -- ./inline
is "$status" 125 "inlined functions"
like "$err" 'calls in .* are inlined|copy that the compiler made' "are refused"
printf 'object o {\n method m()\n bind m = "f(int self, ...)"\n}\n' >variadic.spec
run "$HEDDLE" record --spec variadic.spec -- ./hand
is "$status" 125 "a variadic function"
like "$err" 'fixed list of parameters' "is refused"
run "$HEDDLE" record --spec "$root/specs/dict.spec" -- ./hand
is "$status" 125 "no bind line"
like "$err" 'bind' "is said"
done_testing
