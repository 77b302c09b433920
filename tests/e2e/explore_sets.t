#!/bin/bash
# heddle explore: programs whose outcomes are known by hand, each of another kind of operation: every
# outcome is reached, and no other; or the report says that it is not complete, and why.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs/sets
cd "$scratch" || exit 1

for file in "$programs"/*.c "$programs"/*.cc; do
	name=$(basename "${file%.*}")
	compile=cc standard=
	[ "${file##*.}" = cc ] && compile=c++ standard=-std=c++20
	wanted=$(sed -n '1s/.*outcomes: //p' "$file")
	open=$(sed -n '2s/.*open: //p' "$file")
	run "$HEDDLE" $compile -w -g -O1 $standard "$file" -o "$name" -pthread
	run timeout 200 "$HEDDLE" explore --budget 100 --format json -- "./$name"
	seen=$(json 'my %e; $e{$_->{end} =~ /^exit/ ? $_->{status} : $_->{end}}++ for @{$d->{runs}}; join " ", sort keys %e')
	if [ -n "$open" ]; then
		like "$(json '$d->{complete} ? "complete" : join " | ", @{$d->{gaps}}')" "$open" "$name: not complete, with the reason"
		is "$(tr ' |' '\n\n' <<<"$seen" | grep -vxF "$(tr ' |' '\n\n' <<<"$wanted")")" "" "$name: no outcome that it does not have"
	else
		is "$seen $(json '$d->{complete} ? "complete" : "open"')" "$(tr ' ' '\n' <<<"$wanted" | sort | tr '\n' ' ')complete" "$name: all outcomes and no other"
	fi
done
done_testing
