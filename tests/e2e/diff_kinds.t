#!/bin/bash
# heddle diff: findings of every kind, of traces and of explorations; reports of two commands
# are not compared; a fix in a file with another name.
. tests/e2e/lib.sh
samples=$root/samples
cd "$scratch" || exit 1
kinds='join " ", sort map { "$_->{baselineState}:$_->{kind}" } @{$d->{findings}}, @{$d->{absent}}'

build() { # build DIR SOURCE [NAME]
	mkdir -p "$1" && cp "$2" "$1/${3:-p.c}"
	(cd "$1" && "$HEDDLE" cc -g -O1 "${3:-p.c}" -o p -pthread && "$HEDDLE" record -q -o t.hdl -- ./p) >/dev/null 2>&1
}

# a use after free in traces
build uaf "$samples/use-after-free/use_after_free.c"
build uaf_fixed "$samples/use-after-free/fixed.c"
run "$HEDDLE" diff uaf/t.hdl uaf_fixed/t.hdl --format json
like "$(json "$kinds")" "absent:use-after-free" "a use after free that is gone"
run "$HEDDLE" diff uaf_fixed/t.hdl uaf/t.hdl --format json
is "$status" 1 "and one that is new"
like "$(json "$kinds")" "new:use-after-free" "is said to be"
like "$(json '$d->{new}{analysis}')" "^auto$" "the report's analysis is the races'"

# atomicity: two units between whose accesses the other's come, and the same one after the other
unit() { printf '%s\n' '#! heddle 1' '#! atomic-set S x y' "$@"; }
unit 'T1|ubeg(u,S)|a.c:1' 'T1|w(x)|a.c:2' 'T2|ubeg(v,S)|a.c:9' 'T2|w(x)|a.c:10' 'T2|w(y)|a.c:11' \
	'T2|uend(v)|a.c:12' 'T1|w(y)|a.c:3' 'T1|uend(u)|a.c:4' >cycle.txt
unit 'T1|ubeg(u,S)|a.c:1' 'T1|acq(m)|a.c:1' 'T1|w(x)|a.c:2' 'T1|w(y)|a.c:3' 'T1|rel(m)|a.c:4' 'T1|uend(u)|a.c:4' \
	'T2|ubeg(v,S)|a.c:9' 'T2|acq(m)|a.c:9' 'T2|w(x)|a.c:10' 'T2|w(y)|a.c:11' 'T2|rel(m)|a.c:12' \
	'T2|uend(v)|a.c:12' >serial.txt
run "$HEDDLE" diff cycle.txt serial.txt --format json
like "$(json "$kinds")" "absent:atomic-set-violation" "units that are serializable now"
run "$HEDDLE" diff serial.txt cycle.txt --format json
like "$(json "$kinds")" "new:atomic-set-violation" "and those that are not"

# a report of one analysis: the trace is searched by the same one
"$HEDDLE" commute --analysis cov uaf/t.hdl --format json >cov.json
run "$HEDDLE" diff cov.json uaf_fixed/t.hdl --format json
is "$(json 'join " ", sort keys %{{ map { $_->{kind} => 1 } @{$d->{findings}}, @{$d->{absent}} }}')" "use-after-free" "of its kind alone"
is "$(json '$d->{new}{analysis}')" cov "by its analysis"
"$HEDDLE" races uaf/t.hdl --format json >races.json
run "$HEDDLE" diff cov.json races.json
is "$status" 2 "reports of two commands"
like "$err" "races.json: expected a report of cov, as the first is, found a report of data races; give two reports of one command" "are refused"

# explorations
"$HEDDLE" explore --format json -- uaf/p >ex.json 2>/dev/null
"$HEDDLE" explore --format json -- uaf_fixed/p >ex_fixed.json 2>/dev/null
run "$HEDDLE" diff ex.json ex_fixed.json --format json
like "$(json "$kinds")" "^absent:" "an exploration's findings are gone"
unlike "$(json "$kinds")" "new:" "and nothing is new"
run "$HEDDLE" diff ex_fixed.json ex.json
is "$status" 1 "the other way they are new"
run "$HEDDLE" diff ex.json ex.json
is "$status" 0 "against itself nothing is new"
like "$out" "ex.json against ex.json: 0 new, [1-9][0-9]* known, 0 gone" "and all is known"
cat >race.c <<'END'
#include <pthread.h>
int x;
void *f(void *u) { x = 4; return u; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 5; pthread_join(t, 0); return 0; }
END
sed 's/x = 5; pthread_join(t, 0);/pthread_join(t, 0); x = 5;/' race.c >norace.c
build race race.c
build norace norace.c
"$HEDDLE" explore --format json -- race/p >race.json 2>/dev/null
"$HEDDLE" explore --format json -- norace/p >norace.json 2>/dev/null
run "$HEDDLE" diff norace.json race.json --format json
is "$status" 1 "a race of an exploration"
like "$(json "$kinds")" "new:data-race" "is new"
run "$HEDDLE" diff race.json norace.json
like "$out" "gone: race: data-race  on x" "or gone"
run "$HEDDLE" diff race.json norace/t.hdl
is "$status" 2 "an exploration against a trace"
like "$err" "expected a report about a trace, found a report of an exploration" "is refused"

# a fix in a file of another name
mkdir -p renamed
build renamed "$samples/bank/fixed.c" account.c
build bank "$samples/bank/bank.c" bank.c
run "$HEDDLE" diff bank/t.hdl renamed/t.hdl --format json
is "$(json 'join " ", map { "$_->{kind}:$_->{became}{fate}" } grep { $_->{kind} eq "data-race" } @{$d->{absent}}')" \
	"data-race:impossible" "a renamed file: the functions are asked about all the same"
done_testing
