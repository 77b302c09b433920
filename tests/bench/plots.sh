#!/bin/sh
# The plots of docs/benchmarks-analyses.md, measured anew.  Usage: tests/bench/plots.sh BUILD
#
# Rows of the benchmarks' tables, without their bars, are what plot.awk reads.
set -eu
rows() { sed -n 's/^| *\([0-9]\)/\1/p' "$1" | sed 's/|/ /g; s/,//g'; }
table=$(mktemp)
trap 'rm -f "$table"' EXIT

"$1/tests/bench/bench_rd2" | tee "$table"
rows "$table" | awk -v title="Commutativity races: time for an invocation" \
	-v xlabel="invocations in the trace" -v ylabel="nanoseconds an invocation" \
	-v names="by access points (RD2),directly (each with every earlier one)" \
	-f tests/bench/plot.awk >docs/rd2.svg

"$1/tests/bench/bench_edc" | tee "$table"
rows "$table" | awk '{ print $1, $2, $3 }' | awk -v title="EDC: time for an event" \
	-v xlabel="events in the trace" -v ylabel="nanoseconds an event" \
	-v names="critical sections in a table,in four words a location (--bounded)" \
	-f tests/bench/plot.awk >docs/edc-time.svg
rows "$table" | awk '{ print $1, $4, $5 }' | awk -v title="EDC: memory" \
	-v xlabel="events in the trace" -v ylabel="megabytes" \
	-v names="critical sections in a table,in four words a location (--bounded)" \
	-f tests/bench/plot.awk >docs/edc-memory.svg
