#!/bin/bash
# heddle atomic says which units of work it had, and what could be none; without any it is not
# complete. A set's own cycle is not hidden behind one over several sets.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

# record FLAGS...
record() {
	"$HEDDLE" cc -g -O1 "$@" "$programs/seats.c" -o seats -pthread
	"$HEDDLE" record -o seats.hdl --seed 6 -- ./seats >/dev/null 2>&1
}
record
run "$HEDDLE" atomic seats.hdl
like "$out" "in [0-9]+ events, not complete: functions that touch these sets are no units of work, as they were inlined$" "all functions inlined: not complete"
like "$out" "as the compiler inlined them .*book" "they are named"
like "$out" "a unit of work: nothing was checked" "and that nothing was checked"
run "$HEDDLE" atomic seats.hdl --format json
is "$(json '$d->{complete} ? "complete" : "not"')" not "in JSON, too"
record -fno-inline
run "$HEDDLE" atomic seats.hdl
like "$out" "as they are static .*book" "a static function that calls others is none"
like "$out" "units of work: .*take" "the units are named"
like "$out" "functions in which threads begin are no units of work: .*party" "and where threads begin"
like "$out" "not complete" "not complete either"
cat >seats.spec <<'S'
atomics seats {
  set hall : struct hall { free_seats, takings }
  unit book on hall
  unit audit on hall
}
S
run "$HEDDLE" atomic --spec seats.spec seats.hdl
like "$out" "atomic in [0-9]+ events, complete" "with a specification it is"
like "$out" "units of work: book, audit" "of these units"

sed 's/unit book/unit bok/' seats.spec >misspelt.spec
run "$HEDDLE" atomic --spec misspelt.spec seats.hdl
like "$out" "misspelt.spec:1: unit bok: no function of this name was entered in this run" "a unit that is not in the run"
sed 's/^static int book/static inline __attribute__((always_inline)) int book/' "$programs/seats.c" >part.c
"$HEDDLE" cc -g -O1 -fno-inline part.c -o part -pthread
"$HEDDLE" record -q --seed 6 -o part.hdl -- ./part >/dev/null
run "$HEDDLE" atomic --spec seats.spec part.hdl
like "$out" "events, not complete: a unit of work was inlined, and its calls are not recorded$" "a declared unit that was inlined: not complete"
like "$out" "unit book: not complete, as the compiler inlined it" "and which"
like "$out" "units of work: audit" "whatever other units there are"

printf '#! heddle 1\n#! atomic-set S x\nT1|w(x)|1\nT2|w(x)|2\n' >none.txt
run "$HEDDLE" atomic none.txt
like "$out" "not complete, as no function was found to be a unit of work: nothing was checked" "a set without units"

# S1 alone is cyclic: its edges have shorter ways back over S2
cat >own.txt <<'T'
#! heddle 1
#! atomic-set S1 x y
#! atomic-set S2 z
T0|ubeg(u0,S1,S2)|1
T1|ubeg(u1,S1,S2)|2
T0|w(y)|3
T1|w(y)|4
T1|r(z)|5
T0|r(y)|6
T0|w(z)|7
T1|r(z)|8
T0|uend(u0)|9
T1|uend(u1)|10
T
run "$HEDDLE" atomic own.txt --format json
is "$(json 'join " ", sort map { join("+", sort @{$_->{sets}}) . ($_->{mixed} ? " mixed" : "") } @{$d->{findings}}')" "S1 S2" "each set's own cycle, and none over both"

done_testing
