#!/bin/bash
# heddle check: one list of every kind of finding, what it does, what was covered; exit statuses.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cc() { "$HEDDLE" cc -g -O1 "$1" -o "$2" -pthread || exit 1; }
# kind, happened, harm of each finding, in order
list() { json 'join("; ", map { ($_->{happened} ? "!" : "") . $_->{kind} . " " . ($_->{harm} // "-") } @{$d->{findings}})'; }
sample() { cc "$root/samples/$1/$2.c" "$2"; run "$HEDDLE" check -o "$2" --budget 60 --format json -- "./$2"; }

sample bank bank
is "$status" 1 "a race: something found"
is "$(list)" "data-race differs" "both orders of it were run, and differ"
is "$(json '$d->{findings}[0]{difference}')" 'it prints "balance 100", not "balance 150"' "in the program's words"
is "$(json '$d->{command}')" check "the command"
is "$(json 'join " ", map { -e $_->{trace} ? "" : "no $_->{trace}" } @{$d->{runs}}')" \
	"$(json 'join " ", map { "" } @{$d->{runs}}')" "every run's trace is there"
is "$(json '$d->{runs}[0]{strategy} . $d->{runs}[0]{seed} . " " . $d->{runs}[0]{exit}')" "random1 0" "a run"
wit=$(json '$d->{findings}[0]{"witness-file"}')
trace=$(json '$d->{findings}[0]{trace}')
like "$(json 'join " ", @{$d->{coverage}}')" "In all reorderings of .* no other data race" "what was covered"
like "$(json 'join " ", @{$d->{coverage}}')" "Not covered: other inputs than this one, what weak memory" "and what was not"
ok "$(json '$d->{complete}{"data-race"} ? 0 : 1')" "complete, of data races"
ok "$(json '$d->{complete}{"atomic-set-violation"} ? 1 : 0')" "not complete, of atomicity"
ok "$(json '$d->{complete}{stuck} ? 0 : 1')" "complete, of waits that never end"
like "$(json 'join " ", @{$d->{coverage}}')" "no wait for another thread that never ends.*Not covered, of waits that never end: loops that wait until a value changes" "as sentences: which waits, and which not"
run "$HEDDLE" verify "$trace" "$wit"
is "$status" 0 "its witness is one"
run "$HEDDLE" replay --witness "$wit" -- ./bank
like "$err" "T[12] first" "and drives the program"
run "$HEDDLE" check -o bank2 -- ./bank
like "$out" "^race: data-race  on acct.balance" "as text"
like "$out" "what it does: it prints" "with what it does"


cat >args.c <<'C'
#include <pthread.h>
#include <stdio.h>
static int x;
static void *work(void *p) { x = 1; return p; }
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	if (x == 0)
		printf("%d %s\n", argc, argv[1]);
	pthread_join(t, NULL);
	return x == 0;
}
C
cc args.c args
run "$HEDDLE" check -o args -- ./args 'a "b;' ''
line=$(printf '%s\n' "$out" | grep -m1 '^ *heddle replay --witness ')
like "$line" "-- ./args 'a \"b;' ''\$" "a command has the program's arguments"
run bash -c "\"$HEDDLE\" ${line#*heddle}"
like "$err" "T[12] first" "and runs as it is printed"
like "$out" '^3 a "b;$' "with these"
run "$HEDDLE" shake -n 5 -- ./args 'a b'
like "$out" "-- ./args 'a b''" "so has shake's"

sample bank fixed
is "$status $(list)" "0 " "its fix: nothing found"

sample lock-order lock_order
is "$status $(list)" "1 !deadlock differs" "a deadlock, predicted, then run to see"
like "$(json '$d->{findings}[0]{difference}')" "^stuck: " "who is stuck"
is "$(json 'join " ", sort map { $_->{for} } @{$d->{findings}[0]{waits}}')" "join lock lock" "who waits for what"

sample lost-wakeup lost_wakeup
is "$(json '$d->{findings}[0]{kind}')" stuck "what happened comes first: a lost wake-up"
is "$(json 'scalar grep { $_->{kind} eq "order-violation" } @{$d->{findings}}')" 0 "the order of the signal and the wait is not listed beside it"
like "$(json 'join " ", @{$d->{coverage}}')" "order.* of a signal and a wait leads? to a wait without end that is listed" "but counted"
sample use-after-free use_after_free
is "$(json '$d->{findings}[0]{kind}')" use-after-free "a use after free"

cat >end.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void set(int v) { pthread_mutex_lock(&m); x = v; pthread_mutex_unlock(&m); }
static void *one(void *p) { set(1); return p; }
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, NULL, one, NULL);
	set(2);
	pthread_join(t, NULL);
	if (strcmp(argv[1], "assert") == 0) assert(x == 1);
	if (strcmp(argv[1], "exit") == 0) return x == 1 ? 0 : 3;
	if (strcmp(argv[1], "crash") == 0 && x != 1) *(volatile int *)8 = 1;
	if (strcmp(argv[1], "late") == 0 && x != 2) *(volatile int *)8 = 1;
	return 0;
}
C
cc end.c end
for what in assert:assertion exit:exit crash:crash; do
	run "$HEDDLE" check -o end --format json -- ./end "${what%:*}"
	is "$status $(list)" "1 !${what#*:} differs" "${what%:*}: it fails in some order alone"
done
like "$(json '$d->{findings}[0]{text}')" "signal 11 .*end.c:17" "where it crashes"
# the hunt before the first analysis ends at an error; then comes the whole exploration
run "$HEDDLE" check -o hunt --format json -- ./end late
is "$status $(json '$d->{findings}[0]{trace} =~ /^hunt\.hunted\.run/ ? "hunted" : $d->{findings}[0]{trace}')" "1 hunted" "an error is hunted for first"
is "$(json '$d->{runs}[0]{strategy} . " " . $d->{runs}[1]{strategy}')" "random explored" "after the first recording"
ok "$(json '$d->{exploration}{complete} && $d->{complete}{crash} ? 0 : 1')" "and the exploration is complete all the same"
ok "$(json '$d->{findings}[0]{"point-of-no-return"} ? 0 : 1')" "with the point of no return"
run "$HEDDLE" check -o end --check 'x == 1' --format json -- ./end no
is "$status $(list)" "1 !assertion differs" "--check that fails"
like "$(json '$d->{findings}[0]{text}')" "check 'x == 1' does not hold at the end: x = 2" "its values"
run "$HEDDLE" check -o end --check 'x == 1 || x == 2' --format json -- ./end no
is "$status $(list)" "0 " "--check that holds"
ok "$(json '$d->{complete}{assertion} ? 0 : 1')" "in every schedule"
run "$HEDDLE" check -o end --no-harm --format json -- ./end exit
is "$(list)" "!exit -" "--no-harm: no verdict of harm"

cat >prints.c <<'C'
#include <stdio.h>
int main(void) { char line[80]; puts(fgets(line, sizeof line, stdin) ? line : "none"); return 0; }
C
cc prints.c prints
printf 'int main(void) { return 3; }\n' >three.c
cc three.c three
run "$HEDDLE" check -o three --format json -- ./three
is "$status $(list)" "0 " "an exit status that every run has is no finding"
like "$(json 'join " ", @{$d->{coverage}}')" "exit status 3 in every run" "but it is said"
echo none >right
run "$HEDDLE" check --expect right -- ./prints
is "$status" 0 "--expect with the right output"
echo other >right
run "$HEDDLE" check --expect right --format json -- ./prints
is "$status $(list)" "1 !assertion same" "--expect with another: so in every run"
like "$(json '$d->{findings}[0]{text}')" 'prints "none", not "other"' "how it differs"
printf 'given\n\n' >right
echo given | "$HEDDLE" check --expect right -- ./prints >.out 2>.err
is $? 0 "a pipe on standard input is read again by every run"

run "$HEDDLE" check "bank.run0.hdl" --format json
is "$status $(list)" "1 data-race unfollowed" "a trace: no program to run"
run "$HEDDLE" check --runs 4 --no-harm -o nosuch --check 'nosuch == 3' --format json -- ./bank
is "$(json 'scalar grep { /not decided in a run that ends with nosuch = \?/ } @{$d->{coverage}}')" 1 "an unknown variable of --check: said once"
run "$HEDDLE" check bank.run0.hdl fixed.run0.hdl
is "$status" 1 "several traces"
printf 'T1|w(x)|a.c:1\nT2|w(x)|a.c:2\n' >alike1.txt
printf 'T1|w(y)|b.c:1\nT2|w(y)|b.c:2\nT1|w(' >alike2.txt
run "$HEDDLE" check alike1.txt alike2.txt
like "$(tr "\n" " " <<<"$out")" "data-race  on y .*heddle alike2.txt  *\\(opens it in the explorer; 1 run shows it" "traces that differ in their names alone are two"
like "$err" "alike2.txt: line 3 is cut off" "a trace that is cut off: it is said"
run "$HEDDLE" check alike1.txt alike2.txt --format json
is "$(json 'join ",", map { $_->{"same-as"} // scalar @{$_->{warnings} // []} } @{$d->{runs}}')" "0,1" "and in JSON"
run "$HEDDLE" check --format sarif -o bank3 -- ./bank
is "$(json '$d->{runs}[0]{results}[0]{ruleId}')" data-race "SARIF"

# a report of check is one as any other: --baseline, diff, merge, SARIF
"$HEDDLE" check -o bank --format json -- ./bank >bank.json 2>/dev/null
"$HEDDLE" check -o lock --format json -- ./lock_order >lock.json 2>/dev/null
run "$HEDDLE" check -o b --baseline bank.json --format json -- ./bank
is "$status $(json '$d->{findings}[0]{baselineState} . " " . $d->{baseline}{new}')" "0 unchanged 0" "--baseline: nothing is new"
run "$HEDDLE" check -o b --baseline bank.json -- ./bank
like "$out" "against the baseline: 0 new, 1 known, 0 gone" "as text"
run "$HEDDLE" check -o b --baseline lock.json --format json -- ./bank
is "$status $(json '$d->{baseline}{new} . " " . $d->{baseline}{absent} . " " . $d->{absent}[0]{kind}')" "1 1 1 deadlock" "--baseline: one is new, one is gone"
run "$HEDDLE" diff bank.json bank.json
is "$status" 0 "diff of reports of check"
run "$HEDDLE" diff lock.json bank.json --format json
is "$status $(json '$d->{findings}[0]{baselineState} . " " . $d->{absent}[0]{kind}')" "1 new deadlock" "what is new, what is gone"
"$HEDDLE" races bank.run0.hdl --format json >races.json
run "$HEDDLE" diff races.json bank.json
is "$status" 0 "against a report of another command: its kinds alone"
run "$HEDDLE" diff lock.json races.json --format json
is "$(json 'scalar @{$d->{absent}}')" 0 "of which a deadlock is none"
run "$HEDDLE" diff bank.json bank.run0.hdl
is "$status" 0 "against a trace"
run "$HEDDLE" merge bank.json lock.json bank.json --format json
is "$status $(json 'join " ", map { $_->{kind} . scalar(@{$_->{runs}}) } @{$d->{findings}}')" \
	"1 $(perl -MJSON::PP -e 'sub n { local $/; open F, "<", $_[0]; my $d = decode_json(<F>); my $f = $d->{findings}[0]; $f->{kind} . $_[1] * @{$f->{runs}} } print join " ", n("bank.json", 2), n("lock.json", 1)')" "merge: one list, with the runs of all"
run "$HEDDLE" merge bank.json lock.json
like "$out" "2 findings in [0-9]+ runs" "as text"
run "$HEDDLE" merge bank.json lock.json --format sarif
is "$status $(json 'join " ", map { $_->{ruleId} } @{$d->{runs}[0]{results}}')" "1 data-race deadlock" "as SARIF"
run "$HEDDLE" merge bank.json races.json
is "$status" 2 "reports of two commands are not merged"

run "$HEDDLE" check
is "$status" 2 "no program, no trace"
run "$HEDDLE" check -- ./no-such-program
is "$status" 2 "a program that is not there"
run "$HEDDLE" check --check 'x ==' -- ./end no
is "$status" 2 "a condition that is none"
run "$HEDDLE" check --budget many -- ./end no
is "$status" 2 "a budget that is none"
run "$HEDDLE" check --expect no-such-file -- ./end no
is "$status" 2 "no such output"
run "$HEDDLE" check bank.run0.hdl -- ./bank
is "$status" 2 "traces and a program"
run "$HEDDLE" check end.c
is "$status" 2 "no trace"
# a program that never ends: after one long recording the others are short, and the long one is looked at as well
cat >spins.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
static int stop;
static void *spin(void *p)
{
	x = 1;
	for (int end = 0; !end;) {
		pthread_mutex_lock(&m);
		end = stop;
		pthread_mutex_unlock(&m);
	}
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, spin, NULL);
	pthread_create(&t[1], NULL, spin, NULL);
	pthread_join(t[0], NULL);
	return 0;
}
C
"$HEDDLE" cc -g -O1 spins.c -o spins -pthread || exit 1
run "$HEDDLE" check --budget 600 --runs 2 --no-harm -o spins --format json -- ./spins
ok "$(json '$d->{runs}[0]{events} > $d->{runs}[1]{events} && $d->{runs}[1]{events} < 200000 ? 0 : 1')" "a run that does not end is followed by a short one"
is "$(json 'join " ", @{$d->{findings}[0]{runs}}')" "0 1" "both are looked at"

# the time runs out while a trace is made: its recording, of which nothing is told, is not left behind
cat >longer.c <<'C'
#include <pthread.h>
static int x;
static void *run(void *p)
{
	for (int i = 0; i < 300000; i++)
		x++;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	run(0);
	return pthread_join(t, 0);
}
C
"$HEDDLE" cc -g -O0 longer.c -o longer -pthread || exit 1
for budget in 0.01 0.02 0.05; do
	run "$HEDDLE" check --budget $budget -o longer -- ./longer
	is "$(ls longer.*log-* 2>/dev/null)" "" "no recording is left behind, --budget $budget"
done

# specifications: those that lie beside the program, or ship and bind functions of it, are used without being asked for
mkdir own && cp "$root"/samples/connections/*.c "$root/samples/connections/dict.spec" own
for program in connections fixed; do
	"$HEDDLE" cc -g -O1 "own/$program.c" -o "own/$program" -pthread || exit 1
done
run "$HEDDLE" check -o own/c --format json -- own/connections
like "$(list)" "commutativity-race" "a specification beside the program is used"
like "$(json 'join " ", @{$d->{coverage}}')" "specification .*own/dict.spec was used" "which is said"
run "$HEDDLE" check -o own/f --format json -- own/fixed
is "$status $(list)" "0 " "nothing in its fix"
mv own/connections bare && run "$HEDDLE" check -o bare --format json -- ./bare
is "$status $(list)" "0 " "a program without a specification has none of its findings"
unlike "$(json 'join " ", @{$d->{coverage}}')" "specification" "and none is used"
cp own/dict.spec one.spec && sed 's/object dict/object map/' own/dict.spec >other.spec
run "$HEDDLE" check -o bare --format json -- ./bare
is "$(json 'scalar grep { /specification .*one.spec was used/ } @{$d->{coverage}}')$(json 'scalar grep { /other.spec/ } @{$d->{coverage}}')" 10 "of two that bind one function the first"
echo 'object' >one.spec && rm other.spec
run "$HEDDLE" check -o bare --format json -- ./bare
like "$status $(json 'join " ", @{$d->{coverage}}')" "^0 .*Not covered: what .*one.spec may say" "one that cannot be read is said, and no error"
printf 'Name: bare\nVersion: 1\n%%description\nAn object store.\n%%files\n' >one.spec
run "$HEDDLE" check -o bare --format json -- ./bare
is "$status $(json 'scalar grep { /one.spec/ } @{$d->{coverage}}')" "0 0" "a package's description of that name is no specification"
run "$HEDDLE" check -o bare --spec one.spec -- ./bare
like "$status $err" "^2 .*one.spec:1:1.*expected 'object'" "and an error where --spec names it"
run "$HEDDLE" check -o bare --spec own/dict.spec --format json -- ./bare
like "$(list)" "commutativity-race" "--spec in place of that"

# a lock of inline assembly is not seen: no word that there is no other race
cat >asm.c <<'C'
#include <pthread.h>
static int l, x;
static void *run(void *p)
{
	int v = 1;
	__asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(l)::"memory");
	if (v == 0)
		x++;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	run(0);
	return pthread_join(t, 0);
}
C
run "$HEDDLE" cc -g -O1 asm.c -o asm -pthread
run "$HEDDLE" check --runs 2 -o asm --format json -- ./asm
is "$(json '$d->{complete}{"data-race"} ? "complete" : "open"')" open "atomic instructions of inline assembly: data races are open"
like "$(json 'join " ", @{$d->{coverage}}')" 'Not everything was decided[^.]*: data race[^.]*\(as atomic instructions are not in the trace\)' "and why"
unlike "$(json 'join " ", @{$d->{coverage}}')" 'no (other )?data race' "nothing is said of other races"

# a library that is not instrumented orders the letters, and only recordings have the calls: no run along a schedule
# makes a race of that
mkdir courier && cp "$root"/samples/courier/* courier && make -s -C courier HEDDLE="$HEDDLE" || exit 1
run "$HEDDLE" check -o courier/c --budget 600 --format json -- courier/courier
is "$(json 'join "; ", sort map { my $v = $_->{variable}; $v =~ s,#[0-9]*,,; "$_->{verdict} $v" } @{$d->{findings}}')" "candidate letter->text; race stamps" "the race, and a candidate"
is "$(json '$d->{findings}[-1]{verdict}')" candidate "which comes last: no witness shows it"
like "$(json '(grep { $_->{verdict} eq "candidate" } @{$d->{findings}})[0]{missing}')" "box_put" "that names the calls"
done_testing
