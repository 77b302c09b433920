#!/bin/bash
# instructions.sh - instructions of `heddle record` an event, by stage, counted by valgrind's
# callgrind: of the recorded program with its hooks, and of the recorder that makes the trace. For
# machines whose processor counts none (perf stat -e instructions:u). No part of `make check`.
#
#   tests/bench/instructions.sh PROGRAM ARGS...     (PROGRAM: built with heddle cc)
#
#   SEED     of the recording (default: 1)
#   RECORD   more options of `heddle record` (--filter=hb, "--mode free")
#
# The recorder cannot be loaded into valgrind's launcher and into the program that runs in it, so
# the program is started by a file whose loader (the ELF interpreter) begins callgrind at once. A
# clearing of memory by `rep stos` counts an instruction for each byte here, and one in perf: it
# has a line of its own. On a busy machine a program that is slow in valgrind is taken for one that
# is stuck, and nothing is counted: fewer events help.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
HEDDLE=${HEDDLE:-$root/heddle}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
libexec=${VALGRIND_LIB:-/usr/libexec/valgrind}
cat >"$scratch/loader.c" <<C
static long call(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "0"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
__attribute__((used)) void begin(long *stack)
{
	static char *arguments[256], *variables[1024];
	long count = stack[0], a = 0, v = 0;
	char **argv = (char **)(stack + 1), **environ = argv + count + 1;
	arguments[a++] = "$libexec/callgrind-amd64-linux";
	arguments[a++] = "--tool=callgrind";
	arguments[a++] = "--callgrind-out-file=$scratch/program";
	for (long i = 1; i < count && a < 255; i++)
		arguments[a++] = argv[i];
	variables[v++] = "VALGRIND_LAUNCHER=valgrind";
	variables[v++] = "VALGRIND_LIB=$libexec";
	for (; *environ && v < 1023; environ++)
		variables[v++] = *environ;
	call(59, (long)arguments[0], (long)arguments, (long)variables);
	call(60, 127, 0, 0);
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand \$-16, %rsp\ncall begin\n");
C
echo 'int main(void) { return 0; }' >"$scratch/start.c"
gcc -O1 -static -nostdlib -no-pie -fno-stack-protector -Wl,-Ttext-segment=0x70000000 \
	"$scratch/loader.c" -o "$scratch/loader" &&
	gcc "$scratch/start.c" -o "$scratch/start" -Wl,--dynamic-linker="$scratch/loader" || exit 1
seed=${SEED:-1} RECORD=${RECORD-}
for try in 1 2 3 4 5 6; do # a watchdog may take a slow program for a stuck one, which valgrind cannot follow
	[ -s "$scratch/program" ] && break
	"$HEDDLE" record -q --seed "$seed" $RECORD -o "$scratch/t.hdl" -- "$scratch/start" "$@" >/dev/null 2>&1
done
valgrind -q --tool=callgrind --callgrind-out-file="$scratch/recorder" \
	"$HEDDLE" record -q --seed "$seed" $RECORD -o "$scratch/t.hdl" -- "$@" >/dev/null 2>&1
events=$("$HEDDLE" info -q "$scratch/t.hdl" | awk '$1 == "events" { print $2; exit }')
if [ ! -s "$scratch/program" ] || [ -z "$events" ]; then
	echo "instructions.sh: nothing was counted (the program was too slow: try fewer events)" >&2
	exit 1
fi
# PATTERN=NAME...: the first pattern that a line "COUNT file:function [object]" has names its stage
stages() { # FILE PATTERN=NAME...
	local file=$1
	shift
	callgrind_annotate --auto=no --threshold=100 "$file" | perl -ne '
		BEGIN { our ($events, @stages) = (shift, map { [split /=/, $_, 2] } splice @ARGV); }
		next if !/^\s*([\d,]+) \([^)]*\)\s+(\S.*)/ || $2 =~ /^PROGRAM TOTALS/;
		my ($n, $where) = ($1 =~ tr/,//dr, $2);
		my ($s) = grep { $where =~ /$_->[0]/ } @stages;
		$sum{$s ? $s->[1] : "other"} += $n;
		END {
			printf "%8.1f  %s\n", $sum{$_} / $events, $_ for sort { $sum{$b} <=> $sum{$a} } keys %sum;
		}' "$events" "$@"
}
echo "$events events; the program:"
stages "$scratch/program" 'strings\.c:memset=clearing (rep stos)' 'record/(runtime|codec|layout)=hooks' \
	"\\[$(realpath "$1")\\]=the program and its calls of hooks" "$(basename "$1")\\.c=the program and its calls of hooks"
echo "the recorder:"
stages "$scratch/recorder" ':(shorts|pairs)_=decoding the log and writing the events, one loop' \
	'trace/tape|binary_put|binary_write|builder_hand_over|builder_put_access|:put |end_events=writing other events' \
	'builder_look|look_closely|builder_added|builder_room|builder_integer|integer_far|builder_access_place|place_far|builder_noted=adding accesses: places, values' \
	'import_shorts\.c|_short\b|move_back|log_reader|move_site|import_record|add_access|import_access|import_chunk|look_near=decoding other records' \
	'trace/must=the must-order' \
	'builder_calls|import_calls|builder_context|context_slot|builder_add|wellformed|import_event|import_leave|add_enter=calls' \
	'record/name|names_|debuginfo|dwarf|libelf=names, debug information' 'trace/memory\.c=variables' \
	'libzstd=compressing the tables'
