#!/bin/sh
# The table of docs/atomicity.md: samples with the paper's bug patterns, six recordings each
# with and without noise.  Run from the tree, after `make all benches`.
# usage: tests/bench/atomic_table.sh [NAME=TRACE[,TRACE...]...]   (more rows: other recordings)
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set -- "$@" # rows
for folder in samples/*/; do
	name=$(basename "$folder")
	grep -qs '^atomic' "$folder/expect" || continue
	./heddle cc -g -O1 -fno-inline -fno-optimize-sibling-calls \
		"$(ls "$folder"*.c | grep -v fixed.c)" -o "$work/$name" -pthread
	for strategy in random noise; do
		traces=
		for seed in 1 2 3 4 5 6; do
			trace=$work/$name-$strategy-$seed.hdl
			./heddle record -q --seed $seed --strategy $strategy -o "$trace" \
				-- "$work/$name" >/dev/null </dev/null || true
			traces=$traces${traces:+,}$trace
		done
		label=$name
		[ $strategy = random ] || label="$name + $strategy"
		set -- "$@" "$label=$traces"
	done
done
build/tests/bench/bench_atomic_table "$@"
