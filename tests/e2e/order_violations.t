#!/bin/bash
# Order violations in programs, from recordings in which nothing went wrong: those of figure
# 3.2 of the thesis, uses after free, double frees, what is destroyed too early.  Replay makes
# them happen.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# program NAME: builds NAME.c, around whose functions `one` and `two` two threads are made
program() {
	{
		printf '%s\n' '#include <pthread.h>' '#include <stdio.h>' '#include <stdlib.h>' \
			'#define KEPT __attribute__((noinline, noclone))' \
			'static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;'
		cat
		printf '%s\n' 'static void *first(void *x) { one(); return x; }' \
			'static void *second(void *x) { two(); return x; }' \
			'int main(void) {' '	pthread_t a, b;' '	begin();' \
			'	pthread_create(&a, 0, first, 0);' '	pthread_create(&b, 0, second, 0);' \
			'	pthread_join(a, 0);' '	pthread_join(b, 0);' '	puts("done");' '	return 0;' '}'
	} >"$1.c"
	run "$HEDDLE" cc -g -w "$1.c" -o "$1" -pthread
	is "$status" 0 "$1 builds"
}
# recorded NAME [OPTIONS]: a recording that goes well, and what cov says of it
recorded() {
	local name=$1 seed
	shift
	for seed in 1 2 3 4 5 6 7 8; do
		run "$HEDDLE" record -q --seed $seed -o "$name.hdl" "$@" -- "./$name"
		[ "$status" = 0 ] || continue
		run "$HEDDLE" commute "$name.hdl" "$@" --analysis cov --verdicts all --format json
		[ "$(json '(grep { $_->{verdict} eq "happened" } @{$d->{findings}}) ? 1 : 0')" = 0 ] && break
	done
	is "$(json '$d->{complete} ? 1 : 0')" 1 "$name: every pair has a verdict (seed $seed)"
}
methods() { # of the findings with that verdict
	json 'join " ", sort map { my $f = $_; join ":", map { /^(\w+)/ } @{$f->{methods}} } grep { $_->{verdict} eq "'"$1"'" } @{$d->{findings}}'
}
# happens NAME: replays the first finding that is a race
happens() {
	local pair
	pair=$(json 'my $f = (grep { $_->{verdict} eq "race" } @{$d->{findings}})[0]; "$f->{first} $f->{second}"')
	run "$HEDDLE" witness "$1.hdl" $pair -o "$1.wit" "${@:2}"
	run "$HEDDLE" replay --witness "$1.wit" -- "./$1"
	unlike "$err" 'left the witness' "$1: the program follows the witness"
}

# Wait against signal and broadcast.
for wake in signal broadcast; do
	program $wake <<C
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void begin(void) {}
static void one(void) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); }
static void two(void) { pthread_mutex_lock(&m); pthread_cond_$wake(&c); pthread_mutex_unlock(&m); }
C
	recorded $wake
	is "$(methods race)" "wait:$wake" "a $wake may come before the wait"
	run "$HEDDLE" races $wake.hdl
	is "$status" 0 "which is no race"
	run "$HEDDLE" commute $wake.hdl --analysis cov --format json
	happens $wake
	like "$err" 'it ends in a deadlock' "and then nobody wakes it"
done

# Send against close, error against cancel: objects of the program itself.
cat >channel.spec <<'S'
object channel {
  method send(v) / ok
  method close() / ok
  commute send, send : true
  commute send(_) / ok1, close() / ok2 : ok1 == false && ok2 == false
  commute close() / ok1, close() / ok2 : ok1 == false && ok2 == false
  state open : bool = true
  effect send(v) / ok { ok == open }
  effect close() / ok { ok == open;  open := false }
  order send before close
  bind send  = "chan_send(struct chan *self, int v) -> bool ok"
  bind close = "chan_close(struct chan *self) -> bool ok"
}
S
cat >context.spec <<'S'
object context {
  method err() / e
  method cancel()
  commute err, err : true
  commute err, cancel : false
  commute cancel, cancel : true
  state cancelled : bool
  effect err() / e { (e == nil) == !cancelled }
  effect cancel()  { cancelled := true }
  bind err    = "ctx_err(struct ctx *self) -> const char *e"
  bind cancel = "ctx_cancel(struct ctx *self)"
}
S
for object in channel context; do
	run "$HEDDLE" spec check $object.spec
	is "$status" 0 "the specification of the $object is proved"
done
program channel <<'C'
struct chan { pthread_mutex_t lock; _Bool closed; int count, values[8]; };
static struct chan ch = { .lock = PTHREAD_MUTEX_INITIALIZER };
static KEPT _Bool chan_send(struct chan *c, int v) {
	pthread_mutex_lock(&c->lock);
	_Bool ok = !c->closed;
	if (ok) c->values[c->count++] = v;
	pthread_mutex_unlock(&c->lock);
	return ok;
}
static KEPT _Bool chan_close(struct chan *c) {
	pthread_mutex_lock(&c->lock);
	_Bool ok = !c->closed;
	c->closed = 1;
	pthread_mutex_unlock(&c->lock);
	return ok;
}
static void begin(void) {}
static void one(void) { if (!chan_send(&ch, 1)) { puts("lost"); exit(3); } }
static void two(void) { chan_close(&ch); }
C
recorded channel --spec channel.spec
is "$(methods race)" "send:close" "a send may come after the close"
happens channel --spec channel.spec
is "$status" 3 "and is lost then"
program context <<'C'
struct ctx { pthread_mutex_t lock; const char *why; };
static struct ctx x = { .lock = PTHREAD_MUTEX_INITIALIZER };
static KEPT const char *ctx_err(struct ctx *c) {
	pthread_mutex_lock(&c->lock);
	const char *e = c->why;
	pthread_mutex_unlock(&c->lock);
	return e;
}
static KEPT void ctx_cancel(struct ctx *c) {
	pthread_mutex_lock(&c->lock);
	c->why = "cancelled";
	pthread_mutex_unlock(&c->lock);
}
static void begin(void) {}
static void one(void) { ctx_err(&x); }
static void two(void) { ctx_cancel(&x); }
C
recorded context --spec context.spec
like "$(methods race)" '^(err:cancel|cancel:err)$' "err and cancel may change their order"

# Use of a descriptor against its close: the specification that ships, the C library's calls.
program descriptor <<'C'
#include <fcntl.h>
#include <unistd.h>
static int file;
static void begin(void) { file = open("descriptor.c", O_RDONLY, 0); }
static void one(void) {
	char c;
	pthread_mutex_lock(&m);
	ssize_t n = read(file, &c, 1);
	pthread_mutex_unlock(&m);
	if (n < 0) { puts("closed"); exit(5); }
}
static void two(void) { pthread_mutex_lock(&m); close(file); pthread_mutex_unlock(&m); }
C
recorded descriptor --spec "$root/specs/fd.spec"
is "$(methods race)" "read:close" "a read may come after the close"
happens descriptor
is "$status" 5 "and fails then"
is "$out" closed "as the program says"

# Use after free: racy, both under one lock, and not possible.
program racy <<'C'
struct job { void (*run)(int); int arg; };
static struct job *job;
static void hello(int x) {}
static void begin(void) { job = malloc(sizeof *job); job->run = hello; job->arg = 42; }
static void one(void) { job->run(job->arg); }
static void two(void) { free(job); }
C
recorded racy
like "$(methods race)" 'read:free' "a racy use after free"
run "$HEDDLE" commute racy.hdl --format json
is "$(json '$d->{findings}[0]{kind}')" use-after-free "which is a commutativity race too"
program locked <<'C'
struct job { void (*run)(int); int arg; };
static struct job *job;
static void hello(int x) {}
static void begin(void) { job = malloc(sizeof *job); job->run = hello; job->arg = 42; }
static void one(void) { pthread_mutex_lock(&m); job->run(job->arg); pthread_mutex_unlock(&m); }
static void two(void) { pthread_mutex_lock(&m); free(job); pthread_mutex_unlock(&m); }
C
recorded locked
like "$(methods race)" 'read:free' "a use after free with both under one lock"
happens locked
is "$status" 139 "is a crash in the program"
like "$err" 'it came to .*read job->run: ' "that reads what the freed block holds"
run "$HEDDLE" commute locked.hdl --format json
is "$(json 'scalar @{$d->{findings}}')" 0 "happens-before does not show it"
# Figure 3.3: the flag keeps the use and the free apart.
program guarded <<'C'
static int *job, y = 1;
static void begin(void) { job = malloc(sizeof *job); *job = 0; }
static void one(void) { pthread_mutex_lock(&m); if (y) *job = 1; pthread_mutex_unlock(&m); }
static void two(void) { pthread_mutex_lock(&m); free(job); y = 0; pthread_mutex_unlock(&m); }
C
recorded guarded
is "$(methods race)" "" "figure 3.3: what a flag keeps apart is no violation"
like "$(methods impossible)" 'write:free' "with a proof"

# A double free, and mutexes and conditions that are destroyed too early.
program twice <<'C'
static int *job;
static void begin(void) { job = malloc(sizeof *job); }
static void one(void) { free(job); }
static void two(void) { if (getenv("NOT_TWICE") == NULL) free(job); }
C
run "$HEDDLE" record -q -o twice.hdl -- ./twice
run "$HEDDLE" commute twice.hdl --analysis cov --format json
is "$(methods happened)" "free:free" "a double free is one that happened"
program mutex <<'C'
static pthread_mutex_t gone;
static int used;
static void begin(void) { pthread_mutex_init(&gone, NULL); }
static void one(void) {
	if (pthread_mutex_lock(&gone)) { puts("destroyed"); exit(4); }
	used = 1;
	pthread_mutex_unlock(&gone);
}
static void two(void) { pthread_mutex_destroy(&gone); }
C
recorded mutex
is "$(methods race)" "write:free write:free" "a mutex that is destroyed before its lock and unlock"
happens mutex
is "$status" 4 "and cannot be locked then"
program condition <<'C'
static pthread_cond_t gone;
static void begin(void) { pthread_cond_init(&gone, NULL); }
static void one(void) { pthread_mutex_lock(&m); pthread_cond_signal(&gone); pthread_mutex_unlock(&m); }
static void two(void) { pthread_cond_destroy(&gone); }
C
recorded condition
is "$(methods race)" "write:free" "a condition that is destroyed before it is signalled"
happens condition
done_testing
