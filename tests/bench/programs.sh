#!/bin/bash
# programs.sh - real programs under the recorder, beside real ThreadSanitizer: fetches Debian
# source packages (needs the network and a deb-src line), builds each plainly, with
# -fsanitize=thread and with heddle cc, runs all three on the same input, and prints a table:
# is the output the same, events, site pairs that ThreadSanitizer reports and that
# `heddle races` finds, processor time.  No part of `make check`.
#
#   tests/bench/programs.sh [fetch|build|run|replay|all] [NAME...]  (default: all of everything)
#
# `replay` takes witnesses of the last run's races and follows each on the program, with the
# same input files, one way, and without the clients of servers: what they sent is in the
# recording.  A line for each: its length, and whether it happened.
#
#   PROGRAMS     where to work (default: /tmp/heddle-programs)
#   APT_OPTIONS  for apt-get source
#   VARIANTS     of plain, tsan, heddle (default: all)
#   LIMIT        seconds for `heddle races` of one trace (default: 120)
#   WITNESSES    to replay of each program (default: 3)
#   SEED, STRATEGY, BUDGET   of the recording and of `heddle races`
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/bench/programs
HEDDLE=${HEDDLE:-$root/heddle}
work=${PROGRAMS:-/tmp/heddle-programs}
data=$work/data
. "$here/packages.sh"

command=all
case ${1-} in fetch | build | run | replay | all) command=$1 && shift ;; esac
mkdir -p "$work"/{src,plain,tsan,heddle,bin,data,logs}

package_of() { awk -v n="$1" '$1 == n { print $2 }' <<<"$PACKAGES"; }
names() {
	if [ $# -gt 0 ]; then printf '%s\n' "$@"; else awk '{ print $1 }' <<<"$PACKAGES"; fi
}

fetch() { # NAME
	local package folder
	package=$(package_of "$1")
	[ -e "$work/src/$1" ] && return
	(mkdir -p "$work/download/$1" && cd "$work/download/$1" && case $package in
	*@*) git clone -q --depth 1 -b "${package#*@}" "${package%@*}" ;;
	*) apt-get ${APT_OPTIONS-} -q source "$package" ;;
	esac) >"$work/logs/$1.fetch" 2>&1
	folder=$(find "$work/download/$1" -mindepth 1 -maxdepth 1 -type d | head -1)
	[ "$folder" ] && ln -sfn "$folder" "$work/src/$1" || echo "$1: not fetched (logs/$1.fetch)"
}

# The compilers of the three variants, as single words for configure scripts.
compilers() {
	local v
	for v in plain tsan heddle; do
		case $v in
		plain) c="gcc" x="g++" ;;
		tsan) c="gcc -fsanitize=thread" x="g++ -fsanitize=thread" ;;
		heddle) c="$HEDDLE cc" x="$HEDDLE c++" ;;
		esac
		printf '#!/bin/sh\nexec %s "$@"\n' "$c" >"$work/bin/$v-cc"
		printf '#!/bin/sh\nexec %s "$@"\n' "$x" >"$work/bin/$v-c++"
	done
	chmod +x "$work"/bin/*
	gcc -O1 "$here/measure.c" -o "$work/bin/measure"
}

build() { # NAME VARIANT
	local to=$work/$2/$1
	[ -e "$to/.built" ] && return
	{ [ -e "$to" ] || cp -a "$work/src/$1/." "$to"; } &&
		(cd "$to" && export CC=$work/bin/$2-cc CXX=$work/bin/$2-c++ \
			CFLAGS="-g -O1" CXXFLAGS="-g -O1" TSAN_OPTIONS=report_bugs=0 &&
			"build_$1") >"$work/logs/$1.$2.build" 2>&1 && touch "$to/.built" ||
		echo "$1: $2 not built (logs/$1.$2.build)"
}

# Input files: words by a generator of random numbers, six frames of 64x64.
input() {
	[ -e "$data/text" ] && return
	perl -e 'my $s = 1; my @w = map { join "", map { $s = ($s * 1103515245 + 12345) % 2**31;
		chr(97 + $s / 65536 % 26) } 1 .. 3 + $_ % 6 } 1 .. 500;
		for (1 .. 120000) { $s = ($s * 1103515245 + 12345) % 2**31; print $w[$s / 65536 % 500],
		$_ % 12 ? " " : "\n" }' >"$data/text"
	head -c 200000 "$data/text" >"$data/small"
	perl -e 'for my $f (0 .. 5) { print map { chr((($_ * 7) ^ ($_ >> 6) * 3 + $f * 11) & 255) }
		0 .. 64 * 64 * 3 / 2 - 1 }' >"$data/six.yuv"
}

# What a program is run under, by variant; each run writes time.N (and trace.N.hdl).
runners() {
	local v
	for v in plain tsan heddle replay; do
		{
			echo '#!/bin/bash'
			echo 'n=$(ls start.* 2>/dev/null | wc -l); touch start.$n'
			case $v in
			plain) echo "exec $work/bin/measure time.\$n \"\$@\"" ;;
			tsan)
				echo 'export TSAN_OPTIONS="exitcode=0 log_path=$PWD/report"'
				echo "exec setarch -R $work/bin/measure time.\$n \"\$@\""
				;;
			heddle)
				echo "exec $work/bin/measure time.\$n $HEDDLE record -q" \
					"--seed ${SEED:-1} --strategy ${STRATEGY:-random}" \
					'-o trace.$n.hdl -- "$@"'
				;;
			replay) # WITNESS is of trace.NUMBER; what is said goes to SAID
				echo '[ "$n" = "$NUMBER" ] || exec "$@"'
				echo "exec $HEDDLE replay --first 1 --witness \"\$WITNESS\" --" \
					'"$@" 2>"$SAID"'
				;;
			esac
		} >"$work/bin/under-$v"
	done
	chmod +x "$work"/bin/under-*
}

run_variant() { # NAME VARIANT
	local folder=$work/run/$1/$2
	rm -rf "$folder"
	mkdir -p "$folder"
	(cd "$folder" && source=$work/$2/$1 &&
		"run_$1" "$work/bin/under-$2" >"$work/run/$1/$2.out" 2>"$work/run/$1/$2.err")
}
seconds() { # NAME VARIANT FIELD: processor time of all its runs
	cat "$work/run/$1/$2"/time.* | awk -v f="$3" '{ s += $f } END { printf "%.2f", s }'
}
events_of() { # TRACE...: of all together
	local t
	for t; do "$HEDDLE" info -q "$t" | awk '$1 == "events" { print $2; exit }'; done |
		awk '{ s += $1 } END { print s }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.1f", a / b; else print "?" }'; }

row() { # NAME: runs it and prints its line
	local name=$1 base=$work/run/$1 v t json output=same missing start
	for v in plain tsan heddle; do
		[ -e "$work/$v/$name/.built" ] || { echo "$name: not built"; return; }
		run_variant "$name" $v
	done
	cmp -s "$base/plain.out" "$base/heddle.out" || output=DIFFERS
	[ -s "$base/plain.out" ] || output=NOTHING
	cat "$base"/tsan/report.* >"$base/report" 2>/dev/null
	perl "$here/pairs.pl" tsan "$base/report" | sort -u >"$base/tsan.pairs"
	# all verdicts only where ThreadSanitizer's pairs are to be looked up
	local verdicts=
	[ -s "$base/tsan.pairs" ] && verdicts="--verdicts all"
	start=$(date +%s)
	rm -f "$base/late"
	for t in "$base"/heddle/trace.*.hdl; do
		nice timeout "${LIMIT:-120}" "$HEDDLE" races -q "$t" $verdicts --budget ${BUDGET:-0.2,5} --format json >"$t.json"
		[ $? = 124 ] && touch "$base/late"
		[ -s "$t.json" ] && perl "$here/pairs.pl" heddle "$t.json"
	done | sort -u >"$base/heddle.verdicts"
	awk '$3 ~ /race|happened/ { print $1, $2 }' "$base/heddle.verdicts" | sort -u >"$base/heddle.pairs"
	missing=$(comm -23 "$base/tsan.pairs" "$base/heddle.pairs" | while read -r a b; do
		# what we say of it, or that our run has no such pair of accesses
		grep -h "^$a $b " "$base/heddle.verdicts" | sort -k3 -u | head -1 | grep . || echo "$a $b absent"
	done | tee "$base/missing" | awk '{ n[$3]++ } END { for (v in n) printf "%d %s ", n[v], v }')
	local plain tsan program
	plain=$(seconds "$name" plain 1) tsan=$(seconds "$name" tsan 1)
	program=$(seconds "$name" heddle 2)
	printf '%-10s %-8s %10s %5d %5d  %6s %6s (%4s) %6s (%4s) %6s %5d  %s\n' "$name" $output \
		"$(events_of "$base"/heddle/trace.*.hdl)" "$(wc -l <"$base/tsan.pairs")" \
		"$(wc -l <"$base/heddle.pairs")" "$plain" \
		"$tsan" "$(ratio "$tsan" "$plain")" "$program" "$(ratio "$program" "$plain")" \
		"$(seconds "$name" heddle 1)" $(($(date +%s) - start)) \
		"${missing:--}$([ -e "$base/late" ] && echo ', races over the limit')"
}

# What became of a witness: "happened", or the first thing that heddle said.
outcome() { # SAID
	if grep -q 'heddle: stopped before' "$1" && ! grep -q 'left the witness' "$1"; then
		echo happened
	else
		grep -h '^heddle: ' "$1" | grep -v 'stopped before' | head -2 | tr '\n' ' ' | grep . || echo "not ended"
	fi
}
replay() { # NAME
	local base=$work/run/$1 json number w
	for json in "$base"/heddle/trace.*.hdl.json; do
		[ -s "$json" ] || continue
		number=${json##*/trace.} number=${number%.hdl.json}
		rm -f "$base/heddle/w.$number".*.wit
		perl "$here/witnesses.pl" "${json%.json}" "$base/heddle/w.$number" "${WITNESSES:-3}" spread <"$json"
		for w in "$base/heddle/w.$number".*.wit; do
			[ -e "$w" ] || continue
			rm -rf "$base/replay"
			mkdir -p "$base/replay"
			(cd "$base/replay" && source=$work/heddle/$1 NUMBER=$number WITNESS=$w SAID=$w.said &&
				export NUMBER WITNESS SAID && timeout "${LIMIT:-120}" bash -c '
				. "$1/packages.sh"; here=$1 source=$2 data=$3
				perl() { :; }; until_listens() { :; }; stop() { wait "$1"; }
				"run_$4" "$5"' - "$here" "$source" "$data" "$1" "$work/bin/under-replay" >"$base/replay.out" 2>&1)
			printf '%-10s %9d events  %s\n' "$1" "$(grep -vc '^#' "$w")" "$(outcome "$w.said")"
		done
	done
}

compilers
runners
input
case $command in
run | all)
	printf '%-10s %-8s %10s %5s %5s  %6s %13s %13s %6s %5s  %s\n' program output events tsan \
		ours plain 'tsan (times)' 'record(times)' +trace races 'not ours'
	;;
esac
for name in $(names "$@"); do
	case $command in fetch | build | all) fetch "$name" ;; esac
	case $command in
	build | all) for variant in ${VARIANTS:-plain tsan heddle}; do build "$name" $variant; done ;;
	esac
	case $command in run | all) row "$name" ;; esac
	[ $command = replay ] && replay "$name"
done
