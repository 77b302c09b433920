#!/bin/bash
# Fuzz every input format for FUZZ_SECONDS (default 120) with HEDDLE_SEED (default: of the day),
# on FUZZ_JOBS processors; FUZZ_FORMATS names some formats only.  Usage: tests/fuzz/run.sh BUILD
#
# Makes the corpus (tests/fuzz/corpus, and what the samples give: recordings, logs, reports,
# witnesses, explorations, binaries), then runs tests/fuzz/fuzz.c on it.
set -u
B=$1
: "${FUZZ_SECONDS:=120}" "${HEDDLE_SEED:=$(date +%j)}" "${FUZZ_JOBS:=$(nproc)}"
export HEDDLE=$PWD/$B/heddle
out=$PWD/build/fuzz
corpus=$out/corpus
rm -rf "$corpus" "$out"/worker*
mkdir -p "$corpus" "$out/failures"
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME
export HOME=$out/home LC_ALL=C.UTF-8
mkdir -p "$HOME"
# A leak at the end of a command harms nobody; memory without bound does.
san=exitcode=99:detect_leaks=0:hard_rss_limit_mb=3000:detect_stack_use_after_return=0
export G_SLICE=always-malloc ASAN_OPTIONS=$san UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
try() { "$@" >>"$out/corpus.log" 2>&1; }
must() { # status 0, or 1: something was found
	"$@" >>"$out/corpus.log" 2>&1
	[ $? -le 1 ] || { echo "fuzz: $* failed, see $out/corpus.log" >&2; exit 2; }
}

: >"$out/corpus.log"
cp tests/fuzz/corpus/* specs/*.spec samples/*/*.lesson "$corpus"
cp specs/bind/glib.spec "$corpus/bind-glib.spec"
cp specs/missing/libz.spec "$corpus/missing-libz.spec"
for s in samples/*/*.spec; do cp "$s" "$corpus/$(basename "$(dirname "$s")").spec"; done
for s in account mergesort bubblesort; do
	head -60 "tests/traces/$s.std" >"$corpus/$s-std.txt"
done
for s in bank lost-wakeup bounded-buffer use-after-free lock-order last-seat; do
	source=$(ls samples/$s/*.c | grep -v fixed | head -1)
	must "$HEDDLE" cc -g -O1 "$source" -o "$corpus/$s.elf" -pthread
	try timeout 60 "$HEDDLE" record --seed 1 -o "$corpus/$s.hdl" -- "$corpus/$s.elf"
	[ -e "$corpus/$s.hdl" ] || { echo "fuzz: no recording of $s" >&2; exit 2; }
done
must "$HEDDLE" convert "$corpus/bank.hdl" "$corpus/bank.txt"
must "$HEDDLE" convert tests/fuzz/corpus/operations.txt "$corpus/operations.hdl"
must "$HEDDLE" convert tests/fuzz/corpus/nested.txt "$corpus/nested.hdl"
# the samples' large binaries are not needed for what is in an ELF file
find "$corpus" -name '*.elf' ! -name bank.elf ! -name last-seat.elf -delete
"$HEDDLE" races "$corpus/bank.hdl" --format json --verdicts all >"$corpus/bank.json"
"$HEDDLE" deadlocks "$corpus/lock-order.hdl" --format json >"$corpus/lock-order.json"
pair=$("$HEDDLE" races "$corpus/bank.hdl" --format json | perl -MJSON::PP -0777 -e '
	my $f = decode_json(<STDIN>)->{findings}[0]; print "$f->{first} $f->{second}"')
# shellcheck disable=SC2086
must "$HEDDLE" witness "$corpus/bank.hdl" $pair -o "$corpus/bank.wit"
must "$HEDDLE" explore -o "$corpus/explored.tree" --budget 60 -- "$corpus/bank.elf"
rm -f "$corpus"/explored.tree.run*
for runs in 2 9; do # of one that has more to explore than this; the status is that of a limit
	"$HEDDLE" explore --resume "$corpus/explored$runs.state" --runs $runs -- "$corpus/bank.elf" \
		>>"$out/corpus.log" 2>&1
done
"$HEDDLE" merge "$corpus/explored2.state" --tasks 2 -o "$corpus/task" >>"$out/corpus.log" 2>&1
cp "$corpus/task.2" "$corpus/task2.state" || exit 2
printf '%s\n' wait bookmark\ here "mark real" "note look at this" >"$corpus/notes.script"
cp "$corpus/bank.hdl" "$out/marked.hdl"
try "$HEDDLE" open "$out/marked.hdl" --script "$corpus/notes.script"
cp "$out/marked.hdl.notes" "$corpus/bank.notes" || exit 2
cat >"$corpus/walk.script" <<'S'
wait
press o
press q w
press Enter [
press q t
press q s
press q ?
press q g
press q n
wait
S
# Of a large trace an index is kept in the cache folder; it is of this file alone.
{
	echo '#! heddle 1'
	awk 'BEGIN { for (i = 0; i < 105000; i++)
		for (t = 0; t < 2; t++)
			printf "T%d|acq(l)|1\nT%d|w(x%d)|2\nT%d|r(x%d)|3\nT%d|rel(l)|4\nT%d|w(y%d)|5\n",
				t, t, i % 50, t, i % 50, t, t, t * 50 + i % 50 }'
} >"$out/large.txt"
must "$HEDDLE" convert "$out/large.txt" "$out/large.hdl"
mv "$out/large.hdl" "$corpus/large.trace" # no input of the binary format: too large
rm -f "$out/large.txt"
rm -rf "$HOME/.cache/heddle"
must "$HEDDLE" deadlocks "$corpus/large.trace"
index=$(echo "$HOME"/.cache/heddle/large.trace-*.index)
cp "$index" "$corpus/large.index" || exit 2
export FUZZ_INDEX=.cache/heddle/${index##*/}
# A log is left behind when the recorder dies before its program.
cat >"$out/orphan.c" <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
struct job { long number; char name[8]; } job;
static void *work(void *p) { for (int i = 0; i < 20; i++) job.number += i; return p; }
int main(void)
{
	pthread_t t[2];
	kill(getppid(), SIGKILL);
	for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, malloc(9));
	for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
	return 0;
}
C
must "$HEDDLE" cc -g -O1 "$out/orphan.c" -o "$out/orphan" -pthread
for ((i = 0; i < FUZZ_JOBS; i++)); do
	w=$out/worker$i
	mkdir -p "$w/.config/heddle" "$w/.local/state" "$w/.cache/heddle"
	chmod 700 "$w/.cache/heddle"
	cp "$out/orphan" "$w/module.elf"
	cp "$corpus/task.base" "$w" # beside a damaged task
	# the pipe closes when the program, the recorder's orphan, has ended
	{ "$HEDDLE" record -o "$w/o.hdl" -- "$w/module.elf"; } 2>&1 | cat >>"$out/corpus.log"
	mv "$w"/o.hdl.log-* "$w/module.log" || exit 2
	cp "$w/module.log" "$corpus/orphan.log"
done
echo "fuzz: HEDDLE_SEED=$HEDDLE_SEED FUZZ_SECONDS=$FUZZ_SECONDS FUZZ_JOBS=$FUZZ_JOBS"
# shellcheck disable=SC2086
"$B"/tests/fuzz/fuzz "$corpus" "$out" "$FUZZ_SECONDS" "$HEDDLE_SEED" "$FUZZ_JOBS" ${FUZZ_FORMATS-}
