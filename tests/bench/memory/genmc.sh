#!/bin/bash
# GenMC's own tests as real programs under `explore`, beside its expected numbers:
#     tests/bench/memory/genmc.sh TESTS [HEDDLE [PATTERN]]     TESTS: its folder tests/; PATTERN: of CATEGORY/NAME
# Each test that was compiled and linked with `heddle cc -g -O1` is the program `run` in its folder, beside its expected
# numbers. In GenMC the other threads go on when main returns, so main ends its thread alone; an assumption that does
# not hold waits for ever, so its execution is blocked here, too.
# A line for each test of tests/correct:
#     CATEGORY/NAME  sc: GENMC OURS (executions)  rc11: GENMC OURS (blocked; runs)  tso: OURS (blocked; runs)
# GENMC: its complete executions (it has no numbers for tso); OURS: under sc the classes of values, else the complete execution graphs;
# "+": not complete, with the gap; "-": no number. And for each one of tests/wrong: what is found under rc11.
tests=$1
heddle=${2:-./heddle}
pattern=${3:-*}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

explore() {
	"$heddle" explore --budget "${BUDGET:-20}" --format json "$@" -- "$program" 2>/dev/null >"$scratch/report"
	perl -MJSON::PP -e 'local $/; my $d = eval { decode_json(<STDIN>) } or do { print "no report"; exit };
		my $gap = $d->{complete} ? "" : " + $d->{gaps}[0]";
		printf defined $d->{graphs} ? ("%d (%d; %d)%s", $d->{graphs} - $d->{"graphs-blocked"}, $d->{"graphs-blocked"}, $d->{executions}, $gap)
			: ("%d (%d)%s", $d->{states}, $d->{executions}, $gap)' <"$scratch/report"
}

number() { [ -f "$1" ] && grep -m1 -o '[0-9]*' "$1" | head -1 || echo -; }

for category in litmus data-structures infr ipr lapor liveness saver sr synthetic; do
	for folder in "$tests/correct/$category"/*/; do
		name=$category/$(basename "$folder")
		# shellcheck disable=SC2053
		[[ $name == $pattern ]] || continue
		program=$folder/run
		[ -x "$program" ] || { echo "$name  not built"; continue; }
		echo "$name  sc: $(number "$folder/expected.sc.mo.in") $(explore)  rc11:" \
			"$(number "$folder/expected.rc11.mo.in") $(explore --memory rc11)  tso: $(explore --memory tso)"
	done
done
for category in barriers helper infr liveness locking memory racy safety saver; do
	for folder in "$tests/wrong/$category"/*/; do
		name=wrong/$category/$(basename "$folder")
		# shellcheck disable=SC2053
		[[ $name == $pattern ]] || continue
		program=$folder/run
		[ -x "$program" ] || { echo "$name  not built"; continue; }
		explore --memory rc11 >"$scratch/words"
		echo "$name  $(perl -MJSON::PP -e 'local $/; my $d = eval { decode_json(<STDIN>) } or exit;
			print join(", ", (map { $_->{kind} } @{$d->{errors}}), @{$d->{races}} ? "data race" : ()) || "nothing"' \
			<"$scratch/report"); $(cat "$scratch/words")"
	done
done
