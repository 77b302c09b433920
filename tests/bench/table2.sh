#!/bin/bash
# table2.sh - the RD2 paper's table 2: a program on a hash table run plainly, under
# ThreadSanitizer, under FastTrack (recorded, then happens-before) and under RD2 (recorded with
# bind lines, then commutativity races), each with the whole recording and with `--filter`. In
# turns; medians of RUNS (default: 3). No part of `make check`.
#
#   tests/bench/table2.sh [ROUNDS OF EACH THREAD]     (default: 20000)
#
# Operations a second of processor time (user and system, of all processes), recording and analysis
# together; the throughput in parts of FastTrack's, of both with the whole recording or both with the
# filter; all pairs that race, and distinct by their pair of lines.
set -eu
heddle=${HEDDLE:-$PWD/heddle} rounds=${1:-20000} runs=${RUNS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

took() { # FILE COMMAND...: appends the processor seconds of the command to FILE
	local to=$1
	shift
	/usr/bin/time -q -o "$work/time" -f "%U %S" "$@" >/dev/null 2>&1 || true
	awk '{ print $1 + $2 }' "$work/time" >>"$to"
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
races() { # "TOTAL | DISTINCT" of a report, both ways of counting
	"$heddle" "$@" --format json |
		perl -MJSON::PP -0777 -ne 'my $d = JSON::PP->new->decode($_); my $n = 0;
			$n += $_->{count} // 1 for @{$d->{findings}};
			printf "%d | %d", $n, scalar @{$d->{findings}}' || true
}
seconds() { # KEY: recording and analysis
	awk -v a="$(median "$work/$1.run")" -v b="$(median "$work/$1.analysis")" \
		'BEGIN { printf "%.3f", a + b }'
}
row() { # NAME KEY FASTTRACK RACES
	perl -e 'my ($name, $rounds, $races, $parts, $s, $than) = @ARGV;
		$s = 0.001 if $s < 0.001;
		printf "| %s | %.0f | %s | %s | %s |\n", $name, 3 * $rounds / $s, $parts,
			$than ? sprintf("%.2f", $than / $s) : "-", $races' \
		"$1" "$rounds" "$4" "$(median "$work/$2.run") + $(median "$work/$2.analysis")" \
		"$(seconds "$2")" "$([ "$3" = - ] || seconds "$3")"
}
table() { # NAME FLAGS LIBRARIES SPEC
	local i name=$1 spec=$4 c="-O2 -g -w $2 tests/bench/table2/cache.c"
	rm -f "$work"/*.run
	echo 0 | tee "$work/plain.analysis" "$work/tsan.analysis" >/dev/null
	for i in ft ftless rd2 rd2less; do : >"$work/$i.analysis"; done
	gcc $c -o "$work/plain" $3 -pthread
	gcc -fsanitize=thread $c -o "$work/tsan" $3 -pthread
	"$heddle" cc $c -o "$work/cache" $3 -pthread
	for i in $(seq "$runs"); do
		took "$work/plain.run" "$work/plain" "$rounds"
		took "$work/tsan.run" env TSAN_OPTIONS=exitcode=0 setarch -R "$work/tsan" "$rounds"
		while read -r key analysis options; do
			took "$work/$key.run" "$heddle" record -q $options -o "$work/$key.hdl" -- \
				"$work/cache" "$rounds"
			took "$work/$key.analysis" "$heddle" ${analysis//_/ } "$work/$key.hdl"
		done <<-T
			ft races_--analysis_hb
			ftless races_--analysis_hb --filter hb --no-missing
			rd2 commute --spec $spec
			rd2less commute --spec $spec --filter commute
		T
	done
	row "$name, plain" plain - "- | -"
	row "$name, ThreadSanitizer" tsan - "- | -"
	row "$name, FastTrack" ft - "$(races races "$work/ft.hdl" --analysis hb)"
	row "$name, RD2" rd2 ft "$(races commute "$work/rd2.hdl")"
	row "$name, FastTrack, \`--filter hb --no-missing\`" ftless - \
		"$(races races "$work/ftless.hdl" --analysis hb)"
	row "$name, RD2, \`--filter commute\`" rd2less ftless "$(races commute "$work/rd2less.hdl")"
	echo "| $name, RD2, \`--filter commute\`, to FastTrack of the whole recording | | | $(awk \
		-v a="$(seconds ft)" -v b="$(seconds rd2less)" 'BEGIN { printf "%.2f", a / b }') | | |"
}

echo "| program | operations a second | recording + analysis, s | times FastTrack | races | distinct |"
echo "| --- | ---: | ---: | ---: | ---: | ---: |"
table "GLib" "$(pkg-config --cflags glib-2.0)" "$(pkg-config --libs glib-2.0)" tests/bench/table2/cache.spec
table "liburcu" -DURCU "$(pkg-config --libs liburcu-cds liburcu-memb)" specs/bind/urcu.spec
