#!/bin/bash
# live.sh - what `heddle record --live` costs, and how late it is: instructions with and without, and
# the seconds from the program's word that its race has happened to the race on the terminal, for
# runs of several lengths. No part of `make check`.
#
#   tests/bench/live.sh [ROUNDS...]     (default: 20000 40000 80000 160000; 243 events each)
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
HEDDLE=${HEDDLE:-$root/heddle}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
[ $# -gt 0 ] || set -- 20000 40000 80000 160000
"$HEDDLE" cc -O1 -g "$root/tests/bench/programs/live.c" -o live -pthread || exit 1
instructions() { # OPTION... ROUNDS
	local rounds=${*: -1}
	perf stat -x, -e instructions:u -o counted "$HEDDLE" record "${@:1:$#-1}" -q -o t.hdl -- ./live "$rounds" \
		>/dev/null 2>&1
	awk -F, '/instructions/ { printf "%.2f", $1 / 1e9 }' counted
}
echo "| million events | record | --live | seconds late |"
echo "| ---: | ---: | ---: | ---: |"
for rounds; do
	plain=$(instructions "$rounds")
	live=$(instructions --live "$rounds")
	events=$("$HEDDLE" info -q t.hdl | awk '$1 == "events" { print $2; exit }')
	late=$("$HEDDLE" record --live -q -o t.hdl -- ./live "$rounds" 2>&1 >/dev/null |
		perl -MTime::HiRes=time -ne 'BEGIN { $| = 1 }
			/has happened/ and $at = time;
			/data-race/ && !$late and $late = time;
			END { printf "%.1f", $late > $at ? $late - $at : 0 }')
	awk -v e="$events" -v p="$plain" -v l="$live" -v d="$late" \
		'BEGIN { printf "| %.1f | %s | %s | %s |\n", e / 1e6, p, l, d }'
done
