#!/bin/bash
# A pair that only the read of a racy flag keeps apart is impossible, and the flag is named.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >flag.txt <<'T'
#! heddle 1
T1|w(x)=1|a.c:1
T1|w(stop)=1|a.c:2
T2|r(stop)=1|a.c:3
T2|r(x)=1|a.c:4
T
told="only while stop \(itself racing\) is read as 1, by T2 at a.c:3: repair that first, or look behind it"
run "$HEDDLE" races flag.txt --verdicts all
like "$out" "$told" "in the list of all verdicts"
run "$HEDDLE" races flag.txt --verdicts all --format json
is "$(json 'join " ", map { "$_->{read} $_->{write} $_->{variable} $_->{location}" } @{$d->{findings}[0]{behind}}')" "2 1 stop a.c:3" "as a field"
is "$(json 'exists $d->{findings}[1]{behind} ? "some" : "none"')" none "of the flag itself nothing"
run "$HEDDLE" witness flag.txt 0 3
like "$out" "$told" "by witness"
run "$HEDDLE" explain flag.txt 0 3
like "$out" "$told" "by explain"
run "$HEDDLE" explain flag.txt 0 3 --format json
like "$out" '"behind"' "in its JSON"
# a flag under a lock does not race: nothing hides behind it
cat >locked.txt <<'T'
#! heddle 1
T1|w(x)=1|1
T1|acq(l)|2
T1|w(stop)=1|3
T1|rel(l)|4
T2|acq(l)|5
T2|r(stop)=1|6
T2|rel(l)|7
T2|r(x)=1|8
T
run "$HEDDLE" witness locked.txt 0 7
like "$out" "impossible" "impossible, too"
unlike "$out" "itself racing" "without a racy flag"
done_testing
