#!/bin/bash
# The RD2 paper's table 2: a program on a hash table run plain, under FastTrack (recorded, then
# happens-before) and under RD2 (recorded with bind lines, then commutativity races).
# Operations a second count recording and analysis; races are all pairs, and distinct by
# their pair of lines.  Usage: tests/bench/table2.sh [ROUNDS OF EACH THREAD]
set -eu
heddle=${HEDDLE:-$PWD/heddle} rounds=${1:-20000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seconds() { # SECONDS since $1
	perl -MTime::HiRes=time -e 'printf "%.3f", time - $ARGV[0]' "$1"
}
now() { perl -MTime::HiRes=time -e 'printf "%.6f", time'; }
races() { # "TOTAL DISTINCT" of a report, both ways of counting
	"$heddle" "$@" --format json |
		perl -MJSON::PP -0777 -ne 'my $d = JSON::PP->new->decode($_); my $n = 0;
			$n += $_->{count} // 1 for @{$d->{findings}};
			printf "%d | %d", $n, scalar @{$d->{findings}}' || true
}
row() { # NAME SECONDS RACES
	perl -e 'printf "| %s | %.0f | %s | %s |\n", $ARGV[0], 3 * $ARGV[1] / $ARGV[2], $ARGV[2], $ARGV[3]' \
		"$1" "$rounds" "$2" "$3"
}
table() { # NAME FLAGS LIBRARIES SPEC
	local from took
	gcc -O2 -w $2 tests/bench/table2/cache.c -o "$work/plain" $3 -pthread
	"$heddle" cc -w -O2 -g $2 tests/bench/table2/cache.c -o "$work/cache" $3 -pthread
	from=$(now)
	"$work/plain" "$rounds" 2>/dev/null
	row "$1, plain" "$(seconds "$from")" "- | -"
	from=$(now)
	"$heddle" record -q -o "$work/t.hdl" -- "$work/cache" "$rounds" 2>/dev/null
	"$heddle" races "$work/t.hdl" --analysis hb >/dev/null || true
	took=$(seconds "$from")
	row "$1, FastTrack" "$took" "$(races races "$work/t.hdl" --analysis hb)"
	from=$(now)
	"$heddle" record -q --spec "$4" -o "$work/t.hdl" -- "$work/cache" "$rounds" 2>/dev/null
	"$heddle" commute "$work/t.hdl" --spec "$4" >/dev/null || true
	took=$(seconds "$from")
	row "$1, RD2" "$took" "$(races commute "$work/t.hdl" --spec "$4")"
}

echo "| program | operations a second | seconds | races | distinct |"
echo "| --- | --- | --- | --- | --- |"
table "GLib" "$(pkg-config --cflags glib-2.0)" "$(pkg-config --libs glib-2.0)" tests/bench/table2/cache.spec
table "liburcu" -DURCU "$(pkg-config --libs liburcu-cds liburcu-memb)" specs/bind/urcu.spec
