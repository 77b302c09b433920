#!/bin/bash
# docs/languages.md: C11 threads, coroutines, Rust; and programs whose compiler left out reads.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

# One race, on the variable that nothing guards, whatever the schedule.
one_race() { # PROGRAM VARIABLE
	for seed in 1 2 3; do
		"$HEDDLE" record -q --seed $seed -o t.hdl -- "$1" >printed 2>said
		run "$HEDDLE" races --format json t.hdl
		is "$(json 'join ",", map { "$_->{kind} $_->{variable}" } @{$d->{findings}}')" "data-race $2" "$1, seed $seed: one race"
	done
}

"$HEDDLE" cc -g -O1 "$programs/c11_threads.c" -o c11 -pthread
one_race ./c11 unguarded
is "$(cat printed)" "2 7" "C11 threads, recorded, print what they do"

if echo 'int main() {}' | g++ -std=c++20 -fcoroutines -x c++ - -o nothing 2>nothing.err; then
	"$HEDDLE" c++ -std=c++20 -fcoroutines -g -O1 "$programs/coroutines.cc" -o coroutines -pthread
	one_race ./coroutines unguarded
	is "$(cat printed)" 6 "coroutines, recorded, print what they do"
else
	skip "coroutines" "no C++20 compiler"
fi

# clang leaves out reads unless it is told otherwise; nothing is complete then.
cat >increment.c <<'E'
#include <pthread.h>
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *unused)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	return unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, add, 0);
	add(0);
	pthread_join(t, 0);
	return 0;
}
E
if command -v clang >nothing && clang -g -O1 -fsanitize=thread -shared-libsan increment.c -o plain -pthread 2>nothing.err; then
	run "$HEDDLE" record -o plain.hdl -- ./plain
	like "$err" "^heddle: (.*/)?plain: clang left out reads .* build it with heddle cc" "record says that reads are left out"
	run "$HEDDLE" explore --format json -- ./plain
	is "$status $(json 'join ",", $d->{complete} ? 1 : 0, grep(/left out reads/, @{$d->{gaps}}) ? 1 : 0')" "3 0,1" "and explore is not complete"
	CC=clang "$HEDDLE" cc -g -O1 increment.c -o kept -pthread
	run "$HEDDLE" explore --format json -- ./kept
	is "$status $(json '"$d->{states} " . @{$d->{gaps}}')" "0 2 0" "heddle cc keeps them: two classes, complete"
	clang -g -O1 -fsanitize=thread -shared-libsan -mllvm -tsan-instrument-read-before-write=1 -grecord-command-line \
		increment.c -o kept2 -pthread
	run "$HEDDLE" explore --format json -- ./kept2
	is "$status $(json '"$d->{states} " . @{$d->{gaps}}')" "0 2 0" "so do the options that the message names"
else
	skip "clang's left out reads" "no clang with a shared runtime"
fi
"${CC:-gcc}" -g -O1 -fsanitize=thread increment.c -o gcc -pthread
run "$HEDDLE" record -o gcc.hdl -- ./gcc
unlike "$err" "left out" "gcc keeps them"

# Rust, as Debian has it.
if [ -x /usr/bin/rustc ]; then
	printf '#!/bin/sh\nexec %q cc "$@"\n' "$HEDDLE" >heddle-link
	chmod +x heddle-link
	RUSTC_BOOTSTRAP=1 /usr/bin/rustc -g -Zsanitizer=thread -Cllvm-args=-tsan-instrument-read-before-write=1 \
		-Clinker="$PWD/heddle-link" "$programs/threads.rs" -o rust 2>rust.err || cat rust.err
	# A thread that has to wait for the mutex takes it in code of the library that is not instrumented
	# (docs/languages.md); such runs have a note of futexes.
	waited=0
	for seed in $(seq 1 8); do
		"$HEDDLE" record -q --seed $seed -o t.hdl -- ./rust >printed 2>said
		run "$HEDDLE" races --format json t.hdl
		found=$(json 'join ",", map { "$_->{kind} $_->{variable}" } @{$d->{findings}}')
		if grep -q "^  recording-futexes" <("$HEDDLE" info t.hdl); then
			waited=$((waited + 1))
			like "$found" "data-race threads::UNGUARDED" "./rust, seed $seed, with a wait: the race is among those found"
			is "$(json 'join ",", grep { $_ ne "candidate" } map { $_->{verdict} } @{$d->{findings}}')" "" "which are candidates, as the library's code may order them"
			like "$(cat said)" "code that is not instrumented.*nor which order it makes" "and what is not seen is named"
		else
			is "$found" "data-race threads::UNGUARDED" "./rust, seed $seed: one race"
		fi
	done
	is "$((waited < 8))" 1 "a schedule in which no thread waits is among them"
	is "$(cat printed)" "2 2" "Rust, recorded, prints what it does"
	run "$HEDDLE" record -o t.hdl -- ./rust
	like "$err" "rust: rustc leaves out reads .*, unless it was given -Cllvm-args=" "the option for Rust is named"
else
	skip "Rust" "no /usr/bin/rustc"
fi
done_testing
