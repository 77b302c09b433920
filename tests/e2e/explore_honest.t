#!/bin/bash
# heddle explore says what it has not looked at, and judges every run whatever its class.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs/honest
cd "$scratch" || exit 1

build() { # NAME [FLAGS]
	local source="$programs/$1.c" compiler=cc
	[ -e "$source" ] || source="$programs/$1.cc" compiler=c++
	run "$HEDDLE" "$compiler" -g -O1 "$source" -o "${1##*/}" -pthread "${@:2}"
}
explore() { # NAME [OPTIONS]
	run timeout 120 "$HEDDLE" explore --budget 100 --format json "${@:2}" -- "./$1"
}
errors() { json 'join " ", sort map { $_->{kind} . "@" . join("+", @{$_->{locations}}) } @{$d->{errors}}'; }
complete() { json '$d->{complete} ? "complete" : "open"'; }
said() { json 'join " | ", @{$d->{gaps}}, @{$d->{notes}}'; }

# uses after free, whatever the order of the run and whatever its class
for at in uaf_missed:6 uaf_found:6 uaf_read:6 exp_uaf:11 uaf_atomic:6 uaf1:3 destroyed_missed:5 known_class:5; do
	name=${at%:*}
	build $name
	explore $name
	is "$status $(errors) $(complete)" "1 use-after-free@$name.c:${at#*:} complete" "$name: the use is found"
	explore $name --seed 2
	is "$(errors)" "use-after-free@$name.c:${at#*:}" "$name: from another first run"
done
run "$HEDDLE" explore -- ./uaf_missed
like "$out" "complete, as far as uses after free leave a promise" "text: what the promise leaves out"
build use_after_free
explore use_after_free
is "$(errors)" "use-after-free@use_after_free.c:22 use-after-free@use_after_free.c:23" "each place is an error of its own"
build ../service
explore service
is "$(errors)" "$(echo lock-misuse@service.c:43 use-after-free@service.c:3{2,3,4,5})" "a lock that was destroyed and freed"
unlike "$(said)" "outside" "nothing comes from outside"
for k in 1 2 3; do
	build freed_lock -DK=$k
	explore freed_lock
	like "$(errors)" "use-after-free@freed_lock.c:(18|21|23)" "a lock, condition, semaphore in a freed block: $k"
done
build joined_stack
explore joined_stack
is "$(errors)" "use-after-free@joined_stack.c:16" "the stack of a thread that was joined"
build alive_after
explore alive_after
is "$(errors)" "signal@alive_after.c:10 use-after-free@alive_after.c:11" "the other order of a run with a use after free is run"

# who ended the program is an outcome
for at in assert_missed:6:7 two_asserts:6:7 two_asserts_nested:6:7; do
	IFS=: read -r name one two <<<"$at"
	build $name
	explore $name
	is "$(errors) $(complete)" "signal@$name.c:$one signal@$name.c:$two complete" "$name: each of two threads may be the first to fail"
done
# a visible last step of the thread that fails: others may see it before the program ends
build flag_then_fail
for seed in "" "--seed 1" "--seed 5"; do
	explore flag_then_fail $seed
	is "$(errors) $(complete)" "signal@flag_then_fail.c:15 signal@flag_then_fail.c:9 complete" "between a thread's last step and its abort another goes on $seed"
done

# main that returns without joining
build uaf
explore uaf
is "$(errors)" "use-after-free@uaf.c:6" "main returns at once: what the threads do then is explored"
like "$(said)" "main ends the program while T1 has not come to its end" "and said"

# threads that are created by two threads at the same time
build nested_diverged
explore nested_diverged
is "$status $(complete)" "0 complete" "threads are known by who creates them, not by the order"

# an exit status that every run has
build void_main
explore void_main --until-error
like "$(errors)" "signal@void_main.c:14" "--until-error goes on to the failed assertion"

# threads that wait by looking
for at in spin_first:5 poll_lock:6 spin_yield:5 two_spin:25; do
	name=${at%:*}
	build $name
	explore $name
	is "$status $(json '$d->{executions}') $(complete) $(errors)" "3 ${at#*:} open " "$name: the others run, and each number of looks up to a limit"
	like "$(said)" "waits by looking, at $name.c:[0-9]+: .*is not tried" "$name: the report names it"
	explore $name --steps 60
	like "$(errors) $(json '$d->{executions} > 4 && $d->{executions} < 200 ? "bounded" : $d->{executions}')" "^cut@ bounded" "$name: --steps ends it"
done

# a race that another order of the same values has
build exp_race
explore exp_race
is "$status $(json 'join " ", map { @{$_->{locations}} } @{$d->{races}}') $(json '$d->{executions}')" \
	"1 exp_race.c:4 exp_race.c:5 1" "a race that is not in the run's own happens-before"

# a run that strays and fails has failed; why it strayed is said as far as it is known
build assembly
explore assembly
like "$(errors)" "signal@assembly.c:17" "a run that does not follow its schedule and aborts has aborted"
like "$(said)" "share what is not seen .*inline assembly" "why it may have"

# code that is not instrumented
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

# specifications
build oset -DN=2
explore oset --spec "$programs/oset.spec" --results
is "$status $(complete)" "0 complete" "by results, of an object that is given up"
sed 's/set_add/no_such/' "$programs/oset.spec" >none.spec
explore oset --spec none.spec
is "$status" 2 "a bind line that matches nothing"
like "$err" "none.spec:6: no_such cannot be bound: .*leave the bind line out" "with its place"

done_testing
