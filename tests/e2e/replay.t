#!/bin/bash
# heddle replay: a witness happens on the real program; both ways; divergence; refusals.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
export TMPDIR=$scratch # others may replay at the same time
cd "$scratch" || exit 1
for p in race assert; do
	$HEDDLE cc -O1 "$programs/$p.c" -o $p -pthread
done
$HEDDLE record -q --strategy rr -o race.hdl -- ./race >/dev/null 2>&1
$HEDDLE convert race.hdl race.txt --to text

# the pair of unlocked accesses of the two threads: ids are those of event lines
grep -v '^#' race.txt >events.txt
run $HEDDLE races race.hdl --analysis m2 --pairs events --format json
for pair in $(json 'join " ", map { "$_->{first}:$_->{second}" } @{$d->{findings}}'); do
	first=${pair%:*} second=${pair#*:}
	sed -n "$((first + 1))p" events.txt | grep -q 'w4(unlocked)' &&
		sed -n "$((second + 1))p" events.txt | grep -q 'r4(unlocked)' && break
done
writer=$(sed -n "$((first + 1))s/|.*//p" events.txt)
reader=$(sed -n "$((second + 1))s/|.*//p" events.txt)
run $HEDDLE witness race.hdl $first $second -o race.wit
is "$status" 1 "there is a witness"

run $HEDDLE replay --witness race.wit -- ./race
is "$status" 5 "replay exits as the program"
like "$err" "stopped before the pair" "stops before the pair"
like "$err" "#0 deposit race.c:22" "both stacks: the access"
like "$err" "#1 run race.c:" "both stacks: the caller"
like "$err" "$writer first:" "one way"
like "$err" "$reader first:" "the other way"
is "$(printf '%s\n' "$out" | grep -c '^balance 45')" 2 "in two whole runs, with the program's own output"
one=$(printf '%s\n' "$err" | sed -n "/$writer first/,/ends/p" | grep -o 'read unlocked: [0-9]*')
two=$(printf '%s\n' "$err" | sed -n "/$reader first/,/ends/p" | grep -o 'read unlocked: [0-9]*')
ok $([ "$one" != "$two" ]; echo $?) "what the read sees depends on the way: $one, $two"
# a witness that names events which the trace does not have
sed 's/^#! pair [0-9]*/#! pair 2147483647/' race.wit >pair.wit
run $HEDDLE replay --witness pair.wit -- ./race
is "$status" 125 "a pair that the trace does not have is refused"
like "$err" "the witness names event 2147483647" "with its number"
run $HEDDLE replay --witness race.wit --first 2 -- ./race
unlike "$err" "$writer first:" "--first 2 is one run"
like "$err" "$reader first:" "of the second first"

# the first run leaves a file that the second finds
$HEDDLE cc -O1 "$programs/leaves_file.c" -o leaves_file -pthread
$HEDDLE record -q -o file.hdl -- ./leaves_file
$HEDDLE witness file.hdl -o file.wit >/dev/null
rm left
run $HEDDLE replay --witness file.wit -- ./leaves_file
is "$status" 125 "a program that finds what the first run left leaves the witness"
like "$err" "the first run may have left files that this one finds: --first 2" "with the remedy"
rm left
run $HEDDLE replay --witness file.wit --first 2 -- ./leaves_file
is "$status" 0 "alone the second way is followed"

# a way that ends in a failed assertion
$HEDDLE record -q --strategy rr -o assert.hdl -- ./assert >/dev/null 2>&1
$HEDDLE convert assert.hdl assert.txt --to text
grep -v '^#' assert.txt >events.txt
write=$(($(grep -n '|w4(data)' events.txt | cut -d: -f1) - 1))
read=$(($(grep -n '|r4(data)' events.txt | cut -d: -f1) - 1))
flag=$(($(grep -n '|w4(ready)' events.txt | cut -d: -f1) - 1))
{
	echo '#! heddle-witness 1'
	echo "#! trace assert.hdl -" # of unknown digest
	echo '#! kind race'
	echo "#! pair $write $read"
} >assert.wit
# everything of main up to the read of the flag comes after the writer's flag
grep -n '' events.txt | awk -F'[:|]' -v w=$write -v r=$read '$2 != "main" && $1 - 1 < w || $2 == "main" && $1 - 1 < r && /fork|enter/ { print $1 - 1 }' >>assert.wit
grep -n '' events.txt | awk -F'[:|]' -v r=$read '$2 == "main" && $1 - 1 < r && !/fork|enter/ { print $1 - 1 }' >>assert.wit
printf '%s\n' $write $read >>assert.wit
run $HEDDLE replay --witness assert.wit -- ./assert
is "$status" 134 "the worse way is the exit status"
like "$err" "signal 6" "the assertion is told"
like "$err" "exit status 0" "and that the other way is well"

# --until
run $HEDDLE replay --trace race.hdl --until $second -- ./race
is "$status" 5 "--until on the recorded order"
like "$err" "stopped before the event" "stops there"

# another program is a divergence
run $HEDDLE replay --witness race.wit -- ./assert
is "$status" 125 "another program"
like "$err" "left the witness" "is a divergence"
like "$err" "expected next: " "at the first event that differs"

# a deadlock that the recording went round: three threads, each takes two of three locks
cat >cycle.c <<'C'
#include <pthread.h>
static pthread_mutex_t locks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER };
static int turn[3] = { 0, 1, 2 };
static void *run(void *place)
{
	int i = *(int *)place;
	pthread_mutex_lock(&locks[i]);
	pthread_mutex_lock(&locks[(i + 1) % 3]);
	pthread_mutex_unlock(&locks[(i + 1) % 3]);
	pthread_mutex_unlock(&locks[i]);
	return 0;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, &turn[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
$HEDDLE cc -O1 -g cycle.c -o cycle -pthread
for seed in $(seq 40); do # one of few that ends
	run $HEDDLE record -q --seed $seed -o cycle.hdl -- ./cycle
	[ "$status" = 0 ] && break
done
is "$status" 0 "a run without the deadlock"
run $HEDDLE deadlocks cycle.hdl --format json
requests=$(json 'join " ", @{$d->{findings}[0]{requests}}')
is "$(echo "$requests" | wc -w)" 3 "one of three threads is predicted"
run $HEDDLE witness cycle.hdl $requests -o cycle.wit
is "$status" 1 "its requests have a witness"
run $HEDDLE verify cycle.hdl cycle.wit
is "$status" 0 "that verify accepts"
run $HEDDLE replay --witness cycle.wit -- ./cycle
is "$status" 134 "and it happens: the program is ended"
like "$err" "stopped before the pair" "after a stop before the requests"
like "$err" "it ends in a deadlock" "said"
is "$(printf '%s\n' "$err" | grep -c 'T[123] waits for mutex locks.*, held by T[123] (cycle.c:9)')" 3 \
	"with who waits for whom"
run $HEDDLE witness cycle.hdl ${requests% *}
is "$status" 2 "two of the three are no cycle"
like "$err" "no cycle of locks" "said"

# refusals
run $HEDDLE replay --witness missing.wit -- ./race
is "$status" 125 "a witness that is not there"
like "$err" "missing.wit" "is named"
cp race.wit other.wit
$HEDDLE record -q --seed 9 --strategy noise -o race.hdl -- ./race >/dev/null 2>&1
run $HEDDLE replay --witness other.wit -- ./race
is "$status" 125 "a witness of another recording"
like "$err" "SHA-256" "is told by its digest"
printf 'T1|w(x)|1\nT2|w(x)|2\n' >text.std
$HEDDLE witness text.std 0 1 -o text.wit >/dev/null
run $HEDDLE replay --witness text.wit -- ./race
is "$status" 125 "a text trace"
like "$err" "no recording" "cannot be replayed"
run $HEDDLE replay -- ./race
is "$status" 125 "no witness"
$HEDDLE cc -O1 "$root/samples/publish/publish.c" -o publish -pthread
$HEDDLE record -q -o publish.hdl -- ./publish >/dev/null 2>&1
run $HEDDLE races publish.hdl --format json
$HEDDLE witness publish.hdl $(json 'my $f = $d->{findings}[0]; "$f->{first} $f->{second}"') \
	-o publish.wit >/dev/null
like "$(cat publish.wit)" "#! kind c11-race" "a race by C11's rules alone"
run timeout 300 $HEDDLE replay --witness publish.wit -- ./publish
is "$status" 0 "is followed to its end"
like "$err" "rules of C11 alone" "and said to be one that no schedule of one thread at a time shows"
like "$err" "stopped before the event" "it stops before its second access"
# The same instructions, but not the same object: which one is the environment's affair.
cat >slots.c <<'C'
#include <pthread.h>
#include <stdlib.h>
int slots[2];
static void *bump(void *index)
{
	slots[*(int *)index]++;
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	int first = 0, second = atoi(getenv("SLOT"));
	pthread_create(&a, NULL, bump, &first);
	pthread_create(&b, NULL, bump, &second);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
$HEDDLE cc -O1 slots.c -o slots -pthread
SLOT=0 $HEDDLE record -q -o slots.hdl -- ./slots
run $HEDDLE races slots.hdl --format json
$HEDDLE witness slots.hdl $(json 'my $f = $d->{findings}[0]; "$f->{first} $f->{second}"') \
	-o slots.wit >/dev/null
run env SLOT=0 $HEDDLE replay --witness slots.wit -- ./slots
is "$status" 0 "two threads at one slot: the race happens"
run env SLOT=1 $HEDDLE replay --witness slots.wit -- ./slots
is "$status" 125 "each at its own: it does not"
like "$err" "accesses of different places" "though both stand before their instructions"

# Where the two orders part, and the recorded order as a whole.
"$HEDDLE" cc -g -O1 "$root/samples/bank/bank.c" -o bank -pthread
"$HEDDLE" record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
run "$HEDDLE" witness bank.hdl -o bank.wit
run "$HEDDLE" replay -q --witness bank.wit -o kept -- ./bank
like "$(tr '\n' ' ' <<<"$err")" "here the two orders part:.* run 1: T2 reads acct.balance as 150 at report bank.c:33.* run 2: T2 reads acct.balance as 100 at report bank.c:33" \
	"both orders: the first read that sees something else"
is "$("$HEDDLE" convert -q kept.run1.hdl - | grep -c 'T2|r8\?(acct.balance)=150')$("$HEDDLE" convert -q kept.run2.hdl - | grep -c 'T2|r8\?(acct.balance)=100')" 11 \
	"the runs are kept as traces"
run "$HEDDLE" replay -q --witness bank.wit --first 2 -- ./bank
like "$(tr '\n' ' ' <<<"$err")" "here the run and the recording part:.* the run: T2 reads acct.balance as 100 .* the recording: T2 reads acct.balance as 150" \
	"one order: against the recording"
run "$HEDDLE" replay -q --trace bank.hdl -- ./bank
is "$status $out" "0 balance 150" "without a witness: the recorded order, to its end"
like "$err" "each thread does and sees what it did in the recording" "and nothing differs"
is "$(ls "${TMPDIR:-/tmp}"/heddle-replay-* 2>/dev/null | wc -l)" 0 "no log is left behind"

# A thread stands before its event, and not behind the one before, in a function that it has yet to leave.
cat >"$scratch/left.c" <<'C'
#include <pthread.h>
int shared;
static void *run(void *p) { shared = 1; return p; }
static __attribute__((noinline)) void begin(pthread_t *t)
{
	pthread_create(t, NULL, run, NULL);
}
int main(void)
{
	pthread_t t;
	begin(&t);
	shared = 2; /* line 12 */
	return pthread_join(t, NULL);
}
C
run "$HEDDLE" cc -g -O1 "$scratch/left.c" -o "$scratch/left" -pthread
run "$HEDDLE" record -q -o "$scratch/left.hdl" -- "$scratch/left"
run "$HEDDLE" races "$scratch/left.hdl" --format json
run "$HEDDLE" witness "$scratch/left.hdl" $(json '"$d->{findings}[0]{first} $d->{findings}[0]{second}"') -o "$scratch/left.wit"
run "$HEDDLE" replay --witness "$scratch/left.wit" -- "$scratch/left"
is "$(grep -m1 -A1 'main write shared: 2' <<<"$err" | tail -n 1)" "    #0 main left.c:12" "the stack before the pair is the event's"
done_testing
