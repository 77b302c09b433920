#!/bin/bash
# Missing code: what a call that was not recorded may have synchronised.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
pairs() { json 'join " ", map { "$_->{first}-$_->{second}" } @{$d->{findings}}'; }

# RDIT's case study: the main thread waits for the others in a call that was not recorded
# (isAlive); without it four false races, with it the one that is.
cat >account.txt <<'T'
T0|w(total)=0|3
T0|w(a1)=0|4
T0|w(a2)=0|4
T0|fork(T1)|5
T0|fork(T2)|6
T1|begin()|
T1|w(a1)=100|14
T1|r(total)=0|15
T1|w(total)=100|15
T1|end()|
T2|begin()|
T2|w(a2)=200|14
T2|r(total)=100|15
T2|w(total)=300|15
T2|end()|
T0|miss(isAlive,T1)|11
T0|back(isAlive)|11
T0|miss(isAlive,T2)|11
T0|back(isAlive)|11
T0|r(a1)=100|17
T0|r(a2)=200|17
T0|r(total)=300|19
T
run "$HEDDLE" races account.txt --analysis smt --pairs events --format json
is "$(pairs)" "6-19 8-12 8-21 11-20 13-21" "the missing call left out: false races"
run "$HEDDLE" races account.txt --analysis rdit --pairs events --format json
is "$status" 1 "rdit: found"
is "$(pairs)" "8-12" "rdit: the true race only"
is "$(json '$d->{analysis} . " " . $d->{findings}[0]{verdict}')" "rdit race" "with a witness"
run "$HEDDLE" races account.txt --missing --pairs events --format json
is "$(pairs)" "8-12" "--missing does so for any analysis: auto"
run "$HEDDLE" races account.txt --analysis hb --missing --pairs events --format json
unlike "$(pairs)" "6-19" "and for happens-before"

run "$HEDDLE" explain account.txt 6 19
like "$out" "they race" "explain: without the call they race"
run "$HEDDLE" explain account.txt 6 19 --missing
like "$out" "before T0's unrecorded call isAlive at 11: code that was not recorded may touch the same" \
	"explain --missing: the barrier pair orders them"
like "$out" "they cannot race" "and they cannot race"
like "$out" "may touch the same \(T1\)" "by what both may touch: T1's end"
run "$HEDDLE" explain account.txt 6 19 --missing --story
like "$out" "code that was not recorded:" "in words: what kept them apart"
like "$out" "cannot happen" "and that it cannot happen"
run "$HEDDLE" explain account.txt 8 12 --missing --story
like "$out" "8 12 --missing -o race.wit" "what stays a race is told with its witness"
run "$HEDDLE" explain account.txt 8 12 --missing
like "$out" "heddle witness account.txt 8 12 --missing" "what stays a race, and its witness"
run "$HEDDLE" explain account.txt 6 19 --missing --order edc
is "$status" 2 "not with EDC"

# Overlapping calls order all their events; an ordinary access lies before or after.
cat >overlap.txt <<'T'
T1|miss(a,x)|1
T1|w(y)|2
T2|miss(d,x)|3
T2|w(y)|4
T1|back(a)|5
T2|back(d)|6
T3|r(x)|7
T3|w(z)|8
T1|w(z)|9
T
run "$HEDDLE" races overlap.txt --analysis rdit --pairs events --format json
is "$(pairs)" "7-8" "what is inside of two calls with a common address is ordered"
sed 's/miss(d,x)/miss(d,v)/' overlap.txt >apart.txt
run "$HEDDLE" races apart.txt --analysis rdit --pairs events --format json
is "$(pairs)" "1-3 7-8" "without a common address it is not"

# An address reaches its parts.
cat >part.txt <<'T'
T1|w(y)|1
T1|miss(m,p)|2
T1|back(m)|3
T2|r(p.next)|4
T2|w(y)|5
T
run "$HEDDLE" races part.txt --analysis rdit
is "$status" 0 "p reaches p.next"
sed 's/p.next/pnext/' part.txt >other.txt
run "$HEDDLE" races other.txt --analysis rdit
is "$status" 1 "but not pnext"

# Locks on an address count as accesses to it; a call that never came back lasts.
cat >lock.txt <<'T'
T1|w(y)|1
T1|miss(m,l)|2
T2|acq(l)|3
T2|w(y)|4
T2|rel(l)|5
T
run "$HEDDLE" races lock.txt --analysis rdit
is "$status" 0 "an acquire of l is an access to l"

# The checker knows these orders too.
run "$HEDDLE" races account.txt --missing --pairs events --format json
is "$(json 'join " ", @{$d->{findings}[0]{witness}}[-2, -1]')" "8 12" "the witness ends with the pair"

# The thesis's table 5.3: traces without their synchronisation, by the bench that makes the table.
for name in account bubblesort clean critical-small lang readerswriters twostage; do
	traces="${traces-} $root/tests/traces/$name.std"
done
table=$("$root/tests/bench/rdit_table.pl" $traces)
read -r true hb hb_false rdit rdit_false < <(awk -F' *[|] *' '$2 == "all" { print $3, $5, $6, $11, $12 }' <<<"$table")
is "$rdit_false" 0 "RDIT has no false race on traces without their synchronisation"
ok $((rdit * 4 < true * 3)) "and three quarters of the true ones ($rdit of $true)"
ok $((hb_false == 0)) "happens-before has ($hb_false of $hb)" || sed 's/^/# /' <<<"$table"
done_testing
