#!/bin/bash
# The explorer's own threads: the screen tests of a build with ThreadSanitizer, and a walk through
# all views of the explorer, built by `heddle cc` and recorded, with the races found in it.
# Usage: tests/threads.sh BUILD (build/tsan)
set -u
B=$1
root=$PWD
out=$PWD/build/threads
rm -rf "$out"
mkdir -p "$out/home"
failed=0
# GLib and libdwarf are not instrumented: what only they see is no report of ours.
printf '%s\n' 'called_from_lib:libglib' 'called_from_lib:libdwarf' 'called_from_lib:libz3' \
	'race:libglib' 'race:libz3' 'deadlock:libglib' >"$out/suppressions"
export HEDDLE=$root/$B/heddle # the terminal's tests run it
# An explorer that is left while a job works does not wait for it for ever (jobs_end): no leak of ours.
export TSAN_OPTIONS="suppressions=$out/suppressions report_thread_leaks=0 log_path=$out/report exitcode=66 halt_on_error=0 second_deadlock_stack=1 die_after_fork=0"
for t in "$B"/tests/screen/screen_*; do
	case $t in *.[od]) continue ;; esac
	[ -x "$t" ] || continue
	echo "== ${t##*/} under ThreadSanitizer"
	"$t" >"$out/${t##*/}.txt" 2>&1
	status=$?
	tail -n 1 "$out/${t##*/}.txt"
	cat "$out"/report.* >"$out/${t##*/}.reports" 2>/dev/null
	rm -f "$out"/report.*
	found=$(grep -c 'WARNING: ThreadSanitizer' "$out/${t##*/}.reports")
	if [ "$found" != 0 ] || [ $status != 0 ]; then
		failed=1
		echo "FAILURE: status $status, $found reports: $out/${t##*/}.{txt,reports}"
		grep -A12 'WARNING: ThreadSanitizer' "$out/${t##*/}.reports" | head -40
		grep ':[FE]:' "$out/${t##*/}.txt" | head
	fi
done

# Under Heddle itself: the same sources, instrumented by heddle cc, one walk.
echo "== a walk through the explorer, recorded by Heddle"
export HOME=$out/home LC_ALL=C.UTF-8
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME TSAN_OPTIONS HEDDLE
"$root/heddle" cc -g -O1 samples/bank/bank.c -o "$out/bank" -pthread || exit 2
"$root/heddle" record -q --seed 1 -o "$out/bank.hdl" -- "$out/bank" >/dev/null || exit 2
make -j"$(nproc)" B="$out/build" HEDDLE="$out/build/heddle" CC="$root/heddle cc" OPT="-O1 -g" "$out/build/heddle" \
	>"$out/build.txt" 2>&1 || { tail -n 5 "$out/build.txt"; exit 2; }
cat >"$out/walk.script" <<'S'
wait
press o
press q w
press Enter [
press q t
press q s
press q g
press q n
press q ?
wait
S
timeout "${WALK_SECONDS:-900}" "$root/heddle" record -q --max-size 2000 -o "$out/walk.hdl" -- \
	"$out/build/heddle" open "$out/bank.hdl" --script "$out/walk.script" >"$out/walk.txt" 2>&1
status=$?
tail -n 3 "$out/walk.txt"
[ -e "$out/walk.hdl" ] || { echo "FAILURE: no recording, status $status"; exit 1; }
"$root/heddle" races "$out/walk.hdl" --missing --budget 1,60 >"$out/races.txt" 2>&1
status=$?
tail -n 5 "$out/races.txt"
[ $status = 0 ] || [ $status = 3 ] || { failed=1; echo "FAILURE: races in the explorer, see $out/races.txt"; }
exit $failed
