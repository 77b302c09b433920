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
done_testing
