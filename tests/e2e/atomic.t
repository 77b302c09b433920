#!/bin/bash
# Atomic-set serializability on text traces: the paper's figures and the corners of the
# definition.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Figure 2 of the Marathon paper: three threads, three variables, no two units alone.
cat >figure2.txt <<'T'
#! heddle 1
#! atomic-set S x y z
T1|ubeg(u1,S)|
T2|ubeg(u2,S)|
T3|ubeg(u3,S)|
T1|w(x)|a.c:1
T2|r(x)|a.c:2
T2|w(y)|a.c:3
T3|r(y)|a.c:4
T3|w(z)|a.c:5
T1|r(z)|a.c:6
T1|uend(u1)|
T2|uend(u2)|
T3|uend(u3)|
T
run "$HEDDLE" atomic figure2.txt --format json
is "$status" 1 "figure 2: found"
is "$(json 'scalar @{$d->{findings}}')" 1 "figure 2: one cycle"
is "$(json 'join " ", map { $_->{unit} } @{$d->{findings}[0]{cycle}}')" "u1 u2 u3" "figure 2: three units"
is "$(json 'join " ", map { $_->{variable} } @{$d->{findings}[0]{edges}}')" "x y z" "figure 2: one variable an edge"
is "$(json '$d->{findings}[0]{verdict}')" happened "what happened has that verdict"
is "$(json '$d->{findings}[0]{mixed} ? 1 : 0')" 0 "one set is not mixed"
is "$(json '$d->{findings}[0]{cycle}[0]{begin} . "-" . $d->{findings}[0]{cycle}[0]{end}')" 0-9 "where the unit begins and ends"
is "$(json 'join ",", @{$d->{findings}[0]{edges}[0]{events}}')" 3,4 "the accesses of an edge"

# The same accesses, in two atomic sets that never meet: serializable each.
sed 's/^#! atomic-set.*/#! atomic-set S x\n#! atomic-set R y\n#! atomic-set Q z/; s/,S)/,S,R,Q)/' figure2.txt >mixed.txt
run "$HEDDLE" atomic mixed.txt --format json
is "$(json '$d->{findings}[0]{mixed} ? 1 : 0')" 1 "a cycle over several sets is mixed"
is "$(json 'join " ", sort @{$d->{findings}[0]{sets}}')" "Q R S" "and names its sets"

# An access outside of any unit is a unit of its own.
cat >outside.txt <<'T'
#! atomic-set S x
T1|ubeg(inc,S)|
T1|r(x)|c.c:1
T2|w(x)|c.c:9
T1|w(x)|c.c:2
T1|uend(inc)|
T
run "$HEDDLE" atomic outside.txt --format json
is "$(json 'join " ", sort map { $_->{unit} } @{$d->{findings}[0]{cycle}}')" "event 2 inc" "an access outside is 'event N'"

# A wait cuts the unit in two, and with it the false cycle of a bounded buffer.
cat >wait.txt <<'T'
#! atomic-set S n
T1|acq(m)|
T1|ubeg(get,S)|
T1|r(n)|b.c:1
T1|wait(c)|b.c:2
T1|rel(m)|
T2|acq(m)|
T2|ubeg(put,S)|
T2|w(n)|b.c:9
T2|signal(c)|
T2|uend(put)|
T2|rel(m)|
T1|wake(c)|
T1|acq(m)|
T1|r(n)|b.c:1
T1|uend(get)|
T1|rel(m)|
T
run "$HEDDLE" atomic wait.txt
is "$status" 0 "a wait splits the unit"
grep -v 'wait(\|wake(' wait.txt >nowait.txt
run "$HEDDLE" atomic nowait.txt
is "$status" 1 "without the wait it is one unit and not serializable"

# Repetitions are one finding with a count; --cycles caps the list and says so.
{
	echo '#! atomic-set S x y'
	for _ in 1 2 3; do
		printf 'T1|ubeg(a,S)|\nT1|r(x)|a.c:1\nT1|r(y)|a.c:2\nT2|ubeg(b,S)|\nT2|w(x)|b.c:1\n'
		printf 'T2|w(y)|b.c:2\nT2|uend(b)|\nT1|w(x)|a.c:3\nT1|w(y)|a.c:4\nT1|uend(a)|\n'
	done
} >repeat.txt
run "$HEDDLE" atomic repeat.txt --format json
is "$(json '(grep { $_->{count} == 3 } @{$d->{findings}}) > 0 ? 1 : 0')" 1 "repetitions are counted"
run "$HEDDLE" atomic repeat.txt --cycles 1 --format json
is "$(json 'scalar @{$d->{findings}}')" 1 "--cycles 1 lists one"
is "$(json '$d->{complete} ? 1 : 0')" 0 "and is not complete"
like "$(json '$d->{notes}[0]')" 'distinct cycles' "and says so"

run "$HEDDLE" atomic /nonexistent
is "$status" 2 "a missing trace is bad input"
like "$err" 'nonexistent' "the message names the file"
done_testing
