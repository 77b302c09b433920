#!/bin/bash
# The traces of the literature: SHB and SyncP count what RAPID, the reference implementation,
# counts on them (later events and their locations), and auto leaves nothing unknown.
# (moldyn's pairs of events are 200 MB of JSON, and counted by hand: docs/orders.md.)
. tests/e2e/lib.sh
counts() { # ANALYSIS TRACE: distinct later events / their locations
	"$HEDDLE" races --analysis "$1" --pairs events --format json "tests/traces/$2.std" |
		perl -ne 'if (/"second": (\d+), "locations": \["[^"]*", "([^"]*)"\]/) {
				$events{$1} = 1; $places{$2} = 1 }
			END { printf "%d/%d\n", scalar keys %events, scalar keys %places }'
}
while read -r trace shb syncp; do
	is "$(counts shb "$trace")" "$shb" "$trace: SHB as RAPID"
	is "$(counts syncp "$trace")" "$syncp" "$trace: SyncP as RAPID"
done <<'T'
account 3/1 3/1
twostage 4/1 4/1
mergesort 1/1 3/1
clean 59/4 60/4
bubblesort 269/5 269/5
lang 400/1 400/1
readerswriters 92/4 199/4
ftpserver 69/21 85/21
derby 29/10 29/10
T
for trace in tests/traces/*.std; do
	name=${trace##*/}
	# Ill-formed: with --lenient it is read, and nothing that rests on its locks is proved.
	[ "$name" = boundedbuffer-small.std ] && continue
	run "$HEDDLE" races --format json "$trace"
	is "$(json '$d->{complete} ? 1 : 0')" 1 "$name: auto leaves nothing unknown"
done
done_testing
