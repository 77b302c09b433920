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

# What cannot be.
printf 'object o {\n method m()\n bind m = "f(int self, ...)"\n}\n' >variadic.spec
run "$HEDDLE" record --spec variadic.spec -- ./hand
is "$status" 125 "a variadic function"
like "$err" 'fixed list of parameters' "is refused"
run "$HEDDLE" record --spec "$root/specs/dict.spec" -- ./hand
is "$status" 125 "no bind line"
like "$err" 'bind' "is said"
done_testing
