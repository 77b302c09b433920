#!/bin/bash
# heddle explore --memory: litmus tests as real programs, tests/e2e/programs/litmus/*.c, each under
# the three models: the outcome in question comes about exactly where the test's second line allows it.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs/litmus
cd "$scratch" || exit 1

for file in "$programs"/*.c; do
	name=$(basename "$file" .c)
	allowed=$(sed -n '2s/.*allowed:\(.*\)\*\/$/\1/p' "$file")
	[ -n "$allowed" ] || continue # no litmus test
	run "$HEDDLE" cc -g -O1 "$file" -o "$name" -pthread
	if [ "$status" != 0 ]; then
		ok 1 "$name: is compiled"
		continue
	fi
	for model in sc tso rc11; do
		run "$HEDDLE" explore --budget 100 --memory "$model" --format json -- "./$name"
		found="$status $(json '$d->{complete} ? "complete" : "incomplete"')"
		found="$found $(json 'join ",", map { "$_->{kind} $_->{status}" } @{$d->{errors}}')"
		case " $allowed " in
		*" $model "*) is "$found" "1 complete exit-status 1" "$name: under $model it can happen" ;;
		*) is "$found" "0 complete " "$name: under $model it cannot" ;;
		esac
	done
done
done_testing
