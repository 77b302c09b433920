#!/bin/bash
# Values as people write them, by the types of their variables; trace text and witnesses keep
# exact numbers.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O0 "$root/tests/e2e/programs/typed.c" -o typed -pthread || exit 1
run timeout 300 "$HEDDLE" record -q -o t.hdl -- ./typed
is "$status" 0 "recorded"
run "$HEDDLE" convert t.hdl t.txt --to text

values() { # TRACE: the operations that races prints, without those of pthread_t
	run "$HEDDLE" races "$1"
	printf '%s\n' "$out" | sed -nE 's/.* write ([^ ]+): ([^ ]+) .*/(\1)=\2/p' | LC_ALL=C sort -u
}
want="(cells[2])=-4
(far)=-1
(flag)=true
(item->next)=NULL
(item->small)=-6
(item->state)=BUSY
(large)=1099511627776
(letter)='x'
(main::mine)=-3
(number)=-2
(plain)=4294967295
(pointer)=&cells[2]
(single)=0.1
(state)=BROKEN
(wide)=-1e+300"
is "$(values t.hdl)" "$want" "signed, bool, char, enum, pointers, floating point"
is "$(values t.txt | grep -v '^(pointer)' | sed 's/stack@main\.//' | LC_ALL=C sort)" "$(printf '%s\n' "$want" | grep -v '^(pointer)')" \
	"the same of the trace as text"
like "$(cat t.txt)" 'w4\(number\)=4294967294\|' "whose numbers are exact"
like "$(cat t.txt)" '^#! note value-form int cells\[\]$' "and which has the types as notes"
run "$HEDDLE" info t.hdl
unlike "$out" "value-form" "which info leaves out"
run "$HEDDLE" races t.hdl --format json
pair=$(json 'join " ", map { "$_->{first} $_->{second}" } (grep { $_->{variable} eq "number" } @{$d->{findings}})[0]')
run "$HEDDLE" witness t.hdl $pair -o t.wit
is "$status" 1 "a witness"
unlike "$(cat t.wit)" "BROKEN|=-[0-9]" "has exact numbers"
run "$HEDDLE" verify t.hdl t.wit
is "$status" 0 "and is accepted"
run "$HEDDLE" explain --story t.hdl $pair
unlike "$out" "429496729[0-9]" "its story has none of the bytes"
run timeout 300 "$HEDDLE" record -q --no-values -o none.hdl -- ./typed
run "$HEDDLE" convert none.hdl -
is "$(grep -cE '\|(r|w)[0-9]*\([^|]*\)=' <<<"$out")" 0 "--no-values: no access has one"
ok "$(grep -qE '\|w[0-9]*\(number\)' <<<"$out"; echo $?)" "but the accesses are there"
done_testing
