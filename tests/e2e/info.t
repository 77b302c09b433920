#!/bin/bash
# `heddle info`: what is in a trace.
. tests/e2e/lib.sh
cat >"$scratch/t.txt" <<'T'
#! heddle 1
#! semaphore s 2
#! note seed 7
main|fork(T1)|a.c:1
main|acq(l)|a.c:2
main|acq(l)|a.c:2
main|w(x)=5|a.c:3
main|rel(l)|a.c:4
main|rel(l)|a.c:4
T1|r(x)=5|b.c:1
T1|r(y)|b.c:1:7
T1|take(s)|b.c:2
main|alloc(p,8)|a.c:5
main|join(T1)|a.c:6
T
run "$HEDDLE" info "$scratch/t.txt"
is "$status" 0 "exit status"
is "$err" "" "nothing on standard error"
like "$out" 'events +11' "events"
like "$out" 'locks +1$' "locks"
like "$out" 'no effect +2' "re-entrant pairs"
like "$out" 'main +8' "events by thread"
like "$out" 'seed +7' "facts of the recording"

run "$HEDDLE" info --format json "$scratch/t.txt"
is "$status" 0 "exit status with JSON"
is "$(json '$d->{events}')" 11 "events"
is "$(json '$d->{threads}')" 2 "threads"
is "$(json '$d->{locks}')" 1 "locks"
is "$(json '$d->{variables}')" 2 "variables"
is "$(json '$d->{semaphores}')" 1 "semaphores"
is "$(json '$d->{blocks}')" 1 "blocks"
is "$(json '$d->{sites}')" 8 "sites: a FILE:LINE each"
is "$(json '$d->{operations}{acq}')" 2 "by operation"
is "$(json '$d->{events_by_thread}{T1}')" 3 "by thread"
is "$(json '$d->{recording}{seed}')" 7 "notes"
is "$(json '$d->{complete} ? 1 : 0')" 1 "complete"
is "$(json 'scalar @{$d->{warnings}}')" 0 "no warnings"

"$HEDDLE" convert "$scratch/t.txt" "$scratch/t.hdl"
run "$HEDDLE" info --format json "$scratch/t.hdl"
is "$(json '$d->{events}')" 11 "events of the binary trace"
is "$(json '$d->{operations}{acq}')" 2 "by operation in the binary trace"

printf 'T1|w(x)|1\nT1|acq(l' >"$scratch/cut.txt"
run "$HEDDLE" info --format json "$scratch/cut.txt"
is "$status" 0 "a truncated trace loads"
is "$(json '$d->{events}')" 1 "up to the last whole event"
is "$(json '$d->{complete} ? 1 : 0')" 0 "and is not complete"
like "$(json '$d->{warnings}[0]')" 'cut off' "with a warning"
like "$err" 'cut.txt.*cut off' "on standard error too"

run "$HEDDLE" info --lenient tests/traces/boundedbuffer-small.std
is "$status" 0 "a real, ill-formed trace loads with --lenient"
like "$err" '13 release' "with counts of dropped releases"
like "$err" '13 acquire' "and of acquires of held locks"

run "$HEDDLE" races --lenient --analysis m2 --format json tests/traces/boundedbuffer-small.std
is "$(json '$d->{complete} ? 1 : 0')" 0 "no analysis of it claims to be complete"

# the numbers of calls stand below each other, however long a library's name is
printf 'T1|miss(f@libz.so.1)|1\nT1|back(f@libz.so.1)|1\nT1|miss(g@libcrypto-long.so.3)|2\nT1|back(g@libcrypto-long.so.3)|2\n' >"$scratch/calls.txt"
run "$HEDDLE" info "$scratch/calls.txt"
is "$(grep -E '^  lib' <<<"$out" | grep -ob 'call' | wc -l)" 2 "uninstrumented calls by library"
is "$(grep -E '^  lib' <<<"$out" | sed 's/ call.*//' | awk '{ print length }' | sort -u | wc -l)" 1 "in columns"

printf 'T\033[31m|w(x)|1\n' >"$scratch/esc.txt"
run "$HEDDLE" info "$scratch/esc.txt"
like "$out" 'T\\x1B\[31m' "control bytes are escaped"
run "$HEDDLE" info --format json "$scratch/esc.txt"
is "$(json '(keys %{$d->{events_by_thread}})[0]')" 'T\x1B[31m' "in JSON too"
# A message received before it was sent, one that nobody sends, and one sent twice.
printf 'T1|rcv(g)|1\nT2|snd(g)|2\nT1|rcv(h)|3\nT1|snd(k)|4\nT1|snd(k)|5\nT2|rcv(k)|6\n' >"$scratch/messages.txt"
run "$HEDDLE" info "$scratch/messages.txt"
is "$status" 0 "a rcv before its snd comes after nothing"
like "$err" "1 message\(s\) received before they were sent" "and a warning counts it"
run "$HEDDLE" explain "$scratch/messages.txt" --order hb 0 1
unlike "$out" "is ordered before|message" "no edge leads back"
done_testing
