#!/bin/bash
# server.sh - a memcached under load: plain, under ThreadSanitizer, and recorded in free mode, whole,
# with --filter and with --sample; in turns. No part of `make check`.
#
#   tests/bench/server.sh PLAIN TSAN INSTRUMENTED     (three builds of memcached: without options,
#                                with gcc -fsanitize=thread, with heddle cc; libevent linked in)
#
#   ROUNDS        of the client on each of its 16 connections, three requests a round (4000)
#   RUNS          of each (3); the table has the medians
#   SAMPLE        one window in so many (100)
#   WAYS          those of the table's rows to be made ("plain hooks tsan free missing filter sample")
#
# Of each: requests a second, by the clock and by the server's processor time while it serves (user
# and system, from /proc), and all of that time with the making of the trace, its size and events,
# and the pairs that happens-before finds in it.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
HEDDLE=${HEDDLE:-$root/heddle}
[ $# -eq 3 ] || { sed -n '5,14s/^# \?//p' "$0" >&2; exit 2; }
plain=$1 tsan=$2 instrumented=$3 rounds=${ROUNDS:-4000} runs=${RUNS:-3} sample=${SAMPLE:-100}
ways=${WAYS:-plain hooks tsan free missing filter sample}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gcc -O2 "$root/tests/bench/programs/memcached-load.c" -o "$scratch/load" || exit 1

# serve KIND COMMAND...: one run; appends "wall server all" to KIND's file
serve() {
	local kind=$1 port=$((41000 + RANDOM % 4000)) i pid='' line
	shift
	/usr/bin/time -o "$scratch/time" -f '%U %S' "$@" -u "$(id -un)" -l 127.0.0.1 -p $port -U 0 -t 4 -m 64 \
		>/dev/null 2>&1 &
	for i in $(seq 200); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
		sleep 0.05
	done
	for i in /proc/[0-9]*; do # the server is the one with its port and without "record"
		line=$(tr '\0' ' ' 2>/dev/null <"$i/cmdline") || continue
		case $line in
		*"heddle record"* | *"/usr/bin/time"*) ;;
		*"-p $port -U 0"*) pid=${i#/proc/} ;;
		esac
	done
	[ -n "$pid" ] || { echo "server.sh: $kind does not listen" >&2; kill %% 2>/dev/null; wait; return; }
	local before after done
	before=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
	done=$(timeout 600 "$scratch/load" $port 16 "$rounds")
	after=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
	kill -INT "$pid"
	wait
	echo "$done $((after - before)) $(tail -1 "$scratch/time")" >>"$scratch/$kind"
}
record() { # KIND OPTIONS...
	local kind=$1
	shift
	serve "$kind" "$HEDDLE" record -q --mode free -o "$scratch/$kind.hdl" "$@" -- "$instrumented"
}
for i in $(seq "$runs"); do
	for way in $ways; do
		case $way in
		plain) serve plain "$plain" ;;
		hooks) serve hooks "$instrumented" ;; # alone: its hooks return at once
		tsan) TSAN_OPTIONS=report_bugs=0 serve tsan "$tsan" ;;
		free) record free --no-missing ;;
		missing) record missing ;; # and calls into libevent, which is not instrumented
		filter) record filter --no-missing --filter ;;
		sample) record sample --sample "$sample" ;;
		esac
	done
done
ticks=$(getconf CLK_TCK)
echo "| | requests a second | of the server's processor | times the plain program's time | ThreadSanitizer's | with the trace: s | events | MB | pairs by hb |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for kind in $ways; do
	events='' bytes='' pairs=''
	if [ -e "$scratch/$kind.hdl" ]; then
		events=$("$HEDDLE" info -q "$scratch/$kind.hdl" | awk '$1 == "events" { print $2; exit }')
		bytes=$(stat -c %s "$scratch/$kind.hdl")
		pairs=$("$HEDDLE" races -q --analysis hb "$scratch/$kind.hdl" | grep -oE '[0-9]+ findings? by' | grep -oE '^[0-9]+')
	fi
	perl -e '
		my ($kind, $ticks, $dir, @rest) = @ARGV;
		sub median { my @s = sort { $a <=> $b } @_; $s[$#s / 2] }
		sub of { open my $f, "<", "$dir/$_[0]" or return; map { [split] } <$f> }
		my $server = sub { median(map { $_->[2] / $ticks / $_->[0] } of($_[0])) };
		my @runs = of($kind) or exit;
		my $own = $server->($kind);
		my $times = sub { my $of = -e "$dir/$_[0]" && $server->($_[0]); $of ? sprintf("%.2f", $own / $of) : "" };
		printf "| %s | %.0f | %.0f | %s | %s | %s | %s | %s | %s |\n", $kind,
			median(map { $_->[0] / $_->[1] } @runs), 1 / $own, $times->("plain"), $times->("tsan"),
			$rest[0] ? sprintf("%.1f", median(map { $_->[3] + $_->[4] } @runs)) : "",
			$rest[0] // "", $rest[1] ? sprintf("%.1f", $rest[1] / 1e6) : "", $rest[2] // "";
	' "$kind" "$ticks" "$scratch" "$events" "$bytes" "$pairs"
done
