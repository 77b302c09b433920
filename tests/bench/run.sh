#!/bin/sh
# Run every benchmark of a build folder.  Usage: tests/bench/run.sh BUILD
set -eu
for b in "$1"/tests/bench/bench_*; do
	case $b in *.[od]) continue ;; esac
	echo "== ${b##*/}"
	"$b"
done
