#!/bin/sh
# The table of docs/benchmarks.md, "Many machines", and docs/cluster.svg, measured anew: some ten minutes.
#     tests/bench/cluster.sh ./heddle
set -eu
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
perl tests/bench/cluster.pl "${1:-./heddle}" "$rows"
awk -v title="Speed-up by many nodes, from measured times of the jobs" -v xlabel="nodes" \
	-v ylabel="times faster than one processor" \
	-v names="as many as nodes,shake (5120 runs),explore (5040 classes),races (ftpserver.std)" \
	-f tests/bench/plot.awk "$rows" >docs/cluster.svg
