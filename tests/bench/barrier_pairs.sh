#!/bin/bash
# barrier_pairs.sh - RDIT's table 5.4: what it costs to record the calls into code that is not
# instrumented (barrier pairs, with what they may reach): `heddle record` beside `heddle record
# --no-missing`, in turns. No part of `make check`.
#
#   tests/bench/barrier_pairs.sh [-n NAME] -- PROGRAM ARGS...      a row of the table
#
#   RUNS   of each (default: 5)
#
# Medians of the processor's time (user and system) from the command to the trace, its events and
# bytes, and how many calls were recorded.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
HEDDLE=${HEDDLE:-$root/heddle}
name=
[ "${1-}" = -n ] && name=$2 && shift 2
[ "${1-}" = -- ] && shift
[ $# -gt 0 ] || { echo "usage: $0 [-n NAME] -- PROGRAM ARGS..." >&2; exit 2; }
name=${name:-$(basename "$1")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

once() { # WAY OPTIONS...: seconds to the file WAY
	local way=$1
	shift
	/usr/bin/time -a -o "$work/$way" -f "%U %S" \
		"$HEDDLE" record -q --seed 1 "$@" -o "$work/$way.hdl" -- "${program[@]}" >/dev/null 2>&1
}
seconds() { awk '$2 ~ /^[0-9.]+$/ { print $1 + $2 }' "$work/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
of_trace() { "$HEDDLE" info -q "$work/$1.hdl" | awk -v what="$2" '$1 == what { print $2; exit }'; }

program=("$@")
for _ in $(seq "${RUNS:-5}"); do
	once with
	once without --no-missing
done
awk -v name="$name" -v a="$(seconds without)" -v b="$(seconds with)" \
	-v events="$(of_trace without events)" -v more="$(of_trace with events)" \
	-v bytes="$(stat -c %s "$work/without.hdl")" -v longer="$(stat -c %s "$work/with.hdl")" \
	-v calls="$(of_trace with miss)" 'BEGIN {
	printf "| %s | %.2f | %.2f (%+.0f %%) | %d | %d | %.1f | %.1f | %d |\n", name, a, b, 100 * (b / a - 1),
		events, more, bytes / 1e6, longer / 1e6, calls
}'
