#!/bin/bash
# heddle verify: a cycle is one of the units that the witness names; what an allocation orders is no
# C11 race.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# verify TRACE KIND HEADER EVENTS...
verify() {
	local trace=$1 kind=$2 header=$3
	shift 3
	{
		echo '#! heddle-witness 1'
		echo "#! trace $trace -"
		echo "#! kind $kind"
		echo "#! $header"
		printf '%s\n' "$@"
	} >w.wit
	run "$HEDDLE" verify "$trace" w.wit
}

# u0 and u1 form a cycle on x; u2 has none with anybody
cat >units.txt <<'T'
#! heddle 1
#! atomic-set S x
T0|ubeg(u0,S)|1
T0|w(x)|2
T1|ubeg(u1,S)|3
T1|w(x)|4
T1|uend(u1)|5
T0|r(x)|6
T0|uend(u0)|7
T2|ubeg(u2,S)|8
T2|r(x)|9
T2|uend(u2)|10
T
verify units.txt atomic "units 0 2" 0 1 2 3 4 5 6 7 8 9
is "$status" 0 "the two units that form the cycle"
verify units.txt atomic "units 0 7" 0 1 2 3 4 5 6 7 8 9
is "$status" 1 "of the two that are named, one is on no cycle"
like "$out" "the conflicts of these units form none" "which is said"
verify units.txt atomic "units 2 77" 0 1 2 3 4 5 6 7 8 9
is "$status" 1 "an event that begins no unit"
verify units.txt atomic "units 0" 0 1 2 3 4 5 6
is "$status" 2 "one unit is no cycle"
verify units.txt atomic "units zero one" 0 1 2 3 4 5 6
is "$status" 2 "nor are words"
like "$err" "two units or more" "which is said"
verify units.txt race "units 1 3" 1 3
is "$status" 2 "units are of the kind atomic alone"

# the witness of a cycle that is predicted names its units, and holds
cat >predicted.txt <<'T'
#! heddle 1
#! atomic-set S x
T0|ubeg(u0,S)|1
T0|r(x)|2
T0|w(x)|3
T0|uend(u0)|4
T1|ubeg(u1,S)|5
T1|w(x)|6
T1|uend(u1)|7
T
run "$HEDDLE" atomic predicted.txt --predict -o found.wit
run "$HEDDLE" verify predicted.txt found.wit
is "$status" 0 "the witness of a predicted cycle"
is "$(grep -c '^#! units 0 4$' found.wit)" 1 "names its units"

# T2's write is before its allocation, T0 uses the block, and the write that it reads is T1's
cat >made.txt <<'T'
#! heddle 1
T2|w(x)|1
T2|alloc(p,8)|2
T1|w(x)|3
T0|acq(p.l)|4
T0|r(x)|5
T
verify made.txt c11-race "pair 0 4" 0 1 2 3 4
is "$status" 1 "the allocation is before the lock in the block: no C11 race"
like "$out" "happens after event 0" "which is said"
verify made.txt c11-race "pair 2 4" 0 1 2 3 4
is "$status" 0 "the other write is in one"

done_testing
