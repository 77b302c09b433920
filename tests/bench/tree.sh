#!/bin/bash
# tree.sh TRACE... - what `heddle filter` (TREE) leaves out of traces, what that saves the lockset
# and happens-before, and which pairs of source locations they no longer report: a table for
# docs/partial-traces.md.  Times are of the processor, of the whole command on a binary trace.
# $HEDDLE is the program (default: ./heddle).
: "${HEDDLE:=./heddle}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TIMEFORMAT=%U

# pairs TRACE ANALYSIS: "LOCATION LOCATION" of each pair of sites, sorted, into $scratch/out; the
# seconds of the analysis by sites.  By sites happens-before names the pairs that its state still
# sees, which is less than all of them and other ones in a filtered trace: the pairs come from
# --pairs events, which is exact.
pairs() {
	{ time "$HEDDLE" races -q "$1" --analysis "$2" --format json >"$scratch/json" 2>/dev/null; } 2>"$scratch/time"
	[ "$2" = hb ] && "$HEDDLE" races -q "$1" --analysis hb --pairs events --format json >"$scratch/json" 2>/dev/null
	perl -ne 'print join(" ", sort($1, $2)), "\n" if /"locations": \["([^"]*)", "([^"]*)"\]/' \
		"$scratch/json" | sort -u >"$scratch/out"
	cat "$scratch/time"
}
# row ANALYSIS WHOLE FILTERED: pairs before, of those lost, gained; seconds before and after
row() {
	local before after
	before=$(pairs "$2" "$1")
	mv "$scratch/out" "$scratch/whole"
	after=$(pairs "$3" "$1")
	printf ' %s | %s | %s | %s' "$(wc -l <"$scratch/whole")" \
		"$(comm -23 "$scratch/whole" "$scratch/out" | wc -l)/$(comm -13 "$scratch/whole" "$scratch/out" | wc -l)" \
		"$before" "$after"
}
echo '| trace | events | rule | kept | filter s | analysis | pairs | lost/made up | s before | s after |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for trace; do
	"$HEDDLE" convert -q "$trace" "$scratch/whole.hdl" 2>/dev/null
	for rule in paper hb; do
		option=$([ $rule = hb ] && echo --for hb)
		seconds=$({ time "$HEDDLE" filter -q $option "$scratch/whole.hdl" -o "$scratch/less.hdl" \
			--format json >"$scratch/count" 2>/dev/null; } 2>&1)
		read -r events kept <<<"$(perl -MJSON::PP -0777 -ne '$d = decode_json($_); print "$d->{events} $d->{kept}"' "$scratch/count")"
		for analysis in lockset hb; do
			[ $rule.$analysis = hb.lockset ] && continue
			printf '| %s | %s | %s | %s %% | %s | %s |%s |\n' "$(basename "$trace")" "$events" \
				"$rule" "$((100 * kept / events))" "$seconds" "$analysis" \
				"$(row $analysis "$scratch/whole.hdl" "$scratch/less.hdl")"
		done
	done
done
