#!/bin/bash
# tests/run.sh itself: it counts what passed, failed and was skipped, and runs tests by name.
. tests/e2e/lib.sh
mkdir -p "$scratch/tests/e2e" "$scratch/build/tests/unit"
cp tests/e2e/lib.sh "$scratch/tests/e2e/"
cd "$scratch" || exit 1
cat >tests/e2e/some.t <<'T'
. tests/e2e/lib.sh
is 1 1 "one"
skip "two" "no such machine"
has no-such-tool-anywhere "three" && is 1 2 "never"
is 4 4 "four"
done_testing
T
cat >tests/e2e/wrong.t <<'T'
. tests/e2e/lib.sh
is 1 1 "one"
is 1 2 "two"
done_testing
T
cat >tests/e2e/dies.t <<'T'
. tests/e2e/lib.sh
is 1 1 "one"
exit 3
T
printf '#!/bin/sh\necho "66%%: Checks: 3, Failures: 1, Errors: 0"\nexit 1\n' >build/tests/unit/test_three
printf '#!/bin/sh\necho "20 random traces"\n' >build/tests/unit/prop_one
printf '#!/bin/sh\nkill -SEGV $$\n' >build/tests/unit/test_crash
chmod +x build/tests/unit/*
last() { printf '%s\n' "$out" | tail -n 1; }
run bash "$root/tests/run.sh" build
is "$status" 1 "a failure is a failure of all"
is "$(last)" "7 passed, 4 failed, 2 skipped" "the last line counts them"
like "$out" "build/tests/unit/test_three .*Failed: *1\b" "programs that failed are named"
like "$out$err" "Checks: 3, Failures: 1" "and what they print is shown"
run bash "$root/tests/run.sh" build some
is "$status $(last)" "0 2 passed, 0 failed, 2 skipped" "a skipped test is not passed"
run bash "$root/tests/run.sh" build prop_one some.t
is "$status $(last)" "0 3 passed, 0 failed, 2 skipped" "by name, with and without the ending"
like "$out$err" "20 random traces" "what a program prints is shown when it was named"
run bash "$root/tests/run.sh" build 'test_*'
is "$status $(last)" "1 2 passed, 2 failed, 0 skipped" "by pattern"
# a build with the sanitizers: reports are failures, but for libdwarf's own in the guarded reader
mkdir -p build/asan/tests/unit
cat >build/asan/tests/unit/test_report <<'T'
#!/bin/sh
log=${ASAN_OPTIONS#*log_path=}
echo "heap-use-after-free" >"${log%%:*}.1"
T
cat >build/asan/tests/unit/test_guard <<'T'
#!/bin/sh
log=${ASAN_OPTIONS#*log_path=}
printf '    #%s\n' "0 0x7 in __interceptor_free x.cpp:52" "1 0x7 in dwarf_load (/lib/libdwarf.so.1+0x4)" \
	"9 0x5 in child_main debuginfo/guard.c:164" >"${log%%:*}.2"
T
chmod +x build/asan/tests/unit/*
run bash "$root/tests/run.sh" build/asan test_report
is "$status $(last)" "1 1 passed, 1 failed, 0 skipped" "a sanitizer's report is a failure, whatever the test says"
like "$out" "heap-use-after-free" "and is shown"
run bash "$root/tests/run.sh" build/asan test_guard
is "$status $(last)" "0 1 passed, 0 failed, 0 skipped" "libdwarf's faults where it is guarded are none"
run bash "$root/tests/run.sh" build none
is "$status" 2 "a name that is no test's"
done_testing
