#!/bin/bash
# What is said of places: where a program ended with an error status, who called a signal's handler,
# why a predicted wait never ends; and what info says of a recording's surroundings.
. tests/e2e/lib.sh
cd "$scratch" || exit

# ---- the end of the program ----
cat >ends.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int first, late;
static void leaving(void) { late++; }
static void *works(void *id)
{
	pthread_mutex_lock(&m);
	if (!first)
		first = (int)(long)id;
	pthread_mutex_unlock(&m);
	return 0;
}
static int result(void)
{
	return first == 2 ? 3 : 0; /* the last read */
}
static void ends(void)
{
	if (first == 2)
		END /* the end */
}
int main(void)
{
	pthread_t t[2];
	atexit(leaving);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], 0, works, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	ends();
	return result();
}
C
ends() { # END, the comment at the line that is to be named, its function
	"$HEDDLE" cc -g -O1 -DEND="$1" ends.c -o ends -pthread
	run "$HEDDLE" check --no-harm -o ends -- ./ends
	line=$(grep -n "/\* $2 \*/" ends.c | cut -d: -f1)
	like "$out" "^    main +ends.c:$line  in $3, from main ends.c:[0-9]+$" "$1: where it ends, and in which calls"
	unlike "$out" '@libc' "$1: the call that ends it is not around its own place"
}
ends 'exit(3);' 'the end' ends
ends '_exit(3);' 'the end' ends
ends '_Exit(3);' 'the end' ends
ends 'return;' 'the last read' result

# ---- quick_exit: at its call, not in what at_quick_exit has registered ----
cat >quick.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int count;
static void leaves(void) { count++; }
static void *nothing(void *unused) { return unused; }
int main(void)
{
	pthread_t thread;
	at_quick_exit(leaves);
	pthread_create(&thread, 0, nothing, 0);
	quick_exit(3); /* the quick end */
}
C
quick=$(grep -n 'the quick end' quick.c | cut -d: -f1)
"$HEDDLE" cc -g -O1 quick.c -o quick -pthread
run "$HEDDLE" explore --format json -- ./quick
is "$(json 'join " ", map { "$_->{kind} @{$_->{locations}} $d->{complete}" } @{$d->{errors}}')" "exit-status quick.c:$quick 1" "explore: quick_exit"
run "$HEDDLE" record -q -o quick.hdl -- ./quick
is "$status" 3 "it ends with its status"
run "$HEDDLE" info quick.hdl
like "$out" "exit status 3" "and that is recorded"

# ---- a handler ----
cat >handler.c <<'C'
#include <pthread.h>
#include <signal.h>
static volatile int seen;
static void handler(int number) { seen = number; }
static void sends(void) { raise(SIGUSR1); } /* the call */
int main(void)
{
	signal(SIGUSR1, handler);
	sends();
	return 0;
}
C
line=$(grep -n 'the call' handler.c | cut -d: -f1)
"$HEDDLE" cc -g -O1 -fno-optimize-sibling-calls handler.c -o handler -pthread
for mode in controlled free; do
	"$HEDDLE" record -q --mode $mode -o handler.hdl -- ./handler
	"$HEDDLE" convert handler.hdl handler.txt
	like "$(cat handler.txt)" 'enter\(handler\)' "$mode: the handler is in the recording"
	unlike "$(grep 'enter(handler)' handler.txt)" '\|0x' "$mode: not called from the recorder"
done

# ---- info ----
run "$HEDDLE" info handler.hdl
like "$out" "recording-surroundings.* folder $scratch, [0-9]+ descriptors?, [0-9]+ environment variables?" "surroundings in short"
unlike "$out" 'env=' "without the names of variables"
like "$("$HEDDLE" info --format json handler.hdl)" 'env=' "which JSON has"

# ---- a predicted wait ----
cat >lost.txt <<'T'
#! heddle 1
main|fork(T1)|a.c:1
main|fork(T2)|a.c:1
T1|acq(m)|a.c:3
T1|rel(m)|a.c:4
T1|wait(c)|a.c:4
T2|acq(m)|a.c:7
T2|broadcast(c)|a.c:8
T2|rel(m)|a.c:9
T1|wake(c)|a.c:4
T1|acq(m)|a.c:4
T1|rel(m)|a.c:5
main|join(T1)|a.c:10
main|join(T2)|a.c:11
T
run "$HEDDLE" deadlocks lost.txt
like "$out" 'T1 waits for condition c, whose last broadcast, by T2 at a.c:8, came before that wait' "why a predicted wait never ends"

# ---- a place without a line, in the explorer ----
cat >symbols.txt <<'T'
#! heddle 1
main|fork(T1)|main+0x10
main|fork(T2)|main+0x18
T1|enter(worker)|start+0x9
T1|w(x)|worker+0x65
T1|leave(worker)|
T2|enter(worker)|start+0x9
T2|r(x)|worker+0x65
T2|leave(worker)|
main|join(T1)|main+0x20
main|join(T2)|main+0x28
T
printf '%s\n' wait 'view story' wait 'save-screen story.txt' >story.script
COLUMNS=120 LINES=40 "$HEDDLE" open symbols.txt --script story.script
like "$(cat story.txt)" 'T1 \(worker\) writes x in worker\+0x65' "a symbol and an offset name the function"
unlike "$(cat story.txt)" 'worker worker' "once"

# ---- a function that the C library calls ----
cat >sorts.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int looks;
static int compare(const void *a, const void *b)
{
	looks++; /* the race */
	return *(const int *)a - *(const int *)b;
}
static void *sorts(void *unused)
{
	int list[] = { 3, 1, 2 };
	qsort(list, 3, sizeof *list, compare);
	return unused;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, sorts, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 sorts.c -o sorts -pthread
"$HEDDLE" record -q -o sorts.hdl -- ./sorts
run "$HEDDLE" races sorts.hdl
like "$out" 'sorts.c:6  in compare, from sorts sorts.c:12$' "the caller is named at the line of the call of qsort"
unlike "$out" '\+0x' "no bare address"
printf '%s\n' wait 'view story' wait 'save-screen story.txt' 'press w' wait 'save-screen witness.txt' >story.script
COLUMNS=120 LINES=40 "$HEDDLE" open sorts.hdl --script story.script
unlike "$(cat story.txt witness.txt)" '\+0x' "nor has the explorer"
like "$(cat story.txt)" 'compare sorts.c:6' "which has the user's place"

# ---- a function that the C++ library calls by way of the C library ----
cat >once.cc <<'C'
#include <mutex>
#include <thread>
static int seen;
static void first() { seen++; } // the call
static void works(std::once_flag *flag)
{
	std::call_once(*flag, first);
}
int main()
{
	std::once_flag flags[2];
	std::thread a(works, &flags[0]), b(works, &flags[1]);
	a.join();
	b.join();
	return 0;
}
C
"$HEDDLE" c++ -g -O1 -fno-inline once.cc -o once -pthread
"$HEDDLE" record -q -o once.hdl -- ./once
run "$HEDDLE" races once.hdl
like "$out" 'once.cc:4  in first.*, from works once.cc:7$' "the caller is the user's own, with its line"
unlike "$out" 'from std::' "no function of the library's stands between"

# ---- races of a variable of the standard library, by its members ----
cat >best.cc <<'C'
#include <optional>
#include <thread>
static std::optional<int> best;
static void works(int i)
{
	if (!best || *best < i)
		best = i;
}
int main()
{
	std::thread a(works, 1), b(works, 2);
	a.join();
	b.join();
	return 0;
}
C
"$HEDDLE" c++ -std=c++17 -g -O0 best.cc -o best -pthread
run "$HEDDLE" explore -- ./best
like "$out" 'race: data-race  on best' "std::optional: the races are found"
is "$(grep -A2 '^race' <<<"$out" | grep -v -- -- | paste -d' ' - - - | sort | uniq -d)" "" "none is listed twice"
unlike "$out" 'works::' "a parameter that its function keeps in its frame is no read before writes"
is "$(grep -c '^race' <<<"$out")" "$(sed -n 's/.*: \([0-9]*\) findings\? in .*/\1/p' <<<"$out")" "the last line counts those that are listed"
done_testing
