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
# complete says of what: what reads see, of which share of the pairs, in which run
run "$HEDDLE" races flag.txt
like "$out" "complete: in all reorderings of this run in which every read sees what it saw, no other data race$" "all of it"
run "$HEDDLE" races flag.txt --values
like "$out" "every read sees the value that it saw, no other data race$" "with --values"
run "$HEDDLE" races flag.txt --shard 1/2
like "$out" "complete for share 1/2 of the pairs: in all .* among these pairs$" "a share's report speaks of its share"
for i in 1 2; do "$HEDDLE" races flag.txt --values --shard $i/2 --format json >"v$i.json"; done
run "$HEDDLE" merge v1.json v2.json --format text
like "$out" "complete: in all reorderings of this run in which every read sees the value that it saw, no other" "the shares together"
# the flag's race and the pair behind it in different shards: the read is in the shard's report, merge joins them
for n in 2 3 4 5; do
	for i in $(seq "$n"); do
		"$HEDDLE" races flag.txt --verdicts all --shard "$i/$n" --format json >"s$i.json"
	done
	"$HEDDLE" races flag.txt --verdicts all --format json >whole.json
	"$HEDDLE" merge $(seq -f s%g.json "$n") --format json >joined.json
	cmp -s joined.json whole.json
	ok $? "of $n shards: to the byte the whole, flag and all"
	apart=$(grep -L '"behind"' $(grep -l '"reads"' $(seq -f s%g.json "$n")))
	[ -n "$apart" ] && split=$n
done
is "${split:+yes}" yes "in some cut the two were apart"
run "$HEDDLE" merge $(seq -f s%g.json 5) --format text
like "$out" "$told" "as text"
cat >units.txt <<'T'
#! atomic-set S x
T1|ubeg(u,S)|1
T1|w(x)|2
T1|uend(u)|3
T2|ubeg(v,S)|4
T2|w(x)|5
T2|uend(v)|6
T
run "$HEDDLE" atomic units.txt
like "$out" "complete: in this run, no violation by these units of work$" "atomic: of the run"
run "$HEDDLE" atomic --predict units.txt
like "$out" "complete: in all reorderings of this run .*, no violation by these units of work$" "with --predict: of all"
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
