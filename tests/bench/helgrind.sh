#!/bin/bash
# helgrind.sh - valgrind's examination of Helgrind (or DRD) under the recorder: builds the C
# and C++ programs of helgrind/tests (drd/tests) plainly, with -fsanitize=thread and with heddle
# cc, and prints a line for each .vgtest: is the program's end and output under `record` that of
# the program alone, events; then pairs of source lines: those in valgrind's expected output,
# in ThreadSanitizer's reports and in `heddle races`; what `heddle deadlocks` and
# `heddle commute --analysis cov` (use after free, order violations) find; and the pairs of
# the first two that are not among ours.
#
#   tests/bench/helgrind.sh VALGRIND-SOURCE [helgrind|drd] [TEST...]
#   PROGRAMS  where to work (default: /tmp/heddle-programs); SEED (1), STRATEGY (random)
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/bench/programs
HEDDLE=${HEDDLE:-$root/heddle}
valgrind=$(cd "$1" && pwd)
tool=${2:-helgrind}
shift; shift
tests=$valgrind/$tool/tests
work=${PROGRAMS:-/tmp/heddle-programs}/$tool
mkdir -p "$work"
touch "$work/config.h" # what valgrind's configure would make; the tests do without

compile() { # PROGRAM VARIANT: 0 when there is such a binary
	local out=$work/$1.$2 file compiler flags="-g -O1 -w -pthread -DVGA_amd64 -DVGO_linux -DVGP_amd64_linux -I$work -I$valgrind -I$valgrind/include"
	[ -e "$out" ] && return
	for file in "$tests/$1.c" "$tests/$1.cpp"; do [ -e "$file" ] && break; done
	case $2.$file in
	plain.*.c) compiler=gcc ;; plain.*) compiler=g++ ;;
	tsan.*.c) compiler="gcc -fsanitize=thread" ;; tsan.*) compiler="g++ -fsanitize=thread" ;;
	heddle.*.c) compiler="$HEDDLE cc" ;; *) compiler="$HEDDLE c++" ;;
	esac
	mkdir -p "$(dirname "$out")"
	$compiler $flags -DHAVE_PTHREAD_SPINLOCK -DHAVE_PTHREAD_BARRIER -DHAVE_PTHREAD_CREATE_GLIBC_2_0 \
		"$file" -o "$out" -lrt -lm >"$out.log" 2>&1
}
# What may differ from run to run: addresses, process numbers.
same() { sed -E 's/0x[0-9a-f]+|[0-9]{4,}/N/g' "$1" | grep -v '^heddle:' | sort; }

printf '%-24s %-8s %-6s %8s  %5s %5s %5s %5s %5s  %s\n' test output end events vg tsan races dead order missing
for vgtest in "$tests"/*.vgtest; do
	name=$(basename "$vgtest" .vgtest)
	[ $# -gt 0 ] && ! grep -qw -- "$name" <<<"$*" && continue
	program=$(sed -n 's/^prog: *//p' "$vgtest") arguments=$(sed -n 's/^args: *//p' "$vgtest")
	read -r program first <<<"$program" # "prog: fork 1"
	arguments="$first $arguments" base=$work/$name
	built=yes
	for v in plain tsan heddle; do compile "$program" $v || built=no; done
	if [ $built = no ]; then
		printf '%-24s does not build here\n' "$name"
		continue
	fi
	cd "$tests" || exit
	timeout 20 "$work/$program.plain" $arguments >"$base.out" 2>"$base.err" </dev/null
	end=$?
	TSAN_OPTIONS="exitcode=0 log_path=stdout" timeout 40 setarch -R "$work/$program.tsan" $arguments \
		>"$base.report" 2>/dev/null </dev/null
	timeout 60 "$HEDDLE" record --max-size 400 --seed "${SEED:-1}" --strategy "${STRATEGY:-random}" \
		-o "$base.hdl" -- "$work/$program.heddle" $arguments >"$base.hout" 2>"$base.herr" </dev/null
	hend=$?
	output=same
	cmp -s <(same "$base.out") <(same "$base.hout") && cmp -s <(same "$base.err") <(same "$base.herr") ||
		output=DIFFERS
	[ $end = $hend ] && end=$hend || end=$end/$hend
	events=$(sed -n 's/^heddle: \([0-9]*\) events.*/\1/p' "$base.herr")
	timeout 90 "$HEDDLE" races "$base.hdl" --verdicts all --budget 0.5,4 --format json >"$base.json" 2>"$base.jerr"
	deadlocks=$("$HEDDLE" deadlocks "$base.hdl" --format json 2>/dev/null | grep -c '"kind"')
	[ $hend = 134 ] && deadlocks=$((deadlocks + $(grep -c 'deadlock: no thread' "$base.herr")))
	orders=$(timeout 60 "$HEDDLE" commute "$base.hdl" --analysis cov --format json 2>/dev/null | grep -c '"kind"')
	grep -v '<' "$tests/$name.stderr.exp" >"$base.exp"
	perl "$here/pairs.pl" helgrind "$base.exp" | sort -u >"$base.vg"
	perl "$here/pairs.pl" tsan "$base.report" | sort -u >"$base.ts"
	perl "$here/pairs.pl" heddle "$base.json" >"$base.us"
	awk '$3 ~ /race|happened/ { print $1, $2 }' "$base.us" | sort -u >"$base.sites"
	missing=$(comm -23 <(sort -u "$base.vg" "$base.ts") "$base.sites" | while read -r a b; do
		echo "$a $b $(grep -h "^$a $b " "$base.us" | head -1 | cut -d' ' -f3);"
	done)
	printf '%-24s %-8s %-6s %8s  %5d %5d %5d %5d %5d  %s\n' "$name" $output "$end" "${events:-?}" \
		"$(wc -l <"$base.vg")" "$(wc -l <"$base.ts")" "$(wc -l <"$base.sites")" "$deadlocks" "$orders" "$missing"
done
