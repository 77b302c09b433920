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
like "$out" "^failed: .*test_three" "programs that failed are named"
run bash "$root/tests/run.sh" build some
is "$status $(last)" "0 2 passed, 0 failed, 2 skipped" "a skipped test is not passed"
run bash "$root/tests/run.sh" build prop_one some.t
is "$status $(last)" "0 3 passed, 0 failed, 2 skipped" "by name, with and without the ending"
run bash "$root/tests/run.sh" build 'test_*'
is "$status $(last)" "1 2 passed, 2 failed, 0 skipped" "by pattern"
run bash "$root/tests/run.sh" build none
is "$status" 2 "a name that is no test's"
done_testing
