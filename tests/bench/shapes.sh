#!/bin/bash
# Traces of odd shapes, on which an analysis could be slow out of proportion, and every analysis
# on each (docs/benchmarks-scale.md, "Odd shapes"): seconds of the processor, MB, and how it ended; `+`:
# a budget ran out and a note says so, `time`: stopped after LIMIT seconds (60) of the processor,
# `memory`: more than MEMORY MB (4096).
# Usage: tests/bench/shapes.sh [HEDDLE [SHAPE...]]      ANALYSES="hb wcp" runs some of them
set -u
heddle=${1:-./heddle}
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
limit=${LIMIT:-60}
memory=${MEMORY:-4096}
forks() { # N
	printf 'for (i = 1; i <= %d; i++) printf "T0|fork(T%%d)|1\\n", i\n' "$1"
}
# 256 threads, 400 rounds of one barrier, each thread writes before and reads another's after it
barrier() {
	awk "BEGIN { $(forks 256)
		for (r = 0; r < 400; r++) {
			for (i = 1; i <= 256; i++) printf \"T%d|w(x%d)|2\\nT%d|arrive(b)|3\\n\", i, i, i
			for (i = 1; i <= 256; i++) printf \"T%d|depart(b)|4\\nT%d|r(y%d)|5\\n\", i, i, i } }"
}
# 256 threads count a latch down and wait for it, 400 latches
latch() {
	awk "BEGIN { $(forks 256)
		for (r = 0; r < 400; r++) {
			for (i = 1; i <= 256; i++) printf \"T%d|w(x%d)|2\\nT%d|snd(g%d)|3\\n\", i, i, i, r
			for (i = 1; i <= 256; i++) printf \"T%d|rcv(g%d)|4\\nT%d|r(y%d)|5\\n\", i, r, i, i } }"
}
# 256 threads wait for a condition, one wakes all of them, 200 rounds
broadcast() {
	awk "BEGIN { $(forks 256)
		for (r = 0; r < 200; r++) {
			for (i = 1; i <= 256; i++)
				printf \"T%d|acq(m)|2\\nT%d|wait(c)|3\\nT%d|rel(m)|3\\n\", i, i, i
			print \"T0|acq(m)|4\\nT0|w(go)|4\\nT0|broadcast(c)|4\\nT0|rel(m)|4\"
			for (i = 1; i <= 256; i++)
				printf \"T%d|wake(c)|5\\nT%d|acq(m)|5\\nT%d|r(go)|5\\nT%d|rel(m)|5\\n\", i, i, i, i } }"
}
# 500,000 units through one semaphore, from one half of 64 threads to the other
semaphore() {
	awk "BEGIN { $(forks 64)
		for (k = 0; k < 500000; k++)
			printf \"T%d|w(x%d)|2\\nT%d|post(s)|3\\nT%d|take(s)|4\\nT%d|r(x%d)|5\\n\",
				1 + k % 32, k % 1000, 1 + k % 32, 33 + k * 7 % 32, 33 + k * 7 % 32, k % 1000 }"
}
# 100,000 threads write one variable
crowd() {
	awk "BEGIN { $(forks 100000)
		for (i = 1; i <= 100000; i++) printf \"T%d|w(x)|2\\n\", i }"
}
# 50,000 locks, each taken inside of the one before, by two threads
nested() {
	awk "BEGIN { $(forks 2)
		for (i = 1; i <= 2; i++) {
			for (k = 0; k < 50000; k++) printf \"T%d|acq(l%d)|%d\\n\", i, k, 10 + k
			printf \"T%d|w(x)|2\\n\", i
			for (k = 49999; k >= 0; k--) printf \"T%d|rel(l%d)|3\\n\", i, k }
		print \"T1|w(y)|4\\nT2|w(y)|5\" }"
}
# a thread that holds 5,000 locks accesses 200,000 variables, another one holds one lock
holder() {
	awk "BEGIN { $(forks 2)
		for (k = 0; k < 5000; k++) printf \"T1|acq(l%d)|2\\n\", k
		for (k = 0; k < 200000; k++) {
			printf \"T1|w(x%d)|3\\n\", k % 1000
			if (k % 20 == 0) printf \"T2|acq(own)|4\\nT2|w(x%d)|4\\nT2|rel(own)|4\\n\", k % 1000 } }"
}
# a million critical sections on one lock, of eight threads; one access in a thousand without it
sections() {
	awk "BEGIN { $(forks 8); srand(3)
		for (k = 0; k < 1000000; k++) {
			i = 1 + int(rand() * 8)
			printf \"T%d|acq(l)|2\\nT%d|w(x%d)|3\\nT%d|rel(l)|4\\n\", i, i, k % 100, i
			if (k % 1000 == 0) printf \"T%d|r(x%d)|5\\n\", i, k / 1000 % 100 } }"
}
# 100,000 variables, each with one race
variables() {
	awk "BEGIN { $(forks 2)
		for (v = 0; v < 100000; v++) printf \"T1|w(v%d)|2\\nT2|w(v%d)|3\\n\", v, v }"
}
# the same, each at places of its own
places() {
	awk "BEGIN { $(forks 2)
		for (v = 0; v < 100000; v++)
			printf \"T1|w(v%d)|a%d\\nT2|w(v%d)|b%d\\n\", v, v, v, v }"
}
# five million events of one thread beside a short one
alone() {
	awk "BEGIN { $(forks 1)
		print \"T1|w(x0)|2\"
		for (k = 0; k < 5000000; k++) printf \"T0|%s(x%d)|%d\\n\", k % 3 ? \"r\" : \"w\", k % 5000, 3 + k % 50 }"
}
measure() { # SHAPE NAME COMMAND...
	local shape=$1 name=$2 code user system kilobytes ended=
	shift 2
	/usr/bin/time -o "$folder/time" -f '%U %S %M' \
		bash -c 'ulimit -t "$0"; exec "$@"' "$limit" "$@" >"$folder/out" 2>&1 </dev/null
	code=$?
	read -r user system kilobytes < <(tail -n 1 "$folder/time")
	[ "$code" -gt 3 ] && ended="code $code"
	[ "$code" -eq 3 ] && ended='+'
	[ "$code" -ge 128 ] && ended='time'
	[ "${kilobytes:-0}" -gt $((memory * 1024)) ] && ended="$ended memory"
	printf '%-10s %-10s %8.2f %8.0f %s\n' "$shape" "$name" \
		"$(awk "BEGIN { print $user + $system }")" \
		"$(awk "BEGIN { print ${kilobytes:-0} / 1024 }")" "$ended"
}
run() { # SHAPE
	local t=$folder/$1.hdl
	"$1" >"$folder/t.txt"
	measure "$1" convert "$heddle" convert -q "$folder/t.txt" "$t"
	rm "$folder/t.txt"
	for a in ${ANALYSES:-hb shb lockset wcp dc wdc cp syncp m2 smt rdit auto deadlocks commute atomic info}; do
		case $a in
		deadlocks | commute | atomic | info) measure "$1" "$a" "$heddle" "$a" -q "$t" ;;
		*) measure "$1" "$a" "$heddle" races --analysis "$a" -q "$t" ;;
		esac
	done
	rm "$t"
}
printf '%-10s %-10s %8s %8s\n' shape analysis seconds MB
shapes=${*:-barrier latch broadcast semaphore crowd nested holder sections variables places alone}
for shape in $shapes; do run "$shape"; done
