#!/bin/bash
# convert --to perfetto, csv: traces for other programs.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >t.txt <<'T'
#! heddle-trace 1
main|fork(T1)|a.c:1
T1|acq(m)|a.c:2
T1|acq(n)|a.c:3
T1|w(x)=1|a.c:4
T1|rel(m)|a.c:5
T1|rel(n)|a.c:6
main|r(x)=1|a.c:7
main|w(=SUM(1)+1)=2|a.c:8
main|join(T1)|a.c:9
T
run "$HEDDLE" info t.txt
is "$status" 0 "a trace with locks that overlap"

run "$HEDDLE" convert t.txt t.pftrace
is "$status" 0 "by the suffix"
cat >whole.proto <<'P'
syntax = "proto2";
import "engine/export/perfetto.proto";
message Trace { repeated heddle.perfetto.TracePacket packet = 1; }
P
decoded=$(protoc -I"$root" -I. --decode=Trace whole.proto <t.pftrace 2>&1)
is "$?" 0 "protoc reads it"
unlike "$decoded" '^ *[0-9]+: ' "and knows each field"
count() { grep -c -- "$1" <<<"$decoded"; }
is "$(count 'thread_name: ')" 2 "a track for each thread"
is "$(count 'TYPE_SLICE_BEGIN')" 2 "a slice for each critical section"
is "$(count 'TYPE_SLICE_END')" 2 "which ends"
is "$(count '  name: "n"')" 1 "a section that overlaps another one has a track of its own"
like "$decoded" 'name: "write x: 1"' "accesses are instants"
writer=$(grep -A2 'name: "write x: 1"' <<<"$decoded" | sed -n 's/ *flow_ids: //p')
reader=$(grep -A2 'name: "read x: 1"' <<<"$decoded" | sed -n 's/ *flow_ids: //p')
is "${writer:-none}" "${reader:-no reader}" "a flow from the write to the read"
fork=$(grep -A2 'name: "create T1"' <<<"$decoded" | sed -n 's/ *flow_ids: //p')
like "${fork:-none}" '^[0-9]+$' "and one from the creation"
is "$(count 'name: "data-race (race) x"')" 4 "a race at both events, on the thread and on the track of findings"

run "$HEDDLE" convert t.txt - --to csv
is "$status" 0 "csv"
is "$(head -1 <<<"$out" | tr -d '\r')" "event,thread,op,operand,value,location,function" "with a header"
is "$(sed -n 5p <<<"$out" | tr -d '\r')" '3,T1,w,x,1,a.c:4,' "an access with its value"
is "$(sed -n 9p <<<"$out" | tr -d '\r')" '7,main,w,"'"'"'=SUM(1)+1",2,a.c:8,' "no field is a formula"
run "$HEDDLE" convert t.txt t.out --to xml
is "$status" 2 "another format is refused"
like "$err" 'perfetto' "and those that are there are named"
(echo first && "$HEDDLE" convert t.txt - --to csv) >joined
is "$(head -n 2 joined | tr -d '\r')" "first
event,thread,op,operand,value,location,function" "standard output is a file: its end is written to"
"$HEDDLE" convert t.txt - --to perfetto | cmp - t.pftrace
is $? 0 "a timeline through a pipe"
for c in "csv t.csv" "perfetto t.pftrace"; do
	mkdir -p "folder/${c#* }"
	run "$HEDDLE" convert t.txt "folder/${c#* }" --to "${c% *}"
	is "$status" 2 "${c% *}: a folder is no file"
	like "$err" "cannot write the file" "which is said"
done
run "$HEDDLE" convert t.txt /nowhere/t.pftrace
is "$status" 2 "a folder that is not there"
done_testing
