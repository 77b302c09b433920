#!/bin/bash
# heddle merge: the reports of shards are joined into the report of the whole, or refused.
. tests/e2e/lib.sh
traces=$root/tests/traces
cd "$scratch" || exit 1

# shards TRACE N OPTION...: N reports, the whole, and the merged one
shards() {
	local trace=$1 n=$2 i
	shift 2
	rm -f part*.json
	for i in $(seq "$n"); do
		"$HEDDLE" races "$trace" "$@" --shard "$i/$n" --format json >"part$i.json"
	done
	"$HEDDLE" races "$trace" "$@" --format json >whole.json
	run "$HEDDLE" merge $(ls part*.json | sort -r) --format json
	printf '%s\n' "$out" >merged.json
}
for case in "account 2 --analysis m2" "ftpserver 3 --analysis auto" "bubblesort 5 --analysis hb" \
	"critical-small 7 --analysis m2 --pairs events" "twostage 3 --analysis m2 --pairs events --verdicts all"; do
	set -- $case
	shards "$traces/$1.std" "${@:2}"
	is "$status" 1 "$case: found"
	# (but for the note on pairs behind racy reads, which no shard makes, as the join says)
	perl -i -pe 's/ ?"notes": \["pairs of places that [^"]*"\],?//' whole.json merged.json
	cmp -s merged.json whole.json
	ok $? "$case: to the byte the report of the whole"
done

shards "$traces/ftpserver.std" 3 --analysis auto
like "$(json 'join " ", @{$d->{notes}}')" "keep apart are not counted in shares" "the join says that pairs behind racy reads are not counted"
shards "$traces/account.std" 3 --analysis m2
run "$HEDDLE" merge part?.json
is "$status" 1 "as text"
like "$out" "account.std: [0-9]+ findings? by m2 in [0-9]+ events, complete" "with its summary"
like "$out" "witness of [0-9]+ events, checked" "and evidence"
run "$HEDDLE" merge part?.json --format sarif
is "$(json 'scalar @{$d->{runs}[0]{results}}')" \
	"$(perl -MJSON::PP -0777 -ne 'print scalar @{decode_json($_)->{findings}}' whole.json)" "as SARIF"

run "$HEDDLE" races "$traces/array-small.std" --shard 1/1 --analysis m2 --format json
printf '%s' "$out" >one.json
run "$HEDDLE" merge one.json
is "$status" 0 "nothing found"

# what does not belong together
run "$HEDDLE" merge part1.json part3.json
is "$status" 2 "a shard is missing"
like "$err" "of 3 shards these are missing: 2" "and named"
is "$(printf '%s\n' "$err" | wc -l)" 1 "in one line"
run "$HEDDLE" merge part1.json part3.json --lenient --format json
is "$(json '$d->{complete} ? 1 : 0')" 0 "--lenient joins what is there, which is not complete"
like "$out" "shards 2 of 3 are missing" "and says so"
cp part1.json again.json
run "$HEDDLE" merge part?.json again.json
is "$status" 2 "a shard twice"
like "$err" "again.json: shard 1/3 is in part1.json too" "and where"
run "$HEDDLE" merge whole.json
is "$status" 2 "no shard"
like "$err" "whole.json: it is no report of a shard" "and that"
differs() { # differs WHAT FILE OPTION...
	local what=$1 trace=$2
	shift 2
	"$HEDDLE" races "$trace" --shard 2/3 "$@" --format json >other.json
	run "$HEDDLE" merge part1.json other.json part3.json
	is "$status" 2 "$what: refused"
	like "$err" "other.json: its \"$what\" is .*, that of part1.json is" "$what: and said which"
}
differs trace "$traces/lang.std" --analysis m2
differs analysis "$traces/account.std" --analysis hb
differs options "$traces/account.std" --analysis m2 --pairs events
mkdir else
{ cat "$traces/account.std"; echo 'T1|w(x)|77'; } >else/account.std
differs sha256 else/account.std --analysis m2
"$HEDDLE" races "$traces/account.std" --shard 2/4 --analysis m2 --format json >other.json
run "$HEDDLE" merge part1.json other.json part3.json
like "$err" "other.json: it is one of 4 shards" "another cut"

# what is no report
head -c 300 part2.json >cut.json
echo '[1, 2]' >list.json
echo '{"a": 1}' >else.json
: >empty.json
sed 's/"witness": \[/"witness": [x/' whole.json >words.json
for bad in cut list else empty words; do
	run "$HEDDLE" merge $bad.json
	is "$status" 2 "$bad.json: refused"
	like "$err" "^heddle: $bad.json: expected a report as JSON.*--format json$" "$bad.json: in a sentence"
done
run "$HEDDLE" merge not-there.json
like "$err" "not-there.json: cannot open the report: No such file" "no such file"
run "$HEDDLE" merge
is "$status" 2 "nothing named"

# explorations
cat >e1.json <<'J'
{"heddle": "0.1.0", "program": "./p", "shard": "1/2", "executions": 2, "pruned": 1, "states": 2, "waiting": 0,
 "complete": true, "gaps": [], "errors": [{"kind": "signal", "status": 6, "story": "s", "run": 1, "count": 1, "trace": null}],
 "races": [], "runs": [{"run": 0, "parent": null}, {"run": 1, "parent": 0}]}
J
cat >e2.json <<'J'
{"heddle": "0.1.0", "program": "./p", "shard": "2/2", "executions": 3, "pruned": 2, "states": 3, "waiting": 0,
 "complete": true, "gaps": [], "errors": [{"kind": "signal", "status": 6, "story": "s", "run": 2, "count": 2, "trace": null},
 {"kind": "deadlock", "status": 0, "story": "d", "run": 1, "count": 1, "trace": null}],
 "races": [], "runs": [{"run": 0, "parent": null}, {"run": 1, "parent": 0}, {"run": 2, "parent": 1}]}
J
run "$HEDDLE" merge e2.json e1.json --format json
is "$status" 1 "explorations"
is "$(json '"$d->{executions} $d->{pruned} $d->{states} " . ($d->{complete} ? 1 : 0)')" "5 3 5 1" "numbers are added"
is "$(json 'join " ", map { "$_->{kind}:$_->{run}:$_->{count}" } @{$d->{errors}}')" "signal:1:3 deadlock:3:1" \
	"an error of two shards is one; runs are numbered on"
is "$(json 'join " ", map { $_->{parent} // "-" } @{$d->{runs}}')" "- 0 - 2 3" "and know their parents"
run "$HEDDLE" merge e1.json e2.json
like "$out" "5 runs" "as text"
run "$HEDDLE" merge e1.json e2.json --baseline e1.json
is "$status" 2 "a baseline for explorations"
like "$err" "'heddle diff OLD NEW' compares explorations" "and what compares them"

# What is known or suppressed counts as little in a divided or kept run as in one piece.
printf '#! heddle 1\nT1|w(x)|a.c:1\nT2|w(x)|b.c:1\nT1|w(y)|c.c:1\nT2|w(y)|d.c:1\n' >both.txt
printf '#! heddle 1\nT1|w(x)|a.c:1\nT2|w(x)|b.c:1\nT1|w(z)|e.c:1\nT2|w(z)|f.c:1\n' >old.txt
"$HEDDLE" races old.txt --format json >known.json
printf 'race:a.c\n' >one
printf 'race:a.c\nrace:c.c\n' >all
for options in "" "-j 2" "-j 3" "--resume kept.json"; do
	rm -f kept.json
	run "$HEDDLE" races both.txt --suppressions all $options
	is "$status" 0 "everything is suppressed${options:+ ($options)}"
	unlike "$out" '^race:' "no race is listed"
	like "$out" '^suppressed: ' "what is suppressed is counted"
	rm -f kept.json
	run "$HEDDLE" races both.txt --suppressions one $options --format json
	is "$status" 1 "one of two is suppressed"
	is "$(json 'join ",", map { $_->{variable} . ($_->{suppressed} ? "-" : "+") } @{$d->{findings}}')" "x-,y+" "and marked"
	rm -f kept.json
	run "$HEDDLE" races both.txt --baseline known.json $options
	is "$status" 1 "one race is new, one known"
	is "$(printf '%s' "$out" | grep -c '^new: ')$(printf '%s' "$out" | grep -c 'on x')" 10 "the new one alone is listed"
	like "$out" '1 new, 1 known, 1 gone' "and what is gone is counted"
	rm -f kept.json
	run "$HEDDLE" races both.txt --baseline known.json $options --format json
	is "$(json 'join ",", map { "$_->{variable} $_->{baselineState}" } @{$d->{findings}}, @{$d->{absent}}')" \
		"x unchanged,y new,z absent" "in JSON, too"
	is "$(json 'join " ", @{$d->{baseline}}{qw(new unchanged absent)}')" "1 1 1" "with the counts"
	rm -f kept.json
	run "$HEDDLE" races old.txt --baseline known.json $options
	is "$status" 0 "nothing new"
done
run "$HEDDLE" races both.txt --shard 1/2 --baseline known.json
is "$status" 2 "a share alone cannot say what is new"
like "$err" "baseline is for 'heddle merge'" "merge can"
for i in 1 2; do "$HEDDLE" races both.txt --shard $i/2 --format json >share$i.json; done
run "$HEDDLE" merge share1.json share2.json --baseline known.json --format sarif
is "$status" 1 "merge with a baseline"
is "$(json 'join ",", sort map { $_->{baselineState} } @{$d->{runs}[0]{results}}')" "absent,new,unchanged" "as SARIF"
run "$HEDDLE" races both.txt -j 2 --baseline nowhere.json
is "$status" 2 "a baseline that is not there"
like "$err" '^heddle: (.*/)?nowhere.json: cannot open the report' "is said"

# A finding that is suppressed in a report counts for nothing there.
"$HEDDLE" races old.txt --suppressions one --format json >less.json
run "$HEDDLE" races old.txt --baseline less.json
is "$status" 1 "a race that the baseline's run suppressed is new"
like "$out" '1 new, 1 known, 0 gone' "and counted so"
run "$HEDDLE" diff known.json less.json
is "$status" 0 "a race that is suppressed now is gone"
like "$out" 'now: suppressed there' "and why"
done_testing
