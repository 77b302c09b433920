#!/bin/bash
# Run the tests of a build folder: unit, property and screen tests (Check), then the end-to-end
# scripts (TAP).  The last line counts them all, with those that could not run here as skipped:
# "N passed, N failed, N skipped".
# Usage: tests/run.sh BUILD [NAME...]; a NAME is that of a test program, script or case (test_trace,
# races or races.t, uaf_missed or uaf_missed.c; shell patterns are fine), none means all.
set -u
B=$1
shift
if [ "$B" = build ]; then HEDDLE=$PWD/heddle; else HEDDLE=$PWD/$B/heddle; fi
export HEDDLE
failed=
passed=0 failures=0 skipped=0
# A test that is ended by its time limit cleans nothing up.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/heddle-tests-XXXXXX") || exit 1
chmod 711 "$TMPDIR" # some tests run a command as nobody
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 1' INT TERM HUP
wanted() { # PATH NAME...: is it one of the names, or are none given?
	local base=${1##*/} pattern folder
	folder=${1%/*}
	shift
	[ $# = 0 ] && return
	for pattern; do
		# shellcheck disable=SC2053
		[[ $base = $pattern || ${base%.*} = $pattern || cases/${folder##*/} = $pattern ]] && return
	done
	return 1
}
# Check's last line counts checks; a program without one is a test by itself.
count_program() { # STATUS OUTPUT
	local checks bad
	read -r checks bad < <(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' "$2" |
		awk '{ checks += $1; bad += $2 + $3 } END { print checks + 0, bad + 0 }')
	[ "$checks" = 0 ] && checks=1
	[ "$1" != 0 ] && [ "$bad" = 0 ] && bad=1
	passed=$((passed + checks - bad)) failures=$((failures + bad))
}
# A sanitizer's report is a failure of its own, whatever the test expected of the command: each is
# a file.  Some commands run as nobody.  GLib's own blocks would hide leaks: they are always reachable.
reports=
case $B in
*asan)
	reports=$TMPDIR/reports
	mkdir -m 1777 "$reports"
	export ASAN_OPTIONS="log_path=$reports/report:print_cmdline=1:exitcode=99${ASAN_OPTIONS+:$ASAN_OPTIONS}"
	export G_SLICE=always-malloc
	export UBSAN_OPTIONS="log_path=$reports/report:print_stacktrace=1${UBSAN_OPTIONS+:$UBSAN_OPTIONS}"
	;;
esac
ran=0
for t in $(find "$B"/tests -maxdepth 2 -type f \( -name 'test_*' -o -name 'prop_*' -o -name 'screen_*' \) -perm -u+x ! -name '*.[od]' | sort); do
	wanted "$t" "$@" || continue
	ran=1
	echo "== ${t#"$B"/tests/}"
	"$t" 2>&1 | tee "$TMPDIR/said"
	status=${PIPESTATUS[0]}
	[ "$status" = 0 ] || failed="$failed ${t##*/}"
	count_program "$status" "$TMPDIR/said"
done
scripts=()
for t in tests/e2e/*.t tests/e2e/cases/*/*.{c,cc,txt,std}; do
	[ -f "$t" ] && wanted "$t" "$@" && scripts+=("$t")
done
if [ ${#scripts[@]} != 0 ]; then
	ran=1
	export COUNTS=$TMPDIR/counts
	# as prove -j2 does; prove does not say how many tests were skipped
	perl -MTAP::Harness -e '
		my $run = sub { [$_[1] =~ /\.t$/ ? "bash" : "tests/e2e/case.pl", $_[1]] };
		my $h = TAP::Harness->new({ jobs => 2, exec => $run, verbosity => 0 });
		my $all = $h->runtests(@ARGV);
		open my $out, ">", $ENV{COUNTS} or die;
		# a script that ends wrongly with no failed test counts as one
		my $bad = $all->failed + grep { $_->has_problems && !$_->failed } $all->parsers;
		print $out $all->passed - $all->skipped, " $bad ", scalar $all->skipped, "\n";
		exit !$all->all_passed;' "${scripts[@]}" || failed="$failed e2e"
	read -r good bad skip <"$TMPDIR/counts" || { good=0 bad=1 skip=0; }
	passed=$((passed + good)) failures=$((failures + bad)) skipped=$((skipped + skip))
fi
# Faults of libdwarf's own in the reader that may die of them, which are its reason.
in_guard() { # REPORT
	grep -m2 '^    #[01] ' "$1" | grep -Eq ' in [_a-z]*.*/lib(dwarf|elf)' && grep -q ' in child_main debuginfo/guard.c' "$1"
}
if [ -n "$reports" ]; then
	guarded=0
	for r in "$reports"/*; do
		[ -s "$r" ] || continue
		in_guard "$r" && guarded=$((guarded + 1)) && continue
		[ "${failed% sanitizers}" != "$failed" ] || failed="$failed sanitizers"
		failures=$((failures + 1))
		echo "== report of a sanitizer"
		head -n 60 "$r"
	done
	[ $guarded = 0 ] || echo "$guarded faults of libdwarf on damaged files, in the guarded reader"
fi
[ "$ran" = 1 ] || { echo "no test is named $*" >&2; exit 2; }
[ -z "$failed" ] || echo "failed:$failed"
echo "$passed passed, $failures failed, $skipped skipped"
[ -z "$failed" ]
