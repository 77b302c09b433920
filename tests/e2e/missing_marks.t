#!/bin/bash
# Races that calls into code that is not instrumented may order are candidates, which name the calls.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
make -s -C "$root/samples/courier" HEDDLE="$HEDDLE" OUT="$scratch" || exit 1
run "$HEDDLE" record -q -o courier.hdl -- ./courier
run "$HEDDLE" races courier.hdl --format json
is "$(json 'join " ", sort map { "$_->{variable}:$_->{verdict}" } @{$d->{findings}}')" \
	"letter#2->text:candidate stamps:race" "what the library hands over is a candidate, the counter a race"
is "$(json 'join " ", map { $_->{missing} ? 1 : 0 } sort { $a->{variable} cmp $b->{variable} } @{$d->{findings}}')" \
	"1 0" "the candidate alone names what may order it"
like "$(json 'join " ", map { $_->{missing} // () } @{$d->{findings}}')" \
	"only if .*libparcels.so .* and .*libparcels.so .*, which may both touch .*, do not synchronise$" "the two calls"
run "$HEDDLE" races courier.hdl
like "$out" "^candidate: data-race +on letter" "as text, too"
like "$out" "a race only if .*libparcels" "with the calls"
like "$out" "1 of these are candidates" "and the report says how many"
run "$HEDDLE" races courier.hdl --missing --format json
is "$(json 'join " ", map { "$_->{variable}:$_->{verdict}" } @{$d->{findings}}')" "stamps:race" "--missing leaves them out"

# A program that calls the C library alone has no such candidates.
"$HEDDLE" cc -O1 "$root/tests/e2e/programs/race.c" -o race -pthread
run "$HEDDLE" record -q -o race.hdl -- ./race
run "$HEDDLE" races race.hdl --format json
is "$(json 'scalar grep { $_->{verdict} ne "race" || $_->{missing} } @{$d->{findings}}')" 0 \
	"ordinary calls of the C library make none"

# Invocations: T1 hands over to T2 by the library, T3 meets nobody. T2's use of the block comes after its
# hand-over, T3 frees what it was given by nobody.
cat >calls.txt <<'T'
#! heddle 1
#! note recording-missing 2
#! object o dict
main|fork(T1)|1
main|fork(T2)|2
main|fork(T3)|3
T1|act(o.put,"a",1)=nil|4
T1|miss(box_put@lib.so,*box)|5
T1|back(box_put@lib.so)|5
T2|miss(box_take@lib.so,*box)|6
T2|back(box_take@lib.so)|6
T2|act(o.put,"a",2)=1|7
T3|act(o.put,"a",3)=2|8
T
marks() { json 'join " ", map { "$_->{first},$_->{second}:$_->{verdict}:" . ($_->{missing} ? 1 : 0) } @{$d->{findings}}'; }
run "$HEDDLE" commute calls.txt --pairs events --format json
is "$(marks)" "3,8:candidate:1 3,9:candidate:0 8,9:candidate:0" "rd2: the pair that the library may order is marked, the others are not"
like "$(json '$d->{findings}[0]{missing}')" \
	"^only if box_put@lib.so \(4\) and box_take@lib.so \(6\), which may both touch \*box, do not synchronise$" "with the calls"
like "$(json 'join ";", @{$d->{notes}}')" "1 of these are candidates: .* the two are ordered" "and the report counts it"
run "$HEDDLE" commute calls.txt --pairs events --direct --format json
is "$(marks)" "3,8:candidate:1 3,9:candidate:0 8,9:candidate:0" "rd2 --direct: the same"
run "$HEDDLE" commute calls.txt --analysis edc --pairs events --format json
is "$(marks)" "3,8:candidate:1 3,9:candidate:0 8,9:candidate:0" "edc: the same"
run "$HEDDLE" commute calls.txt
like "$out" "a race only if box_put@lib.so" "as text, too"
sed 's/^#! note.*//' calls.txt >unmarked.txt
run "$HEDDLE" commute unmarked.txt --pairs events --format json
is "$(marks)" "3,8:candidate:0 3,9:candidate:0 8,9:candidate:0" "in a trace whose recording had no such calls none is"

cat >uses.txt <<'T'
#! heddle 1
#! note recording-missing 2
T1|alloc(b,8)|1
T1|fork(T2)|2
T1|w(b[0])=1|3
T1|miss(box_put@lib.so,*box)|4
T1|back(box_put@lib.so)|4
T2|miss(box_take@lib.so,*box)|5
T2|back(box_take@lib.so)|5
T2|free(b)|6
T1|alloc(c,8)|7
T1|fork(T3)|8
T1|w(c[0])=1|9
T3|free(c)|10
T
run "$HEDDLE" commute uses.txt --analysis cov --pairs events --format json
is "$(marks)" "2,7:candidate:1 10,11:race:0" "cov: a use that the library keeps before the free is a candidate, another a race"
run "$HEDDLE" commute uses.txt --analysis cov
like "$out" "a use after free only if box_put@lib.so" "with the calls"
like "$out" "1 of these are candidates: .* no witness of the other order is found" "and the report counts it"
run "$HEDDLE" check uses.txt --format json
like "$out" "use-after-free" "check has both"
like "$out" "only if box_put@lib.so" "and names the calls, too"
run "$HEDDLE" atomic uses.txt
unlike "$out" "not instrumented" "atomic has no findings, and nothing to say"
cat >units.txt <<'T'
#! note recording-missing 2
#! atomic-set S x
T1|ubeg(u,S)|1
T1|r(x)|2
T2|ubeg(v,S)|4
T2|w(x)|5
T2|uend(v)|6
T1|w(x)|2
T1|uend(u)|3
T
run "$HEDDLE" atomic units.txt
is "$status" 1 "a cycle of units"
like "$out" "calls went into code that is not instrumented" "says that it does not ask"

# An atomic reads what no recorded write left: code that is not recorded uses it, too, and may order its users.
unseen() { # OLD: what T1's exchange of the flag reads
	cat >unseen.txt <<T
main|fork(T1)|a.c:1
main|fork(T2)|a.c:2
main|fork(T3)|a.c:3
T1|rmw(flag)=0>1;acq|a.c:10
T2|ar(flag)=1;rlx|a.c:20
T1|w(x)=1|a.c:11
T1|rmw(flag)=$1>0;rel|a.c:12
T1|w(y)=1|a.c:13
T3|w(y)=2|a.c:30
T2|r(x)=1|a.c:21
T
	for analysis in auto shb m2; do
		run "$HEDDLE" races unseen.txt --analysis $analysis --format json
		is "$(json 'join " ", sort map { "$_->{variable}:$_->{verdict}" . ($_->{missing} ? ":marked" : "") } @{$d->{findings}}')" \
			"$2" "$analysis: it reads $1"
	done
}
unseen 1 "x:race y:race"
unseen 2 "x:candidate:marked y:race"
run "$HEDDLE" races unseen.txt
like "$out" "a race only if the code that is not recorded and writes flag does not synchronise the two" "the atomic is named"
like "$out" "note: 1 of these are candidates: code that is not recorded wrote atomics which both threads use" "and the report counts them"

# What freed memory holds, nobody wrote to hand it over.
freed() { # LINE: that of the free
	cat >freed.txt <<'T'
main|alloc(b,8)|a.c:1
main|fork(T1)|a.c:1
main|fork(T2)|a.c:2
T1|rmw(b.flag)=0>1;acq|a.c:10
T2|ar(b.flag)=1;rlx|a.c:20
T1|w(x)=1|a.c:11
T1|rmw(b.flag)=2779096485>0;rel|a.c:12
T2|r(x)=1|a.c:21
main|free(b)|a.c:3
T
	sed -i -e "/free/d" -e "$1i main|free(b)|a.c:3" freed.txt
	run "$HEDDLE" races freed.txt --format json
	is "$(json 'join " ", sort map { $_->{verdict} } @{$d->{findings}}')" "$2" "freed before line $1"
}
freed 7 race
freed 8 candidate
done_testing
