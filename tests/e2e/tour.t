#!/bin/bash
# docs/tour.md, followed literally: its commands work, its screens are what is shown, and
# the fix is clean.
. tests/e2e/lib.sh
export HOME=$scratch XDG_STATE_HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_CACHE_HOME=$scratch
mkdir -p build/tour
run "$HEDDLE" cc -g -O1 samples/bank/bank.c -o build/tour/bank -pthread
is "$status" 0 "the sample compiles"
run "$HEDDLE" record --seed 1 -o build/tour/bank.hdl -- build/tour/bank
is "$out" "balance 150" "it runs right while it is recorded"
rm -f build/tour/*.txt build/tour/bank.hdl.notes
run env LC_ALL=C.UTF-8 "$HEDDLE" open build/tour/bank.hdl --script docs/tour.script
is "$status$err" 0 "the script of the tour runs"
for screen in findings order witness trace; do
	sed 's/^/    /; s/ *$//' build/tour/$screen.txt >"$scratch/$screen"
	run perl -0e 'open F, "docs/tour.md"; $t = <F>; open G, $ARGV[0]; $s = <G>;
		for ($s, $t) { s/main\+\d+/main+N/g; s/0x[0-9a-f]+/0xN/g } # addresses vary
		$s =~ s/\s+\z//; exit(index($t, $s) < 0)' "$scratch/$screen"
	is "$status" 0 "docs/tour.md shows the screen: $screen"
done
run "$HEDDLE" cc -g -O1 samples/bank/fixed.c -o build/tour/fixed -pthread
run "$HEDDLE" record --seed 1 -o build/tour/fixed.hdl -- build/tour/fixed
is "$out" "balance 150" "the fixed program runs"
run "$HEDDLE" races build/tour/fixed.hdl
is "$status" 0 "and nothing is found in it"
done_testing
