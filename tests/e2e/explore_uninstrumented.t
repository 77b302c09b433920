#!/bin/bash
# heddle explore says what it has not looked at: code that is not instrumented.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

explore() { # NAME [OPTIONS]
	run timeout 300 "$HEDDLE" explore --budget 100 --format json "${@:2}" -- "./$1"
}
errors() { json 'join " ", sort map { $_->{kind} . "@" . join("+", @{$_->{locations}}) } @{$d->{errors}}'; }
complete() { json '$d->{complete} ? "complete" : "open"'; }
said() { json 'join " | ", @{$d->{gaps}}, @{$d->{notes}}'; }

cat >plain.c <<'C'
#include <pthread.h>
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int plain_next(void) { pthread_mutex_lock(&m); int r = ++n; pthread_mutex_unlock(&m); return r; }
C
cat >caller.c <<'C'
#include <assert.h>
#include <pthread.h>
int plain_next(void);
static void *run(void *p) { return (void *)(long)plain_next(); }
int main(void)
{
	pthread_t t[2]; void *r[2];
	pthread_create(t, 0, run, 0); pthread_create(t + 1, 0, run, 0);
	pthread_join(t[0], &r[0]); pthread_join(t[1], &r[1]);
	assert((long)r[0] == 1);
	return 0;
}
C
cat >next.spec <<'C'
object source {
  method next() / r
  commute next() / r1, next() / r2 : false
  bind next = "plain_next(global self) -> int r"
}
C
${CC:-cc} -g -O1 -fPIC -shared plain.c -o libplain.so -pthread
run "$HEDDLE" cc -g -O1 caller.c -o caller -pthread -L. -lplain -Wl,-rpath,"$PWD"
explore caller
is "$status $(complete)" "3 open" "a library that is not instrumented: not complete"
like "$(said)" "plain_next of libplain.so, which is not instrumented, is called" "the call is named"
explore caller --spec next.spec
is "$(errors)" "signal@caller.c:10" "with a bind line the failure is found"
unlike "$(said)" "plain_next of" "and the bind line covers the call"
${CC:-cc} -g -O1 caller.c -o caller -pthread -L. -lplain -Wl,-rpath,"$PWD"
explore caller
like "$status $(said)" "^3 .*the program is not instrumented" "a program that is not instrumented"

done_testing
