#!/bin/bash
# How each command grows with threads, locks and racy variables (docs/benchmarks-scale.md, "Growth"):
# processor seconds and memory.  Usage: tests/bench/growth.sh [HEDDLE]
#
# joined N: eight of N threads alive at a time, main joins the oldest before it forks the next.
# detached N: the same, never joined.
# racing N: N threads, never joined, each writes one variable without a lock.
# locks N: N locks, eight threads, two accesses under each, one in ten nested.
# raced N: 2 N variables, each written by two of eight threads without a lock.
# SIZES, SHAPES and COMMANDS (of those below) choose some; LIMIT: seconds of each command.
set -u
heddle=${1:-./heddle}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
service() {
	awk -v n="$1" -v detached="$2" 'BEGIN { for (k = 1; k <= n + 8; k++) {
		if (k <= n) printf "T0|fork(T%d)|1\n", k
		w = k - 4
		if (w >= 1 && w <= n) {
			printf "T%d|acq(l)|2\nT%d|r(count)|3\nT%d|w(count)|4\nT%d|rel(l)|5\n", w, w, w, w
			if (w % 97 == 0) printf "T%d|w(last)|6\n", w
			printf "T%d|w(slot%d)|7\n", w, detached ? w : w % 64
			if (detached) printf "T%d|end()|8\n", w
		}
		if (k > 8 && !detached) printf "T0|join(T%d)|9\n", k - 8 } }'
}
joined() { service "$1" 0; }
detached() { service "$1" 1; }
racing() {
	awk -v n="$1" 'BEGIN { for (k = 1; k <= n; k++)
		printf "T0|fork(T%d)|1\nT%d|w(x)|%d\n", k, k, 2 + k % 3 }'
}
locks() {
	awk -v n="$1" 'BEGIN { for (k = 1; k < 8; k++) printf "T0|fork(T%d)|1\n", k
		for (r = 0; r < 2; r++) for (k = 0; k < n; k++) {
			t = 1 + (k + r) % 7
			printf "T%d|acq(l%d)|2\nT%d|w(v%d)|3\n", t, k, t, k
			if (k % 10 == 0) printf "T%d|acq(l%d)|6\nT%d|rel(l%d)|7\n", t, (k + 1) % n, t, (k + 1) % n
			printf "T%d|rel(l%d)|4\n", t, k
			if (k % 1000 == 0) printf "T%d|w(u%d)|5\n", t, k % 5000 } }'
}
raced() {
	awk -v n="$1" 'BEGIN { for (i = 1; i < 8; i++) printf "T0|fork(T%d)|1\n", i
		for (v = 0; v < 2 * n; v++)
			printf "T%d|w(v%d)|2\nT%d|w(v%d)|3\n", 1 + v % 7, v, 1 + (v + 1) % 7, v }'
}
all='lockset hb shb wcp dc wdc syncp m2 rdit auto cp deadlocks atomic rd2 cov edc explain filter info'
printf '%-9s %7s  %-10s %8s %7s  %s\n' shape size command seconds MB status
for shape in ${SHAPES:-joined detached racing locks raced}; do
	for n in ${SIZES:-1000 10000 100000}; do
		$shape "$n" >"$folder/t.txt"
		"$heddle" convert -q "$folder/t.txt" "$folder/t.hdl"
		events=$(wc -l <"$folder/t.txt")
		for c in ${COMMANDS:-$all}; do
			case $c in
			deadlocks | atomic | info) command=("$c" "$folder/t.hdl") ;;
			rd2 | cov | edc) command=(commute --analysis "$c" "$folder/t.hdl") ;;
			explain) command=(explain "$folder/t.hdl" 5 $((events - 9))) ;;
			filter) command=(filter -o "$folder/out.hdl" "$folder/t.hdl") ;;
			*) command=(races --analysis "$c" "$folder/t.hdl") ;;
			esac
			# memory is bounded, too: what grows with the square is ended before the machine is
			/usr/bin/time -o "$folder/time" -f '%U %S %M' bash -c 'ulimit -v 5000000; exec timeout "$@"' \
				- "${LIMIT:-60}" "$heddle" "${command[@]}" -q >/dev/null 2>&1
			status=$?
			read -r user system kilobytes < <(tail -n 1 "$folder/time")
			printf '%-9s %7d  %-10s %8.2f %7d  %d\n' "$shape" "$n" "$c" \
				"$(awk "BEGIN { print $user + $system }")" $((kilobytes / 1024)) $status
		done
	done
done
