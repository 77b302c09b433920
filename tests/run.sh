#!/bin/sh
# Run every test of a build folder: unit, property and screen tests (Check), then the
# end-to-end scripts (TAP, through prove).  Usage: tests/run.sh BUILD
set -u
B=$1
failed=
# A test that is ended by its time limit cleans nothing up.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/heddle-tests-XXXXXX") || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 1' INT TERM HUP
for t in $(find "$B"/tests -maxdepth 2 -type f \( -name 'test_*' -o -name 'prop_*' -o -name 'screen_*' \) -perm -u+x ! -name '*.[od]' | sort); do
	echo "== ${t#"$B"/tests/}"
	"$t" || failed="$failed ${t##*/}"
done
if ls tests/e2e/*.t >/dev/null 2>&1; then
	if [ "$B" = build ]; then HEDDLE=$PWD/heddle; else HEDDLE=$PWD/$B/heddle; fi
	export HEDDLE
	prove -j2 tests/e2e/*.t || failed="$failed e2e"
fi
[ -z "$failed" ] && exit 0
echo "failed:$failed" >&2
exit 1
