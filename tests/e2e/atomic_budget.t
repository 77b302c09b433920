#!/bin/bash
# heddle atomic whose time is over: it ends, says so, and gives what it has found.
# A budget of 0 is over at once: nothing here depends on how fast the machine is.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

awk 'BEGIN { srand(3)
	printf "#! atomic-set S"; for (v = 0; v < 40; v++) printf " v%d", v; print ""
	for (t = 1; t < 8; t++) printf "T0|fork(T%d)|\n", t
	for (u = 0; u < 1000; u++) {
		for (t = 1; t < 8; t++) printf "T%d|ubeg(u,S)|\n", t
		for (k = 0; k < 14; k++)
			printf "T%d|%s(v%d)|a.c:%d\n", 1 + int(rand() * 7), rand() < 0.5 ? "r" : "w",
				int(rand() * 40), 1 + int(rand() * 500)
		for (t = 1; t < 8; t++) printf "T%d|uend(u)|\n", t
	} }' >crowded.txt
run "$HEDDLE" atomic crowded.txt --budget 1,0 --format json
is "$status" 3 "it ends, and is not complete"
is "$(json '$d->{complete} ? 1 : 0')" 0 "it is not complete"
is "$(json 'scalar(grep { /time for cycles that happened was over/ } @{$d->{notes}}) ? 1 : 0')" 1 "a note says why"
is "$(json 'scalar @{$d->{findings}}')" 0 "it has looked for nothing"
run "$HEDDLE" atomic crowded.txt --budget 1,0
like "$out" 'not complete: the budget ran out' "the last line says so"
run "$HEDDLE" atomic crowded.txt --format json
is "$(json '$d->{complete} ? 1 : 0')" 1 "with the time there is by itself it is complete"
is "$(json 'scalar(@{$d->{findings}}) > 0 ? 1 : 0')" 1 "and finds cycles"

# What units there are is inferred in the same time.
awk 'BEGIN { print "T0|fork(T1)|"
	for (t = 0; t < 2; t++) printf "T%d|enter(add)|a.c:1\nT%d|acq(m)|a.c:2\nT%d|r(p.x)|a.c:3\nT%d|w(p.y)|a.c:4\nT%d|rel(m)|a.c:5\nT%d|leave(add)|a.c:6\n", t, t, t, t, t, t
	}' >plain.txt
run "$HEDDLE" atomic plain.txt --budget 1,0 --format json
is "$status:$(json '$d->{complete} ? 1 : 0')" 3:0 "without a declared set: it ends, and is not complete"
like "$out" 'time for inferring atomic sets and units of work was over' "a note says why"
run "$HEDDLE" atomic plain.txt --format json
unlike "$out" 'time for inferring' "with time it infers them"
done_testing
