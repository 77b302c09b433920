#!/bin/bash
# heddle explore: every class of runs, once; and what went wrong in which.
. tests/e2e/lib.sh
generator=$PWD/tests/e2e/programs/random_program.pl
cd "$scratch" || exit 1

contains() { # TEXT PART NAME
	case $1 in *"$2"*) ok 0 "$3" ;; *) ok 1 "$3"; printf '# has no "%s"\n' "$2" ;; esac
}
build() { run "$HEDDLE" cc -g -O1 "$1.c" -o "$1" -pthread; }
explored() { # PROGRAM FIELD: a number of the report
	sed -n "s/^ \"$2\": \([a-z0-9]*\),*$/\1/p" "$1.json"
}
explore() { # PROGRAM OPTIONS...: exit status in $status, report in PROGRAM.json
	local program=$1
	shift
	run "$HEDDLE" explore --budget 100 --format json "$@" -- "./$program"
	printf '%s\n' "$out" >"$program.json"
}

# N threads increment under one lock: the order of the critical sections shows in the values.
cat >count.c <<'C'
#include <pthread.h>
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *p)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return x != 3;
}
C
build count
explore count
is "$status $(explored count executions) $(explored count states)" "0 6 6" "three increments: 3! executions, each another"
is "$(explored count complete)" true "and that is all"
explore count --runs 2
is "$status $(explored count executions) $(explored count complete)" "3 2 false" "a limit: not complete"

# An assertion that fails in one schedule of many, in code without a data race.
cat >assertion.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready, data;
static void set(int *p, int v)
{
	pthread_mutex_lock(&m);
	*p = v;
	pthread_mutex_unlock(&m);
}
static int get(int *p)
{
	pthread_mutex_lock(&m);
	int v = *p;
	pthread_mutex_unlock(&m);
	return v;
}
static void *writer(void *p)
{
	set(&ready, 1);
	set(&data, 7);
	return p;
}
static void *reader(void *p)
{
	int r = get(&ready), d = get(&data);
	assert(!r || d == 7);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, writer, 0);
	pthread_create(&u, 0, reader, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}
C
build assertion
explore assertion -o assertion.tree
is "$status $(explored assertion states) $(explored assertion complete)" "1 4 true" "the assertion: four classes"
contains "$out" '"kind": "signal"' "one of them fails"
contains "$out" "Assertion \`!r || d == 7' failed" "with its words"
trace=$(sed -n 's/.*"trace": "\(assertion.tree.run[0-9]*.hdl\)".*/\1/p' assertion.json | tail -1)
run "$HEDDLE" info "$trace"
is "$status" 0 "the failing run is kept as a trace"
is "$(cat assertion.tree)" "$(cat assertion.json)" "and the tree in a file"
run "$HEDDLE" explore -- ./assertion
contains "$out" "signal 6 (Aborted), in 1 of " "as text"
contains "$out" "reads the initial value of data, not 7" "with the way that leads there"

# A deadlock, a lost wake-up, a use after free.
cat >locks.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
	return 0;
}
static void *one(void *p) { return both(&a, &b); }
static void *two(void *p) { return both(&b, &a); }
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	return pthread_join(u, 0);
}
C
build locks
explore locks
is "$status $(explored locks executions) $(explored locks complete)" "1 2 true" "two locks in two orders: two executions"
contains "$out" '"kind": "deadlock"' "one is the deadlock"
contains "$out" "T1 waits for mutex b, held by T2" "who waits for what"
run "$HEDDLE" explore --format sarif -- ./locks
like "$out" '"ruleId": "deadlock", .*"level": "error"' "as SARIF"
contains "$out" 'held by T2' "with its story"
like "$out" '"uri": "locks.c", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 6}' "and its place"
run "$HEDDLE" explore --format sarif -- ./assertion
like "$out" '"uri": "assertion.c", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 27}' "where the thread was that failed"
like "$out" '"ruleId": "assertion", "ruleIndex": [0-9]+' "by the rule that every report has for its kind"
cp "$OLDPWD"/samples/lost-wakeup/lost_wakeup.c "$OLDPWD"/samples/use-after-free/use_after_free.c .
build lost_wakeup
explore lost_wakeup
contains "$out" '"kind": "blocked"' "a lost wake-up blocks"
build use_after_free
explore use_after_free
contains "$out" '"kind": "use-after-free"' "a use after free"

cat >freed_twice.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int *block;
static void *drop(void *unused)
{
	if (block) {
		free(block);
		block = NULL;
	}
	return NULL;
}
int main(void)
{
	pthread_t t, u;
	block = malloc(sizeof(int));
	pthread_create(&t, NULL, drop, NULL);
	pthread_create(&u, NULL, drop, NULL);
	pthread_join(t, NULL);
	return pthread_join(u, NULL);
}
C
build freed_twice
explore freed_twice
is "$status $(explored freed_twice complete)" "1 true" "a block that is freed twice is explored to the end"
like "$(json '$d->{errors}[0]{story}')" "T[12] frees .* after T[12] freed it at freed_twice.c:7" "a second free"
like "$(json 'join "; ", map { $_->{flip} // "" } @{$d->{runs}}')" "T[12] frees .* before T[12] frees it" \
	"the run in which the frees are turned"

# The C++ library's containers and conditions.
run "$HEDDLE" c++ -g -O1 -DBUG "$root/tests/bench/explore/pool.cc" -o pool -pthread
explore pool --until-error
contains "$out" "Assertion \`!work.empty()' failed" "a waiter of a pool that does not look again"
is "$(json '$d->{errors}[0]{locations}[0]')" "pool.cc:33" "where"

# Random programs: as many classes as all interleavings have, by the reads' values.
for seed in $(seq 1 "${HEDDLE_PROGRAMS:-6}"); do
	perl "$generator" "$seed" random.c >expected
	build random
	explore random
	is "$(explored random states) $(explored random complete)" "$(cat expected) true" "random program $seed"
done

# Runs are forked from the program as it was loaded; one with threads at that time cannot be.
cat >early.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_t t;
static void *idle(void *p) { pause(); return p; }
__attribute__((constructor)) static void begin(void) { pthread_create(&t, 0, idle, 0); }
C
cc -shared -fPIC -o libearly.so early.c -pthread
run "$HEDDLE" cc -g -O1 count.c -o early -pthread -L. -Wl,-rpath,"$PWD" -Wl,--no-as-needed -learly
explore early
is "$(explored early executions) $(explored early states) $(explored early complete)" "6 6 true" "a library that creates a thread while it is loaded: each run is started anew"
cat >who.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sigaction now;
	sigaction(SIGINT, NULL, &now);
	int others = waitpid(-1, NULL, WNOHANG) != -1, next = dup(0);
	return argc * 32 + (now.sa_handler == SIG_DFL) * 16 + (next == 3) * 8 + others;
}
C
build who
run "$HEDDLE" explore --format json -- ./who one
is "$(json '$d->{errors}[0]{status}')" 88 "a run that is forked finds what one that is started finds"

$HEDDLE cc -g -O1 "$root/samples/account/account.c" -o account -pthread
mkdir left
TMPDIR="$PWD/left" "$HEDDLE" explore --budget 1000 --runs 1000000000 -- ./account >cut.out 2>&1 &
pid=$!
# the shell that is to become it catches the signal, too
catches_sigterm() { [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$HEDDLE")" ] && perl -ne 'exit !(hex(substr($1, -8)) & 0x4000) if /^SigCgt:\s*(\w+)/' /proc/$1/status; }
await catches_sigterm $pid
kill -TERM $pid
wait $pid
out=$(cat cut.out)
like "$out" "it was interrupted" "interrupted: it says what it has"
like "$out" "in [0-9]+ runs?, " "and how much that is"
is "$(ls left)" "" "and leaves nothing behind"

# Names and messages that are no UTF-8 leave nothing out of the JSON.
cat >odd.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *p)
{
	pthread_mutex_lock(&m);
	if (x++) {
		fputs("f\377\033[31m\n", stderr);
		abort();
	}
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, one, 0);
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return 0;
}
C
odd=$(printf 'odd\377')
$HEDDLE cc -g -O1 odd.c -o "$odd" -pthread
run "$HEDDLE" explore --format json -o "$odd.tree" -- "./$odd"
is "$(json '"$d->{program} $d->{errors}[0]{story} $d->{errors}[0]{trace} " . ($d->{executions} - @{$d->{runs}})')" \
	'./odd\xFF f\xFF\x1B[31m odd\xFF.tree.run0.hdl 0' "an error of a program whose names and words are no UTF-8"

cat >prints.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static _Atomic int a, b, c;
static void *one(void *p)
{
	a = 1;
	c = 1;
	b = 1;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, one, 0);
	int seen = a, before = c;
	(void)before;
	printf("begin\nsaw %d\n", seen);
	fflush(stdout);
	assert(seen || !b);
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -g -O1 prints.c -o prints -pthread
run "$HEDDLE" explore --format json -o prints.tree -- ./prints
is "$(json 'join "; ", sort map { "$_->{printed}" } grep { $_->{end} eq "exit" && !$_->{redundant} } @{$d->{runs}}')" \
	"saw 0; saw 0; saw 1; saw 1" "the last line that each run prints"
is "$(json 'my %o; $o{$_->{output}} = 1 for grep { $_->{end} eq "exit" } @{$d->{runs}}; scalar keys %o')" 2 "two outputs"
is "$(json 'my $e = $d->{errors}[0]; my @of = grep { defined $_->{error} && $_->{error} == 0 } @{$d->{runs}};
	my ($least) = sort { $a <=> $b } map { $_->{switches} } @of;
	@of > 1 && (grep { $_->{end} ne "signal" } @of) == 0 && $d->{runs}[$e->{shortest}]{switches} == $least ? "shortest" : "no"')" \
	shortest "an error knows its runs and the shortest"
is "$(json 'my $e = $d->{errors}[0]; join " ", sort grep { !-e $_ } map { $_->{trace} // () } @{$d->{runs}}')" "" \
	"each trace that is named is there"
is "$(json 'defined $d->{runs}[$d->{errors}[0]{shortest}]{trace}')" 1 "the shortest run's among them"

run "$HEDDLE" explore --final nosuch,x -- ./count
like "$out" "no run that ended reads or writes a variable 'nosuch'" "a name of --final that is nobody's is a gap"
like "$out" "not complete" "so it is not complete"
unlike "$out" "variable 'x'" "and no other"

run "$HEDDLE" explore -- ./nowhere
is "$status" 2 "no such program"
run "$HEDDLE" explore
is "$status" 2 "no program at all"
run "$HEDDLE" explore --budget soon -- ./count
is "$status" 2 "no number"
for names in "" , x,,y "x, "; do
	run "$HEDDLE" explore --final "$names" -- ./count
	is "$status" 2 "--final '$names' names no variable"
done
run "$HEDDLE" explore --check 'x == 99999999999999999999' -- ./count
is "$status" 2 "a number of more than 64 bits"
like "$err" "64 bits" "which is said"
run "$HEDDLE" explore --timeout inf --format json -- ./count
is "$(json '$d->{complete}')" true "a run may take as long as it likes"
done_testing
