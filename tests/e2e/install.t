#!/bin/bash
# Installed elsewhere, heddle finds its runtime, its specifications and its headers beside
# itself; uninstalling leaves nothing.
. tests/e2e/lib.sh
case $HEDDLE in *asan*) san=SAN=1 ;; *) san= ;; esac
run make -s install PREFIX="$scratch/usr" $san
is "$status" 0 "make install"
tool=$scratch/usr/bin/heddle
mkdir "$scratch/work" && cd "$scratch/work" || exit 1
cp "$root/samples/bank/bank.c" .
run "$tool" cc -g -O1 bank.c -o bank -pthread
is "$status" 0 "the installed heddle compiles"
run ./bank
like "$out" '^balance 1[05]0$' "the program runs without heddle as it always did"
run env -u LD_LIBRARY_PATH "$tool" record -- ./bank
is "$status" 0 "the installed heddle records"
is "$(ls ./*.hdl)" ./bank.hdl "into the program's name, in this folder"
run "$tool" races bank.hdl --format json
is "$status" 1 "and finds"
is "$(json '$d->{findings}[0]{variable}')" acct.balance "the race, with its variable"
run "$tool" spec points "$scratch/usr/share/heddle/specs/dict.spec"
like "$out" 'resize' "a specification that came along"
cp bank.hdl "$scratch/ro.hdl" && chmod a-w "$scratch/ro.hdl"
run "$tool" info "$scratch/ro.hdl"
is "$status" 0 "a trace that cannot be written to is read"
run env XDG_STATE_HOME="$scratch/state" "$tool" lesson two-locks --play
is "$status $out" "0 two-locks: 6 steps played to the end" "a lesson from the installed samples"
# build/asan, inside of build, has a runtime of its own: the other may be of another day, or half written
mkdir -p "$scratch/build/asan"
cp "$tool" "$scratch/usr/lib/heddle/libheddle-record.so" "$scratch/build/asan"
: >"$scratch/build/libheddle-record.so"
run "$scratch/build/asan/heddle" record -o own.hdl -- ./bank
is "$status" 0 "a build folder inside another records with its own runtime"
cd "$root" || exit 1
run make -s uninstall PREFIX="$scratch/usr"
is "$(find "$scratch/usr" -type f | wc -l)" 0 "make uninstall leaves no file"
done_testing
