#!/bin/bash
# heddle cc, c++ and record: what is recorded, exit status and streams, survival, refusals.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

for c in sync race deadlock; do
	$HEDDLE cc -O1 "$programs/$c.c" -o $c -pthread || echo "# cannot build $c"
done
$HEDDLE c++ -O1 "$programs/statics.cc" -o statics -pthread
text() { $HEDDLE convert "$1" out.txt --to text 2>/dev/null && cat out.txt; }

run ./race
is "$status $out" "5 balance 45" "a program built with heddle cc runs alone"
run ldd ./race
unlike "$out" "tsan|heddle" "and needs no library of ours"

run $HEDDLE record -- ./race
is "$status" 5 "record exits as the program does"
is "$out" "balance 45" "standard output is the program's"
run perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' $HEDDLE record -q -o ignored.hdl -- ./race
is "$status" 5 "and so it does under a parent that ignores its children's ends"
run $HEDDLE record -- ./race
like "$err" "^on standard error" "standard error is the program's"
t=$(text race.hdl)
like "$t" "T1\|acq\(m\)\|race.c:19" "a lock with its name and line"
like "$t" "T1\|w8\(bank.balance\)=[0-9]+\|race.c:20" "a write with variable, member, value"
like "$t" "T2\|r4\(unlocked\)=[0-9]\|race.c:22" "an unlocked read"
like "$t" "main\|fork\(T2\)" "fork"
like "$t" "main\|join\(T1\)" "join"
like "$t" "T1\|enter\(run\)" "function entry"
is "$(grep -c 'T1|w8(bank.balance)' out.txt)" 3 "each write once"
is "$(grep 'w8(bank.balance)' out.txt | tail -1 | sed 's/.*=\([0-9]*\)|.*/\1/')" 45 "the last value is the right one"

# determinism
for seed in 1 2 3; do
	for p in race sync statics; do
		$HEDDLE record -q --seed $seed -o one.hdl ./$p >/dev/null 2>&1
		$HEDDLE record -q --seed $seed -o two-of-another-name.hdl ./$p >/dev/null 2>&1
		$HEDDLE convert one.hdl one.txt --to text; $HEDDLE convert two-of-another-name.hdl two.txt --to text
		cmp -s <(sed 's/\(local\|at\|stack\)[^|]*=[0-9]*|/\1|/' one.txt) \
			<(sed 's/\(local\|at\|stack\)[^|]*=[0-9]*|/\1|/' two.txt)
		ok $? "$p: seed $seed is one run"
	done
done
$HEDDLE record -q --seed 1 -o one.hdl ./race >/dev/null 2>&1
$HEDDLE record -q --seed 1 -o two.hdl ./race >/dev/null 2>&1
cmp -s one.hdl two.hdl
ok $? "the same trace, byte for byte"
$HEDDLE record -q --strategy noise --seed 5 -o other.hdl ./race >/dev/null 2>&1
cmp -s one.hdl other.hdl
is $? 1 "another seed and strategy is another run"

# every kind of synchronisation, under every strategy
for s in random pct noise rr; do
	run timeout 300 $HEDDLE record --strategy $s -o sync.hdl -- ./sync
	is "$status $out" "3 prepared 4 sum 33 joined 7 waited 1 pipe" "synchronisation under $s"
done
t=$(text sync.hdl)
for op in 'wait\(opened\)' 'wake\(opened\)' 'broadcast\(opened\)' 'racq\(table_lock\)' 'rrel\(table_lock\)' \
	'acq\(table_lock\)' 'arrive\(meeting\)' 'depart\(meeting\)' 'post\(done\)' 'take\(done\)' \
	'acq\(spin\)' 'rel\(spin\)' 'snd\(' 'rcv\(' 'rmw4?\(arrived\)' 'alloc\(' 'free\(' 'acq\(plain\)' 'fork\(T4\)'; do
	like "$t" "\|$op" "recorded: $op"
done
run $HEDDLE record --mode free -o free.hdl -- ./race
like "$status $out" "5 balance 45" "free mode"
run $HEDDLE info free.hdl
is "$status" 0 "a trace of free mode opens"
run $HEDDLE races free.hdl --verdicts all --format json
like "$out" '"complete": false' "free mode's order of accesses is a guess: no report of it is complete"
ok $([[ $out != *'"impossible"'* ]]; echo $?) "nor calls anything impossible"
run $HEDDLE record -o statics.hdl -- ./statics
is "$status $out" "0 13" "C++"
t=$(text statics.hdl)
like "$t" "\|alloc\(" "operator new"


gcc -O1 "$programs/odd.c" -o odd-plain -pthread 2>/dev/null
$HEDDLE cc -O1 "$programs/odd.c" -o odd -pthread 2>/dev/null
./odd-plain >want 2>&1
for seed in 1 2; do
	run timeout 300 $HEDDLE record -q --seed $seed -o odd.hdl -- ./odd
	is "$status $out" "0 $(cat want)" "cancellation, handlers, children: seed $seed"
done

# survival
for how in kill:137 abort:134 segv:139 _exit:9 close:5 fork:5; do
	run $HEDDLE record -o dead.hdl -- ./race ${how%:*}
	is "$status" "${how#*:}" "exit status after ${how%:*}"
	text dead.hdl >/dev/null
	is "$(grep -c 'w8(bank.balance)' out.txt)" 6 "all events of the time before ${how%:*}"
	rm -f dead.hdl
done
like "$err" "forked" "a fork is told"
is "$(ls | grep -c 'log-')" 0 "no log is left behind"

# the recorder itself is killed: its log opens like a trace
cat >wait.c <<'C'
#include <pthread.h>
#include <unistd.h>
static int x;
static void *f(void *p) { x = 1; return p; }
int main(void) { pthread_t t; char c; pthread_create(&t, 0, f, 0); pthread_join(t, 0); x = 2;
	write(1, "x", 1); return (int)read(0, &c, 1); }
C
$HEDDLE cc wait.c -o wait-here -pthread
mkfifo in out
$HEDDLE record -o killed.hdl -- ./wait-here <in >out 2>/dev/null &
recorder=$!
exec 8>in 9<out
read -r -n1 -u9 _ # it has come to its read
program=$(running wait-here)
kill -9 $recorder
{ wait $recorder; } 2>/dev/null
exec 8>&- 9<&-
await [ ! -e "$program" ]
log=$(ls killed.hdl.log-* 2>/dev/null)
t=$(text "$log")
like "$t" "main\|w4\(x\)=2" "the log of a killed recorder is a trace"
rm -f killed.hdl.log-*

# deadlock
run timeout 300 $HEDDLE record -- ./deadlock
is "$status" 134 "a deadlock ends the program"
like "$err" "main waits for mutex right, held by T1" "who waits for what"
like "$err" "T1 waits for mutex left, held by main \(deadlock.c:9\)" "and where"
ok $([ -s deadlock.hdl ]; echo $?) "its trace is kept"

# a program built the ordinary way with -fsanitize=thread
if gcc -fsanitize=thread -g -O1 "$programs/race.c" -o plain -pthread 2>/dev/null; then
	run $HEDDLE record -- ./plain
	is "$status $out" "5 balance 45" "gcc -fsanitize=thread"
	printf '#include <stdio.h>\n#include <stdlib.h>\nstatic void bye(void) { puts("bye"); }\nint main(void) { atexit(bye); return 6; }\n' >bye.c
	gcc -fsanitize=thread -g -O1 bye.c -o bye && run $HEDDLE record -o bye.hdl -- ./bye
	is "$status $out" "6 bye" "with functions of libtsan's that the C library does not export"
	t=$(text plain.hdl)
	like "$t" "T1\|w8\(bank.balance\)=" "is recorded in the place of libtsan"
else
	skip "gcc -fsanitize=thread" "it does not link here"
fi
if has clang "programs by clang"; then
	CC=clang $HEDDLE cc -O1 "$programs/race.c" -o by-clang -pthread
	run $HEDDLE record -- ./by-clang
	is "$status" 5 "clang"
	t=$(text by-clang.hdl)
	like "$t" "T2\|r4\(unlocked\)=" "the read of x = x + 1 is there"
	if clang -fsanitize=thread -shared-libsan -g -O1 "$programs/race.c" -o shared -pthread 2>/dev/null; then
		run $HEDDLE record -- ./shared
		is "$status" 5 "clang -shared-libsan"
		t=$(text shared.hdl)
		like "$t" "T1\|w8\(bank" "is recorded too" # clang splits the struct
	else
		skip "clang -shared-libsan" "it does not link here"
	fi
fi

# refusals
gcc -O1 "$programs/race.c" -o bare -pthread
run $HEDDLE record -- ./bare
is "$status" 5 "without instrumentation"
like "$err" "bare: is not instrumented: only synchronisation was recorded; build it with 'heddle cc'" "that is said"
t=$(text bare.hdl)
like "$t" "T1\|acq\(" "and synchronisation is recorded"
gcc -O1 -static "$programs/race.c" -o static -pthread 2>/dev/null
refused() { # NAME REGEX
	run $HEDDLE record -- "$1"
	is "$status" 125 "$1: refused"
	like "$err" "$2" "$1: why"
	is "$(printf '%s\n' "$err" | wc -l)" 1 "$1: one message"
}
refused ./missing "missing: cannot run it: No such file"
if [ -x static ]; then
	refused ./static "static.*statically linked.*-static"
else
	skip "a static program" "no static C library"
fi
echo '#!/bin/sh' >script; chmod +x script
refused ./script "script.*is a script"
echo text >data
refused ./data "data: is not executable"
chmod +x data
refused ./data "no ELF file"
cp race other-class; printf '\001' | dd of=other-class bs=1 seek=4 conv=notrunc 2>/dev/null
refused ./other-class "32-bit"
cp race other-machine; printf '\267' | dd of=other-machine bs=1 seek=18 conv=notrunc 2>/dev/null
refused ./other-machine "another architecture"
cp race setuid; chmod u+s setuid
refused ./setuid "setuid"
run $HEDDLE record -o /nowhere/x.hdl -- ./race
is "$status" 125 "output that cannot be written"
like "$err" "/nowhere/x.hdl" "names it"
run $HEDDLE record
is "$status" 125 "no program"
run $HEDDLE record -o /dev/full -- ./race
is "$status" 125 "a full disk"
run $HEDDLE record --max-size 1 -o limited.hdl -- ./race
is "$status" 5 "a limit"

run $HEDDLE record -o late.hdl --start-at deposit -- ./race
is "$status" 5 "--start-at"
t=$(text late.hdl)
like "$(grep -v '^#' out.txt | grep -v -e enter -e fork | head -1)" "acq\(m\)|deposit" "nothing before its function but synchronisation"
run $HEDDLE record --start-at nowhere -- ./race
is "$status" 125 "--start-at of no function"
like "$err" "no function 'nowhere'" "says so"
cat >long.c <<'C'
#include <pthread.h>
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *p) {
	for (int i = 0; i < 100000; i++) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }
	return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); return x == 200000 ? 4 : 1; }
C
$HEDDLE cc -O1 long.c -o long -pthread
run $HEDDLE record --last 1000 -o last.hdl -- ./long
is "$status" 4 "--last"
run $HEDDLE info last.hdl
is "$status" 0 "its trace opens"
events=$(printf '%s\n' "$out" | awk '$1 == "events" { print $2 }')
ok $([ "$events" -ge 1000 ] && [ "$events" -lt 400000 ]; echo $?) "and holds the end: $events events"
$HEDDLE convert last.hdl out.txt --to text
like "$(tail -3 out.txt)" "join\(T1\)" "up to the last one"
run $HEDDLE record --max-size 2 -o limited.hdl -- ./long
like "$status $err" "^4.*limit of --max-size \(2 MB\)" "--max-size ends the recording, not the program"
run $HEDDLE info limited.hdl
is "$status" 0 "and leaves a trace"
run $HEDDLE record --max-size 0 -o whole.hdl -- ./long
unlike "$status $err" "limit" "--max-size 0 is no limit"

# cc itself
run $HEDDLE cc -c nothing-here.c
is "$status" 1 "cc exits as the compiler does"
# a compiler that is heddle c++ itself, as configure scripts are given it in CXX
printf '#!/bin/sh\nexec "%s" c++ "$@"\n' "$HEDDLE" >wrapped-c++
chmod +x wrapped-c++
printf '#include <mutex>\nint main() { std::mutex a, b; std::lock(a, b); }\n' >twice.cc
run env CXX="$PWD/wrapped-c++" $HEDDLE c++ -std=c++20 twice.cc -o twice -pthread
is "$status" 0 "a compiler that is heddle c++ itself"
run env CC=no-such-compiler $HEDDLE cc -c x.c
is "$status" 2 "no compiler"
like "$err" "no-such-compiler: cannot run the compiler" "and says so"
# A signal that one thread sends and another waits for is a message.
cat >"$scratch/signals.c" <<'C'
#include <pthread.h>
#include <signal.h>
static sigset_t set;
static void *waits(void *x) {
	int number;
	sigwait(&set, &number); /* line 6 */
	return x;
}
int main(void) {
	pthread_t t;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, 0);
	pthread_create(&t, 0, waits, 0);
	pthread_kill(t, SIGUSR1); /* line 15 */
	return pthread_join(t, 0);
}
C
run "$HEDDLE" cc -g "$scratch/signals.c" -o "$scratch/signals" -pthread
run "$HEDDLE" record -q -o "$scratch/signals.hdl" -- "$scratch/signals"
run "$HEDDLE" convert "$scratch/signals.hdl" "$scratch/signals.txt" --to text
is "$(grep -o '|\(snd\|rcv\)(.*' "$scratch/signals.txt" | tr -d '\n')" \
	'|snd(message1)|signals.c:15|rcv(message1)|signals.c:6' "pthread_kill and sigwait are a message"
done_testing
