#!/bin/bash
# Each exercise of docs/architecture.md in a copy of the tree: applied, built, its test run.
# Usage: tests/exercises.sh
set -eu
copy=$(mktemp -d "${TMPDIR:-/tmp}/heddle-exercises-XXXXXX")
trap 'rm -rf "$copy"' EXIT
tar -c --exclude=./build/asan --exclude=./build/tsan --exclude=./build/coverage --exclude=./build/deb \
	--exclude=./.git . | tar -x -C "$copy"
cd "$copy"
for diff in tests/exercises/*.diff; do
	patch -p1 --batch -i "$diff"
done
make -j"$(nproc)" all build/tests/property/prop_adjacent build/tests/screen/screen_views build/tests/unit/test_tables
build/tests/property/prop_adjacent
HEDDLE=$PWD/heddle tests/e2e/case.pl tests/e2e/cases/explore/rendezvous.c | tee case.out
! grep '^not ok' case.out
GOLDEN=update build/tests/screen/screen_views
grep -q 'T1 worker *9' tests/screen/golden/counts.txt
UPDATE=1 build/tests/unit/test_tables
grep -q adjacent docs/architecture.md
echo "the exercises work"
