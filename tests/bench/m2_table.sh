#!/bin/bash
# m2_table.sh - M2 on traces of the sizes of its paper (Pavlogiannis, POPL 2020, table 1): as many
# events, threads, locks and variables, made by tests/support/generate.h, one after the other and
# none of them on the disk. No part of `make check`.
#
#   tests/bench/m2_table.sh [NAME...]     (default: all; the last needs 13 GB of memory)
#
# A line each: events, seconds of the processor (the analysis, with the trace and its index at
# hand), million events a second, peak in MB, pairs of sites found (+: some were left without a
# verdict in the budget), and the seconds that the paper has for the trace of that name.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bench=$root/build/tests/bench/bench_orders
[ -x "$bench" ] || { echo "m2_table.sh: make benches first" >&2; exit 2; }
# name, events, threads, locks, variables, the paper's seconds
sizes='array 44 2 2 30 0.12
critical 49 3 0 30 0.10
airtickets 116 2 0 46 0.12
account 125 3 3 41 0.10
pingpong 126 4 0 54 0.09
bbuffer 322 2 2 73 0.09
mergesort 3000 4 3 621 0.18
bubblesort 4000 10 3 196 0.71
raytracer 16000 2 8 3000 0.23
ftpserver 48000 10 304 5000 0.88
moldyn 164000 2 2 1000 1.08
derby 1000000 3 1000 185000 7.84
jigsaw 3000000 13 280 103000 14.65
bufwriter 11000000 5 1 56 57.37
hsqldb 18000000 43 412 946000 421
cryptorsa 57000000 7 8000 1000000 366
eclipse 86000000 14 8000 10000000 2723
xalan 122000000 6 2000 4000000 435
lusearch 216000000 7 118 5000000 489'

echo "| trace | events | s | M events/s | peak MB | pairs found | the paper's s |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
while read -r name events threads locks variables paper; do
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	# The generator needs a lock.
	BENCH_ONLY=m2 BENCH_RUNS=1 "$bench" "$events" "$threads" "$((locks > 0 ? locks : 1))" \
		"$variables" </dev/null | awk -v name="$name" -v events="$events" -v paper="$paper" '
		$1 == "m2" { sub(",", " +", $6); printf "| %s | %d | %s | %s | %s | %s | %s |\n", name, events, $2, $3, $5, $6, paper }'
done <<<"$sizes"
