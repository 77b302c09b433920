#!/bin/bash
# Run the tests of a build folder: unit, property and screen tests (Check), end-to-end scripts and
# cases (TAP), several at a time.  The last line counts them all, with those that could not run here
# as skipped: "N passed, N failed, N skipped".
# Usage: tests/run.sh BUILD [NAME...]; a NAME is that of a test program, script or case (test_trace,
# races or races.t, uaf_missed or uaf_missed.c; shell patterns are fine), none means all.
set -u
B=$1
shift
if [ "$B" = build ]; then HEDDLE=$PWD/heddle; else HEDDLE=$PWD/$B/heddle; fi
export HEDDLE
failed=
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
		[[ $base = $pattern || ${base%.*} = $pattern || ${folder#tests/e2e/} = $pattern ]] && return
	done
	return 1
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
tests=()
for t in $(find "$B"/tests -maxdepth 2 -type f \( -name 'test_*' -o -name 'prop_*' -o -name 'screen_*' \) -perm -u+x ! -name '*.[od]' | sort) \
	tests/e2e/*.t tests/e2e/cases/*/*.{c,cc,txt,std}; do
	[ -f "$t" ] && wanted "$t" "$@" && tests+=("$t")
done
[ ${#tests[@]} != 0 ] || { echo "no test is named $*" >&2; exit 2; }
[ $# = 0 ] || export SAYS=1 # what a chosen program prints is wanted
export COUNTS=$TMPDIR/counts TESTS=${0%/*}
# As prove -j does, which does not say how many tests were skipped; what a failed test says is shown.  One more
# than the processors, as the scripts wait for programs that sleep.
perl -MTAP::Harness -e '
	my $jobs = 1 + (`nproc` || 2);
	my $program = "$ENV{TESTS}/program.pl";
	my $run = sub { [$_[1] =~ /\.t$/ ? "bash" : $_[1] =~ m{^tests/} ? "tests/e2e/case.pl" : $program, $_[1]] };
	my $h = TAP::Harness->new({ jobs => $jobs, exec => $run, verbosity => 0, failures => 1, comments => 1 });
	my $all = $h->runtests(@ARGV);
	open my $out, ">", $ENV{COUNTS} or die;
	# a script that ends wrongly with no failed test counts as one
	my $bad = $all->failed + grep { $_->has_problems && !$_->failed } $all->parsers;
	print $out $all->passed - $all->skipped, " $bad ", scalar $all->skipped, "\n";
	exit !$all->all_passed;' "${tests[@]}" || failed=" tests"
read -r passed failures skipped <"$TMPDIR/counts" || { passed=0 failures=1 skipped=0; }
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
[ -z "$failed" ] || echo "failed:$failed"
echo "$passed passed, $failures failed, $skipped skipped"
[ -z "$failed" ]
