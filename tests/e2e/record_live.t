#!/bin/bash
# heddle record --live: races and uses after free are printed while the program runs, each once; the trace is
# the same.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >waits.c <<'C'
#include <pthread.h>
#include <stdio.h>
static int early, late, guarded;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *which)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&m);
		guarded++;
		pthread_mutex_unlock(&m);
		++*(int *)which;
	}
	return 0;
}
static void *work_late(void *p)
{
	for (int i = 0; i < 20; i++)
		late++;
	return p;
}
static void both(void *(*run)(void *), int *which)
{
	pthread_t t;
	pthread_create(&t, 0, run, which);
	run(which);
	pthread_join(t, 0);
}
int main(void)
{
	both(work, &early);
	while (getchar() != EOF) /* the program pauses */
		;
	both(work_late, 0);
	both(work, &early);
	return 3;
}
C
$HEDDLE cc -O1 -g waits.c -o waits -pthread

says_while_it_waits "data-race  on early" live.hdl "a race is printed while the program waits for its input" \
	$HEDDLE record --live -o live.hdl -- ./waits
is "$status" 3 "the program's exit status"
like "$err" "^live.hdl: 2 races by hb, not complete" "how many there were"

# Local variables are named by the frames of their thread, whoever else uses them.
cat >locals.c <<'C'
#include <pthread.h>
struct job { int done, count; };
static void *work(void *p)
{
	((struct job *)p)->count++;
	return 0;
}
static void *look(void *p)
{
	*(int *)p = 1;
	return 0;
}
int main(void)
{
	struct job job = { 0, 0 };
	int flag = 0;
	pthread_t t, u, v;
	pthread_create(&t, 0, work, &job);
	pthread_create(&u, 0, work, &job);
	pthread_create(&v, 0, look, &flag);
	int seen = flag;
	pthread_join(t, 0);
	pthread_join(u, 0);
	pthread_join(v, 0);
	return seen > 1;
}
C
$HEDDLE cc -O1 -g locals.c -o locals -pthread
run $HEDDLE record --live -q -o locals.hdl -- ./locals
is "$(grep -o '^candidate: data-race  on .*' <<<"$err" | sort -u)" "candidate: data-race  on main::flag
candidate: data-race  on main::job.count" "locals of main, of two other threads and of main and another one"

# A program that does not pause: all in the end, each once, in the words of races.
run $HEDDLE record --live -q -o live.hdl -- ./waits
is "$status" 3 "a program that does not pause"
is "$out" "" "nothing on standard output"
printf '%s\n' "$err" | grep -o '^candidate: data-race  on [a-z]*' | sort >printed
is "$(cat printed)" "candidate: data-race  on early
candidate: data-race  on late" "each race once"
like "$err" "waits.c:11  in work" "with its places"
is "$(printf '%s\n' "$err" | grep '^ ' | sort | head -1)" \
	"$($HEDDLE races --analysis hb live.hdl | grep '^ ' | sort | sed '1s/: [0-9]*/   /;q')" \
	"as heddle races prints them, without values"

# places: the two places of each race, in any order
places() {
	awk '/^candidate/ { n = 0 } /^ / { sub(/  in .*/, ""); at[n++] = $NF }
		n == 2 { print at[0] < at[1] ? at[0] " " at[1] : at[1] " " at[0]; n = 0 }' | sort -u
}
# Every kind of access and synchronisation: what is printed while the program runs is what
# happens-before finds in the whole trace.
$HEDDLE cc -O1 -g "$OLDPWD/tests/e2e/programs/live_many.c" -o many -pthread
pairs=0
for seed in 1 2 3 4 5 6 7 8; do
	run $HEDDLE record --live -q -o many.hdl --seed $seed -- ./many $seed
	$HEDDLE races --analysis hb many.hdl | places >whole
	printf '%s\n' "$err" | places >live
	ok "$(cmp -s live whole; echo $?)" "seed $seed: the same races as of the whole trace"
	pairs=$((pairs + $(wc -l <whole)))
done
ok "$((pairs < 50))" "which are many: $pairs"

# --filter variables leaves accesses out: the same races as of the trace that has the rest. --no-trace
# prints them, too, and leaves nothing behind.
mkdir -p temporary none
for seed in 1 2 3 4; do
	run $HEDDLE record --live -q --filter variables -o few.hdl --seed $seed -- ./many $seed
	$HEDDLE races --analysis hb few.hdl | places >whole
	printf '%s\n' "$err" | places >live
	ok "$(cmp -s live whole; echo $?)" "--filter variables, seed $seed: the same races as of its trace"
	printf '%s\n' "$err" | grep '^[a-z ]*:' | grep -v '^few' | cut -d: -f1,2 >said
	run env -C none TMPDIR="$PWD/temporary" $HEDDLE record --no-trace --seed $seed -- ../many $seed
	is "$status" 1 "--no-trace: exits with 1 when there are races"
	printf '%s\n' "$err" | places | cmp -s - live
	is $? 0 "and prints the same, seed $seed"
	like "$err" "^many: [0-9]* races .*not complete: every variable that races .*'heddle record --strategy random --seed $seed' keeps this run" \
		"how many, and how to see more"
	is "$(ls -A temporary none | tr -d '\n')" "none:temporary:" "no file is left"
done
run $HEDDLE record --no-trace -q -- ./waits
is "$status" 3 "the status of a program that fails itself"
like "$err" "^waits: 2 races by hb" "with its races"
run $HEDDLE record --no-trace --filter hb -- ./waits
unlike "$err" "every variable" "--filter hb has every pair of places"
is "$(grep -c '^candidate' <<<"$err")" 2 "both"
cat >well.c <<'C'
#include <pthread.h>
#include <stdio.h>
enum { MANY = 4000, SIZE = 1024 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int all[SIZE], own[2][SIZE];
static void *run(void *p)
{
	for (int i = 0; i < MANY; i++) {
		for (int k = 0; k < SIZE; k += 4)
			own[(long)p][k]++;
		pthread_mutex_lock(&m);
		for (int k = i % 7; k < SIZE; k += 7)
			all[k]++;
		pthread_mutex_unlock(&m);
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, (void *)0);
	run((void *)1);
	return pthread_join(t, 0);
}
C
$HEDDLE cc -O1 -g well.c -o well -pthread
# Its log has several megabytes, whose room is given back while it runs.
(while [ ! -e over ]; do du -k temporary | tail -1 | cut -f1; sleep 0.02; done >room) &
run env TMPDIR="$PWD/temporary" $HEDDLE record --no-trace -- ./well
touch over
wait
is "$status" 0 "no race: exits as the program"
like "$err" "^well: 0 races by hb, not complete: 'heddle record" "and says so"
ok "$(($(sort -n room | tail -1) > 14000))" "the log stays small: $(sort -n room | tail -1) KB"
cat >stuck.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	pthread_mutex_lock(&m);
	return pthread_mutex_lock(&m);
}
C
$HEDDLE cc -O1 -g stuck.c -o stuck -pthread
run $HEDDLE record --no-trace -- ./stuck
like "$err" "main waits for mutex m, held by main" "a deadlock is explained"
like "$err" "was misused: 'heddle record --strategy random --seed 1' and 'heddle races' say where" "as is misuse"
# The log has no name: nothing is left of it, whoever is killed.
cat >endless.c <<'C'
#include <pthread.h>
static volatile int x;
static void *run(void *p)
{
	for (;;)
		x++;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	return run(0) != 0;
}
C
$HEDDLE cc -O1 -g endless.c -o endless -pthread
TMPDIR=$PWD/temporary $HEDDLE record --no-trace -- ./endless 2>endless.err &
recorder=$!
await grep -q '^candidate: data-race  on x' endless.err
is "$(ls -A temporary)" "" "no log is seen while it runs"
program=$(pgrep -P $recorder -x endless)
kill -9 $recorder
wait $recorder 2>/dev/null
kill -9 $program
is "$(ls -A temporary)" "" "nor when the recorder is killed"
# Without room for the shadow of memory in its addresses the program's accesses are in the log. (A
# Heddle with a sanitizer does not start with such a limit.)
if (ulimit -v 1000000; ASAN_OPTIONS= "$HEDDLE" --version) >/dev/null 2>&1; then
	run bash -c "ulimit -v 1000000; exec '$HEDDLE' record --no-trace --seed 1 -- ./many 1"
	is "$status" 1 "a limit on the program's addresses"
	printf '%s\n' "$err" | places >limited
	run $HEDDLE record --no-trace --seed 1 -- ./many 1
	printf '%s\n' "$err" | places | cmp -s - limited
	is $? 0 "finds the same"
else
	skip "a limit on the program's addresses" "a sanitizer needs them"
fi

# Two variables in one word of eight bytes.
cat >beside.c <<'C'
#include <pthread.h>
int all[4] __attribute__((aligned(8)));
static void *run(void *p)
{
	all[1] = 1;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	all[0] = 2;
	run(0);
	return pthread_join(t, 0);
}
C
$HEDDLE cc -O1 -g beside.c -o beside -pthread
run $HEDDLE record --no-trace -- ./beside
like "$err" '^candidate: data-race  on all\[1\]$' "a variable in the upper half of a word"

for other in "-o x.hdl" "--mode free" --compress "--last 1000" "--memory tso" "--filter commute"; do
	run $HEDDLE record --no-trace $other -- ./waits
	is "$status" 125 "--no-trace not with $other"
done

# A block that a thread uses and another frees, in either order: as of the whole trace.
cat >freed.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int *shared;
static void *work(void *p)
{
	shared[1] = 7;
	return p;
}
int main(void)
{
	pthread_t t;
	shared = calloc(4, sizeof *shared);
	pthread_create(&t, 0, work, 0);
	free(shared);
	pthread_join(t, 0);
	int *own = malloc(sizeof *own);
	*own = 1;
	free(own);
	return 0;
}
C
$HEDDLE cc -O1 -g freed.c -o freed -pthread
told() { grep -v '^[a-z].*hdl:' | sed -E 's/\*?(shared|block@freed.c:[0-9]+)[^ :]*(: [0-9]+)?//g; s/ +/ /g'; }
for seed in 1 2 3 4 5 6 7 8; do
	run $HEDDLE record --live -q -o freed.hdl --seed $seed -- ./freed
	like "$err" "0 races and 1 use after free by hb, not complete" "seed $seed: a use and a free"
	printf '%s\n' "$err" | told >live
	$HEDDLE commute -q freed.hdl | told >whole
	ok "$(cmp -s live whole; echo $?)" "as heddle commute says it, but for the name"
	printf '%s\n' "$err" | grep -v '^freed' | told | sed -E 's/^ ?[0-9]+//' >live
	run $HEDDLE record --no-trace -q --seed $seed -- ./freed
	printf '%s\n' "$err" | grep -v '^freed' | told | sed -E 's/^ ?[0-9]+//' | diff live - >differ
	ok $? "and without a trace: $(head -3 differ)"
	run $HEDDLE record --live -q -o freed.hdl --seed $seed -- ./freed
	printf '%s\n' "$err" | sed -nE 's/^ +[0-9]+ +[a-zA-Z0-9]+ +(free|write) .*/\1/p' | head -n 1 >>orders # which comes first
done
is "$(sort -u orders)" "free
write" "in either order"

# A use and a free that this run orders by a lock alone: EDC leaves them apart.
cat >apart.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *shared, counted, done;
static void *work(void *p)
{
	shared[1] = 7;
	pthread_mutex_lock(&m);
	counted++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	shared = calloc(4, sizeof *shared);
	pthread_create(&t, 0, work, 0);
	pthread_mutex_lock(&m);
#ifdef WAITS
	while (!counted) {
		pthread_mutex_unlock(&m);
		pthread_mutex_lock(&m);
	}
#endif
	done++;
	pthread_mutex_unlock(&m);
	free(shared);
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -O1 -g apart.c -o apart -pthread
$HEDDLE cc -O1 -g -DWAITS apart.c -o together -pthread
by_edc=0
for seed in 1 2 3 4 5 6 7 8; do
	run $HEDDLE record --live -q -o apart.hdl --seed $seed -- ./apart
	like "$err" "candidate: use-after-free" "seed $seed: the pair is printed"
	[[ $err == *"ordered in this run by locks alone (edc)"* ]] || continue
	by_edc=$((by_edc + 1))
	like "$err" "0 races by hb, 1 use after free by edc, not complete" "by edc alone"
	like "$($HEDDLE commute -q apart.hdl)" "^apart.hdl: 0 findings" "happens-before orders it"
	like "$($HEDDLE commute -q --analysis edc apart.hdl)" "1 finding by edc" "edc does not"
done
run $HEDDLE record --live --filter hb -q -o apart.hdl -- ./apart
unlike "$err" "edc" "EDC looks at no recording that leaves accesses out"
ok "$((by_edc > 0 ? 0 : 1))" "some are by edc ($by_edc)"
run $HEDDLE record --live -q -o together.hdl -- ./together
unlike "$err" "use-after-free" "not where the sections write and read one variable"

# Without a trace, too: blocks that threads use, replace and free, and conditions. The same as of the
# whole run: pairs of places.
$HEDDLE cc -O1 -g "$OLDPWD/tests/e2e/programs/live_blocks.c" -o blocks -pthread
found() {
	perl -ne 'if (/^candidate: ([a-z-]+)/) { ($kind, @at) = $1 }
		elsif (/^ +\d+ +\S+ .*?(live_blocks\.c:\d+)  in/ && $kind) {
			push @at, $1;
			next if @at < 2;
			print join(" ", $kind, sort @at), "\n" if $kind ne "data-race";
			$kind = "" }' | sort -u
}
pairs=0
for seed in 1 2 3 4 5 6 26 31 38 65 67 131; do
	run $HEDDLE record --live -q -o blocks.hdl --seed $seed -- ./blocks $seed
	printf '%s\n' "$err" | found >live
	run $HEDDLE record --no-trace -q --seed $seed -- ./blocks $seed
	printf '%s\n' "$err" | found | diff live - >differ
	ok $? "--no-trace, blocks and conditions, seed $seed: $(head -3 differ)"
	pairs=$((pairs + $(wc -l <live)))
done
ok "$((pairs > 30 ? 0 : 1))" "with many pairs: $pairs"
run $HEDDLE record --no-trace -q --seed 1 -- ./blocks 1
like "$err" "order violations? by edc, not complete" "and says how many are by EDC"
for way in --no-trace "--live -o blocks.hdl"; do
	run $HEDDLE record $way --no-edc -q --seed 1 -- ./blocks 1
	like "$err" "race" "$way --no-edc: happens-before alone"
	unlike "$err" "edc" "nothing by EDC"
done

# heddle check says the same while its recordings go on, each finding once, and only there.
says_while_it_waits "data-race: [^ ]* writes early" "" "a race is printed while the first run waits" \
	$HEDDLE check --budget 30 -- ./waits
like "$err" "^heddle: so far, in the run of seed 1 \(random\), not yet decided" "with its run"
is "$status" 1 "the report follows"
like "$out" "data race" "with its findings"
is "$(printf '%s\n' "$err" | grep -c 'data-race: .*early')" 1 \
	"each is printed once, whatever the number of runs"
for format in json sarif; do
	run $HEDDLE check --budget 600 --runs 2 --format $format -- ./freed
	ok "$(printf '%s' "$out" | perl -MJSON::PP -0777 -ne 'decode_json $_' ; echo $?)" \
		"$format: standard output is the report alone"
done
run $HEDDLE check --budget 600 --runs 2 -q -- ./freed
is "$err" "" "-q: nothing before the report"

# What the trace says does not depend on who looks.
env _=x $HEDDLE record -q --seed 5 -o a.hdl -- ./waits </dev/null 2>/dev/null
env _=x $HEDDLE record -q --live --seed 5 -o b.hdl -- ./waits </dev/null 2>/dev/null
ok "$(cmp -s a.hdl b.hdl; echo $?)" "the trace is the same, byte for byte"

echo "race:work" >known
run $HEDDLE record --live -q --suppressions known -o live.hdl -- ./waits
unlike "$err" "data-race" "what is suppressed is not printed"
like "$err" "0 races by hb" "and not counted"

# --report: what is printed, as JSON, which is a baseline of later reports.
run $HEDDLE record --live -q --report live.json -o live.hdl -- ./waits
printed=$(grep -c '^candidate: ' <<<"$err")
out=$(cat live.json)
is "$(json 'join " ", $d->{analysis}, $d->{complete} ? 1 : 0, scalar @{$d->{findings}}')" "hb 0 $printed" \
	"--live --report: as many findings"
pairs='join " ", sort map { "$_->{first}-$_->{second}" } @{$d->{findings}}'
events=$(json "$pairs")
run $HEDDLE races -q --analysis hb --format json live.hdl
is "$events" "$(json "$pairs")" "the events of the trace"
run $HEDDLE races -q --analysis hb --baseline live.json live.hdl
is "$status" 0 "none is new against it"
like "$out$err" "against live.json: 0 new, [0-9]+ known, 0 gone" "nor at other lines"
run $HEDDLE record --no-trace -q --report none.json -- ./waits
printed=$(grep -c '^candidate: ' <<<"$err")
out=$(cat none.json)
is "$(json 'join " ", scalar @{$d->{findings}}, grep { exists $_->{first} } @{$d->{findings}}')" "$printed" \
	"--no-trace --report: as many, without events"
like "$(json 'join " ", @{$d->{notes}}')" "may at others .*heddle record --strategy random --seed 1' keeps this run" \
	"and how to see more"
run $HEDDLE record --report odd.json -- ./waits
is "$status" 125 "--report needs one of the two"
run $HEDDLE record --no-trace --report - -- ./waits
is "$status" 125 "nor standard output, which is the program's"
echo precious >odd.json
run $HEDDLE record --no-trace --report odd.json -- ./waits
is "$status $(cat odd.json)" "125 precious" "and overwrites no other file"

for other in "--mode free" --compress "--last 1000" "--memory tso"; do
	run $HEDDLE record --live $other -- ./waits
	is "$status" 125 "not with $other"
	like "$err" "--live" "said"
done
done_testing
