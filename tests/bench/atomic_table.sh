#!/bin/sh
# The table of docs/benchmarks-papers.md: samples with the paper's bug patterns, six recordings each
# with and without noise.  Run from the tree, after `make all benches`.
# usage: tests/bench/atomic_table.sh [NAME=TRACE[,TRACE...]...]   (more rows: other recordings)
#        tests/bench/atomic_table.sh --slowdown
# The second is the paper's slowdown: processor seconds of recording and `heddle atomic`, beside
# the plain program's, and ThreadSanitizer's beside it; of the samples, and of stress programs of GLib's
# hash table and the C++ library's queue (ROUNDS each, default 20000).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Processor seconds of a run: mean of RUNS runs (default: 10 of a sample, 3 of a stress program).
took() { # RUNS COMMAND...
	runs=$1
	shift
	timeout 600 perf stat -r "$runs" -x, -e task-clock -o "$work/time" "$@" >/dev/null 2>&1 </dev/null || true
	awk -F, '/task-clock/ { print $1 / 1000 }' "$work/time"
}
slowdown() { # NAME RUNS ARGUMENT COMPILER SOURCE FLAGS...
	name=$1 runs=$2 argument=$3 compiler=$4
	shift 4
	case $compiler in gcc) wrapped=cc ;; *) wrapped=c++ ;; esac
	flags="-g -O1 -fno-inline -fno-optimize-sibling-calls -w"
	$compiler $flags "$@" -o "$work/plain" -pthread
	$compiler $flags -fsanitize=thread "$@" -o "$work/tsan" -pthread
	./heddle $wrapped $flags "$@" -o "$work/heddle" -pthread
	plain=$(took "$runs" "$work/plain" $argument)
	tsan=$(TSAN_OPTIONS=exitcode=0 took "$runs" setarch -R "$work/tsan" $argument)
	record=$(took "$runs" ./heddle record -q -o "$work/t.hdl" -- "$work/heddle" $argument)
	atomic=$(took "$runs" ./heddle atomic -q "$work/t.hdl")
	events=$(./heddle info -q "$work/t.hdl" | awk '$1 == "events" { print $2; exit }')
	awk -v name="$name" -v events="$events" -v p="$plain" -v t="$tsan" -v r="$record" -v a="$atomic" \
		'BEGIN { least = p > 0.0005 ? p : 0.0005; printf "| %s | %d | %.4f | %.3f | %.3f + %.3f | %.1f | %.1f | %.1f |\n",
			name, events, p, t, r, a, t / least, (r + a) / least, (r + a) / t }'
}
if [ "${1-}" = --slowdown ]; then
	echo "| program | events | plain, s | ThreadSanitizer, s | record + atomic, s | ThreadSanitizer, times | Heddle, times | times ThreadSanitizer |"
	echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
	rounds=${ROUNDS:-20000}
	for folder in samples/*/; do
		grep -qs '^atomic' "$folder/expect" || continue
		slowdown "$(basename "$folder")" "${RUNS:-10}" "" gcc "$(ls "$folder"*.c | grep -v fixed.c)"
	done
	slowdown "GLib's hash table" "${RUNS:-3}" "$rounds" gcc tests/bench/table2/cache.c \
		$(pkg-config --cflags --libs glib-2.0)
	slowdown "C++ queue" "${RUNS:-3}" "$rounds" g++ tests/bench/programs/queue-threads.cc
	exit
fi
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
