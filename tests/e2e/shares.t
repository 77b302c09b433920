#!/bin/bash
# --shard I/N, -j N and --resume FILE of races, check and shake: shares join to the whole, and one that
# was killed and is run again loses nothing and counts nothing twice.
. tests/e2e/lib.sh
samples=$PWD/samples
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 -DN=3 -DBUG -DRUNS "$root/tests/e2e/programs/turns.c" -o bug -pthread
runs() { cat runs 2>/dev/null | wc -l; }

# shake: the shares are the whole, to the byte
run "$HEDDLE" shake --runs 50 --strategy random --format json -- ./bug
printf '%s\n' "$out" >whole.json
for i in 1 2 3; do "$HEDDLE" shake --runs 50 --strategy random --shard $i/3 --format json -- ./bug >s$i.json; done
run "$HEDDLE" merge s3.json s1.json s2.json --format json
is "$status" 1 "shares of shake are joined"
printf '%s\n' "$out" | cmp -s - whole.json
ok $? "... to the report of the whole"
run "$HEDDLE" merge s1.json s3.json
like "$status $err" "^2 .*of 3 shards these are missing: 2" "a share that is missing"
run "$HEDDLE" shake --runs 50 --strategy random -j 2 --format json -- ./bug
printf '%s\n' "$out" | cmp -s - whole.json
ok $? "two processes find the same"
run "$HEDDLE" shake --runs 3 --shard 4/5 --format json -- ./bug
is "$(json '$d->{runs}')" 0 "a share may be empty"
"$HEDDLE" shake --runs 51 --shard 2/3 --format json -- ./bug >other.json
run "$HEDDLE" merge s1.json other.json s3.json
like "$status $err" "^2 .*other.json: its \"options\" is" "other options"
sed 's/"lines":\[/"lines":[1,/' s2.json >bad.json
run "$HEDDLE" merge s1.json bad.json s3.json
like "$status $err" "^2 .*bad.json: \"outcomes\"" "what is no outcome"

# --resume: a finished share is kept
rm -f runs
run "$HEDDLE" shake --runs 20 --tries 0 --shard 1/2 --resume kept -- ./bug
first=$out
like "$status $out" "^1 10 runs" "a share of twenty runs is ten"
made=$(runs)
run "$HEDDLE" shake --runs 20 --tries 0 --shard 1/2 --resume kept -- ./bug
is "$status $(runs)" "1 $made" "it is not made again"
is "$out" "$first" "but printed"
run "$HEDDLE" shake --runs 22 --shard 1/2 --resume kept -- ./bug
like "$status $err" "^2 .*kept: is no report of this command with these options" "nor taken for another's"
# killed after so many runs of the program, at any of its processes' states
for lines in 3 7; do
	before=$(runs)
	setsid "$HEDDLE" shake --runs 20 --tries 0 --shard 2/2 --resume second -- ./bug >/dev/null 2>&1 &
	while kill -0 $! 2>/dev/null && [ "$(runs)" -lt $((before + lines)) ]; do sleep 0.01; done
	kill -KILL -- -$! 2>/dev/null
	wait $! 2>/dev/null
done
run "$HEDDLE" shake --runs 20 --tries 0 --shard 2/2 --resume second -- ./bug
run "$HEDDLE" merge kept second --format json
is "$(json '$d->{runs}')" 20 "each run counts once"
run "$HEDDLE" shake --runs 20 --tries 0 --format json -- ./bug
is "$(json 'join " ", map { "$_->{end}" } @{$d->{outcomes}}')" \
	"$("$HEDDLE" merge kept second --format json | perl -MJSON::PP -0777 -ne 'print join " ", map { "$_->{end}" } @{decode_json($_)->{outcomes}}')" \
	"and the outcomes are those of the whole"
run "$HEDDLE" shake --runs 20 --tries 0 -j 2 --resume both -- ./bug
is "$(ls both*)" "both.1
both.2" "with -j each share has a file"
printf 'not ours\n' >foreign
run "$HEDDLE" shake --runs 2 --resume foreign -- ./bug
is "$status $(cat foreign)" "2 not ours" "what is in the way stays"
run "$HEDDLE" shake --runs 2 --resume gone -- ./nothing
is "$status $(ls gone* 2>/dev/null)" "2 " "a command that fails keeps nothing"

# races: shares have one note more, as no share knows the races of the others
but_for_note() { printf '%s' "$1" | sed -E 's/"notes": \["pairs of places[^]"]*"\], //'; }
"$HEDDLE" cc -g -O1 "$samples/bank/bank.c" -o bank -pthread && "$HEDDLE" record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
run "$HEDDLE" races bank.hdl --format json
whole=$out
run "$HEDDLE" races bank.hdl -j 3 --format json
like "$out" "not counted in shares" "what shares leave out is said"
is "$status $(but_for_note "$out")" "1 $whole" "three processes, one report"
run "$HEDDLE" races bank.hdl -j 2 --format sarif
is "$status $(json 'scalar @{$d->{runs}[0]{results}}')" "1 1" "also as SARIF"
run "$HEDDLE" races bank.hdl --resume races.kept --format json
is "$status" 1 "kept"
run "$HEDDLE" races bank.hdl --resume races.kept --format json
is "$(but_for_note "$out")" "$whole" "and printed again, as the whole"
cp bank.hdl other.hdl && printf 'x' >>other.hdl
run "$HEDDLE" races other.hdl --resume races.kept
is "$status" 2 "another trace"

# check
run "$HEDDLE" check --budget 600 -j 2 -o c --format json -- ./bank
is "$status $(json 'join " ", map { $_->{kind} } @{$d->{findings}}')" "1 data-race" "check, by two processes"
is "$(json 'my %n; $n{$_->{seed}}++ for grep { $_->{strategy} =~ /^(random|pct|noise)$/ } @{$d->{runs}};
	(join " ", map { $n{$_} // 0 } 1 .. 6) . " " . grep { $_ > 1 } values %n')" "1 1 1 1 1 1 0" "... each recording by one of them"
is "$(json '$d->{complete}{"data-race"} ? "complete" : "open"')" complete "... complete where one has run every schedule"
run "$HEDDLE" check --budget 600 --shard 2/2 -o d --format json -- ./bank
printf '%s\n' "$out" >second.json
run "$HEDDLE" merge second.json --format json
like "$status $err" "^2 .*of 2 shards these are missing: 1" "a share of check is not the whole"
run "$HEDDLE" merge second.json --lenient
like "$out" "shards 1 of 2 are missing" "... and says so"
run "$HEDDLE" check -j 2 bank.hdl bank.hdl bank.hdl --format json
is "$(json 'scalar @{$d->{runs}}')" 3 "traces are divided, too"
for bad in "-j 0" "-j 1000" "-j 2 --shard 1/2" "--shard 0/2" "--shard 3/2" "--shard x" "--shard 1/9999999"; do
	for command in "races bank.hdl" "shake -- ./bug" "check -- ./bank" "explore -- ./bug"; do
		run "$HEDDLE" ${command%% *} $bad ${command#* }
		[ $status = 2 ] || break 2
	done
done
is "$status" 2 "bad shares are refused by all"
done_testing
