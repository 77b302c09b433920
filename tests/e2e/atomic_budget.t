#!/bin/bash
# heddle atomic whose time is over: it ends, says so, and gives what it has found.
# (The budget is a thousandth of a second, the least there is; the trace takes a hundred times that.)
. tests/e2e/lib.sh
cd "$scratch" || exit 1

awk 'BEGIN { srand(3)
	printf "#! atomic-set S"; for (v = 0; v < 40; v++) printf " v%d", v; print ""
	for (t = 1; t < 8; t++) printf "T0|fork(T%d)|\n", t
	for (u = 0; u < 10000; u++) {
		for (t = 1; t < 8; t++) printf "T%d|ubeg(u,S)|\n", t
		for (k = 0; k < 14; k++)
			printf "T%d|%s(v%d)|a.c:%d\n", 1 + int(rand() * 7), rand() < 0.5 ? "r" : "w",
				int(rand() * 40), 1 + int(rand() * 500)
		for (t = 1; t < 8; t++) printf "T%d|uend(u)|\n", t
	} }' >crowded.txt
run "$HEDDLE" atomic crowded.txt --budget 1,0 --format json
is "$status" 1 "it ends, with findings"
is "$(json '$d->{complete} ? 1 : 0')" 0 "it is not complete"
is "$(json 'scalar(grep { /time for cycles that happened was over/ } @{$d->{notes}}) ? 1 : 0')" 1 "a note says why"
some=$(json 'scalar @{$d->{findings}}')
run "$HEDDLE" atomic crowded.txt --budget 1,0
like "$out" 'not complete: the budget ran out' "the last line says so"
run "$HEDDLE" atomic crowded.txt --format json
is "$(json '$d->{complete} ? 1 : 0')" 1 "with the time there is by itself it is complete"
is "$(json 'scalar(@{$d->{findings}}) > '"$some"' ? 1 : 0')" 1 "and finds more"
done_testing
