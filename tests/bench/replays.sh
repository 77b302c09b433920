#!/bin/bash
# replays.sh - how many witnesses happen on the program: records every sample (both versions
# of it would find nothing in the fixed one) under several seeds, takes the witnesses of all that
# `races`, `commute` (order violations, uses after free), `deadlocks` and `atomic --predict`
# find, each site pair once a recording, and replays each.  A line for each that does not
# happen, and the counts by command.
#
#   tests/bench/replays.sh [SEEDS] [STRATEGY] [SAMPLE...]      (default: 3 random, all)
#   MAXIMUM   witnesses of one recording and command (default: 12)
set -u
cd "$(dirname "$0")/../.." || exit
HEDDLE=${HEDDLE:-$PWD/heddle}
seeds=${1:-3} strategy=${2:-random}
shift 2 2>/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

declare -A happened tried
for folder in ${*:-samples/*/}; do
	folder=${folder%/} name=$(basename "${folder%/}")
	program=$scratch/$name
	mapfile -t sources < <(ls "$folder"/*.c | grep -v '/fixed\.c$')
	"$HEDDLE" cc -g -O1 "${sources[@]}" -o "$program" -pthread || continue
	for seed in $(seq "$seeds"); do
		trace=$scratch/$name.$seed.hdl
		"$HEDDLE" record -q --seed "$seed" --strategy "$strategy" -o "$trace" -- "$program" \
			>/dev/null 2>&1 </dev/null
		for command in races commute deadlocks atomic; do
			case $command in
			commute) options="--analysis cov" ;; atomic) options=--predict ;; *) options= ;;
			esac
			"$HEDDLE" $command "$trace" $options -q --format json 2>/dev/null |
				perl tests/bench/programs/witnesses.pl "$trace" "$trace.$command" "${MAXIMUM:-12}"
			for w in "$trace.$command".*.wit; do
				[ -e "$w" ] || continue
				tried[$command]=$((${tried[$command]:-0} + 1))
				timeout 60 "$HEDDLE" replay --witness "$w" -- "$program" \
					>"$scratch/out" 2>"$scratch/err" </dev/null
				if grep -q 'heddle: stopped before' "$scratch/err" &&
					! grep -q 'left the witness' "$scratch/err"; then
					happened[$command]=$((${happened[$command]:-0} + 1))
				else
					echo "$name, seed $seed, $command: $(grep '^heddle' "$scratch/err" | head -3 | tr '\n' ' ')"
					[ "${KEEP-}" ] && mkdir -p "$KEEP" && cp "$w" "$trace" "$program" "$KEEP"
				fi
			done
		done
	done
done
total=0 all=0
for command in races commute deadlocks atomic; do
	echo "$command: ${happened[$command]:-0} of ${tried[$command]:-0} witnesses happened"
	total=$((total + ${happened[$command]:-0})) all=$((all + ${tried[$command]:-0}))
done
echo "all: $total of $all"
