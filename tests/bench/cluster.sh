#!/bin/sh
# The table of docs/benchmarks-scale.md, "Many machines", and docs/cluster.svg, measured anew: some ten minutes, more under load: the times are the processor's.
#     tests/bench/cluster.sh ./heddle
set -eu
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
perl tests/bench/cluster.pl "${1:-./heddle}" "$rows"
awk -v title="Speed-up by many nodes, from measured times of the jobs" -v xlabel="nodes" \
	-v ylabel="times faster than one processor" \
	-v names="as many as nodes,explore (5040 classes),explore (720 classes),shake (5120 runs)" \
	-f tests/bench/plot.awk "$rows" >docs/cluster.svg
