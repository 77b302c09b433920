#!/bin/bash
# The place of a finding is the innermost frame in the user's own files: text, JSON (which keeps the
# exact sites), SARIF, the explorer; just-my-code off shows every place as it is.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
export XDG_CONFIG_HOME=$scratch/config COLUMNS=110 LINES=30
cd "$scratch" || exit 1
"$HEDDLE" c++ -std=c++17 -g -O1 "$programs/lazy_config.cpp" -o lazy -pthread || exit 1
run "$HEDDLE" record -q --seed 1 -o lazy.hdl -- ./lazy
is "$status" 0 "the program runs"
run "$HEDDLE" races lazy.hdl
like "$out" "lazy_config.cpp:9  in Lazy::set, .*inside of std::swap" "text: the user's line, and what it was inside of"
unlike "$(grep -o '[a-z_]*\.h:[0-9]*  in' <<<"$out")" "h:" "no header is a place"
run "$HEDDLE" races lazy.hdl --format json
is "$(json 'join " ", @{$d->{findings}[0]{locations}}')" "lazy_config.cpp:9 lazy_config.cpp:13" "JSON: locations"
like "$(json '$d->{findings}[0]{sites}[0]{file}')" "/move.h$" "JSON: the exact sites are kept"
is "$(json '$d->{findings}[0]{places}[0]{function}')" "Lazy::set" "JSON: places name the user's function"
run "$HEDDLE" races lazy.hdl --format sarif
like "$(json '$d->{runs}[0]{results}[0]{locations}[0]{physicalLocation}{artifactLocation}{uri}')" "lazy_config.cpp$" \
	"SARIF: the user's file"
printf '%s\n' wait "save-screen mine.txt" "just-my-code off" "save-screen exact.txt" >look.script
run timeout 300 "$HEDDLE" open lazy.hdl --script look.script
like "$(cat mine.txt)" "Lazy::set lazy_config.cpp:9 ⇄ Lazy::get :13" "explorer: the user's lines"
like "$(cat mine.txt)" "race +weak order" "a race by release and acquire is called what it is"
like "$(cat mine.txt)" "does not publish|is relaxed" "and says which store does not publish"
like "$(cat exact.txt)" "move.h:[0-9]+" "just-my-code off: the exact place"
"$HEDDLE" c++ -std=c++17 -g -O1 "$programs/two_guards.cpp" -o guards -pthread || exit 1
run timeout 300 "$HEDDLE" record -q --seed 1 -o guards.hdl -- ./guards
run "$HEDDLE" deadlocks guards.hdl --format json
is "$(json 'join " ", @{$d->{findings}[0]{locations}}')" "two_guards.cpp:14 two_guards.cpp:21" \
	"one line of the library, inlined at several: each event has its own caller"
run timeout 300 "$HEDDLE" check --no-harm guards.hdl
like "$out" "T1 waits for lock right, held by T2 \(two_guards.cpp:14, inside of [a-z-]*\.h:[0-9]+\)" "check says: the user's line, then the one of the library"
like "$out" "list \(two_guards.cpp:12, inside of .* it \(two_guards.cpp:19, inside of" "so for races, and the variable is the user's"
unlike "$out" "_M_|\([a-z_]+\.(h|tcc):[0-9]+\)" "no name or place of the library stands alone"
unlike "$out" "from std::" "callers of the library are left out"
run timeout 300 "$HEDDLE" check --no-harm guards.hdl --format json
like "$(json 'join " ", map { @{$_->[0]} } map { $_->{stacks} || () } @{$d->{findings}}')" "std::" "JSON has the stacks whole"
unlike "$(json 'join " ", map { @{$_->[0]} } map { $_->{callers} || () } @{$d->{findings}}')" "std::" "and the callers in the user's code"
"$HEDDLE" check --no-harm --format json guards.hdl >guards.json
for command in "merge guards.json" "diff guards.json guards.json" "fix-check guards.json --budget 3 --runs 1 -- ./guards"; do
	run timeout 300 "$HEDDLE" $command
	like "$out" " two_guards.cpp:12  in " "${command%% *}: the user's places"
	unlike "$out" "_M_|^ *[A-Za-z0-9]* *[a-z_]+\.(h|tcc):[0-9]+|data-race  on .*\._M" "${command%% *}: no name or place of the library stands alone"
done
run timeout 300 "$HEDDLE" explore --budget 5 -- ./guards
words=$(tr -s '\n ' ' ' <<<"$out")
like "$words" "race: data-race on \*?list(, \*?list)* two_guards.cpp:[0-9]+ two_guards.cpp:[0-9]+ inside of .* first in run" "explore, too"
like "$words" "happened: deadlock two_guards.cpp:(14|21)" "and where its threads wait"
mkdir -p config/heddle
printf '[my-code]\njust-my-code = off\n' >config/heddle/config
run "$HEDDLE" races lazy.hdl --format json
like "$(json '$d->{findings}[0]{locations}[0]')" "move.h" "the setting holds for reports, too"
printf '[my-code]\ntheirs = *lazy_config.cpp\n' >config/heddle/config
run "$HEDDLE" races lazy.hdl --format json
like "$(json '$d->{findings}[0]{locations}[0]')" "move.h" "a pattern: nothing is mine, so the exact place"
printf '[my-code]\nelse = on\n' >config/heddle/config
run "$HEDDLE" open lazy.hdl --script look.script
is "$status" 2 "an unknown setting is refused by the explorer"
like "$err" "\[my-code\] else: expected just-my-code, mine or theirs" "with its remedy"

# each event of a deadlock has its callers, too: here both are in one line of a wrapper
rm config/heddle/config
cat >wrapped.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void lock(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
}
static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	lock(first), lock(second);
	pthread_mutex_unlock(second), pthread_mutex_unlock(first);
}
static void *one(void *unused)
{
	return both(&a, &b), unused;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, one, NULL);
	both(&b, &a);
	return pthread_join(t, NULL);
}
C
"$HEDDLE" cc -g -O1 -fno-inline wrapped.c -o wrapped -pthread || exit 1
run timeout 300 "$HEDDLE" record -q --seed 1 -o wrapped.hdl -- ./wrapped
run timeout 300 "$HEDDLE" check --no-harm wrapped.hdl
like "$out" "T1 +wrapped.c:5  in lock, from both wrapped.c:9, from one wrapped.c:14" "check: the callers at a lock"
like "$out" "main +wrapped.c:5  in lock, from both wrapped.c:9, from main wrapped.c:20" "of both threads"

# a race that the exploration and an analysis name, each by its own places, is listed once
cat >late.cc <<'C'
#include <string>
#include <thread>
struct text { std::string s = "log"; ~text() { s.clear(); } } text;
int main()
{
	std::thread([] { text.s += 'x'; }).detach();
	return 0;
}
C
"$HEDDLE" c++ -g -O1 late.cc -o late -pthread
run "$HEDDLE" check -o late --format json -- ./late
is "$(json 'my @f = @{$d->{findings}}; @f > 0 && !grep { !$_->{places} } @f')" 1 "none is listed by its places in headers alone"

# the C++ library creates and joins threads for std::thread: the place is the line that asked it
cat >joined.cpp <<'C'
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m;
std::condition_variable cv;
int main()
{
	std::thread worker([] { std::unique_lock<std::mutex> l(m); cv.wait(l, [] { return false; }); });
	std::thread tries([] { try { std::thread().join(); } catch (...) { } });
	tries.join();
	worker.join();
}
C
"$HEDDLE" c++ -g -O1 joined.cpp -o joined -pthread || exit 1
run timeout 300 "$HEDDLE" record -q -o joined.hdl -- ./joined
like "$err" "main .*joined.cpp:11" "the recorder names the line of std::thread::join"
run "$HEDDLE" deadlocks joined.hdl
like "$(tr -s '\n ' ' ' <<<"$out")" "main stands waiting for the end of T1 joined.cpp:11 in main " "and so does the report"
run "$HEDDLE" convert --to text joined.hdl -
is "$(grep -c '|join(T2)|joined.cpp:10' <<<"$out")" 1 "one that ends; a join that throws in between changes nothing"
done_testing
