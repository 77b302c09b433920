#!/bin/bash
# The cost of threads that live one after the other (docs/benchmarks-scale.md, "Many short threads"):
# processor time and memory of each analysis.  Usage: tests/bench/threads.sh [HEDDLE]
#
# chain N: main forks a thread, joins it, forks the next: N threads, five writes each.
# service N: eight are alive at a time, each takes a lock, counts, and writes one thing
# without it; main joins the oldest before it forks the next.
set -u
heddle=${1:-./heddle}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chain() {
	awk -v n="$1" 'BEGIN { for (k = 1; k <= n; k++) {
		printf "T0|fork(T%d)|1\n", k
		for (i = 0; i < 5; i++) printf "T%d|w(v%d)|%d\n", k, i, 2 + i
		printf "T0|join(T%d)|9\n", k } }'
}
service() {
	awk -v n="$1" 'BEGIN { for (k = 1; k <= n + 8; k++) {
		if (k <= n) printf "T0|fork(T%d)|1\n", k
		w = k - 4
		if (w >= 1 && w <= n) {
			printf "T%d|acq(l)|2\nT%d|r(count)|3\nT%d|w(count)|4\nT%d|rel(l)|5\n", w, w, w, w
			if (w % 97 == 0) printf "T%d|w(last)|6\n", w
			printf "T%d|w(slot%d)|7\n", w, w % 64
		}
		if (k > 8) printf "T0|join(T%d)|8\n", k - 8 } }'
}
printf '%-10s %8s %8s   %-10s %8s %10s\n' shape threads events analysis seconds MB
for shape in chain service; do
	for n in ${THREADS:-2858 11429 60000}; do
		$shape "$n" >"$folder/t.txt"
		"$heddle" convert -q "$folder/t.txt" "$folder/t.hdl"
		for a in hb shb wcp cp dc wdc syncp m2 auto deadlocks; do
			command=(races --analysis "$a")
			[ $a = deadlocks ] && command=(deadlocks)
			measured=$({ /usr/bin/time -f '%U %S %M' timeout "${LIMIT:-600}" "$heddle" "${command[@]}" -q "$folder/t.hdl" >/dev/null; } 2>&1 | tail -n 1)
			read -r user system kilobytes <<<"$measured"
			printf '%-10s %8d %8d   %-10s %8.2f %10.0f\n' "$shape" "$n" "$(wc -l <"$folder/t.txt")" "$a" \
				"$(awk "BEGIN { print $user + $system }")" "$(awk "BEGIN { print $kilobytes / 1024 }")"
		done
	done
done
