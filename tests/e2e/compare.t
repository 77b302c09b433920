#!/bin/bash
# `heddle compare`: a table of findings by analysis.
. tests/e2e/lib.sh

run "$HEDDLE" compare tests/traces/mergesort.std --format json
is "$status" 1 "findings are found"
is "$(json 'join " ", map { $_->{analysis} } @{$d->{analyses}}')" \
	"lockset hb shb wcp dc wdc syncp m2" "the columns"
is "$(json 'join " ", sort keys %{$d->{findings}[0]{analyses}}')" lockset "only who reports it is named"
is "$(json 'scalar grep { ($_->{analyses}{shb} // "") eq "race" } @{$d->{findings}}')" 1 "SHB: one pair of sites, a race"
is "$(json 'scalar grep { ($_->{analyses}{hb} // "") eq "candidate" } @{$d->{findings}}')" \
	"$(json '(grep { $_->{analysis} eq "hb" } @{$d->{analyses}})[0]{found}')" "the sum is that of the column"
is "$(json 'scalar grep { $_->{analyses}{syncp} && !$_->{analyses}{lockset} } @{$d->{findings}}')" 0 "lockset misses no race"

run "$HEDDLE" compare tests/traces/mergesort.std --analyses shb,cp
like "$out" "pair of places +shb +cp  variable" "columns can be chosen"
like "$out" "race +cand." "a race has a witness, a candidate has none"

printf 'T1|w(x)|1\nT1|r(x)|2\n' >"$scratch/one.txt"
run "$HEDDLE" compare "$scratch/one.txt"
is "$status" 0 "nothing found"
run "$HEDDLE" compare "$scratch/one.txt" --analyses hb,strange
is "$status" 2 "an unknown analysis is refused"
like "$err" "found 'strange'" "by its name"
done_testing
