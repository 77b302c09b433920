#!/bin/bash
# Recording twice with one seed gives the same trace, byte for byte, for every sample, under
# every strategy; what the real-time clock said may differ, and nothing else.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# The traces' bytes; where clocks were asked, their text without the answers.
same() {
	cmp -s one.hdl two.hdl && return 0
	$HEDDLE convert one.hdl one.txt --to text 2>/dev/null
	$HEDDLE convert two.hdl two.txt --to text 2>/dev/null
	grep -q '^#! note recording-clocks' one.txt && cmp -s one.txt two.txt
}

build() { # SAMPLE: the program
	local sources
	mapfile -t sources < <(ls "$root/samples/$1"/*.c | grep -v '/fixed\.c$')
	$HEDDLE cc -O1 "${sources[@]}" -o "$1" -pthread 2>"$1.log"
}

samples=()
for folder in "$root"/samples/*/; do
	samples+=("$(basename "$folder")")
	build "$(basename "$folder")" &
	[ $((${#samples[@]} % 2)) = 0 ] && wait
done
wait
ok $([ ${#samples[@]} -ge 20 ]; echo $?) "${#samples[@]} samples"
gcc -o no_personality "$root/tests/e2e/programs/no_personality.c"
./no_personality true && refused=./no_personality
for name in "${samples[@]}"; do
	[ -x "$name" ] || { ok 1 "$name is built"; continue; }
	different=
	for way in random:1 pct:2 noise:3 rr:4; do
		for trace in one two; do
			timeout 300 $HEDDLE record -q --strategy ${way%:*} --seed ${way#*:} -o $trace.hdl \
				-- "./$name" >/dev/null 2>&1
		done
		same || different+=" $way"
	done
	is "$different" "" "$name: one seed is one trace"
	[ "$refused" ] || continue
	for trace in one two; do
		timeout 300 $refused $HEDDLE record -q -o $trace.hdl -- "./$name" >/dev/null 2>&1
	done
	same && $HEDDLE info one.hdl | grep -q 'recording-addresses *numbered'
	ok $? "$name: also where address randomisation cannot be switched off"
done
done_testing
