#!/bin/bash
# price.sh - what a recording and its verdicts cost beside real ThreadSanitizer, from the command to
# a trace that opens: a merge sort, and programs of programs.sh, built by it. Each is run plainly,
# under ThreadSanitizer, under `heddle record`, `heddle record --live` and `heddle record --filter`,
# in turns; the medians of RUNS runs are a line of the table each. No part of `make check`.
#
#   tests/bench/price.sh [NAME...]     (default: merge-sort)
#
#   PROGRAMS, APT_OPTIONS, SEED, STRATEGY   as for programs.sh
#   RUNS     of each way (default: 3; the first recording of a build reads its debug information, so the
#            medians of three and more are of later ones)
#   WAYS     of `record` beside the whole one: live, no-trace, no-edc (--no-trace --no-edc), free (--mode free), or filters (default:
#            "live hb"; " ": none). Of a server under load (memcached, redis, tinyproxy; ROUNDS of its clients):
#            WAYS=free, and the last column has the seconds in which its clients were served
#   COUNT    of numbers that the merge sort sorts (default: 250000)
#
# Seconds passed and of the processor (user and system), the largest resident set in MB (of the
# greatest process), events, bytes of the trace an event, seconds of the processor of
# happens-before on the trace, and of `races`, all rungs: its seconds, MB, the last line's words up to
# the events, and recording and `races` in parts of ThreadSanitizer's processor time.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/bench/programs
export HEDDLE=${HEDDLE:-$root/heddle} PROGRAMS=${PROGRAMS:-/tmp/heddle-programs}
work=$PROGRAMS
data=$work/data
. "$here/packages.sh"
WAYS=${WAYS-live hb}
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

# under VARIANT COMMAND...: the file time.N of measure.c for each.
cat >"$work/bin/price-under" <<'S'
#!/bin/bash
variant=$1
shift
n=$(ls start.* 2>/dev/null | wc -l)
touch "start.$n"
case $variant in
plain) set -- "$@" ;;
tsan) set -- env TSAN_OPTIONS="exitcode=0 report_bugs=1 log_path=$PWD/report" setarch -R "$@" ;;
no-trace | no-edc) set -- "$HEDDLE" record --no-trace $([ $variant = no-edc ] && echo --no-edc) -q --seed "${SEED:-1}" --strategy "${STRATEGY:-random}" -- "$@" ;;
*) set -- "$HEDDLE" record $(case $variant in heddle) ;; live) echo --live ;; free) echo --mode free ;; *) echo "--filter=$variant" ;; esac) -q --seed "${SEED:-1}" \
	--strategy "${STRATEGY:-random}" -o "trace.$n.hdl" -- "$@" ;;
esac
exec "$(dirname "$0")/measure" "time.$n" "$@"
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
	cat "$folder/served" 2>/dev/null >>"$work/price/$2.served"
	cat "$folder"/time.* | awk '{ e += $3; p += $1; own += $2; if ($4 > m) m = $4 }
		END { printf "%.2f %.2f %.0f %.2f\n", e, p, m / 1024, own }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
column() { awk -v f="$2" '{ print $f }' "$work/price/$1.lines" | median; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.1f", a / b; else print "-" }'; }

# Processor seconds and MB of a command, medians of RUNS, added to "time" for all traces of a variant.
measured() { # FILE COMMAND...
	local to=$work/price/$1 i
	shift
	rm -f "$to.runs"
	for i in $(seq "${RUNS:-3}"); do
		/usr/bin/time -o "$work/price/time" -f "%U %S %M" "$@" >"$to.out" 2>&1
		awk '$3 ~ /^[0-9]+$/ { print $1 + $2, $3 / 1024 }' "$work/price/time" >>"$to.runs"
	done
	for i in 1 2; do awk -v f=$i '{ print $f }' "$to.runs" | median; done | paste -s >>"$to"
}
# Of a variant's last run: events, bytes of the trace an event, the processor's time of
# happens-before on it, and of all rungs.
of_traces() { # NAME VARIANT
	local t n events=0 bytes=0 tsan=$(column tsan 2) record=$(column "$2" 2)
	rm -f "$work/price/hb" "$work/price/races"
	[ "$2" = no-trace ] || [ "$2" = no-edc ] && { printf ' | | | | | '; return; }
	for t in "$work/price/$1.$2"/trace.*.hdl; do
		n=$("$HEDDLE" info -q "$t" | awk '$1 == "events" { print $2; exit }')
		events=$((events + n)) bytes=$((bytes + $(stat -c %s "$t")))
		measured hb "$HEDDLE" races -q --analysis hb "$t"
		case $2 in heddle | live) measured races "$HEDDLE" races -q "$t" ;; esac
	done
	printf '%s | %s | %s | ' "$(awk -v n=$events 'BEGIN { printf "%.2f", n / 1e6 }')" \
		"$(ratio $bytes $events)" "$(awk '{ n += $1 } END { printf "%.2f", n }' "$work/price/hb")"
	[ -e "$work/price/races" ] && awk -v tsan="$tsan" -v record="$record" -v said="$(sed -n \
		's/^[^ ]*: \(.*\) in [0-9]* events, \([a-z ]*complete\).*/\1, \2/p' \
		"$work/price/races.out" | tail -n 1)" '{ n += $1; if ($2 > m) m = $2 }
		END { printf "%.2f / %.0f | %.1f, with recording %.1f | %s", n, m, n / tsan,
			(n + record) / tsan, said }' "$work/price/races" || printf ' | | '
}

rows() { # NAME
	local name=$1 v i
	for v in plain tsan heddle; do
		[ -e "$work/$v/$name/.built" ] || { echo "$name: not built"; return; }
	done
	rm -f "$work"/price/*.lines "$work"/price/*.served
	for i in $(seq "${RUNS:-3}"); do
		for v in plain tsan heddle $WAYS; do once "$name" $v >>"$work/price/$v.lines"; done
	done
	for v in heddle $WAYS; do
		printf '| %s | %s / %s / %s | %s / %s / %s | %s / %s / %s | %s, %s, %s | %s | %s |\n' \
			"$name$(case $v in heddle) ;; live) echo ' `--live`' ;; no-trace) echo ' `--no-trace`' ;; no-edc) echo ' `--no-trace --no-edc`' ;; free) echo ' `--mode free`' ;; *) echo " \`--filter $v\`" ;; esac)" \
			"$(column plain 1)" "$(column plain 2)" "$(column plain 3)" \
			"$(column tsan 1)" "$(column tsan 2)" "$(column tsan 3)" \
			"$(column $v 1)" "$(column $v 2)" "$(column $v 3)" \
			"$(ratio "$(column $v 1)" "$(column tsan 1)")" \
			"$(ratio "$(column $v 2)" "$(column tsan 2)")" \
			"$(ratio "$(column $v 3)" "$(column tsan 3)")" \
			"$(of_traces "$name" $v)" "$(for i in plain tsan $v; do
				[ -s "$work/price/$i.served" ] && median <"$work/price/$i.served"
			done | paste -sd /)$([ -s "$work/price/$v.served" ] &&
				echo "; $(column $v 4) of the processor in the program")"
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
| | plain: s / processor / MB | ThreadSanitizer: s / processor / MB | `heddle record`: s / processor / MB | times ThreadSanitizer | M events | bytes an event | `races --analysis hb`: processor | `races`: processor / MB | times ThreadSanitizer | said | served, s: plain / ThreadSanitizer / so |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |
T
for name; do rows "$name"; done
