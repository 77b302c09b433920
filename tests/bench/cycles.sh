#!/bin/bash
# Distinct cycles of atomic sets over recordings, as docs/benchmarks-papers.md counts them: by the codes
# of the units, however often each takes part, and the kinds of the sets.
#
#     tests/bench/cycles.sh T.hdl...             these recordings
#     tests/bench/cycles.sh --samples [fixed]    every sample for atomic sets, seeds 1 to 6, noise
#
# A line each: grade, how many recordings show it, sets, units.  Options for `heddle atomic`
# in $ATOMIC (--heap, --split none).
HEDDLE=${HEDDLE:-$PWD/heddle}
code='my %seen;
for my $f (@{$d->{findings}}) {
	my %units = map { ($_->{unit} =~ /^event/ ? "(no unit)" : $_->{unit}) => 1 } @{$f->{cycle}};
	my %sets = map { (split / /)[0] => 1 } @{$f->{sets}};
	my $line = "$f->{grade}  " . join(",", sort keys %sets) . " : " . join(" ", sort keys %units);
	print "$line\n" if !$seen{$line}++;
}'
cycles() { # of one recording
	nice "$HEDDLE" atomic "$1" --all $ATOMIC --format json |
		perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>); '"$code"
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
all() {
	if [ "$1" != --samples ]; then
		for t in "$@"; do cycles "$t"; done
		return
	fi
	for expect in $(grep -l '^atomic' samples/*/expect); do
		folder=${expect%/expect}
		source=$(ls "$folder"/*.c | grep -v '/fixed\.c$')
		[ "$2" = fixed ] && source=$folder/fixed.c
		"$HEDDLE" cc -g -O1 -fno-inline -fno-optimize-sibling-calls "$source" -o "$scratch/program" -pthread
		for seed in 1 2 3 4 5 6; do
			"$HEDDLE" record -q --seed $seed --strategy noise -o "$scratch/t.hdl" -- "$scratch/program" >/dev/null 2>&1
			cycles "$scratch/t.hdl" | sed "s|^|${folder#samples/}: |"
		done
	done
}
all "$@" | sort | uniq -c | sort -k2
