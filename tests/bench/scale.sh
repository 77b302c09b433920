#!/bin/bash
# How the races analyses grow with threads, variables and locks (docs/benchmarks-scale.md, "Many
# threads at once"): processor time and memory.  Usage: tests/bench/scale.sh [HEDDLE]
#
# raced N: N threads, 200,000 variables, each written by two of the threads: all race.
# observed EVENTS: 200 threads in a ring, each reads what the one before it has written.
# service EVENTS: 500 threads, 100,000 locks, 1,000,000 variables, few of them raced.
set -u
heddle=${1:-./heddle}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
raced() {
	awk -v n="$1" 'BEGIN { for (i = 1; i < n; i++) printf "T0|fork(T%d)|1\n", i
		for (v = 0; v < 200000; v++)
			printf "T%d|w(v%d)|2\nT%d|w(v%d)|3\n", 1 + v % (n - 1), v, 1 + (v + 1) % (n - 1), v }'
}
observed() {
	awk -v ev="$1" 'BEGIN { for (i = 1; i < 200; i++) printf "T0|fork(T%d)|1\n", i
		for (k = 0; k < ev / 2; k++) {
			if (k) printf "T%d|r(x%d)|2\n", 1 + k % 199, (k - 1) % 1000
			printf "T%d|w(x%d)|3\n", 1 + k % 199, k % 1000 } }'
}
service() {
	awk -v ev="$1" 'function under(n) { return int(rand() * n) }
	function guarded() { return int(100000 * rand() ^ 3) * 3 + under(3) }
	function op() { return rand() < 0.3 ? "w" : "r" }
	BEGIN { srand(7)
		for (c = 1; c < 500; c++) printf "T0|fork(T%d)|1\n", c
		while (c < ev) {
			t = 1 + under(499)
			if (rand() < 0.3) {
				l = int(100000 * rand() ^ 3)
				printf "T%d|acq(L%d)|%d\n", t, l, 100 + l % 2000
				for (k = under(8); k >= 0; k--) {
					printf "T%d|%s(G%d)|%d\n", t, op(), l * 3 + under(3), 3000 + l % 2000
					c++ }
				printf "T%d|rel(L%d)|%d\n", t, l, 100 + l % 2000
				c += 2
			} else for (k = under(8); k >= 0; k--) {
				x = rand(); c++
				if (x < 0.7) printf "T%d|%s(M%d_%d)|%d\n", t, op(), t, under(667), 6000 + under(1000)
				else if (x < 0.9995) printf "T%d|r(R%d)|%d\n", t, under(333333), 8000 + under(1000)
				else { g = guarded(); printf "T%d|%s(G%d)|%d\n", t, op(), g, 10000 + g % 2000 } } } }'
}
printf '%-10s %9s   %-8s %8s %8s %9s\n' shape size analysis seconds MB findings
measure() { # SHAPE SIZE ANALYSES...
	local shape=$1 size=$2 a user system kilobytes
	shift 2
	"$shape" "$size" >"$folder/t.txt"
	"$heddle" convert -q "$folder/t.txt" "$folder/t.hdl"
	for a in "$@"; do
		/usr/bin/time -o "$folder/time" -f '%U %S %M' timeout "${LIMIT:-600}" \
			"$heddle" races --analysis "$a" -q "$folder/t.hdl" >"$folder/out" 2>&1
		read -r user system kilobytes < <(tail -n 1 "$folder/time")
		printf '%-10s %9d   %-8s %8.2f %8.0f %9s\n' "$shape" "$size" "$a" \
			"$(awk "BEGIN { print $user + $system }")" "$(awk "BEGIN { print $kilobytes / 1024 }")" \
			"$(sed -n 's/.*: \([0-9]*\) findings\{0,1\} by.*/\1/p' "$folder/out")"
	done
}
for n in 8 64 512; do measure raced $n hb shb wcp; done
for n in 250000 1000000; do measure observed $n hb shb wcp; done
for n in 250000 1000000; do measure service $n hb shb wcp syncp m2; done
