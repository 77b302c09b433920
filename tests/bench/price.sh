#!/bin/bash
# price.sh - what a recording costs beside real ThreadSanitizer, from the command to a trace that
# opens: a merge sort, and programs of programs.sh, built by it. Each is run plainly, under
# ThreadSanitizer, under `heddle record` and under `heddle record --filter`, in turns; the medians of
# RUNS runs are a line of the table each. No part of `make check`.
#
#   tests/bench/price.sh [NAME...]     (default: merge-sort)
#
#   PROGRAMS, APT_OPTIONS, SEED, STRATEGY   as for programs.sh
#   RUNS     of each way (default: 3)
#   FILTERS  of `record --filter` (default: hb; "hb wcp"; " ": none)
#   COUNT    of numbers that the merge sort sorts (default: 250000)
#
# Seconds passed and of the processor (user and system), the largest resident set in MB (of the
# greatest process), events, bytes of the trace an event.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/bench/programs
export HEDDLE=${HEDDLE:-$root/heddle} PROGRAMS=${PROGRAMS:-/tmp/heddle-programs}
work=$PROGRAMS
data=$work/data
. "$here/packages.sh"
FILTERS=${FILTERS-hb}
mkdir -p "$work"/{bin,price,plain,tsan,heddle}
[ $# -gt 0 ] || set -- merge-sort

build_merge() {
	local v
	for v in plain tsan heddle; do
		mkdir -p "$work/$v/merge-sort"
		"$work/bin/$v-cc" -O1 -g -pthread "$here/merge-sort.c" \
			-o "$work/$v/merge-sort/merge-sort" && touch "$work/$v/merge-sort/.built"
	done
}
run_merge-sort() { "$@" "$source/merge-sort" "${COUNT:-250000}"; }

# under VARIANT COMMAND...: appends "seconds user system kB" to the file "times".
cat >"$work/bin/price-under" <<'S'
#!/bin/bash
variant=$1
shift
n=$(ls start.* 2>/dev/null | wc -l)
touch "start.$n"
case $variant in
plain) set -- "$@" ;;
tsan) set -- env TSAN_OPTIONS="exitcode=0 report_bugs=1 log_path=$PWD/report" setarch -R "$@" ;;
*) set -- "$HEDDLE" record $([ "$variant" = heddle ] || echo "--filter=$variant") -q --seed "${SEED:-1}" \
	--strategy "${STRATEGY:-random}" -o "trace.$n.hdl" -- "$@" ;;
esac
exec /usr/bin/time -a -o times -f "%e %U %S %M" "$@"
S
chmod +x "$work/bin/price-under"

# The variant of programs.sh that is run.
built() { case $1 in plain | tsan) echo "$1" ;; *) echo heddle ;; esac; }

once() { # NAME VARIANT NUMBER: a line "seconds processor MB" of all its processes
	local folder=$work/price/$1.$2
	rm -rf "$folder"
	mkdir -p "$folder"
	(cd "$folder" && source=$work/$(built "$2")/$1 && "run_$1" "$work/bin/price-under" "$2") \
		>"$work/price/out" 2>"$work/price/err"
	awk '$4 ~ /^[0-9]+$/ { e += $1; p += $2 + $3; if ($4 > m) m = $4 }
		END { printf "%.2f %.2f %.0f\n", e, p, m / 1024 }' "$folder/times"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
column() { awk -v f="$2" '{ print $f }' "$work/price/$1.lines" | median; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.1f", a / b; else print "-" }'; }

events_and_bytes() { # NAME VARIANT: of its last run
	local t n events=0 bytes=0
	for t in "$work/price/$1.$2"/trace.*.hdl; do
		n=$("$HEDDLE" info -q "$t" | awk '$1 == "events" { print $2; exit }')
		events=$((events + n)) bytes=$((bytes + $(stat -c %s "$t")))
	done
	printf '%s | %s' "$(awk -v n=$events 'BEGIN { printf "%.2f", n / 1e6 }')" "$(ratio $bytes $events)"
}

rows() { # NAME
	local name=$1 v i
	for v in plain tsan heddle; do
		[ -e "$work/$v/$name/.built" ] || { echo "$name: not built"; return; }
	done
	rm -f "$work"/price/*.lines
	for i in $(seq "${RUNS:-3}"); do
		for v in plain tsan heddle $FILTERS; do once "$name" $v >>"$work/price/$v.lines"; done
	done
	for v in heddle $FILTERS; do
		printf '| %s | %s / %s / %s | %s / %s / %s | %s / %s / %s | %s, %s, %s | %s |\n' \
			"$name$([ $v = heddle ] || echo " \`--filter $v\`")" \
			"$(column plain 1)" "$(column plain 2)" "$(column plain 3)" \
			"$(column tsan 1)" "$(column tsan 2)" "$(column tsan 3)" \
			"$(column $v 1)" "$(column $v 2)" "$(column $v 3)" \
			"$(ratio "$(column $v 1)" "$(column tsan 1)")" \
			"$(ratio "$(column $v 2)" "$(column tsan 2)")" \
			"$(ratio "$(column $v 3)" "$(column tsan 3)")" \
			"$(events_and_bytes "$name" $v)"
	done
}

"$root/tests/bench/programs.sh" build none >/dev/null 2>&1 # the compilers of the variants
for name; do
	case $name in
	merge-sort) [ -e "$work/heddle/merge-sort/.built" ] || build_merge ;;
	*) "$root/tests/bench/programs.sh" fetch "$name" && "$root/tests/bench/programs.sh" build "$name" ;;
	esac
done
cat <<'T'
| | plain: s / processor / MB | ThreadSanitizer: s / processor / MB | `heddle record`: s / processor / MB | times ThreadSanitizer | M events | bytes an event |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
T
for name; do rows "$name"; done
